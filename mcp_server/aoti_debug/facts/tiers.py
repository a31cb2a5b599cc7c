"""How much a finding is worth: named tiers, best first, each with the reason for its place."""

from __future__ import annotations

from enum import Enum


class Tier(Enum):
    """A tier of findings; one of an earlier tier outranks one of a later tier in the same role.

    Within a tier what stands first in the artifacts wins. The value is the reason for the place.
    """

    RANK = "an input of another rank: its sizes and strides are then read past their ends"
    OWN_CHECK = "the model's own check refused the call, and names input, property and values"
    DECLARED = "the call is not what the exported program declares"
    CONTRACT = "the call, a constant or an operator breaks what the package's source has baked in"
    ASSERTION = "an assertion of a kernel failed: it names index and bound"
    GUARD = "a relation that export assumed does not hold; the kernels may serve the call still"
    OVER_BOUND = "a size above the largest exported: kernels often serve it"
    MEMORY_CHECK = "compute-sanitizer saw the access itself"
    PACKAGE_FILE = "a file of the package is not as the loader needs it"
    CORE_DUMP = "the driver's dump names kernel and line, and no reason"
    NAMED_TEXT = "a text that names the thing, what is wrong with it and what would be right"
    EXACT_TEXT = "a text that names the thing and what is wrong with it"
    SPECIFIC_TEXT = "a text that names the kind of failure and where it came up"
    KIND_TEXT = "a text that names the kind of failure"
    HANG = "the process did not end: its stacks tell where it stood"
    RAISED = "an operator raised, or threads met in one model"
    DIFFERENT_VALUES = "a result differs from what the model gives, or from repeat to repeat"
    SIGNAL = "a signal of the host ended the process: how it ended, not why"
    GENERAL_TEXT = "a text that several kinds of failure print"
    BROAD_TEXT = "a text that many kinds of failure print"
    STRANGE_VALUES = "a result is not finite: the model may give the same without AOTInductor"
    STACK = "the stack that a signal left in a log"
    VAGUE_TEXT = "a text that says only that something failed"
    OUTSIDE = "something outside ended the process"
    NOTICE = "true, and rarely the reason"
    CLEAN = "nothing failed"
    EXCEPTION = "an exception that nothing else explains"
    STATUS = "the exit status, or a line that speaks of an error"

    @property
    def place(self) -> int:
        """Return the place in the order, 0 for the best."""
        return _PLACES[self]


_PLACES = {tier: place for place, tier in enumerate(Tier)}
