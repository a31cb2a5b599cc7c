"""Time the documented roads to the first answer, on every Python of this machine.

    .venv/bin/python evals/benchmarks/front_door.py OUT.jsonl [--only ROAD ...] [--pythons 3.12 ...]

Commands are read from the manifests and README.md, as `tests/skill/test_front_door.py` does. An
answer is `initialize`, `tools/list` and one `diagnose_log`. Seconds, a row each: `cold`, with empty
home and caches, installation included; `warm`, the next start; `offline`, without a network;
`no_caches`, after all caches were deleted; `both`. GitHub is a clone.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from command import clock, options_of, put

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "skill")]

import test_front_door as front  # noqa: E402

EXTRAS = ("ray", "evals", "triton", "torch")  # the last is gigabytes


@dataclass(frozen=True)
class Road:
    """How a server is started, in the user's home."""

    start: tuple[str, ...]
    install: str = ""  # run once
    before: str = ""  # what the user has already, such as a clone


def roads(clone: Path) -> dict[str, Road]:
    """Return the roads of the manifests, for a plugin's folder, and those of README.md."""
    found = {}
    for name in (
        ".claude-plugin/plugin.json",
        ".codex-plugin/plugin.json",
        "gemini-extension.json",
    ):
        [server] = json.loads((ROOT / name).read_text("utf-8"))["mcpServers"].values()
        found[name.split("/")[0]] = server
    bundle = json.loads((ROOT / "manifest.json").read_text("utf-8"))
    found["manifest.json"] = bundle["server"]["mcp_config"]
    rows = {}
    for name, how in found.items():
        line = " ".join((how["command"], *map(str, how["args"])))
        rows[name] = _of_shell(re.sub(r"\$\{\w+\}", str(clone), f"cd {clone} && {line}"))
    tool, of_pip = ("aoti-debug", "serve"), ("aoti-env/bin/aoti-debug", "serve")
    in_clone = f"git clone -q {front.SITE}aoti-debug"
    return {
        **rows,
        "skill": _of_shell(f"python3 {clone}/mcp_server/start.py serve"),
        "uv tool": Road(tool, front.block(front.UV_TOOL)),
        "pipx": Road(tool, front.block(front.PIPX), "pipx --version"),
        "uvx": _of_shell(front.block(front.UVX)),
        "uv run": _of_shell(front.block(front.UV_RUN), before=in_clone),
        "pip": Road(of_pip, front.block(front.PIP)),
        **{f"pip [{extra}]": Road(of_pip, front.with_extra(extra)) for extra in EXTRAS},
    }


def _of_shell(line: str, before: str = "") -> Road:
    return Road(("bash", "-euc", line), before=before)


def machine(place: Path, python: str, bare: Path) -> front.Machine:
    """Return a new account whose python3, uv and pipx use this interpreter."""
    home, programs = place / "home", place / "programs"
    home.mkdir(parents=True)
    programs.mkdir()
    for name in ("uv", "uvx"):
        (programs / name).symlink_to(Path(sys.executable).with_name(name))
    (programs / "python3").symlink_to(python)
    uvx = f'PIPX_DEFAULT_PYTHON={python} exec uvx --quiet pipx@1.18.4 "$@"'
    pipx = f"#!/bin/sh\nunset UV_PYTHON  # pipx itself needs a newer one\n{uvx}\n"
    (programs / "pipx").write_text(pipx)
    (programs / "pipx").chmod(0o755)
    site = bare.parent.as_uri()
    (home / ".gitconfig").write_text(f'[url "{site}/"]\n\tinsteadOf = {front.SITE}\n')
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("AOTI_", "PYTHON", "VIRTUAL"))}
    return front.Machine(
        home,
        {
            **kept,
            "HOME": str(home),
            "PATH": f"{home}/.local/bin:{programs}:/usr/bin:/bin",
            "UV_CACHE_DIR": str(place / "caches" / "uv"),
            "PIP_CACHE_DIR": str(place / "caches" / "pip"),
            "UV_PYTHON": python,
            "UV_NO_GITHUB_FAST_PATH": "1",  # GitHub is a clone here, without its API
        },
    )


def timed(account: front.Machine, road: Road) -> float | None:
    """Return the seconds from a start to the first answer, or None where there is none."""
    took = clock(2)
    try:
        account.answers(*(str(account.home / w) if "/bin/" in w else w for w in road.start))
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None
    return took()


def measure(road: Road, python: str, bare: Path, place: Path) -> dict[str, float | None]:
    """Return the seconds of the five starts of a road in a new account."""
    account = machine(place, python, bare)
    if road.before:
        account.sh(road.before)
    took = clock(2)
    if road.install:
        account.sh(road.install)
    row = {"cold": took() if timed(account, road) is not None else None}
    offline = account.having(**front.NO_NETWORK)
    starts = {"warm": account, "offline": offline, "no_caches": account, "both": offline}
    for name, user in starts.items():
        if name in ("no_caches", "both"):
            shutil.rmtree(place / "caches", ignore_errors=True)
        row[name] = timed(user, road)
    return row


def main() -> None:
    options = options_of(__doc__, only=[], pythons=list(front.PYTHONS)).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder, "site", "aoti-debug")
        subprocess.run(["git", "clone", "-q", "--bare", str(ROOT), str(bare)], check=True)
        shutil.copytree(bare, bare.with_suffix(".git"))
        clone = Path(folder, "plugin")
        subprocess.run(["git", "clone", "-q", str(bare), str(clone)], check=True)
        for name, road in roads(clone).items():
            if name not in options.only if options.only else name == "pip [torch]":
                continue
            for version, python in sorted(front.pythons().items()):
                if version in options.pythons:
                    place = Path(folder, "places", name.replace(" ", "-"), version)
                    row = {"road": name, "python": version, **measure(road, python, bare, place)}
                    put(row, options.out)
                    shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
