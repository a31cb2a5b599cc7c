from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="two_torch_libraries",
    family="E",
    phase="environment",
    category="package_incompatible",
    weight=72,
    confidence="possible",
    anchors=("Tried to register multiple backend fallbacks",),
    patterns=(
        (
            r"Tried to register multiple backend fallbacks for the same dispatch key (?P<"
            r"key>\w{1,200})"
        ),
    ),
    summary="Two copies of PyTorch's libraries were loaded into one process",
    means=(
        "The second libtorch registers what the first has registered already: a bundled one "
        "(Java, another Python package, a system library) and the installed one meet."
    ),
    check="ldd, and `grep libtorch /proc/PID/maps`: is there more than one?",
    fixes=(fix("Keep one libtorch on the library path, and build all against it"),),
    guide="guides/package-and-load.md#two-runtimes-in-one-process",
    next_tool="check_environment",
    matches=(
        quoted(
            "RuntimeError: Tried to register multiple backend fallbacks for the same dispatch "
            "key Conjugate; previous registration",
            "words of libtorch_cpu",
        ),
    ),
)
