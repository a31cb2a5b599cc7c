"""Every tool over MCP, in both eras of the protocol: what it answers, and how that is cut to
fit. What clients see before they call anything, which is paid for in every conversation; and the
skill over MCP (SEP-2640): a host can list it, verify it and walk its directory."""

from __future__ import annotations

import hashlib
import json
import sys
import venv
from collections.abc import Iterator
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
from server.conftest import ASSERTED, ONE_ERA, answer_of, error_of

LOG = f"{ASSERTED}\nRuntimeError: run_func_(...) API call failed\n"


@pytest.mark.parametrize("given", [{"text": LOG}, {"text": LOG, "path": None}, {}])
def test_log_is_diagnosed_as_text_and_as_file(call, tmp_path, given):
    (tmp_path / "log.txt").write_text(LOG)
    answer = answer_of(call("diagnose_log", **(given or {"path": str(tmp_path / "log.txt")})))
    assert answer["lines"] == 2
    assert answer["diagnoses"][0]["category"] == "index_out_of_bounds"
    assert answer["diagnoses"][0]["evidence"]


def test_text_that_looks_like_json_stays_text(call):
    assert answer_of(call("diagnose_log", text='{"error": "exit 1"}'))["lines"] == 1


@ONE_ERA
def test_relative_script_is_found_in_cwd(call, script):
    answer = answer_of(call("run_stage", script=script.name, cwd=str(script.parent)))
    assert answer["exit"] == "exit 0"


def test_null_is_an_argument_that_is_not_given(call):
    nulls = dict.fromkeys(("script", "module", "args", "env", "cwd", "timeout_s", "wait_s"))
    assert answer_of(call("run_stage", command=["/bin/true"], **nulls))["exit"] == "exit 0"
    assert "`run`: " in error_of(call("wait_run", run=None))


def test_stage_runs_a_script_and_keeps_what_it_left(talk, script):
    async def work(client: Client) -> None:
        answer = answer_of(await client.call_tool("run_stage", {"script": str(script)}))
        assert (answer["status"], answer["stage"], answer["exit"]) == ("done", "baseline", "exit 0")
        asked = {"run": answer["run"], "name": "stdout.log"}
        page = answer_of(await client.call_tool("read_artifact", asked))
        assert page["text"] == "hello from the target"
        resource = await client.read_resource(f"run://{answer['run']}/stdout.log")
        assert getattr(resource.contents[0], "text", None) == "hello from the target"
        with pytest.raises(MCPError):
            await client.read_resource(f"run://{answer['run']}/..%2F..%2Fsecret")

    talk(work)


@ONE_ERA
def test_command_is_run_with_its_environment(call, tmp_path):
    command = ["/bin/sh", "-c", 'test "$COLOUR" = blue']
    ran = call("run_stage", command=command, env={"COLOUR": "blue"}, cwd=str(tmp_path))
    assert answer_of(ran)["exit"] == "exit 0"


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


def test_run_goes_on_after_wait_s(talk, waits):
    async def work(client: Client) -> None:
        started = answer_of(await client.call_tool("run_stage", waits))
        assert started["status"] == "running"
        for tool, more, status in (
            ("wait_run", {"wait_s": 0}, "running"),
            ("cancel_run", {}, "cancelled"),
            ("wait_run", {}, "cancelled"),
        ):
            seen = answer_of(await client.call_tool(tool, {"run": started["run"], **more}))
            assert seen["status"] == status

    talk(work)


def test_progress_is_reported_and_cancelling_the_call_ends_the_run(talk, waits):
    async def work(client: Client) -> None:
        async with anyio.create_task_group() as group:

            async def cancel(progress: float, total: float | None, message: str | None) -> None:
                group.cancel_scope.cancel()

            arguments = {"script": waits["script"]}
            await client.call_tool("run_stage", arguments, progress_callback=cancel)
        (run,) = api.runs().runs
        ended = answer_of(await client.call_tool("wait_run", {"run": run.run}))
        assert ended["status"] == "cancelled"
        commands = [process.info["cmdline"] for process in psutil.process_iter(["cmdline"])]
        assert not [words for words in commands if waits["script"] in (words or ())]

    talk(work)


@ONE_ERA
def test_long_lines_of_quotes_still_fit(talk, tmp_path):
    loud = tmp_path / "loud.py"
    loud.write_text("for _ in range(400): print('\"\\\\' * 400)\n")

    async def work(client: Client) -> None:
        answer = answer_of(await client.call_tool("run_stage", {"script": str(loud)}))
        asked = {"run": answer["run"], "name": "stdout.log"}
        lines = 0
        page: dict[str, Any] = {"next_offset": 0}
        while "next_offset" in page:
            asked["offset"] = page["next_offset"]
            page = answer_of(await client.call_tool("read_artifact", asked))
            lines += len(page["text"].split("\n"))
        assert lines == page["total"] == 400

    talk(work)


@ONE_ERA
def test_environment_is_checked(call):
    assert answer_of(call("check_environment", python=sys.executable))["python"] == sys.executable


@ONE_ERA
def test_interpreter_that_is_none_is_a_problem(call, tmp_path):
    answer = answer_of(call("check_environment", python=str(tmp_path / "python")))
    problem = answer["problems"][0]
    assert problem["severity"] == "breaks" and "interpreter" in problem["what"]


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
    assert fitted == fit({"run": "r-1", "artifacts": files}, keep=KEEP), "always cut the same way"


def test_shapes_and_names_are_never_cut():
    inputs = [{"shape": list(range(100)), "file": "f" * 300}] * 3
    fitted = fit({"run": "r-1", "inputs": inputs, "text": "x" * 20_000}, keep=KEEP)
    assert fitted["inputs"] == inputs


@pytest.mark.parametrize("width", [10, 100, 1000])
@pytest.mark.parametrize("depth", [1, 100, 3000])
def test_anything_fits_in_the_end(width, depth):
    wide = {f"k{i}": "y" * width for i in range(depth)}
    fitted = fit({"run": "r-1", **{f"field{n}": wide for n in range(9)}}, keep=KEEP)
    assert size(fitted) <= LIMIT < 8000
    assert fitted["run"] == "r-1"


def triaged(also: int = 0, **more: Any) -> dict[str, Any]:
    """Return what is sent of a triage with this diagnosis, which is among the others too."""
    found = Diagnosis(phase="output", category="nan_or_inf", confidence="likely", **more)
    document = TriageAnswer(run="r-1", status="done", diagnosis=found, also=[found] * also)
    sent = answer(document).structured_content
    assert sent is not None and size(sent) <= SHORT_LIMIT
    return sent


def test_huge_triage_keeps_its_diagnosis():
    quotes = [Evidence(artifact="a.log", lines=(n, n), quote="q" * 500) for n in range(99)]
    document = triaged(20, summary="buf3 becomes NaN", evidence=quotes)
    assert document["diagnosis"]["summary"] == "buf3 becomes NaN"
    assert TriageAnswer.model_validate(document).diagnosis is not None


def test_of_many_values_those_around_the_mark_are_sent():
    rows = [ValueRow(node=f"node_{n}", op="aten.mul.Tensor", number=n) for n in range(1, 49)]
    rows[30] = rows[30].model_copy(update={"mark": "first NaN"})
    sent = triaged(summary="s" * 120, values=rows)
    numbers = [row["number"] for row in sent["diagnosis"]["values"]]
    assert numbers == [29, 30, 31, 32, 33]


SCHEMAS = ("inputSchema", "outputSchema")


def listed() -> list[dict[str, Any]]:
    async def main() -> Any:
        async with Client(create_server()) as client:
            return (await client.list_tools()).tools

    tools = anyio.run(main)
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]


TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def fields(schema: dict[str, Any], worded: bool = True) -> Iterator[str]:
    """Take the properties out of an object's schema: "name type", or "name! type" if required;
    last what others have, if it takes others."""
    required = schema.pop("required", ())
    for name, of_name in sorted(schema.pop("properties", {}).items()):
        yield f"{name}{'!' * (name in required)} {short(of_name, worded)}"
    others = schema.pop("additionalProperties", True)
    if others is not False:
        yield f"* {short(others, worded) if isinstance(others, dict) else others}"


def short(schema: dict[str, Any], worded: bool = True) -> str:
    """Write a schema as "type = default: description", a list of one type as "[type]" and an
    object as "{fields}". What has no notation follows as JSON."""
    left = dict(schema)
    words = f": {left.pop('description')}" if "description" in left else ""
    default = f" = {json.dumps(left.pop('default'))}" if "default" in left else ""
    kind = left.pop("type", "")
    if kind == "object":
        kind = f"{{{', '.join(fields(left, worded))}}}"
    if kind == "array" and "items" in left:
        kind = f"[{short(left.pop('items'), worded)}]"
    if kind == "string":
        kind = "|".join(left.pop("enum", [kind]))
    if kind == "array" and "prefixItems" in left:
        kind = f"[{', '.join(short(one, worded) for one in left.pop('prefixItems'))}]"
    kind = TYPES.get(kind) or left.pop("$ref", kind).removeprefix("#/$defs/")
    return f"{kind}{json.dumps(left, sort_keys=True) if left else ''}{default}{words * worded}"


def outlined(tools: list[dict[str, Any]]) -> str:
    """Write what each tool says, takes and answers, after a line for each definition that they
    share; a field that is as it was written last by its name alone. Stages, categories and phases
    are those of their tables, which tests of their own see to: a new one changes no snapshot."""
    shared: dict[str, Any] = {}
    answers: dict[str, str] = {}
    written: dict[str, str] = {}
    lines = []

    def once(schema: dict[str, Any]) -> Iterator[str]:
        for field in fields(schema):
            name = field.partition(" ")[0]
            yield name if written.get(name) == field else field
            written[name] = field

    for tool in tools:
        takes, gives = tool["inputSchema"], tool["outputSchema"]
        if stage := takes["properties"].get("stage"):
            stage["enum"] = ["…"]
        first = answers.setdefault(json.dumps(gives), tool["name"])
        for schema in (takes, gives):
            for name, definition in schema.pop("$defs", {}).items():
                assert shared.setdefault(name, definition) == definition
        hints = (hint for hint, value in tool["annotations"].items() if value is True)
        lines += [f"{tool['name']}: {tool['title']}. {tool['description']}", " ".join(hints)]
        lines.append(f"takes {', '.join(once(takes))}")
        said = f"{gives.pop('description', '')} {', '.join(once(gives))}"
        lines.append(f"gives {said if first == tool['name'] else f'what {first} gives'}")
        assert takes == gives == {"type": "object"}
    # What answers hold is a contract, the words for it are not.
    rows = [f"{name} {short(shared[name], worded=False)}" for name in sorted(shared)]
    text = "\n".join((*rows, *lines))
    for table in (Category, Phase):
        text = text.replace("|".join(get_args(table)), "…")
    return text


def test_schemas_are_as_they_were(snapshot):
    """`--snapshot-update` rewrites it: read the difference before you commit it."""
    assert outlined(listed()) == snapshot


def test_names_descriptions_and_schemas_fit_the_budget():
    keys = ("name", "description", "inputSchema")
    shown = [{key: tool[key] for key in keys} for tool in listed()]
    characters = len(json.dumps(shown, separators=(",", ":")))
    # JSON and identifiers take more tokens than prose: their characters are counted low.
    assert len(shown) <= 12 and characters / 3.2 <= 2_500


def test_first_words_of_the_instructions_sell():
    first = INSTRUCTIONS[:250]
    for word in ("AOTInductor", ".pt2", "crashes", "wrong numbers", "`triage`", "`diagnose_log`"):
        assert word in first
    assert len(INSTRUCTIONS) < 1000  # some clients repeat it with every tool


@pytest.mark.parametrize("tool", listed(), ids=lambda tool: tool["name"])
def test_tool_says_all_about_itself(tool):
    hints = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert tool["annotations"].keys() == {"title", *hints}
    assert tool["annotations"]["title"] == tool["title"]
    assert tool.keys() == {"name", "description", "annotations", *SCHEMAS, "title"}
    assert tool["outputSchema"]["type"] == "object"
    assert tool["inputSchema"]["additionalProperties"] is False
    assert 40 < len(tool["description"]) < 400
    parts: list[Any] = [tool[schema] for schema in SCHEMAS]
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            assert part.get("type") != "null"
            assert not isinstance(part.get("title"), str), "a generated title"
        if isinstance(part, (dict, list)):
            parts.extend(part.values() if isinstance(part, dict) else part)


def test_stages_are_those_of_the_table():
    stage = next(tool for tool in TOOLS if tool.name == "run_stage").parameters["properties"]
    assert stage["stage"]["enum"] == list(STAGES)


@pytest.mark.parametrize("kind", [StageAnswer, TriageAnswer])
def test_answer_of_either_kind_fits_the_schema_of_wait_run(kind):
    assert kind.model_fields.keys() <= RunAnswer.model_fields.keys()
    required = {name for name, field in RunAnswer.model_fields.items() if field.is_required()}
    assert required <= {name for name, field in kind.model_fields.items() if field.is_required()}


def test_nothing_can_be_subscribed_to_and_the_skill_is_declared(talk, request):
    async def work(client: Client) -> Any:
        return client.server_capabilities

    capabilities = talk(work)
    assert not capabilities.tools.list_changed
    assert not capabilities.resources.subscribe
    if "auto" in request.node.name:  # the other era has no extensions
        declared = {"io.modelcontextprotocol/skills": {"directoryRead": True}}
        assert capabilities.extensions == declared


ROOT = Path(__file__).parents[2]


class Answer(Result):
    model_config = ConfigDict(extra="allow")


def ask(method: str, **params: Any) -> Any:
    async def work(client: Any) -> dict[str, Any]:
        request = Request[UriParams, str](method=method, params=UriParams(**{"uri": "", **params}))
        answer = await client.session.send_request(request, Answer)
        return dict(answer.model_dump(by_alias=True))

    return work


def test_skill_of_the_source_tree_is_read_as_the_reference_validator_reads_it():
    assert skill.directory() == ROOT
    assert skill.frontmatter((ROOT / "SKILL.md").read_text("utf-8")) == properties(ROOT)


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
    assert got["skill"] == talk(ask("skills/list"))["skills"][0]


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

    assert talk(work)["skill://aoti-debug/SKILL.md"] == properties(ROOT)["description"]


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
def test_a_kernel_is_explained_with_the_values_of_a_call(call, rich):
    given = {"package": str(rich / "model.pt2"), "inputs": str(rich / "inputs.pt")}
    found = answer_of(call("explain_kernel", kernel="1", **given))
    written = [row for row in found["values"] if row["op"] == "written"]
    assert written and {row["number"] for row in found["values"]} == {1}
    assert all(row["shape"] and row["min"] < row["max"] for row in written)
    assert "6 launches seen" in found["notes"]
    refused = error_of(call("explain_kernel", kernel="1", **{**given, "inputs": "captured"}))
    assert "there are no inputs for a call" in refused
