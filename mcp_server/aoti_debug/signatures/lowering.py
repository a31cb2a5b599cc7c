"""Inductor cannot translate the model."""

from __future__ import annotations

from aoti_debug.facts.categories import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

# Where an error line or an IPython frame says more than that torch was there.
_MODULES = tuple(
    f"_inductor/{name}"
    for name in (
        "graph",
        "ir",
        "lowering",
        "scheduler",
        "compile_fx",
        "pattern_matcher",
        "decomposition",
        "sizevars",
        "codegen/",
        "fx_passes/",
    )
)
SIGNATURES = (
    Signature(
        id="cache_bypassed",
        phase="lower",
        category="no_fault",
        role="symptom",
        tier=Tier.STATUS,
        confidence="possible",
        patterns=(
            "BypassFxGraphCache",
            "BypassAOTAutogradCache",
            "Failed to pickle cache key",
            "unable to (?:load|serialize) compiled graph",
            "fx graph unable to write to cache",
            "Failed to remove temporary cache dir",
        ),
        summary="Inductor's cache was not used (a notice, not an error)",
        means="The graph is compiled without the cache, which only takes longer.",
        guide="guides/memory-and-time.md#slow-compile",
        matches=(
            quoted(
                "torch._inductor.codecache.BypassFxGraphCache: Failed to pickle cache key",
                "words of torch/_inductor/codecache.py",
            ),
            words("torch/_functorch/config.py", "BypassAOTAutogradCache"),
            words("torch/_meta_registrations.py", "unable to load compiled graph"),
            words("torch/_inductor/codecache.py", "fx graph unable to write to cache"),
            words("torch/_inductor/utils.py", "Failed to remove temporary cache dir"),
        ),
    ),
    Signature(
        id="control_flow_operator",
        phase="lower",
        category="lowering_error",
        tier=Tier.KIND_TEXT,
        patterns=(
            "doesn't work unless it is captured completely",
            r"Output aliasing is currently not supported in compiled torch\.",
            "while_loop is assumed to have at least one operand",
            "NYI: while_loop_stack_output",
            "only carries can be mutated",
            "while_loop has fewer non-mutated",
            "while_loop mutation outputs contain",
            "associative_scan must be captured completely",
            "Expect branches to ",
            r"torch\.cond currently only supports",
            "'int' object has no attribute 'meta'",
            "UncapturedHigherOrderOpError",
            "NYI cpp wrapper for while_loop_stack_output",
            "codegen invoke_subgraph is not implemented for cpp wrapper",
            "A subgraph argument other than striding has been modified",
            r"Higher order ops do not support \w{1,200}",
            r"while_loop\(\): .{0,80}",
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
                (
                    "Carry integers of the loop as 0-d tensors; return clones rather than inputs "
                    "or views from branches"
                ),
            ),
            fix("Keep the loop in Python and compile its body"),
        ),
        guide="guides/lowering-and-cpp.md#control-flow-operators",
        next_tool="minify",
        matches=(
            quoted(
                "torch._inductor.exc.InductorError: LoweringException: AttributeError: 'int' object has no attribute 'meta'",
                "pytorch/pytorch#166525",
            ),
            quoted(
                "AssertionError: Output aliasing is currently not supported in compiled torch.cond.",
                "words of torch/_inductor/ir.py",
            ),
            recorded(
                "torch._inductor.exc.InductorError: AssertionError: A subgraph argument other than striding has been modified;",
                "torch 2.13 CPU, int in while_loop state",
            ),
            recorded(
                "torch._dynamo.exc.UncapturedHigherOrderOpError: This higher order",
                "torch 2.13, cond whose branch returns a view",
            ),
            words(
                "torch/_dynamo/variables/higher_order_ops.py",
                "doesn't work unless it is captured completely",
                "Higher order ops do not support x",
            ),
            words(
                "torch/_inductor/ir.py",
                "while_loop is assumed to have at least one operand",
                "NYI: while_loop_stack_output",
                "only carries can be mutated",
            ),
            words(
                "torch/_inductor/codegen/cpp_wrapper_cpu.py",
                "while_loop has fewer non-mutated",
                "while_loop mutation outputs contain",
                "codegen invoke_subgraph is not implemented for cpp wrapper",
            ),
            words(
                "programs that were not at hand",
                "associative_scan must be captured completely",
                "Expect branches to ",
                "torch.cond currently only supports",
                "while_loop(): x",
            ),
            words(
                "torch/_inductor/codegen/cpp_wrapper_cpu_array_ref.py",
                "NYI cpp wrapper for while_loop_stack_output",
            ),
        ),
    ),
    Signature(
        id="cpp_wrapper_unsupported",
        phase="lower",
        category="lowering_error",
        tier=Tier.KIND_TEXT,
        patterns=(
            r"AOT mode only supports C\+\+ wrapper",
            "Error: AOTInductor only supports",
            "only supported in cpp_wrapper",
            "cannot be handled by handle_scalar",
            "Unsupported list element type: ",
            "Unsupported boxed dispatcher arg",
            "Fall through arguments must be one of",
            "Mixed-device constants are only supported",
            "fallback kernels with runtime lookup currently only support",
            "not found in DEVICE_TO_ATEN",
            "must have get_signature implemented",
            "can not be (?:called|loaded) through custom_op_wrapper",
            "Mismatch call_args and arg_types",
            "in c_type_for_prim_type",
            "ArrayRef(?:Tensor)? only supported on CPU",
            "is unsafe with stack allocation on",
            "CudaKernelParamCache not populated",
            "does not match with arg type",
            "Not all constant gets mapped for constant folding",
            "in AOTInductor yet",
            r"(?:^|\s)(?P<what>\S{1,80}) is not supported with cpp_wrapper",
            "NYI support for return type",
            r"C\+\+ wrapper codegen error",
            "arg type .{0,80} is not yet supported by custom_op_wrapper",
            "NotImplementedError: return type .{0,80} is not yet supported",
            "Unsupported return type found",
        ),
        summary="The C++ wrapper cannot express an operator's arguments or results",
        means=(
            "AOTInductor writes host code in C++, and this operator takes or returns a type it has "
            "no form for (symbolic integers, lists, mutation of lists)."
        ),
        check="torch.compile without cpp_wrapper accepts the same graph",
        fixes=(
            fix(
                (
                    "Give the operator a signature of tensors and plain numbers, or keep it "
                    "outside the compiled part"
                ),
            ),
        ),
        guide="guides/lowering-and-cpp.md#ops-without-a-shim",
        next_tool="minify",
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
                "AssertionError: Fall through arguments must be one of static_arg_types, got <class 'torch.ListType'>",
                "text of cpp_wrapper_cpu.py",
            ),
            words("torch/_inductor/compile_fx.py", "AOT mode only supports C++ wrapper"),
            words(
                "programs that were not at hand",
                "Error: AOTInductor only supports",
                "only supported in cpp_wrapper",
                "in AOTInductor yet",
                "NotImplementedError: return type  is not yet supported",
            ),
            words(
                "torch/_inductor/codegen/cpp_wrapper_cpu.py",
                "cannot be handled by handle_scalar",
                "Unsupported list element type: ",
                "Unsupported boxed dispatcher arg",
                "Mixed-device constants are only supported",
                "fallback kernels with runtime lookup currently only support",
                "not found in DEVICE_TO_ATEN",
                "must have get_signature implemented",
                "in c_type_for_prim_type",
                "does not match with arg type",
                "Not all constant gets mapped for constant folding",
                "arg type  is not yet supported by custom_op_wrapper",
                "Unsupported return type found",
            ),
            words("torch/_inductor/codecache.py", "can not be called through custom_op_wrapper"),
            words(
                "torch/_inductor/codegen/cpp_wrapper_cpu_array_ref.py",
                "Mismatch call_args and arg_types",
                "is unsafe with stack allocation on",
            ),
            words("torch/ao/quantization/quantize_jit.py", "ArrayRef only supported on CPU"),
            words(
                "torch/_inductor/codegen/cpp_wrapper_gpu.py", "CudaKernelParamCache not populated"
            ),
            words("torch/_inductor/exc.py", "C++ wrapper codegen error"),
        ),
    ),
    Signature(
        id="flex_attention_unsupported",
        phase="lower",
        category="lowering_error",
        tier=Tier.KIND_TEXT,
        patterns=(
            "(?P<what>flex_attention on MPS)",
            "(?P<what>FlexGEMM )",
            "(?P<what>Bq and Bkv must broadcast)",
            "(?P<what>NYI: embedding dimension of the query)",
            "(?P<what>but flash attention cannot be used)",
            "(?P<what>but flex_decoding cannot be used)",
            "(?P<what>Q and KV block size must be divisible by BLOCK_M)",
            "(?P<what>Number of shared query heads sharing the same KV head)",
            "(?P<what>supported in FlexAttention for CPU device)",
            "(?P<what>Mixed query, key, and value dtype is not supported on this platform)",
            "(?P<what>output node for flex attention's subgraph)",
            "(?P<what>output node for the flex attention subgraph)",
            "(?P<what>CuteDSL template failed)",
            "(?P<what>only supports inference and `return_lse` is not supported)",
            "(?P<what>seqlen must be smaller than the block_mask size)",
            "(?P<what>in score_mod/mask_mod)",
            "(?P<what>Flash attention with block mask but without full blocks)",
        ),
        summary="flex_attention is used in a way that Inductor's kernels do not cover: {what}",
        means=(
            "Its templates hold for some sizes, dtypes, devices and mask functions only; eager "
            "mode is more permissive."
        ),
        check="Does scaled_dot_product_attention in its place compile?",
        fixes=(
            fix("Change the size, dtype or captured tensor that the message names"),
            fix("Use scaled_dot_product_attention on this device"),
        ),
        guide="guides/lowering-and-cpp.md#lowering-exceptions",
        next_tool="minify",
        matches=(
            quoted(
                "NotImplementedError: NYI: embedding dimension of the query, key, and value must be at least 16 but got E=8 and Ev=8",
                "words of torch/_inductor/kernel/flex/flex_attention.py",
            ),
            words(
                "torch/_inductor/kernel/flex/flex_mps.py",
                "flex_attention on MPS",
                "in score_mod/mask_mod",
            ),
            words("torch/_inductor/kernel/flex_gemm/runtime.py", "FlexGEMM "),
            words("torch/_higher_order_ops/flex_attention.py", "Bq and Bkv must broadcast"),
            words(
                "torch/_inductor/kernel/flex/flex_attention.py",
                "but flash attention cannot be used",
                "but flex_decoding cannot be used",
                "Q and KV block size must be divisible by BLOCK_M",
            ),
            words(
                "torch/_inductor/kernel/flex/flex_decoding.py",
                "Number of shared query heads sharing the same KV head",
            ),
            words(
                "torch/_inductor/kernel/flex/flex_cpu.py",
                "supported in FlexAttention for CPU device",
                "only supports inference and `return_lse` is not supported",
                "seqlen must be smaller than the block_mask size",
            ),
            words(
                "torch/_inductor/kernel/flex/flex_flash_attention.py",
                "Mixed query, key, and value dtype is not supported on this platform",
                "CuteDSL template failed",
                "Flash attention with block mask but without full blocks",
            ),
            words(
                "torch/_inductor/kernel/flex/common.py",
                "output node for flex attention's subgraph",
                "output node for the flex attention subgraph",
            ),
        ),
    ),
    Signature(
        id="generated_name_unknown",
        phase="lower",
        category="lowering_error",
        role="symptom",
        tier=Tier.VAGUE_TEXT,
        patterns=(
            (
                r"NameError: name '(?P<name>(?:[suz]|zuf|ks|buf|tmp|arg|primals_)\d{1,20}(?:_1)?)' "
                "is not defined"
            ),
            r"KeyError: '?(?P<name>(?:[suz]|ps|zuf|buf|op|primals_)\d{1,5})'?\s{0,20}$",
        ),
        summary="Inductor lost track of {name}, a name of its own",
        means=(
            "A size symbol, a buffer or an operation of the generated code is used where it was "
            "never defined: a slip of a pass or of the code generator."
        ),
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
        id="inductor_check",
        phase="lower",
        category="lowering_error",
        tier=Tier.VAGUE_TEXT,
        patterns=(
            "(?P<check>not a supported top level IR node)",
            r"(?P<check>\[Note: Inductor IR\])",
            "(?P<check>both a fallback and a decomp for same)",
            "(?P<check>a decomposition exists, we should switch to it)",
            "(?P<check>should be handled in replace_random)",
            "(?P<check>should have been handled in replace_random)",
            "(?P<check>should be handled in fuse_seed_creation_pass)",
            "(?P<check>this should be handled in decomps)",
            r"(?P<check>missing from torch\._inductor\.codegen\.cpp\.DTYPE_TO_CPP)",
            "(?P<check>Topological sort failed!)",
            "(?P<check>to have been codegen-ed)",
            "(?P<check>Fails to create FallbackKernel)",
            "(?P<check>FallbackKernel output type)",
            "(?P<check>Can't generate FallbackKernel)",
            "(?P<check>Unsupported fallback )",
            "(?P<check>Not sure where to find device info)",
            "(?P<check>Operation registered twice)",
            "(?P<check>already declared as sibling)",
            "(?P<check>Unsupported inductor graph input type)",
            "(?P<check>inductor can only compile FX graphs which return)",
            r"(?P<check>Graph output must be a tuple\(\))",
            "(?P<check>inductor does not support (?!code generation for complex))",
            r"(?P<check>unrealized as_strided\()",
            "(?P<check>Fallback when indices is on a different device)",
            "(?P<check>Fallback for bool indices)",
            "(?P<check>out= ops aren't yet supported)",
            "(?P<check>Unable to generate code for associative_scan)",
            r"(?P<check>not supported inside ops\.masked)",
            r"(?P<check>does not implement ops\.)",
            "(?P<check>should be handled by CSEProxy)",
            "(?P<check>should not appear at codegen time)",
            "(?P<check>auto_functionalized was not removed)",
            "(?P<check>auto_functionalized_v2 was not removed)",
            "(?P<check>triton_kernel_wrapper_functional was not removed)",
            "(?P<check>is not lowered to while_loop)",
            r"(?P<check>Not all inputs to pattern found in match\.kwargs)",
            "(?P<check>Cycle detected in memory planning)",
            "(?P<check>Failed to schedule, while loop ran too long)",
            r"(?P<check>Detected unscheduled nodes\. Nodes with unmet dependencies)",
            "(?P<check>Attempt to use poisoned virtualized value)",
            "(?P<check>Buffers cannot be created while lowering a pointwise subgraph)",
            "(?P<check>Buffer mutation detected during lowering)",
            "(?P<check>SubgraphLoweringException)",
            r"(?P<check>not supported in subgraph, \(missing lowering\))",
            "(?P<check>convert FlexibleLayout to FixedLayout first)",
            "(?P<check>to FixedLayout first)",
            "(?P<check>real layout shouldn't be FlexibleLayout)",
            r"(?P<check>get_layout\(\) is not implemented by)",
            r"(?P<check>get_size\(\) is not implemented by)",
            "(?P<check>realize NYI on)",
            "(?P<check>codegen_reference NYI on)",
            "(?P<check>make_reindexer NYI on)",
            "(?P<check>not supported for zero-dimension tensors!)",
            r"(?P<check>Broadcast failed in ExpandView\()",
            "(?P<check>No extern kernel detected for fallback)",
            "(?P<check>All nodes passed to scheduling must have an origin)",
            "(?P<check>should have been normalized in lowering)",
            r"(?P<check>Epilogue nodes must all be instances of ir\.ComputedBuffer)",
            "(?P<check>Template node passed to )",
            "(?P<check>Multi outputs template should be with)",
            "(?P<check>unexpected store with load mask)",
            "(?P<check>Welford reduction does not support VectorizedN)",
            "(?P<check>implementation expect the same inputs' dtype)",
            "(?P<check>Unhandled sort)",
            "(?P<check>No operation nodes were generated when lowering)",
            "(?P<check>oneDNN qlinear)",
            "(?P<check>both inputs and outputs of the graph are empty)",
            "(?P<check>Combokernel not support tile)",
            "(?P<check>Dynamic shape on reduction dimension is not supported)",
            "(?P<check>Layout constraint mismatch for)",
            "(?P<check>A buffer can only be realized as a comm buffer)",
            "(?P<check>cannot be converted to a comm buffer)",
            "(?P<check>with unbacked symints)",
            "(?P<check>Node referenced nonexistent target)",
            "(?P<check>Cannot run a subgraph in isolation!)",
            "(?P<check>FX conversion only supports Triton kernels)",
            "(?P<check>Trying to run Pytorch Eager Module after Dynamo Freezing)",
            (
                "(?P<check>Models with buffer mutation included doesn't support constants greater "
                "than 2GB)"
            ),
            "(?P<check>has unused non-mutated outputs)",
            "(?P<check>Failed to import /tmp/torchinductor)",
            r"(?P<check>\[ERROR\] Error from lowering)",
            "(?P<check>The argument 'nan' is not comparable)",
            r"AssertionError: (?P<check>\(\{[a-z]\d{1,3}: .{1,100})",
        ),
        summary="A check inside Inductor stopped the compile: {check}",
        means=(
            "Inductor met a graph that one of its passes, its IR or its code generator does not "
            "handle. That is a limit or a bug of Inductor, seldom of the model."
        ),
        check="torch.compile(model, backend='aot_eager') runs: then it is Inductor",
        fixes=(
            fix("Reduce the graph to the operator that fails; write it in another way"),
            fix("Try the newest torch: its passes change with every release"),
        ),
        guide="guides/lowering-and-cpp.md#lowering-exceptions",
        next_tool="minify",
        matches=(
            quoted(
                "AssertionError: Found <class 'sympy.core.relational.GreaterThan'>, which is not a supported top level IR node. See [Note: Inductor IR]",
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
            words(
                "torch/_inductor/lowering.py",
                "a decomposition exists, we should switch to it",
                "should be handled in replace_random",
                "should have been handled in replace_random",
                "should be handled in fuse_seed_creation_pass",
                "this should be handled in decomps",
                "Unsupported fallback ",
                "inductor does not support ",
                "unrealized as_strided(",
                "Fallback when indices is on a different device",
                "Fallback for bool indices",
                "out= ops aren't yet supported",
                "Unable to generate code for associative_scan",
                "No operation nodes were generated when lowering",
            ),
            words(
                "programs that were not at hand",
                "missing from torch._inductor.codegen.cpp.DTYPE_TO_CPP",
                "already declared as sibling",
                "convert FlexibleLayout to FixedLayout first",
                "both inputs and outputs of the graph are empty",
                "Failed to import /tmp/torchinductor",
                "[ERROR] Error from lowering",
                "The argument 'nan' is not comparable",
            ),
            words(
                "torch/_inductor/scheduler.py",
                "Topological sort failed!",
                "No extern kernel detected for fallback",
                "All nodes passed to scheduling must have an origin",
                "should have been normalized in lowering",
            ),
            words(
                "torch/_inductor/codegen/cpp_wrapper_cpu_array_ref.py", "to have been codegen-ed"
            ),
            words(
                "torch/_inductor/ir.py",
                "Fails to create FallbackKernel",
                "FallbackKernel output type",
                "Can't generate FallbackKernel",
                "Not sure where to find device info",
                "real layout shouldn't be FlexibleLayout",
                "get_layout() is not implemented by",
                "get_size() is not implemented by",
                "realize NYI on",
                "codegen_reference NYI on",
                "make_reindexer NYI on",
                "not supported for zero-dimension tensors!",
                "Broadcast failed in ExpandView(",
            ),
            words(
                "torch/_inductor/graph.py",
                "Operation registered twice",
                "Unsupported inductor graph input type",
            ),
            words(
                "torch/_inductor/compile_fx.py",
                "inductor can only compile FX graphs which return",
                "Graph output must be a tuple()",
            ),
            words(
                "torch/_inductor/codegen/triton_split_scan.py", "not supported inside ops.masked"
            ),
            words(
                "torch/_inductor/codegen/common.py",
                "does not implement ops.",
                "should not appear at codegen time",
            ),
            words("torch/_inductor/ops_handler.py", "should be handled by CSEProxy"),
            words(
                "torch/_inductor/fx_passes/post_grad.py",
                "auto_functionalized was not removed",
                "auto_functionalized_v2 was not removed",
                "triton_kernel_wrapper_functional was not removed",
                "is not lowered to while_loop",
            ),
            words(
                "torch/_inductor/pattern_matcher.py",
                "Not all inputs to pattern found in match.kwargs",
            ),
            words(
                "torch/_inductor/memory.py",
                "Cycle detected in memory planning",
                "Failed to schedule, while loop ran too long",
            ),
            words(
                "torch/_inductor/comms.py",
                "Detected unscheduled nodes. Nodes with unmet dependencies",
            ),
            words("torch/_inductor/virtualized.py", "Attempt to use poisoned virtualized value"),
            words(
                "torch/_inductor/subgraph_lowering.py",
                "Buffers cannot be created while lowering a pointwise subgraph",
                "Buffer mutation detected during lowering",
                "not supported in subgraph, (missing lowering)",
            ),
            words("torch/_inductor/exc.py", "SubgraphLoweringException"),
            words(
                "torch/_inductor/codegen/cpp.py",
                "Epilogue nodes must all be instances of ir.ComputedBuffer",
                "Template node passed to ",
                "Multi outputs template should be with",
                "unexpected store with load mask",
                "Welford reduction does not support VectorizedN",
                "implementation expect the same inputs' dtype",
            ),
            words("torch/_inductor/codegen/triton.py", "Unhandled sort"),
            words("torch/_inductor/mkldnn_lowerings.py", "oneDNN qlinear"),
            words(
                "torch/_inductor/codegen/triton_combo_kernel.py",
                "Combokernel not support tile",
                "Dynamic shape on reduction dimension is not supported",
            ),
            words("torch/_inductor/select_algorithm.py", "Layout constraint mismatch for"),
            words(
                "torch/_inductor/comm_lowering.py",
                "A buffer can only be realized as a comm buffer",
                "cannot be converted to a comm buffer",
            ),
            words("torch/_higher_order_ops/cond.py", "with unbacked symints"),
            words("torch/_export/verifier.py", "Node referenced nonexistent target"),
            words(
                "torch/_inductor/codegen/wrapper_fxir.py",
                "Cannot run a subgraph in isolation!",
                "FX conversion only supports Triton kernels",
            ),
            words(
                "torch/_inductor/freezing.py",
                "Trying to run Pytorch Eager Module after Dynamo Freezing",
            ),
            words(
                "torch/_inductor/codecache.py",
                "Models with buffer mutation included doesn't support constants greater than 2GB",
            ),
            words("torch/_inductor/codegen/cpp_wrapper_cpu.py", "has unused non-mutated outputs"),
        ),
    ),
    Signature(
        id="inductor_error",
        phase="lower",
        category="lowering_error",
        role="symptom",
        tier=Tier.VAGUE_TEXT,
        patterns=(
            (
                "(?:InductorError|BackendCompilerFailed): (?!LoweringException|CppCompileError|"
                "backend='inductor' raised:$|"
                "(?:AcceleratorError|RuntimeError): (?:CUDA|Triton|Compiler: )|OutOfMemoryError|"
                "UnicodeDecodeError|FileNotFoundError|PermissionError|OSError|ImportError|"
                "ModuleNotFoundError|CalledProcessError|TimeoutExpired|InvalidCxxCompiler|"
                "TritonMissing|GPUTooOldForTriton|CompilationError|OutOfResources|PTXASError|"
                "NoTritonConfigsError|NoValidChoicesError|SubprocException|BrokenProcessPool)"
                "(?P<error>.{1,160})"
            ),
        ),
        summary="Inductor failed while compiling the graph: {error}",
        means="Wrapper for any exception inside Inductor; the type after the colon is the real one.",
        check="The last frames inside torch/_inductor show the pass or the operator",
        fixes=(fix("Reduce the graph to the operator that fails; try the newest torch"),),
        guide="guides/lowering-and-cpp.md#lowering-exceptions",
        next_tool="minify",
        matches=(
            recorded(
                "torch._inductor.exc.InductorError: AssertionError: A subgraph argument other than striding has been modified; FakeTensorUpdater cannot update this argument!",
                "torch 2.13 CPU, while_loop with an int in its state",
            ),
        ),
        apart_from=(
            "cpp_compile_failed",
            "compile_time_gpu_fault",
        ),
    ),
    Signature(
        id="inductor_frame",
        phase="lower",
        category="lowering_error",
        role="symptom",
        tier=Tier.NOTICE,
        confidence="possible",
        patterns=(
            *(
                rf"^\s{{0,20}}File \S{{0,300}}{module}\S{{0,200}}\.py:\d{{1,20}},? in "
                for module in _MODULES
            ),
            *(rf"\bE\d{{4}} .{{0,160}}{module}\S{{0,60}}:\d{{1,20}}\] " for module in _MODULES),
        ),
        summary="The failure is inside Inductor",
        means="Frames or error lines of Inductor, and no message that is known.",
        check="The innermost exception, not the wrapper at the end",
        fixes=(fix("Reduce the graph to the operator that fails; try the newest torch"),),
        guide="guides/lowering-and-cpp.md#lowering-exceptions",
        next_tool="minify",
        matches=(
            quoted(
                (
                    "File ~/env/lib/python3.10/site-packages/torch/_inductor/graph.py:333, in "
                    "GraphLowering.call_function(self, target, args, kwargs)"
                ),
                "form of an IPython frame",
            ),
            *(
                words(
                    f"torch/{module}",
                    f"  File /a/torch/{module}x.py:1, in f",
                    f"E1111 torch/{module}x.py:1] ",
                )
                for module in _MODULES
            ),
        ),
        neighbours=(
            quoted(
                "W1121 07:33:58.079000 9567 torch/_inductor/ir.py:9214] aten._linalg_det.default",
                "a warning",
            ),
        ),
    ),
    Signature(
        id="inductor_object",
        phase="lower",
        category="lowering_error",
        tier=Tier.VAGUE_TEXT,
        patterns=(
            (
                "'(?P<what>TensorBox|StorageBox|ReinterpretView|ComputedBuffer|InputBuffer|"
                "ConstantBuffer|FallbackKernel|ExternKernelOut|ExternKernelAlloc|"
                "ExternKernelSchedulerNode|FusedSchedulerNode|SchedulerNode|NopKernelSchedulerNode|"
                "MultiOutput|MultiOutputLayout|NoneLayout|FlexibleLayout|FixedLayout|"
                "MutationLayoutSHOULDREMOVE|ShapeAsConstantBuffer|NoneAsConstantBuffer|"
                "TorchBindObject|GraphLowering|SubgraphLowering|CppWrapperCpu|CppWrapperGpu|"
                "PythonWrapperCodegen|TritonKernel|CppKernel|CppVecKernel|SizeVarAllocator|"
                "NullHandler|NullKernelHandler|UserDefinedTritonKernel|PermuteView|ExpandView|"
                "SqueezeView|GenericView|SliceView)' object has no"
            ),
            (
                "'(?P<what>TensorBox|StorageBox|ReinterpretView|ComputedBuffer|InputBuffer|"
                "ConstantBuffer|FallbackKernel|ExternKernelOut|ExternKernelAlloc|"
                "ExternKernelSchedulerNode|FusedSchedulerNode|SchedulerNode|NopKernelSchedulerNode|"
                "MultiOutput|MultiOutputLayout|NoneLayout|FlexibleLayout|FixedLayout|"
                "MutationLayoutSHOULDREMOVE|ShapeAsConstantBuffer|NoneAsConstantBuffer|"
                "TorchBindObject|GraphLowering|SubgraphLowering|CppWrapperCpu|CppWrapperGpu|"
                "PythonWrapperCodegen|TritonKernel|CppKernel|CppVecKernel|SizeVarAllocator|"
                "NullHandler|NullKernelHandler|UserDefinedTritonKernel|PermuteView|ExpandView|"
                "SqueezeView|GenericView|SliceView)' object is not"
            ),
            (
                "'(?P<what>TensorBox|StorageBox|ReinterpretView|ComputedBuffer|InputBuffer|"
                "ConstantBuffer|FallbackKernel|ExternKernelOut|ExternKernelAlloc|"
                "ExternKernelSchedulerNode|FusedSchedulerNode|SchedulerNode|NopKernelSchedulerNode|"
                "MultiOutput|MultiOutputLayout|NoneLayout|FlexibleLayout|FixedLayout|"
                "MutationLayoutSHOULDREMOVE|ShapeAsConstantBuffer|NoneAsConstantBuffer|"
                "TorchBindObject|GraphLowering|SubgraphLowering|CppWrapperCpu|CppWrapperGpu|"
                "PythonWrapperCodegen|TritonKernel|CppKernel|CppVecKernel|SizeVarAllocator|"
                "NullHandler|NullKernelHandler|UserDefinedTritonKernel|PermuteView|ExpandView|"
                "SqueezeView|GenericView|SliceView)' object does not"
            ),
            (
                "'(?P<what>TensorBox|StorageBox|ReinterpretView|ComputedBuffer|InputBuffer|"
                "ConstantBuffer|FallbackKernel|ExternKernelOut|ExternKernelAlloc|"
                "ExternKernelSchedulerNode|FusedSchedulerNode|SchedulerNode|NopKernelSchedulerNode|"
                "MultiOutput|MultiOutputLayout|NoneLayout|FlexibleLayout|FixedLayout|"
                "MutationLayoutSHOULDREMOVE|ShapeAsConstantBuffer|NoneAsConstantBuffer|"
                "TorchBindObject|GraphLowering|SubgraphLowering|CppWrapperCpu|CppWrapperGpu|"
                "PythonWrapperCodegen|TritonKernel|CppKernel|CppVecKernel|SizeVarAllocator|"
                "NullHandler|NullKernelHandler|UserDefinedTritonKernel|PermuteView|ExpandView|"
                "SqueezeView|GenericView|SliceView)' object cannot"
            ),
            r"(?:Error|Exception)\b.{0,300}<class 'torch\._inductor\.[\w.]{1,200}'>",
            r"Error: 'torch\._inductor\.virtualized",
        ),
        summary="Inductor's own code stumbled over a node of its graph",
        means=(
            "A pass expected another kind of node in Inductor's IR. The stack below "
            "torch/_inductor names the pass; `target:` names the operator, if it was a lowering."
        ),
        check="The names are classes of torch/_inductor, not of the script",
        fixes=(fix("Reduce the graph to the operator that fails; try the newest torch"),),
        guide="guides/lowering-and-cpp.md#lowering-exceptions",
        next_tool="minify",
        matches=(
            recorded(
                "torch._inductor.exc.InductorError: LoweringException: AttributeError: 'TensorBox' object has no attribute 'nothing_here'",
                "torch 2.13 CPU, a lowering made to raise",
            ),
            quoted(
                "NotImplementedError: Unsupported arg type: <class 'torch._inductor.ir.Buffer'>",
                "words of torch/_inductor/ir.py",
            ),
            words("torch/export/dynamic_shapes.py", "'TensorBox' object is not"),
            words("torch/_dynamo/decorators.py", "'TensorBox' object does not"),
            words("torch/_dynamo/variables/base.py", "'TensorBox' object cannot"),
            words("programs that were not at hand", "Error: 'torch._inductor.virtualized"),
        ),
    ),
    Signature(
        id="lowering_exception",
        phase="lower",
        category="lowering_error",
        tier=Tier.BROAD_TEXT,
        patterns=(
            r"LoweringException: (?P<text>\w{1,200}: ?.{0,160})",
            r"MissingOperatorWith\w{1,200}: (?P<text>missing (?:lowering|decomposition))",
        ),
        summary="Inductor could not translate an operator: {text}",
        means=(
            "The rule for one operator raised, or there is none; the `target:` line names the "
            "operator and its arguments. Nothing was compiled."
        ),
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
        matches=(
            recorded(
                "torch._inductor.exc.InductorError: LoweringException: AssertionError: unexpected layout",
                "torch 2.13 CPU, a lowering made to raise",
            ),
            quoted(
                "torch._inductor.exc.LoweringException: AssertionError: target: aten._scaled_mm.default",
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
        id="missing_c_shim",
        phase="lower",
        category="no_fault",
        role="symptom",
        tier=Tier.STATUS,
        confidence="possible",
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
        guide="guides/lowering-and-cpp.md#ops-without-a-shim",
        matches=(
            recorded(
                "W1121 07:33:58.079000 9567 torch/_inductor/ir.py:9214] aten._linalg_det.default is missing a c-shim implementation, using proxy executor as fallback",
                "torch 2.13 CPU",
            ),
        ),
    ),
    Signature(
        id="op_dtype_not_implemented",
        phase="run",
        category="lowering_error",
        tier=Tier.VAGUE_TEXT,
        confidence="possible",
        patterns=(
            (
                r'"(?P<op>(?!(?:min|max)_all)\w{2,80})" not implemented for '
                r"'(?P<dtype>[A-Z]\w{2,20})'"
            ),
        ),
        summary="The kernel {op} does not exist for {dtype} on this device",
        means=(
            "ATen has no code for this operator, dtype and device. While exporting it is the "
            "model's dtype, at run time an input of another dtype than compiled."
        ),
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
        id="unsupported_dtype",
        phase="lower",
        category="lowering_error",
        tier=Tier.KIND_TEXT,
        patterns=(
            r"KeyError: '?(?:torch\.)?(?P<dtype>complex\d{1,20})",
            r"(?P<op>target: aten\._scaled_mm)",
            r"(?:Exception|Error): .{0,80}[uU]nsupported dtype:? (?P<other>[\w.]{1,200})",
            r"(?:Exception|Error): .{0,80}[uU]nsupported data type:? (?P<other>[\w.]{1,200})",
            r"not implemented for '(?:Float[48]\w{0,20}|ComplexHalf)'",
            "Inductor Triton does not support scal",
            "_scaled_mm_v2 lowering does not",
            "Unsupported scaling type",
            "Conversions between float8_e5m2 and float8_e4m3fn",
            "float64 is not supported by MPS",
            r"does not support torch\.complex",
            r"KeyError: torch\.(?:float8|uint)\w{1,200}",
            r"missing from torch\._inductor\.codegen\.cpp\.DTYPE_TO_CPP",
        ),
        summary="Inductor's GPU code generation does not handle a dtype of this graph",
        means=(
            "Triton has no complex pointers, and float8 matrix products work only for some scale "
            "layouts. The operator that carries the dtype is named next to the message."
        ),
        check="The same model in float32 compiles",
        fixes=(
            fix(
                (
                    "Make complex views contiguous first, or keep the complex part out of the "
                    "compiled graph"
                ),
            ),
            fix("For float8 use a quantization layout that torch supports on this GPU"),
        ),
        guide="guides/lowering-and-cpp.md#unsupported-dtypes",
        next_tool="minify",
        matches=(
            quoted(
                "torch._inductor.exc.InductorError: KeyError: 'complex64'", "pytorch/pytorch#188718"
            ),
            quoted(
                "torch._inductor.exc.LoweringException: AssertionError: target: aten._scaled_mm.default",
                "huggingface/flux-fast#12",
            ),
            quoted(
                "AssertionError: Conversions between float8_e5m2 and float8_e4m3fn is not supported!",
                "words of torch/_inductor/codegen/triton.py",
            ),
            words("torch/_export/converter.py", "Exception: Unsupported dtype x"),
            words("torch/export/unflatten.py", "Exception: Unsupported data type x"),
            words("torch/_meta_registrations.py", "not implemented for 'Float4'"),
            words(
                "torch/_inductor/kernel/mm.py",
                "Inductor Triton does not support scal",
                "_scaled_mm_v2 lowering does not",
                "Unsupported scaling type",
            ),
            words("torch/_inductor/codegen/mps.py", "float64 is not supported by MPS"),
            words(
                "programs that were not at hand",
                "does not support torch.complex",
                "KeyError: torch.float8x",
                "missing from torch._inductor.codegen.cpp.DTYPE_TO_CPP",
            ),
        ),
        apart_from=("cpu_triton_missing",),
    ),
)
