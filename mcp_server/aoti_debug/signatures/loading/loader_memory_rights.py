from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="loader_memory_rights",
    family="E",
    phase="load",
    category="toolchain",
    weight=72,
    anchors=(
        "in static TLS block",
        "cannot restore segment prot after reloc",
        "cannot apply additional memory protection",
        "cannot change memory protections",
        "cannot make segment writable for relocation",
        "cannot allocate memory for thread-local data",
        "cannot create shared object descriptor",
    ),
    patterns=(
        (
            "(?P<why>cannot allocate memory in static TLS block|cannot restore segment prot "
            "after reloc|cannot apply additional memory protection|cannot change memory "
            "protections|cannot make segment writable for relocation|cannot allocate memory "
            "for thread-local data|cannot create shared object descriptor)"
        ),
    ),
    summary="The process has no room or no right to load the library: {why}",
    means=(
        "The fixed block for thread-local data is used up by libraries loaded before (OpenMP, "
        "torch, OpenCV on aarch64), or a security policy forbids changing memory rights."
    ),
    mistaken_for="A damaged library.",
    check="For TLS: is the library loaded late, after many others?",
    fixes=(
        fix(
            "For TLS: import torch first, or LD_PRELOAD the library named, or raise "
            "GLIBC_TUNABLES=glibc.rtld.optional_static_tls"
        ),
        fix("For rights: look at the audit log of SELinux or the container's security profile"),
    ),
    guide="guides/package-and-load.md#extraction-directory",
    next_tool="check_environment",
    matches=(
        quoted(
            "ImportError: /usr/lib/aarch64-linux-gnu/libgomp.so.1: cannot allocate memory in "
            "static TLS block",
            "words of the dynamic loader",
        ),
        quoted(
            "OSError: libfoo.so: cannot restore segment prot after reloc: Permission denied",
            "words of the dynamic loader",
        ),
    ),
)
