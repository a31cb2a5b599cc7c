"""Propose a certain change of the user's own file as a unified diff. Each rule reads one file and
returns its new text, or nothing where several places fit, a value would change, or a name is
missing."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from pathlib import Path

from aoti_debug.diagnose import Observations
from aoti_debug.model import Diagnosis, Fix, InputFinding
from aoti_debug.read.check_report import Mismatch
from aoti_debug.triage.source_text import (
    File,
    Given,
    argument,
    calls_of,
    diff,
    every,
    kernels,
    name_of,
    read,
    returned,
    wrapped,
)

IN_SO = "aot_inductor.package_constants_in_so"
DEVICE = re.compile(r"(?:cpu|cuda|xpu)(?::\d{1,3})?")
EXPORTS = ("torch.export.export", "export.export")
ORDER = ("bool", "uint8 int8 int16 int32 int64", "float16 bfloat16 float32 float64")
KINDS = {name: place for place, names in enumerate(ORDER) for name in names.split()}


@dataclass(frozen=True, slots=True)
class Proposal:
    what: str
    why: str
    text: str  # of the whole file


Rule = Callable[[Diagnosis, Observations, File], Proposal | None]


def with_patch(
    diagnosis: Diagnosis, observations: Observations, tree: Path, script: Path | None
) -> Diagnosis:
    """Put a patch, whose paths are relative to `tree`, before the fixes, if one is certain."""
    if diagnosis.confidence == "possible":
        return diagnosis
    lines = observations.caller
    calling = Path(lines[0].file) if lines else None
    places = (calling, script, *(Path(source.file) for source in diagnosis.source))
    for path in dict.fromkeys(p for p in places if p is not None):
        file = read(path, tree)
        for rule in RULES.get(diagnosis.category, ()) if file is not None else ():
            assert file is not None
            found = rule(diagnosis, observations, file)
            patch = diff(file, found.text, tree) if found is not None else None
            if found is not None and patch is not None:
                fix = Fix(what=found.what, why=found.why, where=path.name, patch=patch)
                return diagnosis.model_copy(update={"fixes": [fix, *diagnosis.fixes]})
    return diagnosis


def given_for(
    diagnosis: Diagnosis, observations: Observations, file: File
) -> tuple[InputFinding, Given] | None:
    """Return the faulty input and what the failing call passes for it, if this file calls it."""
    found, call, lines = diagnosis.input, observations.run.call, observations.caller
    if found is None or call is None or not lines or Path(lines[0].file).resolve() != file.path:
        return None
    place = next((n for n, leaf in enumerate(call.inputs) if leaf.index == found.index), None)
    given = argument(file, lines[0].line, call, place, found.name) if place is not None else None
    return (found, given) if given is not None else None


def cast(diagnosis: Diagnosis, observations: Observations, file: File) -> Proposal | None:
    """Give the input as it was exported: type, layout or device."""
    if (given := given_for(diagnosis, observations, file)) is None:
        return None
    found, place = given
    if (method := conversion(found, observations, file)) is None:
        return None
    what = f"give the package {found.name or 'the input'}{method}"
    text = file.replaced(place.expression, wrapped(file, place.expression) + method)
    return Proposal(what, "the values stay, and are as they were exported then", text)


def conversion(found: InputFinding, observations: Observations, file: File) -> str | None:
    expected = (found.expected or "").removeprefix("torch.")
    if found.property == "dtype":
        have = KINDS.get((found.got or "").removeprefix("torch."))
        want = KINDS.get(expected)
        keeps = have is not None and want is not None and have <= want
        return f".to(torch.{expected})" if keeps and file.has_torch else None
    if found.property == "device":
        return f'.to("{expected}")' if DEVICE.fullmatch(expected) else None
    if found.property == "stride" and found.dim is not None:
        call = observations.run.call
        one = call.input(found.index) if call is not None else None
        shape = one.shape if one is not None else None
        if not shape or found.dim >= len(shape) or (found.dim == 0 and len(shape) > 3):
            return None
        return ".contiguous()" if expected == str(prod(shape[found.dim + 1 :])) else None
    return None


def guard(diagnosis: Diagnosis, observations: Observations, file: File) -> Proposal | None:
    """Refuse values outside a table before the call."""
    if (given := given_for(diagnosis, observations, file)) is None:
        return None
    found, place = given
    named = isinstance(place.expression, (ast.Name, ast.Attribute))
    if found.upper is None or not place.plain or not named:
        return None
    name, low, high = file.of(place.expression), found.lower or 0, found.upper
    lines = [
        f"if not bool((({name} >= {low}) & ({name} < {high})).all()):",
        f'    raise ValueError("{found.name or name} must be at least {low} and below {high}")',
    ]
    return Proposal(
        f"refuse {found.name or name} outside {low} <= value < {high} before the call",
        "a clear error in the place of a crash or of garbage; a larger table is the other way",
        file.before(place.statement, lines),
    )


def widened(diagnosis: Diagnosis, observations: Observations, file: File) -> Proposal | None:
    """Raise the bound of the one Dim that has it."""
    found = diagnosis.input
    if found is None or found.property != "size" or not (found.got or "").isdigit():
        return None
    relation, _, bound = (found.expected or "").partition(" ")
    word = {"<=": "max", ">=": "min"}.get(relation)
    keywords = (one for call in calls_of(file.tree, "Dim") for one in call.keywords)
    dims = [keyword.value for keyword in keywords if keyword.arg == word]
    same = [d for d in dims if isinstance(d, ast.Constant) and str(d.value) == bound]
    if word is None or len(dims) != len(same) or len(same) != 1:
        return None
    what = f"export with {word}={found.got}: {found.name} is given that size"
    why = "the sizes that are served must lie within those that were declared"
    return Proposal(what, why, file.replaced(same[0], str(found.got)))


def freed(diagnosis: Diagnosis, observations: Observations, file: File) -> Proposal | None:
    """Export the one input with the size free that was baked in."""
    found, call = diagnosis.input, observations.run.call
    if found is None or found.property != "size" or found.dim is None or call is None:
        return None
    if not (found.expected or "").isdigit() or len(call.inputs) != 1 or not found.name:
        return None
    exports = [call for call in every(file.tree, ast.Call) if file.of(call.func) in EXPORTS]
    if len(exports) != 1 or not file.has_torch:
        return None
    shapes = f'{{"{found.name}": {{{found.dim}: torch.export.Dim.DYNAMIC}}}}'
    if (text := _with_shapes(file, exports[0], shapes)) is None:
        return None
    what = f"export with dimension {found.dim} of {found.name} free"
    return Proposal(what, "a static size is baked into the kernels", text)


def _with_shapes(file: File, export: ast.Call, shapes: str) -> str | None:
    given = next((k.value for k in export.keywords if k.arg == "dynamic_shapes"), None)
    if given is None:
        if any(k.arg is None for k in export.keywords) or len(export.args) > 3:
            return None
        last = [*export.args, *(k.value for k in export.keywords)][-1]
        return file.replaced(last, f"{file.of(last)}, dynamic_shapes={shapes}")
    values = [given]
    if isinstance(given, ast.Name):
        assigned = ((node.value, t) for node in every(file.tree, ast.Assign) for t in node.targets)
        values = [value for value, t in assigned if isinstance(t, ast.Name) and t.id == given.id]
    if len(values) == 1 and isinstance(values[0], ast.Constant) and values[0].value is None:
        return file.replaced(values[0], shapes)
    return None


def promised(diagnosis: Diagnosis, observations: Observations, file: File) -> Proposal | None:
    """Have the operator or its fake kernel keep the promise: the layout, or the type."""
    fakes = observations.checks.fakes
    wrong = fakes.mismatches if fakes is not None else ()
    if len(wrong) != 1 or not file.has_torch:
        return None
    found = wrong[0]
    real, fake = kernels(file.tree, found.op)
    if found.property == "stride" and real is not None and _contiguous(found):
        value = returned(real)
        if value is not None:
            text = file.replaced(value, f"{wrapped(file, value)}.contiguous()")
            why = "the compiled model goes through the result by the promised strides"
            return Proposal(f"return from {found.op} what its fake kernel promises", why, text)
    if found.property == "dtype" and fake is not None:
        value, dtype = returned(fake), found.got.removeprefix("torch.")
        if isinstance(value, ast.Call) and name_of(value.func) == "empty_like" and dtype in KINDS:
            if len(value.args) != 1 or value.keywords:
                return None
            new = f"{file.of(value.func)}({file.of(value.args[0])}, dtype=torch.{dtype})"
            what = f"have the fake kernel of {found.op} promise {dtype}, and compile again"
            why = "that is what the operator returns"
            return Proposal(what, why, file.replaced(value, new))
    return None


def _contiguous(found: Mismatch) -> bool:
    """Tell whether the promised strides fall, and end with 1: those of a contiguous result."""
    steps = [int(word) for word in re.findall(r"\d+", found.expected)]
    return bool(steps) and steps[-1] == 1 and all(a >= b for a, b in pairwise(steps))


def packaged(diagnosis: Diagnosis, observations: Observations, file: File) -> Proposal | None:
    """Leave the weights in the package, where one setting alone takes them out of it."""
    settings = [
        value
        for node in every(file.tree, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and key.value == IN_SO
    ]
    if len(settings) != 1 or not isinstance(settings[0], ast.Constant) or settings[0].value:
        return None
    what = "compile with the weights in the package"
    why = "it was compiled without them, and nothing gives them; load_constants is the other way"
    return Proposal(what, why, file.replaced(settings[0], "True"))


def inverted(diagnosis: Diagnosis, observations: Observations, file: File) -> Proposal | None:
    """Put results back into order by the inverse of the index that sorted the inputs, or pair them
    with what was given."""
    found = observations.put_back
    names = [
        one
        for one in every(file.tree, ast.Name)
        if found and (one.lineno, one.id) == (found.line.line, found.name)
    ]
    if found is None or Path(found.line.file).resolve() != file.path or len(names) != 1:
        return None
    if found.instead:
        text = file.replaced(names[0], found.instead)
        return Proposal(f"pair them with {found.instead}", "that is the order given", text)
    text = file.replaced(names[0], f"{found.name}.argsort()")
    why = f"{found.name} is right only where it equals its inverse"
    return Proposal(f"index by the inverse: {found.name}.argsort()", why, text)


RULES: dict[str, tuple[Rule, ...]] = {
    "user_code": (inverted,),
    "contract_dtype": (cast,),
    "contract_stride": (cast,),
    "contract_device": (cast,),
    "contract_shape": (widened, freed),
    "contract_guard": (widened,),
    "index_out_of_bounds": (guard,),
    "constants_missing": (packaged,),
    "custom_op_fake_kernel": (promised,),
}
