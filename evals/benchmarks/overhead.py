"""Measure what `aoti-debug run SCRIPT` adds to `python SCRIPT`: seconds, and percent of its time.

    python evals/benchmarks/overhead.py [--pairs 5] [--seconds 20] [--only NAME ...]
    python evals/benchmarks/overhead.py --only growth --calls 10000000
    python evals/benchmarks/overhead.py --only calls growth --device cuda

Both are run in turns, so that a busy machine slows them alike; the figures are medians. Exits 1
when a script is slowed by more than 1 s and by more than 3 %, or when memory or files grow with the
calls (`growth`).
"""

from __future__ import annotations

import argparse
import ast
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from aoti_debug.triage.environment import watched
from command import AOTI, PYTHON, Row, begins, environment, ran, with_options

LIMIT_US, LIMIT_MB = 30.0, 8.0
LIMIT_S, LIMIT_SHARE = 1.0, 0.03

COMPILE = """\
import sys, torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(512, 512)
        self.second = torch.nn.Linear(512, 64)

    def forward(self, x):
        return self.second(torch.relu(self.first(x))).softmax(-1)

torch.manual_seed(0)
if "tiny" not in sys.argv:
    batch = {0: torch.export.Dim("batch")}
    with torch.no_grad():
        program = torch.export.export(
            Model().eval(), (torch.randn(32, 512),), dynamic_shapes=(batch,)
        )
    torch._inductor.aoti_compile_and_package(program, package_path="model.pt2")
else:
    class Tiny(torch.nn.Module):
        def forward(self, x):
            return x.relu(), x.sum(-1), x.sigmoid()

    class Busy(torch.nn.Module):  # a call takes about 1 ms
        def __init__(self):
            super().__init__()
            size = 3072 if "DEVICE" == "cuda" else 320
            self.w = torch.nn.Parameter(torch.randn(size, size, device="DEVICE") / size)

        def forward(self, x):
            y = (self.w * x.mean()) @ self.w
            return x.relu(), y.sum(-1), y.mean()

    for model in (Tiny(), Busy()):
        with torch.no_grad():
            program = torch.export.export(model, (torch.randn(2, 16, device="DEVICE"),))
        path = f"{type(model).__name__.lower()}.pt2"
        torch._inductor.aoti_compile_and_package(program, package_path=path)
"""
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
# Calls with three outputs, at a pace or as fast as they come; what the probe holds at the end of
# each power of ten. On a device the calls are awaited at the end.
TRAFFIC = """\
import os, resource, sys, time, torch
from pathlib import Path

model = torch._inductor.aoti_load_package(sys.argv[3])
x = torch.randn(2, 16, device="DEVICE")
wait = torch.cuda.synchronize if x.is_cuda else int
calls, pace = int(sys.argv[1]), float(sys.argv[2])
log = os.environ.get("AOTI_DEBUG_EVENTS")
spent, first, marks = 0.0, 0.0, {}
own = time.thread_time()
with torch.no_grad():
    for number in range(1, calls + 1):
        began = time.perf_counter()
        model(x)
        took = time.perf_counter() - began
        spent += took
        if number == 100:
            wait()
            first, spent, own = spent, 0.0, time.thread_time()
        if pace > took:
            time.sleep(pace - took)
        if number >= 10_000 and set(str(number)[1:]) == {"0"} and str(number)[0] == "1":
            files = sum(f.stat().st_size for f in Path(log).parent.rglob("*")) if log else 0
            with open("/proc/self/statm") as memory:
                pages = int(memory.read().split()[1])
            marks[number] = (pages * resource.getpagesize(), files)
    began = time.perf_counter()
    wait()
    spent += time.perf_counter() - began
print({"first": first, "seconds": spent, "cpu": time.thread_time() - own, "marks": marks})
"""


class Bench:
    def __init__(self, directory: Path, python: str, device: str) -> None:
        self.directory, self.python = directory, python
        # The fewer threads, the steadier the time.
        self.env = environment(directory, python, OMP_NUM_THREADS="1")
        for name, source in (("compile", COMPILE), ("call", CALL), ("traffic", TRAFFIC)):
            text = source.replace("DEVICE", device)
            (directory / f"{name}.py").write_text(text, "utf-8")

    def printed(self, command: list[str], env: dict[str, str] | None = None) -> str:
        done = ran(command, cwd=self.directory, env=env or self.env)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def seconds(self, command: list[str]) -> float:
        started = time.perf_counter()
        self.printed(command)
        return time.perf_counter() - started

    def calls_for(self, seconds: float, rows: int) -> int:
        trial = self.printed([self.python, "call.py", "300", str(rows)])
        return max(1, round(300 * seconds / float(trial)))

    def traffic(self, package: str, calls: int, pace: float, *, watch: bool) -> Row:
        """Make so many calls, `pace` seconds apart; return the seconds inside the first 100, which
        are recorded one by one, inside the others, the thread's CPU seconds from then on, and what
        was held at each power of ten: {number: (bytes of memory, bytes of files)}."""
        env = dict(self.env)
        with tempfile.TemporaryDirectory(dir=self.directory) as folder:
            if watch:
                env = watched(env, Path(folder), "r", capture=True)
            told = self.printed([self.python, "traffic.py", str(calls), str(pace), package], env)
        return dict(ast.literal_eval(told))

    def under_run(self, calls: int) -> Row:
        """Make so many calls back to back under `aoti-debug run`; return what `traffic` does."""
        words = ["run", "traffic.py", "--json", "--timeout", str(60 + calls // 1000)]
        done = self.printed([*AOTI, *words, "--", str(calls), "0", "tiny.pt2"])
        run = self.directory / "home" / "runs" / json.loads(done)["run"]
        return dict(ast.literal_eval((run / "stdout.log").read_text("utf-8")))

    def measure(self, name: str, words: tuple[str, ...], pairs: int) -> Row:
        bare = [self.python, *words]
        watched = [*AOTI, "run", words[0], "--", *words[1:]]
        times: list[tuple[float, float]] = []
        for pair in range(pairs + 1):
            took: dict[bool, float] = {}
            for watch in (False, True) if pair % 2 else (True, False):
                if words[0] == "compile.py":  # every run, anew
                    shutil.rmtree(self.directory / "cache", ignore_errors=True)
                took[watch] = self.seconds(watched if watch else bare)
            print(f"\r{name}: pair {pair} of {pairs} ", end="", file=sys.stderr, flush=True)
            if pair:  # the first one warms the caches of the disk
                times.append((took[False], took[True]))
        print("\r" + " " * 60, end="\r", file=sys.stderr, flush=True)
        return {
            "name": name,
            "bare_s": median(a for a, _ in times),
            "added_s": median(b - a for a, b in times),
            "ratio": median(b / a for a, b in times),
        }


def loads(bench: Bench, seconds: float) -> dict[str, tuple[str, ...]]:
    short, long = bench.calls_for(seconds, 2), bench.calls_for(seconds, 256)
    return {
        "load, 3 calls": ("call.py", "3", "32"),
        f"load, {short} short calls": ("call.py", str(short), "2"),
        f"load, {long} long calls": ("call.py", str(long), "256"),
        "compile": ("compile.py",),
    }


def traffic(bench: Bench, pairs: int) -> bool:
    """Print what a call costs more when it is watched; tell whether that is within the limits:
    microseconds of CPU back to back, a share of the time of calls that take about 1 ms each."""
    within = True
    for name, package, calls, pace in (
        ("back to back", "tiny.pt2", 20_000, 0.0),
        ("of 1 ms, back to back", "busy.pt2", 4_000, 0.0),
        ("with pauses of 1 ms", "tiny.pt2", 4_000, 0.001),
    ):
        wall, cpu, share, bares = [], [], [], []
        for pair in range(pairs):
            took: dict[bool, Row] = {}
            for watch in (False, True) if pair % 2 else (True, False):
                took[watch] = bench.traffic(package, calls, pace, watch=watch)
            bare, seen = took[False], took[True]
            wall.append((seen["seconds"] - bare["seconds"]) / calls * 1e6)
            cpu.append((seen["cpu"] - bare["cpu"]) / calls * 1e6)
            share.append(seen["seconds"] / bare["seconds"] - 1)
            bares.append(bare["seconds"] / calls * 1e6)
        us, part = median(cpu), median(share)
        good = pace > 0 or (part <= LIMIT_SHARE if package == "busy.pt2" else us <= LIMIT_US)
        within &= good
        mark = "" if good else "  over the limit"
        more = f"{us:6.1f} us more of CPU, {median(wall):6.1f} in all, {part * 100:5.1f} %"
        print(f"calls {name:22}{median(bares):8.1f} us alone, {more}{mark}", flush=True)
    return within


def growth(bench: Bench, calls: int) -> bool:
    """Print what the script's memory and the run's directory hold at each power of ten of its
    calls; tell whether both stay as they are."""
    told = bench.under_run(calls)
    marks = list(told["marks"].items())
    (_, (memory, files)), (_, (memory_then, files_then)) = marks[0], marks[-1]
    for number, (resident, kept) in marks:
        print(f"call {number:>12,}: memory {resident / 1e6:8.1f} MB, run {kept:>12,} bytes")
    print(f"{told['seconds'] / calls * 1e6:.1f} us a call")
    return files_then == files and (memory_then - memory) / 1e6 < LIMIT_MB


def main() -> int:
    options = with_options(
        argparse.ArgumentParser(description=__doc__.partition("\n")[0]),
        pairs=5,
        seconds=(20.0, "that the calls take"),
        only=([], "names that begin so: load, compile, calls, growth"),
        calls=(100_000, "over which nothing may grow"),
        device=("cpu", "of the calls with three outputs"),
    ).parse_args()

    def chosen(*names: str) -> bool:
        return any(begins(name, options.only) for name in names)

    within, scripts = True, {}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder).resolve(), PYTHON, options.device)
        if chosen("load", "compile"):
            bench.printed([PYTHON, "compile.py"])
            scripts = loads(bench, options.seconds)
        if chosen("calls", "growth"):
            bench.printed([PYTHON, "compile.py", "tiny"])
        found = [bench.measure(n, w, options.pairs) for n, w in scripts.items() if chosen(n)]
        if chosen("calls"):
            within &= traffic(bench, options.pairs)
        if chosen("growth"):
            within &= growth(bench, options.calls)
    if found:
        table(found)
    return 0 if within and all(map(fits, found)) else 1


def fits(row: Row) -> bool:
    return row["added_s"] <= LIMIT_S or row["ratio"] - 1 <= LIMIT_SHARE


def table(found: list[Row]) -> None:
    print(f"{'aoti-debug run against python':34}{'bare':>10}{'added':>10}{'':>9}")
    for row in found:
        mark, share = "" if fits(row) else "  over the limit", (row["ratio"] - 1) * 100
        seconds = f"{row['bare_s']:8.2f} s{row['added_s']:8.2f} s"
        print(f"{row['name']:34}{seconds}{share:7.1f} %{mark}")
    print(f"limit: {LIMIT_S:g} s or {LIMIT_SHARE:.0%}, whichever is more")


if __name__ == "__main__":
    sys.exit(main())
