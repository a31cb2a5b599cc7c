from aoti_debug.signatures.signature import Signature, quoted, recorded

SIGNATURE = Signature(
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
            "python3: malloc.c:2617: sysmalloc: Assertion `(old_top == initial_top (av))' failed.",
            "words of glibc",
        ),
    ),
)
