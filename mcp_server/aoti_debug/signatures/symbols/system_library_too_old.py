from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="system_library_too_old",
    family="F",
    phase="load",
    category="package_incompatible",
    weight=82,
    anchors=("version `GLIBC", "version `CXXABI", "version `GOMP"),
    patterns=(r"version `(?P<version>(?:GLIBCXX|GLIBC|CXXABI|GOMP)_[\w.]{1,20})' not found",),
    summary="This machine's C or C++ library lacks {version}",
    means="The package was compiled on a newer system than the one that loads it.",
    check="ldd --version, and strings libstdc++.so.6 | grep GLIBCXX on both machines.",
    fixes=(
        fix("Compile on the oldest system that must load it, or in the same container image"),
        fix("For GLIBCXX install a newer libstdc++ and put it first in LD_LIBRARY_PATH"),
    ),
    guide="guides/package-and-load.md#system-library-too-old",
    next_tool="check_environment",
    matches=(
        recorded(
            "RuntimeError: Error in dlopen: /tmp/e1/rec/libstdfake.so.6: version "
            "`GLIBCXX_3.4.99' not found",
            "torch 2.13.0, CPU, libraries of ours",
        ),
        quoted(
            "ImportError: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found",
            "words of the dynamic loader",
        ),
        quoted("libstdc++.so.6: version `CXXABI_1.3.15' not found", "words of the dynamic loader"),
        quoted("libgomp.so.1: version `GOMP_5.0' not found", "words of the dynamic loader"),
    ),
)
