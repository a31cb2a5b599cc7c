"""Inductor cannot translate the model."""

_IR_CLASS = (
    "TensorBox|StorageBox|ReinterpretView|ComputedBuffer|InputBuffer|ConstantBuffer|"
    "FallbackKernel|ExternKernelOut|ExternKernelAlloc|ExternKernelSchedulerNode|"
    "FusedSchedulerNode|SchedulerNode|NopKernelSchedulerNode|MultiOutput|MultiOutputLayout|"
    "NoneLayout|FlexibleLayout|FixedLayout|MutationLayoutSHOULDREMOVE|ShapeAsConstantBuffer|"
    "NoneAsConstantBuffer|TorchBindObject|GraphLowering|SubgraphLowering|CppWrapperCpu|"
    "CppWrapperGpu|PythonWrapperCodegen|TritonKernel|CppKernel|CppVecKernel|SizeVarAllocator|"
    "NullHandler|NullKernelHandler|UserDefinedTritonKernel|PermuteView|ExpandView|SqueezeView|"
    "GenericView|SliceView"
)
_INDUCTOR_FILE = (
    "_inductor/graph|_inductor/ir|_inductor/lowering|_inductor/scheduler|_inductor/compile_fx|"
    "_inductor/pattern_matcher|_inductor/decomposition|_inductor/sizevars|_inductor/codegen/|"
    "_inductor/fx_passes/"
)
TABLE = r"""
cache_bypassed lower no_fault STATUS symptom possible
    summary Inductor's cache was not used (a notice, not an error)
    means The graph is compiled without the cache, which only takes longer.
    guide memory-and-time.md#slow-compile
    pattern (?:BypassFxGraphCache|BypassAOTAutogradCache) || Failed to pickle cache key
    pattern unable to (?:load|serialize) compiled graph || fx graph unable to write to cache
    pattern Failed to remove temporary cache dir
control_flow_operator lower lowering_error KIND_TEXT minify
    summary A control flow operator (cond, while_loop, scan) is used in a way the compiler does not support
    means Branches must return fresh tensors of equal shape and dtype, loop state must be tensors, and nested subgraphs are only partly supported by the C++ wrapper.
    check Does the model compile with the control flow replaced by one branch?
    fix Carry integers of the loop as 0-d tensors; return clones rather than inputs or views from branches
    fix Keep the loop in Python and compile its body
    guide lowering-and-cpp.md#control-flow-operators
    pattern doesn't work unless it is captured completely
    pattern Output aliasing is currently not supported in compiled torch\.
    pattern while_loop is assumed to have at least one operand || NYI: while_loop_stack_output
    pattern only carries can be mutated || while_loop has fewer non-mutated
    pattern while_loop mutation outputs contain || 'int' object has no attribute 'meta'
    pattern UncapturedHigherOrderOpError || NYI cpp wrapper for while_loop_stack_output
    pattern codegen invoke_subgraph is not implemented for cpp wrapper
    pattern A subgraph argument other than striding has been modified
    pattern Higher order ops do not support \w{1,200}
    unconfirmed associative_scan must be captured completely || Expect branches to[ ]
    unconfirmed torch\.cond currently only supports || while_loop\(\):[ ]
cpp_wrapper_unsupported lower lowering_error KIND_TEXT minify
    summary The C++ wrapper cannot express an operator's arguments or results
    means AOTInductor writes host code in C++, and this operator takes or returns a type it has no form for (symbolic integers, lists, mutation of lists).
    check torch.compile without cpp_wrapper accepts the same graph
    fix Give the operator a signature of tensors and plain numbers, or keep it outside the compiled part
    guide lowering-and-cpp.md#ops-without-a-shim
    pattern AOT mode only supports C\+\+ wrapper || cannot be handled by handle_scalar
    pattern Unsupported list element type:[ ] || Unsupported boxed dispatcher arg
    pattern Fall through arguments must be one of || Mixed-device constants are only supported
    pattern fallback kernels with runtime lookup currently only support
    pattern not found in DEVICE_TO_ATEN || must have get_signature implemented
    pattern can not be (?:called|loaded) through custom_op_wrapper
    pattern Mismatch call_args and arg_types || in c_type_for_prim_type
    pattern ArrayRef(?:Tensor)? only supported on CPU || is unsafe with stack allocation on
    pattern CudaKernelParamCache not populated || does not match with arg type
    pattern Not all constant gets mapped for constant folding
    pattern (?:^|\s)\S{1,80} is not supported with cpp_wrapper || NYI support for return type
    pattern C\+\+ wrapper codegen error
    pattern arg type .{0,80} is not yet supported by custom_op_wrapper
    pattern Unsupported return type found
    unconfirmed Error: AOTInductor only supports || only supported in cpp_wrapper
    unconfirmed in AOTInductor yet || NotImplementedError: return type .{0,80} is not yet supported
    quoted [pytorch/pytorch#131336] AssertionError: mutable sin_out.default is not supported with cpp_wrapper
flex_attention_unsupported lower lowering_error KIND_TEXT minify
    summary flex_attention is used in a way that Inductor's kernels do not cover: {what}
    means Its templates support some sizes, dtypes, devices and mask functions only; eager mode is more permissive.
    check Does scaled_dot_product_attention in its place compile?
    fix Change the size, dtype or captured tensor that the message names
    fix Use scaled_dot_product_attention on this device
    pattern flex_attention on MPS || FlexGEMM[ ] || Bq and Bkv must broadcast
    pattern NYI: embedding dimension of the query || but flash attention cannot be used
    pattern but flex_decoding cannot be used || Q and KV block size must be divisible by BLOCK_M
    pattern Number of shared query heads sharing the same KV head
    pattern supported in FlexAttention for CPU device
    pattern Mixed query, key, and value dtype is not supported on this platform
    pattern output node for flex attention's subgraph || output node for the flex attention subgraph
    pattern CuteDSL template failed || only supports inference and `return_lse` is not supported
    pattern seqlen must be smaller than the block_mask size || in score_mod/mask_mod
    pattern Flash attention with block mask but without full blocks
generated_name_unknown lower lowering_error VAGUE_TEXT symptom minify
    summary Inductor lost track of {name}, a name of its own
    means A size symbol, a buffer or an operation of the generated code is used where it was never defined: a bug in a pass or in the code generator.
    check The script has no such name
    fix Try the newest torch; export with fewer dynamic dimensions to see which it is
    pattern NameError: name '(?P<name>(?:[suz]|zuf|ks|buf|tmp|arg|primals_)\d{1,20}(?:_1)?)' is not defined
    pattern KeyError: '?(?P<name>(?:[suz]|ps|zuf|buf|op|primals_)\d{1,5})'?\s{0,20}$
    unlike example [the script's own] NameError: name 'modle' is not defined
    unlike example [the script's own] KeyError: 'input_ids'
inductor_check lower lowering_error VAGUE_TEXT minify
    summary A check inside Inductor stopped the compile: {what}
    means Inductor met a graph that one of its passes, its IR or its code generator does not handle. That is a limit or a bug of Inductor, seldom of the model.
    check torch.compile(model, backend='aot_eager') runs: then it is Inductor
    fix Reduce the graph to the operator that fails; write it in another way
    fix Try the newest torch: its passes change with every release
    pattern not a supported top level IR node || \[Note: Inductor IR\]
    pattern both a fallback and a decomp for same || a decomposition exists, we should switch to it
    pattern should be handled in (?:replace_random|fuse_seed_creation_pass)
    pattern should have been handled in replace_random || this should be handled in decomps
    pattern Topological sort failed! || to have been codegen-ed || Fails to create FallbackKernel
    pattern FallbackKernel output type || Can't generate FallbackKernel || Unsupported fallback[ ]
    pattern Not sure where to find device info || Operation registered twice
    pattern Unsupported inductor graph input type
    pattern inductor can only compile FX graphs which return || Graph output must be a tuple\(\)
    pattern inductor does not support (?!code generation for complex) || unrealized as_strided\(
    pattern Fallback when indices is on a different device || Fallback for bool indices
    pattern out= ops aren't yet supported || Unable to generate code for associative_scan
    pattern not supported inside ops\.masked || does not implement ops\.
    pattern should be handled by CSEProxy || should not appear at codegen time
    pattern (?:auto_functionalized|auto_functionalized_v2|triton_kernel_wrapper_functional) was not removed
    pattern is not lowered to while_loop || Not all inputs to pattern found in match\.kwargs
    pattern Cycle detected in memory planning || Failed to schedule, while loop ran too long
    pattern Detected unscheduled nodes\. Nodes with unmet dependencies
    pattern Attempt to use poisoned virtualized value
    pattern Buffers cannot be created while lowering a pointwise subgraph
    pattern Buffer mutation detected during lowering || SubgraphLoweringException
    pattern not supported in subgraph, \(missing lowering\) || to FixedLayout first
    pattern real layout shouldn't be FlexibleLayout
    pattern (?:get_layout|get_size)\(\) is not implemented by || realize NYI on
    pattern (?:codegen_reference|make_reindexer) NYI on || not supported for zero-dimension tensors!
    pattern Broadcast failed in ExpandView\( || No extern kernel detected for fallback
    pattern All nodes passed to scheduling must have an origin
    pattern should have been normalized in lowering
    pattern Epilogue nodes must all be instances of ir\.ComputedBuffer || Template node passed to[ ]
    pattern Multi outputs template should be with || unexpected store with load mask
    pattern Welford reduction does not support VectorizedN
    pattern implementation expect the same inputs' dtype || Unhandled sort
    pattern No operation nodes were generated when lowering || oneDNN qlinear
    pattern Combokernel not support tile || Dynamic shape on reduction dimension is not supported
    pattern Layout constraint mismatch for || A buffer can only be realized as a comm buffer
    pattern cannot be converted to a comm buffer || with unbacked symints
    pattern Cannot run a subgraph in isolation! || FX conversion only supports Triton kernels
    pattern Trying to run Pytorch Eager Module after Dynamo Freezing
    pattern has unused non-mutated outputs || \[ERROR\] Error from lowering
    pattern AssertionError: (?P<what>\(\{[a-z]\d{1,3}: .{1,100})
    pattern '(?P<what>IR_CLASS)' object has no
    pattern '(?P<what>IR_CLASS)' object (?:is|does) not
    pattern '(?P<what>IR_CLASS)' object cannot
    pattern (?:Error|Exception)\b.{0,300}(?P<what><class 'torch\._inductor\.[\w.]{1,200}'>)
    unconfirmed Error: (?P<what>'torch\._inductor\.virtualized) || already declared as sibling
    unconfirmed both inputs and outputs of the graph are empty
    unconfirmed Failed to import /tmp/torchinductor || The argument 'nan' is not comparable
    recorded [torch 2.13.0, CPU, a lowering made to raise] torch._inductor.exc.InductorError: LoweringException: AttributeError: 'TensorBox' object has no attribute 'nothing_here'
    example [torch/_inductor/ir.py] NotImplementedError: Unsupported arg type: <class 'torch._inductor.ir.Buffer'>
    quoted [pytorch/pytorch#181302] AssertionError: ({y0: 192, y1: 0, y2: 96}, {y0: 3, y1: 2, y2: 96})
inductor_error lower lowering_error VAGUE_TEXT symptom minify
    summary Inductor failed while compiling the graph: {error}
    means Wrapper for any exception inside Inductor; the type after the colon is the real one.
    check The last frames inside torch/_inductor show the pass or the operator
    fix Reduce the graph to the operator that fails; try the newest torch
    pattern (?:InductorError|BackendCompilerFailed): (?!LoweringException|CppCompileError|backend='inductor' raised:$|(?:AcceleratorError|RuntimeError): (?:CUDA|Triton|Compiler: )|OutOfMemoryError|UnicodeDecodeError|FileNotFoundError|PermissionError|OSError|ImportError|ModuleNotFoundError|CalledProcessError|TimeoutExpired|InvalidCxxCompiler|TritonMissing|GPUTooOldForTriton|CompilationError|OutOfResources|PTXASError|NoTritonConfigsError|NoValidChoicesError|SubprocException|BrokenProcessPool)(?P<error>.{1,160})
inductor_frame lower lowering_error NOTICE symptom possible minify
    summary The failure is inside Inductor
    means Frames or error lines of Inductor, and no message that is known.
    check The innermost exception, not the wrapper at the end
    fix Reduce the graph to the operator that fails; try the newest torch
    pattern ^\s{0,20}File \S{0,300}(?:INDUCTOR_FILE)\S{0,200}\.py:\d{1,20},? in[ ]
    pattern \bE\d{4} .{0,160}(?:INDUCTOR_FILE)\S{0,60}:\d{1,20}\][ ]
    unlike example [a warning] W1121 07:33:58.079000 9567 torch/_inductor/ir.py:9214] aten._linalg_det.default
lowering_exception lower lowering_error BROAD_TEXT minify
    summary Inductor could not translate an operator: {text}
    means The rule for one operator raised, or there is none; the `target:` line names the operator and its arguments. Nothing was compiled.
    check torch.compile of the same function usually fails alike: then it is Inductor, not packaging
    fix Read `target:` and `Found from`, then rewrite or decompose that operator
    fix Try the newest torch: many lowerings were repaired
    pattern LoweringException: (?P<text>\w{1,200}: ?.{0,160})
    pattern MissingOperatorWith\w{1,200}: (?P<text>missing (?:lowering|decomposition))
missing_c_shim lower no_fault STATUS note possible
    summary {op} will be called through the dispatcher at run time (a notice, not an error)
    means The operator has no direct C function, so the model calls it by name: somewhat slower, and its library must be loaded where the model runs.
    guide lowering-and-cpp.md#ops-without-a-shim
    pattern (?:^|\s)(?P<op>[\w.:]{1,120}) is missing a c-shim implementation, using proxy executor as fallback
generated_call_refused run lowering_error KIND_TEXT minify
    summary The generated code calls {op} wrongly
    means Only code that Inductor writes calls this operator: the model and its inputs are not at fault.
    fix Compile with another release of torch
    fix Keep the operator beside it out of the package
    pattern \b(?P<op>inductor::\w{1,200})\(\) (?:Expected a value|expected at most|is missing value)
    example [torch's schema check] inductor::_reinterpret_tensor() is missing value for argument 'size'
op_dtype_not_implemented run lowering_error VAGUE_TEXT possible
    summary The kernel {op} does not exist for {dtype} on this device
    means ATen has no code for this operator, dtype and device. While exporting it is the model's dtype, at run time an input of another dtype than compiled.
    check Do the inputs have the dtypes of the export?
    fix Compute this operator in float32, or on the other device
    guide lowering-and-cpp.md#unsupported-dtypes
    pattern "(?P<op>(?!(?:min|max)_all)\w{2,80})" not implemented for '(?P<dtype>[A-Z]\w{2,20})'
unsupported_dtype lower lowering_error KIND_TEXT minify
    summary Inductor's GPU code generation does not handle a dtype of this graph
    means Triton has no complex pointers, and float8 matrix products work only for some scale layouts. The operator that carries the dtype is named next to the message.
    check The same model in float32 compiles
    fix Make complex views contiguous first, or keep the complex part out of the compiled graph
    fix For float8 use a quantization layout that torch supports on this GPU
    guide lowering-and-cpp.md#unsupported-dtypes
    pattern KeyError: '?(?:torch\.)?complex\d{1,20} || target: aten\._scaled_mm
    pattern (?:Exception|Error): .{0,80}[uU]nsupported dtype:? [\w.]{1,200}
    pattern (?:Exception|Error): .{0,80}[uU]nsupported data type:? [\w.]{1,200}
    pattern not implemented for '(?:Float[48]\w{0,20}|ComplexHalf)'
    pattern Inductor Triton does not support scal || _scaled_mm_v2 lowering does not
    pattern Unsupported scaling type || Conversions between float8_e5m2 and float8_e4m3fn
    pattern float64 is not supported by MPS
    unconfirmed does not support torch\.complex || KeyError: torch\.(?:float8|uint)\w{1,200}
    unconfirmed missing from torch\._inductor\.codegen\.cpp\.DTYPE_TO_CPP
    quoted [pytorch/pytorch#188718] torch._inductor.exc.InductorError: KeyError: 'complex64'
""".replace("IR_CLASS", _IR_CLASS).replace("INDUCTOR_FILE", _INDUCTOR_FILE)
