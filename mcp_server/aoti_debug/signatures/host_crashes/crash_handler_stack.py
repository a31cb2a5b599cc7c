from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
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
    check=("Is a frame of the model's .so, of a kernel (cpp_...) or of torch below the handler's?"),
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
)
