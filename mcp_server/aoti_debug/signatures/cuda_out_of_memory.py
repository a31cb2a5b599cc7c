from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

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
        "STATUS_ALLOC_FAILED",
    ),
    patterns=(
        (
            r"CUDA out of memory|(?:CUDA (?:driver )?error|Triton Error \[CUDA\]|"
            r"HIP error): out of memory|(?:torch\.|"
            r"cuda\.)OutOfMemoryError(?!: out of resource)|(?:HIP|XPU|"
            "MPS backend) out of memory|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY|"
            "CU(?:BLAS|DNN|SOLVER)_STATUS_ALLOC_FAILED"
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
        Fix(what=("Free the eager model before loading the package; load one package per process")),
        Fix(
            what=(
                "When it happens while compiling: "
                "TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0 or, on 2.15, "
                "aot_inductor.autotune_per_kernel_alloc"
            )
        ),
    ),
    guide="guides/memory-and-time.md#out-of-memory-in-disguise",
    next_tool="check_environment",
    references=(
        "pytorch/pytorch#181176",
        "pytorch/pytorch#153363",
    ),
    matches=(
        Sample(
            (
                "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. "
                "GPU 0 has a total capacity of 23.64 GiB of which 1.02 GiB is free."
            ),
            "quoted",
            "text of the CUDA allocator",
        ),
        Sample(
            (
                "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling "
                "`cublasCreate(handle)`"
            ),
            "quoted",
            "common form in public threads",
        ),
        Sample("Error: CUDA driver error: out of memory", "quoted", "generated wrapper"),
    ),
    neighbours=(
        Sample(
            (
                "triton.runtime.errors.OutOfResources: out of resource: shared memory, "
                "Required: 131072, Hardware limit: 101376."
            ),
            "quoted",
        ),
    ),
)
