"""Triton and ptxas cannot compile a kernel."""

from aoti_debug.signatures.signature import Signature, fix, quoted

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
            "PassManager::run failed",
        ),
        patterns=(
            (
                r"(?:triton\.compiler\.(?:errors\.|code_generator\.)?)?CompilationError: at "
                r"(?P<line>\d+):\d+|Triton compilation failed: (?P<kernel>\w+)"
                r"|UnsupportedLanguageConstruct|triton\.compiler\.\S*CompilationError"
                "|PassManager::run failed"
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
        ),
        patterns=(
            (
                r"PTXAS error|PTXASError|ptxas (?:fatal|error)\s*: ?(?P<text>.{0,120})|Internal "
                "Triton PTX codegen error"
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
        ),
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
                r"'(?P<kernel>\w+)'"
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
        patterns=(r"Scalar (?P<value>-?\d+) is out of range for type int32",),
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
        anchors=("out of resource: ", "OutOfResources"),
        patterns=(
            (
                r"out of resource: (?P<what>[\w ]+), Required: (?P<need>\d+), Hardware limit: "
                r"(?P<limit>\d+)"
            ),
            (
                r"out of resource: (?P<what>\w+) Required: (?P<need>\d+) Hardware limit: "
                r"?(?P<limit>\d+)"
            ),
            r"OutOfResources: out of resource: (?P<what>[\w ]+)",
        ),
        summary="A Triton kernel asks for more than this GPU has ({what})",
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
            "Only configs and keys are supported for triton.autotune",
        ),
        patterns=(
            (
                r"No valid triton configs\. (?P<error>.{0,160})|NoValidChoicesError|No choices to "
                r"select|Only configs and keys are supported for triton\.autotune"
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
)
