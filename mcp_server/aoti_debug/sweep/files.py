"""What a sweep leaves for other programs and for people: JUnit, SARIF, Markdown, HTML."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from aoti_debug import __version__
from aoti_debug.errors import AotiDebugError
from aoti_debug.plain import clean, clean_all, one_line
from aoti_debug.run.files import create
from aoti_debug.sweep.answer import Bucket, SweepAnswer
from aoti_debug.sweep.buckets import Group, Groups, kind_of, signature_of
from aoti_debug.sweep.row import Row, rows_of

BUCKETS = "buckets.jsonl"
MOST_RESULTS = 25_000  # code hosts take no more of them
MOST_BUCKETS = 100  # of a job summary, which has a size
SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
LEVEL = {"proved": "error", "likely": "warning", "possible": "note"}
STATES = {"new": "new", "still": "unchanged", None: None, "gone": "absent"}
Write = Callable[[TextIO], object]


def write_results(
    answer: SweepAnswer,
    ledger: Path,
    out: Path,
    groups: Groups,
    root: Path,
    earlier: list[Path],
) -> list[Path]:
    """Write all files and return them, the rows' first. Blocks. Raise AotiDebugError."""
    from aoti_debug.report.sweep import page

    def failures() -> Iterator[tuple[Row, Group]]:
        for row in rows_of(ledger):
            group = groups.find(kind_of(row), signature_of(row)) if row.outcome != "ok" else None
            if group is not None:
                yield row, group

    everything: dict[str, Write] = {
        BUCKETS: lambda file: _buckets(file, groups),
        "junit.xml": lambda file: junit(file, answer, rows_of(ledger), groups),
        "sweep.sarif": lambda file: json.dump(sarif(failures(), root), file),
        "summary.md": lambda file: file.write(summary(answer, groups)),
        "sweep.html": lambda file: file.write(page(answer, ledger, earlier)),
    }
    written = [ledger]
    for name, write in everything.items():
        path = out / name
        try:
            with os.fdopen(create(path), "w", encoding="utf-8") as file:
                write(file)
        except OSError as error:
            raise AotiDebugError(f"cannot write {path}: {error.strerror}") from error
        written.append(path)
    return written


def _buckets(file: TextIO, groups: Groups) -> None:
    for group in groups:
        document = clean_all({**group.answer().document(), "names": group.names})
        file.write(json.dumps(document, ensure_ascii=False) + "\n")


def junit(file: TextIO, answer: SweepAnswer, rows: Iterable[Row], groups: Groups) -> None:
    """Write a test case for each target, in the form that CI servers read."""
    counts = f'tests="{answer.finished}" failures="{answer.failed}" errors="{answer.errors}"'
    name = _attribute(answer.name or "sweep")
    file.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name={name} {counts}>\n')
    file.write(f"<testsuite name={name} {counts}>\n")
    for row in rows:
        file.write(
            f'<testcase classname={name} name={_attribute(row.target)} time="{row.wall_s:.3f}"'
        )
        if row.outcome == "ok":
            file.write("/>\n")
            continue
        group = groups.find(kind_of(row), signature_of(row))
        tag = "failure" if row.outcome == "failed" else "error"
        kind = _attribute(group.id if group else row.category or tag)
        body = escape(clean("\n".join(_said(row))))
        file.write(
            f"><{tag} type={kind} message={_attribute(row.summary)}>{body}</{tag}></testcase>\n"
        )
    file.write("</testsuite>\n</testsuites>\n")


def _attribute(text: str) -> str:
    return quoteattr(one_line(text))


def _said(row: Row) -> Iterator[str]:
    yield f"{row.category or 'error'}, {row.confidence or 'unknown'}, in {row.phase or 'no phase'}"
    if row.place:
        yield row.place
    if row.fix:
        yield f"fix: {row.fix}"
    if row.flaky:
        yield f"flaky: {row.failures} of {row.attempts} attempts failed"
    if row.run:
        yield f"run {row.run}"


def sarif(failures: Iterable[tuple[Row, Group]], root: Path) -> dict[str, Any]:
    """Return a SARIF 2.1.0 log: a rule for each bucket, a result for each failed target."""
    rules: dict[str, dict[str, Any]] = {}
    results: list[dict[str, Any]] = []
    for row, group in failures:
        if len(results) >= MOST_RESULTS:
            break
        rules.setdefault(group.id, _rule(group))
        state = STATES[group.state]
        results.append(
            {
                "ruleId": group.id,
                "level": LEVEL.get(row.confidence or "", "warning"),
                "message": {"text": one_line(f"{row.target}: {row.summary}") or row.target},
                "locations": [_location(row, root)],
                "partialFingerprints": {"sweepTarget/v1": row.target, "bucket/v1": group.id},
                **({"baselineState": state} if state else {}),
            }
        )
    driver = {"name": "aoti-debug", "version": __version__, "rules": list(rules.values())}
    return {
        "$schema": SARIF,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _rule(group: Group) -> dict[str, Any]:
    first = group.first
    text = one_line(first.summary) or group.id
    return {
        "id": group.id,
        "name": "".join(word.title() for word in (first.category or "not_run").split("_")),
        "shortDescription": {"text": text},
        "properties": {"tags": [first.category or "not_run", first.phase or "none"]},
        **({"help": {"text": one_line(first.fix)}} if first.fix else {}),
    }


def _location(row: Row, root: Path) -> dict[str, Any]:
    """Return where a failure is; a code host shows it if that lies in the repository."""
    file, _, line = (row.place or "").rpartition(":")
    number = int(line) if line.isdigit() and int(line) > 0 else 1
    path = Path(file) if file else Path(row.target.partition("[")[0])
    uri = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
    place = {
        "artifactLocation": {"uri": quote(clean(uri)) or "unknown"},
        "region": {"startLine": number},
    }
    return {"physicalLocation": place}


def summary(answer: SweepAnswer, groups: Groups) -> str:
    """Return a job summary in Markdown: the counts, then a row for each bucket."""
    from aoti_debug.report.text import escape_markdown as plain

    mark = {"good": "✅", "bad": "❌", "undecided": "⚠️", None: ""}[answer.result]
    counts = f"{answer.ok:,} good, {answer.failed:,} failed, {answer.errors:,} could not be run"
    lines = [f"## {mark} {plain(answer.name or 'sweep')}: {counts}", ""]
    lines += [f"{plain(answer.reason)}.", ""] if answer.reason else []
    shown = [group.answer() for group in groups][:MOST_BUCKETS]
    if shown:
        lines += ["| bucket | targets | category | what | first |", "|---|---:|---|---|---|"]
        lines += [f"| {' | '.join(plain(cell) for cell in _cells(b))} |" for b in shown]
        lines.append("")
    if len(groups) > len(shown):
        lines += [f"{len(groups) - len(shown)} more buckets in {BUCKETS}.", ""]
    if answer.gone:
        lines += ["Gone since the baseline:", ""]
        lines += [f"- {plain(f'{b.id}, {b.targets} targets: {b.summary}')}" for b in answer.gone]
        lines.append("")
    lines += [f"- {plain(note)}" for note in answer.notes]
    return "\n".join(lines).rstrip() + "\n"


def _cells(bucket: Bucket) -> tuple[str, ...]:
    state = f" ({bucket.state})" if bucket.state else ""
    flaky = f"; flaky: {bucket.flaky}" if bucket.flaky else ""
    return (
        f"{bucket.id}{state}",
        f"{bucket.targets:,}",
        f"{bucket.category or 'not run'}, {bucket.confidence or 'unknown'}",
        f"{bucket.summary[:200]}{flaky}",
        bucket.first,
    )
