"""The page of a run, commands as reports print them, and what foreign text may not do in them."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from aoti_debug.answers import TriageAnswer
from aoti_debug.model import Diagnosis, Fault, Kernel, Next, Step, ValueRow
from aoti_debug.plain import clean as sanitize
from aoti_debug.plain import one_line
from aoti_debug.report.answers import outline
from aoti_debug.report.html import diagnosis_plots, html, memory_strip, squeezed
from aoti_debug.report.recorded import recorded
from aoti_debug.report.text import command_line
from package_archives import RECORDED, unpack

SIDES = ("after", "before")
EVIL = "</pre><script>alert(1)</script>\u202e"


def event(kind: str, t: float, **fields: object) -> str:
    return json.dumps({"t": 100 + t, "pid": 7, "event": kind, **fields})


def given(rows: int, columns: int = 10) -> list[dict[str, object]]:
    stride = {"index": 0, "kind": "tensor", "name": EVIL, "dtype": "float32", "device": "cpu"}
    first = {**stride, "shape": [rows, columns], "stride": [columns, 1]}
    second = {"index": 1, "kind": "tensor", "name": "ids", "dtype": "int64", "device": "cpu"}
    return [first, {**second, "shape": [rows], "stride": [1]}]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the directory of a run with 40 calls, every tenth of them with a column too many."""
    directory = tmp_path_factory.mktemp("run")
    unpack(RECORDED / "cpu.tar.xz", directory / "unpacked")
    (directory / "capture").mkdir()
    package = directory / "capture" / "package-1.pt2"
    (directory / "unpacked" / "torch-2.13" / "dyn.pt2").rename(package)
    seen = {"path": "/a/model.pt2", "bytes": 1, "captured": "capture/package-1.pt2"}
    lines = [event("begin", 0, id=1, phase="load", name="load", package=seen)]
    lines.append(event("end", 2, id=1, ok=True, seconds=2.0))
    for number in range(1, 41):
        inputs = given(8, 11 if number % 10 == 3 else 10)
        call = {"id": number + 1, "phase": "run", "name": "call", "call": number}
        lines.append(event("begin", 2 + number, **call, package="/a/model.pt2", inputs=inputs))
        lines.append(event("end", 2 + number, id=number + 1, ok=True, seconds=0.004))
    (directory / "events.jsonl").write_text("\n".join(lines) + "\n")
    return directory


def test_the_first_call_that_is_not_as_compiled_for_is_shown_against_the_contract(
    run: Path,
) -> None:
    found = recorded(run)
    assert found.contract_of == "call 3"
    first, second = found.contract
    assert "size of dimension 1: 10 expected" in first.broken
    assert "float32[8, 11]" in first.got
    assert second.broken == ()


def test_bad_calls_are_marked_among_all(run: Path) -> None:
    found = recorded(run)
    assert [point.number for point in found.calls if point.bad] == [3, 13, 23, 33]
    assert len(found.calls) == 40


def test_the_timeline_holds_phases_then_steps_in_order(run: Path) -> None:
    steps = [
        Step(name="first run", status="done", why="", wall_s=5.0),
        Step(name="contract", status="done", why="", wall_s=2.0),
        Step(name="guards", status="skipped", why=""),
    ]
    bars = recorded(run, None, steps).timeline
    assert [bar.name for bar in bars] == ["load", "the script, watched", "step: contract"]
    assert bars[-1].begin >= bars[1].begin + bars[1].seconds


def test_the_line_of_the_kernel_is_read_from_the_package_alone(run: Path) -> None:
    secret = run / "secret.cpp"
    secret.write_text("a password\n")
    foreign = Diagnosis(
        phase="run",
        category="no_fault",
        confidence="likely",
        summary="",
        kernel=Kernel(name="k", file=str(secret), line=1),
    )
    assert recorded(run, foreign).source is None
    inside = next(
        name for name in _members(run / "capture" / "package-1.pt2") if name.endswith("wrapper.cpp")
    )
    known = foreign.model_copy(update={"kernel": Kernel(name="k", file=inside, line=3)})
    source = recorded(run, known).source
    assert source is not None
    assert [number for number, _, marked in source.lines if marked] == [3]


def test_the_page_holds_what_was_recorded_and_nothing_of_it_acts(run: Path) -> None:
    answer = TriageAnswer(run="r-20261121-0102-ab12", status="done")
    page = html(outline(answer), recorded(run))
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert page.count("<script") == 1
    assert "4 of them bad" in page
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page

    class Loads(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            for name, value in attrs:
                assert name != "src"
                assert name != "href" or (value or "").startswith(run.as_uri())

    Loads().feed(page)


def test_values_slice_and_memory_of_a_diagnosis_are_pictures() -> None:
    rows = [
        ValueRow(number=n, node=f"n{n}", op="aten.log", min=-1.0, max=10.0**n, mean=0.5)
        for n in range(1, 6)
    ]
    rows.append(ValueRow(number=6, node="n6", op="aten.div", nan=3, mark=f"NaN from here {EVIL}"))
    fault = Fault(access=f"read {EVIL}", size=4, address="0x7f00", distance=512, allocation=4096)
    diagnosis = Diagnosis(
        phase="run",
        category="nan_or_inf",
        confidence="proved",
        summary="",
        values=rows,
        fault=fault,
        slice=["118: auto tmp5 = x1;", "120: AOTI_TORCH_CHECK(tmp6 < 16L);"],
    )
    answer = TriageAnswer(run="r-20261121-0102-ab12", status="done", diagnosis=diagnosis)
    page = html(outline(answer), plots=diagnosis_plots(diagnosis))
    assert "Values along the model" in page and "NaN or Inf" in page
    assert page.count("<svg") == page.count(" viewBox=")  # what has none is cut on paper
    assert "allocation, 4,096 bytes" in page and "512 bytes<" in page
    assert '<span class="at"><i>120</i> AOTI_TORCH_CHECK(tmp6 &lt; 16L);</span>' in page
    assert page.count("<script") == 1 and "\u202e" not in page
    assert diagnosis_plots(diagnosis.model_copy(update={"values": [], "fault": None})) == ()
    after, before = (memory_strip(fault.model_copy(update={"side": side})) for side in SIDES)
    assert after is not None and before is not None
    assert after.svg.index("allocation") < after.svg.index("512")
    assert before.svg.index("allocation") > before.svg.index("512")
    far = diagnosis.model_copy(update={"fault": fault.model_copy(update={"distance": 42985448449})})
    assert len(diagnosis_plots(far)) == 1
    assert [squeezed(v) for v in (0.5, -1.0, 100.0, -1000.0)] == [0.5, -1.0, 3.0, -4.0]


def test_a_run_that_is_gone_leaves_the_page_without_pictures(tmp_path: Path) -> None:
    empty = recorded(tmp_path / "none")
    assert (empty.timeline, empty.calls, empty.files) == ((), (), ())


def _members(package: Path) -> list[str]:
    import zipfile

    with zipfile.ZipFile(package) as archive:
        return archive.namelist()


@pytest.mark.parametrize(
    ("tool", "arguments", "line"),
    [
        ("check_environment", {}, "aoti-debug environment"),
        ("triage", {}, "aoti-debug triage SCRIPT"),
        ("triage", {"script": "/a b.py", "wait_s": 5}, "aoti-debug triage '/a b.py'"),
        (
            "run_stage",
            {"script": "/x.py", "stage": "nan", "args": ["-n", "1"]},
            "aoti-debug run /x.py --stage nan -- -n 1",
        ),
        (
            "run_stage",
            {"command": ["./a.out", "m.pt2"], "env": {"A": "$B"}, "timeout_s": 9},
            "aoti-debug run --env 'A=$B' --timeout 9 --command ./a.out m.pt2",
        ),
        ("triage", {"module": "pytest"}, "aoti-debug triage --module pytest"),
        (
            "read_artifact",
            {"run": "r-1", "name": "stderr.log", "offset": 20},
            "aoti-debug artifact r-1 stderr.log --offset 20",
        ),
        ("verify_fix", {"script": "/x.py", "run": "r-1"}, "aoti-debug verify /x.py --against r-1"),
        ("explain_kernel", {"run": "r-1", "kernel": "k"}, "aoti-debug explain r-1 k"),
        ("some_new_tool", {"x": 1}, "some_new_tool"),
    ],
)
def test_next_step_reads_as_a_command(tool: str, arguments: dict[str, Any], line: str) -> None:
    assert command_line(Next(tool=tool, arguments=arguments, why="")) == line


@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x00b\x08c\x7fd\x9be", "abcde"),
        ("\u202eevil\u2066\u200b\ufeff", "evil"),
        ("tag\U000e0041\U000e0042", "tag"),
        ("lone \ud800, byte \udcff", "lone \\ud800, byte \\xff"),
        ("a\ufe0fb\U000e0101\u3164", "ab"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("tab\tstays", "tab\tstays"),
        ("\x1b[", ""),
        ("grün 日本 🙂", "grün 日本 🙂"),
    ],
)
def test_only_what_shows_is_left(dirty: str, clean: str) -> None:
    assert sanitize(dirty) == clean


def test_one_line_has_no_line_ends() -> None:
    assert one_line(" a\n\n  b\u2028c\t") == "a b c"


def test_long_runs_of_escapes_take_linear_time() -> None:
    assert sanitize("\x1b[" * 200_000 + "1" * 200_000).count("1") >= 199_900
