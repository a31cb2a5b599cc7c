from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="host_illegal_instruction",
    family="I",
    phase="run",
    category="package_incompatible",
    weight=66,
    anchors=(
        "exit code",
        "exit status",
        "exited with",
        "exception: code",
        "exception code",
        "Illegal instruction",
        "SIGILL",
        "exit code 132",
        "Caught signal 4",
    ),
    patterns=(
        (
            r"(?:Fatal Python error: )?Illegal instruction|\bSIGILL\b|exit (?:code"
            r"|status)\s{0,20}:?\s{0,20}132|Caught signal 4\b|-1073741795|0x[cC]000001[dD]"
        ),
    ),
    summary="The CPU met an instruction it does not have",
    means=(
        "The package was compiled with vector instructions (AVX-512, AMX, SVE) of another "
        "machine. Nothing is wrong with the model."
    ),
    mistaken_for="A crash of the model",
    check="Compare AOTI_CPU_ISA of the package with the flags in /proc/cpuinfo",
    fixes=(
        fix(
            "Compile on the oldest CPU that has to run it, or set ATEN_CPU_CAPABILITY / "
            "cpp.simdlen lower when compiling"
        ),
    ),
    guide="guides/host-crash.md#illegal-instruction",
    next_tool="inspect_package",
    matches=(
        quoted("Fatal Python error: Illegal instruction", "CPython text"),
        quoted("Illegal instruction (core dumped)", "shell text"),
    ),
    neighbours=(quoted("CUDA error: an illegal instruction was encountered"),),
)
