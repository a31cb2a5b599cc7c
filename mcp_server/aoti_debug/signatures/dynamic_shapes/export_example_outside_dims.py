from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="export_example_outside_dims",
    family="B",
    phase="export",
    category="lowering_error",
    weight=80,
    anchors=(
        " not in range [",
        " of input Tensor to be of the form ",
        "] is not equal to L[",
        ".size()[",
        "Static shape constraint of ",
        " for range [",
        "The following inconsistencies were found",
    ),
    patterns=(
        (
            r"(?:ConstraintViolationError|UserError): (?P<what>-?\d{1,20} not in range "
            r"\[[^\]]{1,60}\]|Expected shape\[\d{1,20}\] = \d{1,20} of input \S{0,40} ?to"
            r" be of the "
            "form [^,]{1,60})"
        ),
        (
            r"(?:ConstraintViolationError"
            r"|UserError): (?P<what>L\[.{1,80} = \d{1,20} is not equal "
            r"to L\[.{1,80}|Expected input L\[.{1,120} to be equal to [^,]{1,60}, where "
            r".{1,60}, but got \d{1,20}|Static shape constraint of .{1,160})"
        ),
        (
            r"(?P<what>ValueRangeError: Invalid value -?\d{1,20} for range \[.{1,60}"
            r"|The following "
            "inconsistencies were found)"
        ),
    ),
    summary="The example inputs of torch.export do not lie in the Dims given for them: {what}",
    means=(
        "Sizes that share a Dim must be equal in the examples too, a derived Dim must come out "
        "even, and each size must lie in the range of its Dim."
    ),
    mistaken_for="A call of the compiled model with wrong sizes",
    fixes=(
        fix("Choose examples that satisfy the Dims, or widen min and max"),
        fix("Give sizes that differ a Dim each"),
    ),
    guide="guides/dynamic-shapes.md#constraint-violations",
    matches=(
        recorded(
            "torch.fx.experimental.symbolic_shapes.ConstraintViolationError: 8 not in range [2, 4]",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "torch._dynamo.exc.UserError: Expected shape[0] = 9 of input Tensor to be of the "
            "form 2*k, where k is an integer",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "torch._dynamo.exc.UserError: L['y'].size()[0] = 5 is not equal to "
            "L['x'].size()[0] = 4",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "torch._dynamo.exc.UserError: Expected input L['y'].size()[0] to be equal to 2*a, "
            "where a = 4, but got 6",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "torch.fx.experimental.symbolic_shapes.ValueRangeError: Invalid value 9 for range "
            "[2:5]",
            "words of symbolic_shapes.py",
        ),
    ),
    apart_from=("guard_failed", "exported_size_guard"),
)
