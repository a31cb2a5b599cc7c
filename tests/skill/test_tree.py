"""What an installation of the skill copies: every file of the published tree."""

from __future__ import annotations

import shutil
from pathlib import Path, PurePosixPath

from skill.conftest import ROOT
from specification import problems, properties


def test_the_skill_is_valid(tmp_path: Path) -> None:
    folder = tmp_path / "aoti-debug"  # the specification wants the folder to have the skill's name
    folder.mkdir()
    shutil.copyfile(ROOT / "SKILL.md", folder / "SKILL.md")
    assert problems(folder) == []


def test_the_description_names_what_people_say() -> None:
    said = properties(ROOT)["description"].lower()
    for words in (
        "illegal memory access", "exit code 139", "loading outdated pt2 file", "run_func_",
        "api call failed", "wrong output", "aoti_compile_and_package", ".pt2", "undefined symbol",
    ):  # fmt: skip
        assert words in said
    for other in ("plain torch.compile", "onnx", "tensorrt", "nccl", "eager-mode"):
        assert other in said.partition("not for")[2]


def test_the_tree_is_small(checkout: Path) -> None:
    files = [
        path
        for path in checkout.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(checkout).parts
    ]
    assert len(files) < 250
    assert sum(path.stat().st_size for path in files) < 1_500_000


def test_no_file_has_a_name_that_installers_drop(tracked: list[str]) -> None:
    dropped = {"metadata.json", "__pycache__", "__pypackages__"}
    assert not [name for name in tracked if dropped & set(PurePosixPath(name).parts)]
