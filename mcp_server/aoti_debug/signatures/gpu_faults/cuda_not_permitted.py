from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
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
    fixes=(fix("Free or choose another device; restart the MPS server; match driver and runtime"),),
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
)
