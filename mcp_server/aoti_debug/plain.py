"""Make foreign text fit to show: no control codes, nothing invisible, valid Unicode."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)?|.)?"
)
_LINE_ENDS = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Shown as nothing, and not among the controls and format characters: fillers, variation selectors,
# and what is no character, which XML may not hold.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0"
    "\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e0fff]"
)


def clean(text: str) -> str:
    """Return `text` without terminal escapes, control, format and invisible characters; tabs and
    line ends stay. Half of a surrogate pair, or a byte that is not UTF-8, is written out."""
    if text.isascii() and text.isprintable():
        return text
    text = _INVISIBLE.sub("", _LINE_ENDS.sub("\n", _ESCAPES.sub("", text)))
    return text.translate(_SHOWN)


class _Shown(dict[int, str]):
    """What is shown of each character: asked once for most."""

    def __missing__(self, code: int) -> str:
        shown = _shown(chr(code))
        if len(self) < _KNOWN:
            self[code] = shown
        return shown


_KNOWN = 4096  # characters
_SHOWN = _Shown()


def _shown(character: str) -> str:
    if character in "\n\t":
        return character
    category = unicodedata.category(character)
    if category == "Cs":
        code = ord(character)
        return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"
    return "" if category in ("Cc", "Cf") else character


def clean_all(value: Any) -> Any:
    """Return a JSON document with all its strings clean, keys too."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean_all(key): clean_all(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_all(item) for item in value]
    return value


def plain(text: str, limit: int | None = None) -> str:
    """Return `text` clean and without line ends, cut with an ellipsis at `limit` characters."""
    if not text.isascii() or not text.isprintable():
        text = clean(text).replace("\n", "")
    if limit is not None and len(text) > limit:
        return text[: limit - 1] + "…"
    return text


_NAME = re.compile(r"[\w.:/@<>+*-]{1,200}")


def named(*texts: str) -> str:
    """Return names from a foreign file, to stand in a sentence: what can be none is quoted."""
    shown = (t if _NAME.fullmatch(t) else f"{plain(t, 40)!r}, which is no name" for t in texts)
    return ", ".join(shown)


_WARNING = re.compile(r":\d{1,9}: \w{0,100}Warning: ")


def last_line(data: bytes, limit: int = 120) -> str:
    """Return the last line that shows anything and is no warning of Python's, cut to `limit`."""
    parts = re.split(r"[\r\n]+", data.decode("utf-8", "replace"))
    for number in range(len(parts) - 1, -1, -1):
        warned = _WARNING.search(parts[number][:1000]) is not None
        quoted = parts[number].startswith("  ") and number > 0
        if warned or (quoted and _WARNING.search(parts[number - 1][:1000])):
            continue
        if text := plain(parts[number]).strip():
            return plain(text, limit)
    return ""


def one_line(text: str) -> str:
    return " ".join(clean(text).split())


def few(names: Sequence[str], most: int = 3) -> str:
    """Return the first names of a list, and … where there are more."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def digits(value: object) -> str:
    """Return a value with six digits where it is a fraction."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def window(place: int, count: int, limit: int) -> slice:
    """Return which `limit` of `count` lines to show so that `place` is among them."""
    first = max(0, min(place - limit // 2, count - limit))
    return slice(first, first + limit)


def times(count: int, one: str = "time", many: str = "") -> str:
    """Return "1 time" or "4 times"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
