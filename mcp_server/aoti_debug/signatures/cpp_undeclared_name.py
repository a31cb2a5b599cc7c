from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="cpp_undeclared_name",
    family="J",
    phase="cpp_compile",
    category="cpp_error",
    weight=70,
    confidence="proved",
    anchors=(
        "was not declared in this scope",
        "use of undeclared identifier",
    ),
    patterns=(
        (
            r"error: (?:use of undeclared identifier )?['‘`](?P<name>\w+)['’](?: was not dec"
            "lared in this scope)?"
        ),
    ),
    summary="The generated C++ uses {name} without declaring it",
    means=(
        "A code generation bug: a symbol of a dynamic size (s0, u1), a shape array "
        "(int_array_N) or a type name was emitted where it is not known."
    ),
    mistaken_for="A broken compiler or header",
    check=("The file is a *.wrapper.cpp or *.kernel.cpp of Inductor, and the name is not yours"),
    fixes=(
        Fix(
            what=(
                "Export with static shapes, or with fewer symbols from item(), to see "
                "whether it is the symbol"
            )
        ),
        Fix(
            what=(
                "Try the newest torch; unset Inductor debug options such as "
                "triton.debug_sync_kernel"
            )
        ),
    ),
    guide="guides/lowering-and-cpp.md#undeclared-identifiers",
    next_tool="minify",
    references=(
        "pytorch/pytorch#139798",
        "pytorch/pytorch#131333",
        "pytorch/pytorch#176080",
        "pytorch/pytorch#187573",
    ),
    matches=(
        Sample(
            (
                "/tmp/e2/ic/cbbpkfc3xketmy7nd7v5ez4vmaq7x6xp63srxacgc3up3gpalrjz/c"
                "5ecvpkx3oby3imgiw35orlddiw6xitf5ssc7ptsixirpbwdie3v.kernel.cpp:19:33: "
                "error: ‘compile’ was not declared in this scope"
            ),
            "recorded",
            "torch 2.13 CPU, injected bug",
        ),
        Sample("error: use of undeclared identifier 'u1'", "quoted", "pytorch/pytorch#139798"),
    ),
    neighbours=(
        Sample("error: redeclaration of 'CUstream_st* stream0'", "quoted"),
        Sample("/tmp/x.cpp:1:10: fatal error: 'omp.h' file not found", "quoted"),
    ),
)
