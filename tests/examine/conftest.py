"""What the tests of examinations share."""

from __future__ import annotations

from pathlib import Path

import anyio
from aoti_debug.kinds import A, Kind, R
from aoti_debug.service import Service


def answered(kind: Kind[R, A], request: R, home: Path) -> A:
    """Start a run of a kind, and return what it answers in the end."""

    async def main() -> A:
        async with Service(home) as service:
            found = await service.wait(await service.start(kind, request))
        assert isinstance(found, kind.answer)
        return found

    return anyio.run(main)
