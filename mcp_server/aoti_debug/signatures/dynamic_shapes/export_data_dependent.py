from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

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
            "Could not (?:guard on|extract specialized integer from) data-dependent "
            r"expression (?P<expression>.{1,120}?) \(unhinted"
        ),
        (
            "Could not (?:guard on|extract specialized integer from) data-dependent "
            "expression (?P<expression>.{1,120})"
        ),
    ),
    summary="The model branches on a value known only at run time: {expression}",
    means=(
        "A size or bool comes from data (item(), nonzero(), a mask), so tracing cannot decide "
        "the branch."
    ),
    fixes=(
        fix(
            "State what is always true before it: torch._check(u >= 2), or use guard_or_false "
            "/ torch.cond"
        ),
        fix("Or move the data-dependent part out of the model"),
    ),
    guide="guides/dynamic-shapes.md#data-dependent-sizes",
    references=("pytorch/pytorch#118304",),
    matches=(
        recorded(
            "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode: Could not "
            "guard on data-dependent expression Eq(u0, 1) (unhinted:",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "GuardOnDataDependentSymNode: Could not extract specialized integer from "
            "data-dependent expression u0 (unhinted: u0)",
            "words of symbolic_shapes.py",
        ),
    ),
)
