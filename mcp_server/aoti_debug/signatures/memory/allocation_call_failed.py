from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="allocation_call_failed",
    family="O",
    phase="run",
    category="out_of_memory",
    role="symptom",
    weight=62,
    anchors=("aoti_torch_empty_strided",),
    patterns=(r"^(?=.{0,300} API call failed).{0,300}\baoti_torch_empty_strided\w{0,40}\(",),
    summary="The model could not allocate one of its buffers",
    means=(
        "Up to torch 2.12 this line is all that an out-of-memory leaves in the exception; the "
        "allocator's own text is on stderr. Negative or absurd sizes and a lost CUDA context "
        "end here too."
    ),
    mistaken_for="An AOTInductor bug",
    check="The message on stderr directly above",
    fixes=(
        fix(
            "Reduce batch size or free memory; when sizes are absurd, check the dynamic dimensions"
        ),
    ),
    guide="guides/memory-and-time.md#out-of-memory-in-disguise",
    next_tool="triage",
    references=("bghira/SimpleTuner#3176",),
    matches=(
        recorded(
            "Error: aoti_torch_empty_strided(2, int_array_1, int_array_2, "
            "cached_torch_dtype_float32, cached_torch_device_type_cpu, this->device_idx_, "
            "&buf1_handle) API call failed",
            "torch 2.13 CPU",
        ),
    ),
)
