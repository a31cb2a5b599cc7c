"""Triton and ptxas cannot compile a kernel, or it fails while it is tuned."""

from __future__ import annotations

from aoti_debug.facts.categories import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
    Signature(
        id="compile_pool_forbidden",
        phase="lower",
        category="concurrency",
        tier=Tier.KIND_TEXT,
        patterns=(
            "compile process pools are disabled in daemonic",
            "daemonic processes are not allowed to have children",
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
            words(
                "torch/_inductor/async_compile.py", "compile process pools are disabled in daemonic"
            ),
        ),
    ),
    Signature(
        id="compile_worker_failed",
        phase="triton_compile",
        category="triton_error",
        role="symptom",
        tier=Tier.VAGUE_TEXT,
        patterns=(
            "SubprocException: ",
            "An exception occurred in a subprocess:",
            "A compilation subprocess exited unexpectedly",
            "BrokenProcessPool: ",
            "SubprocPool unclean exit",
            "failure in subproc_pool",
            "unpickle failure in SubprocPool",
            "Attempting to use a closed pool",
            r'torch/_inductor/compile_worker/\w{1,200}\.py", line',
        ),
        summary="A worker process that compiles kernels failed or died",
        means=(
            "Kernels are compiled in a pool of processes. Either one reported the exception that "
            "follows, or it was killed: a crash of the compiler, or too little memory."
        ),
        check="TORCHINDUCTOR_COMPILE_THREADS=1 compiles in this process and shows the reason",
        fixes=(
            fix("Run once with TORCHINDUCTOR_COMPILE_THREADS=1; watch the memory meanwhile"),
            fix("Guard the script with `if __name__ == '__main__':`"),
        ),
        guide="guides/triton-and-autotuning.md#triton-compile-errors",
        next_tool="triage",
        matches=(
            quoted(
                "torch._inductor.compile_worker.subproc_pool.SubprocException: An exception occurred in a subprocess:",
                "words of torch/_inductor/compile_worker/subproc_pool.py",
            ),
            quoted(
                "concurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated abruptly while the future was running or pending.",
                "words of CPython",
            ),
            words(
                "torch/_inductor/async_compile.py", "A compilation subprocess exited unexpectedly"
            ),
            words(
                "torch/_inductor/compile_worker/subproc_pool.py",
                "SubprocPool unclean exit",
                "failure in subproc_pool",
                "unpickle failure in SubprocPool",
                "Attempting to use a closed pool",
            ),
            words("programs that were not at hand", 'torch/_inductor/compile_worker/x.py", line'),
        ),
    ),
    Signature(
        id="compile_worker_hangs",
        phase="triton_compile",
        category="hang",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            r"Inductor compile-worker future for '?(?P<kernel>\w{1,120})'? did not complete within",
        ),
        summary="Compiling the kernel {kernel} in a worker process did not come to an end",
        means=(
            "The worker hangs, was lost without a word, or compiles a huge kernel on a machine "
            "with too few cores."
        ),
        check="TORCHINDUCTOR_COMPILE_THREADS=1: does it end in this process?",
        fixes=(
            fix("Compile with TORCHINDUCTOR_COMPILE_THREADS=1, or raise the limit it names"),
            fix("Clear TORCHINDUCTOR_CACHE_DIR and TRITON_CACHE_DIR"),
        ),
        guide="guides/threads-streams-hangs.md#hangs",
        next_tool="triage",
        matches=(
            quoted(
                "RuntimeError: Inductor compile-worker future for 'triton_per_fused_sort_0' did not complete within 300s.",
                "words of torch/_inductor/async_compile.py",
            ),
        ),
    ),
    Signature(
        id="cpu_triton_missing",
        phase="cpp_compile",
        category="triton_error",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "unknown type name ['‘]async_compile['’]",
            "KeyError:? ['\\\"]cubin['\\\"]",
            r"CpuTritonKernelCache not populated for '(?P<kernel>\w{1,200})'",
        ),
        summary="A Triton kernel is part of a model compiled for the CPU",
        means=(
            "AOTInductor can run Triton kernels on the CPU only with a CPU build of Triton and a "
            "recent torch; otherwise code generation fails in one of these ways."
        ),
        fixes=(fix("Give the op a CPU implementation without Triton, or compile for the GPU"),),
        guide="guides/triton-and-autotuning.md#triton-kernels-on-the-cpu",
        matches=(
            quoted("KeyError: 'cubin'", "pytorch/pytorch#181068"),
            quoted("error: unknown type name 'async_compile'", "pytorch/pytorch#181068"),
            words(
                "torch/_inductor/codegen/cpp_wrapper_cpu.py",
                "CpuTritonKernelCache not populated for 'x'",
            ),
        ),
    ),
    Signature(
        id="int32_overflow",
        phase="triton_compile",
        category="triton_error",
        tier=Tier.SPECIFIC_TEXT,
        confidence="proved",
        patterns=(r"Scalar (?P<value>-?\d{1,20}) is out of range for type int32",),
        summary="A fused kernel's offset {value} does not fit in 32 bits",
        means=(
            "Inductor chose int32 indexing although a constant offset of the fused kernel exceeds "
            "2**31. With smaller offsets the same slip compiles and faults at run time."
        ),
        fixes=(
            fix(
                (
                    "Upgrade torch; or split the tensor so that no fused view spans more than "
                    "2**31 elements"
                ),
            ),
        ),
        guide="guides/cuda-illegal-memory-access.md#int32-index-overflow",
        next_tool="minify",
        matches=(
            quoted(
                "ValueError: Scalar -2779057358 is out of range for type int32",
                "pytorch/pytorch#186057",
            ),
        ),
    ),
    Signature(
        id="no_valid_configs",
        phase="autotune",
        category="autotune_error",
        tier=Tier.KIND_TEXT,
        patterns=(
            r"No valid triton configs(?:\. (?P<error>.{0,160}))?",
            "NoValidChoicesError",
            "No choices to select",
            r"Only configs and keys are supported for triton\.autotune",
            "NoTritonConfigsError",
            "No triton configs are available",
            "No choices exist for backend",
            "All choices failed to compile for backend",
            "No valid choices generated for",
            "Non-empty TritonConfig list required",
            "has no attribute 'store_cubin'",
        ),
        summary="No configuration of a kernel survived tuning",
        means=(
            "Every candidate failed to compile or to run; the reason of the last one follows. For "
            "user kernels only `configs` and `key` of triton.autotune are supported."
        ),
        fixes=(
            fix(
                (
                    "Offer smaller configurations; drop other triton.autotune arguments; add ATEN "
                    "to max_autotune_gemm_backends"
                ),
            ),
        ),
        guide="guides/triton-and-autotuning.md#out-of-resource",
        next_tool="triage",
        matches=(
            quoted(
                "RuntimeError: No valid triton configs. OutOfResources: out of resource: shared memory, Required: 184336, Hardware limit: 101376.",
                "text of triton_heuristics.py",
            ),
            quoted(
                "torch._inductor.select_algorithm.NoValidChoicesError: No choices to select.",
                "text of select_algorithm.py",
            ),
            words(
                "programs that were not at hand",
                "Only configs and keys are supported for triton.autotune",
                "has no attribute 'store_cubin'",
            ),
            words("torch/_inductor/scheduler.py", "NoTritonConfigsError"),
            words(
                "torch/_inductor/runtime/triton_heuristics.py",
                "No triton configs are available",
                "Non-empty TritonConfig list required",
            ),
            words(
                "torch/_inductor/select_algorithm.py",
                "No choices exist for backend",
                "All choices failed to compile for backend",
            ),
            words("torch/_inductor/kernel/custom_op.py", "No valid choices generated for"),
        ),
    ),
    Signature(
        id="ptxas_failed",
        phase="triton_compile",
        category="triton_error",
        tier=Tier.KIND_TEXT,
        patterns=(
            "PTXAS error",
            "PTXASError",
            r"ptxas fatal\s{0,20}: ?(?P<text>.{0,120})",
            r"ptxas error\s{0,20}: ?(?P<text>.{0,120})",
            "Internal Triton PTX codegen error",
            "ptxas application ptx input, line",
            "ptxas stderr",
            "`ptxas` failed",
            "`ptxas` to confirm",
            "`ptxas` raised",
            r"CalledProcessError: Command .{0,300}\bptxas(?:\.exe)?\b",
            r"ptxas \S{1,200}, line \d{1,20}; (?:error|fatal)",
            "ran out of registers during register allocation",
            r"(?:ld\.lld|lld): error: .{0,200}hsaco",
        ),
        summary="ptxas rejected the code of a Triton kernel",
        means=(
            "The GPU assembler failed: registers ran out for a configuration, or this ptxas does "
            "not know the GPU or the PTX version."
        ),
        check="The `ptxas fatal` line: register allocation, or an unknown architecture or version",
        fixes=(
            fix(
                (
                    "Fewer warps or smaller blocks for register failures; a matching toolkit "
                    "(TRITON_PTXAS_PATH unset) for versions"
                ),
            ),
        ),
        guide="guides/triton-and-autotuning.md#triton-compile-errors",
        next_tool="check_environment",
        matches=(
            quoted(
                "ptxas fatal   : (C7600) Register allocation failed with register count of '128'. Compile the program with a higher register target",
                "pytorch/helion#85",
            ),
            quoted(
                "triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error",
                "pytorch/helion#85",
            ),
            quoted(
                "subprocess.CalledProcessError: Command '['/x/triton/backends/nvidia/bin/ptxas', '-lineinfo', '-v', '--gpu-name=sm_120', '/tmp/tmpb.ptx']' returned non-zero exit status 255.",
                "form of the error",
            ),
            words(
                "programs that were not at hand",
                "ptxas error:x",
                "ptxas application ptx input, line",
                "ptxas stderr",
                "`ptxas` to confirm",
            ),
            words("triton/backends/nvidia/compiler.py", "`ptxas` failed", "`ptxas` raised"),
            words("torch/_python_dispatcher.py", "ptxas x, line 1; error"),
            words("CUDA", "ran out of registers during register allocation"),
            words("c10/util/CallOnce.h", "ld.lld: error: hsaco"),
        ),
        neighbours=(quoted("ptxas info    : Used 40 registers, 400 bytes cmem[0]", "no failure"),),
    ),
    Signature(
        id="triton_compilation_error",
        phase="triton_compile",
        category="triton_error",
        tier=Tier.KIND_TEXT,
        patterns=(
            (
                r"(?:triton\.compiler\.(?:errors\.|code_generator\.)?)?CompilationError: at "
                r"(?P<line>\d{1,20}):\d{1,20}"
            ),
            r"Triton compilation failed: (?P<kernel>\w{1,200})",
            "UnsupportedLanguageConstruct",
            r"triton\.compiler\.\S{0,300}CompilationError",
            "PassManager::run failed",
            "CompileTimeAssertionFailure",
            "InductorError: CompilationError",
        ),
        summary="Triton could not compile a kernel",
        means=(
            "The Triton source of a kernel (yours or a generated one) is not accepted; the caret "
            "below marks the expression."
        ),
        check=(
            "Is the file yours or in the Inductor cache? A generated file means an Inductor or "
            "version problem"
        ),
        fixes=(
            fix(
                (
                    "Correct the marked expression of your kernel; for generated kernels check "
                    "that the Triton version is the one this torch was built with"
                ),
            ),
        ),
        guide="guides/triton-and-autotuning.md#triton-compile-errors",
        next_tool="check_environment",
        matches=(
            quoted("triton.compiler.errors.CompilationError: at 1:0:", "pytorch/pytorch#170049"),
            quoted(
                "triton.compiler.CompilationError: at 64:39:    # rematerialize rm and rn to save registers",
                "pytorch/pytorch#97553",
            ),
            words("torch/_inductor/runtime/triton_heuristics.py", "Triton compilation failed: x"),
            words("triton/compiler/errors.py", "UnsupportedLanguageConstruct"),
            words("triton", "PassManager::run failed"),
            words("triton/runtime/autotuner.py", "CompileTimeAssertionFailure"),
            words("programs that were not at hand", "InductorError: CompilationError"),
        ),
        apart_from=("cpp_compile_failed",),
    ),
    Signature(
        id="triton_frame",
        phase="triton_compile",
        category="triton_error",
        role="symptom",
        tier=Tier.VAGUE_TEXT,
        anchors=("triton/language", "triton\\language"),
        patterns=(
            r"\bE\d{4} .{0,160}torch/_inductor/runtime/triton_heuristics\.py:\d{1,20}\] .{0,20}\S",
            r'File "[^"]{0,300}\btriton[\\/]compiler[\\/]code_generator\.py"',
            r'File "[^"]{0,300}\btriton[\\/]language[\\/](?:semantic|core|standard|math)\.py"',
            r'File "[^"]{0,300}\btriton[\\/]backends[\\/]\w{1,200}[\\/]compiler\.py"',
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
            words(
                "Triton's own files",
                '  File "/x/triton/compiler/code_generator.py", line 1, in visit',
                '  File "C:\\x\\triton\\language\\core.py", line 1, in to',
                '  File "/x/triton/backends/amd/compiler.py", line 1, in make_llir',
            ),
            quoted(
                'File "/x/site-packages/triton/language/semantic.py", line 759, in cast',
                "form of a frame",
            ),
            quoted(
                "E0304 10:00:00.533000 700 site-packages/torch/_inductor/runtime/triton_heuristics.py:533] Traceback (most recent call last):",
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
        id="triton_frontend_refused",
        phase="triton_compile",
        category="triton_error",
        tier=Tier.GENERAL_TEXT,
        patterns=(
            "(?P<text>data type is not supported on CUDA arch)",
            r"(?P<text>not supported in this architecture\. The supported fp8 dtypes are)",
            r"(?P<text>fp8e\w{1,8} not supported in this architecture)",
            "(?P<text>supported_fp8_dtypes)",
            "(?P<text>allow_fp8e4nv)",
            "(?P<text>IncompatibleTypeErrorImpl)",
            "(?P<text>invalid operands of type pointer<)",
            r"(?P<text>invalid operands of type triton\.language)",
            "(?P<text>arange's range must be a power of 2)",
            "(?P<text>arange's arguments must be)",
            "(?P<text>exceeds triton maximum tensor numel)",
            "(?P<text>Loop-carried variable )",
            "(?P<text>cannot reassign constexpr)",
            "(?P<text>constexpr cannot be reassigned)",
            "(?P<text>Cannot access global variable )",
            r"(?P<text>Did you forget to add @triton\.jit)",
            r"(?P<text>Cannot call @triton\.jit'd outside of the scope)",
            r"(?P<text>@triton\.jit'd functions)",
            "(?P<text>unsupported AST node type)",
            "(?P<text>Input shapes should have M >=)",
            "(?P<text>All non-batch values in both first input shape)",
            r"(?P<text>Both operands must be same dtype\. Got)",
            r"(?P<text>Both operands must be same type\. First operand)",
            r"(?P<text>Both inputs must be either 2D or 3D; \(lhs)",
            "(?P<text>Unsupported lhs dtype)",
            "(?P<text>Unsupported rhs dtype)",
            "(?P<text>input_precision must be one of)",
            "(?P<text>target doesn't provide)",
            "(?P<text>Unsupported ptr type)",
            "(?P<text>`mask` and `other` arguments cannot be specified for loading block pointers)",
            "(?P<text>`other` cannot be provided without `mask`)",
            "(?P<text>Mask argument cannot be block type if pointer argument is not a block)",
            "(?P<text>Value argument cannot be block type if pointer argument is not a block)",
            "(?P<text>Other argument cannot be block type if pointer argument is not a block)",
            "(?P<text>Mask must have boolean scalar type)",
            "(?P<text>Cannot store to a constant pointer)",
            "(?P<text>Cannot broadcast, rank mismatch)",
            "(?P<text>Cannot broadcast, the expanded size of the tensor)",
            "(?P<text>Cannot make_shape_compatible)",
            r"(?P<text>reshape\(\) cannot change total number of elements in tensor)",
            "(?P<text>Inconsistent return types: )",
            "(?P<text>For loop bounds and step must all be ints)",
            "(?P<text>Only `range` and `static_range` iterators are currently supported)",
            r"(?P<text>used as tl\.static_range)",
            "(?P<text>Assertion condition could not be determined at compile-time)",
            "(?P<text>CompileTimeAssertionFailure)",
            "(?P<text>Descriptor block shape must have at least)",
            "(?P<text>Tensor descriptor last dim must be 1)",
            "(?P<text>descriptor gather must have at least)",
            "(?P<text>nested function definition is not supported)",
            "(?P<text>Cannot have `return` statements inside)",
            "(?P<text>`if` conditionals can only accept values of type)",
            "(?P<text>Cannot bitcast data-type of size)",
            "(?P<text>Only floating point clamp is supported)",
            "(?P<text>both operands of fdiv must have floating scalar type)",
            "(?P<text>cannot add pointers together)",
            r"(?P<text>only supports elements with width \{16, 32, 64\})",
            "(?P<text>Unsupported floating-point type)",
            "(?P<text>0d block_type is forbidden)",
            "(?P<text>because they have different signedness)",
            "(?P<text>Block pointers only support 32 bit)",
            r"(?P<text>num_ctas > 1 requires NVIDIA SM90\+)",
            "(?P<text>num_ctas > 1 not supported for AMD GPUs)",
            "(?P<text>num_warps must be a power of 2)",
            "(?P<text>TRITON_OVERRIDE_ARCH must have the form)",
            "(?P<text>must be constexpr when)",
            "(?P<text>Conflicting meta-parameters: )",
            "(?P<text>error encountered during parsing)",
            "(?P<text>has changed since we compiled this kernel)",
            "(?P<text>Kernel requires a runtime memory allocation, but no allocator was set)",
            "(?P<text>nvTmaDesc )",
            "(?P<text>target must be of GPUTarget type)",
            r"(?P<text>Shape element \d{1,3} must be a power of 2)",
            r"(?P<text>Mismatched type for \S{1,80} between )",
            r"(?P<text>atomic_\w{2,10} does not support)",
            r"(?P<text>\) are not compatible for matmul)",
            r"(?P<text>(?:Error|Exception).{0,200}triton\.language\.(?:semantic|core))",
            r"(?P<text>Loop carried variable \S{1,80} changed)",
            r"(?P<text>Loop carried variable \S{1,80} is not)",
            r"(?P<text>AST .{0,60} is not \(currently\) implemented)",
        ),
        summary="Triton does not accept a kernel's source: {text}",
        means=(
            "The frontend checks types, shapes and the Python subset before any code is made. In a "
            "kernel of yours the statement is to blame, in a generated one Inductor or a Triton "
            "that does not belong to this torch; float8 needs a new enough GPU."
        ),
        check="Whose file is it: yours, or one below torchinductor_*?",
        fixes=(
            fix("Correct the statement; cast operands and masks explicitly"),
            fix("For a generated kernel use the Triton release of this torch, or another dtype"),
        ),
        guide="guides/triton-and-autotuning.md#triton-compile-errors",
        next_tool="check_environment",
        matches=(
            quoted(
                "type fp8e4nv not supported in this architecture.",
                "words of triton/language/semantic.py",
            ),
            quoted(
                "AssertionError: fp8e4nv data type is not supported on CUDA arch < 89",
                "words of triton/language/semantic.py",
            ),
            quoted(
                "ValueError('arange\\'s range must be a power of 2'); arange's range must be a power of 2",
                "words of triton/language/semantic.py",
            ),
            quoted(
                "AssertionError('Loop-carried variable acc has initial type fp32 but is re-assigned to fp16 in loop!",
                "words of triton/compiler/code_generator.py",
            ),
            quoted(
                "triton.language.semantic.IncompatibleTypeErrorImpl: invalid operands of type pointer<fp32> and triton.language.float64",
                "words of triton/language/semantic.py",
            ),
            words(
                "programs that were not at hand",
                "not supported in this architecture. The supported fp8 dtypes are",
                "allow_fp8e4nv",
                "invalid operands of type triton.language",
                "All non-batch values in both first input shape",
                "Both operands must be same type. First operand",
                "`mask` and `other` arguments cannot be specified for loading block pointers",
                "Inconsistent return types: ",
                "nested function definition is not supported",
                "Only floating point clamp is supported",
                "both operands of fdiv must have floating scalar type",
                "Block pointers only support 32 bit",
                "num_ctas > 1 not supported for AMD GPUs",
                "must be constexpr when",
                ") are not compatible for matmul",
            ),
            words("torch/_inductor/utils.py", "supported_fp8_dtypes"),
            words(
                "triton/language/semantic.py",
                "arange's arguments must be",
                "Input shapes should have M >=",
                "Both operands must be same dtype. Got",
                "Both inputs must be either 2D or 3D; (lhs",
                "Unsupported lhs dtype",
                "Unsupported rhs dtype",
                "input_precision must be one of",
                "target doesn't provide",
                "Unsupported ptr type",
                "Mask argument cannot be block type if pointer argument is not a block",
                "Value argument cannot be block type if pointer argument is not a block",
                "Other argument cannot be block type if pointer argument is not a block",
                "Cannot store to a constant pointer",
                "reshape() cannot change total number of elements in tensor",
                "descriptor gather must have at least",
                "Cannot bitcast data-type of size",
                "cannot add pointers together",
                "only supports elements with width {16, 32, 64}",
                "because they have different signedness",
            ),
            words("triton/_utils.py", "exceeds triton maximum tensor numel"),
            words(
                "triton/compiler/code_generator.py",
                "cannot reassign constexpr",
                "constexpr cannot be reassigned",
                "Cannot access global variable ",
                "unsupported AST node type",
                "For loop bounds and step must all be ints",
                "Only `range` and `static_range` iterators are currently supported",
                "Assertion condition could not be determined at compile-time",
                "Cannot have `return` statements inside",
                "`if` conditionals can only accept values of type",
                "error encountered during parsing",
                "Loop carried variable x changed",
                "Loop carried variable x is not",
                "AST  is not (currently) implemented",
            ),
            words(
                "triton/language/core.py",
                "Did you forget to add @triton.jit",
                "@triton.jit'd functions",
                "used as tl.static_range",
                "Unsupported floating-point type",
                "0d block_type is forbidden",
            ),
            words(
                "triton/runtime/jit.py",
                "Cannot call @triton.jit'd outside of the scope",
                "has changed since we compiled this kernel",
            ),
            words(
                "torch/_inductor/runtime/triton_helpers.py",
                "`other` cannot be provided without `mask`",
            ),
            words(
                "triton/experimental/gluon/language/_semantic.py",
                "Mask must have boolean scalar type",
                "Cannot broadcast, rank mismatch",
                "Cannot broadcast, the expanded size of the tensor",
                "Cannot make_shape_compatible",
            ),
            words("triton/runtime/autotuner.py", "CompileTimeAssertionFailure"),
            words(
                "triton/experimental/gluon/language/nvidia/hopper/tma.py",
                "Descriptor block shape must have at least",
                "Tensor descriptor last dim must be 1",
            ),
            words(
                "triton/backends/nvidia/compiler.py",
                "num_ctas > 1 requires NVIDIA SM90+",
                "TRITON_OVERRIDE_ARCH must have the form",
            ),
            words("triton/backends/amd/compiler.py", "num_warps must be a power of 2"),
            words("torch/_vendor/quack/autotuner.py", "Conflicting meta-parameters: "),
            words(
                "triton/runtime/_allocation.py",
                "Kernel requires a runtime memory allocation, but no allocator was set",
            ),
            words("torch/_inductor/runtime/triton_lazy_compile.py", "nvTmaDesc "),
            words("triton/compiler/compiler.py", "target must be of GPUTarget type"),
            words("torch/_vendor/quack/epi_ops.py", "Shape element 1 must be a power of 2"),
            words("libtorch", "Mismatched type for x between "),
            words("torch/_meta_registrations.py", "atomic_xx does not support"),
            words("torch/_dynamo/utils.py", "Errortriton.language.semantic"),
        ),
        neighbours=(
            quoted("ValueError: n_fft must be a power of 2", "a library's own check"),
            quoted("RuntimeError: this backend does not support bf16", "a library's own check"),
        ),
    ),
    Signature(
        id="triton_out_of_resource",
        phase="run",
        category="kernel_resources",
        tier=Tier.EXACT_TEXT,
        patterns=(
            r"local memory \(\d{1,20}\) exceeds limit",
            "uses too much shared data",
            "exceeds available shared memory",
            (
                r"out of resource: (?P<what>[\w ]{1,200}), Required: (?P<need>\d{1,20}), Hardware "
                r"limit: (?P<limit>\d{1,20})"
            ),
            (
                r"out of resource: (?P<what>\w{1,200}) Required: (?P<need>\d{1,20}) Hardware "
                r"limit: ?(?P<limit>\d{1,20})"
            ),
            r"OutOfResources: out of resource: (?P<what>[\w ]{1,200})",
        ),
        summary="A Triton kernel asks for more shared memory, registers or threads than there are",
        means=(
            "The block sizes and stages of a configuration do not fit. In max-autotune such "
            "configurations are dropped and the line is harmless; for a user kernel with one "
            "configuration it is fatal."
        ),
        check="Did the compile go on afterwards? Then ignore it",
        fixes=(
            fix(
                (
                    "Reduce num_stages or the block sizes of the kernel; offer smaller "
                    "configurations to triton.autotune"
                ),
            ),
        ),
        guide="guides/triton-and-autotuning.md#out-of-resource",
        matches=(
            quoted(
                "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 131072, Hardware limit: 101376.",
                "triton-lang/triton#8182",
            ),
            quoted(
                "out of resource: triton_red_fused_3 Required: 262400 Hardware limit:232448",
                "text of torch's static launcher",
            ),
            quoted(
                "ptxas error   : Entry function 'triton_mm' uses too much shared data (0x19000 bytes, 0x18c00 max)",
                "words of ptxas",
            ),
            words("CUDA", "local memory (1) exceeds limit"),
            words("programs that were not at hand", "exceeds available shared memory"),
        ),
        neighbours=(
            quoted("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"),
        ),
    ),
    Signature(
        id="triton_pass_failed",
        phase="triton_compile",
        category="triton_error",
        tier=Tier.KIND_TEXT,
        anchors=("mlir::",),
        patterns=(
            r"Assertion `.{0,300}\bcast<Ty>\(\) argument of incompatible type",
            "Assertion `parentOp->get",
            "Pipeline failed while executing ConvertTriton",
            r"^\s{0,20}#?\s?\d{1,3}:? .{0,120}\bmlir::\w",
            r"UNREACHABLE executed at \S{0,300}triton",
            (
                r"\berror: '(?:tt|ttg|ttng|tti|triton\w{0,20}|amdg\w{0,10}|llvm|nvvm|nvgpu|nvws|"
                r"rocdl|arith|scf|cf|math|vector|gpu|builtin)\.[\w.]{1,80}' op"
            ),
            "failed to legalize operation '",
            r"operand #\d{1,5} does not dominate",
            "Failures have been detected while processing an MLIR pass",
            r"Pipeline failed while executing \[",
            r"LinearLayout\S{0,300}: .{0,600}Assertion",
            r"mlir::\S.{0,600}Assertion",
            (
                r"(?:lib/(?:Dialect|Conversion)/Triton|third_party/(?:nvidia|amd)/lib)\S{1,200}"
                r":\d{1,20}: .{0,600}(?:Assertion|UNREACHABLE)"
            ),
            "LLVM ERROR: (?!out of memory|IO failure).{1,200}",
            "LLVM Error: (?!out of memory|IO failure).{1,200}",
            r"Cannot select: (?:t\d|0x|intrinsic)",
            "Unsupported (?:WarpGroup)?DotOp found",
            "Layout is expected to be surjective",
            "[fF]ailed to translate module to LLVM IR",
            "Failed to lower TMEM",
        ),
        summary="A pass of Triton's compiler failed",
        means=(
            "The kernel's source was accepted, then MLIR or LLVM broke down: a bug of this Triton, "
            "or a combination of shape, dtype, num_stages and num_warps that it cannot lower on "
            "this GPU."
        ),
        check="Does num_stages=1 or another block size of the kernel compile?",
        fixes=(
            fix("Drop the configuration that fails: other block sizes, num_stages or num_warps"),
            fix("Use the newest Triton that fits this torch"),
        ),
        guide="guides/triton-and-autotuning.md#triton-compile-errors",
        next_tool="check_environment",
        matches=(
            words(
                "programs that were not at hand",
                'Assertion `isa<To>(Val) && "cast<Ty>() argument of incompatible type!"\' failed.',
                "Assertion `parentOp->getNumRegions() == 1' failed",
                "Pipeline failed while executing ConvertTritonAMDGPUToLLVM",
            ),
            quoted(
                "kernel.py:98:22: error: 'tt.assert' op pipeliner doesn't know how to predicate this op.",
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
                "triton-opt: /x/triton/lib/Tools/LinearLayout.cpp:512: mlir::triton::LinearLayout mlir::triton::LinearLayout::reshapeIns() const: Assertion `getTotalInDimSize() == n' failed.",
                "form of the assertion",
            ),
            words(
                "programs that were not at hand",
                "UNREACHABLE executed at triton",
                "lib/Dialect/Tritonx:1: Assertion",
                "LLVM Error: x",
            ),
            words(
                "triton",
                "failed to legalize operation '",
                "Failures have been detected while processing an MLIR pass",
                "Pipeline failed while executing [",
                "Layout is expected to be surjective",
                "Failed to translate module to LLVM IR",
                "Failed to lower TMEM",
            ),
            words("torch/_vendor/quack/gemm_sm100.py", "operand #1 does not dominate"),
            words("CUDA", "Cannot select: t1"),
            words("torch/_meta_registrations.py", "Unsupported DotOp found"),
        ),
        neighbours=(quoted("LLVM ERROR: out of memory", "memory"),),
        apart_from=("compiler_killed",),
    ),
    Signature(
        id="gpu_compiler_failed",
        phase="triton_compile",
        category="triton_error",
        tier=Tier.NAMED_TEXT,
        patterns=(
            "(?P<what>IGC: Internal Compiler Error.{0,80})",
            "(?P<what>IGC internal compiler error)",
            "(?P<what>L0 build module failed)",
            "(?P<what>ZE_RESULT_ERROR_MODULE_(?:BUILD|LINK)_FAILURE)",
            r"(?P<what>Triton Error \[ZE\]: .{0,60})",
            "(?P<what>Error during Intel loadBinary)",
            r"(?P<what>LLVM ERROR: Cannot select: .{0,80}AMDGPU.{0,40})",
            r"(?P<what>Cannot find ROCm device library)",
        ),
        summary="The GPU's own compiler gave up on a kernel: {what}",
        means=(
            "Triton hands a kernel to the compiler of the vendor's driver (IGC and Level Zero for "
            "Intel, LLVM for AMD). What it prints of signals and exceptions is its own: neither "
            "the model nor the package has crashed."
        ),
        check="Does the kernel compile with another driver, or with optimisation switched off?",
        fixes=(
            fix("Take the newest driver and the Triton that the torch build names"),
            fix("Report the generated kernel (TORCH_LOGS=output_code) to the driver's project"),
        ),
        guide="guides/other-platforms.md#intel-gpus",
        next_tool="check_environment",
        matches=(
            words(
                "programs that were not at hand",
                "L0 build module failed. Log: IGC: Internal Compiler Error: Segmentation violation",
                "IGC internal compiler error",
                "Error during Intel loadBinary: ZE_RESULT_ERROR_MODULE_BUILD_FAILURE",
                "RuntimeError: Triton Error [ZE]: 0x78000011",
                "LLVM ERROR: Cannot select: 0x1: i32 = AMDGPUISD::X",
                "clang: error: Cannot find ROCm device library",
            ),
        ),
    ),
    Signature(
        id="triton_c_compiler_missing",
        phase="triton_compile",
        category="toolchain",
        tier=Tier.NAMED_TEXT,
        confidence="proved",
        patterns=("Failed to find C compiler",),
        summary="Triton finds no C compiler for the launchers of its kernels",
        means=(
            "Triton builds a small C module for each kernel's launcher; it looks for gcc, clang or "
            "the compiler that CC names."
        ),
        check="gcc --version in the same shell; is CC set to something that exists?",
        fixes=(fix("Install gcc (build-essential) or set CC to the compiler's path"),),
        guide="guides/toolchain.md#no-compiler",
        next_tool="check_environment",
        matches=(
            words(
                "triton/runtime/build.py",
                "RuntimeError: Failed to find C compiler. Please specify via CC environment variable",
            ),
        ),
    ),
    Signature(
        id="autotune_block_failed",
        phase="autotune",
        category="autotune_error",
        role="symptom",
        tier=Tier.KIND_TEXT,
        patterns=(
            "Failed to run autotuning code block: (?P<error>.{1,200})",
            r"Failed during launch (?P<error>\w{1,200}) with config",
        ),
        summary="Tuning the kernels at compile time failed: {error}",
        means=(
            "AOTInductor runs the graph's kernels on made-up inputs to choose configurations. "
            "Data-dependent kernels, memory limits or a bad grid can fail there although the model "
            "is right."
        ),
        check=(
            "Compile once with TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0: if that runs well, "
            "only tuning is at fault"
        ),
        fixes=(
            fix(
                (
                    "Switch tuning at compile time off, or give user kernels valid data through a "
                    "single config"
                ),
            ),
        ),
        guide="guides/triton-and-autotuning.md#the-autotuning-block-failed",
        next_tool="triage",
        matches=(
            quoted(
                "Failed to run autotuning code block: CUDA driver error: invalid argument",
                "triton-lang/triton#7822",
            ),
            quoted(
                "Failed during launch triton_poi_fused_24 with config XBLOCK: 1024, YBLOCK: 1",
                "pytorch/pytorch#176193",
            ),
        ),
    ),
    Signature(
        id="autotune_choice_failed",
        phase="autotune",
        category="autotune_error",
        role="symptom",
        tier=Tier.BROAD_TEXT,
        patterns=(
            "Runtime error during autotuning",
            "CUDA compilation error during autotuning",
            "Runtime error for autotuning triton choices",
            "Failed to benchmark choice",
            "for benchmark choice",
            "Unexpected exception in autotune subprocess",
            "Timeout in autotune subprocess",
            "Sending SIGKILL to autotune subprocess",
            "Incorrect result from choice",
            "All autotuning benchmarks failed",
            "failed or timed out during collective",
            "Collective benchmark exception for choice",
            "Marking choice as failed due to timeout",
            "Precompilation timeout after",
            "Barrier timeout before benchmarking",
            "All-reduce timeout when collecting benchmark",
            "AutotuneProcessPool warmup failed",
            "choice .{1,300} failed during benchmarking",
            "Ignoring this choice",
            "avoid those benchmarkings that would cause",
            r"profiling events\. Found",
            "Failed to capture device events for",
            r"^[EC]\d{4} .{0,120}torch/_inductor/select_algorithm\.py:\d{1,20}\]",
            r"^[EC]\d{4} .{0,120}torch/_inductor/autotune_process\.py:\d{1,20}\]",
            r"\[ERROR\].{0,80}(?:select_algorithm|autotune_process)",
        ),
        summary="A candidate kernel failed while Inductor was choosing the fastest",
        means=(
            "max-autotune compiles and times many candidates. One that fails is dropped and the "
            "compile goes on; only if all fail, or the failure breaks the CUDA context, is it the "
            "reason of what follows."
        ),
        check="Did the compile go on afterwards? Then ignore it",
        fixes=(
            fix("Add ATEN to max_autotune_gemm_backends, so that one candidate always works"),
            fix("Compile without max_autotune; set autotune_in_subproc to survive a crash"),
        ),
        guide="guides/triton-and-autotuning.md#out-of-resource",
        next_tool="triage",
        matches=(
            quoted(
                "Runtime error during autotuning: ", "words of torch/_inductor/select_algorithm.py"
            ),
            quoted(
                "E0411 08:00:00.558000 2500 torch/_inductor/select_algorithm.py:1905] [15/4] Exception No valid triton configs.",
                "form of the log line",
            ),
            words(
                "torch/_inductor/select_algorithm.py",
                "CUDA compilation error during autotuning",
                "Runtime error for autotuning triton choices",
                "for benchmark choice",
                "Incorrect result from choice",
                "All autotuning benchmarks failed",
                "failed or timed out during collective",
                "Collective benchmark exception for choice",
                "Marking choice as failed due to timeout",
                "Precompilation timeout after",
                "Barrier timeout before benchmarking",
                "All-reduce timeout when collecting benchmark",
                "choice x failed during benchmarking",
                "Ignoring this choice",
            ),
            words(
                "torch/_inductor/autotune_process.py",
                "Failed to benchmark choice",
                "Unexpected exception in autotune subprocess",
                "Timeout in autotune subprocess",
                "Sending SIGKILL to autotune subprocess",
                "AutotuneProcessPool warmup failed",
            ),
            words("programs that were not at hand", "avoid those benchmarkings that would cause"),
            words(
                "torch/_inductor/utils.py",
                "profiling events. Found",
                "Failed to capture device events for",
            ),
            words(
                "torch/_logging",
                "E1111 torch/_inductor/autotune_process.py:12] ",
                "[ERROR] torch/_inductor/autotune_process.py:12",
            ),
        ),
        neighbours=(
            quoted(
                "V0411 08:00:00.558000 2500 torch/_inductor/select_algorithm.py:1905] [15/4] Max autotune selects from 18 choices.",
                "no failure",
            ),
        ),
    ),
    Signature(
        id="autotune_device_assert",
        phase="autotune",
        category="autotune_error",
        tier=Tier.SPECIFIC_TEXT,
        patterns=("Failed to run autotuning code block: .{0,80}device-side assert triggered",),
        summary="A kernel's assertion fired on the made-up inputs used for tuning",
        means=(
            "Random numbers were used as indices while tuning, and the bounds check of a kernel "
            "rejected them. The model's real indices were not involved."
        ),
        check="Does the model pass eagerly on the example inputs? Then it is the tuning data",
        fixes=(
            fix(
                (
                    "Upgrade, or switch tuning at compile time off; keep the producer and the "
                    "consumer of indices in one graph"
                ),
            ),
        ),
        guide="guides/triton-index-out-of-bounds.md#an-assert-while-compiling",
        next_tool="triage",
        matches=(
            quoted(
                "Failed to run autotuning code block: Triton Error [CUDA]: device-side assert triggered",
                "pytorch/pytorch#147799",
            ),
        ),
    ),
    Signature(
        id="autotune_gpu_fault",
        phase="autotune",
        category="illegal_memory_access",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            (
                "(?:Failed to run autotuning code block: |torch/_inductor/(?:select_algorithm|"
                r"runtime/triton_heuristics)\.py:\d{1,20}\]).{0,80}illegal memory access"
            ),
            (
                "(?:Failed to run autotuning code block: |torch/_inductor/(?:select_algorithm|"
                r"runtime/triton_heuristics)\.py:\d{1,20}\]).{0,80}unspecified launch failure"
            ),
            (
                "(?:Failed to run autotuning code block: |torch/_inductor/(?:select_algorithm|"
                r"runtime/triton_heuristics)\.py:\d{1,20}\]).{0,80}global/shared address space"
            ),
        ),
        summary="A kernel faulted on the GPU while it was being tuned",
        means=(
            "Either the kernel is wrong, or the made-up tuning inputs (sizes from hints, None as a "
            "tensor, random indices) are. The process must be restarted before anything else."
        ),
        check="A core dump on exception names the kernel; run it alone on real inputs",
        fixes=(fix("Correct the kernel; or switch tuning at compile time off"),),
        guide="guides/cuda-illegal-memory-access.md#a-fault-while-compiling",
        next_tool="triage",
        matches=(
            quoted(
                "RuntimeError: Failed to run autotuning code block: Triton Error [CUDA]: an illegal memory access was encountered",
                "pytorch/pytorch#115344",
            ),
            words(
                "torch/testing/_internal/common_methods_invocations.py",
                "Failed to run autotuning code block: unspecified launch failure",
            ),
            words("CUDA", "Failed to run autotuning code block: global/shared address space"),
        ),
    ),
    Signature(
        id="autotune_invalid_argument",
        phase="autotune",
        category="autotune_error",
        tier=Tier.SPECIFIC_TEXT,
        patterns=("Failed to run autotuning code block: .{0,80}invalid argument",),
        summary="A kernel launch made for tuning had an invalid grid or argument",
        means=(
            "With the sizes assumed for tuning, one kernel's grid is zero or too large. The real "
            "sizes may be fine."
        ),
        check="TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0",
        fixes=(
            fix(
                (
                    "Switch tuning at compile time off; upgrade to 2.10 or later, which logs the "
                    "kernel's name"
                ),
            ),
        ),
        guide="guides/triton-and-autotuning.md#the-autotuning-block-failed",
        next_tool="triage",
        matches=(
            quoted(
                "Failed to run autotuning code block: Triton Error [CUDA]: invalid argument",
                "pytorch/pytorch#145984",
            ),
        ),
    ),
    Signature(
        id="autotune_misaligned",
        phase="autotune",
        category="misaligned_address",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "Failed to run autotuning code block: .{0,80}misaligned address",
            (
                r"torch/_inductor/(?:select_algorithm|runtime/triton_heuristics)\.py:\d{1,20}"
                r"\].{0,80}misaligned address"
            ),
        ),
        summary="A kernel that was being tuned made a misaligned access",
        means=(
            "A candidate or a user kernel assumes an alignment that the tensors made for tuning, "
            "or views of them, do not have. The CUDA context is lost afterwards."
        ),
        check="Does it compile without max_autotune?",
        fixes=(
            fix("Drop the backend of the candidate from max_autotune_gemm_backends"),
            fix("Remove alignment hints of a user kernel that do not always hold"),
        ),
        guide="guides/cuda-illegal-memory-access.md#misaligned-address",
        next_tool="triage",
        matches=(
            quoted(
                "E1203 09:11:44.120000 40211 torch/_inductor/select_algorithm.py:2691] [3/0] CUDA error: misaligned address",
                "form of an error in Inductor's log",
            ),
            words(
                "torch/_inductor/codegen/wrapper.py",
                "Failed to run autotuning code block: misaligned address",
            ),
        ),
    ),
    Signature(
        id="autotune_out_of_memory",
        phase="autotune",
        category="out_of_memory",
        tier=Tier.EXACT_TEXT,
        confidence="proved",
        patterns=(
            "Failed to run autotuning code block: .{0,80}out of memory",
            "Failed to run autotuning code block: .{0,80}OutOfMemoryError(?!: out of resource)",
        ),
        summary="The GPU ran out of memory while kernels were being tuned at compile time",
        means=(
            "The tuning block holds copies of the graph's tensors until their last use, next to "
            "the model itself. The finished package may need far less."
        ),
        check="TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0: does it compile and run?",
        fixes=(
            fix(
                (
                    "On torch 2.15 set aot_inductor.autotune_per_kernel_alloc=True; before that "
                    "switch tuning at compile time off"
                ),
            ),
            fix("Free the eager model's weights before compiling"),
        ),
        guide="guides/triton-and-autotuning.md#out-of-memory-while-tuning",
        next_tool="check_environment",
        matches=(
            quoted(
                "RuntimeError: Failed to run autotuning code block: CUDA out of memory. Tried to allocate 12.00 GiB",
                "pytorch/pytorch#197462",
            ),
            words(
                "torch/_inductor/codegen/wrapper.py",
                "Failed to run autotuning code block: OutOfMemoryError",
            ),
        ),
        neighbours=(
            quoted(
                "Failed to run autotuning code block: out of resource: shared memory, Required: 262400, Hardware limit: 232448"
            ),
        ),
    ),
    Signature(
        id="healthy_warning",
        phase="lower",
        category="performance",
        role="note",
        tier=Tier.NOTICE,
        confidence="possible",
        patterns=(
            "(?P<what>does not support code generation for complex operators)",
            "(?P<what>Online softmax is disabled on the fly)",
            "(?P<what>TensorFloat32 tensor cores .{0,60}available but not enabled)",
        ),
        summary="A warning that torch prints of healthy models: {what}",
        means="An optimisation does not apply to this graph; the result is right all the same.",
        guide="guides/memory-and-time.md#slow-model",
        matches=(
            recorded(
                "UserWarning: Torchinductor does not support code generation for complex operators. Performance may be worse than eager.",
                "torch 2.11, an FFT model",
            ),
            recorded(
                "Online softmax is disabled on the fly since Inductor decides to", "torch 2.11"
            ),
            recorded(
                "UserWarning: TensorFloat32 tensor cores for float32 matrix multiplication available but not enabled.",
                "torch 2.11",
            ),
        ),
    ),
    Signature(
        id="gemm_tuning_skipped",
        phase="autotune",
        category="performance",
        role="symptom",
        tier=Tier.NOTICE,
        confidence="possible",
        patterns=(
            "(?P<what>Not enough SMs to use max_autotune_gemm)",
            "(?P<what>GPU arch does not support max_autotune_gemm mode usage)",
            "(?P<what>skipping cudagraphs due to .{0,120})",
            "(?P<what>Please pip install Composable Kernel package)",
            "(?P<what>hit config.(?:recompile|cache_size)_limit)",
        ),
        summary="A notice on speed, not an error: {what}",
        means="An optimisation does not apply to this graph or GPU; the result is right all the same.",
        guide="guides/memory-and-time.md#slow-model",
        matches=(
            quoted(
                "W0101 00:00:00.000000 1 torch/_inductor/utils.py:1953] [0/0] Not enough SMs to use max_autotune_gemm mode",
                "words of torch/_inductor/utils.py",
            ),
            words(
                "torch/_inductor/utils.py",
                "GPU arch does not support max_autotune_gemm mode usage",
                "Please pip install Composable Kernel package",
            ),
            words("torch/_dynamo/backends/cudagraphs.py", "skipping cudagraphs due to x"),
            words("torch/_dynamo/convert_frame.py", "hit configxrecompile_limit"),
        ),
    ),
    Signature(
        id="kernel_config_invalid",
        phase="autotune",
        category="autotune_error",
        tier=Tier.KIND_TEXT,
        patterns=(
            r"TritonKernel\.indexing assumes",
            r"' too large\. Maximum: \d{1,20}",
            "rnumels exceed size_hints",
            "exceeds Triton maximum",
            "Reduction config exceeds cudaDeviceProp",
            "Precomputed grid not found for",
            "Cooperative reductions don't support tiling",
            "Autotuned launcher config does not match",
            "Coordinate descent tuner relies on",
            "triton configs with pre_hooks not supported",
            "reset_to_zero_arg_names should only contain valid",
            "Error while pruning configs",
            "pre_hook is not supported in triton",
            "Passing prune_configs_by",
            "Conflicting meta-parameters: ",
        ),
        summary="A kernel's configuration for tuning is not valid",
        means=(
            "Block sizes of a configuration contradict the sizes of the problem or the limits of "
            "Triton; for a user kernel, triton.autotune has an argument that is not supported."
        ),
        check="Which kernel? A generated one is Inductor's fault, a user kernel yours",
        fixes=(
            fix(
                "For a user kernel keep `configs` and `key` only, with block sizes below the limit",
            ),
            fix("For a generated kernel switch max_autotune and coordinate descent tuning off"),
        ),
        guide="guides/triton-and-autotuning.md#out-of-resource",
        next_tool="triage",
        matches=(
            quoted(
                "AssertionError: 'XBLOCK' too large. Maximum: 4096. Actual: 8192.",
                "words of torch/_inductor/runtime/triton_heuristics.py",
            ),
            words(
                "torch/_inductor/runtime/triton_heuristics.py",
                "TritonKernel.indexing assumes",
                "rnumels exceed size_hints",
                "exceeds Triton maximum",
                "Reduction config exceeds cudaDeviceProp",
                "Precomputed grid not found for",
                "Cooperative reductions don't support tiling",
                "Autotuned launcher config does not match",
                "Coordinate descent tuner relies on",
                "reset_to_zero_arg_names should only contain valid",
            ),
            words(
                "torch/_inductor/runtime/runtime_utils.py",
                "triton configs with pre_hooks not supported",
            ),
            words("torch/_higher_order_ops/triton_kernel_wrap.py", "Error while pruning configs"),
            words(
                "programs that were not at hand",
                "pre_hook is not supported in triton",
                "Passing prune_configs_by",
            ),
            words("torch/_vendor/quack/autotuner.py", "Conflicting meta-parameters: "),
        ),
    ),
)
