"""Minify planted GPU faults beside PyTorch's own minifier, within nine minutes.

    python evals/benchmarks/minify_gpu.py OUT

Ten cases side by side; OUT/minify_gpu.jsonl gets a line as each one ends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CASES = Path(__file__).parent.parent / "cases" / "gpu_to_minify.py"
NAMES = ("assert", "illegal", "device", "short", "nan")
LAYERS = (15, 75)  # 60 and 300 operators
ENDS_S = 520.0
WIDTH = 10
BEGAN = time.monotonic()


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    wanted = [(n, k, e) for k in LAYERS for n in NAMES for e in ("own", "torch")]
    with ThreadPoolExecutor(WIDTH) as pool:
        for result in pool.map(minify, wanted):
            with (out / "minify_gpu.jsonl").open("a") as file:
                file.write(json.dumps(result) + "\n")
            print(json.dumps(result), flush=True)


def minify(wanted: tuple[str, int, str]) -> dict[str, object]:
    """Run the command in a home of its own: the device lock is the home's, and these share one."""
    name, layers, engine = wanted
    began = time.monotonic()
    left = ENDS_S - (began - BEGAN)
    known: dict[str, object] = {"case": name, "layers": layers, "engine": engine}
    if left < 60:
        return {**known, "error": "no time was left"}
    home = tempfile.mkdtemp()
    words = ["minify", str(CASES), "--engine", engine, "--json", "--", name, str(layers)]
    try:
        ran = subprocess.run(
            [sys.executable, "-m", "aoti_debug", *words],
            capture_output=True, text=True, timeout=left,
            env={**os.environ, "AOTI_DEBUG_HOME": home},
        )  # fmt: skip
        answer = json.loads(ran.stdout)
    except (subprocess.TimeoutExpired, ValueError) as error:
        answer = {"error": type(error).__name__}
    kept = ("signature", "reproduced", "confirmed", "nodes", "nodes_before", "candidates", "ended",
            "also_seen", "error", "notes")  # fmt: skip
    found = {key: answer[key] for key in kept if key in answer}
    return {**known, "wall_s": round(time.monotonic() - began, 1), **found}


if __name__ == "__main__":
    main()
