from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="host_segfault",
    family="I",
    phase="run",
    category="host_segfault",
    role="symptom",
    anchors=(
        "exit code",
        "exit status",
        "exited with",
        "exception: code",
        "exception code",
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
        "AOTI_RUNTIME_CHECK_INPUTS=1 on the same call; then the native stack (gdb batch or core)"
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
)
