"""The user's own Triton kernel behind a generated copy of it."""

from __future__ import annotations

from collections.abc import Iterable

from aoti_debug.explain.code import Code
from aoti_debug.model import SourceLine

_GENERATED = "@triton_heuristics.user_autotune("


def is_users(code: Code) -> bool:
    """Tell whether a Triton kernel was written by the user rather than by Inductor."""
    return code.language == "triton" and any(_GENERATED in line for line in code.lines[:200])


def find_in(
    code: Code, name: str, place: int | None, files: Iterable[tuple[str, str]]
) -> SourceLine | None:
    """Return the user's line of a kernel: where the body of `def NAME(` is that of the copy.

    `place` is the line in question within the copy, None for the kernel itself; `files` are paths
    and texts.
    """
    head = f"def {name}("
    own = next((n for n, line in enumerate(code.lines) if line.lstrip().startswith(head)), None)
    if own is None:
        return None
    copy = _body(code.lines[own:])
    for path, text in files:
        if head not in text:
            continue
        lines = text.split("\n")
        for begin, line in enumerate(lines):
            if line.lstrip().startswith(head) and _alike(copy, _body(lines[begin:])):
                return _line(code, own, place, path, lines, begin)
    return None


def _body(lines: Iterable[str]) -> list[str]:
    """Return the statements of a function, without comments, blanks and layout."""
    kept: list[str] = []
    margin: int | None = None
    for line in lines:
        text = line.partition("#")[0].strip()
        indent = len(line) - len(line.lstrip())
        if not text:
            continue
        if margin is None:
            margin = indent
        elif indent <= margin and not text.startswith(")"):
            break
        kept.append("".join(text.split()))
    return kept


def _alike(copy: list[str], body: list[str]) -> bool:
    # The copy of an old package may differ in annotations of the head; its statements may not.
    return "".join(copy) == "".join(body) or (len(copy) > 2 and copy[1:] == body[1:])


def _line(
    code: Code, own: int, place: int | None, path: str, lines: list[str], begin: int
) -> SourceLine:
    at = begin
    if place is not None and place > own:
        wanted = "".join(code.lines[place].split())
        near = begin + (place - own)
        order = sorted(range(begin, min(len(lines), begin + 2000)), key=lambda n: abs(n - near))
        at = next((n for n in order if "".join(lines[n].split()) == wanted), begin)
    return SourceLine(file=path, line=at + 1, text=lines[at].strip())
