from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="mps_failure",
    family="Q",
    phase="run",
    category="lowering_error",
    weight=64,
    anchors=(
        "program_source:",
        "aoti_torch_mps_",
        "Failed to create metal library",
        "Metal shader",
        "MPSGraph",
        "mps.compile_shader",
    ),
    patterns=(
        (
            r"program_source:\d{1,20}:\d{1,20}: error: (?P<text>.{0,120})"
            r"|^(?=.{0,300} API call "
            r"failed).{0,300}\baoti_torch_mps_\w{1,60}\(|Failed to create metal library"
            "|MPSGraph.{0,80}(?:failed|assert)"
        ),
    ),
    summary="A Metal shader of the model could not be compiled or started",
    means=(
        "The generated Metal code is not accepted by this macOS. Up to autumn 2026 the model "
        "ignores the failure and crashes with SIGSEGV instead."
    ),
    fixes=(fix("Compile for the CPU, or try the newest nightly"),),
    guide="guides/other-platforms.md#macos-and-mps",
    next_tool="check_environment",
    references=("pytorch/pytorch#196233",),
    matches=(
        quoted(
            "SyntaxError: program_source:1:1: error: C++ requires a type specifier for all "
            "declarations",
            "pytorch/pytorch#196233",
        ),
    ),
)
