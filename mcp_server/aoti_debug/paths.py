"""Paths as a user writes them."""

from __future__ import annotations

import os
from pathlib import Path

from aoti_debug.errors import WrongUse
from aoti_debug.plain import plain


def expanded(path: str | os.PathLike[str]) -> Path:
    """Return the path with a home directory in place of `~`.

    Raises:
        WrongUse: there is no such user.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        named = plain(str(path), 80)
        raise WrongUse(
            f"{named} is in the home directory of nobody", help="Write the path out, from / on."
        ) from error
