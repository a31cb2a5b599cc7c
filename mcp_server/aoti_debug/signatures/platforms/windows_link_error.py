from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="windows_link_error",
    family="Q",
    phase="cpp_compile",
    category="cpp_error",
    weight=72,
    anchors=(
        "LNK1104",
        "LNK1181",
        "WinMain",
        "error C2",
        "error C3",
        "error C4",
        "error C7",
    ),
    patterns=(
        (
            r"LNK1(?:104|181)\b(?!.{0,200}\.lib'?\s{0,20}$)|undefined reference to "
            r"[`'‘]?WinMain|\): (?:fatal )?error C[2-7]\d{3}\b|^\s{0,20}(?:fatal )?error "
            r"C[2-7]\d{3}: "
        ),
    ),
    summary="The Windows toolchain could not compile or link the generated code",
    means=(
        "Code that MSVC does not take, a path that was quoted wrongly, or (cross compiling "
        "with MinGW) link flags in the wrong step."
    ),
    fixes=(
        fix(
            "Run from an x64 developer prompt with the cl that matches torch; upgrade torch; "
            "keep blanks out of the paths of Python and of the cache"
        ),
    ),
    guide="guides/other-platforms.md#windows",
    next_tool="check_environment",
    references=(
        "pytorch/pytorch#166093",
        "pytorch/pytorch#149310",
    ),
    matches=(
        quoted(
            "LINK : fatal error LNK1181: cannot open input file 'x.obj'",
            "words of MSVC",
        ),
        quoted("undefined reference to `WinMain'", "pytorch/pytorch#166093"),
        quoted(
            r"C:\t\c.main.cpp(12): error C2065: 'tmp0': undeclared identifier",
            "words of MSVC",
        ),
        quoted("error C2679: binary '=': no operator found", "words of MSVC"),
    ),
)
