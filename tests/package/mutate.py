"""Read hundreds of mutated packages in this process, watched: `mutate.py SEEDS FOLDER RESULT`."""

from __future__ import annotations

import json
import random
import resource
import signal
import struct
import sys
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path

from aoti_debug.package.answer import answer
from aoti_debug.package.inspect import inspect
from package_archives import Members, change, drop, machine, members, metadata, write

SECONDS = 10
HEADER = 64


def cut(data: bytes, chance: random.Random) -> Iterator[bytes]:
    for _ in range(60):
        yield data[: chance.randrange(len(data))]
    for back in range(1, 60, 3):
        yield data[:-back]


def flip(data: bytes, chance: random.Random) -> Iterator[bytes]:
    tail = data.rindex(b"PK\x01\x02")
    for number in range(160):
        changed = bytearray(data)
        low = (0, tail - 2_000, len(data) - 60)[number % 3]
        for _ in range(chance.choice((1, 1, 8))):
            changed[chance.randrange(low, len(data))] = chance.randrange(256)
        yield bytes(changed)


def lie(data: bytes, chance: random.Random) -> Iterator[bytes]:
    """Change sizes, offsets and counts of the table of contents to anything."""
    first = data.index(b"PK\x01\x02")
    for number in range(100):
        changed = bytearray(data)
        at = first if number % 2 else data.rindex(b"PK\x01\x02")
        field = chance.choice((8, 10, 16, 20, 24, 28, 30, 32, 42))
        value = chance.choice((0, 1, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 0xFFFFFFFE))
        form, mask = ("<H", 0xFFFF) if field in (8, 10, 28, 30, 32) else ("<I", 0xFFFFFFFF)
        struct.pack_into(form, changed, at + field, value & mask)
        yield bytes(changed)
    for field in (8, 10, 12, 16, 20):
        for value in (0, 0xFFFF, 0x7FFF):
            changed = bytearray(data)
            struct.pack_into("<H", changed, data.rindex(b"PK\x05\x06") + field, value)
            yield bytes(changed)


def elf(data: bytes, chance: random.Random) -> bytes:
    """Damage headers and dynamic tables, where a parser looks."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 2, 20))):
        at = chance.randrange(4, chance.choice((HEADER, HEADER + 56 * 12, 60_000)))
        width, form = chance.choice(((1, "<B"), (4, "<I"), (8, "<Q")))
        value = chance.choice(
            (0, 1, 2**31 - 1, 2**32 - 1, 2**63, 2**64 - 1, chance.getrandbits(64))
        )
        struct.pack_into(form, changed, at, value & (2 ** (8 * width) - 1))
    return bytes(changed)


def text(data: bytes, chance: random.Random) -> bytes:
    """Damage a source or a document: cut it, repeat parts of it, sow odd bytes."""
    changed = bytearray(data)
    for _ in range(20):
        changed[chance.randrange(len(changed))] = chance.choice(b'\0\xff{}[]()"\\0;/*\n')
    at = chance.randrange(len(changed))
    part = bytes(changed[at : at + chance.randrange(1, 400)])
    return bytes(changed[:at]) + part * chance.choice((0, 1, 500)) + bytes(changed[at:])


def restructure(entries: Members, chance: random.Random) -> Iterator[Members]:
    for _ in range(30):
        kept = [entry for entry in entries if chance.random() > 0.3]
        yield chance.sample(kept, len(kept))
    for _ in range(90):
        yield change(entries, ".so", lambda d: elf(d, chance))
    for ending in (".wrapper.cpp", "kernel_information.json", "wrapper_metadata.json"):
        for _ in range(20):
            yield change(entries, ending, lambda d: text(d, chance))
    for name in ("../../evil", "/etc/evil", "dyn/data/aotinductor/../../../../evil", "a\\..\\evil",
                 "C:/evil", "dyn/data/aotinductor/model/", "", "dyn/" + "x/" * 3_000):  # fmt: skip
        yield [*entries, (name, b"evil")]
    for number in (0, 3, 40, 183, 243, 65535):
        yield change(entries, ".so", machine(number))
    for document in (b"[" * 200_000, b"{}", b"null", b"\xff\xfe", b'{"nodes": [[[]]]}', b"1e999"):
        yield change(entries, ".json", lambda d, document=document: document)
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
    folder_of_model = "dyn/data/aotinductor/model"
    cubins = [(f"{folder_of_model}/{n}.cubin", b"\x7fELF") for n in range(8_000)]
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


def paths(source: Path, folder: Path) -> Iterator[Path]:
    chance = random.Random(20_260_101)
    path = folder / "mutated.pt2"
    data = source.read_bytes()
    for how in (cut, flip, lie):
        for changed in how(data, chance):
            path.write_bytes(changed)
            yield path
    entries = members(source)
    for one in restructure(entries, chance):
        yield write(path, one)
    yield from bombs(folder, entries)


def watch(writes: list[str]) -> None:
    """Record every write that the code under test starts."""
    watched = {
        "os.mkdir", "os.rename", "os.remove", "os.link", "os.symlink", "subprocess.Popen",
        "os.exec", "os.posix_spawn", "os.fork", "ctypes.dlopen", "pickle.find_class",
    }  # fmt: skip

    def audit(event: str, arguments: tuple[object, ...]) -> None:
        opened = (
            event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")
        )
        if inside and (opened or event in watched):
            writes.append(f"{event} {arguments[0]!r}"[:200])

    sys.addaudithook(audit)


inside = False


def peak_kib() -> int:
    """Return this program's peak memory; getrusage would count what started it, before exec."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])


def main() -> None:
    global inside
    source, folder, result = map(Path, sys.argv[1:4])
    writes: list[str] = []
    warnings.filterwarnings("ignore", message="Duplicate name")  # of the mutations themselves
    slowest = 0.0
    count = found = 0
    answer(inspect(source))  # imports happen here
    watch(writes)
    base = peak_kib()
    for path in paths(source, folder):
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # its signal ends the process
        started = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        inside = True
        package = inspect(path)
        document = json.dumps(answer(package).document())
        inside = False
        slowest = max(slowest, resource.getrusage(resource.RUSAGE_SELF).ru_utime - started)
        signal.setitimer(signal.ITIMER_PROF, 0)
        assert len(document) < 8_000, path
        count += 1
        found += bool(package.flaws)
    peak = peak_kib()
    facts = {"count": count, "found": found, "writes": writes, "slowest": slowest,
             "peak_mib": peak // 1024, "base_mib": base // 1024}  # fmt: skip
    result.write_text(json.dumps(facts))


if __name__ == "__main__":
    main()
