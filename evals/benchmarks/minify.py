"""Minify planted faults, each in a model of so many layers, and say what came of it.

    python evals/benchmarks/minify.py OUT.jsonl [--stock] [CASE[:LAYERS] ...]

One JSON line a case: whether the reproduction fails alike alone, operators left, candidates, time;
with --stock the same of PyTorch's own minifier. A line that is there already is not made again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

CASES = Path(__file__).parent.parent / "cases" / "to_minify.py"
# The planted minimum: operators without which the failure is another one.
MINIMUM = {
    "lowering": 1, "cpp": 1, "abort": 1, "wrong": 1, "index": 1, "segfault": 1, "dynamic": 1,
    "op_crash": 1, "op_hang": 1, "op_raise": 1, "op_exit": 1, "op_flaky": 1, "op_short": 1,
    "nan": 1,
}  # fmt: skip
LIMIT_S = 1500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--stock", action="store_true", help="PyTorch's own minifier")
    options = parser.parse_args()
    engine = "torch" if options.stock else "own"
    lines = options.out.read_text().splitlines() if options.out.exists() else []
    done = {(r["case"], r["layers"], r["engine"]) for r in map(json.loads, lines)}
    for word in options.cases or MINIMUM:
        case, _, layers = word.partition(":")
        if (case, int(layers or 3), engine) in done:
            continue
        result = minify(case, int(layers or 3), engine)
        with options.out.open("a") as file:
            file.write(json.dumps(result) + "\n")
        print(json.dumps(result), flush=True)


def minify(case: str, layers: int, engine: str) -> dict[str, object]:
    """Run the command as a user would; return what its answer says."""
    words = [sys.executable, "-m", "aoti_debug", "minify", str(CASES), "--engine", engine, "--json"]
    began = time.monotonic()
    limit = [] if engine == "torch" else ["--budget", "900"]
    try:
        ran = subprocess.run(
            [*words, *limit, "--", case, str(layers)],
            capture_output=True, text=True, timeout=LIMIT_S, env={**os.environ},
        )  # fmt: skip
        answer = json.loads(ran.stdout)
    except (subprocess.TimeoutExpired, ValueError) as error:
        answer = {"error": type(error).__name__}
    kept = ("signature", "reproduced", "confirmed", "nodes", "nodes_before", "candidates", "ended",
            "also_seen", "error", "run")  # fmt: skip
    steps = {step["name"]: step.get("wall_s") for step in answer.get("steps", [])}
    return {
        "case": case,
        "layers": layers,
        "engine": engine,
        "minimum": MINIMUM[case],
        "wall_s": round(time.monotonic() - began, 1),
        "first_run_s": steps.get("first run"),
        **{key: answer[key] for key in kept if key in answer},
    }


if __name__ == "__main__":
    main()
