"""Operators that are registered behind a function, a decorator, a class or a package's `__init__`
are known by the lines that registered them, and registered again where a candidate needs them."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest
from aoti_debug.minify.graph import Graph, read_graph
from aoti_debug.minify.material import Material, failure_kept
from aoti_debug.minify.operators import Definitions, brought, definitions_for
from aoti_debug.minify.worker_pool import worker_pool
from aoti_debug.run.directory import RunDirectory
from aoti_debug.run.executor import Machine
from aoti_debug.run.target import Target
from aoti_debug.triage.probe_arguments import import_paths
from programs import told

FAKE = "lambda x: torch.empty_like(x)"
FILES = {
    "plugins.py": f"""
import torch
KEPT = []

def register():
    library = torch.library.Library("plug", "DEF")
    library.define("twice.whole(Tensor x) -> Tensor")
    library.impl("twice.whole", lambda x: x * 2, "CompositeExplicitAutograd")
    torch.library.register_fake("plug::twice.whole", {FAKE}, lib=library)
    KEPT.append(library)
""",
    "registry.py": f"""
import torch
LIBRARY = torch.library.Library("deco", "DEF")

def operator(schema):
    def wrap(function):
        name = schema.split("(")[0]
        LIBRARY.define(schema)
        LIBRARY.impl(name, function, "CompositeExplicitAutograd")
        torch.library.register_fake("deco::" + name, {FAKE}, lib=LIBRARY)
        return function
    return wrap
""",
    "kernels.py": """
from registry import operator

@operator("half(Tensor x) -> Tensor")
def half(x):
    return x / 2
""",
    "shop/__init__.py": "from . import _operators\n",
    "shop/_operators.py": f"""
import torch

class Operators:
    def __init__(self, names):
        self.library = torch.library.Library("shop", "DEF")
        for name in names:
            self.library.define(name + "(Tensor x) -> Tensor")
            self.library.impl(name, getattr(self, name), "CPU")
            torch.library.register_fake("shop::" + name, {FAKE}, lib=self.library)

    def less(self, x):
        return x - 1

operators = Operators(["less"])
""",
    "serve.py": """
import kernels, plugins, shop, torch

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.ops.shop.less(torch.ops.deco.half(torch.ops.plug.twice(x)))

def main():
    plugins.register()
    exported = torch.export.export(Model(), (torch.ones(3),))
    torch._inductor.aoti_compile_and_package(exported, package_path="no package")

if __name__ == "__main__":
    main()
""",
}


@pytest.fixture(scope="module")
def failed(warm_python: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Material, Target]:
    """Triage a program of such operators, which fails before it is compiled."""
    folder = tmp_path_factory.mktemp("operators") / "tree"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    home = folder.parent / "home"
    env = {**os.environ, "AOTI_DEBUG_HOME": str(home)}
    answer = told(folder, "triage", "serve.py", "--python", warm_python)
    target = Target((warm_python, "serve.py"), folder, env, "serve.py", Path(warm_python))
    return failure_kept(RunDirectory.open(answer["run"], home), target, home), target


def test_what_brings_an_operator_back_is_a_module_or_what_it_calls(
    failed: tuple[Material, Target],
) -> None:
    words = failed[0].context.modules
    assert {"registry", "kernels", "plugins:register", "shop._operators"} <= set(words)
    assert not any(word.startswith(("serve", "__main__")) for word in words)


def test_candidates_have_all_operators(failed: tuple[Material, Target], tmp_path: Path) -> None:
    material, target = failed
    graph, found = anyio.run(defined, material, target, tmp_path)
    assert set(graph.registered) == {"deco::half", "plug::twice", "shop::less"}
    assert all("fake" in parts for parts in graph.registered.values())
    assert "plugins.register()" in found.text and str(target.cwd) in found.notes[0]
    plugged = [one.source for one in graph.operators if one.file and "plugins" in one.file]
    assert (plugged[0] or "").endswith("register()\n")


async def defined(material: Material, target: Target, place: Path) -> tuple[Graph, Definitions]:
    python, log, cache, stop = str(target.python), place / "log", place / "k", anyio.Event()
    started = worker_pool(place / "c", log, python, target.env, cache, stop, Machine(2, 2, 0))
    async with started as pool:
        order = {"exported": str(material.exported), "arguments": list(material.words)}
        read = await pool.do({"kind": "nodes", **order}, 300.0)
        graph = read_graph(read.directory / "graph.json")
        folders = import_paths(target, material.context.folders)
        return graph, await definitions_for(pool, graph, material.context, folders)


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("a.b", "import a.b"),
        ("a:f", "import a\na.f()"),
        ("a:f=n::op", "import a\ntorch.library.register_fake('n::op', a.f)"),
        ("a:f();g", ""),
    ],
)
def test_a_word_becomes_the_python_that_brings_an_operator_back(word: str, text: str) -> None:
    assert brought(word) == text
