"""Outline each answer: what it found first, how it was found after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import singledispatch

from aoti_debug.answers import (
    Check,
    EnvironmentAnswer,
    ExplainAnswer,
    MinifyAnswer,
    PackageAnswer,
    Problem,
    RunsAnswer,
    RunSummary,
    StageAnswer,
    TriageAnswer,
    VerifyAnswer,
)
from aoti_debug.examine.answers import ExamineAnswer
from aoti_debug.model import DiagnoseAnswer, Diagnosis, Model, Step
from aoti_debug.plain import times
from aoti_debug.report.diagnosis import (
    brief,
    input_item,
    outline_diagnosis,
    outline_log,
    slice_section,
    values_section,
    where_section,
)
from aoti_debug.report.package import outline_package
from aoti_debug.report.text import Item, Outline, Section, Tone, extended, following, section
from aoti_debug.sweep.answer import SweepAnswer


def _named(title: str, words: Mapping[str, str]) -> Section:
    return section(title, *(Item(name, said) for name, said in words.items()))


@singledispatch
def outline(answer: Model) -> Outline:
    """Outline any answer; those without a form of their own field by field."""
    fields = answer.document()
    return Outline(
        headline=type(answer).__name__.removesuffix("Answer"),
        sections=tuple(Section(_words(key), tuple(_any(value))) for key, value in fields.items()),
    )


outline.register(Diagnosis, outline_diagnosis)
outline.register(DiagnoseAnswer, outline_log)


@outline.register
def _(answer: ExplainAnswer) -> Outline:
    """Outline a kernel: why it failed first, then what it is."""
    users, name = answer.user_kernel, answer.kernel.name
    own = Item(f"{users.file}:{users.line}", "your kernel", users.text or "") if users else None
    return Outline(
        answer.summary,
        "fault" if answer.category else "plain",
        tuple(filter(None, (answer.category, answer.confidence))),
        (
            where_section(answer, own),
            section("Why", input_item(answer.input)),
            slice_section(answer.slice),
            values_section(answer.values),
            _named("Arguments", answer.arguments),
            _named("Sizes", answer.sizes),
            section("Fed by", *answer.chain),
            section("Checked", *answer.checked),
            section("Not checked", *answer.unchecked),
            section("Code", Item(f"of {name}", quote=answer.code, whole=True, language="python"))
            if answer.code
            else section("Code"),
            section("Fix", *(Item(fix.what, fix.why or "") for fix in answer.fixes)),
            following(answer.next),
            section("Notes", *answer.notes),
        ),
        foot=f"run {answer.run}" if answer.run else answer.package or "",
    )


@outline.register
def _(answer: ExamineAnswer) -> Outline:
    from aoti_debug.report.examined import outline_examined

    return outline_examined(answer)


@outline.register
def _(answer: SweepAnswer) -> Outline:
    from aoti_debug.report.sweep import outline_sweep

    return outline_sweep(answer)


@outline.register
def _(answer: StageAnswer) -> Outline:
    if answer.time is not None:
        from aoti_debug.report.time import outline_time

        return outline_time(answer, answer.time)
    acted = {True: "it acted", False: "it could not act", None: ""}[answer.acted]
    said = (f"stage {answer.stage}", acted, answer.exit, _s(answer.wall_s))
    stage = Item(", ".join(filter(None, said)), answer.why or "")
    if answer.diagnosis is None and answer.status == "done":
        found = "could not act" if answer.acted is False else "showed no fault"
        tone: Tone = "doubt" if answer.acted is False else "fine"
        main = Outline(f"stage {answer.stage} {found}", tone, foot=f"run {answer.run}")
    else:
        main = _main(answer.diagnosis, answer.run, answer.status)
    return extended(
        main,
        section("Stage", stage),
        section("Observed", *answer.observed),
        section("Set", *(f"{name}={value}" for name, value in answer.environment.items())),
        section("Files", ", ".join(answer.artifacts)),
        section("Notes", *answer.notes),
    )


@outline.register
def _(answer: TriageAnswer) -> Outline:
    return extended(
        _main(answer.diagnosis, answer.run, answer.status),
        section("Also possible", *map(brief, answer.also)),
        section("Steps", *map(_step, answer.steps)),
        section("Files", ", ".join(answer.artifacts)),
        section("Notes", *answer.notes),
    )


@outline.register
def _(answer: VerifyAnswer) -> Outline:
    if answer.verdict is None:
        return extended(_main(None, answer.run, answer.status), section("Notes", *answer.notes))
    tones: dict[str, Tone] = {"fixed": "fine", "undecided": "doubt"}
    failure = map(brief, filter(None, [answer.diagnosis]))
    checks = sorted(answer.checks, key=lambda check: list(_CHECK_MARKS).index(check.result))
    return Outline(
        f"{answer.verdict}: {answer.reason}",
        tones.get(answer.verdict, "fault"),
        sections=(
            section("Failure", *failure, answer.against),
            section("Checks", *map(_check, checks)),
            section("Changed", *answer.changed),
            section("Cost", *answer.cost),
            section("Files", ", ".join(answer.artifacts)),
            section("Notes", *answer.notes),
        ),
        foot=f"run {answer.run}",
    )


_CHECK_MARKS = {"bad": "✗", "unknown": "?", "good": "✓"}  # worst first


def _check(check: Check) -> Item:
    return Item(f"{_CHECK_MARKS[check.result]} {check.what}", check.finding)


@outline.register
def _(answer: MinifyAnswer) -> Outline:
    notes = section("Notes", *answer.notes)
    if answer.reproduced is None:
        return extended(_main(answer.diagnosis, answer.run, answer.status), notes)
    before = f"of {answer.nodes_before} operators" if answer.nodes_before else "operators"
    said = f"reproduced by {answer.nodes} {before}" if answer.reproduced else "not reproduced"
    return Outline(
        f"{said}: {answer.signature or answer.confirmed}",
        "fault" if answer.reproduced else "doubt",
        sections=(
            section("Where", answer.source),
            section("Script", answer.repro, answer.repro_kernel),
            section("Confirmed", answer.confirmed),
            section("Search", answer.ended, times(answer.candidates, "candidate")),
            section("Also seen", *answer.also_seen),
            following(answer.next),
            notes,
        ),
        foot=f"run {answer.run}",
    )


@outline.register
def _(answer: EnvironmentAnswer) -> Outline:
    broken = sum(problem.severity == "breaks" for problem in answer.problems)
    what = times(broken, "thing") if broken else "nothing"
    facts = {
        "python": " ".join(filter(None, (answer.python_version, answer.python))),
        "torch": answer.torch,
        "torch for CUDA": answer.torch_cuda,
        "triton": answer.triton,
        "driver": answer.driver,
        "compiler": answer.compiler,
    }
    return Outline(
        f"{what} here would break a run",
        "fault" if broken else "doubt" if answer.problems else "fine",
        sections=(
            section("Problems", *map(problem_item, answer.problems)),
            section("Versions", *(f"{name} {value}" for name, value in facts.items() if value)),
            section("Devices", *answer.devices),
            _named("Tools", answer.tools),
            section("Set here", *(f"{name}={value}" for name, value in answer.variables.items())),
            section("Not inherited", *answer.not_inherited),
            section("Notes", *answer.notes),
        ),
    )


@outline.register
def _(answer: PackageAnswer) -> Outline:
    return outline_package(answer, section("Problems", *map(problem_item, answer.problems)))


@outline.register
def _(answer: RunsAnswer) -> Outline:
    return Outline(
        f"{times(len(answer.runs), 'run is', 'runs are')} kept",
        sections=(section("Runs", *map(_run, answer.runs)),),
    )


def problem_item(problem: Problem) -> Item:
    """Say a problem: what, how bad, what to do; quoted are the words one would see otherwise."""
    detail = "; ".join(filter(None, (problem.severity.replace("_", " "), problem.fix)))
    return Item(problem.what, detail, problem.message or "")


def _main(diagnosis: Diagnosis | None, run: str, status: str) -> Outline:
    if diagnosis is None:
        return Outline(f"no diagnosis: the run is {status}", "doubt", foot=f"run {run}")
    main = outline_diagnosis(diagnosis)
    if status != "done":
        main = replace(main, tags=(*main.tags, f"run {status}"))
    return main if diagnosis.run else replace(main, foot=f"run {run}")


def _step(step: Step) -> Item:
    words = {"impossible": "not possible: ", "skipped": "skipped: "}
    text = f"{step.name}: {words.get(step.status, '')}{step.finding or step.why}"
    return Item(text, ", ".join(filter(None, (step.exit, _s(step.wall_s)))))


def _run(run: RunSummary) -> Item:
    said = run.summary or run.exit or run.status
    detail = ", ".join(filter(None, (run.kind, run.status, run.started, _s(run.wall_s))))
    return Item(f"{run.run}  {said}", f"{run.command} ({detail})")


def _s(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.1f} s"


def _words(key: str) -> str:
    return key.replace("_", " ").capitalize()


def _any(value: object) -> Iterable[Item]:
    if isinstance(value, dict):
        return [Item(f"{_words(str(key))}: {_flat(item)}") for key, item in value.items()]
    if isinstance(value, list):
        return [Item(_flat(item)) for item in value]
    return [Item(str(value))]


def _flat(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_flat(item)}" for key, item in value.items())
    if isinstance(value, list):
        return "[" + ", ".join(map(_flat, value)) + "]"
    return str(value)
