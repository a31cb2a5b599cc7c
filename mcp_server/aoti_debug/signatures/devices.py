"""Inputs, weights and packages on a device that is another one or not there."""

from __future__ import annotations

from aoti_debug.facts.tiers import Tier
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
                (
                    "[E520 19:20:12.156885067 shim_common.cpp:311] Exception in aoti_torch: The "
                    "specified pointer resides on host memory and is not registered with any CUDA "
                    "device."
                ),
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
                "RuntimeError: Unsupported device found: foo",
                "words of the 2.6 and 2.7 loader",
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
                (
                    "Exception in aoti_torch: Specified device cuda:1 does not match device of "
                    "data cuda:0"
                ),
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
                "RuntimeError: Incorrect device passed to aoti_runner_cpu",
                "torch 2.13.0, CPU",
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
                (
                    "CUDA initialization: The NVIDIA driver on your system is too old (found "
                    "version 11040)."
                ),
                "words of torch.cuda",
            ),
            quoted(
                "CUDA error: CUDA driver version is insufficient for CUDA runtime version",
                "words of the CUDA runtime",
            ),
            quoted(
                "Failed to initialize NVML: Driver/library version mismatch",
                "words of nvidia-smi",
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
                (
                    "RuntimeError: Attempting to deserialize object on a CUDA device but "
                    "torch.cuda.is_available() is False."
                ),
                "torch 2.13.0, CPU",
            ),
            recorded(
                (
                    "RuntimeError: The HPU device module is not registered. If you are running on "
                    "a CPU-only machine"
                ),
                "torch 2.13.0, CPU",
            ),
            quoted(
                (
                    "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some "
                    "cuda functions before calling NumCudaDevices() that might have already set an "
                    "error? Error 802: system not yet initialized"
                ),
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
                (
                    "RuntimeError: input_handles[0]: unmatched device type, expected: 00(cpu), but "
                    "got: 14"
                ),
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
                (
                    "RuntimeError: Cannot load AOTInductor package for device 'cuda' because CUDA "
                    "is not available in this process."
                ),
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
                (
                    "RuntimeError: Expected all tensors to be on the same device, but found at "
                    "least two devices, cpu and cuda:0!"
                ),
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
        phase="load",
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
                (
                    "AttributeError: module 'torch._C._aoti' has no attribute "
                    "'AOTIModelContainerRunnerCuda'."
                ),
                "torch 2.13.0, CPU",
            ),
        ),
        neighbours=(
            quoted(
                (
                    "torch::inductor::AOTIModelContainerRunnerCpu::AOTIModelContainerRunnerCpu(std::string "
                    "const&)"
                ),
                "a stack frame",
            ),
        ),
    ),
)
