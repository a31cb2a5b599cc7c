"""Find the first value that a compiled model computes wrong, and why: first what needs no compile,
then compiles with values inside the model as further outputs, each held against the program's."""

from __future__ import annotations

import functools
import json
import math
import time
from typing import Any

from . import (
    compare,
    culprit,
    describe,
    eager,
    events,
    intermediates,
    mismatch_causes,
    parts,
    standalone,
    values,
    wide,
    workaround,
)
from .compare import random_ops, unguarded
from .graph_run import Run, located, on_cpu, outputs_of, values_of
from .lazy import torch
from .weight_truth import apart

Document = dict[str, Any]

_ORIGINS = 2  # of integers that pass 32 bits, that are looked at by themselves
_PROBES = 32  # values that one compile gives besides the outputs
_APART = 12  # operators that one compile has apart from each other
_WHOLE = 300  # operators that are looked at together
_FUSED = "wrong with what it is fused with"
_ROUNDED = "code without rounding between operators"  # of SETTINGS
_QUICK_FIRST = False, True  # as torch.compile compiles, then as a package


def main() -> int:
    """Look for a reason without a compile; then compile, at most 2 + log2(nodes) times."""
    parser = standalone.arguments(__doc__, package=False, exported=True)
    parser.add_argument("--compiles", type=int, help="at most so many, where fewer are allowed")
    parser.add_argument("--seconds", type=float, default=600.0, help="begin no compile after these")
    parser.add_argument("--blame", type=float, default=culprit.SECONDS, help="of these, at most")
    parser.add_argument("--state", help="a buffer that calls leave wrong, though results are right")
    parser.add_argument("--whole", action="store_true", help="try a workaround on all of it, too")
    parser.add_argument("--settings", default="{}", help="Inductor's settings, a JSON object")
    parser.add_argument("--launches", help="JSON file: [kernel, names] of each launch")
    options = parser.parse_args()
    with standalone.started(options) as report:
        program = standalone.load_program(options)
        search = Search(program, options, report)
        if options.state is not None:
            search.left_wrong(options.state)
        elif not search.explained() and not search.wrapped() and not search.seen():
            search.run()
        search.blame()
        report.update(state="done")
    return 0


class Search:
    """The search for one exported program and one call."""

    def __init__(self, program: Any, options: Any, report: standalone.Report) -> None:
        self._program, self._options = program, options
        self._report = report
        self._began = time.monotonic()
        self._settings: Document = json.loads(options.settings)
        self._module = module = unguarded(program)
        self._nodes = {node.name: node for node in module.graph.nodes}
        leaves = torch.utils._pytree.tree_leaves
        written = describe.written_inputs(module.graph)
        self._written = [place for place, *_ in written]
        self._outputs = leaves(intermediates.output_of(module.graph).args[0])
        self._outputs += [writer for *_, writer in written]
        self._names = intermediates.candidates(module.graph)
        self._asked_for = frozenset(self._names)
        self._place = {name: place for place, name in enumerate(self._nodes)}
        self._limit = 2 + math.ceil(math.log2(max(2, len(self._nodes))))
        if options.compiles is not None:
            self._limit = min(self._limit, options.compiles)
        self._wrong_outputs: list[int] = []  # of the package, where there is one
        self._given: list[Any] = []  # the package's results
        self._package: Any = None
        self._smallest: tuple[Any, Any] | None = None  # program and arguments of what is wrong
        self._rows: dict[str, Document] = {}
        self._sure: set[str] = set()  # right in a compile that shows the fault
        self.compiles: list[Document] = []
        report.update(
            state="search",
            nodes=len(self._nodes),
            candidates=len(self._names),
            compiles=[],
            random=random_ops(module),
        )

    def explained(self) -> bool:
        """Look at the package as it is; tell whether that settles it without a compile."""
        if not self._options.package:
            return False
        report = self._report
        self._package = standalone.load_package(self._options, self._inputs(), report)
        return self._settled(self._called(self._package))

    def _called(self, model: Any) -> list[Any]:
        """Return the outputs, then the inputs that the program writes to."""
        return [on_cpu(one) for one in standalone.results(model, self._inputs(), self._written)]

    def _settled(self, given: list[Any]) -> bool:
        """Hold outputs against the program's; tell whether a reason explains the difference."""
        report = self._report
        self._given = given
        right, exact = self._right([]), self._exact([])
        truth = exact["outputs"] if exact else None
        module, inputs = unguarded(self._program), self._inputs()
        eager = right["outputs"]
        found, _ = compare.within_rounding(given, eager, truth, module, inputs)
        self._wrong_outputs = [o["index"] for o in found if o["verdict"] != "agrees"]
        causes = mismatch_causes.Causes(self._program, self._options, self._inputs, given)
        if self._wrong_outputs:
            reason = causes.first(right["outputs"], truth)
        else:  # float64 has no casts to fewer bits, and may be what the package gives
            reason = causes.rounds() if any(one.get("apart") for one in found) else None
        report.update(reason=reason)
        if reason is None and not self._wrong_outputs:
            report.update(agrees=True, unstable=self._unstable(found))
        return reason is not None or not self._wrong_outputs

    def _unstable(self, outputs: list[Document]) -> Document | None:
        """Where results are apart, but no further from float64 than the program's own are: name
        the operator that makes a difference of rounding large."""
        if not any(one.get("apart") for one in outputs):
            return None
        names = mismatch_causes.steps(self._nodes.values())
        exact = self._exact(names)
        if exact is None:
            return None
        return mismatch_causes.amplified(self._nodes, names, self._right(names), exact)

    def wrapped(self) -> bool:
        """Look first at integers that pass 32 bits where they are made. What each is fused with is
        compiled alone, which is little."""
        if self._options.compiles == 0:
            return False
        origins = wide.Origins()
        Run(unguarded(self._program), origins)(self._inputs().flat)
        found = [self._nodes[n.name] for n in origins.found if n.name in self._asked_for]
        return any(self._wrapped_at(node) for node in found[:_ORIGINS])

    def seen(self) -> bool:
        """Look at the package's own kernels: the first wrong value is known without a compile."""
        if not self._wrong_outputs:
            return False
        try:
            found = values.first_in(self._options, self._inputs(), self._program)
        except Exception as error:
            self._report.update(not_seen=events.said(error, 300))
            return False
        node = self._nodes.get(found["like"]["node"]) if found is not None else None
        if found is None or node is None or node.op != "call_function":
            return False  # the result of an operator may look most like an input
        along = [*found["along"], found["like"]]
        self._rows = {one["node"]: one for one in along if one["node"] in self._nodes}
        launch = {"number": found["number"], "kernel": found["kernel"]}
        self._report.update(launch=launch, rows=self._in_order())
        self._tell(node, exact=True)
        return True

    def _wrapped_at(self, node: Any) -> bool:
        """Compile what takes a value further, with what it is made of; report what is wrong."""
        after = intermediates.downstream(node)
        tensors = [one for one in after if isinstance(one.meta.get("val"), torch.Tensor)]
        whole = {one for end in tensors for one in intermediates.fused(end)}
        nodes = [one for one in self._nodes.values() if one in whole]
        ends = [one for one in tensors if not any(user in whole for user in one.users)]
        names = [one.name for one in ends]
        values = self._right([*intermediates.entering(nodes), *names])
        outcome = self._compiled_part(nodes, values, ends)
        bad = [row for row in outcome or () if row["verdict"] != "agrees"]
        if not bad:
            return False
        part = [one.name for one in nodes]
        more = {"alone": _FUSED, "part": part, "wide": True, "seen_at": names[bad[0]["index"]]}
        more["overflows"] = node.meta["val"].dtype == torch.int32
        first = {**self._first(node, bad[0], exact=True, located_with=0), **more}
        self._report.update(first=first, compiles=self.compiles)
        return True

    def _first(self, node: Any, row: Document, *, exact: bool, located_with: int) -> Document:
        inputs = [one.name for one in node.all_input_nodes]
        more = {"exact": exact, "inputs": inputs, "located_with": located_with}
        return {**row, **located(node), **more}

    def _compiled_part(
        self, nodes: list[Any], values: Document, ends: list[Any]
    ) -> list[Document] | None:
        """Compile some nodes alone and hold their results against the program's values; keep a
        reproduction of what is wrong. None where that cannot be."""
        began = time.monotonic()
        try:
            for package in _QUICK_FIRST:
                whole = [(nodes, ends)], values, self._settings, package
                given, right, *alone = parts.results(*whole)
                found = compare.outputs(given, right, None)
                if compare.verdict(found, False) != "agrees":
                    self._reproduce(*alone)
                    break
            self._count(began, part=len(nodes))
            return found
        except Exception as error:
            self._report.update(part_failed=events.said(error, 300))
            return None

    def _in_order(self) -> list[Document]:
        return [self._rows[name] for name in self._nodes if name in self._rows]

    def _count(self, began: float, **what: int) -> None:
        self.compiles.append({**what, "seconds": round(time.monotonic() - began, 2)})

    def run(self) -> None:
        """Compile until the first wrong value is known or nothing more may be compiled."""
        suspects, count = self._suspects(), _PROBES
        small = self._options.package and len(suspects) <= _APART
        if small and self._apart([self._nodes[name] for name in suspects]):
            return
        later: list[list[str]] = []  # where to look when the rest of a part is right
        first: str | None = None
        hidden: list[str] = []
        while suspects and self._may_compile():
            asked = [suspects[n] for n in intermediates.spread(len(suspects), count)]
            found = self._compared(asked)
            bad = self._bad(asked, found)
            if bad or first is not None:
                self._sure |= {name for name in asked if found[name]["verdict"] == "agrees"}
                first = min([*bad, *([first] if first else [])], key=self._place.__getitem__)
                suspects = self._behind(first)
            elif not self._options.package and self._agreed(found["outputs"]):
                return
            else:  # values that are outputs are not fused away: then one value at a time
                ends = [] if small else [self._nodes[name] for name in suspects]
                if count > 1 and self._apart(ends):
                    return
                if count == 1:
                    hidden.append(asked[0])
                    at = suspects.index(asked[0])
                    later.append(suspects[:at])
                    suspects = suspects[at + 1 :]
                count = 1
            if not suspects and first is None and later:
                suspects = later.pop()
        self._report.update(vanished=hidden)
        if first is not None:
            self._tell(self._nodes[first], exact=not suspects)
        elif not suspects:
            self._report.update(first=None)

    def _suspects(self) -> list[str]:
        """Return the candidates that the wrong outputs depend on: all where none is known."""
        ends = [self._outputs[n] for n in self._wrong_outputs if n < len(self._outputs)]
        ends = [one for one in ends or self._outputs if hasattr(one, "all_input_nodes")]
        needed = {node.name for node in intermediates.ancestors(ends)}
        return [name for name in self._names if name in needed]

    def _bad(self, asked: list[str], found: Document) -> list[str]:
        """Return what a compile got wrong: of the outputs, and where one is wrong of what was asked
        for. Without a wrong output a difference inside has no consequence."""
        if all(one["verdict"] == "agrees" for one in found["outputs"]):
            return []
        bad = [name for name in asked if found[name]["verdict"] != "agrees"]
        for one in found["outputs"]:
            node = self._outputs[one["index"]] if one["index"] < len(self._outputs) else None
            if one["verdict"] == "agrees" or not hasattr(node, "all_input_nodes"):
                continue
            name = intermediates.computing(node).name
            if name not in bad:
                self._rows[name] = {"node": name, **one}
                bad.append(name)
        return bad

    def _behind(self, name: str) -> list[str]:
        """Return what a wrong value was computed from and nothing vouches for."""
        node = self._nodes[name]
        sure = intermediates.ancestors([self._nodes[one] for one in self._sure])
        behind = intermediates.ancestors([node]) - sure - {node}
        return [one for one in self._names if self._nodes[one] in behind]

    def _agreed(self, outputs: list[Document]) -> bool:
        """Where no package is given: the first compile agrees, as far as rounding lets it."""
        unstable = self._unstable(outputs)
        if unstable is not None:
            self._report.update(agrees=True, unstable=unstable)
        return unstable is not None

    def _spent(self) -> float:
        return time.monotonic() - self._began

    def _may_compile(self) -> bool:
        spent = self._spent()
        last = self.compiles[-1]["seconds"] if self.compiles else 0.0
        enough = bool(spent + last < self._options.seconds)
        return enough and len(self.compiles) < self._limit

    def _compared(self, names: list[str]) -> Document:
        """Compile with these nodes as further outputs; compare them and the outputs."""
        began = time.monotonic()
        module = unguarded(self._program)
        count = intermediates.add_outputs(module, names)
        model = intermediates.build(module, self._program, self._settings)
        self._count(began, values=len(names))
        with torch.no_grad():
            given = self._called(model)
        right, truth = self._right(names), self._exact(names)
        found: Document = {}
        for place, name in enumerate(names):
            one = [truth[name]] if truth else None
            outcome = compare.outputs([given[count + place]], [right[name]], one)[0]
            found[name] = self._rows[name] = {"node": name, **outcome}
        exact = truth["outputs"] if truth is not None else None
        own = given[:count] + given[count + len(names) :]
        outputs = compare.outputs(own, right["outputs"], exact)
        found["outputs"] = outputs
        self._report.update(compiles=self.compiles, rows=self._in_order())
        return found

    def _inputs(self) -> standalone.Inputs:
        return standalone.read_inputs(self._options.inputs)

    def _right(self, names: list[str]) -> Document:
        """Return what the exported program gives for these nodes and its outputs."""
        return values_of(unguarded(self._program), self._inputs().flat, names, writes=True)

    def _exact(self, names: list[str]) -> Document | None:
        return eager.exact(unguarded(self._program), self._inputs(), names, writes=True)

    def _tell(self, node: Any, *, exact: bool) -> None:
        """Report the first wrong node; then see which operator before it is wrong by itself."""
        row, compiles = self._rows[node.name], len(self.compiles)
        first = self._first(node, row, exact=exact, located_with=compiles)
        self._report.update(first=first)
        self._apart([*intermediates.fused(node), node], first)

    def _apart(self, nodes: list[Any], first: Document | None = None) -> bool:
        """Compile operators apart from each other, in one compile: the first whose value is wrong
        on right inputs is the one at fault. Of several that are, it is the one with whose value the
        program gives the package's results. Tell whether there is one."""
        began = time.monotonic()
        known = dict.fromkeys(one for one in nodes if one.name in self._asked_for)
        each = parts.parts_of(list(known)[-_APART:])
        if not each or self._options.compiles == 0:
            return False
        try:
            values = self._right(parts.entering(each))
            for package in _QUICK_FIRST:
                every = parts.compared(each, values, self._settings, package)
                if found := [one for one in every if one["row"]["verdict"] != "agrees"]:
                    break
        except Exception as error:
            self._report.update(part_failed=events.said(error, 300))
            return False
        self._count(began, apart=len(each))
        rows = {one["row"]["node"]: one["row"] for one in [*every, *found] if one["part"].alone}
        self._rows = {**rows, **self._rows}
        self._report.update(compiles=self.compiles, rows=self._in_order())
        chosen = next((one for one in found if self._explains([one])), None)
        alone = [one for one in found if one["part"].alone]
        explains = chosen is not None or bool(alone and self._explains(alone))
        chosen = chosen or next(iter(found), None)
        if chosen is None:
            if first is not None:
                self._report.update(first={**first, "alone": "right alone"})
            return False
        part = chosen["part"]
        node, row = part.node, chosen["row"]
        self._rows[node.name] = row
        compiles = (first or {}).get("located_with", len(self.compiles))
        more = {
            "alone": "wrong alone" if part.alone else _FUSED,
            "part": [one.name for one in part.nodes],
            "fused": [located(one) for one in part.nodes if one is not node],
            "explains": explains if self._given else None,
        }
        first = {**self._first(node, row, exact=True, located_with=compiles), **more}
        self._report.update(rows=self._in_order(), first=first)
        self._reproduce(*parts.alone(part, values))
        return True

    def _explains(self, found: list[Document]) -> bool:
        """Tell whether the program gives the package's results with these values in place."""
        if not self._given:
            return False
        values = {one["part"].node.name: one["given"] for one in found}

        def compute(_: Any, node: Any, args: Any, kwargs: Any) -> Any:
            value = values.get(node.name)
            own = node.target(*args, **kwargs) if value is None else value
            return own if value is None else own.to(node.meta["val"].device)

        module = unguarded(self._program)
        try:  # a value of another dtype may be refused
            flat = self._inputs().flat
            tried = outputs_of(module, flat, compute, asserts=False, writes=True)
        except Exception:
            return False
        return compare.agrees(self._given, tried)

    def blame(self) -> None:
        """Find the part of the compiler at fault; try the workaround on the whole program where
        that is asked for, since it takes another compile."""
        reason = self._report.content.get("reason")
        if reason is not None and reason["kind"] == "casts" and self._may_compile():
            self._report.update(reason={**reason, **self._rounded()}, compiles=self.compiles)
        found = self._culprit()
        if (found is None or found.get("stage") == "none") and self._as_a_whole():
            found = self._culprit()
        if found is None:
            return
        way, last = found.get("workaround"), [one["seconds"] for one in self.compiles[-1:]]
        in_time = sum(last, found["seconds"]) <= self._options.blame
        if way is None or not self._options.whole or not in_time:
            return
        try:
            way["whole"] = self._tried(way)
        except Exception as error:
            way["whole"] = {"failed": events.said(error, 300)}
        self._report.update(culprit=found, compiles=self.compiles)

    def _rounded(self) -> Document:
        """Compile with the rounding of each cast. Return on how many inputs that gives what the
        program gives (0: wrong on any), and how many times as long it takes."""
        began, settings = time.monotonic(), {**self._settings, **culprit.SETTINGS[_ROUNDED]}
        try:
            model = intermediates.build(unguarded(self._program), self._program, settings)
            self._count(began, workaround=1)
            module, given = unguarded(self._program), workaround.fresh(self._inputs())
            right, both = True, (self._package, model)
            for one in given:
                expected = outputs_of(module, standalone.copied(one).flat, writes=True)
                each = (standalone.results(m, standalone.copied(one), self._written) for m in both)
                before, left = (apart(list(map(on_cpu, results)), expected) for results in each)
                right = right and left <= mismatch_causes.EXPLAINS * before
            calls = [functools.partial(standalone.call, one, self._inputs()) for one in both]
            return {"tried": len(given) if right else 0, "ratio": workaround.ratio(*calls)}
        except Exception as error:
            return {"not_tried": events.said(error, 300)}

    def _culprit(self) -> Document | None:
        seconds = min(self._options.blame, self._options.seconds - self._spent())
        if self._smallest is None or seconds <= 0:
            return None
        first = self._report.content.get("first") or {}
        wide = first["op"] if first.get("wide") else ""
        found = culprit.Culprit(*self._smallest, self._settings, seconds, wide).search()
        self._report.update(culprit=found)
        return found

    def left_wrong(self, name: str) -> None:
        """Take all operators as what leaves a buffer wrong: it is an input of theirs."""
        nodes = [one for root, one in describe.writers(self._module.graph) if root.target == name]
        if nodes and self._whole():
            row = {"node": nodes[-1].name, "verdict": "differs", "state": name}
            self._report.update(first=self._first(nodes[-1], row, exact=True, located_with=0))

    def _as_a_whole(self) -> bool:
        """Take all operators as what is wrong, where they are few: no part of them is. Tell whether
        that can be."""
        explained = self._report.content.get("reason") is not None
        if explained or not self._wrong_outputs or not self._whole():
            return False
        if not isinstance(self._report.content.get("first"), dict):
            wrong = self._outputs[self._wrong_outputs[0]]
            node = intermediates.computing(wrong)
            row = {"node": node.name, "verdict": "differs"}
            self._report.update(first=self._first(node, row, exact=False, located_with=0))
        return True

    def _whole(self) -> bool:
        """Keep a reproduction of all operators, with what they read as inputs, where they are
        few."""
        ends = [one for one in self._outputs if getattr(one, "op", "") == "call_function"]
        nodes = [one for one in self._nodes.values() if one.op == "call_function"]
        nodes = [one for one in nodes if not str(one.target).startswith("aten._assert")]
        if not ends or len(nodes) > _WHOLE:
            return False
        try:
            values = self._right(intermediates.entering(nodes))
            single, args = intermediates.alone([(nodes, ends)], values)
            self._reproduce(torch.export.export(single, args), args)
        except Exception as error:
            self._report.update(part_failed=events.said(error, 300))
            return False
        return True

    def _tried(self, way: Document) -> Document:
        """Compile the whole program with a workaround; hold it against the program and time it."""
        began = time.monotonic()
        with workaround.applied(way) as settings:
            options = {**self._settings, **settings}
            model = intermediates.build(unguarded(self._program), self._program, options)
        self._count(began, workaround=1)
        whole: Document = {"tried": workaround.tried(self._program, self._inputs(), model)}
        if self._package is not None and whole["tried"]:
            both = self._package, model
            calls = [functools.partial(standalone.call, one, self._inputs()) for one in both]
            whole["ratio"] = workaround.ratio(*calls)
        return whole

    def _reproduce(self, exported: Any, args: Any) -> None:
        self._smallest = exported, args
        if self._options.report is not None:
            given = self._options.report, exported, args, self._settings
            name, text = parts.reproduce(*given)
            self._report.update(reproduction=name, script=text)
