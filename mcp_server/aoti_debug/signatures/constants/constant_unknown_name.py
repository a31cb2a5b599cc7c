from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="constant_unknown_name",
    family="D",
    phase="constants",
    category="constants_mismatch",
    weight=84,
    anchors=("Constant not found: ",),
    patterns=(r"Constant not found: (?P<name>\S{1,200})",),
    summary="The package has no constant called {name}",
    means=(
        "The name is wrong, or the constant has at most 8 elements and was inlined into the "
        "kernels, so it can never be replaced."
    ),
    check=(
        "loader.get_constant_fqns() lists the names; a small bias that is missing there was "
        "inlined."
    ),
    fixes=(
        fix(
            "Leave {name} out, or compile with always_keep_tensor_constants=True to keep it "
            "replaceable"
        ),
    ),
    guide="guides/constants.md#inlined-small-constants",
    next_tool="inspect_package",
    matches=(recorded("RuntimeError: Constant not found: nope", "torch 2.13.0, CPU"),),
    apart_from=("constant_not_in_map",),
)
