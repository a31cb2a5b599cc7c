"""Name the part of the software that printed a line, by the form in which it prints: its logger,
the file beside the message, the type of its exception. A phrase of the message is no such form."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from aoti_debug.diagnose.from_scene import CARRIES
from aoti_debug.diagnose.observations import Candidate
from aoti_debug.model import Category
from aoti_debug.signatures.signature import literals

READ = 400  # characters of a line


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the software, and the forms of its lines.

    A `neighbour` has operators, methods, packages and indices of its own: its lines say nothing
    about a package of AOTInductor, though they use the same words.
    """

    name: str
    forms: tuple[str, ...]
    neighbour: bool = False


# The narrower part comes first.
PARTS: tuple[Part, ...] = (
    Part(
        "ExecuTorch",
        (
            r"\bexecutorch[:/.](?!.{0,80}site-packages/torch)",
            r"\btorch::executor\b",
            r"\[(?:method|program|module|operator_registry|tensor_impl)\.cpp:\d{1,5}\]",
            r"\b(?:loading|execut\w{1,4}) (?:of )?method \w{1,60} failed",
            r"Failed to (?:load|execute) method \w{1,60}, error",
        ),
        neighbour=True,
    ),
    Part(
        "LAMMPS",
        (
            r"^ERROR(?: on proc \d{1,6})?: .{0,300}\((?:\.\./|src/)[\w./-]{1,100}\.cpp:\d{1,5}\)",
            r"^Last (?:input line|command): ",
            r"^LAMMPS \(",
        ),
        neighbour=True,
    ),
    Part(
        "Java",
        (
            r'^Exception in thread "',
            r"^\s{0,20}at [\w.$<>/]{1,200}\((?:[\w$]{1,80}\.(?:java|kt|scala):\d{1,6}|"
            r"Native Method)\)",
            r"^(?:Caused by: )?(?:java|javax|kotlin|scala|ai\.djl|ai\.onnxruntime)\.[\w.$]{1,200}"
            r"(?:Exception|Error)\b",
        ),
        neighbour=True,
    ),
    Part(
        "Rust",
        (
            r"^thread '[^']{0,80}' (?:\(\d{1,9}\) )?panicked at ",
            r"^index out of bounds: the len is \d{1,19} but the index is \d{1,19}",
            r"^error: could not compile `",
            r"^error: linking with `",
            r"^error\[E\d{4}\]",
            r"^\s{0,12}--> [\w./-]{1,200}\.rs:\d{1,6}:\d{1,5}",
        ),
        neighbour=True,
    ),
    Part(
        "Go",
        (r"^panic: runtime error: ", r"^goroutine \d{1,9} \[", r"^\s{1,8}/\S{1,200}\.go:\d{1,6}"),
        neighbour=True,
    ),
    Part(
        "Node.js",
        (r"^node:internal/", r"^\s{1,8}at .{0,200}\(node:internal/", r"^npm (?:ERR!|error)"),
        neighbour=True,
    ),
    Part(
        "conda",
        (
            r"^\w{0,40}(?:PackagesNotFound|ResolvePackageNotFound|UnsatisfiableError|CondaError"
            r"|CondaHTTPError|LibMamba\w{1,40}Error)",
            r"^(?:error|critical|warning)\s{1,4}libmamba ",
            r"^Solving environment: failed",
            r"^EnvironmentNameNotFound",
        ),
        neighbour=True,
    ),
    Part(
        "nix",
        (
            r"^error: builder for '/nix/store/",
            r"^error: (?:Cannot build|build of) '/nix/store/",
            r"^\s{0,12}For full logs, run 'nix ",
            r"^error: \d{1,6} dependencies of derivation '/nix/store/",
        ),
        neighbour=True,
    ),
    Part(
        "pip",
        (r"^ERROR: (?:pip's dependency|Could not find a version|No matching distribution)",),
        neighbour=True,
    ),
    Part("ONNX Runtime", (r"\bonnxruntime[.:]", r"\[ONNXRuntimeError\]"), neighbour=True),
    Part("TensorRT", (r"\[TRT\]", r"\btensorrt\.\w"), neighbour=True),
    Part("TensorFlow", (r"\btensorflow/(?:core|compiler|python|lite)/",), neighbour=True),
    Part("JAX", (r"\bjaxlib\.", r"\bXlaRuntimeError\b"), neighbour=True),
    Part("OpenVINO", (r"\bopenvino[.:]", r"\bov::"), neighbour=True),
    Part("TVM", (r"\btvm\.error\.", r"\btvm::"), neighbour=True),
    Part(
        "Intel's runtime",
        (
            r"(?i)^intel (?:one)?mkl (?:fatal )?error",
            r"\blevel_zero\b",
            r"\bsycl::|UR_RESULT_ERROR",
        ),
    ),
    Part("Kubernetes", (r"\bkubelet\b", r"^Error from server \("), neighbour=True),
    Part("Docker", (r"^docker: ", r"^Error response from daemon"), neighbour=True),
    Part("Slurm", (r"^(?:slurmstepd|srun|sbatch): ",), neighbour=True),
    Part("MPI", (r"^MPI_ABORT was invoked", r"^\[\S{1,80}:\d{1,9}\] \*\*\* "), neighbour=True),
    Part("NCCL", (r"\bNCCL (?:WARN|INFO|error)", r"ProcessGroupNCCL")),
    Part("the Windows linker", (r"\bLINK : ", r"error LNK\d{4}")),
    Part("the macOS loader", (r"^dyld\[", r"\bdlopen\(.{1,300}\): (?:Library|Symbol) not")),
    Part("ptxas", (r"\bptxas\b",)),
    Part("nvcc", (r"\bnvcc\b",)),
    Part("CMake", (r"^\s{0,8}>?\s{0,4}CMake (?:Error|Warning)",)),
    Part("make", (r"^(?:g?make(?:\[\d{1,3}\])?|ninja): ",)),
    Part("the linker", (r"(?:^|/)(?:ld(?:\.\w{1,8})?|collect2): ",)),
    Part(
        "the C++ compiler", (r"\.(?:cpp|cc|cxx|h|hpp):\d{1,6}:\d{1,5}: ", r"^(?:g\+\+|gcc|clang)")
    ),
    Part("Triton", (r"\btriton[./\\:]", r"\bmlir\b", r"^LLVM ERROR")),
    Part("the package's loader", (r"aoti_load|AOTIModel", r"\binline_container\b", r"\bminiz\b")),
    Part("torch.export", (r"\btorch[./\\]_?export[./\\]",)),
    Part("Dynamo", (r"\btorch[./\\]_dynamo[./\\]",)),
    Part("AOTAutograd", (r"\btorch[./\\]_functorch[./\\]",)),
    Part("Inductor", (r"\btorch[./\\]_inductor[./\\]",)),
    Part("torch", (r"\btorch[./\\]\w", r"\bc10::|\bat::")),
    Part("CUDA", (r"\bCUDA error\b|\bcuda\w{0,40}Error|\bCUDA_ERROR_",)),
    Part("Python", (r"^\w{0,60}(?:Error|Exception): ", r"^Fatal Python error")),
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


@cache
def _forms() -> tuple[tuple[Part, str, tuple[str, ...]], ...]:
    """Return each form with the texts of which a line of that form holds one: to look for them
    first saves compiling what matches nothing."""
    return tuple((part, form, tuple(literals(form))) for part in PARTS for form in part.forms)


@cache
def _compiled(form: str) -> re.Pattern[str]:
    return re.compile(form)


def part_of(line: str) -> Part | None:
    """Return the part of the software that printed a line; None when its form is nobody's."""
    text = line[:READ]
    for part, form, texts in _forms():
        if any(one in text for one in texts) and _compiled(form).search(text):
            return part
    return None


def of_a_neighbour(candidate: Candidate) -> bool:
    """Tell whether a finding rests on a line of a neighbour alone, and is not of the machine."""
    said = candidate.diagnosis
    if said.category in OF_THE_MACHINE or not said.evidence or candidate.role == "clean":
        return False
    quote = said.evidence[0].quote
    part = part_of(quote)
    return part is not None and part.neighbour and not CARRIES.search(quote)


def last_to_speak(lines: Iterable[str]) -> tuple[int, Part] | None:
    """Return the number of the last line whose form is known, and whose it is."""
    known = list(lines)
    for number in range(len(known) - 1, -1, -1):
        if (part := part_of(known[number])) is not None:
            return number, part
    return None
