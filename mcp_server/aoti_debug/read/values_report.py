"""What the probe's look at a package's kernels reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from aoti_debug.vocabulary import ValueSummary


def numbers(document: object) -> dict[str, float] | None:
    """Read named numbers."""
    if not isinstance(document, dict):
        return None
    found = {str(k)[:80]: v for k, v in list(document.items())[:64]}
    return {k: v for k, v in found.items() if isinstance(v, (int, float))}


@dataclass(frozen=True)
class Seen(ValueSummary):
    """A tensor as it was."""

    shape: tuple[int, ...] = ()
    dtype: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    at: tuple[int, ...] = ()
    package: float | str | None = None  # NaN and Inf are texts
    expected: float | str | None = None


@dataclass(frozen=True, slots=True)
class Like:
    """The value of the reference that a written one agrees with, or is nearest to."""

    node: str = ""
    op: str = ""
    stack: tuple[Any, ...] = ()
    wrong: int | None = None
    first_wrong: Place | None = None


@dataclass(frozen=True, slots=True)
class Argument:
    name: str = ""
    read: bool = False
    before: Seen | None = None
    after: Seen | None = None
    agrees: bool | None = None
    like: Like | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """What would launch a kernel again: its parameters; `devices` are empty for numbers."""

    names: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Launched:
    number: int = 0
    kernel: str = ""
    kind: str = ""
    source: int | None = None  # number of the launch in the generated source
    grid: tuple[int, ...] = ()
    sizes: Annotated[dict[str, float] | None, numbers] = None
    arguments: tuple[Argument, ...] = ()
    given: Given | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    verdict: str = ""
    reference: str = ""


@dataclass(frozen=True, slots=True)
class First:
    number: int = 0
    argument: str = ""
    then: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """A check of a kernel's own that failed, and ended the call."""

    kernel: str = ""
    number: int = 0
    said: str = ""


@dataclass(frozen=True, slots=True)
class ValuesReport:
    launches: tuple[Launched, ...] = ()
    unseen: tuple[str, ...] = ()
    compared: Compared | None = None
    first: First | None = None
    nan: First | None = None
    refused: Refused | None = None
    not_decomposed: str = ""
