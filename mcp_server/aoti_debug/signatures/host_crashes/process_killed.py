from aoti_debug.signatures.signature import Signature, fix, quoted

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
            r"^\s{0,20}Killed\s{0,20}$|: {1,20}\d{1,20} Killed\b|oom[-_]kill"
            r"|Out of memory: Kill|exit (?:code"
            r"|status)\s{0,20}:?\s{0,20}137|\bSIGKILL\b|OOMKilled|exitcode: -9"
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
        fix(
            "More host memory; fewer compile workers (TORCHINDUCTOR_COMPILE_THREADS=1); "
            "weights outside the library"
        ),
    ),
    guide="guides/host-crash.md#killed-by-the-system",
    next_tool="check_environment",
    matches=(quoted("Killed", "shell text"), quoted("exit code 137", "container text")),
    neighbours=(quoted("Killed 3 idle workers", "ordinary log line"),),
    apart_from=("host_abort", "compiler_killed"),
)
