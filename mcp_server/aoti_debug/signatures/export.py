"""Exporting: wrong calls of it, and sizes that vary: constraints, size symbols, asserts."""

TABLE = r"""
api_misuse lower user_code SPECIFIC_TEXT
    summary The compile function got an argument of the wrong kind
    means aoti_compile_and_package takes an ExportedProgram and a path ending in .pt2; aot_compile takes ep.module(), not a plain nn.Module.
    fix ep = torch.export.export(model.eval(), args); torch._inductor.aoti_compile_and_package(ep, package_path='model.pt2')
    guide lowering-and-cpp.md#calling-the-api-wrongly
    pattern AttributeError: '\w{1,200}' object has no attribute 'graph'
    pattern Only ExportedProgram is supported
    pattern TypeError: (?:aoti_compile_and_package|aot_compile)\(\)[ ]
    recorded [torch 2.13: aot_compile of a module] AttributeError: 'Linear' object has no attribute 'graph'
dynamo_broke_graph export lowering_error VAGUE_TEXT symptom possible
    summary Dynamo met Python code that it cannot put into a graph
    means With torch.compile this only splits the graph and is often harmless; with torch.export(strict=True) it ends the export.
    check Is torch.export.export in the traceback?
    fix torch.export.export(..., strict=False), or rewrite the named line
    guide lowering-and-cpp.md#export-errors
    pattern compile-graph-break-site || Developer debug context:[ ]
    pattern This graph break is fundamental || Graph break in user code at[ ]
    pattern generated/exportdb/index.html
export_fake_tensors_mixed export lowering_error EXACT_TEXT
    summary Tracing mixed tensors that do not belong together: {what}
    means Export runs the model on fake tensors. A tensor made on another device, outside the trace, or under a second fake mode does not fit among them; a failed export may leave such tensors behind in the model.
    fix Make constants and buffers part of the module, on the device of the model
    fix Create tensors in forward with device=x.device
    fix After a failed export build the model anew
    guide lowering-and-cpp.md#export-errors
    pattern Mixing fake modes NYI || Please convert all Tensors to FakeTensors first
    pattern UnsupportedFakeTensorException || Detected fake_mode does not have a shape_env
    unconfirmed assert isinstance\(buffer, FakeTensor\)
    unconfirmed Tensor on device .{1,20} is not on the expected device meta
export_devices_mixed export contract_device EXACT_TEXT
    summary One operator got tensors of two devices during tracing: {what}
    means A weight, a buffer, a tensor made in forward or an example input lies on another device than the rest, or a custom operator's fake kernel returns one that does.
    check The device of every parameter, buffer and example input; eager fails alike
    fix model.to(device) and the example inputs too, before the export
    fix Create tensors in forward with device=x.device
    guide lowering-and-cpp.md#export-errors
    pattern FakeTensorDeviceMismatchError: .{1,120}
    pattern Unhandled FakeTensor Device Propagation.{0,120}
    pattern MetadataMismatchError: (?P<what>Devices \S{1,40} and \S{1,40} are not equal)
    unconfirmed TorchRuntimeError: Tensor device mismatch
    recorded torch._subclasses.fake_tensor.FakeTensorDeviceMismatchError: Expected all tensors to be on the same device, but found at least two devices, cpu and cuda:0!
export_graph_invalid export lowering_error KIND_TEXT
    summary The exported graph breaks the rules of torch.export
    means Export, or a pass over its graph (decompositions, quantisation, your own), made nodes that its verifier refuses, or objects that it cannot serialize.
    check Does torch.export.export pass without your passes over the graph?
    fix Look at the node that is named, and at the pass that made it; upgrade torch
    fix Give pytree classes a serialized_type_name
    guide lowering-and-cpp.md#export-errors
    pattern is not among original inputs of types
    pattern SpecViolationError: (?!(?:State dict entry|\w{1,200} \S{1,120} is not in the state dict)).{1,160}
    pattern torch\._export\.(?:error|pass_base)\.\w{1,200}: .{1,160} || ExportPassBaseError
    pattern TS2EPConverter failed for node || No registered serialization name for[ ]
    pattern Node referenced nonexistent target || symbolically trace a dynamo-optimized function
    pattern torch\.fx\.proxy\.TraceError: .{1,160}
    recorded torch._export.verifier.SpecViolationError: Node.meta add_1 is missing val field.
    example [torch/fx/proxy.py] torch.fx.proxy.TraceError: symbolically traced variables cannot be used as inputs to control flow
export_inputs_wrong export user_code EXACT_TEXT
    summary torch.export got a model or example inputs of a kind that it does not take
    means The model must be a plain nn.Module and the examples a tuple of tensors, numbers and plain containers; keywords go into kwargs.
    fix torch.export.export(model.eval(), args=(x,), kwargs={'mask': m})
    fix Register own classes with torch.export.register_dataclass
    guide lowering-and-cpp.md#calling-the-api-wrongly
    pattern Expecting `args` to be a tuple of example positional inputs
    pattern Unsupported input type <class .{1,120}Export only supports pytree containers
    pattern Expected `mod` to be an instance of `torch.nn.Module`
    pattern Exporting a ScriptModule is not supported
    pattern Example inputs should be a tuple containing example arguments
    pattern Total number of arg names is expected to be[ ]
export_mutation_or_alias export lowering_error SPECIFIC_TEXT
    summary AOTAutograd cannot make the model functional: {what}
    means Export turns the model into a graph without side effects, on tensors without data. Inputs that are passed twice and written to, attributes written in forward, odd output types, and C or numpy code that wants the bytes do not fit into one.
    check ep = torch.export.export(...) alone fails the same way
    fix Clone what is written to, or pass two different tensors as examples
    fix register_buffer what forward changes; return tensors in plain containers
    fix Wrap code that wants the data (numpy, data_ptr) into a torch.library.custom_op
    guide lowering-and-cpp.md#export-errors
    pattern Encountered (?P<what>(?:duplicated?|aliased) inputs that are mutated in the graph)
    pattern Error: (?P<what>.{0,160}(?:banned|supported) in the aot_export workflow)
    pattern Error: (?P<what>.{0,160}aot_export is not currently supported)
    pattern Error: (?P<what>.{0,160}aot_export_joint_simple (?:does|requires))
    pattern cannot mutate tensors with frozen storage
    pattern Unsupported(?:AliasMutation|MutationAliasing)Exception
    pattern Constant \S{1,80} is mutated in the forward method || mutate the autocast state
    pattern Metadata mutations are currently not allowed
    pattern trying to change global autograd state while exporting
    pattern functionalizing operators whose outputs do not have alias
    pattern \(non-ATen\) operator whose output has alias annotations
    pattern Found <class .{1,100}in output, which is not a known type
    pattern \.\w{1,200}\(\) is not supported for tensor subclasses
    pattern Cannot access data pointer of Tensor \(e\.g\.[ ]
    pattern erroneously tracing into a custom kernel
    unconfirmed Mutating module attribute .{1,80} during export
    unconfirmed ValueError: The tensor attributes? .{1,120} (?:was|were) assigned during export
    unlike example [eager autograd says it too] RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.
    unlike recorded [torch 2.11, H200: at run time, after a custom operator raised] [E1121 05:31:40.677208367 shim_common.cpp:274] Exception in aoti_torch: Cannot access data pointer of Tensor that doesn't have storage
export_not_serializable package lowering_error GENERAL_TEXT
    summary The exported program cannot be serialized: {what}
    means A node takes or returns something that the file format has no form for: a Python object, an operator of no library, a list of an unusual type.
    check torch.export.save(ep, buffer) alone fails the same way
    fix Take the named node out of the model, or turn it into a custom operator
    fix Compile ep directly, without torch.export.save between
    guide lowering-and-cpp.md#export-errors
    pattern SerializeError: (?!We failed to resolve|Serialized schema version|Failed deserializing|Unable to deserialize)(?P<what>.{1,160})
    pattern Failed serializing node .{1,120} || .{1,80} is not supported in export serialization
    pattern FX.Node's args should have one arg || Unimplemented graph input type.{0,80}
export_unsupported export lowering_error BROAD_TEXT
    summary torch.export could not trace the model; AOTInductor was not reached
    means The Python code of the model does something that cannot be captured: data-dependent branches, unsupported libraries, side effects.
    check torch.export.draft_export lists all such places at once
    fix Rewrite the named line, or wrap it in torch.cond or a custom op
    guide lowering-and-cpp.md#export-errors
    pattern Dynamo failed to run FX node with fake tensors
    pattern torch\._dynamo\.exc\.(?:Unsupported|UserError|TorchRuntimeError|InternalTorchDynamoError|CondOpArgsMismatchError)
    pattern torch\._dynamo\.exc\.\w{1,60}Error:[ ] || Dynamic control flow is not supported
    pattern error above occurred when calling torch\.export\.export
    pattern ^(?:TorchRuntimeError|InternalTorchDynamoError):[ ]
    pattern WARNING: [0-9]{1,200} issue\(s\) found during export
    pattern Tried to emit a second graph during export
    unconfirmed torch\._dynamo\.exc\.UnsafeScriptObjectError
    unconfirmed torch\._dynamo\.exc\.Observed\w{1,200}
    example [common form] torch._dynamo.exc.Unsupported: Dynamic control flow is not supported
exported_program_misused export user_code SPECIFIC_TEXT
    summary An exported program is not used as one: {what}
    means An exported program is not a module: call ep.module(), leave its fields alone, and choose train or eval mode before the export.
    fix y = ep.module()(x); model.eval() goes before torch.export.export
    guide lowering-and-cpp.md#calling-the-api-wrongly
    pattern Unable to call ExportedProgram directly
    pattern Unable to set ExportedProgram's \w{1,200} attribute
    pattern parameter must be an instance of 'ExportedProgram'
    pattern Calling (?:train|eval)\(\) is not supported yet
loader_arguments_exclusive load user_code EXACT_TEXT proved
    summary Arguments of the loader exclude each other: {what}
    means user_managed keeps your pointers while allow_h2d_copy copies; single-threaded mode has one runner.
    fix Drop one of the two arguments
    guide lowering-and-cpp.md#calling-the-api-wrongly
    pattern allow_h2d_copy is not supported with user_managed
    pattern num_(?:runners|models) must be (?:1|>=1) when run_single_threaded is (?:true|false)
opened_by_wrong_function load user_code GENERAL_TEXT possible inspect_package
    summary The file is of another kind than this function reads: {what}
    means torch.load and torch.jit.load read checkpoints and TorchScript, aoti_load_package reads .pt2 packages, torch._export.aot_load a bare .so. The text about corruption is then misleading.
    check unzip -l FILE
    fix Load a compiled .pt2 with torch._inductor.aoti_load_package, an exported program with torch.export.load
    guide package-and-load.md#not-an-aoti-package
    pattern PytorchStreamReader failed locating file (?:data\.pkl|constants\.pkl|archive_format|models/\S{1,80})
    pattern Unable to load package\. (?:Path|f) must be a buffer or a file ending in \.pt2
    recorded RuntimeError: PytorchStreamReader failed locating file data.pkl:
    unlike example [another failure] RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory
export_constraints_violated export lowering_error KIND_TEXT envelope
    summary torch.export cannot keep the dynamic dimensions {dims}
    means One or more reasons follow: the lines below say what each dimension breaks; `Suggested fixes` says what to change.
    fix Read the lines below and take the suggested Dims
    guide dynamic-shapes.md#constraint-violations
    pattern Constraints violated \((?P<dims>[^)]{1,200})\)!
export_data_dependent export lowering_error EXACT_TEXT proved
    summary The model branches on a value known only at run time: {expression}
    means The condition depends on tensor data (item(), nonzero(), a mask), so torch.export cannot choose a branch.
    fix Before the branch, state what always holds, as in torch._check(u >= 2); or use guard_or_false or torch.cond
    fix Or move the data-dependent part out of the model
    guide dynamic-shapes.md#data-dependent-sizes
    pattern (?P<expression>guard_size_oblivious would fix the error)
    pattern Could not guard on data-dependent expression (?P<expression>.{1,120}?) \(unhinted
    pattern Could not extract specialized integer from data-dependent expression (?P<expression>.{1,120}?) \(unhinted
    pattern Could not guard on data-dependent expression (?P<expression>.{1,120})
    pattern Could not extract specialized integer from data-dependent expression (?P<expression>.{1,120})
    example [symbolic_shapes.py] GuardOnDataDependentSymNode: Could not extract specialized integer from data-dependent expression u0 (unhinted: u0)
export_dynamic_shapes_wrong export lowering_error EXACT_TEXT
    summary dynamic_shapes does not fit the example inputs: {what}
    means dynamic_shapes mirrors the structure and the names of the inputs: one entry for each tensor, with as many dimensions, and None for anything else.
    check torch.export.export without dynamic_shapes passes
    fix Mirror the inputs: args=(x,), dynamic_shapes={'x': {0: Dim('b', min=1, max=64)}}
    fix Let torch write it: torch.export.ShapesCollection or AdditionalInputs
    guide lowering-and-cpp.md#calling-the-api-wrongly
    pattern mismatch between the structure of `[^`]{1,60}` and `dynamic_shapes`
    pattern When `dynamic_shapes` is specified as a dict, its top-level keys must be the arg names
    pattern Expected dynamic shape spec.{1,200}at `dynamic_shapes
    pattern Unexpected input tensor shape.{1,200}at `dynamic_shapes
    pattern Unexpected dimension.{1,200}at `dynamic_shapes
    pattern Cannot associate shape.{1,200}at `dynamic_shapes || `spec\['dynamic_shapes'\]`
    pattern Unable to specify input integers as dynamic through named Dims
    pattern Found different definitions .{1,160} for the same symbolic dimension
    pattern Must provide a tree_name when there might be a mismatch
    pattern Cannot be a mismatch if there is no dynamic_shapes
    pattern expected dynamic_shape to be None, int, or _DimHint for _IntWrapper
    pattern Some tensors that were assigned shapes were not found in args
    pattern Shapes assigned to input do not match
    pattern differing types, so they cannot be marked as dynamic
    pattern Only increasing linear operations with integer coefficients are supported
    pattern Cannot create Dim with inconsistent min= || Dim name must be a valid identifier
    pattern Expected derived (?:min|max) value of .{1,80} to be [<>]=
export_example_outside_dims export lowering_error EXACT_TEXT
    summary The example inputs of torch.export do not lie in the Dims given for them: {what}
    means Sizes that share a Dim must be equal in the examples too, a derived Dim must come out even, and each size must lie in the range of its Dim.
    fix Choose examples that satisfy the Dims, or widen min and max
    fix Give sizes that differ a Dim each
    guide dynamic-shapes.md#constraint-violations
    after (?:ConstraintViolationError|UserError):[ ]
    pattern (?P<what>-?\d{1,20} not in range \[[^\]]{1,60}\])
    pattern (?P<what>Expected shape\[\d{1,20}\] = \d{1,20} of input \S{0,40} ?to be of the form [^,]{1,60})
    pattern (?P<what>L\[.{1,80} = \d{1,20} is not equal to L\[.{1,80})
    pattern (?P<what>Expected input L\[.{1,120} to be equal to [^,]{1,60}, where .{1,60}, but got \d{1,20})
    pattern (?P<what>Static shape constraint of .{1,160})
    after
    pattern ValueRangeError: Invalid value -?\d{1,20} for range \[.{1,60}
    pattern The following inconsistencies were found
    recorded torch.fx.experimental.symbolic_shapes.ConstraintViolationError: 8 not in range [2, 4]
    recorded torch._dynamo.exc.UserError: Expected shape[0] = 9 of input Tensor to be of the form 2*k, where k is an integer
    recorded torch._dynamo.exc.UserError: L['y'].size()[0] = 5 is not equal to L['x'].size()[0] = 4
    recorded torch._dynamo.exc.UserError: Expected input L['y'].size()[0] to be equal to 2*a, where a = 4, but got 6
    example [symbolic_shapes.py] torch.fx.experimental.symbolic_shapes.ValueRangeError: Invalid value 9 for range [2:5]
export_guard_unsatisfied export lowering_error EXACT_TEXT
    summary The model only works for some sizes of {dim}: {guard}
    means The traced code needs more of the size than the Dim promises, such as divisibility or a larger minimum.
    fix Take the Dim of `Suggested fixes` (2*_b for an even size, min=5 for a minimum)
    fix Give sizes that must be equal one Dim together, or remove the code that needs it
    guide dynamic-shapes.md#constraint-violations
    pattern Not all values of (?P<dim>.{1,200}?) (?P<guard>satisfy the generated guard .{1,160})
    pattern (?P<guard>(?P<dim>The following dimensions) have been specialized and CANNOT be dynamic)
    pattern Not all values of (?P<dim>.{1,80}?) = .{1,80}? in the specified range (?P<guard>are valid because .{1,160})
    pattern The values of (?P<dim>.{1,80}?) = .{1,120}? (?P<guard>and \S{1,60} = L\[.{1,80}must always be (?:equal|related to .{1,160}))
    pattern The values of (?P<dim>.{1,80}?) = .{1,120}? (?P<guard>must always be (?:equal|related to .{1,160}))
    recorded   - The values of b = L['y'].size()[0] and a = L['x'].size()[0] must always be equal.
    recorded   - Not all values of b = L['a'][0].size()[0] in the specified range satisfy the generated guard 5 <= L['a'][0].size()[0] and L['a'][0].size()[0] <= IntInfinity()
export_needs_a_value export lowering_error SPECIFIC_TEXT
    summary Tracing needs a number that is known only at run time: {what}
    means item(), int(), a Python branch, torch.equal or nonzero ask a tensor for its data, and while exporting tensors have none.
    check The operator that is named belongs to ATen
    fix Replace the branch by torch.where or torch.cond
    fix Compute the number outside the model and pass it in
    guide dynamic-shapes.md#data-dependent-sizes
    pattern (?:DataDependentOutput|DynamicOutputShape)Exception: \S{1,120}
    pattern Unsupported: Data-dependent branching(?! \(no meta)
    pattern GuardOnDataDependentSymNode: .{1,160}
    pattern aten[:.]{1,2}_local_scalar_dense\S{0,20}: attempted
    pattern \w{1,200}\.item\(\) cannot be called on meta tensors || local_scalar_dense/item NYI
    pattern UserError: (?P<what>Consider annotating your code using torch\._check\*\(\).{0,160})
    unconfirmed Unsupported: Data-dependent assertion failed(?! \(no meta)
    unconfirmed Unsupported: Data dependent operator(?! \(no meta)
    unconfirmed Unsupported: Dynamic shape operator(?! \(no meta)
    unconfirmed data dependent operator: \S{1,120} || dynamic shape operator: \S{1,120}
    unconfirmed 'aten::_local_scalar_dense' with arguments from the '(?:Meta|FakeTensor)' backend
    recorded [torch 2.13.0, CPU, strict=True] torch._dynamo.exc.Unsupported: Data-dependent branching
    recorded [torch 2.13.0, CPU, strict=True] torch._dynamo.exc.UserError: Consider annotating your code using torch._check*(). Could not guard on data-dependent expression u0 > 3 (unhinted: u0 > 3).
    unlike example torch._dynamo.exc.Unsupported: Dynamic shape operator (no meta kernel)
export_specialised export lowering_error NAMED_TEXT
    summary {dim} was meant to be dynamic, but the model fixes it at {value}
    means The example has size 0 or 1 there, or the code uses the size as a number (reshape with literals, int(x.shape[0]), a Python branch). With Dim.AUTO the same happens silently and other sizes give wrong results.
    check Is the constant the example's size and 1? Then take an example of at least 2.
    fix Export with an example of size 2 or more in {dim}
    fix Replace literals by -1 or x.shape[0] where the model reshapes
    fix Or give Dim.STATIC there and serve only {value}
    guide dynamic-shapes.md#specialised-to-a-constant
    pattern You marked (?P<dim>.{1,120}) as dynamic but your code specialized it to be a constant \((?P<value>\d{1,20})\)
    recorded   - You marked b as dynamic but your code specialized it to be a constant (1).
exported_size_guard run contract_shape NAMED_TEXT inspect_package
    summary The exported program takes another size: {guard}
    means The dimension is static in the export, or this size lies outside its Dim. The package does not check it and would read memory by the exported size.
    check Look at the dynamic_shapes given to torch.export.
    fix Pad or crop the input to the exported size
    fix Or export with that dimension dynamic, over the range that you serve
    pattern Guard failed: (?P<guard>[^\s%+*/()-]{1,120}\.size\(\)\[\d{1,20}\] (?:==|<=|>=|<|>) \d{1,20})$
    pattern Guard failed: (?P<guard>\d{1,20} (?:==|<=|>=|<|>) [^\s%+*/()-]{1,120}\.size\(\)\[\d{1,20}\])$
    pattern Input (?P<guard>\S{1,80}\.shape\[\d{1,20}\] is outside of specified dynamic range \[[^\]]{1,60}\])
    unconfirmed Input (?P<guard>\S{1,80}\.shape\[\d{1,20}\] is specialized at \d{1,20})
    recorded AssertionError: Guard failed: x.size()[1] == 4
    example [tutorial of torch 2.1] RuntimeError: Input arg0_1.shape[1] is outside of specified dynamic range [4, 18]
    unlike recorded [] AssertionError: Guard failed: a_1.size()[0] == a_0.size()[0]
    unlike recorded [] AssertionError: Guard failed: 10 * a_0.size()[0] % 4 == 0
    unlike recorded [] AssertionError: Guard failed: k == 3
    unlike example [torch/_export/utils.py] RuntimeError: Expected input *args[0].shape[0] = 9 to be of the form 2*s0, where s0 is an integer
negative_size_while_tuning autotune autotune_error EXACT_TEXT
    summary A tensor of sizes [{sizes}] was to be allocated: a size is negative
    means Inductor guesses sizes that come from data independently, so a difference of two can be negative in the tuning block (or at run time, from a wrong assertion).
    fix Bound the data-dependent size with torch._check(u0 <= x.shape[0]) before export
    fix Upgrade torch
    guide dynamic-shapes.md#negative-sizes-while-tuning
    pattern Storage size calculation overflowed with sizes=\[(?P<sizes>[^\]]{0,80}-\d[^\]]{0,80})\]
    quoted [pytorch/pytorch#190589] RuntimeError: Storage size calculation overflowed with sizes=[-1008, 64] and strides=[64, 1]
    unlike example [another failure] RuntimeError: Storage size calculation overflowed with sizes=[9223372036854775807]
runtime_assert run contract_guard NAMED_TEXT
    summary A size taken from the inputs breaks an assertion of the model: {condition}
    means torch.export recorded this condition (from torch._check or from how the size is used) and the package checks it. A lower bound of 2 often only comes from the exporter's assumption that sizes are not 0 or 1.
    check Run ep.module() on the same input: it names the graph node.
    fix Keep the data in the range, or change the torch._check or the slice that states it
    fix A bound of 2: export under torch.fx.experimental._config.patch(backed_size_oblivious=True), or compile with TORCHINDUCTOR_SCALAR_ASSERTS=0; torch._check(u >= 0) does not lower it
    guide dynamic-shapes.md#runtime-asserts
    pattern Expected (?P<condition>.{0,80}\b[suz]\d{1,20}\b.{0,80} but received (?:-?\d{1,20}|True|False|[0-9.eE+-]{1,200}))
    pattern Runtime assertion failed for expression (?P<condition>.{1,200} on node '[^']{1,80}')
    pattern Invalid value range for (?P<condition>-?\d{1,20} between \[-?\d{1,20}, -?\d{1,20}\])
    recorded RuntimeError: Runtime assertion failed for expression u0 < s10 on node 'lt_1'
    recorded [torch 2.13.0, CPU, aten.sym_constrain_range] RuntimeError: Invalid value range for 9 between [2, 5].
    unlike example [an ordinary API] Expected 2 arguments but received 3
    unlike example [another failure] ValueError: Expected target size [4, 10], got [4, 12]
unbacked_symbol_lost lower lowering_error SPECIFIC_TEXT
    summary Inductor lost track of a size symbol: {what}
    means A size that comes from data or from a formula cannot be tied to a tensor: item() evaluated to a number, a fake kernel that does not return its new size, or a dimension that is a formula only.
    fix Remove .item() from the model, or state the size with torch._check and use it in an output
    fix In a fake kernel take sizes from torch.library.get_ctx().new_dynamic_size()
    fix Give the basic size a dimension of its own; upgrade torch
    guide dynamic-shapes.md#data-dependent-sizes
    pattern Pending unbacked symbols \{[^}]{1,120}\} not in returned outputs
    pattern AttributeError: (?P<what>'(?:float|int|bool)' object has no attribute 'node')
    pattern (?:^|AssertionError: )(?P<what>Eq\(.{1,160}\) is not solvable)
    example [cpp_wrapper_cpu.py] AssertionError: Eq(s0**2 + s0, arg0_1_size_0) is not solvable
undeclared_size_symbol cpp_compile cpp_error EXACT_TEXT proved minify
    summary The generated C++ uses the size symbol {symbol} without defining it
    means Inductor lost the definition of a dynamic size: derived Dims (2*s1), inputs that share one Dim, or a deferred assertion that still names a merged symbol.
    check Is the name s or u with a number? Then it is a dynamic size.
    fix Give each input its own Dim, or replace a derived Dim by an independent one
    fix Upgrade torch
    guide dynamic-shapes.md#derived-and-shared-dims
    pattern error: ['‘](?P<symbol>[suz]\d{1,20})['’] was not declared in this scope
    pattern error: use of undeclared identifier '(?P<symbol>[suz]\d{1,20})'
    unlike example [another failure] error: 'int_array_6' was not declared in this scope
    unlike example [another failure] error: use of undeclared identifier 'stream0'
"""
