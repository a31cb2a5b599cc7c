"""Deaths of the process on the host, and memory that ran out."""

from __future__ import annotations

from aoti_debug.facts.categories import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
    Signature(
        id="compile_process_died",
        phase="triton_compile",
        category="host_segfault",
        tier=Tier.GENERAL_TEXT,
        patterns=(
            "A compilation subprocess exited unexpectedly",
            "A process in the process pool was terminated (?:abruptly|unexpectedly)",
            "A child process terminated (?:abruptly|unexpectedly)",
            "BrokenProcessPool",
            "SubprocPool unclean exit",
        ),
        summary="A worker process that compiled kernels died",
        means=(
            "The compiler (Triton, LLVM, ptxas) crashed in the worker, or the system killed it for "
            "memory. The parent knows no more."
        ),
        check=(
            "Compile in the process itself: TORCHINDUCTOR_COMPILE_THREADS=1; dmesg for an "
            "out-of-memory kill."
        ),
        fixes=(
            fix(
                (
                    "Read the crash that shows with TORCHINDUCTOR_COMPILE_THREADS=1; give more "
                    "memory if it was killed"
                ),
            ),
        ),
        guide="guides/host-crash.md#crash-while-compiling",
        next_tool="triage",
        matches=(
            quoted(
                "RuntimeError: A compilation subprocess exited unexpectedly. This is likely due to a crash.",
                "words of torch/_inductor/async_compile.py",
            ),
            quoted(
                "concurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated abruptly while the future was running or pending.",
                "words of CPython",
            ),
            words("Python's process.py", "A child process terminated abruptly"),
            words("torch/_inductor/compile_worker/subproc_pool.py", "SubprocPool unclean exit"),
        ),
    ),
    Signature(
        id="crash_handler_stack",
        phase="run",
        category="host_segfault",
        role="envelope",
        tier=Tier.VAGUE_TEXT,
        confidence="possible",
        patterns=(
            r"==== backtrace \(tid: {0,10}\d{1,20}\)",
            r"\*\*\* Process received signal \*\*\*",
            r"\*\*\* SIGSEGV\b",
            r"\*\*\* SIGBUS\b",
            r"\*\*\* SIGFPE\b",
            r"\*\*\* SIGABRT\b",
            r"\*\*\* SIGILL\b",
            r"\*\*\* Aborted at \d{1,20}",
            r"Fatal signal \d{1,20} \(SIG",
            r"Trace/breakpoint trap\b",
            r"died with <Signals\.SIG(?!TERM|INT|KILL)",
            r"terminated by signal (?:SIG)?(?:SEGV|BUS|ABRT|6|7|11)\b",
            r"Caught signal (?:6|7|8)\b",
            "EXCEPTION_ACCESS_VIOLATION",
            "fatal error has been detected by the Java",
            "Unhandled exception at 0x",
            r"^Stack dump:\s{0,20}$",
        ),
        summary="A crash handler caught a fatal signal; the frames below it name the place",
        means=(
            "UCX, Open MPI, Abseil, glog, LLVM and Java print stacks of their own. The first "
            "frames are the handler's; the fault is in the first frame below them."
        ),
        check="Is a frame of the model's .so, of a kernel (cpp_...) or of torch below the handler's?",
        fixes=(
            fix(
                (
                    "Get a native stack (gdb batch or core) and read the innermost frame that is "
                    "not the handler's"
                ),
            ),
        ),
        guide="guides/host-crash.md#native-stack-by-hand",
        next_tool="triage",
        matches=(
            quoted("==== backtrace (tid:   1300) ====", "form of UCX's handler"),
            quoted("[n1:00811] *** Process received signal ***", "form of Open MPI's handler"),
            quoted(
                "*** SIGABRT (@0x3e800000fd3) received by PID 4051 (TID 0x7f) from PID 4051; stack trace: ***",
                "form of glog's handler",
            ),
            quoted("Stack dump:", "form of LLVM's handler"),
            words(
                "programs that were not at hand",
                "*** SIGSEGV",
                "*** SIGBUS",
                "*** SIGFPE",
                "*** SIGILL",
                "*** Aborted at 1",
                "Fatal signal 1 (SIG",
                "died with <Signals.SIG",
                "Caught signal 6",
                "fatal error has been detected by the Java",
                "Unhandled exception at 0x",
            ),
            words("glibc", "Trace/breakpoint trap"),
            words(
                "torch/distributed/elastic/multiprocessing/errors/error_handler.py",
                "terminated by signal SEGV",
            ),
            words("Python's test_faulthandler.py", "EXCEPTION_ACCESS_VIOLATION"),
        ),
    ),
    Signature(
        id="host_abort",
        phase="run",
        category="host_segfault",
        role="envelope",
        tier=Tier.VAGUE_TEXT,
        confidence="possible",
        anchors=("SIGABRT",),
        patterns=(
            r"terminate called after throwing an instance of '[\w:]{1,200}'",
            "terminate called without an active exception",
            "terminate called recursively",
            "Fatal Python error: Aborted",
            r"\bSIGABRT\b",
            r"exit code\s{0,20}:?\s{0,20}134",
            r"exit status\s{0,20}:?\s{0,20}134",
            r"Aborted \(core dumped\)",
            r"libc\+\+abi: terminating",
            "Abort trap: 6",
            r"^Assertion failed: \(",
            r"^\S{1,80}: \S{1,300}:\d{1,7}: .{1,600}: Assertion `.{1,300}' failed\.",
        ),
        summary="The process ended itself after an error that nobody caught",
        means=(
            "An exception left a destructor or a C++ program without a handler. `what():` on the "
            "next line and the messages above carry the reason."
        ),
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
                "python3: malloc.c:2617: sysmalloc: Assertion `(old_top == initial_top (av))' failed.",
                "words of glibc",
            ),
            words(
                "g++",
                "terminate called without an active exception",
                "terminate called recursively",
            ),
            words("torch/testing/_internal/common_distributed.py", "SIGABRT"),
            words("torch/multiprocessing/spawn.py", "exit code 134", "exit status 134"),
            words(
                "programs that were not at hand",
                "Aborted (core dumped)",
                "libc++abi: terminating",
                "Assertion failed: (",
            ),
        ),
    ),
    Signature(
        id="host_heap_corruption",
        phase="run",
        category="host_segfault",
        role="symptom",
        tier=Tier.GENERAL_TEXT,
        anchors=("exit code", "exit status", "exited with", "exception code", "exception: code"),
        patterns=(
            r"^(?:\*\*\* Error in .{0,200}: )?(?P<text>corrupted size vs\. prev_size)",
            r"^(?:\*\*\* Error in .{0,200}: )?(?P<text>double free or corruption)",
            r"^(?:\*\*\* Error in .{0,200}: )?(?P<text>free\(\): [\w ,]{3,40})",
            r"^(?:\*\*\* Error in .{0,200}: )?(?P<text>malloc\(\): [\w ,]{3,60})",
            r"^(?:\*\*\* Error in .{0,200}: )?(?P<text>munmap_chunk\(\): invalid pointer)",
            r"^(?:\*\*\* Error in .{0,200}: )?(?P<text>malloc_consolidate\(\): [\w ,]{3,40})",
            r"AddressSanitizer: (?P<asan>heap-[\w-]{1,200})",
            r"\bcorrupted size vs\. prev_size",
            r"\bdouble free or corruption",
            r"\b(?:free|realloc|malloc)\(\): invalid[\w ,]{0,60}",
            r"\b(?:free|realloc|malloc)\(\): double free[\w ,]{0,60}",
            r"\b(?:free|realloc|malloc)\(\): unaligned[\w ,]{0,60}",
            r"\b(?:free|realloc|malloc)\(\): corrupted[\w ,]{0,60}",
            r"\b(?:free|realloc|malloc)\(\): memory corruption[\w ,]{0,60}",
            r"\b(?:free|realloc|malloc)\(\): mismatching[\w ,]{0,60}",
            r"\b(?:free|realloc|malloc)\(\): unsorted[\w ,]{0,60}",
            r"\bmunmap_chunk\(\): invalid pointer",
            "corrupted double-linked list",
            r"\*\*\* stack smashing detected",
            r"\*\*\* buffer overflow detected",
            "unaligned tcache chunk",
            "pointer being freed was not allocated",
            "0x[cC]0000374",
            "0x[cC]0000409",
            "-1073740940",
            "-1073740791",
            r"AddressSanitizer: (?:attempting|alloc-dealloc|stack-|global-|container-)[\w-]{1,200}",
        ),
        summary="The host heap is damaged, found by the allocator some time after the deed",
        means=(
            "Something wrote past a block or freed it twice. In AOTI that is a custom op returning "
            "less than its fake kernel promised, constants freed by their owner, or violated sizes "
            "in a CPU package."
        ),
        check="AOTI_RUNTIME_CHECK_INPUTS=1: torch 2.13 and later also checks what fallback ops return",
        fixes=(
            fix(
                (
                    "Test custom ops with torch.library.opcheck; keep user-managed constants alive "
                    "longer than the model"
                ),
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
            words("Python's test_cmd_line.py", "malloc(): xxx"),
            words(
                "glibc",
                "munmap_chunk(): invalid pointer",
                "malloc_consolidate(): xxx",
                "free(): unaligned",
                "free(): corrupted",
                "free(): memory corruption",
                "free(): mismatching",
                "free(): unsorted",
                "corrupted double-linked list",
                "unaligned tcache chunk",
            ),
            words(
                "programs that were not at hand",
                "AddressSanitizer: heap-x",
                "*** buffer overflow detected",
                "pointer being freed was not allocated",
                "exit status 0xC0000409",
                "exited with 0xC0000409",
                "exception code 0xC0000409",
                "Process finished with exit code -1073740940",
                "Process finished with exit code -1073740791",
            ),
            words("CUDA", "AddressSanitizer: attemptingx"),
        ),
    ),
    Signature(
        id="host_illegal_instruction",
        phase="run",
        category="package_incompatible",
        tier=Tier.KIND_TEXT,
        anchors=("exit code", "exit status", "exited with", "exception code"),
        patterns=(
            "(?:Fatal Python error: )?Illegal instruction",
            r"\bSIGILL\b",
            r"exit code\s{0,20}:?\s{0,20}132",
            r"exit status\s{0,20}:?\s{0,20}132",
            r"Caught signal 4\b",
            "-1073741795",
            "0x[cC]000001[dD]",
        ),
        summary="The CPU met an instruction it does not have",
        means=(
            "The package was compiled with vector instructions (AVX-512, AMX, SVE) of another "
            "machine. Nothing is wrong with the model."
        ),
        check="Compare AOTI_CPU_ISA of the package with the flags in /proc/cpuinfo",
        fixes=(
            fix(
                (
                    "Compile on the oldest CPU that has to run it, or (torch 2.13 and later) with "
                    "ATEN_CPU_CAPABILITY=avx2 TORCHINDUCTOR_CPP_MARCH=x86-64-v3; the first alone "
                    "leaves -march=native"
                ),
            ),
        ),
        guide="guides/host-crash.md#illegal-instruction",
        next_tool="inspect_package",
        matches=(
            quoted("Fatal Python error: Illegal instruction", "CPython text"),
            quoted("Illegal instruction (core dumped)", "shell text"),
            words("libtorch", "SIGILL"),
            words("torch/multiprocessing/spawn.py", "exit code 132", "exit status 132"),
            words(
                "programs that were not at hand",
                "Caught signal 4",
                "Process finished with exit code -1073741795",
            ),
            words(
                "torch/cuda/_annotate_cuda_graph_trace.py",
                "exited with 0xC000001D",
                "exception code 0xC000001D",
            ),
        ),
        neighbours=(quoted("CUDA error: an illegal instruction was encountered"),),
    ),
    Signature(
        id="host_segfault",
        phase="run",
        category="host_segfault",
        role="symptom",
        tier=Tier.GENERAL_TEXT,
        anchors=(
            "Segmentation fault",
            "SIGSEGV",
            "exit code",
        ),
        patterns=(
            "Segfault core dumped",
            r"\bSegfault \(core dumped\)",
            "Fatal Python error: Segmentation fault",
            "Fatal Python error: Bus error",
            "[Ss]egmentation fault(?! in tinygemm)",
            r"\bSIGSEGV\b",
            r"exit code\s{0,20}:?\s{0,20}139",
            r"exit status\s{0,20}:?\s{0,20}139",
            "Caught signal 11",
            "EXC_BAD_ACCESS",
            "[Bb]us error",
            r"signal 11\b",
            "exitcode: -11",
            "may have hit an error when dereferencing Unified Memory from the host",
            r"exit code:? -11\b",
            "Windows fatal exception: (?!code 0xc0000374|stack overflow)",
            "0x[cC]0000005",
            "-1073741819",
            r"\b3221225477\b",
            "[Aa]ddress not mapped",
            r"ucs_handle_error\b",
            "AddressSanitizer: SEGV",
            "Sanitizer:DEADLYSIGNAL",
            "OSError: exception: access violation",
        ),
        summary="The process died on an invalid memory access of the host",
        means=(
            "Generated CPU code, the loader or a native op touched memory it does not own. Usual "
            "reasons: a CUDA pointer in a CPU package, missing constants, violated sizes, a mix of "
            "C++ ABIs."
        ),
        check=(
            "AOTI_RUNTIME_CHECK_INPUTS=1 on the same call; then the native stack (gdb batch or "
            "core)"
        ),
        fixes=(
            fix(
                (
                    "Check device, dtype and sizes of the inputs; get the wrapper.cpp line from a "
                    "native stack"
                ),
            ),
        ),
        guide="guides/host-crash.md#segfault-in-the-model",
        next_tool="triage",
        matches=(
            words("scripts' reports", "Segfault core dumped", "Segfault (core dumped)"),
            recorded("Fatal Python error: Segmentation fault", "CPython 3.11 faulthandler"),
            quoted("Windows fatal exception: access violation", "words of faulthandler"),
            quoted("Process finished with exit code -1073741819 (0xC0000005)", "words of an IDE"),
            quoted(
                " 0  /opt/ucx/lib/libucs.so.0(ucs_handle_error+0x2e4) [0x7f0000003774]",
                "form of UCX's backtrace",
            ),
            recorded(
                "=========     The application may have hit an error when dereferencing Unified Memory from the host.",
                "compute-sanitizer on the H200, the process ended with SIGSEGV",
            ),
            recorded('Thread 1 "python3" received signal SIGSEGV, Segmentation fault.', "gdb"),
            recorded(
                "bash: line 1:  8490 Segmentation fault      python -c 'import ctypes; ctypes.string_at(0)'"
            ),
            words(
                "programs that were not at hand",
                "Fatal Python error: Bus error",
                "Caught signal 11",
                "EXC_BAD_ACCESS",
                "exitcode: -11",
                "AddressSanitizer: SEGV",
                "Sanitizer:DEADLYSIGNAL",
                "OSError: exception: access violation",
            ),
            words(
                "torch/multiprocessing/spawn.py",
                "exit code 139",
                "exit status 139",
                "exit code -11",
            ),
            words("Python's test_regrtest.py", "exit code 3221225477"),
            words("glibc", "address not mapped"),
        ),
        apart_from=(
            "host_abort",
            "process_killed",
        ),
    ),
    Signature(
        id="library_assertion",
        phase="run",
        category="host_segfault",
        tier=Tier.BROAD_TEXT,
        anchors=("map::at", "what():  sto"),
        patterns=(
            r"stl_\w{1,20}\.h:\d{1,20}: .{0,400}Assertion '.{1,80}' failed",
            "vector::_M_(?:range_check|default_append|realloc_insert)",
            "pure virtual method called",
            (
                "instance of 'std::(?:out_of_range|length_error|logic_error|bad_function_call|"
                "bad_variant_access|bad_optional_access)'"
            ),
            r"what\(\):\s{1,4}_Map_base::at",
            r"what\(\):\s{1,4}map::at",
            r"what\(\):\s{1,4}unordered_map::at",
            r"what\(\):\s{1,4}stoi",
            r"what\(\):\s{1,4}stol",
            (
                "Fatal Python error: (?!Segmentation|Bus error|Aborted|Illegal|Floating|init_|"
                r"Py_Initialize|config_|_Py|Cannot recover|MemoryError)\w.{0,100}"
            ),
        ),
        summary="A C++ library or the interpreter found its own state broken and stopped the process",
        means=(
            "An index beyond a vector, a missing key, a call on an object that is gone or a "
            "reference count gone wrong: arguments of the wrong number, mixed C++ ABIs or a "
            "damaged heap lead to it."
        ),
        check="The native stack: who called with which size?",
        fixes=(
            fix(
                (
                    "Check number, order and lifetime of inputs and constants that the C++ program "
                    "passes"
                ),
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
                "/usr/include/c++/12/bits/stl_vector.h:1123: std::vector<_Tp, _Alloc>::reference operator[](size_type): Assertion '__n < this->size()' failed.",
                "libstdc++ 12, a program of ours, shortened",
            ),
            recorded(
                "terminate called after throwing an instance of 'std::out_of_range'",
                "libstdc++ 12, a program of ours",
            ),
            quoted("Fatal Python error: none_dealloc: deallocating None", "words of CPython"),
            words("c10/core/impl/PyInterpreter.h", "pure virtual method called"),
            words("triton", "what(): _Map_base::at"),
            words(
                "torch/testing/_internal/distributed/rpc/rpc_test.py",
                "what(): map::at",
                "  what():  stoi",
                "  what():  stol",
            ),
            words("libtorch", "what(): unordered_map::at"),
        ),
        neighbours=(
            quoted(
                "Fatal Python error: init_fs_encoding: failed to get the Python codec of the filesystem encoding",
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
        id="process_killed",
        phase="run",
        category="out_of_memory",
        role="symptom",
        tier=Tier.KIND_TEXT,
        anchors=(
            "Killed",
            "oom-kill",
            "SIGKILL",
        ),
        patterns=(
            r"^\s{0,20}Killed\s{0,20}$",
            r": {1,20}\d{1,20} Killed\b",
            "oom[-_]kill",
            "Out of memory: Kill",
            r"exit code\s{0,20}:?\s{0,20}137",
            r"exit status\s{0,20}:?\s{0,20}137",
            r"\bSIGKILL\b",
            "OOMKilled",
            "exitcode: -9",
        ),
        summary="The operating system killed the process, almost always for memory",
        means=(
            "Compiling large models or large embedded constants takes many gigabytes of host "
            "memory; the compiler process (cc1plus, ld) is a frequent victim."
        ),
        check="dmesg or the container's memory events at that time",
        fixes=(
            fix(
                (
                    "More host memory; fewer compile workers (TORCHINDUCTOR_COMPILE_THREADS=1); "
                    "weights outside the library"
                ),
            ),
        ),
        guide="guides/host-crash.md#killed-by-the-system",
        next_tool="check_environment",
        matches=(
            quoted("Killed", "shell text"),
            quoted("exit code 137", "container text"),
            words("torch/multiprocessing/spawn.py", ": 1 Killed", "exit status 137", "SIGKILL"),
            words(
                "programs that were not at hand",
                "oom-kill",
                "Out of memory: Kill",
                "OOMKilled",
                "exitcode: -9",
            ),
        ),
        neighbours=(quoted("Killed 3 idle workers", "ordinary log line"),),
        apart_from=(
            "host_abort",
            "compiler_killed",
        ),
    ),
    Signature(
        id="threads_exhausted",
        phase="run",
        category="out_of_memory",
        tier=Tier.GENERAL_TEXT,
        confidence="possible",
        patterns=(
            "(?P<what>can't start new thread)",
            "(?P<what>pthread_create failed.{0,60})",
            r"(?P<what>pthread_create \(\) failed.{0,60})",
            "(?P<what>fork: (?:retry: )?Resource temporarily unavailable)",
            "(?P<what>fork: (?:retry: )?Cannot allocate memory)",
            "(?P<what>out of shared memory)",
            "(?P<what>insufficient shared memory)",
            "(?P<what>[Tt]he paging file is too small)",
            r"(?P<what>\[WinError (?:1455|8)\])",
            r"(?P<what>\[Errno 11\] Resource temporarily unavailable)",
        ),
        summary="The system gives the process no more memory, threads or processes: {what}",
        means=(
            "A limit of the container or system is reached: number of processes, /dev/shm, address "
            "space, or the page file on Windows. Many compile workers and OpenMP threads reach it "
            "first."
        ),
        check="ulimit -a; the container's pids and memory limits; df /dev/shm.",
        fixes=(
            fix(
                "Raise the limit, or start fewer: TORCHINDUCTOR_COMPILE_THREADS=1, OMP_NUM_THREADS",
            ),
            fix("On Windows enlarge the page file; in Docker give --shm-size or --ipc=host"),
        ),
        guide="guides/host-crash.md#killed-by-the-system",
        next_tool="check_environment",
        matches=(
            quoted("RuntimeError: can't start new thread", "words of CPython"),
            quoted(
                "OSError: [WinError 1455] The paging file is too small for this operation to complete.",
                "words of Windows",
            ),
            words("CUDA", "pthread_create failedx"),
            words(
                "programs that were not at hand",
                "pthread_create () failedx",
                "[Errno 11] Resource temporarily unavailable",
            ),
            words("glibc", "fork: Resource temporarily unavailable"),
            words("Python's test_socket.py", "fork: Cannot allocate memory"),
            words("torch/_inductor/config.py", "out of shared memory"),
            words("libtorch", "insufficient shared memory"),
        ),
    ),
    Signature(
        id="allocation_call_failed",
        phase="run",
        category="out_of_memory",
        role="symptom",
        tier=Tier.KIND_TEXT,
        patterns=(r"^(?=.{0,300} API call failed).{0,300}\baoti_torch_empty_strided\w{0,40}\(",),
        summary="The model could not allocate one of its buffers",
        means=(
            "Up to torch 2.12 this line is all that an out-of-memory leaves in the exception; the "
            "allocator's own text is on stderr. Negative or absurd sizes and a lost CUDA context "
            "end here too."
        ),
        check="The message on stderr directly above",
        fixes=(
            fix(
                (
                    "Reduce batch size or free memory; when sizes are absurd, check the dynamic "
                    "dimensions"
                ),
            ),
        ),
        guide="guides/memory-and-time.md#out-of-memory-in-disguise",
        next_tool="triage",
        matches=(
            recorded(
                "Error: aoti_torch_empty_strided(2, int_array_1, int_array_2, cached_torch_dtype_float32, cached_torch_device_type_cpu, this->device_idx_, &buf1_handle) API call failed",
                "torch 2.13 CPU",
            ),
        ),
    ),
    Signature(
        id="cpu_out_of_memory",
        phase="run",
        category="out_of_memory",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            (
                "DefaultCPUAllocator: can't allocate memory(?:: you tried to allocate "
                r"(?P<bytes>\d{1,20}) bytes)?"
            ),
            (
                "DefaultCPUAllocator: not enough memory(?:: you tried to allocate "
                r"(?P<bytes>\d{1,20}) bytes)?"
            ),
            "std::bad_alloc",
            r"^MemoryError\b",
            r"(?:InductorError|\w{1,40}Error): MemoryError\b",
            "_ArrayMemoryError",
            r"\[Errno 12\] Cannot allocate memory",
            r": Cannot allocate memory \(12\)",
            r"Unable to allocate [\d.]{1,200} [KMGTP]i?B",
            "paging file is too small",
            r"insufficient shared memory \(shm\)",
            "Not enough memory resources are available",
            "compiler is out of heap space",
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
        matches=(
            recorded(
                "RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 400000000000000 bytes.",
                "torch 2.13 CPU",
            ),
            quoted("MemoryError: std::bad_alloc", "pytorch/pytorch#108761"),
            words(
                "programs that were not at hand",
                "DefaultCPUAllocator: not enough memory",
                ": Cannot allocate memory (12)",
                "paging file is too small",
                "Not enough memory resources are available",
                "compiler is out of heap space",
            ),
            words("Python's test_exceptions.py", "InductorError: MemoryError"),
            words("programs that were not at hand", "_ArrayMemoryError"),
            words("Python's test_socket.py", "[Errno 12] Cannot allocate memory"),
            words("triton", "Unable to allocate 1 GB"),
            words("libtorch", "insufficient shared memory (shm)"),
        ),
    ),
    Signature(
        id="cuda_out_of_memory",
        phase="run",
        category="out_of_memory",
        tier=Tier.SPECIFIC_TEXT,
        confidence="proved",
        anchors=(
            "out of memory",
            "OutOfMemoryError",
        ),
        patterns=(
            "hipErrorOutOfMemory",
            r"Tried to allocate [\d.]{1,200} ?[KMGT]i?B",
            r"Allocation on device (?:\d|would)",
            "OUT_OF_DEVICE_MEMORY",
            r"Invalid buffer size: [\d.]{1,200} [GT]",
            "kIOGPUCommandBufferCallbackErrorOutOfMemory",
            "NVML_SUCCESS == r INTERNAL ASSERT",
            r"cuda runtime error \(2\)",
            "would exceed allowed memory",
            "cudaMalloc failed",
            "Failed to allocate memory on GPU",
            "(?i:(?:cuda|hip|gpu|device|vram|npu|xpu|mps)[^.]{0,60}(?:ran |run )?out of memory)",
            "CUDA out of memory",
            "CUDA (?:driver )?error: out of memory",
            r"Triton Error \[CUDA\]: out of memory",
            "HIP error: out of memory",
            r"(?:torch\.|cuda\.)OutOfMemoryError(?!: out of resource)",
            "HIP out of memory",
            "XPU out of memory",
            "MPS backend out of memory",
            "cudaErrorMemoryAllocation",
            "CUDA_ERROR_OUT_OF_MEMORY",
        ),
        summary="The GPU ran out of memory",
        means=(
            "An allocation failed: the model's buffers, its constants (held once per loaded "
            "package), or tensors made for tuning while compiling."
        ),
        check="Memory in use by this and other processes (nvidia-smi) at the time",
        fixes=(
            fix("Free the eager model before loading the package; load one package per process"),
            fix(
                (
                    "When it happens while compiling: "
                    "TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0 or, on 2.15, "
                    "aot_inductor.autotune_per_kernel_alloc"
                ),
            ),
        ),
        guide="guides/memory-and-time.md#out-of-memory-in-disguise",
        next_tool="check_environment",
        matches=(
            quoted(
                "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate",
                "text of the CUDA allocator",
            ),
            quoted(
                "torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory.",
                "words of cudaMallocAsync's allocator",
            ),
            quoted("Error: CUDA driver error: out of memory", "generated wrapper"),
            words("triton", "hipErrorOutOfMemory"),
            words(
                "programs that were not at hand",
                "Tried to allocate 1GB",
                "OUT_OF_DEVICE_MEMORY",
                "kIOGPUCommandBufferCallbackErrorOutOfMemory",
                "NVML_SUCCESS == r INTERNAL ASSERT",
                "cuda runtime error (2)",
                "cudaMalloc failed",
                "Failed to allocate memory on GPU",
                "Triton Error [CUDA]: out of memory",
                "HIP error: out of memory",
                "HIP out of memory",
                "XPU out of memory",
                "MPS backend out of memory",
            ),
            words("programs that were not at hand", "Invalid buffer size: 1 G"),
            words(
                "torch/utils/hipify/cuda_to_hip_mappings.py",
                "cudaErrorMemoryAllocation",
                "CUDA_ERROR_OUT_OF_MEMORY",
            ),
        ),
        neighbours=(
            quoted(
                "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 131072, Hardware limit: 101376."
            ),
        ),
    ),
    Signature(
        id="library_alloc_failed",
        phase="run",
        category="out_of_memory",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "(?P<what>CU(?:BLAS|DNN|SOLVER|SPARSE)_STATUS_ALLOC_FAILED)",
            "(?P<what>Unable to find a valid cuDNN algorithm)",
            "(?P<what>unable to find an engine to execute this computation)",
            r"(?P<what>CUDNN_STATUS_INTERNAL_ERROR_\w{4,6}_ALLOCATION_FAILED)",
            "(?P<what>CUFFT_ALLOC_FAILED)",
            "(?P<what>CURAND_STATUS_ALLOCATION_FAILED)",
            "(?P<what>NVRTC_ERROR_OUT_OF_MEMORY)",
        ),
        summary="A CUDA library could not get its workspace: {what}",
        means=(
            "Handles and workspaces of cuBLAS and cuDNN come after the model's tensors, so a full "
            "GPU shows here first; after an earlier GPU fault these calls fail too."
        ),
        check="nvidia-smi: how much is free just before? Any GPU message before this one?",
        fixes=(fix("Free memory or reduce the batch; look for an earlier GPU message"),),
        guide="guides/memory-and-time.md#out-of-memory-in-disguise",
        next_tool="check_environment",
        matches=(
            quoted(
                "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
                "common form in public threads",
            ),
            words(
                "programs that were not at hand",
                "Unable to find a valid cuDNN algorithm",
                "unable to find an engine to execute this computation",
                "CUDNN_STATUS_INTERNAL_ERROR_xxxx_ALLOCATION_FAILED",
            ),
            words(
                "torch/utils/hipify/cuda_to_hip_mappings.py",
                "CUFFT_ALLOC_FAILED",
                "CURAND_STATUS_ALLOCATION_FAILED",
                "NVRTC_ERROR_OUT_OF_MEMORY",
            ),
        ),
    ),
)
