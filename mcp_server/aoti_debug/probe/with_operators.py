"""Run a script after what defines the user's operators: with_operators.py [ARGUMENTS] SCRIPT."""

from __future__ import annotations

if __name__ == "__main__":
    from pathlib import Path
    from runpy import run_path

    run_path(str(Path(__file__).with_name("script.py")), {"script": __file__})  # ends the process

import runpy
import sys

from . import standalone


def main() -> int:
    """Define the operators, then be the script."""
    *words, script = sys.argv[1:]
    standalone.prepare(standalone.arguments(__doc__ or "").parse_args(["--inputs", "", *words]))
    sys.argv = [script]
    runpy.run_path(script, run_name="__main__")
    return 0
