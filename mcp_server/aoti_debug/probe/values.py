"""What each kernel of a package read and wrote in one call, seen where the package calls it; held
against the exported program, or against what another package wrote."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from . import choices, compare, eager, events, marks, slots, standalone, taps
from .graph_run import Document, Observer, Run, base, located, on_cpu
from .lazy import torch
from .places import place_of
from .standalone import Inputs, Report
from .value_rows import Values, first_nan
from .value_samples import Sample, digest, sampled
from .value_search import Matching, Reference, Written, first_wrong
from .wide import Origins

_SEEN = 4  # launches after the first wrong one that are named
_LIMIT = 8 << 30  # bytes of a float64 copy
_GIVEN = -2  # in place of a result's number: what an operator of `choices` is given
_BIAS = {"linear": 2, "addmm": 0, "baddbmm": 0, "conv1d": 2, "conv2d": 2, "convolution": 2}
_LIKE = ("node", "op", "stack", "wrong", "first_wrong", "max_abs_error")  # of a comparison


def main() -> int:
    """Call the package once, and report each launch; then compare."""
    parser = standalone.arguments(__doc__, inputs=False, package=True, exported=False)
    parser.add_argument("--against", help="another package, called with the same inputs")
    parser.add_argument("--kernel", help="keep the tensors of its launches: a name or a number")
    parser.add_argument("--launches", help="JSON file: [kernel, names] of each launch")
    options = parser.parse_args()
    with standalone.started(options) as report:
        inputs = standalone.reader_of_call(options)()
        report.update(state="run", inputs=inputs.described)
        held = bool(options.against or options.exported)
        seen = Values(report, _sources(options), options.kernel, held=held)
        import_module("torch._inductor.package")
        standalone.skip_isa_probe()  # imports what loading needs
        began = time.perf_counter()
        call(options, inputs, report, seen)
        report.update(
            state="compare",
            launches=seen.launches,
            unseen=seen.unseen,
            outputs=standalone.describe_outputs(seen.outputs),
            nan=first_nan(seen.launches),
            seconds=round(time.perf_counter() - began, 3),
        )
        if options.kernel:
            seen.keep(Path(options.report or ".").parent)
        if options.against:
            _tell(report, seen, Origins(), differs=_against(options, inputs, report, seen))
        elif options.exported and not options.weightless:
            origins = Origins()
            differs = _with_program(options, inputs, report, seen, origins)
            _tell(report, seen, origins, differs=differs)
        report.update(state="done")
    return 0


def _sources(options: Any) -> Any:
    return json.loads(Path(options.launches).read_text()) if options.launches else []


def call(options: Any, inputs: Inputs, report: Report, seen: Values) -> None:
    """Load the package and call it once under the hook.

    Raises:
        Unavailable: it calls its kernels in a way that cannot be seen.
    """
    with taps.watched(seen) as watch:
        model = standalone.load_package(options, inputs, report)
        seen.looks = True
        outputs = standalone.results(model, standalone.copied(inputs))
        seen.looks = False
        seen.results = [place_of(one) for one in marks.tensors(outputs)]
        seen.outputs = list(map(on_cpu, outputs))
    seen.unseen = watch.unseen
    if watch.error is not None:
        raise watch.error
    if not seen.launches:
        raise slots.Unavailable(
            "none of its kernels was seen: the package calls them directly, not by its table of "
            "imported functions, or carries no source that declares them"
        )


def first_in(options: Any, inputs: Inputs, program: Any) -> Document | None:
    """Return the first wrong value of a package whose results are wrong: which launch wrote it into
    which argument, and the program's value that it should be; None where that cannot be told."""
    report = Report(None)
    seen = Values(report, _sources(options), held=True)
    call(options, inputs, report, seen)
    hold_against_program(program, inputs, seen.written, report)
    found = first_of(seen)
    if found is None or not found["sure"] or not found["like"]:
        return None
    along = [one.agrees for one in seen.written if one.agrees is not None]
    return {**found, "kernel": seen.launches[found["number"] - 1]["kernel"], "along": along}


def _with_program(
    options: Any, inputs: Inputs, report: Report, seen: Values, origins: Origins
) -> bool:
    """Hold outputs and all that was written against the exported program in float64; tell whether
    the outputs differ."""
    program = standalone.load_program(options)
    run = Run(compare.unguarded(program), origins)
    right = [on_cpu(one) for one in run(standalone.copied(inputs).flat)]
    module = compare.unguarded(program)
    found = compare.results(seen.outputs, right, module, lambda: standalone.copied(inputs), _LIMIT)
    report.update(compared={key: found.get(key) for key in ("verdict", "random", "reference")})
    hold_against_program(program, inputs, seen.written, report)
    return bool(found["verdict"] == "differs")


def _against(options: Any, inputs: Inputs, report: Report, seen: Values) -> bool:
    """Hold all that was written against what another package writes; tell whether the outputs
    differ."""
    other = Values(report, [], held=True)
    options.package, options.model = options.against, "model"
    call(options, inputs, report, other)
    verdict = compare.verdict(compare.outputs(seen.outputs, other.outputs, None), random=False)
    report.update(compared={"verdict": verdict, "reference": "the other package"})
    hold_against_package(other, seen)
    return verdict == "differs"


def _tell(report: Report, seen: Values, origins: Origins, *, differs: bool) -> None:
    """Report which launches agree, and where the results differ the first that does not."""
    for one in seen.written:
        argument = seen.launches[one.launch]["arguments"][one.place]
        argument["agrees"] = one.agrees is not None
        argument["like"] = {name: one.like.get(name) for name in _LIKE}
    if differs and (first := first_of(seen)) is not None:
        known = {one.agrees["node"] for one in seen.written if one.agrees is not None}
        inside = origins.behind(first["like"].get("node", ""), known)
        report.update(first={**first, "inside": inside})
    report.update(launches=seen.launches)


def parts(node: Any, args: Any, kwargs: Any, value: Any) -> Iterator[tuple[int, Any]]:
    """Yield the values of a node, and of a product or convolution what it is before its bias is
    added: Inductor leaves that to the next kernel."""
    yield from enumerate(marks.tensors(value))
    name = base(node)
    place = _BIAS.get(name, len(args))
    bias = args[place] if place < len(args) else None
    if isinstance(bias, torch.Tensor) and not kwargs:
        of_channels = name.startswith("conv")
        yield -1, value - (bias.reshape(-1, *[1] * (value.dim() - 2)) if of_channels else bias)


class Own(Observer):
    """Samples of the values of all nodes, as the program computes them."""

    def __init__(self) -> None:
        self.samples: dict[tuple[str, int], Sample] = {}

    def after(self, node: Any, args: Any, kwargs: Any, value: Any) -> None:
        for place, tensor in parts(node, args, kwargs, value):
            if tensor.layout == torch.strided:
                self.samples[node.name, place] = sampled(tensor)
            if (given := choices.chosen_from(base(node), place, args)) is not None:
                self.samples[node.name, _GIVEN] = sampled(given)


class Exact(Observer):
    """Hold the values of a run in float64 against what was written; `decomposed`: of a program
    whose nodes are made of those of another."""

    def __init__(
        self, matching: Matching, own: Own, short: Own, program: Any, *, decomposed: bool
    ) -> None:
        self._matching, self._own, self._decomposed = matching, own.samples, decomposed
        self._ops = {node.name: base(node) for node in program.graph.nodes}  # as exported
        self._short = short.samples  # with a precision that kernels may use as well

    def after(self, node: Any, args: Any, kwargs: Any, value: Any) -> None:
        name, users = self._name(node), frozenset(map(self._name, node.users))
        for place, tensor in parts(node, args, kwargs, value):
            own = self._own.pop((node.name, place), None)
            if own is not None:
                what = {**located(node), "node": name, "name": base(node)}
                short = self._short.pop((node.name, place), None)
                one = Reference(what, own, sampled(tensor), users, short=short)
                one.part_of = self._ops.get(name)
                if choices.chosen_from(base(node), place, args) is not None:
                    given = self._own.pop((node.name, _GIVEN))
                    one.choice = choices.choice(base(node), args, kwargs, given)
                self._matching.offer(one)

    def _name(self, node: Any) -> str:
        """Return a node's name in the program that was exported."""
        name, made_of = node.name, node.meta.get("from_node") if self._decomposed else None
        while made_of:  # each pass adds itself
            name, made_of = made_of[-1].name, made_of[-1].from_node
        return str(name)


def hold_against_program(
    program: Any, inputs: Inputs, written: list[Written], report: Report
) -> None:
    """Hold all that was written against the values of a program, and of what Inductor makes its
    kernels of, each in float64 and as the program itself computes it."""
    matching = Matching(written)
    _hold(matching, program, inputs, program)
    try:
        table = import_module("torch._inductor.decomposition").select_decomp_table()
        parts = program.run_decompositions(table)
        _hold(matching, parts, inputs, program)
    except Exception as error:  # it is the same program, in smaller parts
        report.update(not_decomposed=events.said(error, 300))


def _hold(matching: Matching, program: Any, inputs: Inputs, whole: Any) -> None:
    own, short, module = Own(), Own(), compare.unguarded(program)
    Run(module, own)(standalone.copied(inputs).flat)
    compare.in_tf32(module, standalone.copied(inputs), [], short)
    exact = Exact(matching, own, short, whole, decomposed=program is not whole)
    eager.in_float64(compare.unguarded(program), standalone.copied(inputs), (), exact)


def hold_against_package(other: Values, seen: Values) -> None:
    """Hold all that was written against what another package wrote: launch by launch where both
    start the same kernels."""
    both = [[row["kernel"] for row in one.launches] for one in (other, seen)]
    twins = {(one.launch, one.place): one for one in seen.written} if both[0] == both[1] else {}
    matching = Matching([one for one in seen.written if not twins])
    for one in other.written:
        row = other.launches[one.launch]
        argument = row["arguments"][one.place]["name"]
        what = {"node": f"{argument} of launch {row['number']}", "op": row["kernel"]}
        what["name"] = row["kernel"]
        if twin := twins.get((one.launch, one.place)):
            twin.hold(Reference(what, one.sample, one.sample), 0.0)
        matching.offer(Reference(what, one.sample, one.sample))


def returned(seen: Values) -> set[int]:
    """Return which of the written values are of what the package returns, whole or a part."""
    digests = {digest(one) for one in marks.tensors(seen.outputs)}
    found = {n for n, one in enumerate(seen.written) if one.digest in digests}
    for number, one in enumerate(seen.written):
        if any(map(one.memory.overlaps, seen.results)):
            later = seen.written[number + 1 :]
            found |= {number} if not any(other.replaces(one) for other in later) else set()
    return found


def first_of(seen: Values) -> Document | None:
    """Return the first wrong value: launch, argument, the reference's value that it should be, and
    the launches that may be wrong in its place."""
    found = first_wrong(seen.launches, seen.written, returned(seen))
    if found is None:
        return None
    one, before, after = found
    row = seen.launches[one.launch]
    return {
        "number": row["number"],
        "argument": row["arguments"][one.place]["name"],
        "like": one.like,
        "then": [seen.launches[n]["number"] for n in (*before, *after)[:_SEEN]],
        "sure": not after,
    }
