"""The fixed script's own tree: a patched copy, its sources, what a run has removed of it."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from aoti_debug.run.files import folder, is_regular, remove_tree, write_new
from aoti_debug.run.target import Target, script_and_args, tree_of
from aoti_debug.triage.run_state import RunState
from aoti_debug.verify.patch import apply, files_of, read_patch
from aoti_debug.verify.request import VerifyRequest

SOURCES, SOURCE_BYTES = 200, 1 << 20  # of a script's files
SEARCHED = ("PYTHONPATH", "LD_LIBRARY_PATH")  # for modules and libraries


def sources(root: Path) -> dict[Path, str]:
    found = sorted(path for path in files_of(root) if path.suffix == ".py")[:SOURCES]
    small = [path for path in found if is_regular(path) and path.stat().st_size < SOURCE_BYTES]
    return {path: path.read_text("utf-8", "replace") for path in small}


def as_they_were(kept: Mapping[str, str], files: Collection[str], root: Path) -> tuple[Path, ...]:
    """Write kept sources below `root`, and return where some of the files are there."""
    for name, text in kept.items() if files else ():
        place = root / name
        if place.is_relative_to(root) and ".." not in place.parts:
            folder(place.parent)
            write_new(place, text.encode())
    wanted = (root / name for name in kept for file in files if file.endswith(f"/{name}"))
    return tuple(dict.fromkeys(place for place in wanted if place.is_file()))


def patched_target(target: Target, patch: str, root: Path) -> tuple[Target, list[str]]:
    """Copy the script's tree, patch the copy, and return the target in it."""
    script, args = script_and_args(target)
    assert script is not None  # the request has looked
    tree = tree_of(target, script)
    changed = apply(read_patch(patch), tree, root)
    cwd = root / target.cwd.relative_to(tree) if target.cwd.is_relative_to(tree) else root
    moved = partial(_moved, tree=tree, root=root)
    words = (target.argv[0], str(root / script.relative_to(tree)), *map(moved, args))
    env = {
        name: os.pathsep.join(map(moved, value.split(os.pathsep))) if name in SEARCHED else value
        for name, value in target.env.items()
    }
    return replace(target, argv=words, cwd=cwd, env=env), changed


def _moved(word: str, tree: Path, root: Path) -> str:
    """Return where a path in the tree is in the copy; other words and what is not there stay."""
    path = Path(word)
    inside = next((one for one in (tree, tree.resolve()) if path.is_relative_to(one)), None)
    place = root / path.relative_to(inside) if inside is not None else None
    return str(place) if place is not None and os.path.lexists(place) else word


def put_back(state: RunState, request: VerifyRequest, copy: Path, there: frozenset[Path]) -> None:
    """Put back what the fixed script has removed of its tree: a fix has to do with it there."""
    gone = [path for path in sorted(there) if not os.path.lexists(copy / path)]
    if not gone or request.patch is None:
        return
    fresh = copy.with_name("tree-as-it-was")
    patched_target(request.target, request.patch, fresh)
    back = [path for path in gone if _put(fresh / path, copy / path, copy)]
    remove_tree(fresh)
    names = ", ".join(map(str, back[:5])) + (" and others" if back[5:] else "")
    if back:
        state.notes.append(f"restored for the held-out calls, since the script removed it: {names}")


def _put(file: Path, place: Path, root: Path) -> bool:
    """Move a file to where it was, unless the script has made something else of its folder."""
    try:
        if not place.parent.resolve().is_relative_to(root.resolve()):
            return False
        place.parent.mkdir(parents=True, exist_ok=True)
        file.rename(place)
    except (OSError, RuntimeError):
        return False
    return True
