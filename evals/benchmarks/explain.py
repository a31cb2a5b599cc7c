"""Plant the faults of explain_cases.py, each with its healthy twin, and see what `explain` names.

    python evals/benchmarks/explain.py OUT [CASE ...] [--kinds index,nan,wrong] [--device D]

Needs torch, transformers and aoti-debug. One JSON line a case in OUT/results.jsonl as
it is done, a table in OUT/table.md at the end. Values and indices take a run of the exported
program; wrong values are compiled, with one compile for the twin. What torch itself is said to
compile wrong is compiled first: where that agrees here, nothing can be found.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch
from command import options_of, put

HERE = Path(__file__).parent
ROOT = HERE.parents[1] / "mcp_server" / "aoti_debug"
sys.path[:0] = [str(HERE), str(ROOT), str(ROOT.parent)]
import explain_cases  # noqa: E402
from aoti_debug.explain.nodes import read_report  # noqa: E402
from aoti_debug.explain.values import Found, read_bisection  # noqa: E402
from probe import capture  # noqa: E402

SHORTEST = 15.0  # seconds: no case takes less
EXPORTING = threading.Lock()  # torch.export is not for several threads
BUILD = """
import sys, torch
program, settings = torch.export.load(sys.argv[1]), {}
if sys.argv[3:]:  # Triton's products keep the precision that they were compiled with
    torch.set_float32_matmul_precision(sys.argv[3])
    settings = {"max_autotune_gemm": True, "max_autotune_gemm_backends": "TRITON"}
torch._inductor.aoti_compile_and_package(
    program, package_path=sys.argv[2], inductor_configs=settings
)
"""


class Clock:
    """When all must be done."""

    end = float("inf")

    @classmethod
    def left(cls) -> float:
        return max(1.0, min(900.0, cls.end - time.monotonic()))


def prepare(case: explain_cases.Case, twin: str, folder: Path, device: str) -> dict[str, int]:
    """Export the case and save program and inputs; return the inputs' numbers by name."""
    torch.manual_seed(0)
    good = tuple(one.to(device) for one in case.good())
    faulty = twin == "fault"
    make = case.healthy[0] if case.healthy and not faulty else case.model
    model = make().eval()
    if faulty and case.spoil is not None:
        case.spoil(model)
    model = model.to(device)
    with torch.no_grad():
        program = torch.export.export(model, good, dynamic_shapes=case.dynamic)
    args = tuple(one.to(device) for one in case.bad()) if faulty and case.bad else good
    folder.mkdir(parents=True, exist_ok=True)
    torch.export.save(program, folder / "program.pt2")
    call = capture.Call(1, args, {}, list(args))
    torch.save(capture.describe_call(call, False), folder / "inputs.pt")
    return {name: n for n, name in enumerate(program.graph_signature.user_inputs)}


def run_here(name: str, words: list[str]) -> None:
    """Run a program of the probe in this process, which has torch loaded."""
    kept = sys.argv
    sys.argv = [name, *words]
    try:
        importlib.import_module(f"probe.{name}").main()
    finally:
        sys.argv = kept


def look(
    case: explain_cases.Case,
    twin: str,
    folder: Path,
    names: dict[str, int],
    device: str,
    alone: bool,
) -> tuple[Found | None, dict[str, Any]]:
    """Run the search that fits the case; return what it names, and its report."""
    report = folder / "report.json"
    words = ["--inputs", str(folder / "inputs.pt"), "--exported", str(folder / "program.pt2")]
    words += ["--report", str(report)]
    if case.healthy:
        words += ["--import-path", str(HERE), "--import", "explain_cases"]
    compiles = case.kind == "wrong" and not case.healthy
    environment: dict[str, str] = {}
    if compiles:
        settings, environment = case.planted(device) if twin == "fault" else ({}, {})
        words += ["--settings", json.dumps(settings)]
        words += ["--import-path", str(HERE), "--import", "explain_cases"] if environment else []
        words += ["--compiles", "1"] if twin == "healthy" else []
        products = (case.products if twin == "fault" else "highest") if case.products else ""
        words += ["--package", build(folder, products)] if not case.settings else []
    name = "bisect" if compiles else "walk"
    if alone and not compiles:  # a compiler keeps state that the next case must not see
        run_here(name, words)
    else:
        argv = [sys.executable, str(ROOT / "probe" / "script.py"), name, *words]
        started(argv, folder, environment)
    document = json.loads(report.read_text()) if report.exists() else {}
    if document.get("state") != "done":
        raise RuntimeError(f"it ended in {document.get('state')}: {tail(folder)}")
    found = read_bisection(document) if compiles else read_report(document, names)
    return found, document


def started(argv: list[str], folder: Path, environment: dict[str, str]) -> None:
    """Run a process to its end; what it says goes to a file."""
    with (folder / "stderr.log").open("w") as log:
        subprocess.run(
            argv, stdout=log, stderr=log, timeout=Clock.left(), env={**os.environ, **environment}
        )


def tail(folder: Path) -> str:
    log = folder / "stderr.log"
    return log.read_text(errors="replace")[-400:] if log.exists() else ""


def build(folder: Path, products: str = "") -> str:
    """Compile the program of a case as a user would, its float32 products in this precision."""
    package = str(folder / "package.pt2")
    words = [str(folder / "program.pt2"), package, *([products] if products else [])]
    started([sys.executable, "-c", BUILD, *words], folder, {})
    return package


def judge(case: explain_cases.Case, found: Found | None) -> dict[str, Any]:
    """Hold what was named against what was planted."""
    if found is None:
        return {"named": False, "op": False, "line": False, "says": False, "summary": ""}
    file, text = case.line() if case.op else ("", "")
    lines = [(Path(s.file).name, (s.text or "").strip()) for s in found.source]
    on_line = not text or (Path(file).name, text) in lines
    if not on_line:  # a planted line in the loop of a list comprehension, or of several
        on_line = any(text.startswith(said) or said.startswith(text) for _, said in lines if said)
    return {
        "named": True,
        "op": case.op in found.op,
        "line": on_line,
        "says": all(words in found.summary for words in case.says),
        "summary": found.summary,
    }


def run(
    case: explain_cases.Case, out: Path, work: Path, device: str, alone: bool, twins: bool
) -> dict[str, Any]:
    row: dict[str, Any] = {"case": case.name, "kind": case.kind, "device": device}
    own = case.settings or case.healthy or case.products  # what is planted by us has a twin
    healthy_is_case = case.kind == "wrong" and not own
    for twin in ("fault", "healthy"):
        if twin == "healthy" and (healthy_is_case or not twins):
            continue  # a fault of torch itself has no twin
        began = time.monotonic()
        folder = work / f"{case.name}-{twin}"
        try:
            with EXPORTING:
                names = prepare(case, twin, folder, device)
            found, report = look(case, twin, folder, names, device, alone)
            row[twin] = judge(case, found)
            row[twin]["compiles"] = (report.get("first") or {}).get("located_with")
            row[twin]["nodes"] = report.get("nodes")
            row[twin]["agrees"] = bool(report.get("agrees")) and found is None
        except Exception as error:
            row[twin] = {"named": False, "error": f"{type(error).__name__}: {error}"[:500]}
        row[f"{twin}_s"] = round(time.monotonic() - began, 1)
    planted = row["fault"]
    row["right"] = all(planted.get(key) for key in ("named", "op", "line", "says"))
    row["blamed"] = bool(row.get("healthy", {}).get("named"))
    shown = {"case": case.name, "fault": "right" if row["right"] else planted}
    put(row, out / "results.jsonl", {**shown, "twin blamed": row["blamed"]})
    return row


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| case | kind | operator | line | values | compiles | twin blamed | what was said |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        fault = row["fault"]
        marks = ["yes" if fault.get(key) else "no" for key in ("op", "line", "says")]
        if fault.get("agrees"):
            marks = ["compiled right here", "", ""]
        twin = "-" if "healthy" not in row else "yes" if row["blamed"] else "no"
        said = fault.get("summary") or fault.get("error", "")
        count = str(fault["compiles"]) if fault.get("compiles") is not None else ""
        cells = [row["case"], row["kind"], *marks, count, twin, said.replace("|", "\\|")[:200]]
        lines.append("| " + " | ".join(cells).replace("\n", " ") + " |")
    right, blamed = sum(row["right"] for row in rows), sum(row["blamed"] for row in rows)
    twins = sum("healthy" in row for row in rows)
    faulty = sum(not row["fault"].get("agrees") for row in rows)
    return "\n".join([*lines, "", f"{right} of {faulty} right; {blamed} of {twins} twins blamed."])


def main() -> int:
    parser = options_of(__doc__)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--kinds", default="index,nan,wrong")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seconds", type=float, default=1e9, help="end after these")
    parser.add_argument("--workers", type=int, default=min(15, os.cpu_count() or 1))
    parser.add_argument("--no-twins", action="store_true")
    parser.add_argument("--keep", action="store_true", help="leave programs and reports in OUT")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    chosen = [
        case
        for case in explain_cases.CASES
        if case.kind in options.kinds.split(",")
        and (not options.cases or case.name in options.cases)
        and (not case.products or options.device != "cpu")
    ]
    Clock.end = time.monotonic() + options.seconds
    one = options.workers == 1
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(options.workers) as pool:
        work = options.out / "work" if options.keep else Path(temporary)

        def start(case: explain_cases.Case) -> dict[str, Any] | None:
            if time.monotonic() > Clock.end - SHORTEST:
                return None
            return run(case, options.out, work, options.device, one, not options.no_twins)

        rows = [row for row in pool.map(start, chosen) if row is not None]
    (options.out / "table.md").write_text(table(rows) + "\n")
    print(table(rows).splitlines()[-1])
    return 0 if all(row["right"] and not row["blamed"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
