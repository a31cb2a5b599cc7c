from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="triton_out_of_resource",
    family="K",
    phase="autotune",
    category="kernel_resources",
    weight=76,
    anchors=(
        "out of resource: ",
        "OutOfResources",
        "local memory (",
        "uses too much shared data",
        "exceeds available shared memory",
        "shared memory exceeds",
    ),
    patterns=(
        (
            r"local memory \(\d{1,20}\) exceeds limit|uses too much shared data"
            r"|exceeds available "
            "shared memory"
        ),
        (
            r"out of resource: (?P<what>[\w ]{1,200}), Required: (?P<need>\d{1,20}), Hard"
            r"ware limit: "
            r"(?P<limit>\d{1,20})"
        ),
        (
            r"out of resource: (?P<what>\w{1,200}) Required: (?P<need>\d{1,20}) Hardware "
            r"limit: "
            r"?(?P<limit>\d{1,20})"
        ),
        r"OutOfResources: out of resource: (?P<what>[\w ]{1,200})",
    ),
    summary="A Triton kernel asks for more shared memory, registers or threads than there are",
    means=(
        "The block sizes and stages of a configuration do not fit. In max-autotune such "
        "configurations are dropped and the line is harmless; for a user kernel with one "
        "configuration it is fatal."
    ),
    mistaken_for="Running out of GPU memory",
    check="Did the compile go on afterwards? Then ignore it",
    fixes=(
        fix(
            "Reduce num_stages or the block sizes of the kernel; offer smaller configurations "
            "to triton.autotune"
        ),
    ),
    guide="guides/triton-and-autotuning.md#out-of-resource",
    references=("pytorch/torchtitan#2272", "triton-lang/triton#8182"),
    matches=(
        quoted(
            "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: "
            "131072, Hardware limit: 101376.",
            "triton-lang/triton#8182",
        ),
        quoted(
            "out of resource: triton_red_fused_3 Required: 262400 Hardware limit:232448",
            "text of torch's static launcher",
        ),
        quoted(
            "ptxas error   : Entry function 'triton_mm' uses too much shared data (0x19000 "
            "bytes, 0x18c00 max)",
            "words of ptxas",
        ),
    ),
    neighbours=(quoted("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"),),
)
