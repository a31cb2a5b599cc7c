from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

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
        r"(?P<what>No space left on device|Disk quota exceeded)",
        (
            r"(?:PermissionError|OSError): \[Errno \d+\] (?P<what>(?:Permission "
            r"denied|Read-only file system): '[^']{0,300}(?:torchinductor_|\.triton|inductor)"
            r"[^']{0,300}')"
        ),
        r"OSError: \[Errno 30\] (?P<what>Read-only file system: '[^']{1,300}')",
    ),
    summary="A cache or temporary directory cannot be written: {what}",
    means=(
        "Generated code, caches and unpacked packages go to TORCHINDUCTOR_CACHE_DIR, "
        "TRITON_CACHE_DIR and TMPDIR (below /tmp and ~/.triton by default); one is "
        "full, read-only or belongs to another user."
    ),
    check="df -h and df -i of both.",
    fixes=(
        Fix(
            what=(
                "Free space, or set the three variables to directories that you own, on a "
                "larger disk"
            )
        ),
    ),
    guide="guides/toolchain.md#caches-and-disk-space",
    next_tool="check_environment",
    matches=(
        Sample(
            "torch._inductor.exc.InductorError: OSError: [Errno 28] No space left on device",
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample("OSError: [Errno 122] Disk quota exceeded", "quoted", "words of Python"),
        Sample(
            "PermissionError: [Errno 13] Permission denied: '/tmp/torchinductor_root/fx'",
            "quoted",
            "words of Python",
        ),
        Sample(
            "PermissionError: [Errno 13] Permission denied: '/home/app/.triton/cache'",
            "quoted",
            "words of Python",
        ),
        Sample(
            "OSError: [Errno 30] Read-only file system: '/models/cache'",
            "quoted",
            "words of Python",
        ),
    ),
    neighbours=(
        Sample(
            "PermissionError: [Errno 13] Permission denied: '/etc/shadow'",
            "quoted",
            "another failure",
        ),
    ),
)
