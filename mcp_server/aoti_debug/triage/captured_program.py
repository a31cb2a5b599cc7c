"""Find the package of a call, the compile that made it, and the program that it was made of."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from filecmp import cmp
from itertools import islice
from pathlib import Path

from aoti_debug.read.event_records import Call, PackageSeen, Phase
from aoti_debug.record.run_seen import RunSeen
from aoti_debug.run.directory import RunDirectory, list_runs
from aoti_debug.run.files import is_regular
from aoti_debug.run.kept import Kept
from aoti_debug.triage.observe import events_of


def package_of(record: RunSeen, call: Call) -> PackageSeen | None:
    """Return the package as it was when it was last written or loaded before the call."""
    same = (one for one in reversed(record.packages) if one.path == call.package)
    return next((one for one in same if one.span.first < call.span.first), None)


def package_file(package: PackageSeen | None, directory: Path) -> tuple[Path | None, str]:
    if package is None:
        return None, "the package of the call is not known"
    if package.captured is not None and (directory / package.captured).is_file():
        return directory / package.captured, ""
    with contextlib.suppress(OSError):
        if Path(package.path).stat().st_size == package.bytes:
            return Path(package.path), ""
    return None, package.why_not or "the package was not captured and has changed since"


LOADED_ONLY = "the script only loads the package, and no earlier run that compiled it is kept"
OTHERS_ONLY = (
    "the script compiles another model than this one of the package, and no earlier run that "
    "compiled it is kept"
)

Compiled = tuple[Phase, Path]  # and the directory of its run


def compile_of(
    record: RunSeen, package: PackageSeen | None, model: str, directory: Path, home: Path | None
) -> Compiled | None:
    """Return the compile of a model in the package, of this run or of an earlier one still kept."""
    if package is None:
        return None
    file, _ = package_file(package, directory)
    wanted = package.path, package.bytes, package.mtime
    for log, where in ((record, directory), *earlier(home, directory)):
        same = [p for p in log.packages if (p.path, p.bytes, p.mtime) == wanted]
        if (found := compiled_in(log, same, model)) is None:  # it may have been moved
            same = [p for p in log.packages if same_content(p, where, package, file)]
            found = compiled_in(log, same, model)
        if found is not None:
            return found, where
    return None


def same_content(one: PackageSeen, where: Path, package: PackageSeen, file: Path | None) -> bool:
    """Tell whether the kept copy of a package equals this file; the original may be another."""
    if file is None or one.captured is None or one.bytes != package.bytes:
        return False
    try:
        return is_regular(where / one.captured) and cmp(where / one.captured, file, shallow=False)
    except OSError:
        return False


def compiled_in(log: RunSeen, same: Sequence[PackageSeen], model: str) -> Phase | None:
    """Return the compile that wrote the package, or made the files packaged as this model."""
    written = {(p.pid, p.span.first) for p in same}
    whole = next((c for c in log.compiles if (c.pid, c.span.last) in written), None)
    if whole is not None:
        return whole
    packaged = [p for p in log.of("package") if (p.pid, p.span.last) in written]
    if not packaged:
        return None
    files = set((packaged[-1].details.files_of or {}).get(model, ()))

    def shared(compiled: Phase) -> int:
        return len(files.intersection(compiled.details.files or ()))

    # Models may share the binary of a kernel, so the most files decide; the latest of equals.
    best = max(reversed(log.compiles), key=shared, default=None)
    return best if best is not None and shared(best) else None


def exported_beside(record: RunSeen, call: Call, directory: Path) -> Path | None:
    """Return the program that the script exported and did not compile, beside the only package
    that it loaded: the model as it is now, if it takes as many inputs."""
    found = [p for p in record.of("export", "load") if p.details.exported_program is not None]
    if len(found) != 1 or len({package.path for package in record.packages}) != 1:
        return None
    path = directory / str(found[0].details.exported_program)
    fits = len(found[0].details.input_names or ()) == len(call.inputs)
    return path if fits and path.is_file() else None


MADE_OF = tuple(".py .pt .pth .ckpt .safetensors .npz .npy .yaml .toml".split())
RUNS = 50  # that are looked through for an earlier package


def older_package(record: RunSeen, call: Call, directory: Path) -> tuple[Path, RunDirectory] | None:
    """Return the different package that the last run of this script loaded from the same path, and
    that run, where this run compiled the package anew. Return None where a source has changed
    since: the older package was right then."""
    package, home = package_of(record, call), directory.parent.parent
    compiled = compile_of(record, package, call.model, directory, home)
    if package is None or compiled is None or compiled[1] != directory:
        return None
    file, _ = package_file(package, directory)
    script = script_of(record)
    if file is None or script is None or not script.is_absolute():
        return None
    for log, where in islice(earlier(home, directory), RUNS):
        seen = [p for p in log.packages if p.path == package.path and p.captured is not None]
        if not seen or script_of(log) != script:
            continue
        kept = where / str(seen[-1].captured)
        run = RunDirectory(where)
        fits = is_regular(kept) and not log.compiles and not changed_since(run, script)
        other = fits and not same_content(seen[-1], where, package, file)
        return (kept, run) if other else None
    return None


def passed_over(record: RunSeen, call: Call, directory: Path) -> tuple[str, Path] | None:
    """Return the last package compiled before a call, and its program, where this run never loads
    it though it takes as many inputs as the call has."""
    made = [c for c in record.compiles if c.ok and c.span.last < call.span.first]
    if not made or (name := made[-1].details.exported_program) is None:
        return None
    last, program = (made[-1].pid, made[-1].span.last), directory / name
    path = next((p.path for p in record.packages if (p.pid, p.span.first) == last), None)
    begun = {(p.pid, p.span.first) for p in record.of("load")}
    loaded = {p.path for p in record.packages if (p.pid, p.span.first) in begun}
    fits = len(made[-1].details.input_names or ()) == len(call.inputs)
    unused = path is not None and path not in {*loaded, *(one.package for one in record.calls)}
    return (path, program) if path and fits and unused and is_regular(program) else None


def script_of(record: RunSeen) -> Path | None:
    return next((Path(word) for word in record.argv if word.endswith(".py")), None)


def changed_since(run: RunDirectory, script: Path) -> bool:
    """Tell whether a source or weights beside the script may have been written after a run."""
    written = run.read_record()
    if written is None or written.started is None:
        return True
    ended = written.started + (written.wall_s or 0.0)
    files = (path for way in ("*", "*/*") for path in script.parent.glob(way))
    try:
        return any(path.stat().st_mtime > ended for path in files if path.suffix in MADE_OF)
    except OSError:
        return True


def exported_program(
    record: RunSeen, package: PackageSeen | None, compiled: Compiled | None
) -> tuple[Path | None, str]:
    if package is None:
        return None, "the package of the call is not known"
    if compiled is None:
        return None, OTHERS_ONLY if record.compiles else LOADED_ONLY
    return program_kept(record, compiled)


def program_kept(record: RunSeen, compiled: Compiled) -> tuple[Path | None, str]:
    phase, where = compiled
    name = phase.details.exported_program
    if name is not None and is_regular(where / name):
        if (where / name).stat().st_size:
            return where / name, ""
        return None, "its weights are saved at the end of the script, which was not reached"
    notes = [note.why for note in record.notes if note.what == "save the exported program"]
    if notes:
        return None, f"it could not be saved at the end of the script: {notes[-1]}"
    return None, phase.details.exported_program_skipped or "what its compile kept is gone"


def earlier(home: Path | None, but: Path) -> Iterator[tuple[RunSeen, Path]]:
    owner = Kept(but).owner()
    for run in list_runs(home):
        if run.path != but and run.belongs_to(owner) and (log := events_of(run.path)).probed:
            yield log, run.path
