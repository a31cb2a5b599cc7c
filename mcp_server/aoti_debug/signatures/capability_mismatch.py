from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

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
    fixes=(
        Fix(what="Compile on this kind of GPU, or with aot_inductor.emit_multi_arch_kernel=True"),
    ),
    guide="guides/package-and-load.md#wrong-gpu-architecture",
    next_tool="inspect_package",
    since="2.10",
    matches=(
        Sample(
            (
                "Device information mismatch for AOTI_COMPUTE_CAPABILITY: 90 vs 80. This could "
                "cause some issues when loading the AOTInductor compiled artifacts."
            ),
            "quoted",
            "words of the loader",
        ),
    ),
    neighbours=(
        Sample(
            (
                "W1121 07:39:05.070000 12714 torch/export/pt2_archive/_package.py:1059] Device "
                "information mismatch for AOTI_CPU_ISA: AVX512 AVX512_VNNI vs AVX9000. This "
                "could cause some issues when loading the AOTInductor compiled artifacts."
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
    ),
)
