"""Triage large packages: seconds, bytes kept, what could not be done, and whether it is judged.

    python evals/benchmarks/large.py OUT [--gb 0.1 1 8] [--kernels 2000] [--full] [--device cuda]

A model of so many bytes of weights, and one of so many kernels, are compiled; then a script that
loads the package and gives its third call a transposed input is triaged. --full does that once more
with a home on a file system (tmpfs, mounted by root) that has no room for the weights. Rows are
appended to OUT/large.jsonl.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from command import (
    PYTHON,
    Row,
    clock,
    environment,
    folder_at,
    options_of,
    picked,
    put,
    ran,
    triaged,
)

TARGET = """\
import sys
import torch

what, number, package, device, act = sys.argv[1:]

class Wide(torch.nn.Module):
    def __init__(self, gb):
        super().__init__()
        rows = int(float(gb) * 2**30) // 4096
        self.tables = torch.nn.ParameterList(
            torch.nn.Parameter(torch.zeros(min(2**17, rows - at), 1024), requires_grad=False)
            for at in range(0, rows, 2**17))

    def forward(self, x):
        for table in self.tables:
            x = x + (x[:, :8] * 2).sum(1, keepdim=True) + table[:1]
        return x.softmax(1) + x.cumsum(1)

class Deep(torch.nn.Module):
    def __init__(self, kernels):
        super().__init__()
        self.kernels = int(kernels)

    def forward(self, x):
        for number in range(self.kernels):
            x = (x * (1 + number / 1e4)).softmax(number % 2)
        return x

x = torch.randn((4, 1024) if what == "gb" else (16, 32), device=device)
if "compile" in act:
    model = {"gb": Wide, "kernels": Deep}[what](number).to(device).eval()
    with torch.no_grad():
        program = torch.export.export(model, (x,))
    torch._inductor.aoti_compile_and_package(program, package_path=package)
if "call" in act:
    model = torch._inductor.aoti_load_package(package)
    for number in range(1, 6):
        model(x.t().contiguous().t() if number == 3 else x)
    print("called", flush=True)
"""
PLAIN_CXX = """\
#!/bin/sh
for word; do
    shift
    case $word in -O3) word=-O0 ;; esac
    set -- "$@" "$word"
done
exec {} "$@"
"""


class Bench:
    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.script = folder / "large.py"
        self.script.write_text(TARGET, "utf-8")
        cxx = folder / "g++"
        cxx.write_text(PLAIN_CXX.format(os.environ.get("CXX", "g++")), "utf-8")
        cxx.chmod(0o755)
        level = {"AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL": "O0"}
        # Thousands of kernels at -O3 take hours.
        self.env = environment(folder, options.python, CXX=str(cxx), **level)

    def alone(self, words: list[str]) -> float:
        took, limit = clock(), 2 * self.options.seconds
        argv = [self.options.python, str(self.script), *words]
        done = ran(argv, cwd=self.folder, env=self.env, timeout=limit)
        if done.returncode != 0:
            print(done.stderr[-1500:], file=sys.stderr)
        return took()

    def row(self, what: str, number: str, act: str, home: Path | None = None) -> Row:
        """Compile where that is not the triage's own part, run the script alone, then triage."""
        package = self.folder / f"{what}-{number}.pt2"
        words = [what, number, str(package), self.options.device]
        row: Row = {what: number, "act": act, "home": "full" if home else "roomy"}
        if act == "call":
            if not package.exists():
                row["compile_s"] = self.alone([*words, "compile"])
            row["alone_s"] = self.alone([*words, act])
        env = {**self.env, **({"AOTI_DEBUG_HOME": str(home)} if home else {})}
        limit = self.options.seconds
        given = self.script, [*words, act], env, self.folder
        said, took = triaged(*given, "--timeout", str(limit), timeout=2 * limit)
        row["package_bytes"] = package.stat().st_size if package.exists() else None
        best = said.get("diagnosis") or {"summary": said.get("error")}
        row |= {"triage_s": took, **picked(best, "category summary source")}
        row["steps"] = [
            [s["name"], s["status"], (s.get("finding") or s.get("why") or "")[:160]]
            for s in said.get("steps", [])
        ]
        row["kept"] = kept(Path(env["AOTI_DEBUG_HOME"]) / "runs" / str(best.get("run")), package)
        return row


def kept(run: Path, package: Path) -> Row:
    """Return the bytes in a run's directory, and how many of them are the package's own blocks."""
    own = package.stat().st_ino if package.exists() else None
    found = {"bytes": 0, "linked": 0}
    for path in run.rglob("*") if run.is_dir() else ():
        if path.is_file() and not path.is_symlink():
            status = path.stat()
            found["linked" if status.st_ino == own else "bytes"] += status.st_blocks * 512
    return found


def main() -> None:
    options = options_of(
        __doc__,
        gb=["0.1", "1"],
        kernels=[],
        compiled=(["0.1"], "GB compiled under triage"),
        full=(False, "with a nearly full disk as well"),
        device="cpu",
        python=PYTHON,
        seconds=(300.0, "that one script may take"),
        work=(Path, "where the packages go; default: a new directory"),
    ).parse_args()
    folder_at(options.out)
    with tempfile.TemporaryDirectory(dir=options.work) as name:
        folder = Path(name)
        bench = Bench(options, folder)
        jobs: list[tuple[Any, ...]] = [
            *(("gb", gb, "call") for gb in options.gb),
            *(("gb", gb, "compile,call") for gb in options.compiled),
            *(("kernels", number, "call") for number in options.kernels),
        ]
        small = folder / "small"
        if options.full:
            small.mkdir()
            mount = ["mount", "-t", "tmpfs", "-o", "size=70m", "tmpfs", str(small)]
            if ran(mount).returncode == 0:
                jobs += [("gb", options.gb[0], act, small) for act in ("call", "compile,call")]
            else:
                print("no tmpfs can be mounted: the rows of a full disk are left out")
        try:
            for job in jobs:
                try:
                    row = bench.row(*job)
                except (OSError, subprocess.TimeoutExpired) as error:
                    row = {"job": job[:3], "error": f"{type(error).__name__}: {error}"[:300]}
                put(row, options.out / "large.jsonl")
        finally:
            if small.is_mount():
                subprocess.run(["umount", str(small)], check=False)


if __name__ == "__main__":
    main()
