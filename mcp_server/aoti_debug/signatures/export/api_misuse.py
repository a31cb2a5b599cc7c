from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="api_misuse",
    family="J",
    phase="lower",
    category="user_code",
    weight=72,
    anchors=(
        "object has no attribute 'graph'",
        "Only ExportedProgram is supported",
        "aoti_compile_and_package() ",
        "aot_compile() ",
    ),
    patterns=(
        (
            r"AttributeError: '\w{1,200}' object has no attribute 'graph'"
            r"|Only ExportedProgram is "
            r"supported|TypeError: (?:aoti_compile_and_package|aot_compile)\(\) .{0,120}"
        ),
    ),
    summary="The compile function was called with something it does not take",
    means=(
        "aoti_compile_and_package wants an ExportedProgram and a path ending in .pt2; "
        "aot_compile wants ep.module(), not a plain nn.Module."
    ),
    fixes=(
        fix(
            "ep = torch.export.export(model.eval(), args); torch._inductor.aoti_compile_and_pa"
            "ckage(ep, package_path='model.pt2')"
        ),
    ),
    guide="guides/lowering-and-cpp.md#calling-the-api-wrongly",
    matches=(
        recorded(
            "AttributeError: 'Linear' object has no attribute 'graph'",
            "torch 2.13: aot_compile of a module",
        ),
        recorded("ValueError: Only ExportedProgram is supported", "torch 2.13"),
    ),
)
