"""What crosses rooms. The probe holds the module: it runs where this package is not installed."""

from aoti_debug.probe.vocabulary import CHECKS as CHECKS
from aoti_debug.probe.vocabulary import Break as Break
from aoti_debug.probe.vocabulary import Check as Check
from aoti_debug.probe.vocabulary import Element as Element
from aoti_debug.probe.vocabulary import Fingerprint as Fingerprint
from aoti_debug.probe.vocabulary import GraphValue as GraphValue
from aoti_debug.probe.vocabulary import Leaf as Leaf
from aoti_debug.probe.vocabulary import OutOfBounds as OutOfBounds
from aoti_debug.probe.vocabulary import Owner as Owner
from aoti_debug.probe.vocabulary import Place as Place
from aoti_debug.probe.vocabulary import Reason as Reason
from aoti_debug.probe.vocabulary import ReasonKind as ReasonKind
from aoti_debug.probe.vocabulary import Size as Size
from aoti_debug.probe.vocabulary import ValueSummary as ValueSummary
from aoti_debug.probe.vocabulary import is_torchs as is_torchs
from aoti_debug.probe.vocabulary import model_places as model_places
from aoti_debug.probe.vocabulary import normalised as normalised
from aoti_debug.probe.vocabulary import owner as owner
from aoti_debug.probe.vocabulary import places_in as places_in
