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
            "bus error",
            "signal 11",
            "exitcode: -11",
            "exit code -11",
            "exit code: -11",
            "Windows fatal exception: ",
            "0xC0000005",
            "0xc0000005",
            "-1073741819",
            "3221225477",
            "Signal code: Address not mapped",
            "address not mapped to object",
            "ucs_handle_error",
            "AddressSanitizer: SEGV",
            "DEADLYSIGNAL",
            "access violation",
            "dereferencing Unified Memory from the host",
        ),
        patterns=(
            (
                "Fatal Python error: (?:Segmentation fault|Bus error)|[Ss]egmentation fault(?! in "
                r"tinygemm)|\bSIGSEGV\b|exit (?:code|status)\s{0,20}:?\s{0,20}139|Caught signal 11"
                r"|EXC_BAD_ACCESS|[Bb]us error|signal 11\b|exitcode: -11|may have hit an error "
                "when dereferencing Unified Memory from the host"
            ),
            (
                r"exit code:? -11\b|Windows fatal exception: (?!code 0xc0000374|stack overflow)"
                r"|0x[cC]0000005|-1073741819|\b3221225477\b|[Aa]ddress not mapped"
                r"|ucs_handle_error\b|AddressSanitizer: SEGV|Sanitizer:DEADLYSIGNAL"
                "|OSError: exception: access violation"
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
            quoted("Windows fatal exception: access violation", "words of faulthandler"),
            quoted("Process finished with exit code -1073741819 (0xC0000005)", "words of an IDE"),
            quoted(
                " 0  /opt/ucx/lib/libucs.so.0(ucs_handle_error+0x2e4) [0x7f0000003774]",
                "form of UCX's backtrace",
            ),
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
            "Abort trap: 6",
            "Assertion failed: (",
            ": Assertion `",
        ),
        patterns=(
            (
                r"terminate called (?:after throwing an instance of '(?:[\w:]{1,200})'|without an "
                r"active exception|recursively)|Fatal Python error: Aborted|\bSIGABRT\b|exit "
                r"(?:code|status)\s{0,20}:?\s{0,20}134|Aborted \(core dumped\)"
                r"|libc\+\+abi: terminating"
                r"|Abort trap: 6|^Assertion failed: \("
            ),
            r"^\S{1,80}: \S{1,300}:\d{1,7}: .{1,600}: Assertion `.{1,300}' failed\.",
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
            quoted("Abort trap: 6", "words of a shell on macOS"),
            quoted(
                "python3: malloc.c:2617: sysmalloc: Assertion `(old_top == initial_top (av))' "
                "failed.",
                "words of glibc",
            ),
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
            "attempting double-free",
            "alloc-dealloc-mismatch",
            "corrupted double-linked list",
            "realloc(): ",
            "unaligned tcache chunk",
            "stack smashing detected",
            "buffer overflow detected",
            "pointer being freed was not allocated",
            "0xC0000374",
            "0xc0000374",
            "-1073740940",
            "-1073740791",
            "0xC0000409",
            "0xc0000409",
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
            recorded(
                "*** stack smashing detected ***: terminated", "glibc 2.36, a program of ours"
            ),
            quoted("Windows fatal exception: code 0xc0000374", "words of faulthandler"),
        ),
    ),
    Signature(
        id="host_illegal_instruction",
        family="I",
        phase="run",
        category="package_incompatible",
        weight=66,
        anchors=(
            "Illegal instruction",
            "SIGILL",
            "exit code 132",
            "Caught signal 4",
            "-1073741795",
            "0xC000001D",
        ),
        patterns=(
            (
                r"(?:Fatal Python error: )?Illegal instruction|\bSIGILL\b|exit (?:code"
                r"|status)\s{0,20}:?\s{0,20}132|Caught signal 4\b|-1073741795|0x[cC]000001[dD]"
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
                r"^\s{0,20}Killed\s{0,20}$|: {1,20}\d{1,20} Killed\b|oom[-_]kill"
                r"|Out of memory: Kill|exit (?:code"
                r"|status)\s{0,20}:?\s{0,20}137|\bSIGKILL\b|OOMKilled|exitcode: -9"
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
    Signature(
        id="crash_handler_stack",
        family="I",
        phase="run",
        category="host_segfault",
        role="envelope",
        weight=22,
        confidence="possible",
        anchors=(
            "==== backtrace (tid:",
            "*** Process received signal ***",
            "*** SIG",
            "*** Aborted at ",
            "failure_signal_handler",
            "Fatal signal ",
            "Stack dump:",
            "Trace/breakpoint trap",
            "died with <Signals.SIG",
            "terminated by signal ",
            "Caught signal ",
            "EXCEPTION_ACCESS_VIOLATION",
            "# A fatal error has been detected by the Java",
            "Unhandled exception at 0x",
        ),
        patterns=(
            (
                r"==== backtrace \(tid: {0,10}\d{1,20}\)"
                r"|\*\*\* Process received signal \*\*\*|\*\*\* "
                r"SIG(?:SEGV|BUS|FPE|ABRT|ILL)\b|\*\*\* Aborted at \d{1,20}|Fatal signal \d{1,20} "
                r"\(SIG|Trace/breakpoint trap\b|died with "
                r"<Signals\.SIG(?!TERM|INT|KILL)|terminated by signal "
                r"(?:SIG)?(?:SEGV|BUS|ABRT|6|7|11)\b|Caught signal "
                r"(?:6|7|8)\b|EXCEPTION_ACCESS_VIOLATION|fatal error has been detected by the "
                "Java|Unhandled exception at 0x"
            ),
            r"^Stack dump:\s{0,20}$",
        ),
        summary="A crash handler caught a fatal signal; the frames below it name the place",
        means=(
            "UCX, Open MPI, Abseil, glog, LLVM and Java print stacks of their own. The first "
            "frames are the handler's; the fault is in the first frame below them."
        ),
        mistaken_for="A fault of UCX, MPI or Java, whose handler only reports it",
        check=(
            "Is a frame of the model's .so, of a kernel (cpp_...) or of torch below the handler's?"
        ),
        fixes=(
            fix(
                "Get a native stack (gdb batch or core) and read the innermost frame that is not "
                "the handler's"
            ),
        ),
        guide="guides/host-crash.md#native-stack-by-hand",
        next_tool="triage",
        matches=(
            quoted("==== backtrace (tid:   1300) ====", "form of UCX's handler"),
            quoted("[n1:00811] *** Process received signal ***", "form of Open MPI's handler"),
            quoted(
                "*** SIGABRT (@0x3e800000fd3) received by PID 4051 (TID 0x7f) from PID 4051; "
                "stack trace: ***",
                "form of glog's handler",
            ),
            quoted("Stack dump:", "form of LLVM's handler"),
        ),
    ),
    Signature(
        id="compile_process_died",
        family="I",
        phase="triton_compile",
        category="host_segfault",
        weight=58,
        anchors=(
            "compilation subprocess exited unexpectedly",
            "process pool was terminated abruptly",
            "BrokenProcessPool",
            "SubprocPool unclean exit",
            "terminated unexpectedly while the future was running",
        ),
        patterns=(
            (
                "A compilation subprocess exited unexpectedly|(?:A process in the process pool "
                "was|A child process) terminated "
                "(?:abruptly|unexpectedly)|BrokenProcessPool|SubprocPool unclean exit"
            ),
        ),
        summary="A worker process that compiled kernels died",
        means=(
            "The compiler (Triton, LLVM, ptxas) crashed in the worker, or the system killed it "
            "for memory. The parent knows no more."
        ),
        mistaken_for="A failure of the parent process",
        check=(
            "Compile in the process itself: TORCHINDUCTOR_COMPILE_THREADS=1; dmesg for an "
            "out-of-memory kill."
        ),
        fixes=(
            fix(
                "Read the crash that shows with TORCHINDUCTOR_COMPILE_THREADS=1; give more "
                "memory if it was killed"
            ),
        ),
        guide="guides/host-crash.md#crash-while-compiling",
        next_tool="triage",
        matches=(
            quoted(
                "RuntimeError: A compilation subprocess exited unexpectedly. This is likely due "
                "to a crash.",
                "words of torch/_inductor/async_compile.py",
            ),
            quoted(
                "concurrent.futures.process.BrokenProcessPool: A process in the process pool was "
                "terminated abruptly while the future was running or pending.",
                "words of CPython",
            ),
        ),
    ),
    Signature(
        id="library_assertion",
        family="I",
        phase="run",
        category="host_segfault",
        weight=48,
        anchors=(
            "Assertion '__n < this->size()' failed",
            "vector::_M_range_check",
            "basic_string::",
            "pure virtual method called",
            "std::length_error",
            "bad_function_call",
            "bad_variant_access",
            "bad_optional_access",
            "map::at",
            "Fatal Python error: ",
            "std::out_of_range",
            "unordered_map::at",
            "stl_vector.h:",
        ),
        patterns=(
            (
                r"stl_\w{1,20}\.h:\d{1,20}: .{0,400}Assertion '.{1,80}' "
                "failed|vector::_M_(?:range_check|default_append|realloc_insert)|pure virtual "
                "method called|instance of "
                "'std::(?:out_of_range|length_error|logic_error|bad_function_call"
                r"|bad_variant_access|bad_optional_access)'|what\(\):\s{1,4}(?:_Map_base::at"
                "|map::at|unordered_map::at|stoi|stol)|Fatal Python error: (?!Segmentation|Bus "
                "error|Aborted|Illegal|Floating|init_|Py_Initialize|config_|_Py|Cannot "
                r"recover|MemoryError)\w.{0,100}"
            ),
        ),
        summary=(
            "A C++ library or the interpreter found its own state broken and stopped the process"
        ),
        means=(
            "An index beyond a vector, a missing key, a call on an object that is gone or a "
            "reference count gone wrong: arguments of the wrong number, mixed C++ ABIs or a "
            "damaged heap lead to it."
        ),
        mistaken_for="An error of the library named",
        check="The native stack: who called with which size?",
        fixes=(
            fix(
                "Check number, order and lifetime of inputs and constants that the C++ program "
                "passes"
            ),
        ),
        guide="guides/host-crash.md#abort-and-terminate",
        next_tool="triage",
        matches=(
            recorded(
                "  what():  vector::_M_range_check: __n (which is 3) >= this->size() (which is 0)",
                "libstdc++ 12, a program of ours",
            ),
            recorded(
                "/usr/include/c++/12/bits/stl_vector.h:1123: std::vector<_Tp, _Alloc>::reference "
                "operator[](size_type): Assertion '__n < this->size()' failed.",
                "libstdc++ 12, a program of ours, shortened",
            ),
            recorded(
                "terminate called after throwing an instance of 'std::out_of_range'",
                "libstdc++ 12, a program of ours",
            ),
            quoted("Fatal Python error: none_dealloc: deallocating None", "words of CPython"),
        ),
        neighbours=(
            quoted(
                "Fatal Python error: init_fs_encoding: failed to get the Python codec of the "
                "filesystem encoding",
                "a broken PYTHONHOME",
            ),
        ),
        apart_from=(
            "host_abort",
            "host_segfault",
            "host_illegal_instruction",
            "cpu_out_of_memory",
        ),
    ),
    Signature(
        id="threads_exhausted",
        family="O",
        phase="run",
        category="out_of_memory",
        weight=56,
        confidence="possible",
        anchors=(
            "can't start new thread",
            "pthread_create failed",
            "pthread_create: Resource temporarily",
            "fork: retry: Resource temporarily unavailable",
            "fork: Cannot allocate memory",
            "out of shared memory",
            "insufficient shared memory",
            "The paging file is too small",
            "[WinError 1455]",
            "[WinError 8]",
            "[Errno 11] Resource temporarily",
        ),
        patterns=(
            (
                r"(?P<what>can't start new thread|pthread_create (?:failed|\(\) "
                "failed).{0,60}|fork: (?:retry: )?(?:Resource temporarily unavailable|Cannot "
                "allocate memory)|(?:out of|insufficient) shared memory|[Tt]he paging file is too "
                r"small|\[WinError (?:1455|8)\]|\[Errno 11\] Resource temporarily unavailable)"
            ),
        ),
        summary="The system gives the process no more memory, threads or processes: {what}",
        means=(
            "A limit of the container or system is reached: number of processes, /dev/shm, "
            "address space, or the page file on Windows. Many compile workers and OpenMP threads "
            "reach it first."
        ),
        mistaken_for="A fault of the model",
        check="ulimit -a; the container's pids and memory limits; df /dev/shm.",
        fixes=(
            fix(
                "Raise the limit, or start fewer: TORCHINDUCTOR_COMPILE_THREADS=1, OMP_NUM_THREADS"
            ),
            fix("On Windows enlarge the page file; in Docker give --shm-size or --ipc=host"),
        ),
        guide="guides/host-crash.md#killed-by-the-system",
        next_tool="check_environment",
        matches=(
            quoted("RuntimeError: can't start new thread", "words of CPython"),
            quoted(
                "OSError: [WinError 1455] The paging file is too small for this operation to "
                "complete.",
                "words of Windows",
            ),
        ),
    ),
)
