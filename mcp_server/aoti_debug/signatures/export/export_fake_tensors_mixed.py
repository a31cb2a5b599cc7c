from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
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
)
