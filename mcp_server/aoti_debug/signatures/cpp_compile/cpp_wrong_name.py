from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="cpp_wrong_name",
    family="J",
    phase="cpp_compile",
    category="cpp_error",
    weight=70,
    anchors=(
        "was not declared in this scope",
        "use of undeclared identifier",
        "redeclaration of",
        "redefinition of",
        "conflicting declaration",
    ),
    patterns=(
        (
            r"error: (?:use of undeclared identifier )?['‘`](?P<name>(?!_mm"
            r"|__m)\w{1,200})['’](?: "
            "was "
            "not declared in this scope)?"
        ),
        (
            "error: (?:redeclaration of|redefinition of|conflicting declaration) "
            "['‘](?P<name>[^'’]{1,80})['’]"
        ),
    ),
    summary="The generated C++ uses {name} without declaring it, or declares it twice",
    means=(
        "A code generation bug: a shape array (int_array_N), a size symbol, a stream or a "
        "type name was emitted where it is not known, or in two places. Subgraphs of cond and "
        "while_loop and debug options are frequent reasons."
    ),
    mistaken_for="A broken compiler or header",
    check="The file is a *.wrapper.cpp or *.kernel.cpp of Inductor, and the name is not yours",
    fixes=(
        fix("Try the newest torch; unset Inductor debug options such as triton.debug_sync_kernel"),
        fix("Move control flow and item() out of the compiled part to see whether it is that"),
    ),
    guide="guides/lowering-and-cpp.md#undeclared-identifiers",
    next_tool="minify",
    references=(
        "pytorch/pytorch#139798",
        "pytorch/pytorch#131333",
        "pytorch/pytorch#176080",
        "pytorch/pytorch#187573",
        "pytorch/pytorch#193806",
        "pytorch/pytorch#140606",
        "pytorch/pytorch#111711",
    ),
    matches=(
        recorded(
            "/tmp/e2/ic/cbbpkfc3xketmy7nd7v5ez4vmaq7x6xp63srxacgc3up3gpalrjz/"
            "c5ecvpkx3oby3imgiw35orlddiw6xitf5ssc7ptsixirpbwdie3v.kernel.cpp:19:33: error: "
            "‘compile’ was not declared in this scope",
            "torch 2.13 CPU, injected bug",
        ),
        quoted("error: use of undeclared identifier 'u1'", "pytorch/pytorch#139798"),
        quoted(
            "/tmp/torchinductor_root/cxxx.main.cpp:182:22: error: redeclaration of "
            "'CUstream_st* stream0'",
            "pytorch/pytorch#193806",
        ),
        quoted(
            "cytvter7.cpp:288:10: error: conflicting declaration ‘auto i8’",
            "pytorch/pytorch#111711",
        ),
    ),
    neighbours=(quoted("/tmp/x.cpp:1:10: fatal error: 'omp.h' file not found"),),
)
