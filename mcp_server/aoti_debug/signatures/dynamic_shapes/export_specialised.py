from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="export_specialised",
    family="B",
    phase="export",
    category="lowering_error",
    weight=84,
    anchors=("but your code specialized it to be a constant",),
    patterns=(
        (
            "You marked (?P<dim>.{1,120}) as dynamic but your code specialized it to be a "
            r"constant \((?P<value>\d{1,20})\)"
        ),
    ),
    summary="{dim} was meant to be dynamic, but the model fixes it at {value}",
    means=(
        "The example has size 0 or 1 there, or the code uses the size as a number (reshape "
        "with literals, int(x.shape[0]), a Python branch). With Dim.AUTO the same happens "
        "silently and other sizes give wrong results."
    ),
    check="Is the constant the example's size and 1? Then take an example of at least 2.",
    fixes=(
        fix("Export with an example of size 2 or more in {dim}"),
        fix("Replace literals by -1 or x.shape[0] where the model reshapes"),
        fix("Or give Dim.STATIC there and serve only {value}"),
    ),
    guide="guides/dynamic-shapes.md#specialised-to-a-constant",
    references=("pytorch/pytorch#122294",),
    matches=(
        recorded(
            "  - You marked b as dynamic but your code specialized it to be a constant (1).",
            "torch 2.13.0, CPU",
        ),
    ),
    apart_from=("export_guard_unsatisfied",),
)
