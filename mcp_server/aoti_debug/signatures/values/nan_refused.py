from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
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
)
