"""What calls return is judged, of every call; the inputs of the first odd ones are kept."""

from __future__ import annotations

import struct

from aoti_debug.probe.call_counters import UNLIKE
from aoti_debug.record.outputs import outcomes
from aoti_debug.record.run_seen import RunSeen
from aoti_debug.triage.observe import events_of

# The bias is added last: what it holds, the output holds.
CALLS = """
odd = {77: float("nan"), 150: float("inf"), 151: float("nan")}
for number in range(1, 201):
    given = torch.zeros(4)
    given[2] = odd.get(number, 0.0)
    weights.fill_(number)
    model(ids, weights, bias=given)
"""


def seen(ran) -> RunSeen:
    assert not ran.of("note"), ran.of("note")
    return events_of(ran.directory)


def test_every_call_is_judged_odd_ones_are_numbered_and_their_inputs_kept(run_script):
    ran = run_script(CALLS)
    events = seen(ran)
    (found,) = outcomes(events)
    assert (found.judged, found.count, found.always) == (200, 3, 0)
    assert list(found.calls.values()) == [(77, 150, 151)]
    (counts,) = events.call_counts
    kinds = {one.signature: (one.count, one.numbers[:2]) for one in counts.outputs[0]}
    assert kinds == {0: (197, (1, 2)), 1: (2, (77, 151)), 2: (1, (150,))}
    assert counts.unread == 0
    kept = {call.call: call.captured for call in events.calls if call.signature}
    assert list(kept) == [77, 150]
    for number, file in kept.items():
        assert file is not None
        data = (ran.directory / file).read_bytes()
        assert struct.pack("12f", *[float(number or 0)] * 12) in data


def test_what_every_call_returns_is_not_odd(run_script):
    ran = run_script(
        """
        bias[1] = float("-inf")
        for number in range(120):
            call()
        """
    )
    (found,) = outcomes(seen(ran))
    assert (found.judged, found.count, found.odd, found.always) == (120, 0, 0, 4)


THREADS = """
import threading
torch.set_num_threads(1)
def work(own):
    for number in range(100):
        bad = torch.full((4,), float("nan" if number == 50 else own))
        model(ids, weights, bias=bad)
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for one in threads:
    one.start()
for one in threads:
    one.join()
"""


def test_calls_of_several_threads_are_all_judged(run_script):
    ran = run_script(THREADS)
    (found,) = outcomes(seen(ran))
    assert (found.judged, found.count) == (400, 4)


WRITES = """
import torch

class Cache(torch.nn.Module):
    def forward(self, cache, x):
        cache.add_(1)
        return {"mean": x / cache.mean(), "cache": cache.sum(-1), "x": x + 1}

program = torch.export.export(Cache(), (torch.zeros(2, 8), torch.ones(2, 8)))
torch._inductor.aoti_compile_and_package(program, package_path="cache.pt2")
model = torch._inductor.aoti_load_package("cache.pt2")
cache, x = torch.full((2, 8), -101.0), torch.ones(2, 8)
for number in range(1, 203):
    model(cache, x)
"""


def test_inputs_that_the_model_writes_to_are_kept_as_they_were(run_script):
    ran = run_script(WRITES, load=False)
    events = seen(ran)
    (found,) = outcomes(events)
    assert (found.judged, found.count, list(found.calls.values())) == (202, 1, [(101,)])
    (call,) = (call for call in events.calls if call.signature)
    assert (call.call, call.signature) == (101, 2)
    assert call.captured is not None
    data = (ran.directory / call.captured).read_bytes()
    assert struct.pack("16f", *[-1.0] * 16) in data, "the cache before the call"


# The operator promises what it is given, and returns float64 of one call of many.
PROMISES = """
import torch

@torch.library.custom_op("own::wide", mutates_args=())
def wide(x: torch.Tensor) -> torch.Tensor:
    return x.double() if x[0, 0] == 150 else x + 1

@wide.register_fake
def _(x):
    return torch.empty_like(x)

class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2, wide(x)

program = torch.export.export(Model(), (torch.zeros(2, 8),))
path = torch._inductor.aoti_compile_and_package(program, package_path="wide.pt2")
model = torch._inductor.aoti_load_package(path)
for number in range(1, 201):
    model(torch.full((2, 8), float(number)))
"""


def test_outputs_of_another_dtype_than_promised_are_odd(run_script):
    events = seen(run_script(PROMISES, load=False))
    (found,) = outcomes(events)
    assert (found.judged, found.count, list(found.calls.values())) == (200, 1, [(150,)])
    (call,) = (call for call in events.calls if call.signature)
    assert call.signature == UNLIKE and call.captured is not None
