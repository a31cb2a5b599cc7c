"""Take the result of a call apart."""

from __future__ import annotations

import json
from typing import Any


def text_of(result: Any) -> str:
    assert len(result.content) == 1
    return str(result.content[0].text)


def answer_of(result: Any) -> dict[str, Any]:
    """Return the structure, after checking that the text says the same."""
    assert not result.is_error, text_of(result)
    assert json.loads(text_of(result)) == result.structured_content
    assert len(text_of(result)) < 8000
    return dict(result.structured_content)


def error_of(result: Any) -> str:
    """Return an error's text; clients show an agent either text or structure, so it is alone."""
    assert result.is_error
    assert result.structured_content is None
    assert "Error executing tool" not in text_of(result)
    assert "pydantic" not in text_of(result)
    return text_of(result)
