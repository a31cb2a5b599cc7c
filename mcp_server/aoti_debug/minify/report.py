"""Write report.md: what a maintainer of PyTorch needs to take up the issue."""

from __future__ import annotations

import platform
from pathlib import Path

from aoti_debug.minify.graph import Graph
from aoti_debug.minify.trials import Trials
from aoti_debug.model import MinifyAnswer
from aoti_debug.plain import clean
from aoti_debug.run.files import write_atomically

LOG_LINES = 60


def write_report(folder: Path, answer: MinifyAnswer, trials: Trials, graph: Graph) -> None:
    """Write the report beside the reproduction."""
    text = report(answer, trials, graph, (folder / "repro.py").read_text("utf-8"))
    write_atomically(folder / "report.md", text.encode())


def report(answer: MinifyAnswer, trials: Trials, graph: Graph, repro: str) -> str:
    """Return the text of an issue: failure, reproduction, diagnosis, environment, log."""
    best = trials.best
    log = best.outcome.stderr.splitlines()[-LOG_LINES:] if best else []
    diagnosis = answer.diagnosis
    parts = [
        f"# AOTInductor: {clean(answer.signature or '')}",
        f"Reduced from {answer.nodes_before} operators to {answer.nodes}. {answer.confirmed}.",
        "## Reproduction",
        _fenced("python", repro),
        "It reads `repro_inputs.pt`, which has to be attached."
        if best and best.script.files
        else "It needs no other file.",
    ]
    if diagnosis is not None:
        parts += ["## Diagnosis", clean(diagnosis.summary)]
    if answer.source:
        parts.append(f"In the original model: `{clean(answer.source)}`.")
    parts += [
        "## Environment",
        f"torch {graph.torch}, {platform.platform()}, {platform.machine()}",
        "## Log",
        _fenced("", "\n".join(clean(line) for line in log)),
    ]
    if answer.also_seen:
        parts += ["## Also seen", "\n".join(f"* {clean(text)}" for text in answer.also_seen)]
    return "\n\n".join(parts) + "\n"


def _fenced(language: str, text: str) -> str:
    """Return a code block whose fence the text cannot end."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
