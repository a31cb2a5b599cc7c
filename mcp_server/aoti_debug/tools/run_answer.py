"""The answer about a run of any kind: the schemas of all in one, flat."""

from __future__ import annotations

from typing import Any

from pydantic import create_model

from aoti_debug.kinds import KINDS
from aoti_debug.model import RunModel


def _fields() -> dict[str, Any]:
    """Return the fields of every kind's answer; what not all of them must have may be missing."""
    found: dict[str, Any] = {}
    for answer in dict.fromkeys(kind.answer for kind in KINDS.values()):
        for name, field in answer.model_fields.items():
            if name in RunModel.model_fields:
                continue
            kind = field.annotation
            if name in found and found[name][0] not in (kind, kind | None):
                raise TypeError(f"two kinds of run answer {name!r} with different types")
            required = field.is_required()
            found[name] = (kind | None, None) if required else (kind, field)
    return found


RunAnswer = create_model(
    "RunAnswer", __base__=RunModel, __doc__="The answer of a run of any kind.", **_fields()
)
