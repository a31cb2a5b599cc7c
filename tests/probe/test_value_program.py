"""What a package writes, held against the values of the exported program."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from aoti_debug.probe.places import Place, place_of  # noqa: E402
from aoti_debug.probe.standalone import Inputs, Report  # noqa: E402
from aoti_debug.probe.value_rows import Values  # noqa: E402
from aoti_debug.probe.value_samples import digest, sampled  # noqa: E402
from aoti_debug.probe.value_search import Matching, Reference, Written  # noqa: E402
from aoti_debug.probe.values import hold_against_program, returned  # noqa: E402


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of torch.export itself
def test_a_product_agrees_where_the_next_kernel_adds_its_bias() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv1d(3, 4, 1), torch.nn.Flatten(), torch.nn.Linear(20, 8), torch.nn.GELU()
    )
    x = torch.randn(6, 3, 5)
    program = torch.export.export(model, (x,))
    with torch.no_grad():
        image = torch.nn.functional.conv1d(x, model[0].weight)
        product = model[1](model[0](x)) @ model[2].weight.T
    written = [
        Written((n, 0), Place("cpu", n, n + 1), sampled(value), digest(value), frozenset())
        for n, value in enumerate((image, product, product * 1.25))
    ]
    hold_against_program(program, Inputs((x,), {}, [x], [], False, False), written, Report(None))
    assert [one.agrees is not None for one in written] == [True, True, False]


def test_a_product_is_held_without_its_padding() -> None:
    right = torch.arange(12.0).reshape(2, 3, 2)
    padded = torch.nn.functional.pad(right.reshape(6, 2), (0, 6, 0, 2), value=7.0)
    for off, agrees in ((0.0, True), (1.0, False)):
        sample = sampled(padded + off)
        one = Written((0, 0), Place("cuda", 0, 256), sample, "", frozenset(), frozenset({"linear"}))
        one.computed = True
        what = {"node": "linear", "name": "linear"}
        Matching([one]).offer(Reference(what, sampled(right), sampled(right.double())))
        assert (one.agrees is not None) == agrees


def test_a_new_buffer_in_memory_that_was_freed_ends_what_stood_there() -> None:
    some = sampled(torch.zeros(4))
    old, new = (
        Written((n, 0), Place("cuda", 0, end), some, "", frozenset())
        for n, end in enumerate((16, 8))
    )
    assert not new.replaces(old)  # written in part, in place
    new.fresh = True
    assert new.replaces(old)


def test_a_returned_column_is_a_result_unless_written_over() -> None:
    buffer, other = torch.arange(8.0).reshape(4, 2), torch.zeros(4)
    seen = Values(Report(None), [])
    seen.outputs, seen.results = [buffer.clone()], [place_of(buffer)]
    for launch, tensor in enumerate((buffer[:, 0] + 1, buffer[:, 0], buffer[:, 1], other)):
        memory = place_of(buffer[:, 0] if launch == 0 else tensor)
        value = sampled(tensor)
        seen.written.append(Written((launch, 0), memory, value, digest(tensor), frozenset()))
        seen.written[-1].fresh = True
    assert returned(seen) == {1, 2}
