"""Load an exported program that somebody else may have made: weights are read by their declared
dtype and raw bytes, no pickle is read, and none of its texts is run as code."""

from __future__ import annotations

import ast
import contextlib
import json
import operator
import os
import pickle
import re
import zipfile
from collections import OrderedDict, deque
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from .lazy import replaced, torch
from .python_source import parse_expression

_FORCED = "TORCH_FORCE_WEIGHTS_ONLY_LOAD"
_UNFORCED = "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"
_CONFIG_BYTES = 64 << 20  # of the records that say how weights are stored
_ARCHIVE = "torch.export.pt2_archive._package"
_SERIALIZED = "torch._export.serde.serialize"
_TREES = "torch.utils._pytree"
_PLAIN_TYPES = (list, dict, set, tuple, int, float, str, bool, OrderedDict, deque)
_OLD = ("data/weights/", "data/constants/")  # where torch 2.8 kept all in one file
_SYMBOLIC = re.compile(r"_SYM_\w*OPS")  # sets of functions of sizes
_OBJECTS = ("custom_obj", "opaque_obj")
# What a size may be written as, besides numbers, names, arithmetic and comparisons.
_FUNCTIONS = frozenset(
    """
    Symbol Integer Float Rational Add Mul Pow Abs Max Min Eq Ne Lt Le Gt Ge And Or Not Equality
    Unequality StrictLessThan LessThan StrictGreaterThan GreaterThan Piecewise ExprCondPair Where
    FloorDiv ModularIndexing PythonMod Mod CleanDiv CeilToInt FloorToInt CeilDiv LShift RShift
    PowByNatural FloatPow FloatTrueDiv IntTrueDiv IsNonOverlappingAndDenseIndicator TruncToFloat
    TruncToInt RoundToInt RoundDecimal ToFloat Identity floor ceiling sqrt exp log sin cos tan asin
    acos atan sinh cosh tanh OpaqueUnaryFn_sqrt OpaqueUnaryFn_exp OpaqueUnaryFn_log
    OpaqueUnaryFn_log2 OpaqueUnaryFn_sin OpaqueUnaryFn_cos OpaqueUnaryFn_tan OpaqueUnaryFn_asin
    OpaqueUnaryFn_acos OpaqueUnaryFn_atan OpaqueUnaryFn_sinh OpaqueUnaryFn_cosh OpaqueUnaryFn_tanh
    BitwiseFn_bitwise_and BitwiseFn_bitwise_or BitwiseFn_bitwise_xor
    """.split()
)
_WORD = re.compile(r"[\w.]{0,100}")
# Line ends and comments are other text once sympy has taken the line ends out.
_ONE_LINE = re.compile(r"[^\n\r\f\v#\\]*")
# Operators that read or write files, by their names in the graph.
_FILES = re.compile(r"\b(?:from_file|_save|save|load)\b")
# What a guard may call.
_GUARD_CALLS = frozenset(
    """
    size stride dim storage_offset max min abs int float bool round len isnan isinf floor ceil trunc
    sqrt pow fmod log log2 exp sin cos tan asin acos atan sinh cosh tanh sym_max sym_min sym_float
    sym_int sym_not sym_sum _sym_sqrt Max Min Mod FloorDiv PythonMod
    """.split()
)
_NO_EXPRESSION = (
    *(ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr),
    *(ast.Await, ast.Yield, ast.YieldFrom, ast.JoinedStr, ast.Starred),
)


class NeedsTrust(Exception):
    """The program can only be loaded by running what is in its file."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what}: that can run code, so it is not loaded. Save the program anew with plain "
            "tensors as weights and inputs, or give --trust if you trust whoever made the file"
        )


def load(path: str, *, trust: bool = False) -> Any:
    """Return the exported program of a file.

    Raises:
        NeedsTrust: it holds a pickle, compiled code, or code in the place of a size or a guard.
    """
    if trust:
        return torch.export.load(path)
    with _without_code(raw=_look(path)) as refused:
        try:
            program = torch.export.load(path)
        except RuntimeError as error:  # torch makes another of what a node's reader raises
            raise next(iter(refused), error) from error
        except pickle.UnpicklingError as error:
            line = str(error).strip().splitlines()[0] if str(error) else ""
            raise NeedsTrust(f"{Path(path).name} holds a pickle ({line[:120]})") from error
    for text in getattr(program, "_guards_code", None) or ():
        _plain_guard(text)
    _no_files(program.graph_module)
    return program


def _no_files(module: Any) -> None:
    """Refuse a graph, or one within it, that calls an operator which opens a file."""
    for part in module.modules():
        for node in getattr(getattr(part, "graph", None), "nodes", ()):
            name = str(node.target)
            if node.op == "call_function" and _FILES.search(name.replace(".", " ")):
                raise NeedsTrust(f"the program calls {name[:80]}, which opens a file")


def _look(path: str) -> bool:
    """Refuse what the archive itself says to be a pickle or compiled code; tell whether its weights
    are raw bytes, as torch 2.9 and later write them."""
    raw = True
    if not zipfile.is_zipfile(path):
        return False  # torch says what is wrong
    with zipfile.ZipFile(path) as archive:
        for record in archive.infolist():
            name = record.filename.partition("/")[2]
            if name.startswith("data/aotinductor/"):
                raise NeedsTrust(f"{record.filename} is compiled code")
            if name.startswith("data/") and name.endswith("_config.json"):
                if record.file_size > _CONFIG_BYTES:
                    raise ValueError(f"{record.filename} is larger than {_CONFIG_BYTES >> 20} MiB")
                _raw(record.filename, json.loads(archive.read(record)))
            old = name.startswith(_OLD) or record.filename.startswith("serialized_")
            raw &= not (old and record.filename.endswith(".pt"))
    return raw


def _raw(name: str, document: Any) -> None:
    """Refuse weights and constants that are not raw bytes."""
    config = document.get("config") if isinstance(document, dict) else None
    for key, one in config.items() if isinstance(config, dict) else ():
        if not isinstance(one, dict):
            raise ValueError(f"{name} does not say how {key} is stored")
        path = str(one.get("path_name"))
        if one.get("use_pickle") is not False or path.startswith(_OBJECTS):
            raise NeedsTrust(f"{key} of {name} is stored as a pickle")


@contextlib.contextmanager
def _without_code(*, raw: bool) -> Iterator[list[NeedsTrust]]:
    """Have torch refuse whatever the archive, read in another way than `_look` does, holds after
    all: pickles, objects of C++, compiled code, sizes that are no sizes. Example inputs beside raw
    weights that are more than plain tensors are left out. Yield what was refused of operators."""
    serialized = import_module(_SERIALIZED)
    deserializer = serialized.GraphModuleDeserializer
    parse = getattr(deserializer, "_parse_sym_expr", None)
    read = serialized.deserialize_torch_artifact
    find = deserializer.deserialize_operator
    refused: list[NeedsTrust] = []
    ops = torch._ops
    kinds = (str, ops.OpOverload, ops.OpOverloadPacket, ops.HigherOrderOperator)
    symbolic = {operator.getitem}.union(
        *(of for name, of in vars(serialized).items() if _SYMBOLIC.fullmatch(name))
    )

    def operators(self: Any, name: str) -> Any:
        found = find(self, name)
        if isinstance(found, kinds) or name.startswith("#") or found in symbolic:
            return found
        refused.append(NeedsTrust(f"the program names {name[:80]}, which is no operator"))
        raise refused[-1]

    def parsed(self: Any, expression: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(expression, str):
            _plain_size(expression)
        return parse(self, expression, *args, **kwargs)  # type: ignore[misc]

    def tensors(content: Any) -> Any:
        try:
            return read(content)
        except pickle.UnpicklingError:
            if not raw:
                raise
            return None

    others: list[tuple[Any, str, Any]] = [
        (torch._C, "_pickle_load_obj", _refused),
        (deserializer, "_parse_sym_expr", parsed),
        (deserializer, "deserialize_operator", operators),
        (serialized, "deserialize_torch_artifact", tensors),
    ]
    with contextlib.suppress(ImportError):  # before 2.8
        archive = import_module(_ARCHIVE)
        others += [(archive, "pickle", _NoPickle), (archive, "_load_aoti", _refused)]
    others += [(import_module(_TREES), "importlib", _NoImport)]
    environment = {name: os.environ.pop(name, None) for name in (_FORCED, _UNFORCED)}
    os.environ[_FORCED] = "1"
    try:
        with replaced(others):
            yield refused
    finally:
        del os.environ[_FORCED]
        os.environ.update({name: value for name, value in environment.items() if value is not None})


def _refused(*args: Any, **kwargs: Any) -> Any:
    raise NeedsTrust("the file holds an object that is no tensor")


class _NoImport:
    """Stands for the module by which the reader of trees imports what a tree names."""

    @staticmethod
    def import_module(name: str) -> Any:
        if name not in ("builtins", "collections"):
            raise NeedsTrust(f"a tree of the program names the module {name[:60]!r}")
        return SimpleNamespace(**{one.__name__: one for one in _PLAIN_TYPES})


class _NoPickle:
    """Stands for the module that the archive's reader unpickles objects with."""

    loads = load = Unpickler = staticmethod(_refused)


def _plain_size(text: str) -> None:
    """Refuse a size that is not arithmetic: sympy evaluates it, and words in it, as Python."""
    for node in _parsed("size", text):
        called = node.func if isinstance(node, ast.Call) else None
        unknown = called is not None and getattr(called, "id", None) not in _FUNCTIONS
        if unknown or isinstance(node, ast.Attribute):
            raise NeedsTrust(f"a size of the program is {text[:80]!r}")


def _plain_guard(text: str) -> None:
    """Refuse a guard that is not a comparison of sizes and numbers: torch runs it as Python."""
    for node in _parsed("guard", text):
        called = node.func if isinstance(node, ast.Call) else None
        name = getattr(called, "attr", getattr(called, "id", None))
        private = "__" in str(getattr(node, "attr", getattr(node, "id", "")))
        named = isinstance(node, ast.keyword)  # `key` of max is a function that it calls
        if private or named or (called is not None and name not in _GUARD_CALLS):
            raise NeedsTrust(f"a guard of the program is {text[:80]!r}")


def _parsed(what: str, text: str) -> list[ast.AST]:
    """Return the parts of an expression; refuse one with words that may be more than words, since
    torch puts the text of a guard between quotes, and sympy evaluates words."""
    parts: list[ast.AST] = []
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        if _ONE_LINE.fullmatch(text):
            parts = list(ast.walk(parse_expression(text.strip())))
    words = [part.value for part in parts if isinstance(part, ast.Constant)]
    texts = (word for word in words if isinstance(word, (str, bytes)))
    strange = any(isinstance(word, bytes) or not _WORD.fullmatch(word) for word in texts)
    if not parts or strange or any(isinstance(part, _NO_EXPRESSION) for part in parts):
        raise NeedsTrust(f"a {what} of the program is {text[:80]!r}")
    return parts
