from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="worker_processes_refused",
    family="N",
    phase="lower",
    category="concurrency",
    weight=70,
    anchors=(
        "daemonic processes are not allowed to have children",
        "disabled in daemonic multiprocessing processes",
        "finished its bootstrapping phase",
        "Attempting to use a closed pool",
        "cannot schedule new futures after",
    ),
    patterns=(
        (
            "(?P<what>daemonic processes are not allowed to have children|disabled in "
            r"daemonic multiprocessing processes"
            r"|before the\s{0,20}current process has finished "
            "its bootstrapping phase|has finished its bootstrapping phase|finished its "
            "bootstrapping phase|Attempting to use a closed pool|cannot schedule new futures "
            "after (?:interpreter )?shutdown)"
        ),
    ),
    summary="Compile workers cannot be started or used here: {what}",
    means=(
        "Inductor compiles in worker processes. A daemonic parent may not have any, a script "
        "without a main guard starts itself again, and a pool that was shut down takes no "
        "more work."
    ),
    fixes=(
        fix("Put the script's work below if __name__ == '__main__':"),
        fix("Or compile in the process itself: TORCHINDUCTOR_COMPILE_THREADS=1"),
    ),
    guide="guides/threads-streams-hangs.md#forked-processes",
    next_tool="check_environment",
    matches=(
        quoted(
            "AssertionError: daemonic processes are not allowed to have children",
            "words of CPython",
        ),
        quoted(
            "RuntimeError: Attempting to use a closed pool",
            "words of torch/_inductor/compile_worker/subproc_pool.py",
        ),
        quoted(
            "        current process has finished its bootstrapping phase.",
            "words of CPython",
        ),
    ),
)
