"""The script's own errors and settings; threads, streams, processes, CUDA graphs and hangs."""

TABLE = r"""
distributed_error none user_code BROAD_TEXT possible check_environment
    summary Communication between processes failed: {what}
    means NCCL, Gloo or torchrun reports it. It is a failure of the network, of the set-up of ranks, or a consequence of another rank that died; AOTInductor is not involved.
    check The first rank that failed, and NCCL_DEBUG=WARN
    fix Look at the log of the rank that failed first; one GPU per rank
    fix Run the model alone in one process
    pattern \b(?P<what>ncclSystemError) || \b(?P<what>NCCL error in: \S{1,120})
    pattern \b(?P<what>(?:DistBackendError|DistNetworkError|DistStoreError)(?:: .{1,120})?)
    pattern torch\.distributed\.elastic\.multiprocessing\.errors\.\w{1,200}
    pattern RendezvousConnectionError || The server socket has failed to listen
    pattern connectFullMesh failed || Default process group has not been initialized
    unconfirmed \b(?P<what>NCCL INFO \S{1,40}\.cc:\d{1,5} -> [1-9]) || \b(?P<what>ncclUnhandled\w{1,20})
    unconfirmed \b(?P<what>(?:ncclInternalError|ncclInvalidUsage|ncclInvalidArgument|ncclRemoteError))
    unconfirmed \b(?P<what>NCCL Error \d{1,20}: .{1,60})
    unconfirmed \b(?P<what>NCCL communicator was aborted) || \b(?P<what>Duplicate GPU detected)
    unconfirmed Connection closed by peer \[ || environment variable MASTER_ADDR expected
    example [common form in public threads] ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.
    unlike example [harmless] NCCL INFO Bootstrap : Using eth0:10.0.0.2<0>
    unlike example NCCL WARN Cuda failure 1 'invalid argument' ignored during shutdown
download_or_options_error none user_code BROAD_TEXT possible
    summary The script could not get its files or understand its options: {what}
    means A download, a checkpoint, a configuration file or the command line; no model was compiled or run yet.
    check The last frame of the traceback that lies in your files
    fix Correct the path, the version of the file, or the option that is named
    pattern ^(?P<what>(?:huggingface_hub\.(?:utils\._)?\S{0,40}errors?\S{0,40}|safetensors_rust\.SafetensorError|_pickle\.UnpicklingError|requests\.exceptions\.\w{1,200}|urllib\.error\.\w{1,200}|(?:omegaconf|hydra)\.errors\.\w{1,200}|pydantic_core\.\S{1,60}Error): .{1,120})
    pattern error: the following arguments are required: .{1,120}
    unconfirmed error: unrecognized arguments: .{1,120}
    recorded _pickle.UnpicklingError: Weights only load failed. This file can still be loaded
    example [argparse] infer.py: error: the following arguments are required: --model
minifier_failed lower false_alarm EXACT_TEXT proved minify
    summary PyTorch's own minifier failed; this says nothing about the model
    means It replays only the example inputs, in a fresh process without your registrations, so failures of run-time data, of another size or of memory state do not come back; and candidates that cannot be exported stop it.
    fix Reproduce with the captured inputs of the failing call instead
    guide debugging-tools.md#minifier-errors
    pattern Input graph did not fail the tester || AOTIMinifierError
    pattern assert not any\(mod\.named_parameters\(\)\)
    unconfirmed Minifier could not reproduce the original failure || MinifierSanityCheckFailed
    unconfirmed check for accuracy is not supported yet
torchscript_failed run user_code BROAD_TEXT envelope possible
    summary A TorchScript model failed, which is no package of AOTInductor
    means TorchScript's interpreter shows its own stack; the last line says what failed.
    check Does the script call torch._inductor or torch.export at all?
    fix Read the last line: it is the operator's own error
    pattern operation failed in the TorchScript interpreter
printer_failed run false_alarm KIND_TEXT run_stage
    summary The value printer failed, not the model
    means Statistics are not defined for float8 and complex, constants as kernel arguments break it in 2.6, and mode 1 cannot make its folder before 2.10.
    check Run without AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER
    fix Use mode 3, or filter to kernels with ordinary dtypes; make tmp/aoti_torch by hand for mode 1 before 2.10
    guide debugging-tools.md#printer-errors
    pattern "(?:min|max)_all_\w{1,200}" not implemented for '\w{1,200}'
    pattern in _print_debugging_tensor_value_info
    pattern aoti_torch_save_tensor_handle: .{0,80}Error creating directory
    pattern Error: Failed to create directory
    pattern codegen/debug_utils\.py", line \d{1,20}, in .{0,300}print
    example [torch 2.9 mode 1, run time] Error: Failed to create directory
setting_unknown environment user_code SPECIFIC_TEXT
    summary A setting is unknown to this torch: {what}
    means A spelling mistake, an option of another release, or a variable left set. TORCH_LOGS knows no `aoti`; the printer takes 0 to 3, as text.
    fix Correct or unset it; torch._inductor.config and `Valid settings` list the known names
    guide debugging-tools.md#unknown-settings
    pattern torch\._inductor\.config\.[\w.]{1,100} does not exist
    pattern (?P<what>Invalid log settings: .{1,120}), must be a comma separated list
    pattern '?[^' ]{1,20}'? is not a valid IntermediateValueDebuggingLevel
    recorded Invalid log settings: aoti, must be a comma separated list of fully
    recorded torch._inductor.exc.InductorError: ValueError: '7' is not a valid IntermediateValueDebuggingLevel
torch_not_installed environment toolchain ASSERTION proved check_environment
    summary The interpreter that ran this has no torch
    means Python itself is fine: the script was started with an interpreter, or in an environment, in which torch is not installed.
    check `python -c 'import torch'` with the interpreter that the run names
    fix Name the interpreter that has torch: `python` of the tools, --python on a command line, or AOTI_DEBUG_PYTHON in the environment
    fix If none has it, install torch into the one that runs the script
    guide toolchain.md#toolchain
    pattern ModuleNotFoundError: No module named 'torch'
    recorded [Python 3.11, a bare venv] ModuleNotFoundError: No module named 'torch'
    unlike example [another release of torch] ModuleNotFoundError: No module named 'torch._six'
    unlike example [another package] ModuleNotFoundError: No module named 'torchvision'
training_error none user_code GENERAL_TEXT possible
    summary The training code stopped, not a compiled model: {what}
    means Autograd, an optimizer or the loader of the data refused what the script asked for. AOTInductor compiles inference only and is not involved.
    check No frame of the traceback lies in torch/_inductor
    fix Correct the training loop; export under torch.no_grad() and model.eval()
    pattern does not require grad and does not have a grad_fn || a leaf Variable that requires grad
    pattern variables needed for gradient computation has been modified
    pattern Trying to backward through the graph a second time
    pattern grad can be implicitly created only for scalar outputs
    pattern Attempting to unscale FP16 gradients || No inf checks were recorded for this optimizer
    pattern Expected to have finished reduction in the prior iteration
    pattern optimizer got an empty parameter list || can't optimize a non-leaf Tensor
    pattern parameters appear in more than one parameter group
    pattern loaded state dict contains a parameter group
    pattern loaded state dict has a different number of || \w{1,200} is not an Optimizer
    pattern DataLoader worker \(pid\(?s?\)? [\d, ]{1,80}\) (?:is killed|exited)
    unconfirmed Caught \w{1,200} in DataLoader worker process
    unlike example [harmless] RuntimeError: DataLoader worker count is 4
user_python_error none user_code VAGUE_TEXT symptom check_environment
    summary The script itself raised an ordinary Python error
    means A missing module, a misspelt name or a missing file: Python stopped outside compiling and running the model.
    check The last frame of the traceback lies in your file
    fix Correct the line of the last frame; for a missing module name the interpreter that has it (--python)
    pattern ^(?:SyntaxError|IndentationError|TabError): (?!program_source)
    pattern ^NameError: name '\w{1,200}' is not defined || ^FileNotFoundError: \[Errno 2\]
    pattern ^ZeroDivisionError:[ ]
    pattern ^AttributeError: module '(?!triton)[\w.]{1,200}' has no attribute '(?!codecache|AOTI)
    pattern ModuleNotFoundError: No module named '(?!torch'|triton)[\w.]{1,200}'
    pattern ImportError: cannot import name '\w{1,200}'
    unconfirmed ^UnboundLocalError:[ ]
    example [CPython text] FileNotFoundError: [Errno 2] No such file or directory: 'weights.pt'
    example [CPython text] AttributeError: module 'torch' has no attribute 'nothing'
    unlike example [Metal] SyntaxError: program_source:1:1: error: C++ requires a type specifier
cuda_after_fork run concurrency SPECIFIC_TEXT
    summary CUDA is used in a forked child of a process that had already used it
    means A CUDA context does not survive fork; servers and data loaders that fork after loading the model fail like this.
    fix multiprocessing.set_start_method('spawn'), and load the package in the child
    guide threads-streams-hangs.md#forked-processes
    pattern Cannot re-initialize (?:CUDA|XPU) in forked subprocess
    unconfirmed CUDA (?:driver )?error: initialization error
cuda_graph_capture run concurrency EXACT_TEXT
    summary The model does something that CUDA graph capture forbids
    means The runner records and queries events for its pool of models, which capture forbids; so does any synchronising or allocating operator.
    check Does the model run outside the capture?
    fix Load with aoti_load_package(path, run_single_threaded=True) and warm it up before the capture
    guide threads-streams-hangs.md#cuda-graph-capture
    pattern operation not permitted when stream is capturing
    pattern operation failed due to .{0,60}capture
    unconfirmed operation would make .{0,60}capture
    unconfirmed (?:cudaErrorStreamCapture|CUDA_ERROR_STREAM_CAPTURE_)\w{1,200}
cuda_graph_output_overwritten run concurrency EXACT_TEXT
    summary A CUDA graph and code around it use the same memory or stream in a forbidden way
    means Graph replays reuse their output memory, and random numbers, copies or allocations outside the graph's own rules are refused while one is captured.
    check Does it go away without mode='reduce-overhead' or without the capture?
    fix Clone outputs before the next call, or mark steps with torch.compiler.cudagraph_mark_step_begin()
    guide threads-streams-hangs.md#cuda-graph-capture
    pattern accessing tensor output of CUDAGraphs that has been overwritten
    pattern Offset increment outside graph capture
    pattern Cannot .{0,80}(?:during (?:CUDA )?graph capture|while capturing)
    pattern not (?:allowed|supported|permitted) .{0,80}(?:during (?:CUDA )?graph capture|while capturing)
    pattern The CUDA [Gg]raph is empty || graph capture .{0,40}(?:failed|invalid)
    unconfirmed Cannot prepare for replay during capturing
    example [ATen] RuntimeError: Offset increment outside graph capture encountered unexpectedly.
interrupted_by_hand hang hang NOTICE symptom possible
    summary The process was interrupted, perhaps because it seemed to hang
    means The innermost frame of the traceback shows where it was then: compiling (g++, triton, a pool of workers), loading or waiting for the GPU.
    check py-spy dump on a second run, twice some seconds apart.
    pattern ^KeyboardInterrupt\b
no_available_model run concurrency EXACT_TEXT
    summary The package's container holds no model instance, or one in a bad state
    means Zero instances were asked for, or making them failed and the error was swallowed. Load is not the reason: a call waits while all instances are busy.
    check What is the first error while loading?
    fix Create the runner with num_models (Python: num_runners) of at least 1
    fix After a failed load or call create a new runner
    guide threads-streams-hangs.md#no-available-model
    pattern No available models? in container || No model available in container
    pattern Model (?:CUDA |XPU )?event was not initialized
    unlike example [a fault of the model itself] Error: The model did not finish successfully. Error: an illegal memory access was encountered
stacks_on_timeout hang hang KIND_TEXT symptom
    summary The process did not finish in its time
    means The stacks were taken when the time limit passed. The innermost frame tells compile (g++, triton), load (constants, ISA test) and run (synchronize) apart.
    check Two stacks some seconds apart: same frame means a hang, another one slowness
    fix Give a first compile 15 minutes before calling it a hang
    pattern ^Timeout \(\d{1,20}:\d\d:\d\d(?:\.\d{1,20})?\)! || timed out after [\d.]{1,200} ?s
    pattern TimeoutExpired
stream_options load concurrency SPECIFIC_TEXT
    summary A combination of stream options, or a stream inside the model, is not supported
    means Stream affinity (torch 2.15) excludes single-threaded mode, and streams used inside forward are dropped or refused by the C++ wrapper.
    fix Choose either run_single_threaded or use_stream_affinity; set the stream around the call instead of inside the model
    guide threads-streams-hangs.md#stream-affinity
    pattern use_stream_affinity cannot be enabled || synchronize_stream.{0,80}(?:not |un)supported
    unconfirmed Stream affinity .{1,80} || torch\.cuda\.Stream is not supported
    example [torch 2.15] RuntimeError: use_stream_affinity cannot be enabled when run_single_threaded is true
waited_too_long hang hang KIND_TEXT
    summary A wait reached its time limit
    means A watchdog, a batch system or Inductor's own wait for a compile worker ended it. The lines before name the step that hung; a slow first compile looks the same.
    check Two stacks some seconds apart (py-spy dump): same frame means a hang.
    fix For a compile worker: TORCHINDUCTOR_COMPILE_THREADS=1 shows the failure in the process itself
    fix Give a first compile 15 minutes before calling it a hang
    pattern compile-worker future for .{1,120} did not complete within [\d.]{1,200} ?s
    pattern DUE TO TIME LIMIT || task \S{1,60} blocked for more than \d{1,20} seconds
    unconfirmed soft lockup || exceeded the maximum execution time
    unconfirmed Failed: Timeout >[\d.]{1,200} ?s || exit code 124\b || exit status 124\b
    example [Slurm] slurmstepd: error: *** JOB 31 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***
    example [Linux] INFO: task python3:811 blocked for more than 120 seconds.
worker_processes_refused lower concurrency SPECIFIC_TEXT check_environment
    summary Compile workers cannot be started or used here: {what}
    means Inductor compiles in worker processes. A daemonic parent may not have any, a script without a main guard starts itself again, and a pool that was shut down takes no more work.
    fix Put the script's work below if __name__ == '__main__':
    fix Or compile in the process itself: TORCHINDUCTOR_COMPILE_THREADS=1
    guide threads-streams-hangs.md#forked-processes
    pattern daemonic processes are not allowed to have children || disabled in daemonic
    pattern finished its bootstrapping phase || Attempting to use a closed pool
    unconfirmed cannot schedule new futures after (?:interpreter )?shutdown
    example [CPython] AssertionError: daemonic processes are not allowed to have children
    example [CPython]         current process has finished its bootstrapping phase.
"""
