"""GPU kernels whose binary is not found or not for this GPU."""

from __future__ import annotations

from aoti_debug.facts.tiers import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, words

SIGNATURES = (
    Signature(
        id="capability_mismatch",
        phase="load",
        category="missing_kernel_binary",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            (
                r"Device information mismatch for AOTI_COMPUTE_CAPABILITY: (?P<here>\S{0,20}) vs "
                r"(?P<package>\S{1,20})\."
            ),
        ),
        summary="The package was compiled for compute capability {package}, this GPU has {here}",
        means="Its kernels are binaries for that architecture and will not load on this one.",
        fixes=(
            fix("Compile on this kind of GPU, or with aot_inductor.emit_multi_arch_kernel=True"),
        ),
        guide="guides/package-and-load.md#wrong-gpu-architecture",
        next_tool="inspect_package",
        matches=(
            quoted(
                "Device information mismatch for AOTI_COMPUTE_CAPABILITY: 90 vs 80.",
                "words of the loader",
            ),
        ),
        apart_from=("made_on_another_machine",),
    ),
    Signature(
        id="cubin_not_found",
        phase="run",
        category="missing_kernel_binary",
        tier=Tier.NAMED_TEXT,
        patterns=("CUDA driver error: file not found",),
        summary="A kernel binary (.cubin) is not where the library looks for it",
        means=(
            "A bare .so finds its cubins by the absolute path of the compile; a package by the "
            "folder it was unpacked to. The message does not name the file."
        ),
        check=(
            "strace -e openat, or unzip -l for .cubin files; a bare .so moved from its folder is "
            "the usual case."
        ),
        fixes=(
            fix("Ship a .pt2 made by aoti_compile_and_package, not the bare .so"),
            fix(
                (
                    "Or compile with inductor_configs={{'aot_inductor.embed_kernel_binary': True}} "
                    "(2.8 and later)"
                ),
            ),
            fix("With a package pass no cubin_dir of your own"),
        ),
        guide="guides/package-and-load.md#kernel-binaries-not-found",
        next_tool="inspect_package",
        matches=(quoted("Error: CUDA driver error: file not found", "pytorch/pytorch#120194"),),
        apart_from=(
            "kernel_image_invalid",
            "cuda_invalid_argument",
        ),
    ),
    Signature(
        id="kernel_image_invalid",
        phase="run",
        category="missing_kernel_binary",
        tier=Tier.EXACT_TEXT,
        patterns=(
            r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}(?P<what>device kernel image is invalid)",
            r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}(?P<what>cudaErrorInvalidKernelImage)",
            r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}(?P<what>CUDA_ERROR_INVALID_IMAGE)",
            (
                r"(?:CUDA (?:driver )?error|Triton Error \[CUDA\]|HIP error): (?P<what>named "
                "symbol not found)"
            ),
            (
                r"(?:CUDA (?:driver )?error|Triton Error \[CUDA\]|HIP error): (?P<what>shared "
                "object symbol not found)"
            ),
            (
                r"(?:CUDA (?:driver )?error|Triton Error \[CUDA\]|HIP error): (?P<what>shared "
                "object initialization failed)"
            ),
            (
                r"(?:CUDA (?:driver )?error|Triton Error \[CUDA\]|HIP error): (?P<what>invalid "
                "device symbol)"
            ),
            (
                r"(?:CUDA (?:driver )?error|Triton Error \[CUDA\]|HIP error): (?P<what>invalid "
                "kernel file)"
            ),
            (
                r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}?(?P<what>cudaErrorSymbolNotFound|"
                "CUDA_ERROR_NOT_FOUND|(?:cudaErrorI|CUDA_ERROR_I)(?:nvalidSource|NVALID_SOURCE)|"
                r"CUDA_ERROR_SHARED_OBJECT\w{1,200}|cudaErrorSharedObject\w{1,200}|"
                "CUDA_ERROR_FILE_NOT_FOUND|hipErrorInvalid(?:KernelFile|Image))"
            ),
        ),
        summary="A kernel binary cannot be used: {what}",
        means=(
            "It is damaged, built for another architecture or by a toolkit newer than the driver; "
            "`named symbol not found` means a stale or foreign cubin under the expected name."
        ),
        check="cuobjdump the .cubin; compare the GPU's capability with the package's.",
        fixes=(
            fix(
                (
                    "Compile again on the target GPU, into empty TORCHINDUCTOR_CACHE_DIR and "
                    "TRITON_CACHE_DIR"
                ),
            ),
        ),
        guide="guides/package-and-load.md#wrong-gpu-architecture",
        next_tool="inspect_package",
        matches=(
            quoted(
                "RuntimeError: CUDA driver error: device kernel image is invalid",
                "words of the CUDA driver",
            ),
            quoted(
                "RuntimeError: CUDA driver error: named symbol not found",
                "words of the CUDA driver",
            ),
            quoted(
                (
                    "Search for `cudaErrorSymbolNotFound' in "
                    "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html"
                ),
                "names of the CUDA runtime",
            ),
            words(
                "torch/utils/hipify/cuda_to_hip_mappings.py",
                "cudaErrorInvalidKernelImage",
                "CUDA_ERROR_INVALID_IMAGE",
            ),
            words(
                "programs that were not at hand",
                "CUDA error: shared object symbol not found",
                "CUDA error: shared object initialization failed",
                "CUDA error: invalid device symbol",
                "CUDA error: invalid kernel file",
            ),
        ),
        apart_from=("cubin_not_found",),
    ),
    Signature(
        id="no_kernel_image",
        phase="run",
        category="missing_kernel_binary",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}no kernel image is available for "
                "execution on the device"
            ),
            r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}hipErrorNoBinaryForGpu",
            r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}no binary for GPU",
            r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}cudaErrorNoKernelImageForDevice",
            r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}CUDA_ERROR_NO_BINARY_FOR_GPU",
            r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}invalid device function",
            r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}(?:cuda|hip)ErrorInvalidDeviceFunction",
            r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}Unable to find code object",
            (
                r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}CU(?:BLAS|DNN|SOLVER|SPARSE)"
                "_STATUS_ARCH_MISMATCH"
            ),
        ),
        summary="A kernel was built for another GPU architecture",
        means=(
            "A cubin runs only on the architecture it was compiled for. Either the package was "
            "compiled on another kind of GPU, or this torch lacks kernels for the GPU."
        ),
        check=(
            "AOTI_COMPUTE_CAPABILITY in the package's metadata (2.10 and later) against "
            "torch.cuda.get_device_capability()."
        ),
        fixes=(
            fix("Compile on the kind of GPU that serves"),
            fix("Or compile with aot_inductor.emit_multi_arch_kernel=True (2.8 and later)"),
        ),
        guide="guides/package-and-load.md#wrong-gpu-architecture",
        next_tool="inspect_package",
        matches=(
            quoted(
                "CUDA driver error: no kernel image is available for execution on the device",
                "words of the CUDA driver",
            ),
            quoted(
                "hipErrorNoBinaryForGpu: Unable to find code object for all current devices!",
                "words of ROCm",
            ),
            quoted("HIP error: no binary for GPU", "words of ROCm"),
            words(
                "torch/utils/hipify/cuda_to_hip_mappings.py",
                "cudaErrorNoKernelImageForDevice",
                "CUDA_ERROR_NO_BINARY_FOR_GPU",
                "cudaErrorInvalidDeviceFunction",
                "CUBLAS_STATUS_ARCH_MISMATCH",
            ),
            words("CUDA", "invalid device function"),
        ),
    ),
    Signature(
        id="triton_binary_refused",
        phase="triton_compile",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        patterns=(
            r"Triton Error \[CUDA\]: (?P<what>device kernel image is invalid)",
            r"Triton Error \[CUDA\]: (?P<what>no kernel image is available for execution)",
        ),
        summary="The driver refuses a kernel that Triton has just compiled: {what}",
        means=(
            "ptxas made code that this driver or GPU does not take: a ptxas newer than the driver, "
            "one set by TRITON_PTXAS_PATH, a Triton that does not know the GPU, or a cached binary "
            "of another GPU."
        ),
        check="The CUDA version in nvidia-smi against that of Triton's ptxas (ptxas --version)",
        fixes=(
            fix("Update the driver, or install the Triton and torch that fit it"),
            fix("Unset TRITON_PTXAS_PATH; empty TRITON_CACHE_DIR and TORCHINDUCTOR_CACHE_DIR"),
        ),
        guide="guides/toolchain.md#driver-too-old",
        next_tool="check_environment",
        matches=(
            quoted(
                "RuntimeError: Triton Error [CUDA]: device kernel image is invalid",
                "words of Triton's launcher",
            ),
            words(
                "programs that were not at hand",
                "Triton Error [CUDA]: no kernel image is available for execution",
            ),
        ),
        apart_from=(
            "no_kernel_image",
            "kernel_image_invalid",
        ),
    ),
)
