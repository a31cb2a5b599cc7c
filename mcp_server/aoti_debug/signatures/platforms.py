"""Windows, macOS, and GPUs that are not NVIDIA's."""

from __future__ import annotations

from aoti_debug.facts.tiers import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, words

SIGNATURES = (
    Signature(
        id="mps_failure",
        phase="run",
        category="lowering_error",
        tier=Tier.KIND_TEXT,
        patterns=(
            r"program_source:\d{1,20}:\d{1,20}: error: (?P<text>.{0,120})",
            r"^(?=.{0,300} API call failed).{0,300}\baoti_torch_mps_\w{1,60}\(",
            "Failed to create metal library",
            "MPSGraph.{0,80}(?:failed|assert)",
        ),
        summary="A Metal shader of the model could not be compiled or started",
        means=(
            "The generated Metal code is not accepted by this macOS. Up to autumn 2026 the model "
            "ignores the failure and crashes with SIGSEGV instead."
        ),
        fixes=(fix("Compile for the CPU, or try the newest nightly"),),
        guide="guides/other-platforms.md#macos-and-mps",
        next_tool="check_environment",
        matches=(
            quoted(
                (
                    "SyntaxError: program_source:1:1: error: C++ requires a type specifier for all "
                    "declarations"
                ),
                "pytorch/pytorch#196233",
            ),
            words(
                "torch/_inductor/codegen/cpp_wrapper_mps.py",
                "Error: aoti_torch_mps_mm_out(x) API call failed",
            ),
            words("programs that were not at hand", "Failed to create metal library"),
            words("torch/testing/_internal/common_mps.py", "MPSGraphfailed"),
        ),
    ),
    Signature(
        id="mps_unavailable",
        phase="environment",
        category="device_unavailable",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            r"(?P<what>MPS backend is supported on MacOS \S{1,10})",
            r"(?P<what>PyTorch is not linked with support for \w{1,10} devices)",
            "(?P<what>No HIP GPUs are available)",
            "(?P<what>hipErrorNoDevice)",
            "(?P<what>No XPU devices are available)",
            "(?P<what>Intel GPU driver is not properly installed)",
            "(?P<what>ROCk module is NOT loaded)",
            "(?P<what>Unable to open /dev/kfd.{0,60})",
            r"(?P<what>PyTorch was compiled without \w{1,8} support)",
        ),
        summary="The GPU of this platform cannot be used: {what}",
        means=(
            "macOS, the driver (ROCm, Level Zero) or this torch build has no working support for "
            "the device that was asked for."
        ),
        check="torch.backends.mps.is_available(), rocminfo or sycl-ls in the same environment.",
        fixes=(fix("Install the torch build and the driver for that GPU, or compile for the CPU"),),
        guide="guides/other-platforms.md#macos-and-mps",
        next_tool="check_environment",
        matches=(
            quoted(
                (
                    "RuntimeError: The MPS backend is supported on MacOS 13.0+. Current OS version "
                    "can be queried using `sw_vers`"
                ),
                "words of ATen",
            ),
            quoted(
                "RuntimeError: PyTorch is not linked with support for mps devices",
                "words of c10",
            ),
            quoted("RuntimeError: No HIP GPUs are available", "words of torch.cuda"),
            quoted(
                (
                    "OSError: Intel GPU driver is not properly installed, please follow the "
                    "instruction"
                ),
                "words of torch/_inductor/cpp_builder.py",
            ),
            words("torch/utils/hipify/cuda_to_hip_mappings.py", "hipErrorNoDevice"),
            words(
                "programs that were not at hand",
                "No XPU devices are available",
                "ROCk module is NOT loaded",
                "Unable to open /dev/kfdx",
            ),
            words("torch/mtia/__init__.py", "PyTorch was compiled without x support"),
        ),
    ),
    Signature(
        id="other_gpu_tools_missing",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "(?P<what>ROCM_HOME environment variable is not set)",
            r"(?P<what>cannot locate libamdhip64\S{0,10})",
            r"(?P<what>does not point to a valid libamdhip64\S{0,10})",
            "(?P<what>(?:hipcc|icpx): (?:command )?not found)",
            r"(?P<what>SYCL runtime is not de\w{1,6})",
            "(?P<what>Intel Compiler error: less than minimal version)",
            "(?P<what>xcrun: error: .{1,100})",
            "(?P<what>Multi-arch ROCm compilation requires LLVM IR file)",
        ),
        summary="The tools for this GPU or system are missing: {what}",
        means=(
            "Compiling for AMD needs ROCm, for Intel the oneAPI compiler and Level Zero, for Apple "
            "the command line tools."
        ),
        fixes=(
            fix(
                (
                    "Install them in the version that torch was built with, and set ROCM_HOME or "
                    "source setvars.sh"
                ),
            ),
        ),
        guide="guides/other-platforms.md#amd-gpus",
        next_tool="check_environment",
        matches=(
            quoted(
                (
                    "OSError: ROCM_HOME environment variable is not set. Please set it to your "
                    "ROCm install root."
                ),
                "words of torch/utils/cpp_extension.py",
            ),
            quoted(
                "RuntimeError: cannot locate libamdhip64.so after attempted paths []",
                "words of triton/backends/amd/driver.py",
            ),
            quoted(
                "OSError: SYCL runtime is not dected. Please setup the pytorch prerequisites",
                "words of torch/utils/cpp_extension.py",
            ),
            words(
                "programs that were not at hand",
                "does not point to a valid libamdhip64",
                "xcrun: error: x",
            ),
            words("torch/__init__.py", "hipcc: not found"),
            words(
                "torch/_inductor/cpp_builder.py",
                "Intel Compiler error: less than minimal version",
            ),
            words(
                "torch/_inductor/codecache.py",
                "Multi-arch ROCm compilation requires LLVM IR file",
            ),
        ),
    ),
    Signature(
        id="platform_unsupported",
        phase="environment",
        category="toolchain",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            r"(?P<what>Windows not yet supported for torch\.compile)",
            r"(?P<what>Python 3\.\d{1,2}\+? not yet supported for torch\.compile)",
            r"(?P<what>(?:torch\.compile|Dynamo|TorchDynamo) is not supported on Python.{0,60})",
            "(?P<what>Windows is not supported yet)",
            "(?P<what>Cannot currently precompile headers on Windows)",
        ),
        summary="This torch does not compile on this platform: {what}",
        means=(
            "The compiler part of this torch release does not know the Python version or system in "
            "use; eager mode works."
        ),
        fixes=(
            fix(
                (
                    "Use a torch release that names this Python and system as supported, or an "
                    "older Python"
                ),
            ),
        ),
        guide="guides/other-platforms.md#windows",
        next_tool="check_environment",
        matches=(
            quoted(
                "RuntimeError: Windows not yet supported for torch.compile",
                "words of torch 2.1",
            ),
            quoted("RuntimeError: Dynamo is not supported on Python 3.12+", "words of torch 2.3"),
            quoted(
                "RuntimeError: torch.compile is not supported on Python 3.15+",
                "words of torch/__init__.py",
            ),
            words("torch/_dynamo/eval_frame.py", "Python 3.1 not yet supported for torch.compile"),
            words(
                "torch/_inductor/cpp_builder.py",
                "Windows is not supported yet",
                "Cannot currently precompile headers on Windows",
            ),
        ),
    ),
    Signature(
        id="rocm_code_object_missing",
        phase="run",
        category="missing_kernel_binary",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "(?P<what>hipErrorNoBinaryForGpu)",
            "(?P<what>HIP error: invalid device function)",
            "(?P<what>hipErrorInvalid(?:DeviceFunction|Image))",
            "(?P<what>HIP error: device kernel image is invalid)",
            r"(?P<what>Cannot read \S{0,200}TensileLibrary\S{0,60})",
            "(?P<what>Unable to find code object for all current devices)",
        ),
        summary="There is no code for this AMD GPU: {what}",
        means=(
            "Torch, rocBLAS or the package was built for another gfx architecture than the one in "
            "use."
        ),
        check="rocminfo | grep gfx against torch.cuda.get_arch_list().",
        fixes=(
            fix(
                (
                    "Use a torch build that names this gfx, or compile the package on this GPU; "
                    "HSA_OVERRIDE_GFX_VERSION for a near relative"
                ),
            ),
        ),
        guide="guides/other-platforms.md#amd-gpus",
        next_tool="check_environment",
        matches=(
            quoted(
                '"hipErrorNoBinaryForGpu: Unable to find code object for all current devices!"',
                "words of the HIP runtime",
            ),
            quoted("RuntimeError: HIP error: invalid device function", "words of the HIP runtime"),
            quoted(
                (
                    "rocBLAS error: Cannot read /opt/rocm/lib/rocblas/library/TensileLibrary.dat: "
                    "No such file or directory"
                ),
                "words of rocBLAS",
            ),
            words("torch/utils/hipify/cuda_to_hip_mappings.py", "hipErrorInvalidDeviceFunction"),
            words("programs that were not at hand", "HIP error: device kernel image is invalid"),
        ),
    ),
    Signature(
        id="rocm_failure",
        phase="run",
        category="illegal_memory_access",
        tier=Tier.GENERAL_TEXT,
        patterns=(
            r"Memory access fault by GPU node-\d{1,20}",
            r"HSA_STATUS_ERROR_\w{1,200}",
            "HIP error: an illegal memory access",
            "HIP error: unspecified launch failure",
            "hipErrorIllegalAddress",
        ),
        summary="A kernel faulted on an AMD GPU",
        means=(
            "The same family of faults as an illegal memory access on CUDA: contract first, then "
            "the kernel."
        ),
        fixes=(
            fix(
                (
                    "AMD_LOG_LEVEL=3 or rocgdb names the kernel; check the inputs with "
                    "AOTI_RUNTIME_CHECK_INPUTS=1"
                ),
            ),
        ),
        guide="guides/other-platforms.md#amd-gpus",
        next_tool="triage",
        matches=(
            quoted(
                "Memory access fault by GPU node-1 (Agent handle: 0x5581c8b2a0d0",
                "text of the ROCm runtime",
            ),
            words("triton", "HSA_STATUS_ERROR_x"),
            words("programs that were not at hand", "HIP error: an illegal memory access"),
            words(
                "torch/testing/_internal/common_methods_invocations.py",
                "HIP error: unspecified launch failure",
            ),
            words("torch/utils/hipify/cuda_to_hip_mappings.py", "hipErrorIllegalAddress"),
        ),
    ),
    Signature(
        id="sycl_missing",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.SPECIFIC_TEXT,
        anchors=("SYCL",),
        patterns=(
            r"Can't find.{0,40}\bSYCL\b",
            r"Cannot find.{0,40}\bSYCL\b",
            r"not found.{0,40}\bSYCL\b",
            r"\bSYCL\b.{0,60}is not found",
            r"\bSYCL\b.{0,60}not found",
            r"\bSYCL\b.{0,60}cannot be found",
            r"\bSYCL\b.{0,60}does not exist",
        ),
        summary="The SYCL headers for Intel GPUs are missing",
        means="The intel-sycl-rt package is not installed or its folder is not where torch looks.",
        fixes=(fix("pip install the intel-sycl-rt version that the torch XPU wheel names"),),
        guide="guides/other-platforms.md#intel-gpus",
        next_tool="check_environment",
        matches=(
            quoted("AssertionError: SYCL directory not found", "pytorch/pytorch#156303"),
            words("torch/_lobpcg.py", "Can't find SYCL"),
            words("torch/hub.py", "Cannot find SYCL"),
            words("torch/__init__.py", "not found SYCL"),
            words("torch/_export/verifier.py", "SYCL is not found"),
            words("torch/fx/experimental/symbolic_shapes.py", "SYCL cannot be found"),
            words("torch/_meta_registrations.py", "SYCL does not exist"),
        ),
    ),
    Signature(
        id="windows_library_missing",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        anchors=("LNK1112",),
        patterns=(
            r"LNK1(?:104|181): cannot open (?:input )?file '(?P<library>[^']{1,200}\.lib)'",
            r"(?P<library>LNK1(?:112|107)\b.{0,120})",
        ),
        summary="The Windows linker does not find or accept {library}",
        means=(
            "The Windows SDK, Python's or OpenMP's import libraries are not on LIB, or the 32-bit "
            "tools are used for a 64-bit torch."
        ),
        check="echo %LIB% in the shell that compiles; where link.",
        fixes=(
            fix(
                (
                    "Compile from the x64 Native Tools prompt; install the Windows SDK and a "
                    "Python that brings its libs folder"
                ),
            ),
        ),
        guide="guides/other-platforms.md#windows",
        next_tool="check_environment",
        matches=(
            quoted("LINK : fatal error LNK1104: cannot open file 'kernel32.lib'", "words of MSVC"),
            quoted(
                (
                    "x.obj : fatal error LNK1112: module machine type 'x86' conflicts with target "
                    "machine type 'x64'"
                ),
                "words of MSVC",
            ),
        ),
        apart_from=("windows_link_error",),
    ),
    Signature(
        id="windows_link_error",
        phase="cpp_compile",
        category="cpp_error",
        tier=Tier.SPECIFIC_TEXT,
        anchors=(
            "LNK1181",
            "error C2",
        ),
        patterns=(
            r"LNK1(?:104|181)\b(?!.{0,200}\.lib'?\s{0,20}$)",
            "undefined reference to [`'‘]?WinMain",
            r"\): (?:fatal )?error C[2-7]\d{3}\b",
            r"^\s{0,20}(?:fatal )?error C[2-7]\d{3}: ",
        ),
        summary="The Windows toolchain could not compile or link the generated code",
        means=(
            "Code that MSVC does not take, a path that was quoted wrongly, or (cross compiling "
            "with MinGW) link flags in the wrong step."
        ),
        fixes=(
            fix(
                (
                    "Run from an x64 developer prompt with the cl that matches torch; upgrade "
                    "torch; keep blanks out of the paths of Python and of the cache"
                ),
            ),
        ),
        guide="guides/other-platforms.md#windows",
        next_tool="check_environment",
        matches=(
            quoted("LINK : fatal error LNK1181: cannot open input file 'x.obj'", "words of MSVC"),
            quoted("undefined reference to `WinMain'", "pytorch/pytorch#166093"),
            quoted(
                "C:\\t\\c.main.cpp(12): error C2065: 'tmp0': undeclared identifier",
                "words of MSVC",
            ),
            quoted("error C2679: binary '=': no operator found", "words of MSVC"),
        ),
    ),
    Signature(
        id="xpu_failure",
        phase="run",
        category="device_unavailable",
        tier=Tier.GENERAL_TEXT,
        patterns=(
            r"(?P<code>UR_RESULT_ERROR_\w{1,200}|PI_ERROR_\w{1,200}|ZE_RESULT_ERROR_(?!MODULE_BUILD)\w{1,200})",
            "level_zero backend failed",
            "sycl::_V1::exception",
            "XPU device not found",
            "not compiled with XPU",
        ),
        summary="The Intel GPU runtime failed",
        means=(
            "The SYCL or Level Zero layer under an XPU package reported the error; "
            "OUT_OF_RESOURCES and DEVICE_LOST also follow a fault in a kernel."
        ),
        check="Does a plain torch.zeros(1, device='xpu') work?",
        fixes=(fix("Check driver and oneAPI versions against the torch build"),),
        guide="guides/other-platforms.md#intel-gpus",
        next_tool="check_environment",
        matches=(
            quoted(
                (
                    "RuntimeError: level_zero backend failed with error: 20 "
                    "(UR_RESULT_ERROR_DEVICE_LOST)"
                ),
                "text of the SYCL runtime",
            ),
            words("programs that were not at hand", "sycl::_V1::exception", "XPU device not found"),
            words("torch/xpu/__init__.py", "not compiled with XPU"),
        ),
    ),
)
