"""Pack what evals/benchmarks/gpu.py left into the recordings that the tests read.

    python evals/benchmarks/record_gpu.py OUT tests/recorded/gpu [CLASSICAL.json TABLE.md]

Writes runs.tar.xz (a directory for each case, its long texts cut in the middle) and prints what
tests/recorded/README.md says of it. OUT is the directory that gpu.py was given. CLASSICAL.json is
what `gpu.py --classical` wrote on the same machine; TABLE.md then compares the two.
"""

from __future__ import annotations

import io
import json
import statistics
import sys
import tarfile
import zipfile
from pathlib import Path

from command import Row, markdown, picked

HEAD, TAIL = 12_000, 6_000  # bytes kept of one text
EVENT_LINES = 120
HEALTHY = ("embedding", "threads")  # twins that are kept; the others say the same
DROPPED = ("answer.json", "diagnosis.json")
COMPARED = """\
# Planted GPU faults: triage against the classical procedure

{machine}; both with fourteen cases side by side on
sixteen cores, so the times are for comparison only. Classical: the stages contract,
deterministic, kernel_names, values and minifier one after the other, each with a compile
of its own, until one names the fault; the same readers read what they print, which
favours it. `first run`: when the watched run of the script had ended. `recompiles` does
not count the script's own compile in its first run.
"""
DESCRIBED = """\
## gpu/: triages of a GPU

{machine}, Python {python}, CUDA {cuda}; g++ 13, fourteen cases side by side.
Recorded with `python evals/benchmarks/gpu.py OUT` and packed with
`python evals/benchmarks/record_gpu.py OUT tests/recorded/gpu`. `runs.tar.xz` has a run
directory for each case; long texts are cut in the middle, packages and inputs left out.
"""


def main() -> None:
    out, to = Path(sys.argv[1]), Path(sys.argv[2])
    document = json.loads((out / "triage.json").read_text("utf-8"))
    to.mkdir(parents=True, exist_ok=True)
    rows = [row for row in document["rows"] if kept(row)]
    with tarfile.open(to / "runs.tar.xz", "w:xz", preset=9) as archive:
        for row in sorted(rows, key=name_of):
            pack(out / f"{name_of(row)}.zip", name_of(row), archive)
    print(described(document["versions"], rows))
    if len(sys.argv) > 3:
        other = json.loads(Path(sys.argv[3]).read_text("utf-8"))
        text = comparison(document, other["rows"], out)
        Path(sys.argv[4]).write_text(text, "utf-8")


def name_of(row: Row) -> str:
    case, kind = row["case"], row["kind"]
    return f"script-{case}" if kind == "script" else f"{case}-{kind}"


def kept(row: Row) -> bool:
    return row["kind"] != "healthy" or row["case"] in HEALTHY


def pack(source: Path, name: str, archive: tarfile.TarFile) -> None:
    with zipfile.ZipFile(source) as runs:
        for member in runs.namelist():
            _, _, path = member.partition("/")
            if path in DROPPED or not path:
                continue
            data = trimmed(path, runs.read(member))
            info = tarfile.TarInfo(f"{name}/{path}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def trimmed(path: str, data: bytes) -> bytes:
    if path.endswith("events.jsonl"):
        return b"".join(data.splitlines(keepends=True)[:EVENT_LINES])
    if path.endswith((".json", ".xml")) or len(data) <= HEAD + TAIL:
        return data
    head, tail = data[:HEAD].rpartition(b"\n")[0], data[-TAIL:].partition(b"\n")[2]
    return head + b"\n[cut]\n" + tail


def first_run_s(out: Path, row: Row) -> float:
    """Return when the first run had ended: for a GPU exception the diagnosis stands then."""
    with zipfile.ZipFile(out / f"{name_of(row)}.zip") as runs:
        record = next(n for n in runs.namelist() if n.count("/") == 1 and n.endswith("run.json"))
        steps = json.loads(runs.read(record)).get("steps") or []
    return next((step["wall_s"] for step in steps if step["name"] == "first run"), 0.0)


def comparison(document: Row, classical: list[Row], out: Path) -> str:
    faults = {row["case"]: row for row in document["rows"] if row["kind"] == "fault"}
    twins = [row for row in document["rows"] if row["kind"] == "healthy"]
    text = COMPARED.format(machine=machine(document["versions"]))
    names = "fault | triage found | runs | recompiles | first run s | total s | "
    names += "classical found | by | runs | recompiles | s"
    rows = []
    for old in classical:
        row = faults[old["case"]]
        seconds = [f"{s:.0f}" for s in (first_run_s(out, row), row["wall_s"], old["wall_s"])]
        ours = (yes(row), row["process_runs"], row["recompiles"], *seconds[:2])
        theirs = (yes(old), old.get("by") or "", old["process_runs"], old["recompiles"] - 1)
        rows.append((old["case"], *ours, *theirs, seconds[2]))
    found = sum(row["found"] for row in faults.values())
    clean = sum(row["found"] for row in twins)
    one = statistics.median(faults[old["case"]]["wall_s"] for old in classical)
    other = statistics.median(old["wall_s"] for old in classical)
    last = [
        "",
        f"Triage: {found} of {len(faults)} found, median {one:.0f} s; {clean} of {len(twins)} "
        "healthy twins without a fault.",
        f"Classical: {sum(bool(old['found']) for old in classical)} of {len(classical)} found, "
        f"median {other:.0f} s. Ratio of the medians: {one / other:.2f}.",
        "",
    ]
    return "\n".join([text, *markdown(names, rows), *last])


def yes(row: Row) -> str:
    return "yes" if row["found"] else "no"


def machine(versions: dict[str, str]) -> str:
    return "One {gpu}, torch {torch}, triton {triton}".format(**versions)


def described(versions: dict[str, str], rows: list[Row]) -> str:
    names = "case | kind | phase | category | kernel | process runs | wall s"
    keys = "case kind phase category kernel process_runs wall_s"
    told = [picked({**row, "kernel": row["kernel"] or ""}, keys).values() for row in rows]
    text = DESCRIBED.format(machine=machine(versions), **versions)
    return "\n".join([text, *markdown(names, told)])


if __name__ == "__main__":
    main()
