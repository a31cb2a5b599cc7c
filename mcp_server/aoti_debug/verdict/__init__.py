"""From what experiments showed to the cause, and to what is true without being it."""

from aoti_debug.verdict.decide import Decided, decide

__all__ = ["Decided", "decide"]
