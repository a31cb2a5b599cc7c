"""What a run captured of the call in question, and its exported program: of this run's compile, or
of an earlier one that is still kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from filecmp import cmp
from pathlib import Path

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.calls import compiles, failing_call
from aoti_debug.read.event_fields import inside, string, texts, values
from aoti_debug.read.events import Call, Events, PackageSeen, Phase
from aoti_debug.run.directory import list_runs
from aoti_debug.run.files import is_regular, write_atomically
from aoti_debug.triage.observe import events_of
from aoti_debug.triage.source_text import built_by
from aoti_debug.triage.symptoms import stable

KINDS = 500  # of recorded calls that are held against the exported program
MEMORY = ".bin"  # inputs of a call under way: bytes, and the event that says what they are
OVERWRITTEN = "later calls have overwritten its inputs"


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
    libraries: tuple[str, ...] = ()  # likewise, loaded with torch.ops.load_library
    script: Path | None = None  # the target itself registers them
    others: tuple[Call, ...] = ()  # of the same model, one of each kind that was recorded
    constants: tuple[Path, ...] = ()  # what load_constants was given before the call, in order
    why_no_constants: str = ""
    why_no_package: str = ""
    why_no_inputs: str = ""
    why_no_exported: str = ""

    @property
    def replayable(self) -> bool:
        return self.package is not None and self.inputs is not None

    @property
    def why_not(self) -> str:
        return self.why_no_package or self.why_no_inputs


def captured(observations: Observations, directory: Path, home: Path | None) -> Captured:
    """Return what there is of the failing call, else of the last one."""
    events = observations.events
    call = failing_call(observations) or (events.calls[-1] if events and events.calls else None)
    if events is None or call is None:
        why = "no call of a loaded model was seen"
        return Captured(why_no_package=why, why_no_inputs=why, why_no_exported=why)
    wanted, call = call, kept_like(events, call)
    package = package_of(events, call)
    file, why_package = package_file(package, directory)
    inputs, why_inputs = inputs_file(events, call, directory)
    compiled = compile_of(events, package, call.model, directory, home)
    exported, why_exported = exported_program(events, package, compiled)
    if package is not None and why_exported in (LOADED_ONLY, OTHERS_ONLY):
        argv = events.processes[0].argv if events.processes else ()
        scripts = [Path(word) for word in argv if word.endswith(".py")]
        why_exported += built_by(scripts[0], Path(package.path)) if scripts else ""
    if (own := exported_beside(events, call, directory)) is not None:
        exported, why_exported = own, ""
    graph = None if exported is not None else graph_of(compiled)
    constants, why_constants = constants_given(events, call, directory)
    found = Captured(
        call,
        wanted if call is not wanted else None,
        file,
        inputs,
        exported,
        graph,
        input_names(compiled),
        constants=constants,
        why_no_constants=why_constants,
        why_no_package=why_package,
        why_no_inputs=why_inputs,
        why_no_exported=why_exported,
        others=other_kinds(events, call),
    )
    return with_custom_ops(found, events)


def constants_given(events: Events, call: Call, directory: Path) -> tuple[tuple[Path, ...], str]:
    """Return the weights that the model of a call was given before it; none, with the reason,
    where not all of them are known."""
    before = (p for p in events.phases if p.pid == call.pid and p.span.first < call.span.first)
    own = [p for p in before if p.ok]
    given = [p for p in own if p.phase == "constants" and p.details.get("package") == call.package]
    begun = {p.span.first for p in own if p.phase == "load"}
    seen = [p for p in events.packages if (p.pid, p.path) == (call.pid, call.package)]
    loads = [p for p in seen if p.span.first in begun]
    if not given:
        return (), ""
    if len(loads) > 1:
        return (), "the package was loaded more than once"
    files = [inside(p.details.get("captured")) for p in given]
    missing = next((p for p, f in zip(given, files, strict=True) if f is None), None)
    if missing is not None:
        return (), string(missing.details.get("why_not")) or "they were not kept"
    found = [directory / file for file in files if file is not None]
    return (tuple(found), "") if all(map(is_regular, found)) else ((), "their file is gone")


def other_kinds(events: Events, call: Call) -> tuple[Call, ...]:
    """Return one call of each kind, by sizes, dtypes and extremes, but the kind of this one."""
    known = {kind_of(call)}
    found: list[Call] = []
    for other in events.calls:
        alike = (other.package, other.model) == (call.package, call.model)
        if alike and len(found) < KINDS and (kind := kind_of(other)) not in known:
            known.add(kind)
            found.append(other)
    return tuple(found)


def kind_of(call: Call) -> tuple[object, ...]:
    return tuple(
        (one.kind, one.shape, one.stride, one.dtype, one.value, one.minimum, one.maximum)
        for one in call.inputs
    )


def with_custom_ops(found: Captured, events: Events) -> Captured:
    """Add what must be imported before the package or the exported program can be loaded."""
    modules: list[str] = []
    libraries: list[str] = []
    script: Path | None = None
    for seen in events.custom_ops:
        libraries += seen.libraries
        modules += [module for module in seen.modules if module != "__main__"]
        if "__main__" in seen.modules:
            main = events.processes[0].argv if events.processes else ()
            script = next((Path(word) for word in main if word in seen.files), script)
            script = script or next((Path(f) for f in seen.files if named(f, main)), None)
    return replace(
        found,
        modules=tuple(dict.fromkeys(modules)),
        libraries=tuple(dict.fromkeys(libraries)),
        script=script,
    )


def named(file: str, words: tuple[str, ...]) -> bool:
    return any(Path(word).name == Path(file).name for word in words)


def kept_like(events: Events, call: Call) -> Call:
    """Return the call, or where its inputs are not kept the first one that failed in the same way
    and whose inputs are: those of the first failure are never written over. One that returned is
    as good as another: then it is the last that is kept."""
    if kept(events, call):
        return call
    if call.error is not None:
        return next((c for c in events.calls if same_failure(c, call) and kept(events, c)), call)
    if not call.ok:
        return call
    like = (c for c in reversed(events.calls) if same_model(c, call) and c.ok and kept(events, c))
    return next(like, call)


def same_model(one: Call, other: Call) -> bool:
    return (one.pid, one.package, one.model) == (other.pid, other.package, other.model)


def same_failure(one: Call, other: Call) -> bool:
    return (
        one.error is not None
        and other.error is not None
        and (one.package, one.model, one.error.type)
        == (other.package, other.model, other.error.type)
        and stable(one.error.message) == stable(other.error.message)
    )


def kept(events: Events, call: Call) -> bool:
    return call.captured is not None and not overwritten(events, call)


def overwritten(events: Events, call: Call) -> bool:
    """Tell whether a later call of the same process was captured under the same name."""
    return call.captured is not None and any(
        other.captured == call.captured and later(other, call) for other in events.calls
    )


def later(one: Call, other: Call) -> bool:
    """Tell which came later: by number in one process, since what was only counted has the span
    of the first call like it."""
    if one.pid == other.pid and one.call is not None and other.call is not None:
        return one.call > other.call
    return one.span.first > other.span.first


def package_of(events: Events, call: Call) -> PackageSeen | None:
    """Return the package as it was when it was last written or loaded before the call."""
    found = [
        package
        for package in events.packages
        if package.path == call.package and package.span.first < call.span.first
    ]
    return found[-1] if found else None


def package_file(package: PackageSeen | None, directory: Path) -> tuple[Path | None, str]:
    if package is None:
        return None, "the package of the call is not known"
    if package.captured is not None:
        file = directory / package.captured
        if file.is_file():
            return file, ""
    original = Path(package.path)
    if same_file(original, package):
        return original, ""
    return None, package.why_not or "the package was not captured and has changed since"


def same_file(path: Path, package: PackageSeen) -> bool:
    try:
        status = path.stat()
    except OSError:
        return False
    return status.st_size == package.bytes


def inputs_file(events: Events, call: Call, directory: Path) -> tuple[Path | None, str]:
    if overwritten(events, call):
        return None, OVERWRITTEN
    if call.captured is not None and is_regular(directory / call.captured):
        file = directory / call.captured
        if file.suffix == MEMORY:
            beside(file, call)
        return file, ""
    return None, call.why_not or "the inputs of the call were not captured"


def beside(file: Path, call: Call) -> None:
    """Write what the bytes of a call's inputs are beside them."""
    inputs = [asdict(given) for given in call.inputs]
    document = {"call": call.call, "keywords": call.keywords, "inputs": inputs}
    write_atomically(file.with_suffix(".json"), json.dumps(document).encode())


def with_names(observations: Observations, names: Sequence[str | None]) -> Observations:
    """Name the inputs of the failing call where the script gave them no names itself."""
    events, call = observations.events, failing_call(observations)
    if events is None or call is None or len(names) != len(call.inputs):
        return observations
    inputs = tuple(
        replace(given, name=given.name or name)
        for given, name in zip(call.inputs, names, strict=True)
    )
    calls = tuple(replace(call, inputs=inputs) if one is call else one for one in events.calls)
    return replace(observations, events=replace(events, calls=calls))


LOADED_ONLY = "the script only loads the package, and no earlier run that compiled it is kept"
OTHERS_ONLY = (
    "what the script compiles is not this model of this package, and no earlier run that compiled "
    "it is kept"
)
Compiled = tuple[Phase, Path]  # and the directory of its run


def compile_of(
    events: Events, package: PackageSeen | None, model: str, directory: Path, home: Path | None
) -> Compiled | None:
    """Return the compile of a model in the package: of this run, or of an earlier one that is
    still kept and wrote the very same package, here or where it was copied from."""
    if package is None:
        return None
    file, _ = package_file(package, directory)
    for log, where in ((events, directory), *earlier(home, directory)):
        same = [p for p in log.packages if same_package(p, package)]
        same = same or [p for p in log.packages if same_content(p, where, package, file)]
        if (found := compiled_in(log, same, model)) is not None:
            return found, where
    return None


def same_content(one: PackageSeen, where: Path, package: PackageSeen, file: Path | None) -> bool:
    """Tell whether what a run kept of a package is this file, byte by byte. The original may have
    been written anew since."""
    if file is None or one.captured is None or one.bytes != package.bytes:
        return False
    try:
        return is_regular(where / one.captured) and cmp(where / one.captured, file, shallow=False)
    except OSError:
        return False


def compiled_in(log: Events, same: Sequence[PackageSeen], model: str) -> Phase | None:
    """Return the compile that wrote the package, else the one that made the files which were
    packaged as this model."""
    written = {(p.pid, p.span.first) for p in same}
    found = compiles(log)
    whole = next((c for c in found if (c.pid, c.span.last) in written), None)
    if whole is not None:
        return whole
    packaged = [p for p in log.phases if p.phase == "package" and (p.pid, p.span.last) in written]
    if not packaged:
        return None
    of_model = packaged[-1].details.get("files")
    files = set(texts(values(of_model.get(model)))) if isinstance(of_model, dict) else set()

    def shared(compiled: Phase) -> int:
        return len(files.intersection(texts(values(compiled.details.get("files")))))

    # Models may share the binary of a kernel, so the most files decide; the latest of equals.
    best = max(reversed(found), key=shared, default=None)
    return best if best is not None and shared(best) else None


SAVING = "save the exported program"  # what the probe calls it


def exported_beside(events: Events, call: Call, directory: Path) -> Path | None:
    """Return the program that the script exported and did not compile, beside the only package
    that it loaded: the model as it is now, if it takes as many inputs."""
    found = [
        p
        for p in events.phases
        if p.phase in ("export", "load") and isinstance(p.details.get("exported_program"), str)
    ]
    if len(found) != 1 or len({package.path for package in events.packages}) != 1:
        return None
    path = directory / str(found[0].details["exported_program"])
    fits = len(values(found[0].details.get("input_names"))) == len(call.inputs)
    return path if fits and path.is_file() else None


def exported_program(
    events: Events, package: PackageSeen | None, compiled: Compiled | None
) -> tuple[Path | None, str]:
    """Return the exported program that the model was compiled from, as its compile kept it."""
    if package is None:
        return None, "the package of the call is not known"
    if compiled is None:
        return None, OTHERS_ONLY if compiles(events) else LOADED_ONLY
    phase, where = compiled
    name = phase.details.get("exported_program")
    if isinstance(name, str) and (where / name).is_file():
        if (where / name).stat().st_size:
            return where / name, ""
        return None, "its weights were to be saved at the end of the script, which did not come"
    notes = [note.why for note in events.notes if note.what == SAVING]
    if notes:
        return None, f"it was to be saved at the end of the script: {notes[-1]}"
    skipped = string(phase.details.get("exported_program_skipped"))
    return None, skipped or "what its compile kept is gone"


def graph_of(compiled: Compiled | None) -> Path | None:
    """Return the graph that a compile kept at once, before the weights."""
    if compiled is None:
        return None
    phase, where = compiled
    name = inside(phase.details.get("exported_graph"))
    return where / name if name is not None and is_regular(where / name) else None


def input_names(compiled: Compiled | None) -> tuple[str | None, ...]:
    """Return what the model that was compiled calls its inputs, one for each leaf of a call."""
    found = compiled[0].details.get("input_names") if compiled is not None else None
    return tuple(string(name) for name in values(found))


def same_package(one: PackageSeen, other: PackageSeen) -> bool:
    return (one.path, one.bytes, one.mtime) == (other.path, other.bytes, other.mtime)


def earlier(home: Path | None, but: Path) -> Iterator[tuple[Events, Path]]:
    for run in list_runs(home):
        if run.path != but and (log := events_of(run.path)) is not None:
            yield log, run.path
