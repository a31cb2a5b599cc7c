from aoti_debug.signatures.signature import Sample, Signature

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
    ),
    patterns=(
        (
            r"terminate called (?:after throwing an instance of '(?:[\w:]+)'|"
            "without an active exception|recursively)|Fatal Python error: Aborted|"
            r"\bSIGABRT\b|exit (?:code|status)\s*:?\s*134|Aborted \(core dumped\)|"
            r"libc\+\+abi: terminating"
        ),
    ),
    summary="The process ended itself after an error that nobody caught",
    means=(
        "An exception left a destructor or a C++ program without a handler. `what():` on "
        "the next line and the messages above carry the reason."
    ),
    mistaken_for="A crash of its own",
    check="Read what(): and everything on stderr before it",
    guide="guides/host-crash.md#abort-and-terminate",
    next_tool="triage",
    matches=(
        Sample(
            "terminate called after throwing an instance of 'c10::AcceleratorError'",
            "recorded",
            "torch 2.11, H200",
        ),
        Sample(
            "terminate called after throwing an instance of 'std::runtime_error'",
            "recorded",
            "torch 2.11, H200",
        ),
        Sample("Fatal Python error: Aborted", "recorded", "CPython 3.11 faulthandler"),
    ),
)
