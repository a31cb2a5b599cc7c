"""A process is offered what its own client's runs have compiled, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aoti_debug.run.directory import RunDirectory
from aoti_debug.triage.earlier_packages import offered, packages
from aoti_debug.triage.environment import CAPTURE, KEY, watched, write_key


def left(home: Path, owner: str | None, folder: str = ".") -> RunDirectory:
    """Make a run that has compiled a package."""
    run = RunDirectory.create(home, owner)
    place = run.path / folder
    write_key(place)
    (place / CAPTURE).mkdir()
    record: dict[str, Any] = {"key": "a" * 64, "lines": "", "parts": {}, "package": "package-1.pt2"}
    record |= {"sha256": "b" * 64, "seconds": 142.0, "secret": (place / KEY).read_text()}
    for name, data in (("package-1.pt2", "{}"), ("compiled-1.json", json.dumps(record))):
        (place / CAPTURE / name).write_text(data)
        (place / CAPTURE / name).chmod(0o600)
    return run


def test_a_client_is_offered_its_own_packages_alone(tmp_path: Path) -> None:
    runs = {owner: left(tmp_path, owner) for owner in ("token one", "token two", None)}
    for owner, run in runs.items():
        assert [one.run for one in packages(tmp_path, owner)] == [run.id]
    assert not list(packages(tmp_path, "token three"))


def test_a_step_of_a_run_leaves_its_package_too(tmp_path: Path) -> None:
    run = left(tmp_path, None, "steps/02-capture")
    assert [one.file.parent.parent.name for one in packages(tmp_path, None)] == ["02-capture"]
    assert next(iter(packages(tmp_path, None))).run == run.id


@pytest.mark.parametrize("fault", ["secret", "path", "open", "link", "size", "text"])
def test_a_record_that_the_run_need_not_have_written_is_left_out(
    tmp_path: Path, fault: str
) -> None:
    run = left(tmp_path, None)
    record, package = (run.path / CAPTURE / n for n in ("compiled-1.json", "package-1.pt2"))
    others: dict[str, dict[str, Any]] = {
        "secret": {"secret": "0" * 32},
        "path": {"package": "../../../package-1.pt2"},
        "size": {"parts": {"x": "x" * (1 << 20)}},
    }
    if fault in others:
        record.write_text(json.dumps({**json.loads(record.read_text()), **others[fault]}))
    elif fault == "open":
        package.chmod(0o622)
    elif fault == "link":
        package.rename(run.path / "elsewhere.pt2")
        package.symlink_to(run.path / "elsewhere.pt2")
    else:
        record.write_text("[" * 10_000)
    assert not list(packages(tmp_path, None))


def test_nothing_is_offered_to_a_compile_that_is_looked_at(tmp_path: Path) -> None:
    run = left(tmp_path, None)
    assert offered(run.path, None, tmp_path, "same lines")
    assert not offered(run.path, None, tmp_path, "never")
    named = {"AOTI_DEBUG_REUSE": str(tmp_path / "planted.json")}
    assert "AOTI_DEBUG_REUSE" not in watched(named, run.path, run.id, capture=True)
