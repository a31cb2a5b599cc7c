"""Triage every planted GPU fault and its healthy twin; print a table and keep the artifacts.

    python evals/benchmarks/gpu.py OUT [--jobs 8] [--only CASE ...] [--classical | --exceptions 5]

Needs one NVIDIA GPU, torch with triton for it, and aoti_debug importable. Cases run side by side,
each with its own home, since runs of one home take turns on a GPU. `--classical` runs the procedure
of the prose guides (input checks, no caching and blocking launches, printer 3, printer 2, minifier)
instead. The rows so far are always in OUT/triage.json or OUT/classical.json. `--exceptions N`
measures how long after the end of the script alone a triage names the kernel of a GPU exception,
and ends, N times a case in turns: OUT/exceptions.jsonl.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from command import (
    Row,
    answer,
    clock,
    cut,
    environment,
    folder_at,
    options_of,
    picked,
    put,
    put_whole,
    ran,
    triaged,
)

HERE = Path(__file__).resolve().parent
CASES = HERE.parent / "cases" / "gpu_faults.py"
EXPECTED = json.loads((HERE.parent / "cases" / "gpu_expected.json").read_text("utf-8"))
CLASSICAL = ("contract", "deterministic", "kernel_names", "values", "minifier")
KEPT = """
    run.json diagnosis.json answer.json events.jsonl stdout.log stderr.log cuda.log cuda-gdb.log
    gdb.log sanitizer.xml report.json stacks.log
""".split()
LIMIT = 300_000  # bytes kept of one artifact: head and tail


class Rows:
    """The rows so far, in a file."""

    def __init__(self, path: Path) -> None:
        self.path, self.versions = path, versions()
        self.rows: dict[tuple[object, object], Row] = {}
        self.lock = threading.Lock()

    def put(self, row: Row) -> Row:
        with self.lock:
            self.rows[row["case"], row.get("kind")] = row
            self.write(list(self.rows.values()))
        return row

    def write(self, rows: list[Row]) -> None:
        put_whole({"versions": self.versions, "rows": rows}, self.path)


def triage(out: Path, case: str, kind: str, script: Path = CASES) -> Row:
    """Triage a case, or a script that is in no table: its row only says what was found."""
    if kind == "script":
        name, words, limit = f"script-{case}", [], 300
    else:
        name, words = f"{case}-{kind}", [case, kind]
        limit = EXPECTED[case].get("timeout_s", 300)
    work = folder_at(out / name)
    answer, seconds = triaged(script, words, environment(work), work, "--timeout", str(limit))
    keep(work, out / f"{name}.zip")
    return {"case": case, "kind": kind, "wall_s": seconds, **judge(case, kind, answer)}


def judge(case: str, kind: str, answer: Row) -> Row:
    diagnosis = answer.get("diagnosis") or {}
    kernel = diagnosis.get("kernel") or {}
    row = {
        **picked(diagnosis, "category phase confidence"),
        "kernel": kernel.get("name"),
        **picked(kernel, "line text"),
        "summary": diagnosis.get("summary"),
        **picked(diagnosis.get("cost") or {}, "process_runs recompiles"),
        "error": answer.get("error"),
    }
    if kind == "healthy":
        return {**row, "found": row["category"] == "no_fault"}
    if kind == "script":
        return {**row, "found": bool(diagnosis)}
    wanted = EXPECTED[case]
    return {
        **row,
        "found": row["category"] in wanted["categories"]
        and wanted.get("kernel", "") in (row["kernel"] or "")
        and row["phase"] in wanted.get("phases", [row["phase"]]),
        "line_right": wanted["line"] in (row["text"] or "") if "line" in wanted else None,
    }


def classical(out: Path, case: str, rows: Rows) -> Row:
    """Walk the classical stages until one names the fault."""
    work = folder_at(out / f"{case}-classical")
    took, stages = clock(), list[Row]()
    for stage in CLASSICAL:
        for package in work.glob("*.pt2"):
            package.unlink()
        stage_took = clock()
        words = ["run", "--stage", stage, "--timeout", "120", "--no-capture", str(CASES), "--"]
        said = answer([*words, case, "fault"], environment(work), work)
        judged = judge(case, "fault", said)
        found = judged["found"]
        kept = picked(judged, "category phase kernel summary error")
        told = {"stage": stage, "wall_s": stage_took(), "found": found}
        stages.append({**told, **kept, **picked(said, "acted exit")})
        row = {"case": case, "found": found, "by": stage if found else None}
        row |= {"process_runs": len(stages), "recompiles": len(stages), "wall_s": took()}
        rows.put({**row, "stages": list(stages)})
        if found:
            break
    keep(work, out / f"{case}-classical.zip")
    return rows.rows[case, None]


def exceptions(out: Path, case: str, times: int, end: float) -> list[Row]:
    """Run the script alone and triaged, in turns, with the package that the first run compiled."""
    work = folder_at(out / f"{case}-exception")
    rows: list[Row] = []
    for number in range(-1, times):  # the first one compiles
        longest = max((row["alone_s"] + row["triage_s"] for row in rows), default=0.0)
        if rows and time.monotonic() + 2 * longest > end:
            break
        took = clock(2)
        env = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(work / "cache")}
        ran([sys.executable, str(CASES), case, "fault"], cwd=work, env=env)
        row: Row = {"case": case, "alone_s": took()}
        if number < 0:
            continue
        named: list[float] = []
        over = threading.Event()
        watcher = threading.Thread(target=wait_for_name, args=(work, over, named))
        watcher.start()
        began = time.monotonic()
        found, _ = triaged(CASES, [case, "fault"], environment(work), work)
        row["triage_s"] = round(time.monotonic() - began, 2)
        over.set()
        watcher.join()
        row["named_s"] = round(named[0] - began, 2) if named else None
        row["steps"] = [[s["name"], s.get("wall_s")] for s in found.get("steps", [])]
        rows.append({**row, **judge(case, "fault", found)})
        put(rows[-1], out / "exceptions.jsonl", row)
    return rows


def wait_for_name(work: Path, over: threading.Event, named: list[float]) -> None:
    """Note when the record of a run that began now first has what the core dump says."""
    runs = work / "home" / "runs"
    known = set(runs.glob("*/run.json"))
    while not over.wait(0.02) and not named:
        for path in set(runs.glob("*/run.json")) - known:
            try:
                record = json.loads(path.read_text("utf-8"))
            except ValueError:
                continue
            if len(record["steps"]) > 1 and record["summary"]:
                named.append(time.monotonic())


def keep(work: Path, to: Path) -> None:
    """Pack the texts of the runs, the long ones cut in the middle."""
    runs = work / "home" / "runs"
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(runs.rglob("*")):
            if path.is_file() and path.name in KEPT:
                name = path.relative_to(runs).as_posix()
                archive.writestr(name, cut(path.read_bytes(), LIMIT))


def main() -> None:
    options = options_of(
        __doc__,
        jobs=8,
        only={"nargs": "*", "choices": EXPECTED, "default": []},
        kinds=["fault", "healthy"],
        scripts=([], "others to triage"),
        classical=False,
        exceptions={"type": int, "default": 0, "metavar": "N"},
        seconds=(3600.0, "for --exceptions"),
    ).parse_args()
    out = folder_at(options.out)
    names = options.only or list(EXPECTED)
    rows = Rows(out / ("classical.json" if options.classical else "triage.json"))
    if options.exceptions:
        after(out, names, options)
        return
    with ThreadPoolExecutor(options.jobs) as pool:
        if options.classical:
            done = list(pool.map(lambda case: classical(out, case, rows), names))
        else:
            pairs = [(case, kind) for kind in options.kinds for case in names]
            paths = map(Path, options.scripts)
            scripts = pool.map(
                lambda path: rows.put(triage(out, path.stem, "script", path.resolve())), paths
            )
            done = [*pool.map(lambda pair: rows.put(triage(out, *pair)), pairs), *scripts]
    rows.write(done)  # in the order asked for
    table(done)


def after(out: Path, names: list[str], options: argparse.Namespace) -> None:
    """Print how long after the script's end its kernel is named, and the triage ends."""
    end = time.monotonic() + options.seconds
    with ThreadPoolExecutor(options.jobs) as pool:
        found = pool.map(lambda case: exceptions(out, case, options.exceptions, end), names)
        for case, rows in zip(names, found, strict=True):
            told = [r["named_s"] - r["alone_s"] for r in rows if r["named_s"] is not None]
            whole = [r["triage_s"] - r["alone_s"] for r in rows]
            besides = [r["triage_s"] - r["steps"][0][1] for r in rows]  # its start and what follows
            right = sum(bool(r["found"]) for r in rows)
            said = [
                f"{statistics.median(v):+.1f} s (most {max(v):+.1f})" if v else "never"
                for v in (told, whole, besides)
            ]
            print(
                f"{case:20} {right} of {len(rows)} found; kernel named {said[0]}, ended {said[1]}, "
                f"beside the watched script {said[2]}"
            )


def versions() -> dict[str, str]:
    code = (
        "import torch, triton, platform, json; print(json.dumps({'torch': torch.__version__, "
        "'triton': triton.__version__, 'python': platform.python_version(), "
        "'gpu': torch.cuda.get_device_name(0), 'cuda': torch.version.cuda}))"
    )
    return json.loads(ran([sys.executable, "-c", code], check=True).stdout)


def table(rows: list[Row]) -> None:
    for row in rows:
        mark = "ok  " if row["found"] else "MISS"
        said = (row.get("phase"), row.get("category", row.get("by")), row.get("kernel"))
        what = " ".join(str(part) for part in said if part)
        print(
            f"{mark} {row['case']:20} {row.get('kind', 'classical'):8} {row['wall_s']:>6} s "
            f"{row['process_runs']} runs {row['recompiles']} recompiles  {what}: "
            f"{str(row.get('summary') or row.get('error') or '')[:110]}"
        )
    found = sum(bool(row["found"]) for row in rows)
    print(f"{found} of {len(rows)} as expected")


if __name__ == "__main__":
    main()
