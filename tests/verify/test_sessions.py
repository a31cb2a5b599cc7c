"""A fix of a package whose state leaks from one session into the next: calls in a row tell whether
the state carries over within a session, and begins anew with the next one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from aoti_debug.model import Category
from aoti_debug.record.run_seen import RunSeen
from aoti_debug.verify.driver import never_given
from aoti_debug.verify.judge import judge
from aoti_debug.verify.sessions import (
    CALLS,
    OfReference,
    given_the_same,
    longest,
    of_reference,
    read_late,
    shared_memory,
)
from recordings import begin, end, events
from verify.facts import RIGHT_CALL, WRONG, Project, gone, triaged, verdict

# Attention over what a session has said so far, kept in buffers; every session begins with none.
CHATS = """
import copy
import sys
import tempfile
from pathlib import Path

import torch


class Chat(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.project = torch.nn.Linear(8, 16)
        self.register_buffer("keys", torch.zeros(12, 8))
        self.register_buffer("values", torch.zeros(12, 8), persistent=False)
        self.register_buffer("said", torch.zeros(12, dtype=torch.int64))

    def forward(self, words):
        key, value = self.project(words).chunk(2, -1)
        self.keys.copy_(torch.cat((self.keys[2:], key)))
        self.values.copy_(torch.cat((self.values[2:], value)))
        self.said.copy_(torch.cat((self.said[2:], self.said.new_ones(2))))
        scores = torch.where(self.said > 0, words @ self.keys.t(), -1e4)
        return torch.softmax(scores, -1) @ self.values


class Serving:
    def __init__(self, path, model):
        self.path, self.package = path, torch._inductor.aoti_load_package(path)
        self.blank = {name: one.clone() for name, one in model.named_buffers()}

    def begin(self):
        pass

    def reply(self, words):
        return self.package(words)


class Check:
    def __init__(self, model):
        self.model, self.wrong = model, []

    def begin(self):
        self.eager = copy.deepcopy(self.model)

    def compare(self, words, reply):
        wanted = self.eager(words)
        gap = (wanted - reply).abs().max().item()
        if gap > 1e-3:
            self.wrong.append(gap)


@torch.no_grad()
def main():
    torch.manual_seed(0)
    model = Chat()
    program = torch.export.export(model, (torch.randn(2, 8),))
    path = str(Path(tempfile.mkdtemp(), "chat.pt2"))
    torch._inductor.aoti_compile_and_package(program, package_path=path)
    serving, check = Serving(path, model), Check(model)
    for _ in range(3):
        serving.begin()
        check.begin()
        for words in torch.randn(3, 2, 8):
            check.compare(words, serving.reply(words))
    if check.wrong:
        sys.exit(f"{len(check.wrong)} replies differ from eager")


main()
"""
Change = tuple[str, str]
BEGIN = "        pass\n"
REPLY = "    def reply(self, words):\n        return self.package(words)\n"
LOADED = "self.package = torch._inductor.aoti_load_package(self.path)\n"
COPY = "self.eager = copy.deepcopy(self.model)\n"
WANTED = "wanted = self.eager(words)\n"
# The state as an input and a result.
GIVEN: list[Change] = [
    (CHATS[CHATS.index("        self.register") : CHATS.index("    def forward")], "\n"),
    ("forward(self, words)", "forward(self, words, keys, values, said)"),
    ("self.keys.copy_(torch.cat((self.keys[2:], key)))", "keys = torch.cat((keys[2:], key))"),
    (
        "self.values.copy_(torch.cat((self.values[2:], value)))",
        "values = torch.cat((values[2:], value))",
    ),
    (
        "self.said.copy_(torch.cat((self.said[2:], self.said.new_ones(2))))",
        "said = torch.cat((said[2:], said.new_ones(2)))",
    ),
    ("where(self.said > 0, words @ self.keys.t()", "where(said > 0, words @ keys.t()"),
    ("@ self.values\n", "@ values, keys, values, said\n"),
    (
        "class Serving",
        "def blank():\n    keys = torch.zeros(12, 8)\n"
        "    return keys, keys.clone(), torch.zeros(12, dtype=torch.int64)\n\n\nclass Serving",
    ),
    ("(torch.randn(2, 8),)", "(torch.randn(2, 8), *blank())"),
]
FIXES: dict[str, list[Change]] = {
    "loaded anew": [(BEGIN, f"        {LOADED}")],
    "load_constants": [
        (
            BEGIN,
            "        blank = {name: one.clone() for name, one in self.blank.items()}\n"
            "        self.package.load_constants(blank, check_full_update=False)\n",
        )
    ],
    "given": [
        *GIVEN,
        (BEGIN, "        self.state = blank()\n"),
        (
            "return self.package(words)",
            "reply, *self.state = self.package(words, *self.state)\n        return reply",
        ),
        (COPY, "self.state = blank()\n"),
        (WANTED, "wanted, *self.state = self.model(words, *self.state)\n"),
    ],
    "told when it begins": [
        ("forward(self, words)", "forward(self, words, first)"),
        ("        key, value", "        self.said.mul_(1 - first)\n        key, value"),
        ("(torch.randn(2, 8),)", "(torch.randn(2, 8), torch.ones((), dtype=torch.int64))"),
        (BEGIN, "        self.first = torch.ones((), dtype=torch.int64)\n"),
        (
            "return self.package(words)",
            "first, self.first = self.first, self.first * 0\n"
            "        return self.package(words, first)",
        ),
        (WANTED, "wanted = self.eager(words, self.eager.said[0] * 0)\n"),
    ],
}
CHEATS: dict[str, list[Change]] = {
    "each call begins anew": [
        (REPLY, REPLY.replace("        return", f"        {LOADED}        return")),
        (WANTED, f"{COPY}        {WANTED}"),
    ],
    "the model forgets": [("        key, value", "        self.said.zero_()\n        key, value")],
    "the reference remembers": [(COPY, "self.eager = self.model\n")],
    "one session is looked at": [
        (
            "if gap > 1e-3:",
            "self.calls = getattr(self, 'calls', 0) + 1\n"
            "        if gap > 1e-3 and self.calls <= 3:",
        ),
    ],
    "given, and each call begins anew": [
        *GIVEN,
        ("return self.package(words)", "return self.package(words, *blank())[0]"),
        (WANTED, "wanted = self.model(words, *blank())[0]\n"),
    ],
}


@pytest.fixture(scope="module")
def chats(warm_python, tmp_path_factory) -> Project:
    project = triaged(tmp_path_factory.mktemp("chats"), CHATS, warm_python, "--no-verify")
    assert "begins with the state" in project.answer["diagnosis"]["summary"]
    return project


def of_calls(**changes: Any) -> list[dict[str, Any]]:
    """Return the events of calls, each with a reference: a session of three, and one of two."""
    found: list[dict[str, Any]] = []
    outputs = [{"shape": [2], "dtype": "float32"}]
    for number, begins in enumerate((True, False, False, True, False), 1):
        value = [float(number), 0.5]
        memory = {"values": [changes.get(f"call_{number}", value)]}
        found.append(begin(number, "run", call=number, inputs=[]))
        found.append(end(number, call=number, outputs=outputs, memory=memory))
        if number in changes.get("looked_at", range(9)):
            own = {"event": "reference", "caller": ["model.py", 9]}
            state = {} if begins else {"changed": ["keys"], "changed_count": 1}
            apart = {"call": number, "apart": 0.0, "moved": ["keys"], "values": [value]}
            found.append({**own, **state, **apart, **changes.get("reference", {})})
    return found


def run_of(**changes: Any) -> RunSeen:
    return events(*of_calls(**changes))


def test_a_session_is_as_long_as_those_of_the_reference() -> None:
    assert longest(run_of()) == CALLS == 3
    assert longest(run_of(looked_at=(1, 4))) == 1
    assert longest(run_of(looked_at=(1, 2))) == CALLS  # one session: its end is not known
    assert longest(run_of(reference={"moved": []})) == CALLS


def gave(before: RunSeen, now: RunSeen, failing: int | None = None) -> OfReference:
    category: Category = "user_code" if failing is None else "wrong_result"
    return of_reference(before, now, category, failing)


def test_what_the_reference_gave_is_returned_in_order_and_in_all_calls() -> None:
    before = run_of(call_4=[9.0, 0.5])
    assert gave(before, before) == OfReference(5, unlike=4)
    assert gave(before, run_of(call_4=[4.0001, 0.5])) == OfReference(5)
    assert gave(before, run_of(call_2=[2.1, 0.5])) == OfReference(5, unlike=2)
    assert gave(before, run_of(looked_at=(1, 2, 3))) == OfReference(5, alone=4)
    assert gave(before, run_of(call_3=None)) == OfReference()
    moved: dict[str, Any] = {"moved": []}
    for other in (moved, {"training": ["norm"]}, {"changed": ["w"], "changed_count": 1}):
        assert gave(run_of(reference=other), before) == OfReference()
        assert gave(run_of(reference=other), before, failing=3) == OfReference(1)
        other_results = run_of(call_3=[7.0, 0.5])
        assert gave(run_of(reference=other), other_results, failing=3).unlike == 3


def test_the_reference_of_a_wrong_package_must_give_what_it_gave() -> None:
    def seen(value: float, call: int | None = 3, **package: Any) -> RunSeen:
        one = {"moved": [], "given": ["3f"], "values": [[value, 0.5]], "apart": 5.0, "largest": 1.0}
        one["call"] = call
        lines = of_calls(looked_at=(3,), reference=one, **package)
        beside = {**lines[-5], "caller": ["model.py", 30], "values": [[7.0]], "apart": None}
        return events(*lines, beside)

    before = seen(20.0)
    assert gave(before, seen(20.0, call_3=[20.0, 0.5]), failing=3) == OfReference(1)
    assert gave(before, seen(20.0), failing=3) == OfReference(1, unlike=3)
    assert gave(before, seen(30.0, call_3=[30.0, 0.5]), failing=3) == OfReference(other=3)
    assert gave(seen(20.0, None), seen(30.0, None), failing=3).other
    assert gave(before, seen(30.0, call_3=[30.0, 0.5])) == OfReference(), "its own fault"


def test_an_operator_that_keeps_to_its_fake_kernel_may_give_another_size() -> None:
    def seen(*values: float) -> RunSeen:
        one = {"moved": [], "given": ["3f"], "values": [values], "apart": 0.0, "largest": 1.0}
        return run_of(looked_at=(3,), reference={**one, "call": 3})

    size = of_reference(seen(2.0, 0.5), seen(2.0, 0.5, 1.0, 7.0), "custom_op_fake_kernel", 3)
    value = of_reference(seen(2.0, 0.5), seen(2.0, 0.7), "custom_op_fake_kernel", 3)
    assert (size.other, value.other) == (0, 3)


def test_the_package_must_be_given_what_the_reference_was_given() -> None:
    own = {"moved": [], "given": ["3f"], "values": [[3.0, 0.5]]}
    before = run_of(looked_at=(3,), reference={**own, "apart": None, "other": [0]})
    assert given_the_same(before, run_of(looked_at=(3,), reference=own))
    assert not given_the_same(before, run_of(looked_at=(3,), reference={**own, "given": ["4e"]}))
    assert not given_the_same(before, run_of(looked_at=(3,), reference={**own, "other": [0]}))
    assert not given_the_same(before, before)
    assert not given_the_same(run_of(looked_at=(3,), reference=own), before)

    lines = of_calls(looked_at=(3,), reference=own)
    ends = [one for one in lines if one["event"] == "end"]
    ends[1]["memory"]["reused"] = [0]
    again = events(*lines)
    assert shared_memory(before, again) == 2
    assert shared_memory(before, before) == shared_memory(again, again) == 0
    assert verdict(gone(WRONG, "user_code", shared_memory=2)) == "undecided"


def test_a_reference_that_still_reads_memory_written_since_is_not_fixed() -> None:
    def seen(**found: Any) -> RunSeen:
        own = {"moved": [], "values": [[3.0]], "largest": 1.0, "apart": 0.5}
        return run_of(looked_at=(3,), reference={**own, **found})

    before = seen(written=[0])
    assert read_late(before, before) == 3
    assert not read_late(before, seen()) and not read_late(before, seen(written=[0], apart=1e-7))
    assert verdict(gone(WRONG, "user_code", read_late=3)) == "not fixed"


def test_a_reference_of_rows_in_another_precision_tells_of_none_that_is_missing() -> None:
    def missed(*rows: int) -> Any:
        return never_given(run_of(looked_at=(3,), reference={"rows": rows}))

    assert missed(107, 240).rows == (107, 240)
    assert missed(240, 240) is missed() is None


def test_a_call_that_no_reference_is_beside_is_not_known_to_be_right() -> None:
    facts = gone(WRONG, "user_code", trials=(RIGHT_CALL,), of_reference=OfReference(2))
    assert verdict(facts) == "fixed"
    assert verdict(facts, of_reference=OfReference(2, alone=2)) == "undecided"
    assert verdict(facts, of_reference=OfReference(2, unlike=2)) == "masked"
    assert verdict(facts, inputs="others") == "fixed"
    later = replace(RIGHT_CALL, model="differs", call=2)
    found = judge(replace(facts, trials=(later,)))
    assert found.verdict == "masked" and "call 2 of a session" in found.reason


@pytest.mark.parametrize("name", FIXES)
def test_a_fix_that_begins_each_session_anew_is_fixed(chats, name: str) -> None:
    answer = chats.verified(FIXES[name])
    assert answer.get("verdict") == "fixed", answer


@pytest.mark.parametrize("name", CHEATS)
def test_what_loses_or_hides_the_state_of_a_session_is_no_fix(chats, name: str) -> None:
    answer = chats.verified(CHEATS[name])
    assert answer.get("verdict") in ("masked", "not fixed"), answer
