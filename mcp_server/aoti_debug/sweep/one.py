"""Run one target: a triage in a process of its own, `python -m aoti_debug.sweep.one ORDER.json
ROW.json`, so that whatever it does is one row. Local and Ray's workers call `run_one`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import anyio
from pydantic import TypeAdapter, ValidationError

from aoti_debug.answers import TriageAnswer
from aoti_debug.errors import AotiDebugError, in_words
from aoti_debug.model import Diagnosis, RunRecord
from aoti_debug.plain import last_line
from aoti_debug.run.device import visible_devices
from aoti_debug.run.directory import RunDirectory
from aoti_debug.run.files import folder, read_regular, remove_tree, write_atomically
from aoti_debug.run.process import Command, run_process
from aoti_debug.signals import caught, settled
from aoti_debug.sweep.plan import REPLAY, Planned
from aoti_debug.sweep.row import Row, short
from aoti_debug.triage.fingerprint import FILE, read_fingerprint
from aoti_debug.vocabulary import Fingerprint

if TYPE_CHECKING:
    from aoti_debug.api import Service
    from aoti_debug.triage.run_state import Request

SPARE_S = 1800.0  # for what a triage does after the target's own time
TIMES = 6.0  # a triage repeats calls and compiles: so many times the target's limit
SAMPLE_S = 1.0
LEFT = "row.json"


@dataclass(frozen=True, slots=True)
class Order:
    """One target; `devices` are GPUs that the sweep holds, None where the triage holds them."""

    planned: Planned
    home: str | None  # None: the worker's own
    owner: str | None = None
    prunes: bool = False
    where: str = ""
    devices: tuple[str, ...] | None = None
    alone: bool = True  # on its GPUs: their memory in use is its own

    def environment(self) -> dict[str, str]:
        held = {} if self.devices is None else {"CUDA_VISIBLE_DEVICES": ",".join(self.devices)}
        return {**dict(self.planned.env), **held}


ORDER = TypeAdapter(Order)


async def run_one(order: Order, directory: Path, stop: anyio.Event | None = None) -> Row:
    """Run one target and return its row, whatever happens. `directory` is new, then gone."""
    planned = order.planned
    began = anyio.current_time()
    try:
        await anyio.to_thread.run_sync(_begin, order, directory)
        words = (str(directory / "order.json"), str(directory / LEFT))
        argv = (sys.executable, "-m", "aoti_debug.sweep.one", *words)
        env = {**os.environ, **({"AOTI_DEBUG_HOME": order.home} if order.home else {})}
        limit = SPARE_S + (1 + planned.retries) * TIMES * planned.timeout_s
        command = Command(argv, env, directory, limit, output_cap=1 << 20)
        ended = await run_process(command, directory, stop=stop)
        # One that was ended has not written it: its target has.
        row = await anyio.to_thread.run_sync(_left, directory) if ended.ok else None
        if row is None:
            said = await anyio.to_thread.run_sync(_last_words, directory)
            row = not_run(planned, f"the process that triaged it ended with {ended.how}{said}")
    except (AotiDebugError, OSError) as error:
        row = not_run(planned, str(error))
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(remove_tree, directory)
    wall = row.wall_s or round(anyio.current_time() - began, 2)
    return row.model_copy(update={"where": order.where or None, "wall_s": wall})


def _begin(order: Order, directory: Path) -> None:
    folder(directory)
    write_atomically(directory / "order.json", ORDER.dump_json(order))


def _left(directory: Path) -> Row | None:
    try:
        return Row.model_validate_json(read_regular(directory / LEFT))
    except (OSError, ValidationError):
        return None


def _last_words(directory: Path) -> str:
    try:
        said = last_line(read_regular(directory / "stderr.log", 1 << 20), 300)
    except OSError:
        return ""
    return f": {said}" if said else ""


def not_run(planned: Planned, what: str) -> Row:
    """Return the row of a target that could not be run or judged."""
    return Row(index=planned.index, target=planned.name, outcome="error", summary=short(what))


def main() -> None:
    """Triage the target of an order, again after a failure as often as it is to be retried."""
    row = anyio.run(triaged, ORDER.validate_json(Path(sys.argv[1]).read_bytes()))
    write_atomically(Path(sys.argv[2]), row.model_dump_json().encode())


async def triaged(order: Order) -> Row:
    """Return the row of a target: of its first failure, where it fails in any attempt."""
    kept: Row | None = None
    failures = attempts = 0
    wall = 0.0
    while attempts <= order.planned.retries and (failures or not attempts):
        attempts += 1
        began = anyio.current_time()
        try:
            row = await _attempt(order)
        except Exception as error:  # a fault of ours is a row as well
            row = not_run(order.planned, in_words(error))
        wall = wall or anyio.current_time() - began
        failures += row.outcome != "ok"
        worse = kept is None or (kept.outcome == "ok" and row.outcome != "ok")
        kept, dropped = (row, kept) if worse else (kept, row)
        if dropped is not None and dropped.run:
            _remove(dropped.run)
    assert kept is not None
    counted = {"attempts": attempts, "failures": failures, "wall_s": round(wall, 2)}
    return kept.model_copy(update=counted)


# What the request of a triage takes as the plan has it.
GIVEN = ("script", "module", "command", "args", "python", "cwd", "timeout_s", "imports")


async def _attempt(order: Order) -> Row:
    from aoti_debug import api

    planned = order.planned
    given: dict[str, Any] = {name: getattr(planned, name) for name in GIVEN}
    request = await anyio.to_thread.run_sync(partial(api.request, env=order.environment(), **given))
    request = replace(request, holds_gpus=order.devices is None)
    memory = _GpuMemory(request.target.env if order.devices and order.alone else None)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(memory.watch)
        async with api.service(prunes=order.prunes) as service:
            ended = await caught(_ended(service, request, order.owner))
        tasks.cancel_scope.cancel()
    answer = settled(ended)
    failed = answer.found_fault is not False
    row = _row(planned, answer, "failed" if failed else "ok")
    if not failed:
        _remove(answer.run)
    return row.model_copy(update={"gpu_memory": memory.peak})


async def _ended(service: Service, request: Request, owner: str | None) -> TriageAnswer:
    from aoti_debug.kinds import TRIAGE

    answer = await service.wait(await service.start(TRIAGE, request, owner))
    assert isinstance(answer, TriageAnswer)
    return answer


class _GpuMemory:
    """The most that is in use on the GPUs that a target has to itself."""

    def __init__(self, env: Mapping[str, str] | None) -> None:
        self._env = env
        self.peak: int | None = None

    async def watch(self) -> None:
        while self._env is not None:
            found = await anyio.to_thread.run_sync(visible_devices, self._env)
            used = sum(d.memory - d.free for d in found)
            self.peak = max(self.peak or 0, used) if found else self.peak
            await anyio.sleep(SAMPLE_S)


def _row(planned: Planned, answer: TriageAnswer, outcome: Literal["ok", "failed"]) -> Row:
    from aoti_debug.report.recorded import recorded

    directory = RunDirectory.open(answer.run)
    record = directory.read_record() or RunRecord()
    best = answer.diagnosis
    bars = recorded(directory.path, None, answer.steps).timeline
    phases: dict[str, float] = {}
    for bar in bars:
        name = "checks" if bar.tone == "step" else bar.name
        phases[name] = round(phases.get(name, 0.0) + bar.seconds, 3)
    row = Row(
        index=planned.index,
        target=planned.name,
        outcome=outcome,
        exit=(record.exit or "")[:80] or None,
        phases=dict(list(phases.items())[:20]),
        memory=record.peak_rss if record.peak_rss > 0 else None,
        size=_size(planned, directory.path),
        torch=record.torch,
        run=answer.run if outcome == "failed" else None,
    )
    return row if best is None or outcome == "ok" else _with_diagnosis(row, best, directory)


def _with_diagnosis(row: Row, best: Diagnosis, directory: RunDirectory) -> Row:
    source = next(iter(best.source), None)
    place = f"{source.file}:{source.line}" if source else None
    return row.model_copy(
        update={
            **best.model_dump(include={"category", "phase", "confidence", "constant", "guide"}),
            "summary": short(best.summary),
            "broken": best.input.property if best.input else None,
            "signature": _signature(directory),
            "ops": tuple(best.ops[:20]),
            "fix": short(best.fixes[0].what) if best.fixes else None,
            "place": place[-300:] if place else None,
            "text": source.text[:200] if source and source.text else None,
        }
    )


def _signature(directory: RunDirectory) -> Fingerprint | None:
    try:
        return read_fingerprint(read_regular(directory.path / FILE))
    except OSError:
        return None


def _size(planned: Planned, directory: Path) -> int | None:
    """Return the bytes of the packages that were called, or of the script."""
    packages = [path.stat().st_size for path in (directory / "capture").glob("*.pt2")]
    if packages:
        return sum(packages)
    named = planned.args[1] if planned.script == str(REPLAY) else planned.script
    try:
        return Path(named).stat().st_size if named else None
    except OSError:
        return None


def _remove(run: str) -> None:
    remove_tree(RunDirectory.open(run).path)


if __name__ == "__main__":
    main()
