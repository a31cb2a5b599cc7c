from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

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
            r"(?P<tried>.{1,120})"
        ),
        r"InvalidCxxCompiler: Compiler: (?P<tried>.{1,60}) is not found",
        (
            r"CalledProcessError: Command .{0,20}(?P<tried>clang\S{0,20}|g\+\+\S{0,20}).{0,40"
            r"}(?:-v|--version).{0,20} returned non-zero exit status"
        ),
    ),
    summary="No C++ compiler works here; tried {tried}",
    means="Compiling a package needs g++ or clang++ (cl on Windows) in PATH or in CXX.",
    fixes=(Fix(what="Install g++ (apt-get install g++) or set CXX to one that runs"),),
    guide="guides/toolchain.md#no-compiler",
    next_tool="check_environment",
    references=("pytorch/pytorch#119304",),
    matches=(
        Sample(
            (
                "torch._inductor.exc.InductorError: InvalidCxxCompiler: No working C++ compiler "
                "found in torch._inductor.config.cpp.cxx: (None, 'clang++')"
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            "torch._inductor.exc.InvalidCxxCompiler: Compiler: cl is not found.",
            "quoted",
            "words of torch/_inductor/exc.py",
        ),
        Sample(
            (
                "subprocess.CalledProcessError: Command '['clang++', '-v']' returned non-zero "
                "exit status 255."
            ),
            "quoted",
            "pytorch/pytorch#119304",
        ),
    ),
    neighbours=(
        Sample(
            (
                "subprocess.CalledProcessError: Command '['git', 'describe']' returned non-zero "
                "exit status 128."
            ),
            "quoted",
            "another failure",
        ),
    ),
)
