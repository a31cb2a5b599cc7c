from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="stream_options",
    family="N",
    phase="load",
    category="concurrency",
    weight=70,
    anchors=(
        "use_stream_affinity",
        "Stream affinity",
        "synchronize_stream",
        "torch.cuda.Stream is not supported",
    ),
    patterns=(
        (
            "use_stream_affinity cannot be enabled|Stream affinity .{1,80}"
            r"|synchronize_stream.{0,80}(?:not supported|unsupported)|torch\.cuda\.Stream is "
            "not supported"
        ),
    ),
    summary="A combination of stream options, or a stream inside the model, is not supported",
    means=(
        "Stream affinity (torch 2.15) excludes single-threaded mode, and streams used inside "
        "forward are dropped or refused by the C++ wrapper."
    ),
    fixes=(
        fix(
            "Choose either run_single_threaded or use_stream_affinity; set the stream around "
            "the call instead of inside the model"
        ),
    ),
    guide="guides/threads-streams-hangs.md#stream-affinity",
    since="2.12",
    references=("pytorch/pytorch#182971",),
    matches=(
        quoted(
            "RuntimeError: use_stream_affinity cannot be enabled when run_single_threaded is true",
            "text of torch 2.15",
        ),
    ),
)
