"""Apply a unified diff to a copy of a tree: exactly, inside the tree, or not at all."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from aoti_debug.errors import WrongUse
from aoti_debug.plain import plain
from aoti_debug.run.kept import home, private

TREE_BYTES = 256 * 1024 * 1024
MISPLACED = 100  # changes whose lines are looked for elsewhere
SECTIONS = 2000  # of a patch, one a file
FILE_BYTES = 16 * 1024 * 1024  # of a file that is patched, of which each line takes more
WORK_CHARACTERS = 128 * 1024 * 1024  # of the files that a patch changes, each time it does
NAME_BYTES = 255
LEFT_OUT = (".git", ".hg", ".venv", "venv", "node_modules", "__pycache__", ".tox")
_NO_FILE = re.compile(r"\t(?:1969-12-31|1970-01-01) ")  # the time that `diff -N` gives to none
_FILE = re.compile(r"^(?:---|\+\+\+) ([^\t\n]{1,500})")
_HUNK = re.compile(r"^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")

_MODES = ("100644", "100755")  # a file, and one that may be executed
# Parts of a patch of git that are more than changed lines, and what to do about them.
_UNSUPPORTED = (
    ("rename ", "renames a file", "Make it with `git diff --no-renames`."),
    ("copy ", "copies a file", "Make it with `git diff --no-renames`."),
    ("old mode ", "changes the mode of a file", "Leave that part out."),
    ("GIT binary patch", "changes a binary file", "Give a patch of the source alone."),
    ("Binary files ", "changes a binary file", "Give a patch of the source alone."),
)


class BadPatch(WrongUse):
    help = "Make it with `git diff` or `diff -u` against the files as they are now."


@dataclass(frozen=True, slots=True)
class Hunk:
    at: int  # 1-based line of the old text
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What becomes of one file; a file that is new has no `old`, a removed one no `new`."""

    old: str | None
    new: str | None
    hunks: tuple[Hunk, ...]
    executable: bool = False


def read_patch(text: str) -> list[FilePatch]:
    """Read a unified diff; raise BadPatch where it is none, or a path leads out of the tree."""
    try:
        text.encode()
    except UnicodeError:
        raise BadPatch("the patch is no text: it holds half a character") from None
    lines = _lines(text)
    found: list[FilePatch] = []
    at = 0
    git = mode = None  # the header of the part of git that this is, and its line on a mode
    while at < len(lines):
        line = lines[at]
        if line.startswith("diff --git "):
            found += _empty(git, mode)
            git, mode = line, None
        elif line.startswith(("new file mode ", "deleted file mode ")):
            mode = line
        for start, said, help in _UNSUPPORTED:
            if git is not None and line.startswith(start):
                why = f"the patch {said} ({plain(git, 120)}), which is not applied"
                raise BadPatch(why, help=help)
        if line.startswith("--- ") and lines[at + 1 : at + 2] and lines[at + 1][:4] == "+++ ":
            old, new = _name(line), _name(lines[at + 1])
            hunks, at = _hunks(lines, at + 2)
            if not hunks:
                raise BadPatch(f"nothing is changed in {new or old}")
            found.append(FilePatch(old, new, tuple(hunks), _executable(mode)))
            git = mode = None
        else:
            at += 1
    found += _empty(git, mode)
    if not found:
        raise BadPatch("this is no unified diff")
    if len(found) > SECTIONS:
        raise BadPatch(f"the patch has more than {SECTIONS} parts")
    return found


def _empty(git: str | None, mode: str | None) -> list[FilePatch]:
    """Return the new or the removed file of a part of git without lines: it is empty."""
    if git is None or mode is None:
        return []
    names = git.removeprefix("diff --git ")
    half = len(names) // 2
    old, new = _name(f"--- {names[:half]}"), _name(f"+++ {names[half + 1 :]}")
    executable = _executable(mode)
    return [FilePatch(None, new, (), executable) if mode[:3] == "new" else FilePatch(old, None, ())]


def _executable(mode: str | None) -> bool:
    kind = mode.rpartition(" ")[2] if mode is not None else _MODES[0]
    if kind not in _MODES:
        raise BadPatch(f"the patch adds or removes something that is not a file (mode {kind[:20]})")
    return kind == _MODES[1]


def _lines(text: str) -> list[str]:
    """Return the lines as compilers and `diff` count them, for whom a form feed ends none."""
    return text.removesuffix("\n").split("\n") if text else []


def _name(line: str) -> str | None:
    match = _FILE.match(line)
    name = match[1].strip() if match else ""
    if name == "/dev/null" or _NO_FILE.search(line):
        return None
    if name.startswith('"'):
        quoted = "Make it with `git -c core.quotePath=false diff`."
        raise BadPatch(f"the patch names a file in quotes: {name[:80]}", help=quoted)
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts or "\0" in name:
        raise BadPatch(f"the patch names {name[:80]!r}, which is outside the tree")
    if any(len(part.encode("utf-8", "replace")) > NAME_BYTES for part in path.parts):
        raise BadPatch(f"the patch names {name[:80]!r}, longer than a name can be")
    return name


def _hunks(lines: list[str], at: int) -> tuple[list[Hunk], int]:
    found = []
    while at < len(lines) and (head := _HUNK.match(lines[at])):
        left, right = int(head[2] or 1), int(head[4] or 1)
        old: list[str] = []
        new: list[str] = []
        at += 1
        while at < len(lines) and (len(old) < left or len(new) < right):
            kind, text = lines[at][:1], lines[at][1:]
            if kind in (" ", ""):
                old.append(text)
                new.append(text)
            elif kind == "-":
                old.append(text)
            elif kind == "+":
                new.append(text)
            elif kind != "\\":
                raise BadPatch(f"line {at + 1} of the patch belongs to no change")
            at += 1
        if len(old) != left or len(new) != right:
            raise BadPatch("the patch ends in the middle of a change")
        while at < len(lines) and lines[at].startswith("\\"):
            at += 1
        found.append(Hunk(int(head[1]), tuple(old), tuple(new)))
    return found, at


def patched(text: str, hunks: tuple[Hunk, ...]) -> str:
    """Return the text with the hunks applied; BadPatch: lines are missing or ambiguous."""
    lines = _lines(text)
    found: list[str] = []
    done = shift = searched = 0
    for hunk in hunks:
        at = max(0, hunk.at - 1 + shift) if hunk.old else (hunk.at + shift if hunk.at else 0)
        if tuple(lines[at : at + len(hunk.old)]) != hunk.old:
            searched += 1
            if searched > MISPLACED:
                raise BadPatch(f"the lines of more than {MISPLACED} changes are elsewhere")
            at = _place(text, hunk)
            shift = at - (hunk.at - 1)
        if at < done or at > len(lines):
            raise BadPatch(f"the lines that it changes at line {hunk.at} are not in their order")
        found += lines[done:at]
        found += hunk.new
        done = at + len(hunk.old)
    found += lines[done:]
    return "\n".join(found) + "\n" if found else ""


def _place(text: str, hunk: Hunk) -> int:
    """Return the only place, from 0, at which the old lines of a change stand."""
    whole, wanted = f"\n{text}", "\n".join(("", *hunk.old, ""))
    whole += "" if whole.endswith("\n") else "\n"
    first = whole.find(wanted)
    if first < 0 or whole.find(wanted, first + 1) >= 0:
        where = "are not there" if first < 0 else "stand at several places"
        raise BadPatch(f"the lines that it changes at line {hunk.at} {where}")
    return whole.count("\n", 0, first)


def apply(patches: list[FilePatch], tree: Path, root: Path) -> list[str]:
    """Patch a copy of `tree` at `root`; return the changed files. Raise BadPatch where it fails."""
    copy_tree(tree, root)
    strip = _strip(patches, root)
    changed: list[str] = []
    left = WORK_CHARACTERS
    for patch in patches:
        # `diff -u FILE FIXED` names another file as the new one: what is fixed is FILE.
        name = _stripped(patch.old or patch.new or "", strip)
        target = root / name
        if name == "." or not target.resolve().is_relative_to(root.resolve()):
            raise BadPatch(f"{name} leads out of the tree")
        if patch.old is not None and not target.is_file():
            raise BadPatch(f"there is no file {name} below {tree}")
        try:
            size = target.stat().st_size if patch.old is not None else 0
            if size > FILE_BYTES:
                raise BadPatch(f"{name} is larger than {FILE_BYTES >> 20} MiB")
            left -= size
            if left < 0:
                raise BadPatch("the patch changes large files too often")
            _change(target, patch)
        except (OSError, ValueError) as error:
            raise BadPatch(f"{name} cannot be patched: {plain(str(error), 120)}") from error
        changed += [name] if name not in changed else []
    return changed


def _change(target: Path, patch: FilePatch) -> None:
    before = target.read_text("utf-8") if patch.old is not None else ""
    if patch.new is None:
        target.unlink()
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(patched(before, patch.hunks), "utf-8")
        if patch.executable:
            target.chmod(target.stat().st_mode | 0o111)


def _strip(patches: list[FilePatch], root: Path) -> int:
    """Return how many leading parts of the names are not of the tree (a/ and b/ of git)."""
    names = [patch.old for patch in patches if patch.old is not None]
    if not names:  # as git writes files that are new
        added = [patch.new or "" for patch in patches]
        return int(all(one.startswith("b/") for one in added) and not (root / "b").is_dir())
    for count in range(4):
        if all((root / _stripped(name, count)).is_file() for name in names):
            return count
    return 0


def _stripped(name: str, count: int) -> str:
    parts = PurePosixPath(name).parts
    return str(PurePosixPath(*parts[min(count, len(parts) - 1) :]))


def copy_tree(tree: Path, root: Path) -> None:
    """Copy the sources of a tree; links lead to the copy of their target, else to the target
    itself. Raise BadPatch where the tree is too large or cannot be read."""
    own = "Apply the patch to a copy of your own and give the script in it."
    size, apart = 0, {one.resolve() for one in (home(), *private)}
    if tree.resolve() in apart:
        raise BadPatch(f"{tree} is where runs and uploads are kept", help=own)
    try:
        for path in files_of(tree, apart):
            size += path.lstat().st_size
            if size > TREE_BYTES:
                much = f"{tree} holds more than {TREE_BYTES >> 20} MiB, too much to be copied"
                raise BadPatch(much, help=own)
        shutil.copytree(tree, root, symlinks=True, ignore=partial(_left_out, root, apart))
        root.chmod(0o700)
        for path in files_of(root, apart):
            if path.is_symlink():
                _relink(path, tree, root)
            else:
                path.chmod(path.lstat().st_mode & 0o700)
    except (OSError, RecursionError) as error:
        raise BadPatch(f"{tree} cannot be copied: {plain(str(error), 120)}", help=own) from error


def _relink(link: Path, tree: Path, root: Path) -> None:
    """Have a copied link lead where it did: to what was copied, else outside of the tree."""
    to = os.readlink(link)  # noqa: PTH115 - as it is written
    place = Path(os.path.normpath(tree / link.relative_to(root).parent / to))
    inside = place.is_relative_to(tree) and os.path.lexists(root / place.relative_to(tree))
    if inside and not Path(to).is_absolute():
        return
    link.unlink()
    link.symlink_to(root / place.relative_to(tree) if inside else place)


def _left_out(root: Path, apart: Collection[Path], folder: str, names: list[str]) -> set[str]:
    """Return what is not copied of a folder: no sources, pipes, sockets, devices, the copy."""
    copied = (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)
    return {
        path.name
        for path in (Path(folder, name) for name in names)
        if stat.S_IFMT(path.lstat().st_mode) not in copied
        or _is_apart(path, apart)
        or root.is_relative_to(path)
    }


def _is_apart(path: Path, apart: Collection[Path]) -> bool:
    """Tell whether a path is no source: what tools leave, the home of all runs, files of tokens."""
    others = (one for one in apart if one.name == path.name)
    return path.name in LEFT_OUT or any(path.resolve() == one for one in others)


def files_of(tree: Path, apart: Collection[Path] = ()) -> Iterator[Path]:
    for path in tree.iterdir():
        if _is_apart(path, apart):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from files_of(path, apart)
        else:
            yield path
