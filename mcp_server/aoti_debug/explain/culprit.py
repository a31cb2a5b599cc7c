"""Say which part of the compiler makes values wrong, and what works around it; draft an issue."""

from __future__ import annotations

from aoti_debug.model import Fix
from aoti_debug.read.culprit import PASSES, Culprit, Tried
from aoti_debug.report.text import escape_markdown, fenced

ISSUE = "issue.md"


def part(culprit: Culprit) -> str:
    """Name the part of the compiler at fault; nothing where none was found."""
    if culprit.stage in PASSES:
        return f"Inductor's {_pass(culprit, culprit.stage)}"
    if culprit.stage == "decomposition":
        return f"Inductor's decomposition of {culprit.op}"
    if culprit.stage == "tracing":
        return "Inductor's graph before its passes"
    if culprit.stage == "package":
        return "the code of a package, and not of torch.compile"
    if culprit.stage != "code" or not (culprit.op or culprit.code):
        return ""
    return f"Inductor's {culprit.code or 'lowering or codegen'} of {culprit.op or 'this'}"


def _pass(culprit: Culprit, stage: str) -> str:
    kind = stage.removesuffix("_passes").replace("_", "-")
    return f"{kind} pass {culprit.number} ({culprit.name})"


def headline(culprit: Culprit, node: str) -> str:
    return f"{name} makes {node} wrong" if (name := part(culprit)) else ""


def clause(culprit: Culprit) -> str:
    """Say what is at fault, or why that is not known."""
    if name := part(culprit):
        after = (
            f", where it is fused with {', '.join(culprit.others[:3])}" if culprit.others else ""
        )
        made = f", which {_pass(culprit, culprit.made_by)} makes" if culprit.made_by else ""
        return f"; at fault is {name}{after}{made}"
    if culprit.undecided:
        return "; there was no time to find the part of the compiler at fault (--budget SECONDS)"
    return "; right, compiled by itself" if culprit.stage == "none" else ""


def fixes(culprit: Culprit) -> list[Fix]:
    """Return the workaround that was tried, with on what and its cost in time."""
    way = culprit.workaround
    if way is None or (way.whole is not None and not way.whole.tried):
        return []
    took: Tried = way if way.whole is None else way.whole
    of = "the part alone" if way.whole is None else "the program"
    cost = f"; takes {took.ratio:.2f} × the time" if took.ratio is not None else ""
    what = f"compile with inductor_configs={way.settings!r}"
    if way.fallback:
        what = (
            "before the compile: from torch._inductor import decomposition, lowering; "
            f"decomposition.decompositions.pop(torch.ops.{way.fallback}, None); "
            f"lowering.make_fallback(torch.ops.{way.fallback}, override_decomp=True)"
        )
    return [Fix(what=what, why=f"tried on {took.tried} inputs of {of}: right{cost}")]


def draft(culprit: Culprit, wrong: str, script: str) -> str:
    """Return the draft of an issue for PyTorch; `wrong` says what is wrong of which operator."""
    also = "torch.compile gives the same" if culprit.torch_compile else "seen in a package"
    lists = {
        "Right without, or with": [one.left_out for one in culprit.trials if one.right],
        "Still wrong without, or with": [one.left_out for one in culprit.trials if not one.right],
        "Workaround": [f"{fix.what} ({fix.why})" for fix in fixes(culprit)],
        "Versions": [culprit.versions],
    }
    parts = [
        "# [inductor] Wrong result: " + escape_markdown(part(culprit) or "compiled code"),
        "(A draft; nothing was sent. Look for the operator among the open issues first.)",
        f"{escape_markdown(wrong)} ({also}).",
        fenced("python", script),
    ]
    if "_inputs.pt" in script:
        parts.append("It reads `one_kernel_inputs.pt`, which has to be attached.")
    for title, lines in lists.items():
        listed = "\n".join(f"* {escape_markdown(line)}" for line in lines)
        parts += [f"## {title}", listed] if lines else []
    return "\n\n".join(parts) + "\n"
