from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="foreign_stream_or_context",
    family="N",
    phase="run",
    category="concurrency",
    weight=58,
    confidence="possible",
    anchors=(
        "invalid resource handle",
        "context is destroyed",
        "invalid device context",
        "does not match recording stream",
        "ThreadSanitizer: data race",
        "cudaErrorContextIsDestroyed",
    ),
    patterns=(
        (
            "(?P<what>invalid resource handle|context is destroyed|CUDA error: invalid device "
            "context|Event device .{1,60} does not match .{1,40}stream|ThreadSanitizer: data "
            "race|cudaErrorContextIsDestroyed)"
        ),
    ),
    summary="A stream, event or context of another device, thread or time is used: {what}",
    means=(
        "A handle made on one GPU is used while another is current, or after its context "
        "ended: a wrong current device, a thread without torch.cuda.set_device, or work at "
        "interpreter exit."
    ),
    mistaken_for="A memory fault",
    check=("Print torch.cuda.current_device() and the stream's device in the thread that calls."),
    fixes=(
        fix(
            "Set the device in every thread, and make streams and events on it; finish work "
            "before exit"
        ),
    ),
    guide="guides/threads-streams-hangs.md#streams-inside-the-model",
    next_tool="triage",
    matches=(
        quoted(
            "RuntimeError: CUDA error: invalid resource handle",
            "words of the CUDA runtime",
        ),
        quoted(
            "RuntimeError: Triton Error [CUDA]: context is destroyed",
            "words of the CUDA driver",
        ),
    ),
)
