"""What an agent is given (evals/cases/FAMILY.toml or .toml.xz), and what is true of it
(evals/truth.toml.xz).

A case holds its input files as text; what cannot be text (a package, weights, traffic) is made when
it is laid out, by the truth's `prepare`. Patches are kept as edits, which name the text that they
replace, and become unified diffs here.
"""

from __future__ import annotations

import difflib
import lzma
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args

from aoti_debug.model import Category, Phase
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EVALS = Path(__file__).resolve().parents[1]
Family = Literal[
    "bad_input",
    "triton_kernels",
    "custom_operators",
    "out_of_bounds",
    "wrong_values",
    "compile_and_export",
    "package_and_constants",
    "hangs_and_threads",
    "production",
]
FAMILIES: tuple[Family, ...] = get_args(Family)
Twin = Literal["planted", "healthy"]
_NAMESPACE = re.compile(r"""(?:custom_op|triton_op|Library)\(\s*["'](\w+)""")


class BadCase(ValueError):
    """A case or its truth is not what it must be; the message names the file and the field."""


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Case(Strict):
    """What the agent may know."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]{2,40}$")
    family: Family
    level: Literal["vague", "misleading", "precise"]
    split: Literal["dev", "test"]
    needs: Literal["cpu", "gpu"] = "cpu"
    torch: str = ">=2.6,<2.16"
    timeout_s: float = Field(300.0, gt=0, le=900)
    canary: str = Field(pattern=r"^aoti-eval-canary-[0-9a-f]{16}$")
    control: (
        Literal["nothing_wrong", "user_code", "two_faults", "misleading_log", "injection"] | None
    ) = None
    command: tuple[str, ...] = Field(min_length=1, description="a script and its arguments")
    prompt: str = Field(min_length=40)
    files: Mapping[str, str] = Field(min_length=1)

    @field_validator("files")
    @classmethod
    def _inside(cls, files: Mapping[str, str]) -> Mapping[str, str]:
        for name in files:
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or not path.parts:
                raise ValueError(f"{name!r} leads out of the case's directory")
        return files

    @model_validator(mode="after")
    def _has_script(self) -> Case:
        if self.command[0] not in self.files:
            raise ValueError(f"the command's script {self.command[0]!r} is not among the files")
        return self


class Edit(Strict):
    """Replace the one place where `old` stands in `file`; without `old` the file is new."""

    file: str
    old: str = ""
    new: str


class Wrong(Strict):
    """A patch that must not pass, and why somebody would make it."""

    name: str
    edits: tuple[Edit, ...]


class Place(Strict):
    """Lines of an input file: those that hold one of the texts."""

    file: str
    text: str


class Input(Strict):
    name: str | None = None
    index: int | None = None
    property: tuple[str, ...] = ()


class Truth(Strict):
    """What must be found, and what shows that a fix is one."""

    phase: tuple[Phase, ...] = Field(min_length=1)
    category: tuple[Category, ...] = Field(min_length=1)
    also: tuple[Category, ...] = Field((), description="of two faults: both must be named")
    kernel: tuple[str, ...] = Field((), description="of the user's own kernel: its function")
    kernel_of: tuple[str, ...] = Field(
        (), description="operators; the kernels that hold one are read from the package"
    )
    operators: tuple[str, ...] = ()
    source: tuple[Place, ...] = ()
    input: Input | None = None
    blameless: tuple[str, ...] = Field(
        (), description="distractors: kernels, categories and lines that must not be blamed"
    )
    fix: Literal["patch", "none"] = "patch"
    verify: bool = Field(False, description="the fix must also convince verify_fix")
    oracle: str = Field("", description="runs in a tree after its command; see prelude.py")
    prepare: str = Field("", description="makes what is no text; its argument is the twin")
    products: tuple[str, ...] = Field((), description="what `prepare` leaves")
    built: tuple[str, ...] = Field((), description="packages that the command compiles if missing")
    built_from: tuple[str, ...] = Field((), description="all files that those depend on")
    twin: tuple[Edit, ...] = Field((), description="what makes the healthy twin of the input")
    gold: tuple[Edit, ...] = ()
    wrong: tuple[Wrong, ...] = ()
    signature: str = Field("", description="words of the planted failure, beside n of n alike")
    untouchable: tuple[str, ...] = Field((), description="files that no patch may touch or make")
    unsayable: tuple[str, ...] = Field((), description="words that only an obeyed injection says")
    recording: str | None = Field(None, description="a directory of tests/recorded/gpu")
    answer: Mapping[str, Any] = Field(default_factory=dict, description="more of the gold answer")

    @model_validator(mode="after")
    def _whole(self) -> Truth:
        if self.fix == "patch" and not self.gold:
            raise ValueError("there is no gold patch")
        if self.fix == "patch" and not self.oracle:
            raise ValueError("there is no oracle")
        if bool(self.prepare) != bool(self.products):
            raise ValueError("`prepare` and `products` belong together")
        if bool(self.built) != bool(self.built_from):
            raise ValueError("`built` and `built_from` belong together")
        return self


@dataclass(frozen=True, slots=True)
class Problem:
    case: Case
    truth: Truth

    @property
    def id(self) -> str:
        return self.case.id

    @property
    def script(self) -> str:
        return self.case.command[0]


def load(root: Path = EVALS) -> dict[str, Problem]:
    """Read all cases and truths, sorted by family and id.

    Raises:
        BadCase: a file is no TOML, a field is wrong or missing, a truth or a case has no partner.
    """
    cases = {
        name: _parsed(Case, {"id": name, "family": family, **table}, path, name)
        for family in FAMILIES
        if (path := case_file(family, root)).exists()
        for name, table in _tables(path).items()
    }
    told = _kept(root / "truth.toml")
    truths = {name: _parsed(Truth, table, told, name) for name, table in _tables(told).items()}
    if lone := cases.keys() ^ truths.keys():
        raise BadCase(f"case without truth or truth without case: {', '.join(sorted(lone))}")
    problems = {name: Problem(case, truths[name]) for name, case in cases.items()}
    for problem in problems.values():
        _check_edits(problem)
    return dict(sorted(problems.items(), key=lambda item: (item[1].case.family, item[0])))


def case_file(family: str, root: Path = EVALS) -> Path:
    return _kept(root / "cases" / f"{family}.toml")


def _kept(path: Path) -> Path:
    """Return the file as `xz -d` leaves it while it is edited, else the packed one."""
    return path if path.exists() else path.with_name(f"{path.name}.xz")


def _tables(path: Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
        text = lzma.decompress(data) if path.suffix == ".xz" else data
        tables = tomllib.loads(text.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, lzma.LZMAError) as error:
        raise BadCase(f"{path.name} is no TOML: {error}") from error
    if stray := [name for name, table in tables.items() if not isinstance(table, dict)]:
        raise BadCase(f"{path.name}: {stray[0]} stands outside of any case")
    return tables


def _parsed(model: type[Any], table: Mapping[str, Any], path: Path, name: str = "") -> Any:
    try:
        return model.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, (*([name] if name else []), *first["loc"])))
        raise BadCase(f"{path.name}: {where}: {first['msg']}") from error


def _check_edits(problem: Problem) -> None:
    truth = problem.truth
    named = [("twin", truth.twin), ("gold", truth.gold), *((w.name, w.edits) for w in truth.wrong)]
    for name, edits in named:
        try:
            edited(problem.case.files, edits)
        except BadCase as error:
            raise BadCase(f"{problem.id}: the patch {name}: {error}") from error
    for place in truth.source:
        if not lines_of(problem.case, place):
            raise BadCase(f"{problem.id}: {place.file} holds no line with {place.text!r}")


def edited(files: Mapping[str, str], edits: Sequence[Edit]) -> dict[str, str]:
    """Return the files with the edits made.

    Raises:
        BadCase: the text to replace is not there, or stands at several places.
    """
    changed = dict(files)
    for edit in edits:
        if not edit.old:
            changed[edit.file] = edit.new
            continue
        count = changed.get(edit.file, "").count(edit.old)
        if count != 1:
            raise BadCase(f"{edit.old[:60]!r} stands {count} times in {edit.file}")
        changed[edit.file] = changed[edit.file].replace(edit.old, edit.new)
    return changed


def right_files(problem: Problem) -> dict[str, str]:
    """Return the project as it is when it is right. Its operators have a namespace of their own:
    in an oracle's process, those of one name would take the place of the project's."""
    files = edited(problem.case.files, problem.truth.gold)
    for name in set(_NAMESPACE.findall("\n".join(files.values()))):
        called = rf"""(?<=["']){name}(?=::)|(?<=Library\(["']){name}\b|(?<=\bops\.){name}\b"""
        files = {file: re.sub(called, f"right_{name}", text) for file, text in files.items()}
    return files


def diff(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return the unified diff, as `git diff` writes it."""
    found: list[str] = []
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        left = f"a/{name}" if old is not None else "/dev/null"
        right = f"b/{name}" if new is not None else "/dev/null"
        found += difflib.unified_diff(
            (old or "").splitlines(keepends=True),
            (new or "").splitlines(keepends=True),
            left,
            right,
        )
    return "".join(line if line.endswith("\n") else line + "\n" for line in found)


def patch_of(problem: Problem, edits: Sequence[Edit]) -> str:
    return diff(problem.case.files, edited(problem.case.files, edits))


def lines_of(case: Case, place: Place) -> list[int]:
    text = case.files.get(place.file, "")
    return [n for n, line in enumerate(text.splitlines(), 1) if place.text in line]


@cache
def problems() -> Mapping[str, Problem]:
    return load()
