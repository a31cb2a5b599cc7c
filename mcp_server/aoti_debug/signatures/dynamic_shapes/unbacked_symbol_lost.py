from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="unbacked_symbol_lost",
    family="B",
    phase="lower",
    category="lowering_error",
    weight=70,
    anchors=("Pending unbacked symbols", "object has no attribute 'node'", " is not solvable"),
    patterns=(
        r"(?P<what>Pending unbacked symbols \{[^}]{1,120}\} not in returned outputs)",
        "AttributeError: (?P<what>'(?:float|int|bool)' object has no attribute 'node')",
        r"(?:AssertionError: |^)(?P<what>Eq\(.{1,160}\) is not solvable)",
    ),
    summary="Inductor lost track of a size symbol: {what}",
    means=(
        "A size that comes from data or from a formula cannot be tied to a tensor: item() "
        "evaluated to a number, a fake kernel that does not return its new size, or a "
        "dimension that is a formula only."
    ),
    fixes=(
        fix(
            "Remove .item() from the model, or state the size with torch._check and use it in "
            "an output"
        ),
        fix("In a fake kernel take sizes from torch.library.get_ctx().new_dynamic_size()"),
        fix("Give the basic size a dimension of its own; upgrade torch"),
    ),
    guide="guides/dynamic-shapes.md#data-dependent-sizes",
    references=("opendatalab/DocLayout-YOLO#177",),
    matches=(
        quoted(
            "torch.fx.experimental.symbolic_shapes.PendingUnbackedSymbolNotFound: Pending "
            "unbacked symbols {u1} not in returned outputs",
            "words of symbolic_shapes.py",
        ),
        quoted(
            "AttributeError: 'float' object has no attribute 'node'",
            "opendatalab/DocLayout-YOLO#177",
        ),
        quoted(
            "AssertionError: Eq(s0**2 + s0, arg0_1_size_0) is not solvable",
            "words of cpp_wrapper_cpu.py",
        ),
    ),
    apart_from=("api_misuse",),
)
