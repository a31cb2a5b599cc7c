"""Name the part of the software that printed a line, by the form in which it prints: its logger,
the file beside the message, the type of its exception; and say what a part's own lines mean. A
phrase of the message decides last."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from aoti_debug.diagnose.from_scene import (
    CARRIES,
    COMPLAINS,
    HARMLESS,
    MILD,
    PYTHON,
    is_building,
    said,
)
from aoti_debug.diagnose.observations import Candidate
from aoti_debug.diagnose.scene import READ, Form, Scene
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Category, Phase
from aoti_debug.read.record import CodePlace, Line

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Observations

Row = tuple[str, Category, Phase]  # words of a line, case does not matter, and what they mean


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the software, the form of its lines, and what its complaints mean: the first row
    of `says` whose words a line holds.

    A `neighbour` has operators, methods, packages and indices of its own: its lines say nothing
    about a package of AOTInductor, though they use the same words.
    """

    name: str
    form: Form
    says: tuple[Row, ...] = ()
    neighbour: bool = False


# What any program says of the machine, and of tensors that it is given.
MEMORY: Row = (
    r"out.?of.?memory|\boom\b|oom.?kill|resource_exhausted|bad_alloc|alloc\w* fail|failed to alloc"
    r"|(?:unable to|could not|couldn't|cannot) (?:be )?alloc",
    "out_of_memory",
    "run",
)
NO_DEVICE: Row = (
    r"no_device|no .{0,24}\bdevice|nvml|driver/library|insufficient nvidia|nvidia-container"
    r"|device driver|cuinit|\bgres\b",
    "device_unavailable",
    "environment",
)
SIZES: Row = (
    r"\bdimension|\bshape|\bresize|\bsizes?\b|\brank\b|optimization profile|setting input",
    "contract_shape",
    "run",
)
TYPES_OF_DATA: Row = (
    r"dtype|scalar type|data ?type|tensor\((?:float|int)",
    "contract_dtype",
    "run",
)
LIBRARY: Row = (
    r"loadlibrary|dlopen|shared (?:library|object)|\.(?:dll|dylib|so)\b.{0,80}(?:fail|not)"
    r"|(?:fail|not).{0,80}\.(?:dll|dylib|so)\b",
    "toolchain",
    "load",
)
VERSIONS: Row = (
    r"\bversion|mismatch|incompatib|deserializ|out ?dated|engine plan|\bschema\b|opset",
    "package_incompatible",
    "load",
)
DAMAGED: Row = (
    r"protobuf|corrupt|truncat|(?:invalid|bad) (?:file|magic|header|program)|no_?such_?file"
    r"|magic.{0,20}(?:mismatch|number|invalid)",
    "package_corrupt",
    "load",
)
NO_OPERATOR: Row = (
    r"missing operator|kernel '.{1,80}' not found|not_implemented|could not find an implementation"
    r"|no registered|plugin.{0,40}not found|unregistered|unrecognized op",
    "custom_op_missing",
    "load",
)
CONVERTS: Row = (
    r"convert|\bpars|unsupported|importer|lower|partition|verif|builder|tactic|quantiz|legaliz",
    "lowering_error",
    "lower",
)
DIFFERS: Row = (r"difference at|results? mismatch", "wrong_result", "autotune")
FAILS_AT_LOAD: Row = (
    r"fail.{0,60}(?:\binit|load|delegate|backend)|(?:\binit|load|delegate|backend).{0,60}(?:fail|not)",
    "package_incompatible",
    "load",
)
LOWERS: Row = ("", "lowering_error", "lower")
INSTALLS: tuple[Row, ...] = (("", "toolchain", "environment"),)
REFUSES_TO_INSTALL: tuple[Row, ...] = ((r"\S", "toolchain", "environment"),)
OF_A_RUNTIME = (MEMORY, NO_DEVICE, LIBRARY, NO_OPERATOR, DAMAGED, DIFFERS)

neighbour = partial(Part, neighbour=True)

# The narrower part comes first.
PARTS: tuple[Part, ...] = (
    neighbour(
        "torch's log, asked to tell",
        Form(r"\] \[__\w{1,40}\] "),
        ((r"recompiling function|skipping cudagraphs|graph break", "performance", "run"),),
    ),
    neighbour(
        "a converter of models",
        Form(
            r"\bexir[/\\]\w",
            r"\bexecutorch[/\\](?:backends|devtools|extension[/\\]export_util)[/\\]",
            r"\btorch_tensorrt[/\\.](?:dynamo|ts|fx)[/\\.]",
            r"\bcoremltools[/\\.]converters[/\\.]",
            r"\b(?:torch_mlir|iree|ai_edge_torch|tf2onnx|onnx2tf|torch_xla)[/\\.]\w",
            r"\bopenvino[/\\.](?:frontend|tools)[/\\.]",
            r"\btvm[/\\.](?:relay|relax)[/\\.]",
            r"\boperation '(?:torch|stablehlo|onnx)\.\w|!torch\.vtensor",
        ),
        (MEMORY, NO_DEVICE, LOWERS),
    ),
    neighbour(
        "ExecuTorch",
        Form(
            r"\bexecutorch[:/.](?!.{0,80}site-packages/torch)",
            r"\btorch::executor\b",
            r"\bQnn ExecuTorch\b",
            r"\b[EWIF][ /]ExecuTorch\b",
            r"\[(?:method|program|module|operator_registry|tensor_impl)\.cpp:\d{1,5}\]",
            r"\b(?:loading|execut\w{1,4}) (?:of )?method \w{1,60} failed",
            r"Failed to (?:load|execute) method \w{1,60}, error",
        ),
        (*OF_A_RUNTIME, TYPES_OF_DATA, SIZES, VERSIONS, FAILS_AT_LOAD),
    ),
    neighbour(
        "LAMMPS",
        Form(
            r"(?:WARNING|ERROR(?: on proc \d{1,6})?): .{0,300}"
            r"\([\w./-]{1,100}\.cpp:\d{1,5}\)\s{0,8}$",
            r"^(?:Last (?:input line|command)|pair_style|pair_coeff)\b",
            r"^LAMMPS \(",
        ),
        (
            MEMORY,
            (r"un(?:recognized|known) \w{1,12} style|not enabled in this", "toolchain", "run"),
            (r"error", "user_code", "run"),
        ),
    ),
    neighbour(
        "Java",
        Form(
            r'^Exception in thread "',
            r"^\s{0,20}at [\w.$<>/]{1,200}\((?:[\w$]{1,80}\.(?:java|kt|scala):\d{1,6}|"
            r"Native Method)\)",
            r"^\s{0,8}(?:Caused by: )?(?:java|javax|kotlin|scala|ai\.djl)\.[\w.$]{1,200}"
            r"(?:Exception|Error)\b",
            r"^E/AndroidRuntime",
            r"^FAILURE: Build failed with an exception|^> Task :|^Execution failed for task ",
        ),
    ),
    neighbour(
        "Rust",
        Form(
            r"^thread '[^']{0,80}' (?:\(\d{1,9}\) )?panicked at ",
            r"^index out of bounds: the len is \d{1,19} but the index is \d{1,19}",
            r"^error: could not compile `",
            r"^error: linking with `",
            r"^error\[E\d{4}\]",
            r"^\s{0,12}--> [\w./-]{1,200}\.rs:\d{1,6}:\d{1,5}",
        ),
        (
            (r"can't find crate|no matching package|failed to select", "toolchain", "environment"),
            (r"linking with", "toolchain", "cpp_compile"),
        ),
    ),
    neighbour(
        "Go",
        Form(
            r"^panic: runtime error: ",
            r"^goroutine \d{1,9} \[",
            r"\b[\w/-]{1,200}\.go:\d{1,6}\b",
            r"^# [\w-]{1,40}\.\w{2,6}/\S{1,120}$",
        ),
    ),
    neighbour(
        "R",
        Form(
            r"^Error in [\w.:]{1,60}\(|^Caused by error in |^Calls: .{1,80} -> ",
            r"^[✖ℹ] |^> [\w.]{1,40}::\w",
            r"/R/\S{0,80}(?:library/|-library/)",
        ),
    ),
    neighbour(
        "Julia",
        Form(r"^ERROR: LoadError: ", r"^Stacktrace:$", r"\b[\w/]{1,80}\.jl:\d{1,6}", r"/\.julia/"),
    ),
    neighbour(
        "llama.cpp",
        Form(r"^(?:ggml|llama|gguf)_\w{1,60}: ", r"\bllama(?:\.cpp| runner| server)\b"),
    ),
    neighbour(
        "Ruby",
        Form(r"\b[\w/.-]{1,120}\.rb:\d{1,6}:in ", r"^ERROR: {2}Error installing |extconf\.rb"),
    ),
    neighbour("Swift", Form(r"\b\w{1,80}\.swift:\d{1,6}: ")),
    neighbour(
        "a CUDA program of its own",
        Form(r"\b[\w/.-]{1,80}\.cu:\d{1,6} code=\d", r"^cuda\w{1,40}\(\) failed"),
    ),
    neighbour(
        "Node.js",
        Form(
            r"^node:internal/",
            r"^\s{1,8}at .{0,200}\(node:internal/",
            r"^(?:npm|gyp) (?:ERR!|error)",
            r"^Uncaught (?:\(in promise\) )?\w{0,40}Error\b",
            r"^\s{1,8}at .{0,200}\.js:\d{1,6}:\d{1,6}\)",
        ),
    ),
    neighbour(
        "conda",
        Form(
            r"^\w{0,40}(?:PackagesNotFound|ResolvePackageNotFound|UnsatisfiableError|CondaError"
            r"|CondaHTTPError|LibMamba\w{1,40}Error)",
            r"^(?:error|critical|warning)\s{1,4}libmamba ",
            r"^Solving environment: failed",
            r"^EnvironmentNameNotFound",
            r"^Encountered problems? while solving|^Found conflicts! Looking",
            r"^\s{0,8}(?:- |[├└]─ )?(?:package )?\S{1,80} .{0,80}\b(?:has constraint|is excluded by"
            r"|is not installable|conflicts with)\b",
            r"\bnothing provides \S{1,80}.{0,40} needed by ",
        ),
        REFUSES_TO_INSTALL,
    ),
    neighbour(
        "nix",
        Form(
            r"^error: builder for '/nix/store/",
            r"^error: (?:Cannot build|build of) '/nix/store/",
            r"^\s{0,12}For full logs, run 'nix ",
            r"^error: \d{1,6} dependencies of derivation '/nix/store/",
        ),
        REFUSES_TO_INSTALL,
    ),
    neighbour(
        "pip",
        Form(
            r"^ERROR: (?:pip's|Could not|No matching|Cannot install|ResolutionImpossible|Failed)",
            r"^ERROR: \S{1,60} [\d.]{1,20} requires .{1,200}, but you have ",
            r"\bpip\._vendor\.",
            r"^\s{0,4}× No solution found",
            r"^\s{0,4}╰─▶ ",
            r"^Because .{1,200} version solving failed",
            r"^\s{0,4}SolverProblemError",
            r"^\s{0,4}(?:× Failed to (?:build|download)|├─▶ |error: externally-managed)",
            r"^(?:Problem(?: \d{1,3})?|Error): .{0,200}\b(?:requires|none of the providers)\b",
            r"^E: (?:Unable to (?:locate package|correct problems)|Package '|Version ')",
            r"^The following packages have unmet dependencies|^\s{1,4}\S{1,80} : (?:Pre)?Depends: ",
        ),
        REFUSES_TO_INSTALL,
    ),
    Part(
        "torch.onnx",
        Form(r"\btorch\.onnx\.\w", r"^\[torch\.onnx\] .{0,200}❌"),
        (("", "lowering_error", "export"),),
    ),
    neighbour(
        "TorchScript",
        Form(
            r"\btorch\.jit\.\w{0,40}Error",
            r"\btorch\.jit\.frontend\.",
            r"\bTracingCheckError\b",
            r"^Arguments for call are not valid",
        ),
        ((r"\S", "user_code", "none"),),
    ),
    neighbour("Core ML Tools", Form(r"\bcoremltools\b"), (MEMORY, ("", "lowering_error", "lower"))),
    neighbour(
        "ONNX Runtime",
        Form(r"\bonnxruntime[.:]", r"\[ONNXRuntimeError\]"),
        (*OF_A_RUNTIME, TYPES_OF_DATA, SIZES, VERSIONS),
    ),
    neighbour(
        "TensorRT",
        Form(
            r"\[TRT\]",
            r"\btorch_tensorrt\.",
            r"\bdeserializeCudaEngine\b",
            r"\bpolygraphy[./]",
            r"\btensorrt\.\w",
            r"^\[[EWF]\] \d{1,2}: \[",
            r"\bTensorRT\b",
        ),
        (*OF_A_RUNTIME, VERSIONS, CONVERTS, SIZES),
    ),
    neighbour(
        "TensorFlow",
        Form(r"\btensorflow/\w"),
        (*OF_A_RUNTIME, (r"version|compiled with|library init", "toolchain", "environment"), SIZES),
    ),
    neighbour(
        "JAX",
        Form(
            r"\bjaxlib\.",
            r"\bjax\.errors\.",
            r"\bXlaRuntimeError\b",
            r"\bcuda_dnn\.cc:",
            r"\bxla/service/",
        ),
        (*OF_A_RUNTIME, (r"version|library init", "toolchain", "environment"), SIZES),
    ),
    neighbour(
        "OpenVINO",
        Form(r"\bopenvino[.:]", r"\bov::", r"\bOpConversionFailure\b", r"\bsrc/frontends/"),
        (MEMORY, NO_DEVICE, LIBRARY, DAMAGED, CONVERTS, SIZES),
    ),
    neighbour("TVM", Form(r"\btvm\.error\.", r"\btvm::"), (MEMORY, NO_DEVICE, CONVERTS)),
    Part(
        "Intel's runtime",
        Form(
            r"(?i)^intel (?:one)?mkl (?:fatal )?error",
            r"\blevel_zero\b",
            r"\bsycl::|UR_RESULT_ERROR",
        ),
    ),
    neighbour(
        "Kubernetes",
        Form(
            r"\bkubelet\b",
            r"^Error from server \(",
            r"\bFailedScheduling\b",
            r"^\s{0,12}Reason:\s{1,12}[A-Z]\w{1,40}$",
        ),
        (MEMORY, NO_DEVICE, *INSTALLS),
    ),
    neighbour(
        "Docker", Form(r"^docker: ", r"^Error response from daemon"), (MEMORY, NO_DEVICE, *INSTALLS)
    ),
    neighbour(
        "Slurm",
        Form(r"^(?:slurmstepd|srun|sbatch): "),
        (MEMORY, (r"time limit", "hang", "hang"), NO_DEVICE),
    ),
    neighbour("MPI", Form(r"^MPI_ABORT was invoked", r"^\[\S{1,80}:\d{1,9}\] \*\*\* "), (MEMORY,)),
    Part("NCCL", Form(r"\bNCCL (?:WARN|INFO|error)", r"ProcessGroupNCCL")),
    Part("the Windows linker", Form(r"\bLINK : ", r"error LNK\d{4}")),
    Part("the macOS loader", Form(r"^dyld\[", r"\bdlopen\(.{1,300}\): (?:Library|Symbol) not")),
    Part("ptxas", Form(r"\bptxas\b")),
    Part("nvcc", Form(r"\bnvcc\b")),
    Part("CMake", Form(r"^\s{0,8}>?\s{0,4}CMake (?:Error|Warning)")),
    Part("make", Form(r"^(?:g?make(?:\[\d{1,3}\])?|ninja): ")),
    Part("the linker", Form(r"(?:^|/)(?:ld(?:\.\w{1,8})?|collect2): ")),
    Part(
        "the C++ compiler",
        Form(r"\.(?:cpp|cc|cxx|h|hpp):\d{1,6}:\d{1,5}: ", r"^(?:g\+\+|gcc|clang)"),
    ),
    Part("Triton", Form(r"\btriton[./\\:]", r"\bmlir\b", r"^LLVM ERROR")),
    Part(
        "the package's loader", Form(r"aoti_load|AOTIModel", r"\binline_container\b", r"\bminiz\b")
    ),
    Part("torch.export", Form(r"\btorch[./\\]_?export[./\\]")),
    Part("Dynamo", Form(r"\btorch[./\\]_dynamo[./\\]")),
    Part("AOTAutograd", Form(r"\btorch[./\\]_functorch[./\\]")),
    Part("Inductor", Form(r"\btorch[./\\]_inductor[./\\]")),
    Part("torch", Form(r"\btorch[./\\]\w", r"\bc10::|\bat::")),
    Part("CUDA", Form(r"\bCUDA error\b|\bcuda\w{0,40}Error|\bCUDA_ERROR_")),
    Part(
        "a download",
        Form(
            r"^fatal: unable to access '", r"\b(?:urllib3|requests|huggingface_hub)\.\w", r"^wget: "
        ),
        INSTALLS,
    ),
    Part("Python", Form(r"^\w{0,60}(?:Error|Exception): ", r"^Fatal Python error")),
)

# Types that Python itself and its libraries raise where a script calls them wrongly.
OF_A_SCRIPT = re.compile(
    r"^(?:E {1,8})?(?:Type|Attribute|Key|Name|ZeroDivision|UnboundLocal|NotImplemented"
    r"|FileNotFound|IsADirectory|Permission|Unicode\w{0,10}|Recursion|JSONDecode)Error\b"
)

# What a neighbour's line says as well as torch's own: of the machine, not of a model.
OF_THE_MACHINE: frozenset[Category] = frozenset(
    {
        "illegal_memory_access",
        "misaligned_address",
        "kernel_resources",
        "host_segfault",
        "out_of_memory",
        "device_unavailable",
        "missing_symbol",
        "package_incompatible",
        "missing_kernel_binary",
    }
)


def part_of(line: str) -> Part | None:
    """Return the part of the software that printed a line; None when its form is nobody's."""
    text = line[:READ]
    return next((part for part in PARTS if part.form.search(text)), None)


def by_a_neighbour(line: str) -> bool:
    """Tell whether a neighbour printed a line in its own words."""
    part = part_of(line)
    return part is not None and part.neighbour and not CARRIES.search(line)


# Signs of a compiled model, or of what compiles one.
OURS = Form(
    r"(?i)inductor",
    r"(?i)aot_?i|\baot_(?:load|compile)",
    r"(?i)\btorch[./\\](?:compile\b|_?(?:dynamo|export|functorch|subclasses)\b|fx\b)",
    r"(?i)\btriton(?:_|\b(?!.?(?:inference|server)))",
    r"\.pt2\b",
    r"\bExportedProgram|\bsymbolic_shapes",
)


def of_others(scene: Scene) -> bool:
    """Tell whether a text shows other software at work, and no sign of a compiled model."""
    if scene.any(OURS):
        return False
    others = (part.neighbour for text in scene.texts if (part := part_of(text)) is not None)
    return is_building(scene) or scene.any(PYTHON) or any(others)


def of_a_neighbour(candidate: Candidate) -> bool:
    """Tell whether a finding rests on a line of a neighbour alone, and is not of the machine."""
    said = candidate.diagnosis
    if said.category in OF_THE_MACHINE or not said.evidence or candidate.role == "clean":
        return False
    return by_a_neighbour(said.evidence[0].quote)


def last_to_speak(lines: Iterable[str]) -> tuple[int, Part] | None:
    """Return the number of the last line whose form is known, and whose it is."""
    known = list(lines)
    for number in range(len(known) - 1, -1, -1):
        if (part := part_of(known[number])) is not None:
            return number, part
    return None


def candidates(observations: Observations) -> Iterator[Candidate]:
    """Yield what a neighbour's complaint means, and a script's own error without its traceback."""
    scene = observations.scene
    if scene is None:
        return
    if (found := in_its_words(scene)) is not None:
        yield found
    if (ended := in_its_frame(scene)) is not None:
        yield ended
    wrong = [
        line
        for line, text in zip(scene.lines, scene.texts, strict=True)
        if OF_A_SCRIPT.search(text)
    ]
    if wrong and not observations.of(CodePlace):
        phase: Phase = "load" if "NotFound" in wrong[-1].text else "none"
        yield replace(said(scene, wrong[-1], "user_code", phase, "a script's own error: "), order=2)


ENDS_A_STACK = Form(r"^[\w.]{0,120}(?:Error|Exception)\b")
# What libraries say as a warning, and go on without.
WARNED_OF = ("performance", "out_of_memory", "toolchain", "device_unavailable")


def in_its_words(scene: Scene) -> Candidate | None:
    """Return what the complaints of the part that complains first mean: of its rows the first that
    knows one of them. What follows, a script's exception say, is its consequence."""
    best: tuple[int, Line, Part] | None = None
    for line, text in zip(scene.lines, scene.texts, strict=True):
        if HARMLESS.search(text) or (found := row_of(text)) is None:
            continue
        part, row = found
        mild = MILD.search(text) and not COMPLAINS.search(text)
        if mild and part.says[row][1] not in WARNED_OF:
            continue
        if best is None or (part is best[2] and row < best[0]):
            best = row, line, part
    if best is None:
        return None
    row, line, part = best
    _, category, phase = part.says[row]
    told = said(scene, line, category, phase, f"{part.name} says: ", Tier.EXCEPTION)
    return replace(told, role="cause") if part.neighbour and row < len(part.says) - 1 else told


def in_its_frame(scene: Scene) -> Candidate | None:
    """Return what a stack means that ends, without its exception, in a neighbour's file."""
    frames = scene.all(PYTHON)
    part = part_of(frames[-1].text) if frames else None
    if part is None or not part.neighbour or not part.says or part.says[-1][0]:
        return None
    if any(ENDS_A_STACK.search(x.text) for x in scene.lines if x.number > frames[-1].number):
        return None
    return said(scene, frames[-1], *part.says[-1][1:], f"{part.name} raised: ", Tier.EXCEPTION)


def row_of(text: str) -> tuple[Part, int] | None:
    """Return who says a text, and which of that part's rows knows it."""
    part = part_of(text)
    if part is None or not part.says or CARRIES.search(text):
        return None
    for row, (words, _, _) in enumerate(part.says):
        if (words or COMPLAINS.search(text)) and _folded(words).search(text):
            return part, row
    return None


def meaning_of(text: str) -> tuple[Part, Category, Phase] | None:
    """Return who says a text, and what it means where the rows of that part know it."""
    if (found := row_of(text)) is None:
        return None
    part, row = found
    return part, part.says[row][1], part.says[row][2]


@cache
def _folded(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)
