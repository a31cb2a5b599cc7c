from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
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
        "ax abs diff",
        "ax_abs_diff",
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
        "ax abs err",
        "ax_abs_err",
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
)
