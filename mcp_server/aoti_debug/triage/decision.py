"""Whether a step is run, skipped or impossible, and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Name = Literal[
    "contract",
    "calls",
    "guards",
    "compare",
    "fakes",
    "repeats",
    "poison",
    "again",
    "native",
    "memcheck",
    "initcheck",
    "racecheck",
    "synccheck",
    "deterministic",
]


@dataclass(frozen=True, slots=True)
class Machine:
    """What this machine has for the replays."""

    gpu: bool = False
    sanitizer: Path | None = None
    gdb: Path | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """Take the step: in the process that all checks of the call share, in a replay of its own, or
    on the target itself."""

    where: Literal["checks", "replay", "target"]


@dataclass(frozen=True, slots=True)
class Skip:
    """The step could say nothing new."""

    why: str


@dataclass(frozen=True, slots=True)
class Impossible:
    """The step should be taken and cannot."""

    why: str


Decision = Run | Skip | Impossible
CHECK, REPLAY, TARGET = Run("checks"), Run("replay"), Run("target")


@dataclass(frozen=True, slots=True)
class Planned:
    """A step, why it is called for, and what is decided of it. `of_target`: it is about the target
    itself, not about its captured call."""

    name: Name
    why: str
    decision: Decision
    of_target: bool = False

    @property
    def key(self) -> str:
        return f"{self.name} of the target" if self.of_target else self.name


NO_GPU = Impossible("this machine has no GPU that the script can see")
NO_SANITIZER = Impossible(
    "compute-sanitizer is not on this machine (it comes with the CUDA toolkit, or with "
    "pip install nvidia-cuda-sanitizer-api)"
)
NO_GDB = Impossible("gdb is not on this machine")
NO_CHECKS = Impossible("the package was compiled without input checks")
IN_DUMP = (
    "the core dump holds the line of your own kernel and what it did there; a memory checker would "
    "add how far that is from an allocation"
)
OUTSIDE = "the last call had returned, so the model is not where it died"
OPAQUE = "the probe does not see into this program"


def of_target(name: Name, why: str, decision: Decision) -> Planned:
    """Return a step on the target itself."""
    return Planned(name, why, TARGET if isinstance(decision, Run) else decision, of_target=True)
