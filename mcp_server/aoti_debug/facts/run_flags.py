"""Variables read while a package is loaded or runs, and those of the driver and of Python."""

from __future__ import annotations

from aoti_debug.facts.flag import Flag, Reading, Release


def _load(minor: int) -> tuple[Reading, ...]:
    return (Reading("load", "text", since=Release(2, minor)),)


RUN_FLAGS: tuple[Flag, ...] = (
    Flag(
        "AOTI_RUNTIME_CHECK_INPUTS", "running", "0", "1 on, unset or 0 off",
        "The model checks dtype, sizes, strides and device type of its inputs.",
        (
            Reading("first_run", "not_empty", Release(2, 7), Release(2, 7), "In 2.7 any non-empty value switches it on, 0 too."),
            Reading("first_run", "first_not_0", Release(2, 8), Release(2, 12), "An empty value switches it on."),
            Reading("first_run", "first_not_0", since=Release(2, 13), note="An empty value switches it on. From 2.13 on it also arms the size and stride checks of fallback ops."),
        ),
        misconceptions=(
            "It acts in the running process: no recompile is needed, and setting it only while compiling does nothing.",
            "Guards, equal dimensions, divisibility and the device index are not checked.",
            "False alarms: a lower bound of 2, an upper bound taken from the sample, strides of dimensions of size 1.",
            "2.6 does not know it: compile with AOT_INDUCTOR_DEBUG_COMPILE=1 there.",
        ),
    ),
    Flag(
        "AOTI_TORCH_SAVE_DIR", "running", None, "a directory",
        "Where printer mode 1 saves tensors.",
        (Reading("every_run", "text", since=Release(2, 15)),),
    ),
    Flag(
        "AOTI_LOG_LOADING", "running", None, "anything, even 0",
        "Logs the copying of constants on stderr.",
        (Reading("load", "present", since=Release(2, 14)),),
    ),
    Flag(
        "AOTI_COPY_USE_PINNED_ASYNC", "running", "0", "0, 1",
        "Copies constants to the GPU through pinned staging memory.",
        (Reading("load", "not_zero", since=Release(2, 14)),),
    ),
    Flag(
        "AOTI_COPY_STAGE_BUFFER_BYTES", "running", None, "bytes",
        "Size of that staging memory.",
        _load(14),
    ),
    Flag(
        "AOTI_COPY_STAGE_CPU_THREADS", "running", "1", "a number",
        "Threads that fill that staging memory.",
        _load(15),
    ),
    Flag(
        "AOTI_CUDA_COPY_CHUNK_SIZE", "running", "0", "bytes; 0 off",
        "Copies constants to the GPU in chunks of this size.",
        _load(13),
    ),
    Flag(
        "AOTI_CUDA_COPY_SLEEP_US", "running", "0", "microseconds; 0 off",
        "Pause between such chunks.",
        _load(13),
    ),
    Flag(
        "PYTORCH_NO_CUDA_MEMORY_CACHING", "running", None, "anything, even 0",
        "Every tensor gets its own cudaMalloc, so reads past its end fault sooner.",
        (Reading("first_allocation", "present"),),
        misconceptions=("A package's weights live in their own block and are not affected.",),
    ),
    Flag(
        "PYTORCH_CUDA_ALLOC_CONF", "running", None, "such as expandable_segments:True",
        "Settings of the CUDA caching allocator.",
        (Reading("first_allocation", "text"),),
    ),
    Flag(
        "PYTORCH_ALLOC_CONF", "running", None, "such as expandable_segments:True",
        "The same under its newer name: unset both.",
        (Reading("first_allocation", "text", since=Release(2, 9)),),
    ),
    Flag(
        "CUDA_LAUNCH_BLOCKING", "running", "0", "0, 1",
        "Waits for each kernel, so that an error surfaces at its own launch.",
        (Reading("process_start", "not_zero"),),
        misconceptions=("It hides races between streams and threads, and names no kernel.",),
        owner="cuda",
    ),
    Flag(
        "CUDA_VISIBLE_DEVICES", "both", None, "indices or UUIDs; empty hides all",
        "Which GPUs the process sees, counted from 0 again.",
        (Reading("process_start", "text"),),
        owner="cuda",
    ),
    Flag(
        "CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "running", "0", "0, 1",
        "The driver writes a core dump at the first GPU exception and ends the process.",
        (Reading("process_start", "one"),),
        owner="cuda",
    ),
    Flag(
        "CUDA_COREDUMP_FILE", "running", None, "a path; %h host, %p process, %t time",
        "Name of that core dump.",
        (Reading("process_start", "text"),),
        owner="cuda",
    ),
    Flag(
        "CUDA_COREDUMP_GENERATION_FLAGS", "running", None, "skip_nonrelocated_elf_images,skip_global_memory,skip_shared_memory,skip_local_memory,skip_constbank_memory",
        "What that core dump leaves out.",
        (Reading("process_start", "text"),),
        misconceptions=("skip_abort lets errors pass unseen: do not use it.",),
        owner="cuda",
    ),
    Flag(
        "CUDA_COREDUMP_SHOW_PROGRESS", "running", "0", "0, 1",
        "The driver tells on stderr what it dumps, the kernel's name included.",
        (Reading("process_start", "one"),),
        owner="cuda",
    ),
    Flag(
        "CUDA_LOG_FILE", "running", None, "a path, stdout or stderr",
        "The driver (12.9 and later) logs failed calls in plain words.",
        (Reading("process_start", "text"),),
        owner="cuda",
    ),
    Flag(
        "PYTHONUNBUFFERED", "running", None, "any non-empty text",
        "Unbuffers Python's and C's stdout, so that a crash loses no printed line.",
        (Reading("process_start", "not_empty"),),
        owner="python",
    ),
    Flag(
        "PYTHONFAULTHANDLER", "running", None, "any non-empty text",
        "Prints the Python stack on SIGSEGV, SIGABRT, SIGBUS, SIGFPE and SIGILL.",
        (Reading("process_start", "not_empty"),),
        owner="python",
    ),
    Flag(
        "TORCH_SHOW_CPP_STACKTRACES", "running", "0", "0, 1",
        "Adds C++ frames to torch's error messages.",
        (
            Reading("process_start", "one", until=Release(2, 12)),
            Reading("process_start", "one", since=Release(2, 13), note="Errors of a running package hold C++ frames without it from 2.13 on."),
        ),
    ),
    Flag(
        "TORCH_CPP_LOG_LEVEL", "running", "WARNING", "INFO, WARNING, ERROR, FATAL",
        "What torch's C++ side logs on stderr.",
        (Reading("process_start", "text"),),
    ),
    Flag(
        "TMPDIR", "both", None, "a directory",
        "Where packages are unpacked and (by default) generated code is written.",
        (Reading("load", "text"),),
        misconceptions=("It must allow executing: dlopen fails on a noexec mount.",),
        owner="system",
    ),
)
