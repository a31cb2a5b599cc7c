from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="static_libstdcxx_bad_cast",
    family="F",
    phase="load",
    category="toolchain",
    weight=78,
    anchors=("Error: std::bad_cast",),
    patterns=(r"^Error: std::bad_cast\s{0,20}$",),
    summary="The package carries its own static copy of the C++ standard library",
    means=(
        "The compiler that built it links libstdc++ statically; its locales then clash with "
        "those of the process: with g++ 12 the model cannot be created, with g++ 13 loading "
        "crashes. The `create_func_(...) API call failed` below it says no more."
    ),
    mistaken_for="A damaged package",
    check="readelf -d on the package's .so: libstdc++.so.6 is missing among NEEDED.",
    fixes=(fix("Set CXX to a g++ that links libstdc++ dynamically and compile again"),),
    guide="guides/toolchain.md#static-libstdcxx",
    next_tool="inspect_package",
    matches=(recorded("Error: std::bad_cast", "torch 2.13.0, CPU, g++ 12"),),
    neighbours=(quoted("  what():  std::bad_cast", "any other C++ program"),),
)
