from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

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
            r"(?P<what>unrecognized command[- ]line option.{0,80}|unknown argument: "
            r"'-[^']{1,60}'|too old version of GCC|C\+\+\d\d or later compatible compiler is "
            r"required|error: bad value .{1,40} for .-m(?:arch|cpu|tune)=|nested namespace "
            r"definitions only available with)"
        ),
    ),
    summary="The compiler does not know what it is asked: {what}",
    means=(
        "It is too old for the C++ standard or CPU flags that this torch uses, or CXX "
        "names another kind of compiler."
    ),
    check="$CXX --version; torch needs g++ 9 or later, recent releases 11.",
    fixes=(Fix(what="Install a newer g++ and set CXX to it"),),
    guide="guides/toolchain.md#compiler-too-old",
    next_tool="check_environment",
    references=("pytorch/pytorch#130815",),
    matches=(
        Sample(
            (
                "g++: error: unrecognized command-line option ‘-fnope-option’; did you mean "
                "‘-fno-exceptions’?"
            ),
            "recorded",
            "torch 2.13.0, CPU, a flag added by us",
        ),
        Sample(
            "cc1plus: error: bad value ‘foo’ for ‘-march=’ switch",
            "recorded",
            "torch 2.13.0, CPU, a flag added by us",
        ),
        Sample(
            (
                "/tmp/v/dev/lib/python3.11/site-packages/torch/include/torch/csrc/inductor/aoti_"
                "runtime/scalar_to_tensor.h:7:11: warning: nested namespace definitions only "
                "available with ‘-std=c++17’ or ‘-std=gnu++17’ [-Wc++17-extensions]"
            ),
            "recorded",
            "torch 2.13.0, CPU, -std=c++11 added by us",
        ),
        Sample(
            "g++: error: unrecognized command line option '-std=c++20'", "quoted", "words of g++ 7"
        ),
        Sample(
            "clang: error: unknown argument: '-fno-tree-loop-vectorize'", "quoted", "words of clang"
        ),
        Sample(
            (
                "#error \"You're trying to build PyTorch with a too old version of GCC. We need "
                'GCC 9 or later."'
            ),
            "quoted",
            "words of torch's headers",
        ),
        Sample(
            "#error C++17 or later compatible compiler is required to use PyTorch.",
            "quoted",
            "words of torch's headers",
        ),
        Sample(
            "#error C++20 or later compatible compiler is required to use PyTorch.",
            "quoted",
            "words of torch's headers",
        ),
    ),
)
