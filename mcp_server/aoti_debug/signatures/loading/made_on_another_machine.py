from aoti_debug.signatures.signature import Signature, fix, recorded

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
            "Device information mismatch for (?P<key>AOTI_(?:PLATFORM|MACHINE|CPU_ISA)): "
            r"(?P<here>.{0,80}?) vs (?P<package>.{0,80}?)\. This could"
        ),
    ),
    summary="{key} is `{here}` here and `{package}` in the package",
    means=(
        "A warning. Another platform or machine will not load; another instruction set loads "
        "and may die by SIGILL when this CPU has less."
    ),
    mistaken_for=(
        "The reason of a failure that follows: a CPU with more instructions runs it well."
    ),
    fixes=(
        fix(
            "Compile on the machine kind that serves, or for a smaller set: "
            "torch._inductor.config.cpp.simdlen = 256"
        ),
    ),
    guide="guides/package-and-load.md#made-on-another-machine",
    next_tool="inspect_package",
    since="2.10",
    matches=(
        recorded(
            "torch/export/pt2_archive/_package.py:1059] Device information mismatch for "
            "AOTI_CPU_ISA: AVX512 AVX512_VNNI vs AVX9000. This could",
            "torch 2.13.0, CPU",
        ),
    ),
    apart_from=("capability_mismatch",),
)
