from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="custom_op_no_meta_kernel",
    family="L",
    phase="export",
    category="custom_op_fake_kernel",
    weight=78,
    anchors=(
        "attempted to run this operator with Meta tensors",
        "attempting to run this operator with Meta Tensors",
        "with arguments from the 'Meta' backend",
        "UnsupportedOperatorException: ",
        "unsupported operator: ",
        "cannot infer a Fake kernel",
        "No fake kernel was found for ",
        "MissingOpProfile",
        "Dynamic shape operator (no meta kernel)",
        "may return an output Tensor with data-dependent shape",
        "registered a fake class",
    ),
    patterns=(
        (
            r"(?P<op>\w{1,200}::(?!_local_scalar_dense)[\w.]{1,200})(?: \([^)]{0,200}\))?"
            r": (?:while )?"
            "attempt(?:ed|ing) to run this operator with Meta [Tt]ensors"
        ),
        (
            r"Could not run '(?!aten::)(?P<op>[\w:.]{1,200})' with arguments from the 'Me"
            r"ta' backend"
            r"|(?:UnsupportedOperatorException|unsupported operator): (?!aten\.|prims\.)"
            r"(?P<op2>[\w.:]{1,200})"
        ),
        (
            r"cannot infer a Fake kernel \(meta kernel\) for operator (?P<op>[\w.:]{1,200"
            r"})|No fake "
            r"kernel was found for (?P<op2>[\w.:]{1,200})|MissingOpProfile"
            r"|Unsupported: Dynamic "
            r"shape operator \(no meta kernel\)|ScriptObject's .{1,80}registered a fake class"
            "|operator may return an output Tensor with data-dependent shape"
        ),
    ),
    summary="An operator has no fake (meta) kernel, so the model cannot be traced",
    means=(
        "Export runs the model on tensors without data. The library of the operator says "
        "nothing of what it returns, or the module that says it was not imported."
    ),
    mistaken_for="An operator that is not registered at all",
    check="The operator works in eager mode",
    fixes=(
        fix("@torch.library.register_fake('ns::op'): return an empty tensor of its shape"),
        fix("Import the Python package of the operator, not only its .so"),
    ),
    guide="guides/custom-ops.md#a-wrong-fake-kernel",
    matches=(
        recorded(
            "NotImplementedError: q::cpuonly: attempted to run this operator with Meta "
            "tensors, but there was no fake impl or Meta kernel registered.",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "torch._subclasses.fake_tensor.UnsupportedOperatorException: q.cpuonly.default",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "  Developer debug context: unsupported operator: q.cpuonly.default",
            "torch 2.13.0, CPU, strict=True",
        ),
        quoted(
            "torch._dynamo.exc.Unsupported: Dynamic shape operator (no meta kernel)",
            "words of torch/_dynamo/utils.py",
        ),
    ),
    neighbours=(
        quoted(
            "NotImplementedError: aten::_local_scalar_dense: attempted to run this operator "
            "with Meta tensors",
            "asks for data",
        ),
    ),
    apart_from=("aten_op_not_traceable", "export_needs_a_value"),
)
