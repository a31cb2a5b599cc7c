"""Say what a .pt2 is without loading it: members, device, inputs and their bounds, operators,
constants, and what is visibly wrong. Needs no torch."""

from __future__ import annotations

import argparse
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import shared
from probe import constants, judge, wrapper_contract

LIMIT = 32 * 1024 * 1024  # bytes of one text member
LIBRARY = 512 * 1024 * 1024  # bytes of a library that are looked at


def main() -> int:
    parser = shared.parser(__doc__, inputs=False)
    options: argparse.Namespace = parser.parse_args()
    try:
        with zipfile.ZipFile(options.package) as archive:
            wrong = list(flaws(archive))
            show(archive, options.package)
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        print(f"WRONG  no zip archive, or cut off: {error}")
        return shared.FOUND
    for line in wrong:
        print(f"WRONG  {line}")
    return shared.FOUND if wrong else shared.CLEAN


def flaws(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield what keeps the archive from loading, or lets it crash."""
    damaged = archive.testzip()
    if damaged:
        yield f"{damaged}: its checksum does not hold"
        return
    names = archive.namelist()
    libraries = [name for name in names if name.endswith(".so")]
    if not any("data/aotinductor/" in name for name in names):
        program = any("/models/" in f"/{name}" for name in names)
        yield (
            "an exported program (torch.export.save), not a package: compile it"
            if program
            else "no AOTInductor package: no data/aotinductor/ in it"
        )
    elif not libraries:
        yield "no library (.so) in it: repacked, or made with package_cpp_only"
    for name in libraries:
        with archive.open(name) as member:
            data = member.read(LIBRARY)
        if data[:4] != b"\x7fELF":
            yield f"{name}: not an ELF library"
        elif b"\0libstdc++.so.6\0" not in data and b"\0libc++.so.1\0" not in data:
            yield f"{name}: libstdc++ is linked statically: loading will crash"


def show(archive: zipfile.ZipFile, path: str) -> None:
    """Print what the text members say."""
    for info in archive.infolist():
        name = info.filename
        if "data/aotinductor/" in name and not name.endswith((".json", ".cpp")):
            print(f"{info.file_size:>12} {name}")
        elif name.endswith("_metadata.json") and not name.endswith(".kernel_metadata.json"):
            print("metadata", text(archive, name))
        elif name.endswith(".wrapper.json"):
            nodes = json.loads(text(archive, name)).get("nodes", [])
            targets = sorted({str(node.get("node", {}).get("target")) for node in nodes})
            print("operators that must be registered:", ", ".join(targets))
    source = wrapper_contract.source_in(Path(path))
    contract = wrapper_contract.contract_of(source) if source else None
    for one in contract.inputs if contract else ():
        print(f"input {one.index} {one.name}: {one.dtype} {one.device} {sizes(one)}")
    for name, constant in constants.declared(source or "").items():
        print(f"constant {name}: {constant.dtype}{list(constant.shape)}")


def sizes(one: judge.Input) -> str:
    """Return sizes as `[2..64, 16]`; `?` where the source does not say."""
    if one.dims is None:
        return "[?]"
    parts = []
    for dim in one.dims:
        low, high = dim.low if dim.low is not None else "", dim.high if dim.high is not None else ""
        parts.append(str(dim.size) if dim.size is not None else f"{low}..{high}")
    return f"[{', '.join(parts)}]"


def text(archive: zipfile.ZipFile, name: str) -> str:
    with archive.open(name) as member:
        return member.read(LIMIT).decode("utf-8", "replace")


if __name__ == "__main__":
    sys.exit(shared.read_apart(main))
