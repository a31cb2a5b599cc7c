from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="undefined_other_symbol",
    family="F",
    phase="load",
    category="missing_symbol",
    weight=70,
    anchors=("undefined symbol: ",),
    patterns=(
        (
            "(?<!error: )undefined symbol: (?P<symbol>(?!aoti_|AOTInductor"
            r"|_ZT?[VINKS]{0,3}(?:3c10|2at|5torch))\w{1,200})"
        ),
    ),
    summary="The symbol {symbol} is missing",
    means=(
        "A cu... name means that no CUDA driver library is loaded; a std:: name an older "
        "libstdc++; any other name a library that must be loaded first."
    ),
    check="c++filt the name; ldd -r on the library.",
    fixes=(fix("Load the library that defines it, or build against the one that is installed"),),
    guide="guides/package-and-load.md#undefined-symbols",
    next_tool="check_environment",
    matches=(
        recorded(
            "RuntimeError: Error in dlopen: /tmp/e1/rec/sD.so: undefined symbol: cuModuleLoad",
            "torch 2.13.0, CPU, a library of ours",
        ),
    ),
    neighbours=(
        recorded(
            "RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model/"
            "cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: undefined "
            "symbol: aoti_torch_cpu_addmm_out",
            "torch 2.13.0, CPU",
        ),
    ),
)
