from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="header_missing",
    family="G",
    phase="cpp_compile",
    category="toolchain",
    weight=70,
    anchors=("fatal error: ", "Cannot open include file: "),
    patterns=(
        r"fatal error C1083: Cannot open include file: '(?P<header>[^']{1,200})'",
        (
            r"fatal error: '?(?P<header>(?!\S{0,60}(?:Python\.h|omp\.h"
            r"|cuda\w{0,200}\.h))[\w./+-]{1,200})'?:? (?:No such file or directory"
            r"|file not found)"
        ),
    ),
    summary="The header {header} is missing",
    means=(
        "The compile host is incomplete: C++ standard headers (libstdc++-dev), a library's "
        "development package, or torch's own include folder."
    ),
    check="g++ -v -E on an empty file lists the include directories.",
    fixes=(fix("Install the package that brings {header}, or set CPATH to its directory"),),
    guide="guides/toolchain.md#missing-headers",
    next_tool="check_environment",
    matches=(
        recorded(
            "/tmp/v/dev/lib/python3.11/site-packages/torch/include/torch/csrc/inductor/"
            "aoti_include/common.h:4:10: fatal error: array: No such file or directory",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "main.cpp(2): fatal error C1083: Cannot open include file: 'algorithm': No such "
            "file or directory",
            "words of MSVC",
        ),
    ),
    apart_from=("cuda_header_missing", "compiler_killed"),
)
