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
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from command import (
    ZOO,
    Row,
    again,
    answer,
    clock,
    folder_at,
    of_zoo,
    options_of,
    package_of,
    put_whole,
)

HERE = Path(__file__).resolve().parent
LIMIT_S = 400
Inputs = tuple[Any, ...]
Made = tuple[Any, Inputs]  # a model and its inputs


@dataclass(frozen=True)
class Case:
    """How a model is made; `words`: what a reason says of its slowdown, none for a healthy one."""

    build: Callable[[Any], Made]  # of torch
    words: str = ""
    script: bool = False  # the whole script is timed: its compile, too
    given: Callable[[Any, Inputs], Inputs] = lambda torch, inputs: inputs
    devices: tuple[str, ...] = ("cpu", "cuda")


def bert(torch: Any) -> Made:
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


def perceptron(torch: Any) -> Made:
    sizes = (512, 1024, 1024, 512)
    layers = [
        part
        for into, out in pairwise(sizes)
        for part in (torch.nn.Linear(into, out), torch.nn.GELU(), torch.nn.LayerNorm(out))
    ]
    return torch.nn.Sequential(*layers), (torch.randn(512, 512),)


def plain(name: str, *inputs: Callable[[Any], Any]) -> Callable[[Any], Made]:
    def build(torch: Any) -> Made:
        sys.path.insert(0, str(ZOO))
        import plain as models

        return getattr(models, name)(), tuple(give(torch) for give in inputs)

    return build


def images(torch: Any) -> Any:
    return torch.randn(4, 3, 64, 64)


def wide(torch: Any) -> Made:
    class Wide(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("scale", torch.linspace(0.5, 2, 1024, dtype=torch.float64))

        def forward(self, x):
            y = (x * self.scale).tanh().softmax(-1)
            return (y * self.scale + 1).sigmoid().float()

    return Wide(), (torch.randn(2048, 1024),)


def slow_operator(torch: Any) -> Made:
    def sorted_twice(x):
        return x.sort(-1).values.flip(-1).sort(-1).values

    schema = {"mutates_args": (), "schema": "(Tensor x) -> Tensor"}
    operator = torch.library.custom_op("bench::sorted_twice", sorted_twice, **schema)
    operator.register_fake(torch.empty_like)

    class Uses(torch.nn.Module):
        def forward(self, x):
            return torch.ops.bench.sorted_twice(x * 2).relu() + 1

    return Uses(), (torch.randn(512, 512),)


def chain(torch: Any) -> Made:
    class Chain(torch.nn.Module):
        def forward(self, x):
            for number in range(8):
                x = x * (1 + number / 8) + x.clamp(-1, 1)
            return x

    return Chain(), (torch.randn(4096, 2048),)


def layout(torch: Any) -> Made:
    class Turns(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.filter = torch.nn.Conv2d(64, 64, 1, groups=64)

        def forward(self, x):
            for _ in range(2):
                x = self.filter(x.permute(0, 3, 1, 2).contiguous()).permute(0, 2, 3, 1)
            return x.contiguous()

    return Turns(), (torch.randn(16, 64, 64, 64),)


def reads_value(torch: Any) -> Made:
    class Reads(torch.nn.Module):
        def forward(self, x):
            for _ in range(6):
                count = (x > 0).sum().item()
                torch._check(count >= 0)
                x = (x @ x).tanh() + count
            return x

    return Reads(), (torch.randn(256, 256),)


def many(torch: Any) -> Made:
    class Many(torch.nn.Module):
        def forward(self, x):
            for number in range(200):  # a generated kernel and a product each
                x = (x @ x).tanh() * (1 + number / 1000)
            return x

    return Many(), (torch.randn(16, 16),)


def shifted(torch: Any, inputs: Inputs) -> Inputs:
    """Return the inputs as views that begin one element into their memory."""
    moved = []
    for one in inputs:
        memory = torch.empty(one.numel() + 1, dtype=one.dtype, device=one.device)
        moved.append(memory[1:].view(one.shape).copy_(one))
    return tuple(moved)


CASES: dict[str, Case] = {
    "bert": Case(bert, script=True),
    "perceptron": Case(perceptron),
    "diffusion": Case(plain("DiffusionUNet", images, lambda t: t.randint(0, 1000, (4,)))),
    "autoencoder": Case(plain("VariationalAutoencoder", images, lambda t: t.randn(4, 4, 32, 32))),
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
    import torch

    case = CASES.get(name, ZOO_CASE)
    torch.manual_seed(0)
    named: Row = {}
    inputs: Inputs = ()
    shapes = None
    if case is ZOO_CASE:
        model, named, shapes = of_zoo(name, device)
    else:
        model, inputs = case.build(torch)
        model = model.eval().to(device)
        inputs = tuple(one.to(device) for one in inputs)
    package_of(model, inputs, named, shapes, package)
    torch.save((case.given(torch, inputs), named), package.with_suffix(".inputs"))
    if case.script:
        loaded = torch._inductor.aoti_load_package(str(package))
        with torch.no_grad():
            for _ in range(3):
                loaded(*inputs)


def made(name: str, out: Path, device: str) -> str:
    """Compile a case in a process of its own; return what went wrong, if something did."""
    if all((out / f"{name}.{kind}").exists() for kind in ("pt2", "inputs")):
        return ""
    done = again(out, "--make", name, "--device", device, env=environment(), timeout=LIMIT_S)
    return "" if done.returncode == 0 else done.stderr[-600:]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "INDUCTOR_PROVENANCE": "1", **more}


def timed(name: str, out: Path, device: str) -> Row:
    case = CASES.get(name, ZOO_CASE)
    words = [str(out / f"{name}.pt2"), "--inputs", str(out / f"{name}.inputs")]
    words += ["--import", "bench_operators"] if case.words == "proxy executor" else []
    if case.script:
        words = [__file__, "--", str(out), "--make", name, "--device", device]
    took = clock()
    env = environment(
        AOTI_DEBUG_HOME=str(out / "home"),
        AOTI_DEBUG_PYTHON=sys.executable,
        PYTHONPATH=os.pathsep.join(filter(None, [str(out), os.environ.get("PYTHONPATH")])),
    )
    said = answer(["time", *words], env, out, LIMIT_S)
    row: Row = {"case": name, "seconds": took()}
    if (found := said.get("time")) is None:
        return {**row, "error": said.get("error", json.dumps(said))[-600:]}
    reasons = [reason["what"] for reason in found.get("reasons", ())]
    right = any(case.words in one for one in reasons) if case.words else not reasons
    compiled: Row = next(iter(found.get("compiles", ())), {})
    call, load = found.get("call", {}), found.get("load", {})
    return {
        **row,
        "right": None if case is ZOO_CASE else right,
        "call_s": call.get("seconds"),
        "accounted": call.get("accounted"),
        "overhead_s": call.get("overhead_s"),
        "launches": call.get("launches_count"),
        "load_s": load.get("seconds"),
        "load_named": load.get("named"),
        "compile_s": compiled.get("seconds"),
        "compile_named": compiled.get("named"),
        "reasons": found.get("reasons", []),
        "answer": said,
    }


OPERATORS = """\
import runpy, sys, torch
sys.path.insert(0, {here!r})
runpy.run_path({file!r}, run_name="aoti_debug_bench_time")["slow_operator"](torch)
"""


def main() -> None:
    options = options_of(
        __doc__,
        device="cpu",
        jobs=8,
        only={"nargs": "*"},
        zoo=([], "models of the zoo"),
        make=str,
    ).parse_args()
    out = folder_at(options.out)
    if options.make:
        make(options.make, out / f"{options.make}.pt2", options.device)
        return
    operators = OPERATORS.format(here=str(HERE), file=__file__)
    (out / "bench_operators.py").write_text(operators, "utf-8")
    names = [n for n, c in CASES.items() if options.device in c.devices]
    names = [n for n in names if options.only is None or n in options.only] + options.zoo
    with ThreadPoolExecutor(options.jobs) as pool:
        packages = [n for n in names if not CASES.get(n, ZOO_CASE).script]
        errors = pool.map(lambda n: made(n, out, options.device), packages)
        broken = dict(zip(packages, errors, strict=True))
    rows: list[Row] = []
    for name in names:
        error = broken.get(name)
        rows.append({"case": name, "error": error} if error else timed(name, out, options.device))
        put_whole(rows, out / "time.json")
        print(line(rows[-1]), flush=True)


JUDGED = {True: "right", False: "WRONG", None: "not judged"}


def line(row: Row) -> str:
    if row.get("error"):
        return f"{row['case']:12} failed: {str(row['error'])[-300:]}"
    parts = [
        f"{row['case']:12} {JUDGED[row['right']]}",
        f"call {1e3 * (row['call_s'] or 0):.3f} ms, accounted {row['accounted'] or 0:.1%}",
        f"seen +{1e3 * (row['overhead_s'] or 0):.3f} ms over {row['launches']} launches",
        f"load {row['load_s'] or 0:.2f} s, named {row['load_named'] or 0:.0%}",
    ]
    if row["compile_s"]:
        parts.append(f"compile {row['compile_s']:.1f} s, named {row['compile_named']:.0%}")
    said = "".join(
        f"\n    {one['what']}: {one['share']:.0%}, gain {one.get('gain') or 0:.0%} "
        f"{one.get('tried') or ''}"
        for one in row["reasons"]
    )
    return "; ".join((*parts, f"took {row['seconds']} s")) + said


if __name__ == "__main__":
    main()
