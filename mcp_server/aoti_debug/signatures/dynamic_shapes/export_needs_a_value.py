from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="export_needs_a_value",
    family="B",
    phase="export",
    category="lowering_error",
    weight=74,
    anchors=(
        "DataDependentOutputException",
        "DynamicOutputShapeException",
        "Data-dependent branching",
        "Data dependent operator",
        "Dynamic shape operator",
        "GuardOnDataDependentSymNode",
        "_local_scalar_dense",
        "local_scalar_dense/item NYI",
        "cannot be called on meta tensors",
        "torch._check*()",
        "Data-dependent assertion failed",
        "data dependent operator: ",
        "dynamic shape operator: ",
    ),
    patterns=(
        (
            r"(?P<what>(?:DataDependentOutput|DynamicOutputShape)Exception: \S{1,120}"
            "|Unsupported: D(?:ata-dependent (?:branching|assertion failed)|ata dependent "
            r"operator|ynamic shape operator)(?! \(no meta)|GuardOnDataDependentSymNode: "
            r".{1,160}|(?:data dependent|dynamic shape) operator: \S{1,120})"
        ),
        (
            r"(?P<what>aten[:.]{1,2}_local_scalar_dense\S{0,20}: attempted|'aten::"
            "_local_scalar_dense' with arguments from the '(?:Meta|FakeTensor)' backend"
            r"|\w{1,200}\.item\(\) cannot be called on meta tensors"
            r"|local_scalar_dense/item NYI)"
        ),
        (
            r"UserError: (?P<what>Consider annotating your code using torch\._check\*\(\)"
            ".{0,160})"
        ),
    ),
    summary="Tracing needs a number that is known only at run time: {what}",
    means=(
        "item(), int(), a Python branch, torch.equal or nonzero ask a tensor for its data, and "
        "while exporting tensors have none."
    ),
    mistaken_for="A missing fake kernel of a custom operator",
    check="The operator that is named belongs to ATen",
    fixes=(
        fix("Replace the branch by torch.where or torch.cond"),
        fix("Compute the number outside the model and pass it in"),
    ),
    guide="guides/dynamic-shapes.md#data-dependent-sizes",
    matches=(
        recorded(
            "torch._subclasses.fake_tensor.DataDependentOutputException: aten.equal.default",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "torch._dynamo.exc.Unsupported: Data-dependent branching",
            "torch 2.13.0, CPU, strict=True",
        ),
        recorded(
            "torch._dynamo.exc.UserError: Consider annotating your code using "
            "torch._check*(). Could not guard on data-dependent expression u0 > 3 (unhinted: "
            "u0 > 3).",
            "torch 2.13.0, CPU, strict=True",
        ),
        quoted("RuntimeError: Tensor.item() cannot be called on meta tensors", "words of ATen"),
    ),
    neighbours=(quoted("torch._dynamo.exc.Unsupported: Dynamic shape operator (no meta kernel)"),),
    apart_from=("custom_op_no_fake",),
)
