"""What a run captured of the call in question, and where its exported program is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.calls import compiles, failing_call
from aoti_debug.read.event_fields import string, values
from aoti_debug.read.events import Call, Events, PackageSeen, Phase
from aoti_debug.run.directory import list_runs
from aoti_debug.triage.observe import events_of


@dataclass(frozen=True, slots=True)
class Captured:
    """The files of one call that can be repeated; None with the reason where there is none."""

    call: Call | None = None
    package: Path | None = None
    inputs: Path | None = None
    exported: Path | None = None
    names: tuple[str | None, ...] = ()  # of the model's inputs
    modules: tuple[str, ...] = ()  # that register the model's custom operators
    libraries: tuple[str, ...] = ()  # likewise, loaded with torch.ops.load_library
    script: Path | None = None  # the target itself registers them
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
    package = package_of(events, call)
    file, why_package = package_file(package, directory)
    inputs, why_inputs = inputs_file(call, directory)
    compiled = compile_of(events, package, directory, home)
    exported, why_exported = exported_program(events, package, compiled)
    found = Captured(
        call,
        file,
        inputs,
        exported,
        input_names(compiled),
        why_no_package=why_package,
        why_no_inputs=why_inputs,
        why_no_exported=why_exported,
    )
    return with_custom_ops(found, events)


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


def package_of(events: Events, call: Call) -> PackageSeen | None:
    """Return the package as it was when it was last written or loaded before the call."""
    found = [p for p in events.packages if p.path == call.package]
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


def inputs_file(call: Call, directory: Path) -> tuple[Path | None, str]:
    if call.captured is not None and (directory / call.captured).is_file():
        return directory / call.captured, ""
    return None, call.why_not or "the inputs of the call were not captured"


def compile_of(
    events: Events, package: PackageSeen | None, directory: Path, home: Path | None
) -> tuple[Phase, Path] | None:
    """Return the compile that wrote the package, and the directory of its run: this one, or an
    earlier one that is still kept and wrote the very same package."""
    if package is None:
        return None
    for log, where in ((events, directory), *earlier(home, directory)):
        for compiled in compiles(log):
            within = range(compiled.span.first, compiled.span.last + 1)
            wrote = [p for p in log.packages if p.span.first in within]
            if any(same_package(p, package) for p in wrote):
                return compiled, where
    return None


def exported_program(
    events: Events, package: PackageSeen | None, compiled: tuple[Phase, Path] | None
) -> tuple[Path | None, str]:
    """Return the exported program that the package was compiled from, as its compile kept it."""
    if package is None:
        return None, "the package of the call is not known"
    if compiled is not None:
        phase, where = compiled
        name = phase.details.get("exported_program")
        if isinstance(name, str) and (where / name).is_file():
            return where / name, ""
    own = [c.details.get("exported_program_skipped") for c in compiles(events)]
    return None, str(own[-1]) if own and own[-1] else (
        "the script only loads the package, and no earlier run that compiled it is kept"
    )


def input_names(compiled: tuple[Phase, Path] | None) -> tuple[str | None, ...]:
    """Return what the model that was compiled calls its inputs, one for each leaf of a call."""
    found = compiled[0].details.get("input_names") if compiled is not None else None
    return tuple(string(name) for name in values(found))


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


def same_package(one: PackageSeen, other: PackageSeen) -> bool:
    return (one.path, one.bytes, one.mtime) == (other.path, other.bytes, other.mtime)


def earlier(home: Path | None, but: Path) -> Iterator[tuple[Events, Path]]:
    for run in list_runs(home):
        if run.path != but and (log := events_of(run.path)) is not None:
            yield log, run.path
