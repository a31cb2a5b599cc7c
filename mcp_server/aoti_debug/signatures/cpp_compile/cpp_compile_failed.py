from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="cpp_compile_failed",
    family="J",
    phase="cpp_compile",
    category="cpp_error",
    role="envelope",
    weight=40,
    anchors=("CppCompileError", "CUDACompileError", "CalledProcessError: Command"),
    patterns=(
        (
            "(?:CppCompileError|CUDACompileError): |CalledProcessError: Command "
            r"'?\[?'?(?:\S{0,300}/)?(?:g\+\+|clang\+\+|nvcc|c\+\+|cl)\b"
        ),
    ),
    summary=(
        "The C++ compiler failed on generated code; its own message stands below the command line"
    ),
    means=(
        "Only the envelope. The first `error:` line of the compiler output tells a missing "
        "header from a bug in the generated code."
    ),
    check="First line with `error:` after `Output:`",
    fixes=(fix("Find the first compiler error below `Output:`"),),
    guide="guides/lowering-and-cpp.md#the-wrapper-does-not-compile",
    next_tool="check_environment",
    references=("pytorch/pytorch#154127", "pytorch/pytorch#164686"),
    matches=(
        recorded(
            "torch._inductor.exc.InductorError: CppCompileError: C++ compile error",
            "torch 2.13 CPU",
        ),
    ),
)
