"""Triage the zoo, healthy and with planted faults, side by side; score it and write the table.

    python evals/zoo/run.py OUT [--device cuda] [--jobs 15] [--seconds 520] [--faults-each 2]
                            [--pairs 12] [--only NAME ...] [--library timm] [--shard 1/2]

One architecture is compiled once, by its healthy triage; its faults are planted in calls of that
package, in the same home, so that what the first triage kept of the compilation is known. Results
are appended to OUT/results.jsonl as they come; nothing is begun that would not end in time.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import itertools
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "benchmarks")]

import score  # noqa: E402
from command import cut, environment, folder_at, options_of, put, ran  # noqa: E402

KEPT = (".json", ".jsonl", ".log", ".xml")
TEXT, ZIPPED = 100_000, 14_000_000  # bytes
SPARE = 12  # seconds for what comes after the last triage
FIRST_GUESS = {"compile": 100.0, "fault": 40.0}


class Zoo:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.end = time.monotonic() + options.seconds
        self.work = options.out / "work"
        self.results = options.out / "results.jsonl"
        self.rows: list[dict] = []
        self.took: dict[str, list[float]] = {key: [] for key in FIRST_GUESS}

    @property
    def left(self) -> float:
        return self.end - time.monotonic() - SPARE

    def enough(self, kind: str, times: int = 1) -> bool:
        """Tell whether what took this long so far would still end in time."""
        known = self.took[kind]
        usual = max(known[-8:]) if known else FIRST_GUESS[kind]
        return self.left > times * usual

    def add(self, row: dict) -> None:
        self.rows.append(row)
        put(row, self.results, score.one_line(row))

    def architecture(self, task: dict) -> None:
        """Compile, triage healthy, then triage the faults of one architecture."""
        name, paired = task["architecture"], task["paired"]
        place = folder_at(self.work / name)
        package = place / f"{name}.pt2"
        if not package.with_suffix(".json").exists():
            if not self.enough("compile", 2 if paired else 1):
                return
            self.healthy(task, place, package)
        if not package.with_suffix(".json").exists():
            return
        for fault in task["faults"]:
            if self.enough("fault"):
                self.fault(task, fault, place, package)

    def healthy(self, task: dict, place: Path, package: Path) -> None:
        words = [task["architecture"], "--compile", "--device", self.options.device]
        row = {**task["case"], "fault": "healthy"}
        if task["paired"]:
            alone = self.run(place, "alone", [], [*words, str(place / "alone.pt2")])
            row["alone_s"] = alone["wall_s"]
        found = self.triage(place, [*words, str(package)])
        self.took["compile"].append(found["wall_s"])
        fails, compiled = False, package.with_suffix(".json").exists()
        if compiled and not found["ended_well"]:  # without triage as well?
            words = [task["architecture"], str(package), "--device", self.options.device]
            fails = self.run(place, "alone", [], words)["exit"] != 0
        self.add({**row, **score.healthy(found, compiled, fails=fails)})
        task["faults"] = [] if fails else task["faults"]

    def fault(self, task: dict, fault: str, place: Path, package: Path) -> None:
        words = [task["architecture"], str(package), "--device", self.options.device]
        found = self.triage(place, [*words, "--fault", fault])
        self.took["fault"].append(found["wall_s"])
        lines = json.loads(package.with_suffix(".json").read_text(encoding="utf-8"))
        scored = score.fault(found, task["expected"][fault], lines, place / "home" / "runs")
        self.add({**task["case"], "fault": fault, **scored})

    def triage(self, place: Path, words: list[str]) -> dict:
        before = ["-m", "aoti_debug", "triage", "--json", "--verbose"]
        before += ["--timeout", str(self.options.timeout)]
        return self.run(place, "triage", before, words)

    def run(self, place: Path, cache: str, before: list[str], words: list[str]) -> dict:
        """Run serve.py, alone or under triage; return its document, seconds and status."""
        script = [str(HERE / "serve.py"), *(["--"] if before else []), *words]
        begun = time.monotonic()
        process = subprocess.Popen(
            [sys.executable if before else self.options.python, *before, *script],
            cwd=place,
            env=environment(
                place,
                self.options.python,
                TORCHINDUCTOR_CACHE_DIR=str(place / cache),
                TRITON_CACHE_DIR=str(place / cache / "triton"),
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            stdout, stderr = process.communicate(
                timeout=max(1.0, min(1.5 * self.options.timeout, self.left))
            )
        except subprocess.TimeoutExpired:
            ended(process)
            stdout, stderr = "", "ended: the time was over"
        seconds = round(time.monotonic() - begun, 2)
        try:
            answer = json.loads(stdout)
        except ValueError:
            answer = {}
        well = any(step.get("exit") == "exit 0" for step in answer.get("steps", [])[:1])
        found = {"wall_s": seconds, "exit": process.returncode, "ended_well": well}
        return {**found, "answer": answer, "stderr": stderr}


def ended(process: subprocess.Popen[str]) -> None:
    for how in (signal.SIGINT, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
            process.communicate(timeout=6)
            return
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


def tasks(options: argparse.Namespace) -> list[dict]:
    """Say what is to be done, in a process that imports torch."""
    done = ran([options.python, str(HERE / "score.py"), options.device], check=True)
    every = json.loads(done.stdout.splitlines()[-1])
    if options.library:
        every = [t for t in every if t["case"]["library"] in options.library]
    rows = [tuple(row.split(":")) for row in options.rows]
    if only := {*options.only, *(name for name, *_ in rows)}:
        every = [t for t in every if t["architecture"] in only]
    every = mixed(every)
    part, parts = (int(number) for number in options.shard.split("/"))
    every = every[part - 1 :: parts]
    for number, task in enumerate(every):
        task["paired"] = number < options.pairs
        possible = [f for f in task["expected"] if not options.faults or f in options.faults]
        turn = number * options.faults_each % max(1, len(possible))
        task["faults"] = [*possible[turn:], *possible[:turn]][: options.faults_each]
        if "positions" in possible and "positions" not in task["faults"]:
            task["faults"] = ["positions", *task["faults"]][: max(1, options.faults_each)]
        if rows:
            task["faults"] = [f for f in possible if (task["architecture"], f) in rows]
    return every


def mixed(every: list[dict]) -> list[dict]:
    """Order the tasks so that any part of them has some of each library, large ones last."""
    found = []
    for late in (False, True):
        groups: dict[str, list[dict]] = {}
        for task in every:
            if task["late"] == late:
                groups.setdefault(task["case"]["library"], []).append(task)
        rows = itertools.zip_longest(*groups.values())
        found += [task for row in rows for task in row if task is not None]
    return found


def keep_missed(zoo: Zoo) -> None:
    """Pack what the runs of missed rows left, the long texts cut in the middle."""
    with zipfile.ZipFile(zoo.options.out / "missed.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for row in zoo.rows:
            if row["outcome"] == "right" or not row["run"]:
                continue
            home = zoo.work / row["architecture"] / "home" / "runs" / row["run"]
            for path in sorted(home.rglob("*")):
                small = sum(i.compress_size for i in archive.infolist()) < ZIPPED
                if path.suffix in KEPT and path.is_file() and small:
                    name = Path(row["architecture"], row["fault"], path.relative_to(home))
                    archive.writestr(name.as_posix(), cut(path.read_bytes(), TEXT))


def main() -> None:
    options = options_of(
        __doc__,
        python=(sys.executable, "has torch"),
        device="cpu",
        timeout=(200.0, "seconds of one script"),
        jobs=2,
        seconds=3600.0,
        faults_each=2,
        faults=[],
        pairs=(0, "measure so many against the script"),
        only=[],
        rows=([], "NAME or NAME:FAULT: these alone"),
        library=[],
        shard="1/1",
    ).parse_args()
    options.out = folder_at(options.out)
    zoo = Zoo(options)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        begun = {pool.submit(zoo.architecture, task): task for task in tasks(options)}
        try:
            for done in concurrent.futures.as_completed(begun):
                if (error := done.exception()) is not None:
                    print(f"{begun[done]['architecture']}: {error!r}", file=sys.stderr)
        except KeyboardInterrupt:
            zoo.end = 0.0  # nothing more is begun, and what runs is ended
            pool.shutdown(wait=False, cancel_futures=True)
    keep_missed(zoo)
    text = score.table(zoo.rows)
    (options.out / "table.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
