from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="container_options",
    family="N",
    phase="load",
    category="user_code",
    weight=78,
    anchors=("when run_single_threaded is ",),
    patterns=(
        (
            "(?P<what>num_(?:runners|models) must be (?:1|>=1) when run_single_threaded is "
            "(?:true|false))"
        ),
    ),
    summary="The loader's options do not go together: {what}",
    means="A single-threaded runner has exactly one model instance, any other at least one.",
    fixes=(fix("num_runners=1 with run_single_threaded=True"),),
    guide="guides/threads-streams-hangs.md#one-runner-many-threads",
    matches=(
        quoted(
            "RuntimeError: num_runners must be 1 when run_single_threaded is true",
            "text of libtorch_cpu.so 2.13",
        ),
    ),
)
