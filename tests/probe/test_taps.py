"""Hooks around what a loaded package calls, in a real process."""

from __future__ import annotations

import json
from pathlib import Path

from aoti_debug.probe import prototypes, wrapper_contract
from conftest import Built
from probe.conftest import printed

LOOK = """
import ctypes, json
import torch
from probe import redzones, slots, standalone, taps

standalone.skip_isa_probe()
seen = []


class Seen(taps.Hook):
    def before(self, call):
        if call.kind in ("generated", "extern"):
            found = [(p.name, list(t.shape), float(t.sum())) for p, t in call.tensors()]
            seen.append(["before", call.name, found])

    def after(self, call):
        found = [(p.name, float(t.sum())) for p, t in call.tensors() if t is not None]
        seen.append([call.kind, call.name, found])


class Broken(taps.Hook):
    def before(self, call):
        1 // 0


class Spilling(redzones.Redzones):
    def after(self, call):
        for param, tensor in call.tensors() if call.kind == "generated" else ():
            if param.name == SPILLED:
                ctypes.memset(tensor.data_ptr() + tensor.nbytes, 0, 8)
        super().after(call)


def surrounded():
    zones = Spilling()
    with taps.watched(zones):
        result = torch._inductor.aoti_load_package(PACKAGE)(x)
    return zones.buffers, zones.overrun, torch.equal(result, again)


def slots_of():
    (library,) = slots.packages()
    names = library.names().decode().split(chr(0))
    own = library.slots([name for name in names if name.startswith(("aoti_torch", "cpp_"))])
    return {n: [ctypes.c_uint64.from_address(p).value for p in ps] for n, ps in own.items()}


torch.manual_seed(0)
x = torch.randn(9, 16)
with taps.watched(Seen()) as watch:
    model = torch._inductor.aoti_load_package(PACKAGE)
    within = slots_of()
    result = model(x)
after = slots_of()
calls = len(seen)
again = model(x)
with taps.watched(Broken()) as broken:
    third = model(x)
SPILLED = ""
healthy = surrounded()
SPILLED = "out_ptr0"
print(json.dumps({
    "healthy": healthy, "spilled": surrounded(),
    "error": repr(watch.error), "unseen": watch.unseen, "seen": seen, "x": float(x.sum()),
    "equal": torch.equal(result, again) and torch.equal(result, third),
    "result": float(result.sum()),
    "later": len(seen) - calls, "replaced": sum(within[n] != after[n] for n in after),
    "broken": repr(broken.error),
}))
"""


def test_each_call_is_seen_with_its_tensors_and_nothing_of_it_stays(
    built: Built, tmp_path: Path, python: str
) -> None:
    package = str(built.directory / "dynamic.pt2")
    found = json.loads(printed(tmp_path, LOOK.replace("PACKAGE", repr(package)), python))
    assert (found["error"], found["unseen"]) == ("None", [])
    assert (found["equal"], found["later"]) == (True, 0)
    assert found["broken"] == "ZeroDivisionError('integer division or modulo by zero')"
    assert found["replaced"] >= 8
    assert found["healthy"][0] > 0 and found["healthy"][1:] == [None, True]
    overrun = found["spilled"][1]
    assert overrun["kernel"].startswith("cpp_fused_") and overrun["argument"] == "out_ptr0"
    assert (overrun["bytes"], overrun["behind"], overrun["ahead"]) == (64, 8, 0)
    calls = {(kind, name): tensors for kind, name, tensors in found["seen"]}
    (fused,) = (name for kind, name in calls if kind == "generated")
    assert fused.startswith("cpp_fused_")
    before = calls["before", fused]
    assert [tensor[:2] for tensor in before] == [
        ["in_out_ptr0", [9, 16]],
        ["in_ptr0", [9, 16]],
        ["out_ptr0", [16]],
    ]
    assert before[1][2] == found["x"]
    assert calls["generated", fused][0] == ["in_out_ptr0", found["result"]]
    product = calls["extern", "aoti_torch_cpu_addmm_out"]
    assert [name for name, _ in product] == ["out", "self", "mat1", "mat2"]
    kinds = {kind for kind, _ in calls}
    assert {"allocation", "free", "view", "pointer"} <= kinds


def test_what_a_gpu_package_gives_its_kernels_is_read_from_its_source(packages: Path) -> None:
    source = wrapper_contract.source_in(packages / "torch-2.11" / "embedding.pt2")
    assert source is not None
    found = prototypes.launcher(source)
    first, second = found.params
    assert first == "triton_poi_fused_embedding_mul_unsqueeze_0"
    params = found.params[first]
    names = ["in_ptr0", "in_ptr1", "in_ptr2", "out_ptr0", "ynumel", "xnumel"]
    assert [one.name for one in params[:6]] == names
    assert [one.type for one in params[:6]] == ["void*"] * 4 + ["int32_t"] * 2
    assert [one.name for one in params[6:]] == [
        "global_scratch_scratch_6",
        "profile_scratch_scratch_7",
    ]
    binaries = {name: kernel for name, kernel in found.binaries.items() if name.endswith(".cubin")}
    assert list(binaries.values()) == [first, second]
