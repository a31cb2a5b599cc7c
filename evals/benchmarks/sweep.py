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

from command import PYTHON, Row, again, clock, folder_at, picked, ran, swept, with_options

LIMIT_MS = 2.0
GROWTH = 1.10  # of the memory, from a hundredth of the targets to all of them


class Simulated:
    """Workers that take no time and fail every tenth target, in one of twelve ways."""

    workers = "simulated"

    def __init__(self, machine) -> None:
        self.machine, self.give = machine, machine.give

    def never(self, planned) -> None:
        return None

    def take(self, planned):
        return self.machine.take(planned.demand)

    async def run(self, planned, share):
        import anyio
        from aoti_debug.sweep.row import Row
        from aoti_debug.vocabulary import Fingerprint

        await anyio.lowlevel.checkpoint()
        row = Row(index=planned.index, target=planned.name, outcome="ok", wall_s=1.0, memory=10**9)
        if planned.index % 10:
            return row
        kind = f"Error{planned.index // 10 % 12}"
        failure = Fingerprint("run", kind, "it failed with these words", ("embedding", "add"))
        failed = {"outcome": "failed", "category": "user_code", "confidence": "likely"}
        more = {"signature": failure, "summary": f"{kind}: it failed"}
        return row.model_copy(update={**failed, **more})


def simulate(targets: int, workers: int) -> None:
    import anyio
    from aoti_debug.run.executor import Machine, dispatch
    from aoti_debug.sweep.buckets import Groups
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
        took = clock(6)
        with contextlib.closing(Ledger.create(place / "sweep.jsonl", head)) as ledger:

            def on_row(row) -> None:
                if done.add(row.index):
                    ledger.add(row)
                    groups.add(row)

            anyio.run(dispatch, plan.targets(), simulated, on_row, anyio.Event())
        seconds = took()
        assert done.rows == plan.count
        again = Groups(rows_of(place / "sweep.jsonl"))
        assert len(again) == len(groups) == min(12, max(1, targets // 10))
    used = resource.getrusage(resource.RUSAGE_SELF)
    peak, cpu = used.ru_maxrss / 1024, used.ru_utime + used.ru_stime
    row = {
        "targets": plan.count,
        "workers": workers,
        "ms_a_target": round(1000 * seconds / plan.count, 3),
        "cpu_ms_a_target": round(1000 * cpu / plan.count, 3),
        "peak_mib": round(peak, 1),
    }
    print(json.dumps(row))


def scheduling(targets: int, workers: int) -> bool:
    """Simulate in processes of their own, whose peak memory is theirs alone."""
    found = []
    for count in (targets // 100, targets // 10, targets):
        done = again("--simulate", count, "--workers", workers, check=True)
        found.append(json.loads(done.stdout))
        wall, cpu, peak = (found[-1][k] for k in ("ms_a_target", "cpu_ms_a_target", "peak_mib"))
        print(
            f"{count:>8,} targets, {workers} simulated workers: "
            f"{wall:.3f} ms a target ({cpu:.3f} ms CPU), peak {peak:.1f} MiB"
        )
    growth = found[-1]["peak_mib"] / found[0]["peak_mib"]
    fine = found[-1]["ms_a_target"] <= LIMIT_MS and growth <= GROWTH
    print(
        f"{'good' if fine else 'BAD'}: at most {LIMIT_MS} ms; memory {growth:.2f} times, "
        f"at most {GROWTH}"
    )
    return fine


def throughput(scripts: int, python: str) -> None:
    env = {**os.environ, "AOTI_DEBUG_PYTHON": python}
    for jobs in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            for number in range(scripts):
                (place / f"s{number}.py").write_text("import time\ntime.sleep(2)\n")
            took, answer = swept(place, place / "out", jobs, 36_000, env)
            print(
                f"{jobs} at a time: {60 * scripts / took:5.1f} targets a minute "
                f"({answer['ok']} of {scripts} good; each sleeps 2 s)"
            )


GPU_SCRIPT = """\
import sys, time, torch
x = torch.randn(8192, 8192, device="cuda")
torch.cuda.synchronize()
began = time.time()
for _ in range(int(sys.argv[1])):
    y = x @ x
torch.cuda.synchronize()
with open(sys.argv[2], "a") as log:
    print(torch.cuda.get_device_properties(0).uuid, began, time.time(), file=log)
"""
EACH = 8  # targets side by side on a GPU: most compute while others start


def gpus(out: Path, python: str, targets: int, seconds: float, limit: float) -> None:
    """Sweep scripts with so many seconds of a GPU's work each: on one GPU, then on all that there
    are. The first on each GPU grow step by step, so that their ends, and the starts of the next,
    do not meet. Ends within `limit`."""
    ends = time.monotonic() + limit
    script = folder_at(out) / "busy.py"
    script.write_text(GPU_SCRIPT)
    products = calibrated(script, out / "calibration.log", python) * seconds
    query = ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"]
    every = ran(query, check=True).stdout.split()
    rounds = [n // len(every) + 1 for n in range(targets)]
    shares = [place / EACH if place <= EACH else 1.3 for place in rounds]
    sizes = [f"t{n:02} = {int(products * share)}" for n, share in enumerate(shares)]
    watch = ["nvidia-smi", "--query-gpu=timestamp,index,utilization.gpu"]
    watch += ["--format=csv,noheader,nounits", "-lms", "250"]
    found: list[Row] = []
    for used in dict.fromkeys((1, len(every))):
        log = out / f"work-{used}.log"
        manifest = out / f"gpus-{used}.toml"
        manifest.write_text(
            f"[defaults]\ngpu_memory = '6GiB'\ntimeout_s = 300\n"
            f"[matrix]\nn = {{{', '.join(sizes)}}}\n"
            f"[[target]]\nscript = 'busy.py'\nargs = ['{{n}}', '{log}']\n"
        )
        env = {**os.environ, "AOTI_DEBUG_PYTHON": python}
        env["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, range(used)))
        samples = out / f"utilisation-{used}.csv"
        with samples.open("w") as file, subprocess.Popen(watch, stdout=file) as watching:
            results, left = out / f"results-{used}", ends - time.monotonic()
            took, answer = swept(manifest, results, EACH * used, left, env)
            watching.terminate()
        if not log.exists():
            sys.exit(f"no target was run: {answer.get('reason')}, {answer.get('buckets')}")
        row = {"gpus": used, "targets": targets, "side_by_side": EACH * used}
        row |= {"seconds": round(took, 1), **picked(answer, "ok failed errors")}
        found.append({**row, **busy(log, samples, took)})
        print(json.dumps(found[-1]), flush=True)
    if len(found) > 1:
        for name in ("seconds", "seconds_of_work"):
            print(json.dumps({f"speedup_by_{name}": round(found[0][name] / found[1][name], 3)}))


def calibrated(script: Path, log: Path, python: str) -> float:
    """Return how many products a GPU computes in a second; torch's files are then in memory."""
    subprocess.run([python, str(script), "200", str(log)], check=True)
    _, began, ended = log.read_text().split()
    return 200 / (float(ended) - float(began))


def busy(log: Path, samples: Path, took: float) -> dict[str, object]:
    """Return which share of the time each GPU was at work: by what its targets say, from the first
    product to the last one and of the whole sweep, and by the driver's utilisation."""
    spans: dict[str, list[tuple[float, float]]] = {}
    for uuid, began, ended in map(str.split, log.read_text().splitlines()):
        spans.setdefault(uuid, []).append((float(began), float(ended)))
    first = min(began for each in spans.values() for began, _ in each)
    last = max(ended for each in spans.values() for _, ended in each)
    of_targets, of_sweep = [], []
    for each in spans.values():
        total, until = 0.0, 0.0
        for start, end in sorted(each):
            total += max(0.0, end - max(start, until))
            until = max(until, end)
        of_targets.append(round(total / (last - first), 3))
        of_sweep.append(round(total / took, 3))
    driver: dict[str, list[int]] = {}
    for line in samples.read_text().splitlines():
        when, index, share = line.split(", ")
        moment = time.mktime(time.strptime(when[:19], "%Y/%m/%d %H:%M:%S"))
        if first <= moment <= last and int(index) < len(spans):
            driver.setdefault(index, []).append(int(share))
    return {
        "seconds_of_work": round(last - first, 1),
        "targets_of_each": [len(each) for each in spans.values()],
        "busy_while_working": of_targets,
        "busy_of_whole_sweep": of_sweep,
        "utilisation": {n: round(sum(v) / len(v), 1) for n, v in driver.items()},
    }


def main() -> None:
    options = with_options(
        argparse.ArgumentParser(),
        targets=100_000,
        workers=64,
        scripts=8,
        python=PYTHON,
        simulate=(int, argparse.SUPPRESS),
        gpu={"type": Path, "metavar": "OUT"},
        gpu_targets=32,
        gpu_seconds=(5.5, "of a GPU's work, each"),
        limit=(3600.0, "seconds for --gpu"),
    ).parse_args()
    if options.simulate:
        simulate(options.simulate, options.workers)
    elif options.gpu:
        given = (options.python, options.gpu_targets, options.gpu_seconds, options.limit)
        gpus(options.gpu.absolute(), *given)
    else:
        fine = scheduling(options.targets, options.workers)
        throughput(options.scripts, options.python)
        sys.exit(not fine)


if __name__ == "__main__":
    main()
