from aoti_debug.signatures.signature import Signature, fix, quoted

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
        "CompilationError(",
        "CompileTimeAssertionFailure",
        "PassManager::run failed",
        "InductorError: CompilationError",
    ),
    patterns=(
        (
            r"(?:triton\.compiler\.(?:errors\.|code_generator\.)?)?CompilationError: at "
            r"(?P<line>\d{1,20}):\d{1,20}|Triton compilation failed: (?P<kernel>\w{1,200})"
            r"|UnsupportedLanguageConstruct|triton\.compiler\.\S{0,300}CompilationError"
            "|PassManager::run failed|CompileTimeAssertionFailure|InductorError: "
            "CompilationError"
        ),
    ),
    summary="Triton could not compile a kernel",
    means=(
        "The Triton source of a kernel (yours or a generated one) is not accepted; the caret "
        "below marks the expression."
    ),
    mistaken_for="A C++ compile error",
    check=(
        "Is the file yours or in the Inductor cache? A generated file means an Inductor or "
        "version problem"
    ),
    fixes=(
        fix(
            "Correct the marked expression of your kernel; for generated kernels check that "
            "the Triton version is the one this torch was built with"
        ),
    ),
    guide="guides/triton-and-autotuning.md#triton-compile-errors",
    next_tool="check_environment",
    references=("pytorch/pytorch#97553", "pytorch/pytorch#170049"),
    matches=(
        quoted("triton.compiler.errors.CompilationError: at 1:0:", "pytorch/pytorch#170049"),
        quoted(
            "triton.compiler.CompilationError: at 64:39:    # rematerialize rm and rn to save "
            "registers",
            "pytorch/pytorch#97553",
        ),
    ),
    apart_from=("cpp_compile_failed",),
)
