from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="op_library_not_loaded",
    family="L",
    phase="load",
    category="custom_op_missing",
    weight=44,
    anchors=("Could not load this library: ",),
    patterns=(r"OSError: Could not load this library: (?P<library>.{1,200})",),
    summary="The library of operators {library} was not loaded",
    means=(
        "torch.ops.load_library failed, so its operators stay unknown. The error of the "
        "loader above it says why: no such file, an undefined symbol, another architecture."
    ),
    mistaken_for="A fault of the model that calls the operators",
    check="ldd LIBRARY, in the environment of the process",
    fixes=(fix("Correct the path, or build the library against this torch"),),
    guide="guides/custom-ops.md#schema-not-found",
    next_tool="check_environment",
    matches=(recorded("OSError: Could not load this library: /nonexist.so", "torch 2.13.0, CPU"),),
)
