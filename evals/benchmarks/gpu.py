"""Triage every planted GPU fault and its healthy twin; print a table and keep the artifacts.

    python evals/benchmarks/gpu.py OUT [--jobs 8] [--only CASE ...] [--classical | --exceptions 5]

Needs one NVIDIA GPU, torch with triton for it, and aoti_debug importable. Cases run side by side,
each with its own home, since runs of one home take turns on a GPU. `--classical` also runs the
procedure of the prose guides (input checks, no caching and blocking launches, printer 3, printer
2, minifier) with the same harness. The rows so far are always in OUT/triage.json or
OUT/classical.json; a classical row grows with every stage. `--exceptions N` measures instead how
long after the script alone has ended a triage names the kernel of a GPU exception, and how long
after that it ends, N times a case in turns with the script alone: OUT/exceptions.jsonl.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import statistics
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

from command import answer, environment, options_of, put, triaged

HERE = Path(__file__).resolve().parent
CASES = HERE.parent / "cases" / "gpu_faults.py"
EXPECTED = json.loads((HERE.parent / "cases" / "gpu_expected.json").read_text(encoding="utf-8"))
CLASSICAL = ("contract", "deterministic", "kernel_names", "values", "minifier")
KEPT = tuple(
    """
    run.json diagnosis.json answer.json events.jsonl stdout.log stderr.log cuda.log cuda-gdb.log
    gdb.log sanitizer.xml report.json stacks.log
    """.split()
)
LIMIT = 300_000  # bytes kept of one artifact: head and tail


class Rows:
    """The rows so far, in a file that is whole at every moment."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.versions = versions()
        self.rows: dict[tuple[object, object], dict[str, object]] = {}
        self.lock = threading.Lock()

    def put(self, row: dict[str, object]) -> dict[str, object]:
        """Add a row, or replace the earlier one of the same case and kind."""
        with self.lock:
            self.rows[row["case"], row.get("kind")] = row
            self.write(list(self.rows.values()))
        return row

    def write(self, rows: list[dict[str, object]]) -> None:
        text = json.dumps({"versions": self.versions, "rows": rows}, indent=1)
        unfinished = self.path.with_suffix(".part")
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(self.path)


def triage(out: Path, case: str, kind: str) -> dict[str, object]:
    work = out / f"{case}-{kind}"
    work.mkdir(parents=True, exist_ok=True)
    limit = str(EXPECTED[case].get("timeout_s", 300))
    words, env = [case, kind], environment(work)
    answer, seconds = triaged(CASES, words, env, work, "--timeout", limit)
    row = {"case": case, "kind": kind, "wall_s": seconds}
    keep(work, out / f"{case}-{kind}.zip")
    return {**row, **judge(case, kind, answer)}


def triage_script(out: Path, script: Path) -> dict[str, object]:
    """Triage a script that is in no table; its row only says what was found."""
    work = out / f"script-{script.stem}"
    work.mkdir(parents=True, exist_ok=True)
    words = script.resolve(), (), environment(work), work
    answer, seconds = triaged(*words, "--timeout", "300")
    row = {"case": script.stem, "kind": "script", "wall_s": seconds}
    keep(work, out / f"script-{script.stem}.zip")
    return {**row, **judge(script.stem, "script", answer)}


def judge(case: str, kind: str, answer: dict) -> dict[str, object]:
    """Compare an answer with what was planted."""
    diagnosis = answer.get("diagnosis") or {}
    cost = diagnosis.get("cost") or {}
    kernel = diagnosis.get("kernel") or {}
    row = {
        "category": diagnosis.get("category"),
        "phase": diagnosis.get("phase"),
        "confidence": diagnosis.get("confidence"),
        "kernel": kernel.get("name"),
        "line": kernel.get("line"),
        "text": kernel.get("text"),
        "summary": diagnosis.get("summary"),
        "process_runs": cost.get("process_runs"),
        "recompiles": cost.get("recompiles"),
        "error": answer.get("error"),
    }
    if kind == "healthy":
        return {**row, "found": diagnosis.get("category") == "no_fault"}
    if kind == "script":
        return {**row, "found": bool(diagnosis)}
    wanted = EXPECTED[case]
    return {
        **row,
        "found": diagnosis.get("category") in wanted["categories"]
        and wanted.get("kernel", "") in (kernel.get("name") or "")
        and diagnosis.get("phase") in wanted.get("phases", [diagnosis.get("phase")]),
        "line_right": wanted["line"] in (kernel.get("text") or "") if "line" in wanted else None,
    }


def classical(out: Path, case: str, rows: Rows) -> dict[str, object]:
    """Walk the classical stages until one names the fault."""
    work = out / f"{case}-classical"
    work.mkdir(parents=True, exist_ok=True)
    began, stages = time.monotonic(), []
    row: dict[str, object] = {}
    for stage in CLASSICAL:
        for package in work.glob("*.pt2"):
            package.unlink()
        stage_began = time.monotonic()
        words = ["run", "--stage", stage, "--timeout", "120", "--no-capture", str(CASES), "--"]
        said_of = answer([*words, case, "fault"], environment(work), work)
        judged = judge(case, "fault", said_of)
        seconds = round(time.monotonic() - stage_began, 1)
        said = {key: judged[key] for key in ("category", "phase", "kernel", "summary", "error")}
        said |= {key: said_of.get(key) for key in ("acted", "exit")}
        stages.append({"stage": stage, "wall_s": seconds, "found": judged["found"], **said})
        row = {
            "case": case,
            "found": judged["found"],
            "by": stage if judged["found"] else None,
            "process_runs": len(stages),
            "recompiles": len(stages),
            "wall_s": round(time.monotonic() - began, 1),
            "stages": stages,
        }
        rows.put({**row, "stages": list(stages)})
        if judged["found"]:
            break
    keep(work, out / f"{case}-classical.zip")
    return row


def exceptions(out: Path, case: str, times: int, end: float) -> list[dict]:
    """Run the script alone and triaged, in turns, with the package that the first run compiled."""
    work = out / f"{case}-exception"
    work.mkdir(parents=True, exist_ok=True)
    rows: list[dict] = []
    for number in range(-1, times):  # the first one compiles
        began = time.monotonic()
        if rows and began + 2 * max(row["alone_s"] + row["triage_s"] for row in rows) > end:
            break
        env = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(work / "cache")}
        words = [sys.executable, str(CASES), case, "fault"]
        subprocess.run(words, cwd=work, env=env, capture_output=True)
        alone = time.monotonic() - began
        if number < 0:
            continue
        named: list[float] = []
        over = threading.Event()
        watcher = threading.Thread(target=wait_for_name, args=(work, over, named))
        watcher.start()
        began = time.monotonic()
        found, _ = triaged(CASES, [case, "fault"], environment(work), work)
        took = time.monotonic() - began
        over.set()
        watcher.join()
        row = {"case": case, "alone_s": round(alone, 2), "triage_s": round(took, 2)}
        row["named_s"] = round(named[0] - began, 2) if named else None
        row["steps"] = [[s["name"], s.get("wall_s")] for s in found.get("steps", [])]
        rows.append({**row, **judge(case, "fault", found)})
        put(rows[-1], out / "exceptions.jsonl", row)
    return rows


def wait_for_name(work: Path, over: threading.Event, named: list[float]) -> None:
    """Note when the record of a run that began now first has what the core dump says."""
    known = set((work / "home" / "runs").glob("*/run.json"))
    while not over.wait(0.02) and not named:
        for path in set((work / "home" / "runs").glob("*/run.json")) - known:
            try:
                record = json.loads(path.read_text(encoding="utf-8"))
            except ValueError:
                continue
            if len(record["steps"]) > 1 and record["summary"]:
                named.append(time.monotonic())


def keep(work: Path, to: Path) -> None:
    """Pack the texts of the runs, the long ones cut in the middle."""
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((work / "home" / "runs").rglob("*")):
            if path.is_file() and path.name in KEPT:
                data = path.read_bytes()
                if len(data) > LIMIT:
                    data = data[: LIMIT // 2] + b"\n[cut]\n" + data[-LIMIT // 2 :]
                archive.writestr(path.relative_to(work / "home" / "runs").as_posix(), data)


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--only", nargs="*", choices=EXPECTED, default=[])
    parser.add_argument("--kinds", nargs="*", default=["fault", "healthy"])
    parser.add_argument("--scripts", nargs="*", type=Path, default=[], help="others to triage")
    parser.add_argument("--classical", action="store_true")
    parser.add_argument("--exceptions", type=int, default=0, metavar="N")
    parser.add_argument("--seconds", type=float, default=3600, help="for --exceptions")
    options = parser.parse_args()
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    names = options.only or list(EXPECTED)
    rows = Rows(out / ("classical.json" if options.classical else "triage.json"))
    if options.exceptions:
        after(out, names, options)
        return
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        if options.classical:
            done = list(pool.map(lambda case: classical(out, case, rows), names))
        else:
            pairs = [(case, kind) for kind in options.kinds for case in names]
            scripts = pool.map(lambda path: rows.put(triage_script(out, path)), options.scripts)
            done = [*pool.map(lambda pair: rows.put(triage(out, *pair)), pairs), *scripts]
    rows.write(done)  # in the order asked for
    table(done)


def after(out: Path, names: list[str], options: argparse.Namespace) -> None:
    """Print how long after the script's end its kernel is named, and the triage ends."""
    end = time.monotonic() + options.seconds
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def table(rows: list[dict[str, object]]) -> None:
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
