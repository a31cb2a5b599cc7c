from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="made_on_another_machine",
    family="H",
    phase="load",
    category="package_incompatible",
    role="symptom",
    weight=58,
    confidence="possible",
    anchors=("Device information mismatch for ",),
    patterns=(
        (
            r"Device information mismatch for (?P<key>AOTI_(?:PLATFORM|MACHINE|CPU_ISA)): "
            r"(?P<here>.{0,80}?) vs (?P<package>.{0,80}?)\. This could"
        ),
    ),
    summary="{key} is `{here}` here and `{package}` in the package",
    means=(
        "A warning. Another platform or machine will not load; another instruction set "
        "loads and may die by SIGILL when this CPU has less."
    ),
    mistaken_for=(
        "The reason of a failure that follows: a CPU with more instructions runs it well."
    ),
    fixes=(
        Fix(
            what=(
                "Compile on the machine kind that serves, or for a smaller set: "
                "torch._inductor.config.cpp.simdlen = 256"
            )
        ),
    ),
    guide="guides/package-and-load.md#made-on-another-machine",
    next_tool="inspect_package",
    since="2.10",
    matches=(
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
    neighbours=(
        Sample(
            (
                "Device information mismatch for AOTI_COMPUTE_CAPABILITY: 90 vs 80. This could "
                "cause some issues when loading the AOTInductor compiled artifacts."
            ),
            "quoted",
            "another failure",
        ),
    ),
)
