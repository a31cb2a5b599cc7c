"""What a search starts from: an exported program, the failing call's inputs, and what is known."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aoti_debug.diagnose import Observations
from aoti_debug.examine.launches import launches_in
from aoti_debug.minify.request import NothingToMinify
from aoti_debug.minify.worker_pool import text_of
from aoti_debug.model import Diagnosis, Ending, RunRecord
from aoti_debug.package.record import Launch
from aoti_debug.record.run_seen import RunSeen
from aoti_debug.run.directory import RunDirectory
from aoti_debug.run.files import read_regular
from aoti_debug.run.machine import find_tool
from aoti_debug.run.target import Target
from aoti_debug.triage.captured_call import Captured, captured, with_custom_ops
from aoti_debug.triage.captured_program import program_kept
from aoti_debug.triage.findings import found_broken
from aoti_debug.triage.fingerprint import WRONG_VALUES, expected_of, kernel_in
from aoti_debug.triage.observe import observe
from aoti_debug.triage.probe_arguments import context_arguments
from aoti_debug.triage.replay import reports_kept
from aoti_debug.triage.run_state import DIAGNOSIS
from aoti_debug.triage.spawn import torch_of
from aoti_debug.vocabulary import Fingerprint

WITHOUT_WEIGHTS = "aot_inductor.package_constants_in_so"
NOTHING = Captured()
NOT_FAILED = ("no_fault", "false_alarm")


@dataclass(frozen=True, slots=True)
class Material:
    """What a search starts from. `words` give the probe operators and weights; `text` is the
    failing run's output; `inputs` is None without a call, `exported` without a kept program."""

    exported: Path | None
    package: Path | None = None
    model: str = "model"
    inputs: Path | None = None
    words: tuple[str, ...] = ()
    context: Captured = NOTHING  # modules, folders and libraries of the operators
    settings: Mapping[str, Any] | None = None
    diagnosis: Diagnosis | None = None
    observations: Observations | None = None
    expected: tuple[Fingerprint, ...] = ()  # one of these is the failure; none: any is
    text: str = ""
    kernel: str | None = None
    launches: tuple[Launch, ...] = ()
    wall_s: float = 0.0  # of the failing run
    peak_rss: int = 0  # bytes
    vec_isa: tuple[str, ...] | None = None  # vector instructions it found usable; None: not told
    notes: tuple[str, ...] = ()
    why_no_exported: str = ""

    def is_failure(self, found: Fingerprint) -> bool:
        """Tell whether a repetition failed as the run did; a kept export cannot fail to export."""
        if not found.failed or found.phase in (None, "export"):
            return False
        return not self.expected or any(one.same(found) for one in self.expected)

    @property
    def candidate_settings(self) -> Mapping[str, Any]:
        """Return the settings of the compile; a candidate brings the weights that were loaded."""
        loaded = "--constants" in self.words
        known = (self.settings or {}).items()
        return {key: value for key, value in known if not (loaded and key == WITHOUT_WEIGHTS)}

    @property
    def wrong_values(self) -> bool:
        return self.diagnosis is not None and self.diagnosis.category in WRONG_VALUES

    @property
    def hung(self) -> bool:
        ending = self.observations.ending if self.observations is not None else None
        return ending is not None and ending.timed_out

    @property
    def not_finite(self) -> bool:
        call = self.observations.run.last_call if self.observations is not None else None
        return call is not None and any(out.nan or out.inf for out in call.outputs)


def material_of(
    directory: RunDirectory, target: Target, home: Path | None, imports: Sequence[str] = ()
) -> Material:
    """Read what a run has kept of its failure; raise NothingToMinify where nothing was exported."""
    found = failure_kept(directory, target, home, imports)
    if found.exported is None:
        raise unexported(directory.id, found)
    return found


def unexported(run: str, material: Material) -> NothingToMinify:
    return NothingToMinify(
        f"run {run} holds no exported program: {material.why_no_exported}",
        help="Where the script loads a package that was there before, triage it once more with "
        "the package deleted, so that the run builds it; or triage the script that builds it.",
    )


def failure_kept(
    directory: RunDirectory, target: Target, home: Path | None, imports: Sequence[str] = ()
) -> Material:
    """Read what a run has kept of its failure, with or without an exported program. Raise
    NothingToMinify where it was not watched, or is of another torch or machine."""
    record = directory.read_record() or RunRecord()
    observations = observe(directory.path, "", record.ended or Ending())
    checks = reports_kept(directory.path)
    events = replace(observations.run, broken=found_broken(observations.run, checks))
    observations = replace(observations, checks=checks, run=events)
    if not events.probed:
        raise NothingToMinify(f"run {directory.id} was not watched, so nothing was captured")
    _same_torch(events, target, directory.id)
    _same_machine(events, target, directory.id)
    diagnosis: Diagnosis | None = None
    with contextlib.suppress(OSError, ValueError):
        diagnosis = Diagnosis.model_validate_json(read_regular(directory.path / DIAGNOSIS))
    call = captured(observations, directory.path, home)
    exported, settings, why = _exported(events, call, directory)
    call = call if call.call is not None else with_custom_ops(Captured(), events)
    package = call.package
    text = text_of(directory.path / "stderr.log") + text_of(directory.path / "stdout.log")
    named = diagnosis.kernel if diagnosis is not None else None
    usable = (one.details.vec_isa for one in events.compiles)
    return Material(
        exported=exported,
        package=package,
        model=call.call.model if call.call else "model",
        inputs=call.inputs,
        words=context_arguments(call, target, imports),
        context=replace(call, modules=tuple(dict.fromkeys((*imports, *call.modules)))),
        settings=settings,
        diagnosis=diagnosis,
        observations=observations,
        expected=tuple(expected_of(observations, diagnosis, text)),
        text=text,
        kernel=(named.name if named is not None else None) or kernel_in(text),
        launches=tuple(launches_in(package, call.call.model if call.call else None)),
        wall_s=record.script_s or record.wall_s or 0.0,
        peak_rss=record.peak_rss,
        vec_isa=next((found for found in usable if found is not None), None),
        notes=() if call.inputs or package is None else (call.why_no_inputs,),
        why_no_exported=why,
    )


def _same_torch(events: RunSeen, target: Target, run: str) -> None:
    """Refuse a run of another torch: its exported program and its failure are of that one."""
    seen = events.torch.version if events.torch else None
    here = torch_of(target)
    if seen and here and seen.partition("+")[0] != here.partition("+")[0]:
        raise NothingToMinify(
            f"run {run} used torch {seen}, and {target.python} has torch {here}",
            help="Name the interpreter of that run with --python, or triage again with this one.",
        )


def _same_machine(events: RunSeen, target: Target, run: str) -> None:
    """Refuse a run whose inputs were on a GPU where there is none: another machine's."""
    devices = {leaf.device for call in events.calls for leaf in call.inputs if leaf.device}
    on_gpu = any(device.startswith("cuda") for device in devices)
    if on_gpu and find_tool("nvidia-smi", target.env) is None:
        raise NothingToMinify(
            f"run {run} used a GPU, and this machine has none",
            help="Minify it on the machine that it ran on: its failure cannot be repeated here.",
        )


def _exported(
    events: RunSeen, call: Captured, directory: RunDirectory
) -> tuple[Path | None, Mapping[str, Any], str]:
    """Return the exported program of the failing call, else of the last compile; its settings."""
    if call.exported is not None:
        return call.exported, call.settings or {}, ""
    found = events.compiles
    if not found:
        more = f"; {call.to_have_exported.why}" if call.to_have_exported is not None else ""
        return None, {}, call.why_no_exported + more or "nothing was compiled"
    last = next((c for c in reversed(found) if c.ok is not True), found[-1])
    program, why = program_kept(events, (last, directory.path))
    return program, last.details.settings or {}, why


def ended_well(material: Material) -> bool:
    if material.diagnosis is not None:
        return material.diagnosis.category in NOT_FAILED
    ending = material.observations.ending if material.observations else None
    return ending is not None and ending.clean
