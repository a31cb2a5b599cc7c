"""From observations to a ranked diagnosis with evidence and next steps."""

from aoti_debug.diagnose.observations import Ending, Observations
from aoti_debug.diagnose.rank import diagnose

__all__ = ["Ending", "Observations", "diagnose"]
