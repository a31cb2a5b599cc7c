from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="undefined_torch_symbol",
    family="F",
    phase="load",
    category="missing_symbol",
    weight=82,
    anchors=("undefined symbol: _Z",),
    patterns=(
        (
            r"undefined symbol: (?P<symbol>_ZT?[VINKS]{0,3}(?:3c10|2at|5torch|K3c10|K2at)\w{1"
            r",240})"
        ),
    ),
    summary="This torch lacks the C++ symbol {symbol}",
    means=(
        "The package or a library that it needs was built against another torch release "
        "or C++ ABI: a name with `Ss` holds the old std::string."
    ),
    check=(
        "c++filt the name; torch.__version__ and torch.compiled_with_cxx11_abi() of both sides."
    ),
    fixes=(
        Fix(
            what=(
                "Build or compile with the torch release that loads it; do not override "
                "_GLIBCXX_USE_CXX11_ABI"
            )
        ),
    ),
    guide="guides/package-and-load.md#undefined-symbols",
    next_tool="check_environment",
    references=("pytorch/pytorch#122313",),
    matches=(
        Sample(
            (
                "RuntimeError: Error in dlopen: /tmp/e1/rec/sC.so: undefined symbol: "
                "_ZN2at4_ops6linear4callERKNS_6TensorES4_X"
            ),
            "recorded",
            "torch 2.13.0, CPU, a library of ours",
        ),
        Sample(
            (
                "RuntimeError: Error in dlopen: /tmp/e1/rec/sA.so: undefined symbol: "
                "_ZN3c105ErrorC1ENS_14SourceLocationESs"
            ),
            "recorded",
            "torch 2.13.0, CPU, a library of ours",
        ),
    ),
    neighbours=(
        Sample("undefined symbol: _ZNKSt10filesystem4path8filenameEv", "quoted", "another failure"),
    ),
)
