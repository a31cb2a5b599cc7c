"""Run aoti-debug's command line for a benchmark, and write rows down as they come."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ZOO = Path(__file__).resolve().parents[1] / "zoo"
Row = dict[str, Any]
_ONE_BY_ONE = threading.Lock()


def options_of(doc: str | None) -> argparse.ArgumentParser:
    """Return the options of a benchmark that writes into a folder."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("out", type=Path)
    return parser


def of_zoo(name: str, device: str) -> tuple[Any, dict[str, Any], Any]:
    """Return a model of the zoo, its inputs by name, and the dynamic shapes of its export."""
    sys.path.insert(0, str(ZOO))
    zoo: Any = importlib.import_module("architectures")
    return zoo.prepared(zoo.CASES[name], device)  # type: ignore[no-any-return]


def environment(work: Path, python: str = sys.executable, **more: str) -> dict[str, str]:
    """Return an environment in which runs and compiled code are kept below a folder."""
    own = {"AOTI_DEBUG_HOME": str(work / "home"), "AOTI_DEBUG_PYTHON": python}
    return {**os.environ, **own, "TORCHINDUCTOR_CACHE_DIR": str(work / "cache"), **more}


def answer(
    words: Sequence[str], env: Mapping[str, str], cwd: Path, timeout: float | None = None
) -> Row:
    """Run a command; return its JSON document, or `error` and `ended` where there is none."""
    argv = [sys.executable, "-m", "aoti_debug", words[0], "--json", *words[1:]]
    done = subprocess.run(argv, env=env, cwd=cwd, capture_output=True, text=True, timeout=timeout)
    try:
        found: Row = json.loads(done.stdout)
    except ValueError:
        return {"error": (done.stderr or done.stdout)[-1500:], "ended": True}
    return found


def triaged(
    script: Path | str,
    words: Sequence[str],
    env: Mapping[str, str],
    cwd: Path,
    *more: str,
    timeout: float | None = None,
) -> tuple[Row, float]:
    """Triage a script in a folder, `more` are options; return the answer and its seconds."""
    began = time.monotonic()
    argv = ["triage", "--verbose", *more, str(script), "--", *words]
    found = answer(argv, env, cwd, timeout)
    return found, round(time.monotonic() - began, 1)


def put(row: Row, to: Path, shown: Row | None = None) -> None:
    """Append a row to a file of JSON lines, and print it, or what is shown of it."""
    with _ONE_BY_ONE, to.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
        print(json.dumps(shown or row)[:1200], flush=True)


def rows_in(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
