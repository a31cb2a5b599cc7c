from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="two_copies_of_a_library",
    family="F",
    phase="environment",
    category="toolchain",
    weight=72,
    anchors=(
        "Tried to register multiple backend fallbacks",
        "CommandLine Error: Option '",
        "inconsistency in registered CommandLine options",
        "File already exists in database: ",
        "GeneratedDatabase()->Add",
        "Protocol Buffer runtime library",
        "Descriptors cannot be created directly",
        "Descriptors cannot not be created directly",
        "[libprotobuf FATAL",
        "is already registered!",
        "numpy.dtype size changed",
        "A module that was compiled using NumPy",
        "compiled against API version",
        "compiled against ABI version",
        "INTEL MKL ERROR: ",
        "Intel MKL FATAL ERROR",
    ),
    patterns=(
        (
            "(?P<what>Tried to register multiple backend fallbacks for the same dispatch key "
            r"\w{1,40}|CommandLine Error: Option '[^']{1,60}' registered more than "
            "once|inconsistency in registered CommandLine options|File already exists in "
            r"database: \S{1,100}|GeneratedDatabase\(\)->Add|version \S{1,20} of the Protocol "
            "Buffer runtime library|Descriptors cannot (?:not )?be created "
            r"directly|\[libprotobuf FATAL|generic_type: type \S{1,80} is already "
            r"registered!|numpy\.dtype size changed|A module that was compiled using NumPy "
            r"1\.x|compiled against A[PB]I version 0x\w{1,8}|INTEL MKL ERROR: .{0,80}|Intel "
            "MKL FATAL ERROR.{0,80})"
        ),
    ),
    summary="Two libraries or two versions that do not fit met in this process: {what}",
    means=(
        "Two copies of torch, LLVM or protobuf (one of them inside another library), or "
        "extensions built against another NumPy or MKL, are loaded together."
    ),
    mistaken_for="A fault of the model.",
    check="LD_DEBUG=libs, or /proc/PID/maps: which library is mapped from two places?",
    fixes=(
        fix("Load one copy only: one torch per process, and extensions built against exactly it"),
        fix("Pin or rebuild what was compiled against another version"),
    ),
    guide="guides/package-and-load.md#two-runtimes-in-one-process",
    next_tool="check_environment",
    matches=(
        quoted(
            "  what():  Tried to register multiple backend fallbacks for the same dispatch "
            "key Conjugate",
            "bytedeco/javacpp-presets, a program with two libtorch",
        ),
        quoted(
            "[libprotobuf ERROR google/protobuf/descriptor_database.cc:58] File already "
            "exists in database: caffe2.proto",
            "words of protobuf",
        ),
        quoted(
            ": CommandLine Error: Option 'use-dereferenceable-at-point-semantics' registered "
            "more than once!",
            "words of LLVM",
        ),
        quoted(
            "This program was compiled against version 3.9.2 of the Protocol Buffer runtime "
            "library",
            "words of protobuf",
        ),
    ),
)
