"""The CUDA toolkit, driver and Triton that compiling for a GPU needs."""

from __future__ import annotations

from aoti_debug.facts.tiers import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
    Signature(
        id="cuda_header_missing",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.NAMED_TEXT,
        confidence="proved",
        patterns=(
            (
                r"fatal error: '?(?P<header>cuda(?:_runtime\w{0,200}|_fp16|_bf16)?\.h|"
                r"cublas\w{0,200}\.h|cudnn\w{0,200}\.h|cusparse\w{0,200}\.h|cusolver\w{0,200}\.h|"
                r"nvrtc\.h|nvtx3?/\S{1,60}|crt/host_defines\.h)'?:? No such file"
            ),
            (
                r"fatal error: '?(?P<header>cuda(?:_runtime\w{0,200}|_fp16|_bf16)?\.h|"
                r"cublas\w{0,200}\.h|cudnn\w{0,200}\.h|cusparse\w{0,200}\.h|cusolver\w{0,200}\.h|"
                r"nvrtc\.h|nvtx3?/\S{1,60}|crt/host_defines\.h)'?:? file not found"
            ),
        ),
        summary="The CUDA header {header} is missing",
        means=(
            "Compiling for CUDA needs the toolkit's headers; runtime container images and pip "
            "wheels of torch do not have them all."
        ),
        fixes=(
            fix(
                (
                    "Use a devel image or install the toolkit and set CUDA_HOME; with conda: conda "
                    "install cuda-cudart-dev cuda-driver-dev"
                ),
            ),
        ),
        guide="guides/toolchain.md#missing-headers",
        next_tool="check_environment",
        matches=(
            recorded(
                "c.cpp:1:10: fatal error: cuda.h: No such file or directory",
                "g++ 12 on a file of ours",
            ),
            recorded(
                "c2.cpp:1:10: fatal error: cuda_runtime_api.h: No such file or directory",
                "g++ 12 on a file of ours",
            ),
            words(
                "torch/distributed/checkpoint/_experimental/checkpoint_reader.py",
                "fatal error: cuda.h file not found",
            ),
        ),
        apart_from=("python_header_missing",),
    ),
    Signature(
        id="cuda_toolkit_missing",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "(?P<what>CUDA_HOME environment variable is not set)",
            "(?P<what>CUDA_HOME is not set)",
            "(?P<what>CUDA_HOME is missing)",
            "(?P<what>CUDA_HOME not found)",
            "(?P<what>CUDA_HOME does not exist)",
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
                (
                    "Use a devel image, or install the toolkit, export CUDA_HOME=/usr/local/cuda "
                    "and put its bin into PATH"
                ),
            ),
        ),
        guide="guides/toolchain.md#cuda-toolkit",
        next_tool="check_environment",
        matches=(
            recorded(
                (
                    "OSError: CUDA_HOME environment variable is not set. Please set it to your "
                    "CUDA install root."
                ),
                "torch 2.13.0, CPU",
            ),
            quoted("RuntimeError: Cannot find ptxas", "words of Triton"),
            quoted("/bin/sh: 1: nvcc: not found", "words of sh"),
            quoted("bash: nvcc: command not found", "words of bash"),
            quoted(
                "FileNotFoundError: [Errno 2] No such file or directory: 'nvcc'",
                "words of Python",
            ),
            quoted("/bin/sh: 1: fatbinary: not found", "words of sh"),
            quoted("/bin/sh: 1: objcopy: not found", "words of sh"),
            quoted("/bin/sh: 1: ptxas: not found", "words of sh"),
            quoted(
                "FileNotFoundError: [Errno 2] No such file or directory: 'ptxas'",
                "words of Python",
            ),
            words("torch/utils/cpp_extension.py", "CUDA_HOME is not set"),
            words(
                "programs that were not at hand",
                "CUDA_HOME is missing",
                "CUDA_HOME not found",
                "CUDA_HOME does not exist",
            ),
        ),
        neighbours=(quoted("export CUDA_HOME=/usr/local/cuda-12.8", "a shell log"),),
    ),
    Signature(
        id="cuda_tools_too_old",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.NAMED_TEXT,
        patterns=(
            (
                r"(?P<what>Unsupported \.version \d{1,20}\.\d{1,20}; current version is '\d{1,20}"
                r"\.\d{1,20}')"
            ),
            r"(?P<what>Value 'sm_\d{1,20}[af]?' is not defined for option 'gpu-name')",
            r"(?P<what>Unsupported gpu architecture '(?:compute|sm)_\d{1,20}[af]?')",
        ),
        summary="ptxas or nvcc is too old: {what}",
        means=(
            "Triton writes newer PTX, or the GPU is newer, than the CUDA tools in use know; mostly "
            "with multi-arch kernels."
        ),
        fixes=(
            fix("Use a toolkit as new as Triton's: set TRITON_PTXAS_PATH and CUDA_HOME to it"),
            fix("Or limit TORCH_CUDA_ARCH_LIST to what the tools know"),
        ),
        guide="guides/toolchain.md#cuda-toolkit",
        next_tool="check_environment",
        matches=(
            quoted(
                (
                    "ptxas /tmp/tmpabc.ptx, line 5; fatal   : Unsupported .version 8.7; current "
                    "version is '8.4'"
                ),
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
        phase="environment",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "(?P<what>the provided PTX was compiled with an unsupported toolchain)",
            "(?P<what>a PTX JIT compilation failed)",
        ),
        summary="The NVIDIA driver is older than what this torch or package was built with: {what}",
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
                "CUDA driver error: the provided PTX was compiled with an unsupported toolchain.",
                "words of the CUDA driver",
            ),
            quoted("CUDA error: a PTX JIT compilation failed", "words of the CUDA driver"),
        ),
    ),
    Signature(
        id="gpu_unsupported",
        phase="environment",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                r"with CUDA capability (?P<gpu>sm_\d{1,20}a?) is not compatible with the current "
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
                (
                    "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with "
                    "the current PyTorch installation."
                ),
                "words of torch.cuda",
            ),
            quoted(
                "No published PyTorch CUDA builds for release 2.13.0 support this GPU.",
                "words of torch.cuda",
            ),
            quoted(
                (
                    "torch._inductor.exc.GPUTooOldForTriton: Found Tesla P100-PCIE-16GB which is "
                    "too old to be supported by the triton GPU compiler"
                ),
                "words of torch/_inductor/exc.py",
            ),
        ),
    ),
    Signature(
        id="libcuda_not_found",
        phase="triton_compile",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        patterns=(
            r"libcuda\.so cannot found",
            r"libcuda\.so not found",
            r"libcuda\.so cannot be found",
            r"create a symlink of libcuda\.so",
            "[Cc]annot find libcuda",
        ),
        summary="Triton does not find libcuda.so to link its launcher with",
        means=(
            "It asks ldconfig for the driver's library: the cache of the loader is old, the "
            "container hides the driver, or only libcuda.so.1 exists."
        ),
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
                (
                    "Possible files are located at ['/usr/lib64/libcuda.so.1'].Please create a "
                    "symlink of libcuda.so to any of the files."
                ),
                "words of triton/backends/nvidia/driver.py",
            ),
            words(
                "programs that were not at hand",
                "libcuda.so not found",
                "libcuda.so cannot be found",
                "Cannot find libcuda",
            ),
        ),
    ),
    Signature(
        id="nvcc_failed",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.SPECIFIC_TEXT,
        anchors=(
            "nvcc fatal",
            "nvlink fatal",
        ),
        patterns=(
            "(?P<what>`nvcc` command returns non-zero exit status)",
            r"(?P<what>nvcc (?:fatal|error)\s{0,3}:.{0,160})",
            "(?P<what>unsupported GNU version)",
            "(?P<what>unsupported Microsoft Visual Studio version)",
            "(?P<what>unsupported clang version)",
            "(?P<what>detected CUDA version .{1,40} mismatches the version)",
            "(?P<what>is less than the minimum required version by CUDA)",
            "(?P<what>is greater than the maximum required version by CUDA)",
            "(?P<what>nvcc is required to build fatbin)",
            "(?P<what>nvcc not found at .{0,120})",
            r"(?P<what>nvlink (?:fatal|error)\s{0,3}:.{0,120})",
            r"(?P<what>fatbinary fatal\s{0,3}:.{0,120})",
            r"(?P<what>cudafe\+\+.{0,20} died)",
            "(?P<what>[Cc]annot find.{0,80}libdevice)",
            "(?P<what>not found.{0,80}libdevice)",
            "(?P<what>No such file.{0,80}libdevice)",
            r"(?P<what>libdevice\S{0,40} not found)",
            r"(?P<what>Unknown CUDA arch \(.{1,30}\))",
            "(?P<what>nvrtc: error: failed to open .{0,80})",
            r"(?P<what>Ninja is required to load C\+\+ extensions)",
            "(?P<what>Need to set WINDOWS_CUDA_HOME)",
        ),
        summary="The CUDA compiler or a tool of it stopped: {what}",
        means=(
            "nvcc does not go with the host compiler, with the CUDA release of torch or with the "
            "GPU named, or a file of the toolkit is missing."
        ),
        check="nvcc --version, $CXX --version and torch.version.cuda beside each other.",
        fixes=(
            fix(
                "Install the toolkit release that torch.version.cuda names and set CUDA_HOME to it",
            ),
            fix("Give nvcc a host compiler that it supports (NVCC_CCBIN or CXX)"),
        ),
        guide="guides/toolchain.md#cuda-toolkit",
        next_tool="check_environment",
        matches=(
            words(
                "cupy/cuda/compiler.py",
                "cupy.cuda.compiler.CompileException: `nvcc` command returns non-zero exit status.",
            ),
            quoted("nvcc fatal   : Unknown option '-std=c++20'", "words of nvcc"),
            quoted(
                "#error -- unsupported GNU version! gcc versions later than 12 are not supported!",
                "words of crt/host_config.h",
            ),
            quoted(
                (
                    "RuntimeError: The detected CUDA version (11.8) mismatches the version that "
                    "was used to compile PyTorch (12.1)."
                ),
                "words of torch/utils/cpp_extension.py",
            ),
            quoted(
                "RuntimeError: nvcc is required to build fatbin",
                "words of torch/_inductor/codecache.py",
            ),
            quoted("nvrtc: error: failed to open libnvrtc-builtins.so.11.8.", "words of nvrtc"),
            words(
                "CUDA",
                "unsupported Microsoft Visual Studio version",
                "unsupported clang version",
            ),
            words(
                "programs that were not at hand",
                "is less than the minimum required version by CUDA",
                "is greater than the maximum required version by CUDA",
                "fatbinary fatal:x",
                "cudafe++ died",
            ),
            words(
                "torch/utils/cpp_extension.py",
                "nvcc not found at x",
                "Unknown CUDA arch (x)",
                "Ninja is required to load C++ extensions",
                "Need to set WINDOWS_CUDA_HOME",
            ),
            words("torch/_inductor/comm_analysis.py", "nvlink fatal:x"),
            words("torch/hub.py", "Cannot findlibdevice"),
            words("torch/__init__.py", "not foundlibdevice", "libdevice not found"),
            words("fmt/format.h", "No such filelibdevice"),
        ),
    ),
    Signature(
        id="triton_launcher_not_built",
        phase="triton_compile",
        category="toolchain",
        tier=Tier.BROAD_TEXT,
        patterns=(
            (
                r"CalledProcessError: Command '\[.{0,200}(?:main|cuda_utils|__triton_launcher|"
                r"launcher_stub)\.c'"
            ),
            r"(?:cuda_utils|__triton_launcher)\S{0,80}\.(?:so|pyd)\b.{0,40}undefined symbol",
            r"(?:cuda_utils|__triton_launcher)\S{0,80}\.(?:so|pyd)\b.{0,40}cannot open",
            r"(?:cuda_utils|__triton_launcher)\S{0,80}\.(?:so|pyd)\b.{0,40}DLL load",
        ),
        summary="The C compiler could not build Triton's launcher",
        means=(
            "Triton builds a small C file per kernel kind for the host: Python's headers, libcuda "
            "or a working gcc are missing."
        ),
        check="Run the printed command by hand.",
        fixes=(fix("Install gcc and python3-dev, and make libcuda.so visible to the linker"),),
        guide="guides/toolchain.md#triton-missing-or-mismatched",
        next_tool="check_environment",
        matches=(
            quoted(
                (
                    "subprocess.CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tmpw1/main.c', "
                    "'-O3', '-shared', '-fPIC']' returned non-zero exit status 1."
                ),
                "common form in public threads",
            ),
            quoted(
                (
                    "ImportError: "
                    "/root/.triton/cache/AB/cuda_utils.cpython-311-x86_64-linux-gnu.so: undefined "
                    "symbol: cuFoo"
                ),
                "common form in public threads",
            ),
            words("fmt/format.h", "cuda_utils.so cannot open"),
            words("torch/__init__.py", "cuda_utils.so DLL load"),
        ),
    ),
    Signature(
        id="triton_mismatch",
        phase="environment",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                r"ImportError: (?P<what>cannot import name '\w{1,60}' from (?:partially "
                r"initialized module )?'triton[\w.]{0,80}')"
            ),
            (
                r"AttributeError: (?P<what>(?:partially initialized )?module 'triton[\w.]{0,80}' "
                r"has no attribute '\w{1,60}')"
            ),
            (
                r"ModuleNotFoundError: (?P<what>No module named '(?:triton\.|pytorch_triton)"
                r"[\w.]{0,80}')"
            ),
            "RuntimeError: (?P<what>Found (?:0|>1) concrete subclasses of .{1,80})",
        ),
        summary="The installed Triton is not the release that this torch works with: {what}",
        means=(
            "Inductor and custom kernels use Triton's inner modules, which move from release to "
            "release; a second Triton package (triton-nightly, pytorch-triton, triton-windows) may "
            "also lie over the first."
        ),
        check="pip list | grep -i triton, against the version that pip show torch requires.",
        fixes=(fix("Remove all Triton packages and install the one that torch requires"),),
        guide="guides/toolchain.md#triton-missing-or-mismatched",
        next_tool="check_environment",
        matches=(
            quoted(
                (
                    "ImportError: cannot import name 'triton_key' from 'triton.compiler.compiler' "
                    "(/opt/venv/triton/compiler/compiler.py)"
                ),
                "common form in public threads",
            ),
            quoted(
                "AttributeError: module 'triton' has no attribute 'jit'",
                "common form in public threads",
            ),
            quoted(
                "ModuleNotFoundError: No module named 'triton.ops'",
                "common form in public threads",
            ),
            quoted(
                "RuntimeError: Found 0 concrete subclasses of <class 'DriverBase'>",
                "words of triton/backends/__init__.py",
            ),
        ),
        apart_from=("triton_missing",),
    ),
    Signature(
        id="triton_missing",
        phase="environment",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "Cannot find a working triton installation",
            "ModuleNotFoundError: No module named 'triton'",
        ),
        summary="Triton is missing or does not fit this torch",
        means=(
            "Compiling for a GPU needs the Triton release that torch was built with; running a "
            "finished package does not."
        ),
        fixes=(
            fix(
                (
                    "Install the triton version that torch's wheel names: pip install torch brings "
                    "it on Linux"
                ),
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
