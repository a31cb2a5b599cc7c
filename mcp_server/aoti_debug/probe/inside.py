"""What the modules within a reference of another class give, and where it leaves the program."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from typing import Any

from . import compare, marks
from .graph_run import Observer, Run, stack_of
from .lazy import torch
from .vocabulary import owner

Document = dict[str, Any]

_MODULES = 200


@contextlib.contextmanager
def noted(module: Any, found: list[list[Any]]) -> Iterator[None]:
    """Note what each module within one gives: name, class, place of its code, elements of its first
    tensor; in the order in which they end."""

    def note(known: list[Any], _: Any, __: Any, result: Any) -> None:
        with contextlib.suppress(Exception), torch._C.DisableTorchFunction():
            if tensors := marks.tensors(result):
                found.append([*known, marks.held(tensors[0])])

    hooks = []
    for name, one in [*module.named_modules()][1 : _MODULES + 1]:
        code = getattr(type(one).forward, "__code__", None)
        place = [code.co_filename, code.co_firstlineno] if code else ["", 0]
        noting = functools.partial(note, [name, type(one).__name__, *place])
        with contextlib.suppress(Exception):  # of a module that takes no hooks
            hooks.append(one.register_forward_hook(noting))
    try:
        yield
    finally:
        for one in hooks:
            one.remove()


class _Held(Observer):
    """Elements of each value of a program, and of each of its modules its class and first line."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.modules: dict[str, Document] = {}

    def after(self, node: Any, args: Any, kwargs: Any, value: Any) -> None:
        if node.op != "call_function" or not isinstance(value, torch.Tensor):
            return
        self.values.append(marks.read(marks.held(value)))
        lines = [one[:2] for one in stack_of(node) if owner(one[0]) == "user"][-1:]
        for path, kind in (node.meta.get("nn_module_stack") or {}).values():
            name = path.removeprefix("L['self']").removeprefix(".")
            kind = kind if isinstance(kind, str) else kind.__name__
            self.modules.setdefault(name, {"exported": kind.rpartition(".")[2], "line": lines})


def leaves_at(program: Any, flat: Sequence[Any], given: Sequence[Sequence[Any]]) -> Document | None:
    """Return the first module of a reference after whose like no value of a program is what the
    reference gave: the innermost that the program has too. None where all are there."""
    held = _Held()
    Run(compare.unguarded(program), held, asserts=False)(flat)
    known = [any(_same(elements, own) for own in held.values) for *_, elements in given]
    last = max((place for place, there in enumerate(known) if there), default=-1)
    if last == len(given) - 1:
        return None
    before = given[last][0] if last >= 0 else ""
    parts = given[last + 1][0].split(".")
    paths = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
    outside = [one for one in paths if not f"{before}.".startswith(f"{one}.")] or paths[:1]
    name = next((one for one in outside if one in held.modules), outside[-1])
    own = next((row for row in given if row[0] == name), given[last + 1])
    found = {"after": before, "module": name, "of": own[1], "own": [[own[2], own[3]]]}
    return {**found, **held.modules.get(name, {})}


def _same(one: Any, other: Any) -> bool:
    found = None if one is None else marks.apart([one], [other])
    return found is not None and bool(found["of"]) and not marks.far(found)
