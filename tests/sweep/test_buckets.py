"""What makes two failures one bucket, what a cluster is asked for, which version is tried next."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from aoti_debug.errors import WrongUse
from aoti_debug.minify.signature import Signature
from aoti_debug.run.executor import Demand
from aoti_debug.sweep.answer import SweepAnswer
from aoti_debug.sweep.bisect import Candidate, CannotBisect, candidates, releases, search
from aoti_debug.sweep.buckets import Groups, compare
from aoti_debug.sweep.files import junit
from aoti_debug.sweep.row import Head, Ledger, Row, rows_of
from aoti_debug.sweep.workers import NoCluster, cluster_of, place_of, reach


def row(index: int, category: str = "index_out_of_bounds", **fields: Any) -> Row:
    signature = fields.pop("signature", None)
    fields.setdefault("run", f"r-{index}")
    return Row(
        index=index,
        target=f"t{index}",
        outcome="failed",
        category=category,  # type: ignore[arg-type]
        signature=Signature(**signature) if signature else None,
        **fields,
    )


def asserted(*operators: str, message: str = "index out of bounds") -> dict[str, Any]:
    return {"phase": "run", "kind": "assert", "message": message, "operators": operators}


def counts(*rows: Row) -> list[int]:
    return [group.targets for group in Groups(rows)]


def test_kernels_that_share_an_operator_that_tells_are_one_bucket() -> None:
    one = row(0, signature=asserted("add", "embedding"))
    other = row(1, signature=asserted("embedding", "layer", "norm"))
    assert counts(one, other) == [2]


def test_kernels_that_share_only_what_every_kernel_has_are_two() -> None:
    one = row(0, signature=asserted("add", "embedding"))
    other = row(1, signature=asserted("add", "gather"))
    assert counts(one, other) == [1, 1]


def test_a_broken_contract_is_one_cause_whatever_came_of_it() -> None:
    silent = row(0, "contract_shape", broken="size")
    crashed = row(1, "contract_shape", broken="size", signature={"kind": "SIGSEGV"})
    other = row(2, "contract_shape", broken="rank")
    assert counts(silent, crashed, other) == [2, 1]


def test_messages_tell_exceptions_apart_and_lines_what_has_no_message() -> None:
    def raised(index: int, kind: str, message: str | None, source: str) -> Row:
        signature = {"kind": kind, "message": message, "source": source}
        return row(index, "user_code", signature=signature)

    assert counts(
        raised(0, "KeyError", "'a'", "x.py:1"),
        raised(1, "KeyError", "'a'", "y.py:2"),
        raised(2, "KeyError", "'b'", "x.py:1"),
    ) == [2, 1]
    assert counts(
        raised(0, "AssertionError", None, "x.py:1"),
        raised(1, "AssertionError", None, "x.py:2"),
        raised(2, "AssertionError", None, "x.py:1"),
    ) == [2, 1]


def test_a_crash_is_known_by_what_its_line_says_wherever_that_stands() -> None:
    def crashed(index: int, text: str, source: str) -> Row:
        summary = f"the process died of SIGSEGV after call {index} of the loaded model"
        signature = {"kind": "SIGSEGV", "source": source}
        return row(index, "host_segfault", summary=summary, text=text, signature=signature)

    assert counts(
        crashed(0, "ctypes.string_at(0)", "a.py:9"),
        crashed(1, "free(it)", "a.py:9"),
        crashed(2, "ctypes.string_at(0)", "b.py:7"),
    ) == [2, 1]


def test_weights_with_nan_are_one_cause_and_broken_archives_are_told_apart() -> None:
    def told(index: int, category: str, summary: str, **more: str) -> Row:
        signature = {"kind": "E", "source": f"{index}"}
        return row(index, category, summary=summary, signature=signature, **more)

    assert counts(
        told(0, "nan_or_inf", "lift.weight holds NaN", constant="lift.weight"),
        told(1, "nan_or_inf", "all 2 calls return NaN: of down", constant="down"),
        told(2, "nan_or_inf", "log of 3 values below 0"),
    ) == [2, 1]
    assert counts(
        told(0, "package_corrupt", "the archive is truncated: at byte 100 of 300"),
        told(1, "package_corrupt", "the archive is truncated: at byte 20 of 30"),
        told(2, "package_corrupt", "the file cannot be opened"),
    ) == [2, 1]


def test_runs_of_the_first_and_the_smallest_are_kept_in_any_order() -> None:
    groups = Groups()
    dropped = []
    for index, size in ((5, 50), (3, 30), (9, 10), (1, 40), (7, 20)):
        dropped += groups.add(row(index, signature=asserted("embedding"), size=size))
    (group,) = groups
    assert (group.first.run, group.smallest.run) == ("r-1", "r-9")
    assert sorted(dropped) == ["r-3", "r-5", "r-7"]


def test_a_target_of_any_name_keeps_its_row_and_what_ci_reads(tmp_path: Path) -> None:
    name = "\uffff<&'\x07" + "x" * 100_000
    path = tmp_path / "sweep.jsonl"
    ledger = Ledger.create(path, Head(sweep="r-1", name="odd", plan="p", targets=1, began=0.0))
    ledger.add(row(0, summary="\ufffe]]>").model_copy(update={"target": name}))
    ledger.close()
    [kept] = rows_of(path)
    assert kept.target.endswith("<&'" + "x" * 100_000)
    text = io.StringIO()
    answer = SweepAnswer(run="r-1", status="done", name=name, finished=1, failed=1)
    junit(text, answer, [kept], Groups([kept]))
    [case] = ElementTree.fromstring(text.getvalue()).iter("testcase")
    assert case.attrib["name"] == "<&'" + "x" * 100_000


def test_buckets_keep_their_beginning_over_sweeps() -> None:
    def rows(*kinds: str) -> Groups:
        return Groups(row(n, "user_code", signature={"kind": k}) for n, k in enumerate(kinds))

    now, before = rows("KeyError", "OSError"), rows("OSError", "ValueError")
    since = {group.id: "commit-1" for group in before}
    gone = compare(now, before, since, "commit-9", "commit-8")
    assert {g.signature.kind: (g.state, g.since) for g in [*now, *gone]} == {
        "KeyError": ("new", "commit-9"),
        "OSError": ("still", "commit-1"),
        "ValueError": ("gone", "commit-1"),
    }


NODES = [
    {"Alive": True, "Resources": {"CPU": 16.0, "GPU": 2.0}},
    {"Alive": True, "Resources": {"CPU": 8.0}},
    {"Alive": False, "Resources": {"CPU": 64.0, "GPU": 8.0}},
]


def test_a_cluster_is_what_is_alive_of_it() -> None:
    cluster = cluster_of(NODES)
    assert (cluster.cpus, cluster.gpus, cluster.node_gpus, cluster.places) == (24, 2, 2, 2)
    assert cluster.never(Demand(gpus=2)) is None
    assert "no node has more than 2" in str(cluster.never(Demand(gpus=3)))
    assert "no node has more than 16" in str(cluster.never(Demand(cores=17)))


def test_a_target_asks_ray_for_what_it_needs() -> None:
    cluster = cluster_of(NODES)
    assert cluster.options(Demand())["num_gpus"] == 1
    asked = cluster.options(Demand(gpus=2, gpu="H100", memory=1000, cores=4))
    assert asked["num_gpus"] == 2 and asked["num_cpus"] == 4
    assert asked["accelerator_type"] == "H100" and asked["memory"] == 1250
    assert "accelerator_type" not in cluster.options(Demand(gpus=0, gpu="H100"))
    assert cluster_of(NODES[1:]).options(Demand())["num_gpus"] == 0


def test_an_address_that_does_not_answer_is_told() -> None:
    assert place_of("ray://head:10001") == ("head", 10001)
    assert place_of("[::1]:6379") == ("::1", 6379)
    assert place_of("auto") is None
    with pytest.raises(NoCluster, match=r"nothing answers at 127\.0\.0\.1:1"):
        reach("127.0.0.1:1")


@pytest.mark.parametrize("first_bad", [0, 1, 2, 3, 4, None])
def test_the_first_bad_version_takes_few_environments(first_bad: int | None) -> None:
    made: list[int] = []

    def python(number: int) -> str:
        made.append(number)
        return str(number)

    def sweep(label: str, python: str) -> SweepAnswer:
        bad = first_bad is not None and int(python) >= first_bad
        return SweepAnswer(run="r", status="done", result="bad" if bad else "good")

    chosen = [Candidate(f"torch 2.{9 + n}", lambda n=n: python(n)) for n in range(5)]  # type: ignore[misc]
    found = search(chosen, sweep)
    assert found.first_bad == (None if first_bad is None else f"torch 2.{9 + first_bad}")
    assert len(made) == len(found.tried) <= math.ceil(math.log2(6))


def test_a_version_that_cannot_be_judged_ends_the_search() -> None:
    def sweep(label: str, python: str) -> SweepAnswer:
        return SweepAnswer(run="r", status="done", result="undecided", reason="it was not run")

    with pytest.raises(CannotBisect, match=r"torch 2\.10: it was not run"):
        search([Candidate(f"torch 2.{n}", lambda: "p") for n in (9, 10)], sweep)


@pytest.mark.parametrize("words", ["2.9", "2.13..2.9", "2.1,2.2", "new..old", ""])
def test_versions_that_name_no_range_are_refused(words: str) -> None:
    with pytest.raises(WrongUse):
        releases(words)


def test_versions_and_interpreters_are_named(tmp_path: Path) -> None:
    assert [str(one) for one in releases("2.9..2.13")] == ["2.9", "2.10", "2.11", "2.12", "2.13"]
    assert [str(one) for one in releases("2.13.0,2.9")] == ["2.9", "2.13"]
    with pytest.raises(WrongUse, match="no interpreters to choose from"):
        candidates("python", f"{tmp_path}/none,/bin/sh")
    with pytest.raises(WrongUse, match="cannot be bisected"):
        candidates("cuda", "12..13")
