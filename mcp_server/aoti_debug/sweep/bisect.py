"""Find the first version under which a sweep is bad, with as few environments as that takes."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from aoti_debug.errors import AotiDebugError, WrongUse
from aoti_debug.facts.flag import RELEASES, Release, release
from aoti_debug.plain import last_line
from aoti_debug.run.files import expanded
from aoti_debug.run.interpreter import installed_versions
from aoti_debug.run.kept import home
from aoti_debug.run.process import Command, run_process
from aoti_debug.sweep.answer import BisectAnswer, SweepAnswer, Trial

INSTALL_S = 3600.0
HELP = "Use --bisect torch 2.9..2.13, or --bisect python OLD,…,NEW."
_RANGE = re.compile(r"(2\.\d{1,2})\.\.(2\.\d{1,2})")


class CannotBisect(AotiDebugError):
    help = "A sweep that cannot be judged under one version leaves the first bad one open."


@dataclass(frozen=True, slots=True)
class Candidate:
    """A version, and what makes its interpreter when it is wanted."""

    label: str
    python: Callable[[], str]


def candidates(kind: str, words: str, also: Sequence[str] = ()) -> list[Candidate]:
    """Return the versions that are named, oldest first; install nothing yet. Raise WrongUse."""
    if kind == "python":
        paths = [str(expanded(word).absolute()) for word in words.split(",") if word]
        missing = [path for path in paths if not os.access(path, os.X_OK)]
        if missing or len(paths) < 2:
            raise WrongUse(
                f"no interpreters to choose from: {', '.join(missing) or words}", help=HELP
            )
        return [Candidate(_named(path), lambda path=path: path) for path in paths]  # type: ignore[misc]
    if kind != "torch":
        raise WrongUse(f"{kind[:40]!r} cannot be bisected", help=HELP)
    uv = shutil.which("uv")
    if uv is None:
        raise WrongUse("uv is not on PATH, and makes the environments", help="pip install uv")
    return [
        Candidate(f"torch {one}", lambda one=one: anyio.run(environment, uv, one, tuple(also)))  # type: ignore[misc]
        for one in releases(words)
    ]


def releases(words: str) -> list[Release]:
    """Return the release lines of `2.9..2.13`, or of a list with commas. Raise WrongUse."""
    if found := _RANGE.fullmatch(words):
        first, last = (release(word) for word in found.groups())
        chosen = [one for one in RELEASES if first <= one <= last]
    else:
        chosen = sorted({release(word) for word in words.split(",")})
    if len(chosen) < 2 or not set(chosen) <= set(RELEASES):
        known = f"{RELEASES[0]} to {RELEASES[-1]}"
        raise WrongUse(f"{words[:60]!r} names no two of torch {known}", help=HELP)
    return chosen


def _named(python: str) -> str:
    found = installed_versions(Path(python))
    return f"torch {found.torch}" if found.torch else python


async def environment(uv: str, wanted: Release, also: Sequence[str]) -> str:
    """Return the interpreter of an environment with this torch, made once. Raise CannotBisect."""
    words = "-".join([f"torch-{wanted}", *(re.sub(r"[^A-Za-z0-9.]+", "_", one) for one in also)])
    place = home() / "environments" / words[:100]
    python = place / "bin" / "python"
    if (place / ".complete").is_file():
        return str(python)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    steps = (
        (uv, "venv", "--clear", "--python", version, str(place)),
        (uv, "pip", "install", "--python", str(python), f"torch=={wanted}.*", *also),
    )
    place.parent.mkdir(parents=True, exist_ok=True)
    log = place.with_name(f"{words[:100]}.log")
    for argv in steps:
        ended = await run_process(Command(argv, os.environ, place.parent, INSTALL_S), log)
        if not ended.ok:
            said = last_line((log / "stderr.log").read_bytes(), 300)
            raise CannotBisect(
                f"torch {wanted} cannot be installed, {ended.how}: {said}",
                help=f"The whole of it: {log}",
            )
    (place / ".complete").touch()
    return str(python)


def search(found: Sequence[Candidate], sweep: Callable[[str, str], SweepAnswer]) -> BisectAnswer:
    """Sweep under the middle of what is left, at most log2(candidates + 1) times, rounded up. Raise
    CannotBisect where a sweep is neither good nor bad."""
    tried: list[Trial] = []
    low, high = 0, len(found)
    while low < high:
        middle = (low + high) // 2
        one = found[middle]
        answer = sweep(one.label, one.python())
        if answer.result not in ("good", "bad"):
            raise CannotBisect(f"under {one.label}: {answer.reason or answer.status}")
        tried.append(
            Trial(candidate=one.label, result=answer.result, reason=answer.reason, run=answer.run)
        )
        low, high = (low, middle) if answer.result == "bad" else (middle + 1, high)
    note = "a later version that is good again is not searched for"
    return BisectAnswer(
        first_bad=found[low].label if low < len(found) else None,
        last_good=found[low - 1].label if low else None,
        tried=tried,
        notes=[note] if low < len(found) else ["the newest version is good"],
    )
