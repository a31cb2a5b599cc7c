from aoti_debug.signatures.signature import Signature, fix, quoted

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
        "AOT mode only supports C++ wrapper",
        "AOTInductor only supports ",
        "only supported in cpp_wrapper",
        "cannot be handled by handle_scalar",
        "Unsupported list element type: ",
        "Unsupported boxed dispatcher arg",
        "Fall through arguments must be one of",
        "Mixed-device constants are only supported",
        "fallback kernels with runtime lookup currently only support",
        "not found in DEVICE_TO_ATEN",
        "must have get_signature implemented",
        "can not be called through custom_op_wrapper",
        "can not be loaded through custom_op_wrapper",
        "Mismatch call_args and arg_types",
        "c_type_for_prim_type",
        "ArrayRef only supported on CPU",
        "ArrayRefTensor only supported on CPU",
        "is unsafe with stack allocation on",
        "CudaKernelParamCache not populated",
        "does not match with arg type",
        "Not all constant gets mapped for constant folding graph",
        "in AOTInductor yet",
    ),
    patterns=(
        (
            r"AOT mode only supports C\+\+ wrapper|Error: AOTInductor only supports|only "
            "supported in cpp_wrapper|cannot be handled by handle_scalar|Unsupported list "
            "element type: |Unsupported boxed dispatcher arg|Fall through arguments must be "
            "one "
            "of|Mixed-device constants are only supported|fallback kernels with runtime lookup "
            "currently only support|not found in DEVICE_TO_ATEN|must have get_signature "
            "implemented|can not be (?:called|loaded) through custom_op_wrapper|Mismatch "
            "call_args and arg_types|in c_type_for_prim_type|ArrayRef(?:Tensor)? only "
            "supported on CPU|is unsafe with stack allocation on|CudaKernelParamCache not "
            "populated|does "
            "not match with arg type|Not all constant gets mapped for constant folding|in "
            "AOTInductor yet"
        ),
        (
            r"(?:^|\s)(?P<what>\S{1,80}) is not supported with cpp_wrapper|NYI support for "
            r"return type|C\+\+ wrapper codegen error|arg type .{0,80} is not yet supported "
            "by custom_op_wrapper|NotImplementedError: return type .{0,80} is not yet "
            "supported|Unsupported return type found"
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
        fix(
            "Give the operator a signature of tensors and plain numbers, or keep it outside "
            "the compiled part"
        ),
    ),
    guide="guides/lowering-and-cpp.md#ops-without-a-shim",
    next_tool="minify",
    references=("pytorch/pytorch#131336",),
    matches=(
        quoted(
            "AssertionError: mutable sin_out.default is not supported with cpp_wrapper",
            "pytorch/pytorch#131336",
        ),
        quoted(
            "NotImplementedError: NYI support for return type: SymInt",
            "text of cpp_wrapper_cpu.py",
        ),
        quoted(
            "AssertionError: Fall through arguments must be one of static_arg_types, got "
            "<class 'torch.ListType'>",
            "text of cpp_wrapper_cpu.py",
        ),
    ),
)
