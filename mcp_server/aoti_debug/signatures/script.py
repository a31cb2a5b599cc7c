"""The script's own errors, its settings, and debugging tools that fail."""

from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURES = (
    Signature(
        id="user_python_error",
        family="P",
        phase="none",
        category="user_code",
        role="symptom",
        weight=20,
        anchors=(
            "SyntaxError: ",
            "IndentationError: ",
            "NameError: name ",
            "FileNotFoundError: [Errno 2]",
            "UnboundLocalError: ",
            "ZeroDivisionError: ",
            "ModuleNotFoundError: ",
            "ImportError: cannot import name",
            "Error(s) in loading state_dict for ",
        ),
        patterns=(
            (
                "^(?:SyntaxError|IndentationError|TabError): (?!program_source)|^NameError: name "
                r"'\w{1,200}' is not defined|^FileNotFoundError: \[Errno 2\]|^UnboundLocalError: "
                "|^ZeroDivisionError: "
            ),
            (
                r"ModuleNotFoundError: No module named '(?!torch'|triton)(?P<module>[\w.]{1,200})'"
                r"|ImportError: cannot import name '(?P<name>\w{1,200})'"
            ),
            r"Error\(s\) in loading state_dict for (?P<model>\w{1,200})",
        ),
        summary="The script itself raised an ordinary Python error",
        means=(
            "A missing module, a misspelt name or a missing file: Python stopped outside "
            "compiling and running the model."
        ),
        check="The last frame of the traceback lies in your file",
        fixes=(
            fix(
                "Correct the line of the last frame; for a missing module name the interpreter "
                "that has it (--python)"
            ),
        ),
        guide="guides/debugging-tools.md#an-unknown-failure",
        next_tool="check_environment",
        matches=(
            quoted("NameError: name 'modle' is not defined", "CPython text"),
            quoted(
                "FileNotFoundError: [Errno 2] No such file or directory: 'weights.pt'",
                "CPython text",
            ),
            quoted("ModuleNotFoundError: No module named 'einops'", "CPython text"),
            quoted(
                "RuntimeError: Error(s) in loading state_dict for ResNet:",
                "text of torch/nn/modules/module.py",
            ),
        ),
        neighbours=(
            quoted(
                "SyntaxError: program_source:1:1: error: C++ requires a type specifier", "Metal"
            ),
        ),
        apart_from=("triton_missing",),
    ),
    Signature(
        id="training_error",
        family="P",
        phase="none",
        category="user_code",
        weight=58,
        confidence="possible",
        anchors=(
            "does not require grad and does not have a grad_fn",
            "a leaf Variable that requires grad",
            "variables needed for gradient computation",
            "Trying to backward through the graph a second time",
            "grad can be implicitly created only for scalar outputs",
            "optimizer got an empty parameter list",
            "can't optimize a non-leaf Tensor",
            "parameters appear in more than one parameter group",
            "loaded state dict contains a parameter group",
            "loaded state dict has a different number of",
            "Attempting to unscale FP16 gradients",
            "No inf checks were recorded for this optimizer",
            "DataLoader worker (pid",
            " in DataLoader worker process ",
            " is not an Optimizer",
            "Expected to have finished reduction in the prior iteration",
        ),
        patterns=(
            (
                "(?P<what>does not require grad and does not have a grad_fn|a leaf Variable that "
                "requires grad|variables needed for gradient computation has been modified"
                "|Trying to backward through the graph a second time|grad can be implicitly "
                "created only for scalar outputs|Attempting to unscale FP16 gradients|No inf "
                "checks were recorded for this optimizer|Expected to have finished reduction in "
                "the prior iteration)"
            ),
            (
                "(?P<what>optimizer got an empty parameter list|can't optimize a non-leaf Tensor"
                "|parameters appear in more than one parameter group|loaded state dict (?:contains "
                r"a parameter group|has a different number of)|\w{1,200} is not an Optimizer)"
            ),
            (
                r"(?P<what>DataLoader worker \(pid\(?s?\)? [\d, ]{1,80}\) (?:is killed|exited)"
                r"|Caught \w{1,200} in DataLoader worker process)"
            ),
        ),
        summary="The training code stopped, not a compiled model: {what}",
        means=(
            "Autograd, an optimizer or the loader of the data refused what the script asked for. "
            "AOTInductor compiles inference only and has no part in it."
        ),
        check="No frame of the traceback lies in torch/_inductor",
        fixes=(fix("Correct the training loop; export under torch.no_grad() and model.eval()"),),
        guide="guides/debugging-tools.md#an-unknown-failure",
        matches=(
            recorded(
                "RuntimeError: element 0 of tensors does not require grad and does not have a "
                "grad_fn",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: a leaf Variable that requires grad is being used in an in-place "
                "operation.",
                "torch 2.13.0, CPU",
            ),
            recorded("ValueError: optimizer got an empty parameter list", "torch 2.13.0, CPU"),
            quoted(
                "RuntimeError: DataLoader worker (pid 4242) is killed by signal: Killed.",
                "a string of the installed libtorch_python",
            ),
        ),
        neighbours=(quoted("RuntimeError: DataLoader worker count is 4", "harmless"),),
    ),
    Signature(
        id="distributed_error",
        family="P",
        phase="none",
        category="user_code",
        weight=46,
        confidence="possible",
        anchors=(
            "ncclUnhandled",
            "ncclSystemError",
            "ncclInternalError",
            "ncclInvalid",
            "ncclRemoteError",
            "NCCL error in: ",
            "NCCL Error ",
            "NCCL communicator was aborted",
            "DistBackendError",
            "DistNetworkError",
            "DistStoreError",
            "torch.distributed.elastic.multiprocessing.errors",
            "RendezvousConnectionError",
            "The server socket has failed to listen",
            "connectFullMesh failed",
            "Default process group has not been initialized",
            "Connection closed by peer [",
            "environment variable MASTER_ADDR expected",
            "Duplicate GPU detected",
        ),
        patterns=(
            (
                r"\b(?P<what>nccl(?:Unhandled\w{1,20}|SystemError|InternalError|Invalid(?:Usage"
                r"|Argument)|RemoteError)|NCCL error in: \S{1,120}"
                r"|NCCL Error \d{1,20}: .{1,60}|NCCL "
                r"communicator was aborted|Dist(?:Backend|Network|Store)Error(?:: .{1,120})?"
                r"|Duplicate GPU detected)"
            ),
            (
                r"(?P<what>torch\.distributed\.elastic\.multiprocessing\.errors\.\w{1,200}"
                "|RendezvousConnectionError|The server socket has failed to listen"
                "|connectFullMesh failed|Default process group has not been initialized"
                r"|Connection closed by peer \[|environment variable MASTER_ADDR expected)"
            ),
        ),
        summary="Processes that work together failed at talking to each other: {what}",
        means=(
            "NCCL, Gloo or torchrun reports it. It is a failure of the network, of the set-up of "
            "ranks, or the echo of another rank that died; AOTInductor has no part in it."
        ),
        mistaken_for="A failure of the compiled model",
        check="The first rank that failed, and NCCL_DEBUG=WARN",
        fixes=(
            fix("Look at the log of the rank that failed first; one GPU per rank"),
            fix("Run the model alone in one process"),
        ),
        guide="guides/debugging-tools.md#an-unknown-failure",
        next_tool="check_environment",
        matches=(
            quoted(
                "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/"
                "ProcessGroupNCCL.cpp:1, unhandled system error",
                "common form in public threads",
            ),
            quoted(
                "ncclSystemError: System call (e.g. socket, malloc) or external library call "
                "failed or device error.",
                "common form in public threads",
            ),
            recorded(
                "ValueError: Default process group has not been initialized, please make sure to "
                "call init_process_group.",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
                "printed by torchrun",
            ),
        ),
        neighbours=(
            quoted("NCCL INFO Bootstrap : Using eth0:10.0.0.2<0>", "harmless"),
            quoted("NCCL WARN Cuda failure 1 'invalid argument' ignored during shutdown"),
        ),
    ),
    Signature(
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
    ),
    Signature(
        id="download_or_options_error",
        family="P",
        phase="none",
        category="user_code",
        weight=40,
        confidence="possible",
        anchors=(
            "huggingface_hub.",
            "safetensors_rust.SafetensorError",
            "_pickle.UnpicklingError",
            "the following arguments are required",
            "error: unrecognized arguments: ",
            "requests.exceptions.",
            "urllib.error.",
            "omegaconf.errors.",
            "hydra.errors.",
            "pydantic_core.",
        ),
        patterns=(
            (
                r"^(?P<what>(?:huggingface_hub\.(?:utils\._)?\S{0,40}errors?\S{0,40}"
                r"|safetensors_rust\.SafetensorError|_pickle\.UnpicklingError|requests\."
                r"exceptions\.\w{1,200}|urllib\.error\.\w{1,200}|(?:omegaconf|hydra)\.errors\.\w{1,200}"
                r"|pydantic_core\.\S{1,60}Error): .{1,120})"
            ),
            (
                r"(?P<what>error: (?:the following arguments are required|unrecognized arguments)"
                ": .{1,120})"
            ),
        ),
        summary="The script could not get its files or understand its options: {what}",
        means=(
            "A download, a checkpoint, a configuration file or the command line; no model was "
            "compiled or run yet."
        ),
        check="The last frame of the traceback that lies in your files",
        fixes=(fix("Correct the path, the version of the file, or the option that is named"),),
        guide="guides/debugging-tools.md#an-unknown-failure",
        matches=(
            recorded(
                "_pickle.UnpicklingError: Weights only load failed. This file can still be loaded",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "infer.py: error: the following arguments are required: --model",
                "form of argparse",
            ),
        ),
    ),
    Signature(
        id="setting_unknown",
        family="G",
        phase="environment",
        category="user_code",
        weight=74,
        anchors=(
            "torch._inductor.config.",
            "Invalid log settings: ",
            "is not a valid IntermediateValueDebuggingLevel",
        ),
        patterns=(
            r"AttributeError: (?P<what>torch\._inductor\.config\.[\w.]{1,100} does not exist)",
            "(?P<what>Invalid log settings: .{1,120}), must be a comma separated list",
            "(?P<what>'?[^' ]{1,20}'? is not a valid IntermediateValueDebuggingLevel)",
        ),
        summary="A setting is unknown to this torch: {what}",
        means=(
            "A spelling mistake, an option of another release, or a variable left set. TORCH_LOGS "
            "knows no `aoti`; the printer takes 0 to 3, as text."
        ),
        fixes=(
            fix(
                "Correct or unset it; torch._inductor.config and `Valid settings` list the known "
                "names"
            ),
        ),
        guide="guides/debugging-tools.md#unknown-settings",
        matches=(
            recorded(
                "AttributeError: torch._inductor.config.aot_inductor.nope does not exist",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "Invalid log settings: aoti, must be a comma separated list of fully",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "torch._inductor.exc.InductorError: ValueError: '7' is not a valid "
                "IntermediateValueDebuggingLevel",
                "torch 2.13.0, CPU",
            ),
        ),
        apart_from=("no_cxx_compiler",),
    ),
    Signature(
        id="printer_failed",
        family="P",
        phase="run",
        category="false_alarm",
        weight=66,
        anchors=(
            "min_all_",
            "_print_debugging_tensor_value_info",
            "aoti_torch_save_tensor_handle: Error",
            "Failed to create directory",
            "max_all_",
            "debug_printer",
        ),
        patterns=(
            (
                r"\"(?:min|max)_all_\w{1,200}\" not implemented for "
                r"'(?P<dtype>\w{1,200})'|in _print_debugging_tensor_value_info"
                "|aoti_torch_save_tensor_handle: .{0,80}Error creating directory|Error: Failed to "
                r"create directory|codegen/debug_utils\.py\", line \d{1,20}, in .{0,300}print"
            ),
        ),
        summary="The value printer stumbled, not the model",
        means=(
            "Statistics are not defined for float8 and complex, constants as kernel arguments "
            "break it in 2.6, and mode 1 cannot make its folder before 2.10."
        ),
        mistaken_for="A fault of the kernel just printed",
        check="Run without AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER",
        fixes=(
            fix(
                "Use mode 3, or filter to kernels with ordinary dtypes; make tmp/aoti_torch by "
                "hand for mode 1 before 2.10"
            ),
        ),
        guide="guides/debugging-tools.md#printer-errors",
        next_tool="run_stage",
        references=("pytorch/pytorch#149008", "pytorch/pytorch#145425"),
        matches=(
            quoted(
                "Min value: Error: \"min_all_cuda\" not implemented for 'Float8_e4m3fn'",
                "pytorch/pytorch#149008",
            ),
            quoted("Error: Failed to create directory", "torch 2.9 mode 1, run time"),
        ),
    ),
    Signature(
        id="minifier_failed",
        family="P",
        phase="lower",
        category="false_alarm",
        weight=78,
        confidence="proved",
        anchors=(
            "did not fail the tester",
            "could not reproduce the original failure",
            "MinifierSanityCheckFailed",
            "AOTIMinifierError",
            "check for accuracy is not supported yet",
            "not any(mod.named_parameters())",
        ),
        patterns=(
            (
                "Input graph did not fail the tester|Minifier could not reproduce the original "
                "failure|MinifierSanityCheckFailed"
            ),
            (
                "AOTIMinifierError|check for accuracy is not supported yet|assert not "
                r"any\(mod\.named_parameters\(\)\)"
            ),
        ),
        summary="PyTorch's own minifier gave up; this says nothing about the model",
        means=(
            "It replays only the example inputs, in a fresh process without your registrations, "
            "so failures of run-time data, of another size or of memory state do not come back; "
            "and candidates that cannot be exported stop it."
        ),
        mistaken_for="A repaired bug",
        fixes=(fix("Reproduce with the captured inputs of the failing call instead"),),
        guide="guides/debugging-tools.md#minifier-errors",
        next_tool="minify",
        references=("pytorch/pytorch#111678",),
        matches=(
            recorded(
                "RuntimeError: Input graph did not fail the tester",
                "torch 2.13 CPU: launcher without the fault",
            ),
            quoted(
                "torch._dynamo.repro.aoti.AOTIMinifierError: This error is caused",
                "text of torch/_dynamo/repro/aoti.py",
            ),
            quoted("    assert not any(mod.named_parameters())", "pytorch/pytorch#111678"),
        ),
    ),
)
