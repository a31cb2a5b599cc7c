"""Look into finished packages with `values`: are they what PyTorch's printer saves, bit by bit,
and does it name the kernel in which a constant was changed after the compile?

    python evals/benchmarks/values.py OUT [--device cpu|cuda] [--jobs 8] [--planted 6] [--flips 20]

Needs torch alone (with triton and a GPU for cuda). Each model is compiled as it is and with the
printer that saves (mode 1); a package with a planted fault is a copy of the good one in whose
kernel's binary the bytes of one constant are others. The truth is the kernel in whose source the
constant stands. Prints a row a package and writes OUT/values.json.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import importlib
import io
import json
import os
import random
import re
import struct
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from command import options_of

HERE = Path(__file__).resolve()
SCRIPT = HERE.parents[2] / "mcp_server" / "aoti_debug" / "probe" / "script.py"
PRINTER = "aot_inductor.debug_intermediate_value_printer"
LAYERS = 12
OWN = "users_operator"  # a module: a custom operator on the CPU, a Triton kernel on a GPU
SOURCES = {
    "cpu": """\
import torch


@torch.library.custom_op("values::scaled", mutates_args=())
def scaled(x: torch.Tensor) -> torch.Tensor:
    return x * 3.25 + 1


@scaled.register_fake
def _(x):
    return torch.empty_like(x)
""",
    "cuda": """\
import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = at < n
    tl.store(out + at, tl.load(x + at, mask=keep) * 3.25 + 1.0, mask=keep)


@torch.library.triton_op("values::scaled", mutates_args={})
def scaled(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 256),)
    torch.library.wrap_triton(scale_kernel)[grid](x, out, x.numel(), BLOCK=256)
    return out
""",
}
AFTER = "after_launch_"  # of the names of files that the printer saves, in ./tmp
NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?:e-?\d+)?")


def constant(layer: int) -> float:
    """Return the factor of a layer, which no other has."""
    return 1.0125 + 0.0015 * layer


def models() -> dict[str, tuple[Any, tuple[Any, ...], Any]]:
    """Return the models by name: module, inputs, dynamic shapes."""
    torch: Any = importlib.import_module("torch")

    nn = torch.nn

    class Attention(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.into = nn.LayerNorm(64), nn.Linear(64, 192)
            self.out = nn.Linear(64, 64)

        def forward(self, x: Any) -> Any:
            q, k, v = self.into(self.norm(x)).chunk(3, -1)
            weights = torch.softmax(q @ k.transpose(-1, -2) / 8, -1)
            return x + self.out(weights @ v)

    class Cache(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("keys", torch.zeros(4, 32, 64))
            self.project = nn.Linear(64, 64)

        def forward(self, x: Any, at: Any) -> Any:
            self.keys.index_copy_(1, at, self.project(x))
            weights = torch.softmax(x @ self.keys.transpose(-1, -2), -1)
            return (weights @ self.keys).relu() + x

    class Layer(torch.nn.Module):
        def __init__(self, number: int) -> None:
            super().__init__()
            self.attention, self.number = Attention(), number
            self.norm, self.up, self.down = nn.LayerNorm(64), nn.Linear(64, 128), nn.Linear(128, 64)

        def forward(self, x: Any) -> Any:
            x = self.attention(x)
            inner = nn.functional.gelu(self.up(self.norm(x))) * constant(self.number)
            return x + self.down(inner)

    batch = {0: torch.export.Dim("batch", min=2, max=64)}
    conv = nn.Sequential(
        *(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(16, 16, 3, groups=4), nn.GELU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()),
        nn.Linear(16, 5),
    )
    found = {
        "dynamic": (Attention(), (torch.randn(6, 16, 64),), ({**batch},)),
        "cache": (Cache(), (torch.randn(4, 1, 64), torch.tensor([5])), None),
        "conv": (conv, (torch.randn(2, 3, 16, 16),), None),
        "deep": (nn.Sequential(*map(Layer, range(LAYERS))), (torch.randn(2, 16, 64),), None),
    }
    scaled = importlib.import_module(OWN).scaled

    class Scaled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(64, 64), nn.Linear(64, 64)

        def forward(self, x: Any) -> Any:
            return torch.softmax(self.second(scaled(self.first(x).relu())), -1)

    found["own"] = (Scaled(), (torch.randn(64, 64),), None)
    return found


def build(name: str, device: str, folder: Path, *, printed: bool) -> None:
    """Compile one model; save what it was exported to and the inputs of its call beside it."""
    torch: Any = importlib.import_module("torch")

    sys.path.insert(0, str(folder.parent))  # where the module is
    torch.manual_seed(0)
    module, inputs, shapes = models()[name]
    module, inputs = module.eval().to(device), tuple(one.to(device) for one in inputs)
    with torch.no_grad():
        program = torch.export.export(module, inputs, dynamic_shapes=shapes)
    folder.mkdir(parents=True, exist_ok=True)
    torch.export.save(program, folder / "model.ep.pt2")
    torch.save((inputs, {}), folder / "inputs.pt")
    began = time.monotonic()
    torch._inductor.aoti_compile_and_package(
        program,
        package_path=str(folder / "model.pt2"),
        inductor_configs={PRINTER: "1"} if printed else {},
    )
    seconds = round(time.monotonic() - began, 1)
    (folder / "compile.json").write_text(json.dumps({"seconds": seconds}), encoding="utf-8")


def digests(folder: Path) -> dict[str, str]:
    """Return the digests of what the printer saved after each kernel, by the file's name."""
    torch: Any = importlib.import_module("torch")

    sys.path[:0] = [str(SCRIPT.parents[1])]
    from probe.value_samples import digest

    files = sorted((folder / "tmp").glob(f"aoti_torch*{AFTER}*.pt"))
    files += sorted((folder / "tmp" / "aoti_torch").glob(f"*{AFTER}*.pt"))
    return {
        file.name.partition(AFTER)[2]: digest(torch.load(file, weights_only=True)) for file in files
    }


def python(*words: object, cwd: Path, log: str) -> float:
    """Run this interpreter; return the seconds. What it prints is kept."""
    env = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cwd / "cache")}
    began = time.monotonic()
    with (cwd / log).open("wb") as file:
        argv = [sys.executable, *map(str, words)]
        done = subprocess.run(argv, cwd=cwd, env=env, stdout=file, stderr=file, timeout=900)
    if done.returncode:
        tail = (cwd / log).read_text("utf-8", "replace")[-1500:]
        raise RuntimeError(f"{' '.join(argv[1:])} ended with {done.returncode}: {tail}")
    return time.monotonic() - began


def look(package: Path, good: Path, name: str, *more: object) -> dict[str, Any]:
    """Look at a package with the inputs of the good one; return the report and the seconds."""
    report = package.with_name(f"{name}.report.json")
    words = ("--package", package, "--inputs", good / "inputs.pt", "--report", report)
    more = (*more, *sources(package), "--import-path", good.parent, "--import", OWN)
    seconds = python(SCRIPT, "values", *words, *more, cwd=package.parent, log=f"{name}.log")
    found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return {**found, "wall_s": round(seconds, 1)}


def sources(package: Path) -> list[object]:
    """Write the operators of each launch, as the command does, where aoti_debug is installed."""
    try:
        from aoti_debug.examine.launches import launch_words
        from aoti_debug.package.inspect import inspect
    except ImportError:
        return []
    model = inspect(package, binaries=False).model(None)
    return [*launch_words(model, package.parent)]


def equal(out: Path, name: str) -> dict[str, Any]:
    """Hold what `values` sees against what the printer saves in another call of the package."""
    folder = out / f"{name}-printed"
    call = (
        f"import sys; sys.path.insert(0, {str(out)!r}); import torch, {OWN}; "
        "a, k = torch.load('inputs.pt', weights_only=True); "
        "torch._inductor.aoti_load_package('model.pt2')(*a, **k)"
    )
    python("-c", call, cwd=folder, log="call.log")
    python(HERE, folder, "--digests", cwd=folder, log="digests.json")
    saved = json.loads((folder / "digests.json").read_text(encoding="utf-8"))
    seen = look(folder / "model.pt2", folder, "values", "--exported", folder / "model.ep.pt2")
    plain = look(
        out / name / "model.pt2", out / name, "values", "--exported", folder / "model.ep.pt2"
    )
    compile_s = json.loads((out / name / "compile.json").read_text(encoding="utf-8"))["seconds"]
    row = {"package": name, "launches": len(plain["launches"]), "compile_s": compile_s}
    for which, report in (("same", seen), ("plain", plain)):
        row[which] = f"{sum(_seen(report, *one) for one in saved.items())} of {len(saved)}"
    explained = [a.get("agrees") for launch in plain["launches"] for a in launch["arguments"]]
    row |= {
        "verdict": plain["compared"]["verdict"],
        "explained": f"{explained.count(True)} of {len(explained) - explained.count(None)}",
        "call_s": plain["seconds"],
        "wall_s": plain["wall_s"],
    }
    return row


def _seen(report: dict[str, Any], file: str, wanted: str) -> bool:
    """Tell whether a launch of the kernel that a file is of read or wrote just these values."""
    return any(
        one.get(when, {}).get("digest") == wanted
        for launch in report["launches"]
        if file.startswith(f"{launch['kernel']}_")
        for one in launch["arguments"]
        for when in ("before", "after")
    )


def flipped(out: Path, seed: int) -> dict[str, Any]:
    """Turn one addition or product of one kernel's machine code (x86-64) into another operation in
    a copy of the package; is that kernel the first wrong? Drawn again where no result changes."""
    good, folder = out / "deep", out / f"deep-flip-{seed}"
    folder.mkdir(exist_ok=True)
    draw = random.Random(seed)
    for _ in range(8):
        with zipfile.ZipFile(good / "model.pt2") as source:
            member = next(n for n in source.namelist() if n.endswith(".so"))
            places = list(arithmetic(source.read(member)))
            kernel, place, code = draw.choice(places)
            with zipfile.ZipFile(folder / "model.pt2", "w") as target:
                for info in source.infolist():
                    data = bytearray(source.read(info))
                    if info.filename == member:
                        data[place] = FLIPS[code]
                    target.writestr(info, bytes(data))
        report = look(folder / "model.pt2", good, "values", "--exported", good / "model.ep.pt2")
        if report["compared"]["verdict"] == "differs":
            break
    first = report.get("first") or {}
    named = report["launches"][first["number"] - 1]["kernel"] if first else None
    row = {"package": folder.name, "truth": [kernel], "first": named, "right": named == kernel}
    return {**row, "number": first.get("number"), "then": first.get("then"), "flip": f"{code:x}"}


FLIPS = {0x58: 0x5C, 0x59: 0x58, 0x5C: 0x58}  # opcodes: + to -, * to +, - to +


def arithmetic(library: bytes) -> Iterator[tuple[str, int, int]]:
    """Yield kernel, place and opcode of instructions on packed floats: VEX, two or three bytes."""
    from elftools.elf.elffile import ELFFile

    elf = ELFFile(io.BytesIO(library))
    section: Any = elf.get_section_by_name(".dynsym")
    for symbol in section.iter_symbols():
        if symbol.name.startswith("cpp_") and symbol["st_size"]:
            begin = next(elf.address_offsets(symbol["st_value"]))
            code = library[begin : begin + symbol["st_size"]]
            for found in re.finditer(rb"\xc5[\x80-\xff]([\x58\x59\x5c])[\xc0-\xff]", code):
                yield symbol.name, begin + found.start(1), found[1][0]


def planted(out: Path, layer: int, *, with_program: bool) -> dict[str, Any]:
    """Change the constant of one layer in a copy of the package; is its kernel the first wrong?"""
    against = "program" if with_program else "package"
    good, folder = out / "deep", out / f"deep-{layer}-{against}"
    folder.mkdir(exist_ok=True)
    bad = folder / "model.pt2"
    kernels = changed(good / "model.pt2", bad, constant(layer), constant(layer) * 1.25)
    program, other = good / "model.ep.pt2", good / "model.pt2"
    more = ("--exported", program) if with_program else ("--against", other)
    report = look(bad, good, "values", *more)
    first = report.get("first") or {}
    named = report["launches"][first["number"] - 1]["kernel"] if first else None
    return {
        "package": folder.name,
        "against": against,
        "truth": kernels,
        "first": named,
        "number": first.get("number"),
        "then": first.get("then"),
        "right": named in kernels,
        "wall_s": report["wall_s"],
    }


def changed(package: Path, to: Path, old: float, new: float) -> list[str]:
    """Write a copy with one float32 constant changed in its binaries, and return the kernels whose
    source has it."""
    before, after = struct.pack("<f", old), struct.pack("<f", new)
    kernels: list[str] = []
    count = 0
    with zipfile.ZipFile(package) as source, zipfile.ZipFile(to, "w") as target:
        for info in source.infolist():
            data = source.read(info)
            if info.filename.endswith((".so", ".cubin")):
                count += data.count(before)
                data = data.replace(before, after)
            elif info.filename.endswith(".cpp"):
                kernels += _kernels_with(data.decode("utf-8", "replace"), old)
            target.writestr(info, data)
    if not count:
        raise RuntimeError(f"{old} stands in no binary of {package}")
    return sorted(set(kernels))


def _kernels_with(source: str, number: float) -> list[str]:
    """Return the kernels, C++ or Triton, in whose text a number stands."""
    found: list[str] = []
    name = ""
    for line in source.splitlines():
        if head := re.match(r'\s*(?:extern "C"\s+void\s+|def )(\w+)\(', line):
            name = head[1]
        if name and any(abs(float(one) - number) < 1e-9 for one in NUMBER.findall(line)):
            found.append(name)
    return found


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--planted", type=int, default=6, help="changed packages of each kind")
    parser.add_argument("--flips", type=int, default=0, help="of machine code: x86-64 alone")
    parser.add_argument("--build", help="used by itself")
    parser.add_argument("--printed", action="store_true", help="used by itself")
    parser.add_argument("--digests", action="store_true", help="used by itself")
    given = parser.parse_args()
    out = given.out.resolve()
    if given.digests:
        print(json.dumps(digests(out)))
        return
    if given.build:
        build(given.build, given.device, out, printed=given.printed)
        return
    out.mkdir(parents=True, exist_ok=True)
    rows = measured(out, given)
    (out / "values.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")


def measured(out: Path, given: argparse.Namespace) -> list[dict[str, Any]]:
    """Compile side by side, then look at one package after the other."""
    (out / f"{OWN}.py").write_text(SOURCES[given.device], encoding="utf-8")
    names = ["dynamic", "cache", "own", "conv", "deep"]
    wanted = [(name, printed) for name in ("deep", *names) for printed in (False, True)]
    wanted = [one for one in dict.fromkeys(wanted) if one != ("deep", True)]
    rows: list[dict[str, Any]] = []

    def compiled(one: tuple[str, bool]) -> dict[str, Any]:
        name, printed = one
        folder = out / (f"{name}-printed" if printed else name)
        folder.mkdir(exist_ok=True)
        if not (folder / "compile.json").exists():
            words = (HERE, folder, "--device", given.device, "--build", name)
            python(*words, *(["--printed"] if printed else []), cwd=folder, log="compile.log")
        return {"compiled": folder.name}

    def tried(what: str, function: Any, *args: Any, **more: Any) -> None:
        try:
            row = function(*args, **more)
        except Exception as error:  # the other rows are worth having
            row = {"package": what, "error": f"{type(error).__name__}: {error}"}
        rows.append(row)
        print(json.dumps(row), flush=True)

    layers = random.Random(7).sample(range(LAYERS), min(given.planted, LAYERS))
    kinds = [(layer, with_program) for layer in layers for with_program in (True, False)]
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(lambda one: tried(str(one), compiled, one), wanted))
        pool.submit(tried, "deep", healthy, out)
        for name in names[:-1]:
            pool.submit(tried, name, equal, out, name)
        for seed in range(given.flips):
            pool.submit(tried, f"flip {seed}", flipped, out, seed)
        for layer, with_program in kinds:
            pool.submit(tried, f"deep-{layer}", planted, out, layer, with_program=with_program)
    return rows


def healthy(out: Path) -> dict[str, Any]:
    """Look at the good package: nothing may be named."""
    folder = out / "deep"
    report = look(folder / "model.pt2", folder, "values", "--exported", folder / "model.ep.pt2")
    compile_s = json.loads((folder / "compile.json").read_text(encoding="utf-8"))["seconds"]
    return {
        "package": "deep",
        "launches": len(report["launches"]),
        "verdict": report["compared"]["verdict"],
        "first": report.get("first"),
        "compile_s": compile_s,
        "wall_s": report["wall_s"],
    }


if __name__ == "__main__":
    main()
