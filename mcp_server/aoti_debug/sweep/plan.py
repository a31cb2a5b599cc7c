"""From a manifest to targets: the matrix, what each one needs, what it is expected to cost."""

from __future__ import annotations

import hashlib
import itertools
import math
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from aoti_debug.errors import AotiDebugError, NoInterpreter
from aoti_debug.run.executor import ANY, Demand
from aoti_debug.run.files import expanded
from aoti_debug.run.interpreter import (
    check_interpreter,
    choose_interpreter,
    installed_versions,
    without_torch,
)
from aoti_debug.run.kept import named_in, within
from aoti_debug.run.machine import ask
from aoti_debug.signals import Stopped
from aoti_debug.sweep.manifest import MOST_TARGETS, Entry, Manifest, Settings, WrongManifest, all_of

TIMEOUT_S = 900.0
REPLAY = Path(__file__).parents[1] / "probe" / "script.py"
_HAS = """
import sys
sys.path[:1] = []
import importlib.util as u
sys.exit(u.find_spec(sys.argv[1]) is None)
"""
CHECKED = 5_000  # files that are looked for before anything starts; the others when they are run


@dataclass(frozen=True, slots=True)
class Planned:
    """One target, ready to be run by a process that knows nothing else."""

    index: int
    name: str
    script: str | None = None
    module: str | None = None
    command: tuple[str, ...] | None = None
    args: tuple[str, ...] = ()
    python: str | None = None
    env: tuple[tuple[str, str], ...] = ()
    cwd: str | None = None
    imports: tuple[str, ...] = ()
    timeout_s: float = TIMEOUT_S
    retries: int = 0
    demand: Demand = ANY


@dataclass(frozen=True)
class Plan:
    """All targets of a manifest, made one by one: there may be a hundred thousand."""

    manifest: Manifest
    python: str | None = None  # instead of what the manifest says

    @cached_property
    def count(self) -> int:
        """Return how many targets there are; raise WrongManifest for more than anyone can mean."""
        entries = self.manifest.target
        total = sum(math.prod(len(self.axes[axis]) for axis in self._of(one)) for one in entries)
        if total > MOST_TARGETS:
            raise WrongManifest(
                f"the matrix makes {total:,} targets, and {MOST_TARGETS:,} are the most",
                help="Leave values out of the matrix, or split the manifest.",
            )
        return total

    @cached_property
    def axes(self) -> dict[str, dict[str, str]]:
        return self.manifest.axes()

    def _of(self, entry: Entry) -> list[str]:
        axes = self.manifest.axes_of(entry)
        return [axis for axis in axes if axis != "python"] if self.python else axes

    @cached_property
    def digest(self) -> str:
        """Return what tells this plan from another: which target has which number."""
        text = f"{self.manifest.model_dump_json()}\n{self.python}\n{self.count}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def targets(self) -> Iterator[Planned]:
        """Yield every target in the manifest's order."""
        number = itertools.count()
        for entry in self.manifest.target:
            names = self._of(entry)
            for values in itertools.product(*(self.axes[axis].items() for axis in names)):
                yield self._planned(next(number), entry, dict(zip(names, values, strict=True)))

    def _planned(self, index: int, entry: Entry, chosen: Mapping[str, tuple[str, str]]) -> Planned:
        values = {axis: value for axis, (_, value) in chosen.items()}
        labels = ",".join(f"{axis}={label}" for axis, (label, _) in chosen.items())

        def filled(text: str) -> str:
            return text.format_map(values) if "{" in text or "}" in text else text

        settings = _joined(entry, self.manifest.defaults)
        env = {name: filled(value) for name, value in settings.env.items()}
        env |= {axis: value for axis, value in values.items() if axis.isupper()}
        python = self.python or values.get("python") or settings.python
        cwd = self._path(settings.cwd) if settings.cwd else None
        words = tuple(filled(word) for word in entry.args)
        planned = Planned(
            index,
            f"{entry.label}[{labels}]" if labels else entry.label,
            # a path as the manifest's folder gives it; a bare name is looked for on PATH
            python=str(self._path(python)) if python and os.sep in python else python,
            env=tuple(env.items()),
            cwd=str(cwd) if cwd else None,
            imports=tuple(settings.imports),
            timeout_s=settings.timeout_s or TIMEOUT_S,
            retries=settings.retries or 0,
            demand=Demand(
                settings.gpus,
                values.get("gpu", settings.gpu),
                settings.gpu_memory,
                settings.memory,
                settings.cores,
            ),
        )
        root = str(cwd or self.manifest.root)
        if entry.script:
            script = self._path(filled(entry.script))
            return replace(
                planned, script=str(script), args=words, cwd=planned.cwd or str(script.parent)
            )
        if entry.test:
            node = filled(entry.test)
            return replace(planned, module="pytest", args=(node, "--tb=native", *words), cwd=root)
        if entry.package:
            package, inputs = (filled(one or "") for one in (entry.package, entry.inputs))
            files = ("--package", str(self._path(package)), "--inputs", str(self._path(inputs)))
            return replace(planned, script=str(REPLAY), args=("replay", *files, *words), cwd=root)
        command = tuple(filled(word) for word in entry.command or ())
        return replace(planned, command=command, args=words, cwd=root)

    def _path(self, text: str) -> Path:
        return self.manifest.root / expanded(text)


def _joined(entry: Entry, defaults: Settings) -> Settings:
    """Return what a target says for itself over what all of them say."""
    both = {
        name: getattr(defaults if getattr(entry, name) in (None, [], {}) else entry, name)
        for name in Settings.model_fields
    }
    return Settings.model_construct(**{**both, "env": {**defaults.env, **entry.env}})


def check(plan: Plan, stop: threading.Event, owner: str | None = None) -> list[str]:
    """Check that files and interpreters are there; return what is worth saying. Blocks. Raise
    WrongManifest with all that is missing, UnreadableInput for another owner's, Stopped."""
    problems: list[str] = []
    asked: dict[tuple[str | None, ...], str | None] = {}
    seen: set[str] = set()
    for planned in itertools.islice(plan.targets(), min(plan.count, CHECKED)):
        for path in _files(planned, plan.manifest.root):
            if path not in seen:
                seen.add(path)
                within(Path(path), owner)
                if not Path(path).exists():
                    problems.append(f"target {planned.name!r}: there is no {path}")
        if owner is not None:  # what they name is imported
            named_in([value for _, value in planned.env], plan.manifest.root, owner, None)
        if stop.is_set():
            raise Stopped
        if planned.command is None:
            folder = None if planned.python else str(_near(planned).parent)
            paths = dict(planned.env).get("PYTHONPATH")
            wanted = (planned.python, planned.module, folder, paths)
            if wanted not in asked:
                asked[wanted] = _unfit(planned)
            if (why := asked[wanted]) and why not in problems:
                problems.append(why)
    if problems:
        raise WrongManifest(all_of(problems), help="Nothing was started.")
    left = plan.count - CHECKED
    return [f"the files of {left:,} targets are looked for when they are run"] if left > 0 else []


def _files(planned: Planned, root: Path) -> list[str]:
    found = [planned.script] if planned.script else []
    if planned.module == "pytest":
        found.append(str(Path(planned.cwd or root) / planned.args[0].partition("::")[0]))
    if planned.script == str(REPLAY):
        found += [planned.args[2], planned.args[4]]
    if planned.command and os.sep in planned.command[0]:
        found.append(str(Path(planned.cwd or root) / planned.command[0]))
    named = planned.python if planned.python and os.sep in planned.python else None
    return [*found, *filter(None, (planned.cwd, named))]


def _near(planned: Planned) -> Path:
    """Return what the target's project is looked for from."""
    return Path(planned.script or planned.cwd or "")


def _unfit(planned: Planned) -> str | None:
    """Return what is wrong with a target's interpreter."""
    try:
        env = {**os.environ, **dict(planned.env)}
        chosen = choose_interpreter(planned.python, env, _near(planned))
        found = chosen.path
        check_interpreter(found, os.environ)
    except AotiDebugError as error:
        return str(error.args[0] if isinstance(error, NoInterpreter) else error)
    if not installed_versions(found).torch:
        return without_torch(found, chosen.source)
    if planned.module is None:
        return None
    words = [str(found), "-c", _HAS, planned.module]
    answer = ask(words, env={**os.environ, **dict(planned.env)}, timeout_s=30)
    return None if answer and answer.code == 0 else f"{found} has no {planned.module}"
