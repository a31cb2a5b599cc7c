"""Compile an architecture of the zoo, or load its package; then call it, rightly or not.

    serve.py ARCHITECTURE PACKAGE [--compile] [--device cpu] [--fault FAULT] [--calls N]

With --compile the package is made first, with the exported program saved beside it, and
PACKAGE.json tells which lines of the model use which input.
"""

from __future__ import annotations

import argparse
import json
import re
import warnings
from pathlib import Path

import architectures
import faults
import torch

RTOL = {torch.float32: 1e-3}  # far above rounding; 0.02 where there are fewer bits
LINE = re.compile(r'File "([^"]+)", line (\d+)')


def compile_package(case, package, device):
    model, inputs, shapes = architectures.prepared(case, device)
    with torch.no_grad():
        program = torch.export.export(model, (), inputs, dynamic_shapes=shapes)
    torch.export.save(program, package.with_suffix(".exported.pt2"))
    configs = {"max_autotune": True} if case.max_autotune else None
    torch._inductor.aoti_compile_and_package(
        program, package_path=str(package), inductor_configs=configs
    )
    package.with_suffix(".json").write_text(json.dumps(lines_of(program)))


def lines_of(program):
    """Return for each input and parameter, and for all embeddings, the lines that use it."""
    known = {node.name: node.name for node in program.graph.nodes if node.op == "placeholder"}
    targets = {s.arg.name: s.target for s in program.graph_signature.input_specs if s.target}
    found = {}
    for node in program.graph.nodes:
        if node.op != "call_function":
            continue
        lines = [[f, int(n)] for f, n in LINE.findall(node.meta.get("stack_trace") or "")]
        names = {known[a.name] for a in node.all_input_nodes if a.name in known}
        if "embedding" in str(node.target) or "index" in str(node.target):
            names.add("*index")
        for name in names:
            found.setdefault(targets.get(name, name), []).extend(lines)
        if len(names - {"*index"}) == 1 and passes_on(node):
            known[node.name] = next(iter(names - {"*index"}))
    return found


def passes_on(node):
    words = ("view", "reshape", "_to", "to.", "clone", "slice", "unsqueeze", "expand", "contiguous")
    words += ("transpose", "permute")
    return any(word in str(node.target) for word in words)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("architecture")
    parser.add_argument("package", type=Path)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--fault", choices=faults.FAULTS)
    parser.add_argument("--calls", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # torch and the libraries warn about their own code
    case = architectures.CASES[options.architecture]
    if options.compile:
        compile_package(case, options.package, options.device)
    elif case.library == "transformers":
        case.build()  # a package whose outputs are of a library's class needs that class to load
    model = torch._inductor.aoti_load_package(str(options.package))
    inputs = architectures.inputs_of(case, options.device)
    fault = faults.FAULTS[options.fault] if options.fault else None
    if fault is not None and fault.spoil_model is not None:
        print("spoilt:", fault.spoil_model(model, case, options.device), flush=True)
    total = fault.calls if fault is not None else options.calls
    right = None
    for number in range(1, total + 1):
        bad = fault is not None and number == fault.bad
        result = model(**(fault.spoil(case, inputs) if bad else inputs))
        if bad and fault.same_values:
            print("harm:", "no" if alike(right, result) else "yes", flush=True)
        right = result
    if options.device != "cpu":
        torch.cuda.synchronize()
    print(f"{total} calls served", flush=True)


def alike(right, result):
    """Tell whether a call gave what the call before it gave, of the same values in the layout that
    was compiled, up to rounding, beside the largest value where that is below 1."""
    leaves = torch.utils._pytree.tree_leaves
    for one, other in zip(leaves(result), leaves(right), strict=True):
        if isinstance(other, torch.Tensor) and other.numel():
            rtol = RTOL.get(other.dtype, 0.02)
            near = rtol * min(1.0, float(other.abs().max())) if other.is_floating_point() else 0
            if not torch.allclose(one, other, rtol=rtol, atol=near, equal_nan=True):
                return False
    return True


if __name__ == "__main__":
    main()
