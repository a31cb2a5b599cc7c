"""Make a small reproduction simpler: fixed sizes, one set of inputs, values that are made up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from aoti_debug.minify.candidate import Candidate
from aoti_debug.minify.trials import Trials

ONE_BY_ONE = 6  # tensors whose values are replaced one after the other


async def simplify(trials: Trials) -> None:
    """Try the simplifications one after the other; each that fails alike is kept.

    Values of the offending input come last: what is in them may be the fault.
    """
    best = trials.best
    if best is None:
        return
    now = best.candidate
    if now.dynamic and now.two_sided:
        now = await _if_alike(trials, now, replace(now, dynamic=False, two_sided=False))
    if now.dynamic:
        now = await _if_alike(trials, now, replace(now, dynamic=False))
    if now.two_sided:
        now = await _if_alike(trials, now, replace(now, two_sided=False))
    if now.settings:
        now = await _if_alike(trials, now, replace(now, settings={}))
    loaded = loaded_names(trials)
    if loaded:
        everything = await _if_alike(trials, now, replace(now, made=frozenset(loaded)))
        if everything is now:
            for name in loaded[:ONE_BY_ONE]:
                now = await _if_alike(trials, now, replace(now, made=now.made | {name}))


def loaded_names(trials: Trials) -> list[str]:
    """Return the inputs and weights that the best reproduction reads from a file."""
    if trials.best is None:
        return []
    names: Iterable[str] = (name.removeprefix("weights/") for _, name in trials.best.script.files)
    return list(dict.fromkeys(names))


async def _if_alike(trials: Trials, now: Candidate, simpler: Candidate) -> Candidate:
    """Return the simpler candidate where it fails alike; it is the best one then."""
    if await trials.fails(simpler):
        await trials.prefer()
        return simpler
    return now
