"""The interpreter of a script's project is found by the project's own files, without a variable;
what those files name is used only where it is an interpreter that belongs to the user."""

from __future__ import annotations

import base64
import hashlib
import os
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from aoti_debug.run.interpreter import choose_interpreter
from aoti_debug.run.target import resolve_target


@pytest.fixture
def environment(tmp_path: Path) -> Callable[..., Path]:
    """Create a virtual environment below `tmp_path`, with files that say torch is installed."""

    def create(name: str, *, torch: bool = True) -> Path:
        place = tmp_path / name
        venv.create(place, symlinks=True)
        if torch:
            [packages] = place.glob("lib/python3*/site-packages")
            (packages / "torch").mkdir()
            (packages / "torch" / "version.py").write_text("__version__ = '2.13.0'\n")
        return place / "bin" / "python"

    return create


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return tmp_path / "project"


@pytest.fixture
def script(project: Path) -> Path:
    path = project / "src" / "train.py"
    path.parent.mkdir()
    path.write_text("print(1)\n")
    return path


@pytest.fixture
def chosen(tmp_path: Path, script: Path) -> Callable[..., tuple[Path, str]]:
    """Choose the interpreter of the script, where PATH has one without torch."""
    bare = tmp_path / "path" / "python3"
    bare.parent.mkdir()
    bare.symlink_to("/bin/true")

    def choose(**env: str) -> tuple[Path, str]:
        full = {"PATH": str(bare.parent), "HOME": str(tmp_path / "home"), **env}
        found = choose_interpreter(None, full, script)
        return found.path, found.source

    return choose


@pytest.mark.parametrize("folder", ["project/src", "project"])
@pytest.mark.parametrize("name", [".venv", "venv"])
def test_an_environment_beside_the_script_or_above_it(environment, chosen, folder, name):
    found = environment(f"{folder}/{name}")
    assert chosen() == (found, f"the project's {name}")


def test_nothing_above_the_project_is_looked_at(environment, chosen, tmp_path):
    environment(".venv")
    assert chosen() == (tmp_path / "path" / "python3", "PATH")


def test_an_active_environment_comes_first_but_for_torch(environment, chosen):
    active, project = environment("active"), environment("project/.venv")
    assert chosen(VIRTUAL_ENV=str(active.parents[1])) == (active, "VIRTUAL_ENV")
    bare = environment("bare", torch=False)
    assert chosen(CONDA_PREFIX=str(bare.parents[1])) == (project, "the project's .venv")


def test_without_torch_anywhere_the_first_is_chosen(environment, chosen):
    assert chosen()[1] == "PATH"
    bare = environment("project/.venv", torch=False)
    assert chosen() == (bare, "the project's .venv")


def test_a_closed_environment_lacks_what_its_base_has(environment, program, tmp_path):
    environment("base")
    closed, opened = tmp_path / "closed", tmp_path / "opened"
    for place, also in ((closed, False), (opened, True)):
        (place / "bin").mkdir(parents=True)
        (place / "bin" / "python").symlink_to(program("base/bin/python-of-base"))
        (place / "pyvenv.cfg").write_text(f"include-system-site-packages = {also}".lower())
    env = {"VIRTUAL_ENV": str(closed), "CONDA_PREFIX": str(opened), "PATH": ""}
    assert choose_interpreter(None, env, tmp_path).path == opened / "bin" / "python"


def test_the_environment_of_uv_where_a_variable_moves_it(environment, chosen):
    found = environment("project/of-uv")
    assert chosen(UV_PROJECT_ENVIRONMENT="of-uv") == (found, "uv")


def test_the_environments_of_pixi_default_first(environment, chosen):
    for name in ("cuda", "default"):
        found = environment(f"project/.pixi/envs/{name}")
        assert chosen() == (found, "pixi")


@pytest.mark.parametrize(
    "env",
    [{}, {"POETRY_CACHE_DIR": "{}/home/.cache/pypoetry"}, {"XDG_CACHE_HOME": "{}/home/.cache"}],
)
def test_the_environment_that_poetry_keeps_for_the_folder(environment, chosen, project, env):
    (project / "pyproject.toml").write_text('[tool.poetry]\nname = "My Project"\n')
    digest = hashlib.sha256(str(project.resolve()).encode()).digest()
    name = f"my-project-{base64.urlsafe_b64encode(digest).decode()[:8]}"
    root = project.parent
    environment(f"home/.cache/pypoetry/virtualenvs/other-{'x' * 8}-py3.12")
    found = environment(f"home/.cache/pypoetry/virtualenvs/{name}-py3.12")
    environment(f"home/.cache/pypoetry/virtualenvs/{name}-py3.9")
    assert chosen(**{k: v.format(root) for k, v in env.items()}) == (found, "poetry")


def test_the_conda_environment_of_the_name_in_environment_yml(environment, chosen, project):
    (project / "environment.yml").write_text("channels: [x]\nname: 'speech'  # ours\n")
    found = environment("home/miniforge3/envs/speech")
    assert chosen() == (found, "conda")
    elsewhere = environment("elsewhere/speech")
    listed = project.parent / "home" / ".conda" / "environments.txt"
    listed.parent.mkdir()
    listed.write_text(f"/gone/speech\n{elsewhere.parents[1]}\n")
    assert chosen() == (elsewhere, "conda")


@pytest.mark.parametrize("name", ["../../evil", "/evil", "..", "a/../evil", "evil\0"])
def test_a_name_that_is_a_path_names_no_environment(environment, chosen, project, name):
    environment("home/evil")
    environment("home/miniforge3/envs/x")
    (project / "environment.yml").write_text(f"name: {name}\n")
    assert chosen()[1] == "PATH"


@pytest.mark.parametrize(
    "line", ["{}", "{} -u", "/usr/bin/env {name}", "/usr/bin/env -S {name} -u"]
)
def test_the_first_line_of_the_script(environment, chosen, script, tmp_path, line):
    found = environment("tools")
    link = tmp_path / "path" / "python3.99"
    link.symlink_to(found)
    script.write_text("#!" + line.format(found, name=link.name) + "\n")
    assert chosen()[1] == "the script's first line"


PLAIN = "train:\n\t@{} -u -X dev src/train.py --epochs 3\n"
BY_VARIABLES = """
ENV ?= {env}
PYTHON := $(ENV)/bin/python

train:
\t$(PYTHON) ./src/train.py
"""
JUST = """
python := '{}'

train *words:
    {{{{ python }}}} src/train.py {{{{words}}}}
"""


@pytest.mark.parametrize(
    ("name", "text"), [("Makefile", PLAIN), ("Makefile", BY_VARIABLES), ("justfile", JUST)]
)
def test_the_recipe_that_starts_the_script(environment, chosen, project, name, text):
    found = environment("tools")
    (project / name).write_text(text.format(found, env=found.parents[1]))
    assert chosen() == (found, f"the {name}")


@pytest.mark.parametrize(
    "text",
    [
        "train:\n\t{} src/other.py\n",
        "train:\n\t{}; rm src/train.py\n",
        "train:\n\t{} 'src/train.py\n",
        "A = $(A)$(A)\ntrain:\n\t$(A){} src/train.py extra $(A)\n",
        "train:\n\t{parent}/activate src/train.py\n",
    ],
)
def test_what_is_no_recipe_of_the_script_names_nothing(environment, chosen, project, text):
    found = environment("tools")
    (project / "Makefile").write_text(text.format(found, parent=found.parent))
    assert chosen()[1] == "PATH"


def test_no_interpreter_of_another_user_is_taken(environment, chosen, script):
    """Anyone can put a folder beside a script in a shared place."""
    found = environment("project/.venv")
    if os.getuid() == 0:
        os.lchown(found, 12345, 12345)
        assert chosen()[1] == "PATH"
        os.lchown(script, 12345, 12345)  # whose script it is may bring his environment
    assert chosen() == (found, "the project's .venv")


def test_hostile_files_of_a_project_do_no_harm(chosen, project, script):
    os.mkfifo(project / "Makefile")
    os.mkfifo(project / "pyproject.toml")
    (project / "environment.yml").symlink_to("/dev/zero")
    (project / ".venv" / "bin").mkdir(parents=True)
    os.mkfifo(project / ".venv" / "bin" / "python")
    (project / "venv").symlink_to("venv")
    script.write_bytes(b"#!\0\xff" + b"x" * 100_000)
    assert chosen()[1] == "PATH"


def test_a_target_says_what_named_its_interpreter(environment, script, monkeypatch):
    monkeypatch.delenv("AOTI_DEBUG_PYTHON")
    found = environment("project/.venv")
    env = {"VIRTUAL_ENV": "", "CONDA_PREFIX": ""}
    target = resolve_target(script=script, env=env)
    assert (target.python, target.python_from) == (found, "the project's .venv")
    assert target.argv == (str(found), str(script))
    module = resolve_target(module="pytest", env=env, cwd=script.parent)
    assert module.argv == (str(found), "-m", "pytest")
