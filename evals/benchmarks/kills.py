"""Kill a node of Ray in the middle of a sweep over two; then kill the driver and resume.

    kills.py OUT --python PYTHON [--targets 24]

Every target must be counted once, and no process be left. Needs `aoti-debug[ray]` beside it.
Prints one JSON document for each part.
"""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from command import AOTI, Row, clock, environment, options_of

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster

SECONDS = 1.5  # of each target
BEGUN = "begun.log"
SCRIPT = """\
import os, sys, time
with open({log!r}, "a") as log:
    print(sys.argv[1], os.getpid(), file=log)
time.sleep({seconds})
raise KeyError("row") if int(sys.argv[1]) % 3 == 0 else SystemExit(0)
"""


def main() -> None:
    from ray.cluster_utils import Cluster

    options = options_of(__doc__, python={"required": True}, targets=24).parse_args()
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
            row = {"part": part.__name__, **part(place, options.targets, cluster, second)}
            print(json.dumps(row), flush=True)
        finally:
            cluster.shutdown()


def node_killed(place: Path, targets: int, cluster: Cluster, second: object) -> Row:
    """Kill the second node, without warning, when a third of the targets has begun."""
    sweep = started(place, cluster)
    wait_until(place, targets // 3)
    took = clock()
    cluster.remove_node(second, allow_graceful=False)
    sweep.communicate(timeout=600)
    return {**told(place, targets), "seconds_after": took()}


def driver_killed(place: Path, targets: int, cluster: Cluster, second: object) -> Row:
    """Kill the driver when half of the targets have a row; then resume."""
    sweep = started(place, cluster)
    wait_until(place, targets // 2)
    sweep.send_signal(signal.SIGKILL)
    sweep.communicate()
    rows = len((place / "out" / "sweep.jsonl").read_text().splitlines()) - 1
    took = clock()
    left = orphans(place, 60)
    started(place, cluster, "--resume").communicate(timeout=600)
    after = {"seconds_after": took()}
    return {"rows_when_killed": rows, "orphans_of_killed": left, **told(place, targets), **after}


def started(place: Path, cluster: Cluster, how: str = "--out") -> subprocess.Popen[bytes]:
    argv = [*AOTI, "sweep", str(place / "sweep.toml"), how, str(place / "out"), "--json"]
    argv += ["--on", f"ray:{cluster.address}"]
    log = (place / "driver.log").open("ab")
    sweep = subprocess.Popen(argv, env=environment(place), stdout=log, stderr=log)
    threading.Thread(target=sweep.wait, daemon=True).start()
    return sweep


def wait_until(place: Path, count: int) -> None:
    log = place / BEGUN
    for _ in range(6000):
        if log.exists() and len(log.read_text().splitlines()) >= count:
            return
        time.sleep(0.1)
    raise TimeoutError("the targets did not begin")


def told(place: Path, targets: int) -> Row:
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
    script = str(place / "work.py")
    ours = [p for p in psutil.process_iter(["cmdline"]) if script in (p.info["cmdline"] or [])]
    _, alive = psutil.wait_procs(ours, timeout=patience_s)
    return len(alive)


if __name__ == "__main__":
    main()
