from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="linker_failed",
    family="G",
    phase="cpp_compile",
    category="toolchain",
    weight=52,
    anchors=(
        "multiple definition of ",
        "LNK2005",
        "LNK1169",
        "LNK2038",
        "duplicate symbol",
        "recompile with -fPIC",
        "DSO missing from command line",
        "file format not recognized",
        "File format not recognized",
        "file not recognized",
        "final link failed",
        "linker command failed with exit code",
        "ld returned ",
        "cannot open output file",
        "ld terminated with signal",
        "LINK : fatal error",
        "error adding symbols",
        "ld.lld: error: ",
        "lld-link: error: ",
        "ld: error: ",
        "mold: fatal",
        "framework not found",
        "hidden symbol ",
    ),
    patterns=(
        (
            "(?P<what>multiple definition of "
            r"[`'‘].{1,100}|LNK(?:2005|1169|2038)\b.{0,100}|duplicate symbols? (?:'|_|for "
            "architecture|: ).{0,80}|recompile with -fPIC|DSO missing from command "
            "line|[Ff]ile (?:format )?not recognized|final link failed.{0,60}|linker command "
            r"failed with exit code \d{1,9}|ld returned \d{1,3} exit status|cannot open "
            "output file .{1,120}|ld terminated with signal .{1,30}|error adding "
            "symbols.{0,60}|framework not found.{0,40}|hidden symbol .{1,100} (?:isn't "
            "defined|is referenced by DSO))"
        ),
        r"(?:ld\.lld|lld-link|ld): error: (?P<what>(?!undefined symbol).{1,160})",
    ),
    summary="The linker failed: {what}",
    means=(
        "Object files or libraries that do not go together (architecture, run-time library, "
        "position-independent code), a definition in two of them, or an output file that "
        "cannot be written."
    ),
    mistaken_for="A fault of the generated code.",
    check="Read the first line of ld, lld or LINK; file on the libraries named.",
    fixes=(
        fix(
            "Use libraries of one torch and one compiler; build everything for a shared "
            "library with -fPIC"
        ),
    ),
    guide="guides/toolchain.md#linker-errors",
    next_tool="check_environment",
    matches=(
        recorded(
            "u.cpp:(.text+0x0): multiple definition of `main'; u.o:u.cpp:(.text+0x0): first "
            "defined here",
            "GNU ld 2.40",
        ),
        recorded(
            "/usr/bin/ld: p.o: relocation R_X86_64_32 against `.bss' can not be used when "
            "making a shared object; recompile with -fPIC",
            "GNU ld 2.40",
        ),
        recorded("collect2: error: ld returned 1 exit status", "GNU ld 2.40"),
        quoted("ld.lld: error: unable to find library -lcudart", "words of lld"),
        quoted(
            "libtorch.lib(x.obj) : error LNK2038: mismatch detected for 'RuntimeLibrary'",
            "words of MSVC",
        ),
    ),
    apart_from=("link_undefined_reference",),
)
