"""One builder says what a program of the probe is given."""

from __future__ import annotations

from pathlib import Path

import pytest
from aoti_debug.probe.standalone import device_moves
from aoti_debug.read.event_records import Call
from aoti_debug.read.record import Span
from aoti_debug.read.typed import take
from aoti_debug.run.target import Target
from aoti_debug.triage.captured_call import Captured, device_used
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


@pytest.mark.parametrize(
    ("inputs", "loaded", "used"),
    [
        (["cuda:1", "cuda:1"], None, 1),
        (["cuda:1"], 1, 1),
        (["cuda:0"], None, None),
        (["cuda:0"], -1, None),
        (["cpu", "cuda:3"], None, 3),
        (["cpu"], None, None),
        ([], 2, 2),
    ],
)
def test_a_call_is_repeated_on_the_gpu_that_it_used(
    inputs: list[str], loaded: int | None, used: int | None
) -> None:
    leaves = [{"index": n, "kind": "tensor", "device": one} for n, one in enumerate(inputs)]
    call = take(Call, {"inputs": leaves}, span=Span("events.jsonl", 1, 1, ""))
    assert device_used(call, loaded) == used
    target = Target(("python", str(SCRIPT)), Path("/srv"), {}, "serve.py", None)
    words = call_arguments(Captured(package=Path("/m.pt2"), device_index=used), target)
    assert ("--device-index" in words) == (used is not None)


@pytest.mark.parametrize(
    ("devices", "index", "moves"),
    [
        ({"cuda:0", "cpu"}, 1, {"cuda:0": "cuda:1", "cuda": "cuda:1"}),
        ({"cuda:1"}, 1, {}),
        ({"cuda:0", "cuda:1"}, 1, {}),
        ({"cpu"}, 1, {}),
        ({"cuda:0"}, None, {}),
    ],
)
def test_a_program_follows_its_call_to_another_gpu(
    devices: set[str], index: int | None, moves: dict[str, str]
) -> None:
    assert device_moves(devices, index) == moves
