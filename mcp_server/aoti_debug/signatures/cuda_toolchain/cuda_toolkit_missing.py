from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

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
            "(?P<what>CUDA_HOME environment variable is not set|CUDA_HOME (?:is not set|is "
            "missing|not found|does not exist))"
        ),
        "(?P<what>Cannot find ptxas)",
        r"\b(?P<what>(?:nvcc|ptxas|fatbinary|objcopy): (?:command )?not found)",
        r"FileNotFoundError: .{0,60}'(?:\S{0,120}/)?(?P<what>nvcc|ptxas|fatbinary|objcopy)'",
    ),
    summary="The CUDA toolkit (or a tool of it) is missing: {what}",
    means=(
        "Compiling a CUDA package needs the toolkit, for multi-arch kernels its tools too; "
        "runtime images have only the libraries."
    ),
    fixes=(
        fix(
            "Use a devel image, or install the toolkit, export CUDA_HOME=/usr/local/cuda and "
            "put its bin into PATH"
        ),
    ),
    guide="guides/toolchain.md#cuda-toolkit",
    next_tool="check_environment",
    references=("pytorch/pytorch#139917",),
    matches=(
        recorded(
            "OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA "
            "install root.",
            "torch 2.13.0, CPU",
        ),
        quoted("RuntimeError: Cannot find ptxas", "words of Triton"),
        quoted("/bin/sh: 1: nvcc: not found", "words of sh"),
        quoted("bash: nvcc: command not found", "words of bash"),
        quoted("FileNotFoundError: [Errno 2] No such file or directory: 'nvcc'", "words of Python"),
        quoted("/bin/sh: 1: fatbinary: not found", "words of sh"),
        quoted("/bin/sh: 1: objcopy: not found", "words of sh"),
        quoted("/bin/sh: 1: ptxas: not found", "words of sh"),
        quoted(
            "FileNotFoundError: [Errno 2] No such file or directory: 'ptxas'", "words of Python"
        ),
    ),
    neighbours=(quoted("export CUDA_HOME=/usr/local/cuda-12.8", "a shell log"),),
)
