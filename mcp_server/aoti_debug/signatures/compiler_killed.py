from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

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
    ),
    patterns=(
        (
            r"Killed signal terminated program (?P<program>\S{1,40})|virtual memory "
            r"exhausted|cc1plus: out of memory|LLVM ERROR: out of memory"
        ),
    ),
    summary="The C++ compiler ran out of memory",
    means="The generated file is large and the machine or container ended the compiler.",
    check="dmesg | tail, and the container's memory limit.",
    fixes=(
        Fix(
            what=(
                "Give more memory, or compile with AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL=O0 "
                "(2.8 and later)"
            )
        ),
    ),
    guide="guides/host-crash.md#killed-by-the-system",
    next_tool="check_environment",
    matches=(
        Sample(
            "g++: fatal error: Killed signal terminated program cc1plus", "quoted", "words of g++"
        ),
        Sample("virtual memory exhausted: Cannot allocate memory", "quoted", "words of g++"),
        Sample("cc1plus: out of memory allocating 65536 bytes", "quoted", "words of g++"),
        Sample("LLVM ERROR: out of memory", "quoted", "words of clang"),
    ),
)
