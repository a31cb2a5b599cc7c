"""Draw the terminal of a real triage: python assets/draw.py OUT.svg.

Runs evals/cases/demo.py like `make demo`, with a directory that shows nobody's home, and prints
the answer as the command line does.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path

from aoti_debug.answers import TriageAnswer
from aoti_debug.report.answers import outline
from aoti_debug.report.terminal import print_outline
from aoti_debug.report.text import on_one_screen
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import MONOKAI

CASE = Path(__file__).parents[1] / "evals" / "cases" / "demo.py"
PLACE = Path("/tmp/tickets")
UNSEEN = re.compile(  # ends of lines, and what would cut lines that are too long
    r"<clipPath id=\"\w+-line-\d+\">.*?</clipPath>\s*"
    r"|clip-path=\"url\(#\w+-line-\d+\)\" ?|<text [^>]*>\s*</text>",
    re.S,
)
WEB_FONTS = re.compile(r"@font-face \{\{.*?\}\}\s*", re.S)  # a picture should fetch nothing


def answer() -> TriageAnswer:
    """Triage the script in a place of its own."""
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir()
    shutil.copy(CASE, PLACE / "serve.py")
    env = {**os.environ, "AOTI_DEBUG_HOME": str(PLACE / "home")}
    env["TORCHINDUCTOR_CACHE_DIR"] = str(PLACE / "cache")
    command = [sys.executable, "-m", "aoti_debug", "triage", "--json", "serve.py"]
    done = subprocess.run(command, cwd=PLACE, env=env, stdout=subprocess.PIPE, text=True)
    return TriageAnswer.model_validate(json.loads(done.stdout))


def main() -> None:
    found = answer()
    console = Console(record=True, width=108, file=StringIO(), force_terminal=True)
    console.print("[bold]$ aoti-debug triage serve.py[/bold]\n")
    print_outline(on_one_screen(outline(found)), console)
    svg = console.export_svg(
        title="aoti-debug",
        theme=MONOKAI,
        code_format=WEB_FONTS.sub("", CONSOLE_SVG_FORMAT),
        unique_id="t",
    )
    Path(sys.argv[1]).write_text(UNSEEN.sub("", svg), encoding="utf-8")
    shutil.rmtree(PLACE)


if __name__ == "__main__":
    main()
