from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="header_missing",
    family="G",
    phase="cpp_compile",
    category="toolchain",
    weight=70,
    anchors=("fatal error: ",),
    patterns=(
        (
            r"fatal error: '?(?P<header>(?!\S{0,60}(?:Python\.h|omp\.h|cuda\w*\.h))[\w./+-]{1"
            r",200})'?:? (?:No such file or directory|file not found)"
        ),
    ),
    summary="The header {header} is missing",
    means=(
        "The compile host is incomplete: C++ standard headers (libstdc++-dev), a "
        "library's development package, or torch's own include folder."
    ),
    check="g++ -v -E on an empty file lists the include directories.",
    fixes=(Fix(what="Install the package that brings {header}, or set CPATH to its directory"),),
    guide="guides/toolchain.md#missing-headers",
    next_tool="check_environment",
    matches=(
        Sample(
            (
                "/tmp/v/dev/lib/python3.11/site-packages/torch/include/torch/csrc/inductor/aoti_"
                "include/common.h:4:10: fatal error: array: No such file or directory"
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
    ),
    neighbours=(
        Sample("c.cpp:1:10: fatal error: cuda.h: No such file or directory", "recorded", "g++ 12"),
        Sample(
            "fatal error: Killed signal terminated program cc1plus", "quoted", "another failure"
        ),
    ),
)
