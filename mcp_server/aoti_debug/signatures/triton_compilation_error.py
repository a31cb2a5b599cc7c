from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="triton_compilation_error",
    family="K",
    phase="triton_compile",
    category="triton_error",
    weight=64,
    anchors=(
        "CompilationError: at ",
        "Triton compilation failed",
        "UnsupportedLanguageConstruct",
        "compiler.errors.CompilationError",
        "PassManager::run failed",
    ),
    patterns=(
        (
            r"(?:triton\.compiler\.(?:errors\.|"
            r"code_generator\.)?)?CompilationError: at (?P<line>\d+):\d+|"
            r"Triton compilation failed: (?P<kernel>\w+)|UnsupportedLanguageConstruct|"
            r"triton\.compiler\.\S*CompilationError|PassManager::run failed"
        ),
    ),
    summary="Triton could not compile a kernel",
    means=(
        "The Triton source of a kernel (yours or a generated one) is not accepted; the "
        "caret below marks the expression."
    ),
    mistaken_for="A C++ compile error",
    check=(
        "Is the file yours or in the Inductor cache? A generated file means an Inductor or "
        "version problem"
    ),
    fixes=(
        Fix(
            what=(
                "Correct the marked expression of your kernel; for generated kernels check "
                "that the Triton version is the one this torch was built with"
            )
        ),
    ),
    guide="guides/triton-and-autotuning.md#triton-compile-errors",
    next_tool="check_environment",
    references=(
        "pytorch/pytorch#97553",
        "pytorch/pytorch#170049",
    ),
    matches=(
        Sample(
            "triton.compiler.errors.CompilationError: at 1:0:", "quoted", "pytorch/pytorch#170049"
        ),
        Sample(
            (
                "triton.compiler.CompilationError: at 64:39:    # rematerialize rm and rn "
                "to save registers"
            ),
            "quoted",
            "pytorch/pytorch#97553",
        ),
    ),
    neighbours=(
        Sample("torch._inductor.exc.InductorError: CppCompileError: C++ compile error", "recorded"),
    ),
)
