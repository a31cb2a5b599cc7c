from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="openmp_runtime_failed",
    family="G",
    phase="environment",
    category="toolchain",
    weight=74,
    anchors=(
        "OMP: Error #",
        "OMP: System error",
        "libgomp: ",
    ),
    patterns=(
        r"OMP: (?P<what>Error #\d{1,4}|System error #\d{1,4})",
        (
            "libgomp: (?P<what>(?!warning)(?:could not|Thread creation failed|Out of "
            "memory|Invalid|Affinity).{0,100})"
        ),
    ),
    summary="The OpenMP runtime stopped the process: {what}",
    means=(
        "Error 15: two copies of OpenMP are loaded (torch's, and one of conda, MKL, Homebrew "
        "or another wheel). Thread creation fails where the container limits threads."
    ),
    mistaken_for="A fault of the model.",
    check="Which libomp, libiomp5 or libgomp are mapped: /proc/PID/maps, or vmmap on macOS.",
    fixes=(
        fix(
            "Keep one copy: install numpy, torch and the rest from one source, or remove the "
            "extra library"
        ),
        fix(
            "KMP_DUPLICATE_LIB_OK=TRUE only hides it; for thread creation raise ulimit -u or "
            "the pids limit, or lower OMP_NUM_THREADS"
        ),
    ),
    guide="guides/toolchain.md#missing-headers",
    next_tool="check_environment",
    matches=(
        quoted(
            "OMP: Error #15: Initializing libomp.dylib, but found libomp.dylib already "
            "initialized.",
            "words of LLVM's OpenMP",
        ),
        quoted(
            "libgomp: Thread creation failed: Resource temporarily unavailable",
            "words of libgomp",
        ),
    ),
    neighbours=(quoted("OMP: Info #276: omp_set_nested routine deprecated", "a note of OpenMP"),),
)
