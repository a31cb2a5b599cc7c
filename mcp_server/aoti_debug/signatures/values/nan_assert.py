from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="nan_assert",
    family="M",
    phase="run",
    category="nan_or_inf",
    weight=80,
    confidence="proved",
    anchors=(
        "At least one NaN in ",
        "At least one INF in ",
        "aoti_torch_check_inf_and_nan",
        "NaN or Inf found",
    ),
    patterns=(
        r"At least one (?P<what>NaN|INF) in (?P<tensor>\w{1,200})",
        r"aoti_torch_check_inf_and_nan\(\"(?P<tensor>[^\"]{1,80})\".{0,200}API call failed",
        "Assertion `(?P<tensor>NaN or Inf found)` failed",
    ),
    summary="A NaN or infinity was found: {tensor}",
    means=(
        "TORCHINDUCTOR_NAN_ASSERTS stopped at the first tensor it looked at with such a "
        "value; argN_1 is input N of the graph. It looks at inputs and arguments of Triton "
        "kernels only and also rejects a legitimate -inf mask."
    ),
    mistaken_for="The kernel where the NaN is born",
    check="Is the named tensor an input? Then the caller delivers it",
    fixes=(
        fix(
            "Follow the value back: print min and max of the inputs, then of the kernels "
            "before with the value printer"
        ),
    ),
    guide="guides/wrong-results.md#nan-and-inf",
    next_tool="triage",
    matches=(
        recorded("RuntimeError: At least one NaN in arg1_1", "torch 2.13 CPU"),
        recorded("RuntimeError: At least one INF in arg1_1", "torch 2.13 CPU"),
        recorded(
            'Error: aoti_torch_check_inf_and_nan("arg1_1", arg1_1) API call failed',
            "torch 2.13 CPU, stderr",
        ),
        quoted(
            "c7x.py:21: unknown: block: [0,0,0], thread: [0,0,0] Assertion `NaN or Inf found` "
            "failed.",
            "text of inductor/codegen/common.py, in the form of Triton's asserts",
        ),
    ),
)
