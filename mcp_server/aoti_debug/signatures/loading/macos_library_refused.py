from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="macos_library_refused",
    family="Q",
    phase="load",
    category="package_incompatible",
    weight=68,
    anchors=(
        "Library not loaded: ",
        "incompatible architecture (have ",
        "mach-o",
        "code signature in",
        "library load disallowed by system policy",
        "no suitable image found",
        "library load denied by system policy",
    ),
    patterns=(
        (
            r"(?P<why>Library not loaded: \S{1,200}|incompatible architecture \(have "
            ".{1,60}|mach-o, but wrong architecture|not a mach-o file|slice is not valid "
            "mach-o file|code signature in .{1,200}? (?:invalid|not valid).{0,60}|library "
            "load (?:disallowed|denied) by system policy|no suitable image found)"
        ),
    ),
    summary="macOS does not load the library: {why}",
    means=(
        "A library it needs is not where its install name says (often libomp or libc10), it "
        "was built for the other architecture (arm64 or x86_64), or its signature is not "
        "accepted."
    ),
    check=(
        "otool -L and lipo -archs on the library; python -c 'import platform; "
        "print(platform.machine())'."
    ),
    fixes=(
        fix("brew install libomp for a missing libomp.dylib"),
        fix("Compile with a Python of the machine's own architecture, not under Rosetta"),
    ),
    guide="guides/other-platforms.md#macos-and-mps",
    next_tool="check_environment",
    matches=(
        quoted(
            "ImportError: dlopen(/opt/venv/torch/_C.so, 0x0002): Library not loaded: "
            "@rpath/libomp.dylib",
            "words of dyld",
        ),
        quoted(
            "OSError: dlopen(m.so, 0x0006): tried: 'm.so' (mach-o file, but is an "
            "incompatible architecture (have 'x86_64', need 'arm64'))",
            "words of dyld",
        ),
    ),
)
