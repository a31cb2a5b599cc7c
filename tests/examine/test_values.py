"""What the kernels of finished packages read and wrote, healthy ones and with a planted fault."""

from __future__ import annotations

import struct
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aoti_debug.errors import UnreadableInput
from aoti_debug.examine.answers import KernelValues, TensorValues, ValuesAnswer
from aoti_debug.examine.process import NotExamined
from aoti_debug.examine.values import values_request
from aoti_debug.kinds import VALUES
from aoti_debug.report.answers import outline
from aoti_debug.report.text import markdown
from conftest import Built
from examine.conftest import answered

Look = Callable[..., ValuesAnswer]
SAVE = "import torch; torch.manual_seed(0); torch.save((({}), {{}}), 'inputs.pt')"
# The root of a mean of squares: `+ 1e-6` of tests/targets/rich.py.
EPSILON, CHANGED = struct.pack("<f", 1e-6), struct.pack("<f", 3.0)


@pytest.fixture
def look(warm_python: str, tmp_path: Path) -> Look:
    def looked(package: Path, **more: Any) -> ValuesAnswer:
        request = values_request(str(package), python=warm_python, **more)
        return answered(VALUES, request, tmp_path / "home")

    return looked


@pytest.fixture
def saved(warm_python: str, tmp_path: Path) -> Callable[[str], Path]:
    """Save the arguments of a call, written in Python."""

    def save(arguments: str) -> Path:
        done = [warm_python, "-c", SAVE.format(arguments)]
        subprocess.run(done, cwd=tmp_path, check=True, capture_output=True)
        return tmp_path / "inputs.pt"

    return save


@pytest.fixture
def planted(rich: Path, tmp_path: Path) -> Path:
    """Return the package of rich.py with another constant in the machine code of one kernel."""
    found = 0
    with (
        zipfile.ZipFile(rich / "model.pt2") as good,
        zipfile.ZipFile(tmp_path / "bad.pt2", "w") as bad,
    ):
        for member in good.infolist():
            data = good.read(member)
            if member.filename.endswith(".so"):
                found += data.count(EPSILON)
                data = data.replace(EPSILON, CHANGED)
            bad.writestr(member, data)
    assert found
    return tmp_path / "bad.pt2"


def wrote(launch: KernelValues, *, written: bool = True) -> list[TensorValues]:
    return [one for one in launch.arguments if one.written == written]


def test_a_healthy_package_agrees_launch_by_launch(look: Look, rich: Path) -> None:
    found = look(rich / "model.pt2", inputs=rich / "inputs.pt", exported=rich / "model.ep.pt2")
    assert (found.compared, found.first, found.nan, found.found_fault) == (
        "agrees",
        None,
        None,
        False,
    )
    assert found.launches_count == len(found.launches) == 6
    kinds = [launch.kind for launch in found.launches]
    assert kinds == ["generated", "extern", "generated", "extern", "extern", "generated"]
    for launch in found.launches:
        assert any(one.like for one in wrote(launch)), launch
        assert "rich.py:4" in str(launch.line)
    masked = wrote(found.launches[-1], written=False) + wrote(found.launches[-1])
    assert max(one.inf for one in masked) == 18  # of 3 masks of 4x4
    # What a kernel wrote is what the next one reads.
    first, second = found.launches[:2]
    assert {one.digest for one in wrote(first)} & {o.digest for o in wrote(second, written=False)}
    text = markdown(outline(found))
    assert "6 launches seen; the results agree" in text and text.count("\n") < 30


def test_the_kernel_with_a_changed_constant_is_the_first_that_is_wrong(
    look: Look, rich: Path, planted: Path
) -> None:
    inputs = {"inputs": rich / "inputs.pt"}
    found = look(planted, exported=rich / "model.ep.pt2", **inputs)
    first = found.first
    assert first is not None and found.found_fault and found.compared == "differs"
    assert (first.number, first.kernel, first.then) == (1, found.launches[0].kernel, [])
    assert first.node == "add_1" and first.source[0].line == 40
    assert "self.norm(x) + self.position" in str(first.source[0].text)
    assert isinstance(first.got, float) and isinstance(first.expected, float)
    assert "is the first that is wrong: out_ptr" in str(found.summary)
    assert found.launches[0].mark == "first wrong"
    # The same without any program, against the good package: it had what was expected there.
    other = look(planted, against=rich / "model.pt2", kernel="1", **inputs).first
    assert other is not None and (other.number, other.at, other.got) == (1, first.at, first.got)
    assert other.expected == pytest.approx(first.expected, rel=1e-5)


def test_nan_is_traced_to_the_kernel_that_makes_it(
    look: Look, built: Built, saved: Callable[[str], Path]
) -> None:
    found = look(built.directory / "nan.pt2", inputs=saved("torch.randn(8, 16),"))
    assert found.nan is not None and found.first is None and found.found_fault
    launch = found.launches[found.nan - 1]
    assert "log" in launch.kernel and launch.mark == "first NaN"
    assert not any(one.nan for one in wrote(launch, written=False))
    assert any(one.nan for one in wrote(launch))


def test_a_buffer_is_read_before_it_is_overwritten(
    look: Look, built: Built, saved: Callable[[str], Path]
) -> None:
    inputs = saved("torch.full((4,), 2.0), torch.full((4,), 5.0)")
    found = look(built.directory / "mutate.pt2", inputs=inputs)
    (launch,) = found.launches
    read = {one.name: one.max for one in wrote(launch, written=False)}
    written = {one.max for one in wrote(launch)}
    assert set(read.values()) == {2.0, 5.0} and written == {3.0, 15.0}


def test_a_launch_is_repeated_alone_with_the_sizes_of_the_call(
    look: Look, built: Built, saved: Callable[[str], Path], warm_python: str
) -> None:
    found = look(built.directory / "dynamic.pt2", inputs=saved("torch.randn(37, 16),"), kernel="2")
    (launch,) = found.launches
    assert 37.0 in launch.sizes.values()
    assert [37, 16] in [one.shape for one in wrote(launch)]
    (script,) = found.kernel_scripts  # the kernel alone, compiled from its source
    ran = subprocess.run([warm_python, script], check=True, capture_output=True, text=True)
    said = ["step: run", "argument 0: as the package wrote it"]
    assert ran.stdout.splitlines()[:2] == said and "not as" not in ran.stdout


def test_what_cannot_be_done_says_what_to_give(
    look: Look, built: Built, saved: Callable[[str], Path], tmp_path: Path
) -> None:
    package = built.directory / "static.pt2"
    with pytest.raises(UnreadableInput, match="give --inputs FILE"):
        look(package)
    with pytest.raises(UnreadableInput, match="there is no file"):
        look(package, inputs=tmp_path / "none.pt")
    with pytest.raises(NotExamined, match="at the step run"):
        look(package, inputs=saved("torch.randn(3, 3), torch.randn(3)"))
    stripped = tmp_path / "stripped.pt2"
    with zipfile.ZipFile(package) as good, zipfile.ZipFile(stripped, "w") as bad:
        for member in good.infolist():
            if not member.filename.endswith(".cpp"):
                bad.writestr(member, good.read(member))
    with pytest.raises(NotExamined, match="carries no source"):
        look(stripped, inputs=saved("torch.randn(4, 8),"))
