from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="aftermath_rng_state",
    family="I",
    phase="autotune",
    category="illegal_memory_access",
    role="aftermath",
    weight=30,
    confidence="possible",
    anchors=("set_rng_state(cuda_rng_state)", "default_generator.set_state(new_state)"),
    patterns=(
        (
            r"torch\.cuda\.set_rng_state\(cuda_rng_state\)"
            r"|default_generator\.set_state\(new_state\)"
        ),
    ),
    summary=(
        "Restoring the random state failed because a kernel had faulted while the model was "
        "being compiled"
    ),
    means=(
        "Inductor saves and restores the random state around a compile, so a fault during "
        "autotuning surfaces here. The failing kernel is one that was benchmarked before."
    ),
    mistaken_for="A random number generator problem",
    check="Core dump on exception names the kernel without another compile",
    fixes=(fix("Look at user Triton kernels first: autotuning runs them on made-up data"),),
    guide="guides/cuda-illegal-memory-access.md#a-fault-while-compiling",
    next_tool="triage",
    references=("pytorch/pytorch#195604",),
    matches=(
        recorded(
            "    torch.cuda.set_rng_state(cuda_rng_state)  # type: ignore[possibly-undefined]",
            "torch 2.11, H200",
        ),
        recorded("    default_generator.set_state(new_state)", "torch 2.11, H200"),
    ),
)
