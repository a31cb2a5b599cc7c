"""What is known of a script whose failure is gone, and what triage and verify say of a project."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aoti_debug.verify.judge import CALL, Facts, Trial, judge
from aoti_debug.vocabulary import Fingerprint
from programs import changed, diff, told

WRONG = Fingerprint("output", "wrong result")
NONE = Fingerprint(None, None)
RIGHT_CALL = Trial(CALL, package="agrees", model="agrees", reference_finite=True)


def gone(original: Fingerprint, category: str, call: int = 2, **known: Any) -> Facts:
    """Return that the failure of so many calls' last is gone: the call is given what it was."""
    last: dict[str, Any] = {"failing_call": call, "calls": call, "inputs": ""}
    return Facts(**{"original": original, "category": category, "now": NONE, **last, **known})


def verdict(facts: Facts, **known: Any) -> str:
    """Judge what is known, some of which is otherwise."""
    return judge(replace(facts, **known)).verdict


@dataclass(frozen=True)
class Project:
    """A script that fails, in a folder of its own, and what its triage said."""

    folder: Path
    answer: dict[str, Any]

    def verified(
        self, changes: Iterable[tuple[str, str]], file: str = "model.py"
    ) -> dict[str, Any]:
        """Return what is said of a patch that makes these changes of a file."""
        before = (self.folder / file).read_text()
        patch = self.folder.with_name("fix.patch")
        patch.write_text(diff(file, before, changed(before, changes)))
        return self.judged(patch)

    def judged(self, patch: Path) -> dict[str, Any]:
        return told(self.folder, "verify", str(patch), "--against", self.answer["run"])


def triaged(
    root: Path,
    script: str,
    python: str,
    *words: str,
    beside: Mapping[str, str] | None = None,
    packages: Iterable[Path] = (),
) -> Project:
    """Triage a script in a folder that is made for it, with other files beside it."""
    folder = root / "tree"
    folder.mkdir(parents=True)
    for package in packages:
        shutil.copy(package, folder)
    for name, text in {"model.py": script, **(beside or {})}.items():
        (folder / name).write_text(text)
    return Project(folder, told(folder, "triage", *words, "model.py", "--python", python))
