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
                r"|^={1,40}\s{1,20}Address 0x[0-9a-f]{1,200} is misaligned"
                r"|^={1,40}\s{1,20}Access to 0x[0-9a-f]{1,200} is "
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
            "CUDA_ERROR_ILLEGAL_INSTRUCTION",
            "cudaErrorInvalidPc",
            "CUDA_ERROR_INVALID_PC",
            "cudaErrorHardwareStackError",
            "CUDA_ERROR_HARDWARE_STACK_ERROR",
            "hipErrorLaunchFailure",
            "tensor memory not completely freed",
            "cudaErrorTensorMemoryLeak",
        ),
        patterns=(
            (
                "^(?!Failed to (?:destroy|free|unload)).{0,4000}(?:unspecified launch failure"
                "|cudaErrorLaunchFailure|CUDA_ERROR_LAUNCH_FAILED|an illegal instruction was "
                "encountered|cudaErrorIllegalInstruction|invalid program counter|hardware stack "
                "error|CUDA_ERROR_ILLEGAL_INSTRUCTION|cudaErrorInvalidPc|CUDA_ERROR_INVALID_PC"
                "|cudaErrorHardwareStackError|CUDA_ERROR_HARDWARE_STACK|hipErrorLaunchFailure"
                "|tensor "
                "memory not completely freed|cudaErrorTensorMemoryLeak)"
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
            "cudaErrorCooperativeLaunchTooLarge",
            "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
            "hipErrorInvalidConfiguration",
            "cluster misconfiguration",
            "Cluster target block not present",
            "limit is not supported on this architecture",
            "exceeds maximum grid size",
        ),
        patterns=(
            (
                "(?P<text>too many resources requested for launch|cudaErrorLaunchOutOfResources"
                "|CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES|invalid configuration argument"
                "|cudaErrorInvalidConfiguration|too many blocks in cooperative launch"
                "|cudaErrorCooperativeLaunchTooLarge|CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"
                "|hipErrorInvalidConfiguration|cluster misconfiguration|Cluster target block not "
                "present|limit is not supported on this architecture|exceeds maximum grid size)"
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
            "hipErrorInvalidValue",
            "[HIP]:  Code: 1,",
            "error (11) : invalid argument",
            "error (1) : invalid argument",
        ),
        patterns=(
            (
                r"hipErrorInvalidValue|HIP error: invalid argument|\[HIP\]:  Code: 1,|error "
                r"\(11?\) "
                ": invalid argument"
            ),
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
            quoted("RuntimeError: HIP error: invalid argument", "words of the HIP runtime"),
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
            "cudaErrorUnknown",
            "an exception occurred on the device that was contained",
            "cudaErrorContained",
            "CUDA_ERROR_CONTAINED",
            "NVLink error was detected",
            "cudaErrorNvlinkUncorrectable",
            "CUDA_ERROR_NVLINK_UNCORRECTABLE",
            "CUDA_ERROR_ECC_UNCORRECTABLE",
            "UR_RESULT_ERROR_DEVICE_LOST",
        ),
        patterns=(
            (
                "(?P<text>uncorrectable (?:NVLink |ECC )?(?:ECC )?error encountered"
                "|cudaErrorECCUncorrectable|Invalid access of peer GPU memory over nvlink|GPU has "
                "fallen off the bus|NVRM: Xid [^:]{0,40}|CUDA (?:driver )?error: unknown error"
                "|Unable to determine the device handle|CUDA_ERROR_UNKNOWN|an exception occurred "
                "on "
                "the device that was contained|cudaErrorContained|CUDA_ERROR_CONTAINED|NVLink "
                "error "
                "was detected|cudaError(?:Nvlink|Unknown)|CUDA_ERROR_NVLINK_UNCORRECTABLE"
                "|CUDA_ERROR_ECC_UNCORRECTABLE|UR_RESULT_ERROR_DEVICE_LOST)"
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
    Signature(
        id="cuda_wrong_context",
        family="N",
        phase="run",
        category="concurrency",
        weight=50,
        confidence="possible",
        anchors=(
            "invalid resource handle",
            "cudaErrorInvalidResourceHandle",
            "CUDA_ERROR_INVALID_HANDLE",
            "hipErrorInvalidHandle",
            "context is destroyed",
            "CUDA_ERROR_CONTEXT_IS_DESTROYED",
            "cudaErrorContextIsDestroyed",
            "driver shutting down",
            "CUDA_ERROR_DEINITIALIZED",
            "cudaErrorCudartUnloading",
            "invalid device context",
            "CUDA_ERROR_INVALID_CONTEXT",
            "cudaErrorDeviceUninitialized",
            "primary context for the specified device has already been initialized",
            "cannot set while device is active in this process",
            "graph update was not performed",
            "cudaErrorGraphExecUpdateFailure",
            "accessing tensor output of CUDAGraphs that has been overwritten",
            "Running CUDAGraph after shutdown",
            "no longer valid CUDA graph",
            "CUDA_ERROR_NOT_INITIALIZED",
            "depend on a capturing blocking stream",
            "merge of separate capture sequences",
            "capturing stream has unjoined work",
            "capture was not ended in the same stream",
            "dependency created on uncaptured work",
            "last recorded in a capturing stream",
        ),
        patterns=(
            (
                "depend on a capturing blocking stream|merge of separate capture sequences"
                "|capturing stream has unjoined work|capture was not ended in the same stream"
                "|dependency created on uncaptured work|last recorded in a capturing stream"
                "|(?:CUDA|HIP|cuda|Triton).{0,80}(?:invalid resource handle|context is destroyed"
                "|driver shutting down|invalid device context|primary context for the specified "
                "device|cannot set while device is active|graph update was not performed)"
            ),
            (
                r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}(?:"
                "cudaErrorInvalidResourceHandle|CUDA_ERROR_INVALID_HANDLE|hipErrorInvalidHandle"
                "|CUDA_ERROR_CONTEXT_IS_DESTROYED|cudaErrorContextIsDestroyed"
                "|CUDA_ERROR_DEINITIALIZED|cudaErrorCudartUnloading|CUDA_ERROR_INVALID_CONTEXT"
                "|cudaErrorDeviceUninitialized|cudaErrorGraphExecUpdateFailure|accessing tensor "
                "output of CUDAGraphs that has been overwritten|Running CUDAGraph after shutdown"
                "|CUDA_ERROR_NOT_INITIALIZED)"
            ),
        ),
        summary="A stream, event or context is used where it does not belong or no longer exists",
        means=(
            "Handles are valid in the context that made them: another device, another thread "
            "without a current context, a forked process, or the end of the process."
        ),
        mistaken_for="A faulty kernel",
        check="Do stream and inputs belong to the device that the model was loaded for?",
        fixes=(
            fix("Set the device before the call (torch.cuda.set_device, DeviceGuard)"),
            fix(
                "Delete the model before the process ends; clone outputs kept across graph replays"
            ),
        ),
        guide="guides/threads-streams-hangs.md#streams-inside-the-model",
        next_tool="triage",
        matches=(
            quoted("RuntimeError: CUDA error: invalid resource handle", "CUDA runtime text"),
            quoted(
                "Error: accessing tensor output of CUDAGraphs that has been overwritten by a "
                "subsequent run.",
                "words of torch's CUDA graph trees",
            ),
        ),
    ),
    Signature(
        id="cuda_not_permitted",
        family="D",
        phase="run",
        category="device_unavailable",
        weight=44,
        confidence="possible",
        anchors=(
            "busy or unavailable",
            "exclusive-thread device already in use",
            "peer access is ",
            "peer access has not",
            "too many peers",
            "operation not supported",
            "operation not permitted",
            "system not yet initialized",
            "unsupported display driver / cuda driver combination",
            "forward compatibility was attempted",
            "MPS client",
            "MPS server",
            "OS call failed or operation not supported on this OS",
            "device doesn't have valid Grid license",
            "cudaErrorDevicesUnavailable",
            "cudaErrorNotSupported",
            "cudaErrorNotPermitted",
            "cudaErrorSystemNotReady",
            "cudaErrorSystemDriverMismatch",
            "cudaErrorCompatNotSupportedOnDevice",
            "cudaErrorMps",
            "cudaErrorPeerAccess",
            "cudaErrorInsufficientDriver",
            "cudaErrorNoDevice",
            "cudaErrorInvalidDevice",
            "cudaErrorInitializationError",
            "CUDA_ERROR_NO_DEVICE",
            "CUDA_ERROR_INVALID_DEVICE",
            "CUDA_ERROR_SYSTEM_",
            "CUDA_ERROR_MPS_",
            "CUDA_ERROR_NOT_SUPPORTED",
            "CUDA_ERROR_NOT_PERMITTED",
            "CUDA_ERROR_COMPAT_NOT_SUPPORTED",
            "CUDA_ERROR_PEER_ACCESS",
            "CUDA_ERROR_STUB_LIBRARY",
            "CUDA_ERROR_DEVICE_UNAVAILABLE",
            "CUDA driver is a stub library",
            "hipErrorNoDevice",
            "hipErrorInvalidDevice",
            "hipErrorNotSupported",
        ),
        patterns=(
            (
                "(?i:cuda|hip|triton).{0,120}(?P<what>busy or unavailable|exclusive-thread device "
                "already in use|peer access (?:is|has) (?:not|already)|too many peers|operation "
                "not "
                "supported(?! on global)|operation not permitted(?! (?:when|on an event))|system "
                "not "
                "yet initialized|system has unsupported display driver|forward compatibility was "
                "attempted|MPS (?:client|server)|OS call failed or operation not supported|device "
                "doesn't have valid Grid license|driver is a stub library)"
            ),
            (
                r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}?"
                "(?P<what>cudaError(?:DevicesUnavailable|NotSupported|NotPermitted"
                "|System(?:NotReady"
                r"|DriverMismatch)|CompatNotSupportedOnDevice|Mps\w{1,200}|PeerAccess\w{1,200}|NoDevice"
                r"|InvalidDevice\b|InitializationError)|CUDA_ERROR_(?:NO_DEVICE|INVALID_DEVICE"
                r"|SYSTEM_\w{1,200}|MPS_\w{1,200}|NOT_SUPPORTED|NOT_PERMITTED|COMPAT_NOT_SUPPORTED\w{0,200}"
                r"|PEER_ACCESS_\w{1,200}|STUB_LIBRARY|DEVICE_UNAVAILABLE)|hipError(?:NoDevice"
                "|InvalidDevice|NotSupported))"
            ),
        ),
        summary="The GPU or its driver refuses this process: {what}",
        means=(
            "The device is taken, shared through MPS, virtual, without peer access, or its driver "
            "does not fit the runtime. The model has no part in it."
        ),
        mistaken_for="A faulty kernel",
        check="nvidia-smi, and a one-line torch.ones(1, device='cuda') in a fresh process",
        fixes=(
            fix("Free or choose another device; restart the MPS server; match driver and runtime"),
        ),
        guide="guides/inputs-and-devices.md#no-gpu-visible",
        next_tool="check_environment",
        matches=(
            quoted(
                "RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable",
                "CUDA runtime text",
            ),
            quoted("CUDA_ERROR_SYSTEM_NOT_READY", "names of the CUDA driver"),
        ),
        neighbours=(
            quoted("CUDA error: operation not permitted when stream is capturing", "a capture"),
            quoted("CUDA error: operation not supported on global/shared address space", "a fault"),
            quoted("mv: cannot move: Operation not permitted", "another failure"),
        ),
        apart_from=("cuda_graph_capture", "cuda_illegal_memory_access", "no_kernel_image"),
    ),
    Signature(
        id="cuda_error_other",
        family="I",
        phase="run",
        category="kernel_resources",
        role="symptom",
        weight=12,
        confidence="possible",
        anchors=(
            "CUDA error: ",
            "CUDA driver error: ",
            "Triton Error [",
            "HIP error: ",
            "cuda runtime error (",
            "CUDA_ERROR_",
            "cudaError",
            "hipError",
        ),
        patterns=(
            (
                r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}?"
                r"(?P<what>(?:CUDA (?:driver )?error|HIP error|Triton Error \[\w{2,6}\]): "
                r"(?!CU[A-Z]{2,6}_STATUS)(?!.{0,40}out of memory).{1,120}|cuda runtime error "
                r"\(\d{1,20}\) ?:.{1,120}|\bCUDA_ERROR_[A-Z_]{3,60}|\bcudaError[A-Z]\w{3,60}"
                r"|\bhipError[A-Z]\w{3,60})"
            ),
        ),
        summary="The GPU's runtime refused a call: {what}",
        means=(
            "A status of the CUDA or HIP runtime that says little by itself. It may belong to an "
            "earlier, asynchronous call."
        ),
        check="The first GPU message of the process; CUDA_LAUNCH_BLOCKING=1 to see whose it is",
        fixes=(fix("Look the status up in the runtime's manual; check sizes, device and driver"),),
        guide="guides/cuda-illegal-memory-access.md#launch-failures-and-resources",
        next_tool="triage",
        matches=(
            quoted("RuntimeError: CUDA error: invalid pitch argument", "CUDA runtime text"),
            quoted("RuntimeError: Triton Error [HIP]:  Code: 98", "form of Triton's HIP launcher"),
        ),
    ),
)
