"""Run scripts through the service, as the tools and the command line do."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from aoti_debug.kinds import TRIAGE, stage_kind
from aoti_debug.model import RunModel
from aoti_debug.run.target import resolve_target
from aoti_debug.service import Request, Service

QUICK = {"TORCHINDUCTOR_VEC_ISA_OK": "1"}  # spare the test-compiles for vector instructions
Run = Callable[..., Any]


def answered(
    home: Path,
    script: Path | None,
    *args: object,
    command: Sequence[str] | None = None,
    stage: str | None = None,
    python: str | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    **options: Any,
) -> RunModel:
    async def main() -> RunModel:
        target = resolve_target(
            script=script,
            command=command,
            args=[str(a) for a in args],
            python=python,
            env={**QUICK, **(env or {})},
            cwd=cwd,
        )
        request = Request(target, **{"timeout_s": 300.0, **options})
        async with Service(home) as service:
            if stage is None:
                return await service.wait(await service.start(TRIAGE, request))
            return await service.wait(await service.start(stage_kind(stage), request))

    return anyio.run(main)


@pytest.fixture(scope="module")
def python(warm_python: str) -> str:
    """Run scripts in forks of a process that has imported torch."""
    return warm_python


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def triage_in(python: str) -> Run:
    """Triage a script of ours, with the runs kept in a given home."""
    return lambda home, script, *args, **options: answered(
        home, script, *args, **{"python": python, **options}
    )


@pytest.fixture(scope="module")
def triaged(triage_in: Run, home: Path) -> Run:
    return partial(triage_in, home)


@pytest.fixture(scope="module")
def staged(triaged: Run) -> Run:
    return lambda stage, script, *args, **options: triaged(script, *args, stage=stage, **options)


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Write a script as users have them."""

    def write(source: str) -> Path:
        path = tmp_path_factory.mktemp("script") / "script.py"
        path.write_text(textwrap.dedent(source))
        return path

    return write
