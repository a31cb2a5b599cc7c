from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="python_header_missing",
    family="G",
    phase="triton_compile",
    category="toolchain",
    weight=86,
    confidence="proved",
    anchors=("Python.h",),
    patterns=(r"fatal error: '?Python\.h'?:? (?:No such file|file not found)",),
    summary="The Python development headers are missing",
    means="Triton builds a small launcher in C and Inductor's own C++ may need them too.",
    fixes=(
        fix(
            "apt-get install python3-dev (of the interpreter's version), or use a conda or uv "
            "Python, which brings them"
        ),
    ),
    guide="guides/toolchain.md#missing-headers",
    next_tool="check_environment",
    references=("pytorch/torchchat#1293",),
    matches=(
        recorded(
            "p.cpp:1:10: fatal error: Python.h: No such file or directory",
            "g++ 12 on a file of ours",
        ),
    ),
)
