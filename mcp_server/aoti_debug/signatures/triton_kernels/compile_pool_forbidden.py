from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="compile_pool_forbidden",
    family="N",
    phase="lower",
    category="concurrency",
    weight=64,
    anchors=(
        "compile process pools are disabled in daemonic",
        "daemonic processes are not allowed to have children",
    ),
    patterns=(
        (
            "compile process pools are disabled in daemonic|daemonic processes are not allowed "
            "to have children"
        ),
    ),
    summary="A daemonic process may not start the workers that compile kernels",
    means=(
        "The compile runs inside a worker of another pool (a data loader, a server), which "
        "Python forbids to have children."
    ),
    check="Does it compile in the main process?",
    fixes=(fix("Compile in the main process, or set TORCHINDUCTOR_COMPILE_THREADS=1"),),
    guide="guides/threads-streams-hangs.md#forked-processes",
    matches=(
        quoted(
            "AssertionError: daemonic processes are not allowed to have children",
            "words of CPython's multiprocessing",
        ),
    ),
)
