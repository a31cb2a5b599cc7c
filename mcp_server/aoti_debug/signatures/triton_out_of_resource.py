from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="triton_out_of_resource",
    family="K",
    phase="autotune",
    category="kernel_resources",
    weight=76,
    anchors=(
        "out of resource: ",
        "OutOfResources",
    ),
    patterns=(
        (
            r"out of resource: (?P<what>[\w ]+), Required: (?P<need>\d+), Hardware limit: (?"
            r"P<limit>\d+)"
        ),
        (
            r"out of resource: (?P<what>\w+) Required: (?P<need>\d+) Hardware limit: ?(?P<li"
            r"mit>\d+)"
        ),
        r"OutOfResources: out of resource: (?P<what>[\w ]+)",
    ),
    summary="A Triton kernel asks for more than this GPU has ({what})",
    means=(
        "The block sizes and stages of a configuration do not fit. In max-autotune such "
        "configurations are dropped and the line is harmless; for a user kernel with one "
        "configuration it is fatal."
    ),
    mistaken_for="Running out of GPU memory",
    check="Did the compile go on afterwards? Then ignore it",
    fixes=(
        Fix(
            what=(
                "Reduce num_stages or the block sizes of the kernel; offer smaller "
                "configurations to triton.autotune"
            )
        ),
    ),
    guide="guides/triton-and-autotuning.md#out-of-resource",
    references=(
        "pytorch/torchtitan#2272",
        "triton-lang/triton#8182",
    ),
    matches=(
        Sample(
            (
                "triton.runtime.errors.OutOfResources: out of resource: shared memory, "
                "Required: 131072, Hardware limit: 101376. Reducing block sizes or "
                "`num_stages` may help."
            ),
            "quoted",
            "triton-lang/triton#8182",
        ),
        Sample(
            (
                "out of resource: triton_red_fused_3 Required: 262400 Hardware limit:232448 "
                "Reducing block sizes or `num_stages` may help."
            ),
            "quoted",
            "text of torch's static launcher",
        ),
    ),
    neighbours=(
        Sample("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", "quoted"),
    ),
)
