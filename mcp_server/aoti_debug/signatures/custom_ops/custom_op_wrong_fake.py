from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="custom_op_wrong_fake",
    family="L",
    phase="run",
    category="custom_op_fake_kernel",
    weight=84,
    confidence="proved",
    anchors=("Error in op: ",),
    patterns=(r"Error in op: (?P<op>(?!torch\.ops\.(?:aten|prims)\.|aten::)[\w:.]{1,200}\w)",),
    summary="{op} returned something else than its fake kernel promises",
    means=(
        "The compiled code was laid out for the sizes, strides and dtype of the fake kernel. "
        "Torch 2.13 and later compare them at run time when AOTI_RUNTIME_CHECK_INPUTS is set; "
        "without it the result is garbage or a damaged heap."
    ),
    mistaken_for="Inputs whose sizes disagree: then the operator named is one of ATen",
    check="torch.library.opcheck(op, args) on the failing inputs",
    fixes=(
        fix("Make the fake kernel compute exactly the shape, strides and dtype of the real one"),
    ),
    guide="guides/custom-ops.md#a-wrong-fake-kernel",
    next_tool="verify_fix",
    since="2.13",
    matches=(recorded("Error in op: torch.ops.lab7.wrong.default", "torch 2.13 CPU"),),
    neighbours=(
        recorded(
            "This error most often comes from a incorrect fake (aka meta) kernel for a custom op.",
            "printed for ATen operators too",
        ),
        quoted("Error in op: torch.ops.aten.sort.default", "sizes of the inputs disagree"),
    ),
)
