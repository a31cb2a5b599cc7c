from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="stacks_on_timeout",
    family="N",
    phase="hang",
    category="hang",
    role="symptom",
    weight=64,
    anchors=("Timeout (", "timed out after ", "TimeoutExpired", "stack trace of a hang"),
    patterns=(
        (
            r"^Timeout \(\d{1,20}:\d\d:\d\d(?:\.\d{1,20})?\)!"
            r"|timed out after (?P<seconds>[\d.]{1,200}) ?s"
            "|TimeoutExpired"
        ),
    ),
    summary="The process did not finish in its time",
    means=(
        "Stacks were taken because the time was over. The innermost frame tells compile (g++, "
        "triton), load (constants, ISA test) and run (synchronize) apart."
    ),
    mistaken_for="A slow first compile or load",
    check="Two stacks some seconds apart: same frame means a hang, another one slowness",
    fixes=(fix("Give a first compile 15 minutes before calling it a hang"),),
    guide="guides/threads-streams-hangs.md#hangs",
    next_tool="triage",
    matches=(
        quoted("Timeout (0:00:30)!", "CPython faulthandler.dump_traceback_later"),
        quoted(
            "subprocess.TimeoutExpired: Command '['python', 'run.py']' timed out after 900 seconds",
            "CPython text",
        ),
    ),
)
