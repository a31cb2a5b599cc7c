from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="openmp_header_missing",
    family="G",
    phase="cpp_compile",
    category="toolchain",
    weight=86,
    confidence="proved",
    anchors=(
        "omp.h",
        "OpenMP support not found",
        "library 'omp'",
        "cannot find -lomp",
        "cannot find -lgomp",
    ),
    patterns=(
        (
            r"fatal error: '?\S{0,60}\bomp\.h'?:? (?:No such file|file not found)|OpenMP "
            r"support not found|library 'omp' not found|library not found for -lomp|cannot "
            r"find -lg?omp\b"
        ),
    ),
    summary="OpenMP is missing",
    means=(
        "Inductor's CPU code uses OpenMP; Apple's clang and some clang installations "
        "come without it."
    ),
    fixes=(
        Fix(
            what=(
                "macOS: brew install libomp and set OMP_PREFIX; Linux with clang: install "
                "libomp-dev; or set CXX to g++"
            )
        ),
    ),
    guide="guides/toolchain.md#missing-headers",
    next_tool="check_environment",
    references=("pytorch/torchchat#509",),
    matches=(
        Sample("fatal error: 'omp.h' file not found", "quoted", "pytorch/torchchat#509"),
        Sample(
            "<command-line>: fatal error: nope/omp.h: No such file or directory",
            "recorded",
            "g++ 12, header hidden by us",
        ),
        Sample(
            "OpenMP support not found. Please try one of the following solutions:",
            "quoted",
            "words of torch/_inductor/cpp_builder.py",
        ),
        Sample("ld: library 'omp' not found", "quoted", "words of Apple's ld"),
        Sample(
            "/usr/bin/ld: cannot find -lomp: No such file or directory", "quoted", "words of GNU ld"
        ),
        Sample(
            "/usr/bin/ld: cannot find -lgomp: No such file or directory",
            "quoted",
            "words of GNU ld",
        ),
    ),
)
