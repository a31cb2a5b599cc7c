"""The words of what is wrong after an update of weights, and of a sequence that is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from aoti_debug.probe.update_steps import Finding

if TYPE_CHECKING:
    from aoti_debug.read.examine_reports import RacesSeen, WeightsReport


class Words(NamedTuple):
    """`{detail}` is the other constant, the dtype, the sizes."""

    said: str
    fix: str


_COPY = (
    "give a copy in the package's dtype: "
    "value.to(dtype).clone(memory_format=torch.contiguous_format)"
)
REASONS: Mapping[str, Words] = {
    "not_given": Words("no step gave it", "give it too: a full update raises for what is missing"),
    "tied": Words(
        "it is tied to {detail}, under which name the new weights have it",
        "give the tensor of {detail} under the name that the package has",
    ),
    "parted": Words(
        "it was tied to {detail}, of which the package keeps one copy for both, and differs now",
        "untie the two in the model, export and compile again",
    ),
    "not_swapped": Words(
        "it was given to the inactive buffer, and no swap followed",
        "call swap_constant_buffer() after the inactive buffer is filled",
    ),
    "swapped_away": Words(
        "the swap brought back the values of an earlier update",
        "fill the inactive buffer with all weights before each swap",
    ),
    "null": Words(
        "the buffer that the swap made active was never given it: a null pointer",
        "fill the inactive buffer with all weights before the swap; only buffers are copied over",
    ),
    "refused": Words(
        "the step raised and changed nothing: {detail}",
        "give what is missing; the reason is on stderr",
    ),
    "inlined": Words(
        "a constant of at most 8 elements was written into the code when the package was compiled",
        'compile with inductor_configs={"always_keep_tensor_constants": True}',
    ),
    "folded_at_compile": Words(
        "it was folded into other constants when the package was compiled",
        "compile without freezing, or with aot_inductor.use_runtime_constant_folding=True",
    ),
    "folded": Words(
        "constants that are folded from it at run time were not computed again",
        "give it with load_constants, or call run_const_fold after its memory has changed",
    ),
    "not_folded": Words(
        "its owner wrote to user-managed weights, and constants folded from them are the old ones",
        "give the weights with load_constants after their memory has changed",
    ),
    "baked": Words(
        "it holds the new values, and the outputs are computed with those of the compile",
        "the compiler took it for a constant: pass it in as an input, or try another torch",
    ),
    "dtype": Words("its bytes were copied as they are: {detail}", _COPY),
    "shape": Words(
        "its bytes were copied as they are: {detail}", "the weights are another model's"
    ),
    "view": Words("the whole storage of a view is copied: {detail}", _COPY),
    "stride": Words("its bytes were copied as they lie: strides {detail}", _COPY),
    "neighbor": Words("the bytes of {detail} were copied over it", _COPY),
    "rounded": Words("it was rounded to {detail} on the way", "give it without a cast to {detail}"),
    "transposed": Words("it was transposed on the way", "give it as the module has it"),
    "other_name": Words(
        "it was given the new values of {detail}", "pair names and tensors in one order"
    ),
    "overwrite": Words(
        "it is user-managed, and its owner wrote to its memory",
        "leave the memory as it is while the package uses it, or load copies",
    ),
    "release": Words(
        "it is user-managed, and its owner released its memory",
        "keep the tensors as long as the model, or load copies",
    ),
    "outputs": Words(
        "all constants are the new ones, and the outputs are not those of the new weights",
        "compare the package with its program: triage a script that calls both",
    ),
    "unknown": Words(
        "it holds neither its old nor its new values", "look at what changes it before it is given"
    ),
}
DIES = "the process ended with {signal} in step {step}"


def words_of(finding: Finding) -> Words:
    known = REASONS.get(finding.reason, REASONS["unknown"])
    detail = finding.detail or "its reason is on stderr"
    if finding.reason == "refused" and " " not in finding.detail:
        detail = f"a full update without {finding.detail}"
    return Words(*(text.replace("{detail}", detail) for text in known))


def headline(findings: Sequence[Finding], most: int = 3) -> str:
    """Say which constants are wrong and why, those of the first reason; name at `most` so many."""
    first = findings[0]
    alike = [one.constant for one in findings if one.reason == first.reason]
    names = ", ".join(alike[:most])
    names += f" and {len(alike) - most} more" if len(alike) > most else ""
    said = words_of(first).said
    said = f"{names}: {said}" if first.constant else said
    more = len(findings) - len(alike)
    return f"{said}; {more} more are wrong" if more else said


def races_said(races: RacesSeen | None, signal: str | None) -> tuple[str, bool | None]:
    """Say what calls under way gave, and whether that is right."""
    if signal is not None:
        return f"the process ended with {signal} when weights changed under calls", False
    if races is None:
        return "", None
    tried = f"{races.calls:,} calls in {races.threads} threads during {races.updates:,} updates"
    if races.error:
        return f"{tried}: a call raised {races.error}", False
    if races.torn:
        return f"{tried}: {races.torn} different outputs are those of neither weights", False
    return f"{tried}: each output is that of the old or of the new weights", True


def safe_code(report: WeightsReport, tied: Mapping[str, str]) -> str:
    safe = report.safe
    if safe is None:
        return ""
    names = f"TIED = {dict(tied)!r}\n" if tied else ""
    value = "new[TIED.get(name, name)]" if tied else "new[name]"
    copy = ".clone(memory_format=torch.contiguous_format)"
    if safe.sequence == "full":
        return (
            f"{names}dtypes = {{name: value.dtype for name, value in program.state_dict.items()}}\n"
            "weights = {\n"
            f'    name: {value}.to("{report.device}", dtypes[name]){copy}\n'
            "    for name in model.get_constant_fqns()\n"
            f"    if {'TIED.get(name, name)' if tied else 'name'} in new\n"
            "}\n"
            "model.load_constants(weights, check_full_update=True)"
        )
    fold = (
        "runner.run_const_fold(True)  # C++; Python's next call does it\n" if report.folded else ""
    )
    return (
        "# runner: AOTIModelContainerRunner; weights: copies of all constants, by its names\n"
        "runner.update_constant_buffer(weights, True, True)  # inactive, checked to be full\n"
        f"{fold}runner.swap_constant_buffer()  # waits until no call is under way"
    )
