from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="undefined_torch_symbol",
    family="F",
    phase="load",
    category="missing_symbol",
    weight=82,
    anchors=("undefined symbol: _Z",),
    patterns=(
        (
            "undefined symbol: (?P<symbol>_ZT?[VINKS]{0,3}(?:3c10|2at|5torch|K3c10"
            r"|K2at)\w{1,240})"
        ),
    ),
    summary="This torch lacks the C++ symbol {symbol}",
    means=(
        "The package or a library that it needs was built against another torch release or "
        "C++ ABI: a name with `Ss` holds the old std::string."
    ),
    check=(
        "c++filt the name; torch.__version__ and torch.compiled_with_cxx11_abi() of both sides."
    ),
    fixes=(
        fix(
            "Build or compile with the torch release that loads it; do not override "
            "_GLIBCXX_USE_CXX11_ABI"
        ),
    ),
    guide="guides/package-and-load.md#undefined-symbols",
    next_tool="check_environment",
    references=("pytorch/pytorch#122313",),
    matches=(
        recorded(
            "RuntimeError: Error in dlopen: /tmp/e1/rec/sC.so: undefined symbol: "
            "_ZN2at4_ops6linear4callERKNS_6TensorES4_X",
            "torch 2.13.0, CPU, a library of ours",
        ),
        recorded(
            "RuntimeError: Error in dlopen: /tmp/e1/rec/sA.so: undefined symbol: "
            "_ZN3c105ErrorC1ENS_14SourceLocationESs",
            "torch 2.13.0, CPU, a library of ours",
        ),
    ),
    apart_from=("undefined_other_symbol",),
)
