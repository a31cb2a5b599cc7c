from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

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
            "support not found|library 'omp' not found|library not found for -lomp|cannot "
            r"find -lg?omp\b"
        ),
    ),
    summary="OpenMP is missing",
    means=(
        "Inductor's CPU code uses OpenMP; Apple's clang and some clang installations come "
        "without it."
    ),
    fixes=(
        fix(
            "macOS: brew install libomp and set OMP_PREFIX; Linux with clang: install "
            "libomp-dev; or set CXX to g++"
        ),
    ),
    guide="guides/toolchain.md#missing-headers",
    next_tool="check_environment",
    references=("pytorch/torchchat#509",),
    matches=(
        quoted("fatal error: 'omp.h' file not found", "pytorch/torchchat#509"),
        recorded(
            "<command-line>: fatal error: nope/omp.h: No such file or directory",
            "g++ 12, header hidden by us",
        ),
        quoted(
            "OpenMP support not found. Please try one of the following solutions:",
            "words of torch/_inductor/cpp_builder.py",
        ),
        quoted("ld: library 'omp' not found", "words of Apple's ld"),
        quoted("/usr/bin/ld: cannot find -lomp: No such file or directory", "words of GNU ld"),
        quoted("/usr/bin/ld: cannot find -lgomp: No such file or directory", "words of GNU ld"),
    ),
)
