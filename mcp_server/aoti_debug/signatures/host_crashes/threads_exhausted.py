from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="threads_exhausted",
    family="O",
    phase="run",
    category="out_of_memory",
    weight=56,
    confidence="possible",
    anchors=(
        "can't start new thread",
        "pthread_create failed",
        "pthread_create: Resource temporarily",
        "fork: retry: Resource temporarily unavailable",
        "fork: Cannot allocate memory",
        "out of shared memory",
        "insufficient shared memory",
        "The paging file is too small",
        "[WinError 1455]",
        "[WinError 8]",
        "[Errno 11] Resource temporarily",
    ),
    patterns=(
        (
            r"(?P<what>can't start new thread|pthread_create (?:failed|\(\) "
            "failed).{0,60}|fork: (?:retry: )?(?:Resource temporarily unavailable|Cannot "
            "allocate memory)|(?:out of|insufficient) shared memory|[Tt]he paging file is too "
            r"small|\[WinError (?:1455|8)\]|\[Errno 11\] Resource temporarily unavailable)"
        ),
    ),
    summary="The system gives the process no more memory, threads or processes: {what}",
    means=(
        "A limit of the container or system is reached: number of processes, /dev/shm, "
        "address space, or the page file on Windows. Many compile workers and OpenMP threads "
        "reach it first."
    ),
    mistaken_for="A fault of the model",
    check="ulimit -a; the container's pids and memory limits; df /dev/shm.",
    fixes=(
        fix("Raise the limit, or start fewer: TORCHINDUCTOR_COMPILE_THREADS=1, OMP_NUM_THREADS"),
        fix("On Windows enlarge the page file; in Docker give --shm-size or --ipc=host"),
    ),
    guide="guides/host-crash.md#killed-by-the-system",
    next_tool="check_environment",
    matches=(
        quoted("RuntimeError: can't start new thread", "words of CPython"),
        quoted(
            "OSError: [WinError 1455] The paging file is too small for this operation to complete.",
            "words of Windows",
        ),
    ),
)
