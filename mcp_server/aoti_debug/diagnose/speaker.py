"""Name the part of the software that printed a line, by its form, and say what the line means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from aoti_debug.diagnose.from_scene import (
    CARRIES,
    COMPILES,
    COMPLAINS,
    HARMLESS,
    MILD,
    PYTHON,
    is_building,
    said,
)
from aoti_debug.diagnose.observations import Candidate, Observations
from aoti_debug.diagnose.parts import Part, part_of
from aoti_debug.diagnose.scene import Form, Scene, forms
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Category, Phase
from aoti_debug.read.record import CodePlace, Line

# Types that Python itself and its libraries raise where a script calls them wrongly.
OF_A_SCRIPT = re.compile(
    r"^(?:E {1,8})?(?:Type|Attribute|Key|Name|ZeroDivision|UnboundLocal|NotImplemented"
    r"|FileNotFound|IsADirectory|Permission|Unicode\w{0,10}|Recursion|JSONDecode)Error\b"
)

# What a neighbour's line says as well as torch's own: of the machine, not of a model.
OF_THE_MACHINE: frozenset[Category] = frozenset(
    {
        "illegal_memory_access",
        "misaligned_address",
        "kernel_resources",
        "host_segfault",
        "out_of_memory",
        "device_unavailable",
        "missing_symbol",
        "package_incompatible",
        "missing_kernel_binary",
    }
)


def by_a_neighbour(line: str) -> bool:
    """Tell whether a neighbour printed a line in its own words."""
    part = part_of(line)
    return part is not None and part.neighbour and not CARRIES.search(line)


# Signs of a compiled model, or of what compiles one.
OURS = forms(r"""
    (?i)inductor || (?i)aot_?i|\baot_(?:load|compile)
    (?i)\btorch[./\\](?:compile\b|_?(?:dynamo|export|functorch|subclasses)\b|fx\b)
    (?i)\btriton(?:_|\b(?!.?(?:inference|server))) || \.pt2\b|\bc[a-z2-7]{51}\.(?:cpp|cu|py)\b
    \bExportedProgram|\bsymbolic_shapes
""")
EAGER = Form(r"^(?:RuntimeError: )?Error\(s\) in loading state_dict for ")


def of_others(scene: Scene) -> bool:
    """Tell whether a text shows other software at work, and no sign of a compiled model."""
    if scene.any(OURS):
        return False
    others = (part.neighbour for text in scene.texts if (part := part_of(text)) is not None)
    return is_building(scene) or any(map(scene.any, (COMPILES, PYTHON, EAGER))) or any(others)


def of_a_neighbour(candidate: Candidate) -> bool:
    """Tell whether a finding rests on a line of a neighbour alone, and is not of the machine."""
    said = candidate.diagnosis
    if said.category in OF_THE_MACHINE or not said.evidence or candidate.role == "clean":
        return False
    return by_a_neighbour(candidate.quote)


def last_to_speak(lines: Iterable[str]) -> tuple[int, Part] | None:
    """Return the number of the last line whose form is known, and whose it is."""
    last_first = reversed([*enumerate(lines)])
    found = ((number, part) for number, line in last_first if (part := part_of(line)) is not None)
    return next(found, None)


def candidates(observations: Observations) -> Iterator[Candidate]:
    """Yield what a neighbour's complaint means, and a script's own error without its traceback."""
    scene = observations.scene
    if scene is None:
        return
    yield from filter(None, (in_its_words(scene), in_its_frame(scene)))
    both = zip(scene.lines, scene.texts, strict=True)
    wrong = [line for line, text in both if OF_A_SCRIPT.search(text)]
    if wrong and not observations.of(CodePlace):
        phase: Phase = "load" if "NotFound" in wrong[-1].text else "none"
        yield replace(said(scene, wrong[-1], "user_code", phase, "a script's own error: "), order=2)


ENDS_A_STACK = Form(r"^[\w.]{0,120}(?:Error|Exception)\b")
# What libraries say as a warning, and go on without.
WARNED_OF = ("performance", "out_of_memory", "toolchain", "device_unavailable")


def in_its_words(scene: Scene) -> Candidate | None:
    """Return what the complaints of the part that complains first mean: of its rows the first that
    knows one of them. What follows, a script's exception say, is its consequence."""
    best: tuple[int, Line, Part] | None = None
    for line, text in zip(scene.lines, scene.texts, strict=True):
        if HARMLESS.search(text) or (found := row_of(text)) is None:
            continue
        part, row = found
        mild = MILD.search(text) and not COMPLAINS.search(text)
        if mild and part.says[row][1] not in WARNED_OF:
            continue
        if best is None or (part is best[2] and row < best[0]):
            best = row, line, part
    if best is None:
        return None
    row, line, part = best
    told = said(scene, line, *part.says[row][1:], f"{part.name} says: ", Tier.EXCEPTION)
    return replace(told, role="cause") if part.neighbour and row < len(part.says) - 1 else told


def in_its_frame(scene: Scene) -> Candidate | None:
    """Return what a stack means that ends, without its exception, in a neighbour's file."""
    frames = scene.all(PYTHON)
    part = part_of(frames[-1].text) if frames else None
    if part is None or not part.neighbour or not part.says or part.says[-1][0]:
        return None
    if any(ENDS_A_STACK.search(x.text) for x in scene.lines if x.number > frames[-1].number):
        return None
    return said(scene, frames[-1], *part.says[-1][1:], f"{part.name} raised: ", Tier.EXCEPTION)


def row_of(text: str) -> tuple[Part, int] | None:
    """Return who says a text, and which of that part's rows knows it."""
    part = part_of(text)
    if part is None or not part.says or CARRIES.search(text):
        return None
    for row, (words, _, _) in enumerate(part.says):
        if (words or COMPLAINS.search(text)) and _folded(words).search(text):
            return part, row
    return None


def meaning_of(text: str) -> tuple[Category, Phase] | None:
    """Return what a text means where the rows of the part that says it know it."""
    found = row_of(text)
    return found[0].says[found[1]][1:] if found is not None else None


@cache
def _folded(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)
