from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="windows_library_missing",
    family="Q",
    phase="cpp_compile",
    category="toolchain",
    weight=78,
    anchors=(
        "LNK1104",
        "LNK1181",
        "LNK1112",
        "LNK1107",
        "LNK4272",
    ),
    patterns=(
        r"LNK1(?:104|181): cannot open (?:input )?file '(?P<library>[^']{1,200}\.lib)'",
        r"(?P<library>LNK1(?:112|107)\b.{0,120})",
    ),
    summary="The Windows linker does not find or accept {library}",
    means=(
        "The Windows SDK, Python's or OpenMP's import libraries are not on LIB, or the 32-bit "
        "tools are used for a 64-bit torch."
    ),
    check="echo %LIB% in the shell that compiles; where link.",
    fixes=(
        fix(
            "Compile from the x64 Native Tools prompt; install the Windows SDK and a Python "
            "that brings its libs folder"
        ),
    ),
    guide="guides/other-platforms.md#windows",
    next_tool="check_environment",
    matches=(
        quoted("LINK : fatal error LNK1104: cannot open file 'kernel32.lib'", "words of MSVC"),
        quoted(
            "x.obj : fatal error LNK1112: module machine type 'x86' conflicts with target "
            "machine type 'x64'",
            "words of MSVC",
        ),
    ),
    apart_from=("windows_link_error",),
)
