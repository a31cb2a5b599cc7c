from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="undeclared_size_symbol",
    family="B",
    phase="cpp_compile",
    category="cpp_error",
    weight=82,
    confidence="proved",
    anchors=("was not declared in this scope", "use of undeclared identifier"),
    patterns=(
        r"error: ['‘](?P<symbol>[suz]\d{1,20})['’] was not declared in this scope",
        r"error: use of undeclared identifier '(?P<symbol>[suz]\d{1,20})'",
    ),
    summary="The generated C++ uses the size symbol {symbol} without defining it",
    means=(
        "Inductor lost the definition of a dynamic size: derived Dims (2*s1), inputs that "
        "share one Dim, or a deferred assertion that still names a merged symbol."
    ),
    mistaken_for="A toolchain problem.",
    check="Is the name s or u with a number? Then it is a dynamic size.",
    fixes=(
        fix("Give each input its own Dim, or replace a derived Dim by an independent one"),
        fix("Upgrade torch"),
    ),
    guide="guides/dynamic-shapes.md#derived-and-shared-dims",
    next_tool="minify",
    references=("pytorch/pytorch#145500", "pytorch/pytorch#184624"),
    matches=(
        quoted("error: 's1' was not declared in this scope", "pytorch/pytorch#145500"),
        quoted("error: use of undeclared identifier 's77'", "pytorch/pytorch#184624"),
        recorded(
            "u.cpp:3:62: error: ‘u1’ was not declared in this scope; did you mean ‘u0’?",
            "g++ 12 on a file of ours",
        ),
    ),
    neighbours=(
        quoted("error: 'int_array_6' was not declared in this scope", "another failure"),
        quoted("error: use of undeclared identifier 'stream0'", "another failure"),
    ),
)
