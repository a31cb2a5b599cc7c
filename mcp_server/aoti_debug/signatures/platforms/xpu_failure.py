from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="xpu_failure",
    family="Q",
    phase="run",
    category="device_unavailable",
    weight=56,
    anchors=(
        "UR_RESULT_ERROR",
        "PI_ERROR",
        "ZE_RESULT_ERROR",
        "level_zero backend failed",
        "sycl::_V1::exception",
        "XPU device not found",
        "Torch not compiled with XPU",
    ),
    patterns=(
        (
            r"(?P<code>UR_RESULT_ERROR_\w{1,200}|PI_ERROR_\w{1,200}"
            r"|ZE_RESULT_ERROR_\w{1,200})|level_zero "
            "backend failed|sycl::_V1::exception|XPU device not found|not compiled with XPU"
        ),
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
    references=("intel/torch-xpu-ops#2621",),
    matches=(
        quoted(
            "RuntimeError: level_zero backend failed with error: 20 (UR_RESULT_ERROR_DEVICE_LOST)",
            "text of the SYCL runtime",
        ),
    ),
)
