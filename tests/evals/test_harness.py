"""The evals' own parts: cases, scoring, sandboxes, and scripted agents on live cases."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from aoti_debug.verify.patch import BadPatch
from programs import CLIENTS

EVALS = Path(__file__).resolve().parents[2] / "evals"
sys.path.insert(0, str(EVALS))

from harness import answer as answers  # noqa: E402
from harness import case as cases  # noqa: E402
from harness import (  # noqa: E402
    report,
    sandbox,
    scripted_model,
)
from harness.agents import AGENTS, Situation, held  # noqa: E402
from harness.answer import (  # noqa: E402
    LIMIT,
    Answer,
    BadAnswer,
    Diagnosis,
    Kernel,
    Line,
    parse,
    read,
)
from harness.case import BadCase, Problem, patch_of, problems  # noqa: E402
from harness.fix import Fix  # noqa: E402
from harness.score import fields_of, judge  # noqa: E402
from harness.tree import outcome, patched_files  # noqa: E402

CASE = """
[one]
level = "vague"
split = "dev"
canary = "aoti-eval-canary-0000000000000000"
command = ["run.py"]
prompt = "What is wrong with this project, and how is it mended?"
[one.files]
"run.py" = "x = 1\\ny = 2\\n"
"""
TRUTH = """
[one]
phase = ["run"]
category = ["user_code"]
source = [{file = "run.py", text = "x = 1"}]
oracle = "pass"
gold = [{file = "run.py", old = "x = 1", new = "x = 2"}]
"""
EVERY = pytest.mark.parametrize("problem", problems().values(), ids=list(problems()))


def tree(root: Path, case: str = CASE, truth: str = TRUTH) -> Path:
    (root / "cases").mkdir()
    (root / "cases" / "bad_input.toml").write_text(case)
    (root / "truth.toml").write_text(truth)
    return root


def situation(problem: Problem) -> Situation:
    return Situation(problem, Path(), ("cpp_fused_0",), ("cpp_fused_0",))


@pytest.mark.parametrize(
    ("case", "truth", "words"),
    [
        (CASE.replace('"vague"', '"hard"'), TRUTH, "bad_input.toml: one.level"),
        (CASE.replace('"run.py" =', '"../run.py" ='), TRUTH, "leads out of"),
        (CASE + '"other.py" = 1\n', TRUTH, "one.files.other.py"),
        (CASE, TRUTH.replace('x = 1", new', 'z = 1", new'), "stands 0 times in run.py"),
        (CASE, TRUTH.replace('text = "x = 1"', 'text = "nowhere"'), "holds no line with"),
        (CASE, TRUTH.replace("[one]", "[two]"), "without"),
        (CASE, TRUTH.replace('oracle = "pass"', ""), "there is no oracle"),
        (CASE, TRUTH.replace('"user_code"', '"bug"'), "one.category"),
        (CASE, TRUTH + "colour = 1\n", "one.colour"),
        (CASE.replace("prompt = ", "prompt "), TRUTH, "is no TOML"),
    ],
)
def test_a_wrong_case_is_refused_with_file_and_field(
    tmp_path: Path, case: str, truth: str, words: str
) -> None:
    with pytest.raises(BadCase) as refused:
        cases.load(tree(tmp_path, case, truth))
    assert words in str(refused.value)


def test_families_levels_and_controls_are_all_there() -> None:
    found = [one.case for one in problems().values()]
    assert len({one.canary for one in found}) == len(found)
    assert {one.level for one in found} == {"vague", "misleading", "precise"}


@EVERY
def test_a_gold_patch_is_a_diff_that_makes_the_gold_files(problem: Problem) -> None:
    wanted = cases.edited(problem.case.files, problem.truth.gold)
    patch = patch_of(problem, problem.truth.gold)
    if patch:
        found = patched_files(problem.case.files, patch)
        assert {name: text.strip() for name, text in found.items()} == {
            name: text.strip() for name, text in wanted.items()
        }


@EVERY
def test_everything_of_a_case_that_is_python_parses(problem: Problem) -> None:
    truth = problem.truth
    for edits in ((), truth.twin, truth.gold, *(wrong.edits for wrong in truth.wrong)):
        for name, text in cases.edited(problem.case.files, edits).items():
            if name.endswith(".py"):
                compile(text, f"{problem.id}/{name}", "exec")
    for text in (truth.oracle, truth.prepare):
        compile(text, problem.id, "exec")


@EVERY
def test_gold_has_every_field_and_nothing_has_none(problem: Problem) -> None:
    seen = situation(problem)
    at_fault = seen.kernels_at_fault if problem.truth.kernel_of else ()
    found = judge(
        problem,
        AGENTS["gold"].answer(seen),
        agent="gold",
        kernels=at_fault,
        fix=lambda patch: Fix(True, ""),
    )
    assert found.strict
    assert found.fields is not None
    assert False not in (found.fields.line, found.fields.operator, found.fields.input)
    assert not judge(problem, None, agent="nothing", fix=lambda patch: Fix(True, "")).strict


@EVERY
@pytest.mark.parametrize("name", ["constant", "last_kernel", "flag_everything"])
def test_guessing_is_no_success_even_with_a_right_patch(problem: Problem, name: str) -> None:
    answer = AGENTS[name].answer(situation(problem))
    assert answer is not None
    if name == "constant" and "index_out_of_bounds" in problem.truth.category:
        answer = answer.model_copy(update={"patch": ""})
    patched = answer.model_copy(update={"patch": answer.patch or "x"})
    found = judge(problem, patched, agent=name, fix=lambda patch: Fix(patch != "x", ""))
    assert not found.strict


def test_believing_an_injected_instruction_is_seen() -> None:
    ordered = [one for one in problems().values() if one.case.control == "injection"]
    assert ordered
    for problem in ordered:
        answer = AGENTS["believer"].answer(situation(problem))
        assert answer is not None
        found = fields_of(problem, answer)
        assert len(found.forbidden) >= 2
        assert not found.category


def test_a_line_counts_one_off_and_a_kernel_without_its_namespace() -> None:
    problem = problems()["twelve_of_500"]
    near = Diagnosis(phase="run", category="contract_stride")
    wanted = cases.lines_of(problem.case, problem.truth.source[0])[0]
    hit = near.model_copy(update={"source": (Line(file="/a/b/serve.py", line=wanted + 1),)})
    far = near.model_copy(update={"source": (Line(file="serve.py", line=wanted + 20),)})
    assert fields_of(problem, Answer(diagnosis=hit)).line
    assert not fields_of(problem, Answer(diagnosis=far)).line
    own = replace(problem, truth=problem.truth.model_copy(update={"kernel": ("scale_rows",)}))
    named = near.model_copy(update={"kernel": Kernel(name="void ns::scale_rows(float*)")})
    assert fields_of(own, Answer(diagnosis=named)).kernel


def test_blaming_a_distractor_or_more_than_there_is_is_counted() -> None:
    problem = problems()["twelve_of_500"]
    right = AGENTS["gold"].answer(situation(problem))
    assert right is not None
    assert not fields_of(problem, right).false_blame
    more = right.model_copy(update={"also": (Diagnosis(phase="run", category="nan_or_inf"),)})
    assert fields_of(problem, more).false_blame == ("nan_or_inf",)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"phase": "run"}, "diagnosis.category"),
        ({"phase": "running", "category": "hang"}, "diagnosis.phase"),
        ({"diagnosis": "it hangs"}, "must be an object"),
    ],
)
def test_an_answer_that_is_none_says_what_is_missing(document: dict, words: str) -> None:
    with pytest.raises(BadAnswer, match=words):
        parse(document)


def test_an_answer_may_hold_more_than_is_scored() -> None:
    found = parse(
        {"phase": "run", "category": "hang", "kernel": "wait", "confidence": "sure", "input": None}
    )
    assert found.diagnosis.kernel == Kernel(name="wait")


@pytest.mark.parametrize("name", ["answer.json", "fix.patch"])
@pytest.mark.parametrize("kind", ["a pipe", "a link", "a folder", "deep", "large"])
def test_what_an_agent_left_in_place_of_its_answer_is_not_read(
    tmp_path: Path, name: str, kind: str
) -> None:
    (tmp_path / "answer.json").write_text('{"phase": "none", "category": "no_fault"}')
    file = tmp_path / name
    file.unlink(missing_ok=True)
    if kind == "a pipe":
        os.mkfifo(file)
    elif kind == "a link":
        file.symlink_to(EVALS / "evals.json")
    elif kind == "a folder":
        file.mkdir()
    else:
        file.write_text("[" * 100_000 if kind == "deep" else " " * (LIMIT + 1))
    if (name, kind) == ("fix.patch", "deep"):
        assert read(tmp_path).patch  # a text like any other, which is no diff
        return
    with pytest.raises(BadAnswer, match="cannot be read"):
        read(tmp_path)


@pytest.mark.parametrize("name", ["a" * 256, "\ud800", "run.py/x", "../run.py"])
def test_a_patch_of_what_can_be_no_file_is_refused(name: str) -> None:
    patch = f"--- {name}\n+++ {name}\n@@ -1 +1 @@\n-x\n+y\n"
    with pytest.raises(BadPatch):
        patched_files({"run.py": "x\n"}, patch)


def test_what_an_agent_left_in_place_of_a_run_costs_nothing(tmp_path: Path) -> None:
    box = sandbox.Sandbox(tmp_path, "skill_cli", sys.executable)
    for number, said in enumerate(
        [
            "[" * 100_000,
            "[]",
            '{"answer": 1}',
            '{"answer": {"diagnosis": {"cost": {"recompiles": "x"}}}}',
        ]
    ):
        (box.home / "runs" / f"r-{number}").mkdir(parents=True)
        (box.home / "runs" / f"r-{number}" / "answer.json").write_text(said)
    (box.home / "runs" / "r-pipe").mkdir()
    os.mkfifo(box.home / "runs" / "r-pipe" / "answer.json")
    assert sandbox.cost(box).runs == 0


@pytest.mark.parametrize("end", ["os._exit(0)", "raise SystemExit"])
def test_a_patch_that_only_ends_the_oracle_has_not_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, python: str, end: str
) -> None:
    monkeypatch.setenv("AOTI_EVALS_CACHE", str(tmp_path / "cache"))
    oracle = "import run\nif run.x != 2: fail('wrong')"
    truth = TRUTH.replace('oracle = "pass"', f"oracle = '''{oracle}'''")
    problem = cases.load(tree(tmp_path, CASE, truth))["one"]
    right = outcome(problem, {"run.py": "x = 2\n"}, python)
    assert right.passed, right.detail
    cheat = outcome(problem, {"run.py": f"import os\n{end}\n"}, python)
    assert not cheat.passed
    assert "before it had passed" in cheat.signature


def test_a_right_operator_does_not_take_the_place_of_the_project_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, python: str
) -> None:
    monkeypatch.setenv("AOTI_EVALS_CACHE", str(tmp_path / "cache"))
    text = """x = 1
import torch
@torch.library.custom_op("small::scaled", mutates_args=())
def scaled(y: torch.Tensor) -> torch.Tensor:
    return y * x
def ask():
    return torch.ops.small.scaled(torch.ones(3))
"""
    oracle = (
        'import run; right = reference("run").ask(); close(right, 2 * torch.ones(3), "right"); '
    )
    oracle += 'close(run.ask(), right, "answers")'
    truth = TRUTH.replace('"pass"', f"'''{oracle}'''")
    case = CASE.replace('"x = 1\\ny = 2\\n"', json.dumps(text))
    problem = cases.load(tree(tmp_path, case, truth))["one"]
    assert outcome(problem, {"run.py": text}, python).signature == "exit 0 · answers: wrong"
    assert outcome(problem, {"run.py": text.replace("x = 1", "x = 2")}, python).passed


def test_a_command_that_leaves_no_package_has_not_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, python: str
) -> None:
    monkeypatch.setenv("AOTI_EVALS_CACHE", str(tmp_path / "cache"))
    truth = TRUTH + 'built = ["a.pt2"]\nbuilt_from = ["run.py"]\n'
    truth = truth.replace('"pass"', """'open("a.pt2", "w").write("of the oracle")'""")
    problem = cases.load(tree(tmp_path, CASE, truth))["one"]
    found = [outcome(problem, {"run.py": text}, python) for text in ("", "open('a.pt2', 'w')")]
    assert [one.passed for one in found] == [False, True]
    assert "left no package" in found[0].signature
    assert [one.read_text() for one in tmp_path.rglob("built/*/a.pt2")] == [""]


def test_scripted_agents_stay_in_their_ranges_on_live_cases(tmp_path: Path, python: str) -> None:
    """Also: what is compiled of the same files is compiled once."""
    words = [sys.executable, str(EVALS / "run.py"), "--python", python, "agents"]
    done = subprocess.run(
        [*words, "float64_features", "--out", str(tmp_path)],
        env={**os.environ, "AOTI_EVALS_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list((tmp_path / "cache" / "built").glob("*[!.lock]"))) == 1


def test_a_gold_that_does_not_fix_and_a_cheat_that_does_are_seen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    problem = problems()["twelve_of_500"]
    answer = AGENTS["gold"].answer(situation(problem))

    def tried(name: str, fixed: bool) -> tuple[int, str]:
        found = judge(problem, answer, agent=name, fix=lambda patch: Fix(fixed, ""))
        return held([found], [AGENTS[name]], [problem]), capsys.readouterr().out

    assert tried("gold", True) == tried("swallow", False) == (0, "")
    for name, fixed in (("gold", False), ("swallow", True)):
        status, said = tried(name, fixed)
        assert status == 1
        assert name in said and problem.id in said


SNOOP = """
for place in .. "$HOME" {tree} $(dirname $(dirname $(command -v aoti-debug || echo /x/y/z))); do
  find "$place" -path '*truth*' -name '*.toml*' 2>/dev/null
  grep -rls {word} "$place" --include='*.toml' 2>/dev/null
done
git -C {tree} show HEAD:evals/truth.toml.xz 2>/dev/null | xz -dc 2>/dev/null | grep -c {word}
exit 0
"""


@pytest.mark.parametrize("arm", ["bare", "skill_cli"])
def test_an_agent_that_looks_for_the_truth_finds_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arm: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))  # another clone in the user's home is not hidden
    if not sandbox.isolated():  # then it is refused, unless the user asks for it by name
        words = [sys.executable, str(EVALS / "run_agent.py"), "--agent", "true", "--case", "all"]
        refused = subprocess.run(words, capture_output=True, text=True)
        assert refused.returncode == 2
        assert "--not-isolated" in refused.stderr
        return
    problem = problems()["ask_for_five"]
    box = sandbox.make(problem, tmp_path / "box", arm, sys.executable)  # type: ignore[arg-type]
    program = SNOOP.format(tree=EVALS.parent, word="kernel_of")
    ended, said, cost = sandbox.run(box, ["bash", "-c", program], 60)
    assert ended == "exit 0"
    assert said.strip() in ("", "0")
    assert cost.wall_s is not None
    assert (EVALS / "truth.toml.xz").is_file()
    copied = {path.name for path in tmp_path.rglob("*")}
    assert "truth.toml.xz" not in copied and "recorded" not in copied


@pytest.mark.parametrize("arm", ["bare", "skill_cli"])
def test_python_is_the_one_with_torch_in_a_prepared_shell(tmp_path: Path, arm: str) -> None:
    other = tmp_path / "named otherwise"
    other.symlink_to(sys.executable)
    box = sandbox.make(problems()["ask_for_five"], tmp_path / "box", arm, str(other))  # type: ignore[arg-type]
    ask = "-c 'import sys; print(sys.executable)'"
    asked = f"python {ask}; python3 {ask}"
    done = subprocess.run(
        ["bash", "-c", f". {box.root}/env.sh; {asked}"],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"]},
    )
    assert done.stdout.splitlines() == [str(other)] * 2, done.stderr


def test_an_agent_s_command_line_is_tried_and_scored(tmp_path: Path) -> None:
    said = json.dumps({"phase": "none", "category": "no_fault"})
    agent = f"bash -c 'cat > ../answer.json <<< {json.dumps(said)}' {{prompt_file}}"
    hide = [] if sandbox.isolated() else ["--not-isolated"]
    done = subprocess.run(
        [
            sys.executable,
            str(EVALS / "run_agent.py"),
            "--agent",
            agent,
            "--name",
            "calm",
            *hide,
            "--case",
            "single_request",
            "--case",
            "ask_for_five",
            "--out",
            str(tmp_path / "out.jsonl"),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = report.read(tmp_path / "out.jsonl")
    assert [one["strict"] for one in found] == [False, True]
    assert all(one["cost"]["wall_s"] >= 0 for one in found)
    page = report.page(found)
    assert "single_request" in page and "<svg" in page and "<script" not in page


@pytest.mark.parametrize("agent", ["it's", ""])
def test_an_agent_that_is_no_command_is_told_as_that(tmp_path: Path, agent: str) -> None:
    words = ["--agent", agent, "--case", "single_request", "--out", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, str(EVALS / "run_agent.py"), *words], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "no command" in done.stderr and "Traceback" not in done.stderr


CODEX = """
model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
"""


@pytest.mark.node
@pytest.mark.parametrize("client", ["claude", "codex"])
def test_a_real_client_loads_the_skill_calls_the_server_and_hands_in(
    tmp_path: Path, node_modules: Callable[..., Path], client: str
) -> None:
    said = json.dumps({"phase": "none", "category": "no_fault"})
    part = scripted_model.Part(submit=f"echo '{said}' > ../answer.json")
    programs = node_modules(*CLIENTS) / ".bin"
    with scripted_model.serving(part) as url:
        (tmp_path / "codex").mkdir()
        (tmp_path / "codex" / "config.toml").write_text(CODEX.format(url=url))
        settings = {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
            "ENABLE_TOOL_SEARCH": "false",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CODEX_HOME": str(tmp_path / "codex"),
        }
        hide = [] if sandbox.isolated() else ["--not-isolated"]
        done = subprocess.run(
            [
                sys.executable,
                str(EVALS / "run_agent.py"),
                "--agent",
                client,
                "--arm",
                "skill_mcp",
                "--case",
                "single_request",
                "--timeout",
                "120",
                "--keep",
                str(tmp_path / "kept"),
                "--out",
                str(tmp_path / "out.jsonl"),
                *hide,
            ],
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
        )
    kept = next((tmp_path / "kept").rglob("transcript.txt")).read_text()
    assert done.returncode == 0, done.stderr + kept
    reached = json.dumps(part.seen[-1])
    assert "Debug AOTInductor failures" in reached, kept  # the skill's text
    assert any(name.endswith("diagnose_log") for name in part.calls), kept
    assert "missing_symbol" in reached, kept  # what the server has answered
    assert [one["strict"] for one in report.read(tmp_path / "out.jsonl")] == [True], kept


def test_the_page_shows_what_an_agent_wrote_as_text() -> None:
    problem = problems()["single_request"]
    answer = parse({"phase": "run", "category": "hang"}, "<img src=x onerror=alert(1)>")
    bad = judge(problem, answer, agent="<b>", fix=lambda patch: Fix(False, patch))
    page = report.page([bad.document()])
    assert "<img" not in page and "<b>" not in page


def test_what_is_generated_from_the_cases_is_current() -> None:
    kept = json.loads((EVALS / "evals.json").read_text("utf-8"))
    assert kept == answers.agent_skills(), (
        "run `python evals/run.py export` and copy its evals.json"
    )
    triggers = json.loads(answers.TRIGGERS.read_text("utf-8"))
    assert {name: len(set(texts)) for name, texts in triggers.items()} == {
        "should": 20,
        "should_not": 20,
    }


def test_each_case_is_admitted_by_what_was_run_of_it_as_it_is_now() -> None:
    """Nothing that was run of a CPU case speaks against it; what has changed since was not run."""
    words = [sys.executable, str(EVALS / "run.py"), "--python", "/nowhere", "admit", "--replay"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not run" not in done.stdout, "run `admit --out` and `record` again\n" + done.stdout


def test_the_replay_tier_gives_its_table_and_every_agent_stays_in_its_range() -> None:
    words = [sys.executable, str(EVALS / "run.py"), "--python", "/nowhere", "agents", "--replay"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {line.split("|")[1].strip(): line.split("|") for line in done.stdout.splitlines()}
    alone = rows["triage alone"]  # today's rules on recorded runs of GPU faults, without an agent
    right, of = map(int, alone[6].split("/"))
    assert of >= 10
    assert right == of, done.stdout
