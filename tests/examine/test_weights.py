"""Updates of weights that are right, and that go wrong in each of the ways that there are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from aoti_debug.errors import UnreadableInput, WrongUse
from aoti_debug.examine.answers import WeightsAnswer
from aoti_debug.examine.weights import weights_request
from aoti_debug.kinds import WEIGHTS, stage_kind
from aoti_debug.probe.update_steps import NAMED, sequence
from aoti_debug.report.answers import outline
from aoti_debug.report.text import markdown
from aoti_debug.run.target import resolve_target
from aoti_debug.server import create_server
from aoti_debug.service import Request
from examine.conftest import answered
from mcp import Client
from programs import QUICK

Prove = Callable[..., WeightsAnswer]
ALL = ("again.weight", "first.bias", "last.bias", "last.weight", "low", "scale", "shift")


@pytest.fixture
def prove(served: Path, warm_python: str, tmp_path: Path) -> Prove:
    def proved(
        package: str, new: str, steps: str | None = None, *, known: bool = True, **more: Any
    ) -> WeightsAnswer:
        exported = served / "program.ep.pt2" if known else None
        request = weights_request(
            str(served / f"{package}.pt2"),
            served / f"{new}.pt",
            steps=steps,
            exported=exported,
            python=warm_python,
            **more,
        )

        return answered(WEIGHTS, request, tmp_path / "home")

    return proved


RIGHT = [
    ("folding", "new", "full"),
    ("folding", "new", "inactive"),
    ("folding", "new", "load-full-inactive, swap, call"),
    ("folding", "new", "load-full-user_managed, call"),
    ("folding", "new", "load-full, load-full@old, call, load-full, call"),
    ("folding", "new", "load-inactive-full, swap, free, call"),
    ("plain", "same", "full"),
    ("plain", "fits", "partial"),
]


@pytest.mark.parametrize(("package", "new", "steps"), RIGHT)
def test_a_right_update_is_cleared(prove: Prove, package: str, new: str, steps: str) -> None:
    found = prove(package, new, steps)
    assert (found.update, found.found_fault, found.findings) == ("right", False, [])
    assert found.sequence[-1].outputs == "right"


WRONG = [
    ("plain", "new", "full", ("last.bias", "scale"), 1, "written into the code"),
    ("frozen", "new", "partial", ("low", "again.weight", "last.weight"), 1, "was folded into"),
    ("folding", "new", "load:low+first.bias, call", ("shift", "scale"), 1, "no step gave it"),
    ("folding", "new", "load:low+first.bias, call", ("again.weight",), 1, "tied to first.weight"),
    ("folding", "new", "load-full-inactive, call", ALL, 1, "no swap followed"),
    ("folding", "new", "load-full-inactive, swap, swap, call", ALL, 3, "of an earlier update"),
    ("folding", "new", "load-inactive:low, swap, call", ("first.bias",), 2, "a null pointer"),
    (
        *("folding", "new", "load-full-inactive, swap, load-inactive:low, swap, call"),
        *(("last.weight", "first.bias"), 4, "of an earlier update"),
    ),
    (
        *("folding", "new", "load-full-user_managed@old, call, overwrite@new, call"),
        *(("low", "last.weight", "again.weight"), 3, "not computed again"),
    ),
    ("folding", "new", "load-full-user_managed, call, overwrite, call", ALL, 3, "owner wrote"),
    ("folding", "half", "full", ("last.weight",), 1, "float16 for float32"),
    ("folding", "double", "full", ("last.weight",), 1, "float64 for float32"),
    ("folding", "view", "full", ("first.bias",), 1, "256 bytes for 128"),
    ("folding", "columns", "full", ("last.weight",), 1, "strides [1, 4] for [32, 1]"),
    ("folding", "rows", "full", ("last.weight",), 1, "[2, 32] for [4, 32]"),
    ("folding", "untied", "full", ("again.weight",), 1, "tied to first.weight"),
    ("folding", "untied", "full", ("low",), 1, "a full update without again.weight"),
]


@pytest.mark.parametrize(("package", "new", "steps", "constants", "step", "reason"), WRONG)
def test_a_wrong_update_names_constant_step_and_reason(
    prove: Prove,
    package: str,
    new: str,
    steps: str,
    constants: tuple[str, ...],
    step: int,
    reason: str,
) -> None:
    found = prove(package, new, steps)
    assert (found.update, found.found_fault) == ("wrong", True)
    rows = {one.constant: one for one in found.findings}
    for name in constants:
        assert reason in rows[name].reason, (name, rows[name])
        assert rows[name].since.startswith(f"{step}: ")
        assert rows[name].confidence == "proved"


def test_a_sequence_that_is_right_is_tried_and_shown(prove: Prove) -> None:
    found = prove("folding", "half", "full")
    assert found.safe is not None
    assert "model.load_constants(weights, check_full_update=True)" in found.safe
    assert "this sequence" in markdown(outline(found))
    swapped = prove("folding", "new", "load-inactive:low, swap, call")
    assert swapped.safe is not None
    assert "runner.swap_constant_buffer()" in swapped.safe
    assert prove("plain", "new", "full").safe is None  # no sequence changes what is in the code


def test_without_a_program_only_what_was_read_back_is_said(prove: Prove) -> None:
    found = prove("folding", "new", "full", known=False)
    assert (found.update, found.findings) == ("undecided", [])
    assert "not compared" in (found.summary or "")
    inlined = prove("plain", "new", "full", known=False)
    assert inlined.update == "undecided"
    assert {one.confidence for one in inlined.findings} == {"likely"}


def test_without_a_program_outputs_show_what_an_owner_s_write_leaves_folded(
    prove: Prove, served: Path
) -> None:
    inputs = served / "inputs.pt"
    steps = "load-full-user_managed@old, call, overwrite@new, call"
    found = prove("folding", "new", steps, known=False, inputs=inputs)
    [one] = found.findings
    assert (found.update, one.since[:2]) == ("wrong", "3:")
    assert "constants folded from them are the old ones" in (found.summary or "")
    assert "load_constants(weights, check_full_update=True)" in (found.safe or "")
    right = prove("folding", "new", "load-full-user_managed, call", known=False, inputs=inputs)
    assert right.update == "right"


def test_a_swap_is_safe_while_other_threads_call(prove: Prove) -> None:
    found = prove("folding", "new", "inactive", threads=2)
    assert found.update == "right"
    assert "each output is that of the old or of the new weights" in (found.under_calls or "")


def test_an_update_of_the_buffer_that_calls_use_is_not(prove: Prove) -> None:
    found = prove("folding", "new", "full", threads=3)
    assert found.update == "wrong"
    assert found.sequence[-1].outputs == "right"  # where nobody calls meanwhile


@pytest.mark.parametrize(
    "text", ["loaf", "", "swap:low", "load@later", "load-folded", "swap," * 65]
)
def test_what_is_no_sequence_is_refused(prove: Prove, text: str) -> None:
    with pytest.raises(WrongUse, match="step"):
        prove("plain", "new", text or " ")


def test_what_a_step_raises_is_said(prove: Prove) -> None:
    found = prove("folding", "new", "load:first.weight, call")
    assert found.sequence[0].said == "Constant not found: first.weight"
    assert found.update == "wrong"


def test_missing_files_are_refused(prove: Prove) -> None:
    with pytest.raises(WrongUse, match="weights: there is no file"):
        prove("plain", "none")
    with pytest.raises(UnreadableInput, match="there is no file"):
        prove("none", "new")


def test_steps_are_read_as_they_are_written() -> None:
    for text in (*NAMED.values(), "load-inactive@old:a+b, overwrite@new, release, free"):
        steps = sequence(text)
        assert sequence(", ".join(map(str, steps))) == steps


def test_a_tool_proves_an_update(served: Path, warm_python: str) -> None:
    async def main() -> Any:
        async with Client(create_server()) as client:
            words = {
                "package": str(served / "plain.pt2"),
                "weights": str(served / "new.pt"),
                "exported": str(served / "program.ep.pt2"),
                "python": warm_python,
            }
            return (await client.call_tool("inspect_package", words)).structured_content

    found = anyio.run(main)
    said = [one["what"] for one in found["problems"] if one.get("category") == "constants_mismatch"]
    assert any(one.startswith("scale: a constant of at most 8 elements") for one in said)
    assert found["notes"][0].startswith("update: last.bias, scale: ")


SCRIPT = """
import torch
new = torch.load({new!r})
model = torch._inductor.aoti_load_package({package!r})
known, x = set(model.get_constant_fqns()), torch.randn(3, 16)
model(x)
some = {{n: v for n, v in new.items() if n in known and "bias" not in n}}
some["last.weight"] = some["last.weight"].half().float()
model.load_constants(some, check_full_update=False)
model(x)
"""


def test_the_steps_of_a_watched_script_are_played(
    served: Path, warm_python: str, tmp_path: Path
) -> None:
    script, home = tmp_path / "serve.py", tmp_path / "home"
    files = {"new": str(served / "new.pt"), "package": str(served / "folding.pt2")}
    script.write_text(SCRIPT.format(**files), "utf-8")
    target = resolve_target(script=str(script), python=warm_python, env=QUICK, cwd=tmp_path)

    run = answered(stage_kind("baseline"), Request(target, python=warm_python), home).run
    given: dict[str, Any] = {"exported": served / "program.ep.pt2", "home": home}
    request = weights_request(run, files["new"], python=warm_python, **given)
    found = answered(WEIGHTS, request, home)
    assert [one.step for one in found.sequence] == ["load", "call"]
    rows = {one.constant: one.reason for one in found.findings}
    assert rows["last.weight"] == "it was rounded to float16 on the way"
    assert rows["first.bias"] == rows["last.bias"] == "no step gave it"
