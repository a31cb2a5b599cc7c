"""Results that are not a number or not those of eager."""

from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURES = (
    Signature(
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
            r"At least one (?P<what>NaN|INF) in (?P<tensor>\w+)",
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
    ),
    Signature(
        id="nan_printed",
        family="M",
        phase="output",
        category="nan_or_inf",
        role="symptom",
        weight=25,
        confidence="possible",
        anchors=(
            "tensor(nan",
            "tensor([nan",
            "tensor([[nan",
            "loss: nan",
            "loss=nan",
            "nan nan nan",
            "returned NaN",
            "are all NaN",
            "produces NaN",
            "contains NaN",
        ),
        patterns=(
            (
                r"tensor\(\[*nan|\bloss[:=] ?nan|^\s*nan(?:\s{1,20}nan){2,40}|(?:returned|are all"
                "|produces|contains) NaN"
            ),
        ),
        summary="The output shows NaN",
        means=(
            "A value was not a number by the time it was printed. It may stem from the inputs, "
            "from the model itself or from a kernel."
        ),
        check="Does eager give NaN on the same inputs? Then it is the model, not the compiler",
        fixes=(
            fix(
                "Compile once with TORCHINDUCTOR_NAN_ASSERTS=1 to find the first tensor with a NaN"
            ),
        ),
        guide="guides/wrong-results.md#nan-and-inf",
        next_tool="triage",
        references=("deepmodeling/deepmd-kit#5969",),
        matches=(
            recorded("tensor(nan, device='cuda:0')", "torch 2.11, H200"),
            quoted("loss: nan", "common form"),
        ),
        neighbours=(
            recorded(
                "Min value: -nan",
                "value printer before a launch, where results are not written yet, torch 2.13 CPU",
            ),
        ),
    ),
    Signature(
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
                "(?:Tensor-likes|Scalars) are not (?:close|equal)|MaxAbsError: "
                r"(?P<error>[\d.e+-]+)|\] Accuracy failed|Bad accuracy detected|Greatest absolute "
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
    ),
)
