"""What the names in a wrapper's `run_impl` stand for: inputs, constants, buffers, size symbols."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from aoti_debug.package.record import Constant, Dim, Wrapper
from aoti_debug.probe.expression import evaluate
from aoti_debug.vocabulary import Leaf

_INPUT = re.compile(r"auto (\w{1,300}) = std::move\(inputs\[(\d{1,6})\]\);")
_CONSTANT = re.compile(r"auto& (\w{1,300}) = constants_->at\((\d{1,7})\);")
_ARRAY = re.compile(r"int64_t (int_array_\d{1,7})\[\] = \{([^}]{0,2000})\};")
_EMPTY = re.compile(
    r"aoti_torch_empty_strided\w{0,40}\(\d{1,3}, (\w{1,40}), (\w{1,40}), "
    r"cached_torch_dtype_(\w{1,40}),.{0,200}&(\w{1,300})_handle\)"
)
_MOVED = re.compile(r"auto (\w{1,300}) = std::move\((\w{1,300})\);")
_VIEW = re.compile(
    r"auto (\w{1,300}) = \w{0,60}\(?reinterpret_tensor_wrapper\((\w{1,300}), \d{1,3}, (\w{1,40}),"
)
_MADE = re.compile(r"&(\w{1,300})_handle\b")
_SIZE = re.compile(r"assert_size_stride\((\w{1,300}), \{([^}]{0,2000})\}")
_OUTPUT = re.compile(r"output_handles\[(\d{1,6})\] = (\w{1,300})\.release\(\);")
_SCALAR = re.compile(r"(?:int64_t|int32_t|double|auto) (\w{1,300}) = ([^;]{1,500});\s{0,20}$")
_SIZE_OF = re.compile(r"(\w{1,300})_size\[(\d{1,3})\]")
_LONG = re.compile(r"\b(\d{1,19})U?LL?\b")
_RUN = "void AOTInductorModel::run_impl("

Kind = Literal["input", "constant", "buffer"]


@dataclass(frozen=True, slots=True)
class NamedTensor:
    """A tensor of the wrapper; `size` is in the wrapper's symbols, None where nothing states it."""

    name: str
    kind: Kind
    index: int | None = None  # of the input or constant
    size: tuple[str, ...] | None = None
    stride: tuple[str, ...] | None = None
    dtype: str | None = None
    of: str | None = None  # the tensor whose memory it is
    output: int | None = None  # number of the output that it becomes


@dataclass(frozen=True, slots=True)
class ModelNames:
    """All names of one model, and how a call's sizes are known by them."""

    values: Mapping[str, NamedTensor]
    symbols: Mapping[str, str]  # size symbol -> expression, from the inputs
    scalars: Mapping[str, str]  # other integers: name -> expression
    constants: Sequence[Constant]
    users: Mapping[int, str] = field(default_factory=dict)  # input -> the user's name
    known: Mapping[str, int] = field(default_factory=dict)  # size symbol -> value in the call

    def called(self, value: NamedTensor) -> str:
        """Return the name that the user knows a tensor by."""
        if value.kind == "input" and value.index is not None:
            return self.users.get(value.index) or value.name
        named = (c.fqn or c.name for c in self.constants if c.index == value.index)
        return next(named, value.name) if value.kind == "constant" else value.name

    def root(self, value: NamedTensor) -> NamedTensor:
        """Return the tensor whose memory a value is, through views and reuse."""
        for _ in range(64):
            value = self.values.get(value.of, value) if value.of is not None else value
        return value

    def origin(self, symbol: str) -> str | None:
        """Say which dimension of which input a size symbol is: `dimension 1 of ids`."""
        found = _SIZE_OF.fullmatch(self.symbols.get(symbol, ""))
        if found is None:
            return None
        value = self.values.get(found[1])
        called = self.called(value) if value is not None else found[1]
        return f"dimension {found[2]} of {called}"

    def dimension(self, symbol: str) -> tuple[int, int] | None:
        """Return (input, dimension) of a size symbol that is one."""
        found = _SIZE_OF.fullmatch(self.symbols.get(symbol, ""))
        value = self.values.get(found[1]) if found else None
        if found is None or value is None or value.index is None:
            return None
        return value.index, int(found[2])

    def number(self, expression: str) -> int | None:
        """Return the value of a size expression in the call that is looked at."""
        return evaluate(self.expression(expression), self.known)

    def expression(self, name: str) -> str:
        """Return what an integer of the wrapper is computed as, down to size symbols."""
        text = name.strip()
        for _ in range(8):
            if text in self.symbols or text not in self.scalars:
                break
            text = self.scalars[text]
        return text

    def words(self, expression: str) -> str:
        """Say what a size expression is: `32*s23 (s23 = dimension 0 of ids = 8) = 256`."""
        text = self.expression(expression)
        plain = _LONG.sub(r"\1", text)
        where = []
        for symbol in dict.fromkeys(re.findall(r"\b[a-zA-Z_]\w{0,99}\b", plain)):
            origin = self.origin(symbol)
            if origin is None:
                continue
            known = self.known.get(symbol)
            told = origin if known is None else f"{origin} = {known}"
            where.append(told if plain == symbol else f"{symbol} = {told}")
        if not where:
            return plain
        if plain in self.symbols:
            return f"{plain}: {where[0]}"
        value = self.number(text)
        return f"{plain} ({', '.join(where)})" + (f" = {value}" if value is not None else "")


def read_names(wrapper: Wrapper, lines: Sequence[str], inputs: Sequence[Leaf] = ()) -> ModelNames:
    """Read the body of `run_impl`; `inputs` are those of the call that is looked at."""
    values: dict[str, NamedTensor] = {}
    arrays: dict[str, tuple[str, ...]] = {}
    scalars: dict[str, str] = {}
    first = next((n for n, line in enumerate(lines) if line.startswith(_RUN)), 0)
    for line in lines[first:]:
        _read(line, values, arrays, scalars)
    for constant in wrapper.constants:
        like = "constant", constant.index
        named = [name for name, v in values.items() if (v.kind, v.index) == like]
        sizes = tuple(map(str, constant.shape)), tuple(map(str, constant.stride))
        for name in named or [constant.name]:
            values[name] = NamedTensor(name, "constant", constant.index, *sizes, constant.dtype)
    sizes_of = {s.expression: s.name for s in wrapper.symbols}
    for one in wrapper.inputs:
        if one.name not in values:
            continue
        size, stride = values[one.name].size, None
        if one.dims is not None:
            size = tuple(
                d.symbol or sizes_of.get(f"{one.name}_size[{n}]") or bounds(d)
                for n, d in enumerate(one.dims)
            )
            stride = tuple(
                str(d.stride) if d.stride is not None else d.stride_symbol or "?" for d in one.dims
            )
        values[one.name] = NamedTensor(one.name, "input", one.index, size, stride, one.dtype)
    symbols = {symbol.name: symbol.expression for symbol in wrapper.symbols}
    users = {i.index: i.name for i in inputs if i.index is not None and i.name is not None}
    names = ModelNames(values, symbols, scalars, wrapper.constants, users)
    return replace(names, known=_bind(names, {i.index: i.shape for i in inputs}))


def bounds(dim: Dim) -> str:
    """Return a size that no symbol stands for: its number, or what it may be (`2..512`)."""
    if dim.size is not None:
        return str(dim.size)
    low, high = dim.low, dim.high
    return f"{'' if low is None else low}..{'' if high is None else high}"


def _bind(names: ModelNames, shapes: Mapping[int | None, Sequence[int] | None]) -> dict[str, int]:
    known: dict[str, int] = {}
    for symbol, expression in names.symbols.items():
        place = names.dimension(symbol)
        if place is not None:
            shape = shapes.get(place[0]) or ()
            if place[1] < len(shape):
                known[symbol] = shape[place[1]]
        elif (value := evaluate(expression, known)) is not None:
            known[symbol] = value
    return known


def _read(
    line: str,
    values: dict[str, NamedTensor],
    arrays: dict[str, tuple[str, ...]],
    scalars: dict[str, str],
) -> None:
    if "int_array_" in line and (found := _ARRAY.search(line)):
        arrays[found[1]] = _parts(found[2])
    elif "_handle)" in line and (found := _EMPTY.search(line)):
        sizes = arrays.get(found[1]), arrays.get(found[2])
        values[found[4]] = NamedTensor(found[4], "buffer", None, *sizes, found[3])
    elif "constants_->at(" in line and (found := _CONSTANT.search(line)):
        values[found[1]] = NamedTensor(found[1], "constant", int(found[2]))
    elif "std::move(inputs[" in line and (found := _INPUT.search(line)):
        values[found[1]] = NamedTensor(found[1], "input", int(found[2]))
    elif "reinterpret_tensor_wrapper(" in line and (found := _VIEW.search(line)):
        _add(values, found[1], found[2], arrays.get(found[3]))
    elif "std::move(" in line and (found := _MOVED.search(line)):
        _add(values, found[1], found[2])
    elif "assert_size_stride(" in line and (found := _SIZE.search(line)):
        old = values.get(found[1])
        if old is not None and old.kind == "buffer" and old.size is None:
            values[found[1]] = replace(old, size=_parts(found[2]))
    elif "output_handles[" in line and (found := _OUTPUT.search(line)):
        if found[2] in values:
            values[found[2]] = replace(values[found[2]], output=int(found[1]))
    elif "&" in line and (found := _MADE.search(line)):
        values.setdefault(found[1], NamedTensor(found[1], "buffer"))
    elif " = " in line and (found := _SCALAR.search(line)):
        scalars.setdefault(found[1], found[2].strip())


def _parts(text: str) -> tuple[str, ...]:
    return tuple(_LONG.sub(r"\1", part.strip()) for part in text.split(",") if part.strip())


def _add(
    values: dict[str, NamedTensor], name: str, of: str, size: tuple[str, ...] | None = None
) -> None:
    """Keep a view or a reuse under the size of what it stands for, where its own is not stated."""
    if of in values:
        size = size or values[of].size
        values[name] = replace(values[of], name=name, of=of, size=size, stride=None, output=None)
