"""What each kernel of a package read and wrote in one call, seen where the package calls it; held
against the exported program, or against what another package wrote."""

from __future__ import annotations

import ctypes
import json
import os
import time
from pathlib import Path
from typing import Any

from . import compare, eager, events, slots, standalone, taps
from .describe import extent
from .graph_run import Document, Run, on_cpu
from .lazy import torch
from .prototypes import Param
from .value_samples import digest, sampled, summary
from .value_search import Exact, Matching, Own, Written, first_wrong

_LAUNCHES = 20_000
_SEEN = 4  # launches after the first wrong one that are named
_LIMIT = 8 << 30  # bytes of a float64 copy
_LIKE = ("node", "op", "stack", "wrong", "first_wrong", "max_abs_error")  # of a comparison
_PROXY = "aoti_torch_proxy_executor_call_function"
_INTO_SECOND = ("aoti_torch_tensor_copy_",)


def main() -> int:
    """Call the package once, and report each launch; then compare."""
    parser = standalone.arguments(__doc__, inputs=False, package=True, exported=False)
    parser.add_argument("--against", help="another package, called with the same inputs")
    parser.add_argument("--kernel", help="keep the tensors of its launches: a name or a number")
    parser.add_argument("--launches", help="JSON file: [kernel, ops] of each launch of the source")
    options = parser.parse_args()
    with standalone.started(options) as report:
        inputs = _inputs(options)
        sources = json.loads(Path(options.launches).read_text()) if options.launches else []
        report.update(state="run", inputs=inputs.described)
        seen = Values(report, sources, options.kernel)
        began = time.perf_counter()
        outputs = called(options, inputs, report, seen)
        report.update(
            state="compare",
            launches=seen.launches,
            unseen=seen.unseen,
            outputs=standalone.describe_outputs(outputs),
            nan=first_nan(seen.launches),
            seconds=round(time.perf_counter() - began, 3),
        )
        if options.kernel:
            report.update(kept=seen.keep(Path(options.report or ".").parent))
        if options.against:
            _against(options, inputs, report, seen, outputs)
        elif options.exported and not options.weightless:
            _with_program(options, inputs, report, seen, outputs)
        report.update(state="done")
    return 0


def _inputs(options: Any) -> standalone.Inputs:
    """Return the inputs of the call: those given, else the program's example."""
    if options.inputs:
        return standalone.read_inputs(options.inputs)
    found = standalone.example(standalone.load_program(options)) if options.exported else None
    if found is None:
        raise ValueError("give the inputs of a call, or an exported program that has an example")
    return found


def called(
    options: Any, inputs: standalone.Inputs, report: standalone.Report, seen: Values
) -> list[Any]:
    """Load the package, call it once under the hook, and return its flat outputs.

    Raises:
        Unavailable: it calls its kernels in a way that cannot be seen.
    """
    with taps.watched(seen) as watch:
        model = standalone.load_package(options, inputs, report)
        seen.looks = True
        outputs = [on_cpu(one) for one in standalone.results(model, standalone.copied(inputs))]
        seen.looks = False
    seen.unseen = watch.unseen
    if watch.error is not None:
        raise watch.error
    if not seen.launches:
        raise slots.Unavailable(
            "none of its kernels was seen: the package calls them directly, not by its table of "
            "imported functions, or carries no source that declares them"
        )
    return outputs


class Values(taps.Hook):
    """Rows of all launches: what each read before it ran, and wrote after."""

    kinds = ("generated", "launch", "extern", "check")

    def __init__(self, report: standalone.Report, sources: Any, kernel: str | None = None) -> None:
        self.looks = False
        self.launches: list[Document] = []
        self.unseen: list[str] = []
        self.written: list[Written] = []
        self._report, self._kernel, self._sources = report, kernel, sources
        self._at = 0  # of the sources
        self._open: dict[int, Document] = {}
        self._kept: dict[str, Document] = {}

    def before(self, call: taps.Call) -> None:
        if call.kind == "check":
            self._refused(call)
        if not self.looks or call.kind == "check" or len(self.launches) >= _LAUNCHES:
            return
        name = f"proxy_executor[{call.args[1]}]" if call.name == _PROXY else call.name
        row: Document = {"kernel": name, "kind": call.kind, "arguments": []}
        source = self._source(name)
        if source is not None:
            row["source"], ops = source
        else:
            ops = []
        row.update({name: list(value) for name, value in _how(call).items() if value})
        row["sizes"] = {
            param.name: value
            for param, value in zip(call.params, call.args)
            if isinstance(value, (int, float)) and not _points(param)
        }
        number = len(self.launches)
        self.launches.append(row)
        self._open[id(call)] = row
        row["ops"], row["number"] = ops, number + 1
        for param, tensor in call.tensors():
            read, writes = _role(call, param)
            there = tensor is not None
            argument = {"name": param.name, "read": read and there, "writes": writes or not there}
            if there:
                argument["memory"] = _memory(tensor)
                if argument["read"]:
                    argument["before"] = summary(tensor)
                    self._keep(row, param.name, "before", tensor)
            row["arguments"].append(argument)

    def after(self, call: taps.Call) -> None:
        row = self._open.pop(id(call), None)
        if row is None:
            return
        arguments = iter(list(row["arguments"]))
        for param, tensor in call.tensors():
            argument = None if taps.returned(param) else next(arguments, None)
            if argument is None:
                argument = {"name": param.name, "read": False, "writes": True}
                row["arguments"].append(argument)
            if tensor is None or not argument["writes"]:
                continue
            now = summary(tensor)
            if now["digest"] == argument.get("before", {}).get("digest"):
                argument["writes"] = False
                continue
            argument["after"], argument["memory"] = now, _memory(tensor)
            place = row["arguments"].index(argument)
            at = row["number"] - 1, place
            wrote = Written(at, argument["memory"], sampled(tensor), now["digest"])
            wrote.ops = frozenset([*row["ops"], row["kernel"]] if row["ops"] else ())
            self.written.append(wrote)
            self._keep(row, param.name, "after", tensor)

    def _source(self, name: str) -> Any:
        """Return number and operators of the launch of the source that this is: the next of its
        name, which is an earlier one where the source has a loop."""
        names = [kernel for kernel, _ in self._sources]
        order = [*range(self._at, len(names)), *range(self._at)]
        found = next((n for n in order if names[n] == name), None)
        if found is None:
            return None
        self._at = found + 1
        return found + 1, self._sources[found][1]

    def _refused(self, call: taps.Call) -> None:
        """End the process where a kernel's own check fails: C++ could not pass Python by."""
        if not call.args[0] and self._open:
            row = next(reversed(self._open.values()))
            said = ctypes.string_at(call.args[4]).decode("utf-8", "replace")
            refused = {"kernel": row["kernel"], "number": row["number"], "said": said[:500]}
            self._report.update(launches=self.launches, refused=refused, state="done")
            os._exit(0)

    def _keep(self, row: Document, name: str, when: str, tensor: Any) -> None:
        if self._kernel in (row["kernel"], str(row["number"])):
            kept = self._kept.setdefault(str(row["number"]), {})
            kept[f"{name} {when}"] = on_cpu(tensor)

    def keep(self, folder: Path) -> Document:
        """Save the tensors of the launches that were asked for; return the files by number."""
        found = {}
        for number, tensors in self._kept.items():
            file = folder / f"launch-{number}.pt"
            torch.save(tensors, file)
            found[number] = file.name
        return found


def _how(call: taps.Call) -> Document:
    return {"grid": call.grid, "block": call.block}


def _points(param: Param) -> bool:
    return param.type.endswith(("*", "Handle"))


def _role(call: taps.Call, param: Param) -> tuple[bool, bool]:
    """Return whether an argument may be read, and whether it may be written; what may be both has
    been written where its digest is another afterwards."""
    name = param.name
    if name.startswith("in_out"):
        return True, True
    if call.kind == "extern":
        if name in ("out", "out0", "out1") or taps.returned(param):
            return False, True
        own = name == "self" and (call.name.endswith("_") or "_out" not in call.name)
        return True, call.name in (_PROXY, *_INTO_SECOND) or (own and call.name.endswith("_"))
    if param.const or name.startswith("in_ptr"):
        return True, False
    if name.startswith("out_ptr") or call.kind == "generated":
        return False, True
    return True, True


def _memory(tensor: Any) -> tuple[str, int, int]:
    begin = int(tensor.data_ptr()) if tensor.layout == torch.strided else 0
    size = extent(tensor.shape, tensor.stride()) * tensor.element_size() if begin else 0
    return str(tensor.device), begin, begin + size


def first_nan(launches: list[Document]) -> Document | None:
    """Return the first launch that writes NaN though it reads none."""
    for row in launches:
        read = any(one.get("before", {}).get("nan") for one in row["arguments"])
        wrote = [one for one in row["arguments"] if one.get("after", {}).get("nan")]
        if wrote and not read:
            return {"number": row["number"], "argument": wrote[0]["name"]}
    return None


def _with_program(
    options: Any,
    inputs: standalone.Inputs,
    report: standalone.Report,
    seen: Values,
    outputs: list[Any],
) -> None:
    """Hold outputs and all that was written against the exported program in float64."""
    program = standalone.load_program(options)
    module = compare.unguarded(program)
    right = Run(module)(standalone.copied(inputs).flat)
    right = [on_cpu(one) for one in right]
    found = compare.results(outputs, right, module, lambda: standalone.copied(inputs), _LIMIT)
    report.update(compared={key: found.get(key) for key in ("verdict", "random", "reference")})
    matching = Matching(seen.written)
    for part, named in ((module, ""), (_decomposed(program, report), "decomposed ")):
        if part is not None:
            report.update(state=f"{named}program in float64")
            own = Own()
            Run(part, own)(standalone.copied(inputs).flat)
            eager.in_float64(part, standalone.copied(inputs), (), Exact(matching, own))
    _tell(report, seen, outputs, differs=found["verdict"] == "differs")


def _decomposed(program: Any, report: standalone.Report) -> Any:
    """Return the program in the operators that Inductor makes kernels of; None where torch cannot
    make it."""
    try:
        table = __import__("torch._inductor.decomposition", fromlist=["select_decomp_table"])
        return compare.unguarded(program.run_decompositions(table.select_decomp_table()))
    except Exception as error:
        report.update(not_decomposed=events.said(error, 300))
        return None


def _against(
    options: Any,
    inputs: standalone.Inputs,
    report: standalone.Report,
    seen: Values,
    outputs: list[Any],
) -> None:
    """Hold all that was written against what another package writes."""
    other = Values(report, [])
    options.package, options.model = options.against, "model"
    theirs = called(options, inputs, report, other)
    found = compare.outputs(outputs, theirs, None)
    verdict = compare.verdict(found, random=False)
    report.update(compared={"verdict": verdict, "reference": "the other package"})
    matching = Matching(seen.written)
    for one in other.written:
        row = other.launches[one.launch]
        argument = row["arguments"][one.place]["name"]
        what = {"node": f"{argument} of launch {row['number']}", "op": row["kernel"]}
        matching.offer({**what, "name": row["kernel"]}, one.sample, one.sample)
    _tell(report, seen, outputs, differs=verdict == "differs")


def _tell(report: standalone.Report, seen: Values, outputs: list[Any], *, differs: bool) -> None:
    """Report which launches agree, and where the results differ the first that does not."""
    for one in seen.written:
        argument = seen.launches[one.launch]["arguments"][one.place]
        argument["agrees"] = one.agrees is not None
        like = one.agrees or (one.closest[1] if one.closest is not None else {})
        argument["like"] = {name: like.get(name) for name in _LIKE}
    results = {digest(one) for one in outputs if isinstance(one, torch.Tensor)}
    first = first_wrong(seen.launches, seen.written, results) if differs else None
    if first is not None:
        one, after = first
        row = seen.launches[one.launch]
        report.update(
            first={
                "number": row["number"],
                "argument": row["arguments"][one.place]["name"],
                "then": [seen.launches[n]["number"] for n in after[:_SEEN]],
            }
        )
    report.update(launches=seen.launches)
