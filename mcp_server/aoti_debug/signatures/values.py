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
            "tensor([[[nan",
            "loss: nan",
            "loss=nan",
            "HasNaN: True",
            "has_nan: True",
            "has_nan=True",
            "oss is nan",
            "output is nan",
            "outputs are nan",
            "is all nan",
            "all NaN",
            "has NaN",
            "NaN outputs",
            "returns NaN",
            "returns nan",
            "isnan().any()",
            "isfinite().all()",
            "nan nan nan",
            "returned NaN",
            "are all NaN",
            "produces NaN",
            "contains NaN",
        ),
        patterns=(
            (
                r"tensor\(\[{0,9}nan|\bloss[:=] ?nan|^\s{0,20}nan(?:\s{1,20}nan){2,40}"
                r"|(?:returned|are all"
                "|produces|contains|returns|has) NaN(?!s?[?:= ]{1,4}False)|outputs? (?:is|are) nan"
                "|is all nan|all NaN"
                "|(?i:has_?nan[:=] ?True)|[Ll]oss is nan|NaN outputs|returns nan"
                r"|isnan\(\)\.any\(\).{0,20}True|isfinite\(\)\.all\(\)"
                ".{0,20}False"
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
            quoted("output contains NaN: False", "form of a script's print"),
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
    ),
    Signature(
        id="difference_printed",
        family="M",
        phase="output",
        category="wrong_result",
        role="symptom",
        weight=26,
        confidence="possible",
        anchors=(
            "max diff",
            "Max diff",
            "max_diff",
            "maxdiff",
            "MaxDiff",
            "MAX DIFF",
            "abs diff",
            "abs_diff",
            "abs. diff",
            "maximum difference",
            "Maximum difference",
            "absolute diff",
            "Absolute diff",
            "relative diff",
            "max error",
            "Max error",
            "max_error",
            "absolute error",
            "Absolute error",
            "abs err",
            "abs_err",
            "Max err",
            "max err",
            "allclose",
            "cosine sim",
            "Cosine sim",
            "mismatch between eager and",
            "differ from eager",
            "different from eager",
            "differs from eager",
            "does not match eager",
            "don't match eager",
            "not match the eager",
            "Outputs match",
            "outputs match",
            "Results match",
            "results match",
            "outputs do not match",
            "Outputs do not match",
            "Outputs differ",
            "outputs differ",
            "wrong results",
            "incorrect results",
        ),
        patterns=(
            (
                r"(?i)\bmax(?:imum)?[ _.-]{0,2}(?:abs(?:olute)?|rel(?:ative)?)?[ _.-]{0,2}"
                r"(?:diff(?:erence)?|err(?:or)?)\b[^:=]{0,60}[:=]\s{0,4}(?:tensor\()?"
                r"(?:[1-9]\d{0,9}(?:\.\d{1,20})?(?![\d.]{0,200}e-)|0\.(?:0{0,2}[1-9]\d{0,20})(?![\d.]{0,200}e-)"
                "|nan|inf)"
            ),
            (
                r"(?i)\ballclose\b.{0,60}(?:[:=]|->)\s{0,4}(?:tensor\()?False|\b(?:outputs"
                "|results) "
                r"(?:match|equal|identical)\w{0,10}\s?[:=?]\s{0,4}(?:tensor\()?(?:False|no\b)"
                r"|\boutputs "
                "(?:do not match|differ)|(?:mismatch between eager and|differs? from eager"
                "|different "
                "from eager|(?:does not|don't|not) match (?:the )?eager)|AssertionError: .{0,80}"
                r"(?:allclose|max_?diff)"
            ),
        ),
        summary="The script printed a difference between two results",
        means=(
            "The compiled model seems to give other numbers than the reference. Whether that is "
            "more than rounding depends on dtype and scale."
        ),
        mistaken_for="Rounding",
        check="Compare both with a float64 run of eager; check the input contract first",
        fixes=(
            fix("Run with AOTI_RUNTIME_CHECK_INPUTS=1, then compare kernel by kernel"),
            fix("Exclude tf32 and reduced precision: compare in float32 with tf32 off"),
        ),
        guide="guides/wrong-results.md#compare-with-eager",
        next_tool="triage",
        matches=(
            quoted("Max abs diff (default seed): 0.0038", "form of a script's print"),
            quoted("torch.allclose(a, b): False", "form of a script's print"),
        ),
        neighbours=(
            quoted("Max absolute difference: 1.1920929e-07", "rounding"),
            quoted("max abs diff: 1.2e-07", "rounding"),
            quoted("max diff: 0.0", "equal"),
            quoted("max_err=9.5367e-07", "rounding"),
            quoted("allclose: True", "equal"),
        ),
    ),
    Signature(
        id="nan_refused",
        family="M",
        phase="run",
        category="nan_or_inf",
        weight=66,
        anchors=(
            "probability tensor contains either",
            "returned nan values in its",
            "Assertion `input_val >= zero && input_val <= one`",
            "Assertion `cumdist[",
            "Assertion `val >= zero`",
            "Assertion `sum > accZero`",
            "Assertion `0 <= p4 && p4 <= 1`",
            "Assertion `!(::isnan",
            "Assertion `!isnan",
            "invalid multinomial distribution",
            "NaN or infinite",
            "Infs or NaNs",
            "Input contains NaN",
            "contains NaN or Inf",
            "contains inf or nan",
            "Found inf or nan",
            "Found NaN",
            "found NaN",
            "NaN detected",
            "nan detected",
            "NaNs detected",
            "array must not contain infs or NaNs",
            "to satisfy the constraint",
        ),
        patterns=(
            (
                "probability tensor contains either|returned nan values in its|Assertion "
                r"`(?:input_val >= zero && input_val <= one|cumdist\[|val >= zero|sum > accZero|0 "
                r"<= p4 && p4 <= 1|!\(?(?:::)?isnan)|invalid multinomial distribution"
            ),
            (
                r"(?:Error|Exception)\b.{0,120}(?:NaN or infinite|Infs or NaNs|contains NaN"
                "|contains "
                "inf or nan|[Ff]ound inf or nan|[fF]ound NaN|(?:NaN|nan)s? detected|infs or NaNs)"
                r"|to satisfy the constraint .{0,200}(?:nan|invalid values)"
            ),
        ),
        summary="A check found NaN, infinity or a number outside its range",
        means=(
            "Probabilities, losses and distributions are checked for their range; NaN fails these "
            "checks. Where it was born is upstream."
        ),
        mistaken_for="An index out of bounds, since the GPU reports both as an assert",
        check="Does eager give the same on these inputs? Then it is the model or its data",
        fixes=(
            fix("Print min and max of the inputs and of the tensors before the check"),
            fix("Compile once with TORCHINDUCTOR_NAN_ASSERTS=1 to find the first NaN"),
        ),
        guide="guides/wrong-results.md#nan-and-inf",
        next_tool="triage",
        matches=(
            recorded(
                "RuntimeError: probability tensor contains either `inf`, `nan` or element < 0",
                "torch 2.13 CPU, multinomial",
            ),
            recorded(
                "RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.",
                "torch 2.13 CPU, anomaly mode",
            ),
            quoted(
                "ValueError: Input contains NaN, infinity or a value too large for dtype",
                "words of scikit-learn",
            ),
        ),
    ),
)
