from aoti_debug.signatures.signature import Signature, quoted, recorded

SIGNATURE = Signature(
    id="build_stopped",
    family="G",
    phase="cpp_compile",
    category="toolchain",
    role="envelope",
    weight=40,
    confidence="possible",
    anchors=(
        "ninja: build stopped",
        "ninja: error: ",
        "make: *** [",
        "make[1]: *** [",
        "make[2]: *** [",
        "gmake: *** [",
        "error MSB",
        "' failed with exit code 1",
        "' failed with exit status 1",
    ),
    patterns=(
        (
            r"ninja: build stopped|ninja: error: |g?make(?:\[\d\])?: \*\*\* \[|error "
            r"MSB\d{4}|error: command '\S{1,200}' failed with exit (?:code|status)"
        ),
    ),
    summary="A build of C++ code failed; the compiler's or linker's own words stand above",
    means="Only an envelope: a missing compiler, header or library is the usual reason.",
    check="Read the first line with error: above it.",
    guide="guides/toolchain.md#linker-errors",
    next_tool="check_environment",
    matches=(
        recorded("ninja: build stopped: subcommand failed.", "ninja 1.11"),
        quoted("make: *** [Makefile:2: testapp] Error 1", "words of GNU make"),
        quoted("error: command '/usr/bin/gcc' failed with exit code 1", "words of setuptools"),
    ),
)
