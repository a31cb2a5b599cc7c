from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="symbol_not_provided",
    family="F",
    phase="load",
    category="missing_symbol",
    weight=68,
    anchors=(
        "exit code",
        "exit status",
        "exited with",
        "exception: code",
        "exception code",
        "with link time reference",
        "symbol not found in flat namespace",
        "Symbol not found: ",
        ": symbol not found",
        "[WinError 127]",
        "WinError 127",
        "error in GetProcAddress",
        "could not be located in the dynamic link library",
    ),
    patterns=(
        r"symbol (?P<symbol>\w{1,200}),? version \S{1,60} not defined in file",
        (
            "(?:symbol not found in flat namespace '?|Symbol not found: "
            r")\(?(?P<symbol>[\w$]{1,200})"
        ),
        (
            r"(?:Error relocating \S{1,200}: |dlsym\(\S{1,40} )(?P<symbol>\w{1,200})\)?: "
            "symbol not found"
        ),
        (
            r"(?P<symbol>\[?WinError 127\b|error in GetProcAddress|\S{1,200} could not be "
            "located in the dynamic link library|0x[cC]0000139|-1073741511)"
        ),
    ),
    summary="A library of this process lacks a symbol: {symbol}",
    means=(
        "The library that was loaded is not the one it was linked against: another torch, "
        "another C++ runtime or CUDA library is found first."
    ),
    check=(
        "nm -D (nm -gU on macOS, dumpbin /exports on Windows) on the library that should define it."
    ),
    fixes=(
        fix(
            "Load with the torch release that compiled it; put the right library first on "
            "the search path"
        ),
    ),
    guide="guides/package-and-load.md#undefined-symbols",
    next_tool="check_environment",
    matches=(
        quoted(
            "ImportError: libtorch_cuda.so: symbol cudaGraphInstantiateWithFlags version "
            "libcudart.so.11.0 not defined in file libcudart.so.11.0 with link time reference",
            "words of the dynamic loader",
        ),
        quoted(
            "ImportError: dlopen(m.so, 0x0002): symbol not found in flat namespace "
            "'_aoti_torch_empty_strided'",
            "words of dyld",
        ),
        quoted("dyld[123]: Symbol not found: __ZN2at4_ops5zeros4callE", "words of dyld"),
        quoted(
            "Error relocating /app/libfoo.so: __memcpy_chk: symbol not found",
            "words of musl's loader",
        ),
        quoted(
            "OSError: [WinError 127] The specified procedure could not be found.",
            "words of Windows",
        ),
        quoted(
            "DynamicLibraryError: error in GetProcAddress",
            "words of ATen/DynamicLibrary.cpp",
        ),
    ),
)
