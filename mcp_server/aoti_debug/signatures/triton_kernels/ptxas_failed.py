from aoti_debug.signatures.signature import Signature, fix, quoted

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
        "ptxas application",
        "ptxas stderr",
        "ptxas', '-",
        "`ptxas",
        "PTX codegen error",
        "ptxas /tmp/",
        "ran out of registers during register allocation",
        "hsaco",
    ),
    patterns=(
        (
            r"PTXAS error|PTXASError|ptxas (?:fatal|error)\s{0,20}: ?(?P<text>.{0,120})"
            r"|Internal "
            "Triton PTX codegen error|ptxas application ptx input, line|ptxas stderr|`ptxas` "
            "(?:failed|to confirm|raised)|CalledProcessError: Command "
            r".{0,300}\bptxas(?:\.exe)?\b"
            r"|ptxas \S{1,200}, line \d{1,20}; (?:error|fatal)"
            r"|ran out of registers during register "
            r"allocation|(?:ld\.lld|lld): error: .{0,200}hsaco"
        ),
    ),
    summary="ptxas rejected the code of a Triton kernel",
    means=(
        "The GPU assembler failed: registers ran out for a configuration, or this ptxas does "
        "not know the GPU or the PTX version."
    ),
    mistaken_for="A bug in the model",
    check="The `ptxas fatal` line: register allocation, or an unknown architecture or version",
    fixes=(
        fix(
            "Fewer warps or smaller blocks for register failures; a matching toolkit "
            "(TRITON_PTXAS_PATH unset) for versions"
        ),
    ),
    guide="guides/triton-and-autotuning.md#triton-compile-errors",
    next_tool="check_environment",
    references=("pytorch/helion#85", "pytorch/torchdynamo#886"),
    matches=(
        quoted(
            "ptxas fatal   : (C7600) Register allocation failed with register count of '128'. "
            "Compile the program with a higher register target",
            "pytorch/helion#85",
        ),
        quoted(
            "triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error",
            "pytorch/helion#85",
        ),
        quoted(
            "subprocess.CalledProcessError: Command '['/x/triton/backends/nvidia/bin/ptxas', "
            "'-lineinfo', '-v', '--gpu-name=sm_120', '/tmp/tmpb.ptx']' returned non-zero exit "
            "status 255.",
            "form of the error",
        ),
    ),
    neighbours=(quoted("ptxas info    : Used 40 registers, 400 bytes cmem[0]", "no failure"),),
)
