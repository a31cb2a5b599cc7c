from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="custom_op_wrong_fake",
    family="L",
    phase="run",
    category="custom_op_fake_kernel",
    weight=84,
    confidence="proved",
    anchors=("Error in op: ",),
    patterns=(r"Error in op: (?P<op>(?!torch\.ops\.(?:aten|prims)\.|aten::)[\w:.]+\w)",),
    summary="{op} returned something else than its fake kernel promises",
    means=(
        "The compiled code was laid out for the sizes, strides and dtype of the fake "
        "kernel. Torch 2.13 and later compare them at run time when "
        "AOTI_RUNTIME_CHECK_INPUTS is set; without it the result is garbage or a damaged "
        "heap."
    ),
    mistaken_for="Inputs whose sizes disagree: then the operator named is one of ATen",
    check="torch.library.opcheck(op, args) on the failing inputs",
    fixes=(
        Fix(
            what=(
                "Make the fake kernel compute exactly the shape, strides and dtype of the real one"
            )
        ),
    ),
    guide="guides/custom-ops.md#a-wrong-fake-kernel",
    next_tool="verify_fix",
    since="2.13",
    matches=(Sample("Error in op: torch.ops.lab7.wrong.default", "recorded", "torch 2.13 CPU"),),
    neighbours=(
        Sample(
            (
                "This error most often comes from a incorrect fake (aka meta) kernel for a "
                "custom op."
            ),
            "recorded",
            "printed for ATen operators too",
        ),
        Sample(
            "Error in op: torch.ops.aten.sort.default", "quoted", "sizes of the inputs disagree"
        ),
    ),
)
