"""Every tool over MCP, in both eras of the protocol: what it answers, and how that is cut to
fit. What clients see before they call anything, which is paid for in every conversation; and the
skill over MCP (SEP-2640): a host can list it, verify it and walk its directory."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import anyio
import psutil
import pytest
from aoti_debug import api, skill
from aoti_debug.answers import StageAnswer, TriageAnswer
from aoti_debug.facts.stages import STAGES
from aoti_debug.model import Category, Diagnosis, Evidence, Phase, ValueRow
from aoti_debug.report.short import LIMIT, SHORT_LIMIT, fit, size
from aoti_debug.server import INSTRUCTIONS, TOOLS, create_server
from aoti_debug.skill import UriParams
from aoti_debug.tools.fit import answer
from aoti_debug.tools.waiting import RunAnswer
from guides.documents import properties
from mcp import Client, MCPError
from mcp_types import Request, Result
from pydantic import ConfigDict
from server.conftest import ONE_ERA, answer_of, error_of

ASSERTED = """\
/tmp/torchinductor/xy/cxyz.py:34: unknown: block: [0,0,0], thread: [5,0,0] \
Assertion `index out of bounds: 0 <= tmp4 < 1000` failed.
Traceback (most recent call last):
  File "/home/user/infer.py", line 20, in <module>
    model(ids)
RuntimeError: run_func_(...) API call failed at model_container_runner.cpp, line 144
"""


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    path = tmp_path / "endless.py"
    path.write_text("import signal\nprint('waiting', flush=True)\nsignal.pause()\n")
    return path


def test_log_text_is_diagnosed(call):
    answer = answer_of(call("diagnose_log", text=ASSERTED))
    assert answer["lines"] == len(ASSERTED.splitlines())
    assert answer["diagnoses"][0]["category"] == "index_out_of_bounds"


def test_log_file_is_diagnosed(call, tmp_path):
    log = tmp_path / "log.txt"
    log.write_text(ASSERTED)
    answer = answer_of(call("diagnose_log", path=str(log)))
    assert answer["diagnoses"][0]["evidence"]


def test_text_that_looks_like_json_stays_text(call):
    answer = answer_of(call("diagnose_log", text='{"error": "exit 1"}'))
    assert answer["lines"] == 1


@ONE_ERA
def test_relative_script_is_found_in_cwd(call, script):
    answer = answer_of(call("run_stage", script=script.name, cwd=str(script.parent)))
    assert answer["exit"] == "exit 0"


def test_null_is_an_argument_that_is_not_given(call):
    answer = answer_of(call("diagnose_log", text=ASSERTED, path=None))
    assert answer["diagnoses"][0]["category"] == "index_out_of_bounds"
    nulls = dict.fromkeys(("script", "module", "args", "env", "cwd", "timeout_s", "wait_s"))
    assert answer_of(call("run_stage", command=["/bin/true"], **nulls))["exit"] == "exit 0"
    assert "`run`: " in error_of(call("wait_run", run=None))


def test_stage_runs_a_script_and_keeps_what_it_left(talk, script):
    async def work(client: Client) -> None:
        answer = answer_of(await client.call_tool("run_stage", {"script": str(script)}))
        assert (answer["status"], answer["stage"], answer["exit"]) == ("done", "baseline", "exit 0")
        page = answer_of(
            await client.call_tool("read_artifact", {"run": answer["run"], "name": "stdout.log"})
        )
        assert page["text"] == "hello from the target"
        resource = await client.read_resource(f"run://{answer['run']}/stdout.log")
        assert getattr(resource.contents[0], "text", None) == "hello from the target"
        with pytest.raises(MCPError):
            await client.read_resource(f"run://{answer['run']}/..%2F..%2Fsecret")

    talk(work)


@ONE_ERA
def test_command_is_run_with_its_environment(call, tmp_path):
    command = ["/bin/sh", "-c", 'test "$COLOUR" = blue']
    answer = answer_of(
        call("run_stage", command=command, env={"COLOUR": "blue"}, cwd=str(tmp_path))
    )
    assert answer["exit"] == "exit 0"


@ONE_ERA
def test_triage_without_torch_names_the_fix(call, tmp_path):
    venv.create(tmp_path / "bare", symlinks=True)
    script = tmp_path / "model.py"
    script.write_text("import torch\n")
    answer = answer_of(call("triage", script=str(script), python=str(tmp_path / "bare")))
    diagnosis = answer["diagnosis"]
    assert (diagnosis["phase"], diagnosis["category"]) == ("environment", "toolchain")
    assert diagnosis["signature"] == "torch_not_installed"
    for way in ("`python`", "--python", "AOTI_DEBUG_PYTHON"):
        assert way in diagnosis["fixes"][0]["what"]


@ONE_ERA
def test_triage_of_a_script_without_a_model_says_so(call, script):
    answer = answer_of(call("triage", script=str(script)))
    assert answer["status"] == "done"
    assert answer["diagnosis"]["category"] == "user_code"
    assert answer["steps"][0]["status"] == "done"


def test_run_goes_on_after_wait_s(talk, endless):
    async def work(client: Client) -> None:
        arguments = {"script": str(endless), "wait_s": 0}
        started = answer_of(await client.call_tool("run_stage", arguments))
        assert started["status"] == "running"
        waited = answer_of(await client.call_tool("wait_run", {"run": started["run"], "wait_s": 0}))
        assert waited["status"] == "running"
        ended = answer_of(await client.call_tool("cancel_run", {"run": started["run"]}))
        assert ended["status"] == "cancelled"
        again = answer_of(await client.call_tool("wait_run", {"run": started["run"]}))
        assert again["status"] == "cancelled"

    talk(work)


def test_progress_is_reported_and_cancelling_the_call_ends_the_run(talk, endless):
    async def work(client: Client) -> None:
        async with anyio.create_task_group() as group:

            async def cancel(progress: float, total: float | None, message: str | None) -> None:
                group.cancel_scope.cancel()

            arguments = {"script": str(endless)}
            await client.call_tool("run_stage", arguments, progress_callback=cancel)
        (run,) = api.runs().runs
        ended = answer_of(await client.call_tool("wait_run", {"run": run.run}))
        assert ended["status"] == "cancelled"
        assert processes_with(endless) == []

    talk(work)


@ONE_ERA
def test_long_lines_of_quotes_still_fit(talk, tmp_path):
    loud = tmp_path / "loud.py"
    loud.write_text("for _ in range(400): print('\"\\\\' * 400)\n")

    async def work(client: Client) -> None:
        answer = answer_of(await client.call_tool("run_stage", {"script": str(loud)}))
        offset, lines = 0, 0
        while True:
            page = answer_of(
                await client.call_tool(
                    "read_artifact",
                    {"run": answer["run"], "name": "stdout.log", "offset": offset},
                )
            )
            lines += len(page["text"].split("\n"))
            if "next_offset" not in page:
                break
            offset = page["next_offset"]
        assert lines == page["total"] == 400

    talk(work)


@ONE_ERA
def test_environment_is_checked(call):
    answer = answer_of(call("check_environment", python=sys.executable))
    assert answer["python"] == sys.executable


@ONE_ERA
def test_interpreter_that_is_none_is_a_problem(call, tmp_path):
    answer = answer_of(call("check_environment", python=str(tmp_path / "python")))
    assert answer["problems"][0]["severity"] == "breaks"
    assert "interpreter" in answer["problems"][0]["what"]


def test_answers_leave_room_below_the_limit():
    assert LIMIT < 8000


def processes_with(word: Path) -> list[list[str]]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            found.append(process.cmdline())
    return [words for words in found if str(word) in words]


KEEP = frozenset({"run", "notes"})


def test_what_fits_is_sent_as_it_is():
    document = {"run": "r-1", "observed": ["a" * 3000, "b" * 3000]}
    assert fit(document, keep=KEEP) == document


def test_long_texts_lose_their_middle_first():
    fitted = fit({"run": "r-1", "observed": ["a" * 9000 + "the end"]}, keep=KEEP)
    assert fitted["observed"][0].endswith("the end")
    assert "characters…]" in fitted["observed"][0]
    assert "1 long texts cut" in fitted["notes"][-1]


def test_long_lists_lose_their_end_and_it_is_said():
    files = [f"steps/{number:04}/stdout.log" for number in range(2000)]
    fitted = fit({"run": "r-1", "artifacts": files}, keep=KEEP)
    assert fitted["artifacts"] == files[: len(fitted["artifacts"])]
    left_out = 2000 - len(fitted["artifacts"])
    assert f"{left_out} of artifacts left out" in fitted["notes"][-1]


def test_shapes_and_names_are_never_cut():
    document: dict[str, Any] = {
        "run": "r-1",
        "inputs": [{"shape": list(range(100)), "file": "f" * 300} for _ in range(3)],
        "text": "x" * 20_000,
    }
    fitted = fit(document, keep=KEEP)
    assert fitted["inputs"] == document["inputs"]


@pytest.mark.parametrize("width", [10, 100, 1000])
@pytest.mark.parametrize("depth", [1, 100, 3000])
def test_anything_fits_in_the_end(width, depth):
    document = {
        "run": "r-1",
        **{f"field{number}": {f"k{i}": "y" * width for i in range(depth)} for number in range(9)},
    }
    fitted = fit(document, keep=KEEP)
    assert size(fitted) <= LIMIT
    assert fitted["run"] == "r-1"


def test_same_answer_is_cut_the_same_way():
    document = {"run": "r-1", "observed": [f"{number} " * 50 for number in range(500)]}
    assert fit(document, keep=KEEP) == fit(document, keep=KEEP)


def test_huge_triage_keeps_its_diagnosis():
    diagnosis = Diagnosis(
        phase="run",
        category="nan_or_inf",
        confidence="likely",
        summary="buf3 becomes NaN",
        evidence=[Evidence(artifact="a.log", lines=(n, n), quote="q" * 500) for n in range(99)],
    )
    result = answer(
        TriageAnswer(run="r-1", status="done", diagnosis=diagnosis, also=[diagnosis] * 20)
    )
    document = result.structured_content
    assert document is not None
    assert size(document) <= SHORT_LIMIT
    assert document["diagnosis"]["summary"] == "buf3 becomes NaN"
    assert TriageAnswer.model_validate(document).diagnosis is not None


def test_of_many_values_those_around_the_mark_are_sent():
    rows = [ValueRow(node=f"node_{n}", op="aten.mul.Tensor", number=n) for n in range(1, 49)]
    rows[30] = rows[30].model_copy(update={"mark": "first NaN"})
    found = Diagnosis(
        phase="output",
        category="nan_or_inf",
        confidence="proved",
        summary="s" * 120,
        values=rows,
    )
    sent = answer(TriageAnswer(run="r-1", status="done", diagnosis=found)).structured_content
    assert sent is not None and size(sent) <= SHORT_LIMIT
    numbers = [row["number"] for row in sent["diagnosis"]["values"]]
    assert numbers == [29, 30, 31, 32, 33]


COMPACT: dict[str, Any] = {"separators": (",", ":"), "sort_keys": True, "ensure_ascii": False}
TOKENS = 2_500
CHARACTERS_PER_TOKEN = 3.2  # JSON and identifiers take more tokens than prose: counted low


def listed() -> list[dict[str, Any]]:
    async def main() -> Any:
        async with Client(create_server()) as client:
            return (await client.list_tools()).tools

    tools = anyio.run(main)
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]


PLAIN = ("enum", "default", "description")


def short(schema: Any) -> Any:
    """Write a plain schema as "type = default: description", a list of them in brackets, and an
    object that takes no other properties without saying so."""
    if isinstance(schema, list):
        return [short(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if isinstance(schema.get("type"), str) and schema.keys() <= {"type", *PLAIN}:
        kind = "|".join(map(str, schema.get("enum", [schema["type"]])))
        default = f" = {json.dumps(schema['default'])}" if "default" in schema else ""
        return f"{kind}{default}{': ' * ('description' in schema)}{schema.get('description', '')}"
    if schema.keys() == {"$ref"}:
        return schema["$ref"].removeprefix("#/$defs/")
    if schema.keys() == {"type", "items"} and schema["type"] == "array":
        return [short(schema["items"])]
    closed = {"additionalProperties": False, "type": "object"}
    said = closed if all(schema.get(key) == closed[key] for key in closed) else {}
    return {key: short(value) for key, value in schema.items() if key not in said}


def unworded(schema: Any) -> Any:
    """Return a schema without its descriptions: what answers hold is a contract, its words are
    not."""
    if isinstance(schema, dict):
        kept = {k: v for k, v in schema.items() if k != "description" or not isinstance(v, str)}
        return {key: unworded(value) for key, value in kept.items()}
    return [unworded(one) for one in schema] if isinstance(schema, list) else schema


def outlined(tools: list[dict[str, Any]]) -> str:
    """Write a line for each tool, after a line for each definition that they share. Stages,
    categories and phases are those of their tables, which tests of their own see to: a new one
    changes no snapshot."""
    shared: dict[str, Any] = {}
    answers: dict[str, str] = {}
    lines = []
    for tool in tools:
        if stage := tool["inputSchema"]["properties"].get("stage"):
            stage["enum"] = ["…"]
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            definitions = schema.pop("$defs", {})
            for name, definition in definitions.items():
                assert shared.setdefault(name, definition) == definition
        first = answers.setdefault(json.dumps(tool["outputSchema"]), tool["name"])
        if first != tool["name"]:
            tool["outputSchema"] = f"as of {first}"
        lines.append(json.dumps(short(tool), **COMPACT))
    plain = {name: short(unworded(definition)) for name, definition in sorted(shared.items())}
    rows = [f'"{name}":{json.dumps(definition, **COMPACT)}' for name, definition in plain.items()]
    parts = ('{"$defs":{', ",\n".join(rows), '},"tools":[', ",\n".join(lines), "]}", "")
    text = "\n".join(parts)
    for table in (Category, Phase):
        text = text.replace("|".join(get_args(table)), "…")
    return text


def test_schemas_are_as_they_were(snapshot):
    """`--snapshot-update` rewrites it: read the difference before you commit it."""
    now = outlined(listed())
    assert json.loads(now)
    assert now == snapshot


def test_names_descriptions_and_schemas_fit_the_budget():
    shown = [
        {key: tool[key] for key in ("name", "description", "inputSchema")} for tool in listed()
    ]
    characters = len(json.dumps(shown, separators=(",", ":")))
    assert len(shown) <= 12
    assert characters / CHARACTERS_PER_TOKEN <= TOKENS


def test_first_words_of_the_instructions_sell():
    first = INSTRUCTIONS[:250]
    for word in ("AOTInductor", ".pt2", "crashes", "wrong numbers", "`triage`", "`diagnose_log`"):
        assert word in first
    assert len(INSTRUCTIONS) < 1000  # some clients repeat it with every tool


@pytest.mark.parametrize("tool", listed(), ids=lambda tool: tool["name"])
def test_tool_says_all_about_itself(tool):
    assert set(tool["annotations"]) >= {
        "readOnlyHint",
        "destructiveHint",
        "idempotentHint",
        "openWorldHint",
    }
    assert tool["outputSchema"]["type"] == "object"
    assert 40 < len(tool["description"]) < 400


@pytest.mark.parametrize("tool", listed(), ids=lambda tool: tool["name"])
def test_schema_holds_no_nulls_and_no_generated_titles(tool):
    def check(schema: Any) -> None:
        if isinstance(schema, dict):
            assert schema.get("type") != "null"
            assert not isinstance(schema.get("title"), str)
            for value in schema.values():
                check(value)
        if isinstance(schema, list):
            for value in schema:
                check(value)

    check(tool["inputSchema"])
    check(tool["outputSchema"])


@pytest.mark.parametrize("tool", listed(), ids=lambda tool: tool["name"])
def test_schema_allows_no_unknown_argument(tool):
    assert tool["inputSchema"]["additionalProperties"] is False


def test_stages_are_those_of_the_table():
    stage = next(tool for tool in TOOLS if tool.name == "run_stage").parameters["properties"]
    assert stage["stage"]["enum"] == list(STAGES)


@pytest.mark.parametrize("kind", [StageAnswer, TriageAnswer])
def test_answer_of_either_kind_fits_the_schema_of_wait_run(kind):
    assert kind.model_fields.keys() <= RunAnswer.model_fields.keys()
    required = {name for name, field in RunAnswer.model_fields.items() if field.is_required()}
    assert required <= {name for name, field in kind.model_fields.items() if field.is_required()}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_nothing_can_be_subscribed_to(mode):
    capabilities = anyio.run(_capabilities, mode)
    assert not capabilities.tools.list_changed
    assert not capabilities.resources.subscribe


def test_skill_is_declared_where_the_protocol_has_extensions():
    extensions = anyio.run(_capabilities, "auto").extensions
    assert extensions == {"io.modelcontextprotocol/skills": {"directoryRead": True}}


async def _capabilities(mode: Any) -> Any:
    async with Client(create_server(), mode=mode) as client:
        return client.server_capabilities


ROOT = Path(__file__).parents[2]


class Answer(Result):
    model_config = ConfigDict(extra="allow")


def ask(method: str, **params: Any) -> Any:
    async def work(client: Any) -> dict[str, Any]:
        request = Request[UriParams, str](method=method, params=UriParams(**{"uri": "", **params}))
        answer = await client.session.send_request(request, Answer)
        return dict(answer.model_dump(by_alias=True))

    return work


def test_skill_is_found_in_the_source_tree():
    assert skill.directory() == ROOT


def test_frontmatter_is_read_as_the_reference_validator_reads_it():
    ours = skill.frontmatter((ROOT / "SKILL.md").read_text("utf-8"))
    assert ours == properties(ROOT)


def test_listing_is_complete_and_its_digests_hold(talk):
    async def work(client: Any) -> None:
        listing = await ask("skills/list")(client)
        (entry,) = listing["skills"]
        assert entry["uri"] == "skill://aoti-debug/SKILL.md"
        assert entry["frontmatter"]["name"] == "aoti-debug"
        assert {"ttlMs", "cacheScope", "resultType"} <= listing.keys()
        assert len(entry["resources"]) == 1 + len(list((ROOT / "guides").glob("*.md")))
        for file in entry["resources"]:
            read = await client.read_resource(file["uri"])
            data = read.contents[0].text.encode()
            assert len(data) == file["size"]
            assert f"sha256:{hashlib.sha256(data).hexdigest()}" == file["digest"]

    talk(work)


def test_one_skill_is_got_by_its_uri(talk):
    got = talk(ask("skills/get", uri="skill://aoti-debug/SKILL.md"))
    listed = talk(ask("skills/list"))
    assert got["skill"] == listed["skills"][0]


@pytest.mark.parametrize(
    ("method", "uri"),
    [
        ("skills/get", "skill://other/SKILL.md"),
        ("resources/directory/read", "skill://aoti-debug/SKILL.md"),
        ("resources/directory/read", "skill://aoti-debug/.."),
        ("resources/directory/read", "file:///etc"),
    ],
)
def test_what_is_not_served_is_an_invalid_parameter(talk, method, uri):
    async def work(client: Any) -> int:
        with pytest.raises(MCPError) as caught:
            await ask(method, uri=uri)(client)
        return caught.value.error.code

    assert talk(work) == -32602


def test_resource_of_the_skill_says_when_to_use_it(talk):
    async def work(client: Any) -> dict[str, str | None]:
        listed = (await client.list_resources()).resources
        return {str(resource.uri): resource.description for resource in listed}

    said = talk(work)
    assert said["skill://aoti-debug/SKILL.md"] == properties(ROOT)["description"]


def test_directories_list_their_children(talk):
    top = talk(ask("resources/directory/read", uri="skill://aoti-debug"))["resources"]
    assert [child["name"] for child in top] == ["SKILL.md", "guides"]
    assert top[0]["description"] == properties(ROOT)["description"]
    guides = talk(ask("resources/directory/read", uri=top[1]["uri"]))["resources"]
    assert "inputs-and-devices.md" in [child["name"] for child in guides]


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("---\nname: x\nlicense: MIT\n---\nbody", {"name": "x", "license": "MIT"}),
        ("---\nd: >-\n  one: two\n  three\n---\n", {"d": "one: two three"}),
        ("---\nm:\n  a: 'it''s'\n  b: \"q\\\"\"\n---\n", {"m": {"a": "it's", "b": 'q"'}}),
    ],
)
def test_frontmatter_of_all_allowed_forms(text, fields):
    assert skill.frontmatter(text) == fields


@pytest.mark.parametrize("text", ["", "# no", "---\nname: x\n", "---\njust words\n---\n"])
def test_text_without_frontmatter_is_refused(text):
    with pytest.raises(ValueError, match=r"frontmatter|field"):
        skill.frontmatter(text)


@ONE_ERA
def test_a_kernel_is_explained_with_the_values_of_a_call(
    call: Callable[..., Any], rich: Path
) -> None:
    given = {"package": str(rich / "model.pt2"), "inputs": str(rich / "inputs.pt")}
    found = answer_of(call("explain_kernel", kernel="1", **given))
    written = [row for row in found["values"] if row["op"] == "written"]
    assert written and {row["number"] for row in found["values"]} == {1}
    assert all(row["shape"] and row["min"] < row["max"] for row in written)
    assert "6 launches seen" in found["notes"]
    refused = error_of(call("explain_kernel", kernel="1", **{**given, "inputs": "captured"}))
    assert "there are no inputs for a call" in refused
