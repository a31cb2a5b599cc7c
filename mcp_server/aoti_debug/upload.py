"""Take a folder from a client on another machine: POST /upload, the body a tar archive of it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import IO

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from aoti_debug.answers import UploadAnswer
from aoti_debug.errors import AotiDebugError, RunDirectoryError, TooLarge, WrongUse
from aoti_debug.reading import readers
from aoti_debug.run.files import remove_tree
from aoti_debug.run.kept import home
from aoti_debug.run.share import going
from aoti_debug.tools.tool import OWNER
from aoti_debug.unpacking import BODY, HELP, KIND, large, new_name

SILENCE_S = 30.0  # before the first part of a body
BYTES_A_SECOND = 20_000  # that come at least, after that


async def upload(request: Request) -> Response:
    """Unpack the archive that a request brings; answer where its files are."""
    try:
        owner = request.scope.get(OWNER)
        with going(owner, short=True):
            taken = await _take(request, owner)
    except ClientDisconnect:
        return Response(status_code=400)
    except TooLarge as error:
        return _refused(413, error)
    except WrongUse as error:
        return _refused(400, error)
    except AotiDebugError as error:
        return _refused(507, error)
    return JSONResponse(taken.document())


def _refused(status: int, error: AotiDebugError) -> Response:
    return JSONResponse({"error": str(error.args[0]), "help": error.help}, status)


async def _take(request: Request, owner: str | None) -> UploadAnswer:
    try:
        with tempfile.NamedTemporaryFile() as packed:
            await _receive(request, packed)
            packed.flush()
            return await _unpacked(packed.name, new_name(), owner)
    except OSError as error:
        raise RunDirectoryError(f"cannot keep the upload: {error.strerror}") from error


async def _unpacked(packed: str, name: str, owner: str | None) -> UploadAnswer:
    """Have it unpacked, or leave nothing, however that ended."""
    given = {"packed": packed, "name": name, "owner": owner}
    try:
        return await readers().read(owner, UploadAnswer, "unpack", Path(packed), **given)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(remove_tree, home() / KIND / name)
        raise


async def _receive(request: Request, packed: IO[bytes]) -> None:
    size = 0
    with anyio.move_on_after(SILENCE_S) as clock:
        async for part in request.stream():
            size += len(part)
            clock.deadline += len(part) / BYTES_A_SECOND
            if size > BODY:
                raise large("the archive is too large")
            packed.write(part)
    if clock.cancelled_caught:
        raise WrongUse(f"fewer than {BYTES_A_SECOND:,} bytes a second came", help=HELP)
