"""Exporting: wrong calls of it, and sizes that vary: constraints, size symbols, asserts."""

from __future__ import annotations

from aoti_debug.facts.categories import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
    Signature(
        id="api_misuse",
        phase="lower",
        category="user_code",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            r"AttributeError: '\w{1,200}' object has no attribute 'graph'",
            "Only ExportedProgram is supported",
            r"TypeError: (?:aoti_compile_and_package|aot_compile)\(\) .{0,120}",
        ),
        summary="The compile function was called with something it does not take",
        means=(
            "aoti_compile_and_package wants an ExportedProgram and a path ending in .pt2; "
            "aot_compile wants ep.module(), not a plain nn.Module."
        ),
        fixes=(
            fix(
                (
                    "ep = torch.export.export(model.eval(), args); "
                    "torch._inductor.aoti_compile_and_package(ep, package_path='model.pt2')"
                ),
            ),
        ),
        guide="guides/lowering-and-cpp.md#calling-the-api-wrongly",
        matches=(
            recorded(
                "AttributeError: 'Linear' object has no attribute 'graph'",
                "torch 2.13: aot_compile of a module",
            ),
            recorded("ValueError: Only ExportedProgram is supported", "torch 2.13"),
            words("torch/_tensor.py", "TypeError: aoti_compile_and_package() x"),
        ),
    ),
    Signature(
        id="dynamo_broke_graph",
        phase="export",
        category="lowering_error",
        role="symptom",
        tier=Tier.VAGUE_TEXT,
        confidence="possible",
        patterns=(
            "compile-graph-break-site",
            "Developer debug context: ",
            "This graph break is fundamental",
            "Graph break in user code at ",
            "generated/exportdb/index.html",
        ),
        summary="Dynamo met Python code that it cannot put into a graph",
        means=(
            "With torch.compile this only splits the graph and is often harmless; with "
            "torch.export(strict=True) it ends the export."
        ),
        check="Is torch.export.export in the traceback?",
        fixes=(fix("torch.export.export(..., strict=False), or rewrite the named line"),),
        guide="guides/lowering-and-cpp.md#export-errors",
        matches=(
            recorded(
                " For more details about this graph break, please visit: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0059.html",
                "torch 2.13.0, CPU, strict=True",
            ),
            words("torch/_dynamo/exc.py", "Developer debug context: "),
            words("torch/_dynamo/graph_break_hints.py", "This graph break is fundamental"),
            words("torch/_dynamo/symbolic_convert.py", "Graph break in user code at "),
            words("torch/_export/db/logging.py", "generated/exportdb/indexxhtml"),
        ),
    ),
    Signature(
        id="export_fake_tensors_mixed",
        phase="export",
        category="lowering_error",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "(?P<what>Mixing fake modes NYI)",
            "(?P<what>Please convert all Tensors to FakeTensors first)",
            "(?P<what>UnsupportedFakeTensorException)",
            "(?P<what>Detected fake_mode does not have a shape_env)",
            r"(?P<what>assert isinstance\(buffer, FakeTensor\))",
            "(?P<what>Tensor on device .{1,20} is not on the expected device meta)",
        ),
        summary="While tracing, tensors met that do not belong together: {what}",
        means=(
            "Export runs the model on fake tensors. A tensor made on another device, outside the "
            "trace, or under a second fake mode does not fit among them; a failed export may leave "
            "such tensors behind in the model."
        ),
        fixes=(
            fix("Make constants and buffers part of the module, on the device of the model"),
            fix("Create tensors in forward with device=x.device"),
            fix("After a failed export build the model anew"),
        ),
        guide="guides/lowering-and-cpp.md#export-errors",
        matches=(
            quoted(
                "AssertionError: Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with 'allow_non_fake_inputs'.",
                "words of torch/_subclasses/fake_tensor.py",
            ),
            words(
                "programs that were not at hand",
                "assert isinstance(buffer, FakeTensor)",
                "Tensor on device x is not on the expected device meta",
            ),
            words("torch/_subclasses/fake_tensor.py", "Mixing fake modes NYI"),
            words("torch/_export/pass_base.py", "UnsupportedFakeTensorException"),
            words(
                "torch/_export/non_strict_utils.py", "Detected fake_mode does not have a shape_env"
            ),
        ),
    ),
    Signature(
        id="export_devices_mixed",
        phase="export",
        category="contract_device",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "(?P<what>FakeTensorDeviceMismatchError: .{1,120})",
            "(?P<what>Unhandled FakeTensor Device Propagation.{0,120})",
            "(?P<what>TorchRuntimeError: Tensor device mismatch)",
            r"MetadataMismatchError: (?P<what>Devices \S{1,40} and \S{1,40} are not equal)",
        ),
        summary="While tracing, tensors of two devices met in one operator: {what}",
        means=(
            "A weight, a buffer, a tensor made in forward or an example input lies on another "
            "device than the rest, or a custom operator's fake kernel returns one that does."
        ),
        check="The device of every parameter, buffer and example input; eager fails alike",
        fixes=(
            fix("model.to(device) and the example inputs too, before the export"),
            fix("Create tensors in forward with device=x.device"),
        ),
        guide="guides/lowering-and-cpp.md#export-errors",
        matches=(
            recorded(
                "torch._subclasses.fake_tensor.FakeTensorDeviceMismatchError: Expected all tensors to be on the same device, but found at least two devices, cpu and cuda:0!",
                "torch 2.13.0, CPU",
            ),
            words(
                "programs that were not at hand",
                "Unhandled FakeTensor Device Propagationx",
                "TorchRuntimeError: Tensor device mismatch",
                "MetadataMismatchError: Devices x and y are not equal",
            ),
        ),
    ),
    Signature(
        id="export_graph_invalid",
        phase="export",
        category="lowering_error",
        tier=Tier.KIND_TEXT,
        patterns=(
            "(?P<what>is not among original inputs of types)",
            (
                r"SpecViolationError: (?!(?:State dict entry|\w{1,200} \S{1,120} is not in the "
                "state dict))(?P<what>.{1,160})"
            ),
            r"torch\._export\.(?:error|pass_base)\.(?P<what>\w{1,200}: .{1,160})",
            "(?P<what>ExportPassBaseError)",
            "(?P<what>TS2EPConverter failed for node)",
            "(?P<what>No registered serialization name for )",
            "(?P<what>Node referenced nonexistent target)",
            "(?P<what>symbolically trace a dynamo-optimized function)",
            r"torch\.fx\.proxy\.TraceError: (?P<what>.{1,160})",
        ),
        summary="The exported graph breaks the rules of torch.export",
        means=(
            "Export, or a pass over its graph (decompositions, quantisation, your own), made nodes "
            "that its verifier refuses, or objects that it cannot write down."
        ),
        check="Does torch.export.export pass without your passes over the graph?",
        fixes=(
            fix("Look at the node that is named, and at the pass that made it; upgrade torch"),
            fix("Give pytree classes a serialized_type_name"),
        ),
        guide="guides/lowering-and-cpp.md#export-errors",
        matches=(
            words(
                "torch/_dynamo/eval_frame.py",
                "AssertionError: graph-captured input #1 is not among original inputs of types: (int)",
            ),
            recorded(
                "torch._export.verifier.SpecViolationError: Node.meta add_1 is missing val field.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "NotImplementedError: No registered serialization name for <class '__main__.O'> found. Please update your _register_pytree_node call with a `serialized_type_name` kwarg.",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "torch.fx.proxy.TraceError: symbolically traced variables cannot be used as inputs to control flow",
                "words of torch/fx/proxy.py",
            ),
            words("torch/_library/fake_profile.py", "torch._export.error.x: x"),
            words("torch/_export/pass_base.py", "ExportPassBaseError"),
            words("torch/_export/converter.py", "TS2EPConverter failed for node"),
            words("torch/_export/verifier.py", "Node referenced nonexistent target"),
            words("torch/_dynamo/eval_frame.py", "symbolically trace a dynamo-optimized function"),
        ),
        apart_from=("exported_weights_wrong",),
    ),
    Signature(
        id="export_inputs_wrong",
        phase="export",
        category="lowering_error",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "Expecting `args` to be a tuple of example positional inputs",
            "Unsupported input type <class .{1,120}Export only supports pytree containers",
            "Expected `mod` to be an instance of `torch.nn.Module`",
            "Exporting a ScriptModule is not supported",
            "Example inputs should be a tuple containing example arguments",
            "Total number of arg names is expected to be ",
        ),
        summary="torch.export got a model or example inputs of a kind that it does not take",
        means=(
            "The model must be a plain nn.Module and the examples a tuple of tensors, numbers and "
            "plain containers; keywords go into kwargs."
        ),
        fixes=(
            fix("torch.export.export(model.eval(), args=(x,), kwargs={{'mask': m}})"),
            fix("Register own classes with torch.export.register_dataclass"),
        ),
        guide="guides/lowering-and-cpp.md#calling-the-api-wrongly",
        matches=(
            recorded(
                "torch._dynamo.exc.UserError: Expecting `args` to be a tuple of example positional inputs, got <class 'list'>",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "ValueError: Unsupported input type <class '__main__.Cfg'>. Export only supports pytree containers",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "ValueError: Expected `mod` to be an instance of `torch.nn.Module`, got <class 'function'>.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "ValueError: Exporting a ScriptModule is not supported. Maybe try converting your ScriptModule to an ExportedProgram",
                "torch 2.13.0, CPU",
            ),
            words(
                "torch/export/exported_program.py",
                "Example inputs should be a tuple containing example arguments",
            ),
            words("torch/export/_trace.py", "Total number of arg names is expected to be "),
        ),
        apart_from=(
            "export_dynamic_shapes_wrong",
            "export_example_outside_dims",
        ),
    ),
    Signature(
        id="export_mutation_or_alias",
        phase="export",
        category="lowering_error",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "Encountered (?P<what>(?:duplicated?|aliased) inputs that are mutated in the graph)",
            "Error: (?P<what>.{0,160}(?:banned|supported) in the aot_export workflow)",
            "Error: (?P<what>.{0,160}aot_export is not currently supported)",
            "Error: (?P<what>.{0,160}aot_export_joint_simple (?:does|requires))",
            "(?P<what>cannot mutate tensors with frozen storage)",
            "(?P<what>Unsupported(?:AliasMutation|MutationAliasing)Exception)",
            r"(?P<what>Constant \S{1,80} is mutated in the forward method)",
            "(?P<what>Mutating module attribute .{1,80} during export)",
            (
                "(?P<what>ValueError: The tensor attributes? .{1,120} (?:was|were) assigned during "
                "export)"
            ),
            "(?P<what>mutate the autocast state)",
            "(?P<what>Metadata mutations are currently not allowed)",
            "(?P<what>trying to change global autograd state while exporting)",
            "(?P<what>functionalizing operators whose outputs do not have alias)",
            r"(?P<what>\(non-ATen\) operator whose output has alias annotations)",
            "(?P<what>Found <class .{1,100}in output, which is not a known type)",
            r"(?P<what>\.\w{1,200}\(\) is not supported for tensor subclasses)",
            r"(?P<what>Cannot access data pointer of Tensor \(e\.g\. )",
            "(?P<what>erroneously tracing into a custom kernel)",
        ),
        summary="AOTAutograd cannot make the model functional: {what}",
        means=(
            "Export turns the model into a graph without side effects, on tensors without data. "
            "Inputs that are passed twice and written to, attributes written in forward, odd "
            "output types, and C or numpy code that wants the bytes do not fit into one."
        ),
        check="ep = torch.export.export(...) alone fails the same way",
        fixes=(
            fix("Clone what is written to, or pass two different tensors as examples"),
            fix("register_buffer what forward changes; return tensors in plain containers"),
            fix("Wrap code that wants the data (numpy, data_ptr) into a torch.library.custom_op"),
        ),
        guide="guides/lowering-and-cpp.md#export-errors",
        matches=(
            quoted(
                "RuntimeError:         Encountered aliased inputs that are mutated in the graph you are trying to export.",
                "words of torch/_functorch/_aot_autograd/runtime_wrappers.py",
            ),
            quoted(
                "RuntimeError: Found a graph input that requires gradients, and received a mutation. This is currently banned in the aot_export workflow.",
                "words of torch/_functorch/aot_autograd.py",
            ),
            quoted(
                "RuntimeError: cannot mutate tensors with frozen storage", "words of libtorch_cpu"
            ),
            quoted(
                "torch._higher_order_ops.utils.UnsupportedAliasMutationException: true_fn might be modifying the input!",
                "words of torch/_higher_order_ops/utils.py",
            ),
            recorded(
                "RuntimeError: Found <class 'object'> in output, which is not a known type. If this type holds tensors, you need to register a pytree for it.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: .numpy() is not supported for tensor subclasses.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: Cannot access data pointer of Tensor (e.g. FakeTensor, FunctionalTensor). If you're using torch.compile/export/fx, it is likely that we are erroneously tracing into a custom kernel.",
                "torch 2.13.0, CPU",
            ),
            words(
                "torch/_functorch/aot_autograd.py",
                "Error: aot_export is not currently supported",
                "Error: aot_export_joint_simple does",
            ),
            words("torch/_export/utils.py", "Constant x is mutated in the forward method"),
            words(
                "programs that were not at hand",
                "Mutating module attribute x during export",
                "ValueError: The tensor attribute x was assigned during export",
            ),
            words(
                "torch/_functorch/_aot_autograd/collect_metadata_analysis.py",
                "mutate the autocast state",
                "Metadata mutations are currently not allowed",
            ),
            words(
                "torch/export/_safeguard.py",
                "trying to change global autograd state while exporting",
            ),
            words(
                "libtorch",
                "functionalizing operators whose outputs do not have alias",
                "(non-ATen) operator whose output has alias annotations",
            ),
        ),
        neighbours=(
            quoted(
                "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.",
                "eager autograd says it too",
            ),
            recorded(
                "[E1121 05:31:40.677208367 shim_common.cpp:274] Exception in aoti_torch: Cannot access data pointer of Tensor that doesn't have storage",
                "torch 2.11, H200: at run time, after a custom operator raised",
            ),
        ),
    ),
    Signature(
        id="export_not_serializable",
        phase="package",
        category="lowering_error",
        tier=Tier.GENERAL_TEXT,
        patterns=(
            (
                "SerializeError: (?!We failed to resolve|Serialized schema version|Failed "
                "deserializing|Unable to deserialize)(?P<what>.{1,160})"
            ),
            "(?P<what>Failed serializing node .{1,120})",
            "(?P<what>.{1,80} is not supported in export serialization)",
            "(?P<what>FX.Node's args should have one arg)",
            "(?P<what>Unimplemented graph input type.{0,80})",
        ),
        summary="The exported program cannot be written down: {what}",
        means=(
            "A node takes or returns something that the file format has no form for: a Python "
            "object, an operator of no library, a list of an unusual type."
        ),
        check="torch.export.save(ep, buffer) alone fails the same way",
        fixes=(
            fix("Take the named node out of the model, or turn it into a custom operator"),
            fix("Compile ep directly, without torch.export.save between"),
        ),
        guide="guides/lowering-and-cpp.md#export-errors",
        matches=(
            quoted(
                "torch._export.serde.serialize.SerializeError: Failed serializing node add in graph:",
                "words of torch/_export/serde/serialize.py",
            ),
            quoted(
                "torch._export.serde.serialize.SerializeError: Unsupported argument type: <class 'slice'> with schema arg_type int",
                "words of torch/_export/serde/serialize.py",
            ),
            quoted(
                "AssertionError: <built-in function len> is not supported in export serialization.",
                "words of torch/_export/serde/serialize.py",
            ),
            words(
                "torch/_export/serde/serialize.py",
                "FXxNode's args should have one arg",
                "Unimplemented graph input typex",
            ),
        ),
        apart_from=(
            "custom_op_unresolved",
            "exported_program_of_other_torch",
        ),
    ),
    Signature(
        id="export_unsupported",
        phase="export",
        category="lowering_error",
        tier=Tier.BROAD_TEXT,
        patterns=(
            "Dynamo failed to run FX node with fake tensors",
            r"torch\._dynamo\.exc\.Unsupported",
            r"torch\._dynamo\.exc\.UserError",
            r"torch\._dynamo\.exc\.TorchRuntimeError",
            r"torch\._dynamo\.exc\.InternalTorchDynamoError",
            r"torch\._dynamo\.exc\.CondOpArgsMismatchError",
            r"torch\._dynamo\.exc\.UnsafeScriptObjectError",
            r"torch\._dynamo\.exc\.Observed\w{1,200}",
            r"torch\._dynamo\.exc\.\w{1,60}Error: ",
            "Dynamic control flow is not supported",
            r"error above occurred when calling torch\.export\.export",
            "^(?:TorchRuntimeError|InternalTorchDynamoError): ",
            r"WARNING: [0-9]{1,200} issue\(s\) found during export",
            "Tried to emit a second graph during export",
        ),
        summary="torch.export could not trace the model; AOTInductor was not reached",
        means=(
            "The Python code of the model does something that cannot be captured: data-dependent "
            "branches, unsupported libraries, side effects."
        ),
        check="torch.export.draft_export lists all such places at once",
        fixes=(fix("Rewrite the named line, or wrap it in torch.cond or a custom op"),),
        guide="guides/lowering-and-cpp.md#export-errors",
        matches=(
            words(
                "torch/_dynamo/utils.py",
                "Dynamo failed to run FX node with fake tensors: call_function f",
            ),
            recorded("The error above occurred when calling torch.export.export. If", "torch 2.13"),
            quoted(
                "torch._dynamo.exc.Unsupported: Dynamic control flow is not supported",
                "common form",
            ),
            recorded(
                "torch._dynamo.exc.TorchRuntimeError: RuntimeError when making fake tensor call",
                "torch 2.13.0, CPU, strict=True",
            ),
            quoted(
                "TorchRuntimeError: Failed running call_function <built-in function linear>(*(FakeTensor(..., size=(s6, 3)),), **{}):",
                "the last line in a notebook",
            ),
            words("torch/export/__init__.py", "torch._dynamo.exc.UserError"),
            words(
                "torch/_dynamo/variables/functions.py", "torch._dynamo.exc.InternalTorchDynamoError"
            ),
            words("torch/_higher_order_ops/cond.py", "torch._dynamo.exc.CondOpArgsMismatchError"),
            words(
                "programs that were not at hand",
                "torch._dynamo.exc.UnsafeScriptObjectError",
                "torch._dynamo.exc.Observedx",
            ),
            words("torch/export/_draft_export.py", "WARNING: 1 issue(s) found during export"),
            words("torch/_dynamo/eval_frame.py", "Tried to emit a second graph during export"),
        ),
    ),
    Signature(
        id="exported_program_misused",
        phase="export",
        category="user_code",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "(?P<what>Unable to call ExportedProgram directly)",
            r"(?P<what>Unable to set ExportedProgram's \w{1,200} attribute)",
            "(?P<what>parameter must be an instance of 'ExportedProgram')",
            r"(?P<what>Calling (?:train|eval)\(\) is not supported yet)",
        ),
        summary="An exported program is not used as one: {what}",
        means=(
            "It is a record, not a module: call ep.module(), leave its fields alone, and choose "
            "train or eval mode before the export."
        ),
        fixes=(fix("y = ep.module()(x); model.eval() goes before torch.export.export"),),
        guide="guides/lowering-and-cpp.md#calling-the-api-wrongly",
        matches=(
            recorded(
                "RuntimeError: Unable to call ExportedProgram directly. You should use `exported_program.module()` instead.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: Unable to set ExportedProgram's graph attribute.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "TypeError: The 'ep' parameter must be an instance of 'ExportedProgram', got 'Linear' instead.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "NotImplementedError: Calling train() is not supported yet.", "torch 2.13.0, CPU"
            ),
        ),
    ),
    Signature(
        id="exported_program_of_other_torch",
        phase="load",
        category="package_incompatible",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "(?P<what>Serialized schema version .{1,80} does not match our current schema version)",
            "(?P<what>Failed deserializing node .{1,120})",
            "(?P<what>Unable to deserialize output node)",
            r"(?P<what>\w{1,200} is not a valid tag for \w{1,200}\. Available tags)",
            "(?P<what>Unable to load outdated profile)",
        ),
        summary="The exported program was saved by a torch that this one does not read: {what}",
        means=(
            "The format of torch.export.save has a version, and fields and operators come and go "
            "between releases."
        ),
        check="torch.__version__ where it was saved and here",
        fixes=(
            fix("Export again with this torch, or load it with the one that saved it"),
            fix("Send the compiled .pt2 package rather than the exported program"),
        ),
        guide="guides/package-and-load.md#torch-versions-of-both-sides",
        next_tool="check_environment",
        matches=(
            recorded(
                "torch._export.serde.serialize.SerializeError: Serialized schema version SchemaVersion(major=99, minor=20) does not match our current schema version (8, 20).",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "AssertionError: as_new is not a valid tag for Argument. Available tags: as_none",
                "words of torch/_export/serde/union.py",
            ),
            words(
                "torch/_export/serde/serialize.py",
                "Failed deserializing node x",
                "Unable to deserialize output node",
            ),
            words("torch/_library/fake_profile.py", "Unable to load outdated profile"),
        ),
    ),
    Signature(
        id="exported_weights_wrong",
        phase="load",
        category="constants_mismatch",
        tier=Tier.SPECIFIC_TEXT,
        confidence="possible",
        patterns=(
            (
                r"SpecViolationError: (?P<what>State dict entry for \w{1,200} \S{1,120} is not an "
                r"instance of \S{1,60})"
            ),
            (
                r"SpecViolationError: (?P<what>(?:Parameter|Buffer) \S{1,120} is not in the state "
                "dict)"
            ),
        ),
        summary="The weights of the exported program are not those of its signature: {what}",
        means=(
            "The state dict that came with the program lacks an entry or holds plain tensors where "
            "parameters belong: it was replaced, quantised, or saved by another torch."
        ),
        check="Load it with the torch that saved it",
        fixes=(
            fix("Export again with this torch; set weights on the module before the export"),
            fix("Where you replace entries, keep their names and wrap them in nn.Parameter"),
        ),
        guide="guides/constants.md#wrong-shape-or-dtype",
        matches=(
            quoted(
                "torch._export.verifier.SpecViolationError: State dict entry for parameter fc.weight is not an instance of torch.nn.Parameter.",
                "words of torch/_export/verifier.py",
            ),
            recorded(
                "torch._export.verifier.SpecViolationError: Buffer b is not in the state dict.",
                "torch 2.13.0, CPU",
            ),
        ),
        apart_from=("export_graph_invalid",),
    ),
    Signature(
        id="loader_arguments_exclusive",
        phase="load",
        category="user_code",
        tier=Tier.EXACT_TEXT,
        confidence="proved",
        patterns=(
            "(?P<what>allow_h2d_copy is not supported with user_managed)",
            "(?P<what>num_runners must be 1 when run_single_threaded is true)",
            "(?P<what>num_runners must be >=1 when run_single_threaded is false)",
        ),
        summary="Arguments of the loader exclude each other: {what}",
        means=(
            "user_managed keeps your pointers while allow_h2d_copy copies; single-threaded mode "
            "has one runner."
        ),
        fixes=(fix("Drop one of the two arguments"),),
        guide="guides/lowering-and-cpp.md#calling-the-api-wrongly",
        matches=(
            recorded(
                "RuntimeError: load_constants: allow_h2d_copy is not supported with user_managed",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "RuntimeError: num_runners must be 1 when run_single_threaded is true",
                "words of the package loader",
            ),
            words("libtorch", "num_runners must be >=1 when run_single_threaded is false"),
        ),
    ),
    Signature(
        id="opened_by_wrong_function",
        phase="load",
        category="user_code",
        tier=Tier.GENERAL_TEXT,
        confidence="possible",
        patterns=(
            (
                r"(?P<what>PytorchStreamReader failed locating file (?:data\.pkl|constants\.pkl|"
                r"archive_format|models/\S{1,80}))"
            ),
            (
                r"(?P<what>Unable to load package\. (?:Path|f) must be a buffer or a file ending "
                r"in \.pt2)"
            ),
        ),
        summary="The file is of another kind than this function reads: {what}",
        means=(
            "torch.load and torch.jit.load read checkpoints and TorchScript, aoti_load_package "
            "reads .pt2 packages, torch._export.aot_load a bare .so. The text about corruption is "
            "misleading then."
        ),
        check="unzip -l FILE",
        fixes=(
            fix(
                (
                    "Load a compiled .pt2 with torch._inductor.aoti_load_package, an exported "
                    "program with torch.export.load"
                ),
            ),
        ),
        guide="guides/package-and-load.md#not-an-aoti-package",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: PytorchStreamReader failed locating file data.pkl:",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: PytorchStreamReader failed locating file constants.pkl:",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "torch/export/pt2_archive/_package.py:1121] Unable to load package. f must be a buffer or a file ending in .pt2.",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "AssertionError: Unable to load package. Path must be a buffer or a file ending in .pt2. Instead got model.bin",
                "words of the 2.6 and 2.7 loader",
            ),
        ),
        neighbours=(
            quoted(
                "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory",
                "another failure",
            ),
        ),
    ),
    Signature(
        id="export_constraints_violated",
        phase="export",
        category="lowering_error",
        role="envelope",
        tier=Tier.KIND_TEXT,
        patterns=(r"Constraints violated \((?P<dims>[^)]{1,200})\)!",),
        summary="torch.export cannot keep the dynamic dimensions {dims}",
        means=(
            "The heading of one or more reasons: the lines below say what each dimension breaks, "
            "`Suggested fixes` what would do."
        ),
        fixes=(fix("Read the lines below and take the suggested Dims"),),
        guide="guides/dynamic-shapes.md#constraint-violations",
        matches=(
            recorded(
                'torch._dynamo.exc.UserError: Constraints violated (b)! For more information, run with TORCH_LOGS="+dynamic".',
                "torch 2.13.0, CPU",
            ),
        ),
    ),
    Signature(
        id="export_data_dependent",
        phase="export",
        category="lowering_error",
        tier=Tier.EXACT_TEXT,
        confidence="proved",
        patterns=(
            "(?P<expression>guard_size_oblivious would fix the error)",
            r"Could not guard on data-dependent expression (?P<expression>.{1,120}?) \(unhinted",
            (
                "Could not extract specialized integer from data-dependent expression "
                r"(?P<expression>.{1,120}?) \(unhinted"
            ),
            "Could not guard on data-dependent expression (?P<expression>.{1,120})",
            (
                "Could not extract specialized integer from data-dependent expression "
                "(?P<expression>.{1,120})"
            ),
        ),
        summary="The model branches on a value known only at run time: {expression}",
        means=(
            "A size or bool comes from data (item(), nonzero(), a mask), so tracing cannot decide "
            "the branch."
        ),
        fixes=(
            fix(
                (
                    "State what is always true before it: torch._check(u >= 2), or use "
                    "guard_or_false / torch.cond"
                ),
            ),
            fix("Or move the data-dependent part out of the model"),
        ),
        guide="guides/dynamic-shapes.md#data-dependent-sizes",
        matches=(
            words(
                "torch/fx/experimental/symbolic_shapes.py",
                "ATTENTION: guard_size_oblivious would fix the error, evaluating expression to False.",
            ),
            recorded(
                "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode: Could not guard on data-dependent expression Eq(u0, 1) (unhinted:",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "GuardOnDataDependentSymNode: Could not extract specialized integer from data-dependent expression u0 (unhinted: u0)",
                "words of symbolic_shapes.py",
            ),
        ),
    ),
    Signature(
        id="export_dynamic_shapes_wrong",
        phase="export",
        category="lowering_error",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "(?P<what>mismatch between the structure of `[^`]{1,60}` and `dynamic_shapes`)",
            (
                "(?P<what>When `dynamic_shapes` is specified as a dict, its top-level keys must be "
                "the arg names)"
            ),
            "(?P<what>Expected dynamic shape spec.{1,200}at `dynamic_shapes)",
            "(?P<what>Unexpected input tensor shape.{1,200}at `dynamic_shapes)",
            "(?P<what>Unexpected dimension.{1,200}at `dynamic_shapes)",
            "(?P<what>Cannot associate shape.{1,200}at `dynamic_shapes)",
            r"(?P<what>`spec\['dynamic_shapes'\]`)",
            "(?P<what>Unable to specify input integers as dynamic through named Dims)",
            "(?P<what>Found different definitions .{1,160} for the same symbolic dimension)",
            "(?P<what>Must provide a tree_name when there might be a mismatch)",
            "(?P<what>Cannot be a mismatch if there is no dynamic_shapes)",
            "(?P<what>expected dynamic_shape to be None, int, or _DimHint for _IntWrapper)",
            "(?P<what>Some tensors that were assigned shapes were not found in args)",
            "(?P<what>Shapes assigned to input do not match)",
            "(?P<what>differing types, so they cannot be marked as dynamic)",
            "(?P<what>Only increasing linear operations with integer coefficients are supported)",
            "(?P<what>Cannot create Dim with inconsistent min=)",
            "(?P<what>Dim name must be a valid identifier)",
            "(?P<what>Expected derived (?:min|max) value of .{1,80} to be [<>]=)",
        ),
        summary="dynamic_shapes does not fit the example inputs: {what}",
        means=(
            "dynamic_shapes mirrors the structure and the names of the inputs: one entry for each "
            "tensor, with as many dimensions, None for what is no tensor."
        ),
        check="torch.export.export without dynamic_shapes passes",
        fixes=(
            fix(
                (
                    "Mirror the inputs: args=(x,), dynamic_shapes={{'x': {{0: Dim('b', min=1, "
                    "max=64)}}}}"
                ),
            ),
            fix("Let torch write it: torch.export.ShapesCollection or AdditionalInputs"),
        ),
        guide="guides/lowering-and-cpp.md#calling-the-api-wrongly",
        matches=(
            recorded(
                "torch._dynamo.exc.UserError: Detected mismatch between the structure of `inputs` and `dynamic_shapes`: `inputs` has 2 elements, but `dynamic_shapes` has 1 elements",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "torch._dynamo.exc.UserError: When `dynamic_shapes` is specified as a dict, its top-level keys must be the arg names",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "torch._dynamo.exc.UserError: Expected dynamic shape spec (Dim('a', min=0),) specified at `dynamic_shapes['x']` to have the same length as the actual tensor shape torch.Size([4, 4]) (expected 2, but got 1 instead)",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "torch._dynamo.exc.UserError: Unexpected dimension mapped to index 0 in input tensor shape {0: 'a'} specified at `dynamic_shapes['x']` (expected None, an int, a Dim, Dim.AUTO, Dim.STATIC, or Dim.DYNAMIC,  but got 'a' instead)",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "ValueError: Unable to specify input integers as dynamic through named Dims. Please use Dim.AUTO/DYNAMIC instead.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "torch._dynamo.exc.UserError: Found different definitions Dim('a', min=0, max=9) and Dim('a', min=0, max=10) for the same symbolic dimension Dim('a', min=0, max=10)!",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "NotImplementedError: Attempted to add 0.5 to a, where an integer was expected. (Only increasing linear operations with integer coefficients are supported.)",
                "words of torch/export/dynamic_shapes.py",
            ),
            words(
                "torch/export/dynamic_shapes.py",
                "Unexpected input tensor shapexat `dynamic_shapes",
                "Cannot associate shapexat `dynamic_shapes",
                "Must provide a tree_name when there might be a mismatch",
                "Cannot be a mismatch if there is no dynamic_shapes",
                "expected dynamic_shape to be None, int, or _DimHint for _IntWrapper",
                "Some tensors that were assigned shapes were not found in args",
                "Shapes assigned to input do not match",
                "differing types, so they cannot be marked as dynamic",
                "Cannot create Dim with inconsistent min=",
                "Dim name must be a valid identifier",
            ),
            words(
                "torch/_export/serde/dynamic_shapes.py",
                "`spec['dynamic_shapes']`",
                "Expected derived min value of x to be <=",
            ),
        ),
        apart_from=("export_example_outside_dims",),
    ),
    Signature(
        id="export_example_outside_dims",
        phase="export",
        category="lowering_error",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                r"(?:ConstraintViolationError|UserError): (?P<what>-?\d{1,20} not in range "
                r"\[[^\]]{1,60}\])"
            ),
            (
                r"(?:ConstraintViolationError|UserError): (?P<what>Expected shape\[\d{1,20}\] = "
                r"\d{1,20} of input \S{0,40} ?to be of the form [^,]{1,60})"
            ),
            (
                r"(?:ConstraintViolationError|UserError): (?P<what>L\[.{1,80} = \d{1,20} is not "
                r"equal to L\[.{1,80})"
            ),
            (
                r"(?:ConstraintViolationError|UserError): (?P<what>Expected input L\[.{1,120} to "
                r"be equal to [^,]{1,60}, where .{1,60}, but got \d{1,20})"
            ),
            "(?:ConstraintViolationError|UserError): (?P<what>Static shape constraint of .{1,160})",
            r"(?P<what>ValueRangeError: Invalid value -?\d{1,20} for range \[.{1,60})",
            "(?P<what>The following inconsistencies were found)",
        ),
        summary="The example inputs of torch.export do not lie in the Dims given for them: {what}",
        means=(
            "Sizes that share a Dim must be equal in the examples too, a derived Dim must come out "
            "even, and each size must lie in the range of its Dim."
        ),
        fixes=(
            fix("Choose examples that satisfy the Dims, or widen min and max"),
            fix("Give sizes that differ a Dim each"),
        ),
        guide="guides/dynamic-shapes.md#constraint-violations",
        matches=(
            recorded(
                "torch.fx.experimental.symbolic_shapes.ConstraintViolationError: 8 not in range [2, 4]",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "torch._dynamo.exc.UserError: Expected shape[0] = 9 of input Tensor to be of the form 2*k, where k is an integer",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "torch._dynamo.exc.UserError: L['y'].size()[0] = 5 is not equal to L['x'].size()[0] = 4",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "torch._dynamo.exc.UserError: Expected input L['y'].size()[0] to be equal to 2*a, where a = 4, but got 6",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "torch.fx.experimental.symbolic_shapes.ValueRangeError: Invalid value 9 for range [2:5]",
                "words of symbolic_shapes.py",
            ),
            words(
                "programs that were not at hand",
                "ConstraintViolationError: Static shape constraint of x",
            ),
            words(
                "torch/fx/experimental/symbolic_shapes.py",
                "The following inconsistencies were found",
            ),
        ),
        apart_from=(
            "guard_failed",
            "exported_size_guard",
        ),
    ),
    Signature(
        id="export_guard_unsatisfied",
        phase="export",
        category="lowering_error",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "Not all values of (?P<dim>.{1,200}?) (?P<guard>satisfy the generated guard .{1,160})",
            "(?P<guard>(?P<dim>The following dimensions) have been specialized and CANNOT be dynamic)",
            (
                "Not all values of (?P<dim>.{1,80}?) = .{1,80}? in the specified range "
                "(?P<guard>satisfy the generated guard .{1,160})"
            ),
            (
                "Not all values of (?P<dim>.{1,80}?) = .{1,80}? in the specified range "
                "(?P<guard>are valid because .{1,160})"
            ),
            (
                r"The values of (?P<dim>.{1,80}?) = .{1,120}? (?P<guard>and \S{1,60} = L\[.{1,80}"
                "must always be (?:equal|related to .{1,160}))"
            ),
            (
                "The values of (?P<dim>.{1,80}?) = .{1,120}? (?P<guard>must always be (?:equal|"
                "related to .{1,160}))"
            ),
        ),
        summary="The model only works for some sizes of {dim}: {guard}",
        means=(
            "The traced code needs more of the size than the Dim promises, such as divisibility or "
            "a larger minimum."
        ),
        fixes=(
            fix("Take the Dim of `Suggested fixes` (2*_b for an even size, min=5 for a minimum)"),
            fix("Give sizes that must be equal one Dim together, or remove the code that needs it"),
        ),
        guide="guides/dynamic-shapes.md#constraint-violations",
        matches=(
            words(
                "torch/fx/experimental/symbolic_shapes.py",
                "The following dimensions have been specialized and CANNOT be dynamic.",
            ),
            recorded(
                "  - The values of b = L['y'].size()[0] and a = L['x'].size()[0] must always be equal.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "  - Not all values of b = L['a'][0].size()[0] in the specified range satisfy the generated guard 5 <= L['a'][0].size()[0] and L['a'][0].size()[0] <= IntInfinity()",
                "torch 2.13.0, CPU",
            ),
            words(
                "programs that were not at hand",
                "Not all values of x = x in the specified range are valid because x",
            ),
        ),
        apart_from=("export_constraints_violated",),
    ),
    Signature(
        id="export_needs_a_value",
        phase="export",
        category="lowering_error",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            r"(?P<what>(?:DataDependentOutput|DynamicOutputShape)Exception: \S{1,120})",
            r"(?P<what>Unsupported: Data-dependent branching(?! \(no meta))",
            r"(?P<what>Unsupported: Data-dependent assertion failed(?! \(no meta))",
            r"(?P<what>Unsupported: Data dependent operator(?! \(no meta))",
            r"(?P<what>Unsupported: Dynamic shape operator(?! \(no meta))",
            "(?P<what>GuardOnDataDependentSymNode: .{1,160})",
            r"(?P<what>data dependent operator: \S{1,120})",
            r"(?P<what>dynamic shape operator: \S{1,120})",
            r"(?P<what>aten[:.]{1,2}_local_scalar_dense\S{0,20}: attempted)",
            (
                "(?P<what>'aten::_local_scalar_dense' with arguments from the '(?:Meta|FakeTensor)"
                "' backend)"
            ),
            r"(?P<what>\w{1,200}\.item\(\) cannot be called on meta tensors)",
            "(?P<what>local_scalar_dense/item NYI)",
            r"UserError: (?P<what>Consider annotating your code using torch\._check\*\(\).{0,160})",
        ),
        summary="Tracing needs a number that is known only at run time: {what}",
        means=(
            "item(), int(), a Python branch, torch.equal or nonzero ask a tensor for its data, and "
            "while exporting tensors have none."
        ),
        check="The operator that is named belongs to ATen",
        fixes=(
            fix("Replace the branch by torch.where or torch.cond"),
            fix("Compute the number outside the model and pass it in"),
        ),
        guide="guides/dynamic-shapes.md#data-dependent-sizes",
        matches=(
            recorded(
                "torch._subclasses.fake_tensor.DataDependentOutputException: aten.equal.default",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "torch._dynamo.exc.Unsupported: Data-dependent branching",
                "torch 2.13.0, CPU, strict=True",
            ),
            recorded(
                "torch._dynamo.exc.UserError: Consider annotating your code using torch._check*(). Could not guard on data-dependent expression u0 > 3 (unhinted: u0 > 3).",
                "torch 2.13.0, CPU, strict=True",
            ),
            quoted("RuntimeError: Tensor.item() cannot be called on meta tensors", "words of ATen"),
            words(
                "programs that were not at hand",
                "Unsupported: Data-dependent assertion failed",
                "Unsupported: Data dependent operator",
                "Unsupported: Dynamic shape operator",
                "data dependent operator: x",
                "dynamic shape operator: x",
                "'aten::_local_scalar_dense' with arguments from the 'Meta' backend",
            ),
            words("torch/fx/experimental/_size_hinting.py", "GuardOnDataDependentSymNode: x"),
            words("torch/_meta_registrations.py", "aten._local_scalar_dense: attempted"),
            words("torch/_subclasses/fake_impls.py", "local_scalar_dense/item NYI"),
        ),
        neighbours=(
            quoted("torch._dynamo.exc.Unsupported: Dynamic shape operator (no meta kernel)"),
        ),
        apart_from=("custom_op_no_fake",),
    ),
    Signature(
        id="export_specialised",
        phase="export",
        category="lowering_error",
        tier=Tier.NAMED_TEXT,
        patterns=(
            (
                "You marked (?P<dim>.{1,120}) as dynamic but your code specialized it to be a "
                r"constant \((?P<value>\d{1,20})\)"
            ),
        ),
        summary="{dim} was meant to be dynamic, but the model fixes it at {value}",
        means=(
            "The example has size 0 or 1 there, or the code uses the size as a number (reshape "
            "with literals, int(x.shape[0]), a Python branch). With Dim.AUTO the same happens "
            "silently and other sizes give wrong results."
        ),
        check="Is the constant the example's size and 1? Then take an example of at least 2.",
        fixes=(
            fix("Export with an example of size 2 or more in {dim}"),
            fix("Replace literals by -1 or x.shape[0] where the model reshapes"),
            fix("Or give Dim.STATIC there and serve only {value}"),
        ),
        guide="guides/dynamic-shapes.md#specialised-to-a-constant",
        matches=(
            recorded(
                "  - You marked b as dynamic but your code specialized it to be a constant (1).",
                "torch 2.13.0, CPU",
            ),
        ),
        apart_from=("export_guard_unsatisfied",),
    ),
    Signature(
        id="exported_size_guard",
        phase="run",
        category="contract_shape",
        tier=Tier.NAMED_TEXT,
        patterns=(
            (
                r"Guard failed: (?P<guard>[^\s%+*/()-]{1,120}\.size\(\)\[\d{1,20}\] (?:==|<=|>=|<|"
                r">) \d{1,20})$"
            ),
            (
                r"Guard failed: (?P<guard>\d{1,20} (?:==|<=|>=|<|>) [^\s%+*/()-]{1,120}"
                r"\.size\(\)\[\d{1,20}\])$"
            ),
            r"Input (?P<guard>\S{1,80}\.shape\[\d{1,20}\] is specialized at \d{1,20})",
            (
                r"Input (?P<guard>\S{1,80}\.shape\[\d{1,20}\] is outside of specified dynamic "
                r"range \[[^\]]{1,60}\])"
            ),
        ),
        summary="The exported program takes another size: {guard}",
        means=(
            "The dimension is static in the export, or this size lies outside its Dim. The package "
            "does not check it and would read memory by the exported size."
        ),
        check="Look at the dynamic_shapes given to torch.export.",
        fixes=(
            fix("Pad or crop the input to the exported size"),
            fix("Or export with that dimension dynamic, over the range that you serve"),
        ),
        guide="guides/input-contracts.md#sizes-and-rank",
        next_tool="inspect_package",
        matches=(
            recorded("AssertionError: Guard failed: x.size()[1] == 4", "torch 2.13.0, CPU"),
            recorded("AssertionError: Guard failed: x.size()[0] <= 16", "torch 2.13.0, CPU"),
            quoted(
                "RuntimeError: Input arg0_1.shape[1] is outside of specified dynamic range [4, 18]",
                "tutorial of torch 2.1",
            ),
            words("torch/export/_unlift.py", "Guard failed: 1 == x.size()[1]"),
            words("programs that were not at hand", "Input x.shape[1] is specialized at 1"),
        ),
        neighbours=(
            recorded("AssertionError: Guard failed: a_1.size()[0] == a_0.size()[0]"),
            recorded("AssertionError: Guard failed: 10 * a_0.size()[0] % 4 == 0"),
            recorded("AssertionError: Guard failed: k == 3"),
            quoted(
                "RuntimeError: Expected input *args[0].shape[0] = 9 to be of the form 2*s0, where s0 is an integer",
                "words of torch/_export/utils.py",
            ),
        ),
        apart_from=("constant_argument_changed",),
    ),
    Signature(
        id="negative_size_while_tuning",
        phase="autotune",
        category="autotune_error",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                r"Storage size calculation overflowed with sizes=\[(?P<sizes>[^\]]{0,80}"
                r"-\d[^\]]{0,80})\]"
            ),
        ),
        summary="A tensor of sizes [{sizes}] was to be allocated: a size is negative",
        means=(
            "Inductor guesses sizes that come from data independently, so a difference of two can "
            "be negative in the tuning block (or at run time, from a wrong assertion)."
        ),
        fixes=(
            fix("Bound the data-dependent size with torch._check(u0 <= x.shape[0]) before export"),
            fix("Upgrade torch"),
        ),
        guide="guides/dynamic-shapes.md#negative-sizes-while-tuning",
        matches=(
            quoted(
                "RuntimeError: Storage size calculation overflowed with sizes=[-1008, 64] and strides=[64, 1]",
                "pytorch/pytorch#190589",
            ),
        ),
        neighbours=(
            quoted(
                "RuntimeError: Storage size calculation overflowed with sizes=[9223372036854775807]",
                "another failure",
            ),
        ),
    ),
    Signature(
        id="runtime_assert",
        phase="run",
        category="contract_guard",
        tier=Tier.NAMED_TEXT,
        patterns=(
            (
                r"Expected (?P<condition>.{0,80}\b[suz]\d{1,20}\b.{0,80} but received (?:-?\d{1,20}"
                "|True|False|[0-9.eE+-]{1,200}))"
            ),
            "Runtime assertion failed for expression (?P<condition>.{1,200} on node '[^']{1,80}')",
            r"Invalid value range for (?P<condition>-?\d{1,20} between \[-?\d{1,20}, -?\d{1,20}\])",
        ),
        summary="A size taken from the inputs breaks an assertion of the model: {condition}",
        means=(
            "torch.export recorded this condition (from torch._check or from how the size is used) "
            "and the package checks it. A lower bound of 2 often only comes from the exporter's "
            "assumption that sizes are not 0 or 1."
        ),
        check="Run ep.module() on the same input: it names the graph node.",
        fixes=(
            fix(
                (
                    "Keep the data in the range, or change the torch._check or the slice that "
                    "states it"
                ),
            ),
            fix(
                (
                    "A bound of 2: export under torch.fx.experimental._config.patch("
                    "backed_size_oblivious=True), or compile with TORCHINDUCTOR_SCALAR_ASSERTS=0; "
                    "torch._check(u >= 0) does not lower it"
                ),
            ),
        ),
        guide="guides/dynamic-shapes.md#runtime-asserts",
        next_tool="triage",
        matches=(
            recorded("RuntimeError: Expected u0 <= 6 but received 10", "torch 2.13.0, CPU"),
            recorded("RuntimeError: Expected u1 >= 2 but received 1", "torch 2.13.0, CPU"),
            quoted("Expected u0 < s17 but received 4", "pytorch/pytorch#150539"),
            recorded(
                "RuntimeError: Runtime assertion failed for expression u0 < s10 on node 'lt_1'",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: Invalid value range for 9 between [2, 5].",
                "torch 2.13.0, CPU, aten.sym_constrain_range",
            ),
        ),
        neighbours=(
            quoted("Expected 2 arguments but received 3", "an ordinary API"),
            quoted("ValueError: Expected target size [4, 10], got [4, 12]", "another failure"),
        ),
    ),
    Signature(
        id="unbacked_symbol_lost",
        phase="lower",
        category="lowering_error",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            r"(?P<what>Pending unbacked symbols \{[^}]{1,120}\} not in returned outputs)",
            "AttributeError: (?P<what>'(?:float|int|bool)' object has no attribute 'node')",
            r"AssertionError: (?P<what>Eq\(.{1,160}\) is not solvable)",
            r"^(?P<what>Eq\(.{1,160}\) is not solvable)",
        ),
        summary="Inductor lost track of a size symbol: {what}",
        means=(
            "A size that comes from data or from a formula cannot be tied to a tensor: item() "
            "evaluated to a number, a fake kernel that does not return its new size, or a "
            "dimension that is a formula only."
        ),
        fixes=(
            fix(
                (
                    "Remove .item() from the model, or state the size with torch._check and use it "
                    "in an output"
                ),
            ),
            fix("In a fake kernel take sizes from torch.library.get_ctx().new_dynamic_size()"),
            fix("Give the basic size a dimension of its own; upgrade torch"),
        ),
        guide="guides/dynamic-shapes.md#data-dependent-sizes",
        matches=(
            quoted(
                "torch.fx.experimental.symbolic_shapes.PendingUnbackedSymbolNotFound: Pending unbacked symbols {u1} not in returned outputs",
                "words of symbolic_shapes.py",
            ),
            quoted(
                "AttributeError: 'float' object has no attribute 'node'",
                "opendatalab/DocLayout-YOLO#177",
            ),
            quoted(
                "AssertionError: Eq(s0**2 + s0, arg0_1_size_0) is not solvable",
                "words of cpp_wrapper_cpu.py",
            ),
            words("programs that were not at hand", "Eq(x) is not solvable"),
        ),
        apart_from=("api_misuse",),
    ),
    Signature(
        id="undeclared_size_symbol",
        phase="cpp_compile",
        category="cpp_error",
        tier=Tier.EXACT_TEXT,
        confidence="proved",
        patterns=(
            r"error: ['‘](?P<symbol>[suz]\d{1,20})['’] was not declared in this scope",
            r"error: use of undeclared identifier '(?P<symbol>[suz]\d{1,20})'",
        ),
        summary="The generated C++ uses the size symbol {symbol} without defining it",
        means=(
            "Inductor lost the definition of a dynamic size: derived Dims (2*s1), inputs that "
            "share one Dim, or a deferred assertion that still names a merged symbol."
        ),
        check="Is the name s or u with a number? Then it is a dynamic size.",
        fixes=(
            fix("Give each input its own Dim, or replace a derived Dim by an independent one"),
            fix("Upgrade torch"),
        ),
        guide="guides/dynamic-shapes.md#derived-and-shared-dims",
        next_tool="minify",
        matches=(
            quoted("error: 's1' was not declared in this scope", "pytorch/pytorch#145500"),
            quoted("error: use of undeclared identifier 's77'", "pytorch/pytorch#184624"),
            recorded(
                "u.cpp:3:62: error: ‘u1’ was not declared in this scope; did you mean ‘u0’?",
                "g++ 12 on a file of ours",
            ),
        ),
        neighbours=(
            quoted("error: 'int_array_6' was not declared in this scope", "another failure"),
            quoted("error: use of undeclared identifier 'stream0'", "another failure"),
        ),
    ),
)
