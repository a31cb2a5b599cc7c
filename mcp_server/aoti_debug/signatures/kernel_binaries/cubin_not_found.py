from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="cubin_not_found",
    family="H",
    phase="run",
    category="missing_kernel_binary",
    weight=86,
    anchors=("CUDA driver error: file not found",),
    patterns=("CUDA driver error: file not found",),
    summary="A kernel binary (.cubin) is not where the library looks for it",
    means=(
        "A bare .so finds its cubins by the absolute path of the compile; a package by the "
        "folder it was unpacked to. The message does not name the file."
    ),
    mistaken_for="A missing driver or a missing model file.",
    check=(
        "strace -e openat, or unzip -l for .cubin files; a bare .so moved from its folder is "
        "the usual case."
    ),
    fixes=(
        fix("Ship a .pt2 made by aoti_compile_and_package, not the bare .so"),
        fix(
            "Or compile with inductor_configs={{'aot_inductor.embed_kernel_binary': True}} "
            "(2.8 and later)"
        ),
        fix("With a package pass no cubin_dir of your own"),
    ),
    guide="guides/package-and-load.md#kernel-binaries-not-found",
    next_tool="inspect_package",
    references=("pytorch/pytorch#120194", "pytorch/pytorch#152067", "pytorch/pytorch#139848"),
    matches=(quoted("Error: CUDA driver error: file not found", "pytorch/pytorch#120194"),),
    apart_from=("kernel_image_invalid", "cuda_invalid_argument"),
)
