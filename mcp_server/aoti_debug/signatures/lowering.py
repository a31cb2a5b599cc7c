"""Inductor cannot translate the model."""

import re

from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

# Words of the checks inside torch/_inductor, of which any means that Inductor gave up on a graph.
CHECKS = (
    "not a supported top level IR node",
    "[Note: Inductor IR]",
    "both a fallback and a decomp for same",
    "a decomposition exists, we should switch to it",
    "should be handled in replace_random",
    "should have been handled in replace_random",
    "should be handled in fuse_seed_creation_pass",
    "this should be handled in decomps",
    "missing from torch._inductor.codegen.cpp.DTYPE_TO_CPP",
    "Topological sort failed!",
    "to have been codegen-ed",
    "Fails to create FallbackKernel",
    "FallbackKernel output type",
    "Can't generate FallbackKernel",
    "Unsupported fallback ",
    "Not sure where to find device info",
    "Operation registered twice",
    "already declared as sibling",
    "Unsupported inductor graph input type",
    "inductor can only compile FX graphs which return",
    "Graph output must be a tuple()",
    "inductor does not support ",
    "unrealized as_strided(",
    "Fallback when indices is on a different device",
    "Fallback for bool indices",
    "out= ops aren't yet supported",
    "Unable to generate code for associative_scan",
    "not supported inside ops.masked",
    "does not implement ops.",
    "should be handled by CSEProxy",
    "should not appear at codegen time",
    "auto_functionalized was not removed",
    "auto_functionalized_v2 was not removed",
    "triton_kernel_wrapper_functional was not removed",
    "is not lowered to while_loop",
    "Not all inputs to pattern found in match.kwargs",
    "Cycle detected in memory planning",
    "Failed to schedule, while loop ran too long",
    "Detected unscheduled nodes. Nodes with unmet dependencies",
    "Attempt to use poisoned virtualized value",
    "Buffers cannot be created while lowering a pointwise subgraph",
    "Buffer mutation detected during lowering",
    "SubgraphLoweringException",
    "not supported in subgraph, (missing lowering)",
    "convert FlexibleLayout to FixedLayout first",
    "to FixedLayout first",
    "real layout shouldn't be FlexibleLayout",
    "get_layout() is not implemented by",
    "get_size() is not implemented by",
    "realize NYI on",
    "codegen_reference NYI on",
    "make_reindexer NYI on",
    "not supported for zero-dimension tensors!",
    "Broadcast failed in ExpandView(",
    "No extern kernel detected for fallback",
    "All nodes passed to scheduling must have an origin",
    "should have been normalized in lowering",
    "Epilogue nodes must all be instances of ir.ComputedBuffer",
    "Template node passed to ",
    "Multi outputs template should be with",
    "unexpected store with load mask",
    "Welford reduction does not support VectorizedN",
    "implementation expect the same inputs' dtype",
    "Unhandled sort",
    "No operation nodes were generated when lowering",
    "oneDNN qlinear",
    "both inputs and outputs of the graph are empty",
    "Combokernel not support tile",
    "Dynamic shape on reduction dimension is not supported",
    "Layout constraint mismatch for",
    "A buffer can only be realized as a comm buffer",
    "cannot be converted to a comm buffer",
    "with unbacked symints",
    "Node referenced nonexistent target",
    "Cannot run a subgraph in isolation!",
    "FX conversion only supports Triton kernels",
    "Trying to run Pytorch Eager Module after Dynamo Freezing",
    "Models with buffer mutation included doesn't support constants greater than 2GB",
    "has unused non-mutated outputs",
    "Failed to import /tmp/torchinductor",
    "[ERROR] Error from lowering",
    "The argument 'nan' is not comparable",
)
FLEX = (
    "flex_attention on MPS",
    "FlexGEMM ",
    "Bq and Bkv must broadcast",
    "NYI: embedding dimension of the query",
    "but flash attention cannot be used",
    "but flex_decoding cannot be used",
    "Q and KV block size must be divisible by BLOCK_M",
    "Number of shared query heads sharing the same KV head",
    "supported in FlexAttention for CPU device",
    "Mixed query, key, and value dtype is not supported on this platform",
    "output node for flex attention's subgraph",
    "output node for the flex attention subgraph",
    "CuteDSL template failed",
    "only supports inference and `return_lse` is not supported",
    "seqlen must be smaller than the block_mask size",
    "in score_mod/mask_mod",
    "Flash attention with block mask but without full blocks",
)
NODES = (
    "TensorBox",
    "StorageBox",
    "ReinterpretView",
    "ComputedBuffer",
    "InputBuffer",
    "ConstantBuffer",
    "FallbackKernel",
    "ExternKernelOut",
    "ExternKernelAlloc",
    "ExternKernelSchedulerNode",
    "FusedSchedulerNode",
    "SchedulerNode",
    "NopKernelSchedulerNode",
    "MultiOutput",
    "MultiOutputLayout",
    "NoneLayout",
    "FlexibleLayout",
    "FixedLayout",
    "MutationLayoutSHOULDREMOVE",
    "ShapeAsConstantBuffer",
    "NoneAsConstantBuffer",
    "TorchBindObject",
    "GraphLowering",
    "SubgraphLowering",
    "CppWrapperCpu",
    "CppWrapperGpu",
    "PythonWrapperCodegen",
    "TritonKernel",
    "CppKernel",
    "CppVecKernel",
    "SizeVarAllocator",
    "NullHandler",
    "NullKernelHandler",
    "UserDefinedTritonKernel",
    "PermuteView",
    "ExpandView",
    "SqueezeView",
    "GenericView",
    "SliceView",
)

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
            r"LoweringException: (?P<text>\w{1,200}: ?.{0,160})",
            r"MissingOperatorWith\w{1,200}: (?P<text>missing (?:lowering|decomposition))",
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
                "|(?:AcceleratorError|RuntimeError): (?:CUDA|Triton|Compiler: )|OutOfMemoryError"
                "|UnicodeDecodeError|FileNotFoundError|PermissionError|OSError|ImportError"
                "|ModuleNotFoundError|CalledProcessError|TimeoutExpired|InvalidCxxCompiler"
                "|TritonMissing|GPUTooOldForTriton|CompilationError|OutOfResources|PTXASError"
                "|NoTritonConfigsError|NoValidChoicesError|SubprocException|BrokenProcessPool"
                ")(?P<error>.{1,160})"
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
            "Output aliasing is currently not supported in compiled torch.",
            "while_loop is assumed to have at least one operand",
            "NYI: while_loop_stack_output",
            "only carries can be mutated",
            "while_loop has fewer non-mutated outputs",
            "while_loop mutation outputs contain a cycle",
            "associative_scan must be captured completely",
            "Expect branches to ",
            "torch.cond currently only supports",
        ),
        patterns=(
            (
                "doesn't work unless it is captured completely|Output aliasing is currently not "
                r"supported in compiled torch\.|while_loop is assumed to have at least one operand"
                "|NYI: while_loop_stack_output|only carries can be mutated|while_loop has fewer "
                "non-mutated|while_loop mutation outputs contain|associative_scan must be captured "
                r"completely|Expect branches to |torch\.cond currently only supports"
            ),
            (
                "'int' object has no attribute 'meta'|UncapturedHigherOrderOpError|NYI cpp "
                "wrapper for while_loop_stack_output|codegen invoke_subgraph is not implemented "
                "for cpp wrapper|A subgraph argument other than striding has been modified|Higher "
                r"order ops do not support \w{1,200}|while_loop\(\): .{0,80}"
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
            quoted(
                "AssertionError: Output aliasing is currently not supported in compiled "
                "torch.cond.",
                "words of torch/_inductor/ir.py",
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
            "nsupported data type",
            "not implemented for 'Float8",
            "not implemented for 'Float4",
            "not implemented for 'ComplexHalf",
            "Inductor Triton does not support scal",
            "_scaled_mm_v2 lowering",
            "Unsupported scaling type",
            "Conversions between float8_e5m2 and float8_e4m3fn",
            "float64 is not supported by MPS",
            "does not support torch.complex",
            "KeyError: torch.float8",
            "KeyError: torch.uint",
            "missing from torch._inductor.codegen.cpp.DTYPE_TO_CPP",
        ),
        patterns=(
            (
                r"KeyError: '?(?:torch\.)?(?P<dtype>complex\d{1,20})"
                r"|(?P<op>target: aten\._scaled_mm)"
                r"|(?:Exception|Error): .{0,80}[uU]nsupported (?:d"
                r"|data )type:? (?P<other>[\w.]{1,200})"
            ),
            (
                r"not implemented for '(?:Float[48]\w{0,20}|ComplexHalf)'|Inductor Triton does not "
                "support scal|_scaled_mm_v2 lowering does not|Unsupported scaling type|Conversions "
                "between float8_e5m2 and float8_e4m3fn|float64 is not supported by MPS|does not "
                r"support torch\.complex|KeyError: torch\.(?:float8|uint)\w{1,200}"
                r"|missing from torch\."
                r"_inductor\.codegen\.cpp\.DTYPE_TO_CPP"
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
            quoted(
                "AssertionError: Conversions between float8_e5m2 and float8_e4m3fn is not "
                "supported!",
                "words of torch/_inductor/codegen/triton.py",
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
    Signature(
        id="inductor_check",
        family="J",
        phase="lower",
        category="lowering_error",
        weight=30,
        anchors=(*CHECKS, "AssertionError: ({"),
        patterns=(
            f"(?P<check>{'|'.join(map(re.escape, CHECKS))})",
            r"AssertionError: (?P<check>\(\{[a-z]\d{1,3}: .{1,100})",
        ),
        summary="A check inside Inductor stopped the compile: {check}",
        means=(
            "Inductor met a graph that one of its passes, its IR or its code generator does not "
            "handle. That is a limit or a bug of Inductor, seldom of the model."
        ),
        mistaken_for="An error of your model code",
        check="torch.compile(model, backend='aot_eager') runs: then it is Inductor",
        fixes=(
            fix("Reduce the graph to the operator that fails; write it in another way"),
            fix("Try the newest torch: its passes change with every release"),
        ),
        guide="guides/lowering-and-cpp.md#lowering-exceptions",
        next_tool="minify",
        matches=(
            quoted(
                "AssertionError: Found <class 'sympy.core.relational.GreaterThan'>, which is not a "
                "supported top level IR node. See [Note: Inductor IR]",
                "words of torch/_inductor/ir.py",
            ),
            quoted(
                "AssertionError: both a fallback and a decomp for same op: aten.t.default",
                "words of torch/_inductor/lowering.py",
            ),
            quoted(
                "AssertionError: ({y0: 192, y1: 0, y2: 96}, {y0: 3, y1: 2, y2: 96})",
                "pytorch/pytorch#181302",
            ),
        ),
    ),
    Signature(
        id="inductor_object",
        family="J",
        phase="lower",
        category="lowering_error",
        weight=32,
        anchors=(
            *(f"'{node}' object " for node in NODES),
            "<class 'torch._inductor.",
            "torch._inductor.virtualized",
        ),
        patterns=(
            (
                rf"'(?P<what>{'|'.join(NODES)})' object (?:has no|is not|does not|cannot)"
                r"|(?:Error|Exception)\b.{0,300}<class 'torch\._inductor\.[\w.]{1,200}'>"
                r"|Error: 'torch\._inductor\.virtualized"
            ),
        ),
        summary="Inductor's own code stumbled over a node of its graph",
        means=(
            "A pass expected another kind of node in Inductor's IR. The stack below "
            "torch/_inductor names the pass; `target:` names the operator, if it was a lowering."
        ),
        mistaken_for="An error of your model code",
        check="The names are classes of torch/_inductor, not of the script",
        fixes=(fix("Reduce the graph to the operator that fails; try the newest torch"),),
        guide="guides/lowering-and-cpp.md#lowering-exceptions",
        next_tool="minify",
        matches=(
            recorded(
                "torch._inductor.exc.InductorError: LoweringException: AttributeError: 'TensorBox' "
                "object has no attribute 'nothing_here'",
                "torch 2.13 CPU, a lowering made to raise",
            ),
            quoted(
                "NotImplementedError: Unsupported arg type: <class 'torch._inductor.ir.Buffer'>",
                "words of torch/_inductor/ir.py",
            ),
        ),
    ),
    Signature(
        id="generated_name_unknown",
        family="J",
        phase="lower",
        category="lowering_error",
        role="symptom",
        weight=28,
        anchors=("NameError: name ", "KeyError: "),
        patterns=(
            (
                r"NameError: name '(?P<name>(?:[suz]|zuf|ks|buf|tmp|arg"
                r"|primals_)\d{1,20}(?:_1)?)' is "
                "not defined"
            ),
            r"KeyError: '?(?P<name>(?:[suz]|ps|zuf|buf|op|primals_)\d{1,5})'?\s{0,20}$",
        ),
        summary="Inductor lost track of {name}, a name of its own",
        means=(
            "A size symbol, a buffer or an operation of the generated code is used where it was "
            "never defined: a slip of a pass or of the code generator."
        ),
        mistaken_for="A misspelt name in the script",
        check="The script has no such name",
        fixes=(
            fix("Try the newest torch; export with fewer dynamic dimensions to see which it is"),
        ),
        guide="guides/lowering-and-cpp.md#lowering-exceptions",
        next_tool="minify",
        matches=(
            quoted("NameError: name 's0' is not defined", "form of the error"),
            quoted("KeyError: 'buf12'", "form of the error"),
        ),
        neighbours=(
            quoted("NameError: name 'modle' is not defined", "the script's own"),
            quoted("KeyError: 'input_ids'", "the script's own"),
        ),
    ),
    Signature(
        id="flex_attention_unsupported",
        family="J",
        phase="lower",
        category="lowering_error",
        weight=60,
        anchors=FLEX,
        patterns=(f"(?P<what>{'|'.join(map(re.escape, FLEX))})",),
        summary="flex_attention is used in a way that Inductor's kernels do not cover: {what}",
        means=(
            "Its templates hold for some sizes, dtypes, devices and mask functions only; eager "
            "mode is more permissive."
        ),
        mistaken_for="A wrong attention mask",
        check="Does scaled_dot_product_attention in its place compile?",
        fixes=(
            fix("Change the size, dtype or captured tensor that the message names"),
            fix("Use scaled_dot_product_attention on this device"),
        ),
        guide="guides/lowering-and-cpp.md#lowering-exceptions",
        next_tool="minify",
        matches=(
            quoted(
                "NotImplementedError: NYI: embedding dimension of the query, key, and value must "
                "be at least 16 but got E=8 and Ev=8",
                "words of torch/_inductor/kernel/flex/flex_attention.py",
            ),
        ),
    ),
    Signature(
        id="op_dtype_not_implemented",
        family="J",
        phase="run",
        category="lowering_error",
        weight=22,
        confidence="possible",
        anchors=("\" not implemented for '",),
        patterns=(
            (
                r"\"(?P<op>(?!(?:min|max)_all)\w{2,80})\" not implemented for "
                r"'(?P<dtype>[A-Z]\w{2,20})'"
            ),
        ),
        summary="The kernel {op} does not exist for {dtype} on this device",
        means=(
            "ATen has no code for this operator, dtype and device. While exporting it is the "
            "model's dtype, at run time an input of another dtype than compiled."
        ),
        mistaken_for="A missing operator",
        check="Do the inputs have the dtypes of the export?",
        fixes=(fix("Compute this operator in float32, or on the other device"),),
        guide="guides/lowering-and-cpp.md#unsupported-dtypes",
        next_tool="triage",
        matches=(
            quoted(
                "RuntimeError: \"addmm_impl_cpu_\" not implemented for 'Half'",
                "words of ATen's dispatch macros",
            ),
        ),
        apart_from=("printer_failed",),
    ),
    Signature(
        id="cache_bypassed",
        family="J",
        phase="lower",
        category="no_fault",
        role="symptom",
        weight=4,
        confidence="possible",
        anchors=(
            "BypassFxGraphCache",
            "BypassAOTAutogradCache",
            "Failed to pickle cache key",
            "unable to load compiled graph",
            "unable to serialize compiled graph",
            "fx graph unable to write to cache",
            "Failed to remove temporary cache dir",
        ),
        patterns=(
            (
                "BypassFxGraphCache|BypassAOTAutogradCache|Failed to pickle cache key|unable to "
                "(?:load|serialize) compiled graph|fx graph unable to write to cache|Failed to "
                "remove temporary cache dir"
            ),
        ),
        summary="Inductor's cache was not used (a notice, not an error)",
        means="The graph is compiled without the cache, which only takes longer.",
        mistaken_for="The reason of a failure further down",
        guide="guides/memory-and-time.md#slow-compile",
        matches=(
            quoted(
                "torch._inductor.codecache.BypassFxGraphCache: Failed to pickle cache key",
                "words of torch/_inductor/codecache.py",
            ),
        ),
    ),
    Signature(
        id="inductor_frame",
        family="J",
        phase="lower",
        category="lowering_error",
        role="symptom",
        weight=14,
        confidence="possible",
        anchors=(
            "torch/_inductor/graph.py:",
            "torch/_inductor/ir.py:",
            "torch/_inductor/lowering.py:",
            "torch/_inductor/scheduler.py:",
            "torch/_inductor/compile_fx.py:",
            "torch/_inductor/pattern_matcher.py:",
            "torch/_inductor/decomposition.py:",
            "torch/_inductor/sizevars.py:",
            "torch/_inductor/codegen/",
            "torch/_inductor/fx_passes/",
            "torch\\_inductor\\graph.py:",
            "torch\\_inductor\\compile_fx.py:",
        ),
        patterns=(
            (
                r"^\s{0,20}File \S{0,300}torch[\\/]_inductor[\\/](?:codegen[\\/]"
                r"|fx_passes[\\/])?\w{1,200}\.py:"
                r"\d{1,20},? in |\bE\d{4} .{0,160}torch/_inductor/(?:codegen/|fx_passes/)?"
                r"(?:graph|ir|lowering|scheduler|compile_fx|pattern_matcher|decomposition|sizevars"
                r"|cpp\w{0,200}|triton\w{0,200}|simd|wrapper|common|\w{1,200}_grad)\.py:\d{1,20}\] "
            ),
        ),
        summary="The failure is inside Inductor",
        means="Frames or error lines of Inductor, and no message that is known.",
        check="The innermost exception, not the wrapper at the end",
        fixes=(fix("Reduce the graph to the operator that fails; try the newest torch"),),
        guide="guides/lowering-and-cpp.md#lowering-exceptions",
        next_tool="minify",
        matches=(
            quoted(
                "File ~/env/lib/python3.10/site-packages/torch/_inductor/graph.py:333, in "
                "GraphLowering.call_function(self, target, args, kwargs)",
                "form of an IPython frame",
            ),
        ),
        neighbours=(
            quoted(
                "W1121 07:33:58.079000 9567 torch/_inductor/ir.py:9214] aten._linalg_det.default",
                "a warning",
            ),
        ),
    ),
)
