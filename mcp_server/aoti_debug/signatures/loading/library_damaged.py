from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="library_damaged",
    family="E",
    phase="load",
    category="package_corrupt",
    weight=82,
    confidence="proved",
    anchors=(
        "invalid ELF header",
        "file too short",
        "wrong ELF class",
        "ELF file data encoding",
        "ELF load command",
    ),
    patterns=(
        (
            r"(?:dlopen|\.so(?:\.\d{1,9}){0,4}): .{0,300}?(?P<why>invalid ELF header|file too "
            "short|wrong ELF class|ELF file data encoding not (?:little|big)-endian|ELF load "
            "command .{1,60})"
        ),
    ),
    summary="The compiled library is no library for this machine: {why}",
    means="The .so in the package is damaged, empty or made for another architecture.",
    check="file FILE.so; compare checksums.",
    fixes=(fix("Copy or compile the package again, on the architecture that runs it"),),
    guide="guides/package-and-load.md#damaged-or-missing-library",
    next_tool="inspect_package",
    matches=(
        recorded(
            "RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model/"
            "cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: invalid ELF "
            "header",
            "torch 2.13.0, CPU",
        ),
        quoted("OSError: /app/model.so: file too short", "words of the dynamic loader"),
        quoted(
            "Error in dlopen: /app/model.so: wrong ELF class: ELFCLASS64",
            "words of the dynamic loader",
        ),
        quoted(
            "Error in dlopen: /app/model.so: ELF file data encoding not little-endian",
            "words of the dynamic loader",
        ),
        quoted(
            "Error in dlopen: /app/model.so: ELF load command past end of file",
            "words of the dynamic loader",
        ),
    ),
    neighbours=(
        recorded(
            "RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model/"
            "cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: undefined "
            "symbol: aoti_torch_cpu_addmm_out",
            "torch 2.13.0, CPU",
        ),
    ),
)
