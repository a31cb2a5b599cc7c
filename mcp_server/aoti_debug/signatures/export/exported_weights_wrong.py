from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="exported_weights_wrong",
    family="F",
    phase="load",
    category="constants_mismatch",
    weight=74,
    confidence="possible",
    anchors=("SpecViolationError: State dict entry", " is not in the state dict."),
    patterns=(
        (
            r"SpecViolationError: (?P<what>State dict entry for \w{1,200} \S{1,120} is not an "
            r"instance of \S{1,60}|(?:Parameter|Buffer) \S{1,120} is not in the state dict)"
        ),
    ),
    summary="The weights of the exported program are not those of its signature: {what}",
    means=(
        "The state dict that came with the program lacks an entry or holds plain tensors "
        "where parameters belong: it was replaced, quantised, or saved by another torch."
    ),
    mistaken_for="A graph that is wrong",
    check="Load it with the torch that saved it",
    fixes=(
        fix("Export again with this torch; set weights on the module before the export"),
        fix("Where you replace entries, keep their names and wrap them in nn.Parameter"),
    ),
    guide="guides/constants.md#wrong-shape-or-dtype",
    matches=(
        quoted(
            "torch._export.verifier.SpecViolationError: State dict entry for parameter "
            "fc.weight is not an instance of torch.nn.Parameter.",
            "words of torch/_export/verifier.py",
        ),
        recorded(
            "torch._export.verifier.SpecViolationError: Buffer b is not in the state dict.",
            "torch 2.13.0, CPU",
        ),
    ),
    apart_from=("export_graph_invalid",),
)
