from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="inductor_error",
    family="J",
    phase="lower",
    category="lowering_error",
    role="symptom",
    weight=30,
    anchors=("InductorError: ", "BackendCompilerFailed: "),
    patterns=(
        (
            "(?:InductorError|BackendCompilerFailed): (?!LoweringException|CppCompileError"
            "|(?:AcceleratorError|RuntimeError): (?:CUDA|Triton|Compiler: )|OutOfMemoryError"
            "|UnicodeDecodeError|FileNotFoundError|PermissionError|OSError|ImportError"
            "|ModuleNotFoundError|CalledProcessError|TimeoutExpired|InvalidCxxCompiler"
            "|TritonMissing|GPUTooOldForTriton|CompilationError|OutOfResources|PTXASError"
            "|NoTritonConfigsError|NoValidChoicesError|SubprocException|BrokenProcessPool"
            ")(?P<error>.{1,160})"
        ),
    ),
    summary="Inductor failed while compiling the graph: {error}",
    means=("Wrapper for any exception inside Inductor; the type after the colon is the real one."),
    check="The last frames inside torch/_inductor show the pass or the operator",
    fixes=(fix("Reduce the graph to the operator that fails; try the newest torch"),),
    guide="guides/lowering-and-cpp.md#lowering-exceptions",
    next_tool="minify",
    references=("pytorch/pytorch#172022", "pytorch/pytorch#160535"),
    matches=(
        recorded(
            "torch._inductor.exc.InductorError: AssertionError: A subgraph argument other "
            "than striding has been modified; FakeTensorUpdater cannot update this argument!",
            "torch 2.13 CPU, while_loop with an int in its state",
        ),
    ),
    apart_from=("cpp_compile_failed", "compile_time_gpu_fault"),
)
