from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="environment_library_missing",
    family="E",
    phase="environment",
    category="toolchain",
    weight=72,
    anchors=(
        "cannot open shared object file",
        "Error loading shared library ",
        "Could not load library lib",
        "Could not load library cu",
        "Unable to load any of {lib",
        "cannot load nvrtc",
    ),
    patterns=(
        (
            "^(?!.{0,400}(?:Could not load dynamic library|Failed to load image|Warning: "
            r")).{0,1000}?(?P<library>(?<![\w.{1,300}-])(?!libcuda\.so"
            r"|libnvidia-ml\.so)[\w.{1,300}-]{1,80}\.so(?:\.\w{1,20}){0,4}): cannot open "
            r"shared "
            "object file: "
        ),
        r"Error loading shared library (?P<library>[\w./+-]{1,120}): ",
        (
            "(?:Could not load library |Unable to load any of "
            r"\{)(?P<library>(?:lib)?cu\w{1,60}[\w.]{0,20})"
        ),
    ),
    summary="A shared library of the environment is not found: {library}",
    means=(
        "The loader finds no such file: torch or a tool was built for another CUDA, Python or "
        "system, the library is not installed, or its directory is not searched. A C++ "
        "program needs libtorch's lib directory."
    ),
    mistaken_for="A damaged package or model.",
    check="ldd on the file that needs it; LD_DEBUG=libs shows where the loader looks.",
    fixes=(
        fix(
            "Install the library in the version asked for, or put its directory into "
            "LD_LIBRARY_PATH before the process starts"
        ),
        fix("For a C++ program link with the rpath of libtorch/lib"),
    ),
    guide="guides/package-and-load.md#system-library-too-old",
    next_tool="check_environment",
    matches=(
        recorded(
            "OSError: libnone.so.1: cannot open shared object file: No such file or directory",
            "CPython 3.11 ctypes on Debian 12",
        ),
        quoted(
            "./app: error while loading shared libraries: libc10.so: cannot open shared "
            "object file: No such file or directory",
            "words of the dynamic loader",
        ),
        quoted(
            "Error loading shared library ld-linux-x86-64.so.2: No such file or directory "
            "(needed by /app/libtorch.so)",
            "words of musl's loader",
        ),
        quoted(
            "Could not load library libcudnn_ops_infer.so.8. Error: libnvrtc.so: cannot open "
            "shared object file",
            "words of cuDNN",
        ),
        quoted(
            "Unable to load any of {libcudnn_cnn.so.9.1.0, libcudnn_cnn.so.9.1, "
            "libcudnn_cnn.so.9, libcudnn_cnn.so}",
            "words of cuDNN 9",
        ),
    ),
    neighbours=(
        quoted(
            "W tensorflow/stream_executor/dso_loader.cc:64] Could not load dynamic library "
            "'libnvinfer.so.7'; dlerror: libnvinfer.so.7: cannot open shared object file: No "
            "such file or directory",
            "a harmless note of TensorFlow",
        ),
    ),
    apart_from=("driver_library_missing",),
)
