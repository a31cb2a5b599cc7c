"""Data on a device that is another one or not there; Windows, macOS, GPUs that are not NVIDIA's."""

from __future__ import annotations

from aoti_debug.facts.categories import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
    Signature(
        id="constants_on_other_device",
        phase="load",
        category="contract_device",
        tier=Tier.NAMED_TEXT,
        patterns=(
            (
                "The specified pointer resides on host memory and is not registered with any CUDA "
                "device"
            ),
            (
                r"Mixed-device constants are only supported when the secondary device is CPU(?:\. "
                "Constant '[^']{1,120}')?"
            ),
            "update_constant_buffer does not support mixed device constants",
        ),
        summary="The package's constants lie on another device than the one it is loaded on",
        means=(
            "Most often a CPU artifact loaded as CUDA or the reverse, often followed by a SIGSEGV; "
            "otherwise a model with weights on two devices."
        ),
        check="Read AOTI_DEVICE_KEY of the package's metadata and compare with the device asked for.",
        fixes=(
            fix(
                (
                    "Load it on the device type it was compiled for; use aoti_load_package, which "
                    "reads that from the package"
                ),
            ),
        ),
        guide="guides/inputs-and-devices.md#package-loaded-for-another-device",
        next_tool="inspect_package",
        matches=(
            quoted(
                "[E520 19:20:12.156885067 shim_common.cpp:311] Exception in aoti_torch: The specified pointer resides on host memory and is not registered with any CUDA device.",
                "pytorch/torchchat#840",
            ),
            quoted(
                "Mixed-device constants are only supported when the secondary device is CPU",
                "pytorch/pytorch#173982",
            ),
            quoted(
                "Error: update_constant_buffer does not support mixed device constants.",
                "words of aoti_runtime, 2.11 and 2.12",
            ),
        ),
    ),
    Signature(
        id="device_key_unusable",
        phase="load",
        category="package_incompatible",
        tier=Tier.EXACT_TEXT,
        patterns=(
            r"(?P<what>Unsupported device (?:key )?found: \S{1,40})",
            "(?P<what>KeyError: 'AOTI_DEVICE_KEY')",
            r"(?P<what>No device information found\.)",
        ),
        summary="The loader cannot tell which runner the package needs: {what}",
        means=(
            "The metadata name a device that this torch has no runner for, or none at all: another "
            "build of torch, a backend not imported, or a damaged package."
        ),
        fixes=(
            fix("Use a torch build with that backend, or import its extension before loading"),
            fix("Compile the package again if its metadata are damaged"),
        ),
        guide="guides/package-and-load.md#device-key-missing",
        next_tool="inspect_package",
        matches=(
            recorded("RuntimeError: Unsupported device key found: foo", "torch 2.13.0, CPU"),
            quoted(
                "RuntimeError: Unsupported device found: foo", "words of the 2.6 and 2.7 loader"
            ),
            recorded("KeyError: 'AOTI_DEVICE_KEY'", "torch 2.13.0, CPU"),
            quoted(
                "RuntimeError: No device information found.",
                "words of the loader, all but 2.10 to 2.13",
            ),
        ),
    ),
    Signature(
        id="device_of_data_differs",
        phase="load",
        category="contract_device",
        tier=Tier.NAMED_TEXT,
        confidence="proved",
        patterns=(
            (
                r"Specified device (?P<asked>[\w:]{1,20}) does not match device of data "
                r"(?P<got>[\w:]{1,20})"
            ),
        ),
        summary="The model runs as {asked}, its data lie on {got}",
        means=(
            "The constants or an input stand on another GPU than the one in use. Kernels were "
            "loaded for one device index only."
        ),
        fixes=(
            fix(
                (
                    "aoti_load_package(path, device_index=1), and torch.cuda.set_device(1) before "
                    "the call, inputs on cuda:1"
                ),
            ),
            fix("Or show the process one GPU only: CUDA_VISIBLE_DEVICES=1"),
        ),
        guide="guides/inputs-and-devices.md#another-gpu-index",
        next_tool="inspect_package",
        matches=(
            quoted(
                "Exception in aoti_torch: Specified device cuda:1 does not match device of data cuda:0",
                "pytorch/pytorch#141042",
            ),
        ),
    ),
    Signature(
        id="device_refused",
        phase="load",
        category="contract_device",
        tier=Tier.EXACT_TEXT,
        patterns=(
            r"(?P<what>Incorrect device passed to aoti_runner_\w{1,200})",
            r"(?P<what>Invalid device: \S{0,40})",
        ),
        summary="The runner refuses the device: {what}",
        means=(
            "A device index for a CPU package, or a device name that does not fit the package. A "
            "warning about an outdated file above it is misleading."
        ),
        fixes=(
            fix("Leave device_index at -1 for a CPU package; write devices as cpu, cuda or cuda:0"),
        ),
        guide="guides/inputs-and-devices.md#package-loaded-for-another-device",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: Incorrect device passed to aoti_runner_cpu", "torch 2.13.0, CPU"
            ),
            quoted("Error: Invalid device: gpu:0", "words of aoti_runtime/model_base.h"),
        ),
        neighbours=(quoted("Invalid device string: 'gpu'", "torch.device in eager mode"),),
    ),
    Signature(
        id="driver_refuses",
        phase="environment",
        category="device_unavailable",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "(?P<what>NVIDIA driver on your system is too old)",
            "(?P<what>CUDA driver version is insufficient for CUDA runtime version)",
            "(?P<what>unsupported display driver / cuda driver combination)",
            "(?P<what>forward compatibility was attempted on non supported HW)",
            (
                "(?P<what>cudaError(?:InsufficientDriver|CompatNotSupportedOnDevice|"
                "SystemDriverMismatch))"
            ),
            "(?P<what>Driver/library version mismatch)",
            "(?P<what>couldn't communicate with the NVIDIA driver)",
        ),
        summary="The NVIDIA driver does not serve this torch: {what}",
        means=(
            "The driver is older than the CUDA release of torch needs, its kernel module and "
            "libraries differ (an update without a reboot), or the compatibility libraries do not "
            "fit the GPU."
        ),
        check="nvidia-smi (top right: highest CUDA version) against torch.version.cuda.",
        fixes=(
            fix("Update the driver and reboot, or use a torch build for an older CUDA"),
            fix(
                (
                    "Remove the cuda-compat directory from LD_LIBRARY_PATH on GPUs that it does "
                    "not support"
                ),
            ),
        ),
        guide="guides/toolchain.md#driver-too-old",
        next_tool="check_environment",
        matches=(
            quoted(
                "CUDA initialization: The NVIDIA driver on your system is too old (found version 11040).",
                "words of torch.cuda",
            ),
            quoted(
                "CUDA error: CUDA driver version is insufficient for CUDA runtime version",
                "words of the CUDA runtime",
            ),
            quoted(
                "Failed to initialize NVML: Driver/library version mismatch", "words of nvidia-smi"
            ),
            quoted(
                "Error 804: forward compatibility was attempted on non supported HW",
                "words of the CUDA runtime",
            ),
            words("CUDA", "unsupported display driver / cuda driver combination"),
            words("torch/cuda/__init__.py", "cudaErrorInsufficientDriver"),
            words("programs that were not at hand", "couldn't communicate with the NVIDIA driver"),
        ),
        apart_from=("driver_too_old",),
    ),
    Signature(
        id="gpu_not_usable",
        phase="environment",
        category="device_unavailable",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            r"(?P<what>Unexpected error from cudaGetDeviceCount\(\))",
            "(?P<what>system not yet initialized)",
            r"(?P<what>CUDA-capable device\(s\) is/are busy or unavailable)",
            "(?P<what>CUDA unknown error)",
            "(?P<what>could not select device driver)",
            r"(?P<what>nvidia-container-cli: \S{1,60})",
            r"(?P<what>Failed to initialize NVML: (?!Driver)\w.{0,40})",
            "(?P<what>CUDA_ERROR_NO_DEVICE)",
            "(?P<what>cudaErrorNoDevice)",
            "(?P<what>cudaErrorDevicesUnavailable)",
            "(?P<what>CUDA_ERROR_DEVICE_UNAVAILABLE)",
            "(?P<what>Attempting to deserialize object on .{1,60})",
            "(?P<what>don't know how to restore data location)",
            r"(?P<what>\w{1,20} device module is not registered)",
            "(?P<what>PyTorch was compiled without CUDA support)",
            "(?P<what>libcudart functions unavailable)",
            r"(?P<what>device \d{1,3} is not visible \(CUDA_VISIBLE_DEVICES)",
            "(?P<what>Cannot access accelerator device when none is available)",
            "(?P<what>cuda driver can't be loaded)",
            "(?P<what>DeferredCudaCallError)",
            "(?P<what>device < num_gpus)",
        ),
        summary="The device asked for cannot be used here: {what}",
        means=(
            "The process sees no working GPU, the one it sees is taken (exclusive mode, MIG, "
            "fabric manager not running), or a file asks for a device that this machine or build "
            "lacks."
        ),
        check="torch.cuda.is_available() and nvidia-smi in the same process environment.",
        fixes=(
            fix(
                (
                    "Make the GPU visible and free (container flags, CUDA_VISIBLE_DEVICES, fabric "
                    "manager)"
                ),
            ),
            fix("To read a checkpoint on another machine: torch.load(path, map_location='cpu')"),
        ),
        guide="guides/inputs-and-devices.md#no-gpu-visible",
        next_tool="check_environment",
        matches=(
            recorded(
                "RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: The HPU device module is not registered. If you are running on a CPU-only machine",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 802: system not yet initialized",
                "words of torch.cuda",
            ),
            quoted(
                "RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable",
                "words of the CUDA runtime",
            ),
            words(
                "programs that were not at hand",
                "CUDA unknown error",
                "could not select device driver",
                "nvidia-container-cli: x",
                "Failed to initialize NVML: xx",
                "device < num_gpus",
            ),
            words(
                "torch/utils/hipify/cuda_to_hip_mappings.py",
                "CUDA_ERROR_NO_DEVICE",
                "cudaErrorNoDevice",
                "cudaErrorDevicesUnavailable",
            ),
            words("CUDA", "CUDA_ERROR_DEVICE_UNAVAILABLE"),
            words("torch/serialization.py", "don't know how to restore data location"),
            words(
                "torch/cuda/__init__.py",
                "PyTorch was compiled without CUDA support",
                "libcudart functions unavailable",
                "device 1 is not visible (CUDA_VISIBLE_DEVICES",
                "cuda driver can't be loaded",
                "DeferredCudaCallError",
            ),
            words("libtorch", "Cannot access accelerator device when none is available"),
        ),
        apart_from=(
            "no_gpu_in_process",
            "driver_refuses",
        ),
    ),
    Signature(
        id="input_check_device",
        phase="run",
        category="contract_device",
        tier=Tier.ASSERTION,
        confidence="proved",
        patterns=(
            (
                r"input_handles\[(?P<input>\d{1,20})\]: unmatched device type, expected: "
                r"(?P<expected>[^,]{1,40}), but got: (?P<got>-?\d{1,20})"
            ),
        ),
        summary="Input {input} is on device type {got}, the package expects {expected}",
        means=(
            "The tensor lives on another kind of device than the package's: without the check a "
            "CPU tensor in a CUDA package ends in an illegal memory access, the reverse in a "
            "SIGSEGV without a word. The expected code is printed twice (11 means 1); the device "
            "index is not compared."
        ),
        check="Print x.device; 0 is cpu, 1 cuda, 12 xpu, 13 mps, 14 meta.",
        fixes=(fix("Move the input to the package's device before the call"),),
        guide="guides/inputs-and-devices.md#cpu-input-to-a-cuda-package",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: input_handles[0]: unmatched device type, expected: 00(cpu), but got: 14",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "Error: input_handles[0]: unmatched device type, expected: 11(cuda), but got: 0",
                "torch 2.11.0, H200",
            ),
            recorded(
                "Error: input_handles[0]: unmatched device type, expected: 00(cpu), but got: 1",
                "torch 2.11.0, H200",
            ),
        ),
        apart_from=("device_of_data_differs",),
    ),
    Signature(
        id="no_gpu_in_process",
        phase="load",
        category="device_unavailable",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "(?P<what>Found no NVIDIA driver on your system)",
            "(?P<what>No CUDA GPUs are available)",
            "(?P<what>no CUDA-capable device is detected)",
            "(?P<what>invalid device ordinal)",
            (
                "(?P<what>Cannot load AOTInductor package for device '[^']{1,20}' because "
                r"\w{1,200} is not available)"
            ),
            r"(?P<what>\d{1,20} active drivers \(\[.{0,120}\]\)\. There should only be one)",
        ),
        summary="No usable GPU: {what}",
        means=(
            "A GPU package, or a compile for one, in a process that sees no GPU or asks for an "
            "index that does not exist. `0 active drivers` are Triton's words for it; 2 means two "
            "Triton backends."
        ),
        check=(
            "torch.cuda.is_available() and nvidia-smi in the same process environment; "
            "CUDA_VISIBLE_DEVICES."
        ),
        fixes=(
            fix(
                (
                    "Make the GPU visible (container flags, CUDA_VISIBLE_DEVICES) and use an "
                    "existing index"
                ),
            ),
            fix("Or compile the package for the CPU"),
        ),
        guide="guides/inputs-and-devices.md#no-gpu-visible",
        next_tool="check_environment",
        matches=(
            quoted(
                "RuntimeError: Found no NVIDIA driver on your system. Please check",
                "words of torch.cuda",
            ),
            quoted("RuntimeError: No CUDA GPUs are available", "words of torch.cuda"),
            quoted("CUDA error: no CUDA-capable device is detected", "words of the CUDA runtime"),
            quoted("RuntimeError: CUDA error: invalid device ordinal", "words of the CUDA runtime"),
            quoted(
                "RuntimeError: Cannot load AOTInductor package for device 'cuda' because CUDA is not available in this process.",
                "words of the 2.14 loader",
            ),
            quoted(
                "RuntimeError: 0 active drivers ([]). There should only be one.",
                "pytorch/pytorch#145730",
            ),
        ),
        apart_from=("driver_too_old",),
    ),
    Signature(
        id="operands_on_two_devices",
        phase="run",
        category="contract_device",
        tier=Tier.GENERAL_TEXT,
        patterns=(
            "(?P<what>Expected all tensors to be on the same device)",
            r"(?P<what>Pointer argument \(at \d{1,20}\) cannot be accessed from Triton)",
        ),
        summary="Tensors of two devices meet in one operator: {what}",
        means=(
            "An extern operator or a Triton launcher compared devices; generated kernels do not. "
            "One input, one constant or a 0-dimensional tensor stayed on the CPU."
        ),
        check="AOTI_RUNTIME_CHECK_INPUTS=1 names the input, if the type differs.",
        fixes=(
            fix(
                (
                    "Move inputs and model to one device before export and before the call, "
                    "0-dimensional tensors too"
                ),
            ),
        ),
        guide="guides/inputs-and-devices.md#models-on-two-devices",
        next_tool="inspect_package",
        matches=(
            quoted(
                "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cpu and cuda:0!",
                "words of ATen",
            ),
            quoted(
                "ValueError: Pointer argument (at 0) cannot be accessed from Triton (cpu tensor?)",
                "words of Triton's launcher",
            ),
        ),
    ),
    Signature(
        id="torch_without_device",
        phase="environment",
        category="device_unavailable",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "Torch not compiled with (?P<device>CUDA|XPU|MPS|ROCm) enabled",
            "has no attribute 'AOTIModelContainerRunner(?P<device>Cuda|Xpu|Mps)'",
        ),
        summary="This torch build does not support {device}",
        means=(
            "The script or the package needs a device that the installed build of torch does not "
            "support."
        ),
        fixes=(
            fix("Install the torch build for {device}"),
            fix("Or compile and load a CPU package"),
        ),
        guide="guides/inputs-and-devices.md#no-gpu-visible",
        next_tool="check_environment",
        matches=(
            recorded("AssertionError: Torch not compiled with CUDA enabled", "torch 2.13.0, CPU"),
            recorded(
                "AttributeError: module 'torch._C._aoti' has no attribute 'AOTIModelContainerRunnerCuda'.",
                "torch 2.13.0, CPU",
            ),
        ),
        neighbours=(
            quoted(
                "torch::inductor::AOTIModelContainerRunnerCpu::AOTIModelContainerRunnerCpu(std::string const&)",
                "a stack frame",
            ),
        ),
    ),
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
                "SyntaxError: program_source:1:1: error: C++ requires a type specifier for all declarations",
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
                "RuntimeError: The MPS backend is supported on MacOS 13.0+. Current OS version can be queried using `sw_vers`",
                "words of ATen",
            ),
            quoted(
                "RuntimeError: PyTorch is not linked with support for mps devices", "words of c10"
            ),
            quoted("RuntimeError: No HIP GPUs are available", "words of torch.cuda"),
            quoted(
                "OSError: Intel GPU driver is not properly installed, please follow the instruction",
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
                "OSError: ROCM_HOME environment variable is not set. Please set it to your ROCm install root.",
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
                "torch/_inductor/cpp_builder.py", "Intel Compiler error: less than minimal version"
            ),
            words(
                "torch/_inductor/codecache.py", "Multi-arch ROCm compilation requires LLVM IR file"
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
                "RuntimeError: Windows not yet supported for torch.compile", "words of torch 2.1"
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
                "rocBLAS error: Cannot read /opt/rocm/lib/rocblas/library/TensileLibrary.dat: No such file or directory",
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
                "x.obj : fatal error LNK1112: module machine type 'x86' conflicts with target machine type 'x64'",
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
                "C:\\t\\c.main.cpp(12): error C2065: 'tmp0': undeclared identifier", "words of MSVC"
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
            "RuntimeError: UR error",
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
                "RuntimeError: level_zero backend failed with error: 20 (UR_RESULT_ERROR_DEVICE_LOST)",
                "text of the SYCL runtime",
            ),
            words("programs that were not at hand", "sycl::_V1::exception", "XPU device not found"),
            words("torch/xpu/__init__.py", "not compiled with XPU"),
            quoted("RuntimeError: UR error", "pytorch/pytorch#149953"),
        ),
    ),
)
