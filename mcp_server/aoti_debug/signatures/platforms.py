"""Windows, macOS, and GPUs that are not NVIDIA's."""

from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURES = (
    Signature(
        id="windows_link_error",
        family="Q",
        phase="cpp_compile",
        category="cpp_error",
        weight=72,
        anchors=(
            "LNK2019",
            "LNK1120",
            "LNK1104",
            "LNK1181",
            "WinMain",
            "fatal error C1083",
            "error C2",
        ),
        patterns=(
            (
                r"error LNK(?P<code>\d+)|undefined reference to [`'‘]?WinMain|fatal error C1083"
                r"|\berror C2\d{3}\b"
            ),
        ),
        summary="The Windows toolchain could not compile or link the generated code",
        means=(
            "A function that this torch build does not export, a path that was quoted wrongly, or "
            "(cross compiling with MinGW) link flags in the wrong step."
        ),
        fixes=(
            fix("Run from an x64 developer prompt with the cl that matches torch; upgrade torch"),
        ),
        guide="guides/other-platforms.md#windows",
        next_tool="check_environment",
        references=("pytorch/pytorch#139954", "pytorch/pytorch#166093", "pytorch/pytorch#149310"),
        matches=(
            quoted(
                "error LNK2019: unresolved external symbol aoti_torch_check",
                "pytorch/pytorch#139954",
            ),
            quoted("undefined reference to `WinMain'", "pytorch/pytorch#166093"),
        ),
    ),
    Signature(
        id="mps_failure",
        family="Q",
        phase="run",
        category="lowering_error",
        weight=64,
        anchors=(
            "program_source:",
            "aoti_torch_mps_",
            "Failed to create metal library",
            "Metal shader",
            "MPSGraph",
            "mps.compile_shader",
        ),
        patterns=(
            (
                r"program_source:\d+:\d+: error: (?P<text>.{0,120})|^(?=.* API call "
                r"failed).*\baoti_torch_mps_\w{1,60}\(|Failed to create metal library"
                "|MPSGraph.{0,80}(?:failed|assert)"
            ),
        ),
        summary="A Metal shader of the model could not be compiled or started",
        means=(
            "The generated Metal code is not accepted by this macOS. Up to autumn 2026 the model "
            "ignores the failure and crashes with SIGSEGV instead."
        ),
        fixes=(fix("Compile for the CPU, or try the newest nightly"),),
        guide="guides/other-platforms.md#macos-and-mps",
        next_tool="check_environment",
        references=("pytorch/pytorch#196233",),
        matches=(
            quoted(
                "SyntaxError: program_source:1:1: error: C++ requires a type specifier for all "
                "declarations",
                "pytorch/pytorch#196233",
            ),
        ),
    ),
    Signature(
        id="rocm_failure",
        family="Q",
        phase="run",
        category="illegal_memory_access",
        weight=56,
        anchors=(
            "HSA_STATUS_ERROR",
            "Memory access fault by GPU",
            "HIP error: an illegal memory access",
            "HIP error: unspecified launch failure",
            "hipErrorIllegalAddress",
        ),
        patterns=(
            (
                r"Memory access fault by GPU node-\d+|HSA_STATUS_ERROR_\w+|HIP error: (?:an "
                "illegal memory access|unspecified launch failure)|hipErrorIllegalAddress"
            ),
        ),
        summary="A kernel faulted on an AMD GPU",
        means=(
            "The same family of faults as an illegal memory access on CUDA: contract first, then "
            "the kernel."
        ),
        fixes=(
            fix(
                "AMD_LOG_LEVEL=3 or rocgdb names the kernel; check the inputs with "
                "AOTI_RUNTIME_CHECK_INPUTS=1"
            ),
        ),
        guide="guides/other-platforms.md#amd-gpus",
        next_tool="triage",
        matches=(
            quoted(
                "Memory access fault by GPU node-1 (Agent handle: 0x5581c8b2a0d0",
                "text of the ROCm runtime",
            ),
        ),
    ),
    Signature(
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
                r"(?P<code>UR_RESULT_ERROR_\w+|PI_ERROR_\w+|ZE_RESULT_ERROR_\w+)|level_zero "
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
                "RuntimeError: level_zero backend failed with error: 20 "
                "(UR_RESULT_ERROR_DEVICE_LOST)",
                "text of the SYCL runtime",
            ),
        ),
    ),
    Signature(
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
    ),
)
