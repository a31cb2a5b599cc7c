from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="compiler_killed",
    family="G",
    phase="cpp_compile",
    category="out_of_memory",
    weight=84,
    anchors=(
        "Killed signal terminated program",
        "virtual memory exhausted",
        "cc1plus: out of memory",
        "LLVM ERROR: out of memory",
        "unable to execute command: Killed",
        "ld terminated with signal 9",
    ),
    patterns=(
        (
            r"Killed signal terminated program (?P<program>\S{1,40})|virtual memory exhausted"
            "|cc1plus: out of memory|LLVM ERROR: out of memory"
            "|unable to execute command: Killed|ld terminated with signal 9"
        ),
    ),
    summary="The C++ compiler ran out of memory",
    means="The generated file is large and the machine or container ended the compiler.",
    check="dmesg | tail, and the container's memory limit.",
    fixes=(
        fix(
            "Give more memory, or compile with AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL=O0 (2.8 "
            "and later)"
        ),
    ),
    guide="guides/host-crash.md#killed-by-the-system",
    next_tool="check_environment",
    matches=(
        quoted("g++: fatal error: Killed signal terminated program cc1plus", "words of g++"),
        quoted("virtual memory exhausted: Cannot allocate memory", "words of g++"),
        quoted("cc1plus: out of memory allocating 65536 bytes", "words of g++"),
        quoted("LLVM ERROR: out of memory", "words of clang"),
        quoted("clang++: error: unable to execute command: Killed", "words of clang"),
        quoted("collect2: fatal error: ld terminated with signal 9 [Killed]", "words of g++"),
    ),
)
