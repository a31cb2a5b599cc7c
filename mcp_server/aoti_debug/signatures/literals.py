"""Find plain texts of which every match of a regular expression holds one."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?P<\w+>|\(\?(?:<?[=!]|[aimsux]{0,6}:|[aimsux]{1,6}\))"
    r"|\{\d*,?\d*\}\??|[*+?]\??|[^\\\[({*+?|).^$]+(?![{*+?])|.",
    re.DOTALL,
)
_CLASSES = frozenset("dDwWsS")
Choice = list[str]  # texts of which one is there


def literals(pattern: str) -> list[str]:
    """Return the texts, the shortest of them as long as can be; [""] when there are none.

    Letters whose case does not matter, and what a lookaround says, are no plain text.
    """
    if pattern.startswith("(?i)"):
        return [""]
    return _Parser(_TOKEN.findall(pattern)).alternatives()


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    def alternatives(self) -> Choice:
        """Read up to the end of the group: each alternative gives its best texts."""
        found = self._sequence()
        while self._at < len(self._tokens) and self._tokens[self._at] == "|":
            self._at += 1
            found = found + self._sequence()
        return found

    def _sequence(self) -> Choice:
        best: Choice = [""]
        run = ""
        while self._at < len(self._tokens) and self._tokens[self._at] not in ("|", ")"):
            token = self._tokens[self._at]
            self._at += 1
            if token[0] == "(" and token[-1] != ")":
                inner = self.alternatives()
                self._at += 1  # the closing parenthesis
                keep = token[-1] not in "=!" and not ("i" in token and token[1:3] != "?P")
                plain = keep and len(inner) == 1 and self._repeat() is None
                best, run = _better(best, [run]), ""
                if keep and (plain or not self._optional()):
                    best = _better(best, inner)
                self._skip_repeat()
                continue
            text = _plain(token)
            repeat = self._repeat()
            if text is None or repeat is not None:
                run += text if text is not None and repeat in ("+", "+?") else ""
                best, run = _better(best, [run]), ""
                self._skip_repeat()
            elif token not in ("^", "$", r"\b", r"\B"):
                run += text
        return _better(best, [run])

    def _repeat(self) -> str | None:
        token = self._tokens[self._at] if self._at < len(self._tokens) else ""
        return token if token and (token[0] in "*+?" or _is_count(token)) else None

    def _optional(self) -> bool:
        repeat = self._repeat()
        return repeat is not None and (repeat[0] in "*?" or repeat.startswith(("{0", "{,")))

    def _skip_repeat(self) -> None:
        if self._repeat() is not None:
            self._at += 1


def _is_count(token: str) -> bool:
    return token[0] == "{" and len(token) > 2


def _plain(token: str) -> str | None:
    """Return the text that a token stands for; None when that varies."""
    if token[0] == "\\":
        return None if token[1] in _CLASSES else "" if token[1] in "bB" else token[1:]
    if token in ("^", "$"):
        return ""
    return None if token[0] in "[." or token[:2] == "(?" else token


def _better(one: Choice, two: Choice) -> Choice:
    return two if min(map(len, two)) > min(map(len, one)) else one
