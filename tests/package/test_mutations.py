"""Hundreds of damaged packages: no traceback, no write, bounded time and memory.

Watched in a process of its own: test_mutations.py SOURCE FOLDER RESULT.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from aoti_debug.package.answer import answer
from aoti_debug.package.inspect import inspect
from aoti_debug.tools.fit import answer as told
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy as Strategy
from recordings import Members, change, drop, machine, members, metadata, write

MEMORY_MIB = 300
TESTS = Path(__file__).parents[1]


def test_no_mutation_raises_writes_or_grows(dyn: Path, tmp_path: Path) -> None:
    work, cwd, result = tmp_path / "work", tmp_path / "cwd", tmp_path / "result.json"
    work.mkdir()
    cwd.mkdir()
    argv = [sys.executable, __file__, str(dyn), str(work), str(result)]
    env = {**os.environ, "PYTHONPATH": str(TESTS), "PYTHONDONTWRITEBYTECODE": "1"}
    env["HYPOTHESIS_STORAGE_DIRECTORY"] = str(tmp_path / "hypothesis")
    done = subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    facts = json.loads(result.read_text())
    assert facts["count"] >= 240
    assert facts["peak_mib"] < MEMORY_MIB
    assert facts["writes"] == list(cwd.iterdir()) == []
    assert facts["found"] > facts["count"] // 2


SECONDS = 10
HEADER = 64
# The same packages each time: what a run finds, the next one finds too.
BOUNDED = partial(
    settings,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def cut(data: bytes) -> Strategy[bytes]:
    return st.integers(0, len(data) - 1).map(lambda at: data[:at])


def flip(data: bytes) -> Strategy[bytes]:
    """Change bytes anywhere, in the table of contents, or in its last record."""
    tail = data.rindex(b"PK\x01\x02")
    places = [st.integers(low, len(data) - 1) for low in (0, tail - 2_000, len(data) - 60)]
    one = st.tuples(st.one_of(places), st.binary(min_size=1, max_size=1))
    return st.lists(one, min_size=1, max_size=8).map(lambda changes: patched(data, changes))


def replaced(document: bytes, _: bytes) -> bytes:
    return document


def lie(data: bytes) -> Strategy[bytes]:
    """Change sizes, offsets and counts of the table of contents to anything."""
    entries = st.sampled_from((data.index(b"PK\x01\x02"), data.rindex(b"PK\x01\x02")))
    short, long = (8, 10, 28, 30, 32), (16, 20, 24, 42)
    fields = st.one_of(
        st.tuples(entries, st.sampled_from(short), packed("<H")),
        st.tuples(entries, st.sampled_from(long), packed("<I")),
        st.tuples(
            st.just(data.rindex(b"PK\x05\x06")), st.sampled_from((8, 10, 12, 16, 20)), packed("<H")
        ),
    )
    return fields.map(lambda field: patched(data, [(field[0] + field[1], field[2])]))


def packed(form: str) -> Strategy[bytes]:
    """Give a number of this form; the ends of its range are tried first."""
    bits = 8 * struct.calcsize(form)
    ends = (0, 1, 2**bits - 1, 2**bits - 2, 2 ** (bits - 1), 2 ** (bits - 1) - 1)
    numbers = st.one_of(st.sampled_from(ends), st.integers(0, 2**bits - 1))
    return numbers.map(lambda number: struct.pack(form, number))


def elf(data: bytes) -> Strategy[bytes]:
    """Damage headers and dynamic tables, where a parser looks."""
    places = [st.integers(4, end) for end in (HEADER, HEADER + 56 * 12, 60_000)]
    values = st.one_of(packed("<B"), packed("<I"), packed("<Q"))
    changes = st.lists(st.tuples(st.one_of(places), values), min_size=1, max_size=20)
    return changes.map(lambda chosen: patched(data, chosen))


def text(data: bytes) -> Strategy[bytes]:
    """Damage a source or a document: cut it, repeat parts of it, sow odd bytes."""
    place = st.integers(0, len(data) - 1)
    odd = st.sampled_from([bytes([c]) for c in b'\0\xff{}[]()"\\0;/*\n'])
    sown = st.lists(st.tuples(place, odd), max_size=20).map(lambda sown: patched(data, sown))
    parts = st.tuples(sown, place, st.integers(1, 400), st.sampled_from((0, 1, 500)))
    return parts.map(lambda p: p[0][: p[1]] + p[0][p[1] :][: p[2]] * p[3] + p[0][p[1] :])


def patched(data: bytes, changes: Iterable[tuple[int, bytes]]) -> bytes:
    """Return the data with these bytes in these places."""
    changed = bytearray(data)
    for at, new in changes:
        changed[at : at + len(new)] = new
    return bytes(changed[: len(data)])


def of_member(
    entries: Members, ending: str, how: Callable[[bytes], Strategy[bytes]]
) -> Strategy[Members]:
    (data,) = (d for name, d in entries if name.endswith(ending))
    return how(data).map(lambda new: change(entries, ending, lambda _: new))


def shuffled(entries: Members) -> Strategy[Members]:
    return st.permutations(entries).flatmap(
        lambda order: st.integers(1, len(order)).map(lambda n: list(order[:n]))
    )


def drawn(source: Path, path: Path) -> Iterator[tuple[int, Strategy[Path]]]:
    """Give the kinds of mutations, each with how many are tried."""

    def raw(data: bytes) -> Path:
        path.write_bytes(data)
        return path

    data, entries = source.read_bytes(), members(source)
    for how, count in ((cut, 30), (flip, 50), (lie, 50)):
        yield count, how(data).map(raw)
    yield 15, shuffled(entries).map(lambda e: write(path, e))
    yield 50, of_member(entries, "wrapper.so", elf).map(lambda e: write(path, e))
    for ending in (".wrapper.cpp", "kernel_information.json", "wrapper_metadata.json"):
        yield 12, of_member(entries, ending, text).map(lambda e: write(path, e))


def listed(entries: Members) -> Iterator[Members]:
    """Give what no chance would find."""
    for name in (
        "../../evil",
        "/etc/evil",
        "dyn/data/aotinductor/../../../../evil",
        "a\\..\\evil",
        "C:/evil",
        "dyn/data/aotinductor/model/",
        "",
        "dyn/" + "x/" * 3_000,
    ):
        yield [*entries, (name, b"evil")]
    for number in (0, 3, 40, 183, 243, 65535):
        yield change(entries, ".so", machine(number))
    for document in (b"[" * 200_000, b"{}", b"null", b"\xff\xfe", b'{"nodes": [[[]]]}', b"1e999"):
        yield change(entries, ".json", partial(replaced, document))
    yield change(entries, "_metadata.json", metadata(AOTI_DEVICE_KEY="x" * 100_000))
    yield drop(entries, ".cpp", ".json")
    yield [(n.upper(), d) for n, d in entries]
    yield [(n, d) for n, d in entries for _ in range(3)]


def bombs(folder: Path, entries: Members) -> Iterator[Path]:
    bulk = b"\0" * (64 << 20)
    for ending in (".wrapper.cpp", ".wrapper.so", "wrapper_metadata.json"):
        yield write(folder / "bomb.pt2", change(entries, ending, lambda d: bulk), compress=True)
    many = [(f"dyn/data/aotinductor/m{n}/x.wrapper.cpp", b"") for n in range(20_000)]
    yield write(folder / "many.pt2", many)
    cubins = [(f"dyn/data/aotinductor/model/{n}.cubin", b"\x7fELF") for n in range(8_000)]
    yield write(folder / "cubins.pt2", [*entries, *cubins])
    link = zipfile.ZipInfo("dyn/data/aotinductor/model/link.so")
    link.external_attr = 0o120777 << 16
    write(folder / "link.pt2", entries)
    with zipfile.ZipFile(folder / "link.pt2", "a") as archive:
        archive.writestr(link, "/etc/passwd")
    yield folder / "link.pt2"
    loop = folder / "loop"
    loop.mkdir()
    (loop / "self").symlink_to(loop)
    (loop / "model.so").symlink_to("/etc/passwd")
    yield loop


def watch(writes: list[str]) -> None:
    """Record every write that the code under test starts."""
    watched = set(
        """
        os.mkdir os.rename os.remove os.link os.symlink subprocess.Popen os.exec
        os.posix_spawn os.fork ctypes.dlopen pickle.find_class
        """.split()
    )

    def audit(event: str, arguments: tuple[object, ...]) -> None:
        mode = arguments[1] if event == "open" else None
        opened = isinstance(mode, str) and set(mode) & set("wax+")
        if inside and (opened or event in watched):
            writes.append(f"{event} {arguments[0]!r}"[:200])

    sys.addaudithook(audit)


inside = False


def peak_kib() -> int:
    """Return this program's peak memory; getrusage would count what started it, before exec."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])


def main() -> None:
    source, folder, result = map(Path, sys.argv[1:4])
    writes: list[str] = []
    warnings.filterwarnings("ignore", message="Duplicate name")  # of the mutations themselves
    count = found = 0

    def read(path: Path) -> None:
        global inside
        nonlocal count, found
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # its signal ends the process
        inside = True
        package = inspect(path)
        document = json.dumps(told(answer(package)).structured_content)
        inside = False
        signal.setitimer(signal.ITIMER_PROF, 0)
        assert len(document) < 8_000, path
        count += 1
        found += bool(package.flaws)

    answer(inspect(source))  # imports happen here
    watch(writes)
    entries = members(source)
    for one in listed(entries):
        read(write(folder / "listed.pt2", one))
    for path in bombs(folder, entries):
        read(path)
    for number, kind in drawn(source, folder / "drawn.pt2"):
        BOUNDED(max_examples=number)(given(kind)(read))()
    facts = {"count": count, "found": found, "writes": writes, "peak_mib": peak_kib() // 1024}
    result.write_text(json.dumps(facts))


if __name__ == "__main__":
    main()
