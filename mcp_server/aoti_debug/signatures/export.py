"""Exporting, and calls of the export and compile functions with the wrong things."""

from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURES = (
    Signature(
        id="export_inputs_wrong",
        family="B",
        phase="export",
        category="user_code",
        weight=76,
        confidence="proved",
        anchors=(
            "Expecting `args` to be a tuple of example positional inputs",
            "Unsupported input type <class",
            "mismatch between the structure of `inputs` and `dynamic_shapes`",
            "its top-level keys must be the arg names",
            "ConstraintViolationError: ",
            " to be of the form ",
        ),
        patterns=(
            (
                "Expecting `args` to be a tuple of example positional inputs|Unsupported input "
                "type <class .{1,120}Export only supports pytree containers"
            ),
            (
                "Detected mismatch between the structure of `inputs` and `dynamic_shapes`|When "
                "`dynamic_shapes` is specified as a dict, its top-level keys must be the arg names"
            ),
            (
                r"ConstraintViolationError: -?\d+ not in range \[[^\]]{1,60}\]|Expected "
                r"shape\[\d+\] = \d+ of input \S{0,40} ?to be of the form [^,]{1,60}, where"
            ),
        ),
        summary="torch.export got example inputs and dynamic_shapes that do not fit",
        means=(
            "The examples must be a tuple of tensors, numbers and plain containers; "
            "dynamic_shapes mirrors their structure and names, and each example size must lie in "
            "its Dim."
        ),
        fixes=(
            fix(
                "Mirror the inputs: args=(x,), dynamic_shapes={{'x': {{0: Dim('b', min=1, "
                "max=64)}}}}"
            ),
            fix("Register own classes with torch.export.register_dataclass"),
        ),
        guide="guides/lowering-and-cpp.md#calling-the-api-wrongly",
        matches=(
            recorded(
                "torch._dynamo.exc.UserError: Expecting `args` to be a tuple of example "
                "positional inputs",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "ValueError: Unsupported input type <class '__main__.Cfg'>. Export only supports "
                "pytree containers",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "torch._dynamo.exc.UserError: Detected mismatch between the structure of `inputs` "
                "and `dynamic_shapes`:",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "torch._dynamo.exc.UserError: When `dynamic_shapes` is specified as a dict, its "
                "top-level keys must be the arg names",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "torch.fx.experimental.symbolic_shapes.ConstraintViolationError: 8 not in range "
                "[2, 4]",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "torch._dynamo.exc.UserError: Expected shape[0] = 9 of input Tensor to be of the "
                "form 2*k, where k is an integer",
                "torch 2.13.0, CPU",
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
            "Dynamic control flow is not supported",
            "occurred when calling torch.export.export",
        ),
        patterns=(
            (
                r"torch\._dynamo\.exc\.(?:Unsupported|UserError|TorchRuntimeError"
                "|InternalTorchDynamoError)|Dynamic control flow is not supported|error above "
                r"occurred when calling torch\.export\.export"
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
        ),
    ),
    Signature(
        id="api_misuse",
        family="J",
        phase="lower",
        category="user_code",
        weight=72,
        confidence="proved",
        anchors=(
            "object has no attribute 'graph'",
            "Only ExportedProgram is supported",
            "aoti_compile_and_package() ",
            "aot_compile() ",
        ),
        patterns=(
            (
                r"AttributeError: '\w+' object has no attribute 'graph'|Only ExportedProgram is "
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
