"""The steps by which a loaded package gets new weights: their words, and what each one does.

Standard library alone, Python 3.9: the server imports this module too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

STEPS = 64  # of a sequence
LOAD, FOLD, SWAP, FREE, CALL = "load", "fold", "swap", "free", "call"
OVERWRITE, RELEASE = "overwrite", "release"
OPTIONS: Mapping[str, tuple[str, ...]] = {
    LOAD: ("inactive", "full", "user_managed", "from_cpu"),
    FOLD: ("inactive",),
    SWAP: (),
    FREE: (),
    CALL: (),
    OVERWRITE: (),  # its owner writes to the tensors that were given as user-managed
    RELEASE: (),  # their owner drops them
}
_VALUES = {OVERWRITE: "other", LOAD: "new"}  # what a step writes where that is not said
NAMED: Mapping[str, str] = {
    "full": "load-full, call",
    "partial": "load, call",
    "inactive": "load-full-inactive, fold-inactive, swap, call",
    "user-managed": "load-full-user_managed, call",
}


@dataclass(frozen=True)
class Step:
    """One step. `names` None: all weights of the file that the package has."""

    do: str
    inactive: bool = False
    full: bool = False  # check_full_update
    user_managed: bool = False
    from_cpu: bool = False  # the tensors stay on the CPU: allow_h2d_copy
    names: tuple[str, ...] | None = None
    values: str = "new"  # of the file; "old": those of the package; "other": what comes along
    file: int = -1  # of the files of weights, which one

    @property
    def spoils(self) -> bool:
        """Tell whether an owner writes what the package is not meant to have."""
        return self.values == _VALUES[OVERWRITE]

    def __str__(self) -> str:
        options = [name for name in OPTIONS[self.do] if getattr(self, name)]
        values = "" if self.values == _VALUES.get(self.do, "new") else f"@{self.values}"
        names = ":" + "+".join(self.names) if self.names else ""
        return "-".join([self.do, *options]) + values + names

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Step:
        """Make a step of its document."""
        known = {one.name: document[one.name] for one in fields(cls) if one.name in document}
        names = known.get("names")
        return cls(**{**known, "names": tuple(names) if names is not None else None})


@dataclass(frozen=True)
class Finding:
    """A constant that is not as it should be, "": the outputs are not. `step` counts from 1; 0: the
    package itself."""

    constant: str
    status: str
    step: int
    reason: str
    detail: str = ""  # the other constant, the dtype, the sizes
    proved: bool = True  # read back, or shown by outputs


def sequence(text: str) -> tuple[Step, ...]:
    """Return the steps that a text names: a known sequence, or steps with commas between them.

    Raises:
        ValueError: the message says which word is no step.
    """
    words = [word.strip() for word in NAMED.get(text.strip(), text).split(",") if word.strip()]
    if not words or len(words) > STEPS:
        raise ValueError(f"a sequence has 1 to {STEPS} steps: {text[:80]!r}")
    return tuple(map(_step, words))


def _step(word: str) -> Step:
    head, _, names = word.partition(":")
    head, _, values = head.partition("@")
    do, *options = (
        head.replace("user-managed", "user_managed").replace("from-cpu", "from_cpu").split("-")
    )
    unknown = [one for one in options if one not in OPTIONS.get(do, ())]
    values = values or _VALUES.get(do, "new")
    strange = (names and do != LOAD) or values not in ("new", "old", "other")
    if do not in OPTIONS or unknown or strange:
        known = ", ".join(
            "-".join([name, *(f"[{o}]" for o in more)]) for name, more in OPTIONS.items()
        )
        raise ValueError(
            f"{word[:80]!r} is no step; a sequence is one of {', '.join(NAMED)}, or steps such as "
            f"load-inactive:fc.weight+fc.bias, swap, call. Steps: {known}"
        )
    given = tuple(filter(None, names.split("+"))) or None
    return Step(do, names=given, values=values, **dict.fromkeys(options, True))
