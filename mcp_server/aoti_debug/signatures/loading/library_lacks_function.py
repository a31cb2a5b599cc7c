from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="library_lacks_function",
    family="E",
    phase="load",
    category="package_incompatible",
    weight=76,
    anchors=(
        "in .so! ",
        "consider rebuild your model with the latest AOTInductor",
        "Consider rebuild your model with the latest AOTInductor",
        "consider rebuilding your model with the latest AOTInductor",
    ),
    patterns=(r"No (?P<what>\w{1,80})(?: function)? in \.so!",),
    summary="The package's library has no {what}",
    means=(
        "It was compiled by an older torch than the one that loads it, which offers more: "
        "single-threaded runs, freeing the inactive constants, updates from the CPU."
    ),
    fixes=(
        fix("Compile the package again with the torch that loads it, or leave that option out"),
    ),
    guide="guides/package-and-load.md#torch-versions-of-both-sides",
    next_tool="inspect_package",
    matches=(
        quoted(
            "RuntimeError: No AOTInductorModelContainerRunSingleThreaded function in .so! To "
            "use AOTInductor-compiled model in the single-threaded mode,consider rebuild "
            "your model with the latest AOTInductor.",
            "text of libtorch_cpu.so 2.13",
        ),
        quoted(
            "RuntimeError: No update_constant_buffer_from_cpu in .so! Consider rebuild your "
            "model with the latest AOTInductor.",
            "text of libtorch_cpu.so 2.13",
        ),
    ),
)
