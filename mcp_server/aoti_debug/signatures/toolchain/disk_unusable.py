from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="disk_unusable",
    family="G",
    phase="lower",
    category="toolchain",
    weight=74,
    anchors=(
        "No space left on device",
        "Disk quota exceeded",
        "Permission denied: '",
        "Read-only file system",
    ),
    patterns=(
        "(?P<what>No space left on device|Disk quota exceeded)",
        (
            r"(?:PermissionError|OSError): \[Errno \d{1,20}\] (?P<what>(?:Permission denied"
            r"|Read-only file system): '[^']{0,300}(?:torchinductor_|\.triton"
            "|inductor)[^']{0,300}')"
        ),
        r"OSError: \[Errno 30\] (?P<what>Read-only file system: '[^']{1,300}')",
        (
            r"PermissionError: \[Errno 13\] (?P<what>Permission denied: '(?:/tmp/|/root/"
            r"|/nonexistent|/\.|/home/[^']{1,80}/\.cache/)[^']{0,300}')"
        ),
    ),
    summary="A cache or temporary directory cannot be written: {what}",
    means=(
        "Generated code, caches and unpacked packages go to TORCHINDUCTOR_CACHE_DIR, "
        "TRITON_CACHE_DIR and TMPDIR (below /tmp and ~/.triton by default); one is full, "
        "read-only or belongs to another user."
    ),
    check="df -h and df -i of both.",
    fixes=(
        fix("Free space, or set the three variables to directories that you own, on a larger disk"),
    ),
    guide="guides/toolchain.md#caches-and-disk-space",
    next_tool="check_environment",
    matches=(
        recorded(
            "torch._inductor.exc.InductorError: OSError: [Errno 28] No space left on device",
            "torch 2.13.0, CPU",
        ),
        quoted("OSError: [Errno 122] Disk quota exceeded", "words of Python"),
        quoted(
            "PermissionError: [Errno 13] Permission denied: '/tmp/torchinductor_root/fx'",
            "words of Python",
        ),
        quoted(
            "PermissionError: [Errno 13] Permission denied: '/home/app/.triton/cache'",
            "words of Python",
        ),
        quoted("OSError: [Errno 30] Read-only file system: '/models/cache'", "words of Python"),
        quoted("PermissionError: [Errno 13] Permission denied: '/.cache'", "words of Python"),
    ),
    neighbours=(
        quoted("PermissionError: [Errno 13] Permission denied: '/etc/shadow'", "another failure"),
    ),
)
