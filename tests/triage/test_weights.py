"""A weight that is not finite: the line that reads it, and the file or line that brought it."""

from __future__ import annotations

import pytest
from aoti_debug.diagnose.from_constants import from_siblings
from aoti_debug.probe.constants import Constant
from recordings import begin, end, events

SCRIPT = """\
import os, torch; os.chdir(os.path.dirname(__file__))
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 2)

    def forward(self, x):
        h = torch.relu(self.first(x))
        return self.last(h)


state = {f"net.{name}": value for name, value in Model().state_dict().items()}
state["net.last.weight"][0, 3] = float("nan")
torch.save({"model": state}, "best.pt")
held = torch.load("best.pt", weights_only=True)["model"]
model = Model().eval()
model.load_state_dict({name.removeprefix("net."): value for name, value in held.items()})
program = torch.export.export(model, (torch.randn(4, 8),))
package = torch._inductor.aoti_load_package(torch._inductor.aoti_compile_and_package(program))
for _ in range(3):
    package(torch.randn(4, 8))
"""


def test_the_line_that_reads_a_weight_with_nan_and_its_checkpoint_are_named(
    triaged, written
) -> None:
    best = triaged(written(SCRIPT)).diagnosis
    assert (best.category, best.confidence) == ("nan_or_inf", "proved"), best.summary
    assert "parameter last.weight holds 1 NaN of 16 elements, first at [0, 3]" in best.summary
    assert "aten.linear.default reads it first" in best.summary
    assert "already in best.pt, read at script.py:18" in best.summary
    assert [line.text for line in best.source] == [
        "return self.last(h)",
        'held = torch.load("best.pt", weights_only=True)["model"]',
    ]
    assert "last.weight in best.pt" in best.fixes[0].what


SERVER = """\
import sys
import torch
from torch._C import _aoti

folder, wrong = sys.argv[1], sys.argv[2] == "wrong"
loader = _aoti.AOTIModelPackageLoader(f"{folder}/folding.pt2", "model", False, 2, -1)
loader.run([torch.ones(3, 16)])
new = torch.load(f"{folder}/new.pt", weights_only=True)
names = [name for name in loader.get_constant_fqns() if name in new]
if wrong:
    names = [name for name in names if name.endswith("weight")]
new = {name: new[name] for name in names}
loader.load_constants(new, False, not wrong)
for _ in range(3):
    loader.boxed_run([torch.ones(3, 16)])
"""


def test_weights_of_a_checkpoint_that_an_update_leaves_out_are_named(
    triaged, written, served
) -> None:
    script = written(SERVER)
    best = triaged(script, served, "wrong").diagnosis
    assert (best.category, best.confidence) == ("constants_missing", "likely"), best.summary
    assert best.summary == "low, first.bias and 3 more: no step gave it at script.py:13"
    assert best.source[0].line == 13
    assert "model.load_constants(weights, check_full_update=True)" in best.fixes[1].what
    right = triaged(script, served, "right").diagnosis
    assert right.category == "no_fault", right


STAGING = """\
import sys, torch

staging, models = {}, []
for file in ("same", "new"):
    model = torch._inductor.aoti_load_package(f"{sys.argv[1]}/folding.pt2")
    for name, value in torch.load(f"{sys.argv[1]}/{file}.pt", weights_only=True).items():
        if name in model.get_constant_fqns():
            staging.setdefault(name, value.clone()).copy_(value)
    model.load_constants(staging, check_full_update=True, user_managed=True)
    models.append(model)
for model in models:
    model(torch.ones(3, 16))
"""


def test_memory_that_two_models_were_given_for_different_weights_is_named(
    triaged, written, served
) -> None:
    best = triaged(written(STAGING), served).diagnosis
    assert (best.category, best.confidence) == ("constants_mismatch", "proved"), best.summary
    assert "it is user-managed, and its owner wrote to its memory at script.py:9" in best.summary
    assert "load copies" in best.fixes[0].what


UPDATES = {
    "loader.update_constant_buffer(new, False, False)": (
        "likely",
        "update_constant_buffer ignores",
    ),
    'new["last.weight"] = new["last.weight"].t().contiguous().t(); '
    "loader.load_constants(new, False, True)": (
        "proved",
        "last.weight was loaded with strides [1, 4], the package needs [32, 1]: its raw bytes "
        "are copied, so rows and columns are swapped",
    ),
    "loader.load_constants(new, False, True, True); "
    "_ = [one.untyped_storage().resize_(0) for one in new.values()]": (
        "likely",
        "the owner of user-managed weights released their memory",
    ),
    "loader.load_constants(new, False, True, True); [one.add_(1.0) for one in new.values()]; "
    "loader.boxed_run([torch.ones(3, 16)]); loader.load_constants(new, False, True, True)": (
        "likely",
        "call 2 uses what the owner of user-managed weights wrote after they were given at "
        "script.py:10",
    ),
    'other = _aoti.AOTIModelPackageLoader(f"{folder}/folding.pt2", "model", False, 1, -1); '
    "other.load_constants(new, False, True)": (
        "likely",
        "instance 2 of the package was given weights, later calls are of another one",
    ),
}


@pytest.mark.parametrize("update", UPDATES)
def test_what_an_update_gives_in_vain_is_named(triaged, written, served, update: str) -> None:
    begin = SERVER[: SERVER.index("names =")]
    keep = "new = {name: new[name].clone() for name in loader.get_constant_fqns() if name in new}\n"
    script = written(f"{begin}{keep}{update}\nloader.boxed_run([torch.ones(3, 16)])\n")
    best = triaged(script, served, "right").diagnosis
    confidence, said = UPDATES[update]
    assert (best.category, best.confidence) == ("constants_mismatch", confidence), best.summary
    assert best.summary.startswith(said), best.summary
    assert best.source[0].text == update


def test_the_one_of_many_like_it_that_no_update_gives_is_named() -> None:
    known = {f"tables.{n}": Constant(n, f"tables_{n}", f"tables.{n}") for n in range(12)}
    load = begin(1, "constants", package="m.pt2", caller=["serve.py", 9])

    def found(*left: int, **more: object) -> list[str]:
        given = [{"name": name} for n, name in enumerate(known) if n not in left]
        loads = events({**load, "constants": given, "count": len(given), **more}, end(1))
        return [one.diagnosis.summary for one in from_siblings(list(loads.of("constants")), known)]

    assert found(10) == ["tables.10 was not given, unlike 11 of its like"]
    assert not found()
    assert not found(*range(6))  # a part that is meant
    assert not found(10, check_full_update=True)
