"""Verify right fixes and wrong ones of failing scripts, and write what each was called.

    python evals/benchmarks/verify.py OUT [--jobs 1] [--limit 3600] [BASE ...]
    python evals/benchmarks/verify.py OUT --right FIXES --wrong CHEATS

The scripts and fixes stand in evals/cases/verify.toml.xz, or in folders of folders, each with a
before.py and its after.py or a patch. Each script is triaged once, each fix, and the one that the
triage proposes, is given as a patch. OUT/pairs.jsonl gets a line a fix; one that is there is not
made again, and none is begun after the limit. OUT/pairs.md is the table.
"""

from __future__ import annotations

import json
import lzma
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from difflib import unified_diff
from pathlib import Path
from statistics import median

from command import Row, answer, clock, folder_at, markdown, options_of, put, rows_in

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

CASES = Path(__file__).parent.parent / "cases" / "verify.toml.xz"
HOME = Path(os.environ.get("AOTI_DEBUG_HOME", Path.home() / ".cache" / "aoti-debug-verify"))
LIMIT_S = 900
PROPOSED = "(proposed by the triage)"


def main() -> None:
    options = options_of(
        __doc__,
        "bases",
        jobs=(1, "how many at once"),
        right=(Path, "folder of pairs that are fixes"),
        wrong=(Path, "folder of pairs that are none"),
        limit=(3600.0, "seconds for all"),
    ).parse_intermixed_args()
    options.out = options.out.resolve()
    end = time.monotonic() + options.limit
    bases = tomllib.loads(lzma.decompress(CASES.read_bytes()).decode())["base"]
    if options.right or options.wrong:
        bases = [*pairs(options.right, right=True), *pairs(options.wrong, right=False)]
    wanted = [base for base in bases if not options.bases or base["name"] in options.bases]
    with ThreadPoolExecutor(options.jobs) as pool:
        triaged = [pool.submit(Base, base, options.out, end) for base in wanted]
        verified = []
        for one in triaged:
            verified += [pool.submit(one.result().verify, *fix) for fix in one.result().fixes()]
    for job in verified:
        job.result()
    (options.out / "pairs.md").write_text(table(rows_in(options.out / "pairs.jsonl")))


def pairs(folder: Path | None, *, right: bool) -> list[Row]:
    """Read a folder of pairs as failing scripts with one change each."""
    found = []
    for before in sorted(folder.glob("*/before.py")) if folder else ():
        after, script = before.with_name("after.py"), before.read_text()
        fix = {"name": before.parent.name, "right": right}
        if after.exists():
            fix["changes"] = [[script, after.read_text()]]
        else:
            patch = next(before.parent.glob("*.patch")).read_text()
            fix["patch"] = patch.replace("before.py", "model.py")
        name = f"{folder.name} {before.parent.name}" if folder else ""
        found.append({"name": name, "script": script, "fix": [fix]})
    return found


class Base:
    def __init__(self, base: Row, out: Path, end: float) -> None:
        self.base, self.out, self.end = base, out, end
        self.folder = folder_at(out / base["name"].replace(" ", "-"))
        script = self.folder / "model.py"
        script.write_text(base["script"])
        self.failed = failing_run(script, self.folder / "run.json", end)

    def fixes(self) -> list[tuple[int, Row]]:
        if "run" not in self.failed:
            print(json.dumps({"base": self.base["name"], **self.failed}), flush=True)
            return []
        done = {(line["base"], line["fix"]) for line in rows_in(self.out / "pairs.jsonl")}
        script = self.base["script"]
        found = [
            {**fix, "patch": fix.get("patch") or as_patch(script, fix["changes"])}
            for fix in self.base["fix"]
        ]
        offered = [f for f in self.failed["diagnosis"].get("fixes") or [] if "patch" in f]
        if offered:
            found.append({"name": PROPOSED, "right": True, "patch": offered[0]["patch"]})
        numbered = enumerate(found, 1)
        return [(n, fix) for n, fix in numbered if (self.base["name"], fix["name"]) not in done]

    def verify(self, number: int, fix: Row) -> None:
        patch = self.folder / f"{number}.patch"
        patch.write_text(fix["patch"])
        took = clock()
        words = ("verify", str(patch), "--against", str(self.failed["run"]))
        said = command(self.folder, self.end, *words)
        found = {
            "base": self.base["name"],
            "fix": fix["name"],
            "right": fix.get("right", False),
            "verdict": said.get("verdict") or said.get("error"),
            "reason": said.get("reason"),
            "wall_s": took(),
            "cost": next(iter(said.get("cost") or ()), None),
        }
        if "ended" in said:
            print(json.dumps(found), flush=True)
        else:
            put(found, self.out / "pairs.jsonl")


def failing_run(script: Path, kept: Path, end: float) -> Row:
    if not kept.exists():
        said = command(script.parent, end, "triage", script.name)
        if "run" not in said:
            return said
        kept.write_text(json.dumps(said))
    return json.loads(kept.read_text())


def as_patch(script: str, changes: list[list[str]]) -> str:
    fixed = script
    for old, new in changes:
        assert script.count(old) == 1, f"{old!r} stands {script.count(old)} times in the script"
        fixed = fixed.replace(old, new)
    old_lines, new_lines = script.splitlines(True), fixed.splitlines(True)
    return "".join(unified_diff(old_lines, new_lines, "a/model.py", "b/model.py"))


def command(cwd: Path, end: float, *words: str) -> Row:
    home = HOME / cwd.name  # of its own: a home keeps so many runs
    left = end - time.monotonic()
    if left < 20:
        return {"error": "no time was left", "ended": True}
    env = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "AOTI_DEBUG_HOME": str(home)}
    try:
        return answer(words, env, cwd, min(LIMIT_S, left))
    except subprocess.TimeoutExpired:
        return {"error": "the time was over", "ended": True}


def compiled(line: Row) -> bool:
    return " compiles: 0," not in line["cost"]


def counted(lines: list[Row]) -> str:
    return f"{sum(line['verdict'] == 'fixed' for line in lines)} of {len(lines)}"


def table(found: list[Row]) -> str:
    offered = [line for line in found if line["fix"] == PROPOSED]
    right = [line for line in found if line["right"] and line not in offered]
    wrong = [line for line in found if not line["right"]]
    rows = []
    for line in found:
        yes, reason = "yes" if line["right"] else "no", str(line["reason"])[:160]
        rows.append((line["base"], line["fix"], yes, line["verdict"], reason))
    head = f"{counted(right)} right fixes called fixed, {counted(wrong)} wrong; "
    head += f"{counted(offered)} that the triage proposed. "
    for kind, some in (("without", False), ("with", True)):
        seconds = [one["wall_s"] for one in found if one.get("cost") and compiled(one) == some]
        if seconds:
            head += f"Median {kind} a compile: {median(seconds):.1f} s of {len(seconds)}. "
    names = "failing script | change | is a fix | called | because"
    return "\n".join([head, "", *markdown(names, rows), ""])


if __name__ == "__main__":
    main()
