"""One builder says what a program of the probe is given."""

from __future__ import annotations

from pathlib import Path

import pytest
from aoti_debug.run.target import Target
from aoti_debug.triage.captured_call import Captured
from aoti_debug.triage.probe_arguments import call_arguments, context_arguments, own_arguments

SCRIPT = Path("/srv/serve.py")


@pytest.mark.parametrize(
    ("command", "own"),
    [
        ("python -X dev /srv/serve.py a --b c", ["a", "--b", "c"]),
        ("python serve.py", []),
        ("torchrun --nproc-per-node 2 serve.py a", ["a"]),
        ("/srv/serve.py a", ["a"]),
        ("python -X dev -m serve a", ["a"]),
        ("make run", []),
    ],
)
def test_a_scripts_own_arguments_are_told_from_the_interpreters(
    command: str, own: list[str]
) -> None:
    assert own_arguments(command.split(), SCRIPT) == own


def test_weights_that_were_loaded_belong_to_every_program_of_the_probe() -> None:
    weights = (Path("/run/1.pt"), Path("/run/2.pt"))
    call = Captured(package=Path("/m.pt2"), exported=Path("/e.pt2"), constants=weights)
    target = Target(("python", str(SCRIPT)), Path("/srv"), {}, "serve.py", None)
    for words in (call_arguments(call, target), context_arguments(call, target)):
        given = [words[n + 1] for n, word in enumerate(words) if word == "--constants"]
        assert given == [str(path) for path in weights]
