"""Minify planted failures with both engines, side by side, and say what came of it.

    python evals/benchmarks/minify.py OUT [--engine own] [--limit 500] [--gpu 5] [ROW ...]
    python evals/benchmarks/minify.py OUT --table

A row of ROWS is a fault of evals/cases/to_minify.py or gpu_to_minify.py in a model of so many
layers. Own engine: the script is triaged, its run is minified, and where that wrote a kernel's own
reproduction it is run once more. PyTorch's own: `minify --engine torch`. OUT/minify.jsonl gets a
line as each job ends, one that the time ended too; a line that is there already is not made again.
--table prints the page's table.
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

from command import options_of, put, rows_in

CASES = Path(__file__).parent.parent / "cases"
KEPT = tuple(
    """
    signature reproduced confirmed nodes nodes_before candidates ended also_seen error notes
    repro_kernel
    """.split()
)
PROGRESS = re.compile(r"candidate (\d+) has \d+ nodes; best so far (\d+) of (\d+)")
PROOF_S = 110.0  # for what comes before and after a search
AT_END_S = 10.0  # for what a command does when it is told to end
BEGAN = time.monotonic()


@dataclass(frozen=True)
class Row:
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
    Row("hang in a custom operator", "op_hang", 14, 1, share=2.0),
    Row("GPU: NaN, 300 operators", "nan", 75, 1, values=True),
    Row("GPU: bad fake kernel", "short", 14, 2, values=True),
    Row("GPU: device assert, 300 operators", "assert", 75, 1),
    Row("GPU: illegal access at run time", "illegal_run", 14, 1),
    Row("GPU: illegal access at autotune", "autotune", 14, 1),
    Row("fails only where sizes are free", "op_sizes", 14, 2, values=True, share=1.4),
    Row("Llama: wrong values", "llama", 4, 1, values=True),
    Row("BERT: index assert", "bert", 8, 1),
    Row("index assert, 1,000 operators", "index", 250, 1),
    Row("wrong values, 300 operators", "wrong", 75, 1, values=True),
    Row("GPU: CPU input to a CUDA package", "device", 75, 1),
    Row("GPU: device assert", "assert", 14, 1),
    Row("C++ that does not compile", "cpp", 14, 1),
    Row("segmentation fault in a kernel", "segfault", 14, 1),
    Row("custom operator in C++ crashes", "op_cpp", 14, 1),
    Row("custom operator in Python crashes", "op_crash", 14, 1),
    Row("three operators in their order", "op_order", 14, 3),
    Row("flaky custom operator", "op_flaky", 14, 1),
    Row("lowering exception, 300 operators", "lowering", 75, 1),
)


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("rows", nargs="*", help="cases, or case:layers")
    parser.add_argument("--engine", choices=("own", "torch"))
    parser.add_argument("--limit", type=float, default=500.0, help="seconds for all")
    parser.add_argument("--search", type=float, default=150.0, help="seconds for a search")
    parser.add_argument("--stock", type=float, default=180.0, help="seconds for PyTorch's own")
    parser.add_argument("--gpu", type=int, default=5, help="how many use GPUs at once")
    parser.add_argument("--width", type=int, default=13, help="how many at once")
    parser.add_argument("--no-gpu", action="store_true")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_intermixed_args()
    if options.table:
        print(table(rows_in(options.out / "minify.jsonl")))
        return
    options.out.mkdir(parents=True, exist_ok=True)
    done = {(line["name"], line["engine"]) for line in rows_in(options.out / "minify.jsonl")}
    engines = (options.engine,) if options.engine else ("own", "torch")
    wanted = chosen(options.rows, gpu=not options.no_gpu)
    jobs = [(row, engine) for engine in engines for row in wanted]
    Jobs(options).do([job for job in jobs if (job[0].name, job[1]) not in done])


def chosen(words: list[str], *, gpu: bool) -> list[Row]:
    found = []
    for row in ROWS:
        here = [word for word in words if word in (row.case, f"{row.case}:{row.layers}", row.name)]
        if (here or not words) and (gpu or not row.gpu):
            found.append(row)
    return found


class Jobs:
    """Jobs on a machine's cores; those that use its GPU have so many turns."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.rows = options, options.out / "minify.jsonl"
        self.kept = threading.Lock()
        self.cores = sorted(os.sched_getaffinity(0))
        self.next = 0
        self.number = {True: 0, False: 0}  # of jobs on a GPU, and of the others
        asked = shutil.which("nvidia-smi") and subprocess.run(
            ["nvidia-smi", "--list-gpus"], capture_output=True, text=True
        )
        self.devices = max(1, len(asked.stdout.splitlines()) if asked else 0)
        self.root = Path(tempfile.mkdtemp(prefix="minify-"))

    def do(self, jobs: list[tuple[Row, str]]) -> None:
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

    def one(self, row: Row, engine: str) -> None:
        """Do one job on a window of the cores: as many candidates at once."""
        wide = min(3 if row.gpu else 2, len(self.cores))
        with self.kept:
            first, self.next = self.next, self.next + wide
            number = self.number[row.gpu] = self.number[row.gpu] + 1
        cores = {self.cores[(first + n) % len(self.cores)] for n in range(wide)}
        os.sched_setaffinity(0, cores)  # of this thread and what it starts
        began = time.monotonic()
        if self.left() < 40:
            return
        device = str(number % self.devices) if row.gpu else ""
        job = Job(row, self.home(engine), engine, device, self)
        found = job.own() if engine == "own" else job.stock()
        wall = round(time.monotonic() - began, 1)
        put({**asdict(row), "engine": engine, **found, "wall_s": wall}, self.rows)

    def left(self) -> float:
        return self.options.limit - (time.monotonic() - BEGAN) - AT_END_S

    def home(self, engine: str) -> Path:
        """Return a home for one job, for the lock of a GPU is the home's; the candidates' cache is
        shared, as it is between the runs of a user."""
        home = Path(tempfile.mkdtemp(dir=self.root))
        (home / "minify").mkdir()
        shared = self.root / f"cache-{engine}"
        shared.mkdir(exist_ok=True)
        (home / "minify" / "cache").symlink_to(shared)
        return home


@dataclass
class Job:
    row: Row
    home: Path
    engine: str
    device: str  # CUDA_VISIBLE_DEVICES
    jobs: Jobs

    def own(self) -> dict:
        options, row = self.jobs.options, self.row
        began = time.monotonic()
        found: dict = {}
        limit = "200" if row.case == "op_hang" else "300"
        for _ in range(3):  # a flaky failure may not come the first time
            answer, log = self.command(
                "triage", *self.script(), "--timeout", limit, more=self.words()
            )
            diagnosis = answer.get("diagnosis") or {}
            if row.case != "op_flaky" or diagnosis.get("category") != "no_fault":
                break
        found["triage_s"] = round(time.monotonic() - began, 1)
        found["kernel"] = (diagnosis.get("kernel") or {}).get("name")
        found["category"] = diagnosis.get("category")
        if "run" not in answer:
            return {**found, "error": str(answer.get("error"))[:600], "log": log[-600:]}
        what = [str(answer["run"]), *(["--compare"] if row.values else [])]
        budget = min(options.search * row.share, max(20.0, self.jobs.left() - PROOF_S))
        began = time.monotonic()
        answer, log = self.command("minify", *what, "--budget", str(budget))
        found["minify_s"] = round(time.monotonic() - began, 1)
        found.update({key: answer[key] for key in KEPT if key in answer})
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

    def alone(self, script: Path) -> dict:
        """Run what launches a kernel alone; say how it ended."""
        ran = subprocess.run(
            [os.environ.get("AOTI_DEBUG_PYTHON", sys.executable), str(script)],
            cwd=self.home,
            capture_output=True,
            text=True,
            env=self.environment(),
            timeout=max(30.0, self.jobs.left()),
        )
        text = (ran.stdout + ran.stderr).strip().splitlines()
        return {"exit": ran.returncode, "last": text[-1][:300] if text else ""}

    def stock(self) -> dict:
        """Run PyTorch's own; what it had written when its time ended does not count."""
        answer, log = self.command(
            "minify",
            *self.script(),
            "--engine",
            "torch",
            more=self.words(),
            limit_s=self.jobs.options.stock,
        )
        found = {key: answer[key] for key in KEPT if key in answer}
        steps = answer.get("steps", [])
        dumps = [step["wall_s"] for step in steps if step["name"].startswith("dump")]
        searches = [step["wall_s"] for step in steps if step["name"] == "minifier search"]
        if searches:
            found["minify_s"] = round(dumps[-1] + searches[0], 1)
        found["steps"] = [
            f"{step['name']}: {step.get('finding') or step.get('why')} ({step.get('wall_s')} s)"[
                :300
            ]
            for step in steps
        ]
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

    def script(self) -> tuple[str]:
        return (str(CASES / ("gpu_to_minify.py" if self.row.gpu else "to_minify.py")),)

    def words(self) -> tuple[str, ...]:
        return ("--", self.row.case, str(self.row.layers))

    def command(
        self, *words: str, more: tuple[str, ...] = (), limit_s: float = 1e9
    ) -> tuple[dict, str]:
        """Return a command's answer and what it said on the way; it is told to end in time."""
        limit_s = min(limit_s, self.jobs.left())
        if limit_s < 5:
            return {"error": "no time was left"}, ""
        with subprocess.Popen(
            [sys.executable, "-m", "aoti_debug", *words, "--json", *more],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment(),
        ) as process:
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


def well() -> str:
    """Say whether the GPU still computes, and what its driver counts of faults."""
    ask = "import torch; print(torch.arange(8.0, device='cuda').sum().item())"
    ran = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True)
    query = [
        "--query-gpu=name,memory.used,ecc.errors.uncorrected.volatile.total",
        "--format=csv,noheader",
    ]
    smi = shutil.which("nvidia-smi")
    seen = subprocess.run([smi, *query], capture_output=True, text=True).stdout if smi else ""
    return f"28.0 wanted, {ran.stdout.strip() or ran.stderr[-200:]} computed; {seen.strip()}"


def table(found: list[dict]) -> str:
    """Return the page's table: a row a failure, own engine and PyTorch's own. The ratio is that of
    a minification of a triaged run to PyTorch's dump and search."""
    by = {(line["name"], line["engine"]): line for line in found}
    rows = [
        "| failure | kernel known | operators | left | minimum | candidates | alike alone | its "
        "kernel alone | triage s | minify s | PyTorch's own | its s |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    ratios, whole, small = [], 0, 0
    for row in ROWS:
        own, stock = by.get((row.name, "own"), {}), by.get((row.name, "torch"), {})
        nodes = own.get("nodes")
        whole += bool(own.get("reproduced"))
        small += nodes == row.minimum
        if own.get("reproduced") and stock.get("reproduced"):
            ratios.append(own["minify_s"] / stock["minify_s"])
        launched = "; ".join(f"exit {one['exit']}" for one in own.get("kernels") or [])
        cells = [
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
        ]
        texts = ("-" if cell is None else str(cell)[:120].replace("|", "/") for cell in cells)
        rows.append("| " + " | ".join(texts) + " |")
    stocks = sum(bool(line.get("reproduced")) for line in found if line["engine"] == "torch")
    head = (
        f"{whole} of {len(ROWS)} reproduced with the same signature, {small} at the planted "
        f"minimum; PyTorch's own: {stocks}."
    )
    if ratios:
        head += (
            f" Where both did, the median of time to its time is {statistics.median(ratios):.2f}."
        )
    return "\n".join([head, "", *rows, ""])


if __name__ == "__main__":
    main()
