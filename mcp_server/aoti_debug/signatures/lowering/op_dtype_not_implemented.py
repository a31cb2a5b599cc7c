from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="op_dtype_not_implemented",
    family="J",
    phase="run",
    category="lowering_error",
    weight=22,
    confidence="possible",
    anchors=("\" not implemented for '",),
    patterns=(
        (
            r"\"(?P<op>(?!(?:min|max)_all)\w{2,80})\" not implemented for "
            r"'(?P<dtype>[A-Z]\w{2,20})'"
        ),
    ),
    summary="The kernel {op} does not exist for {dtype} on this device",
    means=(
        "ATen has no code for this operator, dtype and device. While exporting it is the "
        "model's dtype, at run time an input of another dtype than compiled."
    ),
    mistaken_for="A missing operator",
    check="Do the inputs have the dtypes of the export?",
    fixes=(fix("Compute this operator in float32, or on the other device"),),
    guide="guides/lowering-and-cpp.md#unsupported-dtypes",
    next_tool="triage",
    matches=(
        quoted(
            "RuntimeError: \"addmm_impl_cpu_\" not implemented for 'Half'",
            "words of ATen's dispatch macros",
        ),
    ),
    apart_from=("printer_failed",),
)
