"""Minify planted GPU faults side by side, within a limit.

    python evals/benchmarks/minify_gpu.py OUT [--limit 140] [--width 4] [--layers 3] [CASE ...]
    python evals/benchmarks/minify_gpu.py OUT --stock --layers 15 --limit 520 --width 10

Each script is run once, watched, without a triage; its run is minified. OUT/minify_gpu.jsonl gets a
line as each case ends; where the time ends it first, the line says how far it came.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

CASES = Path(__file__).parent.parent / "cases" / "gpu_to_minify.py"
NAMES = ("assert", "illegal", "nan", "device", "short")
KEPT = ("signature", "reproduced", "confirmed", "nodes", "nodes_before", "candidates", "ended",
        "also_seen", "error", "notes", "repro_kernel")  # fmt: skip
PROGRESS = re.compile(r"candidate (\d+) has \d+ nodes; best so far (\d+) of (\d+)")
AT_END_S = 8.0  # for what a command does when it is told to end
BEGAN = time.monotonic()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--limit", type=float, default=140.0)
    parser.add_argument("--width", type=int, default=4)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--stock", action="store_true", help="PyTorch's own minifier")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    cores = sorted(os.sched_getaffinity(0))
    each = max(1, len(cores) // options.width)
    turns = count()

    def one(name: str) -> None:
        first = next(turns) * each % len(cores)
        os.sched_setaffinity(0, cores[first : first + each])  # of this thread and what it starts
        found = minify(name, options)
        with (options.out / "minify_gpu.jsonl").open("a") as file:
            file.write(json.dumps(found) + "\n")
        print(json.dumps(found), flush=True)

    with ThreadPoolExecutor(options.width) as pool:
        list(pool.map(one, options.cases or NAMES))


def minify(name: str, options: argparse.Namespace) -> dict:
    """Run the commands in a home of their own: the lock of a device is the home's."""
    began = time.monotonic()
    home = Path(tempfile.mkdtemp())
    found: dict = {
        "case": name,
        "layers": options.layers,
        "engine": "torch" if options.stock else "own",
    }
    words = ["--", name, str(options.layers)]
    if options.stock:
        answer, log = command(home, options, "minify", str(CASES), "--engine", "torch", *words)
    else:
        answer, log = command(home, options, "run", str(CASES), "--stage", "baseline", *words)
        found["first_run_s"] = round(time.monotonic() - began, 1)
        what = [str(answer.get("run")), *(["--compare"] if name in ("nan", "short") else [])]
        if "run" in answer:
            answer, log = command(home, options, "minify", *what)
    found.update({key: answer[key] for key in KEPT if key in answer})
    if "nodes" not in answer:
        steps = PROGRESS.findall(log)
        found["came_to"] = steps[-1] if steps else log[-300:]  # candidates, best so far, of
        found["best_so_far"] = [path.read_text()[:3000] for path in home.glob("runs/*/repro.py")][
            -1:
        ]
    return {**found, "wall_s": round(time.monotonic() - began, 1)}


def command(home: Path, options: argparse.Namespace, *words: str) -> tuple[dict, str]:
    """Return a command's answer and what it said on the way; it is told to end in time."""
    left = options.limit - (time.monotonic() - BEGAN) - AT_END_S
    if left < 5:
        return {"error": "no time was left"}, ""
    at = next((n for n, word in enumerate(words) if word == "--"), len(words))
    with subprocess.Popen(
        [sys.executable, "-m", "aoti_debug", *words[:at], "--json", *words[at:]],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "AOTI_DEBUG_HOME": str(home)},
    ) as process:  # fmt: skip
        try:
            out, log = process.communicate(timeout=left)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            try:
                out, log = process.communicate(timeout=AT_END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                out, log = process.communicate()
    try:
        return json.loads(out), log
    except ValueError:
        return {"error": "ended before its answer"}, log


if __name__ == "__main__":
    main()
