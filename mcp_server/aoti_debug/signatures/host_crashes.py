"""Deaths of the process on the host, and memory that ran out."""

TABLE = r"""
compile_process_died triton_compile host_segfault GENERAL_TEXT
    summary A worker process that compiled kernels died
    means The compiler (Triton, LLVM, ptxas) crashed in the worker, or the system killed it for memory. The parent knows no more.
    check Compile in the process itself: TORCHINDUCTOR_COMPILE_THREADS=1; dmesg for an out-of-memory kill.
    fix Read the crash that shows with TORCHINDUCTOR_COMPILE_THREADS=1; give more memory if it was killed
    guide host-crash.md#crash-while-compiling
    pattern A compilation subprocess exited unexpectedly
    pattern A process in the process pool was terminated (?:abruptly|unexpectedly)
    pattern BrokenProcessPool || SubprocPool unclean exit
    unconfirmed A child process terminated (?:abruptly|unexpectedly)
crash_handler_stack run host_segfault VAGUE_TEXT envelope possible
    summary A crash handler caught a fatal signal; the frames below it name the place
    means UCX, Open MPI, Abseil, glog, LLVM and Java print stacks of their own. The first frames are the handler's; the fault is in the first frame below them.
    check Is a frame of the model's .so, of a kernel (cpp_...) or of torch below the handler's?
    fix Get a native stack (gdb batch or core) and read the innermost frame that is not the handler's
    guide host-crash.md#native-stack-by-hand
    pattern ==== backtrace \(tid: {0,10}\d{1,20}\) || \*\*\* Process received signal \*\*\*
    pattern \*\*\* (?:SIGSEGV|SIGABRT)\b || \*\*\* Aborted at \d{1,20} || Unhandled exception at 0x
    pattern ^Stack dump:\s{0,20}$
    unconfirmed \*\*\* (?:SIGBUS|SIGFPE|SIGILL)\b || Fatal signal \d{1,20} \(SIG
    unconfirmed Trace/breakpoint trap\b || died with <Signals\.SIG(?!TERM|INT|KILL)
    unconfirmed terminated by signal (?:SIG)?(?:SEGV|BUS|ABRT|6|7|11)\b || Caught signal (?:6|7|8)\b
    unconfirmed EXCEPTION_ACCESS_VIOLATION || fatal error has been detected by the Java
    example [Open MPI's handler] [n1:00811] *** Process received signal ***
    example [LLVM's handler] Stack dump:
host_abort run host_segfault VAGUE_TEXT envelope possible
    summary The process aborted after an uncaught error
    means An exception was uncaught, or a destructor threw. `what():` on the next line and the messages above carry the reason.
    check Read what(): and everything on stderr before it
    guide host-crash.md#abort-and-terminate
    anchor SIGABRT
    pattern terminate called after throwing an instance of '[\w:]{1,200}'
    pattern Fatal Python error: Aborted
    unconfirmed exit (?:code|status)\s{0,20}:?\s{0,20}134
    pattern Aborted \(core dumped\) || Abort trap: 6
    pattern ^\S{1,80}: \S{1,300}:\d{1,7}: .{1,600}: Assertion `.{1,300}' failed\.
    unconfirmed terminate called without an active exception || terminate called recursively
    unconfirmed \bSIGABRT\b || libc\+\+abi: terminating || ^Assertion failed: \(
    example [a shell on macOS] Abort trap: 6
host_heap_corruption run host_segfault GENERAL_TEXT symptom
    summary The host heap is damaged; the allocator found it some time later
    means Something wrote past a block or freed it twice. In AOTI that is a custom op returning less than its fake kernel promised, constants freed by their owner, or violated sizes in a CPU package.
    check AOTI_RUNTIME_CHECK_INPUTS=1: torch 2.13 and later also checks what fallback ops return
    fix Test custom ops with torch.library.opcheck; keep user-managed constants alive longer than the model
    guide host-crash.md#heap-errors
    anchor exit code || exit status || exited with || exception code || exception: code
    pattern \bcorrupted size vs\. prev_size || \bdouble free or corruption
    pattern ^(?:\*\*\* Error in .{0,200}: )?free\(\): [\w ,]{3,40}
    pattern \b(?:free|realloc|malloc)\(\): (?:invalid|double free|unaligned|corrupted|mismatching|unsorted|memory corruption)
    pattern \*\*\* stack smashing detected || 0x[cC]0000374
    unconfirmed ^(?:\*\*\* Error in .{0,200}: )?malloc\(\): [\w ,]{3,60}
    unconfirmed \bmunmap_chunk\(\): invalid pointer
    unconfirmed ^(?:\*\*\* Error in .{0,200}: )?malloc_consolidate\(\): [\w ,]{3,40}
    unconfirmed AddressSanitizer: heap-[\w-]{1,200} || corrupted double-linked list
    unconfirmed \*\*\* buffer overflow detected || unaligned tcache chunk
    unconfirmed pointer being freed was not allocated || 0x[cC]0000409 || -1073740940 || -1073740791
    unconfirmed AddressSanitizer: (?:attempting|alloc-dealloc|stack-|global-|container-)[\w-]{1,200}
    example [glibc] double free or corruption (!prev)
    recorded [glibc 2.36, a program of ours] free(): double free detected in tcache 2
    recorded [glibc 2.36, a program of ours] *** stack smashing detected ***: terminated
    example [faulthandler] Windows fatal exception: code 0xc0000374
host_illegal_instruction run package_incompatible KIND_TEXT inspect_package
    summary The CPU does not have an instruction that was executed
    means The package was compiled with vector instructions (AVX-512, AMX, SVE) of another machine. Nothing is wrong with the model.
    check Compare AOTI_CPU_ISA of the package with the flags in /proc/cpuinfo
    fix Compile on the oldest CPU that has to run it, or (torch 2.13 and later) with ATEN_CPU_CAPABILITY=avx2 TORCHINDUCTOR_CPP_MARCH=x86-64-v3; the first alone leaves -march=native
    guide host-crash.md#illegal-instruction
    anchor exit code || exit status || exited with || exception code
    pattern (?:Fatal Python error: )?Illegal instruction
    unconfirmed exit (?:code|status)\s{0,20}:?\s{0,20}132 || \bSIGILL\b || Caught signal 4\b
    unconfirmed -1073741795 || 0x[cC]000001[dD]
    example [CPython text] Fatal Python error: Illegal instruction
    unlike example CUDA error: an illegal instruction was encountered
host_segfault run host_segfault GENERAL_TEXT symptom
    summary The process died on an invalid memory access of the host
    means Generated CPU code, the loader or a native op touched memory it does not own. Usual reasons: a CUDA pointer in a CPU package, missing constants, violated sizes, a mix of C++ ABIs.
    check AOTI_RUNTIME_CHECK_INPUTS=1 on the same call; then the native stack (gdb batch or core)
    fix Check device, dtype and sizes of the inputs; get the wrapper.cpp line from a native stack
    anchor Segmentation fault || SIGSEGV || exit code || exit status
    pattern \bSegfault \(?core dumped || [Ss]egmentation fault(?! in tinygemm) || \bSIGSEGV\b
    pattern exit (?:code|status)\s{0,20}:?\s{0,20}139 || EXC_BAD_ACCESS || [Bb]us error
    pattern may have hit an error when dereferencing Unified Memory from the host
    pattern exit code:? -11\b || Windows fatal exception: (?!code 0xc0000374|stack overflow)
    pattern 0x[cC]0000005 || -1073741819 || ucs_handle_error\b
    unconfirmed signal 11\b || exitcode: -11 || \b3221225477\b || [Aa]ddress not mapped
    unconfirmed AddressSanitizer: SEGV || Sanitizer:DEADLYSIGNAL
    unconfirmed OSError: exception: access violation
    example [faulthandler] Windows fatal exception: access violation
    example [an IDE] Process finished with exit code -1073741819 (0xC0000005)
    recorded [compute-sanitizer on the H200, the process ended with SIGSEGV] =========     The application may have hit an error when dereferencing Unified Memory from the host.
library_assertion run host_segfault BROAD_TEXT
    summary A C++ library or the interpreter found its state invalid and stopped the process
    means An index beyond a vector, a missing key, a call on a deleted object or a wrong reference count: arguments of the wrong number, mixed C++ ABIs or a damaged heap lead to it.
    check The native stack: who called with which size?
    fix Check number, order and lifetime of inputs and constants that the C++ program passes
    guide host-crash.md#abort-and-terminate
    pattern stl_\w{1,20}\.h:\d{1,20}: .{0,400}Assertion '.{1,80}' failed
    pattern vector::_M_(?:range_check|default_append|realloc_insert) || pure virtual method called
    pattern instance of 'std::(?:out_of_range|length_error|logic_error|bad_function_call|bad_variant_access|bad_optional_access)'
    pattern what\(\):\s{1,4}unordered_map::at
    pattern Fatal Python error: (?!Segmentation|Bus error|Aborted|Illegal|Floating|init_|Py_Initialize|config_|_Py|Cannot recover|MemoryError)\w
    unconfirmed what\(\):\s{1,4}(?:_Map_base|map)::at || what\(\):\s{1,4}(?:stoi|stol)
    recorded [libstdc++ 12, a program of ours] terminate called after throwing an instance of 'std::out_of_range'
    example [CPython] Fatal Python error: none_dealloc: deallocating None
    unlike example [a broken PYTHONHOME] Fatal Python error: init_fs_encoding: failed to get the Python codec of the filesystem encoding
process_killed run out_of_memory KIND_TEXT symptom check_environment
    summary The operating system killed the process, almost always because memory ran out
    means Compiling large models or large embedded constants takes many gigabytes of host memory; the compiler process (cc1plus, ld) is a frequent victim.
    check dmesg or the container's memory events at that time
    fix More host memory; fewer compile workers (TORCHINDUCTOR_COMPILE_THREADS=1); weights outside the library
    guide host-crash.md#killed-by-the-system
    anchor Killed || oom-kill || SIGKILL || exit code || exit status
    pattern ^\s{0,20}Killed\s{0,20}$
    unconfirmed exit (?:code|status)\s{0,20}:?\s{0,20}137 || : {1,20}\d{1,20} Killed\b
    unconfirmed oom[-_]kill || Out of memory: Kill || \bSIGKILL\b || OOMKilled || exitcode: -9
    example [shell text] Killed
    unlike example [ordinary log line] Killed 3 idle workers
threads_exhausted run out_of_memory GENERAL_TEXT possible check_environment
    summary The system gives the process no more memory, threads or processes: {what}
    means A limit of the container or system is reached: number of processes, /dev/shm, address space, or the page file on Windows. Many compile workers and OpenMP threads reach it first.
    check ulimit -a; the container's pids and memory limits; df /dev/shm.
    fix Raise the limit, or start fewer: TORCHINDUCTOR_COMPILE_THREADS=1, OMP_NUM_THREADS
    fix On Windows enlarge the page file; in Docker give --shm-size or --ipc=host
    guide host-crash.md#killed-by-the-system
    pattern can't start new thread || out of shared memory || insufficient shared memory
    pattern [Tt]he paging file is too small || \[WinError (?:1455|8)\]
    unconfirmed pthread_create (?:\(\) )?failed.{0,60}
    unconfirmed fork: (?:retry: )?(?:Resource temporarily unavailable|Cannot allocate memory)
    unconfirmed \[Errno 11\] Resource temporarily unavailable
    example [CPython] RuntimeError: can't start new thread
    example [Windows] OSError: [WinError 1455] The paging file is too small for this operation to complete.
allocation_call_failed run out_of_memory KIND_TEXT symptom
    summary The model could not allocate one of its buffers
    means Up to torch 2.12 the exception of an out-of-memory error says no more than this; the allocator's text is on stderr. Negative or absurd sizes and a lost CUDA context end here too.
    check The message on stderr directly above
    fix Reduce batch size or free memory; when sizes are absurd, check the dynamic dimensions
    pattern ^(?=.{0,300} API call failed).{0,300}\baoti_torch_empty_strided\w{0,40}\(
cpu_out_of_memory run out_of_memory SPECIFIC_TEXT
    summary The host ran out of memory
    means An allocation in main memory failed. A size far beyond the machine points to an unexpected dynamic dimension rather than to a lack of memory.
    check Is the number of bytes plausible for the sizes passed in?
    fix Check the dynamic sizes of the failing call; give the container more memory
    pattern DefaultCPUAllocator: can't allocate memory || std::bad_alloc || ^MemoryError\b
    pattern insufficient shared memory \(shm\)
    unconfirmed posix_memalign\(.{0,80}\) == 0\.[ ]{1,2}12 vs 0
    unconfirmed DefaultCPUAllocator: not enough memory
    unconfirmed (?:InductorError|\w{1,40}Error): MemoryError\b || _ArrayMemoryError
    unconfirmed \[Errno 12\] Cannot allocate memory || : Cannot allocate memory \(12\)
    unconfirmed Unable to allocate [\d.]{1,200} [KMGTP]i?B || paging file is too small
    unconfirmed Not enough memory resources are available || compiler is out of heap space
    recorded RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 400000000000000 bytes.
cuda_out_of_memory run out_of_memory SPECIFIC_TEXT proved check_environment
    summary The GPU ran out of memory
    means An allocation failed: the model's buffers, its constants (held once per loaded package), or tensors made for tuning while compiling.
    check Memory in use by this and other processes (nvidia-smi) at the time
    fix Free the eager model before loading the package; load one package per process
    fix When it happens while compiling: TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0 or, on 2.15, aot_inductor.autotune_per_kernel_alloc
    anchor out of memory || OutOfMemoryError || OOM on device
    unconfirmed \bOOM on device \d
    pattern Tried to allocate [\d.]{1,200} ?[KMGT]i?B || Allocation on device (?:\d|would)
    pattern would exceed allowed memory
    pattern (?i:(?:cuda|hip|gpu|device|vram|npu|xpu|mps)[^.]{0,60}(?:ran |run )?out of memory)
    pattern (?:torch\.|cuda\.)OutOfMemoryError(?!: out of resource)
    pattern (?:cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY)
    unconfirmed (?:hipErrorOutOfMemory|OUT_OF_DEVICE_MEMORY|kIOGPUCommandBufferCallbackErrorOutOfMemory)
    unconfirmed Invalid buffer size: [\d.]{1,200} [GT] || NVML_SUCCESS == r INTERNAL ASSERT
    unconfirmed cuda runtime error \(2\) || cudaMalloc failed || Failed to allocate memory on GPU
    example [cudaMallocAsync's allocator] torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory.
    unlike example triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 131072, Hardware limit: 101376.
library_alloc_failed run out_of_memory SPECIFIC_TEXT check_environment
    summary A CUDA library could not get its workspace: {what}
    means Handles and workspaces of cuBLAS and cuDNN come after the model's tensors, so a full GPU shows here first; after an earlier GPU fault these calls fail too.
    check nvidia-smi: how much is free just before? Any GPU message before this one?
    fix Free memory or reduce the batch; look for an earlier GPU message
    pattern CU(?:BLAS|DNN|SOLVER|SPARSE)_STATUS_ALLOC_FAILED
    pattern (?:CUFFT_ALLOC_FAILED|CURAND_STATUS_ALLOCATION_FAILED|NVRTC_ERROR_OUT_OF_MEMORY)
    unconfirmed Unable to find a valid cuDNN algorithm
    unconfirmed unable to find an engine to execute this computation
    unconfirmed CUDNN_STATUS_INTERNAL_ERROR_\w{4,6}_ALLOCATION_FAILED
"""
