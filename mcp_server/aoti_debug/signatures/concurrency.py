"""Threads, streams, processes, CUDA graphs and hangs."""

from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURES = (
    Signature(
        id="no_available_model",
        family="N",
        phase="run",
        category="concurrency",
        weight=78,
        confidence="proved",
        anchors=(
            "No available models in container",
            "No model available in container",
            "Model CUDA event was not initialized",
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
        confidence="proved",
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
        confidence="proved",
        anchors=("in forked subprocess", "CUDA error: initialization error"),
        patterns=(
            (
                "Cannot re-initialize CUDA in forked subprocess|CUDA (?:driver )?error: "
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
        confidence="proved",
        anchors=(
            "stream is capturing",
            "previous error during capture",
            "cudaErrorStreamCapture",
            "CUDA_ERROR_STREAM_CAPTURE",
        ),
        patterns=(
            (
                "operation not permitted when stream is capturing|operation (?:failed due to"
                r"|would make) .{0,60}capture|cudaErrorStreamCapture\w+"
                r"|CUDA_ERROR_STREAM_CAPTURE_\w+"
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
                r"^Timeout \(\d+:\d\d:\d\d(?:\.\d+)?\)!|timed out after (?P<seconds>[\d.]+) ?s"
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
)
