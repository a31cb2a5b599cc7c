from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="cpu_out_of_memory",
    family="O",
    phase="run",
    category="out_of_memory",
    weight=74,
    confidence="proved",
    anchors=(
        "DefaultCPUAllocator: ",
        "std::bad_alloc",
        "MemoryError",
        "Cannot allocate memory",
    ),
    patterns=(
        (
            "DefaultCPUAllocator: (?:can't allocate memory|"
            r"not enough memory)(?:: you tried to allocate (?P<bytes>\d+) bytes)?"
        ),
        r"std::bad_alloc|^MemoryError\b|OSError: \[Errno 12\] Cannot allocate memory",
    ),
    summary="The host ran out of memory",
    means=(
        "An allocation in main memory failed. A size far beyond the machine points to an "
        "unexpected dynamic dimension rather than to a lack of memory."
    ),
    check="Is the number of bytes plausible for the sizes passed in?",
    fixes=(
        Fix(what=("Check the dynamic sizes of the failing call; give the container more memory")),
    ),
    guide="guides/memory-and-time.md#out-of-memory-in-disguise",
    next_tool="triage",
    references=("pytorch/pytorch#108761",),
    matches=(
        Sample(
            (
                "RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. "
                "DefaultCPUAllocator: can't allocate memory: you tried to allocate "
                "400000000000000 bytes. Error code 12 (Cannot allocate memory)"
            ),
            "recorded",
            "torch 2.13 CPU",
        ),
        Sample("MemoryError: std::bad_alloc", "quoted", "pytorch/pytorch#108761"),
    ),
)
