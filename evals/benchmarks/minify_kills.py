"""Kill a minification at random moments; nothing may be left, and it must go on where it was.

    python evals/benchmarks/minify_kills.py OUT.jsonl [--kills 10] [--case lowering] [--seed 1]

The planted fault is run once, watched. Its minification is killed (SIGKILL) at moments spread over
the time that a first one took; each time: processes left after 20 s, and how the repro.py that is
there by then ends when it is run. At the end it runs undisturbed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

CASES = Path(__file__).parent.parent / "cases" / "to_minify.py"
GONE_S = 20.0
ERROR = re.compile(r"^[\w.]*Error: .{1,200}", re.MULTILINE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--case", default="lowering")
    parser.add_argument("--over", type=float, default=30.0, help="seconds that moments lie in")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    home = Path(os.environ["AOTI_DEBUG_HOME"])
    words = ["run", str(CASES), "--stage", "baseline", "--json", "--", options.case, "3"]
    run = json.loads(subprocess.run(command(*words), capture_output=True, text=True).stdout)["run"]
    moments = random.Random(options.seed)
    for _ in range(options.kills):
        found = killed(run, home, moments.uniform(1.0, options.over))
        record(options.out, found)
    began = time.monotonic()
    ran = subprocess.run(command("minify", run, "--json"), capture_output=True, text=True)
    answer = json.loads(ran.stdout)
    kept = ("reproduced", "confirmed", "nodes", "candidates", "ended", "error")
    whole = {key: answer[key] for key in kept if key in answer}
    record(options.out, {"at_the_end": whole, "wall_s": round(time.monotonic() - began, 1)})


def killed(run: str, home: Path, after_s: float) -> dict:
    """Start the minification, kill it, and look at what it leaves."""
    before = set(home.glob("runs/*"))
    log = subprocess.DEVNULL
    with subprocess.Popen(command("minify", run, "--json"), stdout=log, stderr=log) as process:
        try:
            process.wait(after_s)
        except subprocess.TimeoutExpired:
            family = psutil.Process(process.pid).children(recursive=True)
            process.send_signal(signal.SIGKILL)
        else:
            family = []
    _, left = psutil.wait_procs(family, timeout=GONE_S)
    left += [p for p in psutil.process_iter() if below(p, home)]
    scripts = [p / "repro.py" for p in set(home.glob("runs/*")) - before]
    return {
        "after_s": round(after_s, 1),
        "exit": process.returncode,
        "processes": len(family),
        "left": [" ".join(words(p))[:200] for p in left],
        "repro": [ended(script) for script in scripts if script.exists()],
    }


def below(process: psutil.Process, home: Path) -> bool:
    try:
        return Path(process.cwd()).is_relative_to(home)
    except psutil.Error:
        return False


def words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def ended(script: Path) -> str:
    """Run the best so far as a user would; say how it ends."""
    python = os.environ.get("AOTI_DEBUG_PYTHON", sys.executable)
    ran = subprocess.run([python, str(script)], cwd=script.parent, capture_output=True, text=True)
    return f"exit {ran.returncode}: {'; '.join(ERROR.findall(ran.stderr)[-1:])}"


def command(*given: str) -> list[str]:
    return [sys.executable, "-m", "aoti_debug", *given]


def record(out: Path, found: dict) -> None:
    with out.open("a") as file:
        file.write(json.dumps(found) + "\n")
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
