"""Deaths of the process on the host."""

from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURES = (
    Signature(
        id="host_segfault",
        family="I",
        phase="run",
        category="host_segfault",
        role="symptom",
        anchors=(
            "Segmentation fault",
            "SIGSEGV",
            "segmentation fault",
            "exit code 139",
            "exit status 139",
            "Caught signal 11",
            "EXC_BAD_ACCESS",
            "Bus error",
            "signal 11",
            "exitcode: -11",
            "dereferencing Unified Memory from the host",
        ),
        patterns=(
            (
                "Fatal Python error: (?:Segmentation fault|Bus error)|[Ss]egmentation fault(?! in "
                r"tinygemm)|\bSIGSEGV\b|exit (?:code|status)\s*:?\s*139|Caught signal 11"
                r"|EXC_BAD_ACCESS|Bus error|signal 11\b|exitcode: -11|may have hit an error when "
                "dereferencing Unified Memory from the host"
            ),
        ),
        summary="The process died on an invalid memory access of the host",
        means=(
            "Generated CPU code, the loader or a native op touched memory it does not own. Usual "
            "reasons: a CUDA pointer in a CPU package, missing constants, violated sizes, a mix "
            "of C++ ABIs."
        ),
        mistaken_for="An out-of-memory kill (exit 137)",
        check=(
            "AOTI_RUNTIME_CHECK_INPUTS=1 on the same call; then the native stack (gdb batch or "
            "core)"
        ),
        fixes=(
            fix(
                "Check device, dtype and sizes of the inputs; get the wrapper.cpp line from a "
                "native stack"
            ),
        ),
        guide="guides/host-crash.md#segfault-in-the-model",
        next_tool="triage",
        references=("pytorch/pytorch#124034", "pytorch/torchchat#1420", "mir-group/nequip#563"),
        matches=(
            recorded("Fatal Python error: Segmentation fault", "CPython 3.11 faulthandler"),
            recorded(
                "=========     The application may have hit an error when dereferencing Unified "
                "Memory from the host.",
                "compute-sanitizer on the H200, the process ended with SIGSEGV",
            ),
            recorded('Thread 1 "python3" received signal SIGSEGV, Segmentation fault.', "gdb"),
            recorded(
                "bash: line 1:  8490 Segmentation fault      python -c 'import ctypes; "
                "ctypes.string_at(0)'"
            ),
        ),
        apart_from=("host_abort", "process_killed"),
    ),
    Signature(
        id="host_abort",
        family="I",
        phase="run",
        category="host_segfault",
        role="envelope",
        weight=20,
        confidence="possible",
        anchors=(
            "terminate called",
            "Fatal Python error: Aborted",
            "SIGABRT",
            "exit code 134",
            "Aborted (core dumped)",
            "libc++abi: terminating",
        ),
        patterns=(
            (
                r"terminate called (?:after throwing an instance of '(?:[\w:]+)'|without an "
                r"active exception|recursively)|Fatal Python error: Aborted|\bSIGABRT\b|exit "
                r"(?:code|status)\s*:?\s*134|Aborted \(core dumped\)|libc\+\+abi: terminating"
            ),
        ),
        summary="The process ended itself after an error that nobody caught",
        means=(
            "An exception left a destructor or a C++ program without a handler. `what():` on the "
            "next line and the messages above carry the reason."
        ),
        mistaken_for="A crash of its own",
        check="Read what(): and everything on stderr before it",
        guide="guides/host-crash.md#abort-and-terminate",
        next_tool="triage",
        matches=(
            recorded(
                "terminate called after throwing an instance of 'c10::AcceleratorError'",
                "torch 2.11, H200",
            ),
            recorded(
                "terminate called after throwing an instance of 'std::runtime_error'",
                "torch 2.11, H200",
            ),
            recorded("Fatal Python error: Aborted", "CPython 3.11 faulthandler"),
        ),
    ),
    Signature(
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
                r"^(?:\*\*\* Error in .{0,200}: )?(?P<text>corrupted size vs\. prev_size|double "
                r"free or corruption|free\(\): [\w ,]{3,40}|malloc\(\): [\w ,]{3,60}"
                r"|munmap_chunk\(\): invalid pointer|malloc_consolidate\(\): [\w ,]{3,40})"
                r"|AddressSanitizer: (?P<asan>heap-[\w-]+)"
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
        ),
    ),
    Signature(
        id="host_illegal_instruction",
        family="I",
        phase="run",
        category="package_incompatible",
        weight=66,
        anchors=("Illegal instruction", "SIGILL", "exit code 132", "Caught signal 4"),
        patterns=(
            (
                r"(?:Fatal Python error: )?Illegal instruction|\bSIGILL\b|exit (?:code"
                r"|status)\s*:?\s*132|Caught signal 4\b"
            ),
        ),
        summary="The CPU met an instruction it does not have",
        means=(
            "The package was compiled with vector instructions (AVX-512, AMX, SVE) of another "
            "machine. Nothing is wrong with the model."
        ),
        mistaken_for="A crash of the model",
        check="Compare AOTI_CPU_ISA of the package with the flags in /proc/cpuinfo",
        fixes=(
            fix(
                "Compile on the oldest CPU that has to run it, or set ATEN_CPU_CAPABILITY / "
                "cpp.simdlen lower when compiling"
            ),
        ),
        guide="guides/host-crash.md#illegal-instruction",
        next_tool="inspect_package",
        matches=(
            quoted("Fatal Python error: Illegal instruction", "CPython text"),
            quoted("Illegal instruction (core dumped)", "shell text"),
        ),
        neighbours=(quoted("CUDA error: an illegal instruction was encountered"),),
    ),
    Signature(
        id="process_killed",
        family="O",
        phase="run",
        category="out_of_memory",
        role="symptom",
        weight=66,
        anchors=(
            "Killed",
            "oom-kill",
            "oom_kill",
            "Out of memory: Kill",
            "exit code 137",
            "exit status 137",
            "SIGKILL",
            "OOMKilled",
            "exitcode: -9",
        ),
        patterns=(
            (
                r"^\s*Killed\s*$|: +\d+ Killed\b|oom[-_]kill|Out of memory: Kill|exit (?:code"
                r"|status)\s*:?\s*137|\bSIGKILL\b|OOMKilled|exitcode: -9"
            ),
        ),
        summary="The operating system killed the process, almost always for memory",
        means=(
            "Compiling large models or large embedded constants takes many gigabytes of host "
            "memory; the compiler process (cc1plus, ld) is a frequent victim."
        ),
        mistaken_for="A crash",
        check="dmesg or the container's memory events at that time",
        fixes=(
            fix(
                "More host memory; fewer compile workers (TORCHINDUCTOR_COMPILE_THREADS=1); "
                "weights outside the library"
            ),
        ),
        guide="guides/host-crash.md#killed-by-the-system",
        next_tool="check_environment",
        matches=(quoted("Killed", "shell text"), quoted("exit code 137", "container text")),
        neighbours=(quoted("Killed 3 idle workers", "ordinary log line"),),
        apart_from=("host_abort", "compiler_killed"),
    ),
)
