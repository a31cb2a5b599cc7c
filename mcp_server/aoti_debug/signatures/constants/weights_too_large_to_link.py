from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="weights_too_large_to_link",
    family="D",
    phase="cpp_compile",
    category="cpp_error",
    weight=80,
    anchors=(
        "relocation truncated to fit: ",
        "relocation R_X86_64_",
        "truncated or malformed object",
    ),
    patterns=(
        (
            "(?P<what>relocation (?:truncated to fit: )?R_[A-Z0-9_]{4,30} (?:against|out of "
            "range)|truncated or malformed object)"
        ),
    ),
    summary="The weights are too large to be linked into the library: {what}",
    means=(
        "More than 2 GB of constants stand between code and data, beyond the reach of 32-bit "
        "relative addresses; on macOS the limit is 4 GB."
    ),
    mistaken_for="A broken linker.",
    fixes=(
        fix(
            "Compile with inductor_configs={{'aot_inductor.force_mmap_weights': True}}, or "
            "package_constants_in_so=False and load them"
        ),
        fix("Use GNU ld instead of lld"),
    ),
    guide="guides/constants.md#too-large-to-embed",
    references=("pytorch/pytorch#115478", "pytorch/pytorch#123639", "pytorch/pytorch#123105"),
    matches=(
        recorded(
            "(.text+0x2): relocation truncated to fit: R_X86_64_PC32 against `.bss'",
            "GNU ld on a file of ours",
        ),
        quoted(
            "relocation R_X86_64_PC32 out of range: 5459191920 is not in [-2147483648, 2147483647]",
            "pytorch/pytorch#115478",
        ),
        quoted("error: truncated or malformed object", "pytorch/pytorch#123105"),
    ),
)
