from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="api_misuse",
    family="J",
    phase="lower",
    category="user_code",
    weight=72,
    confidence="proved",
    anchors=(
        "object has no attribute 'graph'",
        "Only ExportedProgram is supported",
        "aoti_compile_and_package() ",
        "aot_compile() ",
    ),
    patterns=(
        (
            r"AttributeError: '\w+' object has no attribute 'graph'|"
            "Only ExportedProgram is supported|TypeError: (?:aoti_compile_and_package|"
            r"aot_compile)\(\) .{0,120}"
        ),
    ),
    summary="The compile function was called with something it does not take",
    means=(
        "aoti_compile_and_package wants an ExportedProgram and a path ending in .pt2; "
        "aot_compile wants ep.module(), not a plain nn.Module."
    ),
    fixes=(
        Fix(
            what=(
                "ep = torch.export.export(model.eval(), args); "
                "torch._inductor.aoti_compile_and_package(ep, package_path='model.pt2')"
            )
        ),
    ),
    guide="guides/lowering-and-cpp.md#calling-the-api-wrongly",
    matches=(
        Sample(
            "AttributeError: 'Linear' object has no attribute 'graph'",
            "recorded",
            "torch 2.13: aot_compile of a module",
        ),
        Sample("ValueError: Only ExportedProgram is supported", "recorded", "torch 2.13"),
    ),
)
