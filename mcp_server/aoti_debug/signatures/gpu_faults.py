"""What CUDA and its tools say of a kernel that failed, and what fails because of that."""

from __future__ import annotations

from aoti_debug.facts.categories import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
    Signature(
        id="cuda_error_other",
        phase="run",
        category="kernel_resources",
        role="symptom",
        tier=Tier.NOTICE,
        confidence="possible",
        anchors=("CUDA error: ",),
        patterns=(
            (
                r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}?(?P<what>CUDA (?:driver )?error: "
                "(?!CU[A-Z]{2,6}_STATUS)(?!.{0,40}out of memory).{1,120})"
            ),
            (
                r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}?(?P<what>HIP error: (?!CU[A-Z]{2,6}"
                "_STATUS)(?!.{0,40}out of memory).{1,120})"
            ),
            (
                r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}?(?P<what>Triton Error \[\w{2,6}\]: "
                "(?!CU[A-Z]{2,6}_STATUS)(?!.{0,40}out of memory).{1,120})"
            ),
            (
                r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}?(?P<what>cuda runtime error \(\d{1,20}\) "
                "?:.{1,120})"
            ),
            r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}?(?P<what>\bCUDA_ERROR_[A-Z_]{3,60})",
            r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}?(?P<what>\bcudaError[A-Z]\w{3,60})",
            r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}?(?P<what>\bhipError[A-Z]\w{3,60})",
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
            words("torch/testing/_internal/common_methods_invocations.py", "HIP error: x"),
            words("programs that were not at hand", "cuda runtime error (1):x"),
            words("torch/profiler/_cupti_monitor.py", "CUDA_ERROR_AAA"),
            words("torch/cuda/__init__.py", "cudaErrorAxxx"),
            words("torch/utils/hipify/cuda_to_hip_mappings.py", "hipErrorAxxx"),
        ),
    ),
    Signature(
        id="cuda_illegal_memory_access",
        phase="run",
        category="illegal_memory_access",
        tier=Tier.GENERAL_TEXT,
        patterns=(
            (
                "^(?!Failed to (?:destroy|free|unload|run autotuning)).{0,4000}an illegal memory "
                "access was encountered"
            ),
            (
                "^(?!Failed to (?:destroy|free|unload|run autotuning)).{0,4000}operation not "
                "supported on global/shared address space"
            ),
            "^(?!Failed to (?:destroy|free|unload|run autotuning)).{0,4000}cudaErrorIllegalAddress",
            (
                "^(?!Failed to (?:destroy|free|unload|run autotuning)).{0,4000}"
                "cudaErrorInvalidAddressSpace"
            ),
            (
                "^(?!Failed to (?:destroy|free|unload|run autotuning)).{0,4000}"
                "CUDA_ERROR_ILLEGAL_ADDRESS"
            ),
            (
                "^(?!Failed to (?:destroy|free|unload|run autotuning)).{0,4000}"
                "CUDA_ERROR_INVALID_ADDRESS_SPACE"
            ),
        ),
        summary="A GPU kernel read or wrote an address that it may not touch",
        means=(
            "Some kernel launched earlier in this process left its tensors; the call that reports "
            "it is usually innocent. A violated input contract, a host pointer, int32 overflow or "
            "a faulty user kernel are the usual reasons, and the same bug may give the address "
            "space text on the next run."
        ),
        check="AOTI_RUNTIME_CHECK_INPUTS=1 on the same call; then a core dump for the kernel's name",
        fixes=(
            fix(
                (
                    "Run the captured call once with AOTI_RUNTIME_CHECK_INPUTS=1 and once through "
                    "ep.module()"
                ),
                why=(
                    "a violated input contract is the most frequent reason, and both checks are "
                    "free of a recompile"
                ),
            ),
            fix(
                (
                    "Take a CUDA core dump (CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1) to get the kernel "
                    "and its line"
                ),
                why="the Python traceback shows a later call, not the faulty one",
            ),
        ),
        guide="guides/cuda-illegal-memory-access.md#the-first-gpu-message-wins",
        next_tool="triage",
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
                "Search for `cudaErrorIllegalAddress' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html",
                "torch 2.11, H200",
            ),
            quoted(
                "RuntimeError: Triton Error [CUDA]: an illegal memory access was encountered",
                "Triton launcher form",
            ),
            recorded(
                "torch.AcceleratorError: CUDA error: operation not supported on global/shared address space",
                "torch 2.11, H200, a user Triton kernel",
            ),
            recorded(
                "Search for `cudaErrorInvalidAddressSpace' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html"
            ),
            words(
                "torch/utils/hipify/cuda_to_hip_mappings.py",
                "CUDA_ERROR_ILLEGAL_ADDRESS",
                "CUDA_ERROR_INVALID_ADDRESS_SPACE",
            ),
        ),
        apart_from=(
            "aftermath_cleanup",
            "gpu_exception_dump",
        ),
    ),
    Signature(
        id="cuda_invalid_argument",
        phase="run",
        category="kernel_resources",
        tier=Tier.VAGUE_TEXT,
        confidence="possible",
        patterns=(
            "hipErrorInvalidValue",
            "HIP error: invalid argument",
            r"\[HIP\]:  Code: 1,",
            r"error \(11?\) : invalid argument",
            "^(?!Failed to run autotuning).{0,4000}CUDA (?:driver )?error: invalid argument",
            r"^(?!Failed to run autotuning).{0,4000}Triton Error \[CUDA\]: invalid argument",
            "^(?!Failed to run autotuning).{0,4000}cudaErrorInvalidValue",
            "^(?!Failed to run autotuning).{0,4000}CUDA_ERROR_INVALID_VALUE",
        ),
        summary="A CUDA call was given an argument it does not accept",
        means=(
            "In a compiled model this is nearly always a kernel launch whose grid is zero or "
            "beyond the limit, or a pointer of another device. At load time it points to a package "
            "made for another device or with missing constants."
        ),
        check="CUDA_LOG_FILE=FILE (CUDA 12.9 and later) writes which argument was refused",
        fixes=(fix("Check the sizes of the failing call for empty or very large dimensions"),),
        guide="guides/cuda-illegal-memory-access.md#launch-failures-and-resources",
        next_tool="triage",
        matches=(
            quoted("Error: CUDA error: invalid argument", "pytorch/torchchat#709"),
            quoted("RuntimeError: Triton Error [CUDA]: invalid argument", "pytorch/pytorch#145984"),
            quoted("RuntimeError: HIP error: invalid argument", "words of the HIP runtime"),
            words(
                "torch/utils/hipify/cuda_to_hip_mappings.py",
                "hipErrorInvalidValue",
                "CUDA_ERROR_INVALID_VALUE",
            ),
            words(
                "programs that were not at hand", "[HIP]:  Code: 1,", "error (1) : invalid argument"
            ),
            words("torch/cuda/_graph_annotations.py", "cudaErrorInvalidValue"),
        ),
        apart_from=("autotune_invalid_argument",),
    ),
    Signature(
        id="cuda_launch_failure",
        phase="run",
        category="illegal_memory_access",
        tier=Tier.BROAD_TEXT,
        patterns=(
            "^(?!Failed to (?:destroy|free|unload)).{0,4000}unspecified launch failure",
            "^(?!Failed to (?:destroy|free|unload)).{0,4000}cudaErrorLaunchFailure",
            "^(?!Failed to (?:destroy|free|unload)).{0,4000}CUDA_ERROR_LAUNCH_FAILED",
            "^(?!Failed to (?:destroy|free|unload)).{0,4000}an illegal instruction was encountered",
            "^(?!Failed to (?:destroy|free|unload)).{0,4000}cudaErrorIllegalInstruction",
            "^(?!Failed to (?:destroy|free|unload)).{0,4000}invalid program counter",
            "^(?!Failed to (?:destroy|free|unload)).{0,4000}hardware stack error",
            "^(?!Failed to (?:destroy|free|unload)).{0,4000}CUDA_ERROR_ILLEGAL_INSTRUCTION",
            "^(?!Failed to (?:destroy|free|unload)).{0,4000}cudaErrorInvalidPc",
            "^(?!Failed to (?:destroy|free|unload)).{0,4000}CUDA_ERROR_INVALID_PC",
            "^(?!Failed to (?:destroy|free|unload)).{0,4000}cudaErrorHardwareStackError",
            "^(?!Failed to (?:destroy|free|unload)).{0,4000}CUDA_ERROR_HARDWARE_STACK",
            "^(?!Failed to (?:destroy|free|unload)).{0,4000}hipErrorLaunchFailure",
            "^(?!Failed to (?:destroy|free|unload)).{0,4000}tensor memory not completely freed",
            "^(?!Failed to (?:destroy|free|unload)).{0,4000}cudaErrorTensorMemoryLeak",
        ),
        summary="A GPU kernel died without a precise reason",
        means=(
            "The kernel faulted in a way the runtime does not classify; most often an invalid "
            "access, in shared memory too. Under compute-sanitizer this is the normal end after "
            "its report."
        ),
        check="If compute-sanitizer ran, read its first report; otherwise take a core dump",
        fixes=(
            fix(
                (
                    "Take a CUDA core dump (CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1) to get the kernel "
                    "and its line"
                ),
                why="the Python traceback shows a later call, not the faulty one",
            ),
        ),
        guide="guides/cuda-illegal-memory-access.md#launch-failures-and-resources",
        next_tool="triage",
        matches=(
            recorded(
                "  what():  CUDA error: unspecified launch failure",
                "torch 2.11 under compute-sanitizer, H200",
            ),
            recorded(
                "Search for `cudaErrorLaunchFailure' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html"
            ),
            quoted(
                "RuntimeError: CUDA error: an illegal instruction was encountered",
                "common form in public threads",
            ),
            words(
                "torch/utils/hipify/cuda_to_hip_mappings.py",
                "CUDA_ERROR_LAUNCH_FAILED",
                "cudaErrorIllegalInstruction",
                "CUDA_ERROR_ILLEGAL_INSTRUCTION",
                "cudaErrorInvalidPc",
                "CUDA_ERROR_INVALID_PC",
                "cudaErrorHardwareStackError",
                "CUDA_ERROR_HARDWARE_STACK",
                "hipErrorLaunchFailure",
            ),
            words(
                "CUDA",
                "invalid program counter",
                "hardware stack error",
                "tensor memory not completely freed",
                "cudaErrorTensorMemoryLeak",
            ),
        ),
        neighbours=(quoted("CUDA error: too many resources requested for launch"),),
        apart_from=("host_illegal_instruction",),
    ),
    Signature(
        id="cuda_launch_resources",
        phase="run",
        category="kernel_resources",
        tier=Tier.KIND_TEXT,
        patterns=(
            "(?P<text>too many resources requested for launch)",
            "(?P<text>cudaErrorLaunchOutOfResources)",
            "(?P<text>CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)",
            "(?P<text>invalid configuration argument)",
            "(?P<text>cudaErrorInvalidConfiguration)",
            "(?P<text>too many blocks in cooperative launch)",
            "(?P<text>cudaErrorCooperativeLaunchTooLarge)",
            "(?P<text>CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)",
            "(?P<text>hipErrorInvalidConfiguration)",
            "(?P<text>cluster misconfiguration)",
            "(?P<text>Cluster target block not present)",
            "(?P<text>limit is not supported on this architecture)",
            "(?P<text>exceeds maximum grid size)",
        ),
        summary="The GPU refused to launch a kernel: {text}",
        means=(
            "Grid, block, registers or shared memory exceed what the device allows, or a dimension "
            "of the grid is zero. The kernel did not run, so nothing was corrupted."
        ),
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
        matches=(
            quoted(
                "RuntimeError: CUDA error: too many resources requested for launch",
                "common form in public threads",
            ),
            quoted(
                "RuntimeError: CUDA error: invalid configuration argument",
                "common form in public threads",
            ),
            words(
                "torch/utils/hipify/cuda_to_hip_mappings.py",
                "cudaErrorLaunchOutOfResources",
                "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
                "hipErrorInvalidConfiguration",
            ),
            words("torch/_native/ops/norm/rmsnorm_impl.py", "cudaErrorInvalidConfiguration"),
            words(
                "CUDA",
                "too many blocks in cooperative launch",
                "cudaErrorCooperativeLaunchTooLarge",
                "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
                "cluster misconfiguration",
                "limit is not supported on this architecture",
            ),
            words(
                "programs that were not at hand",
                "Cluster target block not present",
                "exceeds maximum grid size",
            ),
        ),
        neighbours=(
            quoted(
                "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 131072, Hardware limit: 101376."
            ),
        ),
    ),
    Signature(
        id="cuda_launch_timeout",
        phase="hang",
        category="hang",
        tier=Tier.KIND_TEXT,
        patterns=(
            "the launch timed out and was terminated",
            "cudaErrorLaunchTimeout",
            "CUDA_ERROR_LAUNCH_TIMEOUT",
        ),
        summary="A GPU kernel ran longer than the display watchdog allows",
        means=(
            "The kernel never ended or is far too slow; GPUs that drive a display (and Windows) "
            "stop it after a few seconds."
        ),
        check="Does the same input end on a GPU without a display?",
        fixes=(
            fix(
                (
                    "Look for a loop in a user kernel whose bound is data; shrink the problem; run "
                    "on a compute-only GPU"
                ),
            ),
        ),
        guide="guides/threads-streams-hangs.md#kernels-that-never-end",
        next_tool="triage",
        matches=(
            quoted(
                "RuntimeError: CUDA error: the launch timed out and was terminated",
                "common form in public threads",
            ),
            words(
                "torch/utils/hipify/cuda_to_hip_mappings.py",
                "cudaErrorLaunchTimeout",
                "CUDA_ERROR_LAUNCH_TIMEOUT",
            ),
        ),
    ),
    Signature(
        id="cuda_misaligned_address",
        phase="run",
        category="misaligned_address",
        tier=Tier.KIND_TEXT,
        patterns=(
            "CUDA error: misaligned address",
            "CUDA driver error: misaligned address",
            r"\[CUDA\]: misaligned address",
            "cudaErrorMisalignedAddress",
            "CUDA_ERROR_MISALIGNED_ADDRESS",
            "CUDBG_EXCEPTION_WARP_MISALIGNED_ADDRESS",
            "CUDA Exception: Warp Misaligned Address",
            r"^={1,40}\s{1,20}Address 0x[0-9a-f]{1,200} is misaligned",
            r"^={1,40}\s{1,20}Access to 0x[0-9a-f]{1,200} is misaligned",
        ),
        summary="A GPU kernel made a vector access to an address that is not a multiple of its width",
        means=(
            "Kernels are compiled for 16-byte aligned inputs. A view with an odd storage offset, a "
            "custom op's output or a user kernel with a wrong tl.multiple_of hint breaks that."
        ),
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
        matches=(
            quoted("RuntimeError: CUDA error: misaligned address", "pytorch/pytorch#141891"),
            quoted("CUDA Exception: Warp Misaligned Address", "cuda-gdb manual"),
            quoted(
                "=========     Address 0x7f2a5a400003 is misaligned", "compute-sanitizer manual"
            ),
            words(
                "programs that were not at hand",
                "CUDA driver error: misaligned address",
                "[CUDA]: misaligned address",
                "CUDBG_EXCEPTION_WARP_MISALIGNED_ADDRESS",
            ),
            words(
                "torch/utils/hipify/cuda_to_hip_mappings.py",
                "cudaErrorMisalignedAddress",
                "CUDA_ERROR_MISALIGNED_ADDRESS",
            ),
            words("torch/distributed/tensor/_redistribute.py", "= Access to 0x1 is misaligned"),
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
        id="cuda_not_permitted",
        phase="run",
        category="device_unavailable",
        tier=Tier.BROAD_TEXT,
        confidence="possible",
        patterns=(
            "(?i:cuda|hip|triton).{0,120}(?P<what>busy or unavailable)",
            "(?i:cuda|hip|triton).{0,120}(?P<what>exclusive-thread device already in use)",
            "(?i:cuda|hip|triton).{0,120}(?P<what>peer access is (?:not|already))",
            "(?i:cuda|hip|triton).{0,120}(?P<what>peer access has (?:not|already))",
            "(?i:cuda|hip|triton).{0,120}(?P<what>too many peers)",
            "(?i:cuda|hip|triton).{0,120}(?P<what>operation not supported(?! on global))",
            (
                "(?i:cuda|hip|triton).{0,120}(?P<what>operation not permitted(?! (?:when|on an "
                "event)))"
            ),
            "(?i:cuda|hip|triton).{0,120}(?P<what>system not yet initialized)",
            "(?i:cuda|hip|triton).{0,120}(?P<what>system has unsupported display driver)",
            "(?i:cuda|hip|triton).{0,120}(?P<what>forward compatibility was attempted)",
            "(?i:cuda|hip|triton).{0,120}(?P<what>MPS client)",
            "(?i:cuda|hip|triton).{0,120}(?P<what>MPS server)",
            "(?i:cuda|hip|triton).{0,120}(?P<what>OS call failed or operation not supported)",
            "(?i:cuda|hip|triton).{0,120}(?P<what>device doesn't have valid Grid license)",
            "(?i:cuda|hip|triton).{0,120}(?P<what>driver is a stub library)",
            (
                r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}?(?P<what>cudaError(?:DevicesUnavailable|"
                "NotSupported|NotPermitted|System(?:NotReady|DriverMismatch)|"
                r"CompatNotSupportedOnDevice|Mps\w{1,200}|PeerAccess\w{1,200}|NoDevice|"
                r"InvalidDevice\b|InitializationError)|CUDA_ERROR_(?:NO_DEVICE|INVALID_DEVICE|"
                r"SYSTEM_\w{1,200}|MPS_\w{1,200}|NOT_SUPPORTED|NOT_PERMITTED|"
                r"COMPAT_NOT_SUPPORTED\w{0,200}|PEER_ACCESS_\w{1,200}|STUB_LIBRARY|"
                "DEVICE_UNAVAILABLE)|hipError(?:NoDevice|InvalidDevice|NotSupported))"
            ),
        ),
        summary="The GPU or its driver refuses this process: {what}",
        means=(
            "The device is taken, shared through MPS, virtual, without peer access, or its driver "
            "does not fit the runtime. The model has no part in it."
        ),
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
            words(
                "CUDA",
                "cudaexclusive-thread device already in use",
                "cudapeer access has not",
                "cudasystem not yet initialized",
                "cudasystem has unsupported display driver",
                "cudaforward compatibility was attempted",
                "cudaMPS client",
                "cudaMPS server",
                "cudaOS call failed or operation not supported",
                "cudadevice doesn't have valid Grid license",
                "cudadriver is a stub library",
            ),
            words("c10/xpu/PeerToPeerAccess.h", "cudapeer access is not"),
            words("programs that were not at hand", "cudatoo many peers"),
            words("libtorch", "cudaoperation not permitted"),
        ),
        neighbours=(
            quoted("CUDA error: operation not permitted when stream is capturing", "a capture"),
            quoted("CUDA error: operation not supported on global/shared address space", "a fault"),
            quoted("mv: cannot move: Operation not permitted", "another failure"),
        ),
        apart_from=(
            "cuda_graph_capture",
            "cuda_illegal_memory_access",
            "no_kernel_image",
        ),
    ),
    Signature(
        id="cuda_wrong_context",
        phase="run",
        category="concurrency",
        tier=Tier.GENERAL_TEXT,
        confidence="possible",
        patterns=(
            "depend on a capturing blocking stream",
            "merge of separate capture sequences",
            "capturing stream has unjoined work",
            "capture was not ended in the same stream",
            "dependency created on uncaptured work",
            "last recorded in a capturing stream",
            "(?:CUDA|HIP|cuda|Triton).{0,80}invalid resource handle",
            "(?:CUDA|HIP|cuda|Triton).{0,80}context is destroyed",
            "(?:CUDA|HIP|cuda|Triton).{0,80}driver shutting down",
            "(?:CUDA|HIP|cuda|Triton).{0,80}invalid device context",
            "(?:CUDA|HIP|cuda|Triton).{0,80}primary context for the specified device",
            "(?:CUDA|HIP|cuda|Triton).{0,80}cannot set while device is active",
            "(?:CUDA|HIP|cuda|Triton).{0,80}graph update was not performed",
            r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}cudaErrorInvalidResourceHandle",
            r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}CUDA_ERROR_INVALID_HANDLE",
            r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}hipErrorInvalidHandle",
            r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}CUDA_ERROR_CONTEXT_IS_DESTROYED",
            r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}cudaErrorContextIsDestroyed",
            r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}CUDA_ERROR_DEINITIALIZED",
            r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}cudaErrorCudartUnloading",
            r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}CUDA_ERROR_INVALID_CONTEXT",
            r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}cudaErrorDeviceUninitialized",
            r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}cudaErrorGraphExecUpdateFailure",
            (
                r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}accessing tensor output of CUDAGraphs that "
                "has been overwritten"
            ),
            r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}Running CUDAGraph after shutdown",
            r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}CUDA_ERROR_NOT_INITIALIZED",
        ),
        summary="A stream, event or context is used where it does not belong or no longer exists",
        means=(
            "Handles are valid in the context that made them: another device, another thread "
            "without a current context, a forked process, or the end of the process."
        ),
        check="Do stream and inputs belong to the device that the model was loaded for?",
        fixes=(
            fix("Set the device before the call (torch.cuda.set_device, DeviceGuard)"),
            fix(
                "Delete the model before the process ends; clone outputs kept across graph replays",
            ),
        ),
        guide="guides/threads-streams-hangs.md#streams-inside-the-model",
        next_tool="triage",
        matches=(
            quoted("RuntimeError: CUDA error: invalid resource handle", "CUDA runtime text"),
            quoted(
                "Error: accessing tensor output of CUDAGraphs that has been overwritten by a subsequent run.",
                "words of torch's CUDA graph trees",
            ),
            words(
                "CUDA",
                "depend on a capturing blocking stream",
                "merge of separate capture sequences",
                "capturing stream has unjoined work",
                "capture was not ended in the same stream",
                "dependency created on uncaptured work",
                "last recorded in a capturing stream",
                "CUDAdriver shutting down",
                "CUDAinvalid device context",
                "CUDAprimary context for the specified device",
                "CUDAcannot set while device is active",
                "CUDAgraph update was not performed",
                "cudaErrorDeviceUninitialized",
                "cudaErrorGraphExecUpdateFailure",
            ),
            words("torch/distributed/checkpoint/_state_dict_stager.py", "CUDAcontext is destroyed"),
            words(
                "torch/utils/hipify/cuda_to_hip_mappings.py",
                "cudaErrorInvalidResourceHandle",
                "CUDA_ERROR_INVALID_HANDLE",
                "CUDA_ERROR_CONTEXT_IS_DESTROYED",
                "cudaErrorContextIsDestroyed",
                "CUDA_ERROR_DEINITIALIZED",
                "cudaErrorCudartUnloading",
                "CUDA_ERROR_INVALID_CONTEXT",
            ),
            words("triton", "hipErrorInvalidHandle"),
            words("torch/_inductor/cudagraph_trees.py", "Running CUDAGraph after shutdown"),
            words("torch/profiler/_cupti_monitor.py", "CUDA_ERROR_NOT_INITIALIZED"),
        ),
    ),
    Signature(
        id="gpu_hardware_error",
        phase="run",
        category="device_unavailable",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "(?P<text>uncorrectable (?:NVLink |ECC )?(?:ECC )?error encountered)",
            "(?P<text>cudaErrorECCUncorrectable)",
            "(?P<text>Invalid access of peer GPU memory over nvlink)",
            "(?P<text>GPU has fallen off the bus)",
            "(?P<text>NVRM: Xid [^:]{0,40})",
            "(?P<text>CUDA (?:driver )?error: unknown error)",
            "(?P<text>Unable to determine the device handle)",
            "(?P<text>CUDA_ERROR_UNKNOWN)",
            "(?P<text>an exception occurred on the device that was contained)",
            "(?P<text>cudaErrorContained)",
            "(?P<text>CUDA_ERROR_CONTAINED)",
            "(?P<text>NVLink error was detected)",
            "(?P<text>cudaError(?:Nvlink|Unknown))",
            "(?P<text>CUDA_ERROR_NVLINK_UNCORRECTABLE)",
            "(?P<text>CUDA_ERROR_ECC_UNCORRECTABLE)",
            "(?P<text>UR_RESULT_ERROR_DEVICE_LOST)",
        ),
        summary="The GPU or its driver failed: {text}",
        means=(
            "The device itself reported the error; the model is not the reason until another GPU "
            "shows the same."
        ),
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
            words(
                "torch/utils/hipify/cuda_to_hip_mappings.py",
                "cudaErrorECCUncorrectable",
                "CUDA_ERROR_UNKNOWN",
                "CUDA_ERROR_NVLINK_UNCORRECTABLE",
                "CUDA_ERROR_ECC_UNCORRECTABLE",
            ),
            words(
                "CUDA",
                "Invalid access of peer GPU memory over nvlink",
                "cudaErrorContained",
                "CUDA_ERROR_CONTAINED",
                "NVLink error was detected",
            ),
            words(
                "programs that were not at hand",
                "GPU has fallen off the bus",
                "NVRM: Xid ",
                "Unable to determine the device handle",
                "an exception occurred on the device that was contained",
                "UR_RESULT_ERROR_DEVICE_LOST",
            ),
            words("torch/cuda/__init__.py", "cudaErrorNvlink"),
        ),
    ),
    Signature(
        id="aftermath_cleanup",
        phase="run",
        category="illegal_memory_access",
        role="aftermath",
        tier=Tier.VAGUE_TEXT,
        confidence="possible",
        patterns=(
            "Failed to destroy CUDA event in AOTInductor model[^:]{0,40}:? ?(?P<text>.{0,80})",
            "Failed to free GPU memory in AOTInductor model[^:]{0,40}:? ?(?P<text>.{0,80})",
            "Failed to unload CUDA module in AOTInductor model[^:]{0,40}:? ?(?P<text>.{0,80})",
        ),
        summary="Clean-up of the model failed because the CUDA context was already lost ({text})",
        means=(
            "Printed while the model is destroyed after a GPU fault. The text repeats the first "
            "error."
        ),
        check="The first GPU message of the process",
        guide="guides/cuda-illegal-memory-access.md#the-process-is-lost",
        next_tool="triage",
        matches=(
            recorded(
                "Failed to destroy CUDA event in AOTInductor model: device-side assert triggered",
                "torch 2.11, H200",
            ),
            recorded(
                "Failed to destroy CUDA event in AOTInductor model: an illegal memory access was encountered",
                "torch 2.11, H200",
            ),
            words(
                "torch/csrc/inductor/aoti_runtime/model_base.h",
                "Failed to free GPU memory in AOTInductor modelx",
                "Failed to unload CUDA module in AOTInductor modelx",
            ),
        ),
    ),
    Signature(
        id="aftermath_cuda_library",
        phase="run",
        category="illegal_memory_access",
        role="aftermath",
        tier=Tier.BROAD_TEXT,
        confidence="possible",
        patterns=(
            (
                "(?P<status>CUBLAS_STATUS_(?:INTERNAL_ERROR|NOT_INITIALIZED|EXECUTION_FAILED|"
                "MAPPING_ERROR)|CUDNN_STATUS_(?:INTERNAL_ERROR(?!_HOST|_DEVICE)|"
                r"EXECUTION_FAILED\w{0,20}|MAPPING_ERROR|NOT_INITIALIZED)|"
                "CUSOLVER_STATUS_(?:INTERNAL_ERROR|EXECUTION_FAILED|NOT_INITIALIZED)|"
                "CUSPARSE_STATUS_(?:INTERNAL_ERROR|EXECUTION_FAILED|NOT_INITIALIZED)|"
                "CUFFT_(?:INTERNAL_ERROR|EXEC_FAILED)|CURAND_STATUS_(?:LAUNCH_FAILURE|"
                "INTERNAL_ERROR|PREEXISTING_FAILURE)|(?:rocblas|hipblas|HIPBLAS)"
                "_STATUS_(?:INTERNAL_ERROR|EXECUTION_FAILED)|rocblas_status_internal_error|"
                "miopenStatus(?:InternalError|UnknownError))"
            ),
        ),
        summary=(
            "{status}: a library call failed on a CUDA context that an earlier fault had already "
            "broken"
        ),
        means=(
            "The library is the first to notice, not the culprit. Look for an assert, an illegal "
            "access or full memory before this line."
        ),
        check="Does a fresh process that only runs the matrix product succeed?",
        fixes=(
            fix(
                (
                    "Find the first GPU message of the process; restart the process before trying "
                    "anything else"
                ),
            ),
        ),
        guide="guides/cuda-illegal-memory-access.md#the-first-gpu-message-wins",
        next_tool="triage",
        matches=(
            recorded(
                "in aoti_torch: CUDA error: CUBLAS_STATUS_INTERNAL_ERROR",
                "after a device assert, H200",
            ),
        ),
        neighbours=(
            quoted(
                "CUBLAS_STATUS_NOT_SUPPORTED when calling cublasLtMatmul",
                "an unsupported shape or type",
            ),
        ),
        apart_from=("cuda_out_of_memory",),
    ),
    Signature(
        id="aftermath_rng_state",
        phase="autotune",
        category="illegal_memory_access",
        role="aftermath",
        tier=Tier.VAGUE_TEXT,
        confidence="possible",
        patterns=(
            r"torch\.cuda\.set_rng_state\(cuda_rng_state\)",
            r"default_generator\.set_state\(new_state\)",
        ),
        summary=(
            "Restoring the random state failed because a kernel had faulted while the model was "
            "being compiled"
        ),
        means=(
            "Inductor saves and restores the random state around a compile, so a fault during "
            "autotuning surfaces here. The failing kernel is one that was benchmarked before."
        ),
        check="Core dump on exception names the kernel without another compile",
        fixes=(fix("Look at user Triton kernels first: autotuning runs them on made-up data"),),
        guide="guides/cuda-illegal-memory-access.md#a-fault-while-compiling",
        next_tool="triage",
        matches=(
            recorded(
                "    torch.cuda.set_rng_state(cuda_rng_state)  # type: ignore[possibly-undefined]",
                "torch 2.11, H200",
            ),
            recorded("    default_generator.set_state(new_state)", "torch 2.11, H200"),
        ),
    ),
    Signature(
        id="compile_time_gpu_fault",
        phase="autotune",
        category="illegal_memory_access",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            (
                "InductorError: (?:AcceleratorError|RuntimeError): (?:CUDA error|Triton Error "
                r"\[CUDA\]): (?P<text>an illegal memory access was encountered)"
            ),
            (
                "InductorError: (?:AcceleratorError|RuntimeError): (?:CUDA error|Triton Error "
                r"\[CUDA\]): (?P<text>operation not supported on global/shared address space)"
            ),
            (
                "InductorError: (?:AcceleratorError|RuntimeError): (?:CUDA error|Triton Error "
                r"\[CUDA\]): (?P<text>unspecified launch failure)"
            ),
        ),
        summary="A kernel faulted while the model was being compiled: {text}",
        means=(
            "Inductor runs kernels to tune them, so a faulty kernel, most often a user Triton "
            "kernel, kills the compile. No package exists yet, and printer and input checks cannot "
            "act."
        ),
        check="A core dump on exception names kernel and line in the same run",
        fixes=(
            fix("Correct the kernel that the core dump names"),
            fix(
                (
                    "To see whether tuning data is to blame, compile with "
                    "TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0"
                ),
            ),
        ),
        guide="guides/cuda-illegal-memory-access.md#a-fault-while-compiling",
        next_tool="triage",
        matches=(
            recorded(
                "torch._inductor.exc.InductorError: AcceleratorError: CUDA error: operation not supported on global/shared address space",
                "torch 2.11, H200",
            ),
            recorded(
                "torch._inductor.exc.InductorError: AcceleratorError: CUDA error: an illegal memory access was encountered",
                "torch 2.11, H200",
            ),
            words(
                "torch/testing/_internal/common_methods_invocations.py",
                "InductorError: AcceleratorError: CUDA error: unspecified launch failure",
            ),
        ),
        apart_from=("cuda_illegal_memory_access",),
    ),
    Signature(
        id="device_assert_triggered",
        phase="run",
        category="index_out_of_bounds",
        role="symptom",
        tier=Tier.KIND_TEXT,
        patterns=(
            (
                "^(?!Failed to (?:destroy|free|unload|run autotuning)).{0,4000}device-side assert "
                "triggered"
            ),
            r"^(?!Failed to (?:destroy|free|unload|run autotuning)).{0,4000}cudaErrorAssert\b",
            "^(?!Failed to (?:destroy|free|unload|run autotuning)).{0,4000}CUDA_ERROR_ASSERT",
        ),
        summary=(
            "An assertion inside a GPU kernel failed; the assertion line itself is printed on "
            "stderr before this"
        ),
        means=(
            "This is the sticky error that every CUDA call returns after a kernel assert. In "
            "compiled models the assert is nearly always an index check."
        ),
        check=(
            "Look for `Assertion ... failed` earlier on stderr; if it is missing, run again with "
            "stderr kept"
        ),
        fixes=(fix("Find the first `Assertion` line: it names kernel, line and bound"),),
        guide="guides/triton-index-out-of-bounds.md#errors-that-follow-an-assert",
        next_tool="triage",
        matches=(
            recorded("Error: CUDA driver error: device-side assert triggered", "torch 2.11, H200"),
            recorded("  what():  CUDA error: device-side assert triggered", "torch 2.11, H200"),
            recorded(
                "torch.AcceleratorError: CUDA error: device-side assert triggered",
                "torch 2.11, H200",
            ),
            words(
                "torch/utils/hipify/cuda_to_hip_mappings.py", "cudaErrorAssert", "CUDA_ERROR_ASSERT"
            ),
        ),
        neighbours=(
            recorded(
                "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",
                "a hint that every CUDA error carries",
            ),
        ),
        apart_from=("aftermath_cleanup",),
    ),
    Signature(
        id="gpu_library_mismatch",
        phase="run",
        category="toolchain",
        tier=Tier.KIND_TEXT,
        patterns=(
            "(?P<what>cuDNN version incompatibility)",
            r"(?P<what>CUDNN_STATUS_SUBLIBRARY_\w{1,40})",
            "(?P<what>CUDNN_STATUS_VERSION_MISMATCH)",
            "(?P<what>CUDNN_STATUS_(?:NOT_SUPPORTED_)?RUNTIME_PREREQUISITE_MISSING)",
            "(?P<what>Failed to import CUTLASS lib)",
            "(?P<what>compiled against an incompatible cuDNN)",
            "(?P<what>CUDART_VERSION mismatch)",
        ),
        summary="A CUDA library is missing or of another release than torch was built with: {what}",
        means=(
            "Another copy of the library comes first on LD_LIBRARY_PATH, or only a part of it is "
            "installed."
        ),
        check="ldd and LD_LIBRARY_PATH; pip list | grep nvidia",
        fixes=(
            fix("Take other CUDA libraries off LD_LIBRARY_PATH; reinstall torch with its wheels"),
        ),
        guide="guides/toolchain.md#cuda-toolkit",
        next_tool="check_environment",
        matches=(
            quoted(
                "RuntimeError: cuDNN version incompatibility: PyTorch was compiled against (9, 1, 0) but found runtime version (8, 9, 2).",
                "words of torch/backends/cudnn",
            ),
            words(
                "programs that were not at hand",
                "CUDNN_STATUS_SUBLIBRARY_x",
                "CUDNN_STATUS_VERSION_MISMATCH",
                "CUDNN_STATUS_RUNTIME_PREREQUISITE_MISSING",
                "compiled against an incompatible cuDNN",
                "CUDART_VERSION mismatch",
            ),
            words("torch/_inductor/utils.py", "Failed to import CUTLASS lib"),
        ),
    ),
    Signature(
        id="library_refused_problem",
        phase="run",
        category="contract_shape",
        role="symptom",
        tier=Tier.BROAD_TEXT,
        confidence="possible",
        anchors=("cutlass error",),
        patterns=(
            "(?P<status>CUBLAS_STATUS_(?:INVALID_VALUE|NOT_SUPPORTED))",
            "(?P<status>CUSPARSE_STATUS_(?:INVALID_VALUE|NOT_SUPPORTED))",
            "(?P<status>CUSOLVER_STATUS_(?:INVALID_VALUE|NOT_SUPPORTED))",
            r"(?P<status>CUDNN_STATUS_BAD_PARAM\w{0,60})",
            r"(?P<status>CUDNN_STATUS_NOT_SUPPORTED\w{0,60})",
            "(?P<status>HIPBLAS_STATUS_NOT_SUPPORTED)",
            "(?P<status>HIPBLAS_STATUS_INVALID_VALUE)",
            "(?P<status>CUFFT_INVALID_SIZE)",
            "(?P<status>miopenStatusBadParm)",
            "(?P<status>kErrorInvalidProblem)",
            "(?P<status>Error Invalid Problem)",
            "(?P<status>cutlass cannot implement)",
            "(?P<status>(?i:cutlass error)[: ].{0,80})",
        ),
        summary="A GPU library does not take this problem: {status}",
        means=(
            "Sizes, strides, alignment or dtype of the tensors are none that the library knows on "
            "this GPU; a library of another release on LD_LIBRARY_PATH answers in the same way."
        ),
        check="Does the same call run eagerly, with contiguous tensors of the exported sizes?",
        fixes=(
            fix("Check sizes and dtypes against the export; pass contiguous tensors"),
            fix("Remove other CUDA libraries from LD_LIBRARY_PATH"),
        ),
        guide="guides/input-contracts.md#sizes-and-rank",
        next_tool="triage",
        matches=(
            quoted(
                "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling `cublasGemmEx(...)`",
                "words of ATen",
            ),
            words(
                "torch/utils/hipify/cuda_to_hip_mappings.py",
                "CUSPARSE_STATUS_INVALID_VALUE",
                "HIPBLAS_STATUS_NOT_SUPPORTED",
                "HIPBLAS_STATUS_INVALID_VALUE",
                "CUFFT_INVALID_SIZE",
            ),
            words(
                "ATen/cuda/Exceptions.h",
                "CUSOLVER_STATUS_INVALID_VALUE",
                "CUDNN_STATUS_NOT_SUPPORTED",
            ),
            words(
                "programs that were not at hand",
                "CUDNN_STATUS_BAD_PARAM",
                "kErrorInvalidProblem",
                "Error Invalid Problem",
                "cutlass cannot implement",
            ),
            words("torch/_meta_registrations.py", "miopenStatusBadParm"),
            words("torch/_inductor/codegen/cutlass/template.py", "cutlass error x"),
        ),
        apart_from=("aftermath_cuda_library",),
    ),
    Signature(
        id="gpu_exception_dump",
        phase="run",
        category="illegal_memory_access",
        tier=Tier.EXACT_TEXT,
        confidence="proved",
        patterns=(
            (
                "coredump: Detected an exception of type CUDBG_EXCEPTION_(?!WARP_ASSERT|"
                r"WARP_MISALIGNED)(?P<type>\w{1,200})"
            ),
            r"CUDA Exception: (?P<type>(?!Warp Assert|Warp Misaligned)[A-Z][\w /-]{3,60})",
        ),
        summary="The GPU stopped on {type}; the stack beside it names the kernel",
        means=(
            "A core dump caught the kernel in the act: this is the kernel that faulted, not a "
            "later one. Its name stands on the `#0` line, and cuda-gdb adds block, thread, file "
            "and line."
        ),
        check="cuda-gdb -batch -ex 'target cudacore FILE' -ex bt",
        fixes=(
            fix(
                (
                    "Open the file and line that the dump names; the index expression there leaves "
                    "its tensor"
                ),
            ),
        ),
        guide="guides/cuda-illegal-memory-access.md#the-road-by-hand",
        next_tool="explain_kernel",
        matches=(
            recorded(
                "[04:51:11.454696] coredump: Detected an exception of type CUDBG_EXCEPTION_WARP_INVALID_ADDRESS_SPACE (7)",
                "H200, driver 580",
            ),
            recorded("CUDA Exception: Warp Invalid Address Space", "H200"),
            recorded("CUDA Exception: Warp Illegal Address", "H200"),
        ),
        neighbours=(
            quoted(
                "[04:51:11.454696] coredump: Detected an exception of type CUDBG_EXCEPTION_WARP_ASSERT (12)"
            ),
            recorded("[04:51:11.449254] coredump: Starting GPU coredump generation"),
            quoted("CUDA Exception: Warp Assert"),
        ),
        apart_from=("cuda_misaligned_address",),
    ),
    Signature(
        id="initcheck_uninitialized",
        phase="run",
        category="wrong_result",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(r"Uninitialized __global__ memory read of size (?P<size>\d{1,20})",),
        summary="A GPU kernel read {size} bytes that nothing had written",
        means=(
            "initcheck found a read of fresh memory, so results depend on what lay there before. "
            "Padding reads that are masked later are a known false alarm."
        ),
        check="Do outputs differ between two replays of the same inputs?",
        fixes=(
            fix(
                (
                    "Look at the producer of that buffer: a custom op that writes less than it "
                    "promises, or torch.empty in the model"
                ),
            ),
        ),
        guide="guides/wrong-results.md#uninitialized-reads",
        next_tool="explain_kernel",
        matches=(
            quoted(
                "========= Uninitialized __global__ memory read of size 4 bytes",
                "compute-sanitizer manual",
            ),
        ),
    ),
    Signature(
        id="memcheck_invalid_access",
        phase="run",
        category="illegal_memory_access",
        tier=Tier.NAMED_TEXT,
        confidence="proved",
        patterns=(
            (
                "={1,40} Invalid __(?P<space>global|shared|local)__ (?P<access>read|write|atomic) "
                r"of size (?P<size>\d{1,20}) bytes?"
            ),
        ),
        summary="compute-sanitizer saw a {access} of {size} bytes outside {space} memory",
        means=(
            "The tool stopped the access itself: the next lines name kernel, file and line, "
            "thread, and how far the address lies from the nearest allocation."
        ),
        check="Expandable segments give false alarms for bulk copies: unset PYTORCH_ALLOC_CONF",
        fixes=(
            fix(
                (
                    "Compare the distance to the nearest allocation with the sizes the package was "
                    "compiled for"
                ),
            ),
        ),
        guide="guides/debugging-tools.md#compute-sanitizer",
        next_tool="explain_kernel",
        matches=(
            recorded(
                "========= Invalid __global__ read of size 16 bytes", "compute-sanitizer 2025, H200"
            ),
            recorded(
                "========= Invalid __global__ write of size 16 bytes",
                "compute-sanitizer 2025, H200",
            ),
        ),
        neighbours=(recorded("========= ERROR SUMMARY: 0 errors"),),
    ),
    Signature(
        id="memory_leak_report",
        phase="run",
        category="performance",
        tier=Tier.KIND_TEXT,
        patterns=(
            "LeakSanitizer: (?P<what>.{1,120})",
            "detected memory leaks",
        ),
        summary="A leak checker reports memory that was never freed",
        means=(
            "Some releases leak small strings when a package is opened; a leak per call is another "
            "matter."
        ),
        check="Does memory grow with the number of calls or only with the number of loads?",
        fixes=(fix("Load once and keep the runner; upgrade from 2.7"),),
        guide="guides/memory-and-time.md#leaks",
        matches=(
            quoted(
                "SUMMARY: LeakSanitizer: 526 byte(s) leaked in 7 allocation(s).",
                "pytorch/pytorch#158614",
            ),
            words("programs that were not at hand", "detected memory leaks"),
        ),
    ),
    Signature(
        id="race_or_barrier_report",
        phase="run",
        category="concurrency",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "={1,40} (?:Error: |Warning: )?(?P<what>Race reported between)",
            "={1,40} (?:Error: |Warning: )?(?P<what>Potential (?:RAW|WAR|WAW) hazard)",
            "={1,40} (?:Error: |Warning: )?(?P<what>Barrier error detected)",
        ),
        summary="compute-sanitizer: {what} inside a GPU kernel",
        means=(
            "Threads of one block use shared memory or a barrier without the order the kernel "
            "needs. For Triton kernels this is a compiler or pipelining bug, for CUDA custom ops a "
            "missing __syncthreads."
        ),
        fixes=(
            fix("Set num_stages=1 for the Triton kernel to see whether it goes away"),
            fix("Add the missing barrier in a CUDA custom op"),
        ),
        guide="guides/threads-streams-hangs.md#shared-memory-races",
        next_tool="explain_kernel",
        matches=(
            quoted(
                "========= Error: Race reported between Write access at 0x200 in addKernel",
                "compute-sanitizer manual",
            ),
            quoted(
                "========= Barrier error detected. Divergent thread(s) in block",
                "compute-sanitizer manual",
            ),
            words("torch/nn/parallel/distributed.py", "= Potential RAW hazard"),
        ),
    ),
    Signature(
        id="sanitizer_unusable",
        phase="environment",
        category="false_alarm",
        tier=Tier.KIND_TEXT,
        patterns=(
            "Internal Sanitizer Error",
            "No attachable process found",
            "Unable to find injection library",
            "terminated before first instrumented API call",
            "={1,40} Error: Device not supported",
            r"fatal:\s{1,20}CUDA",
        ),
        summary="The GPU debugging tool could not do its work here",
        means=(
            "compute-sanitizer or cuda-gdb did not see the kernels: no permission, another driver "
            "version, no GPU call at all, or the host side crashed first."
        ),
        check="Do they run on a ten-line CUDA script?",
        fixes=(
            fix(
                (
                    "For a host crash use gdb or a core file instead; install the tool version "
                    "that fits the driver"
                ),
            ),
        ),
        guide="guides/debugging-tools.md#compute-sanitizer",
        next_tool="check_environment",
        matches=(
            quoted(
                "========= Error: Target application terminated before first instrumented API call",
                "compute-sanitizer manual",
            ),
            words(
                "programs that were not at hand",
                "Internal Sanitizer Error",
                "No attachable process found",
                "Unable to find injection library",
                "= Error: Device not supported",
            ),
            words("programs that were not at hand", "fatal: CUDA"),
        ),
    ),
)
