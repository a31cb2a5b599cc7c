from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="unsupported_dtype",
    family="J",
    phase="lower",
    category="lowering_error",
    weight=66,
    anchors=(
        "KeyError: 'complex",
        "target: aten._scaled_mm",
        "KeyError: torch.complex",
        "unsupported dtype",
        "not implemented for 'Float8",
    ),
    patterns=(
        (
            r"KeyError: '?(?:torch\.)?(?P<dtype>complex\d+)|"
            r"(?P<op>target: aten\._scaled_mm)|(?:Exception|"
            r"Error): .{0,80}unsupported dtype:? (?P<other>[\w.]+)"
        ),
    ),
    summary="Inductor's GPU code generation does not handle a dtype of this graph",
    means=(
        "Triton has no complex pointers, and float8 matrix products work only for some "
        "scale layouts. The operator that carries the dtype is named next to the message."
    ),
    mistaken_for="A shape problem",
    check="The same model in float32 compiles",
    fixes=(
        Fix(
            what=(
                "Make complex views contiguous first, or keep the complex part out of the "
                "compiled graph"
            )
        ),
        Fix(what="For float8 use a quantization layout that torch supports on this GPU"),
    ),
    guide="guides/lowering-and-cpp.md#unsupported-dtypes",
    next_tool="minify",
    references=(
        "pytorch/pytorch#188718",
        "pytorch/pytorch#97562",
        "huggingface/flux-fast#12",
    ),
    matches=(
        Sample(
            "torch._inductor.exc.InductorError: KeyError: 'complex64'",
            "quoted",
            "pytorch/pytorch#188718",
        ),
        Sample(
            (
                "torch._inductor.exc.LoweringException: AssertionError: target: "
                "aten._scaled_mm.default"
            ),
            "quoted",
            "huggingface/flux-fast#12",
        ),
    ),
    neighbours=(Sample("KeyError: 'cubin'", "quoted", "Triton on the CPU"),),
)
