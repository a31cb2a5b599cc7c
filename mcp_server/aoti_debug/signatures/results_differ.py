from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="results_differ",
    family="M",
    phase="output",
    category="wrong_result",
    weight=60,
    anchors=(
        "Tensor-likes are not ",
        "Scalars are not ",
        "MaxAbsError",
        "Accuracy failed",
        "Bad accuracy detected",
        "Greatest absolute difference",
        "Not equal to tolerance",
        "RMSE (res-fp64)",
    ),
    patterns=(
        (
            "(?:Tensor-likes|Scalars) are not (?:close|equal)|"
            r"MaxAbsError: (?P<error>[\d.e+-]+)|\] Accuracy failed|Bad accuracy detected|"
            r"Greatest absolute difference|Not equal to tolerance|RMSE \(res-fp64\)"
        ),
    ),
    summary="A comparison with the eager model failed",
    means=(
        "The compiled model gives other numbers than eager. Violated contracts, lost buffer "
        "updates, a wrong fake kernel, tf32 or a miscompiled kernel are the candidates, in "
        "this order."
    ),
    mistaken_for="Rounding",
    check=(
        "Compare in float64 as a third opinion; check the contract first: ep.module() on "
        "the same inputs"
    ),
    fixes=(
        Fix(
            what=(
                "Run with AOTI_RUNTIME_CHECK_INPUTS=1; then compare kernel by kernel with "
                "the value printer filtered to the suspect"
            )
        ),
    ),
    guide="guides/wrong-results.md#compare-with-eager",
    next_tool="triage",
    references=(
        "mir-group/nequip#574",
        "pytorch/pytorch#150114",
    ),
    matches=(
        Sample("AssertionError: Tensor-likes are not close!", "quoted", "pytorch/pytorch#150114"),
        Sample(
            (
                "AssertionError: Compilation check MaxAbsError: 1.24863 (tol: 5e-05) for "
                "field atomic_energy."
            ),
            "quoted",
            "mir-group/nequip#574",
        ),
        Sample(
            "torch._dynamo.debug_utils.AccuracyError: Bad accuracy detected",
            "recorded",
            "torch 2.13 CPU, minifier level 4",
        ),
        Sample(
            ("W1121 07:34:59.781000 10306 torch/_inductor/debug.py:1457] Accuracy failed"),
            "recorded",
            "torch 2.13 CPU",
        ),
    ),
)
