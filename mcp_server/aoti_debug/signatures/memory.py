"""Memory that ran out."""

from __future__ import annotations

from aoti_debug.facts.tiers import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
    Signature(
        id="allocation_call_failed",
        phase="run",
        category="out_of_memory",
        role="symptom",
        tier=Tier.KIND_TEXT,
        patterns=(r"^(?=.{0,300} API call failed).{0,300}\baoti_torch_empty_strided\w{0,40}\(",),
        summary="The model could not allocate one of its buffers",
        means=(
            "Up to torch 2.12 this line is all that an out-of-memory leaves in the exception; the "
            "allocator's own text is on stderr. Negative or absurd sizes and a lost CUDA context "
            "end here too."
        ),
        check="The message on stderr directly above",
        fixes=(
            fix(
                (
                    "Reduce batch size or free memory; when sizes are absurd, check the dynamic "
                    "dimensions"
                ),
            ),
        ),
        guide="guides/memory-and-time.md#out-of-memory-in-disguise",
        next_tool="triage",
        matches=(
            recorded(
                (
                    "Error: aoti_torch_empty_strided(2, int_array_1, int_array_2, "
                    "cached_torch_dtype_float32, cached_torch_device_type_cpu, this->device_idx_, "
                    "&buf1_handle) API call failed"
                ),
                "torch 2.13 CPU",
            ),
        ),
    ),
    Signature(
        id="cpu_out_of_memory",
        phase="run",
        category="out_of_memory",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            (
                "DefaultCPUAllocator: can't allocate memory(?:: you tried to allocate "
                r"(?P<bytes>\d{1,20}) bytes)?"
            ),
            (
                "DefaultCPUAllocator: not enough memory(?:: you tried to allocate "
                r"(?P<bytes>\d{1,20}) bytes)?"
            ),
            "std::bad_alloc",
            r"^MemoryError\b",
            r"(?:InductorError|\w{1,40}Error): MemoryError\b",
            "_ArrayMemoryError",
            r"\[Errno 12\] Cannot allocate memory",
            r": Cannot allocate memory \(12\)",
            r"Unable to allocate [\d.]{1,200} [KMGTP]i?B",
            "paging file is too small",
            r"insufficient shared memory \(shm\)",
            "Not enough memory resources are available",
            "compiler is out of heap space",
        ),
        summary="The host ran out of memory",
        means=(
            "An allocation in main memory failed. A size far beyond the machine points to an "
            "unexpected dynamic dimension rather than to a lack of memory."
        ),
        check="Is the number of bytes plausible for the sizes passed in?",
        fixes=(fix("Check the dynamic sizes of the failing call; give the container more memory"),),
        guide="guides/memory-and-time.md#out-of-memory-in-disguise",
        next_tool="triage",
        matches=(
            recorded(
                (
                    "RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. "
                    "DefaultCPUAllocator: can't allocate memory: you tried to allocate "
                    "400000000000000 bytes."
                ),
                "torch 2.13 CPU",
            ),
            quoted("MemoryError: std::bad_alloc", "pytorch/pytorch#108761"),
            words(
                "programs that were not at hand",
                "DefaultCPUAllocator: not enough memory",
                ": Cannot allocate memory (12)",
                "paging file is too small",
                "Not enough memory resources are available",
                "compiler is out of heap space",
            ),
            words("Python's test_exceptions.py", "InductorError: MemoryError"),
            words("programs that were not at hand", "_ArrayMemoryError"),
            words("Python's test_socket.py", "[Errno 12] Cannot allocate memory"),
            words("triton", "Unable to allocate 1 GB"),
            words("libtorch", "insufficient shared memory (shm)"),
        ),
    ),
    Signature(
        id="cuda_out_of_memory",
        phase="run",
        category="out_of_memory",
        tier=Tier.SPECIFIC_TEXT,
        confidence="proved",
        anchors=(
            "out of memory",
            "OutOfMemoryError",
        ),
        patterns=(
            "hipErrorOutOfMemory",
            r"Tried to allocate [\d.]{1,200} ?[KMGT]i?B",
            r"Allocation on device (?:\d|would)",
            "OUT_OF_DEVICE_MEMORY",
            r"Invalid buffer size: [\d.]{1,200} [GT]",
            "kIOGPUCommandBufferCallbackErrorOutOfMemory",
            "NVML_SUCCESS == r INTERNAL ASSERT",
            r"cuda runtime error \(2\)",
            "would exceed allowed memory",
            "cudaMalloc failed",
            "Failed to allocate memory on GPU",
            "(?i:(?:cuda|hip|gpu|device|vram|npu|xpu|mps)[^.]{0,60}(?:ran |run )?out of memory)",
            "CUDA out of memory",
            "CUDA (?:driver )?error: out of memory",
            r"Triton Error \[CUDA\]: out of memory",
            "HIP error: out of memory",
            r"(?:torch\.|cuda\.)OutOfMemoryError(?!: out of resource)",
            "HIP out of memory",
            "XPU out of memory",
            "MPS backend out of memory",
            "cudaErrorMemoryAllocation",
            "CUDA_ERROR_OUT_OF_MEMORY",
        ),
        summary="The GPU ran out of memory",
        means=(
            "An allocation failed: the model's buffers, its constants (held once per loaded "
            "package), or tensors made for tuning while compiling."
        ),
        check="Memory in use by this and other processes (nvidia-smi) at the time",
        fixes=(
            fix("Free the eager model before loading the package; load one package per process"),
            fix(
                (
                    "When it happens while compiling: "
                    "TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0 or, on 2.15, "
                    "aot_inductor.autotune_per_kernel_alloc"
                ),
            ),
        ),
        guide="guides/memory-and-time.md#out-of-memory-in-disguise",
        next_tool="check_environment",
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
            words("triton", "hipErrorOutOfMemory"),
            words(
                "programs that were not at hand",
                "Tried to allocate 1GB",
                "OUT_OF_DEVICE_MEMORY",
                "kIOGPUCommandBufferCallbackErrorOutOfMemory",
                "NVML_SUCCESS == r INTERNAL ASSERT",
                "cuda runtime error (2)",
                "cudaMalloc failed",
                "Failed to allocate memory on GPU",
                "Triton Error [CUDA]: out of memory",
                "HIP error: out of memory",
                "HIP out of memory",
                "XPU out of memory",
                "MPS backend out of memory",
            ),
            words("programs that were not at hand", "Invalid buffer size: 1 G"),
            words(
                "torch/utils/hipify/cuda_to_hip_mappings.py",
                "cudaErrorMemoryAllocation",
                "CUDA_ERROR_OUT_OF_MEMORY",
            ),
        ),
        neighbours=(
            quoted(
                (
                    "triton.runtime.errors.OutOfResources: out of resource: shared memory, "
                    "Required: 131072, Hardware limit: 101376."
                ),
            ),
        ),
    ),
    Signature(
        id="library_alloc_failed",
        phase="run",
        category="out_of_memory",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "(?P<what>CU(?:BLAS|DNN|SOLVER|SPARSE)_STATUS_ALLOC_FAILED)",
            "(?P<what>Unable to find a valid cuDNN algorithm)",
            "(?P<what>unable to find an engine to execute this computation)",
            r"(?P<what>CUDNN_STATUS_INTERNAL_ERROR_\w{4,6}_ALLOCATION_FAILED)",
            "(?P<what>CUFFT_ALLOC_FAILED)",
            "(?P<what>CURAND_STATUS_ALLOCATION_FAILED)",
            "(?P<what>NVRTC_ERROR_OUT_OF_MEMORY)",
        ),
        summary="A CUDA library could not get its workspace: {what}",
        means=(
            "Handles and workspaces of cuBLAS and cuDNN come after the model's tensors, so a full "
            "GPU shows here first; after an earlier GPU fault these calls fail too."
        ),
        check="nvidia-smi: how much is free just before? Any GPU message before this one?",
        fixes=(fix("Free memory or reduce the batch; look for an earlier GPU message"),),
        guide="guides/memory-and-time.md#out-of-memory-in-disguise",
        next_tool="check_environment",
        matches=(
            quoted(
                (
                    "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling "
                    "`cublasCreate(handle)`"
                ),
                "common form in public threads",
            ),
            words(
                "programs that were not at hand",
                "Unable to find a valid cuDNN algorithm",
                "unable to find an engine to execute this computation",
                "CUDNN_STATUS_INTERNAL_ERROR_xxxx_ALLOCATION_FAILED",
            ),
            words(
                "torch/utils/hipify/cuda_to_hip_mappings.py",
                "CUFFT_ALLOC_FAILED",
                "CURAND_STATUS_ALLOCATION_FAILED",
                "NVRTC_ERROR_OUT_OF_MEMORY",
            ),
        ),
    ),
)
