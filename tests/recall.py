"""Read a finished run again, as the triage saw it: from its directory alone."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from aoti_debug.diagnose import Ending, Observations
from aoti_debug.read.record import Record
from aoti_debug.triage.observe import ABOUT_THE_CALL, SANITIZER, TOLD, observe, report_of

OURS = (*TOLD, SANITIZER)
CODE = re.compile(r"exit (\d{1,3})")
TIMED_OUT = re.compile(r"timed out after ([\d.]{1,10}) s")
SIGNAL = re.compile(r"SIG[A-Z0-9]{2,10}")


def recall(directory: Path, *, steps: bool = True) -> Observations:
    """Return the observations of a run, with those of its steps; the package is not read."""
    record = json.loads((directory / "run.json").read_bytes())
    first = observe(directory, "", ending_of(str(record.get("exit"))), ours=OURS)
    found: dict[str, Observations] = {}
    for step in (record.get("steps") or []) if steps else []:
        if isinstance(step.get("artifact"), str):
            found[str(step.get("name"))] = step_of(directory, step)
    about: list[Record] = [
        about_it
        for observations in found.values()
        for about_it in observations.records
        if isinstance(about_it, ABOUT_THE_CALL)
    ]
    return replace(first, records=(*first.records, *about), steps=found)


def step_of(directory: Path, step: dict[str, Any]) -> Observations:
    prefix = f"{step['artifact']}/"
    folder = directory / step["artifact"]
    observations = observe(folder, prefix, ending_of(str(step.get("exit"))), ours=OURS)
    return replace(observations, report=report_of(folder), prefix=prefix)


def ending_of(how: str) -> Ending:
    """Read what `Exit.how` wrote."""
    if timed_out := TIMED_OUT.match(how):
        return Ending(timed_out=True, timeout_s=float(timed_out[1]))
    if code := CODE.match(how):
        return Ending(code=int(code[1]))
    if signal := SIGNAL.match(how):
        return Ending(signal=signal[0])
    return Ending()
