"""The compile that a package came from: of this run, or of an earlier one that is still kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from aoti_debug.diagnose.calls import compiles
from aoti_debug.read.event_fields import string, texts, values
from aoti_debug.read.events import Events, PackageSeen, Phase
from aoti_debug.run.directory import list_runs
from aoti_debug.triage.observe import events_of

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
    still kept and wrote the very same package."""
    if package is None:
        return None
    for log, where in ((events, directory), *earlier(home, directory)):
        if (found := compiled_in(log, package, model)) is not None:
            return found, where
    return None


def compiled_in(log: Events, package: PackageSeen, model: str) -> Phase | None:
    """Return the compile that wrote the package, else the one that made the files which were
    packaged as this model."""
    written = {(p.pid, p.span.first) for p in log.packages if same_package(p, package)}
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
