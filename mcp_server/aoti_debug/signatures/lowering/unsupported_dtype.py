from aoti_debug.signatures.signature import Signature, fix, quoted

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
        "nsupported data type",
        "not implemented for 'Float8",
        "not implemented for 'Float4",
        "not implemented for 'ComplexHalf",
        "Inductor Triton does not support scal",
        "_scaled_mm_v2 lowering",
        "Unsupported scaling type",
        "Conversions between float8_e5m2 and float8_e4m3fn",
        "float64 is not supported by MPS",
        "does not support torch.complex",
        "KeyError: torch.float8",
        "KeyError: torch.uint",
        "missing from torch._inductor.codegen.cpp.DTYPE_TO_CPP",
    ),
    patterns=(
        (
            r"KeyError: '?(?:torch\.)?(?P<dtype>complex\d{1,20})"
            r"|(?P<op>target: aten\._scaled_mm)"
            r"|(?:Exception|Error): .{0,80}[uU]nsupported (?:d"
            r"|data )type:? (?P<other>[\w.]{1,200})"
        ),
        (
            r"not implemented for '(?:Float[48]\w{0,20}|ComplexHalf)'|Inductor Triton does not "
            "support scal|_scaled_mm_v2 lowering does not|Unsupported scaling type|Conversions "
            "between float8_e5m2 and float8_e4m3fn|float64 is not supported by MPS|does not "
            r"support torch\.complex|KeyError: torch\.(?:float8|uint)\w{1,200}"
            r"|missing from torch\."
            r"_inductor\.codegen\.cpp\.DTYPE_TO_CPP"
        ),
    ),
    summary="Inductor's GPU code generation does not handle a dtype of this graph",
    means=(
        "Triton has no complex pointers, and float8 matrix products work only for some scale "
        "layouts. The operator that carries the dtype is named next to the message."
    ),
    mistaken_for="A shape problem",
    check="The same model in float32 compiles",
    fixes=(
        fix(
            "Make complex views contiguous first, or keep the complex part out of the "
            "compiled graph"
        ),
        fix("For float8 use a quantization layout that torch supports on this GPU"),
    ),
    guide="guides/lowering-and-cpp.md#unsupported-dtypes",
    next_tool="minify",
    references=("pytorch/pytorch#188718", "pytorch/pytorch#97562", "huggingface/flux-fast#12"),
    matches=(
        quoted(
            "torch._inductor.exc.InductorError: KeyError: 'complex64'", "pytorch/pytorch#188718"
        ),
        quoted(
            "torch._inductor.exc.LoweringException: AssertionError: target: "
            "aten._scaled_mm.default",
            "huggingface/flux-fast#12",
        ),
        quoted(
            "AssertionError: Conversions between float8_e5m2 and float8_e4m3fn is not supported!",
            "words of torch/_inductor/codegen/triton.py",
        ),
    ),
    apart_from=("cpu_triton_missing",),
)
