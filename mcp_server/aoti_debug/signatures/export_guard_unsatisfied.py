from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="export_guard_unsatisfied",
    family="B",
    phase="export",
    category="contract_guard",
    weight=83,
    confidence="proved",
    anchors=("satisfy the generated guard",),
    patterns=(
        (
            r"Not all values of (?P<dim>.{1,80}?) = .{1,80}? in the specified range satisfy "
            r"the generated guard (?P<guard>.{1,160})"
        ),
    ),
    summary="The model only works for some sizes of {dim}: {guard}",
    means=(
        "The traced code needs more of the size than the Dim promises, such as "
        "divisibility or a larger minimum."
    ),
    fixes=(
        Fix(what="Take the Dim of `Suggested fixes` (2*_b for an even size, min=5 for a minimum)"),
        Fix(what="Or remove the code that needs it"),
    ),
    guide="guides/dynamic-shapes.md#constraint-violations",
    matches=(
        Sample(
            (
                "  - Not all values of b = L['a'][0].size()[0] in the specified range satisfy "
                "the generated guard 5 <= L['a'][0].size()[0] and L['a'][0].size()[0] <= "
                "IntInfinity()"
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
    ),
    neighbours=(
        Sample(
            (
                "torch._dynamo.exc.UserError: Constraints violated (b)! For more information, "
                'run with TORCH_LOGS="+dynamic".'
            ),
            "quoted",
            "another failure",
        ),
    ),
)
