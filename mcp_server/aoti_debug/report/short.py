"""Shorten an answer to what is needed to act on it; the rest stays in the run's files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from aoti_debug.model import ANSWER, DiagnoseAnswer, Diagnosis, Evidence, Model, RunModel, Step
from aoti_debug.plain import window

if TYPE_CHECKING:
    from aoti_debug.answers import TriageAnswer

LIMIT = 7_900  # characters; clients cut or hide longer answers in their own ways
SHORT_LIMIT = 4_400  # characters of a triage or of a log: about 1,500 tokens
VALUES, MARKED = 12, 5  # rows around the mark: where an answer is too long, and in a short one
EVIDENCE, MISLEADING, OTHERS, FIXES, NEXT, NOTES = 3, 2, 4, 3, 2, 4
QUOTE, PATCH = 240, 1_600  # characters
REST = f"read_artifact {ANSWER}: every step, candidate and file"


def shortened(answer: Model) -> Model:
    """Return a triage or a log's diagnosis without repetitions; other answers unchanged."""
    if isinstance(answer, DiagnoseAnswer):
        if not answer.diagnoses:
            return answer
        best, *others = answer.diagnoses
        found = [_essential(best), *_others(best, others)]
        return answer.model_copy(update={"diagnoses": found, "notes": answer.notes[:NOTES]})
    if not _is_triage(answer) or answer.diagnosis is None:
        return answer
    best = answer.diagnosis
    return answer.model_copy(
        update={
            "diagnosis": _essential(best),
            "also": _others(best, answer.also),
            "steps": _steps(best, answer.steps),
            "artifacts": [],
            "notes": answer.notes[:NOTES],
        }
    )


def _essential(found: Diagnosis) -> Diagnosis:
    fixes = [
        fix.model_copy(update={"patch": None}) if len(fix.patch or "") > PATCH else fix
        for fix in found.fixes[:FIXES]
    ]
    marked = next((n for n, row in enumerate(found.values) if row.mark), 0)
    return found.model_copy(
        update={
            "evidence": _evidence(found),
            "misleading": list(dict.fromkeys(found.misleading))[:MISLEADING],
            "values": found.values[window(marked, len(found.values), MARKED)],
            "fixes": fixes,
            "next": found.next[:NEXT],
            "signature": None if found.signature == found.category else found.signature,
        }
    )


def _evidence(found: Diagnosis) -> list[Evidence]:
    """Return the first places, each with the beginning of what no other of them quotes."""
    seen = [found.summary]
    kept = []
    for one in found.evidence[:EVIDENCE]:
        quote = one.quote if len(one.quote) <= QUOTE else one.quote[:QUOTE] + "…"
        quote = "" if any(quote in text for text in seen) else quote
        seen.append(one.quote)
        kept.append(one.model_copy(update={"quote": quote}))
    return kept


def _others(best: Diagnosis, also: Sequence[Diagnosis]) -> list[Diagnosis]:
    """Return in one line each what else is possible."""
    brief = {
        one.summary: Diagnosis(
            phase=one.phase, category=one.category, confidence=one.confidence, summary=one.summary
        )
        for one in reversed(also)
        if one.summary != best.summary
    }
    return list(brief.values())[::-1][:OTHERS]


def _steps(best: Diagnosis, steps: Sequence[Step]) -> list[Step]:
    """Return the first step, and the others that found what is not said yet."""
    seen = {None, best.summary, best.means}
    kept = []
    for number, step in enumerate(steps):
        new = step.finding not in seen and step.status != "skipped"
        seen.add(step.finding)
        if new or number == 0:
            told = {"why": "", "finding": step.finding if new else None, "wall_s": None}
            kept.append(step.model_copy(update=told))
    return kept


def short_document(answer: Model) -> dict[str, Any]:
    """Return the JSON document of what an agent is told: no nulls, within the answer's limit."""
    fields = type(answer).model_fields
    keep = {name for name, field in fields.items() if field.is_required()}
    keep |= {"diagnosis", "diagnoses", "notes"} & fields.keys()
    document = shortened(answer).document()
    if isinstance(answer, RunModel):
        document.get("diagnosis", {}).pop("run", None)  # it stands beside it
    for found in (document.get("diagnosis", {}), *document.get("diagnoses", ())):
        found |= _filled(found, "evidence", "quote")
    if not (is_triage := _is_triage(answer)) and not isinstance(answer, DiagnoseAnswer):
        return fit(document, keep=frozenset(keep))
    document |= _filled(document, "steps", "why")
    if is_triage and document["status"] == "done":
        document["notes"] = [*document.get("notes", ()), REST]
    return fit(document, keep=frozenset(keep), limit=SHORT_LIMIT)


def _is_triage(answer: Model) -> TypeGuard[TriageAnswer]:
    from aoti_debug.answers import TriageAnswer  # not needed for a log, which is read faster

    return isinstance(answer, TriageAnswer)


def _filled(document: dict[str, Any], name: str, text: str) -> dict[str, Any]:
    """Return the rows of a field, without a text that is empty."""
    rows = [
        {key: value for key, value in row.items() if key != text or value}
        for row in document.get(name, ())
    ]
    return {name: rows} if rows else {}


_LEVELS = ((2000, 60), (1000, 40), (600, 25), (400, 15), (300, 10), (200, 6), (120, 4), (80, 2))
_WHOLE = frozenset(  # names and arguments are of no use cut
    {"run", "file", "path", "name", "artifact", "guide", "where", "tool", "arguments", "patch"}
)


def size(document: dict[str, Any]) -> int:
    return len(compact(document))


def compact(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def fit(document: dict[str, Any], *, keep: frozenset[str], limit: int = LIMIT) -> dict[str, Any]:
    """Return the document within `limit` characters, without dropping the fields of `keep`. Long
    texts lose their middle and long lists their end, everywhere alike and in growing steps; at last
    whole fields go, the largest first. `notes` says so."""
    if size(document) <= limit:
        return document
    document = with_few_values(document)
    if size(document) <= limit:
        return document
    for text_cap, list_cap in _LEVELS:
        cut = _Cut(text_cap, list_cap)
        shorter = {key: cut.value(key, item) for key, item in document.items()}
        more = "; read_artifact pages through the whole" if "run" in document else ""
        shorter = _noted(shorter, f"{cut}{more}", keep)
        if size(shorter) <= limit:
            return shorter
    dropped: list[str] = []
    while size(shorter) > limit and (left := shorter.keys() - keep - {"notes"}):
        largest = max(sorted(left), key=lambda key: size({key: shorter[key]}))
        del shorter[largest]
        dropped.append(largest)
        shorter = _noted(shorter, f"left out to fit: {', '.join(dropped)}", keep)
    return shorter


def with_few_values(document: dict[str, Any]) -> dict[str, Any]:
    """Keep of the values along the model those around the mark: the rest serves a plot."""
    shorter = dict(document)
    for key, item in document.items():
        if key == "values" and isinstance(item, list):
            marked = next((n for n, row in enumerate(item) if row.get("mark")), 0)
            shorter[key] = item[window(marked, len(item), VALUES)]
        elif key == "diagnosis" and isinstance(item, dict):
            shorter[key] = with_few_values(item)
    return shorter


class _Cut:
    """One level of cutting, and the count of what it cut."""

    def __init__(self, text_cap: int, list_cap: int) -> None:
        self.text_cap = text_cap
        self.list_cap = list_cap
        self.texts = 0
        self.lists: dict[str, int] = {}

    def value(self, key: str, value: Any) -> Any:
        if key in _WHOLE:
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return {name: self.value(name, item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.value(key, item) for item in self._list(key, value)]
        return value

    def _text(self, text: str) -> str:
        if len(text) <= self.text_cap:
            return text
        self.texts += 1
        head, tail = self.text_cap * 2 // 3, self.text_cap // 3
        return f"{text[:head]} […{len(text) - head - tail} characters…] {text[-tail:]}"

    def _list(self, key: str, items: list[Any]) -> list[Any]:
        if len(items) <= self.list_cap or not all(isinstance(item, dict | str) for item in items):
            return items  # a list of numbers is a shape, a block: wrong when cut
        self.lists[key] = self.lists.get(key, 0) + len(items) - self.list_cap
        return items[: self.list_cap]

    def __str__(self) -> str:
        parts = [f"{self.texts} long texts cut"] if self.texts else []
        parts += [f"{count} of {key} left out" for key, count in self.lists.items()]
        return f"shortened to fit: {', '.join(parts)}"


def _noted(document: dict[str, Any], note: str, keep: frozenset[str]) -> dict[str, Any]:
    if "notes" not in keep:
        return document
    notes = [text for text in document.get("notes", []) if not text.startswith("left out to fit")]
    return {**document, "notes": [*notes, note]}
