"""The CUDA toolkit, driver and Triton that compiling for a GPU needs."""

from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURES = (
    Signature(
        id="cuda_header_missing",
        family="G",
        phase="cpp_compile",
        category="toolchain",
        weight=86,
        confidence="proved",
        anchors=("fatal error: ",),
        patterns=(
            (
                r"fatal error: '?(?P<header>cuda(?:_runtime\w*|_fp16|_bf16)?\.h|cublas\w*\.h"
                r"|cudnn\w*\.h|cusparse\w*\.h|cusolver\w*\.h|nvrtc\.h|nvtx3?/\S{1,60}"
                r"|crt/host_defines\.h)'?:? (?:No such file|file not found)"
            ),
        ),
        summary="The CUDA header {header} is missing",
        means=(
            "Compiling for CUDA needs the toolkit's headers; runtime container images and pip "
            "wheels of torch do not have them all."
        ),
        fixes=(
            fix(
                "Use a devel image or install the toolkit and set CUDA_HOME; with conda: conda "
                "install cuda-cudart-dev cuda-driver-dev"
            ),
        ),
        guide="guides/toolchain.md#missing-headers",
        next_tool="check_environment",
        references=("conda-forge/pytorch-cpu-feedstock#363", "pytorch/pytorch#139917"),
        matches=(
            recorded(
                "c.cpp:1:10: fatal error: cuda.h: No such file or directory",
                "g++ 12 on a file of ours",
            ),
            recorded(
                "c2.cpp:1:10: fatal error: cuda_runtime_api.h: No such file or directory",
                "g++ 12 on a file of ours",
            ),
        ),
        apart_from=("python_header_missing",),
    ),
    Signature(
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
            quoted(
                "FileNotFoundError: [Errno 2] No such file or directory: 'nvcc'", "words of Python"
            ),
            quoted("/bin/sh: 1: fatbinary: not found", "words of sh"),
            quoted("/bin/sh: 1: objcopy: not found", "words of sh"),
            quoted("/bin/sh: 1: ptxas: not found", "words of sh"),
            quoted(
                "FileNotFoundError: [Errno 2] No such file or directory: 'ptxas'", "words of Python"
            ),
        ),
        neighbours=(quoted("export CUDA_HOME=/usr/local/cuda-12.8", "a shell log"),),
    ),
    Signature(
        id="cuda_tools_too_old",
        family="H",
        phase="cpp_compile",
        category="toolchain",
        weight=84,
        anchors=(
            "Unsupported .version ",
            "is not defined for option 'gpu-name'",
            "Unsupported gpu architecture",
        ),
        patterns=(
            r"(?P<what>Unsupported \.version \d+\.\d+; current version is '\d+\.\d+')",
            r"(?P<what>Value 'sm_\d+[af]?' is not defined for option 'gpu-name')",
            r"(?P<what>Unsupported gpu architecture '(?:compute|sm)_\d+[af]?')",
        ),
        summary="ptxas or nvcc is too old: {what}",
        means=(
            "Triton writes newer PTX, or the GPU is newer, than the CUDA tools in use know; "
            "mostly with multi-arch kernels."
        ),
        fixes=(
            fix("Use a toolkit as new as Triton's: set TRITON_PTXAS_PATH and CUDA_HOME to it"),
            fix("Or limit TORCH_CUDA_ARCH_LIST to what the tools know"),
        ),
        guide="guides/toolchain.md#cuda-toolkit",
        next_tool="check_environment",
        references=("pytorch/pytorch#184456", "pytorch/pytorch#185328"),
        matches=(
            quoted(
                "ptxas /tmp/tmpabc.ptx, line 5; fatal   : Unsupported .version 8.7; current "
                "version is '8.4'",
                "words of ptxas",
            ),
            quoted(
                "ptxas fatal   : Value 'sm_120' is not defined for option 'gpu-name'",
                "words of ptxas",
            ),
            quoted("nvcc fatal   : Unsupported gpu architecture 'compute_120'", "words of nvcc"),
        ),
    ),
    Signature(
        id="driver_too_old",
        family="G",
        phase="environment",
        category="toolchain",
        weight=80,
        anchors=(
            "driver on your system is too old",
            "CUDA driver version is insufficient for CUDA runtime version",
            "PTX was compiled with an unsupported toolchain",
            "a PTX JIT compilation failed",
        ),
        patterns=(
            (
                "(?P<what>NVIDIA driver on your system is too old|CUDA driver version is "
                "insufficient for CUDA runtime version|the provided PTX was compiled with an "
                "unsupported toolchain|a PTX JIT compilation failed)"
            ),
        ),
        summary=(
            "The NVIDIA driver is older than what this torch or package was built with: {what}"
        ),
        means=(
            "The CUDA runtime refuses to start, or the driver cannot compile PTX of a newer "
            "toolkit."
        ),
        check="nvidia-smi (top right: highest CUDA version) against torch.version.cuda.",
        fixes=(
            fix("Update the driver, or use a torch build and a compile machine with an older CUDA"),
        ),
        guide="guides/toolchain.md#driver-too-old",
        next_tool="check_environment",
        matches=(
            quoted(
                "CUDA initialization: The NVIDIA driver on your system is too old (found version "
                "11040).",
                "words of torch.cuda",
            ),
            quoted(
                "CUDA error: CUDA driver version is insufficient for CUDA runtime version",
                "words of the CUDA runtime",
            ),
            quoted(
                "CUDA driver error: the provided PTX was compiled with an unsupported toolchain.",
                "words of the CUDA driver",
            ),
            quoted("CUDA error: a PTX JIT compilation failed", "words of the CUDA driver"),
        ),
    ),
    Signature(
        id="gpu_unsupported",
        family="G",
        phase="environment",
        category="toolchain",
        weight=76,
        anchors=(
            "is not compatible with the current PyTorch installation",
            "No published PyTorch CUDA builds for release",
            "too old to be supported by the triton GPU compiler",
        ),
        patterns=(
            (
                r"with CUDA capability (?P<gpu>sm_\d+a?) is not compatible with the current "
                "PyTorch installation"
            ),
            r"(?P<gpu>No published PyTorch CUDA builds for release \S{1,30} support this GPU)",
            "Found (?P<gpu>.{1,60}) which is too old to be supported by the triton GPU compiler",
        ),
        summary="This torch or Triton does not support the GPU ({gpu})",
        means=(
            "Kernels of ATen and libraries are missing for the architecture (`no kernel image` "
            "follows), or the GPU is older than capability 7.0, which Triton needs."
        ),
        fixes=(
            fix("Install a torch build whose torch.cuda.get_arch_list() names the GPU"),
            fix("For a GPU below 7.0 compile for the CPU"),
        ),
        guide="guides/toolchain.md#gpu-not-supported-by-this-torch",
        next_tool="check_environment",
        matches=(
            quoted(
                "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the "
                "current PyTorch installation.",
                "words of torch.cuda",
            ),
            quoted(
                "No published PyTorch CUDA builds for release 2.13.0 support this GPU.",
                "words of torch.cuda",
            ),
            quoted(
                "torch._inductor.exc.GPUTooOldForTriton: Found Tesla P100-PCIE-16GB which is too "
                "old to be supported by the triton GPU compiler",
                "words of torch/_inductor/exc.py",
            ),
        ),
    ),
    Signature(
        id="triton_missing",
        family="G",
        phase="environment",
        category="toolchain",
        weight=80,
        anchors=("Cannot find a working triton installation", "No module named 'triton'"),
        patterns=(
            (
                "Cannot find a working triton installation|ModuleNotFoundError: No module named "
                "'triton'"
            ),
        ),
        summary="Triton is missing or does not fit this torch",
        means=(
            "Compiling for a GPU needs the Triton release that torch was built with; running a "
            "finished package does not."
        ),
        fixes=(
            fix(
                "Install the triton version that torch's wheel names: pip install torch brings it "
                "on Linux"
            ),
        ),
        guide="guides/toolchain.md#triton-missing-or-mismatched",
        next_tool="check_environment",
        matches=(
            quoted(
                "torch._inductor.exc.TritonMissing: Cannot find a working triton installation.",
                "words of torch/_inductor/exc.py",
            ),
            quoted("ModuleNotFoundError: No module named 'triton'", "words of Python"),
        ),
    ),
)
