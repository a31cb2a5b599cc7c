"""The user's own operators."""

TABLE = r"""
aten_op_not_traceable export lowering_error SPECIFIC_TEXT
    summary {op} cannot be traced: PyTorch itself has no fake kernel for it
    means torch.export does not support this operator, at least in this release.
    fix Replace the operator, or wrap the call in a custom op with register_fake
    fix Try the newest torch
    guide lowering-and-cpp.md#export-errors
    pattern unsupported operator: (?P<op>(?:aten|prims)\.[\w.]{1,200})
    pattern Could not run '(?P<op>aten::[\w.]{1,200})' with arguments from the 'Meta' backend
    unconfirmed UnsupportedOperatorException: (?P<op>(?:aten|prims)\.[\w.]{1,200})
    example [the dispatcher's message] NotImplementedError: Could not run 'aten::_foo' with arguments from the 'Meta' backend.
custom_op_aliases_input run user_code SPECIFIC_TEXT proved
    summary A custom operator returns one of its inputs or a view of it
    means Functional custom operators must return fresh tensors; the compiler relies on it.
    fix Return a clone, or declare the argument in mutates_args and return None
    guide custom-ops.md#an-op-that-raises
    pattern The output of this custom operator \(1\) must not also be an input
custom_op_badly_defined environment user_code KIND_TEXT
    summary The definition of a custom operator is not accepted: {what}
    means torch.library needs annotated arguments, a true list of what is written to, and one definition per name in a process.
    check Is the library loaded twice, say as two versions?
    fix Correct the decorated function, or load the library once
    fix torch.library.opcheck(op, args) checks the rest of the definition
    guide custom-ops.md#an-op-that-raises
    pattern infer_schema\(func\): .{1,120} || mutates_args must either be
    pattern Attempted to create a custom op with `mutates_args=
    pattern register_fake\(\.\.\.\): the operator \S{1,80} || to be of the form "namespace::name"
    pattern Functions without tensor inputs are required to have a `device:
    pattern is a reserved namespace || Cannot register autograd formula for
    pattern we require there to also be a companion || Tried to register an operator \([^)]{1,120}\)
    pattern Only a single TORCH_LIBRARY can be used to register the namespace [^; ]{1,60}
    pattern already a kernel registered from python overriding
    pattern Trying to backward through \S{1,100} but no autograd formula was registered
    pattern tagged with torch\.Tag\.\w{1,200} (?:must|requires|only)
    pattern seems to be empirically wrong
    unconfirmed Tried to register multiple operators with the same name
    unconfirmed test_schema failed with .{1,120}
custom_op_fake_disagrees export custom_op_fake_kernel EXACT_TEXT
    summary A fake kernel promises something else than the operator returns
    means PyTorch ran both and compared: shape, strides, dtype or aliasing differ. A package compiled with this operator would give wrong results.
    check torch.library.opcheck(op, args)
    fix Make the fake kernel compute what the real one returns
    pattern MetadataMismatchError: .{0,300}mismatch between fake[ ]
    pattern OpCheckError: opcheck\(op, \.\.\.\): test_(?:faketensor|aot_dispatch_\w{1,200}) failed with
    pattern Stride mismatch! Strides are .{1,200} \(mismatched at \d
    recorded torch._subclasses.fake_tensor.MetadataMismatchError: Real tensor propagation found an output size mismatch between fake shape 3 and real shape 4, at output.size(0), for func: q.wf.default
    recorded torch.testing._internal.optests.generate_tests.OpCheckError: opcheck(op, ...): test_faketensor failed with When comparing the output of q.wf.default on FakeTensor and concrete Tensors, found mismatched tensor metadata: Shapes torch.Size([4]) and torch.Size([3])
custom_op_no_fake export custom_op_fake_kernel EXACT_TEXT proved
    summary The custom operator has no fake kernel, so it cannot be exported
    means Export runs the model on tensors without data and needs a function that says what the operator returns.
    fix @op.register_fake: return torch.empty with the right shape, dtype and device
    pattern is missing a fake kernel implementation
    pattern received a FakeScriptObject input when dispatching
    pattern \w{1,200}_fake\(\) missing \d{1,3} required positional argument
    pattern There was no fake impl registered for
custom_op_no_meta_kernel export custom_op_fake_kernel EXACT_TEXT
    summary An operator has no fake (meta) kernel, so the model cannot be traced
    means Export runs the model on tensors without data. The operator's library does not register a fake kernel, or the module that registers it was not imported.
    check The operator works in eager mode
    fix @torch.library.register_fake('ns::op'): return an empty tensor of its shape
    fix Import the Python package of the operator, not only its .so
    pattern \w{1,200}::(?!_local_scalar_dense)[\w.]{1,200}(?: \([^)]{0,200}\))?: (?:while )?attempt(?:ed|ing) to run this operator with Meta [Tt]ensors
    pattern UnsupportedOperatorException: (?!aten\.|prims\.)[\w.:]{1,200}
    pattern unsupported operator: (?!aten\.|prims\.)[\w.:]{1,200}
    pattern cannot infer a Fake kernel \(meta kernel\) for operator [\w.:]{1,200}
    pattern No fake kernel was found for [\w.:]{1,200} || MissingOpProfile
    pattern Unsupported: Dynamic shape operator \(no meta kernel\)
    pattern ScriptObject's .{1,80}registered a fake class
    pattern operator may return an output Tensor with data-dependent shape
    unconfirmed Could not run '(?!aten::)[\w:.]{1,200}' with arguments from the 'Meta' backend
    recorded NotImplementedError: q::cpuonly: attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel registered.
    recorded torch._subclasses.fake_tensor.UnsupportedOperatorException: q.cpuonly.default
    recorded [torch 2.13.0, CPU, strict=True]   Developer debug context: unsupported operator: q.cpuonly.default
    example [torch/_dynamo/utils.py] torch._dynamo.exc.Unsupported: Dynamic shape operator (no meta kernel)
    unlike example [asks for data] NotImplementedError: aten::_local_scalar_dense: attempted to run this operator with Meta tensors
custom_op_raised run user_code GENERAL_TEXT symptom
    summary A custom operator raised when the compiled model called it
    means The lines after `At:` are the Python stack of the operator; the exception text above them is its own.
    check Call the operator directly on the same tensors
    fix Correct the operator at the first line after `At:`
    guide custom-ops.md#an-op-that-raises
    pattern custom_ops\.py\(\d{1,20}\): (?:wrapped_fn|backend_impl)
    pattern ^(?=.{0,300} API call failed).{0,300}\baoti_torch_proxy_executor_call_function\(
    recorded [torch 2.11]   /opt/torch/.venv/lib/python3.12/site-packages/torch/_library/custom_ops.py(382): wrapped_fn
custom_op_schema_missing load custom_op_missing NAMED_TEXT proved inspect_package
    summary The custom operator {op} is not registered in this process
    means The package calls the operator by name and does not contain it. The module or library that registers it was not imported before the package was loaded.
    check import the module that defines the op, then load again
    fix Import the defining module (or torch.ops.load_library) before aoti_load_package
    fix For C++ programs write the op with TORCH_LIBRARY: ops from torch.library.custom_op need Python
    pattern Could not find schema for (?P<op>[\w:.]{1,200}\w)
custom_op_unresolved load custom_op_missing EXACT_TEXT
    summary An operator of the graph is not registered in this process
    means The exported program or script refers to a custom or Triton op whose defining module was not imported. The stock minifier launcher and other fresh processes fail like this.
    check Import the module that registers the op, then load again
    fix Import the defining module at the top of the script or launcher
    guide custom-ops.md#ops-in-fresh-processes
    pattern We failed to resolve torch\.ops[\w.]{1,200} to an operator
    pattern '_OpNamespace' '\w{1,200}' object has no attribute '\w{1,200}'
    pattern Missing operator: \[\d{1,20}\] [\w:.]{1,200}
    pattern Couldn't find an operator for [\w:.]{1,200} || Following ops cannot be found
    pattern Unknown builtin op: [\w:.]{1,200}\w || Could not find any similar ops to [\w:.]{1,200}\w
    pattern \bNo such operator \w{1,200}::\w{1,200} || '[\w:.]{1,200}' missing from runtime
    pattern Tried to instantiate class '[\w.]{1,200}', but it does not exist! Ensure
    unconfirmed instructions don't have corresponding operator registered
    recorded [torch 2.11, minifier launcher (cut)] torch._export.serde.serialize.SerializeError: We failed to resolve torch.ops.lab5.oops.default to an operator.
    example [executorch/runtime/executor/method.cpp] E 00:00:00.000001 executorch:method.cpp:1] Missing operator: [2] my_ops::fused.out
    recorded RuntimeError: Tried to instantiate class 'q.Foo', but it does not exist! Ensure that it is registered via torch::class_
custom_op_wrong_fake run custom_op_fake_kernel NAMED_TEXT proved verify_fix
    summary {op} returned something else than its fake kernel promises
    means The compiled code was laid out for the sizes, strides and dtype of the fake kernel. Torch 2.13 and later compare them at run time when AOTI_RUNTIME_CHECK_INPUTS is set; without it the result is garbage or a damaged heap.
    check torch.library.opcheck(op, args) on the failing inputs
    fix Make the fake kernel compute exactly the shape, strides and dtype of the real one
    pattern Error in op: (?P<op>(?!torch\.ops\.(?:aten|prims)\.|aten::)[\w:.]{1,200}\w)
    unlike recorded [printed for ATen operators too] This error most often comes from a incorrect fake (aka meta) kernel for a custom op.
    unlike example [sizes of the inputs disagree] Error in op: torch.ops.aten.sort.default
custom_op_wrong_signature run package_incompatible EXACT_TEXT check_environment
    summary An operator library was built for another schema than the registered one
    means A typed call was compiled against one signature, and the library loaded here registers another: two versions of the op library (fbgemm and the like) meet.
    check Versions of the op library where the package was made and where it runs
    fix Install the same version of the op library on both sides and recompile
    guide custom-ops.md#wrong-signature
    pattern Tried to access or call an operator with a wrong signature
    quoted [pytorch/pytorch#135563] Tried to access or call an operator with a wrong signature. operator: fbgemm::permute_2D_sparse_data
op_library_not_loaded load custom_op_missing BROAD_TEXT check_environment
    summary The library of operators {library} was not loaded
    means torch.ops.load_library failed, so its operators stay unknown. The error of the loader above it says why: no such file, an undefined symbol, another architecture.
    check ldd LIBRARY, in the environment of the process
    fix Correct the path, or build the library against this torch
    pattern OSError: Could not load this library: (?P<library>.{1,200})
    recorded OSError: Could not load this library: /nonexist.so
op_missing_on_device run custom_op_missing KIND_TEXT check_environment
    summary An operator has no implementation for the device it was called on
    means The op is registered, but not for this backend: the wrong device for an input, a CPU-only build of the op library, or a backend with gaps.
    check Device of the inputs, and the list of backends in the message
    fix Move the inputs, or install the build of the op library for this device
    pattern Could not run '[\w:.]{1,200}' with arguments from the '(?!Meta')\w{1,200}' backend
    pattern no fallback function is registered for schema [\w:.]{1,200}\w
    pattern The operator '[\w:.]{1,200}' is not currently implemented for the \w{1,200} device
    recorded NotImplementedError: There were no tensor arguments to this function (e.g., you passed an empty list of Tensors), but no fallback function is registered for schema q::z.
operator_call_mismatch run user_code BROAD_TEXT possible check_environment
    summary {op} was called with other arguments than its schema says
    means Either the caller is wrong, or the schema registered here is that of another version of the op library than the one at export.
    check Compare torch.ops.NS.OP.default._schema on both sides
    fix Correct the call, or install the same version of the op library
    guide custom-ops.md#wrong-signature
    after \b(?P<op>(?!inductor::)[\w.]{1,200}::\w{1,200})\(\)
    pattern [ ]expected at most \d{1,20} argument\(s\) but received \d{1,20}
    pattern [ ]is missing value for argument '
    pattern [ ]Expected a value of type '.{1,120}' for argument
    after
    pattern Unknown keyword argument '\w{1,200}' for operator '(?P<op>[\w.:]{1,200})'
    recorded RuntimeError: q::cpuonly() expected at most 1 argument(s) but received 2 argument(s). Declaration: q::cpuonly(Tensor x) -> Tensor
    recorded RuntimeError: q::cpuonly() Expected a value of type 'Tensor' for argument 'x' but instead found type 'int'.
operator_not_defined load custom_op_missing EXACT_TEXT check_environment
    summary An operator that Python code refers to is not defined in this process
    means The compiled half of an operator library did not load, and its Python half describes kernels for it: a build for another torch, for CPU only, or none at all.
    check Import the package alone, and compare its version with that of torch
    fix Install the build of the package (torchvision and the like) made for this torch
    fix Or load the library that defines the operator before register_fake
    pattern \b[Oo]perator '?[A-Za-z]\w{0,200}::\w{1,200}(?:\.\w{1,200})?'? does(?: not|n't) exist
    pattern could not find kernel for (?:HigherOrderOperator )?[\w:.]{1,200} at dispatch key
    pattern The underlying op of '[\w:.]{1,200}' has no overload name '
    recorded AttributeError: The underlying op of 'q.cpuonly' has no overload name 'foo'
    unlike example psycopg2.errors.UndefinedFunction: operator does not exist: uuid = integer
    unlike example [part of another message] the operator doesn't exist for this backend
proxy_executor_missing run custom_op_missing EXACT_TEXT proved inspect_package
    summary The model calls operators by name, but its JSON description was not found beside the library
    means A bare .so was moved without the .json that lists its fallback operators.
    fix Deploy the .pt2 package, or copy the .json next to the .so
    guide custom-ops.md#no-proxy-executor
    pattern Unable to find a proxy executor to run custom ops
torchbind_unsupported package lowering_error SPECIFIC_TEXT minify
    summary The graph holds a TorchBind (ScriptObject) object in a place AOTInductor cannot handle
    means Script objects work only as attributes of the model and only in newer releases; as graph inputs or in older ones packaging or lowering fails.
    fix Make the object an attribute of the module, or pass its tensors instead
    guide custom-ops.md#torchbind-objects
    pattern SerializeError: .{0,200}ScriptObject || call_torchbind
    unconfirmed SerializeError: .{0,200}torchbind || SerializeError: .{0,200}custom ?obj
    quoted [pytorch/pytorch#147283] torch._export.serde.serialize.SerializeError: Unsupported argument type: <class 'torch.ScriptObject'>
    unlike recorded [] torch._export.serde.serialize.SerializeError: We failed to resolve torch.ops.lab5.oops.default to an operator.
two_torch_libraries environment package_incompatible SPECIFIC_TEXT possible check_environment
    summary Two copies of PyTorch's libraries were loaded into one process
    means The second libtorch registers what the first has registered already: a bundled one (Java, another Python package, a system library) and the installed one meet.
    check ldd, and `grep libtorch /proc/PID/maps`: is there more than one?
    fix Keep one libtorch on the library path, and build all against it
    guide package-and-load.md#two-runtimes-in-one-process
    pattern Tried to register multiple backend fallbacks for the same dispatch key \w{1,200}
"""
