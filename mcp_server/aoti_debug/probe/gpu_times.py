"""Measure calls on a GPU with torch's profiler: kernels, which launch each is of, waits."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from typing import Any

from . import launch_times, pairs, slots, standalone
from .lazy import torch

_LEAST, _MOST, _ROUNDS = 7, 10, 8  # calls in a row, and how often
_EARLY = 20  # calls that a recording is slower for
_CALL, _LAUNCH = "aoti_debug.call", "aoti_debug.launch:"
_ON_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
_RUNTIME = ("cuda_runtime", "cuda_driver")
_WAITS = ("Synchronize", "cudaMemcpy", "cuMemcpy", "cudaFree", "cudaMalloc")
_TRACE = 2_000_000_000  # bytes


def profiled(call: Any, report: standalone.Report, budget_s: float) -> dict[str, Any]:
    """Return the launches of the call in the middle of a few by their time, each with its kernels,
    the seconds in which the GPU had nothing to do, and the waits of the host.

    Recording makes the host slower. Calls as they are, made in turn with recorded ones, show by
    how much: one half of both gives it, the other half is returned without it.
    """
    each = min(max(_LEAST, int(budget_s / _ROUNDS / pairs.timed(call))), _MOST)
    plain: list[list[float]] = [[], []]
    watched: list[list[float]] = [[], []]
    events: list[dict[str, Any]] = []
    for number in range(2 * (_ROUNDS if each == _MOST else 1) + 2):
        half = number % 2
        times = [pairs.timed(call) for _ in range(each)]
        found, walls = _recorded(call, contextlib.nullcontext(), each)
        if number < 2:  # the first of a process are slower
            continue
        plain[half] += times
        watched[half] += walls
        events += found if half else []
    added = max(0.0, pairs.middle([a - b for a, b in zip(watched[0], plain[0])]))
    try:
        launches = launch_times.Launches()
        named, _ = _recorded(call, launches.seen(_marked), _LEAST)
    except slots.Unavailable as error:
        report.content.setdefault("notes", []).append(str(error))
        named = events
    calls = sorted(_calls(events), key=lambda one: one["dur"])
    chosen = calls[len(calls) // 2]
    kernels = _kernels(events, chosen)
    owners = _owners(named, len(kernels))
    return {
        "plain": plain[1],
        "watched": [one - added for one in watched[1]],
        **_launches(kernels, owners, chosen, added),
        "waits": _waits(events, chosen),
        "added": added,
    }


def _marked(name: str) -> Any:
    return torch.profiler.record_function(_LAUNCH + name)


def _recorded(call: Any, seen: Any, calls: int) -> tuple[list[dict[str, Any]], list[float]]:
    """Return the events of the profiler over so many calls, and the seconds of each call."""
    activity = torch.profiler.ProfilerActivity
    walls = []
    with torch.profiler.profile(activities=[activity.CPU, activity.CUDA]) as profile, seen:
        early = _EARLY if calls == _MOST else 1
        for number in range(calls + early):
            call.restore()
            standalone.synchronize()
            began = time.perf_counter()
            with torch.profiler.record_function(_CALL if number >= early else "warm-up"):
                call()
                standalone.synchronize()
            walls.append(time.perf_counter() - began)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        profile.export_chrome_trace(path)
        with open(path, encoding="utf-8", errors="replace") as stream:
            events = json.loads(stream.read(_TRACE))["traceEvents"]
    return [one for one in events if one.get("ph") == "X"], walls[early:]


def _calls(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [e for e in events if e.get("cat") == "user_annotation" and e["name"] == _CALL]


def _within(event: dict[str, Any], outer: dict[str, Any]) -> bool:
    return bool(outer["ts"] <= event["ts"] <= outer["ts"] + outer["dur"])


def _kernels(events: list[dict[str, Any]], call: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what ran on the GPU for a call, in the order in which it began."""
    found = [e for e in events if e.get("cat") in _ON_DEVICE and _within(e, call)]
    return sorted(found, key=lambda e: e["ts"])


def _owners(events: list[dict[str, Any]], count: int) -> list[str]:
    """Return which launch each kernel of a call belongs to: the innermost that was under way when
    the host started it; of a call that ran as many kernels."""
    for call in reversed(_calls(events)):
        kernels = _kernels(events, call)
        if len(kernels) != count:
            continue
        own = (e for e in events if e.get("cat") == "user_annotation" and _within(e, call))
        marks = sorted((e for e in own if e["name"].startswith(_LAUNCH)), key=lambda e: e["ts"])
        started = {
            e.get("args", {}).get("correlation"): e for e in events if e.get("cat") in _RUNTIME
        }
        found = []
        for kernel in kernels:
            by = started.get(kernel.get("args", {}).get("correlation"))
            inside = [n for n, mark in enumerate(marks) if by and _within(by, mark)]
            found.append(
                f"{inside[-1]}:{marks[inside[-1]]['name'][len(_LAUNCH) :]}" if inside else ""
            )
        return found
    return [""] * count


def _launches(
    kernels: list[dict[str, Any]], owners: list[str], call: dict[str, Any], added: float
) -> dict[str, Any]:
    """Join the kernels of one launch, with the time in which the GPU had nothing to do before. The
    seconds that recording adds are the host's: they are taken off all such times alike."""
    found: list[dict[str, Any]] = []
    last, end = "", 0.0
    for kernel, owner in zip(kernels, owners):
        began, seconds = (kernel["ts"] - call["ts"]) / 1e6, kernel["dur"] / 1e6
        seconds -= max(0.0, end - began)  # of another stream at the same time
        gap = max(0.0, began - end)
        end = max(end, began + kernel["dur"] / 1e6)
        if owner and owner == last:
            found[-1]["seconds"] += gap + max(0.0, seconds)
            continue
        name = owner.partition(":")[2]
        generated = not name or name.startswith(("cuLaunch", "hipModuleLaunch"))
        called = kernel["name"] if generated else name
        found.append({"name": called, "gap": gap, "seconds": max(0.0, seconds)})
        last = owner
    after = max(0.0, call["dur"] / 1e6 - end)
    idle = after + sum(one["gap"] for one in found)
    part = max(0.0, 1 - added / idle) if idle else 1.0
    return {"launches": [{**one, "gap": one["gap"] * part} for one in found], "after": after * part}


def _waits(events: list[dict[str, Any]], call: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the calls of the driver within a call that wait for the GPU or for memory, without the
    wait at its end that measures it."""
    inside = [e for e in events if e.get("cat") in _RUNTIME and _within(e, call)]
    inside.sort(key=lambda e: e["ts"])
    ends = [e for e in inside if "DeviceSynchronize" in e["name"]][-1:]
    return [
        {"name": e["name"], "seconds": e["dur"] / 1e6}
        for e in inside
        if any(word in e["name"] for word in _WAITS) and "Async" not in e["name"] and e not in ends
    ]
