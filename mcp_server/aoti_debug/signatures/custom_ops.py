"""The user's own operators."""

from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURES = (
    Signature(
        id="custom_op_schema_missing",
        family="L",
        phase="load",
        category="custom_op_missing",
        weight=86,
        confidence="proved",
        anchors=("Could not find schema for ",),
        patterns=(r"Could not find schema for (?P<op>[\w:.]+\w)",),
        summary="The custom operator {op} is not registered in this process",
        means=(
            "The package calls the operator by name and does not contain it. The module or "
            "library that registers it was not imported before the package was loaded."
        ),
        mistaken_for="An outdated package",
        check="import the module that defines the op, then load again",
        fixes=(
            fix("Import the defining module (or torch.ops.load_library) before aoti_load_package"),
            fix(
                "For C++ programs write the op with TORCH_LIBRARY: ops from "
                "torch.library.custom_op need Python"
            ),
        ),
        guide="guides/custom-ops.md#schema-not-found",
        next_tool="inspect_package",
        references=(
            "pytorch/pytorch#143786",
            "pytorch/pytorch#145394",
            "pytorch/pytorch#134581",
            "pytorch/pytorch#148811",
        ),
        matches=(
            recorded(
                "RuntimeError: Could not find schema for lab7::oops. Custom operators", "torch 2.13"
            ),
            quoted("Error: Could not find schema for mylib::custom_add.", "pytorch/pytorch#143786"),
        ),
    ),
    Signature(
        id="custom_op_unresolved",
        family="L",
        phase="load",
        category="custom_op_missing",
        weight=82,
        confidence="proved",
        anchors=(
            "We failed to resolve torch.ops",
            "'_OpNamespace'",
            "does not exist or was not found",
        ),
        patterns=(
            r"We failed to resolve (?P<op>torch\.ops[\w.]+) to an operator",
            r"'_OpNamespace' '(?P<ns>\w+)' object has no attribute '(?P<name>\w+)'",
        ),
        summary="An operator of the graph is not registered in this process",
        means=(
            "The exported program or script refers to a custom or Triton op whose defining module "
            "was not imported. The stock minifier launcher and other fresh processes fail like "
            "this."
        ),
        mistaken_for="A damaged file",
        check="Import the module that registers the op, then load again",
        fixes=(fix("Import the defining module at the top of the script or launcher"),),
        guide="guides/custom-ops.md#ops-in-fresh-processes",
        next_tool="triage",
        matches=(
            recorded(
                "torch._export.serde.serialize.SerializeError: We failed to resolve "
                "torch.ops.lab5.oops.default to an operator.",
                "torch 2.11, minifier launcher (cut)",
            ),
            quoted(
                "AttributeError: '_OpNamespace' 'my_ops' object has no attribute 'fused'",
                "text of torch/_ops.py",
            ),
        ),
    ),
    Signature(
        id="custom_op_no_fake",
        family="L",
        phase="export",
        category="custom_op_fake_kernel",
        weight=80,
        confidence="proved",
        anchors=("There was no fake impl registered for",),
        patterns=(
            r"There was no fake impl registered for <CustomOpDef\((?P<op>[\w:]+)\)>",
            "There was no fake impl registered for",
        ),
        summary="The custom operator has no fake kernel, so it cannot be exported",
        means=(
            "Export runs the model on tensors without data and needs a function that says what "
            "the operator returns."
        ),
        fixes=(
            fix("@op.register_fake: return torch.empty with the right shape, dtype and device"),
        ),
        guide="guides/custom-ops.md#a-wrong-fake-kernel",
        matches=(
            recorded(
                "RuntimeError: There was no fake impl registered for <CustomOpDef(lab7::nofake)>.",
                "torch 2.13",
            ),
        ),
    ),
    Signature(
        id="custom_op_wrong_fake",
        family="L",
        phase="run",
        category="custom_op_fake_kernel",
        weight=84,
        confidence="proved",
        anchors=("Error in op: ",),
        patterns=(r"Error in op: (?P<op>(?!torch\.ops\.(?:aten|prims)\.|aten::)[\w:.]+\w)",),
        summary="{op} returned something else than its fake kernel promises",
        means=(
            "The compiled code was laid out for the sizes, strides and dtype of the fake kernel. "
            "Torch 2.13 and later compare them at run time when AOTI_RUNTIME_CHECK_INPUTS is set; "
            "without it the result is garbage or a damaged heap."
        ),
        mistaken_for="Inputs whose sizes disagree: then the operator named is one of ATen",
        check="torch.library.opcheck(op, args) on the failing inputs",
        fixes=(
            fix(
                "Make the fake kernel compute exactly the shape, strides and dtype of the real one"
            ),
        ),
        guide="guides/custom-ops.md#a-wrong-fake-kernel",
        next_tool="verify_fix",
        since="2.13",
        matches=(recorded("Error in op: torch.ops.lab7.wrong.default", "torch 2.13 CPU"),),
        neighbours=(
            recorded(
                "This error most often comes from a incorrect fake (aka meta) kernel for a custom "
                "op.",
                "printed for ATen operators too",
            ),
            quoted("Error in op: torch.ops.aten.sort.default", "sizes of the inputs disagree"),
        ),
    ),
    Signature(
        id="custom_op_wrong_signature",
        family="L",
        phase="run",
        category="package_incompatible",
        weight=80,
        anchors=("Tried to access or call an operator with a wrong signature",),
        patterns=(
            (
                r"Tried to access or call an operator with a wrong signature(?:\.\s*operator: "
                r"(?P<op>[\w:.]+))?"
            ),
        ),
        summary="An operator library was built for another schema than the one registered",
        means=(
            "A typed call was compiled against one signature, and the library loaded here "
            "registers another: two versions of the op library (fbgemm and the like) meet."
        ),
        mistaken_for="A wrong argument in the model",
        check="Versions of the op library where the package was made and where it runs",
        fixes=(fix("Install the same version of the op library on both sides and recompile"),),
        guide="guides/custom-ops.md#wrong-signature",
        next_tool="check_environment",
        references=("pytorch/pytorch#135563",),
        matches=(
            quoted(
                "Tried to access or call an operator with a wrong signature. operator: "
                "fbgemm::permute_2D_sparse_data",
                "pytorch/pytorch#135563",
            ),
        ),
    ),
    Signature(
        id="custom_op_aliases_input",
        family="L",
        phase="run",
        category="user_code",
        weight=74,
        confidence="proved",
        anchors=("The output of this custom operator",),
        patterns=(r"The output of this custom operator \(1\) must not also be an input",),
        summary="A custom operator returns one of its inputs or a view of it",
        means="Functional custom operators must return fresh tensors; the compiler relies on it.",
        fixes=(fix("Return a clone, or declare the argument in mutates_args and return None"),),
        guide="guides/custom-ops.md#an-op-that-raises",
        matches=(
            recorded(
                "'/tmp/v/dev/lib/python3.11/site-packages/torch/_library/custom_ops.py'>): The "
                "output of this custom operator (1) must not also be an input",
                "torch 2.13",
            ),
        ),
    ),
    Signature(
        id="custom_op_raised",
        family="L",
        phase="run",
        category="user_code",
        role="symptom",
        weight=54,
        anchors=("custom_ops.py(", "aoti_torch_proxy_executor_call_function"),
        patterns=(
            r"custom_ops\.py\(\d+\): (?:wrapped_fn|backend_impl)",
            r"^(?=.* API call failed).*\baoti_torch_proxy_executor_call_function\(",
        ),
        summary="A custom operator raised while the compiled model called it",
        means=(
            "The lines after `At:` are the Python stack of the operator; the exception text above "
            "them is its own."
        ),
        mistaken_for="An AOTInductor fault",
        check="Call the operator directly on the same tensors",
        fixes=(fix("Correct the operator at the first line after `At:`"),),
        guide="guides/custom-ops.md#an-op-that-raises",
        next_tool="triage",
        matches=(
            recorded(
                "  /opt/torch/.venv/lib/python3.12/site-packages/torch/_library/custom_ops.py("
                "382): wrapped_fn",
                "torch 2.11",
            ),
            recorded(
                "  /tmp/v/dev/lib/python3.11/site-packages/torch/_library/custom_ops.py(441): "
                "backend_impl",
                "torch 2.13",
            ),
            quoted(
                "Error: aoti_torch_proxy_executor_call_function(proxy_executor, 0, 1, "
                "std::vector<int64_t>{3}.data(), 2, handles.data()) API call failed at "
                "/tmp/model/c7x.wrapper.cpp, line 412",
                "text of the check around the call in generated code",
            ),
        ),
    ),
    Signature(
        id="op_missing_on_device",
        family="L",
        phase="run",
        category="custom_op_missing",
        weight=64,
        anchors=(
            "with arguments from the '",
            "is not currently implemented for the",
            "not implemented for the 'Meta'",
        ),
        patterns=(
            r"Could not run '(?P<op>[\w:.]+)' with arguments from the '(?P<backend>\w+)' backend",
            (
                r"The operator '(?P<op2>[\w:.]+)' is not currently implemented for the "
                r"(?P<backend2>\w+) device"
            ),
        ),
        summary="An operator has no implementation for the device it was called on",
        means=(
            "The op is registered, but not for this backend: the wrong device for an input, a "
            "CPU-only build of the op library, or a backend with gaps."
        ),
        mistaken_for="A missing operator library",
        check="Device of the inputs, and the list of backends in the message",
        fixes=(fix("Move the inputs, or install the build of the op library for this device"),),
        guide="guides/custom-ops.md#schema-not-found",
        next_tool="check_environment",
        matches=(
            quoted(
                "NotImplementedError: Could not run 'torchvision::nms' with arguments from the "
                "'CUDA' backend.",
                "common form in public threads",
            ),
            quoted(
                "NotImplementedError: The operator 'aten::_linalg_eigh' is not currently "
                "implemented for the MPS device.",
                "common form in public threads",
            ),
        ),
    ),
    Signature(
        id="proxy_executor_missing",
        family="L",
        phase="run",
        category="custom_op_missing",
        weight=80,
        confidence="proved",
        anchors=("Unable to find a proxy executor",),
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
        family="L",
        phase="package",
        category="lowering_error",
        weight=72,
        anchors=("SerializeError", "ScriptObject", "call_torchbind", "torchbind"),
        patterns=(
            "SerializeError: .{0,200}(?:ScriptObject|torchbind|custom ?obj)",
            "call_torchbind",
        ),
        summary=(
            "The graph holds a TorchBind (ScriptObject) object in a place AOTInductor cannot handle"
        ),
        means=(
            "Script objects work only as attributes of the model and only in newer releases; as "
            "graph inputs or in older ones packaging or lowering fails."
        ),
        fixes=(fix("Make the object an attribute of the module, or pass its tensors instead"),),
        guide="guides/custom-ops.md#torchbind-objects",
        next_tool="minify",
        references=("pytorch/pytorch#147283", "pytorch/pytorch#139911", "pytorch/pytorch#149965"),
        matches=(
            quoted(
                "torch._export.serde.serialize.SerializeError: Unsupported argument type: <class "
                "'torch.ScriptObject'>",
                "pytorch/pytorch#147283",
            ),
            quoted("  target: call_torchbind", "pytorch/pytorch#139911"),
        ),
        neighbours=(
            recorded(
                "torch._export.serde.serialize.SerializeError: We failed to resolve "
                "torch.ops.lab5.oops.default to an operator."
            ),
        ),
    ),
)
