from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="state_dict_of_program",
    family="D",
    phase="load",
    category="constants_mismatch",
    weight=72,
    anchors=(
        "State dict entry for parameter ",
        "is not in the state dict.",
        "is in the state dict, it should not be",
        "is not in the constants dictionary",
    ),
    patterns=(
        (
            r"(?P<what>State dict entry for parameter \S{1,200} is not an instance of "
            r"torch\.nn\.Parameter|(?:Parameter|Buffer) \S{1,200} is not in the state "
            r"dict|Non-persistent buffer \S{1,200} is in the state dict|(?:Constant "
            r"tensor|Custom object) \S{1,200} is not in the constants dictionary)"
        ),
    ),
    summary="The weights of the exported program do not fit its signature: {what}",
    means=(
        "The state dict was replaced, filtered or changed in kind (quantised, moved, a "
        "Parameter made a plain tensor) after the export, or a file of another release was "
        "read."
    ),
    mistaken_for="A model that cannot be exported.",
    check="Compare ep.graph_signature.parameters with ep.state_dict.keys().",
    fixes=(
        fix(
            "Change the weights before torch.export.export, keep Parameters as Parameters, "
            "then export again"
        ),
    ),
    guide="guides/constants.md#wrong-shape-or-dtype",
    matches=(
        recorded(
            "torch._export.verifier.SpecViolationError: State dict entry for parameter w is "
            "not an instance of torch.nn.Parameter.",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "torch._export.verifier.SpecViolationError: Parameter w is not in the state dict.",
            "torch 2.13.0, CPU",
        ),
    ),
)
