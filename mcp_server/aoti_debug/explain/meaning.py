"""What a value in a kernel is, in words: its backward slice down to loads, positions, numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from aoti_debug.explain.accesses import definition, names_in, plain
from aoti_debug.explain.code import Argument, Code
from aoti_debug.explain.names import ModelNames

DEPTH, LEFT = 40, 400
_LOAD = re.compile(r"tl\.load\((\w{1,300}) \+ ")
_CPP_LOAD = re.compile(r"^(\w{0,100}ptr\d{1,4})\[|::loadu\((\w{0,100}ptr\d{1,4}) \+")
_NUMBER = re.compile(
    r"^(?:tl\.full\(\[[^\]]{0,40}\], |[\w:<>, ]{0,80}[(<]|\()?(-?\d{1,19})L?"
    r"(?:, tl\.\w{1,20})?\)?\)?$"
)
_CONVERT = re.compile(
    r"^(?:c10::convert<[\w:]{1,40}>|static_cast<[\w:]{1,40}>|c10::load)\((\w{1,40})\)$"
    r"|^(\w{1,40})\.to\(tl\.\w{1,20}\)$|^(\w{1,40})$"
    r"|^tl\.broadcast_to\((\w{1,40}), .{1,100}\)$"
    r"|^at::vec::\w{1,20}<[\w:, ]{1,40}>(?:::from)?\((\w{1,40})\)$"
    r"|^at::vec::convert<[\w:, ]{1,60}>\((\w{1,40})\)$"
)
_WHERE = (
    re.compile(r"^tl\.where\((\w{1,40}), (\w{1,40}), (\w{1,40})\)$"),
    re.compile(r"^(\w{1,40}) \? (\w{1,40}) : (\w{1,40})$"),
)
_BLEND = re.compile(r"::blendv\((\w{1,40}), (\w{1,40}), (\w{1,40})")
_DECLTYPE = re.compile(r"^decltype\(\w{1,40}\)\((.{1,300})\)$")
_BINARY = re.compile(r"^(\w{1,40}) ([-+*/%&|^<>=!]{1,2}) (\w{1,40})$")
_CALL = re.compile(
    r"^(?:triton_helpers|libdevice|tl_math|tl|std|at::vec|)(?:\.|::)?"
    r"(\w{1,40})\((\w{1,40})(?:, (\w{1,40}))?\)$"
)
_LOOP = re.compile(
    r"for\(int64_t (\w{1,20})=static_cast<int64_t>\(0L\); "
    r"\1<static_cast<int64_t>\((.{1,300}?)\); \1\+="
)
_ADDED = re.compile(r"^(?:decltype\(\w{1,40}\)\()?(\w{1,40}) \+ (\w{1,40})\)?$")


@dataclass(frozen=True, slots=True)
class IndexSource:
    """Where an index comes from: a tensor that is loaded, or a position that counts to `limit`."""

    argument: Argument | None = None
    position: str | None = None
    limit: str | None = None  # in the wrapper's symbols where they are known


@dataclass(frozen=True, slots=True)
class IndexMeaning:
    text: str
    sources: tuple[IndexSource, ...] = ()
    wrapped: str | None = None  # the size that is added where the value is negative


class KernelReader:
    """Reads one kernel; the arguments of one launch give its pointers and sizes their names."""

    def __init__(self, code: Code, arguments: Mapping[str, Argument], names: ModelNames) -> None:
        self.code, self.arguments, self.names = code, arguments, names
        self._left = LEFT  # names of one slice that are still looked up

    def meaning(self, name: str, before: int, depth: int = 0) -> IndexMeaning:
        """Return what `name` is just before a place of the kernel."""
        self._left = self._left - 1 if depth else LEFT
        if depth > DEPTH or self._left < 0:
            return IndexMeaning(name)
        made = definition(self.code, name, before)
        if made is None:
            return self._position(name, before)
        place, right = made
        if not name.startswith("tmp"):
            return self._position(name, before, right)
        return self._expression(right.strip(), place, depth + 1)

    def _expression(self, right: str, place: int, depth: int) -> IndexMeaning:
        if (load := _LOAD.match(right) or _CPP_LOAD.search(right)) is not None:
            return self._loaded(next(filter(None, load.groups())))
        if inner := _DECLTYPE.match(right):
            return self._expression(inner[1], place, depth)
        if same := _CONVERT.match(right):
            word = next(filter(None, same.groups()))
            if not word.lstrip("-").isdigit():
                return self.meaning(word, place, depth)
        if number := _NUMBER.match(right):
            return IndexMeaning(number[1])
        for pattern in _WHERE:
            if found := pattern.match(right):
                return self._where(found[1], found[2], found[3], place, depth)
        if found := _BLEND.search(right):
            return self._where(found[3], found[2], found[1], place, depth)
        if found := _BINARY.match(right):
            left, other = (self._operand(found[n], place, depth) for n in (1, 3))
            both = (*left.sources, *other.sources)
            return IndexMeaning(f"({left.text} {found[2]} {other.text})", both)
        if found := _CALL.match(right):
            inner_ = [self._operand(word, place, depth) for word in found.groups()[1:] if word]
            sources = tuple(s for one in inner_ for s in one.sources)
            return IndexMeaning(f"{found[1]}({', '.join(one.text for one in inner_)})", sources)
        read = [self.meaning(word, place, depth) for word in dict.fromkeys(names_in(right))]
        return IndexMeaning(plain(right)[:120], tuple(s for one in read for s in one.sources))

    def _operand(self, word: str, place: int, depth: int) -> IndexMeaning:
        return IndexMeaning(word) if word.isdigit() else self.meaning(word, place, depth)

    def _where(self, condition: str, yes: str, no: str, place: int, depth: int) -> IndexMeaning:
        base = self.meaning(no, place, depth)
        added = definition(self.code, yes, place)
        if added is not None and (sum_ := _ADDED.match(added[1].strip())) and sum_[1] == no:
            size = sum_[2]
            if size not in self.arguments:
                size = self._operand(size, added[0], depth).text
            return IndexMeaning(base.text, base.sources, size)
        other, asked = self.meaning(yes, place, depth), self.meaning(condition, place, depth)
        text = f"{other.text} where {asked.text}, else {base.text}"
        return IndexMeaning(text, (*other.sources, *base.sources, *asked.sources))

    def _loaded(self, pointer: str) -> IndexMeaning:
        argument = self.arguments.get(pointer)
        if argument is None or argument.value is None:
            return IndexMeaning(f"an element of {pointer}", (IndexSource(),))
        called = self.names.called(self.names.root(argument.value))
        return IndexMeaning(f"an element of {called}", (IndexSource(argument),))

    def _position(self, name: str, before: int, right: str | None = None) -> IndexMeaning:
        """A loop variable of C++, or a position that Triton derives from the program's number."""
        if self.code.language == "cpp":
            for place in range(before - 1, max(-1, before - 400), -1):
                found = _LOOP.search(self.code.lines[place])
                if found and found[1] == name:
                    limit = self.size(plain(found[2]))
                    text = f"{name} (0 <= {name} < {limit})"
                    return IndexMeaning(text, (IndexSource(None, name, limit),))
            return IndexMeaning(name)
        count = self._triton_limit(right or name)
        words = f"{name} = {right}" if right and right != name else name
        bounded = f" (0 <= {name} < {count})" if count is not None else ""
        return IndexMeaning(words + bounded, (IndexSource(None, name, count),))

    def _triton_limit(self, right: str) -> str | None:
        text = right.strip("() ")
        if found := re.search(r"% (\w{1,40})$", text):
            return self.size(found[1])
        found = re.match(r"^([xyzr]\d?_?)index(?: // (\d{1,19}|ks\d{1,3}))?$", text)
        total = self._count(found[1] + "numel") if found is not None else None
        if found is None or total is None:
            return None
        if found[2] is None:
            return total
        part = f"({total}) / {self.size(found[2])}"
        value = self.names.number(part)
        return str(value) if value is not None and "ks" not in part else part

    def _count(self, numel: str) -> str | None:
        for line in self.code.lines:  # a constant is written over the argument
            if fixed := re.match(rf"\s*{numel} = (\d{{1,19}})$", line):
                return fixed[1]
        argument = self.arguments.get(numel)
        return plain(self.names.expression(argument.given)) if argument is not None else None

    def size(self, text: str) -> str:
        """Return a size expression of the kernel in the wrapper's words: `ks1` -> `s27`."""

        def word(found: re.Match[str]) -> str:
            argument = self.arguments.get(found[0])
            return plain(argument.given) if argument is not None else found[0]

        return plain(re.sub(r"\bks\d{1,4}\b", word, text))
