from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="cpp_wrapper_unsupported",
    family="J",
    phase="lower",
    category="lowering_error",
    weight=62,
    anchors=(
        "not supported with cpp_wrapper",
        "NYI support for return type",
        "CppWrapperCodegenError",
        "C++ wrapper codegen error",
        "not yet supported by custom_op_wrapper",
        "NotImplementedError: return type",
        "Unsupported return type found",
    ),
    patterns=(
        (
            r"(?:^|\s)(?P<what>\S{1,80}) is not supported with cpp_wrapper|"
            r"NYI support for return type|C\+\+ wrapper codegen error|"
            "arg type .{0,80} is not yet supported by custom_op_wrapper|"
            "NotImplementedError: return type .{0,80} is not yet supported|"
            "Unsupported return type found"
        ),
    ),
    summary="The C++ wrapper cannot express an operator's arguments or results",
    means=(
        "AOTInductor writes host code in C++, and this operator takes or returns a type it "
        "has no form for (symbolic integers, lists, mutation of lists)."
    ),
    mistaken_for="A missing operator",
    check="torch.compile without cpp_wrapper accepts the same graph",
    fixes=(
        Fix(
            what=(
                "Give the operator a signature of tensors and plain numbers, or keep it "
                "outside the compiled part"
            )
        ),
    ),
    guide="guides/lowering-and-cpp.md#ops-without-a-shim",
    next_tool="minify",
    references=("pytorch/pytorch#131336",),
    matches=(
        Sample(
            ("AssertionError: mutable sin_out.default is not supported with cpp_wrapper"),
            "quoted",
            "pytorch/pytorch#131336",
        ),
        Sample(
            "NotImplementedError: NYI support for return type: SymInt",
            "quoted",
            "text of cpp_wrapper_cpu.py",
        ),
    ),
)
