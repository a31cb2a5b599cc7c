from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="export_inputs_wrong",
    family="B",
    phase="export",
    category="user_code",
    weight=76,
    confidence="proved",
    anchors=(
        "Expecting `args` to be a tuple of example positional inputs",
        "Unsupported input type <class",
        "mismatch between the structure of `inputs` and `dynamic_shapes`",
        "its top-level keys must be the arg names",
        "ConstraintViolationError: ",
        " to be of the form ",
    ),
    patterns=(
        (
            r"Expecting `args` to be a tuple of example positional inputs|Unsupported input "
            r"type <class .{1,120}Export only supports pytree containers"
        ),
        (
            r"Detected mismatch between the structure of `inputs` and `dynamic_shapes`|When "
            r"`dynamic_shapes` is specified as a dict, its top-level keys must be the arg "
            r"names"
        ),
        (
            r"ConstraintViolationError: -?\d+ not in range \[[^\]]{1,60}\]|Expected "
            r"shape\[\d+\] = \d+ of input \S{0,40} ?to be of the form [^,]{1,60}, where"
        ),
    ),
    summary="torch.export got example inputs and dynamic_shapes that do not fit",
    means=(
        "The examples must be a tuple of tensors, numbers and plain containers; "
        "dynamic_shapes mirrors their structure and names, and each example size must "
        "lie in its Dim."
    ),
    fixes=(
        Fix(
            what=(
                "Mirror the inputs: args=(x,), dynamic_shapes={{'x': {{0: Dim('b', min=1, "
                "max=64)}}}}"
            )
        ),
        Fix(what="Register own classes with torch.export.register_dataclass"),
    ),
    guide="guides/lowering-and-cpp.md#calling-the-api-wrongly",
    matches=(
        Sample(
            (
                "torch._dynamo.exc.UserError: Expecting `args` to be a tuple of example "
                "positional inputs, got <class 'torch.Tensor'>"
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            (
                "ValueError: Unsupported input type <class '__main__.Cfg'>. Export only "
                "supports pytree containers of basic types (Tensor, int, float, ...) as input."
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            (
                "torch._dynamo.exc.UserError: Detected mismatch between the structure of "
                "`inputs` and `dynamic_shapes`: `inputs[0]` is a <class 'tuple'>, but "
                "`dynamic_shapes[0]` is a <class 'dict'>"
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            (
                "torch._dynamo.exc.UserError: When `dynamic_shapes` is specified as a dict, its "
                "top-level keys must be the arg names ['input'] of `inputs`, but here they are "
                "['x']."
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            (
                "torch.fx.experimental.symbolic_shapes.ConstraintViolationError: 8 not in range "
                "[2, 4]"
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            (
                "torch._dynamo.exc.UserError: Expected shape[0] = 9 of input Tensor to be of "
                "the form 2*k, where k is an integer"
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
    ),
)
