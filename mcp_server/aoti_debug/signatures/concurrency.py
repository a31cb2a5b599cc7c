"""Threads, streams, processes, CUDA graphs and hangs."""

from __future__ import annotations

from aoti_debug.facts.tiers import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, words

SIGNATURES = (
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
                (
                    "RuntimeError: Error: accessing tensor output of CUDAGraphs that has been "
                    "overwritten by a subsequent run."
                ),
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
                "RuntimeError: CUDA error: invalid resource handle",
                "words of the CUDA runtime",
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
                "torch/csrc/inductor/aoti_runtime/model_base.h",
                "Model event was not initialized",
            ),
        ),
        neighbours=(
            quoted(
                (
                    "Error: The model did not finish successfully. Error: an illegal memory access "
                    "was encountered"
                ),
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
                (
                    "subprocess.TimeoutExpired: Command '['python', 'run.py']' timed out after 900 "
                    "seconds"
                ),
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
                (
                    "RuntimeError: use_stream_affinity cannot be enabled when run_single_threaded "
                    "is true"
                ),
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
                (
                    "RuntimeError: Inductor compile-worker future for 'triton_per_fused_sort_0' "
                    "did not complete within 300s."
                ),
                "words of torch/_inductor/async_compile.py",
            ),
            quoted(
                (
                    "slurmstepd: error: *** JOB 31 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO "
                    "TIME LIMIT ***"
                ),
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
                "        current process has finished its bootstrapping phase.",
                "words of CPython",
            ),
            words(
                "torch/_inductor/async_compile.py",
                "disabled in daemonic multiprocessing processes",
            ),
            words(
                "Python's spawn.py",
                "before thecurrent process has finished its bootstrapping phase",
            ),
            words("Python's process.py", "cannot schedule new futures after shutdown"),
        ),
    ),
)
