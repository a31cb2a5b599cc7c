from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="capability_mismatch",
    family="H",
    phase="load",
    category="missing_kernel_binary",
    weight=72,
    anchors=("Device information mismatch for AOTI_COMPUTE_CAPABILITY",),
    patterns=(
        (
            r"Device information mismatch for AOTI_COMPUTE_CAPABILITY: (?P<here>\S{0,20}) vs "
            r"(?P<package>\S{1,20})\."
        ),
    ),
    summary="The package was compiled for compute capability {package}, this GPU has {here}",
    means="Its kernels are binaries for that architecture and will not load on this one.",
    fixes=(fix("Compile on this kind of GPU, or with aot_inductor.emit_multi_arch_kernel=True"),),
    guide="guides/package-and-load.md#wrong-gpu-architecture",
    next_tool="inspect_package",
    since="2.10",
    matches=(
        quoted(
            "Device information mismatch for AOTI_COMPUTE_CAPABILITY: 90 vs 80.",
            "words of the loader",
        ),
    ),
    apart_from=("made_on_another_machine",),
)
