from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="triton_launcher_not_built",
    family="G",
    phase="triton_compile",
    category="toolchain",
    weight=46,
    anchors=(
        "/main.c', ",
        "cuda_utils.c",
        "__triton_launcher",
        r"\main.c', ",
        "launcher_stub",
        "cuda_utils.so",
    ),
    patterns=(
        (
            "CalledProcessError: Command "
            r"'\[.{0,200}(?:main|cuda_utils|__triton_launcher|launcher_stub)\.c'"
        ),
        (
            r"(?:cuda_utils|__triton_launcher)\S{0,80}\.(?:so|pyd)\b.{0,40}(?:undefined "
            "symbol|cannot open|DLL load)"
        ),
    ),
    summary="The C compiler could not build Triton's launcher",
    means=(
        "Triton builds a small C file per kernel kind for the host: Python's headers, libcuda "
        "or a working gcc are missing."
    ),
    mistaken_for="A kernel that Triton cannot compile.",
    check="Run the printed command by hand.",
    fixes=(fix("Install gcc and python3-dev, and make libcuda.so visible to the linker"),),
    guide="guides/toolchain.md#triton-missing-or-mismatched",
    next_tool="check_environment",
    matches=(
        quoted(
            "subprocess.CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tmpw1/main.c', "
            "'-O3', '-shared', '-fPIC']' returned non-zero exit status 1.",
            "common form in public threads",
        ),
        quoted(
            "ImportError: /root/.triton/cache/AB/cuda_utils.cpython-311-x86_64-linux-gnu.so: "
            "undefined symbol: cuFoo",
            "common form in public threads",
        ),
    ),
)
