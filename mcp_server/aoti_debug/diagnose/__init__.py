"""From observations to a ranked diagnosis with evidence and next steps."""

from aoti_debug.diagnose.observations import Observations
from aoti_debug.diagnose.rank import diagnose
from aoti_debug.model import Ending

__all__ = ["Ending", "Observations", "diagnose"]
