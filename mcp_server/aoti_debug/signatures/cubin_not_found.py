from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="cubin_not_found",
    family="H",
    phase="run",
    category="missing_kernel_binary",
    weight=86,
    anchors=("CUDA driver error: file not found",),
    patterns=(r"CUDA driver error: file not found",),
    summary="A kernel binary (.cubin) is not where the library looks for it",
    means=(
        "A bare .so finds its cubins by the absolute path of the compile; a package by "
        "the folder it was unpacked to. The message does not name the file."
    ),
    mistaken_for="A missing driver or a missing model file.",
    check=(
        "strace -e openat, or unzip -l for .cubin files; a bare .so moved from its "
        "folder is the usual case."
    ),
    fixes=(
        Fix(what="Ship a .pt2 made by aoti_compile_and_package, not the bare .so"),
        Fix(
            what=(
                "Or compile with inductor_configs={{'aot_inductor.embed_kernel_binary': True}} "
                "(2.8 and later)"
            )
        ),
        Fix(what="With a package pass no cubin_dir of your own"),
    ),
    guide="guides/package-and-load.md#kernel-binaries-not-found",
    next_tool="inspect_package",
    references=(
        "pytorch/pytorch#120194",
        "pytorch/pytorch#152067",
        "pytorch/pytorch#139848",
    ),
    matches=(
        Sample("Error: CUDA driver error: file not found", "quoted", "pytorch/pytorch#120194"),
    ),
    neighbours=(
        Sample("CUDA driver error: named symbol not found", "quoted", "another failure"),
        Sample("CUDA driver error: invalid argument", "quoted", "another failure"),
    ),
)
