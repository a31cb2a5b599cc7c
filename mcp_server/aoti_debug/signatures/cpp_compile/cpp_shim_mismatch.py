from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="cpp_shim_mismatch",
    family="J",
    phase="cpp_compile",
    category="cpp_error",
    weight=66,
    anchors=(
        "no matching function for call to",
        "AtenTensorOpaque",
        "RAIIAtenTensorHandle",
        "too few arguments to function",
        "too many arguments to function",
    ),
    patterns=(
        (
            "error: (?:no matching function for call to ['‘](?P<call>[^'’]{1,80})['’]|cannot "
            "convert .{0,200}(?:AtenTensorOpaque|RAIIAtenTensorHandle)|too (?:few|many) "
            "arguments to function)"
        ),
    ),
    summary="The generated C++ calls an operator's C shim with arguments that do not fit",
    means=(
        "The wrapper and the C interface of a fallback operator disagree: optional arguments, "
        "output handles or a missing shim."
    ),
    fixes=(
        fix("Decompose or replace the operator named in the source line below the error"),
        fix("Try the newest torch"),
    ),
    guide="guides/lowering-and-cpp.md#ops-without-a-shim",
    next_tool="minify",
    references=("pytorch/pytorch#194700", "pytorch/pytorch#134684", "pytorch/pytorch#120394"),
    matches=(
        quoted("error: no matching function for call to 'from'", "pytorch/pytorch#194700"),
        quoted(
            "error: cannot convert 'const torch::aot_inductor::RAIIAtenTensorHandle' to "
            "'AtenTensorOpaque**'",
            "pytorch/pytorch#134684",
        ),
    ),
)
