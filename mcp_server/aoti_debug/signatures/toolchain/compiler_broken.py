from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="compiler_broken",
    family="G",
    phase="cpp_compile",
    category="toolchain",
    weight=78,
    anchors=(
        "internal compiler error",
        "Assembler messages:",
        "no such instruction: ",
        "PLEASE submit a bug report to https://github.com/llvm",
        "PLEASE ATTACH THE FOLLOWING FILES TO THE BUG REPORT",
        "fatal error C1001",
        "fatal error C1060",
        "fatal error C1128",
        "fatal error C1083: Cannot open compiler",
        "clang: error: unsupported option",
        "error: unsupported option '",
        "unsupported option '-fopenmp'",
    ),
    patterns=(
        (
            "(?P<what>internal compiler error|no such instruction: .{1,60}|PLEASE (?:submit a "
            r"bug report to https://github\.com/llvm|ATTACH THE FOLLOWING FILES)|fatal error "
            r"C1(?:001|060|128)\b|fatal error C1083: Cannot open compiler|unsupported option "
            "'-[^']{1,60}')"
        ),
    ),
    summary="The compiler or assembler itself gave up: {what}",
    means=(
        "A bug of the compiler, an assembler older than the CPU flags it is given, a path "
        "that is too long for it, or a compiler (Apple's clang) without OpenMP."
    ),
    mistaken_for="Wrong generated code.",
    check="Does another compiler, set in CXX, take the same file?",
    fixes=(
        fix("Use another or newer compiler (CXX) and binutils"),
        fix("On Windows shorten TORCHINDUCTOR_CACHE_DIR"),
    ),
    guide="guides/toolchain.md#compiler-too-old",
    next_tool="check_environment",
    matches=(
        quoted("/tmp/c.cpp:8:1: internal compiler error: Segmentation fault", "words of g++"),
        recorded(
            "/tmp/ccl8d9z5.s:4: Error: no such instruction: `vfoo %xmm0'",
            "GNU as 2.40 on a file of ours",
        ),
        quoted("clang: error: unsupported option '-fopenmp'", "words of Apple's clang"),
        quoted(r"c:\x.cpp(3): fatal error C1001: Internal compiler error.", "words of MSVC"),
    ),
)
