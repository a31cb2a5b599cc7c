from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="cuda_out_of_memory",
    family="O",
    phase="run",
    category="out_of_memory",
    weight=74,
    confidence="proved",
    anchors=(
        "out of memory",
        "OutOfMemoryError",
        "cudaErrorMemoryAllocation",
        "CUDA_ERROR_OUT_OF_MEMORY",
        "hipErrorOutOfMemory",
        "Tried to allocate ",
        "Allocation on device",
        "OUT_OF_DEVICE_MEMORY",
        "Invalid buffer size: ",
        "kIOGPUCommandBufferCallbackErrorOutOfMemory",
        "NVML_SUCCESS == r INTERNAL ASSERT FAILED",
        "cuda runtime error (2)",
        "would exceed allowed memory",
        "cudaMalloc failed",
        "Failed to allocate memory on GPU",
    ),
    patterns=(
        (
            r"hipErrorOutOfMemory|Tried to allocate [\d.]{1,200} ?[KMGT]i?B"
            r"|Allocation on device "
            r"(?:\d"
            r"|would)|OUT_OF_DEVICE_MEMORY|Invalid buffer size: [\d.]{1,200} [GT]"
            r"|kIOGPUCommandBuffer"
            r"CallbackErrorOutOfMemory|NVML_SUCCESS == r INTERNAL ASSERT|cuda runtime error "
            r"\(2\)|would exceed allowed memory|cudaMalloc failed|Failed to allocate memory on "
            "GPU|(?i:(?:cuda|hip|gpu|device|vram|npu|xpu|mps)[^.]{0,60}(?:ran |run )?out of "
            "memory)"
        ),
        (
            r"CUDA out of memory|(?:CUDA (?:driver )?error|Triton Error \[CUDA\]|HIP error): "
            r"out of memory|(?:torch\.|cuda\.)OutOfMemoryError(?!: out of resource)|(?:HIP"
            "|XPU|MPS backend) out of memory|cudaErrorMemoryAllocation"
            "|CUDA_ERROR_OUT_OF_MEMORY"
        ),
    ),
    summary="The GPU ran out of memory",
    means=(
        "An allocation failed: the model's buffers, its constants (held once per loaded "
        "package), or tensors made for tuning while compiling."
    ),
    mistaken_for="A bug of the operator that happened to allocate",
    check="Memory in use by this and other processes (nvidia-smi) at the time",
    fixes=(
        fix("Free the eager model before loading the package; load one package per process"),
        fix(
            "When it happens while compiling: TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0 "
            "or, on 2.15, aot_inductor.autotune_per_kernel_alloc"
        ),
    ),
    guide="guides/memory-and-time.md#out-of-memory-in-disguise",
    next_tool="check_environment",
    references=("pytorch/pytorch#181176", "pytorch/pytorch#153363"),
    matches=(
        quoted(
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate",
            "text of the CUDA allocator",
        ),
        quoted(
            "torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory.",
            "words of cudaMallocAsync's allocator",
        ),
        quoted("Error: CUDA driver error: out of memory", "generated wrapper"),
    ),
    neighbours=(
        quoted(
            "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: "
            "131072, Hardware limit: 101376."
        ),
    ),
)
