"""Measure what `aoti-debug time` says of healthy and of slow models.

    python evals/benchmarks/time.py OUT [--device cpu] [--jobs 8] [--only CASE ...]
                                     [--zoo MODEL ...]

All models are compiled side by side; then each is measured alone, since times are the subject. A
row says how much of a call, a load and a compile has a name, and which reasons were given. A slow
model has one planted slowdown, whose reason must hold the words of the table; a healthy one must
have none. OUT/time.json holds the rows so far.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from command import ZOO, answer, of_zoo, options_of

HERE = Path(__file__).resolve().parent
LIMIT_S = 400


@dataclass(frozen=True)
class Case:
    """How a model is made; `words`: what a reason says of its slowdown, none for a healthy one."""

    build: Callable[[Any], tuple[Any, tuple[Any, ...]]]  # of torch: the model, its inputs
    words: str = ""
    script: bool = False  # the whole script is timed: its compile, too
    given: Callable[[Any, tuple[Any, ...]], tuple[Any, ...]] = lambda torch, inputs: inputs
    devices: tuple[str, ...] = ("cpu", "cuda")


def bert(torch: Any) -> tuple[Any, tuple[Any, ...]]:
    class Bert(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = torch.nn.Embedding(3000, 256)
            self.layers = torch.nn.ModuleList(
                torch.nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True, activation="gelu")
                for _ in range(4)
            )
            self.out = torch.nn.Linear(256, 10)

        def forward(self, ids):
            hidden = self.embed(ids)
            for layer in self.layers:
                hidden = layer(hidden)
            return self.out(hidden[:, 0])

    return Bert(), (torch.randint(0, 3000, (8, 128)),)


def perceptron(torch: Any) -> tuple[Any, tuple[Any, ...]]:
    sizes = (512, 1024, 1024, 512)
    layers = [
        part
        for into, out in pairwise(sizes)
        for part in (torch.nn.Linear(into, out), torch.nn.GELU(), torch.nn.LayerNorm(out))
    ]
    return torch.nn.Sequential(*layers), (torch.randn(512, 512),)


def plain(name: str, *inputs: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, tuple[Any, ...]]]:
    def build(torch: Any) -> tuple[Any, tuple[Any, ...]]:
        sys.path.insert(0, str(ZOO))
        import plain as models

        return getattr(models, name)(), tuple(give(torch) for give in inputs)

    return build


def wide(torch: Any) -> tuple[Any, tuple[Any, ...]]:
    class Wide(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("scale", torch.linspace(0.5, 2, 1024, dtype=torch.float64))

        def forward(self, x):
            y = (x * self.scale).tanh().softmax(-1)
            return (y * self.scale + 1).sigmoid().float()

    return Wide(), (torch.randn(2048, 1024),)


def slow_operator(torch: Any) -> tuple[Any, tuple[Any, ...]]:
    def sorted_twice(x):
        return x.sort(-1).values.flip(-1).sort(-1).values

    schema = {"mutates_args": (), "schema": "(Tensor x) -> Tensor"}
    operator = torch.library.custom_op("bench::sorted_twice", sorted_twice, **schema)
    operator.register_fake(torch.empty_like)

    class Uses(torch.nn.Module):
        def forward(self, x):
            return torch.ops.bench.sorted_twice(x * 2).relu() + 1

    return Uses(), (torch.randn(512, 512),)


def chain(torch: Any) -> tuple[Any, tuple[Any, ...]]:
    class Chain(torch.nn.Module):
        def forward(self, x):
            for number in range(8):
                x = x * (1 + number / 8) + x.clamp(-1, 1)
            return x

    return Chain(), (torch.randn(4096, 2048),)


def layout(torch: Any) -> tuple[Any, tuple[Any, ...]]:
    class Turns(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.filter = torch.nn.Conv2d(64, 64, 1, groups=64)

        def forward(self, x):
            for _ in range(2):
                x = self.filter(x.permute(0, 3, 1, 2).contiguous()).permute(0, 2, 3, 1)
            return x.contiguous()

    return Turns(), (torch.randn(16, 64, 64, 64),)


def reads_value(torch: Any) -> tuple[Any, tuple[Any, ...]]:
    class Reads(torch.nn.Module):
        def forward(self, x):
            for _ in range(6):
                count = (x > 0).sum().item()
                torch._check(count >= 0)
                x = (x @ x).tanh() + count
            return x

    return Reads(), (torch.randn(256, 256),)


def many(torch: Any) -> tuple[Any, tuple[Any, ...]]:
    class Many(torch.nn.Module):
        def forward(self, x):
            for number in range(200):  # a generated kernel and a product each
                x = (x @ x).tanh() * (1 + number / 1000)
            return x

    return Many(), (torch.randn(16, 16),)


def shifted(torch: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the inputs as views that begin one element into their memory."""
    moved = []
    for one in inputs:
        memory = torch.empty(one.numel() + 1, dtype=one.dtype, device=one.device)
        moved.append(memory[1:].view(one.shape).copy_(one))
    return tuple(moved)


CASES: dict[str, Case] = {
    "bert": Case(bert, script=True),
    "perceptron": Case(perceptron),
    "diffusion": Case(
        plain("DiffusionUNet", lambda t: t.randn(4, 3, 64, 64), lambda t: t.randint(0, 1000, (4,)))
    ),
    "autoencoder": Case(
        plain(
            "VariationalAutoencoder",
            lambda t: t.randn(4, 3, 64, 64),
            lambda t: t.randn(4, 4, 32, 32),
        )
    ),
    "float64": Case(wide, "float64"),
    "operator": Case(slow_operator, "proxy executor"),
    "chain": Case(chain),
    "layout": Case(layout, "memory layout"),
    "item": Case(reads_value, "waits for the GPU", devices=("cuda",)),
    "misaligned": Case(chain, "multiple of 64", given=shifted, devices=("cuda",)),
    "many": Case(many, "launches", devices=("cuda",)),
}
ZOO_CASE = Case(bert)  # a model of the zoo, where nothing is slow on purpose and little is tuned


def make(name: str, package: Path, device: str) -> None:
    """Export and compile a case, and keep its inputs beside the package."""
    import torch

    case = CASES.get(name, ZOO_CASE)
    torch.manual_seed(0)
    named: dict[str, Any] = {}
    inputs: tuple[Any, ...] = ()
    shapes = None
    if case is ZOO_CASE:
        model, named, shapes = of_zoo(name, device)
    else:
        model, inputs = case.build(torch)
        model = model.eval().to(device)
        inputs = tuple(one.to(device) for one in inputs)
    with torch.no_grad():
        program = torch.export.export(model, inputs, named, dynamic_shapes=shapes)
        torch._inductor.aoti_compile_and_package(program, package_path=str(package))
        torch.save((case.given(torch, inputs), named), package.with_suffix(".inputs"))
        if case.script:
            loaded = torch._inductor.aoti_load_package(str(package))
            for _ in range(3):
                loaded(*inputs)


def made(name: str, out: Path, device: str) -> str:
    """Compile a case in a process of its own; return what went wrong, if something did."""
    package = out / f"{name}.pt2"
    argv = [sys.executable, __file__, str(out), "--make", name, "--device", device]
    if package.exists() and package.with_suffix(".inputs").exists():
        return ""
    done = subprocess.run(
        argv, env=environment(), capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    return "" if done.returncode == 0 else done.stderr[-600:]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "INDUCTOR_PROVENANCE": "1", **more}


def timed(name: str, out: Path, device: str) -> dict[str, Any]:
    """Run `aoti-debug time` on a case; return its row."""
    case = CASES.get(name, ZOO_CASE)
    words = [str(out / f"{name}.pt2"), "--inputs", str(out / f"{name}.inputs")]
    words += ["--import", "bench_operators"] if case.words == "proxy executor" else []
    if case.script:
        words = [__file__, "--", str(out), "--make", name, "--device", device]
    began = time.perf_counter()
    env = environment(
        AOTI_DEBUG_HOME=str(out / "home"),
        AOTI_DEBUG_PYTHON=sys.executable,
        PYTHONPATH=os.pathsep.join(filter(None, [str(out), os.environ.get("PYTHONPATH")])),
    )
    said = answer(["time", *words], env, out, LIMIT_S)
    row: dict[str, Any] = {"case": name, "seconds": round(time.perf_counter() - began, 1)}
    if (found := said.get("time")) is None:
        return {**row, "error": said.get("error", json.dumps(said))[-600:]}
    reasons = [reason["what"] for reason in found.get("reasons", ())]
    right = any(case.words in one for one in reasons) if case.words else not reasons
    compiles, call = found.get("compiles", ()), found.get("call", {})
    return {
        **row,
        "right": None if case is ZOO_CASE else right,
        "call_s": call.get("seconds"),
        "accounted": call.get("accounted"),
        "overhead_s": call.get("overhead_s"),
        "launches": call.get("launches_count"),
        "load_s": found.get("load", {}).get("seconds"),
        "load_named": found.get("load", {}).get("named"),
        "compile_s": compiles[0]["seconds"] if compiles else None,
        "compile_named": compiles[0]["named"] if compiles else None,
        "reasons": found.get("reasons", []),
        "answer": said,
    }


OPERATORS = """\
import sys
sys.path.insert(0, {here!r})
import importlib.util
spec = importlib.util.spec_from_file_location("aoti_debug_bench_time", {file!r})
module = importlib.util.module_from_spec(spec)
sys.modules["aoti_debug_bench_time"] = module
spec.loader.exec_module(module)
import torch
module.slow_operator(torch)
"""


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--zoo", nargs="*", default=[], help="models of the zoo")
    parser.add_argument("--make")
    options = parser.parse_args()
    out = options.out.resolve()
    if options.make:
        make(options.make, out / f"{options.make}.pt2", options.device)
        return
    out.mkdir(parents=True, exist_ok=True)
    operators = OPERATORS.format(here=str(HERE), file=__file__)
    (out / "bench_operators.py").write_text(operators, "utf-8")
    names = [n for n, c in CASES.items() if options.device in c.devices]
    names = [n for n in names if options.only is None or n in options.only] + options.zoo
    with ThreadPoolExecutor(options.jobs) as pool:
        packages = [n for n in names if not CASES.get(n, ZOO_CASE).script]
        broken = dict(
            zip(packages, pool.map(lambda n: made(n, out, options.device), packages), strict=True)
        )
    rows = []
    for name in names:
        error = broken.get(name)
        row = {"case": name, "error": error} if error else timed(name, out, options.device)
        rows.append(row)
        (out / "time.json").write_text(json.dumps(rows, indent=1), "utf-8")
        print(line(row), flush=True)


JUDGED = {True: "right", False: "WRONG", None: "not judged"}


def line(row: Mapping[str, Any]) -> str:
    if row.get("error"):
        return f"{row['case']:12} failed: {str(row['error'])[-300:]}"
    parts = (
        f"{row['case']:12} {JUDGED[row['right']]}",
        f"call {1e3 * (row['call_s'] or 0):.3f} ms, accounted {row['accounted'] or 0:.1%}",
        f"seen +{1e3 * (row['overhead_s'] or 0):.3f} ms over {row['launches']} launches",
        f"load {row['load_s'] or 0:.2f} s, named {row['load_named'] or 0:.0%}",
    )
    compiled = (
        f"; compile {row['compile_s']:.1f} s, named {row['compile_named']:.0%}"
        if row["compile_s"]
        else ""
    )
    said = "".join(
        f"\n    {one['what']}: {one['share']:.0%}, gain {one.get('gain') or 0:.0%} "
        f"{one.get('tried') or ''}"
        for one in row["reasons"]
    )
    return "; ".join(parts) + compiled + f"; took {row['seconds']} s" + said


if __name__ == "__main__":
    main()
