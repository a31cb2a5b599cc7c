"""What a candidate keeps of the program, and which nodes a failure points at from the start."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from aoti_debug.minify.graph import Graph, GraphNode, Survey
from aoti_debug.minify.material import Material
from aoti_debug.triage.fingerprint import OUT_OF_BOUNDS, operators_in
from aoti_debug.vocabulary import Fingerprint

Until = Literal["export", "codegen", "lower", "run", "compare", "finite"]
Fidelity = Literal["inductor", "aoti"]  # a fifth of the time, or the real thing


@dataclass(frozen=True, slots=True)
class Reduction:
    """Positions of the nodes kept, and how the rest is simplified. `until` is the step that the
    failure needs: "codegen" compiles no C++, "lower" loads nothing, "compare" compares the outputs
    with eager, "finite" wants no NaN or infinity in them."""

    keep: frozenset[int]
    until: Until
    fidelity: Fidelity
    dynamic: bool  # sizes stay free where the program leaves them so
    two_sided: bool  # exported with the example's values, called with those of the failing call
    settings: Mapping[str, object] = field(default_factory=dict)
    made: frozenset[str] = frozenset()  # inputs and weights whose values are made up
    sizes: Mapping[int, int] = field(default_factory=dict)  # what a size is cut to, wherever it is

    def final(self) -> Reduction:
        """Return the candidate as AOTInductor is used: to the step that fails, all compiled."""
        until: Until = "lower" if self.until == "codegen" else self.until
        return replace(self, fidelity="aoti", until=until)


class Unbuildable(Exception):
    """A candidate cannot be written: the reason."""


SLICES = 6
NODES = 40  # a kernel that is said to hold more is no hint
INDEXING = tuple(
    """
    index embedding gather index_select take index_put scatter scatter_add index_add
    select_scatter embedding_bag
    """.split()
)
_TARGET = re.compile(r"\btarget: ([\w.]{1,200})")


def slices(
    survey: Survey, material: Material, wanted: Fingerprint, text: str, kernel: str | None
) -> list[frozenset[int]]:
    """Return sets of nodes that may hold the fault, the likeliest first, by `text` and `kernel`."""
    found: list[frozenset[int]] = []
    calls = set(survey.graph.calls())
    for part in _hints(survey, material, wanted, text, kernel):
        kept = frozenset(part & calls)
        if kept and len(kept) <= NODES and kept not in found:
            found.append(kept)
    return found[:SLICES]


def _hints(
    survey: Survey, material: Material, wanted: Fingerprint, text: str, kernel: str | None
) -> Iterator[set[int]]:
    graph, diagnosis = survey.graph, material.diagnosis

    def nodes(test: Callable[[GraphNode], bool]) -> set[int]:
        return {n for n, node in enumerate(graph.nodes) if test(node)}

    kernel = kernel or (diagnosis.kernel.name if diagnosis and diagnosis.kernel else None)
    for target in dict.fromkeys(_TARGET.findall(text)):
        # A lowering says which operator it could not do.
        having = nodes(lambda node, whole=f"torch.ops.{target}": node.target == whole)  # type: ignore[misc]
        yield having
        yield set(sorted(having)[:1])
    for side in (survey.real, survey.example):  # run eagerly, the program ended here
        if side is not None and side.at is not None and side.at in graph.index:
            yield {graph.index[side.at]}
    if kernel is not None:
        # Names of the lowered graph that the exported one has not are left out.
        made_of = [
            {graph.index[name] for name in launch.nodes if name in graph.index}
            for launch in material.launches
            if launch.kernel == kernel
        ]
        if wanted.message == OUT_OF_BOUNDS:
            for part in made_of:
                yield {n for n in part if graph.nodes[n].operator in INDEXING}
        yield from made_of
        yield from windows(graph, operators_in(kernel))
    if diagnosis is not None:
        ops = {op.removeprefix("aten.").partition(".")[0] for op in diagnosis.ops}
        places = {(s.file.rpartition("/")[2], s.line) for s in diagnosis.source}
        at = nodes(
            lambda node: (
                node.source is not None
                and (node.source.file.rpartition("/")[2], node.source.line) in places
            )
        )
        yield {n for n in at if graph.nodes[n].operator in ops}
        yield at
    if kernel is None:
        yield nodes(lambda node: node.operator in wanted.operators)
    for name in re.findall(r"torch\.ops\.([\w.]{3,200})|\b([a-z_]\w*::\w+)", text)[:4]:
        operator = f"torch.ops.{(name[0] or name[1]).replace('::', '.')}"
        yield nodes(lambda node, start=operator: node.target.startswith(start))  # type: ignore[misc]


def windows(graph: Graph, operators: Sequence[str]) -> Iterator[set[int]]:
    """Yield runs of neighbouring nodes whose operators are those of a fused kernel's name."""
    wanted = {op.strip("_") for op in operators}
    run: set[int] = set()
    for number in [*graph.calls(), -1]:
        name = graph.nodes[number].operator.strip("_") if number >= 0 else ""
        if number >= 0 and set(name.split("_")) & wanted:
            run.add(number)
            continue
        have = {word for n in run for word in graph.nodes[n].operator.strip("_").split("_")}
        if len(wanted & have) >= max(1, len(wanted) - 1):
            yield run
        run = set()


def with_producers(graph: Graph, keep: frozenset[int], levels: int = 1) -> frozenset[int]:
    """Return the nodes with what they are computed from, so many steps back."""
    kept = set(keep)
    for _ in range(levels):
        for number in list(kept):
            kept |= _producers(graph, number)
    return frozenset(kept)


def with_users(graph: Graph, keep: frozenset[int]) -> frozenset[int]:
    """Return the nodes with what is computed from them at once."""
    kept = set(keep)
    waiting = [graph.nodes[number].name for number in keep]
    while waiting:
        for name in graph.users.get(waiting.pop(), []):
            node = graph[name]
            if node.is_light:
                waiting.append(name)
            elif node.is_call:
                kept.add(graph.index[name])
    return frozenset(kept)


def _producers(graph: Graph, number: int) -> set[int]:
    """Return the nodes whose values one is made of, through those that only take apart."""
    found = set()
    for name in graph.nodes[number].refs():
        node = graph[name]
        if not node.is_call:
            continue
        found |= _producers(graph, graph.index[name]) if node.is_light else {graph.index[name]}
    return found
