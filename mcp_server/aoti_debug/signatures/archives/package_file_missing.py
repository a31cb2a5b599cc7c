from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="package_file_missing",
    family="E",
    phase="load",
    category="package_corrupt",
    weight=80,
    anchors=(
        "_compile_flags.json",
        "_linker_flags.json",
        "_metadata.json",
        "Failed to find wrapper metadata for model",
        "[json.exception.",
    ),
    patterns=(
        (
            r"(?P<what>File (?:not )?found: \S{1,300}_(?:(?:compile|linker)_flags"
            r"|metadata)\.json|Failed to find wrapper metadata for model"
            r"|\[json\.exception\.\w{1,200}\.\d{1,20}\])"
        ),
    ),
    summary="A file of the package is missing or unreadable: {what}",
    means=(
        "Missing `..._compile_flags.json` means that there is no compiled .so: the loader "
        "falls back to compiling the sources. Up to 2.6 the text says `File found`, which "
        "means not found."
    ),
    mistaken_for="A missing JSON file.",
    fixes=(
        fix(
            "Use the package as compiled; do not repack it (some tools drop files called "
            "metadata.json)"
        ),
        fix("A cpp-only package must be built before loading"),
    ),
    guide="guides/package-and-load.md#damaged-or-missing-library",
    next_tool="inspect_package",
    matches=(
        recorded(
            "RuntimeError: File not found: /tmp/aotinductor_g7H9GV/m/data/aotinductor/model/"
            "c322asgeoixejbdb7zujecwd63nhybixvyk2fmlcpabjr7nxab2z.kernel_compile_flags.json",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "RuntimeError: File found: /tmp/abcdef/data/aotinductor/model/m_linker_flags.json",
            "words of the 2.6 loader",
        ),
        recorded(
            "RuntimeError: File not found: /tmp/aotinductor_TH0Wpm/m/data/aotinductor/model/"
            "c322asgeoixejbdb7zujecwd63nhybixvyk2fmlcpabjr7nxab2z.kernel_metadata.json",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "RuntimeError: Failed to find wrapper metadata for model 'model'",
            "words of the package loader",
        ),
        recorded(
            "RuntimeError: [json.exception.parse_error.101] parse error at", "torch 2.13.0, CPU"
        ),
    ),
)
