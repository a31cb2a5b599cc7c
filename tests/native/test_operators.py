"""Custom operators of the target are defined again where its call is repeated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("words", "rows", "said"),
    [
        (("call.py",), 4, "this row cannot be served"),
        (("own_op.py",), 3, "three rows are too few"),
        (("--import", "act", "generated_op.py"), 4, "this row cannot be served"),
    ],
    ids=["of a module beside the script", "of the script itself", "of a module that is named"],
)
def test_the_replay_knows_the_operator(
    triage: Any, targets: Path, acting: Path, words: tuple[str, ...], rows: int, said: str
) -> None:
    *options, script = words
    answer = triage("--cwd", targets, *options, script, "--", acting, rows, ACT="raise")

    assert said in answer.steps["contract"]["finding"]


def test_the_replay_loads_the_library_of_an_operator(
    triage: Any, targets: Path, acting: Path, library: Path
) -> None:
    answer = triage("--cwd", targets, "library_op.py", "--", acting, 3, library)

    assert "three rows are too few" in answer.steps["contract"]["finding"]
