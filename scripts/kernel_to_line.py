"""From a kernel's name to the lines of the model: provenance if the package has it, else the
comments in its generated C++. Needs no torch."""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import inspect_pt2
import shared
from probe import wrapper_contract

COMMENT = re.compile(
    r"// (?:Topologically Sorted|Unsorted) Source Nodes: \[(.*?)\], Original ATen: \[(.*?)\]"
)
CALL = re.compile(r"\b(?:call_)?((?:triton|cpp)_\w{1,300}|aoti_torch_\w{1,200})\(")

BOOKKEEPING = (
    "aoti_torch_empty_strided",
    "aoti_torch_get_",
    "aoti_torch_delete_",
    "aoti_torch_dtype_",
    "aoti_torch_device_type_",
)


def main() -> int:
    parser = shared.parser(__doc__, inputs=False)
    parser.add_argument(
        "kernel", nargs="?", default="", help="its name or a part of it; none: list all"
    )
    options = parser.parse_args()
    lines = [
        *provenance(options.package, options.kernel),
        *comments(options.package, options.kernel),
    ]
    for line in lines:
        print(line)
    if not lines:
        print(f"no kernel of the package is called like {options.kernel!r}", file=sys.stderr)
        return shared.NOT_DONE
    return shared.CLEAN


def provenance(package: str, kernel: str) -> Iterator[str]:
    """Yield what kernel_information.json says: packages compiled with INDUCTOR_PROVENANCE=1."""
    with zipfile.ZipFile(package) as archive:
        for name in archive.namelist():
            if not name.endswith("kernel_information.json"):
                continue
            for key, value in json.loads(inspect_pt2.text(archive, name)).items():
                if kernel in key:
                    yield f"{key}: {', '.join(value.get('post_grad_nodes', []))}"
                    for stack in value.get("stack_traces", []):
                        yield "    " + stack.strip().replace("\n", "\n    ")


def comments(package: str, kernel: str) -> Iterator[str]:
    """Yield calls in the generated C++ with the nodes and operators named above them."""
    nodes = operators = ""
    source = wrapper_contract.source_in(Path(package)) or ""
    for number, line in enumerate(wrapper_contract.lines_of(source), 1):
        if comment := COMMENT.search(line):
            nodes, operators = comment.groups()
            continue
        call = CALL.search(line)
        if call is None or call[1].startswith(BOOKKEEPING):
            continue
        if kernel in call[1]:
            origin = f"nodes {nodes}; operators {operators}" if nodes else "operators: see its name"
            yield f"wrapper line {number}: {call[1]}: {origin}"
        nodes = operators = ""  # a comment stands above one call


if __name__ == "__main__":
    sys.exit(shared.read_apart(main))
