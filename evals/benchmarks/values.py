"""Look into finished packages with `values`: are they what PyTorch's printer saves, bit by bit,
and does it name the kernel in which a constant was changed after the compile?

    python evals/benchmarks/values.py OUT [--device cpu|cuda] [--jobs 8] [--flips 20]
                                      [--models FOLDER] [--only NAME ...]

Needs torch alone (with triton and a GPU for cuda). Each model is compiled as it is and with the
printer that saves (mode 1). A package with a fault is a copy of the good one in which one addition
or product of a kernel's machine code is another, drawn for each seed. FOLDER has further models to
change: files that define `build()`, which returns module, inputs and dynamic shapes. Prints a row a
package, and adds it to OUT/values.jsonl.
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
import runpy
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from command import Row, folder_at, of_zoo, options_of, put

torch: Any = importlib.import_module("torch")
HERE = Path(__file__).resolve()
SCRIPT = HERE.parents[2] / "mcp_server" / "aoti_debug" / "probe" / "script.py"
PRINTER = "aot_inductor.debug_intermediate_value_printer"
LAYERS = 12
MANY = 1000  # layers of the model of 2,000 launches
ZOO = ("vae", "lstm_tagger", "deep_recommender", "fourier_operator")
OWN = "users_operator"  # a module: a custom operator, and on a GPU a Triton kernel
SOURCES = {
    "cpu": """\
import torch


@torch.library.custom_op("values::proxied", mutates_args=())
def proxied(x: torch.Tensor) -> torch.Tensor:
    return x * 3.25 + 1


@proxied.register_fake
def _(x):
    return torch.empty_like(x)
""",
    "cuda": """\
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
SHIM = re.compile("^aoti_torch_(cpu|cuda)_")
AFTER = "after_launch_"  # of the names of files that the printer saves, in ./tmp


def models() -> dict[str, tuple[Any, tuple[Any, ...], Any]]:
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

    class Many(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(16, 16) / 3)

        def forward(self, x: Any) -> Any:
            for _ in range(MANY):
                x = torch.tanh(x @ self.weight + 0.125)
            return x

    class Layer(torch.nn.Module):
        def __init__(self, number: int) -> None:
            super().__init__()
            self.attention, self.number = Attention(), number
            self.norm, self.up, self.down = nn.LayerNorm(64), nn.Linear(64, 128), nn.Linear(128, 64)

        def forward(self, x: Any) -> Any:
            x = self.attention(x)
            inner = nn.functional.gelu(self.up(self.norm(x))) * (1 + self.number / 64)
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
        "many": (Many(), (torch.randn(4, 16),), None),
    }
    own = importlib.import_module(OWN)

    class Scaled(torch.nn.Module):
        def __init__(self, scaled: Any) -> None:
            super().__init__()
            self.first, self.second, self.scaled = nn.Linear(64, 64), nn.Linear(64, 64), scaled

        def forward(self, x: Any) -> Any:
            return torch.softmax(self.second(self.scaled(self.first(x).relu())), -1)

    found["own"] = (Scaled(own.proxied), (torch.randn(64, 64),), None)
    if hasattr(own, "scaled"):
        found["triton"] = (Scaled(own.scaled), (torch.randn(64, 64),), None)
        found["streams"] = (Attention(), (torch.randn(6, 16, 64),), None)
    return found


def build(name: str, device: str, folder: Path, *, printed: bool) -> None:
    """Compile one model; save what it was exported to and the inputs of its call beside it."""
    sys.path.insert(0, str(folder.parent))  # where the module is
    torch.manual_seed(0)
    given: Row = {}
    if name in ZOO:
        (module, given, shapes), inputs = of_zoo(name, device), ()
    elif name.endswith(".py"):
        module, inputs, shapes = runpy.run_path(name)["build"]()
    else:
        module, inputs, shapes = models()[name]
    module = module.eval().to(device)
    inputs = torch.utils._pytree.tree_map_only(torch.Tensor, lambda one: one.to(device), inputs)
    with torch.no_grad():
        program = torch.export.export(module, inputs, given, dynamic_shapes=shapes)
    torch.export.save(program, folder / "model.ep.pt2")
    torch.save((inputs, given), folder / "inputs.pt")
    began = time.monotonic()
    torch._inductor.aoti_compile_and_package(
        program,
        package_path=str(folder / "model.pt2"),
        inductor_configs={PRINTER: "1"} if printed else None,
    )
    seconds = round(time.monotonic() - began, 1)
    (folder / "compile.json").write_text(json.dumps({"seconds": seconds}), encoding="utf-8")


def digests(folder: Path) -> dict[str, str]:
    sys.path[:0] = [str(SCRIPT.parents[1])]
    from probe.value_samples import digest

    files = sorted((folder / "tmp").glob(f"aoti_torch*{AFTER}*.pt"))
    files += sorted((folder / "tmp" / "aoti_torch").glob(f"*{AFTER}*.pt"))
    return {
        file.name.partition(AFTER)[2]: digest(torch.load(file, weights_only=True)) for file in files
    }


def python(*words: object, cwd: Path, log: str) -> float:
    """Run this interpreter; return the seconds. What it prints is kept."""
    env = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cwd / f"{log}.cache")}
    began = time.monotonic()
    with (cwd / log).open("wb") as file:
        argv = [sys.executable, *map(str, words)]
        done = subprocess.run(argv, cwd=cwd, env=env, stdout=file, stderr=file, timeout=900)
    if done.returncode:
        tail = (cwd / log).read_text("utf-8", "replace")[-1500:]
        raise RuntimeError(f"{' '.join(argv[1:])} ended with {done.returncode}: {tail}")
    return time.monotonic() - began


def read(path: Path) -> Row:
    return json.loads(path.read_text("utf-8"))


def look(package: Path, good: Path, name: str, *more: object) -> Row:
    """Look at a package with the inputs of the good one; return the report and the seconds."""
    report = package.with_name(f"{name}.report.json")
    words = ("--package", package, "--inputs", good / "inputs.pt", "--report", report)
    more = (*more, *sources(package), "--import-path", good.parent, "--import", OWN)
    seconds = python(SCRIPT, "values", *words, *more, cwd=package.parent, log=f"{name}.log")
    found = read(report)
    made = [one for one in (package.parent / f"{name}.log.cache").rglob("*") if one.is_file()]
    return {**found, "wall_s": round(seconds, 1), "compiled": len(made)}


def sources(package: Path) -> list[object]:
    """Write the operators of each launch, as the command does, where aoti_debug is installed."""
    try:
        from aoti_debug.examine.launches import launch_words
        from aoti_debug.package.inspect import inspect
    except ImportError:
        return []
    model = inspect(package, binaries=False).model(None)
    return [*launch_words(model, package.parent)]


CALL = f"""\
import sys, time
sys.path.insert(0, sys.argv[1])
import torch, torch._inductor.package, {OWN}

a, k = torch.load("inputs.pt", weights_only=True)
torch._inductor.cpu_vec_isa.valid_vec_isa_list()  # asked once, of a compiler
began = time.perf_counter()
model = torch._inductor.aoti_load_package("model.pt2")
streams = [torch.cuda.Stream() for _ in "ab"] if "streams" in sys.argv[2] else [None]
for stream in streams:
    with torch.cuda.stream(stream):
        model(*a, **k)
if torch.cuda.is_available():
    torch.cuda.synchronize()
print("seconds", time.perf_counter() - began, flush=True)
"""


def equal(out: Path, name: str) -> Row:
    """Hold what `values` sees against what the printer saves in another call of the package."""
    folder, own = out / f"{name}-printed", out / name
    program, taken, walls = own / "model.ep.pt2", [], []
    for where in (folder, own):
        walls.append(python("-c", CALL, out, name, cwd=where, log="call.log"))
        said = (where / "call.log").read_text("utf-8")  # beside the printer's lines
        taken.append(float(re.findall(r"seconds ([\d.]+)", said)[-1]))
    alone = look(own / "model.pt2", own, "alone")
    python(HERE, folder, "--digests", cwd=folder, log="digests.json")
    saved = read(folder / "digests.json")
    seen = look(folder / "model.pt2", folder, "values")
    plain = look(own / "model.pt2", own, "values", "--exported", program)
    compile_s = read(own / "compile.json")["seconds"]
    row = {"package": name, "launches": len(plain["launches"]), "compile_s": compile_s}
    for which, report in (("same", seen), ("plain", plain)):
        row[which] = f"{sum(_seen(report, *one) for one in saved.items())} of {len(saved)}"
    explained = [a.get("agrees") for launch in plain["launches"] for a in launch["arguments"]]
    row |= {
        "verdict": plain["compared"]["verdict"],
        "explained": f"{explained.count(True)} of {len(explained) - explained.count(None)}",
        "compiled": plain["compiled"],
        "bare_s": round(taken[1], 3),
        "call_s": alone["seconds"],
        "bare_wall_s": round(walls[1], 1),
        "wall_s": alone["wall_s"],
        "compared_wall_s": plain["wall_s"],
    }
    return row


def _seen(report: Row, file: str, wanted: str) -> bool:
    """Tell whether a launch of the kernel that a file is of read or wrote just these values."""
    file = re.sub(r"^at::_ops::(\w+)::call_", r"\1_", file)
    return any(
        one.get(when, {}).get("digest") == wanted
        for launch in report["launches"]
        if SHIM.sub("", file).startswith(SHIM.sub("", launch["kernel"]) + "_")
        for one in launch["arguments"]
        for when in ("before", "after")
    )


def flipped(out: Path, good: Path, seed: int) -> Row:
    """Turn one addition or product of one kernel's machine code into another in a copy of the
    package; is that kernel the first wrong? Drawn again where no result changes."""
    folder = folder_at(out / f"{good.name}-flip-{seed}")
    draw = random.Random(f"{good.name} {seed}")
    more = ("--exported", good / "model.ep.pt2") if seed % 2 else ("--against", good / "model.pt2")
    with zipfile.ZipFile(good / "model.pt2") as source:
        members = {info.filename: source.read(info) for info in source.infolist()}
    places = [
        (member, *one)
        for member, data in members.items()
        if member.endswith((".so", ".cubin"))
        for one in arithmetic(data)
    ]
    by_kernel = sorted({kernel for _, kernel, *_ in places})
    for tried in range(12):  # noqa: B007
        kernel = draw.choice(by_kernel)
        member, _, place, bits = draw.choice([one for one in places if one[1] == kernel])
        with zipfile.ZipFile(folder / "model.pt2", "w") as target:
            for name, data in members.items():
                turned = bytearray(data)
                if name == member:
                    turned[place] ^= bits
                target.writestr(name, bytes(turned))
        report = look(folder / "model.pt2", good, "values", *more)
        if report["compared"]["verdict"] == "differs":
            break
    first = report.get("first") or {}
    named = report["launches"][first["number"] - 1]["kernel"] if first else None
    row = {"package": folder.name, "launches": len(report["launches"]), "truth": [kernel]}
    row |= {"against": more[0][2:], "first": named, "right": named == kernel, "draws": tried + 1}
    return {**row, "number": first.get("number"), "then": first.get("then")}


FLIPS = {0x58: 4, 0x59: 1, 0x5C: 4}  # bits of x86-64's opcodes: + to -, * to +, - to +
# Before them and two registers: VEX of two or three bytes, EVEX of four, of packed float32.
PACKED = re.compile(
    rb"(?:\xc5[\x80-\xff]|\xc4[\x01\x21\x41\x61\x81\xa1\xc1\xe1][\x00-\x7f]"
    rb"|\x62[\x01\x11\x21\x31\x41\x51\x61\x71\x81\x91\xa1\xb1\xc1\xd1\xe1\xf1][\x04-\x7f].)"
    rb"([\x58\x59\x5c])[\xc0-\xff]",
    re.DOTALL,
)
ON_GPU = (0x20, 0x21)  # FMUL and FADD of registers of sm_70 to sm_90, their sign in bit 72


def arithmetic(binary: bytes) -> Iterator[tuple[str, int, int]]:
    """Yield kernel, place and the bits to turn there, of instructions on float32: in a library
    packed ones, in a cubin of 16 bytes."""
    from elftools.elf.elffile import ELFFile

    elf = ELFFile(io.BytesIO(binary))
    for code in elf.iter_sections():
        name, begin = code.name.removeprefix(".text."), code["sh_offset"]
        if name != code.name:
            for at in range(begin, begin + code["sh_size"], 16):
                if binary[at + 1] & 0xF == 2 and binary[at] in ON_GPU:
                    yield name, at + 9, 1
    symbols: Any = elf.get_section_by_name(".dynsym")
    for symbol in symbols.iter_symbols() if symbols is not None else ():
        if symbol.name.startswith("cpp_") and symbol["st_size"]:
            begin = next(elf.address_offsets(symbol["st_value"]))
            end = begin + symbol["st_size"]
            for found in PACKED.finditer(binary[begin:end]):
                yield symbol.name, begin + found.start(1), FLIPS[found[1][0]]


def main() -> None:
    given = options_of(
        __doc__,
        device={"default": "cpu", "choices": ("cpu", "cuda")},
        jobs=8,
        flips=(0, "changed instructions of each model"),
        seed=(0, "of the first of them"),
        models=(Path, "folder of further models, for flips"),
        only={"nargs": "*"},
        build=(str, argparse.SUPPRESS),
        printed=(False, argparse.SUPPRESS),
        digests=(False, argparse.SUPPRESS),
    ).parse_args()
    out = folder_at(given.out)
    if given.digests:
        print(json.dumps(digests(out)))
    elif given.build:
        build(given.build, given.device, out, printed=given.printed)
    else:
        measured(out, given)


def measured(out: Path, given: argparse.Namespace) -> None:
    """Compile side by side, then look at one package after the other."""
    gpu = given.device == "cuda"
    source = "\n".join(SOURCES.values()) if gpu else SOURCES["cpu"]
    (out / f"{OWN}.py").write_text(source, encoding="utf-8")
    names = ["many", "deep", "dynamic", "cache", "conv", "own", *ZOO]
    names += ["triton", "streams"] if gpu else []
    names = names if given.only is None else given.only
    files = sorted(given.models.glob("*.py")) if given.models else []
    further = {one.stem: str(one.resolve()) for one in files}
    wanted = [(name, printed) for name in names for printed in (False, True)]
    changed = [*further] or ["deep"][: given.flips]
    wanted += [(name, False) for name in changed]
    wanted = list(dict.fromkeys(wanted))

    def compiled(name: str, printed: bool) -> Row:
        folder = folder_at(out / (f"{name}-printed" if printed else name))
        if not (folder / "compile.json").exists():
            words = (HERE, folder, "--device", given.device, "--build", further.get(name, name))
            python(*words, *(["--printed"] if printed else []), cwd=folder, log="compile.log")
        return {"compiled": folder.name}

    def tried(what: str, function: Any, *args: Any, **more: Any) -> None:
        try:
            row = function(*args, **more)
        except Exception as error:  # the other rows are worth having
            row = {"package": what, "error": f"{type(error).__name__}: {error}"}
        put(row, out / "values.jsonl")

    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(lambda one: tried(str(one), compiled, *one), wanted))
        for name in changed:
            pool.submit(tried, name, healthy, out / name)
        for name in names:
            pool.submit(tried, name, equal, out, name)
        for seed in range(given.seed, given.seed + given.flips):
            for name in changed:
                pool.submit(tried, f"{name}, flip {seed}", flipped, out, out / name, seed)


def healthy(folder: Path) -> Row:
    """Look at the good package: nothing may be named."""
    report = look(folder / "model.pt2", folder, "values", "--exported", folder / "model.ep.pt2")
    compile_s = read(folder / "compile.json")["seconds"]
    row = {"package": folder.name, "launches": len(report["launches"])}
    row |= {"verdict": report["compared"]["verdict"], "first": report.get("first")}
    return {**row, "compile_s": compile_s, "wall_s": report["wall_s"]}


if __name__ == "__main__":
    main()
