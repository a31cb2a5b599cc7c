from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="cpp_duplicate_name",
    family="J",
    phase="cpp_compile",
    category="cpp_error",
    weight=68,
    confidence="proved",
    anchors=(
        "redeclaration of",
        "redefinition of",
        "conflicting declaration",
    ),
    patterns=(
        (
            "error: (?:redeclaration of|redefinition of|"
            "conflicting declaration) ['‘](?P<name>[^'’]{1,80})['’]"
        ),
    ),
    summary="The generated C++ declares {name} twice",
    means=(
        "A code generation bug: the wrapper emits one name in two places, typical for "
        "subgraphs of cond and while_loop and for repeated size variables."
    ),
    fixes=(Fix(what="Move the control flow out of the compiled part, or try the newest torch"),),
    guide="guides/lowering-and-cpp.md#the-wrapper-does-not-compile",
    next_tool="minify",
    references=(
        "pytorch/pytorch#193806",
        "pytorch/pytorch#140606",
        "pytorch/pytorch#111711",
    ),
    matches=(
        Sample(
            (
                "/tmp/torchinductor_root/cxxx.main.cpp:182:22: error: redeclaration of "
                "'CUstream_st* stream0'"
            ),
            "quoted",
            "pytorch/pytorch#193806",
        ),
        Sample(
            "cytvter7.cpp:288:10: error: conflicting declaration ‘auto i8’",
            "quoted",
            "pytorch/pytorch#111711",
        ),
    ),
)
