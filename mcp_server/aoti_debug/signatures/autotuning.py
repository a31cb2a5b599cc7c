"""Kernels that fail while they are tuned."""

from __future__ import annotations

from aoti_debug.facts.tiers import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
    Signature(
        id="autotune_block_failed",
        phase="autotune",
        category="autotune_error",
        role="symptom",
        tier=Tier.KIND_TEXT,
        patterns=(
            "Failed to run autotuning code block: (?P<error>.{1,200})",
            r"Failed during launch (?P<error>\w{1,200}) with config",
        ),
        summary="Tuning the kernels at compile time failed: {error}",
        means=(
            "AOTInductor runs the graph's kernels on made-up inputs to choose configurations. "
            "Data-dependent kernels, memory limits or a bad grid can fail there although the model "
            "is right."
        ),
        check=(
            "Compile once with TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0: if that runs well, "
            "only tuning is at fault"
        ),
        fixes=(
            fix(
                (
                    "Switch tuning at compile time off, or give user kernels valid data through a "
                    "single config"
                ),
            ),
        ),
        guide="guides/triton-and-autotuning.md#the-autotuning-block-failed",
        next_tool="triage",
        matches=(
            quoted(
                "Failed to run autotuning code block: CUDA driver error: invalid argument",
                "triton-lang/triton#7822",
            ),
            quoted(
                "Failed during launch triton_poi_fused_24 with config XBLOCK: 1024, YBLOCK: 1",
                "pytorch/pytorch#176193",
            ),
        ),
    ),
    Signature(
        id="autotune_choice_failed",
        phase="autotune",
        category="autotune_error",
        role="symptom",
        tier=Tier.BROAD_TEXT,
        patterns=(
            "Runtime error during autotuning",
            "CUDA compilation error during autotuning",
            "Runtime error for autotuning triton choices",
            "Failed to benchmark choice",
            "for benchmark choice",
            "Unexpected exception in autotune subprocess",
            "Timeout in autotune subprocess",
            "Sending SIGKILL to autotune subprocess",
            "Incorrect result from choice",
            "All autotuning benchmarks failed",
            "failed or timed out during collective",
            "Collective benchmark exception for choice",
            "Marking choice as failed due to timeout",
            "Precompilation timeout after",
            "Barrier timeout before benchmarking",
            "All-reduce timeout when collecting benchmark",
            "AutotuneProcessPool warmup failed",
            "choice .{1,300} failed during benchmarking",
            "Ignoring this choice",
            "avoid those benchmarkings that would cause",
            r"profiling events\. Found",
            "Failed to capture device events for",
            r"^[EC]\d{4} .{0,120}torch/_inductor/select_algorithm\.py:\d{1,20}\]",
            r"^[EC]\d{4} .{0,120}torch/_inductor/autotune_process\.py:\d{1,20}\]",
            r"\[ERROR\].{0,80}(?:select_algorithm|autotune_process)",
        ),
        summary="A candidate kernel failed while Inductor was choosing the fastest",
        means=(
            "max-autotune compiles and times many candidates. One that fails is dropped and the "
            "compile goes on; only if all fail, or the failure breaks the CUDA context, is it the "
            "reason of what follows."
        ),
        check="Did the compile go on afterwards? Then ignore it",
        fixes=(
            fix("Add ATEN to max_autotune_gemm_backends, so that one candidate always works"),
            fix("Compile without max_autotune; set autotune_in_subproc to survive a crash"),
        ),
        guide="guides/triton-and-autotuning.md#out-of-resource",
        next_tool="triage",
        matches=(
            quoted(
                "Runtime error during autotuning: ",
                "words of torch/_inductor/select_algorithm.py",
            ),
            quoted(
                (
                    "E0411 08:00:00.558000 2500 torch/_inductor/select_algorithm.py:1905] [15/4] "
                    "Exception No valid triton configs."
                ),
                "form of the log line",
            ),
            words(
                "torch/_inductor/select_algorithm.py",
                "CUDA compilation error during autotuning",
                "Runtime error for autotuning triton choices",
                "for benchmark choice",
                "Incorrect result from choice",
                "All autotuning benchmarks failed",
                "failed or timed out during collective",
                "Collective benchmark exception for choice",
                "Marking choice as failed due to timeout",
                "Precompilation timeout after",
                "Barrier timeout before benchmarking",
                "All-reduce timeout when collecting benchmark",
                "choice x failed during benchmarking",
                "Ignoring this choice",
            ),
            words(
                "torch/_inductor/autotune_process.py",
                "Failed to benchmark choice",
                "Unexpected exception in autotune subprocess",
                "Timeout in autotune subprocess",
                "Sending SIGKILL to autotune subprocess",
                "AutotuneProcessPool warmup failed",
            ),
            words("programs that were not at hand", "avoid those benchmarkings that would cause"),
            words(
                "torch/_inductor/utils.py",
                "profiling events. Found",
                "Failed to capture device events for",
            ),
            words(
                "torch/_logging",
                "E1111 torch/_inductor/autotune_process.py:12] ",
                "[ERROR] torch/_inductor/autotune_process.py:12",
            ),
        ),
        neighbours=(
            quoted(
                (
                    "V0411 08:00:00.558000 2500 torch/_inductor/select_algorithm.py:1905] [15/4] "
                    "Max autotune selects from 18 choices."
                ),
                "no failure",
            ),
        ),
    ),
    Signature(
        id="autotune_device_assert",
        phase="autotune",
        category="autotune_error",
        tier=Tier.SPECIFIC_TEXT,
        patterns=("Failed to run autotuning code block: .{0,80}device-side assert triggered",),
        summary="A kernel's assertion fired on the made-up inputs used for tuning",
        means=(
            "Random numbers were used as indices while tuning, and the bounds check of a kernel "
            "rejected them. The model's real indices were not involved."
        ),
        check="Does the model pass eagerly on the example inputs? Then it is the tuning data",
        fixes=(
            fix(
                (
                    "Upgrade, or switch tuning at compile time off; keep the producer and the "
                    "consumer of indices in one graph"
                ),
            ),
        ),
        guide="guides/triton-index-out-of-bounds.md#an-assert-while-compiling",
        next_tool="triage",
        matches=(
            quoted(
                (
                    "Failed to run autotuning code block: Triton Error [CUDA]: device-side assert "
                    "triggered"
                ),
                "pytorch/pytorch#147799",
            ),
        ),
    ),
    Signature(
        id="autotune_gpu_fault",
        phase="autotune",
        category="illegal_memory_access",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            (
                "(?:Failed to run autotuning code block: |torch/_inductor/(?:select_algorithm|"
                r"runtime/triton_heuristics)\.py:\d{1,20}\]).{0,80}illegal memory access"
            ),
            (
                "(?:Failed to run autotuning code block: |torch/_inductor/(?:select_algorithm|"
                r"runtime/triton_heuristics)\.py:\d{1,20}\]).{0,80}unspecified launch failure"
            ),
            (
                "(?:Failed to run autotuning code block: |torch/_inductor/(?:select_algorithm|"
                r"runtime/triton_heuristics)\.py:\d{1,20}\]).{0,80}global/shared address space"
            ),
        ),
        summary="A kernel faulted on the GPU while it was being tuned",
        means=(
            "Either the kernel is wrong, or the made-up tuning inputs (sizes from hints, None as a "
            "tensor, random indices) are. The process must be restarted before anything else."
        ),
        check="A core dump on exception names the kernel; run it alone on real inputs",
        fixes=(fix("Correct the kernel; or switch tuning at compile time off"),),
        guide="guides/cuda-illegal-memory-access.md#a-fault-while-compiling",
        next_tool="triage",
        matches=(
            quoted(
                (
                    "RuntimeError: Failed to run autotuning code block: Triton Error [CUDA]: an "
                    "illegal memory access was encountered"
                ),
                "pytorch/pytorch#115344",
            ),
            words(
                "torch/testing/_internal/common_methods_invocations.py",
                "Failed to run autotuning code block: unspecified launch failure",
            ),
            words("CUDA", "Failed to run autotuning code block: global/shared address space"),
        ),
    ),
    Signature(
        id="autotune_invalid_argument",
        phase="autotune",
        category="autotune_error",
        tier=Tier.SPECIFIC_TEXT,
        patterns=("Failed to run autotuning code block: .{0,80}invalid argument",),
        summary="A kernel launch made for tuning had an invalid grid or argument",
        means=(
            "With the sizes assumed for tuning, one kernel's grid is zero or too large. The real "
            "sizes may be fine."
        ),
        check="TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0",
        fixes=(
            fix(
                (
                    "Switch tuning at compile time off; upgrade to 2.10 or later, which logs the "
                    "kernel's name"
                ),
            ),
        ),
        guide="guides/triton-and-autotuning.md#the-autotuning-block-failed",
        next_tool="triage",
        matches=(
            quoted(
                "Failed to run autotuning code block: Triton Error [CUDA]: invalid argument",
                "pytorch/pytorch#145984",
            ),
        ),
    ),
    Signature(
        id="autotune_misaligned",
        phase="autotune",
        category="misaligned_address",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "Failed to run autotuning code block: .{0,80}misaligned address",
            (
                r"torch/_inductor/(?:select_algorithm|runtime/triton_heuristics)\.py:\d{1,20}"
                r"\].{0,80}misaligned address"
            ),
        ),
        summary="A kernel that was being tuned made a misaligned access",
        means=(
            "A candidate or a user kernel assumes an alignment that the tensors made for tuning, "
            "or views of them, do not have. The CUDA context is lost afterwards."
        ),
        check="Does it compile without max_autotune?",
        fixes=(
            fix("Drop the backend of the candidate from max_autotune_gemm_backends"),
            fix("Remove alignment hints of a user kernel that do not always hold"),
        ),
        guide="guides/cuda-illegal-memory-access.md#misaligned-address",
        next_tool="triage",
        matches=(
            quoted(
                (
                    "E1203 09:11:44.120000 40211 torch/_inductor/select_algorithm.py:2691] [3/0] "
                    "CUDA error: misaligned address"
                ),
                "form of an error in Inductor's log",
            ),
            words(
                "torch/_inductor/codegen/wrapper.py",
                "Failed to run autotuning code block: misaligned address",
            ),
        ),
    ),
    Signature(
        id="autotune_out_of_memory",
        phase="autotune",
        category="out_of_memory",
        tier=Tier.EXACT_TEXT,
        confidence="proved",
        patterns=(
            "Failed to run autotuning code block: .{0,80}out of memory",
            "Failed to run autotuning code block: .{0,80}OutOfMemoryError(?!: out of resource)",
        ),
        summary="The GPU ran out of memory while kernels were being tuned at compile time",
        means=(
            "The tuning block holds copies of the graph's tensors until their last use, next to "
            "the model itself. The finished package may need far less."
        ),
        check="TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0: does it compile and run?",
        fixes=(
            fix(
                (
                    "On torch 2.15 set aot_inductor.autotune_per_kernel_alloc=True; before that "
                    "switch tuning at compile time off"
                ),
            ),
            fix("Free the eager model's weights before compiling"),
        ),
        guide="guides/triton-and-autotuning.md#out-of-memory-while-tuning",
        next_tool="check_environment",
        matches=(
            quoted(
                (
                    "RuntimeError: Failed to run autotuning code block: CUDA out of memory. Tried "
                    "to allocate 12.00 GiB"
                ),
                "pytorch/pytorch#197462",
            ),
            words(
                "torch/_inductor/codegen/wrapper.py",
                "Failed to run autotuning code block: OutOfMemoryError",
            ),
        ),
        neighbours=(
            quoted(
                (
                    "Failed to run autotuning code block: out of resource: shared memory, "
                    "Required: 262400, Hardware limit: 232448"
                ),
            ),
        ),
    ),
    Signature(
        id="healthy_warning",
        phase="lower",
        category="performance",
        role="note",
        tier=Tier.NOTICE,
        confidence="possible",
        patterns=(
            "(?P<what>does not support code generation for complex operators)",
            "(?P<what>Online softmax is disabled on the fly)",
            "(?P<what>TensorFloat32 tensor cores .{0,60}available but not enabled)",
        ),
        summary="A warning that torch prints of healthy models: {what}",
        means="An optimisation does not apply to this graph; the result is right all the same.",
        guide="guides/memory-and-time.md#slow-model",
        matches=(
            recorded(
                "UserWarning: Torchinductor does not support code generation for complex operators. "
                "Performance may be worse than eager.",
                "torch 2.11, an FFT model",
            ),
            recorded(
                "Online softmax is disabled on the fly since Inductor decides to", "torch 2.11"
            ),
            recorded(
                "UserWarning: TensorFloat32 tensor cores for float32 matrix multiplication available "
                "but not enabled.",
                "torch 2.11",
            ),
        ),
    ),
    Signature(
        id="gemm_tuning_skipped",
        phase="autotune",
        category="performance",
        role="symptom",
        tier=Tier.NOTICE,
        confidence="possible",
        patterns=(
            "(?P<what>Not enough SMs to use max_autotune_gemm)",
            "(?P<what>GPU arch does not support max_autotune_gemm mode usage)",
            "(?P<what>skipping cudagraphs due to .{0,120})",
            "(?P<what>Please pip install Composable Kernel package)",
            "(?P<what>hit config.(?:recompile|cache_size)_limit)",
        ),
        summary="A notice on speed, not an error: {what}",
        means="An optimisation does not apply to this graph or GPU; the result is right all the same.",
        guide="guides/memory-and-time.md#slow-model",
        matches=(
            quoted(
                (
                    "W0101 00:00:00.000000 1 torch/_inductor/utils.py:1953] [0/0] Not enough SMs "
                    "to use max_autotune_gemm mode"
                ),
                "words of torch/_inductor/utils.py",
            ),
            words(
                "torch/_inductor/utils.py",
                "GPU arch does not support max_autotune_gemm mode usage",
                "Please pip install Composable Kernel package",
            ),
            words("torch/_dynamo/backends/cudagraphs.py", "skipping cudagraphs due to x"),
            words("torch/_dynamo/convert_frame.py", "hit configxrecompile_limit"),
        ),
    ),
    Signature(
        id="kernel_config_invalid",
        phase="autotune",
        category="autotune_error",
        tier=Tier.KIND_TEXT,
        patterns=(
            r"TritonKernel\.indexing assumes",
            r"' too large\. Maximum: \d{1,20}",
            "rnumels exceed size_hints",
            "exceeds Triton maximum",
            "Reduction config exceeds cudaDeviceProp",
            "Precomputed grid not found for",
            "Cooperative reductions don't support tiling",
            "Autotuned launcher config does not match",
            "Coordinate descent tuner relies on",
            "triton configs with pre_hooks not supported",
            "reset_to_zero_arg_names should only contain valid",
            "Error while pruning configs",
            "pre_hook is not supported in triton",
            "Passing prune_configs_by",
            "Conflicting meta-parameters: ",
        ),
        summary="A kernel's configuration for tuning is not valid",
        means=(
            "Block sizes of a configuration contradict the sizes of the problem or the limits of "
            "Triton; for a user kernel, triton.autotune has an argument that is not supported."
        ),
        check="Which kernel? A generated one is Inductor's fault, a user kernel yours",
        fixes=(
            fix(
                "For a user kernel keep `configs` and `key` only, with block sizes below the limit",
            ),
            fix("For a generated kernel switch max_autotune and coordinate descent tuning off"),
        ),
        guide="guides/triton-and-autotuning.md#out-of-resource",
        next_tool="triage",
        matches=(
            quoted(
                "AssertionError: 'XBLOCK' too large. Maximum: 4096. Actual: 8192.",
                "words of torch/_inductor/runtime/triton_heuristics.py",
            ),
            words(
                "torch/_inductor/runtime/triton_heuristics.py",
                "TritonKernel.indexing assumes",
                "rnumels exceed size_hints",
                "exceeds Triton maximum",
                "Reduction config exceeds cudaDeviceProp",
                "Precomputed grid not found for",
                "Cooperative reductions don't support tiling",
                "Autotuned launcher config does not match",
                "Coordinate descent tuner relies on",
                "reset_to_zero_arg_names should only contain valid",
            ),
            words(
                "torch/_inductor/runtime/runtime_utils.py",
                "triton configs with pre_hooks not supported",
            ),
            words("torch/_higher_order_ops/triton_kernel_wrap.py", "Error while pruning configs"),
            words(
                "programs that were not at hand",
                "pre_hook is not supported in triton",
                "Passing prune_configs_by",
            ),
            words("torch/_vendor/quack/autotuner.py", "Conflicting meta-parameters: "),
        ),
    ),
)
