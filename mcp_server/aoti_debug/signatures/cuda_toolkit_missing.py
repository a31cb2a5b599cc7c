from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="cuda_toolkit_missing",
    family="G",
    phase="cpp_compile",
    category="toolchain",
    weight=82,
    anchors=(
        "CUDA_HOME",
        "Cannot find ptxas",
        "nvcc: not found",
        "nvcc: command not found",
        "'nvcc'",
        "fatbinary: not found",
        "objcopy: not found",
        "ptxas: not found",
        "'ptxas'",
    ),
    patterns=(
        (
            r"(?P<what>CUDA_HOME environment variable is not set|CUDA_HOME (?:is not set|is "
            r"missing|not found|does not exist))"
        ),
        r"(?P<what>Cannot find ptxas)",
        r"\b(?P<what>(?:nvcc|ptxas|fatbinary|objcopy): (?:command )?not found)",
        (
            r"FileNotFoundError: .{0,60}'(?:\S{0,120}/)?(?P<what>nvcc|ptxas|fatbinary|objcopy"
            r")'"
        ),
    ),
    summary="The CUDA toolkit (or a tool of it) is missing: {what}",
    means=(
        "Compiling a CUDA package needs the toolkit, for multi-arch kernels its tools "
        "too; runtime images have only the libraries."
    ),
    fixes=(
        Fix(
            what=(
                "Use a devel image, or install the toolkit, export CUDA_HOME=/usr/local/cuda "
                "and put its bin into PATH"
            )
        ),
    ),
    guide="guides/toolchain.md#cuda-toolkit",
    next_tool="check_environment",
    references=("pytorch/pytorch#139917",),
    matches=(
        Sample(
            (
                "OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA "
                "install root."
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample("RuntimeError: Cannot find ptxas", "quoted", "words of Triton"),
        Sample("/bin/sh: 1: nvcc: not found", "quoted", "words of sh"),
        Sample("bash: nvcc: command not found", "quoted", "words of bash"),
        Sample(
            "FileNotFoundError: [Errno 2] No such file or directory: 'nvcc'",
            "quoted",
            "words of Python",
        ),
        Sample("/bin/sh: 1: fatbinary: not found", "quoted", "words of sh"),
        Sample("/bin/sh: 1: objcopy: not found", "quoted", "words of sh"),
        Sample("/bin/sh: 1: ptxas: not found", "quoted", "words of sh"),
        Sample(
            "FileNotFoundError: [Errno 2] No such file or directory: 'ptxas'",
            "quoted",
            "words of Python",
        ),
    ),
    neighbours=(Sample("export CUDA_HOME=/usr/local/cuda-12.8", "quoted", "a shell log"),),
)
