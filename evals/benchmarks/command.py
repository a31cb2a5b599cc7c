"""What benchmarks share: options, processes, pools, tables, rows that are written as they come."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

ZOO = Path(__file__).resolve().parents[1] / "zoo"
PYTHON = os.environ.get("AOTI_DEBUG_PYTHON") or sys.executable
AOTI = (sys.executable, "-m", "aoti_debug")
Row = dict[str, Any]
_ONE_BY_ONE = threading.Lock()


def with_options(parser: argparse.ArgumentParser, **given: Any) -> argparse.ArgumentParser:
    """Add options by their defaults, or pairs of (default, help).

    A list takes several words, False is a switch, a type has no default, a dict is argparse's own.
    """
    for name, one in given.items():
        default, said = one if isinstance(one, tuple) else (one, None)
        how: Row = {"type": type(default), "default": default}
        if default is False:
            how = {"action": "store_true"}
        elif isinstance(default, list):
            how = {"nargs": "*", "default": default}
        elif isinstance(default, type):
            how = {"type": default}
        elif isinstance(default, dict):
            how = default
        parser.add_argument(f"--{name.replace('_', '-')}", help=said, **how)
    return parser


def options_of(
    doc: str | None, words: str = "", said: str | None = None, **given: Any
) -> argparse.ArgumentParser:
    """Return the options of a benchmark that writes into a folder; `words` may follow that."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("out", type=Path)
    if words:
        parser.add_argument(words, nargs="*", help=said)
    return with_options(parser, **given)


def folder_at(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path.resolve()


def clock(digits: int = 1) -> Callable[[], float]:
    """Return what tells the seconds from now on."""
    began = time.monotonic()
    return lambda: round(time.monotonic() - began, digits)


def of_zoo(name: str, device: str) -> tuple[Any, dict[str, Any], Any]:
    """Return a model of the zoo, its inputs by name, and the dynamic shapes of its export."""
    sys.path.insert(0, str(ZOO))
    zoo: Any = importlib.import_module("architectures")
    return zoo.prepared(zoo.CASES[name], device)  # type: ignore[no-any-return]


def package_of(module: Any, inputs: tuple[Any, ...], named: Row, shapes: Any, to: Path) -> None:
    import torch

    with torch.no_grad():
        program = torch.export.export(module, inputs, named, dynamic_shapes=shapes)
        torch._inductor.aoti_compile_and_package(program, package_path=str(to))


def environment(work: Path, python: str = sys.executable, **more: str) -> dict[str, str]:
    """Return an environment in which runs and compiled code are kept below a folder."""
    own = {"AOTI_DEBUG_HOME": str(work / "home"), "AOTI_DEBUG_PYTHON": python}
    return {**os.environ, **own, "TORCHINDUCTOR_CACHE_DIR": str(work / "cache"), **more}


def ran(argv: Sequence[str], **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, capture_output=True, text=True, errors="replace", **more)


def again(*words: object, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run the benchmark itself with other options, in a process of its own."""
    program = Path(sys.argv[0]).resolve()
    return ran([sys.executable, *map(str, (program, *words))], **more)


def answer(
    words: Sequence[str], env: Mapping[str, str], cwd: Path, timeout: float | None = None
) -> Row:
    """Run a command; return its JSON document, or `error` and `ended` where there is none."""
    done = ran([*AOTI, words[0], "--json", *words[1:]], env=env, cwd=cwd, timeout=timeout)
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
    took = clock()
    argv = ["triage", "--verbose", *more, str(script), "--", *words]
    return answer(argv, env, cwd, timeout), took()


def swept(
    manifest: Path, out: Path, jobs: int, limit: float, env: Mapping[str, str], how: str = "--out"
) -> tuple[float, Row]:
    """Sweep, and end that after the limit; return the seconds and the answer, if there is one."""
    argv = [*AOTI, "sweep", str(manifest), how, str(out), "--jobs", str(jobs), "--json"]
    took = clock(3)
    with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, text=True) as sweep:
        found = {}
        try:
            found = json.loads(sweep.communicate(timeout=max(1.0, limit))[0])
        except ValueError:
            pass
        except subprocess.TimeoutExpired:
            sweep.terminate()
            sweep.communicate()
    return took(), found


def side_by_side(
    work: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], jobs: int
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Do so many tasks at once, each the arguments of `work`; yield each with its result."""
    with ThreadPoolExecutor(jobs) as pool:
        going = {pool.submit(work, *task): task for task in tasks}
        for done in as_completed(going):
            yield going[done], done.result()


def begins(name: str, only: Sequence[str]) -> bool:
    """Tell whether a name begins with one of those that are asked for, if any are."""
    return not only or name.startswith(tuple(only))


def picked(found: Mapping[str, Any], names: str) -> Row:
    return {name: found.get(name) for name in names.split()}


def markdown(names: str, rows: Iterable[Iterable[object]]) -> list[str]:
    """Return the lines of a table; bars divide the names of its columns."""
    lines = [f"| {names} |", "|" + "---|" * (names.count("|") + 1)]
    for cells in rows:
        texts = (str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells)
        lines.append(f"| {' | '.join(texts)} |")
    return lines


def cut(data: bytes, most: int) -> bytes:
    """Leave the middle of what is longer out."""
    half = most // 2
    return data if len(data) <= most else data[:half] + b"\n[cut]\n" + data[-half:]


def put(row: Row, to: Path, shown: Row | str | None = None) -> None:
    """Append a row to a file of JSON lines, and print it, or what is shown of it."""
    with _ONE_BY_ONE, to.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
        told = shown if isinstance(shown, str) else json.dumps(shown or row)
        print(told[:1200], flush=True)


def put_whole(document: object, to: Path) -> None:
    """Write a document so that its file is whole at every moment."""
    unfinished = to.with_suffix(".part")
    unfinished.write_text(json.dumps(document, indent=1), "utf-8")
    unfinished.replace(to)


def rows_in(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
