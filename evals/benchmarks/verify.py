"""Verify right fixes and wrong ones of failing scripts, and write what each was called.

    python evals/benchmarks/verify.py OUT [BASE ...]

The scripts and fixes stand in evals/cases/verify.toml. Each script is triaged once, each fix is
given as a patch; so is the one that the triage proposes, if it does. OUT/pairs.jsonl gets a line
a fix; one that is there already is not made again. OUT/pairs.md is the table.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from difflib import unified_diff
from pathlib import Path

import tomllib

CASES = Path(__file__).parent.parent / "cases" / "verify.toml"
LIMIT_S = 900
PROPOSED = "(proposed by the triage)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("bases", nargs="*")
    options = parser.parse_args()
    for base in tomllib.loads(CASES.read_text("utf-8"))["base"]:
        if not options.bases or base["name"] in options.bases:
            verify_all(base, options.out / base["name"].replace(" ", "-"), options.out)
    (options.out / "pairs.md").write_text(table(lines(options.out / "pairs.jsonl")))


def verify_all(base: dict, folder: Path, out: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "model.py"
    script.write_text(base["script"])
    done = {(line["base"], line["fix"]) for line in lines(out / "pairs.jsonl")}
    failed = failing_run(script, folder / "run.json")
    against = str(failed["run"])
    fixes = [{**fix, "patch": as_patch(base["script"], fix["changes"])} for fix in base["fix"]]
    offered = failed["diagnosis"].get("fixes") or [{}]
    if "patch" in offered[0]:
        fixes.append({"name": PROPOSED, "right": True, "patch": offered[0]["patch"]})
    for number, fix in enumerate(fixes, 1):
        if (base["name"], fix["name"]) in done:
            continue
        patch = folder / f"{number}.patch"
        patch.write_text(fix["patch"])
        began = time.monotonic()
        answer = command(folder, "verify", str(patch), "--against", against)
        found = {
            "base": base["name"],
            "fix": fix["name"],
            "right": fix.get("right", False),
            "verdict": answer.get("verdict") or answer.get("error"),
            "reason": answer.get("reason"),
            "wall_s": round(time.monotonic() - began, 1),
        }
        with (out / "pairs.jsonl").open("a") as file:
            file.write(json.dumps(found) + "\n")
        print(json.dumps(found), flush=True)


def failing_run(script: Path, kept: Path) -> dict:
    """Triage the failing script once; return the answer."""
    if not kept.exists():
        answer = command(script.parent, "triage", script.name)
        kept.write_text(json.dumps(answer))
    return json.loads(kept.read_text())


def as_patch(script: str, changes: list[list[str]]) -> str:
    """Return the changes as a unified diff of model.py."""
    fixed = script
    for old, new in changes:
        assert script.count(old) == 1, f"{old!r} stands {script.count(old)} times in the script"
        fixed = fixed.replace(old, new)
    old_lines, new_lines = script.splitlines(True), fixed.splitlines(True)
    return "".join(unified_diff(old_lines, new_lines, "a/model.py", "b/model.py"))


def command(cwd: Path, *words: str) -> dict:
    ran = subprocess.run(
        [sys.executable, "-m", "aoti_debug", *words, "--json"],
        capture_output=True, text=True, timeout=LIMIT_S, cwd=cwd,
    )  # fmt: skip
    try:
        return json.loads(ran.stdout)
    except ValueError:
        raise SystemExit(f"{words}: {ran.stdout}{ran.stderr}") from None


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def table(found: list[dict]) -> str:
    offered = [line for line in found if line["fix"] == PROPOSED]
    right = [line for line in found if line["right"] and line not in offered]
    wrong = [line for line in found if not line["right"]]
    called = sum(line["verdict"] == "fixed" for line in right)
    taken_in = sum(line["verdict"] == "fixed" for line in wrong)
    rows = ["| failing script | change | is a fix | called | because |", "|---|---|---|---|---|"]
    for line in found:
        yes = "yes" if line["right"] else "no"
        reason = str(line["reason"]).replace("|", "\\|")[:160]
        rows.append(f"| {line['base']} | {line['fix']} | {yes} | {line['verdict']} | {reason} |")
    stood = sum(line["verdict"] == "fixed" for line in offered)
    head = f"{called} of {len(right)} right fixes called fixed, {taken_in} of {len(wrong)} wrong; "
    head += f"{stood} of {len(offered)} that the triage proposed."
    return "\n".join([head, "", *rows, ""])


if __name__ == "__main__":
    main()
