"""Try the conditions under which a fixed script refuses a request on inputs, some of which fail.

They are functions of one input, cut out of the script, which has been run as a whole before.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from . import neighbours, standalone
from .lazy import torch

Inputs = standalone.Inputs


def wrong(
    names: list[str], path: str, failing: Inputs, legal: list[Inputs], near: list[Inputs]
) -> list[str]:
    """Say which conditions refuse what the program computes, or let through what fails like the
    failing call, as all of `near` do. Nothing is known of one that cannot be tried, or does not
    refuse that call. `names` are those of the inputs, as far as they are known: of another name it
    may be any of them."""
    found = []
    for one in json.loads(Path(path).read_text("utf-8")):
        known = one["name"] in names
        places = [names.index(one["name"])] if known else range(len(failing.flat))
        said = [_wrong(one, place, failing, legal, near) for place in places]
        tried = [words for words in said if words is not None]
        if tried and all(tried):
            found.append(f"{tried[0]}: {one['text']}")
    return found


def _wrong(
    one: Any, place: int, failing: Inputs, legal: list[Inputs], near: list[Inputs]
) -> str | None:
    """Say what is wrong with a condition on one of the inputs; None where it cannot be tried on
    that, or does not refuse the failing call."""

    def refused(inputs: Inputs) -> bool:
        known: dict[str, Any] = {"torch": torch}
        exec(one["condition"], known)
        return bool(known["refused"](inputs.flat[place]))

    try:
        if not refused(failing):
            return None
        if any(map(refused, legal)):
            return "it refuses what the original computes"
        return "" if all(map(refused, near)) else "it lets through what fails likewise"
    except Exception:
        return None


def drops(drawn: neighbours.Limited, before: list[Any], now: list[Any]) -> bool:
    """Tell whether a call has some of the failing one's rows, and not all that are legal."""
    tensors = [one for one in (*before, *now) if isinstance(one, torch.Tensor) and one.dim()]
    if len(before) != len(now) or len(tensors) < 2 * len(before):
        return False
    bad: set[int] = set()
    for place, leaf in enumerate(before):
        found = neighbours.outside(drawn, place, leaf)
        if found is not None:
            bad |= set(found.reshape(len(leaf), -1).any(1).nonzero()[:, 0].tolist())
    left = _rows(now)
    kept = [row in left for number, row in enumerate(_rows(before)) if number not in bad]
    return bool(bad) and any(kept) and not all(kept)


def _rows(flat: list[Any]) -> list[str]:
    return [str(row) for row in zip(*(leaf.tolist() for leaf in flat))]
