"""Exporting, and calls of the export and compile functions with the wrong things."""

from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURES = (
    Signature(
        id="export_inputs_wrong",
        family="B",
        phase="export",
        category="lowering_error",
        weight=76,
        anchors=(
            "Expecting `args` to be a tuple of example positional inputs",
            "Export only supports pytree containers",
            "Expected `mod` to be an instance of `torch.nn.Module`",
            "Exporting a ScriptModule is not supported",
            "Example inputs should be a tuple containing example arguments",
            "Total number of arg names is expected to be ",
        ),
        patterns=(
            (
                "Expecting `args` to be a tuple of example positional inputs|Unsupported input "
                "type <class .{1,120}Export only supports pytree containers"
            ),
            (
                "Expected `mod` to be an instance of `torch.nn.Module`|Exporting a ScriptModule "
                "is not supported|Example inputs should be a tuple containing example arguments"
                "|Total number of arg names is expected to be "
            ),
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
                "torch._dynamo.exc.UserError: Expecting `args` to be a tuple of example "
                "positional inputs, got <class 'list'>",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "ValueError: Unsupported input type <class '__main__.Cfg'>. Export only supports "
                "pytree containers",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "ValueError: Expected `mod` to be an instance of `torch.nn.Module`, got <class "
                "'function'>.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "ValueError: Exporting a ScriptModule is not supported. Maybe try converting your "
                "ScriptModule to an ExportedProgram",
                "torch 2.13.0, CPU",
            ),
        ),
        apart_from=("export_dynamic_shapes_wrong", "export_example_outside_dims"),
    ),
    Signature(
        id="export_mutation_or_alias",
        family="J",
        phase="export",
        category="lowering_error",
        weight=72,
        anchors=(
            "inputs that are mutated in the graph",
            "in the aot_export workflow",
            "aot_export is not currently supported",
            "aot_export_joint_simple ",
            "cannot mutate tensors with frozen storage",
            "UnsupportedAliasMutationException",
            "UnsupportedMutationAliasingException",
            "is mutated in the forward method. Pls register it as buffer",
            "Mutating module attribute ",
            "assigned during export",
            "mutate the autocast state",
            "Metadata mutations are currently not allowed",
            "trying to change global autograd state while exporting",
            "whose outputs do not have alias",
            "whose output has alias annotations",
            "which is not a known type. If this type holds tensors",
            "is not supported for tensor subclasses",
            "Cannot access data pointer of Tensor (e.g. ",
            "erroneously tracing into a custom kernel",
        ),
        patterns=(
            (
                r"Encountered (?P<what>(?:duplicated?|aliased) inputs that are mutated in the "
                r"graph)"
            ),
            (
                "Error: (?P<what>.{0,160}(?:(?:banned|supported) in the aot_export workflow"
                "|aot_export is not currently supported|aot_export_joint_simple (?:does|requires)))"
            ),
            (
                "(?P<what>cannot mutate tensors with frozen storage|Unsupported(?:AliasMutation"
                "|MutationAliasing)Exception|Constant \\S{1,80} is mutated in the forward method"
                "|Mutating module attribute .{1,80} during export|ValueError: The tensor "
                "attributes? .{1,120} (?:was|were) assigned during export|mutate the autocast "
                "state|Metadata mutations are currently not allowed|trying to change global "
                "autograd state while exporting)"
            ),
            (
                "(?P<what>functionalizing operators whose outputs do not have alias|\\(non-ATen"
                "\\) operator whose output has alias annotations|Found <class .{1,100}in output, "
                "which is not a known type)"
            ),
            (
                r"(?P<what>\.\w{1,200}\(\) is not supported for tensor subclasses"
                r"|Cannot access data "
                r"pointer of Tensor \(e\.g\. |erroneously tracing into a custom kernel)"
            ),
        ),
        summary="AOTAutograd cannot make the model functional: {what}",
        means=(
            "Export turns the model into a graph without side effects, on tensors without data. "
            "Inputs that are passed twice and written to, attributes written in forward, odd "
            "output types, and C or numpy code that wants the bytes do not fit into one."
        ),
        mistaken_for="An AOTInductor bug: it was not reached",
        check="ep = torch.export.export(...) alone fails the same way",
        fixes=(
            fix("Clone what is written to, or pass two different tensors as examples"),
            fix("register_buffer what forward changes; return tensors in plain containers"),
            fix("Wrap code that wants the data (numpy, data_ptr) into a torch.library.custom_op"),
        ),
        guide="guides/lowering-and-cpp.md#export-errors",
        matches=(
            quoted(
                "RuntimeError:         Encountered aliased inputs that are mutated in the graph "
                "you are trying to export.",
                "words of torch/_functorch/_aot_autograd/runtime_wrappers.py",
            ),
            quoted(
                "RuntimeError: Found a graph input that requires gradients, and received a "
                "mutation. This is currently banned in the aot_export workflow.",
                "words of torch/_functorch/aot_autograd.py",
            ),
            quoted(
                "RuntimeError: cannot mutate tensors with frozen storage", "words of libtorch_cpu"
            ),
            quoted(
                "torch._higher_order_ops.utils.UnsupportedAliasMutationException: true_fn might "
                "be modifying the input!",
                "words of torch/_higher_order_ops/utils.py",
            ),
            recorded(
                "RuntimeError: Found <class 'object'> in output, which is not a known type. If "
                "this type holds tensors, you need to register a pytree for it.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: .numpy() is not supported for tensor subclasses.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: Cannot access data pointer of Tensor (e.g. FakeTensor, "
                "FunctionalTensor). If you're using torch.compile/export/fx, it is likely that we "
                "are erroneously tracing into a custom kernel.",
                "torch 2.13.0, CPU",
            ),
        ),
        neighbours=(
            quoted(
                "RuntimeError: a leaf Variable that requires grad is being used in an in-place "
                "operation.",
                "eager autograd says it too",
            ),
            recorded(
                "[E1121 05:31:40.677208367 shim_common.cpp:274] Exception in aoti_torch: Cannot "
                "access data pointer of Tensor that doesn't have storage",
                "torch 2.11, H200: at run time, after a custom operator raised",
            ),
        ),
    ),
    Signature(
        id="export_fake_tensors_mixed",
        family="J",
        phase="export",
        category="lowering_error",
        weight=78,
        anchors=(
            "FakeTensorDeviceMismatchError",
            "Unhandled FakeTensor Device Propagation",
            "Mixing fake modes NYI",
            "Please convert all Tensors to FakeTensors first",
            "UnsupportedFakeTensorException",
            "Detected fake_mode does not have a shape_env",
            "isinstance(buffer, FakeTensor)",
            "TorchRuntimeError: Tensor device mismatch",
            "is not on the expected device meta",
        ),
        patterns=(
            (
                "(?P<what>FakeTensorDeviceMismatchError: .{1,120}|Unhandled FakeTensor Device "
                "Propagation.{0,120}|Mixing fake modes NYI|Please convert all Tensors to "
                "FakeTensors first|UnsupportedFakeTensorException|Detected fake_mode does not "
                r"have a shape_env|assert isinstance\(buffer, FakeTensor\)|TorchRuntimeError: "
                "Tensor device mismatch|Tensor on device .{1,20} is not on the expected device "
                "meta)"
            ),
        ),
        summary="While tracing, tensors met that do not belong together: {what}",
        means=(
            "Export runs the model on fake tensors. A tensor made on another device, outside the "
            "trace, or under a second fake mode does not fit among them; a failed export may "
            "leave such tensors behind in the model."
        ),
        mistaken_for="Wrong inputs of a finished package",
        fixes=(
            fix("Make constants and buffers part of the module, on the device of the model"),
            fix("Create tensors in forward with device=x.device"),
            fix("After a failed export build the model anew"),
        ),
        guide="guides/lowering-and-cpp.md#export-errors",
        matches=(
            recorded(
                "torch._subclasses.fake_tensor.FakeTensorDeviceMismatchError: Expected all "
                "tensors to be on the same device, but found at least two devices, cpu and cuda:0!",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "AssertionError: Please convert all Tensors to FakeTensors first or instantiate "
                "FakeTensorMode with 'allow_non_fake_inputs'.",
                "words of torch/_subclasses/fake_tensor.py",
            ),
        ),
    ),
    Signature(
        id="export_graph_invalid",
        family="J",
        phase="export",
        category="lowering_error",
        weight=62,
        anchors=(
            "SpecViolationError: ",
            "torch._export.error.",
            "torch._export.pass_base.",
            "ExportPassBaseError",
            "TS2EPConverter failed for node",
            "No registered serialization name for ",
            "Node referenced nonexistent target",
            "torch.fx.proxy.TraceError",
            "symbolically trace a dynamo-optimized function",
        ),
        patterns=(
            (
                r"SpecViolationError: (?!(?:State dict entry"
                r"|\w{1,200} \S{1,120} is not in the state "
                r"dict))(?P<what>.{1,160})"
            ),
            (
                r"torch\._export\.(?:error|pass_base)\.(?P<what>\w{1,200}: .{1,160})|(?P<what2>"
                "ExportPassBaseError|TS2EPConverter failed for node|No registered serialization "
                "name for |Node referenced nonexistent target|symbolically trace a "
                "dynamo-optimized function)"
            ),
            r"torch\.fx\.proxy\.TraceError: (?P<what>.{1,160})",
        ),
        summary="The exported graph breaks the rules of torch.export",
        means=(
            "Export, or a pass over its graph (decompositions, quantisation, your own), made "
            "nodes that its verifier refuses, or objects that it cannot write down."
        ),
        mistaken_for="A fault of AOTInductor, which gets the graph only after this check",
        check="Does torch.export.export pass without your passes over the graph?",
        fixes=(
            fix("Look at the node that is named, and at the pass that made it; upgrade torch"),
            fix("Give pytree classes a serialized_type_name"),
        ),
        guide="guides/lowering-and-cpp.md#export-errors",
        matches=(
            recorded(
                "torch._export.verifier.SpecViolationError: Node.meta add_1 is missing val field.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "NotImplementedError: No registered serialization name for <class '__main__.O'> "
                "found. Please update your _register_pytree_node call with a "
                "`serialized_type_name` kwarg.",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "torch.fx.proxy.TraceError: symbolically traced variables cannot be used as "
                "inputs to control flow",
                "words of torch/fx/proxy.py",
            ),
        ),
        apart_from=("exported_weights_wrong",),
    ),
    Signature(
        id="exported_weights_wrong",
        family="F",
        phase="load",
        category="constants_mismatch",
        weight=74,
        confidence="possible",
        anchors=("SpecViolationError: State dict entry", " is not in the state dict."),
        patterns=(
            (
                r"SpecViolationError: (?P<what>State dict entry for \w{1,200} \S{1,120} is not an "
                r"instance of \S{1,60}|(?:Parameter|Buffer) \S{1,120} is not in the state dict)"
            ),
        ),
        summary="The weights of the exported program are not those of its signature: {what}",
        means=(
            "The state dict that came with the program lacks an entry or holds plain tensors "
            "where parameters belong: it was replaced, quantised, or saved by another torch."
        ),
        mistaken_for="A graph that is wrong",
        check="Load it with the torch that saved it",
        fixes=(
            fix("Export again with this torch; set weights on the module before the export"),
            fix("Where you replace entries, keep their names and wrap them in nn.Parameter"),
        ),
        guide="guides/constants.md#wrong-shape-or-dtype",
        matches=(
            quoted(
                "torch._export.verifier.SpecViolationError: State dict entry for parameter "
                "fc.weight is not an instance of torch.nn.Parameter.",
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
        id="export_not_serializable",
        family="E",
        phase="package",
        category="lowering_error",
        weight=56,
        anchors=(
            "SerializeError: ",
            "Failed serializing node ",
            "is not supported in export serialization",
            "FX.Node's args should have one arg",
            "Unimplemented graph input type",
        ),
        patterns=(
            (
                "SerializeError: (?!We failed to resolve|Serialized schema version|Failed "
                "deserializing|Unable to deserialize)(?P<what>.{1,160})"
            ),
            (
                "(?P<what>Failed serializing node .{1,120}|.{1,80} is not supported in export "
                "serialization|FX.Node's args should have one arg|Unimplemented graph input type"
                ".{0,80})"
            ),
        ),
        summary="The exported program cannot be written down: {what}",
        means=(
            "A node takes or returns something that the file format has no form for: a Python "
            "object, an operator of no library, a list of an unusual type."
        ),
        mistaken_for="A missing custom operator: then the text says that it cannot be resolved",
        check="torch.export.save(ep, buffer) alone fails the same way",
        fixes=(
            fix("Take the named node out of the model, or turn it into a custom operator"),
            fix("Compile ep directly, without torch.export.save between"),
        ),
        guide="guides/lowering-and-cpp.md#export-errors",
        matches=(
            quoted(
                "torch._export.serde.serialize.SerializeError: Failed serializing node add in "
                "graph:",
                "words of torch/_export/serde/serialize.py",
            ),
            quoted(
                "torch._export.serde.serialize.SerializeError: Unsupported argument type: <class "
                "'slice'> with schema arg_type int",
                "words of torch/_export/serde/serialize.py",
            ),
            quoted(
                "AssertionError: <built-in function len> is not supported in export serialization.",
                "words of torch/_export/serde/serialize.py",
            ),
        ),
        apart_from=("custom_op_unresolved", "exported_program_of_other_torch"),
    ),
    Signature(
        id="exported_program_of_other_torch",
        family="E",
        phase="load",
        category="package_incompatible",
        weight=72,
        anchors=(
            "does not match our current schema version",
            "Failed deserializing node ",
            "Unable to deserialize output node",
            "is not a valid tag for ",
            "Unable to load outdated profile",
        ),
        patterns=(
            (
                r"(?P<what>Serialized schema version .{1,80} does not match our current "
                r"schema version|Failed deserializing node .{1,120}|Unable to deserialize output "
                r"node|\w{1,200} is not a valid tag for \w{1,200}\. Available tags"
                r"|Unable to load outdated "
                "profile)"
            ),
        ),
        summary="The exported program was saved by a torch that this one does not read: {what}",
        means=(
            "The format of torch.export.save has a version, and fields and operators come and go "
            "between releases."
        ),
        mistaken_for="A damaged file",
        check="torch.__version__ where it was saved and here",
        fixes=(
            fix("Export again with this torch, or load it with the one that saved it"),
            fix("Send the compiled .pt2 package rather than the exported program"),
        ),
        guide="guides/package-and-load.md#torch-versions-of-both-sides",
        next_tool="check_environment",
        matches=(
            recorded(
                "torch._export.serde.serialize.SerializeError: Serialized schema version "
                "SchemaVersion(major=99, minor=20) does not match our current schema version "
                "(8, 20).",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "AssertionError: as_new is not a valid tag for Argument. Available tags: as_none",
                "words of torch/_export/serde/union.py",
            ),
        ),
    ),
    Signature(
        id="export_unsupported",
        family="J",
        phase="export",
        category="lowering_error",
        weight=42,
        anchors=(
            "torch._dynamo.exc.",
            "TorchRuntimeError: ",
            "InternalTorchDynamoError: ",
            "Dynamic control flow is not supported",
            "occurred when calling torch.export.export",
            "issue(s) found during export",
            "Tried to emit a second graph during export",
        ),
        patterns=(
            (
                r"torch\._dynamo\.exc\.(?:Unsupported|UserError|TorchRuntimeError"
                "|InternalTorchDynamoError|CondOpArgsMismatchError|UnsafeScriptObjectError"
                r"|Observed\w{1,200}|\w{1,60}Error: )|Dynamic control flow is not supported"
                r"|error above "
                r"occurred when calling torch\.export\.export"
            ),
            (
                "^(?:TorchRuntimeError|InternalTorchDynamoError): "
                "|WARNING: [0-9]{1,200} issue\\(s\\) "
                "found during export|Tried to emit a second graph during export"
            ),
        ),
        summary="torch.export could not trace the model; AOTInductor was not reached",
        means=(
            "The Python code of the model does something that cannot be captured: data-dependent "
            "branches, unsupported libraries, side effects."
        ),
        mistaken_for="An AOTInductor bug",
        check="torch.export.draft_export lists all such places at once",
        fixes=(fix("Rewrite the named line, or wrap it in torch.cond or a custom op"),),
        guide="guides/lowering-and-cpp.md#export-errors",
        matches=(
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
                "TorchRuntimeError: Failed running call_function <built-in function linear>"
                "(*(FakeTensor(..., size=(s6, 3)),), **{}):",
                "the last line in a notebook",
            ),
        ),
    ),
    Signature(
        id="dynamo_broke_graph",
        family="J",
        phase="export",
        category="lowering_error",
        role="symptom",
        weight=30,
        confidence="possible",
        anchors=(
            "compile-graph-break-site",
            "Developer debug context: ",
            "This graph break is fundamental",
            "Graph break in user code at ",
            "#dynamic-shapes-validation",
            "generated/exportdb/index.html",
        ),
        patterns=(
            (
                "compile-graph-break-site|Developer debug context: |This graph break is "
                "fundamental|Graph break in user code at |generated/exportdb/index.html"
            ),
        ),
        summary="Dynamo met Python code that it cannot put into a graph",
        means=(
            "With torch.compile this only splits the graph and is often harmless; with "
            "torch.export(strict=True) it ends the export."
        ),
        mistaken_for="The reason of a later failure of a compiled model",
        check="Is torch.export.export in the traceback?",
        fixes=(fix("torch.export.export(..., strict=False), or rewrite the named line"),),
        guide="guides/lowering-and-cpp.md#export-errors",
        matches=(
            recorded(
                " For more details about this graph break, please visit: https://meta-pytorch."
                "github.io/compile-graph-break-site/gb/gb0059.html",
                "torch 2.13.0, CPU, strict=True",
            ),
        ),
    ),
    Signature(
        id="api_misuse",
        family="J",
        phase="lower",
        category="user_code",
        weight=72,
        anchors=(
            "object has no attribute 'graph'",
            "Only ExportedProgram is supported",
            "aoti_compile_and_package() ",
            "aot_compile() ",
        ),
        patterns=(
            (
                r"AttributeError: '\w{1,200}' object has no attribute 'graph'"
                r"|Only ExportedProgram is "
                r"supported|TypeError: (?:aoti_compile_and_package|aot_compile)\(\) .{0,120}"
            ),
        ),
        summary="The compile function was called with something it does not take",
        means=(
            "aoti_compile_and_package wants an ExportedProgram and a path ending in .pt2; "
            "aot_compile wants ep.module(), not a plain nn.Module."
        ),
        fixes=(
            fix(
                "ep = torch.export.export(model.eval(), args); torch._inductor.aoti_compile_and_pa"
                "ckage(ep, package_path='model.pt2')"
            ),
        ),
        guide="guides/lowering-and-cpp.md#calling-the-api-wrongly",
        matches=(
            recorded(
                "AttributeError: 'Linear' object has no attribute 'graph'",
                "torch 2.13: aot_compile of a module",
            ),
            recorded("ValueError: Only ExportedProgram is supported", "torch 2.13"),
        ),
    ),
    Signature(
        id="exported_program_misused",
        family="J",
        phase="export",
        category="user_code",
        weight=72,
        anchors=(
            "Unable to call ExportedProgram directly",
            "Unable to set ExportedProgram's ",
            "parameter must be an instance of 'ExportedProgram'",
            "Calling train() is not supported yet",
            "Calling eval() is not supported yet",
        ),
        patterns=(
            (
                r"(?P<what>Unable to call ExportedProgram directly|Unable to set ExportedProgram's "
                r"\w{1,200} attribute|parameter must be an instance of 'ExportedProgram'|Calling "
                r"(?:train|eval)\(\) is not supported yet)"
            ),
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
                "RuntimeError: Unable to call ExportedProgram directly. You should use "
                "`exported_program.module()` instead.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: Unable to set ExportedProgram's graph attribute.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "TypeError: The 'ep' parameter must be an instance of 'ExportedProgram', got "
                "'Linear' instead.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "NotImplementedError: Calling train() is not supported yet.", "torch 2.13.0, CPU"
            ),
        ),
    ),
    Signature(
        id="loader_arguments_exclusive",
        family="D",
        phase="load",
        category="user_code",
        weight=80,
        confidence="proved",
        anchors=("allow_h2d_copy is not supported with user_managed", "num_runners must be "),
        patterns=(
            (
                "(?P<what>allow_h2d_copy is not supported with user_managed|num_runners must be "
                "(?:1 when run_single_threaded is true|>=1 when run_single_threaded is false))"
            ),
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
        ),
    ),
    Signature(
        id="opened_by_wrong_function",
        family="E",
        phase="load",
        category="user_code",
        weight=58,
        confidence="possible",
        anchors=(
            "PytorchStreamReader failed locating file ",
            "must be a buffer or a file ending in .pt2",
        ),
        patterns=(
            (
                r"(?P<what>PytorchStreamReader failed locating file (?:data\.pkl|constants\.pkl"
                r"|archive_format|models/\S{1,80})|Unable to load package\. (?:Path|f) must be a "
                r"buffer or a file ending in \.pt2)"
            ),
        ),
        summary="The file is of another kind than this function reads: {what}",
        means=(
            "torch.load and torch.jit.load read checkpoints and TorchScript, aoti_load_package "
            "reads .pt2 packages, torch._export.aot_load a bare .so. The text about corruption is "
            "misleading then."
        ),
        mistaken_for="A corrupted file.",
        check="unzip -l FILE",
        fixes=(
            fix(
                "Load a compiled .pt2 with torch._inductor.aoti_load_package, an exported program "
                "with torch.export.load"
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
                "torch/export/pt2_archive/_package.py:1121] Unable to load package. f must be a "
                "buffer or a file ending in .pt2.",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "AssertionError: Unable to load package. Path must be a buffer or a file ending "
                "in .pt2. Instead got model.bin",
                "words of the 2.6 and 2.7 loader",
            ),
        ),
        neighbours=(
            quoted(
                "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding "
                "central directory",
                "another failure",
            ),
        ),
    ),
)
