from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="compiler_too_old",
    family="G",
    phase="cpp_compile",
    category="toolchain",
    weight=80,
    anchors=(
        "unrecognized command line option",
        "unrecognized command-line option",
        "unknown argument: '",
        "too old version of GCC",
        "or later compatible compiler is required",
        "error: bad value",
        "nested namespace definitions only available with",
    ),
    patterns=(
        (
            "(?P<what>unrecognized command[- ]line option.{0,80}|unknown argument: "
            r"'-[^']{1,60}'|too old version of GCC|C\+\+\d\d or later compatible compiler is "
            "required|error: bad value .{1,40} for .-m(?:arch|cpu|tune)=|nested namespace "
            "definitions only available with)"
        ),
    ),
    summary="The compiler does not know what it is asked: {what}",
    means=(
        "It is too old for the C++ standard or CPU flags that this torch uses, or CXX names "
        "another kind of compiler."
    ),
    check="$CXX --version; torch needs g++ 9 or later, recent releases 11.",
    fixes=(fix("Install a newer g++ and set CXX to it"),),
    guide="guides/toolchain.md#compiler-too-old",
    next_tool="check_environment",
    references=("pytorch/pytorch#130815",),
    matches=(
        recorded(
            "g++: error: unrecognized command-line option ‘-fnope-option’; did you mean "
            "‘-fno-exceptions’?",
            "torch 2.13.0, CPU, a flag added by us",
        ),
        recorded(
            "cc1plus: error: bad value ‘foo’ for ‘-march=’ switch",
            "torch 2.13.0, CPU, a flag added by us",
        ),
        recorded(
            "/tmp/v/dev/lib/python3.11/site-packages/torch/include/torch/csrc/inductor/"
            "aoti_runtime/scalar_to_tensor.h:7:11: warning: nested namespace definitions only "
            "available with",
            "torch 2.13.0, CPU, -std=c++11 added by us",
        ),
        quoted("g++: error: unrecognized command line option '-std=c++20'", "words of g++ 7"),
        quoted("clang: error: unknown argument: '-fno-tree-loop-vectorize'", "words of clang"),
        quoted(
            "#error \"You're trying to build PyTorch with a too old version of GCC. We need "
            'GCC 9 or later."',
            "words of torch's headers",
        ),
        quoted(
            "#error C++17 or later compatible compiler is required to use PyTorch.",
            "words of torch's headers",
        ),
        quoted(
            "#error C++20 or later compatible compiler is required to use PyTorch.",
            "words of torch's headers",
        ),
    ),
)
