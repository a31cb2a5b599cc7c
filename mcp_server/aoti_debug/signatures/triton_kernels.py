"""Triton and ptxas cannot compile a kernel."""

import re

from aoti_debug.signatures.signature import Signature, fix, quoted

# Words of triton/language and triton/compiler/code_generator.py, which stop a kernel's frontend.
REFUSALS = (
    "data type is not supported on CUDA arch",
    "not supported in this architecture. The supported fp8 dtypes are",
    "supported_fp8_dtypes",
    "allow_fp8e4nv",
    "IncompatibleTypeErrorImpl",
    "invalid operands of type pointer<",
    "invalid operands of type triton.language",
    "arange's range must be a power of 2",
    "arange's arguments must be",
    "must be a power of 2",
    "exceeds triton maximum tensor numel",
    "Loop-carried variable ",
    "Loop carried variable ",
    "cannot reassign constexpr",
    "constexpr cannot be reassigned",
    "Cannot access global variable ",
    "Did you forget to add @triton.jit",
    "Cannot call @triton.jit'd outside of the scope",
    "@triton.jit'd functions",
    "unsupported AST node type",
    "is not (currently) implemented",
    "Input shapes should have M >=",
    "All non-batch values in both first input shape",
    "Both operands must be same dtype. Got",
    "Both operands must be same type. First operand",
    "Both inputs must be either 2D or 3D; (lhs",
    "are not compatible for matmul",
    "Unsupported lhs dtype",
    "Unsupported rhs dtype",
    "input_precision must be one of",
    "target doesn't provide",
    "Unsupported ptr type",
    "`mask` and `other` arguments cannot be specified for loading block pointers",
    "`other` cannot be provided without `mask`",
    "Mask argument cannot be block type if pointer argument is not a block",
    "Value argument cannot be block type if pointer argument is not a block",
    "Other argument cannot be block type if pointer argument is not a block",
    "Mask must have boolean scalar type",
    "Cannot store to a constant pointer",
    "Cannot broadcast, rank mismatch",
    "Cannot broadcast, the expanded size of the tensor",
    "Cannot make_shape_compatible",
    "reshape() cannot change total number of elements in tensor",
    "Mismatched type for ",
    "Inconsistent return types: ",
    "For loop bounds and step must all be ints",
    "Only `range` and `static_range` iterators are currently supported",
    "used as tl.static_range",
    "Assertion condition could not be determined at compile-time",
    "CompileTimeAssertionFailure",
    "Descriptor block shape must have at least",
    "Tensor descriptor last dim must be 1",
    "descriptor gather must have at least",
    "nested function definition is not supported",
    "Cannot have `return` statements inside",
    "`if` conditionals can only accept values of type",
    "Cannot bitcast data-type of size",
    "Only floating point clamp is supported",
    "both operands of fdiv must have floating scalar type",
    "cannot add pointers together",
    "does not support bf16",
    "does not support fp16",
    "only supports elements with width {16, 32, 64}",
    "Unsupported floating-point type",
    "0d block_type is forbidden",
    "because they have different signedness",
    "Block pointers only support 32 bit",
    "num_ctas > 1 requires NVIDIA SM90+",
    "num_ctas > 1 not supported for AMD GPUs",
    "num_warps must be a power of 2",
    "TRITON_OVERRIDE_ARCH must have the form",
    "must be constexpr when",
    "Conflicting meta-parameters: ",
    "error encountered during parsing",
    "has changed since we compiled this kernel",
    "Kernel requires a runtime memory allocation, but no allocator was set",
    "nvTmaDesc ",
    "target must be of GPUTarget type",
    "triton.language.semantic",
    "triton.language.core",
)

SIGNATURES = (
    Signature(
        id="triton_compilation_error",
        family="K",
        phase="triton_compile",
        category="triton_error",
        weight=64,
        anchors=(
            "CompilationError: at ",
            "Triton compilation failed",
            "UnsupportedLanguageConstruct",
            "compiler.errors.CompilationError",
            "CompilationError(",
            "CompileTimeAssertionFailure",
            "PassManager::run failed",
            "InductorError: CompilationError",
        ),
        patterns=(
            (
                r"(?:triton\.compiler\.(?:errors\.|code_generator\.)?)?CompilationError: at "
                r"(?P<line>\d{1,20}):\d{1,20}|Triton compilation failed: (?P<kernel>\w{1,200})"
                r"|UnsupportedLanguageConstruct|triton\.compiler\.\S{0,300}CompilationError"
                "|PassManager::run failed|CompileTimeAssertionFailure|InductorError: "
                "CompilationError"
            ),
        ),
        summary="Triton could not compile a kernel",
        means=(
            "The Triton source of a kernel (yours or a generated one) is not accepted; the caret "
            "below marks the expression."
        ),
        mistaken_for="A C++ compile error",
        check=(
            "Is the file yours or in the Inductor cache? A generated file means an Inductor or "
            "version problem"
        ),
        fixes=(
            fix(
                "Correct the marked expression of your kernel; for generated kernels check that "
                "the Triton version is the one this torch was built with"
            ),
        ),
        guide="guides/triton-and-autotuning.md#triton-compile-errors",
        next_tool="check_environment",
        references=("pytorch/pytorch#97553", "pytorch/pytorch#170049"),
        matches=(
            quoted("triton.compiler.errors.CompilationError: at 1:0:", "pytorch/pytorch#170049"),
            quoted(
                "triton.compiler.CompilationError: at 64:39:    # rematerialize rm and rn to save "
                "registers",
                "pytorch/pytorch#97553",
            ),
        ),
        apart_from=("cpp_compile_failed",),
    ),
    Signature(
        id="ptxas_failed",
        family="K",
        phase="triton_compile",
        category="triton_error",
        weight=66,
        anchors=(
            "PTXAS error",
            "ptxas fatal",
            "Internal Triton PTX codegen error",
            "PTXASError",
            "ptxas error",
            "ptxas application",
            "ptxas stderr",
            "ptxas', '-",
            "`ptxas",
            "PTX codegen error",
            "ptxas /tmp/",
            "ran out of registers during register allocation",
            "hsaco",
        ),
        patterns=(
            (
                r"PTXAS error|PTXASError|ptxas (?:fatal|error)\s{0,20}: ?(?P<text>.{0,120})"
                r"|Internal "
                "Triton PTX codegen error|ptxas application ptx input, line|ptxas stderr|`ptxas` "
                "(?:failed|to confirm|raised)|CalledProcessError: Command "
                r".{0,300}\bptxas(?:\.exe)?\b"
                r"|ptxas \S{1,200}, line \d{1,20}; (?:error|fatal)"
                r"|ran out of registers during register "
                r"allocation|(?:ld\.lld|lld): error: .{0,200}hsaco"
            ),
        ),
        summary="ptxas rejected the code of a Triton kernel",
        means=(
            "The GPU assembler failed: registers ran out for a configuration, or this ptxas does "
            "not know the GPU or the PTX version."
        ),
        mistaken_for="A bug in the model",
        check="The `ptxas fatal` line: register allocation, or an unknown architecture or version",
        fixes=(
            fix(
                "Fewer warps or smaller blocks for register failures; a matching toolkit "
                "(TRITON_PTXAS_PATH unset) for versions"
            ),
        ),
        guide="guides/triton-and-autotuning.md#triton-compile-errors",
        next_tool="check_environment",
        references=("pytorch/helion#85", "pytorch/torchdynamo#886"),
        matches=(
            quoted(
                "ptxas fatal   : (C7600) Register allocation failed with register count of '128'. "
                "Compile the program with a higher register target",
                "pytorch/helion#85",
            ),
            quoted(
                "triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error",
                "pytorch/helion#85",
            ),
            quoted(
                "subprocess.CalledProcessError: Command '['/x/triton/backends/nvidia/bin/ptxas', "
                "'-lineinfo', '-v', '--gpu-name=sm_120', '/tmp/tmpb.ptx']' returned non-zero exit "
                "status 255.",
                "form of the error",
            ),
        ),
        neighbours=(quoted("ptxas info    : Used 40 registers, 400 bytes cmem[0]", "no failure"),),
    ),
    Signature(
        id="cpu_triton_missing",
        family="K",
        phase="cpp_compile",
        category="triton_error",
        weight=72,
        anchors=(
            "unknown type name 'async_compile'",
            "KeyError: 'cubin'",
            'KeyError "cubin"',
            "CpuTritonKernelCache",
        ),
        patterns=(
            (
                "unknown type name ['‘]async_compile['’]|KeyError:? "
                "['"
                r"\"]cubin["
                "'"
                r"\"]|CpuTritonKernelCache not populated for "
                r"'(?P<kernel>\w{1,200})'"
            ),
        ),
        summary="A Triton kernel is part of a model compiled for the CPU",
        means=(
            "AOTInductor can run Triton kernels on the CPU only with a CPU build of Triton and a "
            "recent torch; otherwise code generation fails in one of these ways."
        ),
        fixes=(fix("Give the op a CPU implementation without Triton, or compile for the GPU"),),
        guide="guides/triton-and-autotuning.md#triton-kernels-on-the-cpu",
        references=("pytorch/pytorch#181068", "pytorch/pytorch#183463"),
        matches=(
            quoted("KeyError: 'cubin'", "pytorch/pytorch#181068"),
            quoted("error: unknown type name 'async_compile'", "pytorch/pytorch#181068"),
        ),
    ),
    Signature(
        id="int32_overflow",
        family="I",
        phase="triton_compile",
        category="triton_error",
        weight=70,
        confidence="proved",
        anchors=("is out of range for type int32",),
        patterns=(r"Scalar (?P<value>-?\d{1,20}) is out of range for type int32",),
        summary="A fused kernel's offset {value} does not fit in 32 bits",
        means=(
            "Inductor chose int32 indexing although a constant offset of the fused kernel exceeds "
            "2**31. With smaller offsets the same slip compiles and faults at run time."
        ),
        fixes=(
            fix(
                "Upgrade torch; or split the tensor so that no fused view spans more than 2**31 "
                "elements"
            ),
        ),
        guide="guides/cuda-illegal-memory-access.md#int32-index-overflow",
        next_tool="minify",
        references=("pytorch/pytorch#186057", "pytorch/pytorch#182193"),
        matches=(
            quoted(
                "ValueError: Scalar -2779057358 is out of range for type int32",
                "pytorch/pytorch#186057",
            ),
        ),
    ),
    Signature(
        id="triton_out_of_resource",
        family="K",
        phase="autotune",
        category="kernel_resources",
        weight=76,
        anchors=(
            "out of resource: ",
            "OutOfResources",
            "local memory (",
            "uses too much shared data",
            "exceeds available shared memory",
            "shared memory exceeds",
        ),
        patterns=(
            (
                r"local memory \(\d{1,20}\) exceeds limit|uses too much shared data"
                r"|exceeds available "
                "shared memory"
            ),
            (
                r"out of resource: (?P<what>[\w ]{1,200}), Required: (?P<need>\d{1,20}), Hard"
                r"ware limit: "
                r"(?P<limit>\d{1,20})"
            ),
            (
                r"out of resource: (?P<what>\w{1,200}) Required: (?P<need>\d{1,20}) Hardware "
                r"limit: "
                r"?(?P<limit>\d{1,20})"
            ),
            r"OutOfResources: out of resource: (?P<what>[\w ]{1,200})",
        ),
        summary="A Triton kernel asks for more shared memory, registers or threads than there are",
        means=(
            "The block sizes and stages of a configuration do not fit. In max-autotune such "
            "configurations are dropped and the line is harmless; for a user kernel with one "
            "configuration it is fatal."
        ),
        mistaken_for="Running out of GPU memory",
        check="Did the compile go on afterwards? Then ignore it",
        fixes=(
            fix(
                "Reduce num_stages or the block sizes of the kernel; offer smaller configurations "
                "to triton.autotune"
            ),
        ),
        guide="guides/triton-and-autotuning.md#out-of-resource",
        references=("pytorch/torchtitan#2272", "triton-lang/triton#8182"),
        matches=(
            quoted(
                "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: "
                "131072, Hardware limit: 101376.",
                "triton-lang/triton#8182",
            ),
            quoted(
                "out of resource: triton_red_fused_3 Required: 262400 Hardware limit:232448",
                "text of torch's static launcher",
            ),
            quoted(
                "ptxas error   : Entry function 'triton_mm' uses too much shared data (0x19000 "
                "bytes, 0x18c00 max)",
                "words of ptxas",
            ),
        ),
        neighbours=(
            quoted("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"),
        ),
    ),
    Signature(
        id="no_valid_configs",
        family="K",
        phase="autotune",
        category="autotune_error",
        weight=62,
        anchors=(
            "No valid triton configs",
            "NoValidChoicesError",
            "No choices to select",
            "NoTritonConfigsError",
            "No triton configs are available",
            "No choices exist for backend",
            "All choices failed to compile for backend",
            "No valid choices generated for",
            "Non-empty TritonConfig list required",
            "has no attribute 'store_cubin'",
            "Only configs and keys are supported for triton.autotune",
        ),
        patterns=(
            (
                r"No valid triton configs(?:\. (?P<error>.{0,160}))?|NoValidChoicesError|No "
                "choices "
                r"to select|Only configs and keys are supported for triton\.autotune"
                "|NoTritonConfigsError|No triton configs are available|No choices exist for backend"
                "|All choices failed to compile for backend|No valid choices generated for"
                "|Non-empty TritonConfig list required|has no attribute 'store_cubin'"
            ),
        ),
        summary="No configuration of a kernel survived tuning",
        means=(
            "Every candidate failed to compile or to run; the reason of the last one follows. For "
            "user kernels only `configs` and `key` of triton.autotune are supported."
        ),
        fixes=(
            fix(
                "Offer smaller configurations; drop other triton.autotune arguments; add ATEN to "
                "max_autotune_gemm_backends"
            ),
        ),
        guide="guides/triton-and-autotuning.md#out-of-resource",
        next_tool="triage",
        references=("pytorch/pytorch#132562",),
        matches=(
            quoted(
                "RuntimeError: No valid triton configs. OutOfResources: out of resource: shared "
                "memory, Required: 184336, Hardware limit: 101376.",
                "text of triton_heuristics.py",
            ),
            quoted(
                "torch._inductor.select_algorithm.NoValidChoicesError: No choices to select.",
                "text of select_algorithm.py",
            ),
        ),
    ),
    Signature(
        id="triton_frontend_refused",
        family="K",
        phase="triton_compile",
        category="triton_error",
        weight=58,
        anchors=REFUSALS,
        patterns=(
            "(?P<text>"
            + "|".join(
                re.escape(words)
                for words in REFUSALS
                if not words.startswith(
                    (
                        "must be a power of 2",
                        "Mismatched type for ",
                        "does not support ",
                        "are not compatible for",
                        "triton.language.",
                        "Loop carried",
                        "is not (currently)",
                    )
                )
            )
            + r"|Shape element \d{1,3} must be a power of 2|Mismatched type for \S{1,80} between "
            r"|atomic_\w{2,10} does not support|\) are not compatible for matmul"
            r"|(?:Error|Exception).{0,200}triton\.language\.(?:semantic|core)|Loop carried "
            "variable "
            r"\S{1,80} (?:changed|is not)|AST .{0,60} is not \(currently\) implemented)",
        ),
        summary="Triton does not accept a kernel's source: {text}",
        means=(
            "The frontend checks types, shapes and the Python subset before any code is made. In "
            "a kernel of yours the statement is to blame, in a generated one Inductor or a Triton "
            "that does not belong to this torch; float8 needs a new enough GPU."
        ),
        mistaken_for="An error of the Python script",
        check="Whose file is it: yours, or one below torchinductor_*?",
        fixes=(
            fix("Correct the statement; cast operands and masks explicitly"),
            fix("For a generated kernel use the Triton release of this torch, or another dtype"),
        ),
        guide="guides/triton-and-autotuning.md#triton-compile-errors",
        next_tool="check_environment",
        matches=(
            quoted(
                "AssertionError: fp8e4nv data type is not supported on CUDA arch < 89",
                "words of triton/language/semantic.py",
            ),
            quoted(
                "ValueError('arange\\'s range must be a power of 2'); arange's range must be a "
                "power of 2",
                "words of triton/language/semantic.py",
            ),
            quoted(
                "AssertionError('Loop-carried variable acc has initial type fp32 but is "
                "re-assigned to fp16 in loop!",
                "words of triton/compiler/code_generator.py",
            ),
            quoted(
                "triton.language.semantic.IncompatibleTypeErrorImpl: invalid operands of type "
                "pointer<fp32> and triton.language.float64",
                "words of triton/language/semantic.py",
            ),
        ),
        neighbours=(
            quoted("ValueError: n_fft must be a power of 2", "a library's own check"),
            quoted("RuntimeError: this backend does not support bf16", "a library's own check"),
        ),
    ),
    Signature(
        id="triton_pass_failed",
        family="K",
        phase="triton_compile",
        category="triton_error",
        weight=62,
        anchors=(
            "error: 'tt.",
            "error: 'ttg.",
            "error: 'ttng.",
            "error: 'tti.",
            "error: 'triton",
            "error: 'amdg",
            "error: 'llvm.",
            "error: 'nvvm.",
            "error: 'nvgpu.",
            "error: 'nvws.",
            "error: 'rocdl.",
            "error: 'arith.",
            "error: 'scf.",
            "error: 'cf.",
            "error: 'math.",
            "error: 'vector.",
            "error: 'gpu.",
            "error: 'builtin.",
            "failed to legalize operation",
            "does not dominate this use",
            "Failures have been detected while processing an MLIR pass pipeline",
            "Pipeline failed while executing [",
            "note: see current operation",
            "mlir::",
            "LinearLayout",
            "lib/Dialect/Triton",
            "lib/Conversion/Triton",
            "TritonGPUToLLVM",
            "TritonToTritonGPU",
            "third_party/nvidia/lib",
            "third_party/amd/lib",
            "LLVM ERROR: ",
            "LLVM Error: ",
            "Cannot select: ",
            "Unsupported DotOp",
            "Unsupported WarpGroupDotOp",
            "Layout is expected to be surjective",
            "translateLLVMToASM",
            "failed to translate module to LLVM IR",
            "Failed to lower TMEM",
            "Failed to pipeline loop",
            "triton::gpu::",
            "UNREACHABLE executed at",
        ),
        patterns=(
            (r"^\s{0,20}#?\s?\d{1,3}:? .{0,120}\bmlir::\w|UNREACHABLE executed at \S{0,300}triton"),
            (
                r"\berror: '(?:tt|ttg|ttng|tti|triton\w{0,20}|amdg\w{0,10}|llvm|nvvm|nvgpu|nvws"
                "|rocdl"
                r"|arith|scf|cf|math|vector|gpu|builtin)\.[\w.]{1,80}' op|failed to legalize "
                "operation '|operand #\\d{1,5} does not dominate|Failures have been detected while "
                r"processing an MLIR pass|Pipeline failed while executing \["
                r"|LinearLayout\S{0,300}: "
                r".{0,600}Assertion|mlir::\S.{0,600}Assertion|(?:lib/(?:Dialect|Conversion)/Triton"
                r"|third_party/(?:nvidia|amd)/lib)\S{1,200}:\d{1,20}: .{0,600}(?:Assertion"
                r"|UNREACHABLE)"
                r"|LLVM (?:ERROR|Error): (?!out of memory|IO failure).{1,200}|Cannot select: (?:t\d"
                r"|0x|intrinsic)|Unsupported (?:WarpGroup)?DotOp found|Layout is expected to be "
                r"surjective|[fF]ailed to translate module to LLVM IR|Failed to lower TMEM"
            ),
        ),
        summary="A pass of Triton's compiler failed",
        means=(
            "The kernel's source was accepted, then MLIR or LLVM broke down: a bug of this Triton, "
            "or a combination of shape, dtype, num_stages and num_warps that it cannot lower on "
            "this GPU."
        ),
        mistaken_for="A crash of the model",
        check="Does num_stages=1 or another block size of the kernel compile?",
        fixes=(
            fix("Drop the configuration that fails: other block sizes, num_stages or num_warps"),
            fix("Use the newest Triton that fits this torch"),
        ),
        guide="guides/triton-and-autotuning.md#triton-compile-errors",
        next_tool="check_environment",
        matches=(
            quoted(
                "kernel.py:98:22: error: 'tt.assert' op pipeliner doesn't know how to predicate "
                "this op.",
                "form of an MLIR diagnostic",
            ),
            quoted(
                "LLVM ERROR: mma16816 data type not supported", "words of Triton's LLVM lowering"
            ),
            quoted(
                "#23 0x0000562 mlir::PassManager::run(mlir::Operation*) (/x/libtriton.so+0x1)",
                "a frame of a native stack",
            ),
            quoted(
                "triton-opt: /x/triton/lib/Tools/LinearLayout.cpp:512: mlir::triton::LinearLayout "
                "mlir::triton::LinearLayout::reshapeIns() const: Assertion `getTotalInDimSize() "
                "== n' failed.",
                "form of the assertion",
            ),
        ),
        neighbours=(quoted("LLVM ERROR: out of memory", "memory"),),
        apart_from=("compiler_killed",),
    ),
    Signature(
        id="triton_frame",
        family="K",
        phase="triton_compile",
        category="triton_error",
        role="symptom",
        weight=34,
        anchors=(
            "triton/compiler/code_generator.py",
            "triton/language/",
            "triton/backends/",
            "triton\\compiler\\code_generator.py",
            "triton\\language\\",
            "triton\\backends\\",
            "torch/_inductor/runtime/triton_heuristics.py:",
        ),
        patterns=(
            r"\bE\d{4} .{0,160}torch/_inductor/runtime/triton_heuristics\.py:\d{1,20}\] .{0,20}\S",
            (
                r"File \"[^\"]{0,300}\btriton[\\/](?:compiler[\\/]code_generator\.py|language[\\/]"
                r"(?:semantic|core|standard|math)\.py|backends[\\/]\w{1,200}[\\/]compiler\.py)\""
            ),
        ),
        summary="The failure is inside Triton's compiler",
        means=(
            "Frames of Triton's frontend or of its passes are on the stack, so a kernel was being "
            "compiled; the last line of the traceback says why that failed."
        ),
        check="The innermost exception, not the wrapper at the end",
        fixes=(fix("Look at the first exception of the chain and at the kernel it names"),),
        guide="guides/triton-and-autotuning.md#triton-compile-errors",
        next_tool="check_environment",
        matches=(
            quoted(
                'File "/x/site-packages/triton/language/semantic.py", line 759, in cast',
                "form of a frame",
            ),
            quoted(
                "E0304 10:00:00.533000 700 site-packages/torch/_inductor/runtime/"
                "triton_heuristics.py:533] Traceback (most recent call last):",
                "form of an error in Inductor's log",
            ),
        ),
        neighbours=(
            quoted(
                'File "/x/site-packages/triton/runtime/jit.py", line 347, in <lambda>',
                "a launch, not a compile",
            ),
        ),
    ),
    Signature(
        id="compile_worker_failed",
        family="K",
        phase="triton_compile",
        category="triton_error",
        role="symptom",
        weight=36,
        anchors=(
            "SubprocException: ",
            "An exception occurred in a subprocess:",
            "A compilation subprocess exited unexpectedly",
            "BrokenProcessPool: ",
            "SubprocPool unclean exit",
            "failure in subproc_pool",
            "unpickle failure in SubprocPool",
            "Attempting to use a closed pool",
            "compile_worker/",
        ),
        patterns=(
            (
                "SubprocException: |An exception occurred in a subprocess:|A compilation "
                "subprocess exited unexpectedly|BrokenProcessPool: |SubprocPool unclean exit"
                "|failure in subproc_pool|unpickle failure in SubprocPool|Attempting to use a "
                r"closed pool|torch/_inductor/compile_worker/\w{1,200}\.py\", line"
            ),
        ),
        summary="A worker process that compiles kernels failed or died",
        means=(
            "Kernels are compiled in a pool of processes. Either one reported the exception that "
            "follows, or it was killed: a crash of the compiler, or too little memory."
        ),
        mistaken_for="A fault of the model",
        check="TORCHINDUCTOR_COMPILE_THREADS=1 compiles in this process and shows the reason",
        fixes=(
            fix("Run once with TORCHINDUCTOR_COMPILE_THREADS=1; watch the memory meanwhile"),
            fix("Guard the script with `if __name__ == '__main__':`"),
        ),
        guide="guides/triton-and-autotuning.md#triton-compile-errors",
        next_tool="triage",
        matches=(
            quoted(
                "torch._inductor.compile_worker.subproc_pool.SubprocException: An exception "
                "occurred in a subprocess:",
                "words of torch/_inductor/compile_worker/subproc_pool.py",
            ),
            quoted(
                "concurrent.futures.process.BrokenProcessPool: A process in the process pool was "
                "terminated abruptly while the future was running or pending.",
                "words of CPython",
            ),
        ),
    ),
    Signature(
        id="compile_worker_hangs",
        family="N",
        phase="triton_compile",
        category="hang",
        weight=72,
        anchors=("Inductor compile-worker future for",),
        patterns=(
            r"Inductor compile-worker future for '?(?P<kernel>\w{1,120})'? did not complete within",
        ),
        summary="Compiling the kernel {kernel} in a worker process did not come to an end",
        means=(
            "The worker hangs, was lost without a word, or compiles a huge kernel on a machine "
            "with too few cores."
        ),
        mistaken_for="A hang of the model",
        check="TORCHINDUCTOR_COMPILE_THREADS=1: does it end in this process?",
        fixes=(
            fix("Compile with TORCHINDUCTOR_COMPILE_THREADS=1, or raise the limit it names"),
            fix("Clear TORCHINDUCTOR_CACHE_DIR and TRITON_CACHE_DIR"),
        ),
        guide="guides/threads-streams-hangs.md#hangs",
        next_tool="triage",
        matches=(
            quoted(
                "RuntimeError: Inductor compile-worker future for 'triton_per_fused_sort_0' did "
                "not complete within 300s.",
                "words of torch/_inductor/async_compile.py",
            ),
        ),
    ),
    Signature(
        id="compile_pool_forbidden",
        family="N",
        phase="lower",
        category="concurrency",
        weight=64,
        anchors=(
            "compile process pools are disabled in daemonic",
            "daemonic processes are not allowed to have children",
        ),
        patterns=(
            (
                "compile process pools are disabled in daemonic|daemonic processes are not allowed "
                "to have children"
            ),
        ),
        summary="A daemonic process may not start the workers that compile kernels",
        means=(
            "The compile runs inside a worker of another pool (a data loader, a server), which "
            "Python forbids to have children."
        ),
        check="Does it compile in the main process?",
        fixes=(fix("Compile in the main process, or set TORCHINDUCTOR_COMPILE_THREADS=1"),),
        guide="guides/threads-streams-hangs.md#forked-processes",
        matches=(
            quoted(
                "AssertionError: daemonic processes are not allowed to have children",
                "words of CPython's multiprocessing",
            ),
        ),
    ),
)
