from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="libcuda_not_found",
    family="G",
    phase="triton_compile",
    category="toolchain",
    weight=82,
    anchors=(
        "libcuda.so cannot found",
        "libcuda.so not found",
        "Please create a symlink of libcuda.so",
        "libcuda.so cannot be found",
        "cannot find libcuda",
        "Cannot find libcuda",
    ),
    patterns=(
        (
            r"libcuda\.so (?:cannot found|not found|cannot be found)|create a symlink of "
            r"libcuda\.so|[Cc]annot find libcuda"
        ),
    ),
    summary="Triton does not find libcuda.so to link its launcher with",
    means=(
        "It asks ldconfig for the driver's library: the cache of the loader is old, the "
        "container hides the driver, or only libcuda.so.1 exists."
    ),
    mistaken_for="A missing GPU.",
    check="ldconfig -p | grep libcuda; nvidia-smi.",
    fixes=(fix("Run ldconfig, or set TRITON_LIBCUDA_PATH to the directory with libcuda.so.1"),),
    guide="guides/toolchain.md#triton-missing-or-mismatched",
    next_tool="check_environment",
    matches=(
        quoted(
            "AssertionError: libcuda.so cannot found!",
            "words of triton/backends/nvidia/driver.py",
        ),
        quoted(
            "Possible files are located at ['/usr/lib64/libcuda.so.1'].Please create a "
            "symlink of libcuda.so to any of the files.",
            "words of triton/backends/nvidia/driver.py",
        ),
    ),
)
