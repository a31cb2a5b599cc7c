"""Give a package new weights in the steps of a sequence; after each, read back what it holds, and
compare what calls return with the model that has the new weights."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from . import compare, constants, races, standalone, update_steps
from .container import Container
from .lazy import torch
from .update_steps import Finding, Step
from .weight_findings import NEW, NULL, OLD, Played, Reasons, as_compiled, same
from .weight_material import Material
from .weight_play import Play
from .weight_truth import stale_in

Document = dict[str, Any]
_SAFE = ("full", "inactive")
_LISTED = 20


def main() -> int:
    """Play the sequence, then safe ones until one is right; report after each step."""
    parser = standalone.arguments(__doc__, package=True, exported=False, inputs=False)
    parser.add_argument("--weights", action="append", default=[], required=True, metavar="FILE")
    parser.add_argument("--wanted", help="weights that it should have [default: those given last]")
    parser.add_argument("--steps", required=True, help="JSON file with the steps")
    parser.add_argument("--threads", type=int, default=0, help="that call meanwhile")
    options = parser.parse_args()
    with standalone.started(options) as report:
        steps = [Step.of(one) for one in json.loads(Path(options.steps).read_text("utf-8"))]
        spoils = {one.file for one in steps if one.do == update_steps.OVERWRITE and one.spoils}
        material = Material(options, spoils)
        own = material.container()
        material.read(own)
        report.update(state="play", **about(material))
        found = play(material, own, steps, report)
        report.update(state="safe")
        if all(curable(material, one) for one in found):
            report.update(safe=safe(material, steps))
        if options.threads and material.inputs is not None:  # last: it may end the process
            report.update(state="races")
            report.update(races=races.under_calls(material, own, steps, options.threads))
        own.close()
        report.update(state="done")
    return 0


def curable(material: Material, one: Finding) -> bool:
    """Tell whether another sequence could be right."""
    return one.reason == "not_folded" or (one.constant in material.known and one.reason != "shape")


def about(material: Material) -> Document:
    """Say what is compared with what."""
    truth = "the exported program" if material.truth else "a container loaded afresh"
    changed = [n for n in material.known if n not in material.old]
    changed += [n for n, was in material.old.items() if not same(was, material.wanted[n])]
    return {
        "device": material.device,
        "constants": len(material.known),
        "folded": len(material.folded),
        "changed": len(changed),
        "truth": truth if material.inputs is not None else "",
    }


def play(
    material: Material, own: Container, steps: Sequence[Step], report: standalone.Report
) -> list[Finding]:
    """Make the steps, with a call at the end; report each one, and what is wrong in the end."""
    going, rows, found = Play(material, own), list[Document](), list[Finding]()
    if not steps or steps[-1].do != update_steps.CALL:
        steps = [*steps, Step(update_steps.CALL)]
    for number, step in enumerate(steps, 1):
        report.update(at=number)
        if lacking := going.lacking(step, number):
            report.update(findings=list(map(asdict, lacking)))
        row: Document = {"step": str(step)}
        if step.do == update_steps.CALL:
            one = Played(step)
            going.played.append(one)
            going.read_back(one)
            row.update(called(going, one))
        else:
            one = going.make(step)
        wrong = [name for name, status in one.active.items() if status != NEW]
        row.update(wrong=wrong[:_LISTED], error=one.error or None)
        rows.append(row)
        found = findings(material, own, going.played, row)
        report.update(steps=rows, findings=list(map(asdict, found)))
    return found


def findings(
    material: Material, own: Container, played: Sequence[Played], row: Document
) -> list[Finding]:
    """Return what is wrong: constants as they were read back, then what the outputs show."""
    reasons = Reasons(played, material.known, material.wanted, material.tied)
    found = reasons.findings(own.held())
    loads = [n for n, one in enumerate(played, 1) if one.given]
    last, shown = loads[-1] if loads else 0, row.get("agrees")
    if shown is not True:
        for name, partner in material.parted():
            found.append(Finding(partner, OLD, last, "parted", name, shown is False))
    if shown is False:
        for name in row.get("explained", ()):
            held = "folded" if material.folded else "baked"
            reason = held if name in material.known else _why_outside(material, name)
            found.append(Finding(name, OLD, last, reason))
        if not found:
            found.append(_of_outputs(material, played, last))
    elif shown is None:
        for name in material.outside():
            found.append(Finding(name, OLD, last, _why_outside(material, name), proved=False))
    return found


def _of_outputs(material: Material, played: Sequence[Played], last: int) -> Finding:
    """Say why outputs are not right where all constants are: an owner's write folds nothing."""
    written = [n for n, one in enumerate(played, 1) if one.step.do == update_steps.OVERWRITE]
    if material.folded and written and written[-1] >= last:
        return Finding("", OLD, written[-1], "not_folded")
    return Finding("", OLD, last, "outputs")


def _why_outside(material: Material, name: str) -> str:
    return "inlined" if constants.small(material.asked[name]) else "folded_at_compile"


def called(going: Play, one: Played) -> Document:
    """Call the container, unless that would end the process, and judge what it returns."""
    material, own = going.material, going.own
    if material.inputs is None:
        return {"why_not": "there are no inputs for a call"}
    null = [name for name, status in one.active.items() if status == NULL]
    if null:
        return {"why_not": f"a call would read the null pointer of {null[0]}"}
    held = held_of(material, own)
    buffers = [name for name, constant in material.known.items() if constant.kind == "Buffer"]
    state = {name: held[name].clone() for name in buffers if name in held}
    try:
        given = results(own, material.inputs())
    except RuntimeError as error:
        return {"agrees": False, "why_not": str(error).splitlines()[0][:300]}
    now = held_of(material, own)
    moves = [name for name, was in state.items() if not same(was, now[name])]
    going.written.update(moves)
    if material.truth is None:
        if moves:
            return {"why_not": f"calls change {moves[0]}: only the exported program can tell"}
        return {"agrees": compare.agrees(given, afresh(material))}
    truth = material.truth
    state = {name: was for name, was in state.items() if name in going.written}
    wanted = {**material.program_weights(), **state}  # what calls write to is as it was before
    if truth.agrees(given, wanted):
        return {"agrees": True}
    off = {name: held[name] for name, status in one.active.items() if status != NEW}
    shown = {**wanted, **off, **state}
    if off and truth.agrees(given, shown):
        return {"agrees": False, "explained": []}
    moved = [n for n, was in truth.old.items() if n in wanted and n not in off]
    moved = [n for n in moved if not same(truth.old[n].cpu(), wanted[n].cpu())]
    outside = [name for name in moved if name not in material.known]
    outside = [name for name in outside if name not in material.tied.values()]
    return {"agrees": False, "explained": stale_in(truth, given, shown, moved, outside)}


def held_of(material: Material, own: Container) -> dict[str, Any]:
    """Return the constants in use, as the kernels read them."""
    held = ((name, tensor) for name, tensor in own.held().items() if name in material.known)
    return {name: as_compiled(tensor, material.known[name]) for name, tensor in held}


def results(own: Container, inputs: standalone.Inputs) -> list[Any]:
    """Return what a call gives, on the CPU."""
    with inputs.mode():
        given = own.call(inputs.flat)
    standalone.synchronize()
    return [leaf.detach().cpu().clone() for leaf in given]


def afresh(material: Material) -> list[Any]:
    """Return what a container gives that is loaded afresh and given all weights at once."""
    assert material.inputs is not None
    fresh = material.container()
    try:
        weights = {name: one.to(material.device) for name, one in copies(material).items()}
        fresh.update(weights, inactive=False, full=False, user_managed=False)
        return results(fresh, material.inputs())
    finally:
        fresh.close()


def copies(material: Material) -> dict[str, Any]:
    """Return the new weights in memory of their own, laid out as the package reads them."""
    found = {}
    for name, constant in material.known.items():
        value = material.wanted[name]
        found[name] = torch.empty_strided(constant.shape, constant.stride, dtype=value.dtype)
        # Elements of an expanded dimension are one in memory.
        own = tuple(slice(None) if step else slice(1) for step in constant.stride)
        found[name][own].copy_(value[own])
    return found


def safe(material: Material, steps: Sequence[Step]) -> Document | None:
    """Return the first sequence by which a container of its own comes to hold the new weights and
    gives the right outputs: copies of them all in the package's dtypes."""
    kept, material.files = material.files, [copies(material)]
    swaps = any(step.do == update_steps.SWAP for step in steps)
    try:
        for name in reversed(_SAFE) if swaps else _SAFE:
            own = material.container()
            quiet = standalone.Report(None)
            found = play(material, own, update_steps.sequence(name), quiet)
            right = not found and quiet.content["steps"][-1].get("agrees")
            own.close()
            if not found:
                return {"sequence": name, "agrees": right}
    finally:
        material.files = kept
    return None
