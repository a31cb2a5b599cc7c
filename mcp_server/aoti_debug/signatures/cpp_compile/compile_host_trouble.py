from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="compile_host_trouble",
    family="G",
    phase="lower",
    category="toolchain",
    role="symptom",
    weight=46,
    confidence="possible",
    anchors=(
        "InductorError: ",
        "InternalTorchDynamoError: ",
        "BackendCompilerFailed: ",
        "LoweringException: ",
    ),
    patterns=(
        (
            "(?:InductorError|InternalTorchDynamoError|BackendCompilerFailed|LoweringException)"
            r": (?P<error>(?:FileNotFoundError|PermissionError|OSError|ImportError"
            "|ModuleNotFoundError|CalledProcessError|TimeoutExpired|RuntimeError: Compiler: "
            "|InvalidCxxCompiler|TritonMissing|GPUTooOldForTriton).{0,160})"
        ),
    ),
    summary="The compile failed for a reason of this machine: {error}",
    means=(
        "The wrapper names Inductor or Dynamo, the type after the colon is the real one: a "
        "program, a file or a library that compiling needs is missing or refused."
    ),
    mistaken_for="A model that cannot be compiled",
    check="Does a trivial model compile on this machine?",
    fixes=(fix("Repair what the inner error names: compiler, folder, library or package"),),
    guide="guides/toolchain.md#no-compiler",
    next_tool="check_environment",
    matches=(
        quoted(
            "torch._dynamo.exc.InternalTorchDynamoError: RuntimeError: Compiler: cl is not found.",
            "form of the error",
        ),
    ),
    apart_from=("inductor_error",),
)
