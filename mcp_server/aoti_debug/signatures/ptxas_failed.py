from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="ptxas_failed",
    family="K",
    phase="triton_compile",
    category="triton_error",
    weight=66,
    anchors=(
        "PTXAS error",
        "ptxas fatal",
        "Internal Triton PTX codegen error",
        "PTXASError",
        "ptxas error",
    ),
    patterns=(
        (
            r"PTXAS error|PTXASError|ptxas (?:fatal|error)\s*: ?(?P<text>.{0,120})|"
            "Internal Triton PTX codegen error"
        ),
    ),
    summary="ptxas rejected the code of a Triton kernel",
    means=(
        "The GPU assembler failed: registers ran out for a configuration, or this ptxas "
        "does not know the GPU or the PTX version."
    ),
    mistaken_for="A bug in the model",
    check=("The `ptxas fatal` line: register allocation, or an unknown architecture or version"),
    fixes=(
        Fix(
            what=(
                "Fewer warps or smaller blocks for register failures; a matching toolkit "
                "(TRITON_PTXAS_PATH unset) for versions"
            )
        ),
    ),
    guide="guides/triton-and-autotuning.md#triton-compile-errors",
    next_tool="check_environment",
    references=(
        "pytorch/helion#85",
        "pytorch/torchdynamo#886",
    ),
    matches=(
        Sample(
            (
                "ptxas fatal   : (C7600) Register allocation failed with register count of "
                "'128'. Compile the program with a higher register target"
            ),
            "quoted",
            "pytorch/helion#85",
        ),
        Sample(
            ("triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error"),
            "quoted",
            "pytorch/helion#85",
        ),
    ),
)
