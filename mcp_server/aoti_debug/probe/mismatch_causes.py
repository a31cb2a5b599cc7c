"""Reasons for wrong values that need no compile: weights that are not the program's, products in
less than float32, an operator that makes a difference of rounding large."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from . import (
    compare,
    container,
    describe,
    eager,
    intermediates,
    marks,
    standalone,
    untrusted,
    weight_truth,
)
from .compare import unguarded
from .describe import dtype_of, is_float
from .graph_run import base, located, outputs_of
from .lazy import torch
from .weight_truth import apart, tensors_of

Document = dict[str, Any]
_NAMED = 8
_STEPS = tuple(
    """
    floor ceil round trunc sign sgn eq ne lt le gt ge argmax argmin argsort sort topk bucketize
    searchsorted remainder fmod floor_divide heaviside isclose
    """.split()
)
_WHOLE = ("int8", "int16", "int32", "int64", "uint8", "bool")
# name, bits of the mantissa that a product's factors keep, whether the rest is rounded or cut off:
# cuBLAS rounds to tf32, and what Triton hands to the tensor cores is cut off there.
_PRECISIONS = (("tf32", 10, True), ("tf32", 10, False), ("bfloat16", 7, True))
_CASTS = ("to", "_to_copy", "type_as", "half", "bfloat16", "convert_element_type")
_WIDTHS = (16, 8, 1)  # elements of a vector: threads share out whole ones
EXPLAINS = 0.2  # of a difference may be left


class Causes:
    """The reasons why a package gives something else than its program on a call: `inputs` reads
    those of the call anew, which a model may write to; `given` are the package's results: its
    outputs, then the inputs that it writes to."""

    def __init__(
        self, program: Any, options: Any, inputs: Callable[[], standalone.Inputs], given: list[Any]
    ) -> None:
        self._program, self._options = program, options
        self._inputs, self._given = inputs, given

    def first(self, right: list[Any], truth: Any) -> Document | None:
        """Return the first reason that explains the package's outputs; None where none does."""
        return (
            self.kept_weights()
            or self.constants()
            or self.rounds()
            or self.copies()
            or self.precision(right, truth)
        )

    def kept_weights(self) -> Document | None:
        """Tell which of the weights that load_constants was given the package does not use: with
        the values of its compile the program gives the package's results."""
        if not self._options.constants:
            return None
        old = untrusted.load(self._options.exported, trust=self._options.trust)
        truth = weight_truth.Program(old, self._inputs)
        weights = {**dict(self._program.state_dict), **dict(self._program.constants)}
        changed = [n for n, was in truth.old.items() if n in weights and _differs(was, weights[n])]
        outputs = self._given[: len(self._given) - len(describe.written_places(unguarded(old)))]
        names = weight_truth.stale_in(truth, outputs, weights, changed)
        if not names:
            return None
        found: Document = {"kind": "kept_weights", "names": names[:_NAMED], "explains": True}
        return {**found, "count": len(names), "given": len(changed)}

    def constants(self) -> Document | None:
        """Compare the weights in the package with the program's; do they explain the results."""
        try:
            held = self.extracted()
        except Exception:  # an older torch, a package without its library: cannot be told
            return None
        for path in self._options.constants:  # what the script gave is in both of them
            for name in torch.load(path, weights_only=True)["constants"]:
                held.pop(name, None)
        state = {**dict(self._program.state_dict), **dict(self._program.constants)}
        others: list[Document] = []
        for name, mine in state.items():
            theirs = held.get(name)
            if theirs is None or not isinstance(mine, torch.Tensor):
                continue
            row: Document = {"name": name}
            if theirs.shape != mine.shape or theirs.dtype != mine.dtype:
                row["package"] = [str(theirs.dtype), list(theirs.shape)]
                row["program"] = [str(mine.dtype), list(mine.shape)]
            else:
                own = mine.detach().cpu()
                apart = int((~marks.alike(theirs, own)).sum())
                if not apart:
                    continue
                row.update(differ=apart, elements=own.numel())
            others.append(row)
        missing = [name for name in held if name not in state and not name.startswith("_")]
        if not others and not missing:
            return None
        found: Document = {
            "kind": "constants",
            "compared": len([name for name in held if name in state]),
            "differ": len(others),
            "constants": others[:_NAMED],
            "unknown": missing[:_NAMED],
        }
        found["explains"] = self._with_constants(held)
        return found

    def extracted(self) -> dict[str, Any]:
        """Return the weights that a package holds, by the names that the model gave them."""
        device = standalone.device_of(self._inputs().flat)
        held = container.Container(self._options.package, self._options.model, device)
        try:
            return {name: one.detach().cpu().clone() for name, one in held.held().items()}
        finally:
            held.close()

    def _with_constants(self, held: dict[str, Any]) -> bool | None:
        """Tell whether the program gives the package's results with the package's weights."""
        try:
            module = unguarded(self._program)
            tensors = tensors_of(module)
            with torch.no_grad():
                for name, tensor in tensors.items():
                    if name in held:
                        if held[name].shape != tensor.shape:
                            return None
                        tensor.copy_(held[name])
            exact = eager.in_float64(module, self._inputs(), writes=True)[0]["outputs"]
            right = outputs_of(module, self._inputs().flat, writes=True)
            return compare.agrees(self._given, right, exact)
        except Exception:
            return None

    def rounds(self) -> Document | None:
        """Return what eager rounds to 16 bits and the package does not, if that explains it."""
        return self.casts() or self.numbers()

    def numbers(self) -> Document | None:
        """Run the program with Python's numbers as they are, beside tensors of 16 bits; is that
        what the package gives. Eager rounds them to the dtype of the tensor."""
        module, half = unguarded(self._program), _half()
        found = dict[str, tuple[Any, float]]()
        for node in module.graph.nodes:
            dtype = getattr(node.meta.get("val"), "dtype", None)
            for one in node.args if node.op == "call_function" and dtype in half else ():
                if isinstance(one, float) and torch.tensor(one, dtype=dtype).item() != one:
                    found[node.name] = node, one
        if not found:
            return None

        def computed(run: Any, node: Any, args: Any, kwargs: Any) -> Any:
            if node.name not in found:
                return node.target(*args, **kwargs)
            wide = [one.float() if getattr(one, "dtype", None) in half else one for one in args]
            return node.target(*wide, **kwargs)

        def stored(run: Any, node: Any, *given: Any) -> Any:
            result = computed(run, node, *given)
            return result.to(node.meta["val"].dtype) if node.name in found else result

        if not any(self._gives(module, one) for one in (stored, computed)):
            return None
        node, number = next(iter(found.values()))
        dtype = dtype_of(node.meta["val"])
        more = {"explains": True, "number": number, "dtype": dtype}
        return {"kind": "numbers", **more, **located(node)}

    def casts(self) -> Document | None:
        """Run the program without the rounding of its casts to 16 bits; is that what the package
        gives. Inductor computes in float32 what it fuses, and rounds where it stores."""
        module, half = unguarded(self._program), _half()
        narrow = {
            node.name: node
            for node in module.graph.nodes
            if base(node) in _CASTS
            and node.meta["val"].dtype in half
            and node.all_input_nodes[0].meta["val"].dtype == torch.float32
        }
        if not narrow:
            return None

        def compute(run: Any, node: Any, args: Any, kwargs: Any) -> Any:
            return args[0] if node.name in narrow else node.target(*args, **kwargs)

        if not self._gives(module, compute):
            return None
        first = next(iter(narrow.values()))
        dtype = dtype_of(first.meta["val"])
        return {"kind": "casts", "explains": True, "dtype": dtype, **located(first)}

    def copies(self) -> Document | None:
        """Run the program without copies of memory that is then written over itself, in order, by
        one thread or by several; is that what the package gives."""
        several = torch.get_num_threads()
        for way in [(1, 1), *((several, width) for width in _WIDTHS if several > 1)]:
            node, explains = self._without_copies(*way)
            if node is None or explains:
                return None if node is None else {"kind": "copies", **located(node)}
        return None

    def _without_copies(self, threads: int, width: int) -> tuple[Any, bool]:
        """Return the first node that writes so, and whether that gives the package's results."""
        found, copied = list[Any](), dict[Any, Any]()  # what is copied, by the memory of the copy

        def compute(run: Any, node: Any, args: Any, kwargs: Any) -> Any:
            source = copied.get(_memory(args[1])) if base(node) == "copy_" else None
            if source is not None and args[0].dim() and _memory(source) == _memory(args[0]):
                found.append(node)
                _copy_in_order(args[0], source, threads, width)
                return args[0]
            result = node.target(*args, **kwargs)
            if base(node) == "clone":
                copied[_memory(result)] = args[0]
            return result

        explains = self._gives(unguarded(self._program), compute)
        return next(iter(found), None), explains

    def _gives(self, module: Any, compute: Any) -> bool:
        """Tell whether the program gives the package's results when its operators are computed
        so."""
        try:
            flat = self._inputs().flat
            outputs = outputs_of(module, flat, compute, asserts=False, writes=True)
            pairs = zip(outputs, self._given)
            tried = [one.to(was.dtype) if hasattr(one, "dtype") else one for one, was in pairs]
        except Exception:  # an operator that wants 16 bits
            return False
        return compare.agrees(self._given, tried)

    def precision(self, right: list[Any], truth: Any) -> Document | None:
        """Run the program with the factors of its products rounded; is that what the package
        gives."""
        products = intermediates.PRODUCTS
        floats = any(getattr(one, "dtype", None) == torch.float32 for one in self._given)
        names = (base(node).lstrip("_") for node in unguarded(self._program).graph.nodes)
        if truth is None or not floats or not any(name in products for name in names):
            return None
        for precision_name, bits, nearest in _PRECISIONS:
            try:
                wide = eager.widen(unguarded(self._program))
                wider = eager.widen_inputs(self._inputs())
                tried = intermediates.with_short_factors(wide, wider, products, bits, nearest)
            except Exception:
                return None
            before, left = apart(self._given, truth), apart(self._given, tried)
            if before > 0 and left <= EXPLAINS * before:
                found: Document = {
                    "kind": "precision",
                    "precision": precision_name,
                    "explains": True,
                }
                return {**found, "apart": before, "left": left, "eager": apart(right, truth)}
        return None


def _half() -> tuple[Any, Any]:
    return torch.float16, torch.bfloat16


def _copy_in_order(to: Any, source: Any, threads: int, width: int) -> None:
    """Copy memory over itself, each thread a part of it from its first element to its last."""
    ahead = to.storage_offset() - source.storage_offset()
    if ahead <= 0 or not (to.is_contiguous() and source.is_contiguous()):
        for row, one in zip(to, source):
            row.copy_(one)
        return
    old, flat = source.flatten().clone(), to.view(-1)
    most, more = divmod(math.ceil(len(old) / width), threads)
    end = 0
    for thread in range(threads):
        begin, end = end, min(len(old), end + (most + (thread < more)) * width)
        places = torch.arange(begin, end, device=old.device)
        # What the thread has written itself it reads again; the rest is as it was.
        flat[begin:end] = old[begin + (places - begin) % ahead]


def _differs(one: Any, other: Any) -> bool:
    """Tell whether two weights of the same sizes have different values."""
    same_sizes = isinstance(one, torch.Tensor) and one.shape == other.shape
    return same_sizes and not torch.equal(one, other)


def _memory(leaf: Any) -> int | None:
    return int(leaf.untyped_storage().data_ptr()) if hasattr(leaf, "untyped_storage") else None


def steps(nodes: Iterable[Any]) -> list[str]:
    """Return the nodes whose result can jump where their inputs hardly change."""
    found = []
    for node in nodes:
        name, value = base(node).rstrip("_"), node.meta.get("val")
        if node.op != "call_function" or not isinstance(value, torch.Tensor):
            continue
        given = [one.meta.get("val") for one in node.all_input_nodes]
        floats = any(map(is_float, given))
        whole = dtype_of(value) in _WHOLE
        rounds = "rounding_mode" in node.kwargs or "_mode" in str(node.target)
        if floats and (name in _STEPS or whole or rounds):
            found.append(node.name)
    return found


def amplified(
    nodes: dict[str, Any], names: list[str], right: Document, exact: Document
) -> Document | None:
    """Return the first such node where float32 and float64 come to different results."""
    for name in names:
        mine, true = right[name], exact[name]
        if not isinstance(mine, torch.Tensor) or mine.shape != true.shape:
            continue
        apart = (mine.to(torch.float64) - true.to(torch.float64)).abs() > 0.5
        if not bool(apart.any()):
            continue
        node, at = nodes[name], tuple(apart.nonzero()[0].tolist())
        return {
            **located(node),
            "at": list(at),
            "program": float(mine[at]),
            "float64": float(true[at]),
            "elements": mine.numel(),
            "differ": int(apart.sum()),
        }
    return None
