"""Play updates that are right and wrong, add up memory, and try CUDA graphs, on real packages.

    python evals/benchmarks/weights.py OUT [--device cuda] [--jobs 8] [--only updates memory graphs]
                                        [--zoo MODEL ...]

Needs aoti_debug importable and torch for the device. Compiles side by side, then plays the updates
side by side; memory is measured one model at a time. The rows so far are always in OUT/rows.json.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from command import (
    Row,
    again,
    answer,
    clock,
    environment,
    folder_at,
    of_zoo,
    options_of,
    package_of,
    put_whole,
    ran,
    side_by_side,
)

ROOT = Path(__file__).resolve().parents[2]
SERVER = ROOT / "tests" / "targets" / "server.py"
LIMIT_S = 590
# package, weights, steps, threads; then what the answer must name: constants, step, words
RIGHT = (
    ("folding", "new", "full"),
    ("folding", "new", "inactive"),
    ("folding", "new", "load-full-inactive, swap, call"),
    ("folding", "new", "load-full-user_managed, call"),
    ("folding", "new", "load-full, load-full@old, call, load-full, call"),
    ("plain", "same", "full"),
    ("plain", "fits", "partial"),
)
WRONG = (
    ("plain", "new", "full", ("last.bias", "scale"), 1, "written into the code"),
    ("folding", "new", "load:low+first.bias, call", ("shift", "scale"), 1, "no step gave it"),
    ("folding", "new", "load-full-inactive, call", ("low", "shift"), 1, "no swap followed"),
    ("folding", "new", "load-full-inactive, swap, swap, call", ("low",), 3, "earlier update"),
    ("folding", "new", "load-inactive:low, swap, call", ("first.bias",), 2, "a null pointer"),
    (
        *("folding", "new", "load-full-user_managed@old, call, overwrite@new, call"),
        *(("low", "last.weight"), 3, "not computed again"),
    ),
    ("folding", "new", "load-full-user_managed, call, overwrite, call", ("low",), 3, "owner wrote"),
    ("folding", "half", "full", ("last.weight",), 1, "float16 for float32"),
    ("folding", "view", "full", ("first.bias",), 1, "256 bytes for 128"),
    ("folding", "columns", "full", ("last.weight",), 1, "strides [1, 4] for [32, 1]"),
    ("folding", "untied", "full", ("again.weight",), 1, "tied to first.weight"),
)
MODELS = ("mlp", "attention", "convolution", "embedding", "gigabyte")
FIT, NOT_FIT = ("mlp", "dynamic"), ("nonzero", "item", "cpu_input", "cpu_step")
GRAPHS = {**dict.fromkeys(FIT, "fit"), **dict.fromkeys(NOT_FIT, "not fit")}


def model_of(torch: Any, name: str, device: str) -> tuple[Any, tuple[Any, ...], Any]:
    """Return a module, the inputs of a call, and its dynamic shapes."""
    nn, F = torch.nn, torch.nn.functional
    rand = lambda *shape: torch.randn(*shape, device=device)  # noqa: E731
    big = device != "cpu"

    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.out = nn.Linear(512, 1536), nn.Linear(512, 512)

        def forward(self, x):
            q, k, v = (t.unflatten(-1, (8, 64)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
            scores = torch.softmax(q @ k.transpose(-1, -2) / 8.0, -1)
            return x + self.out((scores @ v).transpose(1, 2).flatten(-2))

    class Embedding(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.head = nn.Embedding(50_000, 256), nn.Linear(256, 1000)

        def forward(self, ids):
            return torch.log_softmax(self.head(F.gelu(self.table(ids))), -1)

    class Step(torch.nn.Module):
        def __init__(self, kind):
            super().__init__()
            self.kind, self.fc = kind, nn.Linear(64, 64)

        def forward(self, x, more=None):
            h = torch.relu(self.fc(x))
            if self.kind == "nonzero":
                return h, (h > 0.5).nonzero()
            if self.kind == "item":
                count = more.item()
                torch._check(count >= 1)
                torch._check(count <= 64)
                return h * 2 + torch.arange(count, device=x.device).sum()
            if self.kind == "cpu_input":
                return h * more.to(x.device)
            if self.kind == "cpu_step":
                return h + (more.cpu() * 2).sin().to(x.device)
            return h

    wide = 16_384 if big else 4096
    made: dict[str, Callable[[], tuple[Any, ...]]] = {
        "mlp": lambda: (
            nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)),
            rand(256, 1024),
        ),
        "attention": lambda: (Attention(), rand(4 if big else 2, 256, 512)),
        "convolution": lambda: (
            nn.Sequential(nn.Conv2d(3, 32, 3), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 64, 3)),
            rand(4, 3, 128, 128),
        ),
        "embedding": lambda: (Embedding(), torch.randint(0, 50_000, (8, 128), device=device)),
        "gigabyte": lambda: (nn.Linear(wide, wide), rand(64, wide)),
        "dynamic": lambda: (nn.Sequential(nn.Linear(64, 64), nn.ReLU()), rand(8, 64)),
        "nonzero": lambda: (Step("nonzero"), rand(8, 64)),
        "item": lambda: (Step("item"), rand(8, 64), torch.tensor(5, device=device)),
        "cpu_input": lambda: (Step("cpu_input"), rand(8, 64), torch.randn(64)),
        "cpu_step": lambda: (Step("cpu_step"), rand(8, 64), rand(64)),
    }
    module, *inputs = made[name]()
    rows = {0: torch.export.Dim("rows", min=2, max=64)}
    return module.to(device).eval(), tuple(inputs), (rows,) if name == "dynamic" else None


def compile_model(name: str, out: Path, device: str) -> None:
    import torch

    torch.manual_seed(0)
    inputs: tuple[Any, ...] = ()
    named: Row = {}
    if name in (*MODELS, *GRAPHS):
        module, inputs, shapes = model_of(torch, name, device)
    else:
        module, named, shapes = of_zoo(name, device)
    if name == "gigabyte":
        module.weight.data.uniform_(-0.01, 0.01)
    package_of(module, inputs, named, shapes, out / f"{name}.pt2")
    torch.save((inputs, named), out / f"{name}.inputs.pt")


def capture(name: str, out: Path) -> str:
    """Capture a call with torch alone, replay it with other values, hold it against a call."""
    import torch

    inputs, named = torch.load(out / f"{name}.inputs.pt", weights_only=True)
    load = torch._inductor.aoti_load_package
    model = load(str(out / f"{name}.pt2"), run_single_threaded=True)
    every = [*inputs, *named.values()]
    for _ in range(3):
        model(*inputs, **named)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            given = model(*inputs, **named)
    except RuntimeError:
        return "not fit"
    for one in every:
        one.mul_(0.5) if one.is_floating_point() else one.copy_(one.flip(-1))
    graph.replay()
    torch.cuda.synchronize()
    flat = torch.utils._pytree.tree_leaves
    kept = [one.clone() for one in flat(given) if torch.is_tensor(one)]
    right = [one for one in flat(model(*inputs, **named)) if torch.is_tensor(one)]
    close = all(torch.allclose(a, b, 1e-3, 1e-3) for a, b in zip(kept, right, strict=True))
    return "fit" if close else "not fit"


def held(name: str, out: Path) -> int:
    """Return the bytes that a second call holds at most, as torch's allocator tells."""
    import torch

    inputs, named = torch.load(out / f"{name}.inputs.pt", weights_only=True)
    model = torch._inductor.aoti_load_package(str(out / f"{name}.pt2"))
    model(*inputs, **named)
    torch.cuda.reset_peak_memory_stats()
    kept: int = torch.cuda.memory_allocated()
    model(*inputs, **named)
    torch.cuda.synchronize()
    most: int = torch.cuda.max_memory_allocated()
    return most - kept


class Bench:
    def __init__(self, out: Path, device: str) -> None:
        self.out, self.device = out, device
        self.rows: list[Row] = []

    def put(self, row: Row) -> None:
        self.rows.append(row)
        print(json.dumps({k: v for k, v in row.items() if k != "answer"})[:900], flush=True)
        put_whole(self.rows, self.out / "rows.json")

    def do(self, work: Callable[..., Row], tasks: list[tuple[Any, ...]], jobs: int) -> None:
        for _, row in side_by_side(work, tasks, jobs):
            self.put(row)

    def environment(self, home: str) -> dict[str, str]:
        """Return one with a home and a cache of its own: runs of one home take turns on a GPU."""
        work = folder_at(self.out / "homes" / home)
        paths = f"{ROOT / 'mcp_server'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
        return environment(work, TORCHINDUCTOR_COMPILE_THREADS="1", PYTHONPATH=paths)

    def how(self, home: str) -> Row:
        return {"cwd": self.out, "env": self.environment(home), "timeout": LIMIT_S}

    def answer(self, words: list[str], home: str) -> Row:
        found = answer(words, **self.how(home))
        shutil.rmtree(self.out / "homes" / home, ignore_errors=True)
        return found

    def compiled(self, name: str) -> Row:
        took, how = clock(), self.how(name)
        if name == "served":
            done = ran([sys.executable, str(SERVER), self.device], **how)
        else:
            done = again(self.out, "--device", self.device, "--compile", name, **how)
        error = "" if done.returncode == 0 else done.stderr[-600:]
        return {"compiled": name, "s": took(), "error": error}

    def played(self, home: str, package: str, new: str, steps: str, *more: str) -> Row:
        words = ["weights", f"{package}.pt2", f"{new}.pt", "--exported", "program.ep.pt2"]
        return self.answer([*words, *more, "--sequence", steps], home)

    def update(self, number: int, package: str, new: str, steps: str, *told: Any) -> Row:
        found = self.played(f"update-{number}", package, new, steps)
        row: Row = {"update": [package, new, steps], "verdict": found.get("update")}
        row["summary"] = found.get("summary") or found.get("error")
        right = found.get("update") == ("wrong" if told else "right")
        if told:
            names, step, reason = told
            rows = {one["constant"]: one for one in found.get("findings", [])}
            named = [rows.get(name, {"reason": "", "since": ""}) for name in names]
            right &= all(reason in one["reason"] for one in named)
            right &= all(one["since"].startswith(f"{step}: ") for one in named)
        return {**row, "right": right, "answer": found}

    def under_calls(self, steps: str, calm: bool) -> Row:
        found = self.played(f"race-{steps}", "folding", "new", steps, "--threads", "3")
        said = found.get("under_calls") or found.get("error")
        right = (found.get("update") == "right") == calm
        return {"under calls": steps, "right": right, "said": said, "answer": found}

    def memory(self, name: str) -> Row:
        words = ["memory", f"{name}.pt2", "--inputs", f"{name}.inputs.pt", "--runners", "2"]
        found = self.answer(words, f"memory-{name}")
        rows = {one["owner"]: one["bytes"] for one in found.get("rows", [])}
        peak = found.get("peak") or 1
        off = abs(rows.get("not accounted for", 0)) / peak
        shown = {name: round(size / 2**20, 1) for name, size in rows.items()}
        row = {"memory": name, "peak_mib": round(peak / 2**20, 1), "off": round(off, 4)}
        row |= {"mib": shown, "together": found.get("together"), "error": found.get("error")}
        if self.device != "cpu":
            call = "intermediate values of a call", "outputs", "workspaces of library calls"
            row["call"] = sum(rows.get(one, 0) for one in call)
            row["as torch tells"] = again(self.out, "--held", name, **self.how(name)).stdout.strip()
        return {**row, "answer": found}

    def captured(self, name: str) -> str:
        done = again(self.out, "--capture", name, **self.how(f"capture-{name}"))
        return done.stdout.strip() or f"no verdict: {done.stderr[-300:]}"

    def graphs(self, name: str, told: str = "") -> Row:
        words = ["graphs", f"{name}.pt2"]
        without = self.answer(words, f"still-{name}")
        tried = self.answer([*words, "--inputs", f"{name}.inputs.pt"], f"graph-{name}")
        read = without.get("graphs")
        told = told or self.captured(name)
        row = {"graphs": name, "capture": told, "read": read, "tried": tried.get("tried")}
        right = read in (told, "depends") and tried.get("graphs") == told
        said = without.get("summary"), tried.get("summary")
        return {**row, "right": right, "said": said, "answer": tried}


def main() -> int:
    options = options_of(
        __doc__,
        device="cpu",
        jobs=8,
        only=["updates", "memory", "graphs"],
        zoo=([], "models for memory and graphs"),
        compile=(str, argparse.SUPPRESS),
        capture=(str, argparse.SUPPRESS),
        held=(str, argparse.SUPPRESS),
    ).parse_args()
    out = folder_at(options.out)
    if options.compile:
        compile_model(options.compile, out, options.device)
        return 0
    if options.capture:
        print(capture(options.capture, out))
        return 0
    if options.held:
        print(held(options.held, out))
        return 0
    bench, jobs = Bench(out, options.device), options.jobs
    only = [one for one in options.only if one != "graphs" or options.device != "cpu"]
    needs = {"updates": ["served"], "memory": ["gigabyte", *MODELS[:-1]], "graphs": [*GRAPHS]}
    wanted = [name for what, names in needs.items() if what in only for name in names]
    every = dict.fromkeys((*wanted, *options.zoo))
    bench.do(bench.compiled, [(name,) for name in every], jobs)
    zoo = [(name,) for name in options.zoo]
    if "updates" in only:
        tasks = [(number, *one) for number, one in enumerate((*RIGHT, *WRONG))]
        bench.do(bench.update, tasks, jobs)
        bench.do(bench.under_calls, [("inactive", True), ("full", False)], 1)
    if "graphs" in only:
        bench.do(bench.graphs, [*GRAPHS.items(), *zoo], jobs)
    if "memory" in only:
        bench.do(bench.memory, [*((name,) for name in MODELS), *zoo], 1)
    judged = [row for row in bench.rows if "right" in row]
    print(f"{sum(row['right'] for row in judged)} of {len(judged)} right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
