from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="undeclared_size_symbol",
    family="B",
    phase="cpp_compile",
    category="cpp_error",
    weight=82,
    confidence="proved",
    anchors=(
        "was not declared in this scope",
        "use of undeclared identifier",
    ),
    patterns=(
        r"error: ['‘](?P<symbol>[suz]\d+)['’] was not declared in this scope",
        r"error: use of undeclared identifier '(?P<symbol>[suz]\d+)'",
    ),
    summary="The generated C++ uses the size symbol {symbol} without defining it",
    means=(
        "Inductor lost the definition of a dynamic size: derived Dims (2*s1), inputs "
        "that share one Dim, or a deferred assertion that still names a merged symbol."
    ),
    mistaken_for="A toolchain problem.",
    check="Is the name s or u with a number? Then it is a dynamic size.",
    fixes=(
        Fix(what="Give each input its own Dim, or replace a derived Dim by an independent one"),
        Fix(what="Upgrade torch"),
    ),
    guide="guides/dynamic-shapes.md#derived-and-shared-dims",
    next_tool="minify",
    references=(
        "pytorch/pytorch#145500",
        "pytorch/pytorch#184624",
    ),
    matches=(
        Sample("error: 's1' was not declared in this scope", "quoted", "pytorch/pytorch#145500"),
        Sample("error: use of undeclared identifier 's77'", "quoted", "pytorch/pytorch#184624"),
        Sample(
            "u.cpp:3:62: error: ‘u1’ was not declared in this scope; did you mean ‘u0’?",
            "recorded",
            "g++ 12 on a file of ours",
        ),
    ),
    neighbours=(
        Sample("error: 'int_array_6' was not declared in this scope", "quoted", "another failure"),
        Sample("error: use of undeclared identifier 'stream0'", "quoted", "another failure"),
    ),
)
