from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="undefined_cuda_shim",
    family="F",
    phase="load",
    category="missing_symbol",
    weight=86,
    anchors=("undefined symbol: aoti_torch_",),
    patterns=(r"undefined symbol: (?P<symbol>aoti_torch_(?P<device>cuda|xpu|mps)_\w{1,120})",),
    summary="This torch lacks {symbol}: it has no {device} support",
    means=(
        "A package for a GPU is loaded by a CPU-only torch, or by a libtorch built without "
        "the C shims of that device."
    ),
    mistaken_for="An old torch.",
    check="torch.version.cuda, and nm -D libtorch_cuda.so | grep the symbol.",
    fixes=(
        fix("Load it with a torch build for that device"),
        fix("If the build is right, use at least the torch release that compiled the package"),
    ),
    guide="guides/package-and-load.md#missing-shim-symbols",
    next_tool="check_environment",
    references=("pytorch/pytorch#187621",),
    matches=(
        recorded(
            "RuntimeError: Error in dlopen: /tmp/e1/rec/sB.so: undefined symbol: "
            "aoti_torch_cuda_addmm_out",
            "torch 2.13.0, CPU, a library of ours",
        ),
    ),
    neighbours=(
        recorded(
            "RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model/"
            "cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: undefined "
            "symbol: aoti_torch_cpu_addmm_out_v9",
            "torch 2.13.0, CPU",
        ),
    ),
    apart_from=("undefined_torch_symbol",),
)
