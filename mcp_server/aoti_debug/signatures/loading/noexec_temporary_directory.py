from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="noexec_temporary_directory",
    family="E",
    phase="load",
    category="toolchain",
    weight=82,
    anchors=("failed to map segment from shared object",),
    patterns=("failed to map segment from shared object",),
    summary=("The unpacked library may not be executed: the temporary directory is mounted noexec"),
    means=(
        "The loader unpacks into TMPDIR (default /tmp) and maps the library from there; a "
        "noexec mount or a security policy forbids it."
    ),
    mistaken_for="A damaged package.",
    check="findmnt -T /tmp",
    fixes=(fix("Set TMPDIR to a directory on a mount that allows executing"),),
    guide="guides/package-and-load.md#extraction-directory",
    next_tool="check_environment",
    matches=(
        recorded(
            "/tmp/e1/noexec/aotinductor_Ds6pCV/u/data/aotinductor/model/"
            "ckba63nctf2gkme62hhxsqhctl2jq66lkycifm4wai25opjc7mjt.wrapper.so: failed to map "
            "segment from shared object",
            "torch 2.13.0, CPU, TMPDIR on a noexec mount",
        ),
    ),
)
