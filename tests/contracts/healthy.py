"""Describe twenty calls that are right, and some that only look wrong; run nothing compiled.

healthy.py PROBE EXPORTED: EXPORTED is a JSON object, package name → exported program.
"""

import json
import sys
from dataclasses import asdict
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import torch


class Shift(torch.nn.Module):
    def forward(self, x):
        return x + 1


def slices(memory):
    return memory[:4], memory[4:]


def same(x):
    return x, x


def ids(rows):
    return torch.randint(0, 1000, (rows, 6)), torch.rand(rows, 6)


HEALTHY = {
    "rows at the lower bound": ("dynamic", lambda: (torch.randn(2, 16),)),
    "rows at the upper bound": ("dynamic", lambda: (torch.randn(64, 16),)),
    "rows out of a larger tensor": ("dynamic", lambda: (torch.randn(100, 16)[7:20],)),
    "a parameter": ("dynamic", lambda: (torch.nn.Parameter(torch.randn(9, 16)),)),
    "a fixed size": ("static", lambda: (torch.randn(4, 8),)),
    "a result in the exported layout": ("static", lambda: (torch.randn(8, 4).t().contiguous(),)),
    "two inputs at the lower bound": ("embedding", lambda: ids(2)),
    "two inputs at the upper bound": ("embedding", lambda: ids(64)),
    "a row of its own": ("auto_one", lambda: (torch.randn(1, 8),)),
    "a row with an odd stride": ("auto_one", lambda: (torch.randn(1, 16)[:, :8],)),
    "an expanded row": ("auto_one", lambda: (torch.randn(8).expand(1, 8),)),
    "the smallest of a branch": ("branch", lambda: (torch.randn(6, 4),)),
    "many of a branch": ("branch", lambda: (torch.randn(1000, 4),)),
    "equal sizes": ("pair", lambda: (torch.randn(33, 4), torch.randn(33, 4))),
    "one tensor twice": ("pair", lambda: same(torch.randn(5, 4))),
    "a multiple of the reshape": ("reshape", lambda: (torch.randn(300, 4),)),
    "the exported argument": ("int_argument", lambda: (torch.randn(4, 8), 3)),
    "two halves, one written to": ("mutate", lambda: slices(torch.ones(8))),
    "empty as exported": ("empty", lambda: (torch.ones(0, 4),)),
    "empty within the bounds": ("empty_allowed", lambda: (torch.ones(0, 4),)),
}
DOUBTFUL = {
    "one row where two is the least": ("dynamic", lambda: (torch.randn(1, 16),)),
    "one row in each input": ("pair", lambda: (torch.randn(1, 4), torch.randn(1, 4))),
    "a reshape to one column": ("reshape", lambda: (torch.randn(100, 4),)),
    "an unaligned start": ("embedding", lambda: (ids(4)[0], torch.rand(25)[1:].reshape(4, 6))),
}


def probe_modules(home, *names):
    spec = spec_from_file_location(
        "_aoti_debug_probe", home / "__init__.py", submodule_search_locations=[str(home)]
    )
    assert spec is not None
    sys.modules["_aoti_debug_probe"] = module_from_spec(spec)
    return [import_module(f"_aoti_debug_probe.{name}") for name in names]


def programs(paths):
    found = {name: torch.export.load(path) for name, path in paths.items()}
    found["empty"] = torch.export.export(Shift(), (torch.ones(0, 4),))
    rows = {"x": {0: torch.export.Dim("rows", min=0, max=64)}}
    found["empty_allowed"] = torch.export.export(Shift(), (torch.ones(8, 4),), dynamic_shapes=rows)
    return found


def main():
    expectations, describe = probe_modules(Path(sys.argv[1]), "expectations", "describe")
    known = programs(json.loads(sys.argv[2]))
    modules = {name: program.module() for name, program in known.items()}
    found = {}
    for title, (package, make) in {**HEALTHY, **DOUBTFUL}.items():
        inputs = make()
        program = known[package]
        expected = expectations.declared(program)
        refused = None
        try:
            with torch.no_grad():
                modules[package](*inputs)
        except Exception as error:
            refused = str(error)
        found[title] = {
            "package": package,
            "doubtful": title in DOUBTFUL,
            "differences": expectations.differences(program, expected, list(inputs)),
            "refused": refused,
            "inputs": describe.leaves(inputs, [None] * len(inputs)),
        }
    print(json.dumps(found, default=asdict))


main()
