from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="host_heap_corruption",
    family="I",
    phase="run",
    category="host_segfault",
    role="symptom",
    weight=56,
    anchors=(
        "corrupted size vs. prev_size",
        "double free or corruption",
        "free(): ",
        "malloc(): ",
        "munmap_chunk(): ",
        "malloc_consolidate()",
        "heap-buffer-overflow",
        "heap-use-after-free",
    ),
    patterns=(
        (
            r"^(?:\*\*\* Error in .{0,200}: )?(?P<text>corrupted size vs\. prev_size|"
            r"double free or corruption|free\(\): [\w ,]{3,40}|malloc\(\): [\w ,]{3,60}|"
            r"munmap_chunk\(\): invalid pointer|malloc_consolidate\(\): [\w ,]{3,40})|"
            r"AddressSanitizer: (?P<asan>heap-[\w-]+)"
        ),
    ),
    summary="The host heap is damaged, found by the allocator some time after the deed",
    means=(
        "Something wrote past a block or freed it twice. In AOTI that is a custom op "
        "returning less than its fake kernel promised, constants freed by their owner, or "
        "violated sizes in a CPU package."
    ),
    mistaken_for="A fault of the call that reports it",
    check=(
        "AOTI_RUNTIME_CHECK_INPUTS=1: torch 2.13 and later also checks what fallback ops return"
    ),
    fixes=(
        Fix(
            what=(
                "Test custom ops with torch.library.opcheck; keep user-managed constants "
                "alive longer than the model"
            )
        ),
    ),
    guide="guides/host-crash.md#heap-errors",
    next_tool="triage",
    matches=(
        Sample(
            "corrupted size vs. prev_size",
            "recorded",
            "torch 2.13 CPU: a custom op returned 2 rows instead of 8",
        ),
        Sample("double free or corruption (!prev)", "quoted", "glibc"),
        Sample("free(): invalid pointer", "quoted", "glibc"),
    ),
)
