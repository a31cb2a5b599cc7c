from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="compiler_intrinsics_missing",
    family="G",
    phase="cpp_compile",
    category="toolchain",
    weight=76,
    anchors=(
        "‘_mm",
        "'_mm",
        "‘__m",
        "'__m",
        "target specific option mismatch",
        "no such instruction",
        "Assembler messages:",
        "requires target feature",
    ),
    patterns=(
        (
            r"error: .{0,80}['‘]_{1,2}m(?:m\d{0,3}_)?\w{1,60}['’]|target specific option "
            "mismatch"
            "|Error: no such instruction|Assembler messages:|requires target feature '"
        ),
    ),
    summary="Compiler or assembler do not know the vector instructions that are asked for",
    means=(
        "Inductor uses the CPU's instruction set; this compiler, or its assembler (binutils), "
        "is older than the CPU."
    ),
    mistaken_for="A bug of the generated code",
    check="g++ --version and as --version against the CPU flags in /proc/cpuinfo",
    fixes=(
        fix("Install a newer compiler with its binutils"),
        fix("Or limit the set: ATEN_CPU_CAPABILITY=avx2, torch._inductor.config.cpp.simdlen"),
    ),
    guide="guides/toolchain.md#compiler-too-old",
    next_tool="check_environment",
    matches=(
        quoted("/tmp/cc1.s:120: Error: no such instruction: `vcvtne2ps2bf16'", "words of as"),
        quoted(
            "cab.cpp:9:3: error: ‘_mm512_cvtneps_pbh’ was not declared in this scope",
            "words of g++",
        ),
    ),
)
