"""Every documented road to the first answer, run as README.md says it: its blocks, with the real
uv, pipx, pip, Claude Code, Codex, Gemini CLI, skills installer, ssh and curl, in an empty home."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from aoti_debug import __version__
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from programs import CLIENTS, torch_python

ROOT = Path(__file__).resolve().parents[2]
SAID = "Error: input_handles[0]: unmatched dtype, expected: 6(at::kFloat), but got: 7"
SITE = "https://github.com/aoti-debug/"
PATIENCE_S = 600.0
NO_NETWORK = {  # a proxy that nobody serves
    **dict.fromkeys(("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9"),
    "NO_PROXY": "",
    "UV_HTTP_RETRIES": "0",
}
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
pytestmark = pytest.mark.node


@dataclass(frozen=True)
class Machine:
    """A user's account: an empty home, the documented programs, GitHub as a clone of this tree."""

    home: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def cache(self) -> Path:
        return self.home / ".cache" / "aoti-debug"

    def having(self, **environment: str) -> Machine:
        return replace(self, environment={**self.environment, **environment})

    def sh(self, block: str, statuses: Sequence[int] = (0,)) -> str:
        """Run a block in the home; return what it printed."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block],
            cwd=self.home,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE_S,
            text=True,
        )
        assert done.returncode in statuses, f"{block}\n{done.stdout}"
        return done.stdout

    def client(self, *argv: str, cwd: Path | None = None) -> Client:
        """Return an MCP client of a server that is started with these words."""
        command, *args = argv
        how = StdioServerParameters(
            command=shutil.which(command, path=self.environment["PATH"]) or command,
            args=args,
            env=dict(self.environment),
            cwd=cwd or self.home,
        )
        return Client(stdio_client(how), mode="legacy")

    def answers(self, *argv: str, cwd: Path | None = None) -> None:
        """Start a server; assert that it answers `initialize`, `tools/list` and `diagnose_log`."""

        async def talk() -> None:
            with anyio.fail_after(PATIENCE_S):
                async with self.client(*argv, cwd=cwd) as client:
                    await first_answer(client)

        anyio.run(talk)


async def first_answer(client: Client) -> None:
    assert client.server_info and client.server_info.version == __version__
    tools = {tool.name for tool in (await client.list_tools()).tools}
    assert {"triage", "diagnose_log"} <= tools
    result = await client.call_tool("diagnose_log", {"text": SAID})
    assert result.structured_content is not None
    assert result.structured_content["diagnoses"][0]["category"] == "contract_dtype"


def refusal(machine: Machine, *argv: str) -> str:
    """Return what a client is answered by a server that cannot start; stderr has the same."""
    request = {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {}}
    done = subprocess.run(
        argv,
        cwd=machine.home,
        env=dict(machine.environment),
        input=json.dumps(request) + "\n",
        capture_output=True,
        timeout=PATIENCE_S,
        text=True,
    )
    assert done.returncode == 3, done.stderr
    answer = json.loads(done.stdout)
    assert answer["id"] == 7
    said: str = answer["error"]["message"]
    assert done.stderr.splitlines()[-1] == said
    return said


README = (ROOT / "README.md").read_text("utf-8")


def blocks() -> list[str]:
    return re.findall(r"^```\w*\n(.*?)^```$", README, re.M | re.S)


def block(start: str) -> str:
    """Return the one block of README.md that begins so."""
    [found] = [text for text in blocks() if text.startswith(start)]
    return found


TRY = "git clone https://github.com/aoti-debug/aoti-debug && cd aoti-debug\nmake demo"
CLAUDE_PLUGIN, CODEX_PLUGIN = "claude plugin marketplace", "codex plugin marketplace"
GEMINI_EXTENSION = "gemini extensions install"
UV_TOOL, PIPX, PIP = "uv tool install", "pipx install", "git clone --depth 1"
UVX, UV_RUN = "uvx --from", "uv run --project"
USE, SKILL, FROM_SKILL = "aoti-debug environment", "npx skills add", "python3 "
CLAUDE_MCP, CODEX_MCP, GEMINI_MCP = "claude mcp add aoti --scope", "codex mcp add", "gemini mcp add"
CODEX_TOML, SSH = "[mcp_servers.aoti]", "claude mcp add aoti -- ssh"
RACK, LAPTOP = "(umask 077", "claude mcp add aoti --transport http"
REMOVE_PLUGINS, REMOVE_PIECES = "claude plugin uninstall", "uv tool uninstall"
REMOVE_CACHE = "rm -rf"


def test_each_block_of_the_readme_is_run_by_a_test() -> None:
    source = Path(__file__).read_text("utf-8")
    starts = [globals()[name] for name in re.findall(r"\bblock\(([A-Z_]+)\)", source)]
    for text in blocks():
        assert any(text.startswith(start) for start in starts), f"no test runs:\n{text}"


# -- a machine --


@pytest.fixture(scope="module")
def programs(node_modules: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what the README wants to be there, and this Python as python3."""
    folder = tmp_path_factory.mktemp("programs")
    modules = (node_modules(*CLIENTS), node_modules("@google/gemini-cli@0.61.0"))
    for name in ("node", "claude", "codex"):
        (folder / name).symlink_to(modules[0] / ".bin" / name)
    (folder / "gemini").symlink_to(modules[1] / ".bin" / "gemini")
    for name in ("uv", "uvx"):
        (folder / name).symlink_to(Path(sys.executable).with_name(name))
    npx = node_modules("skills@1.7.4", "node@22.23.3") / ".bin"
    for name, line in (
        ("pipx", f'PIPX_DEFAULT_PYTHON={own_python()} exec uvx --quiet pipx@1.18.4 "$@"'),
        ("npx", f'PATH={npx}:$PATH; exec "$@"'),
        ("ssh", 'exec /usr/bin/ssh -F "$HOME/.ssh/config" "$@"'),
    ):
        (folder / name).write_text(f"#!/bin/sh\n{line}\n")
        (folder / name).chmod(0o755)
    (folder / "python3").symlink_to(own_python())
    return folder


def own_python() -> str:
    """Return the interpreter that the environment of the tests was made from."""
    return str(Path(sys.base_prefix, "bin", f"python{sys.version_info[0]}.{sys.version_info[1]}"))


@pytest.fixture(scope="module")
def account(
    programs: Path, repository: str, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], Machine]:
    """Return what makes a new account; all share the caches of uv and pip."""
    caches = tmp_path_factory.mktemp("caches")
    left_out = ("AOTI_", "PYTHON", "VIRTUAL_ENV", "CONDA", "XDG_", "GIT_", "UV_PROJECT", "CLAUDE")
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(left_out)}

    def new() -> Machine:
        home = tmp_path_factory.mktemp("home")
        site = repository.removesuffix("aoti-debug.git")
        (home / ".gitconfig").write_text(
            f'[url "{site}"]\n\tinsteadOf = {SITE}\n\tinsteadOf = git@github.com:aoti-debug/\n'
        )
        (home / "error.log").write_text(SAID)
        return Machine(
            home,
            {
                **inherited,
                "HOME": str(home),
                "PATH": f"{home}/.local/bin:{programs}:/usr/bin:/bin",
                "UV_CACHE_DIR": str(caches / "uv"),
                "UV_NO_GITHUB_FAST_PATH": "1",  # GitHub is a clone here, without its API
                "PIP_CACHE_DIR": str(caches / "pip"),
                "PIP_COMPILE": "0",  # Python compiles what it imports
                "DISABLE_TELEMETRY": "1",
                "DISABLE_AUTOUPDATER": "1",
                "GEMINI_CLI_TRUST_WORKSPACE": "true",
                "MCP_TIMEOUT": "240000",  # Claude Code's patience in ms, on a machine that is busy
            },
        )

    return new


@pytest.fixture(scope="module")
def machine(account: Callable[[], Machine]) -> Machine:
    """The account in which the README is followed from the plugins to the removal."""
    return account()


@pytest.fixture
def fresh(account: Callable[[], Machine]) -> Machine:
    return account()


@pytest.fixture(scope="module")
def command(machine: Machine) -> None:
    machine.sh(block(UV_TOOL))


# -- plugins --


@pytest.fixture(scope="module")
def claude_plugin(machine: Machine) -> None:
    machine.sh(block(CLAUDE_PLUGIN))


@pytest.fixture(scope="module")
def codex_plugin(machine: Machine) -> None:
    machine.sh(block(CODEX_PLUGIN))


@pytest.fixture(scope="module")
def gemini_extension(machine: Machine, checkout: Path) -> None:
    """Gemini CLI's git takes no configuration: the address is replaced here."""
    machine.sh(block(GEMINI_EXTENSION).replace(f"{SITE}aoti-debug", str(checkout)))


def connected(machine: Machine, name: str, folder: str = ".") -> list[str]:
    """Return the words of the server that Claude Code says it connected to."""
    text = machine.sh(f"cd {folder} && claude mcp list")
    return words_in(text, rf"^{name}: (.*) - . Connected")


def words_in(text: str, pattern: str) -> list[str]:
    found = re.findall(pattern, text, re.M)
    assert len(found) == 1, text
    return shlex.split(found[0])


def gemini_server(machine: Machine) -> list[str]:
    """Return the words of Gemini CLI's server, which it waits for no longer than 5 s itself."""
    text = machine.sh("gemini mcp list")
    return words_in(text, r"^\S+ aoti(?: \(from .*?\))?: (.*) \(stdio\) - ")


def test_claude_code_plugin_connects(machine: Machine, claude_plugin: None) -> None:
    machine.answers(*connected(machine, "plugin:aoti-debug:aoti"))


def codex_server(machine: Machine) -> tuple[Machine, list[str], Path | None]:
    """Return the one server that Codex knows: with what little environment, which words, where."""
    [server] = json.loads(machine.sh("codex mcp list --json 2>/dev/null"))
    how = server["transport"]
    names = {"HOME", "LANG", "PATH", "TMPDIR", "USER", *(how["env_vars"] or ())}
    # What a user of a mirror has in ~/.config/uv/uv.toml, these tests have in the environment.
    names |= {name for name in machine.environment if name.startswith(("UV_", "SSL_"))}
    environment = {k: v for k, v in machine.environment.items() if k in names}
    place = Path(how["cwd"]) if how["cwd"] else None
    return Machine(machine.home, environment), [how["command"], *how["args"]], place


def test_codex_plugin_answers(machine: Machine, codex_plugin: None) -> None:
    limited, words, place = codex_server(machine)
    limited.answers(*words, cwd=place)


def test_gemini_extension_answers(machine: Machine, gemini_extension: None) -> None:
    machine.answers(*gemini_server(machine))


def test_the_bundle_answers(fresh: Machine, checkout: Path) -> None:
    how = json.loads((checkout / "manifest.json").read_text("utf-8"))["server"]["mcp_config"]
    words = [word.replace("${__dirname}", str(checkout)) for word in how["args"]]
    fresh.answers(how["command"], *words)


# -- piece by piece --


def test_command_of_uv_answers(machine: Machine, command: None) -> None:
    machine.answers("aoti-debug", "serve")


@pytest.mark.parametrize("server", [block(UVX), block(UV_RUN)], ids=["uvx", "uv run"])
def test_a_block_that_is_the_server_answers(fresh: Machine, server: str) -> None:
    fresh.sh(f"git clone -q {SITE}aoti-debug")
    fresh.answers("bash", "-euc", server)


def test_command_of_pipx_answers(fresh: Machine) -> None:
    fresh.sh(block(PIPX))
    fresh.answers("aoti-debug", "serve")


def test_command_of_pip_answers(fresh: Machine) -> None:
    fresh.sh(block(PIP))
    fresh.answers(str(fresh.home / "aoti-env" / "bin" / "aoti-debug"), "serve")


def test_what_comes_after_the_installation_is_run(machine: Machine, command: None) -> None:
    (machine.home / "my_script.py").write_text(f"raise RuntimeError({SAID!r})\n")
    named = f"export AOTI_DEBUG_PYTHON={torch_python()}"
    said = machine.sh(f"{named}; set +e; {block(USE)}", statuses=(1,))
    assert "nothing here would break a run" in said and "my_script.py" in said


@pytest.fixture(scope="module")
def skill(machine: Machine) -> Path:
    machine.sh(block(SKILL))
    return machine.home / ".agents" / "skills" / "aoti-debug"


def test_skill_runs_from_its_folder_and_leaves_it_alone(machine: Machine, skill: Path) -> None:
    assert (machine.home / ".claude" / "skills" / "aoti-debug").resolve() == skill
    before = snapshot(skill)
    assert "has dtype float64" in machine.sh(block(FROM_SKILL), statuses=(1,))
    assert snapshot(skill) == before


@pytest.fixture(scope="module")
def claude_mcp(machine: Machine, command: None) -> None:
    machine.sh(block(CLAUDE_MCP))


def test_claude_code_connects_to_the_command(machine: Machine, claude_mcp: None) -> None:
    machine.answers(*connected(machine, "aoti"))


@pytest.fixture(scope="module")
def plain(account: Callable[[], Machine]) -> Machine:
    """An account with the command and no plugin."""
    machine = account()
    machine.sh(block(UV_TOOL))
    return machine


def test_gemini_is_given_the_command(plain: Machine) -> None:
    plain.sh(block(GEMINI_MCP))
    plain.answers(*gemini_server(plain))


@pytest.mark.parametrize("start", [CODEX_MCP, CODEX_TOML])
def test_codex_is_given_the_command(plain: Machine, start: str) -> None:
    config = plain.home / ".codex" / "config.toml"
    config.unlink(missing_ok=True)
    if start == CODEX_TOML:
        config.parent.mkdir(exist_ok=True)
        config.write_text(block(CODEX_TOML))
    else:
        plain.sh(block(CODEX_MCP))
    limited, words, place = codex_server(plain)
    limited.answers(*words, cwd=place)


# -- a GPU elsewhere --

SSHD = """
import asyncio, asyncssh

class Anyone(asyncssh.SSHServer):
    def begin_auth(self, username):
        return False

async def handle(process):
    pipe = asyncio.subprocess.PIPE
    words = dict(stdin=pipe, stdout=pipe, stderr=pipe)
    child = await asyncio.create_subprocess_shell(process.command, **words)
    await process.redirect(child.stdin, child.stdout, child.stderr)
    process.exit(await child.wait())

async def main():
    keys = [asyncssh.generate_private_key("ssh-ed25519")]
    server = await asyncssh.create_server(
        Anyone, "127.0.0.1", 0, server_host_keys=keys, process_factory=handle, encoding=None
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.wait_closed()

asyncio.run(main())
"""


@pytest.fixture
def rack(machine: Machine, command: None) -> Iterator[None]:
    """An ssh server on this machine that the account knows as `rack`."""
    words = [*"uv run --quiet --no-project --with asyncssh>=2.20 python -c".split(), SSHD]
    with background(machine, words, subprocess.PIPE) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        (machine.home / ".ssh").mkdir(exist_ok=True)
        (machine.home / ".ssh" / "config").write_text(
            f"Host rack\n HostName 127.0.0.1\n Port {port}\n StrictHostKeyChecking no\n"
            f" UserKnownHostsFile {machine.home}/.ssh/known\n LogLevel ERROR\n"
        )
        yield


@contextlib.contextmanager
def background(
    machine: Machine, words: Sequence[str], stdout: Any = None
) -> Iterator[subprocess.Popen[str]]:
    """Have a process run in a group of its own until the block ends."""
    process = subprocess.Popen(
        words,
        cwd=machine.home,
        env=dict(machine.environment),
        stdout=stdout,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate()


def test_claude_code_connects_over_ssh(machine: Machine, rack: None) -> None:
    machine.sh("mkdir -p elsewhere && cd elsewhere && " + block(SSH))
    words = connected(machine, "aoti", "elsewhere")
    assert words[0] == "ssh"
    machine.answers(*words)


def test_claude_code_connects_over_http_and_uploads(machine: Machine, command: None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        place = f"127.0.0.1:{free.getsockname()[1]}"
    words = ["bash", "-euc", block(RACK).replace("0.0.0.0:8765", place)]
    with background(machine, words) as process:
        assert process.stderr is not None
        assert "serving" in process.stderr.readline()
        _, token = (machine.home / ".aoti-tokens").read_text().split()
        machine.sh("mkdir project laptop && cp error.log project")
        laptop = machine.having(TOKEN=token)
        text = block(LAPTOP).replace("rack:8765", place).replace("-C project", "-C ../project")
        uploaded = laptop.sh(f"cd laptop && {text}")
        assert connected(laptop, "aoti", "laptop")[0] == f"http://{place}/mcp"
        [where] = re.findall(r'"(/[^"]+)"', uploaded)
        assert (Path(where) / "error.log").read_text() == SAID


# -- what a start needs, and what it says where that is missing --


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    """Return size and time of change of everything in a folder."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_size, path.lstat().st_mtime_ns)
        for path in folder.rglob("*")
    }


@pytest.fixture
def folder(checkout: Path, tmp_path: Path) -> Path:
    """A copy of the tree as a client keeps a plugin, read-only."""
    place = tmp_path / "plugin"
    shutil.copytree(checkout, place, ignore=shutil.ignore_patterns("tests", ".git"))
    subprocess.run(["chmod", "-R", "a-w", str(place)], check=True)
    return place


def start(folder: Path) -> tuple[str, ...]:
    """Return the words with which a client starts the server of a plugin."""
    return ("python3", f"{folder}/mcp_server/start.py", "serve")


def pythons() -> dict[str, str]:
    """Return the interpreters of this machine that the project allows, by version."""
    homes = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv").glob("versions/*/bin")
    places = [Path(own_python()).parent, Path("/usr/bin"), *sorted(homes)]
    return {
        version: str(found)
        for version in PYTHONS
        for place in reversed(places)
        if (found := place / f"python{version}").is_file()
    }


def test_each_python_starts_it_and_a_second_start_needs_neither_uv_nor_network(
    fresh: Machine, folder: Path, programs: Path, tmp_path: Path
) -> None:
    before = snapshot(folder)
    found = pythons()
    assert found
    for version, python in found.items():
        (tmp_path / version).mkdir()
        for name, target in (("python3", python), ("uv", str(programs / "uv"))):
            (tmp_path / version / name).symlink_to(target)
        home = str(tmp_path / version / "home")
        first = fresh.having(PATH=f"{tmp_path / version}:/usr/bin:/bin", AOTI_DEBUG_HOME=home)
        first.answers(*start(folder))
        assert list(Path(home).glob(f"server/*/lib/python{version}"))
        alone = first.having(**NO_NETWORK, UV_CACHE_DIR=str(tmp_path / "none"))
        (tmp_path / version / "uv").unlink()
        alone.answers(*start(folder))
    assert snapshot(folder) == before


def test_where_no_start_may_write_bytecode_the_installation_does(
    fresh: Machine, folder: Path
) -> None:
    barred = fresh.having(PYTHONDONTWRITEBYTECODE="1")
    barred.answers(*start(folder))
    assert list(barred.cache.glob("server/*/lib/*/site-packages/aoti_debug/__pycache__/cli.*.pyc"))


def test_start_is_understood_by_old_pythons() -> None:
    ast.parse((ROOT / "mcp_server" / "start.py").read_text("utf-8"), feature_version=(3, 6))


def test_two_clients_at_once_make_one_environment(fresh: Machine, folder: Path) -> None:
    words = start(folder)

    async def both() -> None:
        with anyio.fail_after(PATIENCE_S):
            async with anyio.create_task_group() as group:
                group.start_soon(talk)
                group.start_soon(talk)

    async def talk() -> None:
        async with fresh.client(*words) as client:
            await first_answer(client)

    anyio.run(both)
    assert len(list(fresh.cache.glob("server/*/complete"))) == 1


def test_plugin_is_replaced_while_its_server_runs(fresh: Machine, folder: Path) -> None:
    words = start(folder)

    def update(text: str) -> None:
        guide = folder / "guides" / "examples.md"
        guide.chmod(0o644)
        guide.write_text(text)
        fresh.sh(f"python3 {words[1]} --version")

    async def talk() -> None:
        with anyio.fail_after(PATIENCE_S):
            async with fresh.client(*words) as client:
                await client.list_tools()
                update("newer")
                await first_answer(client)  # imports what the server had not read yet

    anyio.run(talk)
    assert len(list(fresh.cache.glob("server/*/complete"))) == 2  # it was still in use
    update("newest")
    assert len(list(fresh.cache.glob("server/*/complete"))) == 1


def test_without_uv_the_client_hears_how_to_get_it(fresh: Machine, folder: Path) -> None:
    said = refusal(fresh.having(PATH="/nowhere"), own_python(), *start(folder)[1:])
    assert "uv" in said and "pip install uv" in said


def test_without_a_network_the_client_hears_it(
    fresh: Machine, folder: Path, tmp_path: Path
) -> None:
    cut_off = fresh.having(**NO_NETWORK, UV_CACHE_DIR=str(tmp_path / "empty"))
    said = refusal(cut_off, *start(folder))
    assert "connect to the network" in said
    fresh.answers(*start(folder))  # then it is there


def test_without_a_new_python_the_client_hears_which(
    fresh: Machine, folder: Path, programs: Path, tmp_path: Path
) -> None:
    (tmp_path / "uv").symlink_to(programs / "uv")
    cut_off = fresh.having(**NO_NETWORK, PATH=str(tmp_path))
    said = refusal(cut_off, own_python(), *start(folder)[1:])
    assert "Python 3.10 or later" in said


def test_where_nothing_can_be_written_the_client_hears_the_place(
    fresh: Machine, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    blocked = fresh.having(AOTI_DEBUG_HOME=str(tmp_path / "file"))
    said = refusal(blocked, *start(folder))
    assert str(tmp_path / "file") in said and "AOTI_DEBUG_HOME" in said


def test_pip_installs_the_extras(fresh: Machine, tmp_path: Path) -> None:
    """Once, in one environment; benchmarks/front_door.py has each on each Python."""
    (tmp_path / "python3").symlink_to(pythons()[max(pythons(), key=PYTHONS.index)])
    user = fresh.having(PATH=f"{tmp_path}:{fresh.environment['PATH']}")
    extras = "'./aoti-debug[ray,triton,evals]'"  # as the block's comment has it
    user.sh(re.sub(r"\./aoti-debug\b.*", extras, block(PIP)))
    folder = user.home / "aoti-env" / "bin"
    user.sh(f"{folder}/python -c 'import ray, triton, inspect_ai'")
    user.answers(str(folder / "aoti-debug"), "serve")


@pytest.mark.parametrize("version", PYTHONS)
def test_every_extra_that_a_python_allows_can_be_had(account: Any, version: str) -> None:
    words = f"uv pip compile -q --python-version {version} --all-extras {ROOT}/pyproject.toml"
    assert "pydantic" in account().sh(words)


# -- from the demo to the removal --


def test_the_demo_finds_its_fault(fresh: Machine) -> None:
    """`make test`, the block's last line, is what CI runs."""
    *lines, last = block(TRY).splitlines()
    assert last.split("#")[0].strip() in (ROOT / ".ci" / "run").read_text("utf-8")
    said = fresh.having(PYTHON=torch_python()).sh("\n".join(lines))
    assert "1024" in said


def test_removal_leaves_nothing(
    machine: Machine,
    claude_plugin: None,
    codex_plugin: None,
    gemini_extension: None,
    skill: Path,
    claude_mcp: None,
) -> None:
    machine.sh(f"python3 {skill}/mcp_server/start.py --version")
    machine.sh(block(REMOVE_PLUGINS))
    machine.sh(block(REMOVE_PIECES))
    assert machine.cache.is_dir()
    machine.sh(block(REMOVE_CACHE))
    assert not machine.cache.exists()
    logs = machine.home / ".cache" / "claude-cli-nodejs"  # Claude Code's own
    left = [path for path in machine.home.rglob("*") if path.is_file() and logs not in path.parents]
    assert [path for path in left if "aoti-debug" in str(path.relative_to(machine.home))] == []
