from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="cpp_generated_code_error",
    family="J",
    phase="cpp_compile",
    category="cpp_error",
    weight=32,
    anchors=(
        ": error: ",
        ": fatal error: ",
    ),
    patterns=(
        (
            r"\.(?:wrapper\.cpp|kernel\.cpp|main\.cpp|cpp|h|"
            r"hpp):\d+:\d+: (?:fatal )?error: (?!.*(?:No such file|"
            "file not found))(?P<text>.{1,160})"
        ),
    ),
    summary="The C++ compiler rejects the generated code: {text}",
    means=(
        "A bug of the code generator or a compiler that is too old for the generated code. "
        "The lines below show the statement."
    ),
    mistaken_for="A missing header or compiler option",
    check="Compile a trivial model: if that works, the toolchain is sound",
    fixes=(
        Fix(
            what=("Reduce the model to the operator whose statement is shown; try the newest torch")
        ),
    ),
    guide="guides/lowering-and-cpp.md#the-wrapper-does-not-compile",
    next_tool="minify",
    references=(
        "pytorch/pytorch#152172",
        "intel/torch-xpu-ops#2608",
    ),
    matches=(
        Sample(
            (
                "/tmp/torchinductor_me/ab/cab.wrapper.cpp:512:18: error: expected "
                "primary-expression before ')' token"
            ),
            "quoted",
            "common form",
        ),
    ),
    neighbours=(
        Sample(
            ("/tmp/x/cab.wrapper.cpp:4:10: fatal error: cuda.h: No such file or directory"),
            "quoted",
            "the toolchain is incomplete",
        ),
    ),
)
