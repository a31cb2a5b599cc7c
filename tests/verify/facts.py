"""What is known of a script whose failure is gone, for the tests of verdicts."""

from __future__ import annotations

from typing import Any

from aoti_debug.verify.judge import Facts
from aoti_debug.vocabulary import Fingerprint

WRONG = Fingerprint("output", "wrong result")
NONE = Fingerprint(None, None)


def gone(original: Fingerprint, category: str, call: int = 2, **known: Any) -> Facts:
    """Return that the failure of so many calls' last is gone: the call is given what it was."""
    last: dict[str, Any] = {"failing_call": call, "calls": call, "inputs": ""}
    return Facts(**{"original": original, "category": category, "now": NONE, **last, **known})
