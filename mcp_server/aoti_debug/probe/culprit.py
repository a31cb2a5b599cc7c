"""Find the part of the compiler that makes an operator wrong: its graph is run in eager as Inductor
lowers it, then it is compiled again with one step left out at a time. And a workaround, tried."""

from __future__ import annotations

import contextlib
import platform
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import reduce
from importlib import import_module
from typing import Any

from . import events, intermediates, parts, standalone, workaround
from .lazy import replaced, torch

Document = dict[str, Any]
Leave = Callable[[str, str], bool]  # subsystem, what asks for it: is it left out

SECONDS = 90.0
_PASSES = ("pre_grad_passes", "joint_graph_passes", "post_grad_passes")
_STEPS = ("decomposition", *_PASSES)
_NO_CACHE = {"fx_graph_cache": False, "fx_graph_remote_cache": False}
_SCALAR = "scalar C++ code"
_WIDE = "index propagation"  # of SETTINGS: it computes integers in 32 bits
# What settings leave out of "… of OPERATOR"; each is tried alone, then all together.
SETTINGS: dict[str, Document] = {
    "autotuned code": {
        "max_autotune": False,
        "max_autotune_gemm": False,
        "max_autotune_pointwise": False,
    },
    "fast math": {
        "use_fast_math": False,
        "cpp.enable_unsafe_math_opt_flag": False,
        "cpp.enable_floating_point_contract_flag": "off",
    },
    "code without rounding between operators": {"emulate_precision_casts": True},
    "fusion": {"max_fusion_size": 1, "epilogue_fusion": False, "prologue_fusion": False},
    _WIDE: {"constant_and_index_propagation": False},
    "vectorized loop tail": {"cpp.enable_loop_tail_vec": False},
    _SCALAR: {"cpp.enable_tiling_heuristics": False},  # without them it is vectorized
    "layout": {"layout_optimization": False},
    "padding": {"comprehensive_padding": False, "shape_padding": False},
    "split or unrolled reduction": {"split_reductions": False, "unroll_reductions_threshold": 1},
    "online softmax": {"online_softmax": False},
    "persistent reduction": {
        "triton.persistent_reductions": False,
        "triton.cooperative_reductions": False,
    },
    "loop order": {"pick_loop_orders": False, "loop_ordering_after_fusion": False},
    "combined kernel": {"combo_kernels": False},
    "reuse of buffers": {"inplace_buffers": False, "allow_buffer_reuse": False},
    "vectorized C++ code": {"cpp.simdlen": 1},
}
# Of C++ code, without a setting: a method of CppScheduling, and what it does not do instead.
_METHODS: dict[str, tuple[str, Callable[..., Any]]] = {
    "loop split": ("try_loop_split", lambda _, nodes: nodes),
    "outer-loop fusion": ("can_fuse_vertical_outer_loop", lambda *_: False),
}
# Of passes, after `disabled_passes` with the name of the one.
_OF_PASSES: tuple[Document, ...] = (
    {"joint_graph_constant_folding": False},
    {"pattern_matcher": False},
    {"pre_grad_fusion_options": {}},
    {"post_grad_fusion_options": {}},
)


_IMPLICIT = "DispatchKey.CompositeImplicitAutograd"  # of what Python decomposes while it traces


class _Over(Exception):
    """The seconds are over."""


class _Lowered(BaseException):
    """Ends a compile with the graph that is lowered; Inductor handles every Exception itself."""


class Culprit:
    """The search in the program of one wrong part, on the arguments with which it is wrong. `wide`
    is the operator in it that passes 32 bits, where one does."""

    def __init__(
        self, program: Any, args: Any, settings: Document, seconds: float, wide: str = ""
    ) -> None:
        self._program, self._settings, self._wide = program, settings, wide
        self._until, self._last = time.monotonic() + seconds, 0.0
        self._given = standalone.of_call(args, {})
        self._on_gpu = standalone.device_of(self._given.flat).startswith("cuda")
        self._case = workaround.Case(program, self._given)
        self.trials: list[Document] = []
        self.found: Document = {"trials": self.trials, "versions": _versions(self._given.flat)}

    def search(self) -> Document:
        """Return the `stage` at fault, with what is known of it, and the workaround."""
        began = time.monotonic()
        try:
            self._blame()
        except _Over:
            self.found["undecided"] = True
        except Exception as error:
            self.found["failed"] = events.said(error, 300)
        self.found["seconds"] = round(time.monotonic() - began, 1)
        return self.found

    def _blame(self) -> None:
        as_is = self._compiled({})
        if not self._case.differs(as_is):
            self._check()
            built = intermediates.build(self._case.module, self._program, self._settings)
            self.found["stage"] = "package" if self._case.differs(built) else "none"
            return
        self.found["torch_compile"] = True
        settings = self._changes(SETTINGS[_WIDE]) if self._wide else {}
        if settings and self._right(_WIDE, settings):
            self.found.update(stage="code", op=self._wide, code=_WIDE)
            self._work_around(as_is, [{"settings": settings}, {"fallback": self._wide}])
            return
        graph = self._lowered()
        wrong: bool | None = None
        with contextlib.suppress(Exception):  # of what eager cannot run
            wrong = self._case.differs(graph)
        if wrong:
            ways = self._in_the_graph(self._lowered, _STEPS)
        else:
            self.trials.append({"left_out": "decompositions and passes", "right": False})
            ways = self._in_the_code(graph)
        if not ways and not wrong:
            ways = self._in_the_graph(self._compiled, _PASSES)
            if ways and wrong is not None:
                self._made_by_pass(graph, self._lowered(ways[0]["settings"]))
        self._work_around(as_is, ways)

    def _made_by_pass(self, graph: Any, without: Any) -> None:
        """Name an operator that a pass has put into a graph that is right in eager: its lowering
        is at fault, not the pass."""
        made = Counter(_operators(graph)) - Counter(_operators(without))
        if made:
            self.found.update(made_by=self.found["stage"], stage="code", op=next(iter(made)))

    def _in_the_graph(self, run: Callable[..., Any], steps: tuple[str, ...]) -> list[Document]:
        """Find the first of these steps, in the order in which they run, after which the graph is
        wrong, run in eager or compiled; return what may leave it out."""
        asked: list[tuple[str, str]] = []

        def wrong(limit: float) -> bool:
            asked.clear()

            def leave(subsystem: str, name: str) -> bool:
                if subsystem in steps:
                    asked.append((subsystem, name))
                return subsystem in steps and len(asked) > limit

            try:
                return self._case.differs(run({}, leave))
            except _Over:
                raise
            except Exception:  # they cannot be left out
                return "decomposition" not in steps

        wrong(float("inf"))
        right, bad = 0, len(asked)
        if wrong(0):
            if "decomposition" in steps:
                self._in_tracing(run({}, lambda subsystem, _: subsystem in steps))
            return []
        while bad - right > 1:
            middle = (right + bad) // 2
            right, bad = (right, middle) if wrong(middle) else (middle, bad)
        wrong(bad)
        subsystem, name = asked[bad - 1]
        number = sum(one == subsystem for one, _ in asked[:bad])
        self.found.update(stage=subsystem, name=name, number=number)
        self.trials.append({"left_out": f"{subsystem} from {name} on", "right": True})
        if subsystem == "decomposition":
            known = re.search(r"op='(.+?)', overload='(.+?)'", name)
            self.found["op"] = op = ".".join(known.groups()) if known else name
            return [{"fallback": op}]
        ways = map(self._changes, ({"disabled_passes": name}, *_OF_PASSES))
        return [{"settings": w} for w in ways if w and not self._case.differs(run(w))]

    def _in_tracing(self, graph: Any) -> None:
        """Name the operator that is decomposed while it is traced, where there is one: by Python,
        else by anything."""
        targets = {str(one.target): one.target for one in self._case.module.graph.nodes}
        kernels = {name: getattr(op, "py_kernels", ()) for name, op in targets.items()}
        in_python = [name for name, of in kernels.items() if _IMPLICIT in map(str, of)]
        gone = [*{*_operators(self._case.module)} - {*_operators(graph)}]
        ops = next((some for some in (in_python, gone) if len(some) == 1), None)
        self.found.update({"stage": "decomposition", "op": ops[0]} if ops else {"stage": "tracing"})

    def _in_the_code(self, graph: Any) -> list[Document]:
        """Find the operator with whose lowering the code becomes wrong, where later ones fall back
        to eager's kernels, and the setting with which it is right; return both as workarounds."""
        self.found["stage"] = "code"
        targets = {node.name: str(node.target) for node in graph.graph.nodes}
        asked: list[str] = []

        def right(kept: Callable[[int], bool], what: str) -> bool:
            asked.clear()

            def leave(subsystem: str, name: str) -> bool:
                if subsystem == "lowerings":
                    asked.append(name)
                return subsystem == "lowerings" and not kept(len(asked))

            return self._right(what, {}, leave)

        ways: list[Document] = []
        before, last = list[str](), ""
        if right(().__contains__, "all lowerings"):
            good, bad = 0, len(asked)
            while bad - good > 1:
                middle = (good + bad) // 2
                fits = right(range(middle + 1).__contains__, f"lowerings from {asked[middle]} on")
                good, bad = (middle, bad) if fits else (good, middle)
            last = asked[bad - 1]
            *before, op = [targets.get(name, name) for name in asked[:bad]]
            if not before or not right(bad.__eq__, f"lowerings but {asked[bad - 1]}"):
                before = []
            others = [one for one in before if one != op]
            self.found.update(op=op, others=list(dict.fromkeys(others)))
            ways = [{"fallback": op}]
        name, settings = self._setting()
        if settings:
            self.found["code"] = name
            ways.insert(0, {"settings": settings})
        elif not self._on_gpu and (method := self._method()) is not None:
            self.found["code"] = method
        if self.found.get("code", _SCALAR) != _SCALAR or not _computes(graph, last):
            return ways
        with contextlib.suppress(_Over):
            for number, op in enumerate(before, 1):  # the first that has to be there
                if right(number.__ne__, f"the lowering of {op}"):
                    rest = [one for one in [*before, self.found["op"]] if one != op]
                    self.found.update(op=op, others=list(dict.fromkeys(rest)))
                    return [*ways[:-1], {"fallback": op}]
        return ways

    def _method(self) -> str | None:
        """Return the first of the optimizations without a setting without which the part is right,
        though nothing can leave it out."""
        cpp: Any = import_module("torch._inductor.codegen.cpp").CppScheduling
        for name, (method, instead) in _METHODS.items():
            if hasattr(cpp, method):
                with replaced([(cpp, method, instead)]):
                    if self._right(f"CppScheduling.{method}", {}):
                        return name
        return None

    def _setting(self) -> tuple[str, Document]:
        """Return the first of the settings with which the part is right, found by halves: the first
        that makes it right together with those before it. Where none alone does, all of these,
        without a name; where all together do not, nothing."""
        other = "cpp." if self._on_gpu else "triton."
        rows = {
            name: {key: value for key, value in one.items() if not key.startswith(other)}
            for name, one in ((name, self._changes(one)) for name, one in SETTINGS.items())
        }
        names = [name for name, one in rows.items() if one]

        def right(names: list[str]) -> bool:
            together = _together(rows, names)
            words = names if len(names) > 1 else [f"{k}={v!r}" for k, v in together.items()]
            return self._right(", ".join(words), together)

        bad, good = 0, len(names)
        if not names or not right(names):
            good = 1  # a setting may be in the way of another
        while good - bad > 1:
            middle = (good + bad) // 2
            bad, good = (bad, middle) if right(names[:middle]) else (middle, good)
        for name in names[good - 1 :]:
            if right([name]):
                return name, rows[name]
        return ("", _together(rows, names[:good])) if good > 1 else ("", {})

    def _work_around(self, as_is: Any, ways: list[Document]) -> None:
        """Report the first way with which the part is right on other inputs, too, and its time."""
        for way in ways:
            with contextlib.suppress(Exception), workaround.applied(way) as settings:
                model = self._compiled(settings)
                count = workaround.tried(self._program, self._given, model)
                if count:
                    args = standalone.copied(self._given).flat
                    took = workaround.ratio(lambda: as_is(*args), lambda: model(*args))  # noqa: B023
                    self.found["workaround"] = {**way, "tried": count, "ratio": took}
                    return

    def _changes(self, settings: Document) -> Document:
        """Return those settings that this torch has with another value."""
        config: Any = import_module("torch._inductor.config")

        def value(key: str) -> Any:
            return self._settings.get(key, reduce(getattr, key.split("."), config))

        found = {}
        for key, wanted in settings.items():
            with contextlib.suppress(AttributeError):
                if value(key) != wanted:
                    found[key] = wanted
        return found

    def _right(self, what: str, settings: Document, leave: Leave | None = None) -> bool:
        """Compile with something left out; tell whether the part is right then, and note it."""
        try:
            right = not self._case.differs(self._compiled(settings, leave))
        except _Over:
            raise
        except Exception:  # it cannot be left out
            return False
        self.trials.append({"left_out": what, "right": right})
        return right

    def _check(self) -> None:
        if time.monotonic() + self._last > self._until:
            raise _Over

    def _compiled(self, settings: Document, leave: Leave | None = None) -> Any:
        """Return the part compiled as torch.compile does."""
        self._check()
        began = time.monotonic()
        with self._without(leave):
            model = parts.compiled(self._program, self._given.flat, {**self._settings, **settings})
        self._last = time.monotonic() - began
        return model

    def _lowered(self, settings: Document | None = None, leave: Leave | None = None) -> Any:
        """Return the graph that is lowered; nothing is compiled."""
        compile_fx: Any = import_module("torch._inductor.compile_fx")

        def stop(graph: Any, *_: Any, **__: Any) -> None:
            raise _Lowered(graph)

        last = self._last
        with replaced([(compile_fx, "GraphLowering", stop)]):
            try:
                self._compiled(settings or {}, leave)
            except _Lowered as ended:
                return _as_in_eager(ended.args[0])
            finally:
                self._last = last
        raise ValueError("nothing was lowered")

    @contextlib.contextmanager
    def _without(self, leave: Leave | None) -> Iterator[None]:
        """Leave steps out where Inductor asks its own bisector, without its caches."""
        bisector: Any = import_module("torch._inductor.compiler_bisector")
        caches: Any = import_module("torch._functorch.config")

        def disabled(_: str, subsystem: str, debug_info: Callable[[], str] | None = None) -> bool:
            name = debug_info() if debug_info is not None else ""
            return leave is not None and leave(subsystem, name)

        others = [(bisector.CompilerBisector, "disable_subsystem", disabled)]
        config: Any = import_module("torch._inductor.config")
        with replaced([*others, (caches, "enable_autograd_cache", False)]), config.patch(_NO_CACHE):
            yield


def _computes(graph: Any, name: str) -> bool:
    """Tell whether a node computes values, and does not only move them."""
    tags = {getattr(torch.Tag, name, None) for name in ("pointwise", "reduction")}
    targets = [node.target for node in graph.graph.nodes if node.name == name]
    return any(tags & {*getattr(one, "tags", ())} for one in targets)


def _as_in_eager(graph: Any) -> Any:
    """Return a graph in which operators that write to a list and return nothing have no users:
    Inductor takes the list for what they return."""
    for node in graph.graph.nodes:
        returns = getattr(getattr(node.target, "_schema", None), "returns", True)
        for user in () if returns else [*node.users]:  # operator.getitem
            user.replace_all_uses_with(node.args[0][user.args[1]])
            graph.graph.erase_node(user)
    graph.recompile()
    return graph


def _operators(graph: Any) -> list[str]:
    return [str(node.target) for node in graph.graph.nodes if node.op == "call_function"]


def _together(rows: dict[str, Document], names: list[str]) -> Document:
    return {key: value for name in names for key, value in rows[name].items()}


def _versions(args: list[Any]) -> str:
    device = standalone.device_of(args)
    name = torch.backends.cpu.get_cpu_capability()
    name = torch.cuda.get_device_name(device) if device.startswith("cuda") else name
    built, python = torch.version.git_version, platform.python_version()
    return f"torch {torch.__version__} ({built}), Python {python}, {platform.platform()}, {name}"
