from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="too_big_to_optimize",
    family="O",
    phase="cpp_compile",
    category="performance",
    weight=60,
    anchors=(
        "is too big to optimize",
        "ignored-optimization-argument",
        "variable tracking size limit exceeded",
    ),
    patterns=(
        (
            r"Function \S{1,300} is too big to optimize|ignored-optimization-argument|variable "
            "tracking size limit exceeded"
        ),
    ),
    summary="The generated function is too large for the compiler's optimiser",
    means=(
        "Huge graphs become one C++ function; compilers give up optimising it and may take an hour."
    ),
    fixes=(fix("AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL=O0 or O1; compile the model in parts"),),
    guide="guides/memory-and-time.md#too-big-to-optimize",
    references=("pytorch/pytorch#112008", "pytorch/pytorch#147323"),
    matches=(
        quoted(
            "Function foo is too big to optimize [-Wignored-optimization-argument]",
            "pytorch/pytorch#112008",
        ),
    ),
)
