"""Who holds the memory of a package, at the peak of a call of a real process."""

from __future__ import annotations

from pathlib import Path

import pytest
from aoti_debug.errors import WrongUse
from aoti_debug.examine.answers import MemoryAnswer
from aoti_debug.examine.memory import grows, lower, memory_request
from aoti_debug.kinds import MEMORY, stage_kind
from aoti_debug.probe.memory_use import alike
from aoti_debug.read.examine_reports import MemoryReport
from aoti_debug.read.typed import take
from aoti_debug.report.answers import outline
from aoti_debug.report.examined import memory_plots
from aoti_debug.report.text import markdown
from aoti_debug.run.target import resolve_target
from aoti_debug.service import Request
from aoti_debug.triage.observe import events_of
from conftest import Built
from examine.conftest import answered
from programs import QUICK

MIB = 1 << 20


@pytest.fixture(scope="module")
def measured(
    built: Built,
    exported: dict[str, Path],
    warm_python: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> MemoryAnswer:
    """Measure a layer norm of 4096 x 4096 floats, which are 64 MiB, with two runners."""
    request = memory_request(
        str(built.directory / "big.pt2"),
        exported=exported["big"],
        python=warm_python,
        runners=2,
    )
    return answered(MEMORY, request, tmp_path_factory.mktemp("memory"))


def test_the_owners_of_the_peak_add_up(measured: MemoryAnswer) -> None:
    rows = {one.owner: one.bytes for one in measured.rows}
    assert measured.peak is not None
    assert sum(rows.values()) == measured.peak
    assert abs(rows.get("not accounted for", 0)) <= 0.05 * measured.peak
    assert rows["inputs"] == 64 * MIB
    assert rows["outputs"] == 64 * MIB
    assert rows["weights, in memory of their own"] == 2 * 4096 * 4


def test_a_block_has_its_kernel_and_its_time(measured: MemoryAnswer) -> None:
    block = measured.blocks[0]
    assert block.bytes == 64 * MIB
    assert block.owner.startswith("cpp_fused")
    assert "float32[4096, 4096]" in (block.detail or "")
    assert "returned" in (block.detail or "")


def test_what_is_not_in_the_peak_is_said(measured: MemoryAnswer) -> None:
    owners = [one.owner for one in measured.others]
    assert owners == [
        "inactive buffer, after an update of it",
        "2 runners, loaded",
        "2 calls at the same time",
    ]
    assert measured.others[-1].bytes > 2 * 64 * MIB
    assert "runners" in (measured.fits or "")
    assert measured.grows is False


def test_weights_with_the_same_values_are_named_with_what_one_of_them_would_save() -> None:
    torch = pytest.importorskip("torch")
    table = torch.randn(512, 64)
    held = {"embed": table, "head": table.clone(), "other": table + 1, "bias": torch.ones(64)}
    (found,) = alike({**held, "scale": torch.ones(64)})  # small ones may be so
    assert found == {"names": ["embed", "head"], "bytes": 512 * 64 * 4}
    report = take(MemoryReport, {"device": "cpu", "buffer": {"alike": [found]}})
    (said,) = lower(report)
    assert said.startswith("embed, head hold the same values: 0.1 MiB less")


def test_calls_at_the_same_time_are_compared_with_a_call_alone(measured: MemoryAnswer) -> None:
    said = measured.together or ""
    assert said.startswith("all 12 outputs are those of a call alone")
    assert "from 2 threads with one runner" in said
    assert said.endswith(("num_runners=2 pays", "more runners than one bring nothing"))


def test_the_report_has_a_table_and_a_picture(measured: MemoryAnswer) -> None:
    assert "Python and torch" in markdown(outline(measured))
    (plot,) = memory_plots(measured)
    assert "and the call" in plot.svg


def test_a_call_needs_inputs(built: Built, warm_python: str) -> None:
    with pytest.raises(WrongUse, match="no inputs"):
        memory_request(str(built.directory / "big.pt2"), python=warm_python)


SCRIPT = """
import torch
held = []
for _ in range(3):
    held.append(torch._inductor.aoti_load_package({package!r}))
    held[-1](torch.randn(8, 16))
weights = {{n: torch.randn(s) for n, s in (("fc.weight", (16, 16)), ("fc.bias", (16,)))}}
for _ in range(3):
    held[0].load_constants(weights, check_full_update=True, user_managed=True)
    held[0].loader.load_constants(weights, True, True)
"""


def test_what_a_run_did_to_grow_is_named(built: Built, warm_python: str, tmp_path: Path) -> None:
    script, home = tmp_path / "grow.py", tmp_path / "home"
    script.write_text(SCRIPT.format(package=str(built.directory / "dynamic.pt2")), "utf-8")
    target = resolve_target(script=str(script), python=warm_python, env=QUICK, cwd=tmp_path)
    run = answered(stage_kind("baseline"), Request(target, python=warm_python), home).run
    said = list(grows(events_of(home / "runs" / run)))
    assert [one.split(":")[0] for one in said] == [
        "dynamic.pt2 was loaded 3 times in one process",
        "3 user-managed updates",
        "3 updates of the inactive buffer, and none was freed",
    ]
