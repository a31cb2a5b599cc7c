from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="constant_not_in_map",
    family="D",
    phase="constants",
    category="constants_missing",
    weight=86,
    confidence="proved",
    anchors=("Cannot find constants ",),
    patterns=(r"Cannot find constants (?P<name>\S{1,200}) in constants_map!",),
    summary="The update leaves out the constant {name}",
    means=(
        "A full update was asked for (check_full_update=True) and this constant is not in the "
        "given map. The Python exception does not say so: only stderr does."
    ),
    check="loader.get_constant_fqns() lists the names that the package wants.",
    fixes=(fix("Give all constants of get_constant_fqns(), or pass check_full_update=False"),),
    guide="guides/constants.md#cannot-find-constants",
    next_tool="inspect_package",
    matches=(
        recorded("Error: Cannot find constants fc_bias in constants_map!", "torch 2.13.0, CPU"),
    ),
)
