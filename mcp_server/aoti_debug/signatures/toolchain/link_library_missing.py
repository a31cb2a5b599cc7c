from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="link_library_missing",
    family="G",
    phase="cpp_compile",
    category="toolchain",
    weight=82,
    confidence="proved",
    anchors=("cannot find -l", "library not found for -l"),
    patterns=(
        r"(?:cannot find|library not found for) -l(?P<library>(?!g?omp\b)[\w.{1,300}:-]{1,60})",
    ),
    summary="The linker does not find lib{library}",
    means=(
        "For cuda: the driver's stub or libcuda.so is not where the linker looks; for c10 or "
        "torch: a broken installation or LIBRARY_PATH."
    ),
    fixes=(
        fix(
            "For -lcuda put the toolkit's stubs directory into LIBRARY_PATH, or install the "
            "driver library"
        ),
        fix("Otherwise install the library's development package"),
    ),
    guide="guides/toolchain.md#linker-errors",
    next_tool="check_environment",
    matches=(
        recorded(
            "/usr/bin/ld: cannot find -lnope: No such file or directory",
            "torch 2.13.0, CPU, a library added by us",
        ),
        quoted("ld: library not found for -lcuda", "words of lld"),
    ),
    apart_from=("openmp_header_missing",),
)
