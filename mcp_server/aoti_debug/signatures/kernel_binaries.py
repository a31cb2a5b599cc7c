"""GPU kernels whose binary is not found or not for this GPU."""

from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURES = (
    Signature(
        id="cubin_not_found",
        family="H",
        phase="run",
        category="missing_kernel_binary",
        weight=86,
        anchors=("CUDA driver error: file not found",),
        patterns=("CUDA driver error: file not found",),
        summary="A kernel binary (.cubin) is not where the library looks for it",
        means=(
            "A bare .so finds its cubins by the absolute path of the compile; a package by the "
            "folder it was unpacked to. The message does not name the file."
        ),
        mistaken_for="A missing driver or a missing model file.",
        check=(
            "strace -e openat, or unzip -l for .cubin files; a bare .so moved from its folder is "
            "the usual case."
        ),
        fixes=(
            fix("Ship a .pt2 made by aoti_compile_and_package, not the bare .so"),
            fix(
                "Or compile with inductor_configs={{'aot_inductor.embed_kernel_binary': True}} "
                "(2.8 and later)"
            ),
            fix("With a package pass no cubin_dir of your own"),
        ),
        guide="guides/package-and-load.md#kernel-binaries-not-found",
        next_tool="inspect_package",
        references=("pytorch/pytorch#120194", "pytorch/pytorch#152067", "pytorch/pytorch#139848"),
        matches=(quoted("Error: CUDA driver error: file not found", "pytorch/pytorch#120194"),),
        apart_from=("kernel_image_invalid", "cuda_invalid_argument"),
    ),
    Signature(
        id="no_kernel_image",
        family="H",
        phase="run",
        category="missing_kernel_binary",
        weight=82,
        anchors=(
            "no kernel image is available for execution on the device",
            "hipErrorNoBinaryForGpu",
            "no binary for GPU",
            "cudaErrorNoKernelImageForDevice",
            "CUDA_ERROR_NO_BINARY_FOR_GPU",
            "invalid device function",
            "cudaErrorInvalidDeviceFunction",
            "hipErrorInvalidDeviceFunction",
            "Unable to find code object",
            "STATUS_ARCH_MISMATCH",
        ),
        patterns=(
            (
                r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}(?:no kernel image is available for "
                "execution on the device|hipErrorNoBinaryForGpu|no binary for GPU"
                "|cudaErrorNoKernelImageForDevice|CUDA_ERROR_NO_BINARY_FOR_GPU|invalid device "
                "function|(?:cuda|hip)ErrorInvalidDeviceFunction|Unable to find code object"
                "|CU(?:BLAS|DNN|SOLVER|SPARSE)_STATUS_ARCH_MISMATCH)"
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
        references=("pytorch/pytorch#165243",),
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
        ),
    ),
    Signature(
        id="kernel_image_invalid",
        family="H",
        phase="run",
        category="missing_kernel_binary",
        weight=82,
        anchors=(
            "device kernel image is invalid",
            "named symbol not found",
            "cudaErrorInvalidKernelImage",
            "cudaErrorSymbolNotFound",
            "CUDA_ERROR_INVALID_IMAGE",
            "CUDA_ERROR_NOT_FOUND",
            "cudaErrorInvalidSource",
            "CUDA_ERROR_INVALID_SOURCE",
            "shared object symbol not found",
            "shared object initialization failed",
            "CUDA_ERROR_SHARED_OBJECT",
            "cudaErrorSharedObject",
            "CUDA_ERROR_FILE_NOT_FOUND",
            "invalid device symbol",
            "invalid kernel file",
            "hipErrorInvalidKernelFile",
            "hipErrorInvalidImage",
        ),
        patterns=(
            (
                r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}(?P<what>device kernel image is "
                "invalid"
                "|cudaErrorInvalidKernelImage|CUDA_ERROR_INVALID_IMAGE)"
            ),
            (
                r"(?:CUDA (?:driver )?error|Triton Error \[CUDA\]|HIP error): (?P<what>named "
                "symbol "
                "not found|shared object (?:symbol not found|initialization failed)|invalid device "
                "symbol|invalid kernel file)"
            ),
            (
                r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}?"
                "(?P<what>cudaErrorSymbolNotFound|CUDA_ERROR_NOT_FOUND|(?:cudaErrorI|CUDA_ERROR_I)"
                r"(?:nvalidSource|NVALID_SOURCE)|CUDA_ERROR_SHARED_OBJECT\w{1,200}"
                r"|cudaErrorSharedObject\w{1,200}"
                "|CUDA_ERROR_FILE_NOT_FOUND|hipErrorInvalid(?:KernelFile|Image))"
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
                "Compile again on the target GPU, into empty TORCHINDUCTOR_CACHE_DIR and "
                "TRITON_CACHE_DIR"
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
                "Search for `cudaErrorSymbolNotFound' in https://docs.nvidia.com/cuda/"
                "cuda-runtime-api/group__CUDART__TYPES.html",
                "names of the CUDA runtime",
            ),
        ),
        apart_from=("cubin_not_found",),
    ),
    Signature(
        id="capability_mismatch",
        family="H",
        phase="load",
        category="missing_kernel_binary",
        weight=72,
        anchors=("Device information mismatch for AOTI_COMPUTE_CAPABILITY",),
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
        since="2.10",
        matches=(
            quoted(
                "Device information mismatch for AOTI_COMPUTE_CAPABILITY: 90 vs 80.",
                "words of the loader",
            ),
        ),
        apart_from=("made_on_another_machine",),
    ),
    Signature(
        id="triton_binary_refused",
        family="G",
        phase="triton_compile",
        category="toolchain",
        weight=83,
        anchors=("Triton Error [CUDA]: device kernel", "Triton Error [CUDA]: no kernel image"),
        patterns=(
            (
                r"Triton Error \[CUDA\]: (?P<what>device kernel image is invalid|no kernel image "
                "is "
                "available for execution)"
            ),
        ),
        summary="The driver refuses a kernel that Triton has just compiled: {what}",
        means=(
            "ptxas made code that this driver or GPU does not take: a ptxas newer than the driver, "
            "one set by TRITON_PTXAS_PATH, a Triton that does not know the GPU, or a cached binary "
            "of another GPU."
        ),
        mistaken_for="A package made for another GPU",
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
        ),
        apart_from=("no_kernel_image", "kernel_image_invalid"),
    ),
)
