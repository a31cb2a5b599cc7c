"""Candidates from the debug printer: the first NaN, the kernel that did not end."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING

from aoti_debug.diagnose.candidate import Candidate, evidence
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Diagnosis, Fix, Kernel
from aoti_debug.read.record import Launches, TensorStatistics

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Observations

NAN = "guides/wrong-results.md#nan-and-inf"
CRASH = "guides/host-crash.md#segfault-in-the-model"


def candidates(observations: Observations) -> Iterator[Candidate]:
    statistics = observations.of(TensorStatistics)
    if (first := first_nan(statistics)) is not None:
        yield from_nan(first, statistics)
    for launches in observations.of(Launches):
        if launches.unfinished is not None:
            yield unfinished(launches)


def first_nan(statistics: list[TensorStatistics]) -> TensorStatistics | None:
    """Return the first tensor that holds NaN. What stands in a result before its launch is
    whatever the memory held, so only inputs of the model and tensors after a launch count."""
    return next((s for s in statistics if s.when != "before" and holds_nan(s)), None)


def holds_nan(found: TensorStatistics) -> bool:
    return any(v is not None and isnan(v) for v in (found.minimum, found.maximum))


def from_nan(first: TensorStatistics, statistics: list[TensorStatistics]) -> Candidate:
    kernel = None
    if first.when == "input":
        said = f"input {first.argument} of the model holds NaN already"
        fixes = [Fix(what=f"find where {first.argument} gets its NaN, before the model is called")]
    else:
        kernel = Kernel(name=first.kernel, launch=first.launch or None)
        said = (
            f"the first NaN stands in {first.argument} after {first.kernel} (launch "
            f"{first.launch}){range_before(first, statistics)}"
        )
        fixes = [
            Fix(
                what="look at what this kernel computes (its name lists the operations) and at "
                "the range of what goes in: a logarithm or root of a negative number, 0/0, "
                "inf - inf",
                why="all NaN printed after it follow from this one",
            )
        ]
    return Candidate(
        Diagnosis(
            phase="output",
            category="nan_or_inf",
            confidence="likely",
            summary=said,
            kernel=kernel,
            evidence=[evidence(first.span)],
            guide=NAN,
            fixes=fixes,
        ),
        role="cause",
        tier=Tier.STRANGE_VALUES,
    )


def range_before(first: TensorStatistics, statistics: list[TensorStatistics]) -> str:
    """Say what the tensor held before the launch; that is known when an earlier launch wrote it."""
    written = any(s.when == "after" and s.launch < first.launch for s in statistics)
    for found in statistics:
        same = (found.launch, found.argument) == (first.launch, first.argument)
        if found.when == "before" and same and written and not holds_nan(found):
            return f"; before it held {found.minimum:g} to {found.maximum:g}"
    return ""


def unfinished(launches: Launches) -> Candidate:
    """The printer says that a kernel began, and nothing more: known when no fault is."""
    name, launch = launches.unfinished, launches.unfinished_launch
    assert name is not None
    return Candidate(
        Diagnosis(
            phase="run",
            category="host_segfault",
            confidence="possible",
            summary=f"{name} (launch {launch}) began and did not end: the process died or hung "
            "in it, or the log stops here",
            kernel=Kernel(name=name, launch=launch),
            evidence=[evidence(launches.span)],
            guide=CRASH,
        ),
        role="symptom",
        tier=Tier.NOTICE,
    )
