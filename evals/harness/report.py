"""Results as text, Markdown and a page with plots."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.score import Result

Document = Mapping[str, Any]
FIELDS = ("phase", "category", "kernel", "line", "operator", "input", "also")


def write(results: Sequence[Result], to: Path) -> None:
    """Write one JSON document a line."""
    to.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(one.document(), sort_keys=True) for one in results]
    to.write_text("\n".join(lines) + "\n", "utf-8")


def read(path: Path) -> list[Document]:
    """Read results, one JSON document a line; what ends in .xz is packed."""
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def table(results: Sequence[Result]) -> str:
    return rows([one.document() for one in results])


def groups(documents: Iterable[Document]) -> dict[tuple[str, str], list[Document]]:
    found: dict[tuple[str, str], list[Document]] = {}
    for one in documents:
        found.setdefault((one["agent"], one["arm"]), []).append(one)
    return found


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def rows(documents: Sequence[Document]) -> str:
    head = ["agent", "arm", "cases", "strict", *FIELDS, "fix", "false blame", "forbidden", "wall s"]
    told = []
    for (agent, arm), own in groups(documents).items():
        fields = [one["fields"] or {} for one in own]
        fixes = [(one["fix"] or {}).get("verified") for one in own]
        unknown = fixes.count(None) if any(fields) else 0
        cells = [agent, arm, str(len(own)), _share([one["strict"] for one in own])]
        cells += [_share([one.get(name, False) for one in fields]) for name in FIELDS]
        cells.append(_share(fixes) + (f" ({unknown} unknown)" if unknown else ""))
        for name in ("false_blame", "forbidden"):
            cells.append(str(sum(bool(one.get(name)) for one in fields)))
        mean = _wall_s(own)
        told.append([*cells, "" if mean is None else f"{mean:.0f}"])
    return markdown(head, told)


def _wall_s(own: Sequence[Document]) -> float | None:
    """Return the mean over those that were measured."""
    walls = [one["cost"]["wall_s"] for one in own if "wall_s" in one["cost"]]
    return sum(walls) / len(walls) if walls else None


def _share(values: Sequence[bool | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{sum(known)}/{len(known)}" if known else ""


def tables(documents: Sequence[Document]) -> str:
    return "\n\n".join([rows(documents), by_family(documents), statistics(documents)])


def by_family(documents: Sequence[Document]) -> str:
    families = sorted({one["family"] for one in documents})
    told = [
        [
            agent,
            arm,
            *(_share([one["strict"] for one in own if one["family"] == f]) for f in families),
        ]
        for (agent, arm), own in groups(documents).items()
    ]
    return markdown(["agent", "arm", *families], told)


def successes(own: Sequence[Document]) -> dict[str, list[bool]]:
    found: dict[str, list[bool]] = {}
    for one in sorted(own, key=lambda one: one["epoch"]):
        found.setdefault(one["case"], []).append(one["strict"])
    return found


def statistics(documents: Sequence[Document]) -> str:
    """Return intervals for each arm, and differences to its agent's first arm."""
    from harness import stats

    family = {one["case"]: one["family"] for one in documents}
    lines = []
    try:
        for agent in dict.fromkeys(one["agent"] for one in documents):
            of = {arm: own for (name, arm), own in groups(documents).items() if name == agent}
            arms = {arm: successes(own) for arm, own in of.items()}
            for arm, found in arms.items():
                share = stats.share(found, family)
                cubed = stats.all_of(found)
                more = f"; pass^3 {cubed:.2f}" if cubed is not None else ""
                lines.append(
                    f"- {agent}, {arm}: strict {share.value:.2f} (95 %: {share.low:.2f} to "
                    f"{share.high:.2f}, {share.effective:.1f} effective cases){more}"
                )
            base = "bare" if "bare" in arms else next(iter(arms))
            for arm, gain in stats.differences(arms, base).items():
                lines.append(
                    f"- {agent}, {arm} against {base}: {gain.value:+.2f} (95 %: {gain.low:+.2f} to "
                    f"{gain.high:+.2f}; p {gain.p:.3f}, Holm {gain.p_holm:.3f})"
                )
        count = len(family)
        lines.append(
            f"- {count} cases show a difference of {stats.detectable(count):.2f} or more with "
            "80 % power, where two arms disagree on 40 % of the cases."
        )
    except ImportError as error:
        return f"No statistics: {error}. Install `aoti-debug[evals]`."
    return "\n".join(lines)


def page(documents: Sequence[Document]) -> str:
    """Return one HTML file that loads nothing: score against cost, families, every case."""
    from jinja2 import Environment
    from markupsafe import Markup

    template = Environment(autoescape=True, trim_blocks=True).from_string(PAGE)
    arms = groups(documents)
    return template.render(
        plot=Markup(_cost_plot(arms)),
        families=Markup(_family_plot(documents)),
        arms=arms,
        documents=documents,
        statistics=statistics(documents).splitlines(),
        fields=FIELDS,
    )


def _cost_plot(arms: Mapping[tuple[str, str], Sequence[Document]]) -> str:
    from aoti_debug.report.html import COLOURS, HEIGHT, WIDTH, _chart

    chart = _chart("mean wall seconds of a case", "strict successes, %")
    chart.add_y_scale(0, 100)
    drawn = False
    for number, ((agent, arm), own) in enumerate(arms.items()):
        if (mean := _wall_s(own)) is not None:
            point = (mean, 100 * sum(one["strict"] for one in own) / len(own))
            chart.add_dots(
                [point], name=f"{agent}, {arm}", radius=6, fill_color=COLOURS[number % len(COLOURS)]
            )
            drawn = True
    return str(chart.to_svg(width=WIDTH, height=HEIGHT)) if drawn else ""


def _family_plot(documents: Sequence[Document]) -> str:
    from aoti_debug.report.html import COLOURS, HEIGHT, WIDTH, _chart

    families = sorted({one["family"] for one in documents})
    charts = []
    for number, ((agent, arm), own) in enumerate(groups(documents).items()):
        chart = _chart(f"strict successes, %: {agent}, {arm}", "")
        bars = []
        for name in families:
            of = [one["strict"] for one in own if one["family"] == name]
            bars.append((100 * sum(of) / len(of) if of else 0, name))
        chart.add_bars(bars, fill_color=COLOURS[number % len(COLOURS)])
        chart.add_x_scale(0, 100)
        charts.append(str(chart.to_svg(width=WIDTH, height=HEIGHT)))
    return "".join(charts)


PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>aoti-debug: evals</title>
<style>
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; } td, th { padding: .2rem .5rem; text-align: left;
border-bottom: 1px solid #8884; } .good { color: #2e7d32; } .bad { color: #c62828; }
svg { max-width: 100%; height: auto; } pre { white-space: pre-wrap; overflow-wrap: anywhere; }
</style></head><body>
<h1>Evals</h1>
<table><tr><th>agent</th><th>arm</th><th>strict</th></tr>
{% for (agent, arm), own in arms.items() %}
<tr><td>{{ agent }}</td><td>{{ arm }}</td>
<td>{{ own | selectattr("strict") | list | length }} of {{ own | length }}</td></tr>
{% endfor %}</table>
{% for line in statistics %}<p>{{ line }}</p>{% endfor %}
{% if plot %}<h2>Score against cost</h2>{{ plot }}{% endif %}
<h2>By family</h2>{{ families }}
<h2>Cases</h2>
{% for one in documents %}
<details><summary><span class="{{ 'good' if one.strict else 'bad' }}">{{ 'yes' if one.strict else 'no' }}</span>
{{ one.case }} · {{ one.agent }} · {{ one.arm }} · {{ one.epoch }}</summary>
{% if one.error %}<p class="bad">{{ one.error }}</p>{% endif %}
{% if one.fields %}<table>{% for name in fields %}{% if one.fields[name] is not none %}
<tr><td>{{ name }}</td><td class="{{ 'good' if one.fields[name] else 'bad' }}">{{ one.fields[name] }}</td></tr>
{% endif %}{% endfor %}
<tr><td>false blame</td><td>{{ one.fields.false_blame | join(", ") }}</td></tr>
<tr><td>forbidden</td><td>{{ one.fields.forbidden | join(", ") }}</td></tr></table>{% endif %}
{% if one.fix %}<p>fix: {{ one.fix.verified }}: {{ one.fix.reason }}</p>
{% if one.fix.outcome %}<pre>{{ one.fix.outcome.detail }}</pre>{% endif %}{% endif %}
<p>cost: {{ one.cost }}</p></details>
{% endfor %}
</body></html>
"""
