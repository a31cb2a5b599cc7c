from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="gpu_unsupported",
    family="G",
    phase="environment",
    category="toolchain",
    weight=76,
    anchors=(
        "is not compatible with the current PyTorch installation",
        "No published PyTorch CUDA builds for release",
        "too old to be supported by the triton GPU compiler",
    ),
    patterns=(
        (
            r"with CUDA capability (?P<gpu>sm_\d{1,20}a?) is not compatible with the current "
            "PyTorch installation"
        ),
        r"(?P<gpu>No published PyTorch CUDA builds for release \S{1,30} support this GPU)",
        "Found (?P<gpu>.{1,60}) which is too old to be supported by the triton GPU compiler",
    ),
    summary="This torch or Triton does not support the GPU ({gpu})",
    means=(
        "Kernels of ATen and libraries are missing for the architecture (`no kernel image` "
        "follows), or the GPU is older than capability 7.0, which Triton needs."
    ),
    fixes=(
        fix("Install a torch build whose torch.cuda.get_arch_list() names the GPU"),
        fix("For a GPU below 7.0 compile for the CPU"),
    ),
    guide="guides/toolchain.md#gpu-not-supported-by-this-torch",
    next_tool="check_environment",
    matches=(
        quoted(
            "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the "
            "current PyTorch installation.",
            "words of torch.cuda",
        ),
        quoted(
            "No published PyTorch CUDA builds for release 2.13.0 support this GPU.",
            "words of torch.cuda",
        ),
        quoted(
            "torch._inductor.exc.GPUTooOldForTriton: Found Tesla P100-PCIE-16GB which is too "
            "old to be supported by the triton GPU compiler",
            "words of torch/_inductor/exc.py",
        ),
    ),
)
