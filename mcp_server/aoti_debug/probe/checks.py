"""Check a captured call in one process: guards, fake kernels, contract, values, repeats, poison,
threads."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import time
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

from . import (
    compare,
    custom_ops,
    describe,
    eager,
    events,
    expectations,
    experiments,
    graph_run,
    recorded,
    redzones,
    repeats,
    slots,
    standalone,
    taps,
)
from .container import Container
from .graph_run import about
from .lazy import torch
from .vocabulary import CHECKS

Document = dict[str, Any]
REPEATS = 3
_TRIALS_S = 10.0  # after which no more calls are repeated than must be
_IN_ORDER_S = 20.0
_REFERENCE_BYTES = 2 * 1024 * 1024 * 1024
_CHECK = "AOTI_RUNTIME_CHECK_INPUTS"
_LOST = 75  # exit status: the device's context is lost, what is left needs a process of its own


class Impossible(Exception):
    """A step cannot be taken; the message says why."""


def main() -> int:
    """Take the steps that are asked for; the report is written before and after each."""
    parser = standalone.arguments(__doc__, inputs=False, package=False, exported=False)
    parser.add_argument("--calls", help="descriptions of recorded calls (JSON)")
    parser.add_argument("--trials", help="captured calls to repeat, and what to change (JSON)")
    parser.add_argument("--steps", default=",".join(CHECKS))
    parser.add_argument("--threads", type=int, default=0, help="that call at the same time")
    parser.add_argument("--reference-bytes", type=int, default=_REFERENCE_BYTES)
    options = parser.parse_args()
    with standalone.started(options, format=2, steps={}, inputs_file=options.inputs) as report:
        session = Session(options, report)
        wanted = options.steps.split(",")
        for name in CHECKS:
            if name in wanted and not session.take(name):
                return _LOST
        report.update(state="done")
    return 0


class Session:
    """What the steps share: the program, its results, the loaded package and its results."""

    def __init__(self, options: Any, report: standalone.Report) -> None:
        self.options = options
        self.report = report
        self.loads = 0
        self._model: Any = None
        self._result: list[Any] | None = None  # of the package, on its device
        self._failure: Document | None = None  # of the package without its checks
        self._stateful = False  # its results depend on the calls before

    def take(self, name: str) -> bool:
        """Take one step; False when the device's context is lost with it."""
        document = self.report.content["steps"].setdefault(name, {})
        document["state"] = "running"
        self.report.update(state=name)
        began = time.perf_counter()
        try:
            document.update(getattr(self, name)(), state="done")
        except Impossible as error:
            document.update(state="impossible", why=str(error))
        except Exception as error:
            document.update(state="failed", error=events.describe_error(error))
        document["seconds"] = round(time.perf_counter() - began, 3)
        try:
            standalone.synchronize()
            return True
        except Exception as error:  # a kernel's assertion, seen late
            document["state"] = "failed"
            document.setdefault("error", events.describe_error(error))
            return False
        finally:
            self.report.update(loads=self.loads)

    def inputs(self) -> standalone.Inputs:
        """Read the inputs again: a model may write to them."""
        if not self.options.inputs:
            raise Impossible("the inputs of the call are not kept")
        return standalone.read_inputs(self.options.inputs)

    @cached_property
    def program(self) -> Any:
        if not self.options.exported:
            raise Impossible("the exported program is not known")
        return standalone.load_program(self.options)

    @cached_property
    def eager(self) -> eager.Eager:
        """Run the exported program once for all steps."""
        return eager.run(self.module, self.inputs())

    @cached_property
    def module(self) -> Any:
        return self.program.module()

    def calls(self) -> Document:
        """Hold the other recorded calls against the program, by their descriptions."""
        if not self.options.calls:
            raise Impossible("no other calls are recorded")
        program = recorded.Program(self.program, self.module)
        with open(self.options.calls, encoding="utf-8") as file:
            given = json.load(file)
        told = [{"pid": one["pid"], "call": one["call"], **program.hold(one)} for one in given]
        return {"inputs": expectations.documents(program.expected), "calls": told}

    def guards(self) -> Document:
        program, inputs = self.program, self.inputs()
        expected = expectations.declared(program)
        self.report.content["steps"]["guards"].update(
            inputs=expectations.documents(expected),
            ranges=expectations.ranges(program),
            differences=expectations.differences(program, expected, inputs.flat),
        )
        self.report.update(state="guards")  # the run below may end the process
        found = self.eager
        exception = found.exception
        if self.options.weightless and found.where != "guards" and found.index is None:
            exception = None  # it may come of the weights
        return {
            "guards": eager.guard_texts(self.module),
            "broken": found.broken,
            "exception": exception,
            "where": found.where,
            "node": found.node,
            "index": found.index,
            "passed": exception is None,
        }

    def fakes(self) -> Document:
        found = self.eager
        return {"custom_ops": found.custom_ops, "mismatches": found.mismatches}

    def redzones(self) -> Document:
        """Call the package with red zones around the buffers that it allocates."""
        zones = redzones.Redzones()
        try:
            with taps.watched(zones) as watch:
                model = self.anew()
                with contextlib.suppress(Exception):  # that it raises is seen by other steps
                    self.call(model)
        except slots.Unavailable as error:
            raise Impossible(str(error)) from None
        if watch.error is not None:
            raise watch.error
        return {"overrun": zones.overrun, "buffers": zones.buffers}

    def contract(self) -> Document:
        """Call the package with its own input checks on, which it reads once, at its first call."""
        os.environ[_CHECK] = "1"
        try:
            result = self.call(self.load())
        except Exception:
            self._model = None  # its checks stay on: what follows needs it without them
            raise
        finally:
            os.environ.pop(_CHECK, None)
        self._result = result
        return {"outputs": standalone.describe_outputs(result)}

    @property
    def weighted(self) -> bool:
        """Tell whether the exported program is kept, with its weights."""
        return bool(self.options.exported) and not self.options.weightless

    def load(self) -> Any:
        self._model = self.anew()
        return self._model

    def anew(self) -> Any:
        """Load the package for one use."""
        if not self.options.package:
            raise Impossible("the package is not known")
        self.loads += 1
        return standalone.load_package(self.options, self.inputs(), self.report)

    def call(self, model: Any) -> list[Any]:
        """Call with the same seed each time; return the flat outputs, then the inputs that the
        exported program, where it is known, writes to."""
        torch.manual_seed(0)
        return standalone.results(model, self.inputs(), self.written)

    @cached_property
    def written(self) -> list[int]:
        try:
            return describe.written_places(self.module)
        except Exception:  # no exported program, or none that can be read
            return []

    @property
    def result(self) -> list[Any]:
        """Return the package's result, without its checks if these refuse the call."""
        if self._failure is not None:
            raise Impossible("the package does not return on these inputs")
        if self._result is None:
            try:
                self._result = self.call(self.load())
            except Impossible:
                raise
            except Exception as error:
                self._failure = events.describe_error(error)
                raise
        return self._result

    def compare(self) -> Document:
        found = self.eager
        if found.outputs is None:
            raise Impossible("the exported program does not take these inputs")
        package = [graph_run.on_cpu(leaf) for leaf in self.result]
        module = compare.unguarded(self.program)
        limit = self.options.reference_bytes
        results = compare.results(package, found.outputs, module, self.inputs, limit)
        return {**results, "outputs": compare.named(results["outputs"], module)}

    def trials(self) -> Document:
        """Make the experiments that are asked for: captured calls repeated, good and bad, what each
        of them breaks taken away; what random operators move; what rounding makes."""
        if not self.options.trials:
            raise Impossible("no other call is kept, and this one breaks nothing")
        asked = self.asked()
        if asked["forked"]:
            return self.bench(None).forked(self.inputs)
        document = self.report.content["steps"]["trials"]
        if asked["pair"]:
            document["pair"] = self.pair(asked["pair"])
        if self.options.weightless:
            raise Impossible("the exported program is kept without its weights")
        wanted = asked["trials"]
        if self._stateful or self.keeps_state():
            calls = sorted(wanted, key=lambda one: int(one["place"]))
            calls = [one for place, one in enumerate(calls, 1) if one["place"] == place]
            if not calls:
                raise Impossible("the results depend on the calls before, which are not all kept")
            bench = self.bench(standalone.load_program(self.options))
            found = bench.in_order(calls, _IN_ORDER_S)
            return {"trials": found, "in_order": True, "last": asked["last"]}
        bench, found = self.bench(self.program), list[Document]()
        compared = self.report.content["steps"].get("compare") or {}
        if compared.get("verdict") == "random":
            return {"draws": bench.draws(self.inputs)}
        until, cleared = time.monotonic() + _TRIALS_S, False
        for place, one in enumerate(wanted):
            if place > 1 and (cleared or time.monotonic() > until):
                break  # a call that breaks nothing is as wrong: no break is the cause
            same = one["inputs"] == self.options.inputs and compared.get("state") == "done"
            one = {**one, "changes": []} if cleared else one
            found.append(bench.trial(one, compared if same else None))
            cleared = cleared or (not one["breaks"] and found[-1]["given"]["verdict"] == "differs")
            document["trials"] = found
            self.report.update(state="trials")  # the next one may end the process
        more: Document = {}
        if asked["rejected"] and compared.get("verdict") == "agrees":
            with contextlib.suppress(Exception):  # an operator without float64
                more["rounding"] = bench.rounding(self.inputs)
            if asked["rows"]:
                with contextlib.suppress(Exception):
                    found_in = experiments.mixing(self.program, self._batch(wanted))
                    more["mixing"] = found_in or None
        return {"trials": found, **more}

    def _batch(self, wanted: list[Document]) -> Callable[[], standalone.Inputs]:
        """Return the inputs of the repeated call with most rows."""

        def count(one: Document) -> int:
            flat = standalone.read_inputs(one["inputs"]).flat
            return max((len(x) for x in flat if getattr(x, "ndim", 0)), default=0)

        path = max(wanted, key=count)["inputs"]
        return lambda: standalone.read_inputs(path)

    def pair(self, path: str) -> Document:
        """Repeat a call that the script compares, with packages that no weights were given to."""
        plain = copy.copy(self.options)
        plain.constants = []
        given, program = standalone.read_inputs(path), None
        if self.weighted:
            program = standalone.load_program(plain)

        def load() -> Any:
            return standalone.load_package(plain, given, self.report)

        return experiments.Bench(program, load, 0).pair(path)

    def asked(self) -> Document:
        """Return the experiments that are asked for."""
        if not self.options.trials:
            return {"trials": []}
        with open(self.options.trials, encoding="utf-8") as file:
            asked: Document = json.load(file)
        return asked

    def bench(self, program: Any) -> experiments.Bench:
        """Return what experiments share, with a package loaded anew."""
        model = self.anew()
        self._model = self._model or model
        return experiments.Bench(program, lambda: model, self.options.reference_bytes)

    def writes(self) -> Document:
        """Look for custom operators that write to what they say they only read; hold the package
        against the program with copies given to these."""
        if self.options.weightless:
            raise Impossible("the exported program is kept without its weights")
        calls = [one for one in self.asked()["trials"] if one.get("values")]
        # Of what the checks before this one had such operators write nothing is left.
        return self.bench(standalone.load_program(self.options)).writes(self.inputs, calls)

    def repeats(self) -> Document:
        first = self.result
        again = [self.call(self._model) for _ in range(REPEATS)]
        found = self.worst(first, again)
        if found["verdict"] == "differs":
            self._stateful = self.same_from_anew([first, *again])
        more = self.sequence() if self._stateful or self.keeps_state() else {}
        return {**found, "calls": REPEATS + 1, "stateful": self._stateful, **more}

    def keeps_state(self) -> bool:
        """Tell whether the exported program writes to buffers of its own."""
        return self.weighted and bool(describe.state(self.program))

    def sequence(self) -> Document:
        """Make a few calls in a row with a package and a program loaded anew, and compare each:
        each keeps its own state."""
        if not self.weighted:
            return {}
        state = describe.state(self.program)
        bench = self.bench(standalone.load_program(self.options))
        outcomes, lost = bench.sequence(self.inputs, REPEATS)
        wrong = any(one["verdict"] == "differs" for one in outcomes)
        left = self.kept_wrong() if wrong and not self.options.constants else None
        named = [left["name"]] if left is not None else lost
        told = [state[name] for name in named if name in state] or [*state.values()]
        nodes = [about(node)["stack"] for node in told if node is not None]
        found = {"buffers": sorted(state)[:20], "written": nodes[-1] if nodes else ""}
        return {"sequence": outcomes, "lost": lost[:20], "left": left, **found}

    def kept_wrong(self) -> Document | None:
        """Look at the package's own state after each call; None where it cannot be read."""
        try:
            device = standalone.device_of(self.inputs().flat)
            bench = self.bench(standalone.load_program(self.options))
            given = self.options.package, self.options.model, device
            with contextlib.closing(Container(*given)) as held:
                return bench.kept_wrong(held, self.inputs, REPEATS)
        except Exception as error:
            events.note("look at the state of a package", error)
            return None

    def same_from_anew(self, before: list[list[Any]]) -> bool:
        """Tell whether a model loaded anew gives the same sequence: its state makes the results."""
        model = self.load()
        pairs = ((one, self.call(model)) for one in before)
        return all(repeats.difference(one, two)["verdict"] != "differs" for one, two in pairs)

    def worst(self, first: list[Any], others: list[list[Any]]) -> Document:
        found = [repeats.difference(first, other) for other in others]
        order = ("differs", "rounding", "same")
        worst = min(found, key=lambda one: order.index(one["verdict"]))
        return compare.named([worst], self.module, "output")[0] if self.written else worst

    def poison(self) -> Document:
        """Call with a pattern in free memory: results that change read uninitialized memory."""
        first = self.result
        leaves = [*first, *self.inputs().flat]
        devices = {leaf.device for leaf in leaves if isinstance(leaf, torch.Tensor)}
        cuda = [device for device in devices if device.type == "cuda"]
        others: list[list[Any]] = []
        for byte in repeats.PATTERNS:
            model = self.load() if self._stateful else self._model
            with self.poisoned(byte, cuda):
                others.append(self.call(model))
        patterns = [f"0x{byte:02X}" for byte in repeats.PATTERNS]
        return {**self.worst(first, others), "patterns": patterns}

    def threads(self) -> Document:
        """Call from several threads at the same time, as the script did: what differs from the same
        call alone shares memory, in the model or in an operator."""
        count = self.options.threads
        if count < 2:
            raise Impossible("the script calls it from one thread")
        if self._stateful:
            raise Impossible("the model's results depend on the calls before")
        given = [self.varied(number) for number in range(count)]
        shared = self._model if self.options.runners > 1 else None
        calls = [partial(standalone.results, shared or self.load(), inputs) for inputs in given]
        with given[0].mode():
            began = time.perf_counter()
            calls[0]()
            if time.perf_counter() - began > repeats.SLOW_S:
                raise Impossible("a call takes too long to be made so often")
            found = repeats.at_once(calls)
        if found is None:
            raise Impossible("two calls alone do not give the same")
        if found["verdict"] == "differs" and self.weighted:
            found.update(self.shared_in([inputs.flat for inputs in given]))
        return found

    def varied(self, number: int) -> standalone.Inputs:
        """Return the inputs with values of a thread's own, as callers give them."""
        inputs = self.inputs()
        new = {id(leaf): repeats.turned(leaf, number) for leaf in inputs.flat}
        return standalone.with_leaves(inputs, [new[id(leaf)] for leaf in inputs.flat])

    def shared_in(self, flats: list[list[Any]]) -> Document:
        """Return the custom operator that is wrong in several threads, if one is."""
        node = repeats.operator_at_once(self.module, flats)
        if node is None:
            return {}
        defined = {"places": custom_ops.places(node.target)}
        return {**about(node), **defined, "shared": custom_ops.shared(node.target)}

    @contextlib.contextmanager
    def poisoned(self, byte: int, devices: list[Any]) -> Any:
        for device in devices:
            repeats.poison_device(device, byte)
        if not repeats.poison_host(byte) and not devices:
            raise Impossible("this C library cannot fill what it allocates")
        try:
            yield
        finally:
            repeats.poison_host(None)
