"""What fails because a GPU fault came before it."""

from __future__ import annotations

from aoti_debug.facts.tiers import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
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
                (
                    "Failed to destroy CUDA event in AOTInductor model: an illegal memory access "
                    "was encountered"
                ),
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
                (
                    "torch._inductor.exc.InductorError: AcceleratorError: CUDA error: operation "
                    "not supported on global/shared address space"
                ),
                "torch 2.11, H200",
            ),
            recorded(
                (
                    "torch._inductor.exc.InductorError: AcceleratorError: CUDA error: an illegal "
                    "memory access was encountered"
                ),
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
                "torch/utils/hipify/cuda_to_hip_mappings.py",
                "cudaErrorAssert",
                "CUDA_ERROR_ASSERT",
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
                (
                    "RuntimeError: cuDNN version incompatibility: PyTorch was compiled against (9, "
                    "1, 0) but found runtime version (8, 9, 2)."
                ),
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
                (
                    "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling "
                    "`cublasGemmEx(...)`"
                ),
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
)
