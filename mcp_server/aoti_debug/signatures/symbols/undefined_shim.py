from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="undefined_shim",
    family="F",
    phase="load",
    category="missing_symbol",
    weight=84,
    anchors=("undefined symbol: aoti_",),
    patterns=(r"undefined symbol: (?P<symbol>aoti_(?!torch_(?:cuda|xpu|mps)_)\w{1,160})",),
    summary="This torch does not know {symbol}",
    means=(
        "The package was compiled by a newer torch than the one that loads it (C shims are "
        "added over time), or its operator comes from a library that is not loaded."
    ),
    check="Compare torch.__version__ of both sides.",
    fixes=(
        fix("Load with the same torch release, or compile with the one that serves"),
        fix("For an operator of your own load its library first"),
    ),
    guide="guides/package-and-load.md#missing-shim-symbols",
    next_tool="check_environment",
    matches=(
        recorded(
            "/tmp/aotinductor_Dj41KZ/m/data/aotinductor/model/"
            "cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: undefined "
            "symbol: aoti_torch_cpu_addmm_ouX",
            "torch 2.13.0, CPU, name changed by us",
        ),
    ),
    apart_from=("undefined_cuda_shim",),
)
