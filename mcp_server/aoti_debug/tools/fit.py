"""Return an answer as the result of a tool call."""

from __future__ import annotations

from mcp_types import CallToolResult, TextContent

from aoti_debug.model import Model
from aoti_debug.report.short import compact, short_document


def answer(model: Model) -> CallToolResult:
    document = short_document(model)
    return CallToolResult(
        content=[TextContent(type="text", text=compact(document))], structured_content=document
    )
