"""Where the time of a call, a load and a compile goes: real packages and a real compile."""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aoti_debug.errors import WrongUse
from aoti_debug.examine.answers import SlowReason, TimeFindings
from aoti_debug.examine.compile_time import table_of, unrolled_loop
from aoti_debug.examine.launch_rows import CallTable, Row, call_table, width_of
from aoti_debug.examine.reasons import is_layout, reasons
from aoti_debug.examine.time import measured_by, time_request
from aoti_debug.examine.waste import waste
from aoti_debug.explain.find import Texts
from aoti_debug.kinds import stage_kind
from aoti_debug.model import SourceLine
from aoti_debug.read.timing_report import Pairs, TimingReport
from aoti_debug.read.torch_trace import read_parts
from aoti_debug.read.typed import take
from aoti_debug.report.answers import outline
from aoti_debug.report.text import markdown
from aoti_debug.report.time import time_plots
from aoti_debug.triage.captured_call import Captured
from aoti_debug.triage.observe import events_of
from conftest import TARGETS, Built
from examine.conftest import answered
from programs import Job, triage_all
from recordings import begin, end, events

Timed = Callable[..., TimeFindings]
INPUTS = "import torch; torch.manual_seed(0); torch.save((torch.randn(9, 16),), 'inputs.pt')"


@pytest.fixture
def timed(warm_python: str, tmp_path: Path) -> Timed:
    def look(what: Path, **more: Any) -> TimeFindings:
        request = time_request(str(what), python=warm_python, **more)
        answer = answered(stage_kind("time"), request, tmp_path / "home")
        assert answer.time is not None, answer.notes
        assert answer.time.summary in markdown(outline(answer)).replace("\\", "")
        assert isinstance(answer.time, TimeFindings)
        return answer.time

    return look


@pytest.fixture
def inputs(warm_python: str, tmp_path: Path) -> Path:
    subprocess.run([warm_python, "-c", INPUTS], cwd=tmp_path, check=True, capture_output=True)
    return tmp_path / "inputs.pt"


def test_a_call_is_its_launches_and_what_is_between_and_a_load_its_parts(
    built: Built, timed: Timed, inputs: Path
) -> None:
    found = timed(built.directory / "dynamic.pt2", inputs=inputs)
    call = found.call
    assert call is not None and call.launches_count == 2
    product, fused = sorted(call.launches, key=lambda one: one.kernel)
    assert (product.kernel, product.flops) == ("aoti_torch_cpu_addmm_out", 2 * 9 * 16 * 16)
    assert fused.kernel.startswith("cpp_fused_")
    assert fused.bytes == 4 * (2 * 9 * 16 + 9 * 16 + 16)  # in place, read, and the mean written
    assert found.load is not None
    parts = {row.name for row in found.load.rows}
    assert {"import of torch", "test of the CPU's vector instructions"} & parts
    assert 0 < found.load.named <= 1
    bar, table = time_plots(found)
    assert f"<title>{fused.kernel}" in bar.svg and "<td>aoti_torch_cpu_addmm_out</td>" in table.svg


def test_the_differences_of_two_packages_add_up(built: Built, timed: Timed, inputs: Path) -> None:
    package = built.directory / "dynamic.pt2"
    found = timed(package, inputs=inputs, against=str(package))
    assert found.against is not None and found.call is not None
    ours = sum(change.ours_s for change in found.against.changes)
    assert ours == pytest.approx(found.call.seconds)
    assert {change.state for change in found.against.changes} == {"same", "gaps"}
    assert found.against.pairs >= 5


def test_a_script_is_run_and_its_compile_has_names(timed: Timed, tmp_path: Path) -> None:
    found = timed(TARGETS / "compile.py", args=(str(tmp_path / "small.pt2"), "dynamic"))
    (compiled,) = found.compiles
    parts = {row.name: row for row in compiled.rows}
    assert {"C++: the wrapper", "C++: linking", "code generation"} <= parts.keys()
    assert "-O0" in (parts["C++: the wrapper"].detail or "")  # as the tests compile
    assert compiled.named <= 1 and found.call is not None
    (fused,) = (one for one in found.call.launches if one.kernel.startswith("cpp_fused_"))
    assert fused.source is not None
    assert (Path(fused.source.file).name, fused.source.line) == ("models.py", 29)


AGAIN = """
import torch
x = torch.randn(1, 16)
for _ in range(30):
    model = torch._inductor.aoti_load_package({!r})
    model(x)
"""


def test_a_package_that_is_loaded_for_each_call_is_a_reason(
    built: Built, timed: Timed, tmp_path: Path
) -> None:
    script = tmp_path / "again.py"
    script.write_text(AGAIN.format(str(built.directory / "dynamic.pt2")), "utf-8")
    reason = timed(script).reasons[0]
    assert reason.what == "the package is loaded 30 times" and reason.source is not None
    assert (reason.source.line, reason.share > 0.1) == (5, True)
    (file,) = (tmp_path / "home" / "runs").glob("*/steps/*/report.json")
    trials = take(TimingReport, json.loads(file.read_text("utf-8"))).trials
    (rows,) = (one for one in trials if one.name == "rows")
    assert rows.why_not is None and rows.pairs.theirs  # one call of eight rows


SIZES = """
import torch
model = torch.nn.Linear(4, 4)
for size in (2, 3, 4):
    program = torch.export.export(model, (torch.ones(size, 4),))
    torch._inductor.aoti_compile_and_package(program, package_path=f"{__file__}.{size}.pt2")
"""


def test_a_compile_for_each_size_is_a_reason(timed: Timed, tmp_path: Path) -> None:
    script = tmp_path / "sizes.py"
    script.write_text(SIZES, "utf-8")
    (reason,) = timed(script).reasons
    assert reason.what == "a model with the same weights is compiled 3 times"
    assert reason.source is not None and reason.source.line == 6
    assert 0.5 < reason.share < 0.8


SLOW = """
import time
import torch

x = torch.randn(9, 16)
model = torch._inductor.aoti_load_package({!r})
began = time.perf_counter()
model(x)
elapsed = time.perf_counter() - began
assert elapsed < 0.0, "too slow"
"""


def test_a_triage_measures_the_call_where_the_script_complains_of_time(
    built: Built, warm_python: str, tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(SLOW.format(str(built.directory / "dynamic.pt2")), "utf-8")
    jobs: dict[str, Job] = {"slow": (tmp_path / "slow.py", (), {})}
    found = triage_all(jobs, tmp_path / "home", warm_python)["slow"]
    assert (found.best.category, found.best.phase) == ("performance", "run")
    assert found.best.summary.startswith("a call takes ")
    assert "elapsed < 0.0" in (found.best.means or "")
    assert [step.status for step in found.answer.steps if step.name == "times"] == ["done"]


def test_what_is_compared_with_must_be_there(built: Built) -> None:
    with pytest.raises(WrongUse, match="cannot compare with yesterday"):
        time_request(str(built.directory / "dynamic.pt2"), against="yesterday")


def test_inputs_are_made_by_what_the_package_says(built: Built, timed: Timed) -> None:
    found = timed(built.directory / "embedding.pt2")  # ids and weights share a free size
    assert found.call is not None and found.call.launches_count == 1


def test_eager_needs_the_program(built: Built, inputs: Path) -> None:
    with pytest.raises(WrongUse, match="no exported program"):
        time_request(str(built.directory / "dynamic.pt2"), inputs=inputs, against="eager")


def test_a_reason_is_faster_by_a_tenth_in_most_pairs() -> None:
    def found(*changed: float) -> list[str]:
        pairs = {"ours": [1.0] * 6, "theirs": list(changed)}
        report = take(
            TimingReport,
            {
                "threads": 1,
                "cores": 4,
                "call": {"plain": [1.0]},
                "trials": [{"name": "threads", "pairs": pairs}],
            },
        )
        table = call_table(report.call, None, Texts(), ())
        return [reason.what for reason in reasons(report, table)]

    assert found(0.5, 0.5, 0.6, 0.5, 0.4, 0.5) == ["the call uses 1 of 4 processors"]
    assert found(0.95, 0.95, 0.95, 0.95, 0.95, 0.95) == []
    assert found(0.5, 1.2, 0.8, 0.85, 1.2, 1.3) == []  # half of them are not faster
    assert found(0.5, 0.5, 0.5, 0.97, 0.98, 0.98) == []  # not when it was tried again
    assert Pairs((1.0, 2.0), (2.0, 1.0)).ratio == 1.25


def test_kernels_that_only_move_values_are_known_by_their_names() -> None:
    assert is_layout("cpp_fused_clone_transpose_3")
    assert is_layout("triton_poi_fused_convolution_0")
    assert not is_layout("cpp_fused_add_clone_1")
    assert not is_layout("aoti_torch_cpu_addmm_out")
    assert [width_of(name) for name in ("float64", "bfloat16", "bool", "float8_e4m3fn")] == [
        8,
        2,
        1,
        1,
    ]


TRACE = """\
V1 torch/_dynamo/utils.py:1] {"chromium_event": {}, "has_payload": "a"}
\t{"name": "outer", "ph": "B", "ts": 1000000, "tid": 0}
V1 torch/_dynamo/utils.py:1] {"artifact": {}, "has_payload": "b"}
\tnot JSON
V1 torch/_dynamo/utils.py:1] {"chromium_event": {}, "has_payload": "c"}
\t{"name": "raised", "ph": "B", "ts": 1200000, "tid": 0}
V1 torch/_dynamo/utils.py:1] {"chromium_event": {}, "has_payload": "d"}
\t{"name": "inner", "ph": "B", "ts": 1500000, "tid": 0}
V1 torch/_dynamo/utils.py:1] {"chromium_event": {}, "has_payload": "e"}
\t{"name": "inner", "ph": "E", "ts": 2000000, "tid": 0}
V1 torch/_dynamo/utils.py:1] {"chromium_event": {}, "has_payload": "f"}
\t{"name": "outer", "ph": "E", "ts": 4000000, "tid": 0}
V1 torch/_dynamo/utils.py:1] {"chromium_event": {}, "has_payload": "g"}
\t{"name": "never began", "ph": "E", "ts": 4000000, "tid": 0}
"""


def test_parts_of_a_compile_are_nested_and_one_that_raised_is_left_out() -> None:
    (outer,) = read_parts(io.BytesIO(TRACE.encode()))
    assert (outer.name, outer.seconds, outer.began) == ("outer", 3.0, 1.0)
    assert [part.name for part in outer.walk()] == ["outer"]


# What a machine can do: all kernels of a call move less than a copy would.
SLOW_HALVES = {"copy": 1e18, "float32": 4.0, "float16": 1.0}
WASTE = """
import sys
import torch
from torch import nn


class Bias(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(256))

    def forward(self):
        return torch.outer(self.scale, torch.arange(256.0)).sin().cumsum(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(512, 64))
        self.bias = Bias()

    def forward(self, ids, wide, mask):
        hot = nn.functional.one_hot(ids, 512).float()
        looked_up = hot @ self.table
        bias = self.bias()
        half = wide.half()
        squared = half @ half.t()
        cells = (wide * 900).long() // 7 % 11 // 3
        return looked_up, wide @ bias, cells, mask.sum(1), wide[wide > 0.5], squared


ids, wide = torch.randint(0, 512, (128,)), torch.rand(256, 128).t()
mask = torch.arange(100).repeat(4, 1).lt(40).long()
with torch.no_grad():
    program = torch.export.export(
        Model().eval(),
        (ids, wide, mask),
        dynamic_shapes=(None, None, {1: torch.export.Dim("length", max=500)}),
    )
settings = {"cpp.simdlen": 1, "cpp.descriptive_names": "torch"}
package = torch._inductor.aoti_compile_and_package(
    program, package_path=sys.argv[1], inductor_configs=settings
)
model = torch._inductor.aoti_load_package(package)
for _ in range(12):
    model(ids, wide, mask)
    sum(range(8_000_000))
"""


def test_lines_settings_and_launches_that_waste_time_are_named(
    timed: Timed, tmp_path: Path
) -> None:
    script = tmp_path / "waste.py"
    script.write_text(WASTE, "utf-8")
    found = timed(script, args=(str(tmp_path / "waste.pt2"),))
    around = found.reasons[0]
    assert around.source is not None
    assert line_of(around).strip() == "sum(range(8_000_000))"
    (run,) = (tmp_path / "home" / "runs").iterdir()
    plain, paired = (
        take(TimingReport, json.loads(path.read_text("utf-8")))
        for path in sorted(run.glob("steps/*/report.json"))
    )
    assert paired.against is not None and paired.against.ours  # compiled without the setting
    assert plain.padded == pytest.approx(0.6)
    (padding,) = (one for one in plain.trials if one.name == "padding")
    assert padding.why_not is None and padding.pairs.theirs  # called without it
    (compiled,) = events_of(run).compiles
    call = Captured(package=run / "capture" / "package-1.pt2")
    measured = measured_by(plain, call)
    table = call_table(plain.call, measured.model, measured.texts, plain.inputs)
    reasons = [one for one in waste(table, compiled.details.input_free, SLOW_HALVES) if one]
    unchanged, looked_up, masked, divided, strided, halves = reasons
    assert "half @ half" in line_of(halves)
    assert halves.gain == pytest.approx(0.75 * halves.share)
    assert "torch.outer" in line_of(unchanged)
    assert "hot @ self.table" in line_of(looked_up)
    assert "wide[wide > 0.5]" in line_of(masked)
    assert "divides integers" in divided.what
    assert "layout of wide" in strided.what


def test_a_loop_that_makes_the_graph_long_is_named_beside_the_compile() -> None:
    details = {"flags": {}, "unrolled": ["/t/taps.py", 33, 1248, 1260]}
    (seen,) = events(begin(1, "lower", **details), end(1)).compiles
    parts = [("code generation", 5.0, None), ("C++: the wrapper", 5.0, None)]
    (said,) = unrolled_loop(table_of(10.0, parts).rows, seen)
    assert "taps.py:33" in said and "1248 of 1260" in said and "50%" in said
    assert not [*unrolled_loop(table_of(10.0, parts[1:]).rows, seen)]


def test_names_of_kernels_show_what_a_call_need_not_do() -> None:
    names = (
        *("cpp_fused_native_dropout_relu_1", "triton_poi_fused__weight_norm_interface_0", "mm"),
        "aoti_torch_cpu_sort_stable",
    )
    rows = tuple(Row(n, name, 0.1 * n, 0.0) for n, name in enumerate(names, 1))
    dropped, sorts, normed = filter(None, waste(CallTable(rows, 0.0, 1.0, None), (), {}))
    assert dropped.what == "1 of 4 launches draw random numbers: a dropout is on"
    assert sorts.what == "1 of 4 launches sort whole rows" and "torch.topk" in sorts.change
    assert dropped.share == pytest.approx(0.1)
    assert "remove_parametrizations" in normed.change


def test_short_launches_of_one_line_that_a_loop_repeats_are_a_reason() -> None:
    line = SourceLine(file="/t/model.py", line=9)

    def found(count: int) -> list[str]:
        rows = tuple(Row(n, "addmm", 1e-5, 1e-6, source=(line,)) for n in range(1, count + 1))
        return [one.what for one in waste(CallTable(rows, 0.0, 2e-3, None), (), {}) if one]

    assert found(96) == ["96 of 96 launches come from a loop, which the export unrolls"]
    assert found(24) == []


def line_of(reason: SlowReason) -> str:
    """Return the text of the line of the script that a reason names."""
    assert reason.source is not None
    return WASTE.splitlines()[reason.source.line - 1]
