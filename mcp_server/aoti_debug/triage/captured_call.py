"""The call in question as a run captured it, with its exported program."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.from_package import device_index
from aoti_debug.experiments import Trial, trials
from aoti_debug.hypotheses.fork import stuck
from aoti_debug.model import Next
from aoti_debug.package.documents import Sizes, sizes
from aoti_debug.read.event_records import Call, Details, Phase
from aoti_debug.read.torch_trace import Asked, read_guards
from aoti_debug.record.run_seen import RunSeen, overlapping
from aoti_debug.run.files import is_regular, open_regular, write_atomically
from aoti_debug.symptom import complains
from aoti_debug.triage.captured_program import (
    LOADED_ONLY,
    OTHERS_ONLY,
    compile_of,
    exported_beside,
    exported_program,
    package_file,
    package_of,
    script_of,
)
from aoti_debug.triage.environment import TRACE
from aoti_debug.triage.fingerprint import stable
from aoti_debug.triage.source_text import built_by

AT_ONCE = 4  # threads are enough to see what is shared
KINDS = 500  # of recorded calls that are held against the exported program
MEMORY = ".bin"  # inputs of a call under way: bytes, and the event that says what they are


@dataclass(frozen=True, slots=True)
class Captured:
    """The files of one call that can be repeated; None with the reason where there is none."""

    call: Call | None = None
    instead_of: Call | None = None  # the call in question, where the inputs of this one are kept
    package: Path | None = None
    inputs: Path | None = None
    exported: Path | None = None
    graph: Path | None = None  # the program without its weights, where that is all there is
    names: tuple[str | None, ...] = ()  # of the model's inputs
    modules: tuple[str, ...] = ()  # that register the model's custom operators
    folders: tuple[Path, ...] = ()  # that these modules were imported from
    libraries: tuple[str, ...] = ()  # likewise, loaded with torch.ops.load_library
    script: Path | None = None  # the target itself registers them
    device_index: int | None = None  # of the GPU that the call used; None: the first
    threads: int = 1  # that called the model at the same time, and its instances that serve them
    runners: int = 1
    trials: tuple[Trial, ...] = ()  # calls that are repeated against the program
    pair: Path | None = None  # a call that the script compares, and its reference
    rejected: bool = False  # the script complains of what calls returned
    rows: bool = False  # a row was given other results beside other rows
    forked: bool = False  # a child of a process that has run the package does not return
    others: tuple[Call, ...] = ()  # of the same model, one of each kind that was recorded
    constants: tuple[Path, ...] = ()  # what load_constants was given before the call, in order
    compiled: Phase | None = None  # the model's compile, where it is known
    sizes: Sizes | None = None  # what the program asks of them, where that was looked at
    why_no_constants: str = ""
    why_no_package: str = ""
    why_no_inputs: str = ""
    why_no_exported: str = ""
    to_have_exported: Next | None = None  # where it is known what would keep it

    @property
    def settings(self) -> Mapping[str, object] | None:
        return self.compiled.details.settings if self.compiled is not None else None

    @property
    def replayable(self) -> bool:
        return self.package is not None and self.inputs is not None

    @property
    def why_not(self) -> str:
        return "" if self.replayable else self.why_no_package or self.why_no_inputs


def captured(observations: Observations, directory: Path, home: Path | None) -> Captured:
    """Return what there is of the failing call, else of the last one."""
    run = observations.run
    call = run.call
    if call is None:
        why = "no call of a loaded model was seen"
        return Captured(why_no_package=why, why_no_inputs=why, why_no_exported=why)
    wanted, call = call, kept_like(run, call)
    package = package_of(run, call)
    file, why_package = package_file(package, directory)
    inputs, why_inputs = inputs_file(run, call, directory)
    compiled = compile_of(run, package, call.model, directory, home)
    exported, why_exported = exported_program(run, package, compiled)
    built: Next | None = None
    script = script_of(run) if why_exported in (LOADED_ONLY, OTHERS_ONLY) else None
    if package is not None and script is not None:
        built = built_by(script, Path(package.path))
    if (own := exported_beside(run, call, directory)) is not None:
        exported, why_exported, built = own, "", None
    phase, where = compiled or (None, directory)
    made = phase.details if phase is not None else Details()
    graph = None
    if exported is None and made.exported_graph is not None:
        kept_graph = where / made.exported_graph
        graph = kept_graph if is_regular(kept_graph) else None
    constants, why_constants = constants_given(run, call, directory)
    found = Captured(
        call,
        wanted if call is not wanted else None,
        file,
        inputs,
        exported,
        graph,
        made.input_names or (),
        device_index=device_used(call, device_index(observations, call)),
        constants=constants,
        compiled=phase,
        why_no_constants=why_constants,
        why_no_package=why_package,
        why_no_inputs=why_inputs,
        why_no_exported=why_exported,
        to_have_exported=built,
        others=other_kinds(run, call),
    )
    return with_custom_ops(with_threads(found, run, call), run)


def device_used(call: Call, loaded: int | None) -> int | None:
    """Return the GPU that a call ran on, by its package, inputs or outputs; None: the first."""
    if loaded is not None and loaded >= 0:
        return loaded
    devices = [one.device or "" for one in call.inputs] + [one.device or "" for one in call.outputs]
    number = next((d.partition(":")[2] for d in devices if d.startswith("cuda:")), "")
    return int(number) if number.isdecimal() and int(number) else None


def with_trials(found: Captured, observations: Observations, directory: Path) -> Captured:
    """Add the calls that are repeated against the exported program, of those that are kept."""
    run = observations.run
    found = replace(found, rejected=complains(observations), forked=bool(stuck(observations)))
    mixed = bool(run.like_rows) or any(one.mixed for one in run.references)
    found = replace(found, rows=mixed and not any(one.far for one in run.references))
    pairs = [one.kept for one in run.references if one.kept]
    if found.rejected and pairs and found.package is not None:
        found = replace(found, pair=directory / pairs[0])
    if found.package is None or found.exported is None:
        return found

    def file(call: Call) -> Path | None:
        wanted = found.call
        if wanted is not None and (call.pid, call.call) == (wanted.pid, wanted.call):
            return found.inputs
        return inputs_file(run, call, directory)[0] if kept(run, call) else None

    return replace(found, trials=trials(observations, found.call, file))


def guards_asked(found: Captured, directories: Sequence[Path]) -> tuple[Asked, ...]:
    """Return the guards that the compile added, where a call breaks the bound of a size."""
    if not any(one.property == "size" for trial in found.trials for one in trial.breaks):
        return ()
    asked: list[Asked] = []
    logs = (log for one in directories for log in sorted((one / TRACE).glob("*.log"))[:8])
    for path in filter(is_regular, logs):
        with open_regular(path) as stream:
            asked += read_guards(stream)
    return tuple(asked)


def with_threads(found: Captured, run: RunSeen, call: Call) -> Captured:
    """Add how many threads called at once; calls of a single instance wait for each other."""
    loads, calls = run.of_package(call, "load"), run.of_package(call, "run")
    runners = max((p.details.num_runners or 1 for p in loads), default=1)
    if overlapping(calls) is None or (runners == 1 and len(loads) < 2):
        return found
    threads = len({p.details.thread for p in calls})
    most = min(threads, AT_ONCE, runners if runners > 1 else len(loads))
    return replace(found, threads=most, runners=min(runners, most))


def constants_given(run: RunSeen, call: Call, directory: Path) -> tuple[tuple[Path, ...], str]:
    """Return the weights that the model had been given, or none and why they are not all known."""
    own = run.of_package(call, "load", "constants", "swap", "free")
    own = [p for p in own if p.details.instance in (None, call.instance)]
    before = [p for p in own if p.ok and p.span.first < call.span.first]
    given, idle = list[Phase](), list[Phase]()
    for phase in before:
        if phase.phase == "constants":
            (idle if phase.details.inactive else given).append(phase)
        elif phase.phase == "swap":
            given, idle = idle, given
        elif phase.phase == "free":
            idle = []
    if not given:
        return (), ""
    if sum(p.phase == "load" for p in before) > 1:
        return (), "the package was loaded more than once"
    files = [p.details.captured for p in given]
    missing = next((p for p, f in zip(given, files, strict=True) if f is None), None)
    if missing is not None:
        return (), missing.details.why_not or "they were not kept"
    found = [directory / file for file in files if file is not None]
    return (tuple(found), "") if all(map(is_regular, found)) else ((), "their file is gone")


def other_kinds(run: RunSeen, call: Call) -> tuple[Call, ...]:
    """Return one call of each kind, by sizes, dtypes and extremes, but the kind of this one."""
    known = {kind_of(call)}
    found: list[Call] = []
    for other in run.calls:
        alike = (other.package, other.model) == (call.package, call.model)
        if alike and len(found) < KINDS and (kind := kind_of(other)) not in known:
            known.add(kind)
            found.append(other)
    return tuple(found)


def kind_of(call: Call) -> tuple[tuple[object, ...], ...]:
    return tuple(
        (one.kind, one.shape, one.stride, one.dtype, one.value, one.min, one.max)
        for one in call.inputs
    )


def with_custom_ops(found: Captured, run: RunSeen) -> Captured:
    """Add what must be imported before the package or the exported program is loaded."""
    seen, words = run.custom_ops, {Path(word).name for word in run.argv}
    modules = dict.fromkeys(name for one in seen for name in one.modules)
    libraries = dict.fromkeys(library for one in seen for library in one.libraries)
    pairs = ((name, file) for one in seen for name in one.modules for file in one.files)
    folders = dict.fromkeys(folder_of(name.partition(":")[0], file) for name, file in pairs)
    own = [file for one in seen if "__main__" in one.modules for file in one.files]
    named = [word for word in run.argv if word in own]
    named += [file for file in own if Path(file).name in words]
    return replace(
        found,
        modules=tuple(name for name in modules if name != "__main__"),
        folders=tuple(folder for folder in folders if folder is not None),
        libraries=tuple(libraries),
        script=Path(named[0]) if named else None,
    )


def folder_of(module: str, file: str) -> Path | None:
    """Return the directory that a module was imported from, unless the module is installed."""
    path, names = Path(file), tuple(module.split("."))
    path = path.parent if path.name == "__init__.py" else path.with_suffix("")
    if path.parts[-len(names) :] != names:
        return None
    folder = path.parents[len(names) - 1]
    return None if folder.name in ("site-packages", "dist-packages") else folder


def with_sizes(found: Captured) -> Captured:
    program = found.exported or found.graph
    return replace(found, sizes=sizes(program)) if program is not None else found


def kept_like(run: RunSeen, call: Call) -> Call:
    """Return the call; where its inputs are not kept, the first call with kept inputs that failed
    in the same way, or the last one that returned."""
    if kept(run, call):
        return call
    if (failed := failure_of(call)) is not None:
        return next((c for c in run.calls if failure_of(c) == failed and kept(run, c)), call)
    if not call.ok:
        return call
    model = call.pid, call.package, call.model
    like = (c for c in reversed(run.calls) if (c.pid, c.package, c.model) == model)
    return next((c for c in like if c.ok and kept(run, c)), call)


def failure_of(call: Call) -> tuple[str | None, ...] | None:
    """Return what is equal of two calls that failed in the same way."""
    if (error := call.error) is None:
        return None
    return call.package, call.model, error.type, stable(error.message)


def kept(run: RunSeen, call: Call) -> bool:
    return call.captured is not None and not overwritten(run, call)


def overwritten(run: RunSeen, call: Call) -> bool:
    return call.captured is not None and any(
        other.captured == call.captured and later(other, call) for other in run.calls
    )


def later(one: Call, other: Call) -> bool:
    """Tell whether one call came after another: by number in one process, since a call that was
    only counted has the span of the first call like it."""
    if one.pid == other.pid and one.call is not None and other.call is not None:
        return one.call > other.call
    return one.span.first > other.span.first


def inputs_file(run: RunSeen, call: Call, directory: Path) -> tuple[Path | None, str]:
    if overwritten(run, call):
        return None, "later calls have overwritten its inputs"
    file = directory / call.captured if call.captured is not None else None
    if file is not None and is_regular(file):
        if file.suffix == MEMORY:
            beside(file, run, call)
        return file, ""
    return None, call.why_not or "the inputs of the call were not captured"


def beside(file: Path, run: RunSeen, call: Call) -> None:
    """Write a description beside the bytes of a call's inputs. They keep the alignment of the first
    call like it."""
    first = next((c for c in run.calls if (c.pid, c.group) == (call.pid, call.group)), call)
    inputs = [
        asdict(replace(given, alignment=placed.alignment))
        for given, placed in zip(call.inputs, first.inputs, strict=True)
    ]
    given = {"call": call.call, "keywords": call.keywords, "nested": call.nested}
    write_atomically(file.with_suffix(".json"), json.dumps({**given, "inputs": inputs}).encode())


def with_names(observations: Observations, names: Sequence[str | None]) -> Observations:
    """Name the inputs of the failing call where the script gave them no names itself."""
    run, call = observations.run, observations.run.call
    if call is None or len(names) != len(call.inputs):
        return observations
    inputs = tuple(
        replace(given, name=given.name or name)
        for given, name in zip(call.inputs, names, strict=True)
    )
    calls = tuple(replace(call, inputs=inputs) if one is call else one for one in run.calls)
    return replace(observations, run=replace(run, calls=calls))
