"""Minify planted failures with both engines, side by side, and say what came of it.

    python evals/benchmarks/minify.py OUT [--engine own] [--limit 500] [--gpu 5] [ROW ...]
    python evals/benchmarks/minify.py OUT --table

A row of ROWS is a fault of evals/cases/to_minify.py or gpu_to_minify.py in a model of so many
layers. Own engine: the script is triaged, its run minified, and a kernel's own reproduction run
once more. OUT/minify.jsonl gets a line as each job ends, one that the time ended too; what is there
is not made again. --table prints the page's table.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from command import (
    AOTI,
    PYTHON,
    Row,
    clock,
    folder_at,
    markdown,
    options_of,
    put,
    ran,
    rows_in,
)

CASES = Path(__file__).parent.parent / "cases"
KEPT = """
    signature reproduced confirmed nodes nodes_before candidates ended also_seen error notes
    repro_kernel
""".split()
PROGRESS = re.compile(r"candidate (\d+) has \d+ nodes; best so far (\d+) of (\d+)")
PROOF_S = 110.0  # for what comes before and after a search
AT_END_S = 10.0  # for what a command does when it is told to end
BEGAN = time.monotonic()


@dataclass(frozen=True)
class Fault:
    """`minimum`: operators without which the failure is another one; `values`: nothing fails but
    the values; `share`: more than one search's time, in parts of it."""

    name: str
    case: str
    layers: int
    minimum: int
    values: bool = False
    share: float = 1.0

    @property
    def gpu(self) -> bool:
        return self.name.startswith("GPU")


# The longest first.
ROWS = (
    Fault("hang in a custom operator", "op_hang", 14, 1, share=2.0),
    Fault("GPU: NaN, 300 operators", "nan", 75, 1, values=True),
    Fault("GPU: bad fake kernel", "short", 14, 2, values=True),
    Fault("GPU: device assert, 300 operators", "assert", 75, 1),
    Fault("GPU: illegal access at run time", "illegal_run", 14, 1),
    Fault("GPU: illegal access at autotune", "autotune", 14, 1),
    Fault("fails only where sizes are free", "op_sizes", 14, 2, values=True, share=1.4),
    Fault("Llama: wrong values", "llama", 4, 1, values=True),
    Fault("BERT: index assert", "bert", 8, 1),
    Fault("index assert, 1,000 operators", "index", 250, 1),
    Fault("wrong values, 300 operators", "wrong", 75, 1, values=True),
    Fault("GPU: CPU input to a CUDA package", "device", 75, 1),
    Fault("GPU: device assert", "assert", 14, 1),
    Fault("C++ that does not compile", "cpp", 14, 1),
    Fault("segmentation fault in a kernel", "segfault", 14, 1),
    Fault("custom operator in C++ crashes", "op_cpp", 14, 1),
    Fault("custom operator in Python crashes", "op_crash", 14, 1),
    Fault("three operators in their order", "op_order", 14, 3),
    Fault("flaky custom operator", "op_flaky", 14, 1),
    Fault("lowering exception, 300 operators", "lowering", 75, 1),
)


def main() -> None:
    options = options_of(
        __doc__,
        "rows",
        "cases, or case:layers",
        engine={"choices": ("own", "torch")},
        limit=(500.0, "seconds for all"),
        search=(150.0, "seconds for a search"),
        stock=(180.0, "seconds for PyTorch's own"),
        gpu=(5, "how many use GPUs at once"),
        width=(13, "how many at once"),
        no_gpu=False,
        table=False,
    ).parse_intermixed_args()
    rows = rows_in(options.out / "minify.jsonl")
    if options.table:
        print(table(rows))
        return
    folder_at(options.out)
    done = {(line["name"], line["engine"]) for line in rows}
    engines = (options.engine,) if options.engine else ("own", "torch")
    wanted = chosen(options.rows, gpu=not options.no_gpu)
    jobs = [(row, engine) for engine in engines for row in wanted]
    Jobs(options).do([job for job in jobs if (job[0].name, job[1]) not in done])


def chosen(words: list[str], *, gpu: bool) -> list[Fault]:
    rows = [row for row in ROWS if gpu or not row.gpu]
    if not words:
        return rows
    return [r for r in rows if {r.case, f"{r.case}:{r.layers}", r.name}.intersection(words)]


class Jobs:
    """Jobs on a machine's cores; those that use its GPU have so many turns."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.rows = options, options.out / "minify.jsonl"
        self.kept = threading.Lock()
        self.cores = sorted(os.sched_getaffinity(0))
        self.next = 0
        self.number = {True: 0, False: 0}  # of jobs on a GPU, and of the others
        self.devices = max(1, len(smi("--list-gpus").splitlines()))
        self.root = Path(tempfile.mkdtemp(prefix="minify-"))

    def do(self, jobs: list[tuple[Fault, str]]) -> None:
        on_gpu = [job for job in jobs if job[0].gpu]
        rest = [job for job in jobs if not job[0].gpu]
        gpus = min(self.options.gpu, len(on_gpu))
        with (
            ThreadPoolExecutor(max(1, gpus)) as gpu,
            ThreadPoolExecutor(max(1, self.options.width - gpus)) as cpu,
        ):
            going = [gpu.submit(self.one, *job) for job in on_gpu]
            going += [cpu.submit(self.one, *job) for job in rest]
        for job in going:
            job.result()
        if on_gpu:
            put({"name": "the GPU after all that", "engine": "-", "well": well()}, self.rows)

    def one(self, row: Fault, engine: str) -> None:
        """Do one job on a window of the cores: as many candidates at once."""
        wide = min(3 if row.gpu else 2, len(self.cores))
        with self.kept:
            first, self.next = self.next, self.next + wide
            number = self.number[row.gpu] = self.number[row.gpu] + 1
        cores = {self.cores[(first + n) % len(self.cores)] for n in range(wide)}
        os.sched_setaffinity(0, cores)  # of this thread and what it starts
        if self.left() < 40:
            return
        took = clock()
        device = str(number % self.devices) if row.gpu else ""
        job = Job(row, self.home(engine), engine, device, self)
        found = job.own() if engine == "own" else job.stock()
        put({**asdict(row), "engine": engine, **found, "wall_s": took()}, self.rows)

    def left(self) -> float:
        return self.options.limit - (time.monotonic() - BEGAN) - AT_END_S

    def home(self, engine: str) -> Path:
        """Return a home for one job, for the lock of a GPU is the home's; the candidates' cache is
        shared, as it is between the runs of a user."""
        home = Path(tempfile.mkdtemp(dir=self.root))
        shared = folder_at(self.root / f"cache-{engine}")
        (folder_at(home / "minify") / "cache").symlink_to(shared)
        return home


@dataclass
class Job:
    row: Fault
    home: Path
    engine: str
    device: str  # CUDA_VISIBLE_DEVICES
    jobs: Jobs

    def own(self) -> Row:
        options, row = self.jobs.options, self.row
        took = clock()
        limit = "200" if row.case == "op_hang" else "300"
        for _ in range(3):  # a flaky failure may not come the first time
            answer, log = self.of_script("triage", "--timeout", limit)
            diagnosis = answer.get("diagnosis") or {}
            if row.case != "op_flaky" or diagnosis.get("category") != "no_fault":
                break
        found = {"triage_s": took(), "kernel": (diagnosis.get("kernel") or {}).get("name")}
        found["category"] = diagnosis.get("category")
        if "run" not in answer:
            return {**found, "error": str(answer.get("error"))[:600], "log": log[-600:]}
        what = [str(answer["run"]), *(["--compare"] if row.values else [])]
        budget = min(options.search * row.share, max(20.0, self.jobs.left() - PROOF_S))
        took = clock()
        answer, log = self.command("minify", *what, "--budget", str(budget))
        found |= {"minify_s": took(), **kept(answer)}
        found["alone"] = [
            f"{step.get('exit')}: {step.get('finding')}"
            for step in answer.get("steps", [])
            if step["name"].startswith("reproduction")
        ]
        steps = PROGRESS.findall(log)
        found["came_to"] = steps[-1] if steps else log[-600:]  # candidates, best so far, of
        found["log"] = [line[:120] for line in log.splitlines()[-60:]]
        forks = [json.loads(path.read_text()) for path in self.home.glob("minify/*/c/ready.json")]
        found["forks"] = [server.get("forks") for server in forks]
        found["repro"] = [path.read_text()[:3000] for path in self.home.glob("runs/*/repro.py")]
        found["kernels"] = [self.alone(path) for path in self.home.glob("runs/*/repro_kernel.py")]
        return found

    def alone(self, script: Path) -> Row:
        left = max(30.0, self.jobs.left())
        done = ran([PYTHON, str(script)], cwd=self.home, env=self.environment(), timeout=left)
        text = (done.stdout + done.stderr).strip().splitlines()
        return {"exit": done.returncode, "last": text[-1][:300] if text else ""}

    def stock(self) -> Row:
        """Run PyTorch's own; what it had written when its time ended does not count."""
        limit_s = self.jobs.options.stock
        answer, log = self.of_script("minify", "--engine", "torch", limit_s=limit_s)
        found = kept(answer)
        steps = answer.get("steps", [])
        dumps = [step["wall_s"] for step in steps if step["name"].startswith("dump")]
        searches = [step["wall_s"] for step in steps if step["name"] == "minifier search"]
        if searches:
            found["minify_s"] = round(dumps[-1] + searches[0], 1)
        told = [
            f"{step['name']}: {step.get('finding') or step.get('why')} ({step.get('wall_s')} s)"
            for step in steps
        ]
        found["steps"] = [text[:300] for text in told]
        found["log"] = log.splitlines()[-4:]
        return found

    def environment(self) -> dict[str, str]:
        cache = self.jobs.root / f"own-{self.engine}" if not self.row.gpu else self.home / "cache"
        return {
            **os.environ,
            "AOTI_DEBUG_HOME": str(self.home),
            "TORCHINDUCTOR_CACHE_DIR": str(cache),
            "CUDA_VISIBLE_DEVICES": self.device,
        }

    def of_script(self, command: str, *words: str, limit_s: float = 1e9) -> tuple[Row, str]:
        script = CASES / ("gpu_to_minify.py" if self.row.gpu else "to_minify.py")
        given = ("--", self.row.case, str(self.row.layers))
        return self.command(command, str(script), *words, more=given, limit_s=limit_s)

    def command(
        self, *words: str, more: tuple[str, ...] = (), limit_s: float = 1e9
    ) -> tuple[Row, str]:
        """Return a command's answer and what it said on the way; it is told to end in time."""
        limit_s = min(limit_s, self.jobs.left())
        if limit_s < 5:
            return {"error": "no time was left"}, ""
        argv, env, pipe = [*AOTI, *words, "--json", *more], self.environment(), subprocess.PIPE
        with subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True, env=env) as process:
            try:
                out, log = process.communicate(timeout=limit_s)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
                try:
                    out, log = process.communicate(timeout=AT_END_S)
                except subprocess.TimeoutExpired:
                    process.kill()
                    out, log = process.communicate()
                return {"error": f"ended after {limit_s:.0f} s"}, log
        try:
            return json.loads(out), log
        except ValueError:
            return {"error": f"no answer: {log[-300:]}"}, log


def kept(answer: Row) -> Row:
    return {key: answer[key] for key in KEPT if key in answer}


def smi(*words: str) -> str:
    program = shutil.which("nvidia-smi")
    return ran([program, *words]).stdout if program else ""


def well() -> str:
    """Say whether the GPU still computes, and what its driver counts of faults."""
    ask = "import torch; print(torch.arange(8.0, device='cuda').sum().item())"
    done = ran([sys.executable, "-c", ask])
    query = "--query-gpu=name,memory.used,ecc.errors.uncorrected.volatile.total"
    seen = smi(query, "--format=csv,noheader").strip()
    return f"28.0 wanted, {done.stdout.strip() or done.stderr[-200:]} computed; {seen}"


def table(found: list[Row]) -> str:
    """Return the page's table: a row a failure, own engine and PyTorch's own. The ratio is that of
    a minification of a triaged run to PyTorch's dump and search."""
    by = {(line["name"], line["engine"]): line for line in found}
    names = (
        "failure | kernel known | operators | left | minimum | candidates | alike alone | its "
        "kernel alone | triage s | minify s | PyTorch's own | its s"
    )
    rows, ratios, whole, small = [], [], 0, 0
    for row in ROWS:
        own, stock = by.get((row.name, "own"), {}), by.get((row.name, "torch"), {})
        nodes = own.get("nodes")
        whole += bool(own.get("reproduced"))
        small += nodes == row.minimum
        if own.get("reproduced") and stock.get("reproduced"):
            ratios.append(own["minify_s"] / stock["minify_s"])
        launched = "; ".join(f"exit {one['exit']}" for one in own.get("kernels") or [])
        cells = (
            row.name,
            "yes" if own.get("kernel") else "no",
            own.get("nodes_before"),
            nodes,
            row.minimum,
            own.get("candidates"),
            own.get("confirmed") or own.get("error"),
            launched or None,
            own.get("triage_s"),
            own.get("minify_s"),
            stock.get("confirmed") or stock.get("error"),
            stock.get("minify_s") or stock.get("wall_s"),
        )
        rows.append(["-" if cell is None else str(cell)[:120] for cell in cells])
    stocks = sum(bool(line.get("reproduced")) for line in found if line["engine"] == "torch")
    head = f"{whole} of {len(ROWS)} reproduced with the same signature, {small} at the planted "
    head += f"minimum; PyTorch's own: {stocks}."
    if ratios:
        ratio = statistics.median(ratios)
        head += f" Where both did, the median of time to its time is {ratio:.2f}."
    return "\n".join([head, "", *markdown(names, rows), ""])


if __name__ == "__main__":
    main()
