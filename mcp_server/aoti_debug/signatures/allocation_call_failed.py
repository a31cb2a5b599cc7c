from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="allocation_call_failed",
    family="O",
    phase="run",
    category="out_of_memory",
    role="symptom",
    weight=62,
    anchors=("aoti_torch_empty_strided",),
    patterns=(r"^(?=.* API call failed).*\baoti_torch_empty_strided\w{0,40}\(",),
    summary="The model could not allocate one of its buffers",
    means=(
        "Up to torch 2.12 this line is all that an out-of-memory leaves in the exception; "
        "the allocator's own text is on stderr. Negative or absurd sizes and a lost CUDA "
        "context end here too."
    ),
    mistaken_for="An AOTInductor bug",
    check="The message on stderr directly above",
    fixes=(
        Fix(
            what=(
                "Reduce batch size or free memory; when sizes are absurd, check the dynamic "
                "dimensions"
            )
        ),
    ),
    guide="guides/memory-and-time.md#out-of-memory-in-disguise",
    next_tool="triage",
    references=("bghira/SimpleTuner#3176",),
    matches=(
        Sample(
            (
                "Error: aoti_torch_empty_strided(2, int_array_1, int_array_2, "
                "cached_torch_dtype_float32, cached_torch_device_type_cpu, "
                "this->device_idx_, &buf1_handle) API call failed at "
                "/tmp/e2/ic/cua5wyije3m4hfmu3tsi5zhhe2ywibcq7zfiwz4k4u6rrg5aegqw/c"
                "wtcdzwvykynbmo7wqxwxg64nqdbqleoglmxe2uvr7cz55pepgfm.wrapper.cpp, line 893"
            ),
            "recorded",
            "torch 2.13 CPU",
        ),
    ),
)
