from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="stacks_on_timeout",
    family="N",
    phase="hang",
    category="hang",
    role="symptom",
    weight=64,
    anchors=(
        "Timeout (",
        "timed out after ",
        "TimeoutExpired",
        "stack trace of a hang",
    ),
    patterns=(
        (
            r"^Timeout \(\d+:\d\d:\d\d(?:\.\d+)?\)!|timed out after (?P<seconds>[\d.]+) ?s|"
            "TimeoutExpired"
        ),
    ),
    summary="The process did not finish in its time",
    means=(
        "Stacks were taken because the time was over. The innermost frame tells compile "
        "(g++, triton), load (constants, ISA test) and run (synchronize) apart."
    ),
    mistaken_for="A slow first compile or load",
    check="Two stacks some seconds apart: same frame means a hang, another one slowness",
    fixes=(Fix(what="Give a first compile 15 minutes before calling it a hang"),),
    guide="guides/threads-streams-hangs.md#hangs",
    next_tool="triage",
    matches=(
        Sample("Timeout (0:00:30)!", "quoted", "CPython faulthandler.dump_traceback_later"),
        Sample(
            (
                "subprocess.TimeoutExpired: Command '['python', 'run.py']' timed out after "
                "900 seconds"
            ),
            "quoted",
            "CPython text",
        ),
    ),
)
