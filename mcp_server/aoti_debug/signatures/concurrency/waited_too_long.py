from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="waited_too_long",
    family="N",
    phase="hang",
    category="hang",
    role="cause",
    weight=60,
    anchors=(
        "did not complete within ",
        "DUE TO TIME LIMIT",
        "blocked for more than ",
        "soft lockup",
        "exceeded the maximum execution time",
        "Failed: Timeout >",
        "exit code 124",
        "exit status 124",
    ),
    patterns=(
        (
            r"compile-worker future for .{1,120} did not complete within (?:[\d.]{1,200})"
            r" ?s|DUE TO "
            r"TIME LIMIT|task \S{1,60} blocked for more than \d{1,20} seconds"
            r"|soft lockup|exceeded "
            r"the maximum execution time|Failed: Timeout >[\d.]{1,200} ?s|exit (?:code"
            r"|status) 124\b"
        ),
    ),
    summary="Something waited until its time was over",
    means=(
        "A watchdog, a batch system or Inductor's own wait for a compile worker ended it. The "
        "step that hung stands in the lines before; a slow first compile looks the same."
    ),
    mistaken_for="A slow first compile",
    check="Two stacks some seconds apart (py-spy dump): same frame means a hang.",
    fixes=(
        fix(
            "For a compile worker: TORCHINDUCTOR_COMPILE_THREADS=1 shows the failure in the "
            "process itself"
        ),
        fix("Give a first compile 15 minutes before calling it a hang"),
    ),
    guide="guides/threads-streams-hangs.md#hangs",
    next_tool="triage",
    matches=(
        quoted(
            "RuntimeError: Inductor compile-worker future for 'triton_per_fused_sort_0' did "
            "not complete within 300s.",
            "words of torch/_inductor/async_compile.py",
        ),
        quoted(
            "slurmstepd: error: *** JOB 31 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO "
            "TIME LIMIT ***",
            "words of Slurm",
        ),
        quoted("INFO: task python3:811 blocked for more than 120 seconds.", "words of Linux"),
    ),
)
