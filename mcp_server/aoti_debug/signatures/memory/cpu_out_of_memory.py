from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="cpu_out_of_memory",
    family="O",
    phase="run",
    category="out_of_memory",
    weight=74,
    anchors=(
        "DefaultCPUAllocator: ",
        "std::bad_alloc",
        "MemoryError",
        "Cannot allocate memory",
        "Unable to allocate ",
        "paging file is too small",
        "insufficient shared memory (shm)",
        "unable to mmap ",
        "Not enough memory resources are available",
        "compiler is out of heap space",
        "java.lang.OutOfMemoryError",
    ),
    patterns=(
        (
            "DefaultCPUAllocator: (?:can't allocate memory|not enough memory)(?:: you tried "
            r"to allocate (?P<bytes>\d{1,20}) bytes)?"
        ),
        (
            r"std::bad_alloc|^MemoryError\b|(?:InductorError|\w{1,40}Error): MemoryError\b"
            "|_ArrayMemory"
            r"Error|\[Errno 12\] Cannot allocate memory|: Cannot allocate memory \(12\)|Unable "
            r"to allocate [\d.]{1,200} [KMGTP]i?B|paging file is too small|insufficient shared "
            "memory "
            r"\(shm\)|Not enough memory resources are available|compiler is out of heap space"
        ),
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
    references=("pytorch/pytorch#108761",),
    matches=(
        recorded(
            "RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: "
            "can't allocate memory: you tried to allocate 400000000000000 bytes.",
            "torch 2.13 CPU",
        ),
        quoted("MemoryError: std::bad_alloc", "pytorch/pytorch#108761"),
    ),
)
