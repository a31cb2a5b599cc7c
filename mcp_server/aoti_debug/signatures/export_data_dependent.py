from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="export_data_dependent",
    family="B",
    phase="export",
    category="lowering_error",
    weight=78,
    confidence="proved",
    anchors=(
        "Could not guard on data-dependent expression",
        "Could not extract specialized integer from data-dependent expression",
    ),
    patterns=(
        (
            r"Could not (?:guard on|extract specialized integer from) data-dependent "
            r"expression (?P<expression>.{1,120}?) \(unhinted"
        ),
        (
            r"Could not (?:guard on|extract specialized integer from) data-dependent "
            r"expression (?P<expression>.{1,120})"
        ),
    ),
    summary="The model branches on a value known only at run time: {expression}",
    means=(
        "A size or bool comes from data (item(), nonzero(), a mask), so tracing cannot "
        "decide the branch."
    ),
    fixes=(
        Fix(
            what=(
                "State what is always true before it: torch._check(u >= 2), or use "
                "guard_or_false / torch.cond"
            )
        ),
        Fix(what="Or move the data-dependent part out of the model"),
    ),
    guide="guides/dynamic-shapes.md#data-dependent-sizes",
    references=("pytorch/pytorch#118304",),
    matches=(
        Sample(
            (
                "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode: Could not "
                "guard on data-dependent expression Eq(u0, 1) (unhinted: Eq(u0, 1)).  "
                "(Size-like symbols: none)"
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            (
                "GuardOnDataDependentSymNode: Could not extract specialized integer from "
                "data-dependent expression u0 (unhinted: u0)"
            ),
            "quoted",
            "words of symbolic_shapes.py",
        ),
    ),
)
