"""The rules by which an answer is scored (README.md says them), and the table of the scores."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median

NOT_SCORED = ("not compiled", "fails by itself", "no answer")
HARMLESS = ("false_alarm", "no_fault")  # what may be said of a layout that changes no value


def healthy(ran: dict, compiled: bool, *, fails: bool = False) -> dict:
    """Score the answer to a healthy script; `fails`: without triage it fails too."""
    said = told(ran)
    outcome = "right" if said["category"] == "no_fault" else "false alarm"
    if not compiled:
        outcome = "not compiled"
    elif fails:
        outcome = "fails by itself"
    elif not ran["answer"]:
        outcome = "no answer"
    return {**said, "outcome": outcome}


def fault(ran: dict, expected: dict, lines: dict, runs: Path) -> dict:
    """Score the answer to a planted fault; `runs` holds the directories of the runs."""
    said = told(ran)
    if not ran["answer"]:
        return {**said, "outcome": "no answer"}
    printed = (runs / said["run"] / "stdout.log").read_text(encoding="utf-8") if said["run"] else ""
    if expected["line"] == "weight":
        expected = {**expected, "input": printed.partition("spoilt: ")[2].partition("\n")[0]}
    if "harm: no\n" in printed:
        right = said["category"] in HARMLESS
        outcome = "right" if right else "missed"
        return {**said, "category_right": right, "outcome": outcome, "harmless": True}
    right = {
        "category_right": said["category"] == expected["category"],
        "input_right": input_right(said, expected, lines),
        "line_right": line_right(said, expected, lines),
    }
    outcome = "right" if all(right.values()) else "missed"
    return {**said, **right, "outcome": outcome, "expected": expected}


def told(ran: dict) -> dict:
    best = ran["answer"].get("diagnosis") or {}
    return {
        "category": best.get("category"),
        "confidence": best.get("confidence"),
        "summary": (best.get("summary") or ran["stderr"][-300:])[:500],
        "input": best.get("input"),
        "kernel": (best.get("kernel") or {}).get("name"),
        "source": [[s["file"], s["line"]] for s in best.get("source", [])],
        "steps": [[s["name"], s["status"]] for s in ran["answer"].get("steps", [])],
        "run": best.get("run"),
        "wall_s": ran["wall_s"],
    }


def input_right(said: dict, expected: dict, lines: dict) -> bool:
    given = said["input"] or {}
    if expected["line"] == "weight":
        return bool(said["kernel"]) or expected["input"] in said["summary"]
    if expected["line"] == "index" and not given:
        return bool(said["kernel"])
    return given.get("name") == expected["input"] or given.get("index") == expected["index"]


def line_right(said: dict, expected: dict, lines: dict) -> bool:
    source = [(file, line) for file, line in said["source"]]
    where = expected["line"]
    if where == "call":
        own = {(f, n) for f, n in source if Path(f).name == "serve.py"}
        return all(line in own or list(line) in lines.get(expected["input"], []) for line in source)
    wanted = lines.get("*index" if where == "index" else expected["input"], [])
    return any(list(line) in wanted for line in source)


def one_line(row: dict) -> str:
    wrong = [k for k in ("category", "input", "line") if row.get(f"{k}_right") is False]
    what = f"{row['outcome']}{' (' + ', '.join(wrong) + ')' if wrong else ''}"
    return (
        f"{row['architecture']:28} {row['fault']:10} {row['wall_s']:7.1f} s  {what}: "
        f"{row['category']} {row['summary'][:110]}"
    )


def table(rows: list[dict]) -> str:
    """Return the table in Markdown: a row an architecture, then what was missed."""
    answered = [r for r in rows if r["outcome"] not in NOT_SCORED]
    sound = [r for r in answered if r["fault"] == "healthy"]
    planted = [r for r in answered if r["fault"] != "healthy"]
    alarms = [r for r in sound if r["outcome"] != "right"]
    missed = [r for r in planted if r["outcome"] != "right"]
    harmless = sum(r.get("harmless", False) for r in planted)
    ratios = [r["wall_s"] / r["alone_s"] for r in sound if r.get("alone_s")]
    timed = ""
    if ratios:
        timed = f"; healthy triage takes {median(ratios):.2f} times the script alone (median of "
        timed += f"{len(ratios)} pairs)"
    text = [
        f"{len(sound)} healthy, {len(alarms)} false alarms; {len(planted)} planted, "
        f"{len(planted) - len(missed)} found with category, input or kernel, and line "
        f"({harmless} of them layouts that change no value, found not to be blamed)"
        f"{timed}. {len(rows) - len(answered)} did not compile, fail by themselves or gave no "
        "answer in time.",
        "",
        "| architecture | from | compiled as | healthy | faults found | missed |",
        "|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(r["architecture"] for r in rows):
        own = [r for r in rows if r["architecture"] == name]
        state = next((r["outcome"] for r in own if r["fault"] == "healthy"), "")
        found = " ".join(r["fault"] for r in own if r in planted and r not in missed)
        lost = " ".join(r["fault"] for r in own if r in missed)
        text.append(
            f"| {name} | {own[0]['library']} | {own[0]['ways']} | {state} | {found} | {lost} |"
        )
    text += ["", *(f"- {one_line(r)}" for r in rows if r["outcome"] != "right")]
    return "\n".join(text) + "\n"


def every_task(device: str) -> list[dict]:
    """Return what can be done with each architecture; imports torch."""
    import architectures

    found = []
    for name, case in architectures.CASES.items():
        told = {"architecture": name, "library": case.library, "ways": case.ways}
        late = name in architectures.LATE
        wanted = expected(case, device)
        found.append({"architecture": name, "case": told, "expected": wanted, "late": late})
    return found


def expected(case, device: str) -> dict:
    """Return what a triage must say of each fault that can be planted in a case; imports torch."""
    import architectures
    import faults

    inputs = architectures.inputs_of(case, "cpu")
    found = {}
    for planted in faults.applying(case, inputs, device):
        known = faults.FAULTS[planted]
        spoilt = next(iter(inputs)) if planted == "device" else known.input_of(case, inputs)
        index = list(inputs).index(spoilt)
        found[planted] = {"category": known.category, "input": spoilt, "index": index}
        found[planted]["line"] = known.line
    return found


if __name__ == "__main__":
    print(json.dumps(every_task(sys.argv[1])))
