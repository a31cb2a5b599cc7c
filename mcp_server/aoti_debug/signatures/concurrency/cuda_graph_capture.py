from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="cuda_graph_capture",
    family="N",
    phase="run",
    category="concurrency",
    weight=76,
    anchors=(
        "stream is capturing",
        "previous error during capture",
        "cudaErrorStreamCapture",
        "CUDA_ERROR_STREAM_CAPTURE",
    ),
    patterns=(
        (
            "operation not permitted when stream is capturing|operation (?:failed due to"
            r"|would make) .{0,60}capture|cudaErrorStreamCapture\w{1,200}"
            r"|CUDA_ERROR_STREAM_CAPTURE_\w{1,200}"
        ),
    ),
    summary="Something in the model is not allowed while a CUDA graph is being captured",
    means=(
        "The runner records and queries events for its pool of models, which capture forbids; "
        "so does any synchronising or allocating operator."
    ),
    mistaken_for="A memory fault",
    check="Does the model run outside the capture?",
    fixes=(
        fix(
            "Load with aoti_load_package(path, run_single_threaded=True) and warm it up "
            "before the capture"
        ),
    ),
    guide="guides/threads-streams-hangs.md#cuda-graph-capture",
    matches=(
        quoted(
            "RuntimeError: CUDA error: operation not permitted when stream is capturing",
            "common form in public threads",
        ),
        quoted(
            "CUDA error: operation failed due to a previous error during capture",
            "CUDA runtime text",
        ),
    ),
)
