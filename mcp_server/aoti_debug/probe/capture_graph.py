"""Capture a call of a package in a CUDA graph, replay it with other inputs, and compare with calls
that are not captured."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from . import compare, describe, standalone, workaround
from .lazy import torch

_WARM = 3  # calls before the capture


def main() -> int:
    """Capture, replay, compare; report what was refused or wrong."""
    parser = standalone.arguments(__doc__, package=True, exported=False, inputs=False)
    options = parser.parse_args()
    with standalone.started(options) as report:
        inputs = standalone.reader_of_call(options)()
        if standalone.device_of(inputs.flat) == "cpu" or not torch.cuda.is_available():
            report.update(state="done", tried="no GPU")
            return 0
        standalone.skip_isa_probe()
        load = import_module("torch._inductor.package").load_package
        single = load(options.package, options.model, run_single_threaded=True)
        with inputs.mode():
            held = standalone.copied(inputs)  # the memory that a replay reads
            report.update(state="warm up")
            _warm(single, held)
            report.update(state="capture")
            graph, outputs, said = _captured(single, held)
            if graph is None:
                report.update(state="done", tried="refused", said=said)
                return 0
            report.update(state="replay")
            report.update(**_replayed(single, inputs, held, graph, outputs), state="done")
    return 0


def _warm(model: Any, held: standalone.Inputs) -> None:
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(_WARM):
            standalone.call(model, held)
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()


def _captured(model: Any, held: standalone.Inputs) -> tuple[Any, list[Any], str]:
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            result = standalone.call(model, held)
        torch.cuda.synchronize()
    except RuntimeError as error:
        return None, [], (str(error).splitlines() or [""])[0][:300]
    return graph, standalone.flat_outputs(result), ""


def _replayed(
    model: Any, inputs: standalone.Inputs, held: standalone.Inputs, graph: Any, outputs: list[Any]
) -> dict[str, Any]:
    """Replay with the inputs and with others; are the outputs those of calls."""
    wrong = []
    for name, given in (("the same", inputs), ("other", workaround.fresh(inputs)[-1])):
        with torch.no_grad():
            for to, leaf in zip(held.flat, given.flat):
                if isinstance(to, torch.Tensor):
                    describe.distinct(to).copy_(describe.distinct(leaf, to.stride()))
        graph.replay()
        torch.cuda.synchronize()
        seen = [leaf.detach().cpu().clone() for leaf in outputs]
        right = [leaf.cpu() for leaf in standalone.results(model, standalone.copied(given))]
        if not compare.agrees(seen, right):
            wrong.append(name)
    found: dict[str, Any] = {"tried": "wrong" if wrong else "captured", "outputs": len(outputs)}
    return {**found, "said": f"a replay with {' and '.join(wrong)} inputs" if wrong else ""}
