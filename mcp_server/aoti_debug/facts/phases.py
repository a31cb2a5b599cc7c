"""Which phase a Python stack frame belongs to."""

from __future__ import annotations

from collections.abc import Iterable

from aoti_debug.model import Phase

Words = tuple[tuple[Phase, tuple[str, ...]], ...]

# Frames in which a call's inputs are held against the guards of the exported program.
CHECKING_A_CALL: tuple[tuple[str, str], ...] = (
    ("torch/_export/utils", "_check_input_constraints"),
    ("torch/export/_unlift", "_check_input_constraints _guards_fn"),
    ("torch/export/exported_program", "_check_input_constraints"),
)

# (part of the file's path, parts of the function's name or "", phase); the first row that fits the
# deepest frame decides, so within a file the narrower row comes first.
FRAMES: tuple[tuple[str, str, Phase], ...] = (
    ("torch/_inductor/compile_fx", "cudagraphify", "run"),
    ("torch/_inductor/cudagraph_trees", "", "run"),
    ("torch/_inductor/output_code", "__call__", "run"),
    ("torch/_inductor/codecache", "__call__", "run"),
    ("torch/_inductor/compile_fx", "run", "run"),  # copies inputs that are not aligned
    ("torch/_inductor/utils", "run", "run"),
    ("torch/_functorch/aot_autograd", "forward", "run"),
    ("torch/_functorch/_aot_autograd/utils", "call_", "run"),
    ("torch/_functorch/_aot_autograd/runtime_wrappers", "runtime_wrapper inner_fn", "run"),
    *((file, function, "run") for file, function in CHECKING_A_CALL),
    ("/torchinductor_", "<module>", "lower"),
    ("/torchinductor_", "", "run"),
    (".cache/torchinductor/", "call", "run"),
    ("torch/_inductor/compile_worker/", "", "triton_compile"),
    ("torch/_inductor/async_compile", "triton get_result wait", "triton_compile"),
    ("torch/_inductor/codecache", "load_pybinding", "cpp_compile"),
    ("torch/_export/serde/", "deserialize", "load"),
    ("export/pt2_archive/_package.py", "load_pt2", "load"),
    ("triton/backends/", "make_ <lambda>", "triton_compile"),
    ("triton/backends/", "__call__", "run"),
    ("triton/backends/", "", "triton_compile"),
    ("triton/runtime/autotuner", "bench", "autotune"),
    ("triton/runtime/jit", "", "triton_compile"),
    ("torch/utils/cpp_extension", "", "cpp_compile"),
    ("triton/runtime/build", "", "triton_compile"),
    ("triton/common/build", "", "triton_compile"),
    ("triton/compiler", "_init_handles __getattribute__", "run"),
    ("triton/compiler.py", "", "triton_compile"),
    ("triton/code_gen.py", "launch", "run"),
    ("triton/code_gen.py", "", "triton_compile"),
    ("torch/_higher_order_ops/triton_kernel_wrap", "", "lower"),
    ("torch/_inductor/runtime/autotune_cache", "", "autotune"),
    ("torch/_inductor/runtime/benchmarking", "", "autotune"),
    ("torch/_inductor/select_algorithm", "", "autotune"),
    ("torch/_inductor/autotune_process", "", "autotune"),
    ("torch/_inductor/codegen/wrapper", "generate_and_run_autotune_block", "autotune"),
    ("torch/_inductor/runtime/triton_heuristics", "bench autotune", "autotune"),
    ("torch/_inductor/runtime/triton_heuristics", "compile", "triton_compile"),
    ("torch/_inductor/runtime/compile_tasks", "_reload_python_module", "lower"),
    ("torch/_inductor/runtime/compile_tasks", "", "triton_compile"),
    ("triton/compiler/", "", "triton_compile"),
    ("triton/language/", "", "triton_compile"),
    ("triton/runtime/errors", "", "triton_compile"),
    ("torch/_inductor/cpp_builder", "", "cpp_compile"),
    ("torch/_inductor/cpu_vec_isa", "", "cpp_compile"),
    ("torch/_inductor/codecache", "compile_file", "cpp_compile"),
    ("torch/_inductor/package/build_package", "", "cpp_compile"),
    ("export/pt2_archive/_package.py", "load_constants", "constants"),
    ("torch/_inductor/package/package.py", "load_constants", "constants"),
    ("export/pt2_archive/_package.py", "__call__", "run"),
    ("torch/_inductor/package/package.py", "__call__", "run"),
    ("torch/_export/__init__.py", "optimized", "run"),
    ("export/pt2_archive/_package.py", "package_", "package"),
    ("torch/_inductor/package/package.py", "package_aoti", "package"),
    ("export/pt2_archive/_package.py", "load", "load"),
    ("torch/_inductor/package/package.py", "load_package", "load"),
    ("torch/_inductor/__init__.py", "aoti_load_package", "load"),
    ("torch/_export/__init__.py", "aot_load", "load"),
    ("torch/_inductor/", "", "lower"),
    ("torch/_functorch/", "", "lower"),
    ("torch/export/", "", "export"),
    ("torch/_export/", "", "export"),
    ("torch/_dynamo/output_graph", "call_user_compiler", "lower"),
    ("torch/_dynamo/repro/after_dynamo", "", "lower"),
    ("torch/_dynamo/backends/", "", "lower"),
    ("torch/_dynamo/aot_compile", "", "lower"),
    ("torch/_dynamo/", "", "export"),
    ("torch/_guards", "", "export"),
    ("torch/_subclasses/", "", "export"),
    ("torch/fx/experimental/", "", "export"),
    ("torch/onnx/_internal/", "", "export"),
    ("torchinductor/", "", "lower"),
    ("torchdynamo/", "", "export"),
)

# Functions of torch's C++ that tell the phase, the deepest frame first.
NATIVE: Words = (
    ("constants", ("::load_constants(", "update_constant_buffer", "UpdateConstantBuffer")),
    ("load", ("AOTIModelPackageLoader::AOTIModelPackageLoader",)),
    ("load", ("AOTIModelContainerRunner::AOTIModelContainerRunner",)),
    ("load", ("AOTInductorModelContainerCreate",)),
    ("run", ("AOTIModelContainerRunner::run", "AOTInductorModelContainerRun")),
    ("load", ("torch::jit::load(", "torch::jit::import_ir_module")),
    ("run", ("torch::jit::Module::forward(", "AOTInductorModel::run_impl")),
)

# Words by which the program that printed a line tells itself, where no module of torch's does.
PROGRAMS: Words = (
    ("triton_compile", ("ptxas", "mlir", "LLVM ERROR", "IGC", "ocloc", "triton", "Triton")),
    ("cpp_compile", ("/ld: ", "ld: ", "collect2", "cc1plus", "clang", "g++", "nvcc", "hipcc")),
    ("cpp_compile", ("icpx", ".cpp:", "fatal error C", "LNK")),
    ("load", ("dlopen", "inline_container", "miniz")),
    ("lower", ("inductor", "Inductor")),
    ("export", ("ExportedProgram", "dynamic_shapes", "dynamo", "FakeTensor")),
)

# Types that a wrapper names in its message.
WRAPPED: Words = (
    ("cpp_compile", ("CppCompileError: ", "CUDACompileError: ", "InvalidCxxCompiler: ")),
    ("triton_compile", ("CompilationError: ", "PTXASError: ")),
    ("lower", ("LoweringException: ",)),
)

# Frames in which a compiler is looked for or asked what it can do, before it compiles anything.
FINDING_A_COMPILER: tuple[tuple[str, str], ...] = (
    ("torch/_inductor/cpu_vec_isa", ""),
    ("torch/_inductor/cpp_builder", "get_cpp_compiler get_compiler_version check_ _is_"),
)


def _named(names: str, function: str) -> bool:
    return any(name in function for name in names.split(" "))


def stands_in(frames: Iterable[tuple[str, str]], table: tuple[tuple[str, str], ...]) -> bool:
    """Tell whether a frame, given as (file, function), is of a table."""
    return any(
        part in file.replace("\\", "/") and _named(names, function)
        for file, function in frames
        for part, names in table
    )


# Functions that make a directory of a cache, with the variable that says where.
CACHES: tuple[tuple[str, str, str], ...] = (
    ("torch/_inductor/runtime/cache_dir_utils", "cache_dir", "TORCHINDUCTOR_CACHE_DIR"),
    ("torch/_inductor/runtime/runtime_utils", "cache_dir", "TORCHINDUCTOR_CACHE_DIR"),
    ("torch/_inductor/codecache", "write", "TORCHINDUCTOR_CACHE_DIR"),
    ("triton/runtime/cache", "", "TRITON_CACHE_DIR"),
)
PYTHONS_OWN = ("os.py", "pathlib.py", "_local.py", "tempfile.py")


def variable_of_cache(frames: Iterable[tuple[str, str]]) -> str | None:
    """Return the variable for the directory of torch's or Triton's that a stack, given as (file,
    function), outermost first, is making; None where it makes none."""
    temporary = False
    for file, function in reversed(list(frames)):
        path = file.replace("\\", "/")
        if path.startswith("<frozen ") or path.rpartition("/")[2] in PYTHONS_OWN:
            temporary |= function in ("gettempdir", "_get_default_tempdir")
            continue
        if temporary and ("/torch/" in path or "/triton/" in path):
            return "TMPDIR"
        rows = (row for row in CACHES if row[0] in path and row[1] in function)
        return next((variable for _, _, variable in rows), None)
    return None


def phase_of(frames: Iterable[tuple[str, str]]) -> Phase | None:
    """Return the phase of a stack given as (file, function), outermost first; None if no frame
    shows it. Autotuning anywhere in the stack decides. Frames of export and Dynamo within a compile
    or load belong to that, those of AOTAutograd within an export to the export."""
    found: Phase | None = None
    for file, function in frames:
        path = file.replace("\\", "/")
        for part, names, phase in FRAMES:
            if part in path and _named(names, function):
                if phase == "autotune":
                    return phase
                shared = phase == "export" or (part == "torch/_functorch/" and found == "export")
                found = found if found is not None and shared else phase
                break
    return found


def phase_of_native(functions: Iterable[str]) -> Phase | None:
    return next(filter(None, (_first(NATIVE, function) for function in functions)), None)


def _first(table: Words, text: str) -> Phase | None:
    return next((phase for phase, words in table if any(word in text for word in words)), None)


def phase_of_wrapped(message: str) -> Phase | None:
    """Return the phase of an exception that a wrapper's message begins with, on its second line."""
    inner = message.partition("\n")[2].lstrip()
    return next((phase for phase, names in WRAPPED if inner.startswith(names)), None)


def phase_of_program(text: str) -> Phase | None:
    """Return the phase of the program that printed a line: a compiler, a linker, a loader."""
    return _first(PROGRAMS, text)


def phase_of_name(text: str) -> Phase | None:
    """Return the phase of a module of torch's that a text names, as a path or a dotted name."""
    return phase_of([(text, ""), (text.replace(".", "/"), "")])
