"""Outline what a package holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from aoti_debug.answers import PackageAnswer, PackageInput, PackageLaunch, PackageModel
from aoti_debug.package.contract import size_of, stride_of
from aoti_debug.report.text import Item, Outline, Section, Tone, section, table

_HEADS = ("#", "name", "dtype", "sizes", "strides", "device")
_VERDICTS: dict[str, tuple[str, Tone]] = {
    "yes": ("will load here", "fine"),
    "no": ("will not load here", "fault"),
    "may fail": ("may fail to load here", "doubt"),
    "unknown": ("was read without being loaded", "plain"),
}


def outline_package(answer: PackageAnswer, problems: Section) -> Outline:
    """Outline a package; its problems come first."""
    verdict, tone = _VERDICTS[answer.loads_here]
    check = Item("check_inputs, in plain torch", quote=answer.check_inputs or "")
    return Outline(
        headline=f"{PurePath(answer.package).name} {verdict}",
        tone=tone,
        tags=tuple(filter(None, (answer.format, _size(answer.bytes), answer.written_by))),
        sections=(
            problems,
            *(part for model in answer.models for part in _model(model, answer.models_count)),
            section("Check inputs", check if answer.check_inputs else None),
            section("Notes", *answer.notes),
        ),
        foot=answer.package,
    )


def _model(model: PackageModel, of: int) -> Iterator[Section]:
    built = (model.device, model.machine, *model.architectures, model.compiled_by)
    if of > 1:
        yield section("Model", model.name)
    yield section("Built for", ", ".join(filter(None, built)))
    more = _more(model.inputs_count - len(model.inputs))
    checked = f"checked {model.input_checks}" if model.input_checks else None
    yield section("Inputs", *_inputs(model.inputs), more, checked)
    yield section("Sizes", *(f"{name} = {text}" for name, text in model.symbols.items()))
    yield section(
        "Kernels", *map(_launch, model.launches), _more(model.launches_count - len(model.launches))
    )
    where = ", ".join(filter(None, (_size(model.constants_bytes), model.constants_where)))
    yield section(
        "Constants",
        Item(f"{model.constants_count} constants", where) if model.constants_count else None,
    )
    yield section("Custom ops", *model.custom_ops)
    needed = ", ".join(f"{name} {version}" for name, version in model.versions.items())
    yield section("Needs", Item(", ".join(model.needs), needed) if model.needs else None)
    yield section("Noted", *model.notes)


def _inputs(inputs: list[PackageInput]) -> Iterator[Item]:
    """Show the contract as a table; an input of which the package says little is a line."""
    stated = [one for one in inputs if one.dims is not None]
    if stated:
        lines = table([_HEADS, *map(_row, stated)])
        yield Item(f"{len(stated)} with a contract", quote=lines, whole=True)
    yield from (Item(f"{i.index} {i.name}: {i.text}") for i in inputs if i.dims is None)


def _row(one: PackageInput) -> tuple[str, ...]:
    dims = one.dims or []
    sizes, strides = ", ".join(map(size_of, dims)), ", ".join(map(stride_of, dims))
    cells = (str(one.index), one.name, one.dtype or "any", f"[{sizes}]", f"[{strides}]")
    return (*cells, one.device or "any")


def _launch(launch: PackageLaunch) -> Item:
    lines = (f"{line.file}:{line.line}  {line.text or ''}".rstrip() for line in launch.source)
    detail = ", ".join((launch.kind, *launch.ops))
    return Item(f"{launch.number} {launch.kernel}", detail, "\n".join(lines))


def _more(count: int) -> str | None:
    return f"{count} more" if count > 0 else None


def _size(number: int) -> str:
    value = float(number)
    for unit in ("bytes", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"
