from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="extraction_failed",
    family="E",
    phase="load",
    category="toolchain",
    weight=76,
    anchors=(
        "Failed to extract zip file ",
        "Error generating temporary directory",
        "Failed to create directory ",
    ),
    patterns=(
        (
            r"(?P<why>Failed to extract zip file \S{1,300} to destination file .{0,400}mz_zip "
            "error string: .{1,60})"
        ),
        (
            "(?P<why>Error generating temporary directory: .{1,80}|Failed to create directory "
            r"\S{1,200})"
        ),
    ),
    summary="The package could not be unpacked: {why}",
    means=(
        "TMPDIR (default /tmp) is missing, read-only or full (`write callback failed`); only "
        "a checksum or decompression error means a damaged archive."
    ),
    check="df -h of TMPDIR (default /tmp); unzip -t of the package.",
    fixes=(
        fix("Free space, or point TMPDIR to an existing, writable directory that allows executing"),
        fix("For a checksum error copy the package again"),
    ),
    guide="guides/package-and-load.md#extraction-directory",
    next_tool="inspect_package",
    matches=(
        recorded(
            "RuntimeError: Failed to extract zip file u/data/aotinductor/model/"
            "ckba63nctf2gkme62hhxsqhctl2jq66lkycifm4wai25opjc7mjt.wrapper.cpp to destination "
            "file /tmp/e1/small/aotinductor_uYDaKh/u/data/aotinductor/model/"
            "ckba63nctf2gkme62hhxsqhctl2jq66lkycifm4wai25opjc7mjt.wrapper.cpp, mz_zip error "
            "string: write callback failed",
            "torch 2.13.0, CPU, full TMPDIR",
        ),
        recorded(
            "RuntimeError: Error generating temporary directory: No such file or directory",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "RuntimeError: Failed to create directory /tmp/aotinductor_XXXXXX/data: No space "
            "left on device",
            "words of the package loader",
        ),
    ),
    apart_from=("printer_failed",),
)
