from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="process_killed",
    family="O",
    phase="run",
    category="out_of_memory",
    role="symptom",
    weight=66,
    anchors=(
        "Killed",
        "oom-kill",
        "oom_kill",
        "Out of memory: Kill",
        "exit code 137",
        "exit status 137",
        "SIGKILL",
        "OOMKilled",
        "exitcode: -9",
    ),
    patterns=(
        (
            r"^\s*Killed\s*$|: +\d+ Killed\b|oom[-_]kill|Out of memory: Kill|exit (?:code|"
            r"status)\s*:?\s*137|\bSIGKILL\b|OOMKilled|exitcode: -9"
        ),
    ),
    summary="The operating system killed the process, almost always for memory",
    means=(
        "Compiling large models or large embedded constants takes many gigabytes of host "
        "memory; the compiler process (cc1plus, ld) is a frequent victim."
    ),
    mistaken_for="A crash",
    check="dmesg or the container's memory events at that time",
    fixes=(
        Fix(
            what=(
                "More host memory; fewer compile workers (TORCHINDUCTOR_COMPILE_THREADS=1); "
                "weights outside the library"
            )
        ),
    ),
    guide="guides/host-crash.md#killed-by-the-system",
    next_tool="check_environment",
    matches=(
        Sample("Killed", "quoted", "shell text"),
        Sample("exit code 137", "quoted", "container text"),
    ),
    neighbours=(
        Sample("Fatal Python error: Aborted", "recorded"),
        Sample("Killed 3 idle workers", "quoted", "ordinary log line"),
        Sample(
            "g++: fatal error: Killed signal terminated program cc1plus",
            "quoted",
            "the compiler alone was killed",
        ),
    ),
)
