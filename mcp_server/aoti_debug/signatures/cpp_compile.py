"""The generated C++ does not compile."""

import re

from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

# What g++, clang, nvcc and MSVC say of code that is not valid, without the place before it.
REJECTIONS = (
    "no matching function for call to",
    "no matching member function for call to",
    "no matching constructor for initialization of",
    "no viable conversion from",
    "no viable overloaded",
    "no viable constructor",
    "no known conversion from",
    "no suitable conversion function from",
    "no suitable constructor exists",
    "no suitable user-defined conversion",
    "no instance of function template",
    "no instance of overloaded function",
    'no operator "',
    "no match for ‘operator",
    "no match for 'operator",
    "does not name a type",
    "has no member named",
    "no member named '",
    "is not a member of ‘",
    "is not a member of 'at",
    "is not a member of 'torch",
    "is not a member of 'std",
    "no template named '",
    "no type named '",
    "unknown type name '",
    "was not declared in this scope",
    "has not been declared",
    "use of undeclared identifier",
    "use of deleted function",
    "call to deleted",
    "call of overloaded",
    "call to implicitly-deleted",
    "invalid conversion from",
    "invalid operands to binary expression",
    "invalid use of incomplete type",
    "invalid initialization of",
    "invalid static_cast from type",
    "cannot convert ‘",
    "cannot convert 'const",
    "could not convert ‘",
    "cannot bind non-const lvalue reference",
    "cannot initialize a variable of type",
    "non-type template argument is not a constant expression",
    "template argument deduction/substitution failed",
    "wrong number of template arguments",
    "static assertion failed",
    "static_assert failed",
    "expected primary-expression before",
    "expected unqualified-id before",
    "expected ‘;’ before",
    "expected ‘)’ before",
    "inlining failed in call to",
    "narrowing conversion of",
    "cannot be narrowed from type",
    "ambiguous overload for",
    "is ambiguous",
    "jump to case label",
    "incompatible types in assignment",
    "incomplete type is not allowed",
    'identifier "',
)

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
                r"'?\[?'?(?:\S{0,300}/)?(?:g\+\+|clang\+\+|nvcc|c\+\+|cl)\b"
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
        anchors=(": error: ", ": fatal error: ", ": error C", "): error"),
        patterns=(
            (
                r"\.(?:cpp|cc|cxx|c|cu|cuh|h|hpp|inl|mm):\d{1,20}(?::\d{1,20})?: (?:fatal )?error: "
                "(?!.{0,400}(?:No such file|file not found))(?P<text>.{1,160})"
            ),
            (
                r"\.(?:cpp|cc|cxx|c|cu|cuh|h|hpp"
                r"|inl)\(\d{1,20}(?:,\d{1,20})?\): (?:fatal )?error(?: "
                r"C(?!1083|1060)\d{4})?\s?: (?P<text>.{1,160})"
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
            quoted(
                'gemm.cu(231): error: identifier "cutlass_op" is undefined', "form of nvcc's errors"
            ),
            quoted(
                "C:/torchinductor/cab.main.cpp(12): error C2672: 'at::vec::clamp': no matching "
                "overloaded function found",
                "form of MSVC's errors",
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
                r"Function \S{1,300} is too big to optimize|ignored-optimization-argument|variable "
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
    Signature(
        id="cpp_rejection",
        family="J",
        phase="cpp_compile",
        category="cpp_error",
        weight=26,
        anchors=REJECTIONS,
        patterns=(
            rf"\berror\b(?: C\d{{4}})?: .{{0,200}}(?P<text>{'|'.join(map(re.escape, REJECTIONS))})",
            (
                r"^\s{0,20}(?:\S{1,300}:\d{1,20}:\d{1,20}: )?(?P<text>no matching (?:member )"
                r"?(?:function for "
                "call "
                "to|constructor for initialization of)|no viable conversion from|no match for "
                "['‘]operator|use of undeclared identifier|use of deleted function|call of "
                "overloaded|invalid operands to binary expression|template argument "
                "deduction/substitution failed|cannot convert ['‘]|static assertion failed)"
            ),
        ),
        summary="The C++ compiler rejects the generated code: {text}",
        means=(
            "A bug of the code generator, a header of another torch than the one that generated "
            "the code, or a compiler that is too old for it."
        ),
        mistaken_for="A missing header or compiler option",
        check="Compile a trivial model: if that works, the toolchain is sound",
        fixes=(
            fix("Reduce the model to the operator whose statement is shown; try the newest torch"),
        ),
        guide="guides/lowering-and-cpp.md#the-wrapper-does-not-compile",
        next_tool="minify",
        matches=(
            quoted("error: no viable conversion from 'int' to 'X'", "words of clang"),
            quoted("no matching function for call to", "words of g++, of which the place is lost"),
        ),
    ),
    Signature(
        id="cpp_vector_type",
        family="J",
        phase="cpp_compile",
        category="cpp_error",
        weight=64,
        anchors=(
            "at::vec",
            "VecMask<",
            "Vectorized<",
            "VectorizedN<",
            "vec_reduce_all",
            "masked_load",
        ),
        patterns=(
            (
                "(?:error|no match|no member|no viable|no type|cannot convert|could not convert"
                "|invalid operands|not a member|undeclared|not declared|ambiguous|deduction"
                r"|static assertion|candidate).{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<"
                "|vec_reduce_all|masked_load)"
            ),
            (
                r"^\s{0,20}(?:error: )?['‘](?:const )?(?:at::vec::|\w{0,20}VecMask<|VectorizedN?<)"
                "|(?:at::vec::|VecMask<|VectorizedN?<).{0,300}(?:no matching|has no member|is "
                "not a "
                "member|not declared|undeclared|incomplete type|cannot be)"
            ),
        ),
        summary="The generated CPU kernel uses a vector type in a way that does not exist",
        means=(
            "Inductor wrote vector code (at::vec) for a dtype or an operation that the headers do "
            "not have for this instruction set."
        ),
        mistaken_for="A broken compiler",
        check="With TORCHINDUCTOR_CPP_SIMDLEN=1, or ATEN_CPU_CAPABILITY=default, does it compile?",
        fixes=(
            fix("Switch vectorisation off (torch._inductor.config.cpp.simdlen = 1), or upgrade"),
            fix("Cast the tensor of the operator named below to a common dtype"),
        ),
        guide="guides/lowering-and-cpp.md#the-wrapper-does-not-compile",
        next_tool="minify",
        matches=(
            recorded(
                "c7spkozr3g37eiyirmrmn6rrlvx46elvtdr67p3apsuu4dy5z64c.main.cpp:19:46: error: "
                "‘nothing_here’ is not a member of ‘at::vec’",
                "torch 2.13 CPU, a vector operation of ours",
            ),
            quoted(
                "cab.main.cpp:41:30: error: no matching function for call to "
                "'at::vec::CPU_CAPABILITY::VecMask<long int, 2>::VecMask(int&)'",
                "form of the error",
            ),
            quoted(
                "'at::vec::CPU_CAPABILITY::VecMask<long int, 2>::VecMask(int&)'",
                "the same, wrapped",
            ),
        ),
        neighbours=(
            quoted(
                "#5 0x7f at::vec::DEFAULT::Vectorized<float>::loadu from libtorch_cpu.so",
                "a native stack",
            ),
        ),
    ),
    Signature(
        id="compiler_intrinsics_missing",
        family="G",
        phase="cpp_compile",
        category="toolchain",
        weight=76,
        anchors=(
            "‘_mm",
            "'_mm",
            "‘__m",
            "'__m",
            "target specific option mismatch",
            "no such instruction",
            "Assembler messages:",
            "requires target feature",
        ),
        patterns=(
            (
                r"error: .{0,80}['‘]_{1,2}m(?:m\d{0,3}_)?\w{1,60}['’]|target specific option "
                "mismatch"
                "|Error: no such instruction|Assembler messages:|requires target feature '"
            ),
        ),
        summary="Compiler or assembler do not know the vector instructions that are asked for",
        means=(
            "Inductor uses the CPU's instruction set; this compiler, or its assembler (binutils), "
            "is older than the CPU."
        ),
        mistaken_for="A bug of the generated code",
        check="g++ --version and as --version against the CPU flags in /proc/cpuinfo",
        fixes=(
            fix("Install a newer compiler with its binutils"),
            fix("Or limit the set: ATEN_CPU_CAPABILITY=avx2, torch._inductor.config.cpp.simdlen"),
        ),
        guide="guides/toolchain.md#compiler-too-old",
        next_tool="check_environment",
        matches=(
            quoted("/tmp/cc1.s:120: Error: no such instruction: `vcvtne2ps2bf16'", "words of as"),
            quoted(
                "cab.cpp:9:3: error: ‘_mm512_cvtneps_pbh’ was not declared in this scope",
                "words of g++",
            ),
        ),
    ),
    Signature(
        id="compiler_output_unreadable",
        family="G",
        phase="cpp_compile",
        category="toolchain",
        weight=66,
        anchors=(
            "UnicodeDecodeError: ",
            "SUBPROCESS_DECODE_ARGS",
            "MSVC with English language pack",
        ),
        patterns=(
            (
                "(?:InductorError|BackendCompilerFailed|InternalTorchDynamoError|LoweringException)"
                r": UnicodeDecodeError|\.decode\(\*SUBPROCESS_DECODE_ARGS\)|only support MSVC with "
                "English language pack"
            ),
        ),
        summary="The compiler answers in a language or encoding that torch cannot read",
        means=(
            "torch reads the compiler's messages as text of one encoding. A localised MSVC "
            "answers in that of the system."
        ),
        mistaken_for="A bug of the lowering",
        check="Run `cl` in the same shell: is its banner English?",
        fixes=(
            fix("Install the English language pack of Visual Studio; set VSLANG=1033"),
            fix("Or use clang-cl as CXX"),
        ),
        guide="guides/other-platforms.md#windows",
        next_tool="check_environment",
        matches=(
            quoted(
                "torch._inductor.exc.InductorError: UnicodeDecodeError: 'utf-8' codec can't decode "
                "byte 0x8e in position 0: invalid start byte",
                "form of the error",
            ),
        ),
        neighbours=(
            quoted(
                "UnicodeDecodeError: 'utf-8' codec can't decode byte 0x8e in position 0",
                "a text file of the script",
            ),
        ),
    ),
    Signature(
        id="compile_host_trouble",
        family="G",
        phase="lower",
        category="toolchain",
        role="symptom",
        weight=46,
        confidence="possible",
        anchors=(
            "InductorError: ",
            "InternalTorchDynamoError: ",
            "BackendCompilerFailed: ",
            "LoweringException: ",
        ),
        patterns=(
            (
                "(?:InductorError|InternalTorchDynamoError|BackendCompilerFailed|LoweringException)"
                r": (?P<error>(?:FileNotFoundError|PermissionError|OSError|ImportError"
                "|ModuleNotFoundError|CalledProcessError|TimeoutExpired|RuntimeError: Compiler: "
                "|InvalidCxxCompiler|TritonMissing|GPUTooOldForTriton).{0,160})"
            ),
        ),
        summary="The compile failed for a reason of this machine: {error}",
        means=(
            "The wrapper names Inductor or Dynamo, the type after the colon is the real one: a "
            "program, a file or a library that compiling needs is missing or refused."
        ),
        mistaken_for="A model that cannot be compiled",
        check="Does a trivial model compile on this machine?",
        fixes=(fix("Repair what the inner error names: compiler, folder, library or package"),),
        guide="guides/toolchain.md#no-compiler",
        next_tool="check_environment",
        matches=(
            quoted(
                "torch._dynamo.exc.InternalTorchDynamoError: RuntimeError: Compiler: cl is not "
                "found.",
                "form of the error",
            ),
        ),
        apart_from=("inductor_error",),
    ),
)
