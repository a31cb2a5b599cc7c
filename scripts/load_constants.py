"""Check weights against a package before `load_constants`, which compares names only; then load
copies of them, and call the model if there are inputs."""

from __future__ import annotations

import pickle
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import shared
from probe import constants, untrusted, wrapper_contract


def main() -> int:
    parser = shared.parser(__doc__, inputs=False)
    said = "state dict of torch.save, or an exported program (.ep.pt2)"
    parser.add_argument("weights", type=shared.existing, help=said)
    said = "of torch.export.save; it tells weights that are inlined from those never used"
    shared.take_program(parser, help=said)
    parser.add_argument("--strict", action="store_true", help="unknown names count as wrong, too")
    said = "file of torch.save((args, kwargs), FILE)"
    parser.add_argument("--call", metavar="INPUTS", type=shared.existing, help=said)
    shared.take_imports(parser)
    options = parser.parse_args()
    source = wrapper_contract.source_in(Path(options.package))
    if source is None:
        print("the package has no source that could state its constants", file=sys.stderr)
        return shared.NOT_DONE
    torch: Any = import_module("torch")
    sys.path.insert(0, str(Path.cwd()))
    for name in options.imports:
        try:
            import_module(name)
        except ImportError as error:
            print(f"--import {name}: {error}", file=sys.stderr)
            return 2
    known = constants.declared(source)
    program = options.exported or (options.weights if options.weights.endswith(".pt2") else None)
    try:
        state = read(torch, options.weights, options.trust)
        names = constants.used(untrusted.load(program, trust=options.trust)) if program else None
    except (untrusted.NeedsTrust, pickle.UnpicklingError) as error:
        print(str(error).strip().partition("\n")[0], file=sys.stderr)
        return shared.NOT_DONE
    inlined, harmless = constants.unknown(known, state, names)
    wrong = [*constants.problems(known, state), *inlined]
    for line in [*wrong, *harmless]:
        print(line)
    if wrong or (options.strict and harmless):
        return shared.FOUND
    model = torch._inductor.aoti_load_package(options.package)
    copies = {
        name: state[name].detach().clone(memory_format=torch.contiguous_format) for name in known
    }
    model.load_constants(copies, check_full_update=True)
    print(f"{len(copies)} constants fit and were loaded")
    if options.call:
        args, kwargs = torch.load(options.call, weights_only=True)
        print(model(*args, **kwargs))
    return shared.CLEAN


def read(torch: Any, path: str, trust: bool) -> dict[str, Any]:
    """Return the tensors of a state dict, or of an exported program."""
    if path.endswith(".pt2"):
        program = untrusted.load(path, trust=trust)
        return {**program.state_dict, **program.constants}
    state = torch.load(path, weights_only=True)
    return {name: value for name, value in state.items() if isinstance(value, torch.Tensor)}


if __name__ == "__main__":
    sys.exit(main())
