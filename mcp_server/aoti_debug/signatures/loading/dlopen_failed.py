from aoti_debug.signatures.signature import Signature, recorded

SIGNATURE = Signature(
    id="dlopen_failed",
    family="E",
    phase="load",
    category="package_incompatible",
    role="symptom",
    anchors=("Error in dlopen",),
    patterns=(r"Error in dlopen(?: or dlsym| for library \S{1,200})?: (?P<why>.{1,240})",),
    summary="The compiled library could not be opened: {why}",
    means=("The dynamic loader's own words follow; the part after the last colon is the reason."),
    check="LD_DEBUG=libs on the same load; ldd -r on the .so.",
    guide="guides/package-and-load.md#damaged-or-missing-library",
    next_tool="inspect_package",
    matches=(
        recorded(
            "RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model/"
            "cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: invalid ELF "
            "header",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "RuntimeError: Error in dlopen or dlsym: /lib/x86_64-linux-gnu/libm.so.6: "
            "undefined symbol: AOTInductorModelContainerCreateWithDevice",
            "torch 2.13.0, CPU",
        ),
    ),
)
