"""Triage programs one of whose calls returns NaN or Inf, their healthy twins, and programs that
return them on purpose.

    python evals/benchmarks/outputs.py OUT [--device cuda] [--jobs 8] [--only NAME ...]
    python evals/benchmarks/outputs.py OUT --scripts FOLDER

Rows stand in OUT/outputs.jsonl as they come. `--scripts` triages the Python files of a folder
instead, each with `--device DEVICE`. Where the folder has a truth.json (file's stem -> `calls`,
`operator`, `line`), they are judged by it; a file that it does not name must have no fault.
"""

from __future__ import annotations

import concurrent.futures
import json
import re
from pathlib import Path

from command import Row, environment, options_of, put, triaged

# name -> body of forward(x, y), the operator to blame, what makes a good x and a bad one
MODELS = {
    "divided": ("return y / x.mean(-1, keepdim=True)  # here", "div", "+ 3", "* 0"),
    "logarithm": ("return torch.log(x.sum(-1)), y + 1  # here", "log", "+ 3", "- 9"),
    "root": ("z = torch.sqrt(x)  # here\n        return z.sum(-1), y, x + 1", "sqrt", "+ 3", "- 9"),
    "power": ("return {'a': torch.relu(y), 'b': x ** 1.5}  # here", "pow", "+ 3", "- 9"),
    "exponential": ("z = x.exp()  # here\n        return (z * y).sum(-1)", "exp", "+ 3", "+ 900"),
    "normalized": ("return x / x.norm(dim=-1, keepdim=True), y + 1  # here", "div", "+ 3", "* 0"),
    "masked": (
        "z = y.masked_fill(x < 0, float('-inf'))\n        return z.softmax(-1)  # here",
        "softmax",
        "+ 3",
        "- 9",
    ),
    "half": ("return x.half() * 1000, y + 1  # here", "mul", "+ 3", "+ 900"),
    "cache": (
        "z = y / x.sum(-1, keepdim=True)  # here\n        x.add_(1)\n        return z",
        "div",
        "+ 3",
        "* 0",
    ),
    "late": (
        "z = torch.log1p(x) * 2  # here\n        return torch.relu(z @ y.T)",
        "log1p",
        "+ 3",
        "- 9",
    ),
}
MEANT = {
    "every_inf": "return y.masked_fill(torch.ones_like(x) > 0, float('-inf')), x",
    "every_nan": "return y / (x - x), x",
    "some_mask": "return y.masked_fill(x < 0, float('-inf'))",
    "some_nan": "return torch.where(x < 0, float('nan'), y)",
}
PROGRAM = """\
import os, signal, sys, time, torch

class Model(torch.nn.Module):
    def forward(self, x, y):
        {body}

device, calls, bad, ending = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
torch.manual_seed(0)
x, y = torch.rand(4, 16, device=device), torch.rand(4, 16, device=device)
with torch.no_grad():
    program = torch.export.export(Model().eval(), (x + 3, y))
    model = torch._inductor.aoti_load_package(
        torch._inductor.aoti_compile_and_package(program, package_path=os.path.abspath("m.pt2"))
    )
    good, odd = x {good}, x {bad}
    for number in range(1, calls + 1):
        model((odd if number == bad else good).clone(), y)
if ending == "os._exit":
    os._exit(0)
if ending == "SIGTERM":
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)
"""
# The error of an index comes later than the call that has it.
INDEX = """\
import os, sys, torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(100, 16)

    def forward(self, ids):
        return self.table(ids * 2 // 2).sum(-1)  # here

device, calls, bad = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
ids = torch.arange(32, device=device)
with torch.no_grad():
    program = torch.export.export(Model().eval().to(device), (ids,))
    model = torch._inductor.aoti_load_package(
        torch._inductor.aoti_compile_and_package(program, package_path=os.path.abspath("m.pt2"))
    )
    given = [ids + (1000 if number == bad else number % 7) for number in range(1, calls + 1)]
    found = [model(one) for one in given]
print(sum(one.sum() for one in found))
"""
CALLS = ((6, 4), (200, 77), (5000, 2345))


def programs(device: str) -> list[tuple[str, str, list[str], Row]]:
    """Return (name, source, arguments, what is wanted)."""
    found = []
    for place, (name, (body, op, good, bad)) in enumerate(MODELS.items()):
        source = PROGRAM.format(body=body, good=good, bad=bad)
        for calls, number in (CALLS[place % 3], CALLS[0]) if place % 3 else (CALLS[0],):
            wanted = {"category": "nan_or_inf", "call": number, "op": op, "line": line(source)}
            found.append((f"{name}-{calls}", source, [device, str(calls), str(number)], wanted))
        calls = CALLS[place % 3][0]
        found.append((f"{name}-{calls}-healthy", source, [device, str(calls), "0"], NONE))
    for name, body in MEANT.items():
        source = PROGRAM.format(body=body, good="+ 3", bad="- 9")
        found.append((f"meant-{name}", source, [device, "20", "7"], NONE))
    source = PROGRAM.format(body=MODELS["divided"][0], good="+ 3", bad="* 0")
    wanted = {"category": "nan_or_inf", "call": 150, "op": "div", "line": line(source)}
    for ending in ("os._exit", "SIGTERM"):
        found.append((f"ends-{ending}", source, [device, "300", "150", ending], wanted))
    wanted = {"category": "index_out_of_bounds", "call": 5, "line": line(INDEX)}
    found.append(("index-6", INDEX, [device, "6", "5"], wanted))
    wanted = {"category": "index_out_of_bounds", "call": 150, "line": line(INDEX)}
    found.append(("index-300", INDEX, [device, "300", "150"], wanted))
    return [(n, s, [*a, "ends"] if len(a) == 3 else a, w) for n, s, a, w in found]


NONE: Row = {"category": "no_fault"}


def line(source: str) -> int:
    return next(n for n, text in enumerate(source.splitlines(), 1) if "# here" in text)


def triage(out: Path, name: str, script: Path, words: list[str]) -> Row:
    """Triage a script in a folder and with a home of its own; return what was found."""
    work = out / name
    work.mkdir(parents=True, exist_ok=True)
    answer, seconds = triaged(script, words, environment(work), work)
    row: Row = {"case": name, "wall_s": seconds}
    if "ended" in answer:
        return {**row, "error": answer["error"]}
    best = answer.get("diagnosis") or {}
    kept = ("category", "confidence", "summary", "calls", "ops", "source")
    row |= {key: best.get(key) for key in kept}
    row["also_true"], row["cost"] = best.get("also_true"), best.get("cost")
    row["notes"] = answer.get("notes")
    row["steps"] = [
        [s.get(k) for k in ("name", "status", "wall_s", "finding")] for s in answer.get("steps", [])
    ]
    events = work.glob("home/runs/*/events.jsonl")
    kinds = ('"returned"', '"note"', '"outputs"')
    row["events"] = [
        text[text.find('"event"') :][:400]
        for file in events
        for text in file.read_text().splitlines()
        if any(f'"event": {kind}' in text for kind in kinds)
    ][:12]
    return row


def judged(row: Row, wanted: Row) -> Row:
    """Add what is right of an answer, and how often the script itself was run."""
    numbers = re.findall(r"\d+", str(row.get("calls")).partition("(")[2] or str(row.get("calls")))
    lines = [one.get("line") for one in row.get("source") or []]
    again = [s for s in row.get("steps") or [] if "target" in s[0] or s[0] == "capture"]
    reruns = [name for name, status, *_ in again if status == "done"]
    return {
        **row,
        "wanted": wanted,
        "right": row.get("category") == wanted["category"],
        "call_right": str(wanted["call"]) in numbers if "call" in wanted else None,
        "op_right": any(wanted["op"] in op for op in row.get("ops") or ())
        if "op" in wanted
        else None,
        "line_right": wanted["line"] in lines if "line" in wanted else None,
        "instead": [note for note in row.get("notes") or [] if "in its place" in note],
        "reruns": reruns,
    }


def of_folder(folder: Path, device: str) -> list[tuple[str, Path, list[str], Row]]:
    """Return the scripts of a folder as `programs` returns its own, with what its truth wants."""
    file = folder / "truth.json"
    truth = json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
    found = []
    for script in sorted(folder.glob("*.py")):
        wanted: Row = {} if truth is None else NONE
        if truth and "calls" in truth.get(script.stem, ()):
            one = truth[script.stem]
            wanted = {"category": "nan_or_inf", "call": one["calls"][0], "line": one["line"]}
            wanted["op"] = one["operator"]
        found.append((script.stem, script, ["--device", device], wanted))
    return found


SHOWN = (
    "case category confidence right call_right op_right line_right instead reruns wall_s error "
    "summary"
).split()


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--scripts", type=Path)
    options = parser.parse_args()
    out: Path = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    given: list[tuple[str, Path, list[str], Row]] = []
    if options.scripts is not None:
        given = of_folder(options.scripts, options.device)
    else:
        for name, source, words, wanted in programs(options.device):
            folder = out / name
            folder.mkdir(exist_ok=True)
            (folder / "script.py").write_text(source, encoding="utf-8")
            given.append((name, folder / "script.py", words, wanted))
    given = [one for one in given if not options.only or one[0].startswith(tuple(options.only))]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        todo = {
            pool.submit(triage, out, name, script.resolve(), words): wanted
            for name, script, words, wanted in given
        }
        for done in concurrent.futures.as_completed(todo):
            row = judged(done.result(), todo[done]) if todo[done] else done.result()
            shown = {key: row[key] for key in SHOWN if row.get(key) is not None}
            put(row, out / "outputs.jsonl", shown)


if __name__ == "__main__":
    main()
