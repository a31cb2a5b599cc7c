"""Plant the faults of explain_cases.py, each with its healthy twin, and see what `explain` names.

    python evals/benchmarks/explain.py OUT [CASE ...] [--kinds index,nan,wrong] [--device D]

Needs torch, transformers and aoti-debug. One JSON line a case in OUT/results.jsonl as it is done, a
table in OUT/table.md at the end. Wrong values are compiled, with one compile for the twin; where
what torch is said to compile wrong agrees here, nothing can be found.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from command import Row, clock, folder_at, markdown, options_of, put

HERE = Path(__file__).parent
ROOT = HERE.parents[1] / "mcp_server" / "aoti_debug"
sys.path[:0] = [str(HERE), str(ROOT), str(ROOT.parent)]
import explain_cases  # noqa: E402
from aoti_debug.explain.nodes import read_report  # noqa: E402
from aoti_debug.explain.values import Found, read_bisection  # noqa: E402
from explain_cases import Case  # noqa: E402
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
    end = float("inf")  # when all must be done

    @classmethod
    def left(cls) -> float:
        return max(1.0, min(900.0, cls.end - time.monotonic()))


def prepare(case: Case, faulty: bool, folder: Path, device: str) -> dict[str, int]:
    """Export the case and save program and inputs; return the inputs' numbers by name."""
    torch.manual_seed(0)
    good = tuple(one.to(device) for one in case.good())
    make = case.healthy[0] if case.healthy and not faulty else case.model
    model = make().eval()
    if faulty and case.spoil is not None:
        case.spoil(model)
    model = model.to(device)
    with torch.no_grad():
        program = torch.export.export(model, good, dynamic_shapes=case.dynamic)
    args = tuple(one.to(device) for one in case.bad()) if faulty and case.bad else good
    torch.export.save(program, folder / "program.pt2")
    call = capture.Call(1, args, {}, list(args))
    torch.save(capture.describe_call(call, False), folder / "inputs.pt")
    return {name: n for n, name in enumerate(program.graph_signature.user_inputs)}


def look(
    case: Case, faulty: bool, folder: Path, names: dict[str, int], device: str
) -> tuple[Found | None, Row]:
    """Run the search that fits the case; return what it names, and its report."""
    report, log = folder / "report.json", folder / "stderr.log"
    words = ["--inputs", str(folder / "inputs.pt"), "--exported", str(folder / "program.pt2")]
    words += ["--report", str(report)]
    imports = ["--import-path", str(HERE), "--import", "explain_cases"]
    words += imports if case.healthy else []
    compiles = case.kind == "wrong" and not case.healthy
    environment: dict[str, str] = {}
    if compiles:
        settings, environment = case.planted(device) if faulty else ({}, {})
        words += ["--settings", json.dumps(settings), *(imports if environment else [])]
        words += ["--whole"] if faulty else ["--compiles", "1"]
        words += [] if case.settings else ["--package", build(case, faulty, folder)]
    name = "bisect" if compiles else "walk"
    start([str(ROOT / "probe" / "script.py"), name, *words], log, environment)
    document = json.loads(report.read_text()) if report.exists() else {}
    if document.get("state") != "done":
        said = log.read_text(errors="replace")[-400:] if log.exists() else ""
        raise RuntimeError(f"it ended in {document.get('state')}: {said}")
    found = read_bisection(document) if compiles else read_report(document, names)
    return found, document


def start(words: list[str], log: Path, environment: dict[str, str]) -> None:
    """Run a Python to its end; what it says goes to a file."""
    argv, env = [sys.executable, *words], {**os.environ, **environment}
    with log.open("w") as file:
        subprocess.run(argv, stdout=file, stderr=file, timeout=Clock.left(), env=env)


def build(case: Case, faulty: bool, folder: Path) -> str:
    """Compile the program of a case as a user would, with its precision of float32 products."""
    package = str(folder / "package.pt2")
    words = ["-c", BUILD, str(folder / "program.pt2"), package]
    if case.products:
        words.append(case.products if faulty else "highest")
    start(words, folder / "stderr.log", {})
    return package


def judge(case: Case, found: Found | None) -> Row:
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


def run(case: Case, out: Path, work: Path, device: str, twins: bool) -> Row:
    row: Row = {"case": case.name, "kind": case.kind, "device": device}
    own = case.settings or case.healthy or case.products  # a fault of torch itself has no twin
    twins = twins and (case.kind != "wrong" or bool(own))
    for twin in ("fault", "healthy") if twins else ("fault",):
        took = clock()
        place = folder_at(work / f"{case.name}-{twin}")
        faulty = twin == "fault"
        try:
            with EXPORTING:
                names = prepare(case, faulty, place, device)
            found, report = look(case, faulty, place, names, device)
            row[twin] = {
                **judge(case, found),
                "compiles": (report.get("first") or {}).get("located_with"),
                "nodes": report.get("nodes"),
                "agrees": bool(report.get("agrees")) and found is None,
            }
        except Exception as error:
            row[twin] = {"named": False, "error": f"{type(error).__name__}: {error}"[:500]}
        row[f"{twin}_s"] = took()
    planted = row["fault"]
    row["right"] = all(planted.get(key) for key in ("named", "op", "line", "says"))
    row["blamed"] = bool(row.get("healthy", {}).get("named"))
    shown = {"case": case.name, "fault": "right" if row["right"] else planted}
    put(row, out / "results.jsonl", {**shown, "twin blamed": row["blamed"]})
    return row


def table(rows: list[Row]) -> str:
    names = "case | kind | operator | line | values | compiles | twin blamed | what was said"
    right, blamed = sum(row["right"] for row in rows), sum(row["blamed"] for row in rows)
    twins = sum("healthy" in row for row in rows)
    faulty = sum(not row["fault"].get("agrees") for row in rows)
    last = f"{right} of {faulty} right; {blamed} of {twins} twins blamed."
    return "\n".join([*markdown(names, map(cells, rows)), "", last])


def cells(row: Row) -> Sequence[str]:
    fault = row["fault"]
    marks = ["yes" if fault.get(key) else "no" for key in ("op", "line", "says")]
    if fault.get("agrees"):
        marks = ["compiled right here", "", ""]
    twin = "-" if "healthy" not in row else "yes" if row["blamed"] else "no"
    said = fault.get("summary") or fault.get("error", "")
    count = "" if fault.get("compiles") is None else fault["compiles"]
    return row["case"], row["kind"], *marks, count, twin, said[:200]


def main() -> int:
    options = options_of(
        __doc__,
        "cases",
        kinds="index,nan,wrong",
        device="cpu",
        seconds=(1e9, "end after these"),
        workers=min(15, os.cpu_count() or 1),
        no_twins=False,
        keep=(False, "leave programs and reports in OUT"),
    ).parse_args()
    folder_at(options.out)
    chosen = [
        case
        for case in explain_cases.CASES
        if case.kind in options.kinds.split(",")
        and (not options.cases or case.name in options.cases)
        and (not case.products or options.device != "cpu")
    ]
    Clock.end = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(options.workers) as pool:
        work = options.out / "work" if options.keep else Path(temporary)

        def begin(case: Case) -> Row | None:
            if time.monotonic() > Clock.end - SHORTEST:
                return None
            return run(case, options.out, work, options.device, not options.no_twins)

        rows = [row for row in pool.map(begin, chosen) if row is not None]
    text = table(rows)
    (options.out / "table.md").write_text(text + "\n")
    print(text.splitlines()[-1])
    return 0 if all(row["right"] and not row["blamed"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
