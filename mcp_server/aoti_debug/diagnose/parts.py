"""The parts of the software that print lines: the form of each, and what its complaints mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from aoti_debug.diagnose.scene import READ, Form, rows_of
from aoti_debug.model import Category, Phase
from aoti_debug.read.blocks import MultiSearch

Row = tuple[str, Category, Phase]  # words of a line, case does not matter, and what they mean


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the software, the form of its lines, and what its complaints mean: the first row
    of `says` whose words a line holds. A `neighbour` has operators, methods, packages and indices
    of its own: its lines say nothing about a package of AOTInductor."""

    name: str
    form: Form
    says: tuple[Row, ...] = ()
    neighbour: bool = False


# What any program says of the machine, and of tensors that it is given: a name, category and phase,
# and the words. <ANY> is any complaint.
ROWS = r"""
MEMORY out_of_memory run
    out.?of.?memory|\boom\b|oom.?kill|resource_exhausted|bad_alloc|alloc\w* fail|failed to alloc
    (?:unable to|could not|couldn't|cannot) (?:be )?alloc
NO_DEVICE device_unavailable environment
    no_device|no .{0,24}\bdevice|nvml|driver/library|insufficient nvidia|nvidia-container
    device driver|cuinit|\bgres\b|\bcdi device
SIZES contract_shape run
    \bdimension|\bshape|\bresize|\bsizes?\b|\brank\b|optimization profile|setting input
TYPES_OF_DATA contract_dtype run
    dtype|scalar ?type|data ?type|tensor\((?:float|int)
LIBRARY toolchain load
    loadlibrary|dlopen|shared (?:library|object)|\.(?:dll|dylib|so)\b.{0,80}(?:fail|not)
    (?:fail|not).{0,80}\.(?:dll|dylib|so)\b
VERSIONS package_incompatible load
    \bversion|\bidentifier\b|(?<!dimension )(?<!shape )mismatch|incompatib|deserializ
    out ?dated|engine plan|\bschema\b|opset
DAMAGED package_corrupt load
    protobuf|corrupt|truncat|too small|(?:invalid|bad) (?:file|magic|header|program)|no_?such_?file
    magic.{0,20}(?:mismatch|number|invalid)
NO_OPERATOR custom_op_missing load
    missing operator|kernel '.{1,80}' not found|not_implemented|could not find an implementation
    no registered|plugin.{0,40}not found|unregistered|unrecognized op
CONVERTS lowering_error lower
    convert|\bpars|unsupported|importer|lower|partition|verif|builder|tactic|quantiz|legaliz
DIFFERS wrong_result autotune
    difference at|results? mismatch
FAILS_AT_LOAD package_incompatible load
    fail.{0,60}(?:\binit|load|delegate|backend)
    (?:\binit|load|delegate|backend).{0,60}(?:fail|not)
LOWERS lowering_error lower
    <ANY>
INSTALLS toolchain environment
    <ANY>
REFUSES toolchain environment
    \S
"""
# A part's name, * for a neighbour, the forms of its lines, and what they say: names of ROWS, or
# category, phase and words. The narrower part comes first.
TABLE = r"""
torch's log, asked to tell *
    \] \[__\w{1,40}\][ ]
    = performance run recompiling function|skipping cudagraphs|graph break
a converter of models *
    \bexir[/\\]\w || \bexecutorch[/\\](?:backends|devtools|extension[/\\]export_util)[/\\]
    \btorch_tensorrt[/\\.](?:dynamo|ts|fx)[/\\.] || \bcoremltools[/\\.]converters[/\\.]
    \b(?:torch_mlir|iree|ai_edge_torch|tf2onnx|onnx2tf|torch_xla)[/\\.]\w
    \bopenvino[/\\.](?:frontend|tools)[/\\.] || \btvm[/\\.](?:relay|relax)[/\\.]
    \boperation '(?:torch|stablehlo|onnx)\.\w|!torch\.vtensor
    = MEMORY NO_DEVICE LOWERS
ExecuTorch *
    \bexecutorch[:/.](?!.{0,80}site-packages/torch) || \btorch::executor\b || \bQnn ExecuTorch\b
    \b[EWIF][ /]ExecuTorch\b
    (?:^|\s)\[\w{1,60}\.cpp:\d{1,5}\][ ] || ^\w{1,60}\.cpp:\d{1,5}\][ ]
    \b(?:loading|execut\w{1,4}) (?:of )?method \w{1,60} failed
    Failed to (?:load|execute) method \w{1,60}, error
    = contract_device run \b(?:[hd]2[hd]|(?:host|device)_to_(?:host|device))\b.{0,40}\bfail
    = lowering_error lower failed to (?:validate|append)|op validation
    = RUNTIME TYPES_OF_DATA SIZES VERSIONS FAILS_AT_LOAD
LAMMPS *
    (?:WARNING|ERROR(?: on proc \d{1,6})?): .{0,300}\([\w./-]{1,100}\.cpp:\d{1,5}\)\s{0,8}$
    ^(?:Last (?:input line|command)|pair_style|pair_coeff)\b || ^LAMMPS \(
    = MEMORY
    = toolchain run un(?:recognized|known) \w{1,12} style|not enabled in this
    = user_code run error
the Linux kernel *
    \bkernel: (?:\[[ \d.]{1,20}\] )?(?:BUG:|Oops:|#PF:|RIP: )|^\[[ \d.]{4,20}\] BUG:[ ]
    \bkernel: (?:\[[ \d.]{1,20}\] )?(?:NVRM|\[drm|amdgpu|nouveau|i915)
    ^\[[ \d.]{4,20}\] (?:NVRM|\[drm|amdgpu|nouveau|i915)
    = device_unavailable run nvrm|amdgpu|nouveau|i915|drm
    = MEMORY
    = unknown run bug|oops|#pf|rip
Java *
    ^Exception in thread "
    ^\s{0,20}at [\w.$<>/]{1,200}\((?:[\w$]{1,80}\.(?:java|kt|scala):\d{1,6}|Native Method)\)
    ^\s{0,8}(?:Caused by: )?(?:java|javax|kotlin|scala|ai\.djl)\.[\w.$]{1,200}(?:Exception|Error)\b
    ^E/AndroidRuntime
    ^FAILURE: Build failed with an exception|^> Task :|^Execution failed for task[ ]
Rust *
    ^thread '[^']{0,80}' (?:\(\d{1,9}\) )?panicked at[ ]
    ^index out of bounds: the len is \d{1,19} but the index is \d{1,19}
    ^error: could not compile ` || ^error: linking with ` || ^error\[E\d{4}\]
    ^\s{0,12}--> [\w./-]{1,200}\.rs:\d{1,6}:\d{1,5}
    = toolchain environment can't find crate|no matching package|failed to select
    = toolchain cpp_compile linking with
    = user_code cpp_compile error\[e\d
Go *
    ^panic: runtime error:[ ] || ^goroutine \d{1,9} \[ || \b[\w/-]{1,200}\.go:\d{1,6}\b
    ^# [\w-]{1,40}\.\w{2,6}/\S{1,120}$
R *
    ^Error in [\w.:]{1,60}\(|^Caused by error in |^Calls: .{1,80} ->[ ]
    ^[✖ℹ] |^> [\w.]{1,40}::\w || /R/\S{0,80}(?:library/|-library/)
Julia *
    ^ERROR: LoadError:[ ] || ^Stacktrace:$ || \b[\w/]{1,80}\.jl:\d{1,6} || /\.julia/
llama.cpp *
    ^(?:ggml|llama|gguf)_\w{1,60}:[ ] || \bllama(?:\.cpp| runner| server)\b
Ruby *
    \b[\w/.-]{1,120}\.rb:\d{1,6}:in[ ] || ^ERROR: {2}Error installing |extconf\.rb
Swift *
    \b\w{1,80}\.swift:\d{1,6}:[ ]
a CUDA program *
    \b[\w/.-]{1,80}\.cu:\d{1,6} code=\d || ^cuda\w{1,40}\(\) failed
Node.js *
    ^node:internal/ || ^\s{1,8}at .{0,200}\(node:internal/ || ^(?:npm|gyp) (?:ERR!|error)
    ^Uncaught (?:\(in promise\) )?\w{0,40}Error\b || ^\s{1,8}at .{0,200}\.js:\d{1,6}:\d{1,6}\)
conda *
    ^\w{0,40}(?:PackagesNotFound|ResolvePackageNotFound|UnsatisfiableError)
    ^\w{0,40}(?:CondaError|CondaHTTPError|LibMamba\w{1,40}Error)
    ^(?:error|critical|warning)\s{1,4}libmamba[ ] || ^Solving environment: failed
    ^EnvironmentNameNotFound || ^Encountered problems? while solving|^Found conflicts! Looking
    ^\s{0,8}(?:- |[├└]─ )?(?:package )?\S{1,80} .{0,80}\b(?:has constraint|conflicts with)\b
    ^\s{0,8}(?:- |[├└]─ )?(?:package )?\S{1,80} .{0,80}\bis (?:excluded by|not installable)\b
    \bnothing provides \S{1,80}.{0,40} needed by[ ]
    = REFUSES
nix *
    ^error: builder for '/nix/store/ || ^error: (?:Cannot build|build of) '/nix/store/
    ^\s{0,12}For full logs, run 'nix[ ] || ^error: \d{1,6} dependencies of derivation '/nix/store/
    = REFUSES
pip *
    ^ERROR: (?:pip's|Could not|No matching|Cannot install|ResolutionImpossible|Failed)
    ^ERROR: \S{1,60} [\d.]{1,20} requires .{1,200}, but you have[ ] || \bpip\._vendor\.
    ^\s{0,4}× No solution found || ^\s{0,4}╰─▶[ ] || ^Because .{1,200} version solving failed
    ^\s{0,4}SolverProblemError
    ^\s{0,4}(?:× Failed to (?:build|download)|├─▶ |error: externally-managed)
    ^(?:Problem(?: \d{1,3})?|Error): .{0,200}\b(?:requires|none of the providers)\b
    ^E: (?:Unable to (?:locate package|correct problems)|Package '|Version ')
    ^The following packages have unmet dependencies|^\s{1,4}\S{1,80} : (?:Pre)?Depends:[ ]
    = REFUSES
torch.onnx
    \btorch\.onnx\.\w || ^\[torch\.onnx\] .{0,200}❌
    = lowering_error export <ANY>
TorchScript *
    \btorch\.jit\.\w{0,40}Error || \btorch\.jit\.frontend\. || \bTracingCheckError\b
    ^Arguments for call are not valid
    = user_code none \S
Core ML Tools *
    \bcoremltools\b
    = MEMORY LOWERS
ONNX Runtime *
    \bonnxruntime[.:] || \[ONNXRuntimeError\]
    = contract_argument run invalid feed|feed dict|missing input|invalid_argument : \S* ?input name
    = RUNTIME TYPES_OF_DATA SIZES VERSIONS
TensorRT *
    \[(?:TRT|TensorRT)\] || \bnvinfer1::\w || \btorch_tensorrt\.
    \bdeserializeCudaEngine\b || \bpolygraphy[./]
    \btensorrt\.\w || ^\[[EWF]\] \d{1,2}: \[ || \bTensorRT(?:-LLM)?(?:\]|:| [Ee]rror)
    = package_incompatible load version tag|serialization (?:assertion|error)|deserialize the
    = RUNTIME VERSIONS CONVERTS SIZES
TensorFlow *
    \btensorflow[/.]\w
    = RUNTIME
    = toolchain environment version|compiled with|library init
    = SIZES
JAX *
    \bjaxlib\. || \bJaxRuntimeError\b || \bjax\.errors\. || \bXlaRuntimeError\b
    \bcuda_dnn\.cc: || \bxla/service/
    = RUNTIME
    = toolchain environment version|library init
    = SIZES
OpenVINO *
    \bopenvino[.:] || \bov:: || \bOpConversionFailure\b || \bsrc/frontends/
    = MEMORY NO_DEVICE LIBRARY DAMAGED CONVERTS SIZES
TVM *
    \btvm\.error\. || \btvm::
    = MEMORY NO_DEVICE CONVERTS
Intel's runtime
    (?i)^intel (?:one)?mkl (?:fatal )?error || \blevel_zero\b || \bsycl::|UR_RESULT_ERROR
Kubernetes *
    \bkubelet\b || ^Error from server \( || \bFailedScheduling\b
    ^\s{0,12}Reason:\s{1,12}[A-Z]\w{1,40}$
    = MEMORY NO_DEVICE
    = INSTALLS
Docker *
    ^docker:[ ] || ^Error response from daemon || ^Error: .{0,80}\bCDI devices?\b
    = MEMORY NO_DEVICE
    = INSTALLS
Slurm *
    ^(?:slurmstepd|srun|sbatch):[ ]
    = MEMORY
    = hang hang time limit
    = NO_DEVICE
MPI *
    ^MPI_ABORT was invoked || ^\[\S{1,80}:\d{1,9}\] \*\*\*[ ]
    = MEMORY
NCCL
    \bNCCL (?:WARN|INFO|error) || ProcessGroupNCCL
the Windows linker
    \bLINK :[ ] || error LNK\d{4}
the macOS loader
    ^dyld\[ || \bdlopen\(.{1,300}\): (?:Library|Symbol) not
ptxas
    \bptxas\b
nvcc
    \bnvcc\b
CMake
    ^\s{0,8}>?\s{0,4}CMake (?:Error|Warning)
make
    ^(?:g?make(?:\[\d{1,3}\])?|ninja):[ ]
the linker
    (?:^|/)(?:ld(?:\.\w{1,8})?|collect2):[ ]
the C++ compiler
    \.(?:cpp|cc|cxx|h|hpp):\d{1,6}:\d{1,5}:[ ] || ^(?:g\+\+|gcc|clang)
Triton
    \btriton[./\\:] || \bmlir\b || ^LLVM ERROR
the package's loader
    aoti_load|AOTIModel || \binline_container\b || \bminiz\b
torch.export
    \btorch[./\\]_?export[./\\]
Dynamo
    \btorch[./\\]_dynamo[./\\]
AOTAutograd
    \btorch[./\\]_functorch[./\\]
Inductor
    \btorch[./\\]_inductor[./\\]
torch
    \btorch[./\\]\w || \bc10::|\bat::
CUDA
    \bCUDA error\b|\bcuda\w{0,40}Error|\bCUDA_ERROR_
a download
    ^fatal: unable to access ' || \b(?:urllib3|requests|huggingface_hub)\.\w || ^wget:[ ]
    = INSTALLS
Python
    ^\w{0,60}(?:Error|Exception):[ ] || ^Fatal Python error
"""


def parts_of(table: str) -> Iterator[Part]:
    known: dict[str, tuple[Row, ...]] = {}
    for (name, category, phase), words in rows_of(ROWS):
        known[name] = (("|".join(words).replace("<ANY>", ""), category, phase),)
    of_a_runtime = "MEMORY NO_DEVICE LIBRARY NO_OPERATOR DAMAGED DIFFERS"
    known["RUNTIME"] = tuple(row for name in of_a_runtime.split() for row in known[name])
    for head, lines in rows_of(table):
        forms = [line for line in lines if not line.startswith("= ")]
        says: list[Row] = []
        for line in lines[len(forms) :]:
            names = line.split()[1:]
            if names[0] in known:
                says += [row for name in names for row in known[name]]
            else:
                said: list[Any] = line.removeprefix("= ").split(" ", 2)
                says.append((said[2].replace("<ANY>", ""), said[0], said[1]))
        star = head[-1] == "*"
        yield Part(" ".join(head[: len(head) - star]), Form(*forms), tuple(says), star)


PARTS = tuple(parts_of(TABLE))


def part_of(line: str) -> Part | None:
    """Return the part of the software that printed a line; None when its form is nobody's."""
    text = line[:READ]
    search, owners = _literals()
    near = {owners[found] for found in search.among(text.lower().encode("utf-8", "replace"))}
    return next((PARTS[at] for at in sorted(near) if PARTS[at].form.search(text)), None)


@cache
def _literals() -> tuple[MultiSearch, list[int]]:
    """Return a search for what each part's forms hold, and the number of the part of each text."""
    known = [(text, at) for at, part in enumerate(PARTS) for text in part.form.literals]
    return MultiSearch(text.encode() for text, _ in known), [at for _, at in known]


def of_part(*names: str) -> tuple[str, ...]:
    """Return the forms in which these parts print."""
    return tuple(form for part in PARTS if part.name in names for form in part.form.forms)
