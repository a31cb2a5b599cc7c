"""The generated C++ does not compile."""

from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURES = (
    Signature(
        id="cpp_compile_failed",
        family="J",
        phase="cpp_compile",
        category="cpp_error",
        role="envelope",
        weight=40,
        anchors=("CppCompileError", "CUDACompileError", "CalledProcessError: Command"),
        patterns=(
            (
                "(?:CppCompileError|CUDACompileError): |CalledProcessError: Command "
                r"'?\[?'?(?:\S*/)?(?:g\+\+|clang\+\+|nvcc|c\+\+|cl)\b"
            ),
        ),
        summary=(
            "The C++ compiler failed on generated code; its own message stands below the command "
            "line"
        ),
        means=(
            "Only the envelope. The first `error:` line of the compiler output tells a missing "
            "header from a bug in the generated code."
        ),
        check="First line with `error:` after `Output:`",
        fixes=(fix("Find the first compiler error below `Output:`"),),
        guide="guides/lowering-and-cpp.md#the-wrapper-does-not-compile",
        next_tool="check_environment",
        references=("pytorch/pytorch#154127", "pytorch/pytorch#164686"),
        matches=(
            recorded(
                "torch._inductor.exc.InductorError: CppCompileError: C++ compile error",
                "torch 2.13 CPU",
            ),
        ),
    ),
    Signature(
        id="cpp_generated_code_error",
        family="J",
        phase="cpp_compile",
        category="cpp_error",
        weight=32,
        anchors=(": error: ", ": fatal error: "),
        patterns=(
            (
                r"\.(?:wrapper\.cpp|kernel\.cpp|main\.cpp|cpp|h|hpp):\d+:\d+: (?:fatal )?error: "
                "(?!.*(?:No such file|file not found))(?P<text>.{1,160})"
            ),
        ),
        summary="The C++ compiler rejects the generated code: {text}",
        means=(
            "A bug of the code generator or a compiler that is too old for the generated code. "
            "The lines below show the statement."
        ),
        mistaken_for="A missing header or compiler option",
        check="Compile a trivial model: if that works, the toolchain is sound",
        fixes=(
            fix("Reduce the model to the operator whose statement is shown; try the newest torch"),
        ),
        guide="guides/lowering-and-cpp.md#the-wrapper-does-not-compile",
        next_tool="minify",
        references=("pytorch/pytorch#152172", "intel/torch-xpu-ops#2608"),
        matches=(
            quoted(
                "/tmp/torchinductor_me/ab/cab.wrapper.cpp:512:18: error: expected "
                "primary-expression before ')' token",
                "common form",
            ),
        ),
        neighbours=(
            quoted(
                "/tmp/x/cab.wrapper.cpp:4:10: fatal error: cuda.h: No such file or directory",
                "the toolchain is incomplete",
            ),
        ),
    ),
    Signature(
        id="cpp_shim_mismatch",
        family="J",
        phase="cpp_compile",
        category="cpp_error",
        weight=66,
        anchors=(
            "no matching function for call to",
            "AtenTensorOpaque",
            "RAIIAtenTensorHandle",
            "too few arguments to function",
            "too many arguments to function",
        ),
        patterns=(
            (
                "error: (?:no matching function for call to ['‘](?P<call>[^'’]{1,80})['’]|cannot "
                "convert .{0,200}(?:AtenTensorOpaque|RAIIAtenTensorHandle)|too (?:few|many) "
                "arguments to function)"
            ),
        ),
        summary="The generated C++ calls an operator's C shim with arguments that do not fit",
        means=(
            "The wrapper and the C interface of a fallback operator disagree: optional arguments, "
            "output handles or a missing shim."
        ),
        fixes=(
            fix("Decompose or replace the operator named in the source line below the error"),
            fix("Try the newest torch"),
        ),
        guide="guides/lowering-and-cpp.md#ops-without-a-shim",
        next_tool="minify",
        references=("pytorch/pytorch#194700", "pytorch/pytorch#134684", "pytorch/pytorch#120394"),
        matches=(
            quoted("error: no matching function for call to 'from'", "pytorch/pytorch#194700"),
            quoted(
                "error: cannot convert 'const torch::aot_inductor::RAIIAtenTensorHandle' to "
                "'AtenTensorOpaque**'",
                "pytorch/pytorch#134684",
            ),
        ),
    ),
    Signature(
        id="cpp_wrong_name",
        family="J",
        phase="cpp_compile",
        category="cpp_error",
        weight=70,
        confidence="proved",
        anchors=(
            "was not declared in this scope",
            "use of undeclared identifier",
            "redeclaration of",
            "redefinition of",
            "conflicting declaration",
        ),
        patterns=(
            (
                r"error: (?:use of undeclared identifier )?['‘`](?P<name>\w+)['’](?: was not "
                "declared in this scope)?"
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
            fix(
                "Try the newest torch; unset Inductor debug options such as "
                "triton.debug_sync_kernel"
            ),
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
    ),
    Signature(
        id="item_as_tensor_handle",
        family="B",
        phase="cpp_compile",
        category="cpp_error",
        weight=66,
        anchors=("RAIIAtenTensorHandle",),
        patterns=(
            (
                "(?:cannot convert|invalid user-defined conversion from|no viable conversion "
                r"from) .{0,120}RAIIAtenTensorHandle.{0,60}\bto\b.{0,30}(?:int64_t|long|double"
                "|bool)"
            ),
        ),
        summary="A scalar taken from a tensor is passed on as a tensor handle",
        means=(
            "item() of a tensor is used as a size or argument and the generator printed the "
            "tensor instead of the number."
        ),
        fixes=(fix("Upgrade torch, or compute that number outside the model"),),
        guide="guides/lowering-and-cpp.md#the-wrapper-does-not-compile",
        next_tool="minify",
        references=("pytorch/pytorch#122048",),
        matches=(
            recorded(
                "u.cpp:3:78: error: invalid user-defined conversion from ‘RAIIAtenTensorHandle’ "
                "to ‘int64_t’ {aka ‘long",
                "g++ 12 on a file of ours",
            ),
        ),
    ),
    Signature(
        id="too_big_to_optimize",
        family="O",
        phase="cpp_compile",
        category="performance",
        weight=60,
        anchors=(
            "is too big to optimize",
            "ignored-optimization-argument",
            "variable tracking size limit exceeded",
        ),
        patterns=(
            (
                r"Function \S+ is too big to optimize|ignored-optimization-argument|variable "
                "tracking size limit exceeded"
            ),
        ),
        summary="The generated function is too large for the compiler's optimiser",
        means=(
            "Huge graphs become one C++ function; compilers give up optimising it and may take an "
            "hour."
        ),
        fixes=(fix("AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL=O0 or O1; compile the model in parts"),),
        guide="guides/memory-and-time.md#too-big-to-optimize",
        references=("pytorch/pytorch#112008", "pytorch/pytorch#147323"),
        matches=(
            quoted(
                "Function foo is too big to optimize [-Wignored-optimization-argument]",
                "pytorch/pytorch#112008",
            ),
        ),
    ),
)
