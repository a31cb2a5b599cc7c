"""The user's own operators."""

from __future__ import annotations

from aoti_debug.facts.categories import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
    Signature(
        id="aten_op_not_traceable",
        phase="export",
        category="lowering_error",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            r"UnsupportedOperatorException: (?P<op>(?:aten|prims)\.[\w.]{1,200})",
            r"unsupported operator: (?P<op>(?:aten|prims)\.[\w.]{1,200})",
            r"Could not run '(?P<op>aten::[\w.]{1,200})' with arguments from the 'Meta' backend",
        ),
        summary="{op} cannot be traced: PyTorch itself has no fake kernel for it",
        means="An operator of PyTorch that export does not cover, in this release or at all.",
        fixes=(
            fix("Replace the operator, or wrap the call into a custom op with register_fake"),
            fix("Try the newest torch"),
        ),
        guide="guides/lowering-and-cpp.md#export-errors",
        matches=(
            quoted(
                "torch._dynamo.exc.Unsupported: unsupported operator: aten._foo.default (see https://docs.google.com/document/d/1 for how to fix)",
                "form of torch/_dynamo/utils.py, 2.6",
            ),
            quoted(
                "NotImplementedError: Could not run 'aten::_foo' with arguments from the 'Meta' backend.",
                "form of the dispatcher's message",
            ),
            words("programs that were not at hand", "UnsupportedOperatorException: aten.x"),
        ),
        apart_from=("custom_op_no_meta_kernel",),
    ),
    Signature(
        id="custom_op_aliases_input",
        phase="run",
        category="user_code",
        tier=Tier.SPECIFIC_TEXT,
        confidence="proved",
        patterns=(r"The output of this custom operator \(1\) must not also be an input",),
        summary="A custom operator returns one of its inputs or a view of it",
        means="Functional custom operators must return fresh tensors; the compiler relies on it.",
        fixes=(fix("Return a clone, or declare the argument in mutates_args and return None"),),
        guide="guides/custom-ops.md#an-op-that-raises",
        matches=(
            recorded(
                "'/tmp/v/dev/lib/python3.11/site-packages/torch/_library/custom_ops.py'>): The output of this custom operator (1) must not also be an input",
                "torch 2.13",
            ),
        ),
    ),
    Signature(
        id="custom_op_badly_defined",
        phase="environment",
        category="user_code",
        tier=Tier.KIND_TEXT,
        patterns=(
            r"(?P<what>infer_schema\(func\): .{1,120})",
            "(?P<what>mutates_args must either be)",
            "(?P<what>Attempted to create a custom op with `mutates_args=)",
            r"(?P<what>register_fake\(\.\.\.\): the operator \S{1,80})",
            '(?P<what>to be of the form "namespace::name")',
            "(?P<what>Functions without tensor inputs are required to have a `device:)",
            "(?P<what>is a reserved namespace)",
            "(?P<what>Cannot register autograd formula for)",
            "(?P<what>we require there to also be a companion)",
            r"(?P<what>Tried to register an operator \([^)]{1,120}\))",
            "(?P<what>Tried to register multiple operators with the same name)",
            (
                "(?P<what>Only a single TORCH_LIBRARY can be used to register the namespace "
                "[^; ]{1,60})"
            ),
            "(?P<what>already a kernel registered from python overriding)",
            (
                r"(?P<what>Trying to backward through \S{1,100} but no autograd formula was "
                "registered)"
            ),
            "(?P<what>test_schema failed with .{1,120})",
            r"(?P<what>tagged with torch\.Tag\.\w{1,200} (?:must|requires|only))",
            "(?P<what>seems to be empirically wrong)",
        ),
        summary="The definition of a custom operator is not accepted: {what}",
        means=(
            "torch.library needs annotated arguments, a true list of what is written to, and one "
            "definition per name in a process."
        ),
        check="Is the library loaded twice, say as two versions?",
        fixes=(
            fix("Correct the decorated function, or load the library once"),
            fix("torch.library.opcheck(op, args) checks the rest of the definition"),
        ),
        guide="guides/custom-ops.md#an-op-that-raises",
        matches=(
            recorded(
                "ValueError: infer_schema(func): Parameter x must have a type annotation. Got func with signature (x))",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: Tried to register an operator (q::cpuonly(Tensor x) -> Tensor) with the same name and overload name multiple times.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: Only a single TORCH_LIBRARY can be used to register the namespace qq; please put all of your definitions in a single TORCH_LIBRARY block.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: Trying to backward through q.good.default but no autograd formula was registered.",
                "torch 2.13.0, CPU",
            ),
            words("torch/_library/infer_schema.py", "mutates_args must either be"),
            words(
                "torch/_library/custom_ops.py",
                "Attempted to create a custom op with `mutates_args=",
                "Functions without tensor inputs are required to have a `device:",
            ),
            words("torch/_library/fake_impl.py", "register_fake(...): the operator x"),
            words(
                "programs that were not at hand",
                'to be of the form "namespace::name"',
                "we require there to also be a companion",
                "Tried to register multiple operators with the same name",
                "test_schema failed with x",
            ),
            words(
                "torch/library.py",
                "is a reserved namespace",
                "Cannot register autograd formula for",
                "already a kernel registered from python overriding",
                "tagged with torch.Tag.x must",
            ),
            words("torch/_library/utils.py", "seems to be empirically wrong"),
        ),
    ),
    Signature(
        id="custom_op_fake_disagrees",
        phase="export",
        category="custom_op_fake_kernel",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                "MetadataMismatchError: .{0,300}mismatch between fake .{0,200}for func: "
                r"(?P<op>[\w.:]{1,200})"
            ),
            "MetadataMismatchError: .{0,300}mismatch between fake .{0,200}$",
            (
                r"OpCheckError: opcheck\(op, \.\.\.\): test_(?:faketensor|aot_dispatch_\w{1,200}) "
                "failed with"
            ),
        ),
        summary="A fake kernel promises something else than the operator returns",
        means=(
            "PyTorch ran both and compared: shape, strides, dtype or aliasing differ. A package "
            "compiled with this operator would give wrong results."
        ),
        check="torch.library.opcheck(op, args)",
        fixes=(fix("Make the fake kernel compute what the real one returns"),),
        guide="guides/custom-ops.md#a-wrong-fake-kernel",
        matches=(
            recorded(
                "torch._subclasses.fake_tensor.MetadataMismatchError: Real tensor propagation found an output size mismatch between fake shape 3 and real shape 4, at output.size(0), for func: q.wf.default",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "torch.testing._internal.optests.generate_tests.OpCheckError: opcheck(op, ...): test_faketensor failed with",
                "the message may begin on the next line",
            ),
            recorded(
                "torch.testing._internal.optests.generate_tests.OpCheckError: opcheck(op, ...): test_faketensor failed with When comparing the output of q.wf.default on FakeTensor and concrete Tensors, found mismatched tensor metadata: Shapes torch.Size([4]) and torch.Size([3])",
                "torch 2.13.0, CPU",
            ),
        ),
    ),
    Signature(
        id="custom_op_no_fake",
        phase="export",
        category="custom_op_fake_kernel",
        tier=Tier.EXACT_TEXT,
        confidence="proved",
        patterns=(
            "is missing a fake kernel implementation",
            "received a FakeScriptObject input when dispatching",
            r"\w{1,200}_fake\(\) missing \d{1,3} required positional argument",
            r"There was no fake impl registered for <CustomOpDef\((?P<op>[\w:]{1,200})\)>",
            "There was no fake impl registered for",
        ),
        summary="The custom operator has no fake kernel, so it cannot be exported",
        means=(
            "Export runs the model on tensors without data and needs a function that says what the "
            "operator returns."
        ),
        fixes=(
            fix("@op.register_fake: return torch.empty with the right shape, dtype and device"),
        ),
        guide="guides/custom-ops.md#a-wrong-fake-kernel",
        matches=(
            words(
                "torch/export/_draft_export.py",
                "torch.ops.mylib.foo.default is missing a fake kernel implementation.",
                "received a FakeScriptObject input when dispatching DispatchKey.AutocastCUDA",
                "TypeError: my_op_fake() missing 1 required positional argument: 'eps'",
            ),
            recorded(
                "RuntimeError: There was no fake impl registered for <CustomOpDef(lab7::nofake)>.",
                "torch 2.13",
            ),
        ),
    ),
    Signature(
        id="custom_op_no_meta_kernel",
        phase="export",
        category="custom_op_fake_kernel",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                r"(?P<op>\w{1,200}::(?!_local_scalar_dense)[\w.]{1,200})(?: \([^)]{0,200}\))?: "
                "(?:while )?attempt(?:ed|ing) to run this operator with Meta [Tt]ensors"
            ),
            (
                r"Could not run '(?!aten::)(?P<op>[\w:.]{1,200})' with arguments from the 'Meta' "
                "backend"
            ),
            r"UnsupportedOperatorException: (?!aten\.|prims\.)(?P<op>[\w.:]{1,200})",
            r"unsupported operator: (?!aten\.|prims\.)(?P<op>[\w.:]{1,200})",
            r"cannot infer a Fake kernel \(meta kernel\) for operator (?P<op>[\w.:]{1,200})",
            r"No fake kernel was found for (?P<op>[\w.:]{1,200})",
            "MissingOpProfile",
            r"Unsupported: Dynamic shape operator \(no meta kernel\)",
            "ScriptObject's .{1,80}registered a fake class",
            "operator may return an output Tensor with data-dependent shape",
        ),
        summary="An operator has no fake (meta) kernel, so the model cannot be traced",
        means=(
            "Export runs the model on tensors without data. The library of the operator says "
            "nothing of what it returns, or the module that says it was not imported."
        ),
        check="The operator works in eager mode",
        fixes=(
            fix("@torch.library.register_fake('ns::op'): return an empty tensor of its shape"),
            fix("Import the Python package of the operator, not only its .so"),
        ),
        guide="guides/custom-ops.md#a-wrong-fake-kernel",
        matches=(
            recorded(
                "NotImplementedError: q::cpuonly: attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel registered.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "torch._subclasses.fake_tensor.UnsupportedOperatorException: q.cpuonly.default",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "  Developer debug context: unsupported operator: q.cpuonly.default",
                "torch 2.13.0, CPU, strict=True",
            ),
            quoted(
                "torch._dynamo.exc.Unsupported: Dynamic shape operator (no meta kernel)",
                "words of torch/_dynamo/utils.py",
            ),
            words(
                "programs that were not at hand",
                "Could not run 'x' with arguments from the 'Meta' backend",
            ),
            words(
                "torch/_subclasses/fake_tensor.py",
                "cannot infer a Fake kernel (meta kernel) for operator x",
            ),
            words(
                "torch/_library/fake_profile.py",
                "No fake kernel was found for x",
                "MissingOpProfile",
            ),
            words(
                "torch/_library/fake_class_registry.py", "ScriptObject's xregistered a fake class"
            ),
            words(
                "torch/_library/fake_impl.py",
                "operator may return an output Tensor with data-dependent shape",
            ),
        ),
        neighbours=(
            quoted(
                "NotImplementedError: aten::_local_scalar_dense: attempted to run this operator with Meta tensors",
                "asks for data",
            ),
        ),
        apart_from=(
            "aten_op_not_traceable",
            "export_needs_a_value",
        ),
    ),
    Signature(
        id="custom_op_raised",
        phase="run",
        category="user_code",
        role="symptom",
        tier=Tier.GENERAL_TEXT,
        patterns=(
            r"custom_ops\.py\(\d{1,20}\): (?:wrapped_fn|backend_impl)",
            r"^(?=.{0,300} API call failed).{0,300}\baoti_torch_proxy_executor_call_function\(",
        ),
        summary="A custom operator raised while the compiled model called it",
        means=(
            "The lines after `At:` are the Python stack of the operator; the exception text above "
            "them is its own."
        ),
        check="Call the operator directly on the same tensors",
        fixes=(fix("Correct the operator at the first line after `At:`"),),
        guide="guides/custom-ops.md#an-op-that-raises",
        next_tool="triage",
        matches=(
            recorded(
                "  /opt/torch/.venv/lib/python3.12/site-packages/torch/_library/custom_ops.py(382): wrapped_fn",
                "torch 2.11",
            ),
            recorded(
                "  /tmp/v/dev/lib/python3.11/site-packages/torch/_library/custom_ops.py(441): backend_impl",
                "torch 2.13",
            ),
            quoted(
                "Error: aoti_torch_proxy_executor_call_function(proxy_executor, 0, 1, std::vector<int64_t>{3}.data(), 2, handles.data()) API call failed at /tmp/model/c7x.wrapper.cpp, line 412",
                "text of the check around the call in generated code",
            ),
        ),
    ),
    Signature(
        id="custom_op_schema_missing",
        phase="load",
        category="custom_op_missing",
        tier=Tier.NAMED_TEXT,
        confidence="proved",
        patterns=(r"Could not find schema for (?P<op>[\w:.]{1,200}\w)",),
        summary="The custom operator {op} is not registered in this process",
        means=(
            "The package calls the operator by name and does not contain it. The module or library "
            "that registers it was not imported before the package was loaded."
        ),
        check="import the module that defines the op, then load again",
        fixes=(
            fix("Import the defining module (or torch.ops.load_library) before aoti_load_package"),
            fix(
                (
                    "For C++ programs write the op with TORCH_LIBRARY: ops from "
                    "torch.library.custom_op need Python"
                ),
            ),
        ),
        guide="guides/custom-ops.md#schema-not-found",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: Could not find schema for lab7::oops. Custom operators", "torch 2.13"
            ),
            quoted("Error: Could not find schema for mylib::custom_add.", "pytorch/pytorch#143786"),
        ),
    ),
    Signature(
        id="custom_op_unresolved",
        phase="load",
        category="custom_op_missing",
        tier=Tier.EXACT_TEXT,
        patterns=(
            r"We failed to resolve (?P<op>torch\.ops[\w.]{1,200}) to an operator",
            r"'_OpNamespace' '(?P<ns>\w{1,200})' object has no attribute '(?P<name>\w{1,200})'",
            r"Missing operator: \[\d{1,20}\] (?P<op>[\w:.]{1,200})",
            "instructions don't have corresponding operator registered",
            r"Couldn't find an operator for (?P<op>[\w:.]{1,200})",
            "Following ops cannot be found",
            r"Unknown builtin op: (?P<op>[\w:.]{1,200}\w)",
            r"Could not find any similar ops to (?P<op>[\w:.]{1,200}\w)",
            r"\bNo such operator (?P<op>\w{1,200}::\w{1,200})",
            r"'[\w:.]{1,200}' missing from runtime",
            r"Tried to instantiate class '(?P<class>[\w.]{1,200})', but it does not exist! Ensure",
        ),
        summary="An operator of the graph is not registered in this process",
        means=(
            "The exported program or script refers to a custom or Triton op whose defining module "
            "was not imported. The stock minifier launcher and other fresh processes fail like "
            "this."
        ),
        check="Import the module that registers the op, then load again",
        fixes=(fix("Import the defining module at the top of the script or launcher"),),
        guide="guides/custom-ops.md#ops-in-fresh-processes",
        next_tool="triage",
        matches=(
            recorded(
                "torch._export.serde.serialize.SerializeError: We failed to resolve torch.ops.lab5.oops.default to an operator.",
                "torch 2.11, minifier launcher (cut)",
            ),
            quoted(
                "AttributeError: '_OpNamespace' 'my_ops' object has no attribute 'fused'",
                "text of torch/_ops.py",
            ),
            quoted(
                "E 00:00:00.000001 executorch:method.cpp:1] Missing operator: [2] my_ops::fused.out",
                "form of executorch/runtime/executor/method.cpp",
            ),
            recorded(
                "RuntimeError: Tried to instantiate class 'q.Foo', but it does not exist! Ensure that it is registered via torch::class_",
                "torch 2.13.0, CPU",
            ),
            words(
                "programs that were not at hand",
                "instructions don't have corresponding operator registered",
                "No such operator x::x",
            ),
            words(
                "libtorch",
                "Couldn't find an operator for x",
                "Following ops cannot be found",
                "Could not find any similar ops to xx",
                "'x' missing from runtime",
            ),
            words(
                "torch/testing/_internal/opinfo/definitions/_masked.py", "Unknown builtin op: xx"
            ),
        ),
    ),
    Signature(
        id="custom_op_wrong_fake",
        phase="run",
        category="custom_op_fake_kernel",
        tier=Tier.NAMED_TEXT,
        confidence="proved",
        patterns=(r"Error in op: (?P<op>(?!torch\.ops\.(?:aten|prims)\.|aten::)[\w:.]{1,200}\w)",),
        summary="{op} returned something else than its fake kernel promises",
        means=(
            "The compiled code was laid out for the sizes, strides and dtype of the fake kernel. "
            "Torch 2.13 and later compare them at run time when AOTI_RUNTIME_CHECK_INPUTS is set; "
            "without it the result is garbage or a damaged heap."
        ),
        check="torch.library.opcheck(op, args) on the failing inputs",
        fixes=(
            fix(
                "Make the fake kernel compute exactly the shape, strides and dtype of the real one",
            ),
        ),
        guide="guides/custom-ops.md#a-wrong-fake-kernel",
        next_tool="verify_fix",
        matches=(recorded("Error in op: torch.ops.lab7.wrong.default", "torch 2.13 CPU"),),
        neighbours=(
            recorded(
                "This error most often comes from a incorrect fake (aka meta) kernel for a custom op.",
                "printed for ATen operators too",
            ),
            quoted("Error in op: torch.ops.aten.sort.default", "sizes of the inputs disagree"),
        ),
    ),
    Signature(
        id="custom_op_wrong_signature",
        phase="run",
        category="package_incompatible",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                r"Tried to access or call an operator with a wrong signature(?:\.\s{0,20}operator: "
                r"(?P<op>[\w:.]{1,200}))?"
            ),
        ),
        summary="An operator library was built for another schema than the one registered",
        means=(
            "A typed call was compiled against one signature, and the library loaded here "
            "registers another: two versions of the op library (fbgemm and the like) meet."
        ),
        check="Versions of the op library where the package was made and where it runs",
        fixes=(fix("Install the same version of the op library on both sides and recompile"),),
        guide="guides/custom-ops.md#wrong-signature",
        next_tool="check_environment",
        matches=(
            quoted(
                "Tried to access or call an operator with a wrong signature. operator: fbgemm::permute_2D_sparse_data",
                "pytorch/pytorch#135563",
            ),
        ),
    ),
    Signature(
        id="op_library_not_loaded",
        phase="load",
        category="custom_op_missing",
        tier=Tier.BROAD_TEXT,
        patterns=("OSError: Could not load this library: (?P<library>.{1,200})",),
        summary="The library of operators {library} was not loaded",
        means=(
            "torch.ops.load_library failed, so its operators stay unknown. The error of the loader "
            "above it says why: no such file, an undefined symbol, another architecture."
        ),
        check="ldd LIBRARY, in the environment of the process",
        fixes=(fix("Correct the path, or build the library against this torch"),),
        guide="guides/custom-ops.md#schema-not-found",
        next_tool="check_environment",
        matches=(
            recorded("OSError: Could not load this library: /nonexist.so", "torch 2.13.0, CPU"),
        ),
    ),
    Signature(
        id="op_missing_on_device",
        phase="run",
        category="custom_op_missing",
        tier=Tier.KIND_TEXT,
        patterns=(
            (
                r"Could not run '(?P<op>[\w:.]{1,200})' with arguments from the '(?!Meta')"
                r"(?P<backend>\w{1,200})' backend"
            ),
            r"no fallback function is registered for schema (?P<op>[\w:.]{1,200}\w)",
            (
                r"The operator '(?P<op>[\w:.]{1,200})' is not currently implemented for the "
                r"(?P<backend>\w{1,200}) device"
            ),
        ),
        summary="An operator has no implementation for the device it was called on",
        means=(
            "The op is registered, but not for this backend: the wrong device for an input, a "
            "CPU-only build of the op library, or a backend with gaps."
        ),
        check="Device of the inputs, and the list of backends in the message",
        fixes=(fix("Move the inputs, or install the build of the op library for this device"),),
        guide="guides/custom-ops.md#schema-not-found",
        next_tool="check_environment",
        matches=(
            quoted(
                "NotImplementedError: Could not run 'torchvision::nms' with arguments from the 'CUDA' backend.",
                "common form in public threads",
            ),
            recorded(
                "NotImplementedError: There were no tensor arguments to this function (e.g., you passed an empty list of Tensors), but no fallback function is registered for schema q::z.",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "NotImplementedError: The operator 'aten::_linalg_eigh' is not currently implemented for the MPS device.",
                "common form in public threads",
            ),
        ),
    ),
    Signature(
        id="operator_call_mismatch",
        phase="run",
        category="user_code",
        tier=Tier.BROAD_TEXT,
        confidence="possible",
        patterns=(
            (
                r"(?P<op>[\w.]{1,200}::\w{1,200})\(\) expected at most \d{1,20} argument\(s\) but "
                r"received \d{1,20}"
            ),
            r"(?P<op>[\w.]{1,200}::\w{1,200})\(\) is missing value for argument '",
            r"(?P<op>[\w.]{1,200}::\w{1,200})\(\) Expected a value of type '.{1,120}' for argument",
            r"Unknown keyword argument '\w{1,200}' for operator '(?P<op>[\w.:]{1,200})'",
        ),
        summary="{op} was called with other arguments than its schema says",
        means=(
            "Either the caller is wrong, or the schema registered here is that of another version "
            "of the op library than the one at export."
        ),
        check="Compare torch.ops.NS.OP.default._schema on both sides",
        fixes=(fix("Correct the call, or install the same version of the op library"),),
        guide="guides/custom-ops.md#wrong-signature",
        next_tool="check_environment",
        matches=(
            recorded(
                "RuntimeError: q::cpuonly() expected at most 1 argument(s) but received 2 argument(s). Declaration: q::cpuonly(Tensor x) -> Tensor",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: q::cpuonly() Expected a value of type 'Tensor' for argument 'x' but instead found type 'int'.",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "RuntimeError: Unknown keyword argument 'y' for operator 'q::cpuonly'. Schema: q::cpuonly(Tensor x) -> Tensor",
                "a string of the installed libtorch",
            ),
            words("ATen/core/function_schema_inl.h", "x::x() is missing value for argument '"),
        ),
    ),
    Signature(
        id="operator_not_defined",
        phase="environment",
        category="custom_op_missing",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                r"\b[Oo]perator '?(?P<op>[A-Za-z]\w{0,200}::\w{1,200}(?:\.\w{1,200})?)'? does not "
                "exist"
            ),
            r"\b[Oo]perator '?(?P<op>[A-Za-z]\w{0,200}::\w{1,200}(?:\.\w{1,200})?)'? doesn't exist",
            (
                r"could not find kernel for (?:HigherOrderOperator )?(?P<op>[\w:.]{1,200}) at "
                "dispatch key"
            ),
            r"The underlying op of '(?P<op>[\w:.]{1,200})' has no overload name '",
        ),
        summary="An operator that Python code refers to is not defined in this process",
        means=(
            "The compiled half of an operator library did not load, and its Python half describes "
            "kernels for it: a build for another torch, for CPU only, or none at all."
        ),
        check="Import the package alone, and compare its version with that of torch",
        fixes=(
            fix("Install the build of the package (torchvision and the like) made for this torch"),
            fix("Or load the library that defines the operator before register_fake"),
        ),
        guide="guides/custom-ops.md#schema-not-found",
        next_tool="check_environment",
        matches=(
            recorded("RuntimeError: operator q::absent does not exist", "torch 2.13.0, CPU"),
            recorded(
                "AttributeError: The underlying op of 'q.cpuonly' has no overload name 'foo'",
                "torch 2.13.0, CPU",
            ),
            words("torch/__init__.py", "Operator x::x doesn't exist"),
            words("torch/_ops.py", "could not find kernel for x at dispatch key"),
        ),
        neighbours=(
            quoted("psycopg2.errors.UndefinedFunction: operator does not exist: uuid = integer"),
            quoted("the operator doesn't exist for this backend", "part of another message"),
        ),
    ),
    Signature(
        id="proxy_executor_missing",
        phase="run",
        category="custom_op_missing",
        tier=Tier.EXACT_TEXT,
        confidence="proved",
        patterns=("Unable to find a proxy executor to run custom ops",),
        summary=(
            "The model calls operators by name, but its JSON description was not found beside the "
            "library"
        ),
        means="A bare .so was moved without the .json that lists its fallback operators.",
        fixes=(fix("Deploy the .pt2 package, or copy the .json next to the .so"),),
        guide="guides/custom-ops.md#no-proxy-executor",
        next_tool="inspect_package",
        matches=(
            quoted(
                "Unable to find a proxy executor to run custom ops. Please check",
                "text of the generated model, torch 2.13",
            ),
        ),
    ),
    Signature(
        id="torchbind_unsupported",
        phase="package",
        category="lowering_error",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "SerializeError: .{0,200}ScriptObject",
            "SerializeError: .{0,200}torchbind",
            "SerializeError: .{0,200}custom ?obj",
            "call_torchbind",
        ),
        summary="The graph holds a TorchBind (ScriptObject) object in a place AOTInductor cannot handle",
        means=(
            "Script objects work only as attributes of the model and only in newer releases; as "
            "graph inputs or in older ones packaging or lowering fails."
        ),
        fixes=(fix("Make the object an attribute of the module, or pass its tensors instead"),),
        guide="guides/custom-ops.md#torchbind-objects",
        next_tool="minify",
        matches=(
            quoted(
                "torch._export.serde.serialize.SerializeError: Unsupported argument type: <class 'torch.ScriptObject'>",
                "pytorch/pytorch#147283",
            ),
            quoted("  target: call_torchbind", "pytorch/pytorch#139911"),
            words(
                "programs that were not at hand",
                "SerializeError: torchbind",
                "SerializeError: customobj",
            ),
        ),
        neighbours=(
            recorded(
                "torch._export.serde.serialize.SerializeError: We failed to resolve torch.ops.lab5.oops.default to an operator."
            ),
        ),
    ),
    Signature(
        id="two_torch_libraries",
        phase="environment",
        category="package_incompatible",
        tier=Tier.SPECIFIC_TEXT,
        confidence="possible",
        patterns=(
            (
                "Tried to register multiple backend fallbacks for the same dispatch key "
                r"(?P<key>\w{1,200})"
            ),
        ),
        summary="Two copies of PyTorch's libraries were loaded into one process",
        means=(
            "The second libtorch registers what the first has registered already: a bundled one "
            "(Java, another Python package, a system library) and the installed one meet."
        ),
        check="ldd, and `grep libtorch /proc/PID/maps`: is there more than one?",
        fixes=(fix("Keep one libtorch on the library path, and build all against it"),),
        guide="guides/package-and-load.md#two-runtimes-in-one-process",
        next_tool="check_environment",
        matches=(
            quoted(
                "RuntimeError: Tried to register multiple backend fallbacks for the same dispatch key Conjugate; previous registration",
                "words of libtorch_cpu",
            ),
        ),
    ),
)
