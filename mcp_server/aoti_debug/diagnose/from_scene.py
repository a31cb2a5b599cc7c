"""What a log shows beside its error: which program wrote it, what it was doing, how it went on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from aoti_debug.diagnose.observations import Candidate, Observations, headline, hint
from aoti_debug.diagnose.parts import of_part
from aoti_debug.diagnose.scene import Form, Scene, forms, rows_of
from aoti_debug.diagnose.wording import refused
from aoti_debug.facts.categories import GPU_FAULTS, MEANINGS, Tier
from aoti_debug.facts.phases import phase_of_native
from aoti_debug.model import Category, Next, Phase
from aoti_debug.read.record import CodePlace, Line, PythonException

LAST = 6  # lines that tell how a log went on
NEAR = 8  # lines between a cause and the call that failed of it

# Inductor's own compile, whatever program it has started.
INDUCTOR = forms(r"""
    \btorch[./\\]_inductor\b || torchinductor || \b(?:Inductor|CppCompile)Error\b
    \baoti_torch_\w|\binductor_entry|\bAOTInductor
""")
TORCHS = Form(r"\btorch[./\\]_(?:inductor|functorch|dynamo)\b")
CPP_COMPILE = Form(r"\bCppCompileError\b", r"^C\+\+ compile error", r"\.wrapper\.cpp\b")
EXTENSION = Form(r"torch[./\\]utils[./\\]cpp_extension", r"/\.cache/torch_extensions/")
# What builds other software than a model, and what installs it.
BUILDER = forms(r"""
    ^\s{0,8}\d{1,4}>.{0,300}\berror (?:LNK|C|MSB)\d{4} || \b(?:LINK|\.exe) : fatal error LNK\d{4}
    ^\s{0,8}error: failed to run custom build command
    ^error: (?:linking with|could not compile)[ ]
    ^\s{0,8}CMake Error\b|^-- Configuring incomplete
    \bCMakeFiles/.{0,300}\b(?:[Ee]rror|undefined|[Ii]n function)\b
    \.(?:a|lib)\(\S{1,80}\.o(?:bj)?\): [Ii]n function
    ^\[\s{0,2}\d{1,3}%\] (?:Linking|Building)[ ]
    ^g?make(?:\[\d{1,3}\])?: \*\*\* |^ninja: build stopped
    ^FAILED: \[?code|^FAILED: \S{1,200}\.o\b || ^ERROR: \S{1,200}/BUILD(?:\.bazel)?:\d
    \bUndefined symbols for architecture[ ]
    ^\s{0,8}error: command '\S{1,200}(?:gcc|g\+\+|clang|cl\.exe|nvcc)' failed
""")
INSTALLER = Form(
    *of_part("conda", "nix", "pip"),
    r"^(?:#\d{1,4} )?ERROR: process \"/bin/sh -c |^The command '/bin/sh -c",
    r"^\s{0,8}[×x] (?:Building wheel|Getting requirements|python setup\.py|No solution found)",
    r"\bFailed building wheel for\b",
    r"^\s{0,8}ERROR: (?:Failed to build|Could not build wheels)|^ERROR: failed to (?:solve|build):",
    r"^npm (?:ERR!|error)",
)
# A compiler or linker that says what is wrong.
COMPILES = Form(
    r"\berror (?:LNK|C)\d{4}\b",
    r"\.(?:c|cc|cpp|cxx|cu|cuh|h|hpp|mm)[:(]\d{1,6}[:,)].{0,12}\b(?:fatal )?error\b",
    r"\bundefined (?:reference|symbol)|\bUndefined symbols for|\bcannot find -l",
    r"\b(?:ld|collect2|clang|gcc|g\+\+|cl|nvcc)(?:\.exe)?: (?:fatal )?error\b",
    r"^error: (?:linking with|could not compile) ",
)
LINKS = Form(r"\bundefined reference to ", r"\berror LNK2\d{3}\b")
BUILT: frozenset[Category] = frozenset(
    {"cpp_error", "missing_symbol", "toolchain", "user_code", "unknown", "triton_error"}
)
# The calls by which a program uses a compiled model, each with its phase.
CALLS: tuple[tuple[Form, Phase], ...] = (
    (Form(r"\bcreate_func_\(", r"\bAOTInductorModelContainerCreate\w{0,20}\("), "load"),
    (Form(r"\bupdate_(?:inactive_)?constant_buffer_func_\("), "constants"),
)
# Functions that look up an operator while the model runs, and no loader calls.
DISPATCHES = Form(r"\baoti_torch_call_dispatcher\b", r"\bat::_ops::\w{1,100}(?:::\w{1,40})?\(")
OF_A_CALL = GPU_FAULTS | {"missing_kernel_binary", "device_unavailable", "out_of_memory"}
TUNING = Form(r"No valid triton configs")
TUNER = Form(r"\btorch[/\\]_inductor[/\\](?:select_algorithm|autotune_process)\.py:\d{1,6}\]")
# Programs that show by their names, or by the files of their assertions, that they are Triton's.
OF_TRITON = forms(r"""
    (?:^|Program arguments: )(?:\S{0,200}/)?(?:triton|mlir)-\w{2,20}\b
    \b(?:triton|mlir)/\S{1,200}\.(?:h|cpp):\d || \bmlir::\w
""")
NO_IMAGE = Form(r"\bno kernel image is available\b")
NO_BUILD = Form(r"\bis not compatible with the current PyTorch\b")
HOST = Form(r"^\s{0,4}(?:frame )?#\d{1,3}:? ", r"\bterminate called\b")
IN_A_CALL = Form(r", in forward$", r"[~^] <--- HERE$")
PARSES = Form(r"\bErrorReport\b", r"^Unknown builtin op: ")  # TorchScript reads its code at load
PYTHON = Form(r'^\s{0,8}File ".{1,300}", line \d')

SERVER = Form(r"^[EWIF]\d{4} [\d:.]{8,20} {1,4}\d{1,9} \w{1,60}\.cc:\d{1,5}\] ")
STACK = Form(*HOST.forms, *PYTHON.forms)

# Functions in which a thread waits.
WAITS = (
    r"(?:\w{0,40}futex\w{0,40}|\w{0,10}pthread_(?:cond|mutex|barrier|rwlock|join)\w{0,40}|"
    r"_{0,2}lll_lock_wait\w{0,20}|_{0,2}(?:ppoll|poll|select|epoll_wait|nanosleep|clock_nanosleep"
    r"|sched_yield|sem_wait|sem_timedwait|wait4|waitpid|recv|recvmsg|accept4?|read|syscall)\w{0,20}"
    r"|psynch_\w{1,20}|mach_msg\w{0,20}|kevent\w{0,10}|semaphore_wait\w{0,10}"
    r"|std::(?:condition_variable|mutex|thread)\S{0,60}|(?:cu|cuda|hip)\w{0,20}Synchroni\w{1,10}"
    r"|nccl\w{1,40}|ioctl)"
)
WATCHED = Form(
    r"\bWatchdog caught collective operation timeout\b", r"\bwatchdog (?:got stuck|hang)\b"
)
STACKS = Form(
    rf"^#0 {{1,4}}(?:0x[0-9a-f]{{1,20}} in )?{WAITS}\b",
    rf"^\s{{0,4}}\*? {{0,2}}frame #0: 0x[0-9a-f]{{1,20}} \S{{1,80}}`_{{0,4}}{WAITS}",
    r"^\s{0,4}Thread \S{1,30} \((?:idle|active)\b[^)]{0,30}\)",
    r"^\s{0,4}java\.lang\.Thread\.State: (?:BLOCKED|WAITING|TIMED_WAITING)",
    r"^\[<0>\] \w{0,40}(?:futex|wait|poll|sleep)",
    r"\bblocked for more than \d{1,6} seconds",
    *WATCHED.forms,
    r"\b(?:Monitored|watchdog)\w{0,20} (?:timed out|timeout)\b",
)
# Of a program that was aborted its watchdog may be the reason; of these it is not.
FAULTED = Form(r"\bSIG(?:SEGV|BUS|FPE|ILL)\b", r"(?i)segmentation fault")
CRASHED = Form(
    r"\bSIG(?:SEGV|ABRT|BUS|FPE|ILL|KILL)\b",
    r"(?i)segmentation fault|core dumped|core was generated|fatal python error|\bsignal 11\b",
    r"\bterminate called\b",
)

# A program that was told to write its levels: what is no error, and what is one.
MILD = forms(r"""
    (?:^|\s)\[[IVWD]\]\s || ^(?:\[rank\d{1,6}\]:)?\s{0,4}\[?(?:W|I|D|V)\d{4}[ ]
    ^[IWDV] [\d:.]{4,20}[ ] || (?i)^.{0,60}\b(?:warn(?:ing)?|info|debug|notice)\b\s{0,2}[\]:|)]?
    \b\w{0,40}Warning:[ ] || ^\d{4}-\d\d-\d\d[ T][\d:.,]{4,20}:? [WID][ ]
""")
LOGGED = Form(r"^(?:\[rank\d{1,6}\]:)?\s{0,4}\[?E\d{4} [\d:.]{4,20}", *MILD.forms)
WARNED = forms(r"""
    ^\s{0,4}\[?[WE]\d{4} [\d:.]{4,20} || (?i)^.{0,60}\bwarn(?:ing)?\b\s{0,2}[\]:|)]?
    \b\w{0,40}Warning:[ ] || ^\s{0,4}\[W\d{0,4}[ ] || ^\d{4}-\d\d-\d\d[ T][\d:.,]{4,20}:? W[ ]
""")
INFORMS = Form(r"^\s{0,4}\[?I\d{4} ", r"^(?:\S{1,40}\s){0,3}\[?INFO\b")
COMPLAINS = Form(
    r"\b(?:\w{0,60}(?:Error|Exception)(?:With\w{1,30})?|ERROR|FATAL|CRITICAL|[Ff]atal|[Ee]rror"
    r"|[Ff]ail(?:ed|ure|s)(?:[A-Z]\w{1,30})?|FAILED"
    r"|[Aa]borted|[Pp]anic(?:ked)?|Traceback|Killed|nan|NaN|inf|mismatch(?:ed)?|hangs?|stuck)\b"
)
TROUBLE = Form(r"(?i)\b(?:wedged|lock-?up|timed out|timeout(?=,))\b")
HARMLESS = Form(r"(?i)\b(?:0|no) (?:tests? )?(?:errors?|failed|failures?)\b")
TESTED = Form(r"(?i)^(?:100% tests passed|all (?:\d{1,6} )?tests (?:have )?(?:passed|succeeded))")
GOES_ON = forms(r"""
    \b\d{1,12}/\d{1,12}\b.{0,200}\b(?:loss|acc\w{0,10}|it/s|ms/step|s/it|\d{1,6}s)\b
    (?i)\b(?:step|iter(?:ation)?|epoch|batch) {0,2}[:#=]? {0,2}\d{1,12}\b
    \bAUTOTUNE benchmarking takes\b || ^\s{1,4}\w{1,80} [\d.]{1,12} ms [\d.]{1,6}%
    \b[\d.]{1,12} ?(?:it/s|tok(?:ens)?/s|img/s|samples/s|req/s)
    (?i)\b(?:done|ok|finished|completed?|succeeded|success(?:ful(?:ly)?)?|passed)\b
    (?i)\b(?:written|saved|wrote|exported|compiled) (?:to )?\S{0,80}
    (?i)\b(?:top-?1|accuracy|acc|eval \w{1,20})\b.{0,40}\d
""")
READY = forms(r"""
    \b(?:READY|Started \w{1,60}|startup complete|[Rr]eady, |(?:running|serving) on )
    \b(?:running|serving|[Ll]istening) (?:on|at)\b || (?i)\ball_?close:? (?:is )?true\b
""")


def went_on(scene: Scene, after: int) -> bool:
    """Tell whether a log shows after a line that the work went on, and no error."""
    rest = [line.text for line in scene.lines if line.number > after]
    bad = [t for t in rest if COMPLAINS.search(t) and not (LOGGED.search(t) or HARMLESS.search(t))]
    return not bad and any(GOES_ON.search(text) for text in rest[-LAST:])


def complains(scene: Scene) -> bool:
    """Tell whether a line of the log speaks of an error."""
    return any(not HARMLESS.search(line.text) for line in scene.all(COMPLAINS))


def is_well(scene: Scene) -> bool:
    """Tell whether all that a log shows is a program at its work, which it says it does."""
    ends = [line.text for line in scene.lines[-LAST:]]
    informed = sum(INFORMS.search(text) for text in ends)
    if complains(scene) or not ends or scene.any(WARNED):
        return False
    if any(TESTED.search(text) for text in ends):
        return not scene.any(STACK)
    good = any(READY.search(text) or GOES_ON.search(text) for text in ends)
    return READY.search(ends[-1]) or (good and informed * 2 >= len(ends))


# The end of an exception's type in the language of a program that uses torch, and what it means:
# the type that stands first here tells most. The last row is of any other type.
TYPES: tuple[tuple[str, Category, Phase], ...] = (
    ("UnsatisfiedLinkError", "toolchain", "load"),
    ("DllNotFoundException", "toolchain", "load"),
    ("EntryPointNotFoundException", "missing_symbol", "load"),
    ("BadImageFormatException", "package_incompatible", "load"),
    ("NoClassDefFoundError", "toolchain", "load"),
    ("ClassNotFoundException", "toolchain", "load"),
    ("FileLoadException", "toolchain", "load"),
    ("OutOfMemoryError", "out_of_memory", "run"),
    ("OutOfMemoryException", "out_of_memory", "run"),
    ("AccessViolationException", "host_segfault", "run"),
    ("SEHException", "host_segfault", "run"),
    ("TimeoutException", "hang", "hang"),
    ("FileNotFoundException", "user_code", "load"),
    ("", "user_code", "run"),
)
RAISED = re.compile(
    r"(?:^|[\s>(])(?P<type>(?:[a-zA-Z_][\w$]{0,60}\.){1,12}[A-Z]\w{0,80}(?:Exception|Error))"
    r"(?: \(0x[0-9A-Fa-f]{8}\))?(?:: |$)"
)
MANAGED = forms(r"""
    ^\s{1,12}at [\w.$<>`+/]{1,200}[(\[] || ^Exception in thread " || ^Unhandled exception\.[ ]
    ^\s{0,12}--->[ ]
""")
PANICS = Form(
    r"^thread '[^']{0,80}' (?:\(\d{1,9}\) )?panicked at ", r"^panic: ", r"^goroutine \d{1,9} \["
)
OF_GO = Form(r"^panic: runtime error: ")  # of its own code, whatever signal says so
NOT_LOADED = forms(r"""
    (?i)\bdlopen\(.{0,300}\(no such file || (?i)\bunable to load (?:shared library|dll)
    (?i)\bcannot open shared object
""")
CARRIES = forms(r"""
    \b(?:ai\.djl\.|org\.pytorch\.)\S{0,100}Exception:[ ] || \bExternalException\b
    \b(?:Torch|TchError::Torch|Ort)\(" || \b(?:c10|at|torch):: || \w\( container_handle_
""")


def raised_elsewhere(scene: Scene) -> Candidate | None:
    """Return what another language's exceptions say by type: the most telling, the innermost."""
    if not scene.any(MANAGED) and not scene.any(PANICS):
        return None
    found = [
        (next(n for n, row in enumerate(TYPES) if at["type"].endswith(row[0])), -number, at["type"])
        for number, line in enumerate(scene.lines)
        if (at := RAISED.search(line.text)) and not CARRIES.search(line.text)
    ]
    if not found:
        line = scene.first(PANICS)
        if line is None or scene.any(CARRIES):
            return None
        tier = Tier.KIND_TEXT if OF_GO.search(line.text) else Tier.STATUS
        return said(scene, line, "user_code", "run", "the program that uses torch failed: ", tier)
    row, number, name = min(found)
    _, category, phase = TYPES[row]
    other = row == len(TYPES) - 1
    if name.startswith(("ai.djl.engine.", "org.pytorch.")) or name.endswith("ExternalException"):
        return None  # torch's words, whatever the type
    if other and scene.any(CARRIES):
        return None
    if other and (line := scene.first(NOT_LOADED)) is not None:
        return said(scene, line, "toolchain", "load", "a library is not loaded: ")
    what = f"the program that uses torch failed: {name.rpartition('.')[2]}: "
    return said(scene, scene.lines[-number], category, phase, what)


WATCH = Next(
    tool="triage",
    why="the log does not say enough: a watched run shows the phase, the call and its inputs",
)


def said(
    scene: Scene, line: Line, category: Category, phase: Phase, what: str, tier: Tier = Tier.STATUS
) -> Candidate:
    span = scene.span(line)
    return hint(category, phase, tier).found(
        headline(what, span.quote), span, next=[WATCH], order=1
    )


# Where torch's C++ has thrown, by its source file.
THROWN = re.compile(r"Exception raised from .{1,300}? at \S{0,200}?(?P<file>[\w./\\-]{3,200}):\d")
PLACES: tuple[tuple[str, Category, Phase], ...] = (
    ("csrc/jit/serialization/", "package_incompatible", "load"),
    ("caffe2/serialize/", "package_corrupt", "load"),
    ("csrc/inductor/aoti_package/", "package_incompatible", "load"),
    ("c10/cuda/", "device_unavailable", "run"),
    ("aten/src/", "user_code", "run"),
)

# The function that raised, where the message is lost: only the last lines of a text.
RAISES = tuple(
    (Form(*functions), category, phase)
    for (category, phase), functions in rows_of(r"""
custom_op_missing load
    \btorch[/\\]_custom_op[/\\]impl\.py\b.{0,40}\b(?:get_op|error_not_found)\b
    \btorch[/\\]_ops\.py\b.{0,40}\b__getattr__\b
device_unavailable environment
    \btorch[/\\](?:cuda|xpu)[/\\]__init__\.py\b.{0,40}\b_lazy_init\b
package_corrupt load
    \btorch[/\\]serialization\.py\b.{0,60}\b(?:_open_zipfile_reader|__init__)\b
cpp_error cpp_compile
    \b(?:Aot|Cpp)\w{0,12}Code(?:Compiler|Cache)\.\w{4,20}\($
""")
)
SOURCE = Form(r"^\s{0,8}[│|]", r"^\s{4,}raise ")
SHOWN_LAST = 16  # lines: a box shows the code around a frame


def raises(scene: Scene) -> Candidate | None:
    """Return what the last function of a cut stack raises."""
    last = scene.lines[-SHOWN_LAST:]
    found = ((line, row) for line in reversed(last) for row in RAISES if row[0].search(line.text))
    if (told := next(found, None)) is None:
        return None
    line, (_, category, phase) = told
    return said(scene, line, category, phase, "raised in ", Tier.RAISED)


RAISED_FROM = Form(r"Exception raised from ")
NO_GPU = Form(r"\bcuda\.is_available\(\)")
PROFILED = Form(
    r"\bSelf (?:CUDA|CPU|XPU)(?: time total: | %)", r"^\s{0,4}Name {2,}.{0,200}# of Calls"
)


def thrown(scene: Scene) -> Candidate | None:
    """Return what the file in which torch's C++ has thrown tells, or the message before it."""
    for line in scene.all(RAISED_FROM):
        at = THROWN.search(line.text)
        file = at["file"].replace("\\", "/") if at is not None else ""
        place = next((place for place in PLACES if place[0] in file), None)
        if place is not None:
            _, category, phase = place
            above = [x for x in scene.lines if 0 <= line.number - x.number <= 1]
            message = " ".join(x.text.partition("Exception raised")[0] for x in above)
            told = refused(message) if phase == "run" else None
            shown = above[0] if told is not None else line
            what = "torch's C++ refused: "
            return said(scene, shown, told or category, phase, what, Tier.EXCEPTION)
    return None


BARE = forms(r"""
    ^\s{0,8}(?:RuntimeError|AssertionError|c10::\w{0,40}Error):[ ] || ^\s{0,4}what\(\):\s
    (?i)\b(?:expect(?:ed|s)|wants?)\b.{0,120}\b(?:got|but|found|given|has|have|received)\b
""")
OF_CONSTANTS = re.compile(r"(?i)\bconstants?\b|\bconstant_buffer|state_dict")

OF_A_TENSOR: frozenset[Category] = frozenset({"contract_shape", "contract_dtype"})


def carried(scene: Scene, *, bare: bool) -> Candidate | None:
    """Return what torch refuses in a line that hands its words on, or that has lost its stack."""
    for line in (*scene.all(CARRIES), *(scene.all(BARE) if bare else ())):
        parts = (line.text.partition(mark)[2] for mark in ("Exception: ", '("', "Error: ", "(): "))
        message = next((part for part in parts if part), "")
        category = refused((message or line.text).partition("Exception raised")[0])
        phase: Phase = "run"
        if category in OF_A_TENSOR and OF_CONSTANTS.search(line.text):
            category, phase = "constants_mismatch", "constants"
        if category is not None:
            return said(scene, line, category, phase, "torch's C++ refused: ", Tier.EXCEPTION)
    return None


FAILING = Form(*COMPLAINS.forms, r"(?i)crash|corrupt|garbage|wrong|\braces?\b|\bSIG[A-Z]{3,4}\b")
WAITS_OR_SLOW = Form(r"(?i)\bhang|\bhung\b|\bstuck\b|deadlock|slow|latency|\bblock")
# When something fails, in the words of a person: only while others are at the same work.
AT_ONCE = forms(r"""
    (?i)\b(?:when|if|while|calling|running|loading|using)\b.{0,120}\bconcurrent(?:ly)?\b
    (?i)\b(?:when|if|while|calling|running|loading|using)\b.{0,120}\bsimultaneous(?:ly)?\b
    (?i)\b(?:when|if|while|calling|running)\b.{0,120}\bin parallel\b
    (?i)\b(?:one after (?:an|the )other|one by one|sequentially)\b.{0,60}\b(?:never|works?|fine)\b
    (?i)\b(?:when|if|calling|running|loading)\b.{0,99} (?:multiple|several|two|many|other) threads\b
""")


def candidates(observations: Observations) -> Iterator[Candidate]:
    """Yield what the forms of a log's lines tell by themselves."""
    scene = observations.scene
    if scene is None:
        return
    watched = scene.any(WATCHED) and not scene.any(FAULTED)
    if (line := scene.first(STACKS)) is not None and (watched or not scene.any(CRASHED)):
        what = "the program did not go on; its stacks were taken where it stood: "
        found = said(scene, line, "hang", "hang", what, Tier.HANG)
        yield replace(found, role="cause") if watched else found
    bare = not observations.of(CodePlace)
    cut = not observations.of(PythonException) and all(
        SOURCE.search(line.text) for line in scene.all(COMPLAINS)
    )
    ended = raises(scene) if cut else None
    found_by_form = (raised_elsewhere(scene), thrown(scene), carried(scene, bare=bare), ended)
    yield from filter(None, found_by_form)
    line = scene.first(AT_ONCE)
    told_by_a_person = not (observations.of(CodePlace) or scene.any(MILD)) and scene.any(FAILING)
    if line is not None and told_by_a_person and not WAITS_OR_SLOW.search(line.text):
        phase_told: Phase = "load" if LOADS.search(line.text) else "run"
        told = said(scene, line, "concurrency", phase_told, "only at once: ", Tier.NAMED_TEXT)
        yield replace(told, role="cause")
    for asked in scene.all(NO_GPU):
        if any("False" in x.text for x in scene.lines if 0 <= x.number - asked.number <= 1):
            yield said(scene, asked, "device_unavailable", "environment", "torch sees no GPU: ")
    if not scene.any(COMPLAINS) and (line := scene.first(PROFILED)) is not None:
        yield said(scene, line, "performance", "run", "a profile, and no error: ")
    line = scene.first(COMPILES) or scene.first(BUILDER) or scene.first(INSTALLER)
    if is_building(scene) and line is not None:
        what = "other software than a model could not be built or installed: "
        yield said(scene, line, "toolchain", build_phase(scene), what)


def build_phase(scene: Scene) -> Phase:
    """Return the phase of a build of other software: a compiler's error, or its set-up."""
    return "cpp_compile" if scene.any(COMPILES) else "environment"


def placed(candidate: Candidate, scene: Scene) -> Candidate:
    """Correct a finding by what the log shows around it."""
    known = candidate.diagnosis
    category, phase = known.category, known.phase
    if candidate.role == "clean" or not (at := candidate.line):
        return candidate
    if category in BUILT and phase in BUILDING and is_building(scene):
        category, phase = "toolchain", build_phase(scene)
    elif phase in BUILDING and category == "out_of_memory" and is_building(scene):
        phase = "environment" if scene.any(INSTALLER) else build_phase(scene)
    elif phase == "triton_compile" and category == "toolchain" and scene.any(CPP_COMPILE):
        phase = "cpp_compile"
    elif phase in ("export", "lower") and category == "contract_guard":
        category = "lowering_error"  # no call is made yet
    elif phase == "load" and category == "custom_op_missing" and scene.any(IN_A_CALL):
        phase = "load" if scene.any(PARSES) else "run"
    elif phase in ("export", "lower") and category in GPU_FAULTS:
        phase = "run"  # what a kernel does, no compiler does
    elif phase == "triton_compile" and category == "missing_kernel_binary":
        phase = phase if scene.any(TORCHS) or not scene.any(PYTHON) else "run"
    elif phase == "cpp_compile" and category == "toolchain" and scene.any(OF_TRITON):
        category, phase = "triton_error", "triton_compile"
    elif phase == "load" and category == "user_code" and by_a_host(scene):
        category = "package_incompatible"  # who called is not who wrote the file
    elif category == "custom_op_missing" and (line := scene.first(DISPATCHES)) is not None:
        linked = "at::_ops::" in line.text  # what torch itself registers was not linked in
        category, phase = "toolchain" if linked else category, "run"
    elif phase == "run" and category == "host_segfault":
        phase = phase_of_native(line.text for line in scene.all(HOST)) or phase
    elif phase in ("run", "environment") and category in OF_A_CALL:
        opened = next((p for form, p in CALLS if near(scene, form, at)), None)
        phase = opened or phase_of_native(line.text for line in scene.all(HOST)) or phase
        if opened == "load" and category == "kernel_resources":
            category = "package_incompatible"
    elif category == "toolchain" and scene.any(NO_IMAGE) and NO_BUILD.search(candidate.quote):
        category, phase = "missing_kernel_binary", "run"
    if phase == "run" and TUNER.search(candidate.quote):
        phase = "autotune"
    if category == "kernel_resources" and phase == "run" and scene.any(INDUCTOR):
        phase = "triton_compile" if scene.any(TUNING) else phase
    return changed(candidate, category, phase)


BUILDING: tuple[Phase, ...] = ("cpp_compile", "triton_compile", "none", "environment", "load")


def is_building(scene: Scene) -> bool:
    """Tell whether other software than a model is built or installed."""
    others = any(map(scene.any, (BUILDER, INSTALLER, LINKS)))
    return others and not (scene.any(INDUCTOR) or scene.any(EXTENSION))


def by_a_host(scene: Scene) -> bool:
    """Tell whether a program without Python loaded a file."""
    return (scene.any(HOST) or scene.any(SERVER)) and not scene.any(PYTHON)


def near(scene: Scene, form: Form, at: int) -> bool:
    return any(abs(line.number - at) <= NEAR for line in scene.all(form))


def changed(candidate: Candidate, category: Category, phase: Phase) -> Candidate:
    known = candidate.diagnosis
    if (category, phase) == (known.category, known.phase):
        return candidate
    update: dict[str, object] = {"category": category, "phase": phase}
    if category != known.category:
        update["guide"] = MEANINGS[category].guide
    return candidate.but(**update)


# What says last of all that the failure above it is passed over.
DISMISSED = Form(r"(?i)\b(?:ignoring|skipping) (?:this|the|it)\b(?: \w{1,20})?\W{0,3}$")
TUNES = Form(r"(?i)\bautotun")
# What a program says that it does in place of what failed.
INSTEAD = Form(r"^(?:Relying|[Ff]alling back) (?:up)?on\b", r"\bmessage will only be logged once\b")


def settled(ranked: Sequence[Candidate], scene: Scene, *, whole: bool) -> list[Candidate]:
    """Judge the best of the findings by how the log went on, and give it a phase; `whole` says
    that all clues have been read."""
    best, *others = ranked
    known, at, quote = best.diagnosis, best.line, best.quote
    if known.category == "no_fault" or best.role == "clean":
        return [best, *others]
    if known.category == "unknown" and whole and (warned := scene.all(WARNED)):
        at, quote = warned[-1].number, scene.span(warned[-1]).quote
        if all(WARNED.search(text) or text[:1].isspace() for text in scene.texts):
            return [of_no_harm(best, "none", scene.span(warned[0]).quote)]
    if at and logged_as_warnings(scene):
        return [of_no_harm(best, known.phase, quote)]
    if at and scene.lines and DISMISSED.search(scene.lines[-1].text):
        tuned = scene.any(TUNES)
        return [of_no_harm(best, "autotune" if tuned else known.phase, quote)]
    if at and LOGGED.search(quote) and any(0 < x.number - at <= NEAR for x in scene.all(INSTEAD)):
        return [of_no_harm(best, known.phase, quote)]
    harmful = known.category == "performance" and best.tier is not Tier.NOTICE
    harmful = harmful or known.category in ("hang", "nan_or_inf", "wrong_result")
    if at and not harmful and LOGGED.search(quote) and went_on(scene, at):
        return [of_no_harm(best, "none" if known.category == "unknown" else known.phase, quote)]
    if known.phase == "none":
        best = changed(best, known.category, doing(best, scene))
    return [best, *others]


BEGINS = Form(r"Traceback \(most recent call last\)")
WARNS = forms(r"""
    ^(?:\[rank\d{1,6}\]:)?\s{0,4}\[?W\d{4} [\d:.]{4,20} || ^.{0,80}\bWARN(?:ING)?\b\s{0,2}[\]:|)]
    ^\d{4}-\d\d-\d\d[ T][\d:.,]{4,20}:? (?:W|.{0,40}\bWARN(?:ING)?\b)[ ]
""")
OF_A_LIBRARY = Form(r'^\s{0,8}File ".{0,300}\b(?:torch|triton|site-packages)[/\\].{1,200}, in \w')

GIVES_UP = Form(r"(?i)exception|\bfail|unable|bypass|skip|assum|\bfall|ignor|could not|couldn't")


def logged_as_warnings(scene: Scene) -> bool:
    """Tell whether every traceback of a log was written down as a warning by the library that
    caught it: below the line that says so, and not begun by a script."""
    begins = scene.all(BEGINS)
    lines = {line.number: line.text for line in scene.lines} if begins else {}
    for at in begins:
        above, below = lines.get(at.number - 1, ""), lines.get(at.number + 1, "")
        if not WARNS.search(above) or not GIVES_UP.search(above):
            return False
        if not WARNS.search(at.text) and not OF_A_LIBRARY.search(below):
            return False
    return bool(begins)


def of_no_harm(candidate: Candidate, phase: Phase, quote: str) -> Candidate:
    best = changed(candidate, "false_alarm", phase)
    return best.but(summary=headline("a warning that stopped nothing: ", quote))


IMPORTS = Form(r"\bModuleNotFoundError\b", r"\bNo module named\b")
LOADS = Form(r"(?i)\bload(?:ing|ed)?\b|\bconstructed\b", r"(?i)\bdlopen\b", r"\bImportError\b")


def doing(candidate: Candidate, scene: Scene) -> Phase:
    """Return the phase of a failure by its words alone: environment, load, or else run."""
    quote = candidate.quote
    if IMPORTS.search(quote) or is_building(scene):
        return "environment"
    last = (line.text for line in scene.lines[-3:])
    return "load" if any(map(LOADS.search, (quote, *last))) else "run"
