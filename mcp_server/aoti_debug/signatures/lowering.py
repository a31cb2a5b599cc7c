"""Inductor cannot translate the model."""

from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURES = (
    Signature(
        id="lowering_exception",
        family="J",
        phase="lower",
        category="lowering_error",
        weight=44,
        anchors=(
            "LoweringException: ",
            "missing lowering",
            "missing decomposition",
            "MissingOperator",
        ),
        patterns=(
            r"LoweringException: (?P<text>\w+: ?.{0,160})",
            r"MissingOperatorWith\w+: (?P<text>missing (?:lowering|decomposition))",
        ),
        summary="Inductor could not translate an operator: {text}",
        means=(
            "The rule for one operator raised, or there is none; the `target:` line names the "
            "operator and its arguments. Nothing was compiled."
        ),
        mistaken_for="An error of your model code",
        check=(
            "torch.compile of the same function usually fails alike: then it is Inductor, not "
            "packaging"
        ),
        fixes=(
            fix("Read `target:` and `Found from`, then rewrite or decompose that operator"),
            fix("Try the newest torch: many lowerings were repaired"),
        ),
        guide="guides/lowering-and-cpp.md#lowering-exceptions",
        next_tool="minify",
        references=("pytorch/pytorch#138254", "pytorch/pytorch#139911"),
        matches=(
            recorded(
                "torch._inductor.exc.InductorError: LoweringException: AssertionError: unexpected "
                "layout",
                "torch 2.13 CPU, a lowering made to raise",
            ),
            quoted(
                "torch._inductor.exc.LoweringException: AssertionError: target: "
                "aten._scaled_mm.default",
                "huggingface/flux-fast#12",
            ),
            quoted(
                "torch._inductor.exc.MissingOperatorWithoutDecomp: missing lowering",
                "text of torch/_inductor/exc.py",
            ),
        ),
        apart_from=("cpp_compile_failed",),
    ),
    Signature(
        id="inductor_error",
        family="J",
        phase="lower",
        category="lowering_error",
        role="symptom",
        weight=30,
        anchors=("InductorError: ", "BackendCompilerFailed: "),
        patterns=(
            (
                "(?:InductorError|BackendCompilerFailed): (?!LoweringException|CppCompileError"
                "|(?:AcceleratorError|RuntimeError): (?:CUDA|Triton)"
                "|OutOfMemoryError)(?P<error>.{1,160})"
            ),
        ),
        summary="Inductor failed while compiling the graph: {error}",
        means=(
            "Wrapper for any exception inside Inductor; the type after the colon is the real one."
        ),
        check="The last frames inside torch/_inductor show the pass or the operator",
        fixes=(fix("Reduce the graph to the operator that fails; try the newest torch"),),
        guide="guides/lowering-and-cpp.md#lowering-exceptions",
        next_tool="minify",
        references=("pytorch/pytorch#172022", "pytorch/pytorch#160535"),
        matches=(
            recorded(
                "torch._inductor.exc.InductorError: AssertionError: A subgraph argument other "
                "than striding has been modified; FakeTensorUpdater cannot update this argument!",
                "torch 2.13 CPU, while_loop with an int in its state",
            ),
        ),
        apart_from=("cpp_compile_failed", "compile_time_gpu_fault"),
    ),
    Signature(
        id="control_flow_operator",
        family="J",
        phase="lower",
        category="lowering_error",
        weight=64,
        anchors=(
            "'int' object has no attribute 'meta'",
            "UncapturedHigherOrderOpError",
            "doesn't work unless it is captured completely",
            "NYI cpp wrapper for while_loop",
            "invoke_subgraph is not",
            "while_loop()",
            "A subgraph argument other than striding",
            "Higher order ops do not support",
        ),
        patterns=(
            (
                "'int' object has no attribute 'meta'|UncapturedHigherOrderOpError|NYI cpp "
                "wrapper for while_loop_stack_output|codegen invoke_subgraph is not implemented "
                "for cpp wrapper|A subgraph argument other than striding has been modified|Higher "
                r"order ops do not support \w+|while_loop\(\): .{0,80}"
            ),
        ),
        summary=(
            "A control flow operator (cond, while_loop, scan) is used in a way the compiler does "
            "not support"
        ),
        means=(
            "Branches must return fresh tensors of equal shape and dtype, loop state must be "
            "tensors, and nested subgraphs are only partly supported by the C++ wrapper."
        ),
        check="Does the model compile with the control flow replaced by one branch?",
        fixes=(
            fix(
                "Carry integers of the loop as 0-d tensors; return clones rather than inputs or "
                "views from branches"
            ),
            fix("Keep the loop in Python and compile its body"),
        ),
        guide="guides/lowering-and-cpp.md#control-flow-operators",
        next_tool="minify",
        references=("pytorch/pytorch#166525", "pytorch/pytorch#168398", "pytorch/pytorch#190908"),
        matches=(
            quoted(
                "torch._inductor.exc.InductorError: LoweringException: AttributeError: 'int' "
                "object has no attribute 'meta'",
                "pytorch/pytorch#166525",
            ),
            recorded(
                "torch._inductor.exc.InductorError: AssertionError: A subgraph argument other "
                "than striding has been modified;",
                "torch 2.13 CPU, int in while_loop state",
            ),
            recorded(
                "torch._dynamo.exc.UncapturedHigherOrderOpError: This higher order",
                "torch 2.13, cond whose branch returns a view",
            ),
        ),
    ),
    Signature(
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
        ),
    ),
    Signature(
        id="unsupported_dtype",
        family="J",
        phase="lower",
        category="lowering_error",
        weight=66,
        anchors=(
            "KeyError: 'complex",
            "target: aten._scaled_mm",
            "KeyError: torch.complex",
            "unsupported dtype",
            "not implemented for 'Float8",
        ),
        patterns=(
            (
                r"KeyError: '?(?:torch\.)?(?P<dtype>complex\d+)|(?P<op>target: aten\._scaled_mm)"
                r"|(?:Exception|Error): .{0,80}unsupported dtype:? (?P<other>[\w.]+)"
            ),
        ),
        summary="Inductor's GPU code generation does not handle a dtype of this graph",
        means=(
            "Triton has no complex pointers, and float8 matrix products work only for some scale "
            "layouts. The operator that carries the dtype is named next to the message."
        ),
        mistaken_for="A shape problem",
        check="The same model in float32 compiles",
        fixes=(
            fix(
                "Make complex views contiguous first, or keep the complex part out of the "
                "compiled graph"
            ),
            fix("For float8 use a quantization layout that torch supports on this GPU"),
        ),
        guide="guides/lowering-and-cpp.md#unsupported-dtypes",
        next_tool="minify",
        references=("pytorch/pytorch#188718", "pytorch/pytorch#97562", "huggingface/flux-fast#12"),
        matches=(
            quoted(
                "torch._inductor.exc.InductorError: KeyError: 'complex64'", "pytorch/pytorch#188718"
            ),
            quoted(
                "torch._inductor.exc.LoweringException: AssertionError: target: "
                "aten._scaled_mm.default",
                "huggingface/flux-fast#12",
            ),
        ),
        apart_from=("cpu_triton_missing",),
    ),
    Signature(
        id="missing_c_shim",
        family="J",
        phase="lower",
        category="no_fault",
        role="symptom",
        weight=5,
        confidence="possible",
        anchors=("is missing a c-shim implementation",),
        patterns=(
            (
                r"(?:^|\s)(?P<op>[\w.:]{1,120}) is missing a c-shim implementation, using proxy "
                "executor as fallback"
            ),
        ),
        summary="{op} will be called through the dispatcher at run time (a notice, not an error)",
        means=(
            "The operator has no direct C function, so the model calls it by name: somewhat "
            "slower, and its library must be loaded where the model runs."
        ),
        mistaken_for="The reason of a later crash",
        guide="guides/lowering-and-cpp.md#ops-without-a-shim",
        references=("mir-group/nequip#563",),
        matches=(
            recorded(
                "W1121 07:33:58.079000 9567 torch/_inductor/ir.py:9214] aten._linalg_det.default "
                "is missing a c-shim implementation, using proxy executor as fallback",
                "torch 2.13 CPU",
            ),
        ),
    ),
)
