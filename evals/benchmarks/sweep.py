"""Measure what scheduling targets costs, and what running them does.

    sweep.py [--targets 100000] [--workers 64] [--scripts 8] [--python PYTHON]
    sweep.py --gpu OUT --python PYTHON   # on a machine with several GPUs: one of them, then all

Simulated workers run nothing: what is left is this process's own work for each target, from the
plan to the row in the file. Its memory must not grow with the number of targets.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT_MS = 2.0
GROWTH = 1.10  # of the memory, from a hundredth of the targets to all of them


class Simulated:
    """Workers that take no time and fail every tenth target, in one of twelve ways."""

    workers = "simulated"

    def __init__(self, machine) -> None:
        self.never, self.take, self.give = machine.never, machine.take, machine.give

    async def run(self, planned, share):
        import anyio
        from aoti_debug.minify.signature import Signature
        from aoti_debug.sweep.row import Row

        await anyio.lowlevel.checkpoint()
        row = Row(index=planned.index, target=planned.name, outcome="ok", wall_s=1.0, memory=10**9)
        if planned.index % 10:
            return row
        kind = f"Error{planned.index // 10 % 12}"
        failure = Signature("run", kind, "it failed with these words", ("embedding", "add"))
        return row.model_copy(
            update={"outcome": "failed", "category": "user_code", "signature": failure,
                    "summary": f"{kind}: it failed", "confidence": "likely"}
        )  # fmt: skip


def simulate(targets: int, workers: int) -> None:
    """Sweep so many targets in this process; print milliseconds a target and peak memory."""
    import anyio
    from aoti_debug.sweep.buckets import Groups
    from aoti_debug.sweep.driver import dispatch
    from aoti_debug.sweep.local import Machine
    from aoti_debug.sweep.manifest import read_manifest
    from aoti_debug.sweep.plan import Plan
    from aoti_debug.sweep.row import Done, Head, Ledger, rows_of

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "one.py").touch()
        side = max(1, targets // 10)
        (place / "sweep.toml").write_text(
            f"[matrix]\na = {list(range(10))}\nb = {list(range(side))}\n"
            "[[target]]\nscript = 'one.py'\nargs = ['{a}', '{b}']\n"
        )
        plan = Plan(read_manifest(place / "sweep.toml"))
        done, groups = Done(plan.count), Groups()
        head = Head(sweep="r", name="b", plan=plan.digest, targets=plan.count, began=0.0)
        simulated = Simulated(Machine(workers, 10**6, 10**15))
        began = time.perf_counter()
        with contextlib.closing(Ledger.create(place / "sweep.jsonl", head)) as ledger:

            def on_row(row) -> None:
                if done.add(row.index):
                    ledger.add(row)
                    groups.add(row)

            anyio.run(dispatch, plan.targets(), simulated, on_row, anyio.Event())
        seconds = time.perf_counter() - began
        assert done.rows == plan.count
        again = Groups(rows_of(place / "sweep.jsonl"))
        assert len(again) == len(groups) == min(12, max(1, targets // 10))
    used = resource.getrusage(resource.RUSAGE_SELF)
    peak, cpu = used.ru_maxrss / 1024, used.ru_utime + used.ru_stime
    print(json.dumps({"targets": plan.count, "workers": workers,
                      "ms_a_target": round(1000 * seconds / plan.count, 3),
                      "cpu_ms_a_target": round(1000 * cpu / plan.count, 3),
                      "peak_mib": round(peak, 1)}))  # fmt: skip


def scheduling(targets: int, workers: int) -> bool:
    """Simulate in processes of their own, whose peak memory is theirs alone."""
    found = []
    for count in (targets // 100, targets // 10, targets):
        words = [sys.executable, __file__, "--simulate", str(count), "--workers", str(workers)]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        found.append(json.loads(done.stdout))
        wall, cpu, peak = (found[-1][k] for k in ("ms_a_target", "cpu_ms_a_target", "peak_mib"))
        print(
            f"{count:>8,} targets, {workers} simulated workers: "
            f"{wall:.3f} ms a target ({cpu:.3f} ms CPU), peak {peak:.1f} MiB"
        )
    growth = found[-1]["peak_mib"] / found[0]["peak_mib"]
    fine = found[-1]["ms_a_target"] <= LIMIT_MS and growth <= GROWTH
    print(f"{'good' if fine else 'BAD'}: at most {LIMIT_MS} ms; memory {growth:.2f} times, "
          f"at most {GROWTH}")  # fmt: skip
    return fine


def throughput(scripts: int, python: str) -> None:
    """Sweep small scripts that import no torch, with one worker and with two."""
    for jobs in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            for number in range(scripts):
                (place / f"s{number}.py").write_text("import time\ntime.sleep(2)\n")
            took, answer = swept(place, place / "out", python, jobs)
            print(f"{jobs} at a time: {60 * scripts / took:5.1f} targets a minute "
                  f"({answer['ok']} of {scripts} good; each sleeps 2 s)")  # fmt: skip


def swept(manifest: Path, out: Path, python: str, jobs: int, **variables: str):
    words = ["sweep", str(manifest), "--out", str(out), "--jobs", str(jobs), "--json"]
    environment = {**os.environ, "AOTI_DEBUG_PYTHON": python, **variables}
    began = time.perf_counter()
    argv = [sys.executable, "-m", "aoti_debug", *words]
    done = subprocess.run(argv, env=environment, stdout=subprocess.PIPE, text=True)
    return time.perf_counter() - began, json.loads(done.stdout)


GPU_SCRIPT = """\
import sys, torch
x = torch.randn(8192, 8192, device="cuda")
for _ in range(1600):
    y = x @ x
torch.cuda.synchronize()
print(float(y[0, 0]), sys.argv[1])
"""


def gpus(out: Path, python: str) -> None:
    """Sweep scripts with the same work each, two at a time on a GPU so that one computes while the
    other starts: on one GPU, then on all that there are. Minutes."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "busy.py").write_text(GPU_SCRIPT)
    query = ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"]
    count = len(subprocess.run(query, capture_output=True, text=True).stdout.split())
    (out / "sweep.toml").write_text(
        f"[defaults]\ngpu_memory = '6GiB'\n[matrix]\nn = {list(range(4 * count))}\n"
        "[[target]]\nscript = 'busy.py'\nargs = ['{n}']\n"
    )
    results = []
    for used in (1, count):
        log = (out / f"use-{used}.csv").open("w")
        query = ["nvidia-smi", "--query-gpu=index,utilization.gpu", "--format=csv,noheader,nounits",
                 "-l", "1"]  # fmt: skip
        with subprocess.Popen(query, stdout=log) as watch:
            visible = ",".join(str(n) for n in range(used))
            place = out / f"results-{used}"
            took, answer = swept(out / "sweep.toml", place, python, 2 * used,
                                 CUDA_VISIBLE_DEVICES=visible)  # fmt: skip
            watch.terminate()
        lines = [line.split(", ") for line in (out / f"use-{used}.csv").read_text().splitlines()]
        busy = {n: [int(u) for i, u in lines if i == str(n)] for n in range(used)}
        results.append({
            "gpus": used, "seconds": round(took, 1), "ok": answer.get("ok"),
            "failed": answer.get("failed"), "errors": answer.get("errors"),
            "busy_share": {n: round(sum(u > 0 for u in v) / max(1, len(v)), 3)
                           for n, v in busy.items()},
        })  # fmt: skip
        print(json.dumps(results[-1]), flush=True)
    print(json.dumps({"speedup": round(results[0]["seconds"] / results[1]["seconds"], 3)}))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--targets", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--scripts", type=int, default=8)
    parser.add_argument("--python", default=os.environ.get("AOTI_DEBUG_PYTHON", sys.executable))
    parser.add_argument("--simulate", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--gpu", type=Path, metavar="OUT")
    options = parser.parse_args()
    if options.simulate:
        simulate(options.simulate, options.workers)
    elif options.gpu:
        gpus(options.gpu, options.python)
    else:
        fine = scheduling(options.targets, options.workers)
        throughput(options.scripts, options.python)
        sys.exit(not fine)


if __name__ == "__main__":
    main()
