"""Release lines of torch."""

from __future__ import annotations

from typing import NamedTuple

from packaging.version import InvalidVersion, Version

from aoti_debug.errors import WrongUse


class Release(NamedTuple):
    """A torch release line. Patch releases of one line behave alike as far as these facts go."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


OLDEST = Release(2, 6)
NEWEST = Release(2, 15)
RELEASES: tuple[Release, ...] = tuple(Release(2, n) for n in range(6, 16))


def release(version: str | Release) -> Release:
    """Read the release line off any spelling: `2.13.0+cu130`, `2.15.0.dev20260901`, `2.9.0a0+git1`.

    Raises WrongUse when the text is no version of at least two numbers.
    """
    if isinstance(version, Release):
        return version
    try:
        found = Version(version)
    except InvalidVersion:
        found = None
    if found is None or len(found.release) < 2:
        raise WrongUse(
            f"{version[:40]!r} is not a torch version", help="Give one such as 2.13.0+cu130."
        )
    return Release(found.major, found.minor)


def known(version: str | Release) -> bool:
    """Say whether the facts were checked for this release line (2.6 to 2.15)."""
    return OLDEST <= release(version) <= NEWEST
