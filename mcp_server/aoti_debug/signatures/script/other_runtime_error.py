from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="other_runtime_error",
    family="P",
    phase="none",
    category="user_code",
    weight=44,
    confidence="possible",
    anchors=(
        "[ONNXRuntimeError]",
        "onnxruntime::",
        "onnxruntime.capi.",
        "torch.onnx.errors.",
        "torch.onnx._internal.exporter._errors.",
        "to ONNX opset version",
        "onnx.onnx_cpp2py_export",
        "[TRT] [E]",
        "[TensorRT] ERROR",
        "[E] [TRT]",
        "torch_tensorrt.",
        "trtexec",
        "in the TorchScript interpreter",
        "torch.jit.frontend.",
        "torch.jit.Error",
        "TracingCheckError",
        "openvino",
        "tvm.error.",
        "coremltools",
        "tensorflow.python.framework.errors",
        "jaxlib.xla_extension.XlaRuntimeError",
        "pybind11_state.Fail",
    ),
    patterns=(
        (
            r"(?P<what>\[ONNXRuntimeError\] : .{1,120}"
            r"|onnxruntime(?:\.capi\.\S{1,60}\.\w{1,200}"
            r"|::\w{1,40}Exception): .{1,120}|torch\.onnx\.(?:errors|_internal\.exporter\."
            r"_errors)\.\w{1,60}|Exporting the operator '?\S{1,80} to ONNX opset version|"
            r"onnx\.onnx_cpp2py_export\.\S{1,60})"
        ),
        (
            r"(?P<what>\[TRT\] \[E\] .{1,120}|\[TensorRT\] ERROR: .{1,120}|\[E\] \[TRT\] "
            r".{1,120}|torch_tensorrt\.\S{1,60}(?:Error|Exception)\S{0,20}|&&&& FAILED "
            r"TensorRT\.trtexec)"
        ),
        (
            r"(?P<what>operation failed in the TorchScript interpreter|torch\.jit\.frontend\."
            r"\w{1,40}Error|torch\.jit\.Error|TracingCheckError)"
        ),
        (
            r"(?P<what>openvino\S{0,60}(?:Error|Exception)\S{0,10}|tvm\.error\.\w{1,200}|"
            r"coremltools\S{0,60}Error|tensorflow\.python\.framework\.errors\S{1,60}|jaxlib\."
            r"xla_extension\.XlaRuntimeError)"
        ),
    ),
    summary="Another compiler or runtime failed, not AOTInductor: {what}",
    means=(
        "ONNX, TensorRT, TorchScript and the like read and run models in their own ways; "
        "nothing of this comes from a package of AOTInductor."
    ),
    check="Does the script call torch._inductor or torch.export at all?",
    fixes=(fix("Ask the tool that is named; the failing node stands in its message"),),
    guide="guides/debugging-tools.md#an-unknown-failure",
    matches=(
        quoted(
            "onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument: [ONNXRuntimeError] "
            ": 2 : INVALID_ARGUMENT : Invalid rank for input: x",
            "form of ONNX Runtime",
        ),
        quoted(
            "torch.onnx.errors.UnsupportedOperatorError: Exporting the operator 'aten::foo' "
            "to ONNX opset version 17 is not supported.",
            "form of torch/onnx/errors.py",
        ),
        quoted(
            "[TRT] [E] 4: [network.cpp::validate::1] Error Code 4: Internal Error",
            "form of TensorRT's logger",
        ),
        quoted(
            "The following operation failed in the TorchScript interpreter.",
            "a string of the installed libtorch",
        ),
        quoted("tvm.error.InternalError: Traceback (most recent call last):", "form of TVM"),
    ),
    neighbours=(
        quoted("[TRT] [W] Using an engine plan file across different models", "a warning"),
        quoted("from openvino.runtime import Core", "an import"),
    ),
)
