from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="host_illegal_instruction",
    family="I",
    phase="run",
    category="package_incompatible",
    weight=66,
    anchors=(
        "Illegal instruction",
        "SIGILL",
        "exit code 132",
        "Caught signal 4",
    ),
    patterns=(
        (
            r"(?:Fatal Python error: )?Illegal instruction|\bSIGILL\b|exit (?:code|"
            r"status)\s*:?\s*132|Caught signal 4\b"
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
        Fix(
            what=(
                "Compile on the oldest CPU that has to run it, or set ATEN_CPU_CAPABILITY / "
                "cpp.simdlen lower when compiling"
            )
        ),
    ),
    guide="guides/host-crash.md#illegal-instruction",
    next_tool="inspect_package",
    matches=(
        Sample("Fatal Python error: Illegal instruction", "quoted", "CPython text"),
        Sample("Illegal instruction (core dumped)", "quoted", "shell text"),
    ),
    neighbours=(Sample("CUDA error: an illegal instruction was encountered", "quoted"),),
)
