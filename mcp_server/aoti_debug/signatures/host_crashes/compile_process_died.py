from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="compile_process_died",
    family="I",
    phase="triton_compile",
    category="host_segfault",
    weight=58,
    anchors=(
        "compilation subprocess exited unexpectedly",
        "process pool was terminated abruptly",
        "BrokenProcessPool",
        "SubprocPool unclean exit",
        "terminated unexpectedly while the future was running",
    ),
    patterns=(
        (
            "A compilation subprocess exited unexpectedly|(?:A process in the process pool "
            "was|A child process) terminated "
            "(?:abruptly|unexpectedly)|BrokenProcessPool|SubprocPool unclean exit"
        ),
    ),
    summary="A worker process that compiled kernels died",
    means=(
        "The compiler (Triton, LLVM, ptxas) crashed in the worker, or the system killed it "
        "for memory. The parent knows no more."
    ),
    mistaken_for="A failure of the parent process",
    check=(
        "Compile in the process itself: TORCHINDUCTOR_COMPILE_THREADS=1; dmesg for an "
        "out-of-memory kill."
    ),
    fixes=(
        fix(
            "Read the crash that shows with TORCHINDUCTOR_COMPILE_THREADS=1; give more "
            "memory if it was killed"
        ),
    ),
    guide="guides/host-crash.md#crash-while-compiling",
    next_tool="triage",
    matches=(
        quoted(
            "RuntimeError: A compilation subprocess exited unexpectedly. This is likely due "
            "to a crash.",
            "words of torch/_inductor/async_compile.py",
        ),
        quoted(
            "concurrent.futures.process.BrokenProcessPool: A process in the process pool was "
            "terminated abruptly while the future was running or pending.",
            "words of CPython",
        ),
    ),
)
