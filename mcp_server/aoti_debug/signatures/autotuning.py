"""Kernels that fail while they are tuned."""

from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURES = (
    Signature(
        id="autotune_block_failed",
        family="K",
        phase="autotune",
        category="autotune_error",
        role="symptom",
        weight=60,
        anchors=("Failed to run autotuning code block", "Failed during launch "),
        patterns=(
            "Failed to run autotuning code block: (?P<error>.{1,200})",
            r"Failed during launch (?P<error>\w+) with config",
        ),
        summary="Tuning the kernels at compile time failed: {error}",
        means=(
            "AOTInductor runs the graph's kernels on made-up inputs to choose configurations. "
            "Data-dependent kernels, memory limits or a bad grid can fail there although the "
            "model is right."
        ),
        mistaken_for="A fault of the model on real data",
        check=(
            "Compile once with TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0: if that runs "
            "well, only tuning is at fault"
        ),
        fixes=(
            fix(
                "Switch tuning at compile time off, or give user kernels valid data through a "
                "single config"
            ),
        ),
        guide="guides/triton-and-autotuning.md#the-autotuning-block-failed",
        next_tool="triage",
        references=(
            "pytorch/pytorch#145984",
            "pytorch/pytorch#163889",
            "triton-lang/triton#7822",
            "pytorch/pytorch#176193",
        ),
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
        id="autotune_device_assert",
        family="K",
        phase="autotune",
        category="autotune_error",
        weight=74,
        anchors=("autotuning code block",),
        patterns=("Failed to run autotuning code block: .{0,80}device-side assert triggered",),
        summary="A kernel's assertion fired on the made-up inputs used for tuning",
        means=(
            "Random numbers were used as indices while tuning, and the bounds check of a kernel "
            "rejected them. The model's real indices were not involved."
        ),
        mistaken_for="A bad index in the example inputs",
        check="Does the model pass eagerly on the example inputs? Then it is the tuning data",
        fixes=(
            fix(
                "Upgrade, or switch tuning at compile time off; keep the producer and the "
                "consumer of indices in one graph"
            ),
        ),
        guide="guides/triton-index-out-of-bounds.md#an-assert-while-compiling",
        next_tool="triage",
        references=("pytorch/pytorch#147799", "pytorch/pytorch#146706"),
        matches=(
            quoted(
                "Failed to run autotuning code block: Triton Error [CUDA]: device-side assert "
                "triggered",
                "pytorch/pytorch#147799",
            ),
        ),
    ),
    Signature(
        id="autotune_gpu_fault",
        family="K",
        phase="autotune",
        category="illegal_memory_access",
        weight=74,
        anchors=("autotuning code block", "Failed during launch"),
        patterns=(
            (
                "Failed to run autotuning code block: .{0,80}(?:illegal memory access|unspecified "
                "launch failure|global/shared address space|misaligned address)"
            ),
        ),
        summary="A kernel faulted on the GPU while it was being tuned",
        means=(
            "Either the kernel is wrong, or the made-up tuning inputs (sizes from hints, None as "
            "a tensor, random indices) are. The process must be restarted before anything else."
        ),
        check="A core dump on exception names the kernel; run it alone on real inputs",
        fixes=(fix("Correct the kernel; or switch tuning at compile time off"),),
        guide="guides/cuda-illegal-memory-access.md#a-fault-while-compiling",
        next_tool="triage",
        references=("pytorch/pytorch#115344", "pytorch/pytorch#195604"),
        matches=(
            quoted(
                "RuntimeError: Failed to run autotuning code block: Triton Error [CUDA]: an "
                "illegal memory access was encountered",
                "pytorch/pytorch#115344",
            ),
        ),
    ),
    Signature(
        id="autotune_invalid_argument",
        family="K",
        phase="autotune",
        category="autotune_error",
        weight=72,
        anchors=("autotuning code block",),
        patterns=("Failed to run autotuning code block: .{0,80}invalid argument",),
        summary="A kernel launch made for tuning had an invalid grid or argument",
        means=(
            "With the sizes assumed for tuning, one kernel's grid is zero or too large. The real "
            "sizes may be fine."
        ),
        mistaken_for="A run-time launch failure",
        check="TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0",
        fixes=(
            fix(
                "Switch tuning at compile time off; upgrade to 2.10 or later, which logs the "
                "kernel's name"
            ),
        ),
        guide="guides/triton-and-autotuning.md#the-autotuning-block-failed",
        next_tool="triage",
        references=("pytorch/pytorch#145984", "pytorch/pytorch#176193"),
        matches=(
            quoted(
                "Failed to run autotuning code block: Triton Error [CUDA]: invalid argument",
                "pytorch/pytorch#145984",
            ),
        ),
    ),
    Signature(
        id="autotune_out_of_memory",
        family="K",
        phase="autotune",
        category="out_of_memory",
        weight=80,
        confidence="proved",
        anchors=("autotuning code block",),
        patterns=(
            (
                "Failed to run autotuning code block: .{0,80}(?:out of memory"
                "|OutOfMemoryError(?!: out of resource))"
            ),
        ),
        summary="The GPU ran out of memory while kernels were being tuned at compile time",
        means=(
            "The tuning block holds copies of the graph's tensors until their last use, next to "
            "the model itself. The finished package may need far less."
        ),
        mistaken_for="A model that is too large for the GPU",
        check="TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0: does it compile and run?",
        fixes=(
            fix(
                "On torch 2.15 set aot_inductor.autotune_per_kernel_alloc=True; before that "
                "switch tuning at compile time off"
            ),
            fix("Free the eager model's weights before compiling"),
        ),
        guide="guides/triton-and-autotuning.md#out-of-memory-while-tuning",
        next_tool="check_environment",
        references=("pytorch/pytorch#181176", "pytorch/pytorch#197462"),
        matches=(
            quoted(
                "RuntimeError: Failed to run autotuning code block: CUDA out of memory. Tried to "
                "allocate 12.00 GiB",
                "pytorch/pytorch#197462",
            ),
        ),
        neighbours=(
            quoted(
                "Failed to run autotuning code block: out of resource: shared memory, Required: "
                "262400, Hardware limit: 232448"
            ),
        ),
    ),
)
