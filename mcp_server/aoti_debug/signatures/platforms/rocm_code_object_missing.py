from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="rocm_code_object_missing",
    family="Q",
    phase="run",
    category="missing_kernel_binary",
    weight=76,
    anchors=(
        "hipErrorNoBinaryForGpu",
        "HIP error: invalid device function",
        "TensileLibrary",
        "hipErrorInvalidDeviceFunction",
        "hipErrorInvalidImage",
        "HIP error: device kernel image is invalid",
        "Unable to find code object for all current devices",
    ),
    patterns=(
        (
            "(?P<what>hipErrorNoBinaryForGpu|HIP error: invalid device "
            "function|hipErrorInvalid(?:DeviceFunction|Image)|HIP error: device kernel image "
            r"is invalid|Cannot read \S{0,200}TensileLibrary\S{0,60}|Unable to find code "
            "object for all current devices)"
        ),
    ),
    summary="There is no code for this AMD GPU: {what}",
    means=(
        "Torch, rocBLAS or the package was built for another gfx architecture than the one in use."
    ),
    check="rocminfo | grep gfx against torch.cuda.get_arch_list().",
    fixes=(
        fix(
            "Use a torch build that names this gfx, or compile the package on this GPU; "
            "HSA_OVERRIDE_GFX_VERSION for a near relative"
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
            "rocBLAS error: Cannot read /opt/rocm/lib/rocblas/library/TensileLibrary.dat: No "
            "such file or directory",
            "words of rocBLAS",
        ),
    ),
)
