from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="export_dynamic_shapes_wrong",
    family="B",
    phase="export",
    category="lowering_error",
    weight=78,
    anchors=(
        "and `dynamic_shapes`",
        "its top-level keys must be the arg names",
        "at `dynamic_shapes",
        "`spec['dynamic_shapes']`",
        "Unable to specify input integers as dynamic through named Dims",
        " for the same symbolic dimension ",
        "Must provide a tree_name when there might be a mismatch",
        "Cannot be a mismatch if there is no dynamic_shapes",
        "or _DimHint for _IntWrapper",
        "Some tensors that were assigned shapes were not found in args",
        "Shapes assigned to input do not match",
        "to have differing types, so they cannot be marked as dynamic",
        "linear operations with integer coefficients are supported",
        "Cannot create Dim with inconsistent min=",
        "Dim name must be a valid identifier",
        "Expected derived m",
    ),
    patterns=(
        (
            "(?P<what>mismatch between the structure of `[^`]{1,60}` and `dynamic_shapes`|When "
            "`dynamic_shapes` is specified as a dict, its top-level keys must be the arg names"
            "|(?:Expected dynamic shape spec|Unexpected (?:input tensor shape|dimension)"
            "|Cannot associate shape).{1,200}at `dynamic_shapes|`spec\\['dynamic_shapes'\\]`)"
        ),
        (
            "(?P<what>Unable to specify input integers as dynamic through named Dims|Found "
            "different definitions .{1,160} for the same symbolic dimension|Must provide a "
            "tree_name when there might be a mismatch|Cannot be a mismatch if there is no "
            "dynamic_shapes|expected dynamic_shape to be None, int, or _DimHint for "
            "_IntWrapper|Some tensors that were assigned shapes were not found in args|Shapes "
            "assigned to input do not match|differing types, so they cannot be marked as "
            "dynamic)"
        ),
        (
            "(?P<what>Only increasing linear operations with integer coefficients are "
            "supported|Cannot create Dim with inconsistent min=|Dim name must be a valid "
            "identifier|Expected derived (?:min|max) value of .{1,80} to be [<>]=)"
        ),
    ),
    summary="dynamic_shapes does not fit the example inputs: {what}",
    means=(
        "dynamic_shapes mirrors the structure and the names of the inputs: one entry for each "
        "tensor, with as many dimensions, None for what is no tensor."
    ),
    check="torch.export.export without dynamic_shapes passes",
    fixes=(
        fix("Mirror the inputs: args=(x,), dynamic_shapes={{'x': {{0: Dim('b', min=1, max=64)}}}}"),
        fix("Let torch write it: torch.export.ShapesCollection or AdditionalInputs"),
    ),
    guide="guides/lowering-and-cpp.md#calling-the-api-wrongly",
    matches=(
        recorded(
            "torch._dynamo.exc.UserError: Detected mismatch between the structure of `inputs` "
            "and `dynamic_shapes`: `inputs` has 2 elements, but `dynamic_shapes` has 1 "
            "elements",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "torch._dynamo.exc.UserError: When `dynamic_shapes` is specified as a dict, its "
            "top-level keys must be the arg names",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "torch._dynamo.exc.UserError: Expected dynamic shape spec (Dim('a', min=0),) "
            "specified at `dynamic_shapes['x']` to have the same length as the actual tensor "
            "shape torch.Size([4, 4]) (expected 2, but got 1 instead)",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "torch._dynamo.exc.UserError: Unexpected dimension mapped to index 0 in input "
            "tensor shape {0: 'a'} specified at `dynamic_shapes['x']` (expected None, an int, "
            "a Dim, Dim.AUTO, Dim.STATIC, or Dim.DYNAMIC,  but got 'a' instead)",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "ValueError: Unable to specify input integers as dynamic through named Dims. "
            "Please use Dim.AUTO/DYNAMIC instead.",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "torch._dynamo.exc.UserError: Found different definitions Dim('a', min=0, max=9) "
            "and Dim('a', min=0, max=10) for the same symbolic dimension Dim('a', min=0, "
            "max=10)!",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "NotImplementedError: Attempted to add 0.5 to a, where an integer was expected. "
            "(Only increasing linear operations with integer coefficients are supported.)",
            "words of torch/export/dynamic_shapes.py",
        ),
    ),
    apart_from=("export_example_outside_dims",),
)
