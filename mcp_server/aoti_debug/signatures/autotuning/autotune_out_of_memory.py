from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
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
)
