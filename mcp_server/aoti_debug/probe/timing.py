"""Measure a load and the calls of a package: every part of the load, every launch of a call."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from . import (
    gpu_times,
    launch_times,
    load_time,
    made_inputs,
    pairs,
    rates,
    slots,
    standalone,
    trials_of_time,
)
from .lazy import torch

BUDGET_S = 2.0  # for each comparison
MOST_LAUNCHES = 20_000
Row = Any  # name, gap, seconds, seconds of processors
_began = time.perf_counter()


def main() -> int:
    """Load, call, and report the times; each part of the report is there as soon as it is known."""
    parser = standalone.arguments(__doc__, inputs=False, package=True, exported=False)
    parser.add_argument("--against", help="a package, eager, compile, or settings")
    parser.add_argument("--settings", default="{}", help="Inductor's, for `--against settings`")
    parser.add_argument("--threads", type=int, help="that the script used")
    parser.add_argument("--without", action="append", default=[], help="variable to take away")
    parser.add_argument("--rows", action="store_true", help="try several rows in one call")
    parser.add_argument("--pairs-only", action="store_true", help="compare, and nothing else")
    options = parser.parse_args()
    with standalone.started(options, package=options.package) as report:
        parts = load_time.Parts()
        parts.add("import of torch", time.perf_counter() - _began)
        read = time.perf_counter()
        if options.inputs:
            inputs = standalone.read_inputs(options.inputs)
        else:
            inputs = made_inputs.inputs_for(options.package, options.model)
            report.update(made_inputs=True)
        device = standalone.device_of(inputs.flat)
        on_gpu = device.startswith("cuda")
        if on_gpu:
            torch.cuda.synchronize()
            parts.add("start of CUDA", time.perf_counter() - read)
        if options.threads:
            torch.set_num_threads(options.threads)
        threads, cores = torch.get_num_threads(), len(os.sched_getaffinity(0))
        name = torch.cuda.get_device_name() if on_gpu else "CPU"
        report.update(device=device, device_name=name, threads=threads, cores=cores)
        report.update(inputs=inputs.described)
        model = _load(options, inputs, parts, report)
        call = Called(model, inputs)
        if options.pairs_only:
            ours, theirs = pairs.compared(call, _other(options, call, report), BUDGET_S)
            report.update(against={"ours": ours, "theirs": theirs}, state="done")
            return 0
        _first_call(call, report)
        _calls(call, device, report)
        report.update(rates=rates.measured(device))
        padding = trials_of_time.padding_of(call, options)
        report.update(padding=padding and padding.words, padded=padding and padding.share)
        report.update(trials=trials_of_time.tried(call, device, options, padding, BUDGET_S))
        if options.against:
            _against(options, call, device, report)
        report.update(state="done")
    return 0


class Called:
    """A model and the inputs that it is called with, which are as captured at each call."""

    def __init__(self, model: Any, inputs: standalone.Inputs) -> None:
        self.model, self.captured = model, inputs
        self.inputs = standalone.copied(inputs)
        self.writes = False  # to its inputs

    def __call__(self) -> Any:
        with self.inputs.mode():
            return standalone.call(self.model, self.inputs)

    def restore(self) -> None:
        """Undo what calls have written to their inputs."""
        for now, was in zip(self.inputs.flat, self.captured.flat):
            if self.writes and isinstance(now, torch.Tensor):
                now.copy_(was)

    def find_writes(self) -> None:
        both = zip(self.inputs.flat, self.captured.flat)
        tensors = [(a, b) for a, b in both if isinstance(a, torch.Tensor)]
        self.writes = any(not torch.equal(a, b) for a, b in tensors)


def _load(options: Any, inputs: Any, parts: load_time.Parts, report: standalone.Report) -> Any:
    """Load the package, and report the parts of that and what is named of it."""
    with parts.of("torch's modules for packages"):
        import_module("torch._inductor.package")
    notes: list[str] = []
    with contextlib.ExitStack() as meanwhile:
        try:
            meanwhile.enter_context(load_time.watched(parts))
        except slots.Unavailable as error:
            notes.append(str(error))
        began = time.perf_counter()
        model = standalone.load_package(options, inputs, report, quick=False)
        seconds = time.perf_counter() - began
    report.update(load={"seconds": seconds, "parts": parts.rows()}, notes=notes, state="first call")
    return model


def _first_call(call: Called, report: standalone.Report) -> None:
    """Report how long the first call takes, and which of its launches."""
    loads = Launched(report)
    with loads.seen():
        began = time.perf_counter()
        seconds = pairs.timed(call)
    call.find_writes()
    report.update(first={"seconds": seconds, "launches": merged([loads.rows(began)])})


class Launched:
    """The launches of calls, where this system lets them be seen."""

    def __init__(self, report: standalone.Report) -> None:
        self.launches: launch_times.Launches | None = None
        try:
            self.launches = launch_times.Launches()
        except slots.Unavailable as error:
            report.content.setdefault("notes", []).append(str(error))

    @contextlib.contextmanager
    def seen(self) -> Iterator[None]:
        if self.launches is None:
            yield
            return
        del self.launches.made[:]
        with self.launches.seen():
            yield

    def rows(self, began: float) -> list[Row]:
        """Return name, gap before, seconds and seconds of processors of each, of a call."""
        found = []
        for one in self.launches.made if self.launches is not None else []:
            found.append((one.name, one.began - began, one.ended - one.began, one.processors))
            began = one.ended
        return found


def _calls(call: Called, device: str, report: standalone.Report) -> None:
    """Report the times of calls as they are, and those of their launches and what is between."""
    report.update(state="calls")
    for _ in range(pairs.WARM):
        call()
    if device.startswith("cuda"):
        report.update(call=gpu_times.profiled(call, report, BUDGET_S))
        return
    loads = Launched(report)
    plain: list[float] = []
    walls: list[float] = []
    kept: list[list[Row]] = []
    afters: list[float] = []
    until = time.perf_counter() + BUDGET_S
    while len(plain) < pairs.LEAST or (time.perf_counter() < until and len(plain) < pairs.MOST):
        call.restore()
        plain.append(pairs.timed(call))
        call.restore()
        with loads.seen():
            began = time.perf_counter()
            call()
            walls.append(time.perf_counter() - began)
        kept.append(loads.rows(began))
        afters.append(walls[-1] - sum(row[1] + row[2] for row in kept[-1]))
    seen = loads.launches
    around, within = seen.overhead() if seen is not None else (0.0, 0.0)
    report.update(
        call={
            "plain": plain,
            "watched": walls,
            "launches": merged(kept),
            "after": pairs.middle(afters),
            "overhead": around,
            "within": within,
            "around": _around(call),
        }
    )


def merged(calls: list[list[Row]]) -> list[dict[str, Any]]:
    """Return the launches of a call, each with the median of its times over all calls that made
    the same launches as the last one."""
    if not calls:
        return []
    names = [row[0] for row in calls[-1][:MOST_LAUNCHES]]
    alike = [rows for rows in calls if [row[0] for row in rows[:MOST_LAUNCHES]] == names]
    found = []
    for place, name in enumerate(names):
        each = [rows[place] for rows in alike]
        columns = zip(("gap", "seconds", "processors"), list(zip(*each))[1:])
        found.append({"name": name, **{key: pairs.middle(values) for key, values in columns}})
    return found


def _around(call: Called) -> float | None:
    """Return the seconds that a call spends in Python, around the package's own code."""
    run = getattr(getattr(call.model, "loader", None), "run", None)
    if run is None or any(not isinstance(leaf, torch.Tensor) for leaf in call.inputs.flat):
        return None
    whole, inner = pairs.compared(call, lambda: run(list(call.inputs.flat)), BUDGET_S / 4)
    return max(0.0, pairs.middle([a - b for a, b in zip(whole, inner)]))


def _against(options: Any, call: Called, device: str, report: standalone.Report) -> None:
    """Report the calls of another package or of the program itself, in pairs with this one."""
    report.update(state="against")
    other = _other(options, call, report)
    ours, theirs = pairs.compared(call, other, 2 * BUDGET_S)
    report.update(against={"ours": ours, "theirs": theirs})
    if options.against not in ("eager", "compile"):
        kept = report.content["call"]
        _calls(other, device, report)
        report.update(other=report.content["call"], call=kept)


def _other(options: Any, call: Called, report: standalone.Report) -> Called:
    if options.against == "settings":
        with tempfile.TemporaryDirectory() as folder:
            return _loaded(options, _compiled(options, folder, report), call, report)
    if options.against in ("eager", "compile"):
        module = standalone.load_program(options).module()
        if options.against == "compile":
            module = torch.compile(module)
        return Called(module, call.captured)
    return _loaded(options, options.against, call, report)


def _compiled(options: Any, folder: str, report: standalone.Report) -> str:
    """Compile the exported program with other settings, and return the package."""
    report.update(state="compile with other settings")
    return import_module("torch._inductor").aoti_compile_and_package(  # type: ignore[no-any-return]
        standalone.load_program(options),
        package_path=os.path.join(folder, "model.pt2"),
        inductor_configs=json.loads(options.settings),
    )


def _loaded(options: Any, package: str, call: Called, report: standalone.Report) -> Called:
    own, options.package = options.package, package
    try:
        model = standalone.load_package(options, call.captured, report)
    finally:
        options.package = own
    return Called(model, call.captured)
