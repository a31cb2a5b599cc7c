from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="autotune_choice_failed",
    family="K",
    phase="autotune",
    category="autotune_error",
    role="symptom",
    weight=42,
    anchors=(
        "Runtime error during autotuning",
        "CUDA compilation error during autotuning",
        "Runtime error for autotuning triton choices",
        "Failed to benchmark choice",
        "for benchmark choice",
        "Unexpected exception in autotune subprocess",
        "Timeout in autotune subprocess",
        "Sending SIGKILL to autotune subprocess",
        "Incorrect result from choice",
        "All autotuning benchmarks failed",
        "At least one choice failed or timed out",
        "failed or timed out during collective benchmarking",
        "Collective benchmark exception for choice",
        "Marking choice as failed due to timeout",
        "Precompilation timeout after",
        "Barrier timeout before benchmarking",
        "All-reduce timeout when collecting benchmark results",
        "AutotuneProcessPool warmup failed",
        "failed during benchmarking",
        "Ignoring this choice",
        "avoid those benchmarkings that would cause non-deterministic",
        "profiling events. Found",
        "Failed to capture device events for",
        "torch/_inductor/select_algorithm.py",
        "torch/_inductor/autotune_process.py",
    ),
    patterns=(
        (
            "(?:Runtime|CUDA compilation) error during autotuning|Runtime error for autotuning "
            "triton choices|Failed to benchmark choice|for benchmark choice|Unexpected "
            "exception in autotune subprocess|Timeout in autotune subprocess|Sending SIGKILL "
            "to "
            "autotune subprocess|Incorrect result from choice|All autotuning benchmarks failed"
            "|failed or timed out during collective|Collective benchmark exception for choice"
            "|Marking choice as failed due to timeout|Precompilation timeout after|Barrier "
            "timeout before benchmarking|All-reduce timeout when collecting benchmark"
            r"|AutotuneProcessPool warmup failed|choice .{1,300} failed during benchmarking"
            "|Ignoring this choice|avoid those benchmarkings that would cause|profiling events"
            r"\. Found|Failed to capture device events for"
        ),
        (
            r"^[EC]\d{4} .{0,120}torch/_inductor/(?:select_algorithm"
            r"|autotune_process)\.py:\d{1,20}\]"
            r"|\[ERROR\].{0,80}(?:select_algorithm|autotune_process)"
        ),
    ),
    summary="A candidate kernel failed while Inductor was choosing the fastest",
    means=(
        "max-autotune compiles and times many candidates. One that fails is dropped and the "
        "compile goes on; only if all fail, or the failure breaks the CUDA context, is it the "
        "reason of what follows."
    ),
    mistaken_for="The reason of a later failure",
    check="Did the compile go on afterwards? Then ignore it",
    fixes=(
        fix("Add ATEN to max_autotune_gemm_backends, so that one candidate always works"),
        fix("Compile without max_autotune; set autotune_in_subproc to survive a crash"),
    ),
    guide="guides/triton-and-autotuning.md#out-of-resource",
    next_tool="triage",
    matches=(
        quoted("Runtime error during autotuning: ", "words of torch/_inductor/select_algorithm.py"),
        quoted(
            "E0411 08:00:00.558000 2500 torch/_inductor/select_algorithm.py:1905] [15/4] "
            "Exception No valid triton configs.",
            "form of the log line",
        ),
    ),
    neighbours=(
        quoted(
            "V0411 08:00:00.558000 2500 torch/_inductor/select_algorithm.py:1905] [15/4] "
            "Max autotune selects from 18 choices.",
            "no failure",
        ),
    ),
)
