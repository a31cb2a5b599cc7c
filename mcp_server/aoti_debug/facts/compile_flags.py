"""Variables read while compiling: none of them acts on a finished package."""

from __future__ import annotations

from aoti_debug.facts.flag import Flag, Reading, Release

_IMPORT = (Reading("import", "one"),)
_FINISHED = "Set for a package that exists already it does nothing and says nothing."


def _since(minor: int) -> tuple[Reading, ...]:
    return (Reading("import", "one", since=Release(2, minor)),)


COMPILE_FLAGS: tuple[Flag, ...] = (
    Flag(
        "AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER", "compiling", "0", "0 off, 1 save tensors, 2 print values, 3 print kernel names",
        "Generates printing or saving code around each kernel launch of the package.",
        (Reading("import", "text"),),
        attribute="aot_inductor.debug_intermediate_value_printer",
        misconceptions=(
            _FINISHED,
            "It writes to C stdout without flushing: run with PYTHONUNBUFFERED=1, or a crash by signal loses the last lines and the wrong kernel is blamed.",
            "Custom ops called through the proxy executor are never printed, and output buffers print uninitialised memory before the launch.",
            "As a config value it must be a string; the number 2 raises.",
        ),
    ),
    Flag(
        "AOT_INDUCTOR_FILTERED_KERNELS_TO_PRINT", "compiling", None, "kernel names, separated by commas",
        "Limits printer mode 2 to these kernels.",
        (Reading("import", "text"),),
        attribute="aot_inductor.filtered_kernel_names",
        misconceptions=(
            "Modes 1 and 3 ignore it.",
            "Names are compared whole (case ignored): no substrings, no globs.",
        ),
    ),
    Flag(
        "AOT_INDUCTOR_DEBUG_COMPILE", "compiling", "0", "0, 1",
        "Builds wrapper and CPU kernels with -O0 -g and keeps assertions.",
        (
            Reading("import", "one", until=Release(2, 6), note="In 2.6 it also makes the model check its inputs at every run."),
            Reading("import", "one", since=Release(2, 7)),
        ),
        attribute="aot_inductor.debug_compile",
        misconceptions=("From 2.7 on it adds no input checks, whatever the comments in torch say: use AOTI_RUNTIME_CHECK_INPUTS=1 when running.",),
    ),
    Flag(
        "AOT_INDUCTOR_DEBUG_SYMBOLS", "compiling", "0", "0, 1",
        "Adds debug symbols and keeps optimisation.",
        _since(10),
        attribute="aot_inductor.debug_symbols",
    ),
    Flag(
        "TORCHINDUCTOR_DEBUG_SYMBOL", "compiling", "0", "0, 1",
        "Adds debug symbols.",
        (
            Reading("compile", "one", Release(2, 9), Release(2, 9), "In 2.9 it implies -O0."),
            Reading("compile", "one", since=Release(2, 10)),
        ),
    ),
    Flag(
        "TORCHINDUCTOR_DEBUG_COMPILE", "compiling", "0", "0, 1",
        "Same as AOT_INDUCTOR_DEBUG_COMPILE, but read at each compile.",
        (Reading("compile", "one", since=Release(2, 10)),),
    ),
    Flag(
        "AOT_INDUCTOR_COMPILE_WRAPPER_WITH_O0", "compiling", "0", "0, 1",
        "Builds the wrapper's entry point without optimisation.",
        (Reading("import", "one", Release(2, 7), Release(2, 7)),),
        attribute="aot_inductor.compile_wrapper_with_O0",
    ),
    Flag(
        "AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL", "compiling", "O1", "O0, O1, O2, O3",
        "Optimisation of the wrapper file; kernels stay at O3. O0 shortens long C++ compiles.",
        (Reading("import", "text", since=Release(2, 8)),),
        attribute="aot_inductor.compile_wrapper_opt_level",
    ),
    Flag(
        "AOT_INDUCTOR_ENABLE_FRAME_POINTER", "compiling", "1", "0, 1",
        "Keeps frame pointers, so that profilers and gdb can walk through the package.",
        _since(12),
        attribute="aot_inductor.enable_frame_pointer",
    ),
    Flag(
        "AOT_INDUCTOR_ENABLE_LINE_TABLES", "compiling", "1", "0, 1",
        "Keeps line numbers of the wrapper, so that a backtrace names the line.",
        _since(13),
        attribute="aot_inductor.enable_line_tables",
    ),
    Flag(
        "AOT_INDUCTOR_ENABLE_LTO", "compiling", "0", "0, 1",
        "Link-time optimisation of the package.",
        _since(9),
        attribute="aot_inductor.enable_lto",
    ),
    Flag(
        "AOT_INDUCTOR_WEIGHT_USE_CACHING_ALLOCATOR", "compiling", "0", "0, 1",
        "Takes the weights' memory from the CUDA caching allocator instead of cudaMalloc.",
        _since(9),
        attribute="aot_inductor.weight_use_caching_allocator",
        misconceptions=("By default weights are not seen by PYTORCH_NO_CUDA_MEMORY_CACHING, nor by allocator snapshots.",),
    ),
    Flag(
        "AOTINDUCTOR_RAISE_ERROR_ON_IGNORED_OPTIMIZATION", "compiling", "1", "0, 1",
        "With clang: an optimisation flag that clang ignores is an error.",
        _IMPORT,
        attribute="aot_inductor.raise_error_on_ignored_optimization",
    ),
    Flag(
        "DUMP_AOTI_MINIFIER", "compiling", "0", "0, 1",
        "Writes a minifier launcher when aoti_compile_and_package fails.",
        _IMPORT,
        attribute="aot_inductor.dump_aoti_minifier",
        misconceptions=(
            "It loads and runs the model once, on the example inputs; later ones are not seen.",
            "A crash by signal leaves nothing at level 2.",
        ),
    ),
    Flag(
        "AOTINDUCTOR_REPRO_LEVEL", "compiling", "2", "1, 2, 3, 4",
        "What DUMP_AOTI_MINIFIER writes, and when.",
        (Reading("import", "text", since=Release(2, 7)),),
        attribute="aot_inductor.repro_level",
        misconceptions=("Alone it does nothing: DUMP_AOTI_MINIFIER=1 is needed.",),
    ),
    Flag(
        "TORCHINDUCTOR_NAN_ASSERTS", "compiling", None, "1",
        "Checks every tensor argument of each Triton launch for NaN and Inf, after it.",
        (
            Reading("import", "one", until=Release(2, 12)),
            Reading("import", "one", since=Release(2, 13), note="From 2.13 on the model's inputs are checked too."),
        ),
        attribute="nan_asserts",
        misconceptions=(
            _FINISHED,
            "Results of CPU kernels, extern kernels and fallback ops are not checked.",
            "Inf fails too, so a mask made of -inf is reported.",
        ),
    ),
    Flag(
        "TORCHINDUCTOR_RUNTIME_TRITON_NAN_ASSERTS", "compiling", None, "1",
        "Asserts inside Triton kernels that no computed value is NaN or Inf.",
        _since(10),
        attribute="runtime_triton_nan_asserts",
        misconceptions=("A hit is a device-side assert: the process's CUDA context is lost.",),
    ),
    Flag(
        "TORCHINDUCTOR_SIZE_ASSERTS", "compiling", "1", "0, 1",
        "Generates checks of sizes and strides.",
        (
            Reading("import", "one", until=Release(2, 12), note="Up to 2.12 a package gets none of them: Python wrapper only."),
            Reading("import", "one", since=Release(2, 13), note="In a package they act only while AOTI_RUNTIME_CHECK_INPUTS is on."),
        ),
        attribute="size_asserts",
    ),
    Flag(
        "TORCHINDUCTOR_SCALAR_ASSERTS", "compiling", "1", "0, 1",
        "Generates assertions on sizes that come from data.",
        _since(7),
        attribute="scalar_asserts",
    ),
    Flag(
        "TORCHINDUCTOR_UNSAFE_SKIP_SCALAR_RANGE_ASSERTS", "compiling", None, "1",
        "Leaves out range assertions, hand-written torch._check included.",
        _since(15),
    ),
    Flag(
        "TORCHINDUCTOR_ALIGNMENT_ASSERTS", "compiling", "1", "0, 1",
        "Generates checks of alignment.",
        (
            Reading("import", "one", Release(2, 8), Release(2, 14), "Up to 2.14 a package gets none of them: Python wrapper only."),
            Reading("import", "one", since=Release(2, 15), note="In a package they act only while AOTI_RUNTIME_CHECK_INPUTS is on."),
        ),
        attribute="alignment_asserts",
    ),
    Flag(
        "TORCHINDUCTOR_ALIGNMENT_ASSERTS_INPUTS", "compiling", None, "1",
        "Makes the package insist on aligned inputs, always.",
        _since(15),
    ),
    Flag(
        "TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE", "compiling", "0", "0, 1",
        "Lets the torch profiler show the package's kernels by name.",
        (
            Reading("import", "one", until=Release(2, 8), note="CPU C++ kernels only."),
            Reading("import", "one", Release(2, 9), Release(2, 9), "CPU and extern kernels only."),
            Reading("import", "one", since=Release(2, 10)),
        ),
        attribute="cpp.enable_kernel_profile",
    ),
    Flag(
        "TORCHINDUCTOR_CPP_ENABLE_KERNEL_CONTEXT_GUARD", "compiling", "0", "0, 1",
        "Keeps the name and Python stack of the running kernel for an external crash handler.",
        _since(14),
        attribute="cpp.enable_kernel_context_guard",
        misconceptions=("Nothing in torch prints it, and kernel profile must be on too.",),
    ),
    Flag(
        "INDUCTOR_PROVENANCE", "compiling", "0", "0, 1, 2",
        "Adds kernel_information.json to the package: kernel to graph nodes to model lines.",
        (Reading("import", "text", since=Release(2, 9)),),
        attribute="trace.provenance_tracking_level",
    ),
    Flag(
        "TORCH_COMPILE_DEBUG", "compiling", "0", "0, 1",
        "Writes graphs and scheduler dumps below torch_compile_debug/.",
        _IMPORT,
        attribute="trace.enabled",
        misconceptions=("An ahead-of-time compile leaves no output_code.py there.",),
    ),
    Flag(
        "TORCHINDUCTOR_FORCE_DISABLE_CACHES", "compiling", None, "1",
        "Disables Inductor's caches.",
        _IMPORT,
        attribute="force_disable_caches",
        misconceptions=("Ahead-of-time compiles bypass the graph cache anyway, so this is rarely the cure.",),
    ),
    Flag(
        "TORCHINDUCTOR_CACHE_DIR", "both", None, "a directory",
        "Where generated sources and kernels are written.",
        (Reading("compile", "text", note="Read again at each use."),),
        misconceptions=(
            "A finished package does not need it, a bare .so with loose cubins does.",
            "Loading a package with a cold one costs seconds from 2.10 on (compiler probe).",
        ),
    ),
    Flag(
        "TORCHINDUCTOR_AUTOTUNE_AT_COMPILE_TIME", "compiling", None, "0, 1",
        "Whether GPU kernels are launched (and can fault) while compiling.",
        _since(12),
        attribute="triton.autotune_at_compile_time",
    ),
    Flag(
        "TORCHINDUCTOR_CPP_MARCH", "compiling", None, "such as x86-64-v3; empty: no -march at all",
        "What the C++ compiler may use of the CPU, in place of -march=native.",
        (Reading("import", "text", since=Release(2, 13)),),
        attribute="cpp.march",
        misconceptions=("ATEN_CPU_CAPABILITY alone leaves -march=native.",),
    ),
    Flag(
        "TORCHINDUCTOR_COMPILE_THREADS", "compiling", None, "a number; 1 compiles in the process itself",
        "How many workers compile kernels.",
        (Reading("import", "text"),),
    ),
    Flag(
        "TORCHINDUCTOR_DUMP_LAUNCH_PARAMS", "compiling", "0", "0, 1",
        "Writes the launch parameters of Triton kernels started from Python.",
        (Reading("compile", "one"),),
        misconceptions=("A running package launches from C++: nothing is written.",),
    ),
    Flag(
        "CXX", "both", None, "a C++ compiler",
        "Which compiler builds the package.",
        (
            Reading("import", "text", until=Release(2, 9)),
            Reading("import", "text", since=Release(2, 10), note="From 2.10 on the loader probes the CPU with it too."),
        ),
        owner="system",
    ),
    Flag(
        "CUDA_HOME", "compiling", None, "a CUDA toolkit",
        "Where cuda.h and the CUDA libraries are looked for.",
        (Reading("import", "text"),),
        misconceptions=("Running a package needs no toolkit, compiling for CUDA does.",),
        owner="cuda",
    ),
    Flag(
        "TORCH_CUDA_ARCH_LIST", "compiling", None, "such as 8.0;9.0",
        "Architectures of CUDA extensions and of multi-arch kernels.",
        (Reading("compile", "text"),),
        misconceptions=("A package's Triton kernels are built for the GPU that compiles them.",),
    ),
    Flag(
        "TORCH_LOGS", "compiling", None, "names such as +inductor, output_code",
        "What torch logs while compiling; TORCH_LOGS_OUT names a file for a copy.",
        (Reading("process_start", "text"),),
        misconceptions=(
            "It does nothing while a package runs.",
            "There is no `aoti` or `provenance` artifact; an unknown name breaks importing torch.",
        ),
    ),
)
