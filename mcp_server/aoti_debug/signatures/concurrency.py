"""Threads, streams, processes, CUDA graphs and hangs."""

from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURES = (
    Signature(
        id="no_available_model",
        family="N",
        phase="run",
        category="concurrency",
        weight=78,
        anchors=(
            "No available models in container",
            "No model available in container",
            "event was not initialized",
        ),
        patterns=(
            (
                "No available models? in container|No model available in container|Model (?:CUDA "
                "|XPU )?event was not initialized"
            ),
        ),
        summary=(
            "The pool of model instances in the package's container is empty or in a bad state"
        ),
        means=(
            "More threads than instances call the runner, or an earlier call on an instance "
            "failed and was never completed."
        ),
        check="One thread alone works?",
        fixes=(
            fix(
                "Create the runner with num_models of at least the number of threads; serialise "
                "calls otherwise"
            ),
            fix("After a failed call create a new runner"),
        ),
        guide="guides/threads-streams-hangs.md#no-available-model",
        next_tool="triage",
        matches=(
            quoted("RuntimeError: No available models in container!", "text of model_container.h"),
            quoted("Error: No model available in container!", "text of model_container.h"),
        ),
        neighbours=(
            quoted(
                "Error: The model did not finish successfully. Error: an illegal memory access "
                "was encountered",
                "a fault of the model itself",
            ),
        ),
    ),
    Signature(
        id="stream_options",
        family="N",
        phase="load",
        category="concurrency",
        weight=70,
        anchors=(
            "use_stream_affinity",
            "Stream affinity",
            "synchronize_stream",
            "torch.cuda.Stream is not supported",
        ),
        patterns=(
            (
                "use_stream_affinity cannot be enabled|Stream affinity .{1,80}"
                r"|synchronize_stream.{0,80}(?:not supported|unsupported)|torch\.cuda\.Stream is "
                "not supported"
            ),
        ),
        summary="A combination of stream options, or a stream inside the model, is not supported",
        means=(
            "Stream affinity (torch 2.15) excludes single-threaded mode, and streams used inside "
            "forward are dropped or refused by the C++ wrapper."
        ),
        fixes=(
            fix(
                "Choose either run_single_threaded or use_stream_affinity; set the stream around "
                "the call instead of inside the model"
            ),
        ),
        guide="guides/threads-streams-hangs.md#stream-affinity",
        since="2.12",
        references=("pytorch/pytorch#182971",),
        matches=(
            quoted(
                "RuntimeError: use_stream_affinity cannot be enabled when run_single_threaded is "
                "true",
                "text of torch 2.15",
            ),
        ),
    ),
    Signature(
        id="cuda_after_fork",
        family="N",
        phase="run",
        category="concurrency",
        weight=74,
        anchors=("in forked subprocess", "CUDA error: initialization error"),
        patterns=(
            (
                "Cannot re-initialize (?:CUDA|XPU) in forked subprocess|CUDA (?:driver )?error: "
                "initialization error"
            ),
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
        ),
    ),
    Signature(
        id="cuda_graph_capture",
        family="N",
        phase="run",
        category="concurrency",
        weight=76,
        anchors=(
            "stream is capturing",
            "previous error during capture",
            "cudaErrorStreamCapture",
            "CUDA_ERROR_STREAM_CAPTURE",
        ),
        patterns=(
            (
                "operation not permitted when stream is capturing|operation (?:failed due to"
                r"|would make) .{0,60}capture|cudaErrorStreamCapture\w{1,200}"
                r"|CUDA_ERROR_STREAM_CAPTURE_\w{1,200}"
            ),
        ),
        summary="Something in the model is not allowed while a CUDA graph is being captured",
        means=(
            "The runner records and queries events for its pool of models, which capture forbids; "
            "so does any synchronising or allocating operator."
        ),
        mistaken_for="A memory fault",
        check="Does the model run outside the capture?",
        fixes=(
            fix(
                "Load with aoti_load_package(path, run_single_threaded=True) and warm it up "
                "before the capture"
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
        ),
    ),
    Signature(
        id="stacks_on_timeout",
        family="N",
        phase="hang",
        category="hang",
        role="symptom",
        weight=64,
        anchors=("Timeout (", "timed out after ", "TimeoutExpired", "stack trace of a hang"),
        patterns=(
            (
                r"^Timeout \(\d{1,20}:\d\d:\d\d(?:\.\d{1,20})?\)!"
                r"|timed out after (?P<seconds>[\d.]{1,200}) ?s"
                "|TimeoutExpired"
            ),
        ),
        summary="The process did not finish in its time",
        means=(
            "Stacks were taken because the time was over. The innermost frame tells compile (g++, "
            "triton), load (constants, ISA test) and run (synchronize) apart."
        ),
        mistaken_for="A slow first compile or load",
        check="Two stacks some seconds apart: same frame means a hang, another one slowness",
        fixes=(fix("Give a first compile 15 minutes before calling it a hang"),),
        guide="guides/threads-streams-hangs.md#hangs",
        next_tool="triage",
        matches=(
            quoted("Timeout (0:00:30)!", "CPython faulthandler.dump_traceback_later"),
            quoted(
                "subprocess.TimeoutExpired: Command '['python', 'run.py']' timed out after 900 "
                "seconds",
                "CPython text",
            ),
        ),
    ),
    Signature(
        id="cuda_graph_output_overwritten",
        family="N",
        phase="run",
        category="concurrency",
        weight=76,
        anchors=(
            "output of CUDAGraphs that has been overwritten",
            "graph capture",
            "while capturing",
            "during capturing",
            "The CUDA Graph is empty",
        ),
        patterns=(
            (
                "accessing tensor output of CUDAGraphs that has been overwritten|Offset increment "
                "outside graph capture|Cannot prepare for replay during capturing|(?:Cannot|not "
                "(?:allowed|supported|permitted)) .{0,80}(?:during (?:CUDA )?graph capture|while "
                "capturing)|The CUDA [Gg]raph is empty|graph capture .{0,40}(?:failed|invalid)"
            ),
        ),
        summary="A CUDA graph and code around it use the same memory or stream in a forbidden way",
        means=(
            "Graph replays reuse their output memory, and random numbers, copies or allocations "
            "outside the graph's own rules are refused while one is captured."
        ),
        mistaken_for="A fault of the kernels",
        check="Does it go away without mode='reduce-overhead' or without the capture?",
        fixes=(
            fix(
                "Clone outputs before the next call, or mark steps with "
                "torch.compiler.cudagraph_mark_step_begin()"
            ),
        ),
        guide="guides/threads-streams-hangs.md#cuda-graph-capture",
        matches=(
            quoted(
                "RuntimeError: Error: accessing tensor output of CUDAGraphs that has been "
                "overwritten by a subsequent run.",
                "words of torch/_inductor/cudagraph_trees.py",
            ),
            quoted(
                "RuntimeError: Offset increment outside graph capture encountered unexpectedly.",
                "words of ATen",
            ),
        ),
        apart_from=("cuda_graph_capture",),
    ),
    Signature(
        id="foreign_stream_or_context",
        family="N",
        phase="run",
        category="concurrency",
        weight=58,
        confidence="possible",
        anchors=(
            "invalid resource handle",
            "context is destroyed",
            "invalid device context",
            "does not match recording stream",
            "ThreadSanitizer: data race",
            "cudaErrorContextIsDestroyed",
        ),
        patterns=(
            (
                "(?P<what>invalid resource handle|context is destroyed|CUDA error: invalid device "
                "context|Event device .{1,60} does not match .{1,40}stream|ThreadSanitizer: data "
                "race|cudaErrorContextIsDestroyed)"
            ),
        ),
        summary="A stream, event or context of another device, thread or time is used: {what}",
        means=(
            "A handle made on one GPU is used while another is current, or after its context "
            "ended: a wrong current device, a thread without torch.cuda.set_device, or work at "
            "interpreter exit."
        ),
        mistaken_for="A memory fault",
        check=(
            "Print torch.cuda.current_device() and the stream's device in the thread that calls."
        ),
        fixes=(
            fix(
                "Set the device in every thread, and make streams and events on it; finish work "
                "before exit"
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
        ),
    ),
    Signature(
        id="worker_processes_refused",
        family="N",
        phase="lower",
        category="concurrency",
        weight=70,
        anchors=(
            "daemonic processes are not allowed to have children",
            "disabled in daemonic multiprocessing processes",
            "finished its bootstrapping phase",
            "Attempting to use a closed pool",
            "cannot schedule new futures after",
        ),
        patterns=(
            (
                "(?P<what>daemonic processes are not allowed to have children|disabled in "
                r"daemonic multiprocessing processes"
                r"|before the\s{0,20}current process has finished "
                "its bootstrapping phase|has finished its bootstrapping phase|finished its "
                "bootstrapping phase|Attempting to use a closed pool|cannot schedule new futures "
                "after (?:interpreter )?shutdown)"
            ),
        ),
        summary="Compile workers cannot be started or used here: {what}",
        means=(
            "Inductor compiles in worker processes. A daemonic parent may not have any, a script "
            "without a main guard starts itself again, and a pool that was shut down takes no "
            "more work."
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
        ),
    ),
    Signature(
        id="waited_too_long",
        family="N",
        phase="hang",
        category="hang",
        role="cause",
        weight=60,
        anchors=(
            "did not complete within ",
            "DUE TO TIME LIMIT",
            "blocked for more than ",
            "soft lockup",
            "exceeded the maximum execution time",
            "Failed: Timeout >",
            "exit code 124",
            "exit status 124",
        ),
        patterns=(
            (
                r"compile-worker future for .{1,120} did not complete within (?:[\d.]{1,200})"
                r" ?s|DUE TO "
                r"TIME LIMIT|task \S{1,60} blocked for more than \d{1,20} seconds"
                r"|soft lockup|exceeded "
                r"the maximum execution time|Failed: Timeout >[\d.]{1,200} ?s|exit (?:code"
                r"|status) 124\b"
            ),
        ),
        summary="Something waited until its time was over",
        means=(
            "A watchdog, a batch system or Inductor's own wait for a compile worker ended it. The "
            "step that hung stands in the lines before; a slow first compile looks the same."
        ),
        mistaken_for="A slow first compile",
        check="Two stacks some seconds apart (py-spy dump): same frame means a hang.",
        fixes=(
            fix(
                "For a compile worker: TORCHINDUCTOR_COMPILE_THREADS=1 shows the failure in the "
                "process itself"
            ),
            fix("Give a first compile 15 minutes before calling it a hang"),
        ),
        guide="guides/threads-streams-hangs.md#hangs",
        next_tool="triage",
        matches=(
            quoted(
                "RuntimeError: Inductor compile-worker future for 'triton_per_fused_sort_0' did "
                "not complete within 300s.",
                "words of torch/_inductor/async_compile.py",
            ),
            quoted(
                "slurmstepd: error: *** JOB 31 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO "
                "TIME LIMIT ***",
                "words of Slurm",
            ),
            quoted("INFO: task python3:811 blocked for more than 120 seconds.", "words of Linux"),
        ),
    ),
    Signature(
        id="interrupted_by_hand",
        family="N",
        phase="hang",
        category="hang",
        role="symptom",
        weight=12,
        confidence="possible",
        anchors=("KeyboardInterrupt",),
        patterns=(r"^KeyboardInterrupt\b",),
        summary="Somebody stopped the process by hand, perhaps because it seemed to hang",
        means=(
            "The innermost frame of the traceback shows where it was then: compiling (g++, "
            "triton, a pool of workers), loading or waiting for the GPU."
        ),
        mistaken_for="A failure of its own",
        check="py-spy dump on a second run, twice some seconds apart.",
        guide="guides/threads-streams-hangs.md#hangs",
        next_tool="triage",
        matches=(quoted("KeyboardInterrupt", "words of CPython"),),
    ),
)
