"""Kill what works and see what is left.

    kills.py minify OUT.jsonl [--kills 10] [--case lowering] [--over 30] [--seed 1]
    kills.py ray OUT --python PYTHON [--targets 24]

minify: nothing may be left, and it must go on where it was. The planted fault is run once, watched.
Its minification is killed (SIGKILL) at moments spread over --over seconds; each time: processes
left after 20 s, and how the repro.py that is there by then ends when it is run. At the end it runs
undisturbed.

ray: a sweep on two nodes on this machine, one killed in the middle; then the driver killed and its
sweep resumed. Every target must be counted once, and no process be left. Needs `aoti-debug[ray]`
beside it. Prints one JSON document for each part.
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
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster

CASES = Path(__file__).parent.parent / "cases" / "to_minify.py"
GONE_S = 20.0
ERROR = re.compile(r"^[\w.]*Error: .{1,200}", re.MULTILINE)


def minify(given: list[str]) -> None:
    parser = argparse.ArgumentParser("kills.py minify")
    parser.add_argument("out", type=Path)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--case", default="lowering")
    parser.add_argument("--over", type=float, default=30.0, help="seconds that moments lie in")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(given)
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


SECONDS = 1.5  # of each target
BEGUN = "begun.log"
SCRIPT = """\
import os, sys, time
with open({log!r}, "a") as log:
    print(sys.argv[1], os.getpid(), file=log)
time.sleep({seconds})
raise KeyError("row") if int(sys.argv[1]) % 3 == 0 else SystemExit(0)
"""


def ray(given: list[str]) -> None:
    from ray.cluster_utils import Cluster

    parser = argparse.ArgumentParser("kills.py ray")
    parser.add_argument("out", type=Path)
    parser.add_argument("--python", required=True)
    parser.add_argument("--targets", type=int, default=24)
    options = parser.parse_args(given)
    for part in (node_killed, driver_killed):
        place = options.out.absolute() / part.__name__
        place.mkdir(parents=True)
        (place / "work.py").write_text(SCRIPT.format(log=str(place / BEGUN), seconds=SECONDS))
        (place / "sweep.toml").write_text(
            f"[defaults]\npython = '{options.python}'\ntimeout_s = 60\n"
            f"[matrix]\nnumber = {list(range(options.targets))}\n"
            "[[target]]\nscript = 'work.py'\nargs = ['{number}']\n"
        )
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
        try:
            second = cluster.add_node(num_cpus=2)
            cluster.wait_for_nodes()
            print(json.dumps(part(place, options.targets, cluster, second)), flush=True)
        finally:
            cluster.shutdown()


def node_killed(place: Path, targets: int, cluster: Cluster, second: object) -> dict:
    """Kill the second node, without warning, when a third of the targets has begun."""
    sweep = started(place, cluster)
    wait_until(place, targets // 3)
    began = time.monotonic()
    cluster.remove_node(second, allow_graceful=False)
    sweep.communicate(timeout=600)
    return {
        "part": "node_killed",
        **told(place, targets),
        "seconds_after": round(time.monotonic() - began, 1),
    }


def driver_killed(place: Path, targets: int, cluster: Cluster, second: object) -> dict:
    """Kill the driver when half of the targets have a row; then resume."""
    sweep = started(place, cluster)
    wait_until(place, targets // 2)
    sweep.send_signal(signal.SIGKILL)
    sweep.communicate()
    rows = len((place / "out" / "sweep.jsonl").read_text().splitlines()) - 1
    began = time.monotonic()
    left = orphans(place, 60)
    again = started(place, cluster, "--resume")
    again.communicate(timeout=600)
    seconds = round(time.monotonic() - began, 1)
    return {
        "part": "driver_killed",
        "rows_when_killed": rows,
        "orphans_of_killed": left,
        **told(place, targets),
        "seconds_after": seconds,
    }


def started(place: Path, cluster: Cluster, how: str = "--out") -> subprocess.Popen[bytes]:
    words = [
        "sweep",
        str(place / "sweep.toml"),
        how,
        str(place / "out"),
        "--json",
        "--on",
        f"ray:{cluster.address}",
    ]
    environment = {**os.environ, "AOTI_DEBUG_HOME": str(place / "home")}
    argv = [sys.executable, "-m", "aoti_debug", *words]
    log = (place / "driver.log").open("ab")
    sweep = subprocess.Popen(argv, env=environment, stdout=log, stderr=log)
    threading.Thread(target=sweep.wait, daemon=True).start()
    return sweep


def wait_until(place: Path, count: int) -> None:
    log = place / BEGUN
    for _ in range(6000):
        if log.exists() and len(log.read_text().splitlines()) >= count:
            return
        time.sleep(0.1)
    raise TimeoutError("the targets did not begin")


def told(place: Path, targets: int) -> dict:
    """Return what the rows say, and what of the targets' processes is left."""
    lines = (place / "out" / "sweep.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines if line.startswith('{"index"')]
    counted = Counter(row["target"] for row in found)
    runs = Counter(line.split()[0] for line in (place / BEGUN).read_text().splitlines())
    return {
        "targets": targets,
        "rows": len(found),
        "counted_twice": sum(count > 1 for count in counted.values()),
        "missing": targets - len(counted),
        "run_again": sum(count > 1 for count in runs.values()),
        "outcomes": dict(Counter(row["outcome"] for row in found)),
        "orphans": orphans(place, 30),
    }


def orphans(place: Path, patience_s: float) -> int:
    """Count the targets' processes that are left."""
    script = str(place / "work.py")
    ours = [p for p in psutil.process_iter(["cmdline"]) if script in (p.info["cmdline"] or [])]
    _, alive = psutil.wait_procs(ours, timeout=patience_s)
    return len(alive)


if __name__ == "__main__":
    {"minify": minify, "ray": ray}[sys.argv[1]](sys.argv[2:])
