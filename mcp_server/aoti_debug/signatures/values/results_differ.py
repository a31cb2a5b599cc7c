from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

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
        "Greatest relative difference",
        "Not equal to tolerance",
        "RMSE (res-fp64)",
        "Mismatched elements",
        "fail_accuracy",
        "Arrays are not almost equal",
        "AccuracyError",
    ),
    patterns=(
        (
            "Greatest relative difference|Mismatched elements[^:]{0,60}: [1-9]"
            r"|\bfail_accuracy\b"
            "|Arrays are not almost equal|AccuracyError"
        ),
        (
            "(?:Tensor-likes|Scalars) are not (?:close|equal)|MaxAbsError: "
            r"(?P<error>[\d.e+-]{1,200})|\] Accuracy failed|Bad accuracy detected"
            r"|Greatest absolute "
            r"difference|Not equal to tolerance|RMSE \(res-fp64\)"
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
        "Compare in float64 as a third opinion; check the contract first: ep.module() on the "
        "same inputs"
    ),
    fixes=(
        fix(
            "Run with AOTI_RUNTIME_CHECK_INPUTS=1; then compare kernel by kernel with the "
            "value printer filtered to the suspect"
        ),
    ),
    guide="guides/wrong-results.md#compare-with-eager",
    next_tool="triage",
    references=("mir-group/nequip#574", "pytorch/pytorch#150114"),
    matches=(
        quoted("AssertionError: Tensor-likes are not close!", "pytorch/pytorch#150114"),
        recorded("Mismatched elements: 4 / 4 (100.0%)", "torch 2.13 CPU, torch.testing"),
        quoted(
            "AssertionError: Compilation check MaxAbsError: 1.24863 (tol: 5e-05) for field "
            "atomic_energy.",
            "mir-group/nequip#574",
        ),
        recorded(
            "torch._dynamo.debug_utils.AccuracyError: Bad accuracy detected",
            "torch 2.13 CPU, minifier level 4",
        ),
        recorded(
            "W1121 07:34:59.781000 10306 torch/_inductor/debug.py:1457] Accuracy failed",
            "torch 2.13 CPU",
        ),
    ),
)
