from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
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
)
