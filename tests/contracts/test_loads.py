"""Packages that do not load and constants that do not fit: the reason, not the envelope."""

from __future__ import annotations

import shutil

import pytest
from package_archives import RECORDED, change, drop, members, unpack, write
from triages import CALL, triage_all

LOAD = CALL.with_name("load.py")
COMPILE = CALL.with_name("compile_and_load.py")
SYMBOL = b"\0aoti_torch_delete_tensor_object\0"
OTHER_SYMBOL = b"\0aoti_torch_delete_tensor_objecX\0"

# package → category, phase, words of the summary
BROKEN = {
    "truncated": ("package_corrupt", "load", "truncated"),
    "empty": ("package_corrupt", "load", "empty"),
    "page": ("package_corrupt", "load", "no package"),
    "without_library": ("package_corrupt", "load", "has no library"),
    "exported": ("package_corrupt", "load", "exported program (torch.export.save)"),
    "symbol": ("missing_symbol", "load", "aoti_torch_delete_tensor_objecX"),
    "embedding": ("device_unavailable", "load", "CUDA"),
    "custom": ("custom_op_missing", "load", "demo::twice is not registered"),
    "other_name": ("package_incompatible", "load", "it has: first"),
    "off_library": ("constants_missing", "run", "2 of the model's 2 constants were not loaded"),
    "static": ("toolchain", "load", "its own copy of libstdc++"),
}
# what is given to load_constants → words of the summary
CONSTANTS = {
    "shape": "fc.weight was loaded with shape [8, 16], the package holds it as [16, 16]",
    "dtype": "fc.bias was loaded as float64, the package holds it as float32",
    "prefix": "module.fc.weight is not among the package's 2 constants (fc.weight, fc.bias)",
    "view": "fc.weight was loaded as a view of a storage of 32000000 bytes, and the package",
    "inlined": "scale is not among the package's 2 constants (fc.weight, fc.bias): it has at most",
}


@pytest.fixture(scope="module")
def broken(built, exported, tmp_path_factory):
    """Write the broken packages into one folder."""
    folder = tmp_path_factory.mktemp("broken")
    whole = built.directory / "static.pt2"
    entries = members(whole)
    (folder / "truncated.pt2").write_bytes(whole.read_bytes()[:500_000])
    (folder / "empty.pt2").write_bytes(b"")
    (folder / "page.pt2").write_text("<html>404</html>")
    shutil.copy(exported["static"], folder / "exported.pt2")
    write(folder / "without_library.pt2", drop(entries, ".so"))
    renamed = change(entries, ".so", lambda data: data.replace(SYMBOL, OTHER_SYMBOL))
    write(folder / "symbol.pt2", renamed)
    for name in ("cpu.tar.xz", "h200.tar.xz"):
        unpack(RECORDED / name, folder / "recorded")
    other = [(name.replace("/aotinductor/model/", "/aotinductor/first/"), d) for name, d in entries]
    write(folder / "other_name.pt2", other)
    shutil.move(folder / "recorded" / "torch-2.11" / "embedding.pt2", folder)
    recorded = folder / "recorded" / "torch-2.13" / "custom.pt2"
    write(folder / "custom.pt2", [*entries, operators_of(recorded, entries)])
    return folder


def operators_of(other, entries):
    """Return the list of operators of another package, named as these entries need it."""
    library = next(name for name, _ in entries if name.endswith(".wrapper.so"))
    theirs = {name.rpartition("/")[2]: data for name, data in members(other)}
    stem = next(name for name in theirs if name.endswith(".wrapper.so")).removesuffix(".so")
    return f"{library.removesuffix('.so')}.json", theirs[f"{stem}.json"]


@pytest.fixture(scope="module")
def loaded(built, broken, compiler_with_static_library, tmp_path_factory, python):
    """Triages of scripts that load, replace constants, or compile first."""
    dynamic = str(built.directory / "dynamic.pt2")
    jobs = {name: (LOAD, (str(broken / f"{name}.pt2"),), {}) for name in BROKEN}
    jobs |= {name: (LOAD, (dynamic, name), {}) for name in (*CONSTANTS, "right")}
    own_cache = {"CXX": str(compiler_with_static_library),
                 "TORCHINDUCTOR_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}  # fmt: skip
    jobs["static"] = (COMPILE, (str(broken / "static.pt2"),), own_cache)
    jobs["off_library"] = (COMPILE, (str(broken / "off_library.pt2"), "without_constants"), {})
    return triage_all(jobs, tmp_path_factory.mktemp("loads"), python)


@pytest.mark.parametrize("name", BROKEN)
def test_a_package_that_does_not_load_is_told_with_its_reason(loaded, name):
    best = loaded[name].best
    category, phase, words = BROKEN[name]
    assert (best.category, best.phase) == (category, phase)
    assert words in best.summary
    assert "outdated" not in best.summary
    assert loaded[name].answer.steps[0].exit != "exit 0"
    assert best.fixes


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_that_do_not_fit_are_proved(loaded, name):
    best = loaded[name].best
    assert (best.category, best.confidence) == ("constants_mismatch", "proved")
    assert CONSTANTS[name] in best.summary
    assert best.guide == "guides/constants.md"


def test_constants_that_fit_are_no_fault(loaded):
    assert loaded["right"].best.category == "no_fault"
