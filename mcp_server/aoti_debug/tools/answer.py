"""Send an answer: the structure is the whole of it, the text is the same as JSON."""

from __future__ import annotations

from mcp_types import CallToolResult, TextContent

from aoti_debug.model import Model
from aoti_debug.tools.fit import compact, fit


def answer(model: Model) -> CallToolResult:
    """Return the result of a call: no nulls, under 8,000 characters."""
    fields = type(model).model_fields
    keep = {name for name, field in fields.items() if field.is_required()}
    keep |= {"diagnosis", "notes"} & fields.keys()
    document = fit(model.document(), keep=frozenset(keep))
    return CallToolResult(
        content=[TextContent(type="text", text=compact(document))], structured_content=document
    )
