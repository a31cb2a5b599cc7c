"""Measure what `aoti-debug run SCRIPT` adds to `python SCRIPT`: seconds, and percent of its time.

    python evals/benchmarks/overhead.py [--pairs 5] [--seconds 20] [--only NAME ...]

Both are run in turns, so that a busy machine slows them alike; the figures are medians over the
pairs. The scripts are run by the interpreter of $AOTI_DEBUG_PYTHON, which needs torch. Exits 1
when a script is slowed by more than 1 s and by more than 3 %.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

LIMIT_S, LIMIT_SHARE = 1.0, 0.03

MODEL = """\
import sys, time, torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(512, 512)
        self.second = torch.nn.Linear(512, 64)

    def forward(self, x):
        return self.second(torch.relu(self.first(x))).softmax(-1)
"""
COMPILE = (
    MODEL
    + """
torch.manual_seed(0)
with torch.no_grad():
    program = torch.export.export(
        Model().eval(), (torch.randn(32, 512),), dynamic_shapes=({0: torch.export.Dim("batch")},)
    )
torch._inductor.aoti_compile_and_package(program, package_path="model.pt2")
"""
)
CALL = """\
import sys, time, torch

model = torch._inductor.aoti_load_package("model.pt2")
x = torch.randn(int(sys.argv[2]), 512)
with torch.no_grad():
    started = time.perf_counter()
    for _ in range(int(sys.argv[1])):
        model(x)
print(time.perf_counter() - started)
"""


@dataclass(frozen=True, slots=True)
class Load:
    """A script to measure: its file, its arguments, whether every run compiles anew."""

    name: str
    script: str
    arguments: tuple[str, ...] = ()
    compiles: bool = False


@dataclass(frozen=True, slots=True)
class Figures:
    name: str
    bare_s: float
    added_s: float
    ratio: float

    @property
    def within(self) -> bool:
        return self.added_s <= LIMIT_S or self.ratio - 1 <= LIMIT_SHARE


class Bench:
    """A directory with the scripts, a home and caches of its own."""

    def __init__(self, directory: Path, python: str) -> None:
        self.directory = directory
        self.python = python
        self.env = {
            **os.environ,
            "AOTI_DEBUG_HOME": str(directory / "home"),
            "AOTI_DEBUG_PYTHON": python,
            "TORCHINDUCTOR_CACHE_DIR": str(directory / "cache"),
            "OMP_NUM_THREADS": "1",  # the fewer threads, the steadier the time
        }
        (directory / "compile.py").write_text(COMPILE, encoding="utf-8")
        (directory / "call.py").write_text(CALL, encoding="utf-8")
        self.seconds([self.python, "compile.py"])

    def seconds(self, command: list[str]) -> float:
        """Run a command and return its wall time."""
        started = time.perf_counter()
        done = subprocess.run(
            command, cwd=self.directory, env=self.env, capture_output=True, text=True
        )
        took = time.perf_counter() - started
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
        return took

    def calls_for(self, seconds: float, rows: int) -> int:
        """Return how many calls take so long."""
        trial = subprocess.run(
            [self.python, "call.py", "300", str(rows)],
            cwd=self.directory, env=self.env, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return max(1, round(300 * seconds / float(trial.stdout)))

    def measure(self, load: Load, pairs: int) -> Figures:
        """Run the script bare and watched, in turns."""
        words = [load.script, *load.arguments]
        bare = [self.python, *words]
        watched = [sys.executable, "-m", "aoti_debug", "run", words[0], "--", *words[1:]]
        times: list[tuple[float, float]] = []
        for pair in range(pairs + 1):
            took: dict[bool, float] = {}
            for watch in (False, True) if pair % 2 else (True, False):
                if load.compiles:
                    shutil.rmtree(self.directory / "cache", ignore_errors=True)
                took[watch] = self.seconds(watched if watch else bare)
            print(f"\r{load.name}: pair {pair} of {pairs} ", end="", file=sys.stderr, flush=True)
            if pair:  # the first one warms the caches of the disk
                times.append((took[False], took[True]))
        print("\r" + " " * 60, end="\r", file=sys.stderr, flush=True)
        return Figures(
            load.name,
            statistics.median(a for a, _ in times),
            statistics.median(b - a for a, b in times),
            statistics.median(b / a for a, b in times),
        )


def loads(bench: Bench, seconds: float) -> list[Load]:
    short, long = bench.calls_for(seconds, 2), bench.calls_for(seconds, 256)
    return [
        Load("load, 3 calls", "call.py", ("3", "32")),
        Load(f"load, {short} short calls", "call.py", (str(short), "2")),
        Load(f"load, {long} long calls", "call.py", (str(long), "256")),
        Load("compile", "compile.py", compiles=True),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20, help="that the calls take")
    parser.add_argument("--only", nargs="*", help="names that begin so")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    python = os.environ.get("AOTI_DEBUG_PYTHON") or sys.executable
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), python)
        found = [
            bench.measure(load, options.pairs)
            for load in loads(bench, options.seconds)
            if not options.only or load.name.startswith(tuple(options.only))
        ]
    if options.json:
        rows = [{"name": f.name, "bare_s": f.bare_s, "added_s": f.added_s} for f in found]
        print(json.dumps({"rows": rows, "limit_s": LIMIT_S, "limit_share": LIMIT_SHARE}))
    else:
        table(found)
    return 0 if all(figures.within for figures in found) else 1


def table(found: list[Figures]) -> None:
    print(f"{'aoti-debug run against python':34}{'bare':>10}{'added':>10}{'':>9}")
    for f in found:
        mark = "" if f.within else "  over the limit"
        print(f"{f.name:34}{f.bare_s:8.2f} s{f.added_s:8.2f} s{(f.ratio - 1) * 100:7.1f} %{mark}")
    print(f"limit: {LIMIT_S:g} s or {LIMIT_SHARE:.0%}, whichever is more")


if __name__ == "__main__":
    sys.exit(main())
