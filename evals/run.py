"""Evals of agents: lay cases out, admit them, try scripted agents, score what an agent left.

    python evals/run.py list
    python evals/run.py admit [CASE …] [--times 3] [--out LEDGER] [--replay]
    python evals/run.py agents [CASE …] [--agent NAME …] [--replay] [--out DIR]
    python evals/run.py lay-out CASE DIR [--arm bare]
    python evals/run.py score DIR [--out DIR]
    python evals/run.py record LEDGER …
    python evals/run.py report RESULTS.jsonl [--html FILE]
    python evals/run.py export OUT

`--python` names the interpreter with torch ($AOTI_DEBUG_PYTHON, else this one); $AOTI_EVALS_CACHE
is where packages and outcomes are kept. Needs no model and no network.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import admit as admission
from harness import answer as answers
from harness import records, report, sandbox
from harness.agents import AGENTS, Agent, Situation, held, kernels_for, kernels_of
from harness.case import Problem, problems
from harness.fix import Fix, fix_verified
from harness.score import Result, judge
from harness.threads import in_threads
from harness.tree import lay_out, sets_torch_up, warm


def main() -> int:
    options = arguments().parse_args()
    return int(options.do(options) or 0)


def parser_of(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser that shows a program's docstring and takes the interpreter."""
    head, _, rest = (doc or "").partition("\n\n")
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=head, epilog=rest, formatter_class=shown)
    given = os.environ.get("AOTI_DEBUG_PYTHON", sys.executable)
    parser.add_argument("--python", default=given, help="interpreter with torch")
    return parser


def arguments() -> argparse.ArgumentParser:
    parser = parser_of(__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="cases side by side")
    todo = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, do: object, what: str) -> argparse.ArgumentParser:
        found = todo.add_parser(name, help=what, description=what)
        found.set_defaults(do=do)
        return found

    command("list", list_cases, "List the cases.")
    one = command("admit", admit, "Check that cases are what they must be.")
    one.add_argument("cases", nargs="*")
    one.add_argument("--times", type=int, default=admission.TIMES, help="planted runs alike")
    one.add_argument("--replay", action="store_true", help="judge what is recorded, run nothing")
    one.add_argument("--needs", choices=("cpu", "gpu", "all"), default="cpu")
    one.add_argument("--seconds", type=float, default=1e9, help="begin nothing after these")
    one.add_argument("--within", type=int, default=1, help="trials of a case side by side")
    one.add_argument("--only", nargs="+", default=(), help="trials: planted, healthy, memcheck …")
    one.add_argument("--triage", action="store_true", help="triage each case too, for its texts")
    one.add_argument("--out", type=Path, help="append what was seen, a JSON document a line")
    one = command("agents", agents, "Try scripted agents, and hold them to their ceilings.")
    one.add_argument("cases", nargs="*")
    one.add_argument("--agent", action="append", choices=AGENTS, default=[])
    one.add_argument("--replay", action="store_true", help="answer from recordings, run nothing")
    one.add_argument("--needs", choices=("cpu", "gpu"), default="cpu")
    one.add_argument("--seconds", type=float, default=1e9, help="begin no case after these")
    one.add_argument("--out", type=Path)
    one = command("lay-out", lay, "Lay a sandbox out for an agent.")
    one.add_argument("case")
    one.add_argument("directory", type=Path)
    one.add_argument("--arm", choices=sandbox.ARMS, default="bare")
    one.add_argument("--guide", type=Path)
    one = command("score", score, "Score what agents left: sandboxes as DIR/ARM/CASE/.")
    one.add_argument("directory", type=Path)
    one.add_argument("--agent", default="subject")
    one.add_argument("--epoch", type=int, default=1)
    one.add_argument("--out", type=Path)
    one = command("record", record, "Keep for replay what `admit --out` has seen.")
    one.add_argument("ledgers", nargs="+", type=Path)
    one = command("report", write_report, "Write tables (and a page) of results.")
    one.add_argument("results", type=Path, nargs="+")
    one.add_argument("--html", type=Path)
    one = command("export", export, "Write the cases for other harnesses.")
    one.add_argument("directory", type=Path)
    return parser


def chosen(names: Sequence[str], needs: str | None = "cpu") -> list[Problem]:
    known = problems()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"there is no case {', '.join(unknown)}; `list` shows them")
    if names:
        return [known[name] for name in names]
    return [one for one in known.values() if needs is None or one.case.needs == needs]


def list_cases(options: argparse.Namespace) -> None:
    for one in problems().values():
        case = one.case
        words = (case.id, case.family, case.level, case.split, case.needs, case.control or "")
        print("{:28} {:22} {:10} {:5} {:4} {}".format(*words))
    print(f"{len(problems())} cases")


def admit(options: argparse.Namespace) -> int:
    """Print a table, and every check that is bad; 1 if any is."""
    cases = chosen(options.cases, None if options.needs == "all" else options.needs)
    cases.sort(key=lambda one: one.case.needs, reverse=True)  # GPUs are lent for a while
    recorded = records.load() if options.replay else None
    found: dict[str, tuple[list[admission.Check], list[admission.Row]]] = {}
    lock, end = threading.Lock(), time.monotonic() + options.seconds

    def keep(document: dict) -> None:
        if options.out:
            with lock, options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(document) + "\n")

    def one(problem: Problem) -> None:
        if recorded is not None:
            rows, at_fault = list(recorded[problem.id].rows), recorded[problem.id].at_fault
        else:
            rows, at_fault = records.made(
                problem,
                options.python,
                options.times,
                keep,
                within=options.within,
                triage=options.triage,
                only=options.only,
                over=lambda: time.monotonic() > end,
            )
        own = admission.checks(problem, rows, at_fault, options.times)
        with lock:
            found[problem.id] = own, rows
            for check in own:
                if check.good is False:
                    print(f"{problem.id}: {check.what}: BAD: {check.finding[:300]}", flush=True)

    in_threads(one, cases, 1 if options.replay else options.jobs)
    print(admission.table({one.id: found[one.id] for one in cases}))
    good = [check.good for own, _ in found.values() for check in own]
    return int(False in good or (None in good and not options.replay))


def agents(options: argparse.Namespace) -> int:
    """Try the agents on the cases; 1 if one leaves the range that is stated for it."""
    wanted = [AGENTS[name] for name in options.agent or AGENTS]
    cases = chosen(options.cases, None if options.replay else options.needs)
    recorded = records.load() if options.replay else None
    if recorded is not None and not options.cases:
        cases = [one for one in cases if one.id in recorded]
    results: list[Result] = []
    lock, end = threading.Lock(), time.monotonic() + options.seconds
    unfinished: list[str] = []

    def keep(found: Result) -> None:
        with lock:
            results.append(found)
            if options.out:  # whole at every moment
                report.write(results, options.out / "results.jsonl")

    def live(problem: Problem) -> None:
        try:
            if time.monotonic() > end:
                raise TimeoutError("the time was over before it")
            try_live(problem, wanted, options.python if sets_torch_up(problem) else python, keep)
        except Exception as error:  # what the others show is not lost
            unfinished.append(problem.id)
            print(f"{problem.id}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)

    if recorded is None:
        cases.sort(key=lambda one: not one.truth.verify)  # what takes longest first
        with warm(options.python) as python:
            in_threads(live, cases, options.jobs)
    else:
        for problem in cases:
            for agent in wanted:
                keep(records.replay(problem, agent, recorded[problem.id]))
    if recorded is not None and "gold" in {agent.name for agent in wanted}:
        results += [
            records.tool(one, recorded[one.id]) for one in cases if recorded[one.id].triaged
        ]
        if options.out:
            report.write(results, options.out / "results.jsonl")
    print(report.table(results))
    if unfinished:
        print(f"not finished: {', '.join(unfinished)}")
    return held(results, wanted, cases, replayed=recorded is not None) or int(bool(unfinished))


def try_live(
    problem: Problem, wanted: Sequence[Agent], python: str, keep: Callable[[Result], None]
) -> None:
    """Lay the case out, let scripted agents answer, and run their patches, each once."""
    known: dict[str, Fix] = {}

    def fix(patch: str) -> Fix:
        if patch not in known:
            known[patch] = fix_verified(problem, patch, python)
        return known[patch]

    with tempfile.TemporaryDirectory(prefix="aoti-eval-") as folder:
        project = Path(folder, "project")
        lay_out(problem, project, python)
        package = admission.planted_package(problem, python)
        kernels = kernels_of(package) if package else []
        at_fault = kernels_for(kernels, problem.truth.kernel_of)
        seen = Situation(problem, project, [name for name, _ in kernels], at_fault)
        for agent in wanted:
            began = time.monotonic()
            found = judge(problem, agent.answer(seen), agent=agent.name, fix=fix, kernels=at_fault)
            cost = sandbox.Cost(wall_s=round(time.monotonic() - began, 1))
            keep(replace(found, cost=cost))


def lay(options: argparse.Namespace) -> None:
    problem = chosen([options.case])[0]
    box = sandbox.make(
        problem, options.directory.resolve(), options.arm, options.python, options.guide
    )
    print(box.root / "PROMPT.md")


def score(options: argparse.Namespace) -> None:
    """Score DIR/ARM/CASE/answer.json and fix.patch."""
    results = []
    for folder in sorted(options.directory.glob("*/*")):
        if folder.parent.name in sandbox.ARMS and folder.name in problems():
            results.append(score_sandbox(folder, options.agent, options.python, options.epoch))
            print(json.dumps(results[-1].document()), file=sys.stderr, flush=True)
    if options.out:
        report.write(results, options.out)
    print(report.table(results))


def score_sandbox(folder: Path, agent: str, python: str, epoch: int = 1) -> Result:
    """Score what an agent left in a sandbox."""
    problem = problems()[folder.name]
    box = sandbox.Sandbox(folder, folder.parent.name, python)  # type: ignore[arg-type]
    error = None
    try:
        answer = answers.read(folder)
    except answers.BadAnswer as wrong:
        answer, error = None, str(wrong)
    at_fault = admission.names_at_fault(problem, python) if problem.truth.kernel_of else []
    return judge(
        problem,
        answer,
        agent=agent,
        arm=box.arm,
        epoch=epoch,
        error=error,
        kernels=at_fault,
        fix=lambda patch: fix_verified(problem, patch, python),
        cost=sandbox.cost(box),
    )


def record(options: argparse.Namespace) -> None:
    records.pack(options.ledgers)


def write_report(options: argparse.Namespace) -> None:
    documents = [one for path in options.results for one in report.read(path)]
    print(report.tables(documents))
    if options.html:
        options.html.write_text(report.page(documents), "utf-8")
        print(options.html)


def export(options: argparse.Namespace) -> None:
    answers.write(options.directory)
    print(options.directory)


if __name__ == "__main__":
    sys.exit(main())
