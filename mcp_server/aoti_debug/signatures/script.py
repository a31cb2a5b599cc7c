"""The script's own errors and settings; threads, streams, processes, CUDA graphs and hangs."""

from __future__ import annotations

from aoti_debug.facts.categories import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
    Signature(
        id="distributed_error",
        phase="none",
        category="user_code",
        tier=Tier.BROAD_TEXT,
        confidence="possible",
        patterns=(
            r"\b(?P<what>ncclUnhandled\w{1,20})",
            r"\b(?P<what>ncclSystemError)",
            r"\b(?P<what>ncclInternalError)",
            r"\b(?P<what>ncclInvalidUsage)",
            r"\b(?P<what>ncclInvalidArgument)",
            r"\b(?P<what>ncclRemoteError)",
            r"\b(?P<what>NCCL error in: \S{1,120})",
            r"\b(?P<what>NCCL Error \d{1,20}: .{1,60})",
            r"\b(?P<what>NCCL communicator was aborted)",
            r"\b(?P<what>DistBackendError(?:: .{1,120})?)",
            r"\b(?P<what>DistNetworkError(?:: .{1,120})?)",
            r"\b(?P<what>DistStoreError(?:: .{1,120})?)",
            r"\b(?P<what>Duplicate GPU detected)",
            r"(?P<what>torch\.distributed\.elastic\.multiprocessing\.errors\.\w{1,200})",
            "(?P<what>RendezvousConnectionError)",
            "(?P<what>The server socket has failed to listen)",
            "(?P<what>connectFullMesh failed)",
            "(?P<what>Default process group has not been initialized)",
            r"(?P<what>Connection closed by peer \[)",
            "(?P<what>environment variable MASTER_ADDR expected)",
        ),
        summary="Processes that work together failed at talking to each other: {what}",
        means=(
            "NCCL, Gloo or torchrun reports it. It is a failure of the network, of the set-up of "
            "ranks, or the echo of another rank that died; AOTInductor has no part in it."
        ),
        check="The first rank that failed, and NCCL_DEBUG=WARN",
        fixes=(
            fix("Look at the log of the rank that failed first; one GPU per rank"),
            fix("Run the model alone in one process"),
        ),
        guide="guides/debugging-tools.md#an-unknown-failure",
        next_tool="check_environment",
        matches=(
            quoted(
                "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1, unhandled system error",
                "common form in public threads",
            ),
            quoted(
                "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.",
                "common form in public threads",
            ),
            recorded(
                "ValueError: Default process group has not been initialized, please make sure to call init_process_group.",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
                "printed by torchrun",
            ),
            words(
                "programs that were not at hand",
                "ncclUnhandledx",
                "ncclInternalError",
                "ncclInvalidUsage",
                "ncclInvalidArgument",
                "ncclRemoteError",
                "NCCL Error 1: x",
                "NCCL communicator was aborted",
                "Duplicate GPU detected",
                "Connection closed by peer [",
                "environment variable MASTER_ADDR expected",
            ),
            words("torch/distributed/__init__.py", "DistNetworkError", "DistStoreError"),
            words("torch/distributed/elastic/rendezvous/__init__.py", "RendezvousConnectionError"),
            words("libtorch", "The server socket has failed to listen", "connectFullMesh failed"),
        ),
        neighbours=(
            quoted("NCCL INFO Bootstrap : Using eth0:10.0.0.2<0>", "harmless"),
            quoted("NCCL WARN Cuda failure 1 'invalid argument' ignored during shutdown"),
        ),
    ),
    Signature(
        id="download_or_options_error",
        phase="none",
        category="user_code",
        tier=Tier.BROAD_TEXT,
        confidence="possible",
        patterns=(
            (
                r"^(?P<what>(?:huggingface_hub\.(?:utils\._)?\S{0,40}errors?\S{0,40}|"
                r"safetensors_rust\.SafetensorError|_pickle\.UnpicklingError|"
                r"requests\.exceptions\.\w{1,200}|urllib\.error\.\w{1,200}|(?:omegaconf|hydra)"
                r"\.errors\.\w{1,200}|pydantic_core\.\S{1,60}Error): .{1,120})"
            ),
            "(?P<what>error: the following arguments are required: .{1,120})",
            "(?P<what>error: unrecognized arguments: .{1,120})",
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
                "infer.py: error: the following arguments are required: --model", "form of argparse"
            ),
            words("torch/distributed/launch.py", "error: unrecognized arguments: x"),
        ),
    ),
    Signature(
        id="minifier_failed",
        phase="lower",
        category="false_alarm",
        tier=Tier.EXACT_TEXT,
        confidence="proved",
        patterns=(
            "Input graph did not fail the tester",
            "Minifier could not reproduce the original failure",
            "MinifierSanityCheckFailed",
            "AOTIMinifierError",
            "check for accuracy is not supported yet",
            r"assert not any\(mod\.named_parameters\(\)\)",
        ),
        summary="PyTorch's own minifier gave up; this says nothing about the model",
        means=(
            "It replays only the example inputs, in a fresh process without your registrations, so "
            "failures of run-time data, of another size or of memory state do not come back; and "
            "candidates that cannot be exported stop it."
        ),
        fixes=(fix("Reproduce with the captured inputs of the failing call instead"),),
        guide="guides/debugging-tools.md#minifier-errors",
        next_tool="minify",
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
            words(
                "programs that were not at hand",
                "Minifier could not reproduce the original failure",
                "MinifierSanityCheckFailed",
                "check for accuracy is not supported yet",
            ),
        ),
    ),
    Signature(
        id="other_runtime_error",
        phase="none",
        category="user_code",
        tier=Tier.BROAD_TEXT,
        confidence="possible",
        patterns=(
            r"(?P<what>\[ONNXRuntimeError\] : .{1,120})",
            r"(?P<what>onnxruntime(?:\.capi\.\S{1,60}\.\w{1,200}|::\w{1,40}Exception): .{1,120})",
            r"(?P<what>torch\.onnx\.(?:errors|_internal\.exporter\._errors)\.\w{1,60})",
            r"(?P<what>Exporting the operator '?\S{1,80} to ONNX opset version)",
            r"(?P<what>onnx\.onnx_cpp2py_export\.\S{1,60})",
            r"(?P<what>\[TRT\] \[E\] .{1,120})",
            r"(?P<what>\[TensorRT\] ERROR: .{1,120})",
            r"(?P<what>\[E\] \[TRT\] .{1,120})",
            r"(?P<what>torch_tensorrt\.\S{1,60}(?:Error|Exception)\S{0,20})",
            r"(?P<what>&&&& FAILED TensorRT\.trtexec)",
            "(?P<what>operation failed in the TorchScript interpreter)",
            r"(?P<what>torch\.jit\.frontend\.\w{1,40}Error)",
            r"(?P<what>torch\.jit\.Error)",
            "(?P<what>TracingCheckError)",
            (
                r"(?P<what>openvino\S{0,60}(?:Error|Exception)\S{0,10}|tvm\.error\.\w{1,200}|"
                r"coremltools\S{0,60}Error|tensorflow\.python\.framework\.errors\S{1,60}|"
                r"jaxlib\.xla_extension\.XlaRuntimeError)"
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
                "onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument: [ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Invalid rank for input: x",
                "form of ONNX Runtime",
            ),
            quoted(
                "torch.onnx.errors.UnsupportedOperatorError: Exporting the operator 'aten::foo' to ONNX opset version 17 is not supported.",
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
            words(
                "programs that were not at hand",
                "onnx.onnx_cpp2py_export.x",
                "[TensorRT] ERROR: x",
                "[E] [TRT] x",
                "&&&& FAILED TensorRT.trtexec",
            ),
            words("programs that were not at hand", "torch_tensorrt.xError"),
            words("torch/jit/_script.py", "torch.jit.frontend.xError"),
            words("torch/jit/__init__.py", "torch.jit.Error", "TracingCheckError"),
        ),
        neighbours=(
            quoted("[TRT] [W] Using an engine plan file across different models", "a warning"),
            quoted("from openvino.runtime import Core", "an import"),
        ),
    ),
    Signature(
        id="printer_failed",
        phase="run",
        category="false_alarm",
        tier=Tier.KIND_TEXT,
        patterns=(
            "\"(?:min|max)_all_\\w{1,200}\" not implemented for '(?P<dtype>\\w{1,200})'",
            "in _print_debugging_tensor_value_info",
            "aoti_torch_save_tensor_handle: .{0,80}Error creating directory",
            "Error: Failed to create directory",
            r'codegen/debug_utils\.py", line \d{1,20}, in .{0,300}print',
        ),
        summary="The value printer stumbled, not the model",
        means=(
            "Statistics are not defined for float8 and complex, constants as kernel arguments "
            "break it in 2.6, and mode 1 cannot make its folder before 2.10."
        ),
        check="Run without AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER",
        fixes=(
            fix(
                (
                    "Use mode 3, or filter to kernels with ordinary dtypes; make tmp/aoti_torch by "
                    "hand for mode 1 before 2.10"
                ),
            ),
        ),
        guide="guides/debugging-tools.md#printer-errors",
        next_tool="run_stage",
        matches=(
            quoted(
                "Min value: Error: \"min_all_cuda\" not implemented for 'Float8_e4m3fn'",
                "pytorch/pytorch#149008",
            ),
            quoted("Error: Failed to create directory", "torch 2.9 mode 1, run time"),
            words(
                "programs that were not at hand",
                "in _print_debugging_tensor_value_info",
                'codegen/debug_utils.py", line 1, in print',
            ),
            words("libtorch", "aoti_torch_save_tensor_handle: Error creating directory"),
        ),
    ),
    Signature(
        id="setting_unknown",
        phase="environment",
        category="user_code",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            r"(?P<what>torch\._inductor\.config\.[\w.]{1,100} does not exist)",
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
                (
                    "Correct or unset it; torch._inductor.config and `Valid settings` list the "
                    "known names"
                ),
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
                "torch._inductor.exc.InductorError: ValueError: '7' is not a valid IntermediateValueDebuggingLevel",
                "torch 2.13.0, CPU",
            ),
        ),
        apart_from=("no_cxx_compiler",),
    ),
    Signature(
        id="torch_not_installed",
        phase="environment",
        category="toolchain",
        tier=Tier.ASSERTION,
        confidence="proved",
        patterns=("ModuleNotFoundError: No module named 'torch'",),
        summary="The interpreter that ran this has no torch",
        means=(
            "Python itself is fine: the script was started with an interpreter, or in an "
            "environment, in which torch is not installed."
        ),
        check="`python -c 'import torch'` with the interpreter that the run names",
        fixes=(
            fix(
                (
                    "Name the interpreter that has torch: `python` of the tools, --python on a "
                    "command line, or AOTI_DEBUG_PYTHON in the environment"
                ),
            ),
            fix("If none has it, install torch into the one that runs the script"),
        ),
        guide="guides/toolchain.md#toolchain",
        next_tool="check_environment",
        matches=(
            recorded("ModuleNotFoundError: No module named 'torch'", "Python 3.11, a bare venv"),
        ),
        neighbours=(
            quoted("ModuleNotFoundError: No module named 'torch._six'", "another release of torch"),
            quoted("ModuleNotFoundError: No module named 'torchvision'", "another package"),
        ),
        apart_from=(
            "user_python_error",
            "triton_missing",
            "triton_mismatch",
        ),
    ),
    Signature(
        id="training_error",
        phase="none",
        category="user_code",
        tier=Tier.GENERAL_TEXT,
        confidence="possible",
        patterns=(
            "(?P<what>does not require grad and does not have a grad_fn)",
            "(?P<what>a leaf Variable that requires grad)",
            "(?P<what>variables needed for gradient computation has been modified)",
            "(?P<what>Trying to backward through the graph a second time)",
            "(?P<what>grad can be implicitly created only for scalar outputs)",
            "(?P<what>Attempting to unscale FP16 gradients)",
            "(?P<what>No inf checks were recorded for this optimizer)",
            "(?P<what>Expected to have finished reduction in the prior iteration)",
            "(?P<what>optimizer got an empty parameter list)",
            "(?P<what>can't optimize a non-leaf Tensor)",
            "(?P<what>parameters appear in more than one parameter group)",
            "(?P<what>loaded state dict contains a parameter group)",
            "(?P<what>loaded state dict has a different number of)",
            r"(?P<what>\w{1,200} is not an Optimizer)",
            r"(?P<what>DataLoader worker \(pid\(?s?\)? [\d, ]{1,80}\) is killed)",
            r"(?P<what>DataLoader worker \(pid\(?s?\)? [\d, ]{1,80}\) exited)",
            r"(?P<what>Caught \w{1,200} in DataLoader worker process)",
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
                "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.",
                "torch 2.13.0, CPU",
            ),
            recorded("ValueError: optimizer got an empty parameter list", "torch 2.13.0, CPU"),
            quoted(
                "RuntimeError: DataLoader worker (pid 4242) is killed by signal: Killed.",
                "a string of the installed libtorch_python",
            ),
            words("libtorch", "variables needed for gradient computation has been modified"),
            words(
                "torch/_functorch/_aot_autograd/graph_compile.py",
                "Trying to backward through the graph a second time",
            ),
            words(
                "torch/autograd/__init__.py",
                "grad can be implicitly created only for scalar outputs",
            ),
            words(
                "torch/distributed/fsdp/sharded_grad_scaler.py",
                "Attempting to unscale FP16 gradients",
            ),
            words("torch/amp/grad_scaler.py", "No inf checks were recorded for this optimizer"),
            words(
                "torch/testing/_internal/distributed/distributed_test.py",
                "Expected to have finished reduction in the prior iteration",
            ),
            words(
                "torch/optim/optimizer.py",
                "can't optimize a non-leaf Tensor",
                "parameters appear in more than one parameter group",
                "loaded state dict contains a parameter group",
                "loaded state dict has a different number of",
            ),
            words("torch/optim/lr_scheduler.py", "x is not an Optimizer"),
            words("torch/utils/data/dataloader.py", "DataLoader worker (pid 1) exited"),
            words("torch/utils/data/_utils/worker.py", "Caught x in DataLoader worker process"),
        ),
        neighbours=(quoted("RuntimeError: DataLoader worker count is 4", "harmless"),),
    ),
    Signature(
        id="user_python_error",
        phase="none",
        category="user_code",
        role="symptom",
        tier=Tier.VAGUE_TEXT,
        patterns=(
            "^(?:SyntaxError|IndentationError|TabError): (?!program_source)",
            r"^NameError: name '\w{1,200}' is not defined",
            r"^FileNotFoundError: \[Errno 2\]",
            "^UnboundLocalError: ",
            "^ZeroDivisionError: ",
            r"ModuleNotFoundError: No module named '(?!torch'|triton)(?P<module>[\w.]{1,200})'",
            r"ImportError: cannot import name '(?P<name>\w{1,200})'",
        ),
        summary="The script itself raised an ordinary Python error",
        means=(
            "A missing module, a misspelt name or a missing file: Python stopped outside compiling "
            "and running the model."
        ),
        check="The last frame of the traceback lies in your file",
        fixes=(
            fix(
                (
                    "Correct the line of the last frame; for a missing module name the interpreter "
                    "that has it (--python)"
                ),
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
            words("programs that were not at hand", "SyntaxError: "),
            words("Python's test_scope.py", "UnboundLocalError: "),
            words("torch/fx/experimental/_size_hinting.py", "ZeroDivisionError: "),
            words("programs that were not at hand", "ImportError: cannot import name 'x'"),
        ),
        neighbours=(
            quoted(
                "SyntaxError: program_source:1:1: error: C++ requires a type specifier", "Metal"
            ),
        ),
        apart_from=("triton_missing",),
    ),
    Signature(
        id="cuda_after_fork",
        phase="run",
        category="concurrency",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "Cannot re-initialize (?:CUDA|XPU) in forked subprocess",
            "CUDA (?:driver )?error: initialization error",
        ),
        summary="CUDA is used in a forked child of a process that had already used it",
        means=(
            "A CUDA context does not survive fork; servers and data loaders that fork after "
            "loading the model fail like this."
        ),
        fixes=(
            fix("multiprocessing.set_start_method('spawn'), and load the package in the child"),
        ),
        guide="guides/threads-streams-hangs.md#forked-processes",
        matches=(
            quoted(
                "RuntimeError: Cannot re-initialize CUDA in forked subprocess.",
                "text of torch/cuda/__init__.py",
            ),
            words("programs that were not at hand", "CUDA error: initialization error"),
        ),
    ),
    Signature(
        id="cuda_graph_capture",
        phase="run",
        category="concurrency",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "operation not permitted when stream is capturing",
            "operation failed due to .{0,60}capture",
            "operation would make .{0,60}capture",
            r"cudaErrorStreamCapture\w{1,200}",
            r"CUDA_ERROR_STREAM_CAPTURE_\w{1,200}",
        ),
        summary="Something in the model is not allowed while a CUDA graph is being captured",
        means=(
            "The runner records and queries events for its pool of models, which capture forbids; "
            "so does any synchronising or allocating operator."
        ),
        check="Does the model run outside the capture?",
        fixes=(
            fix(
                (
                    "Load with aoti_load_package(path, run_single_threaded=True) and warm it up "
                    "before the capture"
                ),
            ),
        ),
        guide="guides/threads-streams-hangs.md#cuda-graph-capture",
        matches=(
            quoted(
                "RuntimeError: CUDA error: operation not permitted when stream is capturing",
                "common form in public threads",
            ),
            quoted(
                "CUDA error: operation failed due to a previous error during capture",
                "CUDA runtime text",
            ),
            words(
                "CUDA",
                "operation would make capture",
                "cudaErrorStreamCapturex",
                "CUDA_ERROR_STREAM_CAPTURE_x",
            ),
        ),
    ),
    Signature(
        id="cuda_graph_output_overwritten",
        phase="run",
        category="concurrency",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "accessing tensor output of CUDAGraphs that has been overwritten",
            "Offset increment outside graph capture",
            "Cannot prepare for replay during capturing",
            "Cannot .{0,80}(?:during (?:CUDA )?graph capture|while capturing)",
            (
                "not (?:allowed|supported|permitted) .{0,80}(?:during (?:CUDA )?graph capture|"
                "while capturing)"
            ),
            "The CUDA [Gg]raph is empty",
            "graph capture .{0,40}(?:failed|invalid)",
        ),
        summary="A CUDA graph and code around it use the same memory or stream in a forbidden way",
        means=(
            "Graph replays reuse their output memory, and random numbers, copies or allocations "
            "outside the graph's own rules are refused while one is captured."
        ),
        check="Does it go away without mode='reduce-overhead' or without the capture?",
        fixes=(
            fix(
                (
                    "Clone outputs before the next call, or mark steps with "
                    "torch.compiler.cudagraph_mark_step_begin()"
                ),
            ),
        ),
        guide="guides/threads-streams-hangs.md#cuda-graph-capture",
        matches=(
            quoted(
                "RuntimeError: Error: accessing tensor output of CUDAGraphs that has been overwritten by a subsequent run.",
                "words of torch/_inductor/cudagraph_trees.py",
            ),
            quoted(
                "RuntimeError: Offset increment outside graph capture encountered unexpectedly.",
                "words of ATen",
            ),
            words(
                "programs that were not at hand",
                "Cannot prepare for replay during capturing",
                "not allowed during graph capture",
            ),
            words("torch/storage.py", "Cannot during graph capture"),
            words("torch/_dynamo/config.py", "The CUDA Graph is empty"),
            words("torch/_torch_docs.py", "graph capture failed"),
        ),
        apart_from=("cuda_graph_capture",),
    ),
    Signature(
        id="foreign_stream_or_context",
        phase="run",
        category="concurrency",
        tier=Tier.GENERAL_TEXT,
        confidence="possible",
        patterns=(
            "(?P<what>invalid resource handle)",
            "(?P<what>context is destroyed)",
            "(?P<what>CUDA error: invalid device context)",
            "(?P<what>Event device .{1,60} does not match .{1,40}stream)",
            "(?P<what>ThreadSanitizer: data race)",
            "(?P<what>cudaErrorContextIsDestroyed)",
        ),
        summary="A stream, event or context of another device, thread or time is used: {what}",
        means=(
            "A handle made on one GPU is used while another is current, or after its context "
            "ended: a wrong current device, a thread without torch.cuda.set_device, or work at "
            "interpreter exit."
        ),
        check="Print torch.cuda.current_device() and the stream's device in the thread that calls.",
        fixes=(
            fix(
                (
                    "Set the device in every thread, and make streams and events on it; finish "
                    "work before exit"
                ),
            ),
        ),
        guide="guides/threads-streams-hangs.md#streams-inside-the-model",
        next_tool="triage",
        matches=(
            quoted(
                "RuntimeError: CUDA error: invalid resource handle", "words of the CUDA runtime"
            ),
            quoted(
                "RuntimeError: Triton Error [CUDA]: context is destroyed",
                "words of the CUDA driver",
            ),
            words(
                "programs that were not at hand",
                "CUDA error: invalid device context",
                "ThreadSanitizer: data race",
            ),
            words("torch/_meta_registrations.py", "Event device x does not match xstream"),
            words("torch/utils/hipify/cuda_to_hip_mappings.py", "cudaErrorContextIsDestroyed"),
        ),
    ),
    Signature(
        id="interrupted_by_hand",
        phase="hang",
        category="hang",
        role="symptom",
        tier=Tier.NOTICE,
        confidence="possible",
        patterns=(r"^KeyboardInterrupt\b",),
        summary="Somebody stopped the process by hand, perhaps because it seemed to hang",
        means=(
            "The innermost frame of the traceback shows where it was then: compiling (g++, triton, "
            "a pool of workers), loading or waiting for the GPU."
        ),
        check="py-spy dump on a second run, twice some seconds apart.",
        guide="guides/threads-streams-hangs.md#hangs",
        next_tool="triage",
        matches=(quoted("KeyboardInterrupt", "words of CPython"),),
    ),
    Signature(
        id="no_available_model",
        phase="run",
        category="concurrency",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "No available models? in container",
            "No model available in container",
            "Model (?:CUDA |XPU )?event was not initialized",
        ),
        summary="The package's container holds no model instance, or one in a bad state",
        means=(
            "Zero instances were asked for, or making them failed and the error was swallowed. It "
            "is no matter of load: while all instances are busy, a call waits."
        ),
        check="What is the first error while loading?",
        fixes=(
            fix("Create the runner with num_models (Python: num_runners) of at least 1"),
            fix("After a failed load or call create a new runner"),
        ),
        guide="guides/threads-streams-hangs.md#no-available-model",
        next_tool="triage",
        matches=(
            quoted("RuntimeError: No available models in container!", "text of model_container.h"),
            quoted("Error: No model available in container!", "text of model_container.h"),
            words(
                "torch/csrc/inductor/aoti_runtime/model_base.h", "Model event was not initialized"
            ),
        ),
        neighbours=(
            quoted(
                "Error: The model did not finish successfully. Error: an illegal memory access was encountered",
                "a fault of the model itself",
            ),
        ),
    ),
    Signature(
        id="stacks_on_timeout",
        phase="hang",
        category="hang",
        role="symptom",
        tier=Tier.KIND_TEXT,
        patterns=(
            r"^Timeout \(\d{1,20}:\d\d:\d\d(?:\.\d{1,20})?\)!",
            r"timed out after (?P<seconds>[\d.]{1,200}) ?s",
            "TimeoutExpired",
        ),
        summary="The process did not finish in its time",
        means=(
            "Stacks were taken because the time was over. The innermost frame tells compile (g++, "
            "triton), load (constants, ISA test) and run (synchronize) apart."
        ),
        check="Two stacks some seconds apart: same frame means a hang, another one slowness",
        fixes=(fix("Give a first compile 15 minutes before calling it a hang"),),
        guide="guides/threads-streams-hangs.md#hangs",
        next_tool="triage",
        matches=(
            quoted("Timeout (0:00:30)!", "CPython faulthandler.dump_traceback_later"),
            quoted(
                "subprocess.TimeoutExpired: Command '['python', 'run.py']' timed out after 900 seconds",
                "CPython text",
            ),
        ),
    ),
    Signature(
        id="stream_options",
        phase="load",
        category="concurrency",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "use_stream_affinity cannot be enabled",
            "Stream affinity .{1,80}",
            "synchronize_stream.{0,80}not supported",
            "synchronize_stream.{0,80}unsupported",
            r"torch\.cuda\.Stream is not supported",
        ),
        summary="A combination of stream options, or a stream inside the model, is not supported",
        means=(
            "Stream affinity (torch 2.15) excludes single-threaded mode, and streams used inside "
            "forward are dropped or refused by the C++ wrapper."
        ),
        fixes=(
            fix(
                (
                    "Choose either run_single_threaded or use_stream_affinity; set the stream "
                    "around the call instead of inside the model"
                ),
            ),
        ),
        guide="guides/threads-streams-hangs.md#stream-affinity",
        matches=(
            quoted(
                "RuntimeError: use_stream_affinity cannot be enabled when run_single_threaded is true",
                "text of torch 2.15",
            ),
            words(
                "programs that were not at hand",
                "Stream affinity x",
                "torch.cuda.Stream is not supported",
            ),
            words(
                "torch/_functorch/_aot_autograd/streams.py",
                "synchronize_streamnot supported",
                "synchronize_streamunsupported",
            ),
        ),
    ),
    Signature(
        id="waited_too_long",
        phase="hang",
        category="hang",
        tier=Tier.KIND_TEXT,
        patterns=(
            r"compile-worker future for .{1,120} did not complete within [\d.]{1,200} ?s",
            "DUE TO TIME LIMIT",
            r"task \S{1,60} blocked for more than \d{1,20} seconds",
            "soft lockup",
            "exceeded the maximum execution time",
            r"Failed: Timeout >[\d.]{1,200} ?s",
            r"exit code 124\b",
            r"exit status 124\b",
        ),
        summary="Something waited until its time was over",
        means=(
            "A watchdog, a batch system or Inductor's own wait for a compile worker ended it. The "
            "step that hung stands in the lines before; a slow first compile looks the same."
        ),
        check="Two stacks some seconds apart (py-spy dump): same frame means a hang.",
        fixes=(
            fix(
                (
                    "For a compile worker: TORCHINDUCTOR_COMPILE_THREADS=1 shows the failure in "
                    "the process itself"
                ),
            ),
            fix("Give a first compile 15 minutes before calling it a hang"),
        ),
        guide="guides/threads-streams-hangs.md#hangs",
        next_tool="triage",
        matches=(
            quoted(
                "RuntimeError: Inductor compile-worker future for 'triton_per_fused_sort_0' did not complete within 300s.",
                "words of torch/_inductor/async_compile.py",
            ),
            quoted(
                "slurmstepd: error: *** JOB 31 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***",
                "words of Slurm",
            ),
            quoted("INFO: task python3:811 blocked for more than 120 seconds.", "words of Linux"),
            words(
                "programs that were not at hand",
                "soft lockup",
                "exceeded the maximum execution time",
                "Failed: Timeout >1s",
                "exit code 124",
                "exit status 124",
            ),
        ),
    ),
    Signature(
        id="worker_processes_refused",
        phase="lower",
        category="concurrency",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "(?P<what>daemonic processes are not allowed to have children)",
            "(?P<what>disabled in daemonic multiprocessing processes)",
            r"(?P<what>before the\s{0,20}current process has finished its bootstrapping phase)",
            "(?P<what>has finished its bootstrapping phase)",
            "(?P<what>finished its bootstrapping phase)",
            "(?P<what>Attempting to use a closed pool)",
            "(?P<what>cannot schedule new futures after (?:interpreter )?shutdown)",
        ),
        summary="Compile workers cannot be started or used here: {what}",
        means=(
            "Inductor compiles in worker processes. A daemonic parent may not have any, a script "
            "without a main guard starts itself again, and a pool that was shut down takes no more "
            "work."
        ),
        fixes=(
            fix("Put the script's work below if __name__ == '__main__':"),
            fix("Or compile in the process itself: TORCHINDUCTOR_COMPILE_THREADS=1"),
        ),
        guide="guides/threads-streams-hangs.md#forked-processes",
        next_tool="check_environment",
        matches=(
            quoted(
                "AssertionError: daemonic processes are not allowed to have children",
                "words of CPython",
            ),
            quoted(
                "RuntimeError: Attempting to use a closed pool",
                "words of torch/_inductor/compile_worker/subproc_pool.py",
            ),
            quoted(
                "        current process has finished its bootstrapping phase.", "words of CPython"
            ),
            words(
                "torch/_inductor/async_compile.py", "disabled in daemonic multiprocessing processes"
            ),
            words(
                "Python's spawn.py",
                "before thecurrent process has finished its bootstrapping phase",
            ),
            words("Python's process.py", "cannot schedule new futures after shutdown"),
        ),
    ),
)
