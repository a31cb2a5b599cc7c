from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="compile_worker_failed",
    family="K",
    phase="triton_compile",
    category="triton_error",
    role="symptom",
    weight=36,
    anchors=(
        "SubprocException: ",
        "An exception occurred in a subprocess:",
        "A compilation subprocess exited unexpectedly",
        "BrokenProcessPool: ",
        "SubprocPool unclean exit",
        "failure in subproc_pool",
        "unpickle failure in SubprocPool",
        "Attempting to use a closed pool",
        "compile_worker/",
    ),
    patterns=(
        (
            "SubprocException: |An exception occurred in a subprocess:|A compilation "
            "subprocess exited unexpectedly|BrokenProcessPool: |SubprocPool unclean exit"
            "|failure in subproc_pool|unpickle failure in SubprocPool|Attempting to use a "
            r"closed pool|torch/_inductor/compile_worker/\w{1,200}\.py\", line"
        ),
    ),
    summary="A worker process that compiles kernels failed or died",
    means=(
        "Kernels are compiled in a pool of processes. Either one reported the exception that "
        "follows, or it was killed: a crash of the compiler, or too little memory."
    ),
    mistaken_for="A fault of the model",
    check="TORCHINDUCTOR_COMPILE_THREADS=1 compiles in this process and shows the reason",
    fixes=(
        fix("Run once with TORCHINDUCTOR_COMPILE_THREADS=1; watch the memory meanwhile"),
        fix("Guard the script with `if __name__ == '__main__':`"),
    ),
    guide="guides/triton-and-autotuning.md#triton-compile-errors",
    next_tool="triage",
    matches=(
        quoted(
            "torch._inductor.compile_worker.subproc_pool.SubprocException: An exception "
            "occurred in a subprocess:",
            "words of torch/_inductor/compile_worker/subproc_pool.py",
        ),
        quoted(
            "concurrent.futures.process.BrokenProcessPool: A process in the process pool was "
            "terminated abruptly while the future was running or pending.",
            "words of CPython",
        ),
    ),
)
