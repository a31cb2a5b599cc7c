from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="host_heap_corruption",
    family="I",
    phase="run",
    category="host_segfault",
    role="symptom",
    weight=56,
    anchors=(
        "exit code",
        "exit status",
        "exited with",
        "exception: code",
        "exception code",
        "corrupted size vs. prev_size",
        "double free or corruption",
        "free(): ",
        "malloc(): ",
        "munmap_chunk(): ",
        "malloc_consolidate()",
        "heap-buffer-overflow",
        "heap-use-after-free",
        "attempting double-free",
        "alloc-dealloc-mismatch",
        "corrupted double-linked list",
        "realloc(): ",
        "unaligned tcache chunk",
        "stack smashing detected",
        "buffer overflow detected",
        "pointer being freed was not allocated",
    ),
    patterns=(
        (
            r"^(?:\*\*\* Error in .{0,200}: )?(?P<text>corrupted size vs\. prev_size|double "
            r"free or corruption|free\(\): [\w ,]{3,40}|malloc\(\): [\w ,]{3,60}"
            r"|munmap_chunk\(\): invalid pointer|malloc_consolidate\(\): [\w ,]{3,40})"
            r"|AddressSanitizer: (?P<asan>heap-[\w-]{1,200})"
        ),
        (
            r"\b(?:corrupted size vs\. prev_size|double free or corruption|(?:free|realloc"
            r"|malloc)\(\): (?:invalid|double free|unaligned|corrupted|memory corruption"
            r"|mismatching|unsorted)[\w ,]{0,60}|munmap_chunk\(\): invalid pointer)"
        ),
        (
            r"corrupted double-linked list|\*\*\* (?:stack smashing|buffer overflow) detected"
            "|unaligned tcache chunk|pointer being freed was not allocated"
            r"|0x[cC]00003(?:74)|0x[cC]0000409|-1073740940|-1073740791"
            r"|AddressSanitizer: (?:attempting|alloc-dealloc|stack-|global-"
            r"|container-)[\w-]{1,200}"
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
        fix(
            "Test custom ops with torch.library.opcheck; keep user-managed constants alive "
            "longer than the model"
        ),
    ),
    guide="guides/host-crash.md#heap-errors",
    next_tool="triage",
    matches=(
        recorded(
            "corrupted size vs. prev_size",
            "torch 2.13 CPU: a custom op returned 2 rows instead of 8",
        ),
        quoted("double free or corruption (!prev)", "glibc"),
        quoted("free(): invalid pointer", "glibc"),
        recorded("free(): double free detected in tcache 2", "glibc 2.36, a program of ours"),
        quoted("python: malloc(): invalid size (unsorted)", "glibc"),
        recorded("*** stack smashing detected ***: terminated", "glibc 2.36, a program of ours"),
        quoted("Windows fatal exception: code 0xc0000374", "words of faulthandler"),
    ),
)
