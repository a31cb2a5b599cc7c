"""Run the checks of a captured call on models with and without wrong values, and judge them.

    python evals/benchmarks/gpu_checks.py OUT [--device cuda] [--jobs 8] [--limit-s 500]

Needs torch alone (with triton for the planted kernels). Each case compiles once, in a process of
its own, and its rows stand in OUT/checks.jsonl as they come: the case, what was to be expected,
each step's verdict and seconds, and how the process ended.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import importlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CHECKS = ROOT / "mcp_server" / "aoti_debug" / "probe" / "script.py"
# case -> verdicts that are right: of compare, repeats and poison; None: any. Where it may be
# "rounding", it may be the same too.
WANTED: dict[str, tuple[str | None, str | None, str | None]] = {
    "conv": ("agrees", "same", "same"),
    "conv_half": ("agrees", "same", "same"),
    "attention": ("agrees", "same", "same"),
    "fft": ("agrees", "same", "same"),
    "lstm": ("agrees", "same", "same"),
    "scatter_add": ("agrees", "rounding", "rounding"),
    "dropout": ("random", None, None),
    # What free memory holds, and what eager's own run of the racing kernel gives, is chance.
    "unwritten": (None, None, "differs"),
    "raced": (None, "differs", None),
    "outside": (None, None, None),
}

# Operators with Triton kernels that are wrong: one leaves elements unwritten, one races.
PLANTED = """
import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton

BLOCK = 256


@triton.jit
def leave_kernel(x, y, n, SIZE: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(y + at, tl.load(x + at, at < n) * 2, (at < n) & (at % 7 != 0))


@triton.jit
def race_kernel(x, y, n, SIZE: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(y + at % 64, tl.load(x + at, at < n), at < n)


@triton_op("planted::leave", mutates_args={})
def leave(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    wrap_triton(leave_kernel)[(triton.cdiv(x.numel(), BLOCK),)](x, y, x.numel(), SIZE=BLOCK)
    return y


@triton_op("planted::race", mutates_args={})
def race(x: torch.Tensor) -> torch.Tensor:
    y = x.new_empty(64)
    wrap_triton(race_kernel)[(triton.cdiv(x.numel(), BLOCK),)](x, y, x.numel(), SIZE=BLOCK)
    return y
"""


def model_of(torch: Any, case: str, device: str) -> tuple[Any, tuple[Any, ...]]:
    nn = torch.nn

    class Calls(nn.Module):  # type: ignore[misc]
        def __init__(self, call: Any) -> None:
            super().__init__()
            self.call = call

        def forward(self, *given: Any) -> Any:
            return self.call(*given)

    dtype = torch.float16 if case == "conv_half" else torch.float32
    x = torch.randn(8, 3, 64, 64, device=device, dtype=dtype)
    rows = torch.randn(100_000, device=device)
    ids = torch.randint(0, 50, (100_000,), device=device)
    if case.startswith("conv"):
        layers = [nn.Conv2d(3, 32, 3), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 32, 3)]
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten()).to(dtype), (x,)
    if case == "attention":
        layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
        return layer, (torch.randn(4, 32, 64, device=device),)
    if case == "lstm":
        lstm = nn.LSTM(16, 32, batch_first=True, bidirectional=True)
        return lstm, (torch.randn(4, 12, 16, device=device),)
    if case == "dropout":
        return Calls(lambda x: torch.nn.functional.dropout(x, 0.5, training=True)), (rows,)
    if case == "fft":
        return Calls(lambda x: torch.fft.irfft(torch.fft.rfft(x) * 0.5)), (rows,)
    if case == "scatter_add":
        add = Calls(lambda x, ids: torch.zeros(50, device=x.device).index_add(0, ids, x))
        return add, (rows, ids)
    if case == "outside":
        return nn.Embedding(50, 8), (ids[:100].clone(),)
    importlib.import_module("planted")  # registers the operators
    name = {"unwritten": "leave", "raced": "race"}[case]
    return Calls(lambda x: getattr(torch.ops.planted, name)(x) + 1), (rows,)


def build(case: str, device: str, folder: Path) -> None:
    """Compile one case and write what a captured call consists of."""
    import torch

    torch.manual_seed(0)
    (folder / "planted.py").write_text(PLANTED, "utf-8")
    sys.path.insert(0, str(folder))
    model, given = model_of(torch, case, device)
    model = model.to(device).eval()
    with torch.no_grad():
        exported = torch.export.export(model, given)
        torch._inductor.aoti_compile_and_package(exported, package_path=str(folder / "model.pt2"))
    torch.export.save(exported, folder / "exported.pt2")
    if case == "outside":
        given[0][7] = 5000
    described = [{"index": n, "shape": list(one.shape)} for n, one in enumerate(given)]
    call = {
        "format": 1,
        "flat": list(given),
        "inputs": described,
        "args": given,
        "kwargs": {},
        "grad": False,
    }
    torch.save(call, folder / "inputs.pt")


def run(case: str, device: str, out: Path, until: float) -> dict[str, Any]:
    folder = out / "work" / case
    folder.mkdir(parents=True, exist_ok=True)
    began = time.time()
    own = [sys.executable, str(Path(__file__).resolve()), str(out), "--device", device]
    compiled = ended([*own, "--build", case], folder, "build", until)
    row: dict[str, Any] = {"case": case, "compile": compiled, "compile_s": since(began)}
    if compiled != 0:
        return {**row, "said": (folder / "build.log").read_text(errors="replace")[-1500:]}
    files = ("package", "model.pt2"), ("exported", "exported.pt2"), ("inputs", "inputs.pt")
    argv = [sys.executable, str(CHECKS), "checks", "--report", str(folder / "report.json")]
    argv += [word for name, file in files for word in (f"--{name}", str(folder / file))]
    if case in ("unwritten", "raced"):
        argv += ["--import-path", str(folder), "--import", "planted"]
    began = time.time()
    status = ended(argv, folder, "checks", until)
    report = json.loads((folder / "report.json").read_text()) if status is not None else {}
    steps = {
        name: {k: v for k, v in step.items() if k not in ("inputs", "guards", "ranges")}
        for name, step in report.get("steps", {}).items()
    }
    verdicts = tuple(steps.get(n, {}).get("verdict") for n in ("compare", "repeats", "poison"))
    pairs = zip(WANTED[case], verdicts, strict=True)
    right = all(w in (None, got) or (w, got) == ("rounding", "same") for w, got in pairs)
    return {
        **row,
        "exit": status,
        "checks_s": since(began),
        "verdicts": verdicts,
        "right": right,
        "steps": steps,
    }


def since(began: float) -> float:
    return round(time.time() - began, 1)


def ended(argv: list[str], folder: Path, name: str, until: float) -> int | None:
    with (folder / f"{name}.log").open("wb") as log:
        try:
            left = max(1.0, until - time.time())
            done = subprocess.run(argv, stdout=log, stderr=subprocess.STDOUT, timeout=left)
        except subprocess.TimeoutExpired:
            return None
    return done.returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--limit-s", type=float, default=500)
    parser.add_argument("--only", nargs="*", default=list(WANTED))
    parser.add_argument("--build", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.build:
        build(options.build, options.device, options.out / "work" / options.build)
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    until = time.time() + options.limit_s
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = [pool.submit(run, c, options.device, options.out, until) for c in options.only]
        for future in concurrent.futures.as_completed(futures):
            row = future.result()
            wrong += not row.get("right", False)
            with (options.out / "checks.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(row, default=str) + "\n")
            print(
                row["case"],
                row.get("verdicts"),
                "right" if row.get("right") else "WRONG",
                row.get("compile_s"),
                row.get("checks_s"),
                flush=True,
            )
    return min(wrong, 1)


if __name__ == "__main__":
    os.environ.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "1")
    # Host code alone: what it launches is the same, and it compiles faster.
    os.environ.setdefault("AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL", "O0")
    sys.exit(main())
