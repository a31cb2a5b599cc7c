"""Candidates from numbers that a script printed: the reference's beside the compiled model's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise

from aoti_debug.diagnose.from_scene import COMPLAINS, STACK, said
from aoti_debug.diagnose.observations import Candidate, Observations
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Category, Phase
from aoti_debug.read.record import Launches, SaidLine, TensorStatistics

REFERENCE = re.compile(
    r"(?i)(?<![^\W_])(?:eager\w*|reference|ref|expected|desired|pytorch|torch|original|baseline|python|cpu)\b"
)
COMPILED = re.compile(
    r"(?i)(?<![^\W_])(?:comp(?:iled?)?|aoti|aot\w*|inductor|export(?:ed)?|package|pt2|actual|got|c\+\+"
    r"|cpp|cxx|libtorch|runner|deployed|cuda|gpu)(?![^\W_])"
)
# Two columns of these differ in a healthy run.
MEASURED = re.compile(
    r"(?i)(?<![^\W_])(?:m?s|us|ns|secs?|seconds?|time|times|latency|duration|it/s|tok\w*/s|speed\w*|fps|"
    r"throughput|memory|mem|[kmg]i?b|bytes|size|tflops|gflops|count|params|version)(?![^\W_])|[µμ]s"
)
SIMILARITY = re.compile(r"(?i)\bcos\w*[ _-]{0,2}sim\w*[^\d-]{1,20}(?P<value>-?\d?\.\d{1,20})\b")
NUMBER = re.compile(
    r"(?i)(?<![\w.])[-+]?(?:\d{1,20}\.?\d{0,20}|\.\d{1,20})(?:e[-+]?\d{1,3})?(?![\w.])"
    r"|(?<!\w)-?(?:nan|inf)\b"
)
# Two models in one line of plain words; `expected 4, got 3` is a message of another kind.
MODELS = re.compile(
    r"(?i)(?P<reference>\b(?:eager\w*|reference|ref|baseline|pytorch)\b)"
    r"|(?P<compiled>\b(?:compiled?|aoti\w*|aot|inductor|package|pt2)\b)"
)
SHAPE = re.compile(r"\(\d{1,12}(?:, ?\d{1,12})*,?\)|\[\d{1,12}(?:, ?\d{1,12})*\]")
BEHIND = re.compile(
    r"^(?P<numbers>[^#<]{1,600}?)\s{1,12}(?:<[-=]{1,4}|#|//) {0,4}(?P<label>[A-Za-z].{0,60})$"
)
NAMED = re.compile(
    r"^(?P<label>.{1,60}?)\s{0,12}(?:->|=>|(?<!\[):)\s{0,12}(?P<numbers>[-\d\[(].{0,600})$"
)
LABELLED = re.compile(
    r"^\W{0,8}(?P<label>[A-Za-z][^:=\[\]]{0,60}?)"
    r"(?:\s{0,20}(?:[:=]|[-=]>)|\s{1,20}(?=tensor\(|array\(|\[|-?\d))(?P<numbers>.{1,600})$"
)
ASSIGNED = re.compile(r"^\s{0,12}(?P<name>\w{1,40}) = (?P<call>[\w.]{1,80}\(.{0,300})")
WORD = re.compile(r"\w{1,40}")
HEADING = re.compile(r"^(?P<mark>[#=~*-])+\s?(?P<label>[A-Za-z][\w +]{0,40}?)\s?(?P=mark){2,40}#?$")
COMMENTED = re.compile(
    r"^(?P<label>[^#]{1,120}?)\s{0,12}#\s{0,4}(?P<numbers>(?:tensor|array)\(.{1,600})$"
)
CELL = re.compile(r"<t[hd][^>]{0,80}>([^<]{0,120})<")
TAG = re.compile(r"<[^>]{1,80}>")
PRINTED = re.compile(r"^\s{0,4}(?:(?:tensor|array)\(|\[)[-\d\[.\snaif,]{3,600}")
UNEQUAL = re.compile(r"^\s{0,4}(?:tensor\()?False\b")
QUOTED = re.compile(r"'[^']{0,60}'|\"[^\"]{0,60}\"")
RAISES = re.compile(  # a message has its own words
    r"^\s{0,8}[\w.:]{0,80}(?:Error|Exception)\b|^.{1,200}\b[A-Z]\w{0,40}Warning: "
)
ERROR = re.compile(r"(?i)(?:\b|_)(?:r?mse|mae|\w{0,3}err(?:ors?)?|diff\w*|deviation)(?:\b|_)")
VERDICT = re.compile(
    r"^\W{0,4}(?:(?P<good>OK|PASS(?:ED)?|[✓✔✅])|(?P<bad>FAIL(?:ED|URE)?|BAD|[✗✘❌]))(?!\w)"
)
FAR = 5.0  # times the reference's own distance
TINY = 1e-5
SAME = re.compile(
    r"(?i)\b(?:run|trial|attempt|rep(?:eat)?|pass|round)\b\W{0,3}\d{1,6}\b\W{1,4}"
    r"(?P<what>(?:checksum|hash|digest|sum|output|result|logits?|crc)\w{0,10})\W{1,4}(?P<value>\S{1,80})"
)
COUNTED = re.compile(r"(?i)^(?:step|iter\w*|epoch|time|batch|it|lr|rank|id|n|size|seed)\b")
DIGITS = re.compile(r"\d{1,20}")
BYTES = re.compile(r"(?i)(?<![\w.])(?P<size>\d{1,19}(?:\.\d{1,19})?) ?[kmgt]i?b\b")
CAPTION = re.compile(
    r"(?i)^\D{0,60}(?:\b(?:latency|throughput|speed-?up)\b|\((?:sec\w*|m?s|us|[kmg]i?b)\))"
)
COLUMN = 4  # characters between a name and its value
LINES = 200  # at the beginning and at the end that are looked at
JUMP = 10.0  # times what stood in the row above
SEPARATORS = ("|", "\t", "  ", ",")  # of the cells of a row, the surest first
APART = 0.01  # of the larger one: more than rounding in half precision
ALIKE = 0.99  # a cosine
Finder = Callable[[Sequence[str]], "int | None"]


def candidates(observations: Observations) -> Iterator[Candidate]:
    """Yield one for a log whose numbers differ, take longer or grow."""
    scene = observations.scene
    printer = any(observations.of(kind) for kind in (Launches, TensorStatistics))
    if scene is None or printer or not observations.of(SaidLine):
        return
    kept = [x for x in scene.lines if not (RAISES.match(x.text) or STACK.search(x.text))]
    lines = (*kept[:LINES], *kept[max(LINES, len(kept) - LINES) :])
    texts = rows_of_html([line.text for line in lines])
    for find, category, phase, what in FINDERS:
        found = find(texts)
        if found is not None and (category != "performance" or not scene.any(COMPLAINS)):
            tier = Tier.GENERAL_TEXT if what in LOST else Tier.EXCEPTION
            yield said(scene, lines[found], category, phase, what, tier)
            return


def rows_of_html(texts: Sequence[str]) -> list[str]:
    """Return the texts with the cells of each row of an HTML table in the line in which it ends."""
    found, cells = [], list[str]()
    for text in texts:
        cells += CELL.findall(text) if "<t" in text else []
        ends = "</tr" in text
        found.append(" | ".join(cells) if ends else TAG.sub("", text))
        cells = [] if ends else cells
    return found


def first_line(holds: Callable[[str], bool]) -> Finder:
    """Return what finds the number of the first line of a kind."""
    return lambda texts: next((n for n, text in enumerate(texts) if holds(text)), None)


def in_columns(texts: Sequence[str]) -> int | None:
    """Return the number of the first row that differs in the columns of both models."""
    for at, head in enumerate(texts):
        cells = cells_of(head)
        two = column(cells, COMPILED)
        one = column(cells, REFERENCE, but=two)
        two = column(cells, COMPILED, but=one) if one is not None else two
        if one is None and len(cells) == 3 and two:  # a column of names, and two of values
            one = 3 - two
        if one is None or two is None or MEASURED.search(caption(texts, at) + head):
            continue
        if any(NUMBER.fullmatch(cell) or SHAPE.fullmatch(cell) for cell in cells):
            continue
        for number in range(at + 1, len(texts)):
            row = cells_of(texts[number])
            unnamed = len(row) - len(cells)  # a column of names above which nothing stands
            if unnamed not in ((0, 1) if head[:1] in " |\t" else (0,)):
                continue
            if apart(numbers_in(row[one + unnamed]), numbers_in(row[two + unnamed])):
                return number
    return None


def caption(texts: Sequence[str], at: int) -> str:
    """Return the line above the head of a table, or above its rule, that says what was measured."""
    return next((text for text in texts[max(0, at - 2) : at] if CAPTION.search(text)), "")


def cells_of(text: str) -> list[str]:
    row = text.strip().strip("|")
    by = next((separator for separator in SEPARATORS if separator in row), None)
    return [cell.strip() for cell in row.split(by) if cell.strip()] if by else [row]


def column(cells: Sequence[str], words: re.Pattern[str], but: int | None = None) -> int | None:
    return next((n for n, cell in enumerate(cells) if n != but and words.search(cell)), None)


Told = list[tuple[int, str, list[float]]]  # number of a line, its words, its numbers


def of_each_model(texts: Sequence[str]) -> tuple[Told, Told]:
    """Return the lines of numbers that name the reference alone, and the compiled model alone."""
    found: tuple[Told, Told] = ([], [])
    for number, text in enumerate(texts):
        names = list(MODELS.finditer(text))  # `aoti, against the reference` is of aoti
        named = [name for name in names if not name[0].lower().startswith("ref")]
        of = {bool(name["compiled"]) for name in named or names}
        if len(of) == 1 and not MEASURED.search(text) and (values := numbers_in(text)):
            words = " ".join(NUMBER.sub("#", MODELS.sub("@", text)).split())
            found[of.pop()].append((number, words, values))
    return found


def in_twins(texts: Sequence[str], *, finite: bool) -> int | None:
    """Return the number of a line of the compiled model that differs from the reference's in its
    numbers alone; where only the compiled model's are not finite, if not `finite`."""
    reference, compiled = of_each_model(texts)
    for (_, words, one), (number, same, two) in zip(reference, compiled, strict=False):
        if words == same and not ERROR.search(words) and apart(one, two):
            lost = any(b - b != 0 and a - a == 0 for a, b in zip(one, two, strict=True))
            if lost is not finite:
                return number
    return None


def from_the_truth(texts: Sequence[str], *, near: bool) -> int | None:
    """Return the number of a line that says how far the compiled model is from what both models
    are held against: everywhere as `near` as the reference is, or somewhere far from it."""
    told = [[one for one in model if ERROR.search(one[1])] for model in of_each_model(texts)]
    if not told[0] or len(told[0]) != len(told[1]):
        return None
    pairs = [(number, a[0], b[0]) for (_, _, a), (number, _, b) in zip(*told, strict=True)]
    far = next((number for number, one, two in pairs if not two <= FAR * one + TINY), None)
    as_near = pairs[0][0] if far is None else None
    return as_near if near else far


def failed_beside_others(texts: Sequence[str]) -> int | None:
    """Return the number of the first row of numbers that a script marks as failed, of several."""
    marks = [(n, mark) for n, text in enumerate(texts) if (mark := VERDICT.search(text))]
    numbers = [n for n, mark in marks if mark["bad"] and ERROR.search(texts[n])]
    return numbers[0] if numbers and len(marks) > len(numbers) else None


def in_row(text: str) -> bool:
    """Tell whether a line holds the differing numbers of both models in cells of their own."""
    cells = [cell for cell in re.split(r"\s[|;]\s|,\s{1,4}| vs\.? ", text) if cell]
    one = column(cells, REFERENCE)
    two = column(cells, COMPILED, but=one)
    if one is None or two is None or MEASURED.search(text):
        return False
    pair = [numbers_in(cells[at].partition(":")[2] or cells[at]) for at in (one, two)]
    return bool(pair[0]) and apart(*pair)


def in_words(text: str) -> bool:
    """Tell whether a line names both models, each with its own numbers."""
    said = {model: numbers_in(shown(words)) for model, words in spoken(text)}
    one, two = said.get("reference"), said.get("compiled")
    return bool(one and two and apart(one, two) and not MEASURED.search(text))


def spoken(text: str) -> Iterator[tuple[str, str]]:
    """Yield each model that a line names, with what stands behind its name."""
    names = list(MODELS.finditer(text))
    ends = [*(name.start() for name in names[1:]), len(text)][: len(names)]
    for name, end in zip(names, ends, strict=True):
        yield name.lastgroup or "", text[name.end() : end]


def lost_by(texts: Sequence[str], *, model: str) -> int | None:
    """Return the number of the first line where only this model's values are not finite."""
    known: dict[str, list[tuple[int, bool]]] = {"reference": [], "compiled": []}
    for number, text in enumerate(texts):
        for of, words in spoken(text) if not (MEASURED.search(text) or ERROR.search(text)) else ():
            flag, values = IS_NAN.search(words), numbers_in(words)
            if flag or values:
                lost = flag["is"].lower() == "true" if flag else any(v - v != 0 for v in values)
                known[of].append((number, lost))
    mine = [number for number, lost in known.pop(model) if lost]
    (others,) = known.values()
    return mine[0] if mine and others and not any(lost for _, lost in others) else None


def shown(text: str) -> str:
    """Return what stands behind a model's name: a shape alone, or else all of it."""
    shape = SHAPE.search(text)
    return shape[0] if shape is not None and shape.start() < COLUMN else text


def in_labelled(texts: Sequence[str]) -> int | None:
    """Return the number of a line of the compiled model whose numbers differ from those of the
    reference's line: each model's lines are held against the other's in their order."""
    reference: list[tuple[list[float], list[str]]] = []
    compiled: list[tuple[int, list[float], list[str]]] = []
    head = ""
    for number, line in enumerate(texts):
        text = f"{head}: {line}" if head and numbers_in(line) else line
        heading = HEADING.match(line)
        head = heading["label"] if heading else ""
        found = COMMENTED.match(text) or LABELLED.match(text) or NAMED.match(text)
        found = found or BEHIND.match(text)
        if found is None or MEASURED.search(text):
            continue
        words = QUOTED.findall(found["numbers"])
        values = numbers_in(QUOTED.sub("", found["numbers"]))
        if not values and not words:
            continue
        if COMPILED.search(found["label"]):
            compiled.append((number, values, words))
        elif REFERENCE.search(found["label"]):
            reference.append((values, words))
    if len(reference) == 1:
        reference *= len(compiled)
    for (one, quoted), (number, two, words) in zip(reference, compiled, strict=False):
        if (one and apart(one, two)) or (quoted and quoted != words):
            return number
    return None


def of_two_calls(texts: Sequence[str]) -> int | None:
    """Return the number of the second of two lines that show, in a comment, the same of two
    results, of which one is the compiled model's and differs."""
    compiled = dict[str, bool]()  # names that a script has given to results and functions
    known = dict[str, tuple[bool, list[float]]]()
    for number, text in enumerate(texts):
        if made := ASSIGNED.match(text):
            by = any(compiled.get(word) for word in WORD.findall(made["call"]))
            compiled[made["name"]] = by or COMPILED.search(made["call"]) is not None
        elif found := COMMENTED.match(text):
            name = next((word for word in WORD.findall(found["label"]) if word in compiled), "")
            one = (compiled.get(name, False), numbers_in(found["numbers"]))
            two = known.setdefault(found["label"].replace(name, "", 1), one)
            if one[0] is not two[0] and apart(one[1], two[1]):
                return number
    return None


def printed_twice(texts: Sequence[str]) -> int | None:
    """Return the number of the second of two tensors without a label that differ, below which the
    script says that they do."""
    for number, (one, two, verdict) in enumerate(zip(texts, texts[1:], texts[2:], strict=False)):
        if UNEQUAL.search(verdict) and PRINTED.search(one) and PRINTED.search(two):
            return number + 1 if apart(numbers_in(one), numbers_in(two)) else None
    return None


def not_repeated(texts: Sequence[str]) -> int | None:
    """Return the number of the first of several numbered runs whose result is another one."""
    first: dict[str, str] = {}
    for number, text in enumerate(texts):
        found = SAME.search(text)
        if found is not None and first.setdefault(found["what"], found["value"]) != found["value"]:
            return number
    return None


def dissimilar(text: str) -> bool:
    """Tell whether a line says how little two results are alike."""
    found = SIMILARITY.search(text)
    return found is not None and float(found["value"]) < ALIKE


def rows_of(texts: Sequence[str]) -> Iterator[tuple[int, list[str], list[list[float]]]]:
    """Yield the head of each table of numbers by its place, and its rows."""
    for at, head in enumerate(texts):
        names = head.split()
        if len(names) < 3 or any(NUMBER.search(name) for name in names):
            continue
        rows = [text.split() for text in texts[at + 1 :]]
        rows = [row for row in rows if len(row) == len(names) and all(map(NUMBER.fullmatch, row))]
        found = [[float(cell) for cell in row] for row in rows]
        if len(found) > 1:
            yield at, names, found


def exploding(texts: Sequence[str]) -> int | None:
    """Return the number of the head of a table in which a number jumps."""
    for at, names, rows in rows_of(texts):
        for name, *values in zip(names, *rows, strict=True):
            sizes = pairwise(map(abs, values))
            jumps = any(one > 0 and two > JUMP * one for one, two in sizes)
            if jumps and not COUNTED.search(name) and not MEASURED.search(name):
                return at
    return None


def not_finite(texts: Sequence[str]) -> int | None:
    """Return the number of the first row in which a column of numbers is no number any more."""
    nan = (at for at, _, rows in rows_of(texts) if any(x != x for row in rows for x in row))
    return next(nan, None)


IS_NAN = re.compile(r"(?i)nan\w{0,6}[^\w\n]{1,6}(?:any\W{1,6})?(?P<is>true|false)")
LOSSES = re.compile(r"(?i)\bepoch\b.{0,80}loss")  # the rows of a training
TIMED = re.compile(
    r"(?i)\b[\d.]{1,12} ?(?:m?s|us|ns|it/s|iter/s|tok(?:ens)?/s|fps|samples/s|req/s)\b"
    r"|\btime\b[^:=\n]{0,12}[:=] ?\d"
)
WAITING = re.compile(r"(?i)\bwaiting (?:for|on)\b")


def timed(texts: Sequence[str]) -> int | None:
    """Return the number of the second of two lines, one a model, that say what each takes."""
    names = [
        (number, name.lastgroup)
        for number, text in enumerate(texts)
        if TIMED.search(text) and (name := MODELS.search(text)) is not None
    ]
    return next((number for number, which in names if which != names[0][1]), None)


def waiting(texts: Sequence[str]) -> int | None:
    """Return the number of the last line where it says for the third time that it waits."""
    last = DIGITS.sub("", texts[-1]) if texts and WAITING.search(texts[-1]) else None
    times = sum(DIGITS.sub("", text) == last for text in texts)
    return len(texts) - 1 if times > 2 else None


LOADS = re.compile(r"(?i)\b(?:threads?|streams?|workers?|clients?|concurrency|processes)\b")


def under_load(texts: Sequence[str]) -> int | None:
    """Return the number of the third like line that says what so many threads take."""
    known = Counter[str]()
    for number, text in enumerate(texts):
        if LOADS.search(text) and TIMED.search(text):
            kind = " ".join(DIGITS.sub("", text).split()[:3])
            known[kind] += 1
            if known[kind] == 3:
                return number
    return None


LONG = 300.0  # seconds
MUCH = 1.25  # times
LASTED = re.compile(
    r"(?i)\b(?:compil|inductor|lower|autotun|export|load)\w*\b.{0,60}?"
    r"\b(?P<s>\d{3,7}(?:\.\d{1,6})?) ?s(?:ec\w*)?\b"
)


def lasting(text: str) -> bool:
    """Tell whether a line says that a compile or load took five minutes or more."""
    found = LASTED.search(text)
    return found is not None and float(found["s"]) >= LONG


COMPILING = re.compile(
    r"(?i)\b(?:compil\w*|autotun\w*|lowering|export\w*)\b.{0,24}\b(?:time|latency|took|takes)\b"
)
OF_COMPILES = re.compile(r"(?i)\bcompil(?:e|ation) (?:time|latency)")
LASTS = re.compile(r"(?i)(?<![\w.])(?P<s>\d{1,7}(?:\.\d{1,6})?) ?s(?:ec\w*)?\b")


def compiles_longer(texts: Sequence[str]) -> int | None:
    """Return the number of a line or row whose compile took much longer than the one above."""
    head = next((n for n, text in enumerate(texts) if COMPILING.search(text)), len(texts))
    table = head < len(texts) and not LASTS.search(texts[head])
    before = 0.0
    for number, text in enumerate(texts[head:], head):
        found = LASTS.findall(text) if table or COMPILING.search(text) else []
        if found and 0 < MUCH * float(found[0] if len(found) > 1 else before) < float(found[-1]):
            return number
        before = before or (float(found[-1]) if found else 0.0)
    return None


def measured(texts: Sequence[str], *, compiles: bool) -> int | None:
    """Return the number of the head of a table of what two models take, or their compiles, or of
    what one takes under loads."""
    ours = any(COMPILED.search(text) for text in texts)
    for at, head in enumerate(texts):
        cells = cells_of(head)
        rows = [cells_of(text) for text in texts[at + 1 :]]
        rows = [row for row in rows if len(row) > 1 and any(map(numbers_in, row[1:]))]
        labels = " | ".join([*cells, *(row[0] for row in rows)])
        meant = bool(OF_COMPILES.search(above := caption(texts, at))) is compiles
        told = MEASURED.search(above + head) and not LOSSES.search(head)
        if len(cells) < 2 or not rows or not (meant and told):
            continue
        both = REFERENCE.search(labels) and COMPILED.search(labels)
        if both or (ours and len(rows) > 2 and not NUMBER.search(head)):
            return at
    return None


def growing(texts: Sequence[str]) -> int | None:
    """Return the number of the last of three or more like lines whose sizes in bytes grow."""
    known: dict[str, list[tuple[int, float]]] = {}
    for number, text in enumerate(texts):
        if size := BYTES.search(text):
            kind = " ".join(DIGITS.sub("", text[: size.start()]).split())
            known.setdefault(kind, []).append((number, float(size["size"])))
    for lines in known.values():
        sizes = [size for _, size in lines]
        if len(sizes) > 2 and all(one < two for one, two in pairwise(sizes)):
            return lines[-1][0]
    return None


def numbers_in(text: str) -> list[float]:
    return [float(found) for found in NUMBER.findall(text)]


def apart(one: Sequence[float], two: Sequence[float]) -> bool:
    """Tell whether two equally long rows of numbers differ by more than rounding."""
    if len(one) != len(two):
        return False
    return any(
        abs(a - b) > APART * max(abs(a), abs(b)) or (a - a == 0) != (b - b == 0)
        for a, b in zip(one, two, strict=True)
    )


DIFFER = "the numbers of the two results differ: "
WRONG: tuple[Category, Phase] = ("wrong_result", "output")
SLOW: tuple[Category, Phase] = ("performance", "run")
LOST = "only this model's are not finite: "
FINDERS: tuple[tuple[Finder, Category, Phase, str], ...] = (
    (partial(from_the_truth, near=False), *WRONG, "further from the truth than the reference is: "),
    (partial(from_the_truth, near=True), "false_alarm", "output", "as near as the reference is: "),
    (partial(lost_by, model="reference"), *WRONG, LOST),
    (partial(lost_by, model="compiled"), "nan_or_inf", "output", LOST),
    (partial(in_twins, finite=False), "nan_or_inf", "output", "only the compiled model's: "),
    (partial(in_twins, finite=True), *WRONG, DIFFER),
    (failed_beside_others, *WRONG, "the script says so: "),
    (in_columns, *WRONG, DIFFER),
    (first_line(in_row), *WRONG, DIFFER),
    (first_line(in_words), *WRONG, DIFFER),
    (in_labelled, *WRONG, "the two results differ: "),
    (of_two_calls, *WRONG, "the two results differ: "),
    (printed_twice, *WRONG, DIFFER),
    (not_repeated, *WRONG, "the same run gives another result: "),
    (first_line(dissimilar), *WRONG, "the two results differ: "),
    (not_finite, "nan_or_inf", "output", "a number of the results is not finite: "),
    (waiting, "hang", "hang", "it waits for the same again and again: "),
    (exploding, *WRONG, "a number of the results jumps: "),
    (compiles_longer, "performance", "lower", "a compile took longer, and no error: "),
    (partial(measured, compiles=False), *SLOW, "times or sizes of two models, and no error: "),
    (partial(measured, compiles=True), "performance", "lower", "times of compiles, and no error: "),
    (timed, *SLOW, "times of two models, and no error: "),
    (under_load, *SLOW, "times under several loads, and no error: "),
    (first_line(lasting), "performance", "lower", "a long time, and no error: "),
    (growing, *SLOW, "the memory grows from line to line: "),
)
