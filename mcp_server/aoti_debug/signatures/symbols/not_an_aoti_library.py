from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="not_an_aoti_library",
    family="F",
    phase="load",
    category="package_incompatible",
    weight=80,
    anchors=("undefined symbol: AOTInductor",),
    patterns=(r"undefined symbol: (?P<symbol>AOTInductor\w{1,80})",),
    summary="The library does not export {symbol}",
    means=(
        "The file is no AOTInductor library, or one compiled by a torch whose entry points differ."
    ),
    fixes=(fix("Pass the library of a package compiled by the torch release that loads it"),),
    guide="guides/package-and-load.md#torch-versions-of-both-sides",
    next_tool="inspect_package",
    matches=(
        recorded(
            "/lib/x86_64-linux-gnu/libm.so.6: undefined symbol: "
            "AOTInductorModelContainerCreateWithDevice",
            "torch 2.13.0, CPU",
        ),
    ),
)
