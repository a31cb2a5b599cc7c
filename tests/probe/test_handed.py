"""What a call is given in the experiment in which each thread reads what it wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from probe.conftest import printed

# Two threads fill one input and call; then one clears it, which another fills.
SHARED = """
import threading
import torch
from aoti_debug.probe import handed

handed.begin()
call = handed.calling(lambda model, leaf: leaf.clone())
buffer, rows, found = torch.zeros(4, 2), torch.arange(8.0).view(4, 2), []


def in_turn(*steps):
    turn = threading.Condition()
    at = [0]

    def run(own):
        for number, step in own:
            with turn:
                turn.wait_for(lambda: at[0] == number)
                step()
                at[0] += 1
                turn.notify_all()

    lanes = [[pair for pair in enumerate(steps) if pair[0] % 2 == lane] for lane in (0, 1)]
    threads = [threading.Thread(target=run, args=[own]) for own in lanes]
    [one.start() for one in threads]
    [one.join() for one in threads]


def fill(value):
    buffer[:2].copy_(rows[:2] + value)


def clear():
    buffer.zero_()


def serve():
    found.append(call(None, buffer)[1].tolist())


in_turn(lambda: fill(10), lambda: fill(20), serve, serve)
in_turn(clear, lambda: fill(30), serve)
print(found, sum(handed._found.values()))
"""


def test_a_call_is_given_what_its_thread_wrote_to_a_shared_input(tmp_path: Path) -> None:
    said = printed(tmp_path, SHARED, AOTI_DEBUG_HANDED="1")
    assert said == "[[12.0, 13.0], [22.0, 23.0], [32.0, 33.0]] 1\n"


LOST = """
import os, torch
from aoti_debug.probe import handed, lost_writes

handed.begin()
call = handed.calling(lambda model, leaf: leaf.clone())
call(None, torch.zeros(2))
x, rows = torch.ones(4, 2), [0, 2]
x[rows].zero_()  # lost
x[1].mul_(3)
used = x[rows].add_(1)
kept = [x[rows].add_(1)]
given = x[rows].add_(1)
call(None, given)
print(x.tolist(), (used + kept[0]).sum().item())
del used, kept, given
print(sum(lost_writes._found.values()), [line for _, line in lost_writes._found])
"""


@pytest.mark.parametrize(("how", "first"), [("1", [1.0, 1.0]), ("lost", [0.0, 0.0])])
def test_a_write_to_a_copy_that_nothing_reads_is_reported_and_applied(
    tmp_path: Path, how: str, first: list[float]
) -> None:
    *_, values, found = printed(tmp_path, LOST, AOTI_DEBUG_HANDED=how).splitlines()
    assert values.startswith(f"[{first}, [3.0, 3.0], {first}")
    assert found == f"1 [{LOST.splitlines().index('x[rows].zero_()  # lost') + 1}]"
