"""The generated C++ does not compile, or the CUDA toolkit that it needs is not right."""

from __future__ import annotations

from aoti_debug.facts.categories import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
    Signature(
        id="compile_host_trouble",
        phase="lower",
        category="toolchain",
        role="symptom",
        tier=Tier.BROAD_TEXT,
        confidence="possible",
        patterns=(
            (
                "(?:InductorError|InternalTorchDynamoError|BackendCompilerFailed|LoweringException)"
                ": (?P<error>FileNotFoundError.{0,160})"
            ),
            (
                "(?:InductorError|InternalTorchDynamoError|BackendCompilerFailed|LoweringException)"
                ": (?P<error>PermissionError.{0,160})"
            ),
            (
                "(?:InductorError|InternalTorchDynamoError|BackendCompilerFailed|LoweringException)"
                ": (?P<error>OSError.{0,160})"
            ),
            (
                "(?:InductorError|InternalTorchDynamoError|BackendCompilerFailed|LoweringException)"
                ": (?P<error>ImportError.{0,160})"
            ),
            (
                "(?:InductorError|InternalTorchDynamoError|BackendCompilerFailed|LoweringException)"
                ": (?P<error>ModuleNotFoundError.{0,160})"
            ),
            (
                "(?:InductorError|InternalTorchDynamoError|BackendCompilerFailed|LoweringException)"
                ": (?P<error>CalledProcessError.{0,160})"
            ),
            (
                "(?:InductorError|InternalTorchDynamoError|BackendCompilerFailed|LoweringException)"
                ": (?P<error>TimeoutExpired.{0,160})"
            ),
            (
                "(?:InductorError|InternalTorchDynamoError|BackendCompilerFailed|LoweringException)"
                ": (?P<error>RuntimeError: Compiler: .{0,160})"
            ),
            (
                "(?:InductorError|InternalTorchDynamoError|BackendCompilerFailed|LoweringException)"
                ": (?P<error>InvalidCxxCompiler.{0,160})"
            ),
            (
                "(?:InductorError|InternalTorchDynamoError|BackendCompilerFailed|LoweringException)"
                ": (?P<error>TritonMissing.{0,160})"
            ),
            (
                "(?:InductorError|InternalTorchDynamoError|BackendCompilerFailed|LoweringException)"
                ": (?P<error>GPUTooOldForTriton.{0,160})"
            ),
        ),
        summary="The compile failed for a reason of this machine: {error}",
        means=(
            "The wrapper names Inductor or Dynamo, the type after the colon is the real one: a "
            "program, a file or a library that compiling needs is missing or refused."
        ),
        check="Does a trivial model compile on this machine?",
        fixes=(fix("Repair what the inner error names: compiler, folder, library or package"),),
        guide="guides/toolchain.md#no-compiler",
        next_tool="check_environment",
        matches=(
            quoted(
                "torch._dynamo.exc.InternalTorchDynamoError: RuntimeError: Compiler: cl is not found.",
                "form of the error",
            ),
            words("programs that were not at hand", "InductorError: FileNotFoundErrorx"),
            words("Python's test_posix.py", "InductorError: PermissionErrorx"),
            words("torch/__init__.py", "InductorError: OSErrorx"),
            words(
                "programs that were not at hand",
                "InductorError: ImportErrorx",
                "InductorError: ModuleNotFoundErrorx",
                "InductorError: CalledProcessErrorx",
                "InductorError: TimeoutExpiredx",
                "InductorError: InvalidCxxCompilerx",
                "InductorError: TritonMissingx",
                "InductorError: GPUTooOldForTritonx",
            ),
        ),
        apart_from=("inductor_error",),
    ),
    Signature(
        id="compiler_intrinsics_missing",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        anchors=("‘_mm",),
        patterns=(
            r"error: .{0,80}['‘]_{1,2}m(?:m\d{0,3}_)?\w{1,60}['’]",
            "target specific option mismatch",
            "Error: no such instruction",
            "Assembler messages:",
            "requires target feature '",
        ),
        summary="Compiler or assembler do not know the vector instructions that are asked for",
        means=(
            "Inductor uses the CPU's instruction set; this compiler, or its assembler (binutils), "
            "is older than the CPU."
        ),
        check="g++ --version and as --version against the CPU flags in /proc/cpuinfo",
        fixes=(
            fix("Install a newer compiler with its binutils"),
            fix(
                (
                    "Or limit the set: ATEN_CPU_CAPABILITY=avx2 and (torch 2.13 and later) "
                    "TORCHINDUCTOR_CPP_MARCH=x86-64-v3"
                ),
            ),
        ),
        guide="guides/toolchain.md#compiler-too-old",
        next_tool="check_environment",
        matches=(
            quoted("/tmp/cc1.s:120: Error: no such instruction: `vcvtne2ps2bf16'", "words of as"),
            quoted(
                "cab.cpp:9:3: error: ‘_mm512_cvtneps_pbh’ was not declared in this scope",
                "words of g++",
            ),
            words("g++", "target specific option mismatch"),
            words("ld", "Assembler messages:"),
            words("triton", "requires target feature '"),
        ),
    ),
    Signature(
        id="compiler_output_unreadable",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.KIND_TEXT,
        patterns=(
            (
                "(?:InductorError|BackendCompilerFailed|InternalTorchDynamoError|LoweringException)"
                ": UnicodeDecodeError"
            ),
            r"\.decode\(\*SUBPROCESS_DECODE_ARGS\)",
            "only support MSVC with English language pack",
        ),
        summary="The compiler answers in a language or encoding that torch cannot read",
        means=(
            "torch reads the compiler's messages as text of one encoding. A localised MSVC answers "
            "in that of the system."
        ),
        check="Run `cl` in the same shell: is its banner English?",
        fixes=(
            fix("Install the English language pack of Visual Studio; set VSLANG=1033"),
            fix("Or use clang-cl as CXX"),
        ),
        guide="guides/other-platforms.md#windows",
        next_tool="check_environment",
        matches=(
            quoted(
                "torch._inductor.exc.InductorError: UnicodeDecodeError: 'utf-8' codec can't decode byte 0x8e in position 0: invalid start byte",
                "form of the error",
            ),
            words("torch/utils/cpp_extension.py", ".decode(*SUBPROCESS_DECODE_ARGS)"),
            words("torch/_inductor/cpp_builder.py", "only support MSVC with English language pack"),
        ),
        neighbours=(
            quoted(
                "UnicodeDecodeError: 'utf-8' codec can't decode byte 0x8e in position 0",
                "a text file of the script",
            ),
        ),
    ),
    Signature(
        id="cpp_compile_failed",
        phase="cpp_compile",
        category="cpp_error",
        role="envelope",
        tier=Tier.BROAD_TEXT,
        patterns=(
            r"^(?:\S{0,200}/)?(?:g\+\+|clang\+\+|c\+\+|icpx|cl)\S{0,10} .{0,400}TORCH_INDUCTOR_CPP_WRAPPER",
            "(?:CppCompileError|CUDACompileError): ",
            (
                r"CalledProcessError: Command '?\[?'?(?:\S{0,300}/)?(?:g\+\+|clang\+\+|nvcc|c\+\+|"
                r"cl)\b"
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
        matches=(
            words(
                "torch/_inductor/cpp_builder.py",
                "g++ /tmp/torchinductor_me/ab/cab.cpp -D TORCH_INDUCTOR_CPP_WRAPPER -O3 -shared",
            ),
            recorded(
                "torch._inductor.exc.InductorError: CppCompileError: C++ compile error",
                "torch 2.13 CPU",
            ),
            words(
                "programs that were not at hand",
                "subprocess.CalledProcessError: Command '['nvcc', 'x.cu']' returned 1",
            ),
        ),
    ),
    Signature(
        id="cpp_generated_code_error",
        phase="cpp_compile",
        category="cpp_error",
        tier=Tier.VAGUE_TEXT,
        anchors=(
            ": error: ",
            ": error C",
            "): error",
        ),
        patterns=(
            (
                r"\.(?:cpp|cc|cxx|c|cu|cuh|h|hpp|inl|mm):\d{1,20}(?::\d{1,20})?: (?:fatal )?error: "
                "(?!.{0,400}(?:No such file|file not found))(?P<text>.{1,160})"
            ),
            (
                r"\.(?:cpp|cc|cxx|c|cu|cuh|h|hpp|inl)\(\d{1,20}(?:,\d{1,20})?\): (?:fatal )"
                r"?error(?: C(?!1083|1060)\d{4})?\s?: (?P<text>.{1,160})"
            ),
        ),
        summary="The C++ compiler rejects the generated code: {text}",
        means=(
            "A bug of the code generator or a compiler that is too old for the generated code. The "
            "lines below show the statement."
        ),
        check="Compile a trivial model: if that works, the toolchain is sound",
        fixes=(
            fix("Reduce the model to the operator whose statement is shown; try the newest torch"),
        ),
        guide="guides/lowering-and-cpp.md#the-wrapper-does-not-compile",
        next_tool="minify",
        matches=(
            quoted(
                "/tmp/torchinductor_me/ab/cab.wrapper.cpp:512:18: error: expected primary-expression before ')' token",
                "common form",
            ),
            quoted(
                'gemm.cu(231): error: identifier "cutlass_op" is undefined', "form of nvcc's errors"
            ),
            quoted(
                "C:/torchinductor/cab.main.cpp(12): error C2672: 'at::vec::clamp': no matching overloaded function found",
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
        id="cpp_rejection",
        phase="cpp_compile",
        category="cpp_error",
        tier=Tier.VAGUE_TEXT,
        patterns=(
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>no matching function for call to)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>no matching member function for call to)",
            (
                r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>no matching constructor for "
                "initialization of)"
            ),
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>no viable conversion from)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>no viable overloaded)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>no viable constructor)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>no known conversion from)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>no suitable conversion function from)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>no suitable constructor exists)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>no suitable user-defined conversion)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>no instance of function template)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>no instance of overloaded function)",
            r'\berror\b(?: C\d{4})?: .{0,200}(?P<text>no operator ")',
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>no match for ‘operator)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>no match for 'operator)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>does not name a type)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>has no member named)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>no member named ')",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>is not a member of ‘)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>is not a member of 'at)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>is not a member of 'torch)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>is not a member of 'std)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>no template named ')",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>no type named ')",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>unknown type name ')",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>was not declared in this scope)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>has not been declared)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>use of undeclared identifier)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>use of deleted function)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>call to deleted)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>call of overloaded)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>call to implicitly-deleted)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>invalid conversion from)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>invalid operands to binary expression)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>invalid use of incomplete type)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>invalid initialization of)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>invalid static_cast from type)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>cannot convert ‘)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>cannot convert 'const)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>could not convert ‘)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>cannot bind non-const lvalue reference)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>cannot initialize a variable of type)",
            (
                r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>non-type template argument is not a "
                "constant expression)"
            ),
            (
                r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>template argument deduction/substitution "
                "failed)"
            ),
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>wrong number of template arguments)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>static assertion failed)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>static_assert failed)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>expected primary-expression before)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>expected unqualified-id before)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>expected ‘;’ before)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>expected ‘\)’ before)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>inlining failed in call to)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>narrowing conversion of)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>cannot be narrowed from type)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>ambiguous overload for)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>is ambiguous)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>jump to case label)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>incompatible types in assignment)",
            r"\berror\b(?: C\d{4})?: .{0,200}(?P<text>incomplete type is not allowed)",
            r'\berror\b(?: C\d{4})?: .{0,200}(?P<text>identifier ")',
            (
                r"^\s{0,20}(?:\S{1,300}:\d{1,20}:\d{1,20}: )?(?P<text>no matching (?:member )"
                "?function for call to)"
            ),
            (
                r"^\s{0,20}(?:\S{1,300}:\d{1,20}:\d{1,20}: )?(?P<text>no matching (?:member )"
                "?constructor for initialization of)"
            ),
            r"^\s{0,20}(?:\S{1,300}:\d{1,20}:\d{1,20}: )?(?P<text>no viable conversion from)",
            r"^\s{0,20}(?:\S{1,300}:\d{1,20}:\d{1,20}: )?(?P<text>no match for ['‘]operator)",
            r"^\s{0,20}(?:\S{1,300}:\d{1,20}:\d{1,20}: )?(?P<text>use of undeclared identifier)",
            r"^\s{0,20}(?:\S{1,300}:\d{1,20}:\d{1,20}: )?(?P<text>use of deleted function)",
            r"^\s{0,20}(?:\S{1,300}:\d{1,20}:\d{1,20}: )?(?P<text>call of overloaded)",
            (
                r"^\s{0,20}(?:\S{1,300}:\d{1,20}:\d{1,20}: )?(?P<text>invalid operands to binary "
                "expression)"
            ),
            (
                r"^\s{0,20}(?:\S{1,300}:\d{1,20}:\d{1,20}: )?(?P<text>template argument "
                "deduction/substitution failed)"
            ),
            r"^\s{0,20}(?:\S{1,300}:\d{1,20}:\d{1,20}: )?(?P<text>cannot convert ['‘])",
            r"^\s{0,20}(?:\S{1,300}:\d{1,20}:\d{1,20}: )?(?P<text>static assertion failed)",
        ),
        summary="The C++ compiler rejects the generated code: {text}",
        means=(
            "A bug of the code generator, a header of another torch than the one that generated "
            "the code, or a compiler that is too old for it."
        ),
        check="Compile a trivial model: if that works, the toolchain is sound",
        fixes=(
            fix("Reduce the model to the operator whose statement is shown; try the newest torch"),
        ),
        guide="guides/lowering-and-cpp.md#the-wrapper-does-not-compile",
        next_tool="minify",
        matches=(
            quoted("error: no viable conversion from 'int' to 'X'", "words of clang"),
            quoted("no matching function for call to", "words of g++, of which the place is lost"),
            words(
                "torch/csrc/api/include/torch/detail/TensorDataContainer.h",
                "error: no matching function for call to",
            ),
            words(
                "programs that were not at hand",
                "error: no matching member function for call to",
                "error: no matching constructor for initialization of",
                "error: no viable overloaded",
                "error: no viable constructor",
                "error: no instance of function template",
                "error: no instance of overloaded function",
                'error: no operator "',
                "error: no match for ‘operator",
                "error: no match for 'operator",
                "error: no member named '",
                "error: is not a member of ‘",
                "error: is not a member of 'at",
                "error: is not a member of 'torch",
                "error: unknown type name '",
                "error: call to deleted",
                "error: call to implicitly-deleted",
                "error: invalid operands to binary expression",
                "error: invalid static_cast from type",
                "error: cannot convert ‘",
                "error: cannot convert 'const",
                "error: could not convert ‘",
                "error: cannot initialize a variable of type",
                "error: non-type template argument is not a constant expression",
                "error: static_assert failed",
                "error: expected primary-expression before",
                "error: expected unqualified-id before",
                "error: expected ‘;’ before",
                "error: expected ‘)’ before",
                "error: cannot be narrowed from type",
                "error: incomplete type is not allowed",
                "no matching constructor for initialization of",
                "no viable conversion from",
                "invalid operands to binary expression",
            ),
            words(
                "g++",
                "error: no known conversion from",
                "error: does not name a type",
                "error: has no member named",
                "error: was not declared in this scope",
                "error: has not been declared",
                "error: use of deleted function",
                "error: call of overloaded",
                "error: invalid conversion from",
                "error: invalid use of incomplete type",
                "error: invalid initialization of",
                "error: cannot bind non-const lvalue reference",
                "error: template argument deduction/substitution failed",
                "error: wrong number of template arguments",
                "error: static assertion failed",
                "error: inlining failed in call to",
                "error: narrowing conversion of",
                "error: ambiguous overload for",
                "error: jump to case label",
                "use of deleted function",
                "call of overloaded",
                "template argument deduction/substitution failed",
                "static assertion failed",
            ),
            words(
                "CUDA",
                "error: no suitable conversion function from",
                "error: no suitable constructor exists",
                "error: no suitable user-defined conversion",
            ),
            words("ATen/native/Math.h", "error: is not a member of 'std"),
            words("c10/util/intrusive_ptr.h", "error: no template named '"),
            words("ATen/core/functional.h", "error: no type named '"),
            words("triton", "error: use of undeclared identifier", "use of undeclared identifier"),
            words("torch/_torch_docs.py", "error: is ambiguous"),
            words("torch/nn/modules/normalization.py", "error: incompatible types in assignment"),
            words("c10/core/UndefinedTensorImpl.h", 'error: identifier "'),
            words("torch/_inductor/lookup_table/choices.py", "no match for 'operator"),
            words("torch/_jit_internal.py", "cannot convert '"),
        ),
    ),
    Signature(
        id="cpp_shim_mismatch",
        phase="cpp_compile",
        category="cpp_error",
        tier=Tier.KIND_TEXT,
        patterns=(
            "error: no matching function for call to ['‘](?P<call>[^'’]{1,80})['’]",
            "error: cannot convert .{0,200}(?:AtenTensorOpaque|RAIIAtenTensorHandle)",
            "error: too (?:few|many) arguments to function",
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
        matches=(
            quoted("error: no matching function for call to 'from'", "pytorch/pytorch#194700"),
            quoted(
                "error: cannot convert 'const torch::aot_inductor::RAIIAtenTensorHandle' to 'AtenTensorOpaque**'",
                "pytorch/pytorch#134684",
            ),
            words("g++", "error: too few arguments to function"),
        ),
    ),
    Signature(
        id="cpp_vector_type",
        phase="cpp_compile",
        category="cpp_error",
        tier=Tier.KIND_TEXT,
        anchors=(
            "at::vec",
            "VecMask<",
        ),
        patterns=(
            r"error.{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<|vec_reduce_all|masked_load)",
            (
                r"no match.{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<|vec_reduce_all|"
                "masked_load)"
            ),
            (
                r"no member.{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<|vec_reduce_all|"
                "masked_load)"
            ),
            (
                r"no viable.{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<|vec_reduce_all|"
                "masked_load)"
            ),
            (
                r"no type.{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<|vec_reduce_all|"
                "masked_load)"
            ),
            (
                r"cannot convert.{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<|vec_reduce_all|"
                "masked_load)"
            ),
            (
                r"could not convert.{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<|"
                "vec_reduce_all|masked_load)"
            ),
            (
                r"invalid operands.{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<|"
                "vec_reduce_all|masked_load)"
            ),
            (
                r"not a member.{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<|vec_reduce_all|"
                "masked_load)"
            ),
            (
                r"undeclared.{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<|vec_reduce_all|"
                "masked_load)"
            ),
            (
                r"not declared.{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<|vec_reduce_all|"
                "masked_load)"
            ),
            (
                r"ambiguous.{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<|vec_reduce_all|"
                "masked_load)"
            ),
            (
                r"deduction.{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<|vec_reduce_all|"
                "masked_load)"
            ),
            (
                r"static assertion.{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<|"
                "vec_reduce_all|masked_load)"
            ),
            (
                r"candidate.{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<|vec_reduce_all|"
                "masked_load)"
            ),
            r"^\s{0,20}(?:error: )?['‘](?:const )?(?:at::vec::|\w{0,20}VecMask<|VectorizedN?<)",
            "(?:at::vec::|VecMask<|VectorizedN?<).{0,300}no matching",
            "(?:at::vec::|VecMask<|VectorizedN?<).{0,300}has no member",
            "(?:at::vec::|VecMask<|VectorizedN?<).{0,300}is not a member",
            "(?:at::vec::|VecMask<|VectorizedN?<).{0,300}not declared",
            "(?:at::vec::|VecMask<|VectorizedN?<).{0,300}undeclared",
            "(?:at::vec::|VecMask<|VectorizedN?<).{0,300}incomplete type",
            "(?:at::vec::|VecMask<|VectorizedN?<).{0,300}cannot be",
        ),
        summary="The generated CPU kernel uses a vector type in a way that does not exist",
        means=(
            "Inductor wrote vector code (at::vec) for a dtype or an operation that the headers do "
            "not have for this instruction set."
        ),
        check="With TORCHINDUCTOR_CPP_SIMDLEN=1, or ATEN_CPU_CAPABILITY=default, does it compile?",
        fixes=(
            fix("Switch vectorisation off (torch._inductor.config.cpp.simdlen = 1), or upgrade"),
            fix("Cast the tensor of the operator named below to a common dtype"),
        ),
        guide="guides/lowering-and-cpp.md#the-wrapper-does-not-compile",
        next_tool="minify",
        matches=(
            recorded(
                "c7spkozr3g37eiyirmrmn6rrlvx46elvtdr67p3apsuu4dy5z64c.main.cpp:19:46: error: ‘nothing_here’ is not a member of ‘at::vec’",
                "torch 2.13 CPU, a vector operation of ours",
            ),
            quoted(
                "cab.main.cpp:41:30: error: no matching function for call to 'at::vec::CPU_CAPABILITY::VecMask<long int, 2>::VecMask(int&)'",
                "form of the error",
            ),
            quoted(
                "'at::vec::CPU_CAPABILITY::VecMask<long int, 2>::VecMask(int&)'",
                "the same, wrapped",
            ),
            words("torch/jit/annotations.py", "no memberat::vec::", "at::vec::has no member"),
            words("g++", "no viableat::vec::", "invalid operandsat::vec::"),
            words("torch/_custom_op/impl.py", "no typeat::vec::"),
            words("torch/_jit_internal.py", "cannot convertat::vec::"),
            words("torch/_refs/__init__.py", "could not convertat::vec::"),
            words("torchgen/utils.py", "undeclaredat::vec::", "at::vec::undeclared"),
            words(
                "torch/fx/experimental/meta_tracer.py",
                "not declaredat::vec::",
                "at::vec::not declared",
            ),
            words("torch/_torch_docs.py", "ambiguousat::vec::"),
            words("torch/_inductor/runtime/triton_heuristics.py", "deductionat::vec::"),
            words("torch/_inductor/template_heuristics/triton.py", "static assertionat::vec::"),
            words("torch/__init__.py", "candidateat::vec::"),
            words("torch/profiler/_trace_validator.py", "at::vec::no matching"),
            words("torch/fx/_symbolic_trace.py", "at::vec::is not a member"),
            words("c10/core/TensorImpl.h", "at::vec::incomplete type"),
            words("torch/_meta_registrations.py", "at::vec::cannot be"),
        ),
        neighbours=(
            quoted(
                "#5 0x7f at::vec::DEFAULT::Vectorized<float>::loadu from libtorch_cpu.so",
                "a native stack",
            ),
        ),
    ),
    Signature(
        id="cpp_wrong_name",
        phase="cpp_compile",
        category="cpp_error",
        tier=Tier.SPECIFIC_TEXT,
        anchors=(
            "was not declared in this scope",
            "use of undeclared identifier",
        ),
        patterns=(
            (
                r"error: (?:use of undeclared identifier )?['‘`](?P<name>(?!_mm|__m)\w{1,200})"
                "['’](?: was not declared in this scope)?"
            ),
            "error: redeclaration of ['‘](?P<name>[^'’]{1,80})['’]",
            "error: redefinition of ['‘](?P<name>[^'’]{1,80})['’]",
            "error: conflicting declaration ['‘](?P<name>[^'’]{1,80})['’]",
        ),
        summary="The generated C++ uses {name} without declaring it, or declares it twice",
        means=(
            "A code generation bug: a shape array (int_array_N), a size symbol, a stream or a type "
            "name was emitted where it is not known, or in two places. Subgraphs of cond and "
            "while_loop and debug options are frequent reasons."
        ),
        check="The file is a *.wrapper.cpp or *.kernel.cpp of Inductor, and the name is not yours",
        fixes=(
            fix(
                (
                    "Try the newest torch; unset Inductor debug options such as "
                    "triton.debug_sync_kernel"
                ),
            ),
            fix("Move control flow and item() out of the compiled part to see whether it is that"),
        ),
        guide="guides/lowering-and-cpp.md#undeclared-identifiers",
        next_tool="minify",
        matches=(
            recorded(
                "/tmp/e2/ic/cbbpkfc3xketmy7nd7v5ez4vmaq7x6xp63srxacgc3up3gpalrjz/c5ecvpkx3oby3imgiw35orlddiw6xitf5ssc7ptsixirpbwdie3v.kernel.cpp:19:33: error: ‘compile’ was not declared in this scope",
                "torch 2.13 CPU, injected bug",
            ),
            quoted("error: use of undeclared identifier 'u1'", "pytorch/pytorch#139798"),
            quoted(
                "/tmp/torchinductor_root/cxxx.main.cpp:182:22: error: redeclaration of 'CUstream_st* stream0'",
                "pytorch/pytorch#193806",
            ),
            quoted(
                "cytvter7.cpp:288:10: error: conflicting declaration ‘auto i8’",
                "pytorch/pytorch#111711",
            ),
            words("ld", "error: redefinition of 'x'"),
        ),
        neighbours=(quoted("/tmp/x.cpp:1:10: fatal error: 'omp.h' file not found"),),
    ),
    Signature(
        id="item_as_tensor_handle",
        phase="cpp_compile",
        category="cpp_error",
        tier=Tier.KIND_TEXT,
        patterns=(
            (
                r"cannot convert .{0,120}RAIIAtenTensorHandle.{0,60}\bto\b.{0,30}(?:int64_t|long|"
                "double|bool)"
            ),
            (
                "invalid user-defined conversion from .{0,120}RAIIAtenTensorHandle.{0,60}"
                r"\bto\b.{0,30}(?:int64_t|long|double|bool)"
            ),
            (
                r"no viable conversion from .{0,120}RAIIAtenTensorHandle.{0,60}\bto\b.{0,30}"
                "(?:int64_t|long|double|bool)"
            ),
        ),
        summary="A scalar taken from a tensor is passed on as a tensor handle",
        means=(
            "item() of a tensor is used as a size or argument and the generator printed the tensor "
            "instead of the number."
        ),
        fixes=(fix("Upgrade torch, or compute that number outside the model"),),
        guide="guides/lowering-and-cpp.md#the-wrapper-does-not-compile",
        next_tool="minify",
        matches=(
            recorded(
                "u.cpp:3:78: error: invalid user-defined conversion from ‘RAIIAtenTensorHandle’ to ‘int64_t’ {aka ‘long",
                "g++ 12 on a file of ours",
            ),
            words(
                "torch/_inductor/codegen/cpp_wrapper_cpu_array_ref.py",
                "error: cannot convert 'RAIIAtenTensorHandle' to 'int64_t'",
            ),
            words(
                "programs that were not at hand",
                "error: no viable conversion from 'RAIIAtenTensorHandle' to 'int64_t'",
            ),
        ),
    ),
    Signature(
        id="too_big_to_optimize",
        phase="cpp_compile",
        category="performance",
        tier=Tier.KIND_TEXT,
        patterns=(
            r"Function \S{1,300} is too big to optimize",
            "ignored-optimization-argument",
            "variable tracking size limit exceeded",
        ),
        summary="The generated function is too large for the compiler's optimiser",
        means=(
            "Huge graphs become one C++ function; compilers give up optimising it and may take an "
            "hour."
        ),
        fixes=(fix("AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL=O0 or O1; compile the model in parts"),),
        guide="guides/memory-and-time.md#too-big-to-optimize",
        matches=(
            quoted(
                "Function foo is too big to optimize [-Wignored-optimization-argument]",
                "pytorch/pytorch#112008",
            ),
            words("g++", "variable tracking size limit exceeded"),
        ),
    ),
    Signature(
        id="cuda_header_missing",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.NAMED_TEXT,
        confidence="proved",
        patterns=(
            (
                r"fatal error: '?(?P<header>cuda(?:_runtime\w{0,200}|_fp16|_bf16)?\.h|"
                r"cublas\w{0,200}\.h|cudnn\w{0,200}\.h|cusparse\w{0,200}\.h|cusolver\w{0,200}\.h|"
                r"nvrtc\.h|nvtx3?/\S{1,60}|crt/host_defines\.h)'?:? No such file"
            ),
            (
                r"fatal error: '?(?P<header>cuda(?:_runtime\w{0,200}|_fp16|_bf16)?\.h|"
                r"cublas\w{0,200}\.h|cudnn\w{0,200}\.h|cusparse\w{0,200}\.h|cusolver\w{0,200}\.h|"
                r"nvrtc\.h|nvtx3?/\S{1,60}|crt/host_defines\.h)'?:? file not found"
            ),
        ),
        summary="The CUDA header {header} is missing",
        means=(
            "Compiling for CUDA needs the toolkit's headers; runtime container images and pip "
            "wheels of torch do not have them all."
        ),
        fixes=(
            fix(
                (
                    "Use a devel image or install the toolkit and set CUDA_HOME; with conda: conda "
                    "install cuda-cudart-dev cuda-driver-dev"
                ),
            ),
        ),
        guide="guides/toolchain.md#missing-headers",
        next_tool="check_environment",
        matches=(
            recorded(
                "c.cpp:1:10: fatal error: cuda.h: No such file or directory",
                "g++ 12 on a file of ours",
            ),
            recorded(
                "c2.cpp:1:10: fatal error: cuda_runtime_api.h: No such file or directory",
                "g++ 12 on a file of ours",
            ),
            words(
                "torch/distributed/checkpoint/_experimental/checkpoint_reader.py",
                "fatal error: cuda.h file not found",
            ),
        ),
        apart_from=("python_header_missing",),
    ),
    Signature(
        id="cuda_toolkit_missing",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "(?P<what>CUDA_HOME environment variable is not set)",
            "(?P<what>CUDA_HOME is not set)",
            "(?P<what>CUDA_HOME is missing)",
            "(?P<what>CUDA_HOME not found)",
            "(?P<what>CUDA_HOME does not exist)",
            "(?P<what>Cannot find ptxas)",
            r"\b(?P<what>(?:nvcc|ptxas|fatbinary|objcopy): (?:command )?not found)",
            r"FileNotFoundError: .{0,60}'(?:\S{0,120}/)?(?P<what>nvcc|ptxas|fatbinary|objcopy)'",
        ),
        summary="The CUDA toolkit (or a tool of it) is missing: {what}",
        means=(
            "Compiling a CUDA package needs the toolkit, for multi-arch kernels its tools too; "
            "runtime images have only the libraries."
        ),
        fixes=(
            fix(
                (
                    "Use a devel image, or install the toolkit, export CUDA_HOME=/usr/local/cuda "
                    "and put its bin into PATH"
                ),
            ),
        ),
        guide="guides/toolchain.md#cuda-toolkit",
        next_tool="check_environment",
        matches=(
            recorded(
                "OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.",
                "torch 2.13.0, CPU",
            ),
            quoted("RuntimeError: Cannot find ptxas", "words of Triton"),
            quoted("/bin/sh: 1: nvcc: not found", "words of sh"),
            quoted("bash: nvcc: command not found", "words of bash"),
            quoted(
                "FileNotFoundError: [Errno 2] No such file or directory: 'nvcc'", "words of Python"
            ),
            quoted("/bin/sh: 1: fatbinary: not found", "words of sh"),
            quoted("/bin/sh: 1: objcopy: not found", "words of sh"),
            quoted("/bin/sh: 1: ptxas: not found", "words of sh"),
            quoted(
                "FileNotFoundError: [Errno 2] No such file or directory: 'ptxas'", "words of Python"
            ),
            words("torch/utils/cpp_extension.py", "CUDA_HOME is not set"),
            words(
                "programs that were not at hand",
                "CUDA_HOME is missing",
                "CUDA_HOME not found",
                "CUDA_HOME does not exist",
            ),
        ),
        neighbours=(quoted("export CUDA_HOME=/usr/local/cuda-12.8", "a shell log"),),
    ),
    Signature(
        id="cuda_tools_too_old",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.NAMED_TEXT,
        patterns=(
            (
                r"(?P<what>Unsupported \.version \d{1,20}\.\d{1,20}; current version is '\d{1,20}"
                r"\.\d{1,20}')"
            ),
            r"(?P<what>Value 'sm_\d{1,20}[af]?' is not defined for option 'gpu-name')",
            r"(?P<what>Unsupported gpu architecture '(?:compute|sm)_\d{1,20}[af]?')",
        ),
        summary="ptxas or nvcc is too old: {what}",
        means=(
            "Triton writes newer PTX, or the GPU is newer, than the CUDA tools in use know; mostly "
            "with multi-arch kernels."
        ),
        fixes=(
            fix("Use a toolkit as new as Triton's: set TRITON_PTXAS_PATH and CUDA_HOME to it"),
            fix("Or limit TORCH_CUDA_ARCH_LIST to what the tools know"),
        ),
        guide="guides/toolchain.md#cuda-toolkit",
        next_tool="check_environment",
        matches=(
            quoted(
                "ptxas /tmp/tmpabc.ptx, line 5; fatal   : Unsupported .version 8.7; current version is '8.4'",
                "words of ptxas",
            ),
            quoted(
                "ptxas fatal   : Value 'sm_120' is not defined for option 'gpu-name'",
                "words of ptxas",
            ),
            quoted("nvcc fatal   : Unsupported gpu architecture 'compute_120'", "words of nvcc"),
        ),
    ),
    Signature(
        id="driver_too_old",
        phase="environment",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "(?P<what>the provided PTX was compiled with an unsupported toolchain)",
            "(?P<what>a PTX JIT compilation failed)",
        ),
        summary="The NVIDIA driver is older than what this torch or package was built with: {what}",
        means=(
            "The CUDA runtime refuses to start, or the driver cannot compile PTX of a newer "
            "toolkit."
        ),
        check="nvidia-smi (top right: highest CUDA version) against torch.version.cuda.",
        fixes=(
            fix("Update the driver, or use a torch build and a compile machine with an older CUDA"),
        ),
        guide="guides/toolchain.md#driver-too-old",
        next_tool="check_environment",
        matches=(
            quoted(
                "CUDA driver error: the provided PTX was compiled with an unsupported toolchain.",
                "words of the CUDA driver",
            ),
            quoted("CUDA error: a PTX JIT compilation failed", "words of the CUDA driver"),
        ),
    ),
    Signature(
        id="gpu_unsupported",
        phase="environment",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                r"with CUDA capability (?P<gpu>sm_\d{1,20}a?) is not compatible with the current "
                "PyTorch installation"
            ),
            r"(?P<gpu>No published PyTorch CUDA builds for release \S{1,30} support this GPU)",
            "Found (?P<gpu>.{1,60}) which is too old to be supported by the triton GPU compiler",
        ),
        summary="This torch or Triton does not support the GPU ({gpu})",
        means=(
            "Kernels of ATen and libraries are missing for the architecture (`no kernel image` "
            "follows), or the GPU is older than capability 7.0, which Triton needs."
        ),
        fixes=(
            fix("Install a torch build whose torch.cuda.get_arch_list() names the GPU"),
            fix("For a GPU below 7.0 compile for the CPU"),
        ),
        guide="guides/toolchain.md#gpu-not-supported-by-this-torch",
        next_tool="check_environment",
        matches=(
            quoted(
                "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.",
                "words of torch.cuda",
            ),
            quoted(
                "No published PyTorch CUDA builds for release 2.13.0 support this GPU.",
                "words of torch.cuda",
            ),
            quoted(
                "torch._inductor.exc.GPUTooOldForTriton: Found Tesla P100-PCIE-16GB which is too old to be supported by the triton GPU compiler",
                "words of torch/_inductor/exc.py",
            ),
        ),
    ),
    Signature(
        id="libcuda_not_found",
        phase="triton_compile",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        patterns=(
            r"libcuda\.so cannot found",
            r"libcuda\.so not found",
            r"libcuda\.so cannot be found",
            r"create a symlink of libcuda\.so",
            "[Cc]annot find libcuda",
        ),
        summary="Triton does not find libcuda.so to link its launcher with",
        means=(
            "It asks ldconfig for the driver's library: the cache of the loader is old, the "
            "container hides the driver, or only libcuda.so.1 exists."
        ),
        check="ldconfig -p | grep libcuda; nvidia-smi.",
        fixes=(fix("Run ldconfig, or set TRITON_LIBCUDA_PATH to the directory with libcuda.so.1"),),
        guide="guides/toolchain.md#triton-missing-or-mismatched",
        next_tool="check_environment",
        matches=(
            quoted(
                "AssertionError: libcuda.so cannot found!",
                "words of triton/backends/nvidia/driver.py",
            ),
            quoted(
                "Possible files are located at ['/usr/lib64/libcuda.so.1'].Please create a symlink of libcuda.so to any of the files.",
                "words of triton/backends/nvidia/driver.py",
            ),
            words(
                "programs that were not at hand",
                "libcuda.so not found",
                "libcuda.so cannot be found",
                "Cannot find libcuda",
            ),
        ),
    ),
    Signature(
        id="nvcc_failed",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.SPECIFIC_TEXT,
        anchors=(
            "nvcc fatal",
            "nvlink fatal",
        ),
        patterns=(
            "(?P<what>`nvcc` command returns non-zero exit status)",
            r"(?P<what>nvcc (?:fatal|error)\s{0,3}:.{0,160})",
            "(?P<what>unsupported GNU version)",
            "(?P<what>unsupported Microsoft Visual Studio version)",
            "(?P<what>unsupported clang version)",
            "(?P<what>detected CUDA version .{1,40} mismatches the version)",
            "(?P<what>is less than the minimum required version by CUDA)",
            "(?P<what>is greater than the maximum required version by CUDA)",
            "(?P<what>nvcc is required to build fatbin)",
            "(?P<what>nvcc not found at .{0,120})",
            r"(?P<what>nvlink (?:fatal|error)\s{0,3}:.{0,120})",
            r"(?P<what>fatbinary fatal\s{0,3}:.{0,120})",
            r"(?P<what>cudafe\+\+.{0,20} died)",
            "(?P<what>[Cc]annot find.{0,80}libdevice)",
            "(?P<what>not found.{0,80}libdevice)",
            "(?P<what>No such file.{0,80}libdevice)",
            r"(?P<what>libdevice\S{0,40} not found)",
            r"(?P<what>Unknown CUDA arch \(.{1,30}\))",
            "(?P<what>nvrtc: error: failed to open .{0,80})",
            r"(?P<what>Ninja is required to load C\+\+ extensions)",
            "(?P<what>Need to set WINDOWS_CUDA_HOME)",
        ),
        summary="The CUDA compiler or a tool of it stopped: {what}",
        means=(
            "nvcc does not go with the host compiler, with the CUDA release of torch or with the "
            "GPU named, or a file of the toolkit is missing."
        ),
        check="nvcc --version, $CXX --version and torch.version.cuda beside each other.",
        fixes=(
            fix(
                "Install the toolkit release that torch.version.cuda names and set CUDA_HOME to it",
            ),
            fix("Give nvcc a host compiler that it supports (NVCC_CCBIN or CXX)"),
        ),
        guide="guides/toolchain.md#cuda-toolkit",
        next_tool="check_environment",
        matches=(
            words(
                "cupy/cuda/compiler.py",
                "cupy.cuda.compiler.CompileException: `nvcc` command returns non-zero exit status.",
            ),
            quoted("nvcc fatal   : Unknown option '-std=c++20'", "words of nvcc"),
            quoted(
                "#error -- unsupported GNU version! gcc versions later than 12 are not supported!",
                "words of crt/host_config.h",
            ),
            quoted(
                "RuntimeError: The detected CUDA version (11.8) mismatches the version that was used to compile PyTorch (12.1).",
                "words of torch/utils/cpp_extension.py",
            ),
            quoted(
                "RuntimeError: nvcc is required to build fatbin",
                "words of torch/_inductor/codecache.py",
            ),
            quoted("nvrtc: error: failed to open libnvrtc-builtins.so.11.8.", "words of nvrtc"),
            words(
                "CUDA", "unsupported Microsoft Visual Studio version", "unsupported clang version"
            ),
            words(
                "programs that were not at hand",
                "is less than the minimum required version by CUDA",
                "is greater than the maximum required version by CUDA",
                "fatbinary fatal:x",
                "cudafe++ died",
            ),
            words(
                "torch/utils/cpp_extension.py",
                "nvcc not found at x",
                "Unknown CUDA arch (x)",
                "Ninja is required to load C++ extensions",
                "Need to set WINDOWS_CUDA_HOME",
            ),
            words("torch/_inductor/comm_analysis.py", "nvlink fatal:x"),
            words("torch/hub.py", "Cannot findlibdevice"),
            words("torch/__init__.py", "not foundlibdevice", "libdevice not found"),
            words("fmt/format.h", "No such filelibdevice"),
        ),
    ),
    Signature(
        id="triton_launcher_not_built",
        phase="triton_compile",
        category="toolchain",
        tier=Tier.BROAD_TEXT,
        patterns=(
            (
                r"CalledProcessError: Command '\[.{0,200}(?:main|cuda_utils|__triton_launcher|"
                r"launcher_stub)\.c'"
            ),
            r"(?:cuda_utils|__triton_launcher)\S{0,80}\.(?:so|pyd)\b.{0,40}undefined symbol",
            r"(?:cuda_utils|__triton_launcher)\S{0,80}\.(?:so|pyd)\b.{0,40}cannot open",
            r"(?:cuda_utils|__triton_launcher)\S{0,80}\.(?:so|pyd)\b.{0,40}DLL load",
        ),
        summary="The C compiler could not build Triton's launcher",
        means=(
            "Triton builds a small C file per kernel kind for the host: Python's headers, libcuda "
            "or a working gcc are missing."
        ),
        check="Run the printed command by hand.",
        fixes=(fix("Install gcc and python3-dev, and make libcuda.so visible to the linker"),),
        guide="guides/toolchain.md#triton-missing-or-mismatched",
        next_tool="check_environment",
        matches=(
            quoted(
                "subprocess.CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tmpw1/main.c', '-O3', '-shared', '-fPIC']' returned non-zero exit status 1.",
                "common form in public threads",
            ),
            quoted(
                "ImportError: /root/.triton/cache/AB/cuda_utils.cpython-311-x86_64-linux-gnu.so: undefined symbol: cuFoo",
                "common form in public threads",
            ),
            words("fmt/format.h", "cuda_utils.so cannot open"),
            words("torch/__init__.py", "cuda_utils.so DLL load"),
        ),
    ),
    Signature(
        id="triton_mismatch",
        phase="environment",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                r"ImportError: (?P<what>cannot import name '\w{1,60}' from (?:partially "
                r"initialized module )?'triton[\w.]{0,80}')"
            ),
            (
                r"AttributeError: (?P<what>(?:partially initialized )?module 'triton[\w.]{0,80}' "
                r"has no attribute '\w{1,60}')"
            ),
            (
                r"ModuleNotFoundError: (?P<what>No module named '(?:triton\.|pytorch_triton)"
                r"[\w.]{0,80}')"
            ),
            "RuntimeError: (?P<what>Found (?:0|>1) concrete subclasses of .{1,80})",
        ),
        summary="The installed Triton is not the release that this torch works with: {what}",
        means=(
            "Inductor and custom kernels use Triton's inner modules, which move from release to "
            "release; a second Triton package (triton-nightly, pytorch-triton, triton-windows) may "
            "also lie over the first."
        ),
        check="pip list | grep -i triton, against the version that pip show torch requires.",
        fixes=(fix("Remove all Triton packages and install the one that torch requires"),),
        guide="guides/toolchain.md#triton-missing-or-mismatched",
        next_tool="check_environment",
        matches=(
            quoted(
                "ImportError: cannot import name 'triton_key' from 'triton.compiler.compiler' (/opt/venv/triton/compiler/compiler.py)",
                "common form in public threads",
            ),
            quoted(
                "AttributeError: module 'triton' has no attribute 'jit'",
                "common form in public threads",
            ),
            quoted(
                "ModuleNotFoundError: No module named 'triton.ops'", "common form in public threads"
            ),
            quoted(
                "RuntimeError: Found 0 concrete subclasses of <class 'DriverBase'>",
                "words of triton/backends/__init__.py",
            ),
        ),
        apart_from=("triton_missing",),
    ),
    Signature(
        id="triton_missing",
        phase="environment",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "Cannot find a working triton installation",
            "ModuleNotFoundError: No module named 'triton'",
        ),
        summary="Triton is missing or does not fit this torch",
        means=(
            "Compiling for a GPU needs the Triton release that torch was built with; running a "
            "finished package does not."
        ),
        fixes=(
            fix(
                (
                    "Install the triton version that torch's wheel names: pip install torch brings "
                    "it on Linux"
                ),
            ),
        ),
        guide="guides/toolchain.md#triton-missing-or-mismatched",
        next_tool="check_environment",
        matches=(
            quoted(
                "torch._inductor.exc.TritonMissing: Cannot find a working triton installation.",
                "words of torch/_inductor/exc.py",
            ),
            quoted("ModuleNotFoundError: No module named 'triton'", "words of Python"),
        ),
    ),
)
