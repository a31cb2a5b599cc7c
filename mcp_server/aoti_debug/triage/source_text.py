"""Read a Python file of the user's, find what loads, calls or compiles a package, and change it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import TypeVar

from aoti_debug.model import Next, SourceLine
from aoti_debug.probe.python_source import parse
from aoti_debug.read.event_records import Call
from aoti_debug.run.files import read_regular, read_source

FILE_BYTES = 1 << 20
LOADERS = ("aoti_load_package", "load_package", "aot_load")
COMPILERS = ("aoti_compile_and_package", "package_aoti", "aot_compile")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
PASS_OVER_NAN = ("nanmean", "nansum", "nanmedian", "nanquantile", "nan_to_num")
SEARCHED = 200  # files of a project
ELSEWHERE = ("site-packages", "node_modules", "__pycache__", "venv", "build", "dist")
N = TypeVar("N", bound=ast.AST)
BINDS_NAMES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, slots=True)
class File:
    """A file of the user's, read and parsed."""

    path: Path
    text: str
    tree: ast.Module

    def of(self, node: ast.expr) -> str:
        return ast.get_source_segment(self.text, node) or ""

    def position(self, line: int, column: int) -> int:
        """Return where a place of the tree lies in the text; columns are counted in UTF-8 there."""
        lines = self.text.splitlines(keepends=True)
        before = lines[line - 1].encode()[:column].decode()
        return sum(map(len, lines[: line - 1])) + len(before)

    def replaced(self, node: ast.expr, new: str) -> str:
        begin = self.position(node.lineno, node.col_offset)
        end = self.position(node.end_lineno or 0, node.end_col_offset or 0)
        return self.text[:begin] + new + self.text[end:]

    def before(self, statement: ast.stmt, lines: Sequence[str]) -> str:
        kept, at = self.text.splitlines(keepends=True), statement.lineno - 1
        indent = kept[at][: len(kept[at]) - len(kept[at].lstrip())]
        kept[at:at] = [f"{indent}{line}\n" for line in lines]
        return "".join(kept)

    @property
    def has_torch(self) -> bool:
        names = (one for node in every(self.tree, ast.Import) for one in node.names)
        return any(one.name == "torch" and one.asname is None for one in names)


def every(tree: ast.AST, kind: type[N]) -> list[N]:
    return [node for node in ast.walk(tree) if isinstance(node, kind)]


def calls_of(tree: ast.AST, *names: str) -> list[ast.Call]:
    return [node for node in every(tree, ast.Call) if name_of(node.func) in names]


def read(path: Path, tree: Path) -> File | None:
    """Read a file of the tree; None where it is no whole Python file of a usual size in it."""
    try:
        if not path.resolve().is_relative_to(tree.resolve()):
            return None
        text = read_regular(path, FILE_BYTES, follow=True).decode("utf-8")
        if "\r" in text or "\f" in text or not text.endswith("\n"):
            return None
        return File(path.resolve(), text, parse(text))
    except (OSError, ValueError, SyntaxError, RecursionError):
        return None


def diff(file: File, text: str, tree: Path) -> str | None:
    """Return the change as a patch; None where the new text is no Python, or nothing changed."""
    try:
        parse(text)
    except (SyntaxError, ValueError):
        return None
    name = file.path.relative_to(tree.resolve()).as_posix()
    old, new = file.text.splitlines(keepends=True), text.splitlines(keepends=True)
    return "".join(unified_diff(old, new, f"a/{name}", f"b/{name}")) or None


@dataclass(frozen=True, slots=True)
class Given:
    """An argument, the statement of its call, and whether its names are known there already."""

    expression: ast.expr
    statement: ast.stmt
    plain: bool


def argument(file: File, line: int, call: Call, place: int, name: str | None) -> Given | None:
    """Return what the package call at a line passes for an input, if only one call fits."""
    loaded = names_of_packages(file.tree)
    calls = [
        (node, way)
        for node, way in walked(file.tree)
        if isinstance(node, ast.Call)
        and node.lineno <= line <= (node.end_lineno or node.lineno)
        and name_of(node.func) in loaded
    ]
    if len(calls) != 1:
        return None
    node, way = calls[0]
    expression = given(node, len(call.inputs), place, name)
    statements = [part for part in way if isinstance(part, ast.stmt)]
    plain = not any(isinstance(part, BINDS_NAMES) for part in way)
    if expression is None or not statements:
        return None
    return Given(expression, statements[-1], plain)


def given(node: ast.Call, inputs: int, place: int, name: str | None) -> ast.expr | None:
    """Return the argument for an input: by its place, where each argument is one input."""
    starred = any(isinstance(a, ast.Starred) for a in node.args)
    starred = starred or any(k.arg is None for k in node.keywords)
    if starred or len(node.args) + len(node.keywords) != inputs:
        return None
    if place < len(node.args):
        return node.args[place]
    return next((k.value for k in node.keywords if k.arg == name), None)


def names_of_packages(tree: ast.Module) -> set[str]:
    """Return the variables and attributes that only ever hold a loaded package."""
    loaded: set[str] = set()
    others: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            is_load = isinstance(node.value, ast.Call) and name_of(node.value.func) in LOADERS
            (loaded if is_load else others).update(map(name_of, targets))
    return loaded - others - {""}


def name_of(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


Way = tuple[ast.AST, ...]


def walked(node: ast.AST, way: Way = ()) -> Iterator[tuple[ast.AST, Way]]:
    yield node, way
    for child in ast.iter_child_nodes(node):
        yield from walked(child, (*way, node))


def wrapped(file: File, node: ast.expr) -> str:
    text = file.of(node)
    simple = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
    return text if isinstance(node, simple) else f"({text})"


def kernels(tree: ast.Module, op: str) -> tuple[ast.FunctionDef | None, ast.FunctionDef | None]:
    """Return the functions of an operator and of its fake kernel, each if it is unique."""
    name = (op if "::" in op else op.replace(".", "::", 1)).partition(".")[0]
    functions = every(tree, ast.FunctionDef)
    real = [f for f in functions if any(_is(d, ("custom_op",), name) for d in f.decorator_list)]
    own = {f"{f.name}.register_fake" for f in real}
    fake = [
        f
        for f in functions
        for d in f.decorator_list
        if _is(d, ("register_fake", "impl_abstract"), name) or ast.unparse(d) in own
    ]
    return (real[0] if len(real) == 1 else None), (fake[0] if len(fake) == 1 else None)


def _is(decorator: ast.expr, names: Sequence[str], op: str) -> bool:
    return (
        isinstance(decorator, ast.Call)
        and name_of(decorator.func) in names
        and bool(decorator.args)
        and isinstance(decorator.args[0], ast.Constant)
        and decorator.args[0].value == op
    )


def returned(function: ast.FunctionDef) -> ast.expr | None:
    found = every(function, ast.Return)
    return found[0].value if len(found) == 1 else None


Function = ast.FunctionDef | ast.AsyncFunctionDef


def builder_of(package: Path, folder: Path) -> tuple[File, int, Function | None] | None:
    """Return the file, line and function that compile a package of this name, below a folder."""
    for path in sorted([*folder.glob("*.py"), *folder.glob("*/*.py")])[:SEARCHED]:
        inside = path.relative_to(folder).parts[:-1]
        if any(part.startswith(".") or part in ELSEWHERE for part in inside):
            continue
        file = read(path, folder)
        if file is None or package.name not in file.text:
            continue
        texts = (node.value for node in every(file.tree, ast.Constant))
        named = any(isinstance(t, str) and Path(t).name == package.name for t in texts)
        for node, way in walked(file.tree) if named else ():
            if isinstance(node, ast.Call) and name_of(node.func) in COMPILERS:
                function = next((part for part in way if isinstance(part, FUNCTIONS)), None)
                return file, node.lineno, function
    return None


SETTING_FILES = 200
SETTING_BYTES = 1 << 16
PROSE = (".md", ".rst", ".txt", ".log")


def sets(variable: str, folders: Sequence[Path]) -> SourceLine | None:
    """Return the line in the user's folders that gives an environment variable a value."""
    beside = [p for f in folders for p in sorted(f.glob("*"))[:SETTING_FILES] if p.is_file()]
    given = re.compile(rf"\b{variable}\b[\"']?\]?\s{{0,9}}[=:,]")
    for path in dict.fromkeys(beside):
        try:
            if path.suffix in PROSE or path.name.startswith("."):
                continue
            lines = read_source(path, SETTING_BYTES).splitlines()
        except OSError:
            continue
        for number, line in enumerate(lines, 1):
            if given.search(line) and not line.lstrip().startswith("#"):
                return SourceLine(file=str(path), line=number, text=line.strip()[:200])
    return None


def expects_nan(tree: ast.Module) -> bool:
    """Tell whether a file uses NaN for missing values: it skips NaN, or writes and tests it."""
    constants = [node.value for node in every(tree, ast.Constant)]
    named = any(node.attr == "nan" for node in every(tree, ast.Attribute))
    writes = named or any(isinstance(one, str) and one.lower() == "nan" for one in constants)
    return bool(calls_of(tree, *PASS_OVER_NAN)) or (writes and bool(calls_of(tree, "isnan")))


def reached(tree: ast.Module) -> set[str]:
    """Return the names that running a file calls, by way of its own functions too."""
    own = {node.name: node for node in tree.body if isinstance(node, FUNCTIONS)}
    waiting: list[ast.AST] = [n for n in tree.body if not isinstance(n, (*FUNCTIONS, ast.ClassDef))]
    found: set[str] = set()
    while waiting:
        called = {name_of(node.func) for node in every(waiting.pop(), ast.Call)}
        waiting += [own[name] for name in called - found if name in own]
        found |= called
    return found


def built_by(script: Path, package: Path) -> Next | None:
    """Say how to keep the exported program of a script's package, by files that are only read."""
    if not script.is_absolute() or not script.is_file():
        return None
    folder = script.parent.resolve()
    if (made := builder_of(package, folder)) is None:
        return None
    file, line, function = made
    where = file.path.relative_to(folder)
    said = f"the package is made by {where}:{line}"
    again = f"move {package.name} away and triage this script again"
    this = {"script": str(script)}
    if file.path == script.resolve():
        return Next(tool="triage", arguments=this, why=f"{said}: {again}")
    if function is None or function.name in reached(file.tree):
        said += f": triage {where} (it exports and compiles), then this script again"
        return Next(tool="triage", arguments={"script": str(folder / where)}, why=said)
    said += f", in {function.name}()"
    own = read(script, folder)
    lines = [one.lineno for one in calls_of(own.tree, function.name)] if own is not None else []
    if lines:
        said += f", which {script.name}:{min(lines)} calls: if it does so where there is no package"
        return Next(tool="triage", arguments=this, why=f"{said}, {again}")
    module = where.with_suffix("").parts
    if function.args.args or not all(part.isidentifier() for part in module):
        said += ": triage a script that calls it, then this one again"
        return Next(tool="triage", why=said)
    code = f"import {'.'.join(module)}; {'.'.join(module)}.{function.name}()"
    arguments = {"command": ["python", "-c", code], "cwd": str(folder)}
    said += f': `triage --command python -c "{code}"`, then this script again'
    return Next(tool="triage", arguments=arguments, why=said)
