from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="no_cxx_compiler",
    family="G",
    phase="cpp_compile",
    category="toolchain",
    weight=86,
    confidence="proved",
    anchors=(
        "No working C++ compiler found",
        "InvalidCxxCompiler: Compiler",
        "returned non-zero exit status",
    ),
    patterns=(
        (
            r"No working C\+\+ compiler found in torch\._inductor\.config\.cpp\.cxx: "
            "(?P<tried>.{1,120})"
        ),
        "InvalidCxxCompiler: Compiler: (?P<tried>.{1,60}) is not found",
        (
            r"CalledProcessError: Command .{0,20}(?P<tried>clang\S{0,20}"
            r"|g\+\+\S{0,20}).{0,40}(?:-v|--version).{0,20} returned non-zero exit status"
        ),
    ),
    summary="No C++ compiler works here; tried {tried}",
    means="Compiling a package needs g++ or clang++ (cl on Windows) in PATH or in CXX.",
    fixes=(fix("Install g++ (apt-get install g++) or set CXX to one that runs"),),
    guide="guides/toolchain.md#no-compiler",
    next_tool="check_environment",
    references=("pytorch/pytorch#119304",),
    matches=(
        recorded(
            "torch._inductor.exc.InductorError: InvalidCxxCompiler: No working C++ compiler "
            "found in torch._inductor.config.cpp.cxx: (None, 'clang++')",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "torch._inductor.exc.InvalidCxxCompiler: Compiler: cl is not found.",
            "words of torch/_inductor/exc.py",
        ),
        quoted(
            "subprocess.CalledProcessError: Command '['clang++', '-v']' returned non-zero "
            "exit status 255.",
            "pytorch/pytorch#119304",
        ),
    ),
    neighbours=(
        quoted(
            "subprocess.CalledProcessError: Command '['git', 'describe']' returned non-zero "
            "exit status 128.",
            "another failure",
        ),
    ),
)
