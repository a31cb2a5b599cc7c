from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="sycl_missing",
    family="G",
    phase="cpp_compile",
    category="toolchain",
    weight=74,
    anchors=("SYCL",),
    patterns=(
        (
            r"(?:Can'?t find|Cannot find|not found).{0,40}\bSYCL\b|\bSYCL\b.{0,60}(?:is not "
            "found|not found|cannot be found|does not exist)"
        ),
    ),
    summary="The SYCL headers for Intel GPUs are missing",
    means="The intel-sycl-rt package is not installed or its folder is not where torch looks.",
    fixes=(fix("pip install the intel-sycl-rt version that the torch XPU wheel names"),),
    guide="guides/other-platforms.md#intel-gpus",
    next_tool="check_environment",
    references=("pytorch/pytorch#156303",),
    matches=(quoted("AssertionError: SYCL directory not found", "pytorch/pytorch#156303"),),
)
