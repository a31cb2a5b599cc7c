from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="cpp_generated_code_error",
    family="J",
    phase="cpp_compile",
    category="cpp_error",
    weight=32,
    anchors=(": error: ", ": fatal error: ", ": error C", "): error"),
    patterns=(
        (
            r"\.(?:cpp|cc|cxx|c|cu|cuh|h|hpp|inl|mm):\d{1,20}(?::\d{1,20})?: (?:fatal )?error: "
            "(?!.{0,400}(?:No such file|file not found))(?P<text>.{1,160})"
        ),
        (
            r"\.(?:cpp|cc|cxx|c|cu|cuh|h|hpp"
            r"|inl)\(\d{1,20}(?:,\d{1,20})?\): (?:fatal )?error(?: "
            r"C(?!1083|1060)\d{4})?\s?: (?P<text>.{1,160})"
        ),
    ),
    summary="The C++ compiler rejects the generated code: {text}",
    means=(
        "A bug of the code generator or a compiler that is too old for the generated code. "
        "The lines below show the statement."
    ),
    mistaken_for="A missing header or compiler option",
    check="Compile a trivial model: if that works, the toolchain is sound",
    fixes=(fix("Reduce the model to the operator whose statement is shown; try the newest torch"),),
    guide="guides/lowering-and-cpp.md#the-wrapper-does-not-compile",
    next_tool="minify",
    references=("pytorch/pytorch#152172", "intel/torch-xpu-ops#2608"),
    matches=(
        quoted(
            "/tmp/torchinductor_me/ab/cab.wrapper.cpp:512:18: error: expected "
            "primary-expression before ')' token",
            "common form",
        ),
        quoted(
            'gemm.cu(231): error: identifier "cutlass_op" is undefined', "form of nvcc's errors"
        ),
        quoted(
            "C:/torchinductor/cab.main.cpp(12): error C2672: 'at::vec::clamp': no matching "
            "overloaded function found",
            "form of MSVC's errors",
        ),
    ),
    neighbours=(
        quoted(
            "/tmp/x/cab.wrapper.cpp:4:10: fatal error: cuda.h: No such file or directory",
            "the toolchain is incomplete",
        ),
    ),
)
