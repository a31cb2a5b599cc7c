"""What CUDA says of a kernel that failed."""

from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURES = (
    Signature(
        id="cuda_illegal_memory_access",
        family="I",
        phase="run",
        category="illegal_memory_access",
        anchors=(
            "an illegal memory access was encountered",
            "cudaErrorIllegalAddress",
            "CUDA_ERROR_ILLEGAL_ADDRESS",
            "operation not supported on global/shared address space",
            "cudaErrorInvalidAddressSpace",
            "CUDA_ERROR_INVALID_ADDRESS_SPACE",
        ),
        patterns=(
            (
                "^(?!Failed to (?:destroy|free|unload|run autotuning)).{0,4000}(?:an illegal "
                "memory access was encountered|operation not supported on global/shared address "
                "space|cudaErrorIllegalAddress|cudaErrorInvalidAddressSpace"
                "|CUDA_ERROR_ILLEGAL_ADDRESS|CUDA_ERROR_INVALID_ADDRESS_SPACE)"
            ),
        ),
        summary="A GPU kernel read or wrote an address that it may not touch",
        means=(
            "Some kernel launched earlier in this process left its tensors; the call that reports "
            "it is usually innocent. A violated input contract, a host pointer, int32 overflow or "
            "a faulty user kernel are the usual reasons, and the same bug may give the address "
            "space text on the next run."
        ),
        mistaken_for="A bug of the operator in the traceback",
        check=(
            "AOTI_RUNTIME_CHECK_INPUTS=1 on the same call; then a core dump for the kernel's name"
        ),
        fixes=(
            fix(
                "Run the captured call once with AOTI_RUNTIME_CHECK_INPUTS=1 and once through "
                "ep.module()",
                why=(
                    "a violated input contract is the most frequent reason, and both checks are "
                    "free of a recompile"
                ),
            ),
            fix(
                "Take a CUDA core dump (CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1) to get the kernel "
                "and its line",
                why="the Python traceback shows a later call, not the faulty one",
            ),
        ),
        guide="guides/cuda-illegal-memory-access.md#the-first-gpu-message-wins",
        next_tool="triage",
        references=(
            "pytorch/pytorch#153992",
            "pytorch/pytorch#131027",
            "pytorch/pytorch#182193",
            "pytorch/pytorch#195604",
        ),
        matches=(
            recorded(
                "Error: CUDA driver error: an illegal memory access was encountered",
                "torch 2.11, H200",
            ),
            recorded(
                "  what():  CUDA error: an illegal memory access was encountered",
                "torch 2.11, H200",
            ),
            recorded(
                "Search for `cudaErrorIllegalAddress' in https://docs.nvidia.com/cuda/"
                "cuda-runtime-api/group__CUDART__TYPES.html",
                "torch 2.11, H200",
            ),
            quoted(
                "RuntimeError: Triton Error [CUDA]: an illegal memory access was encountered",
                "Triton launcher form",
            ),
            recorded(
                "torch.AcceleratorError: CUDA error: operation not supported on global/shared "
                "address space",
                "torch 2.11, H200, a user Triton kernel",
            ),
            recorded(
                "Search for `cudaErrorInvalidAddressSpace' in https://docs.nvidia.com/cuda/"
                "cuda-runtime-api/group__CUDART__TYPES.html"
            ),
        ),
        apart_from=("aftermath_cleanup", "gpu_exception_dump"),
    ),
    Signature(
        id="cuda_misaligned_address",
        family="I",
        phase="run",
        category="misaligned_address",
        weight=62,
        anchors=(
            "misaligned address",
            "cudaErrorMisalignedAddress",
            "CUDA_ERROR_MISALIGNED_ADDRESS",
            "Misaligned Address",
            "MISALIGNED_ADDRESS",
            "is misaligned",
        ),
        patterns=(
            (
                r"(?:CUDA error|CUDA driver error|\[CUDA\]): misaligned address"
                "|cudaErrorMisalignedAddress|CUDA_ERROR_MISALIGNED_ADDRESS"
                "|CUDBG_EXCEPTION_WARP_MISALIGNED_ADDRESS|CUDA Exception: Warp Misaligned Address"
                r"|^=+\s+Address 0x[0-9a-f]+ is misaligned|^=+\s+Access to 0x[0-9a-f]+ is "
                "misaligned"
            ),
        ),
        summary=(
            "A GPU kernel made a vector access to an address that is not a multiple of its width"
        ),
        means=(
            "Kernels are compiled for 16-byte aligned inputs. A view with an odd storage offset, "
            "a custom op's output or a user kernel with a wrong tl.multiple_of hint breaks that."
        ),
        mistaken_for="An out-of-bounds access",
        check="data_ptr() % 16 of each CUDA input",
        fixes=(
            fix(
                "Pass a contiguous clone of sliced inputs",
                why="x[1:] starts 4 bytes into its storage",
            ),
            fix("Remove tl.multiple_of or alignment hints that do not always hold"),
        ),
        guide="guides/cuda-illegal-memory-access.md#misaligned-address",
        next_tool="triage",
        references=("pytorch/pytorch#141891",),
        matches=(
            quoted("RuntimeError: CUDA error: misaligned address", "pytorch/pytorch#141891"),
            quoted("CUDA Exception: Warp Misaligned Address", "cuda-gdb manual"),
            quoted(
                "=========     Address 0x7f2a5a400003 is misaligned", "compute-sanitizer manual"
            ),
        ),
        neighbours=(
            quoted(
                "arg0_1 is not aligned to 16 bytes",
                "the check of torch 2.6, before any kernel runs",
            ),
        ),
        apart_from=("gpu_exception_dump",),
    ),
    Signature(
        id="cuda_launch_failure",
        family="I",
        phase="run",
        category="illegal_memory_access",
        weight=46,
        anchors=(
            "unspecified launch failure",
            "cudaErrorLaunchFailure",
            "CUDA_ERROR_LAUNCH_FAILED",
            "an illegal instruction was encountered",
            "invalid program counter",
            "hardware stack error",
            "cudaErrorIllegalInstruction",
        ),
        patterns=(
            (
                "^(?!Failed to (?:destroy|free|unload)).{0,4000}(?:unspecified launch failure"
                "|cudaErrorLaunchFailure|CUDA_ERROR_LAUNCH_FAILED|an illegal instruction was "
                "encountered|cudaErrorIllegalInstruction|invalid program counter|hardware stack "
                "error)"
            ),
        ),
        summary="A GPU kernel died without a precise reason",
        means=(
            "The kernel faulted in a way the runtime does not classify; most often an invalid "
            "access, in shared memory too. Under compute-sanitizer this is the normal end after "
            "its report."
        ),
        mistaken_for="A launch that was refused",
        check="If compute-sanitizer ran, read its first report; otherwise take a core dump",
        fixes=(
            fix(
                "Take a CUDA core dump (CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1) to get the kernel "
                "and its line",
                why="the Python traceback shows a later call, not the faulty one",
            ),
        ),
        guide="guides/cuda-illegal-memory-access.md#launch-failures-and-resources",
        next_tool="triage",
        references=("triton-lang/triton#8475",),
        matches=(
            recorded(
                "  what():  CUDA error: unspecified launch failure",
                "torch 2.11 under compute-sanitizer, H200",
            ),
            recorded(
                "Search for `cudaErrorLaunchFailure' in https://docs.nvidia.com/cuda/"
                "cuda-runtime-api/group__CUDART__TYPES.html"
            ),
            quoted(
                "RuntimeError: CUDA error: an illegal instruction was encountered",
                "common form in public threads",
            ),
        ),
        neighbours=(quoted("CUDA error: too many resources requested for launch"),),
        apart_from=("host_illegal_instruction",),
    ),
    Signature(
        id="cuda_launch_resources",
        family="I",
        phase="run",
        category="kernel_resources",
        weight=64,
        anchors=(
            "too many resources requested for launch",
            "cudaErrorLaunchOutOfResources",
            "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
            "invalid configuration argument",
            "cudaErrorInvalidConfiguration",
            "too many blocks in cooperative launch",
        ),
        patterns=(
            (
                "(?P<text>too many resources requested for launch|cudaErrorLaunchOutOfResources"
                "|CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES|invalid configuration argument"
                "|cudaErrorInvalidConfiguration|too many blocks in cooperative launch)"
            ),
        ),
        summary="The GPU refused to launch a kernel: {text}",
        means=(
            "Grid, block, registers or shared memory exceed what the device allows, or a "
            "dimension of the grid is zero. The kernel did not run, so nothing was corrupted."
        ),
        mistaken_for="A memory fault",
        check=(
            "Sizes of the failing call: an empty dimension gives an empty grid, a huge one "
            "overflows grid y/z (65535)"
        ),
        fixes=(
            fix("Compile on the GPU type that runs the model"),
            fix("Reduce num_warps, num_stages or block sizes of user kernels"),
            fix("Guard against empty inputs"),
        ),
        guide="guides/cuda-illegal-memory-access.md#launch-failures-and-resources",
        next_tool="triage",
        references=("pytorch/torchtitan#2272", "pytorch/pytorch#176193"),
        matches=(
            quoted(
                "RuntimeError: CUDA error: too many resources requested for launch",
                "common form in public threads",
            ),
            quoted(
                "RuntimeError: CUDA error: invalid configuration argument",
                "common form in public threads",
            ),
        ),
        neighbours=(
            quoted(
                "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: "
                "131072, Hardware limit: 101376."
            ),
        ),
    ),
    Signature(
        id="cuda_launch_timeout",
        family="I",
        phase="hang",
        category="hang",
        weight=66,
        anchors=(
            "the launch timed out and was terminated",
            "cudaErrorLaunchTimeout",
            "CUDA_ERROR_LAUNCH_TIMEOUT",
        ),
        patterns=(
            (
                "the launch timed out and was terminated|cudaErrorLaunchTimeout"
                "|CUDA_ERROR_LAUNCH_TIMEOUT"
            ),
        ),
        summary="A GPU kernel ran longer than the display watchdog allows",
        means=(
            "The kernel never ended or is far too slow; GPUs that drive a display (and Windows) "
            "stop it after a few seconds."
        ),
        check="Does the same input end on a GPU without a display?",
        fixes=(
            fix(
                "Look for a loop in a user kernel whose bound is data; shrink the problem; run on "
                "a compute-only GPU"
            ),
        ),
        guide="guides/threads-streams-hangs.md#kernels-that-never-end",
        next_tool="triage",
        matches=(
            quoted(
                "RuntimeError: CUDA error: the launch timed out and was terminated",
                "common form in public threads",
            ),
        ),
    ),
    Signature(
        id="cuda_invalid_argument",
        family="I",
        phase="run",
        category="kernel_resources",
        weight=36,
        confidence="possible",
        anchors=(
            "error: invalid argument",
            "[CUDA]: invalid argument",
            "cudaErrorInvalidValue",
            "CUDA_ERROR_INVALID_VALUE",
        ),
        patterns=(
            (
                "^(?!Failed to run autotuning).{0,4000}(?:CUDA (?:driver )?error: invalid "
                r"argument|Triton Error \[CUDA\]: invalid argument|cudaErrorInvalidValue"
                "|CUDA_ERROR_INVALID_VALUE)"
            ),
        ),
        summary="A CUDA call was given an argument it does not accept",
        means=(
            "In a compiled model this is nearly always a kernel launch whose grid is zero or "
            "beyond the limit, or a pointer of another device. At load time it points to a "
            "package made for another device or with missing constants."
        ),
        mistaken_for="A memory fault",
        check="CUDA_LOG_FILE=FILE (CUDA 12.9 and later) writes which argument was refused",
        fixes=(fix("Check the sizes of the failing call for empty or very large dimensions"),),
        guide="guides/cuda-illegal-memory-access.md#launch-failures-and-resources",
        next_tool="triage",
        references=("pytorch/torchchat#709",),
        matches=(
            quoted("Error: CUDA error: invalid argument", "pytorch/torchchat#709"),
            quoted("RuntimeError: Triton Error [CUDA]: invalid argument", "pytorch/pytorch#145984"),
        ),
        apart_from=("autotune_invalid_argument",),
    ),
    Signature(
        id="gpu_hardware_error",
        family="I",
        phase="run",
        category="device_unavailable",
        weight=70,
        anchors=(
            "ECC error",
            "cudaErrorECCUncorrectable",
            "Invalid access of peer GPU memory over nvlink",
            "fallen off the bus",
            "NVRM: Xid",
            "CUDA error: unknown error",
            "Unable to determine the device handle",
            "CUDA_ERROR_UNKNOWN",
        ),
        patterns=(
            (
                "(?P<text>uncorrectable (?:NVLink |ECC )?(?:ECC )?error encountered"
                "|cudaErrorECCUncorrectable|Invalid access of peer GPU memory over nvlink|GPU has "
                "fallen off the bus|NVRM: Xid [^:]{0,40}|CUDA (?:driver )?error: unknown error"
                "|Unable to determine the device handle|CUDA_ERROR_UNKNOWN)"
            ),
        ),
        summary="The GPU or its driver failed: {text}",
        means=(
            "The device itself reported the error; the model is not the reason until another GPU "
            "shows the same."
        ),
        mistaken_for="A faulty kernel",
        check="nvidia-smi -q -d ECC, the kernel log (Xid lines), and the same call on another GPU",
        fixes=(fix("Move to another device; have the machine checked or rebooted"),),
        guide="guides/cuda-illegal-memory-access.md#the-process-is-lost",
        next_tool="check_environment",
        matches=(
            quoted(
                "RuntimeError: CUDA error: uncorrectable ECC error encountered", "CUDA runtime text"
            ),
            quoted(
                "RuntimeError: CUDA error: unknown error", "common after suspend or driver update"
            ),
        ),
    ),
)
