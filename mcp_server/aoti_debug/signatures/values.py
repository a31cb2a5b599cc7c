"""Results that are not a number or not those of eager."""

from __future__ import annotations

from aoti_debug.facts.tiers import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

_OF = r"(?:imum)?[ _.-]{0,2}(?:abs(?:olute)?|rel(?:ative)?)?[ _.-]{0,2}"
_IS = r"[^:=]{0,60}[:=]\s{0,4}(?:tensor\()?"
_NOT_SMALL = r"(?![\d.]{0,200}e-)"
SIGNATURES = (
    Signature(
        id="difference_printed",
        phase="output",
        category="wrong_result",
        role="symptom",
        tier=Tier.VAGUE_TEXT,
        confidence="possible",
        anchors=(
            "max diff",
            "Max diff",
            "ax_diff",
            "ax abs diff",
            "ax_abs_diff",
            "aximum difference",
            "bsolute difference",
            "elative difference",
            "ax error",
            "ax_error",
            "allclose",
        ),
        patterns=(
            rf"(?i)\bmax{_OF}(?:diff(?:erence)?|err(?:or)?)\b{_IS}[1-9]\d{{0,9}}(?:\.\d{{1,20}})?{_NOT_SMALL}",
            rf"(?i)\bmax{_OF}(?:diff(?:erence)?|err(?:or)?)\b{_IS}0\.0{{0,2}}[1-9]\d{{0,20}}{_NOT_SMALL}",
            rf"(?i)\bmax{_OF}(?:diff(?:erence)?|err(?:or)?)\b{_IS}(?:nan|inf)",
            r"(?i)\ballclose\b.{0,60}(?:[:=]|->)\s{0,4}(?:tensor\()?False",
            *(
                rf"{what} {equal}\w{{0,10}}\s?[:=?]\s{{0,4}}(?:tensor\()?(?:False|no\b)"
                for what in ("utputs", "esults")
                for equal in ("match", "equal", "identical")
            ),
            "utputs do not match",
            "utputs differ",
            "mismatch between eager and",
            "differs? from eager",
            "different from eager",
            "does not match (?:the )?eager",
            "don't match (?:the )?eager",
            "not match (?:the )?eager",
            "AssertionError: .{0,80}(?:allclose|max_?diff)",
        ),
        summary="The script printed a difference between two results",
        means=(
            "The compiled model seems to give other numbers than the reference. Whether that is "
            "more than rounding depends on dtype and scale."
        ),
        check="Compare both with a float64 run of eager; check the input contract first",
        fixes=(
            fix("Run with AOTI_RUNTIME_CHECK_INPUTS=1, then compare kernel by kernel"),
            fix("Exclude tf32 and reduced precision: compare in float32 with tf32 off"),
        ),
        guide="guides/wrong-results.md#compare-with-eager",
        next_tool="triage",
        matches=(
            words(
                "scripts' own prints",
                "results match: False",
                "results equal: False",
                "results identical: False",
                "outputs match: False",
                "outputs equal: False",
            ),
            quoted("Max abs diff (default seed): 0.0038", "form of a script's print"),
            quoted("torch.allclose(a, b): False", "form of a script's print"),
            words(
                "programs that were not at hand",
                "outputs match:False",
                "outputs equal:False",
                "outputs do not match",
                "mismatch between eager and",
                "different from eager",
            ),
            words(
                "scripts' own prints",
                "Outputs identical: False",
                "max diff: 0.3",
                "Max diff: 0.3",
                "max_diff=1.5",
                "max_abs_diff: nan",
                "Maximum difference: 0.2",
                "Max absolute difference: 2",
                "max relative difference: 3.5",
                "max error: 0.7",
                "max_error=inf",
            ),
            words("scripts' own prints", "Outputs differ"),
            words("torch/_functorch/_aot_autograd/streams.py", "differ from eager"),
            words("torch/_meta_registrations.py", "does not match eager"),
            words("torch/nn/modules/activation.py", "don't match eager"),
            words("torch/nn/attention/flex_attention.py", "AssertionError: allclose"),
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
        id="nan_assert",
        phase="run",
        category="nan_or_inf",
        tier=Tier.EXACT_TEXT,
        confidence="proved",
        patterns=(
            r"At least one (?P<what>NaN|INF) in (?P<tensor>\w{1,200})",
            r'aoti_torch_check_inf_and_nan\("(?P<tensor>[^\"]{1,80})".{0,200}API call failed',
            "Assertion `(?P<tensor>NaN or Inf found)` failed",
        ),
        summary="A NaN or infinity was found: {tensor}",
        means=(
            "TORCHINDUCTOR_NAN_ASSERTS stopped at the first tensor it looked at with such a value; "
            "argN_1 is input N of the graph. It looks at inputs and arguments of Triton kernels "
            "only and also rejects a legitimate -inf mask."
        ),
        check="Is the named tensor an input? Then the caller delivers it",
        fixes=(
            fix(
                (
                    "Follow the value back: print min and max of the inputs, then of the kernels "
                    "before with the value printer"
                ),
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
                (
                    "c7x.py:21: unknown: block: [0,0,0], thread: [0,0,0] Assertion `NaN or Inf "
                    "found` failed."
                ),
                "text of inductor/codegen/common.py, in the form of Triton's asserts",
            ),
        ),
    ),
    Signature(
        id="nan_printed",
        phase="output",
        category="nan_or_inf",
        role="symptom",
        tier=Tier.VAGUE_TEXT,
        confidence="possible",
        anchors=(
            "tensor(nan",
            "loss: nan",
            "nan nan nan",
            "has_nan",
            "all NaN",
        ),
        patterns=(
            r"tensor\(\[{0,9}nan",
            "loss: ?nan",
            r"^\s{0,20}nan(?:\s{1,20}nan){2,40}",
            "returned NaN(?!s?[?:= ]{1,4}False)",
            "are all NaN(?!s?[?:= ]{1,4}False)",
            "produces NaN(?!s?[?:= ]{1,4}False)",
            "contains NaN(?!s?[?:= ]{1,4}False)",
            "returns NaN(?!s?[?:= ]{1,4}False)",
            "has NaN(?!s?[?:= ]{1,4}False)",
            "output is nan",
            "outputs are nan",
            "is all nan",
            "all NaN",
            "has_?(?:nan|NaN)[:=] ?True",
            "[Ll]oss is nan",
            "NaN outputs",
            "returns nan",
            r"isnan\(\)\.any\(\).{0,20}True",
            r"isfinite\(\)\.all\(\).{0,20}False",
        ),
        summary="The output shows NaN",
        means=(
            "A value was not a number by the time it was printed. It may stem from the inputs, "
            "from the model itself or from a kernel."
        ),
        check="Does eager give NaN on the same inputs? Then it is the model, not the compiler",
        fixes=(
            fix(
                "Compile once with TORCHINDUCTOR_NAN_ASSERTS=1 to find the first tensor with a NaN",
            ),
        ),
        guide="guides/wrong-results.md#nan-and-inf",
        next_tool="triage",
        matches=(
            words("scripts' own prints", "output is nan", "outputs are nan"),
            recorded("tensor(nan, device='cuda:0')", "torch 2.11, H200"),
            quoted("loss: nan", "common form"),
            words(
                "programs that were not at hand",
                "nan nan nan",
                "are all NaN",
                "has NaN",
                "is all nan",
                "has_nan: True",
                "isfinite().all()False",
            ),
            words("torch/_dynamo/compiled_autograd.py", "returned NaN"),
            words(
                "torch/testing/_internal/common_methods_invocations.py",
                "produces NaN",
                "returns NaN",
            ),
            words("torch/testing/_internal/common_quantization.py", "contains NaN"),
            words("torch/_meta_registrations.py", "output is nan"),
            words("programs that were not at hand", "Loss is nan", "NaN outputs"),
            words("ATen/cpu/vec/vec256/vsx/vsx_helpers.h", "returns nan"),
            words("torch/testing/_internal/distributed/distributed_test.py", "isnan().any()True"),
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
        id="nan_refused",
        phase="run",
        category="nan_or_inf",
        tier=Tier.KIND_TEXT,
        patterns=(
            "probability tensor contains either",
            "returned nan values in its",
            "Assertion `input_val >= zero && input_val <= one",
            r"Assertion `cumdist\[",
            "Assertion `val >= zero",
            "Assertion `sum > accZero",
            "Assertion `0 <= p4 && p4 <= 1",
            r"Assertion `!\(?(?:::)?isnan",
            "invalid multinomial distribution",
            r"(?:Error|Exception)\b.{0,120}NaN or infinite",
            r"(?:Error|Exception)\b.{0,120}Infs or NaNs",
            r"(?:Error|Exception)\b.{0,120}contains NaN",
            r"(?:Error|Exception)\b.{0,120}contains inf or nan",
            r"(?:Error|Exception)\b.{0,120}[Ff]ound inf or nan",
            r"(?:Error|Exception)\b.{0,120}[fF]ound NaN",
            r"(?:Error|Exception)\b.{0,120}(?:NaN detected|nan detected|NaNs detected)",
            r"(?:Error|Exception)\b.{0,120}infs or NaNs",
            "to satisfy the constraint .{0,200}nan",
            "to satisfy the constraint .{0,200}invalid values",
        ),
        summary="A check found NaN, infinity or a number outside its range",
        means=(
            "Probabilities, losses and distributions are checked for their range; NaN fails these "
            "checks. Where it was born is upstream."
        ),
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
            words(
                "programs that were not at hand",
                "Assertion `input_val >= zero && input_val <= one",
                "Assertion `cumdist[",
                "Assertion `val >= zero",
                "Assertion `sum > accZero",
                "Assertion `0 <= p4 && p4 <= 1",
                "Assertion `!isnan",
                "Error NaN or infinite",
                "Error Infs or NaNs",
                "Error contains inf or nan",
                "Error Found inf or nan",
                "Error Found NaN",
            ),
            words(
                "torch/testing/_internal/common_methods_invocations.py",
                "invalid multinomial distribution",
            ),
            words("torch/serialization.py", "Error NaN detected"),
            words("torch/testing/_internal/distributed/distributed_test.py", "Error infs or NaNs"),
            words(
                "torch/distributions/distribution.py",
                "to satisfy the constraint nan",
                "to satisfy the constraint invalid values",
            ),
        ),
    ),
    Signature(
        id="results_differ",
        phase="output",
        category="wrong_result",
        tier=Tier.KIND_TEXT,
        patterns=(
            "Greatest relative difference",
            "Mismatched elements[^:]{0,60}: [1-9]",
            r"\bfail_accuracy\b",
            "Arrays are not almost equal",
            "AccuracyError",
            "Tensor-likes are not (?:close|equal)",
            "Scalars are not (?:close|equal)",
            r"MaxAbsError: (?P<error>[\d.e+-]{1,200})",
            r"\] Accuracy failed",
            "Bad accuracy detected",
            "Greatest absolute difference",
            "Not equal to tolerance",
            r"RMSE \(res-fp64\)",
        ),
        summary="A comparison with the eager model failed",
        means=(
            "The compiled model gives other numbers than eager. Violated contracts, lost buffer "
            "updates, a wrong fake kernel, tf32 or a miscompiled kernel are the candidates, in "
            "this order."
        ),
        check=(
            "Compare in float64 as a third opinion; check the contract first: ep.module() on the "
            "same inputs"
        ),
        fixes=(
            fix(
                (
                    "Run with AOTI_RUNTIME_CHECK_INPUTS=1; then compare kernel by kernel with the "
                    "value printer filtered to the suspect"
                ),
            ),
        ),
        guide="guides/wrong-results.md#compare-with-eager",
        next_tool="triage",
        matches=(
            quoted("AssertionError: Tensor-likes are not close!", "pytorch/pytorch#150114"),
            recorded("Mismatched elements: 4 / 4 (100.0%)", "torch 2.13 CPU, torch.testing"),
            quoted(
                (
                    "AssertionError: Compilation check MaxAbsError: 1.24863 (tol: 5e-05) for field "
                    "atomic_energy."
                ),
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
            words(
                "torch/testing/_comparison.py",
                "Greatest relative difference",
                "Scalars are not close",
                "Greatest absolute difference",
            ),
            words("programs that were not at hand", "fail_accuracy"),
            words(
                "torch/_numpy/testing/utils.py",
                "Arrays are not almost equal",
                "Not equal to tolerance",
            ),
            words("torch/_dynamo/utils.py", "RMSE (res-fp64)"),
        ),
    ),
)
