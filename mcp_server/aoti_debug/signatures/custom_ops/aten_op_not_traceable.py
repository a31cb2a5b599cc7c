from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="aten_op_not_traceable",
    family="J",
    phase="export",
    category="lowering_error",
    weight=72,
    anchors=(
        "UnsupportedOperatorException: ",
        "unsupported operator: ",
        "with arguments from the 'Meta' backend",
    ),
    patterns=(
        (
            r"(?:UnsupportedOperatorException|unsupported operator): (?P<op>(?:aten|prims)\."
            r"[\w.]{1,200})"
        ),
        r"Could not run '(?P<op>aten::[\w.]{1,200})' with arguments from the 'Meta' backend",
    ),
    summary="{op} cannot be traced: PyTorch itself has no fake kernel for it",
    means="An operator of PyTorch that export does not cover, in this release or at all.",
    mistaken_for="A custom operator without register_fake",
    fixes=(
        fix("Replace the operator, or wrap the call into a custom op with register_fake"),
        fix("Try the newest torch"),
    ),
    guide="guides/lowering-and-cpp.md#export-errors",
    matches=(
        quoted(
            "torch._dynamo.exc.Unsupported: unsupported operator: aten._foo.default (see "
            "https://docs.google.com/document/d/1 for how to fix)",
            "form of torch/_dynamo/utils.py, 2.6",
        ),
        quoted(
            "NotImplementedError: Could not run 'aten::_foo' with arguments from the 'Meta' "
            "backend.",
            "form of the dispatcher's message",
        ),
    ),
    apart_from=("custom_op_no_meta_kernel",),
)
