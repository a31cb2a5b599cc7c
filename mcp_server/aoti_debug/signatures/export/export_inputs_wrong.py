from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
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
)
