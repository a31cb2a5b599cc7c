"""What the probe reported of a call that it captured in a CUDA graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class GraphsReport:
    state: str = ""
    tried: Literal["no GPU", "refused", "wrong", "captured"] | None = None
    said: str = ""
    outputs: int = 0
