from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="export_specialised",
    family="B",
    phase="export",
    category="contract_guard",
    weight=84,
    confidence="proved",
    anchors=("but your code specialized it to be a constant",),
    patterns=(
        (
            r"You marked (?P<dim>.{1,120}) as dynamic but your code specialized it to be a "
            r"constant \((?P<value>\d+)\)"
        ),
    ),
    summary="{dim} was meant to be dynamic, but the model fixes it at {value}",
    means=(
        "The example has size 0 or 1 there, or the code uses the size as a number "
        "(reshape with literals, int(x.shape[0]), a Python branch). With Dim.AUTO the "
        "same happens silently and other sizes give wrong results."
    ),
    check="Is the constant the example's size and 1? Then take an example of at least 2.",
    fixes=(
        Fix(what="Export with an example of size 2 or more in {dim}"),
        Fix(what="Replace literals by -1 or x.shape[0] where the model reshapes"),
        Fix(what="Or give Dim.STATIC there and serve only {value}"),
    ),
    guide="guides/dynamic-shapes.md#specialised-to-a-constant",
    references=("pytorch/pytorch#122294",),
    matches=(
        Sample(
            (
                "  - You marked b as dynamic but your code specialized it to be a constant (1). "
                "If you're using mark_dynamic, either remove it or use maybe_mark_dynamic. If "
                "you're using Dim.DYNAMIC, replace it with either Dim.STATIC or Dim.AUTO."
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
    ),
    neighbours=(
        Sample(
            (
                "  - Not all values of b = L['a'][0].size()[0] in the specified range satisfy "
                "the generated guard 5 <= L['a'][0].size()[0] and L['a'][0].size()[0] <= "
                "IntInfinity()"
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
    ),
)
