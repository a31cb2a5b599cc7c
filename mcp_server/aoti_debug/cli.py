"""The command line: where it starts, and with what exit status it ends."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command that the arguments name and exit.

    0: done and no fault, 1: done and a fault was found, 2: wrong use, 3: could not be done.
    """
    if sys.argv[1:] == ["serve"]:  # clients wait for it: nothing of the command line is imported
        _serve()
        return
    gc.set_threshold(200_000)  # little of what the imports make is garbage
    from aoti_debug.commands.app import run

    status = run(sys.argv[1:])
    gc.freeze()  # no garbage is looked for at the end
    sys.exit(status)


def _serve() -> None:
    # Nothing that the imports make is garbage: looking for some takes a tenth of the start.
    gc.disable()
    from aoti_debug.server import for_process, serve

    server = for_process()
    gc.freeze()
    gc.enable()
    serve(server)


if __name__ == "__main__":
    main()
