from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="link_undefined_reference",
    family="F",
    phase="cpp_compile",
    category="missing_symbol",
    weight=64,
    anchors=(
        "undefined reference to ",
        "ld.lld: error: undefined",
        "lld-link: error: undefined symbol",
        "error: undefined symbol: ",
        "Undefined symbols for architecture",
        "symbol(s) not found for architecture",
        "unresolved external symbol",
        "LNK2019",
        "LNK2001",
        "LNK1120",
        "mold: undefined symbol",
    ),
    patterns=(
        "undefined reference to [`'‘]?(?P<symbol>(?![`'‘]?WinMain)[^'’]{1,200})",
        "(?:error: |mold: )undefined (?:hidden )?symbol: (?P<symbol>.{1,200})",
        (
            r"(?P<symbol>Undefined symbols for architecture \w{1,20}|symbol\(s\) not found "
            r"for architecture \w{1,20})"
        ),
        "unresolved external symbol (?P<symbol>.{1,160})",
        r"(?P<symbol>LNK1120\b.{0,60})",
    ),
    summary="The linker finds no definition of {symbol}",
    means=(
        "A library is not on the link line or comes too early on it, or was built with "
        "another torch release or C++ ABI (a name with __cxx11 against one without)."
    ),
    mistaken_for="A missing header.",
    check=(
        "nm -DC on libtorch_cpu.so, libtorch_cuda.so and libc10.so: who defines the name, and "
        "with which std::string?"
    ),
    fixes=(
        fix(
            "Link with the libraries that find_package(Torch) gives in TORCH_LIBRARIES, "
            "after your own objects"
        ),
        fix("Build all parts against one torch and with its _GLIBCXX_USE_CXX11_ABI"),
    ),
    guide="guides/toolchain.md#linker-errors",
    next_tool="check_environment",
    references=("pytorch/pytorch#139954",),
    matches=(
        recorded("u.cpp:(.text+0xa): undefined reference to `nope(int)'", "GNU ld 2.40"),
        recorded(
            "/tmp/ccyhDUZh.o:u.cpp:function main: error: undefined reference to 'nope(int)'",
            "gold 2.40",
        ),
        quoted(
            "ld.lld: error: undefined symbol: torch::jit::load(std::string const&)",
            "words of lld",
        ),
        quoted("Undefined symbols for architecture arm64:", "words of Apple's ld"),
        quoted(
            "error LNK2019: unresolved external symbol aoti_torch_check",
            "pytorch/pytorch#139954",
        ),
        quoted(
            r"build\app.exe : fatal error LNK1120: 2 unresolved externals",
            "words of MSVC",
        ),
    ),
)
