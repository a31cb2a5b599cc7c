from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="runtime_assert",
    family="B",
    phase="run",
    category="contract_guard",
    weight=84,
    anchors=(
        " but received ",
        "Runtime assertion failed for expression ",
        "Invalid value range for ",
    ),
    patterns=(
        (
            r"Expected (?P<condition>.{0,80}\b[suz]\d{1,20}\b.{0,80} but received (?:-?\d"
            r"{1,20}|True"
            "|False|[0-9.eE+-]{1,200}))"
        ),
        "Runtime assertion failed for expression (?P<condition>.{1,200} on node '[^']{1,80}')",
        r"Invalid value range for (?P<condition>-?\d{1,20} between \[-?\d{1,20}, -?\d{1,20}\])",
    ),
    summary="A size taken from the inputs breaks an assertion of the model: {condition}",
    means=(
        "torch.export recorded this condition (from torch._check or from how the size is "
        "used) and the package checks it. A lower bound of 2 often only comes from the "
        "exporter's assumption that sizes are not 0 or 1."
    ),
    mistaken_for=(
        "A wrong kernel; with a bound of 2 and size 0 or 1 the input is often legitimate."
    ),
    check="Run ep.module() on the same input: it names the graph node.",
    fixes=(
        fix(
            "Keep the data in the range, or state the real one with torch._check(u >= 0) "
            "before export"
        ),
        fix("For sizes of 0 and 1, pad to two elements or branch outside the model"),
    ),
    guide="guides/dynamic-shapes.md#runtime-asserts",
    next_tool="triage",
    references=("pytorch/pytorch#150539", "pytorch/pytorch#146462"),
    matches=(
        recorded("RuntimeError: Expected u0 <= 6 but received 10", "torch 2.13.0, CPU"),
        recorded("RuntimeError: Expected u1 >= 2 but received 1", "torch 2.13.0, CPU"),
        quoted("Expected u0 < s17 but received 4", "pytorch/pytorch#150539"),
        recorded(
            "RuntimeError: Runtime assertion failed for expression u0 < s10 on node 'lt_1'",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "RuntimeError: Invalid value range for 9 between [2, 5].",
            "torch 2.13.0, CPU, aten.sym_constrain_range",
        ),
    ),
    neighbours=(
        quoted("Expected 2 arguments but received 3", "an ordinary API"),
        quoted("ValueError: Expected target size [4, 10], got [4, 12]", "another failure"),
    ),
)
