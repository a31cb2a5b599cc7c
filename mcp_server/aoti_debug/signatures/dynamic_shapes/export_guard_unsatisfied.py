from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="export_guard_unsatisfied",
    family="B",
    phase="export",
    category="lowering_error",
    weight=83,
    anchors=(
        "satisfy the generated guard",
        "] must always be ",
        " are valid because ",
    ),
    patterns=(
        (
            "Not all values of (?P<dim>.{1,80}?) = .{1,80}? in the specified range (?P<guard>"
            "satisfy the generated guard .{1,160}|are valid because .{1,160})"
        ),
        (
            r"The values of (?P<dim>.{1,80}?) = .{1,120}? (?P<guard>(?:and \S{1,60} = "
            r"L\[.{1,80}|)must always be (?:equal|related to .{1,160}))"
        ),
    ),
    summary="The model only works for some sizes of {dim}: {guard}",
    means=(
        "The traced code needs more of the size than the Dim promises, such as divisibility "
        "or a larger minimum."
    ),
    fixes=(
        fix("Take the Dim of `Suggested fixes` (2*_b for an even size, min=5 for a minimum)"),
        fix("Give sizes that must be equal one Dim together, or remove the code that needs it"),
    ),
    guide="guides/dynamic-shapes.md#constraint-violations",
    matches=(
        recorded(
            "  - The values of b = L['y'].size()[0] and a = L['x'].size()[0] must always be equal.",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "  - Not all values of b = L['a'][0].size()[0] in the specified range satisfy the "
            "generated guard 5 <= L['a'][0].size()[0] and L['a'][0].size()[0] <= IntInfinity()",
            "torch 2.13.0, CPU",
        ),
    ),
    apart_from=("export_constraints_violated",),
)
