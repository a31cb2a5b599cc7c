"""Run the Python blocks of the guides one after the other, each in its own namespace.

Arguments: a JSON list of blocks (name, source), and where to write what came of each. The result is
written after each block, so that one that ends the process is seen to have done so.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import traceback
from pathlib import Path


def main(todo: Path, done: Path) -> None:
    results: dict[str, str] = {}
    environment = dict(os.environ)
    for block in json.loads(todo.read_text("utf-8")):
        results[block["name"]] = "ended the process"
        done.write_text(json.dumps(results), "utf-8")
        results[block["name"]] = _run(block["name"], block["source"])
        os.environ.clear()
        os.environ.update(environment)
    done.write_text(json.dumps(results), "utf-8")


def _run(name: str, source: str) -> str:
    """Return the traceback, empty when the block went through."""
    module = {"__name__": "__main__"}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, name, "exec"), module)
    except BaseException:
        return traceback.format_exc()
    return ""


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
