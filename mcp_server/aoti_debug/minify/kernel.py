"""Write repro_kernel.py: one generated kernel alone, on the arguments that it failed with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from aoti_debug.minify.graph import Graph
from aoti_debug.minify.reproduction import alone_twice, quoted
from aoti_debug.minify.search import Best, Trials
from aoti_debug.minify.slice import Unbuildable
from aoti_debug.run.files import copy, read_json, write_atomically

SCRIPT = "repro_kernel.py"
DATA = "repro_kernel_inputs.pt"
GENERATED = ("torch.ops.aten.", "torch.ops.prims.", "operator.")
LAUNCH = {
    "cpp": """\
from torch._inductor.codecache import CppPythonBindingsCodeCache

ARGUMENTS = {argtypes!r}
SOURCE = r'''
{source}
'''


def main():
    kernel = CppPythonBindingsCodeCache.load_pybinding(ARGUMENTS, SOURCE)
    given = torch.load(Path(__file__).with_name("{data}"), weights_only=True)
    print("step: run", flush=True)
    kernel(*given)
{then}    print("step: done", flush=True)
""",
    "triton": """\
from torch._inductor.async_compile import AsyncCompile

DEVICES = {devices!r}
SOURCE = r'''
{source}
'''


def main():
    kernel = AsyncCompile().triton({name!r}, SOURCE, device_str={device!r})
    kernel = kernel.result() if hasattr(kernel, "result") else kernel
    given = torch.load(Path(__file__).with_name("{data}"), weights_only=True)
    given = [x if at is None else x.to(at) for x, at in zip(given, DEVICES)]
    print("step: run", flush=True)
    with torch.cuda.device(next(at for at in DEVICES if at)):
        kernel.run(*given, stream=torch.cuda.current_stream().cuda_stream)
        torch.cuda.synchronize()
{then}    print("step: done", flush=True)
""",
}
COMPARE = """\
    wrote = torch.load(Path(__file__).with_name("{wrote}"), weights_only=True)
    for place, value in wrote.items():
        same = torch.equal(given[place].cpu().nan_to_num(), value.nan_to_num())
        print(f"argument {{place}}: {{'as' if same else 'not as'}} the package wrote it")
"""


async def write_kernel(trials: Trials, best: Best) -> tuple[Path, str] | None:
    """Write the faulty kernel of a reproduction and run it alone. Return its script and how often
    it failed in the same way; None where it did not, or is no generated or Triton kernel."""
    compiled = generated(trials.writer.graph, best.candidate.keep)
    if trials.wanted.phase != "run" or not (compiled or trials.kernel):
        return None
    plain = replace(best.candidate, fidelity="inductor", until="run")
    try:
        script = trials.writer.write(plain)
    except Unbuildable:
        return None
    order = {"kind": "kernel", "run_s": trials.workers.run_s}
    ran = await trials.workers.do(order, trials.timeout_s, script.text)
    about = _about(ran.directory / "kernel.json")
    if about is None or not trials.wanted.same(ran.fingerprint):
        return None
    if not compiled and not str(about.get("name")).startswith(str(trials.kernel)):
        return None
    folder = trials.work.directory.path
    copy(ran.directory / "kernel.pt", folder / DATA)
    ends = f"It must end with: {quoted(str(trials.wanted))}"
    write_atomically(folder / SCRIPT, kernel_script(about, ends).encode())
    seen = await alone_twice(trials, (folder / SCRIPT, folder / DATA), "kernel-")
    alike = sum(map(trials.wanted.same, seen))
    if not alike:
        (folder / SCRIPT).unlink()
        (folder / DATA).unlink()
        return None
    note = f"{SCRIPT} launches only its kernel: {alike} of {len(seen)} runs failed in the same way"
    return folder / SCRIPT, note


def generated(graph: Graph, keep: frozenset[int]) -> bool:
    return all(graph.nodes[number].target.startswith(GENERATED) for number in keep)


def kernel_script(
    about: Mapping[str, Any], ends: str, data: str = DATA, wrote: str | None = None
) -> str:
    """Return the script that launches a kernel on the data beside it and compares with `wrote`."""
    then = COMPARE.format(wrote=wrote) if wrote is not None else ""
    known = {"name": None, "device": None, **about, "data": data, "then": then}
    return (
        f'"""Launch one generated kernel on what the call gave it.\n\n'
        f'{ends}\n"""\n\n'
        "from pathlib import Path\n\nimport torch\n"
        + LAUNCH[str(about["kind"])].format(**known)
        + '\n\nif __name__ == "__main__":\n    main()\n'
    )


def _about(path: Path) -> dict[str, Any] | None:
    about = read_json(path)
    whole = isinstance(about, dict) and about.get("kind") in LAUNCH
    return about if whole and "'''" not in str(about.get("source")) else None
