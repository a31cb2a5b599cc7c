"""What the probe measured of a package: its load, its calls, what was tried, in seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Annotated

from aoti_debug.read.typed import Texts, take
from aoti_debug.vocabulary import Leaf

MOST_LAUNCHES = 20_000


@dataclass(frozen=True, slots=True)
class LoadPart:
    name: str
    seconds: float = 0.0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Load:
    """A load; the first parts come before it, in a process that has not loaded one yet."""

    seconds: float = 0.0
    parts: tuple[LoadPart, ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchTime:
    """One launch of a call: what passed since the one before, how long it took, what all
    processors spent meanwhile."""

    name: str
    gap: float = 0.0
    seconds: float = 0.0
    processors: float = 0.0


def _launches(value: object) -> tuple[LaunchTime, ...] | None:
    if not isinstance(value, list):
        return None
    return tuple(take(LaunchTime, one) for one in value[:MOST_LAUNCHES])


@dataclass(frozen=True, slots=True)
class Wait:
    """A call of the GPU's driver in which the host waits."""

    name: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls as they are and, in turn with them, calls of which each launch was seen; to see one
    adds `overhead` before it and what is `within` it; `around` is what is spent in Python. On a
    GPU what recording `added` to a call is taken off already."""

    plain: tuple[float, ...] = ()
    watched: tuple[float, ...] = ()
    launches: Annotated[tuple[LaunchTime, ...], _launches] = ()
    after: float = 0.0  # the last launch
    overhead: float = 0.0
    within: float = 0.0
    added: float = 0.0
    around: float | None = None
    waits: tuple[Wait, ...] = ()

    @property
    def wall(self) -> float:
        """Return the median of the calls that nothing was done to."""
        return median(self.plain) if self.plain else 0.0

    @property
    def accounted(self) -> float:
        """Return launches and gaps, without what seeing them adds, as a part of the call beside."""
        added = (self.overhead + self.within) * len(self.launches)
        both = zip(self.watched, self.plain, strict=False)
        ratios = [max(0.0, seen - added) / plain for seen, plain in both if plain > 0]
        return median(ratios) if ratios else 0.0


@dataclass(frozen=True, slots=True)
class First:
    """The first call."""

    seconds: float = 0.0
    launches: Annotated[tuple[LaunchTime, ...], _launches] = ()


@dataclass(frozen=True, slots=True)
class Pairs:
    """Calls made in two ways in turn."""

    ours: tuple[float, ...] = ()
    theirs: tuple[float, ...] = ()

    @property
    def ratios(self) -> list[float]:
        """Return for each pair how long the other way takes, as a part of ours; sorted."""
        return sorted(b / a for a, b in zip(self.ours, self.theirs, strict=False) if a > 0)

    @property
    def ratio(self) -> float:
        """Return the median of the ratios."""
        return median(self.ratios) if self.ratios else 1.0

    @property
    def twice(self) -> float:
        """Return the worse of the medians of the first half of the pairs and of the second."""
        half = len(self.ours) // 2
        parts = slice(half), slice(half, None)
        return max(Pairs(self.ours[part], self.theirs[part]).ratio for part in parts)

    @property
    def spread(self) -> tuple[float, float]:
        """Return between which ratios the middle half of the pairs lies."""
        ratios = self.ratios or [1.0]
        return ratios[len(ratios) // 4], ratios[(3 * len(ratios)) // 4 - (len(ratios) % 4 == 0)]


@dataclass(frozen=True, slots=True)
class Tried:
    """A change that was tried, in pairs with calls as they are, or why it could not be."""

    name: str
    pairs: Pairs = Pairs()
    why_not: str | None = None


@dataclass(frozen=True, slots=True)
class TimingReport:
    """All that was measured in one process, as far as it came."""

    device: str = "cpu"
    device_name: str | None = None
    threads: int | None = None
    cores: int | None = None
    inputs: tuple[Leaf, ...] = ()
    made_inputs: bool = False  # by what the package says of them
    load: Load = Load()
    first: First = First()
    call: Calls = Calls()
    other: Calls | None = None  # of the package that it is compared with
    rates: Mapping[str, float] | None = None
    trials: tuple[Tried, ...] = ()
    padding: str | None = None  # what the trial of this name leaves out
    padded: float | None = None  # of the dimension
    against: Pairs | None = None
    notes: Texts = ()
