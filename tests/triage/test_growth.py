"""Memory that grows over calls: what holds it, and the line that fills that."""

from __future__ import annotations

from aoti_debug.examine.memory import grows
from aoti_debug.triage.observe import events_of

SERVER = """\
import sys, torch
from torch._C import _aoti

package, wrong = f"{sys.argv[1]}/plain.pt2", sys.argv[2] == "wrong"
pool = {}
for request in range(9):
    if wrong or not pool:
        pool[request] = _aoti.AOTIModelPackageLoader(package, "model", False, 1, -1)
        model = pool[request]
    model.run([torch.ones(3, 16)])
assert len(pool) == 1, "the process grew: its RSS is over the budget"
"""


def test_packages_that_are_loaded_anew_and_kept_are_named_where_the_script_complains(
    triaged, written, served, home
) -> None:
    script = written(SERVER)
    found = triaged(script, served, "wrong")
    best = found.diagnosis
    assert best.category == "performance", best.summary
    assert best.summary.startswith("pool (dict) keeps each package that is loaded at script.py:8")
    assert "num_runners" in best.fixes[0].what
    assert any("pool (dict)" in one for one in grows(events_of(home / "runs" / found.run)))
    right = triaged(script, served, "right").diagnosis
    assert (right.category, right.also_true) == ("no_fault", []), right
