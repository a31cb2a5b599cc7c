"""Findings of compute-sanitizer and of GPU core dumps."""

from __future__ import annotations

from aoti_debug.facts.tiers import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
    Signature(
        id="gpu_exception_dump",
        phase="run",
        category="illegal_memory_access",
        tier=Tier.EXACT_TEXT,
        confidence="proved",
        patterns=(
            (
                "coredump: Detected an exception of type CUDBG_EXCEPTION_(?!WARP_ASSERT|"
                r"WARP_MISALIGNED)(?P<type>\w{1,200})"
            ),
            r"CUDA Exception: (?P<type>(?!Warp Assert|Warp Misaligned)[A-Z][\w /-]{3,60})",
        ),
        summary="The GPU stopped on {type}; the stack beside it names the kernel",
        means=(
            "A core dump caught the kernel in the act: this is the kernel that faulted, not a "
            "later one. Its name stands on the `#0` line, and cuda-gdb adds block, thread, file "
            "and line."
        ),
        check="cuda-gdb -batch -ex 'target cudacore FILE' -ex bt",
        fixes=(
            fix(
                (
                    "Open the file and line that the dump names; the index expression there leaves "
                    "its tensor"
                ),
            ),
        ),
        guide="guides/cuda-illegal-memory-access.md#the-road-by-hand",
        next_tool="explain_kernel",
        matches=(
            recorded(
                (
                    "[04:51:11.454696] coredump: Detected an exception of type "
                    "CUDBG_EXCEPTION_WARP_INVALID_ADDRESS_SPACE (7)"
                ),
                "H200, driver 580",
            ),
            recorded("CUDA Exception: Warp Invalid Address Space", "H200"),
            recorded("CUDA Exception: Warp Illegal Address", "H200"),
        ),
        neighbours=(
            quoted(
                (
                    "[04:51:11.454696] coredump: Detected an exception of type "
                    "CUDBG_EXCEPTION_WARP_ASSERT (12)"
                ),
            ),
            recorded("[04:51:11.449254] coredump: Starting GPU coredump generation"),
            quoted("CUDA Exception: Warp Assert"),
        ),
        apart_from=("cuda_misaligned_address",),
    ),
    Signature(
        id="initcheck_uninitialized",
        phase="run",
        category="wrong_result",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(r"Uninitialized __global__ memory read of size (?P<size>\d{1,20})",),
        summary="A GPU kernel read {size} bytes that nothing had written",
        means=(
            "initcheck found a read of fresh memory, so results depend on what lay there before. "
            "Padding reads that are masked later are a known false alarm."
        ),
        check="Do outputs differ between two replays of the same inputs?",
        fixes=(
            fix(
                (
                    "Look at the producer of that buffer: a custom op that writes less than it "
                    "promises, or torch.empty in the model"
                ),
            ),
        ),
        guide="guides/wrong-results.md#uninitialised-reads",
        next_tool="explain_kernel",
        matches=(
            quoted(
                "========= Uninitialized __global__ memory read of size 4 bytes",
                "compute-sanitizer manual",
            ),
        ),
    ),
    Signature(
        id="memcheck_invalid_access",
        phase="run",
        category="illegal_memory_access",
        tier=Tier.NAMED_TEXT,
        confidence="proved",
        patterns=(
            (
                "={1,40} Invalid __(?P<space>global|shared|local)__ (?P<access>read|write|atomic) "
                r"of size (?P<size>\d{1,20}) bytes?"
            ),
        ),
        summary="compute-sanitizer saw a {access} of {size} bytes outside {space} memory",
        means=(
            "The tool stopped the access itself: the next lines name kernel, file and line, "
            "thread, and how far the address lies from the nearest allocation."
        ),
        check="Expandable segments give false alarms for bulk copies: unset PYTORCH_ALLOC_CONF",
        fixes=(
            fix(
                (
                    "Compare the distance to the nearest allocation with the sizes the package was "
                    "compiled for"
                ),
            ),
        ),
        guide="guides/debugging-tools.md#compute-sanitizer",
        next_tool="explain_kernel",
        matches=(
            recorded(
                "========= Invalid __global__ read of size 16 bytes",
                "compute-sanitizer 2025, H200",
            ),
            recorded(
                "========= Invalid __global__ write of size 16 bytes",
                "compute-sanitizer 2025, H200",
            ),
        ),
        neighbours=(recorded("========= ERROR SUMMARY: 0 errors"),),
    ),
    Signature(
        id="memory_leak_report",
        phase="run",
        category="performance",
        tier=Tier.KIND_TEXT,
        patterns=(
            "LeakSanitizer: (?P<what>.{1,120})",
            "detected memory leaks",
        ),
        summary="A leak checker reports memory that was never freed",
        means=(
            "Some releases leak small strings when a package is opened; a leak per call is another "
            "matter."
        ),
        check="Does memory grow with the number of calls or only with the number of loads?",
        fixes=(fix("Load once and keep the runner; upgrade from 2.7"),),
        guide="guides/memory-and-time.md#leaks",
        matches=(
            quoted(
                "SUMMARY: LeakSanitizer: 526 byte(s) leaked in 7 allocation(s).",
                "pytorch/pytorch#158614",
            ),
            words("programs that were not at hand", "detected memory leaks"),
        ),
    ),
    Signature(
        id="race_or_barrier_report",
        phase="run",
        category="concurrency",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "={1,40} (?:Error: |Warning: )?(?P<what>Race reported between)",
            "={1,40} (?:Error: |Warning: )?(?P<what>Potential (?:RAW|WAR|WAW) hazard)",
            "={1,40} (?:Error: |Warning: )?(?P<what>Barrier error detected)",
        ),
        summary="compute-sanitizer: {what} inside a GPU kernel",
        means=(
            "Threads of one block use shared memory or a barrier without the order the kernel "
            "needs. For Triton kernels this is a compiler or pipelining bug, for CUDA custom ops a "
            "missing __syncthreads."
        ),
        fixes=(
            fix("Set num_stages=1 for the Triton kernel to see whether it goes away"),
            fix("Add the missing barrier in a CUDA custom op"),
        ),
        guide="guides/threads-streams-hangs.md#shared-memory-races",
        next_tool="explain_kernel",
        matches=(
            quoted(
                "========= Error: Race reported between Write access at 0x200 in addKernel",
                "compute-sanitizer manual",
            ),
            quoted(
                "========= Barrier error detected. Divergent thread(s) in block",
                "compute-sanitizer manual",
            ),
            words("torch/nn/parallel/distributed.py", "= Potential RAW hazard"),
        ),
    ),
    Signature(
        id="sanitizer_unusable",
        phase="environment",
        category="false_alarm",
        tier=Tier.KIND_TEXT,
        patterns=(
            "Internal Sanitizer Error",
            "No attachable process found",
            "Unable to find injection library",
            "terminated before first instrumented API call",
            "={1,40} Error: Device not supported",
            r"fatal:\s{1,20}CUDA",
        ),
        summary="The GPU debugging tool could not do its work here",
        means=(
            "compute-sanitizer or cuda-gdb did not see the kernels: no permission, another driver "
            "version, no GPU call at all, or the host side crashed first."
        ),
        check="Do they run on a ten-line CUDA script?",
        fixes=(
            fix(
                (
                    "For a host crash use gdb or a core file instead; install the tool version "
                    "that fits the driver"
                ),
            ),
        ),
        guide="guides/debugging-tools.md#compute-sanitizer",
        next_tool="check_environment",
        matches=(
            quoted(
                "========= Error: Target application terminated before first instrumented API call",
                "compute-sanitizer manual",
            ),
            words(
                "programs that were not at hand",
                "Internal Sanitizer Error",
                "No attachable process found",
                "Unable to find injection library",
                "= Error: Device not supported",
            ),
            words("programs that were not at hand", "fatal: CUDA"),
        ),
    ),
)
