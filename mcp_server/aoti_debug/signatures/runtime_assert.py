from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="runtime_assert",
    family="B",
    phase="run",
    category="contract_guard",
    weight=84,
    anchors=(
        " but received ",
        "Runtime assertion failed for expression ",
    ),
    patterns=(
        (
            r"Expected (?P<condition>.{0,80}\b[suz]\d+\b.{0,80} but received "
            r"(?:-?\d+|True|False|[0-9.eE+-]+))"
        ),
        (
            r"Runtime assertion failed for expression (?P<condition>.{1,200} on node "
            r"'[^']{1,80}')"
        ),
    ),
    summary="A size taken from the inputs breaks an assertion of the model: {condition}",
    means=(
        "torch.export recorded this condition (from torch._check or from how the size "
        "is used) and the package checks it. A lower bound of 2 often only comes from "
        "the exporter's assumption that sizes are not 0 or 1."
    ),
    mistaken_for=(
        "A wrong kernel; with a bound of 2 and size 0 or 1 the input is often legitimate."
    ),
    check="Run ep.module() on the same input: it names the graph node.",
    fixes=(
        Fix(
            what=(
                "Keep the data in the range, or state the real one with torch._check(u >= 0) "
                "before export"
            )
        ),
        Fix(what="For sizes of 0 and 1, pad to two elements or branch outside the model"),
    ),
    guide="guides/dynamic-shapes.md#runtime-asserts",
    next_tool="triage",
    references=(
        "pytorch/pytorch#150539",
        "pytorch/pytorch#146462",
    ),
    matches=(
        Sample("RuntimeError: Expected u0 <= 6 but received 10", "recorded", "torch 2.13.0, CPU"),
        Sample("RuntimeError: Expected u1 >= 2 but received 1", "recorded", "torch 2.13.0, CPU"),
        Sample("Expected u0 < s17 but received 4", "quoted", "pytorch/pytorch#150539"),
        Sample(
            "RuntimeError: Runtime assertion failed for expression u0 < s10 on node 'lt_1'",
            "recorded",
            "torch 2.13.0, CPU",
        ),
    ),
    neighbours=(
        Sample("Expected 2 arguments but received 3", "quoted", "an ordinary API"),
        Sample(
            "ValueError: Expected target size [4, 10], got [4, 12]", "quoted", "another failure"
        ),
    ),
)
