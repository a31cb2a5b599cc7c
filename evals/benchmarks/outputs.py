"""Triage programs one of whose calls returns NaN or Inf, their healthy twins, and programs that
return them on purpose.

    python evals/benchmarks/outputs.py OUT [--device cuda] [--jobs 8] [--only NAME ...]
    python evals/benchmarks/outputs.py OUT --scripts FOLDER

Rows stand in OUT/outputs.jsonl as they come. `--scripts` triages the Python files of a folder
instead, each with `--device DEVICE`. Where the folder has a truth.json (file's stem -> `calls`,
`operator`, `line`), they are judged by it; a file that it does not name must have no fault.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from command import (
    Row,
    begins,
    environment,
    folder_at,
    options_of,
    picked,
    put,
    side_by_side,
    triaged,
)

# name -> body of forward(x, y), the operator to blame, what makes a bad x; a good one is x + 3
MODELS = {
    "divided": ("return y / x.mean(-1, keepdim=True)  # here", "div", "* 0"),
    "logarithm": ("return torch.log(x.sum(-1)), y + 1  # here", "log", "- 9"),
    "root": ("z = torch.sqrt(x)  # here\nreturn z.sum(-1), y, x + 1", "sqrt", "- 9"),
    "power": ("return {'a': torch.relu(y), 'b': x ** 1.5}  # here", "pow", "- 9"),
    "exponential": ("z = x.exp()  # here\nreturn (z * y).sum(-1)", "exp", "+ 900"),
    "normalized": ("return x / x.norm(dim=-1, keepdim=True), y + 1  # here", "div", "* 0"),
    "masked": (
        "z = y.masked_fill(x < 0, float('-inf'))\nreturn z.softmax(-1)  # here",
        "softmax",
        "- 9",
    ),
    "half": ("return x.half() * 1000, y + 1  # here", "mul", "+ 900"),
    "cache": ("z = y / x.sum(-1, keepdim=True)  # here\nx.add_(1)\nreturn z", "div", "* 0"),
    "late": ("z = torch.log1p(x) * 2  # here\nreturn torch.relu(z @ y.T)", "log1p", "- 9"),
}
MEANT = {
    "every_inf": "return y.masked_fill(torch.ones_like(x) > 0, float('-inf')), x",
    "every_nan": "return y / (x - x), x",
    "some_mask": "return y.masked_fill(x < 0, float('-inf'))",
    "some_nan": "return torch.where(x < 0, float('nan'), y)",
}
# as it stands in a block
LOAD = """\
model = torch._inductor.aoti_load_package(
        torch._inductor.aoti_compile_and_package(program, package_path=os.path.abspath("m.pt2"))
    )"""
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
    {load}
    good, odd = x + 3, x {bad}
    for number in range(1, calls + 1):
        model((odd if number == bad else good).clone(), y)
if ending == "os._exit":
    os._exit(0)
if ending == "SIGTERM":
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)
"""
# The error of an index comes later than the call that has it.
INDEX = f"""\
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
    {LOAD}
    given = [ids + (1000 if number == bad else number % 7) for number in range(1, calls + 1)]
    found = [model(one) for one in given]
print(sum(one.sum() for one in found))
"""
CALLS = ((6, 4), (200, 77), (5000, 2345))


NONE: Row = {"category": "no_fault"}


def programs(device: str) -> list[tuple[str, str, list[str], Row]]:
    """Return (name, source, arguments, what is wanted)."""
    found = []

    def add(
        name: str, source: str, calls: int, bad: int, ending: str = "ends", **wanted: str
    ) -> None:
        told = {**wanted, "call": bad, "line": line(source)} if wanted else NONE
        found.append((name, source, [device, str(calls), str(bad), ending], told))

    def source_of(body: str, bad: str = "- 9") -> str:
        return PROGRAM.format(body=body.replace("\n", "\n        "), bad=bad, load=LOAD)

    nan = {"category": "nan_or_inf"}
    for place, (name, (body, op, bad)) in enumerate(MODELS.items()):
        source, (most, _) = source_of(body, bad), CALLS[place % 3]
        for calls, number in dict.fromkeys((CALLS[place % 3], CALLS[0])):
            add(f"{name}-{calls}", source, calls, number, op=op, **nan)
        add(f"{name}-{most}-healthy", source, most, 0)
    for name, body in MEANT.items():
        add(f"meant-{name}", source_of(body), 20, 7)
    source = source_of(MODELS["divided"][0], bad="* 0")
    for ending in ("os._exit", "SIGTERM"):
        add(f"ends-{ending}", source, 300, 150, ending, **nan, op="div")
    for calls, bad_call in ((6, 5), (300, 150)):
        add(f"index-{calls}", INDEX, calls, bad_call, category="index_out_of_bounds")
    return found


def line(source: str) -> int:
    return next(n for n, text in enumerate(source.splitlines(), 1) if "# here" in text)


def triage(out: Path, name: str, script: Path, words: list[str]) -> Row:
    work = folder_at(out / name)
    answer, seconds = triaged(script, words, environment(work), work)
    row: Row = {"case": name, "wall_s": seconds}
    if "ended" in answer:
        return {**row, "error": answer["error"]}
    kept = "category confidence summary calls ops source also_true cost"
    row |= {**picked(answer.get("diagnosis") or {}, kept), "notes": answer.get("notes")}
    names = "name status wall_s finding"
    row["steps"] = [list(picked(step, names).values()) for step in answer.get("steps", [])]
    kinds = ('"returned"', '"note"', '"outputs"')
    row["events"] = [
        text[text.find('"event"') :][:400]
        for file in work.glob("home/runs/*/events.jsonl")
        for text in file.read_text().splitlines()
        if any(f'"event": {kind}' in text for kind in kinds)
    ][:12]
    return row


def judged(row: Row, wanted: Row) -> Row:
    numbers = re.findall(r"\d+", str(row.get("calls")).partition("(")[2] or str(row.get("calls")))
    lines = [one.get("line") for one in row.get("source") or []]
    again = [s for s in row.get("steps") or [] if "target" in s[0] or s[0] == "capture"]
    named = any(wanted.get("op", "") in op for op in row.get("ops") or ())
    return {
        **row,
        "wanted": wanted,
        "right": row.get("category") == wanted["category"],
        "call_right": str(wanted["call"]) in numbers if "call" in wanted else None,
        "op_right": named if "op" in wanted else None,
        "line_right": wanted["line"] in lines if "line" in wanted else None,
        "instead": [note for note in row.get("notes") or [] if "in its place" in note],
        "reruns": [name for name, status, *_ in again if status == "done"],
    }


def of_folder(folder: Path, device: str) -> list[tuple[str, Path, list[str], Row]]:
    """Return the scripts of a folder as `programs` returns its own, with what its truth wants."""
    file = folder / "truth.json"
    truth = json.loads(file.read_text("utf-8")) if file.exists() else None
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
    options = options_of(__doc__, device="cuda", jobs=8, only=[], scripts=Path).parse_args()
    out = folder_at(options.out)
    given: list[tuple[str, Path, list[str], Row]] = []
    if options.scripts is not None:
        given = of_folder(options.scripts, options.device)
    else:
        for name, source, words, wanted in programs(options.device):
            script = folder_at(out / name) / "script.py"
            script.write_text(source, "utf-8")
            given.append((name, script, words, wanted))
    given = [one for one in given if begins(one[0], options.only)]
    wanted_of = {name: wanted for name, _, _, wanted in given}
    tasks = [(out, name, script.resolve(), words) for name, script, words, _ in given]
    for (_, name, *_), found in side_by_side(triage, tasks, options.jobs):
        row = judged(found, wanted_of[name]) if wanted_of[name] else found
        shown = {key: row[key] for key in SHOWN if row.get(key) is not None}
        put(row, out / "outputs.jsonl", shown)


if __name__ == "__main__":
    main()
