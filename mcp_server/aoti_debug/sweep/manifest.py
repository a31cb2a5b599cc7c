"""What a sweep is made of, as the user writes it: a TOML file, or a folder of scripts."""

from __future__ import annotations

import difflib
import os
import re
import string
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from aoti_debug.errors import WrongUse, refused_by_system
from aoti_debug.plain import clean, plain
from aoti_debug.run.files import expanded, files_below, open_regular

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MOST_TARGETS = 200_000
MANIFEST_BYTES = 1 << 20
FOLDER_FILES = 20_000
AXES = 32
WORDS = 1 << 16  # characters of a target's words and variables, which no shell takes many more of
KEYS = 5_000  # of a table
PROBLEMS = 10  # that are said
KEY_PARTS = 100  # nobody nests tables so deep, and TOML's reader takes the square of it
_BETWEEN_KEYS = re.compile(rb"[=,{}\[\]\n]")
_QUOTED_PART = re.compile(rb"[\"'][ \t]*\.|\.[ \t]*[\"']")  # of a key, which may hold any of these
_BYTES = re.compile(r"(\d{1,9}(?:\.\d{1,3})?) ?([KMGT])(i?)B")
_LABEL = re.compile(r"[^\[\],=\x00-\x1f\x7f]{1,300}")


class WrongManifest(WrongUse):
    help = "guides/sweeps.md shows what a manifest holds."


def _size(value: object) -> object:
    """Read `4GiB`."""
    found = _BYTES.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError("give a size such as 800MiB or 4GiB")
    number, unit, binary = found.groups()
    return int(float(number) * (1024 if binary else 1000) ** (1 + "KMGT".index(unit)))


Size = Annotated[int, BeforeValidator(_size)]
Value = str | int | float
PLAIN = (str, int, float)


def _flat(value: object, kinds: tuple[type, ...] = (str,)) -> object:
    """Refuse a list for its first wrong value, of which there may be a million."""
    for one in value if isinstance(value, list) else ():
        if not isinstance(one, kinds):
            names = " or ".join(kind.__name__ for kind in kinds)
            raise ValueError(f"{plain(repr(one), 40)} is no {names}")
    return value


Words = Annotated[list[str], BeforeValidator(_flat)]
Axis = Annotated[list[Value] | dict[str, Value], BeforeValidator(partial(_flat, kinds=PLAIN))]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


_S = TypeVar("_S", bound=_Strict)


class Settings(_Strict):
    """What a target may say for itself, and [defaults] for all of them."""

    python: str | None = None
    env: dict[str, str] = Field(default_factory=dict)
    cwd: str | None = None
    imports: Words = Field(default_factory=list)
    timeout_s: float | None = Field(None, gt=0, le=86_400)
    retries: int | None = Field(None, ge=0, le=20)
    gpus: int | None = Field(None, ge=0, le=64)
    gpu: str | None = Field(None, description="kind, such as H100: words of its name")
    gpu_memory: Size | None = None
    memory: Size | None = None
    cores: int | None = Field(None, ge=1, le=4096)


class Entry(Settings):
    """One [[target]]: exactly one of script, test, package and command."""

    name: str | None = None
    script: str | None = None
    test: str | None = None
    package: str | None = None
    inputs: str | None = None
    command: Words | None = None
    args: Words = Field(default_factory=list)

    @property
    def kinds(self) -> list[str]:
        return [k for k in ("script", "test", "package", "command") if getattr(self, k)]

    @property
    def label(self) -> str:
        named = self.name or self.script or self.test or self.package
        return (named or " ".join(self.command or ())).removesuffix(".py")

    def used(self) -> set[str]:
        """Return what stands in braces in what is run."""
        return _in_braces((*self.words(), *self.env.values()), f"target {self.label}")

    def words(self) -> list[str]:
        single = (self.script, self.test, self.package, self.inputs)
        return [*self.args, *(self.command or ()), *(word or "" for word in single)]


class Manifest(_Strict):
    """A whole manifest; `root` is where its relative paths begin."""

    name: str = Field("", max_length=100)
    defaults: Settings = Field(default_factory=Settings)
    matrix: dict[str, Axis] = Field(default_factory=dict, max_length=AXES)
    target: list[Entry] = Field(default_factory=list)
    root: Path = Path()

    @cached_property
    def used(self) -> set[str]:
        """Return what stands in braces for all targets."""
        return _in_braces(self.defaults.env.values(), "defaults.env")

    def axes(self) -> dict[str, dict[str, str]]:
        """Return each axis as labels and values."""
        return {name: _labelled(axis) for name, axis in self.matrix.items()}

    def axes_of(self, entry: Entry) -> list[str]:
        """Return the axes that multiply a target: those it uses, python, gpu, names in capitals."""
        used = entry.used() | self.used
        python = entry.package or entry.script or entry.test
        always = {axis for axis in self.matrix if axis.isupper() or axis == "gpu"}
        always |= {"python"} if python and entry.python is None else set()
        return [axis for axis in self.matrix if axis in used | always]


def _in_braces(texts: Iterable[str], where: str) -> set[str]:
    """Return the names; raise WrongManifest for an open brace, and for more than a name in one."""
    braces = "Write {{ and }} for braces of your own."
    found = set()
    try:
        for text in texts:
            for _, name, form, conversion in string.Formatter().parse(text):
                if form or conversion or (name and re.search(r"[.\[]", name)):
                    what = f"{where}: {name!r} has a format: write its name alone"
                    raise WrongManifest(what, help=braces)
                found |= {name} if name is not None else set()
    except ValueError as error:
        raise WrongManifest(f"{where}: {error}", help=braces) from error
    return found


def read_manifest(path: str | os.PathLike[str]) -> Manifest:
    """Return the manifest of a TOML file or folder; raise WrongManifest with all problems."""
    given = expanded(path).absolute()
    try:
        if given.is_dir():
            return _checked(_of_folder(given))
        with open_regular(given, follow=True) as file:
            data = file.read(MANIFEST_BYTES + 1)
    except OSError as error:
        why = refused_by_system(error) or f"cannot read {given.name}: {error.strerror}"
        raise WrongManifest(str(why), help="") from error
    except ValueError as error:  # a path with a NUL
        raise WrongManifest(f"cannot read {plain(str(given), 80)}: {error}") from error
    if len(data) > MANIFEST_BYTES:
        raise WrongManifest(f"{given.name} is longer than {MANIFEST_BYTES:,} bytes")
    quoted = [line for line in data.split(b"\n") if _QUOTED_PART.search(line)]
    if any(key.count(b".") >= KEY_PARTS for key in (*_BETWEEN_KEYS.split(data), *quoted)):
        raise WrongManifest(f"{given.name} has a key of more than {KEY_PARTS} parts")
    try:
        document = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:  # an endless number is a ValueError of its own
        raise WrongManifest(f"{given.name} is no TOML: {plain(str(error), 200)}") from error
    if "root" in document:
        raise WrongManifest("root: unknown key")
    manifest, problems = _validated({"name": given.stem, **document, "root": given.parent})
    if problems:
        raise WrongManifest(f"{given.name}: {'; '.join(dict.fromkeys(problems))}")
    return _checked(manifest)


def _validated(document: Mapping[str, Any]) -> tuple[Manifest, list[str]]:
    """Return the manifest of a document, and its first problems: of a million keys that nobody
    knows no more than a few cost anything."""
    problems: list[str] = []
    given = document.get("target", [])
    targets = given if isinstance(given, list) else []

    def read(kind: type[_S], table: object, *place: int | str) -> _S:
        try:
            return kind.model_validate(_bounded(table))
        except ValidationError as error:
            problems.extend(_problems(error, place))
        except ValueError as error:
            problems.append(f"{_place(place) or 'the file'}: {error}")
        return cast("_S", kind.model_construct())

    manifest = read(Manifest, {**document, "target": [] if targets else given})
    entries: list[Entry] = []
    for number, table in enumerate(targets):
        if len(problems) >= PROBLEMS:
            break
        entries.append(read(Entry, table, "target", number))
    return manifest.model_copy(update={"target": entries}), problems[:PROBLEMS]


def _bounded(table: object) -> object:
    """Return a table; raise ValueError where it, or one in it, has too many keys."""
    for one in (table, *table.values()) if isinstance(table, dict) else ():
        if isinstance(one, dict) and len(one) > KEYS:
            raise ValueError(f"a table of more than {KEYS:,} keys")
    return table


def _of_folder(folder: Path) -> Manifest:
    """Take every script, test file and package with inputs below a folder."""
    entries: list[Entry] = []
    for number, path in enumerate(files_below(folder)):
        if number >= FOLDER_FILES:
            what = f"{folder} holds more than {FOLDER_FILES:,} files"
            raise WrongManifest(what, help="Name the targets in a TOML file.")
        below = path.relative_to(folder)
        if any(part.startswith((".", "_")) for part in below.parts) or path.name == "conftest.py":
            continue
        name = below.as_posix()
        file = name.replace("{", "{{").replace("}", "}}")  # braces of its own
        beside = path.with_name(f"{path.stem}.inputs.pt")
        if path.suffix == ".py" and path.name.startswith("test_"):
            entries.append(Entry(name=name, test=file))
        elif path.suffix == ".py":
            entries.append(Entry(name=name.removesuffix(".py"), script=file))
        elif path.suffix == ".pt2" and beside.is_file():
            inputs = f"{file.removesuffix('.pt2')}.inputs.pt"
            entries.append(Entry(name=name, package=file, inputs=inputs))
    return Manifest(name=folder.name, target=entries, root=folder)


def _labelled(axis: Axis) -> dict[str, str]:
    if isinstance(axis, dict):
        return {label: str(value) for label, value in axis.items()}
    return {str(value): str(value) for value in axis}


def _checked(manifest: Manifest) -> Manifest:
    problems = [*_of_matrix(manifest), *_of_names(manifest)]
    names: set[str] = set()
    most = max((len(v) for axis in manifest.axes().values() for v in axis.values()), default=0)
    common = _length(manifest.defaults, (), most)
    for entry in manifest.target:
        if common + _length(entry, (entry.name or "", *entry.words()), most) > WORDS:
            raise WrongManifest(f"target {entry.label[:80]!r} has over {WORDS:,} characters")
        problems += _of_entry(entry, manifest)
        if entry.label in names:
            problems.append(f"two targets have the name {entry.label!r}: give one another `name`")
        names.add(entry.label)
    if not manifest.target:
        problems.append(f"there is no target in {manifest.root}: no [[target]], no script")
    unused = set(manifest.matrix) - {a for e in manifest.target for a in manifest.axes_of(e)}
    problems += [
        f"matrix.{axis}: no target uses it: write {{{axis}}} where it belongs"
        for axis in sorted(unused)
    ]
    if problems:
        raise WrongManifest(all_of(problems))
    return manifest


def all_of(problems: Sequence[str]) -> str:
    more = f"; and {len(problems) - PROBLEMS} more" if len(problems) > PROBLEMS else ""
    return "; ".join(problems[:PROBLEMS]) + more


def _length(given: Settings, words: Iterable[str], most: int) -> int:
    """Return how many characters there may be when each brace holds so many."""
    texts = [*words, *given.env, *given.env.values(), *given.imports]
    return sum(1 + len(text) + text.count("{") * most for text in texts)


def _of_matrix(manifest: Manifest) -> Iterator[str]:
    for name, axis in manifest.matrix.items():
        labels = _labelled(axis)
        if not axis:
            yield f"matrix.{name}: it has no values"
        if len(labels) != len(axis):
            yield f"matrix.{name}: two of its values are the same"
        for label in labels:
            if not _LABEL.fullmatch(label):
                short = f"{label[:40]!r} cannot stand in a target's name"
                yield f"matrix.{name}: {short}: name it, as in {name} = {{label = …}}"


def _of_names(manifest: Manifest) -> Iterator[str]:
    """Refuse what no JSON document can hold."""
    for name in (str(manifest.root), *(entry.label for entry in manifest.target)):
        if re.search("[\ud800-\udfff]", name):
            yield f"{clean(name)[:100]!r} is not UTF-8: rename it"


def _of_entry(entry: Entry, manifest: Manifest) -> Iterator[str]:
    what = f"target {entry.label!r}"
    if len(entry.kinds) != 1:
        told = " and ".join(entry.kinds) or "nothing"
        yield f"{what} names {told}: it needs exactly one of script, test, package, command"
    if (entry.inputs is None) != (entry.package is None):
        yield f"{what}: package and inputs go together"
    if entry.name is not None and not entry.name.strip():
        yield "a target's name is empty"
    used = entry.used() | manifest.used
    if unknown := used - set(manifest.matrix):
        yield f"{what}: {{{sorted(unknown)[0]}}} is no axis of the matrix"


def _problems(error: ValidationError, within: tuple[int | str, ...]) -> list[str]:
    found = []
    for detail in error.errors(include_url=False, include_context=False)[:PROBLEMS]:
        location = (*within, *detail["loc"])
        place = _place(location)
        if detail["type"] == "extra_forbidden":
            found.append(f"{place}: unknown key{_meant(location)}")
        else:
            message = detail["msg"].removeprefix("Value error, ")
            found.append(f"{place}: {plain(message, 120)}, not {plain(repr(detail['input']), 60)}")
    return found


def _place(location: tuple[int | str, ...]) -> str:
    text = "".join(f"[{p + 1}]" if isinstance(p, int) else f".{p}" for p in location)
    return plain(text.removeprefix("."), 80)


def _meant(location: tuple[int | str, ...]) -> str:
    kinds: Mapping[str, type[BaseModel]] = {"target": Entry, "defaults": Settings}
    known: Any = kinds.get(str(location[0]), Manifest) if len(location) > 1 else Manifest
    near = difflib.get_close_matches(str(location[-1]), known.model_fields, 1)
    return f" (is {near[0]} meant?)" if near else ""
