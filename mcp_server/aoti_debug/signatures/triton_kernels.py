"""Triton and ptxas cannot compile a kernel, or it fails while it is tuned."""

TABLE = r"""
compile_worker_failed triton_compile triton_error VAGUE_TEXT symptom
    summary A worker process that compiles kernels failed or died
    means Kernels are compiled in a pool of processes. Either one reported the exception that follows, or it was killed: a crash of the compiler, or too little memory.
    check TORCHINDUCTOR_COMPILE_THREADS=1 compiles in this process and shows the reason
    fix Run once with TORCHINDUCTOR_COMPILE_THREADS=1; watch the memory meanwhile
    fix Guard the script with `if __name__ == '__main__':`
    pattern (?:SubprocException|BrokenProcessPool):[ ] || An exception occurred in a subprocess:
    pattern A compilation subprocess exited unexpectedly || SubprocPool unclean exit
    pattern failure in subproc_pool || unpickle failure in SubprocPool
    pattern torch/_inductor/compile_worker/\w{1,200}\.py", line
compile_worker_hangs triton_compile hang SPECIFIC_TEXT
    summary Compiling the kernel {kernel} in a worker process did not finish
    means The worker hangs, was lost silently, or compiles a huge kernel on a machine with too few cores.
    check TORCHINDUCTOR_COMPILE_THREADS=1: does it end in this process?
    fix Compile with TORCHINDUCTOR_COMPILE_THREADS=1, or raise the limit it names
    fix Clear TORCHINDUCTOR_CACHE_DIR and TRITON_CACHE_DIR
    pattern Inductor compile-worker future for '?(?P<kernel>\w{1,120})'? did not complete within
cpu_triton_missing cpp_compile triton_error SPECIFIC_TEXT
    summary A Triton kernel is part of a model compiled for the CPU
    means AOTInductor can run Triton kernels on the CPU only with a CPU build of Triton and a recent torch; otherwise code generation fails in one of these ways.
    fix Give the op a CPU implementation without Triton, or compile for the GPU
    guide triton-and-autotuning.md#triton-kernels-on-the-cpu
    pattern unknown type name ['‘]async_compile['’] || KeyError:? ['\"]cubin['\"]
    pattern CpuTritonKernelCache not populated for '\w{1,200}'
    quoted [pytorch/pytorch#181068] KeyError: 'cubin'
int32_overflow triton_compile triton_error SPECIFIC_TEXT proved minify
    summary A fused kernel's offset {value} does not fit in 32 bits
    means Inductor chose int32 indexing although a constant offset of the fused kernel exceeds 2**31. With smaller offsets the same bug compiles and faults at run time.
    fix Upgrade torch; or split the tensor so that no fused view spans more than 2**31 elements
    guide cuda-illegal-memory-access.md#int32-index-overflow
    pattern Scalar (?P<value>-?\d{1,20}) is out of range for type int32
    quoted [pytorch/pytorch#186057] ValueError: Scalar -2779057358 is out of range for type int32
no_valid_configs autotune autotune_error KIND_TEXT
    summary Every configuration of a kernel failed during tuning
    means Every candidate failed to compile or to run; the reason of the last one follows. For user kernels only `configs` and `key` of triton.autotune are supported.
    fix Offer smaller configurations; drop other triton.autotune arguments; add ATEN to max_autotune_gemm_backends
    guide triton-and-autotuning.md#out-of-resource
    after ^(?!.{0,120}torch/_inductor/select_algorithm\.py:\d).{0,4000}
    pattern No valid triton configs || (?:NoValidChoicesError|NoTritonConfigsError)
    pattern No choices to select || No triton configs are available || No choices exist for backend
    pattern All choices failed to compile for backend || No valid choices generated for
    pattern Non-empty TritonConfig list required
    unconfirmed Only configs and keys are supported for triton\.autotune
    unconfirmed has no attribute 'store_cubin'
ptxas_exit triton_compile toolchain GENERAL_TEXT check_environment
    summary ptxas ended with an error, and its own message is not shown
    means Most often this ptxas does not know the GPU or the PTX version; seldom it cannot assemble the kernel.
    check Run the printed command again: the `ptxas fatal` line says which
    fix Install the Triton and torch that fit the GPU; unset TRITON_PTXAS_PATH
    guide triton-and-autotuning.md#triton-compile-errors
    pattern CalledProcessError: Command .{0,300}\bptxas(?:\.exe)?\b
    unconfirmed FileNotFoundError: .{0,200}\bptxas\b
ptxas_failed triton_compile triton_error KIND_TEXT check_environment
    summary ptxas rejected the code of a Triton kernel
    means The GPU assembler failed: registers ran out for a configuration, or this ptxas does not know the GPU or the PTX version.
    check The `ptxas fatal` line: register allocation, or an unknown architecture or version
    fix Fewer warps or smaller blocks for register failures; a matching toolkit (TRITON_PTXAS_PATH unset) for versions
    pattern PTXAS ?[Ee]rror || ptxas (?:fatal|error)\s{0,20}: || Internal Triton PTX codegen error
    pattern ptxas \S{1,200}, line \d{1,20}; (?:error|fatal) || (?:ld\.lld|lld): error: .{0,200}hsaco
    unconfirmed ptxas application ptx input, line || ptxas stderr || `ptxas` (?:failed|raised)
    unconfirmed `ptxas` to confirm || ran out of registers during register allocation
    quoted [pytorch/helion#85] ptxas fatal   : (C7600) Register allocation failed with register count of '128'. Compile the program with a higher register target
    unlike example [no failure] ptxas info    : Used 40 registers, 400 bytes cmem[0]
triton_compilation_error triton_compile triton_error KIND_TEXT check_environment
    summary Triton could not compile a kernel
    means The Triton source of a kernel (yours or a generated one) is not accepted; the caret below marks the expression.
    check Is the file yours or in the Inductor cache? A generated file means an Inductor or version problem
    fix Correct the marked expression of your kernel; for generated kernels check that the Triton version is the one this torch was built with
    pattern (?:triton\.compiler\.(?:errors\.|code_generator\.)?)?CompilationError: at \d{1,20}:\d{1,20}
    pattern Triton compilation failed: \w{1,200} || triton\.compiler\.\S{0,300}CompilationError
    pattern PassManager::run failed || CompileTimeAssertionFailure
    unconfirmed UnsupportedLanguageConstruct || InductorError: CompilationError
    quoted [pytorch/pytorch#170049] triton.compiler.errors.CompilationError: at 1:0:
triton_frame triton_compile triton_error VAGUE_TEXT symptom check_environment
    summary The failure is inside Triton's compiler
    means Frames of Triton's frontend or of its passes are on the stack, so a kernel was being compiled; the last line of the traceback says why that failed.
    check The innermost exception, not the wrapper at the end
    fix Look at the first exception of the chain and at the kernel it names
    anchor triton/language || triton\language
    pattern \bE\d{4} .{0,160}torch/_inductor/runtime/triton_heuristics\.py:\d{1,20}\] .{0,20}\S
    pattern File "[^"]{0,300}\btriton[\\/]compiler[\\/]code_generator\.py"
    pattern File "[^"]{0,300}\btriton[\\/]language[\\/](?:semantic|core|standard|math)\.py"
    pattern File "[^"]{0,300}\btriton[\\/]backends[\\/]\w{1,200}[\\/]compiler\.py"
    unlike example [a launch, not a compile] File "/x/site-packages/triton/runtime/jit.py", line 347, in <lambda>
triton_frontend_refused triton_compile triton_error GENERAL_TEXT check_environment
    summary Triton does not accept a kernel's source: {what}
    means The frontend checks types, shapes and the Python subset before any code is made. In a kernel of yours the statement is to blame, in a generated one Inductor or a Triton that does not belong to this torch; float8 needs a new enough GPU.
    check Is the file yours or below torchinductor_*?
    fix Correct the statement; cast operands and masks explicitly
    fix For a generated kernel use the Triton release of this torch, or another dtype
    pattern data type is not supported on CUDA arch
    pattern not supported in this architecture\. The supported fp8 dtypes are
    pattern fp8e\w{1,8} not supported in this architecture
    pattern (?:supported_fp8_dtypes|allow_fp8e4nv|IncompatibleTypeErrorImpl|CompileTimeAssertionFailure)
    pattern invalid operands of type pointer< || arange's range must be a power of 2
    pattern Loop-carried variable[ ] || Did you forget to add @triton\.jit
    pattern `other` cannot be provided without `mask` || Conflicting meta-parameters:[ ]
    pattern nvTmaDesc[ ] || Shape element \d{1,3} must be a power of 2
    pattern Mismatched type for \S{1,80} between[ ] || atomic_\w{2,10} does not support
    pattern (?:Error|Exception).{0,200}triton\.language\.(?:semantic|core)
    unconfirmed invalid operands of type triton\.language || arange's arguments must be
    unconfirmed exceeds triton maximum tensor numel || cannot reassign constexpr
    unconfirmed constexpr cannot be reassigned || Cannot access global variable[ ]
    unconfirmed Cannot call @triton\.jit'd outside of the scope || @triton\.jit'd functions
    unconfirmed unsupported AST node type || Input shapes should have M >=
    unconfirmed All non-batch values in both first input shape
    unconfirmed Both operands must be same dtype\. Got
    unconfirmed Both operands must be same type\. First operand
    unconfirmed Both inputs must be either 2D or 3D; \(lhs || Unsupported (?:lhs|rhs) dtype
    unconfirmed input_precision must be one of || target doesn't provide
    unconfirmed Unsupported (?:ptr|floating-point) type
    unconfirmed `mask` and `other` arguments cannot be specified for loading block pointers
    unconfirmed (?:Mask|Value|Other) argument cannot be block type if pointer argument is not a block
    unconfirmed Mask must have boolean scalar type || Cannot store to a constant pointer
    unconfirmed Cannot broadcast, rank mismatch || Cannot broadcast, the expanded size of the tensor
    unconfirmed Cannot make_shape_compatible
    unconfirmed reshape\(\) cannot change total number of elements in tensor
    unconfirmed Inconsistent return types:[ ] || For loop bounds and step must all be ints
    unconfirmed Only `range` and `static_range` iterators are currently supported
    unconfirmed used as tl\.static_range
    unconfirmed Assertion condition could not be determined at compile-time
    unconfirmed Descriptor block shape must have at least || Tensor descriptor last dim must be 1
    unconfirmed descriptor gather must have at least || nested function definition is not supported
    unconfirmed Cannot have `return` statements inside
    unconfirmed `if` conditionals can only accept values of type || Cannot bitcast data-type of size
    unconfirmed Only floating point clamp is supported
    unconfirmed both operands of fdiv must have floating scalar type || cannot add pointers together
    unconfirmed only supports elements with width \{16, 32, 64\} || 0d block_type is forbidden
    unconfirmed because they have different signedness || Block pointers only support 32 bit
    unconfirmed num_ctas > 1 requires NVIDIA SM90\+ || num_ctas > 1 not supported for AMD GPUs
    unconfirmed num_warps must be a power of 2 || TRITON_OVERRIDE_ARCH must have the form
    unconfirmed must be constexpr when || error encountered during parsing
    unconfirmed has changed since we compiled this kernel
    unconfirmed Kernel requires a runtime memory allocation, but no allocator was set
    unconfirmed target must be of GPUTarget type || \) are not compatible for matmul
    unconfirmed Loop carried variable \S{1,80} changed || Loop carried variable \S{1,80} is not
    unconfirmed AST .{0,60} is not \(currently\) implemented
    example [triton/language/semantic.py] ValueError('arange\'s range must be a power of 2'); arange's range must be a power of 2
    example [triton/compiler/code_generator.py] AssertionError('Loop-carried variable acc has initial type fp32 but is re-assigned to fp16 in loop!
    example [triton/language/semantic.py] triton.language.semantic.IncompatibleTypeErrorImpl: invalid operands of type pointer<fp32> and triton.language.float64
    unlike example [a library's own check] ValueError: n_fft must be a power of 2
    unlike example [a library's own check] RuntimeError: this backend does not support bf16
triton_out_of_resource run kernel_resources EXACT_TEXT
    summary A Triton kernel asks for more shared memory, registers or threads than there are
    means The block sizes and stages of a configuration do not fit; for a kernel with one configuration that is fatal.
    check Did the compile go on afterwards? Then ignore it
    fix Reduce num_stages or the block sizes of the kernel; offer smaller configurations to triton.autotune
    guide triton-and-autotuning.md#out-of-resource
    after ^(?!.{0,120}torch/_inductor/select_algorithm\.py:\d).{0,4000}
    pattern uses too much shared data
    pattern out of resource: [\w ]{1,200}, Required: \d{1,20}, Hardware limit: \d{1,20}
    pattern out of resource: \w{1,200} Required: \d{1,20} Hardware limit: ?\d{1,20}
    pattern (?:OutOfResources|OutOfMemoryError): out of resource: [\w ]{1,200}
    unconfirmed local memory \(\d{1,20}\) exceeds limit || exceeds available shared memory
    example [torch's static launcher] out of resource: triton_red_fused_3 Required: 262400 Hardware limit:232448
    example [ptxas] ptxas error   : Entry function 'triton_mm' uses too much shared data (0x19000 bytes, 0x18c00 max)
    unlike example torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB
    unlike example [a choice of max-autotune] E1201 00:49:35.489000 590 torch/_inductor/select_algorithm.py:3924] No valid triton configs. OutOfResources: out of resource: shared memory, Required: 262144, Hardware limit: 232448.
triton_pass_failed triton_compile triton_error KIND_TEXT check_environment
    summary A pass of Triton's compiler failed
    means The kernel's source was accepted, then MLIR or LLVM broke down: a bug of this Triton, or a combination of shape, dtype, num_stages and num_warps that it cannot lower on this GPU.
    check Does num_stages=1 or another block size of the kernel compile?
    fix Drop the configuration that fails: other block sizes, num_stages or num_warps
    fix Use the newest Triton that fits this torch
    pattern Assertion `.{0,300}\bcast<Ty>\(\) argument of incompatible type
    pattern Assertion `parentOp->get || Pipeline failed while executing ConvertTriton
    pattern ^\s{0,20}#?\s?\d{1,3}:? .{0,120}\bmlir::\w || UNREACHABLE executed at \S{0,300}triton
    pattern \berror: '(?:tt|ttg|ttng|tti|triton\w{0,20}|amdg\w{0,10}|llvm|nvvm|nvgpu|nvws|rocdl|arith|scf|cf|math|vector|gpu|builtin)\.[\w.]{1,80}' op
    pattern operand #\d{1,5} does not dominate || LinearLayout\S{0,300}: .{0,600}Assertion
    pattern mlir::\S.{0,600}Assertion
    pattern (?:lib/(?:Dialect|Conversion)/Triton|third_party/(?:nvidia|amd)/lib)\S{1,200}:\d{1,20}: .{0,600}(?:Assertion|UNREACHABLE)
    pattern LLVM ERROR: (?!out of memory|IO failure).{1,200}
    unconfirmed LLVM Error: (?!out of memory|IO failure).{1,200}
    pattern Cannot select: (?:t\d|0x|intrinsic) || Unsupported (?:WarpGroup)?DotOp found
    unconfirmed failed to legalize operation '
    unconfirmed Failures have been detected while processing an MLIR pass
    unconfirmed Pipeline failed while executing \[ || Layout is expected to be surjective
    unconfirmed [fF]ailed to translate module to LLVM IR || Failed to lower TMEM
    example [the assertion] triton-opt: /x/triton/lib/Tools/LinearLayout.cpp:512: mlir::triton::LinearLayout mlir::triton::LinearLayout::reshapeIns() const: Assertion `getTotalInDimSize() == n' failed.
    unlike example [memory] LLVM ERROR: out of memory
gpu_compiler_failed triton_compile triton_error NAMED_TEXT check_environment
    summary The GPU's own compiler failed on a kernel: {what}
    means Triton hands a kernel to the compiler of the vendor's driver (IGC and Level Zero for Intel, LLVM for AMD). Signals and exceptions in its output are its own: neither the model nor the package crashed.
    check Does the kernel compile with another driver, or with optimisation switched off?
    fix Take the newest driver and the Triton that the torch build names
    fix Report the generated kernel (TORCH_LOGS=output_code) to the driver's project
    guide other-platforms.md#intel-gpus
    pattern IGC: Internal Compiler Error.{0,80} || IGC internal compiler error
    pattern L0 build module failed || ZE_RESULT_ERROR_MODULE_(?:BUILD|LINK)_FAILURE
    pattern Triton Error \[ZE\]: .{0,60} || Error during Intel loadBinary
    unconfirmed LLVM ERROR: Cannot select: .{0,80}AMDGPU.{0,40} || Cannot find ROCm device library
triton_c_compiler_missing triton_compile toolchain NAMED_TEXT proved check_environment
    summary Triton finds no C compiler for the launchers of its kernels
    means Triton builds a small C module for each kernel's launcher; it looks for gcc, clang or the compiler that CC names.
    check gcc --version in the same shell; is CC set to something that exists?
    fix Install gcc (build-essential) or set CC to the compiler's path
    pattern Failed to find C compiler
autotune_block_failed autotune autotune_error KIND_TEXT symptom
    summary Tuning the kernels at compile time failed: {error}
    means AOTInductor runs the graph's kernels on made-up inputs to choose configurations. Data-dependent kernels, memory limits or a bad grid can fail there although the model is right.
    check Compile once with TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0: if that runs well, only tuning is at fault
    fix Switch tuning at compile time off, or give user kernels valid data through a single config
    pattern Failed to run autotuning code block: (?P<error>.{1,200})
    pattern Failed during launch (?P<error>\w{1,200}) with config
    quoted [triton-lang/triton#7822] Failed to run autotuning code block: CUDA driver error: invalid argument
autotune_choice_failed autotune autotune_error BROAD_TEXT symptom
    summary A candidate kernel failed while Inductor was choosing the fastest
    means max-autotune compiles and times many candidates. One that fails is dropped and the compile goes on; only if all fail, or the failure breaks the CUDA context, is it the reason of what follows.
    check Did the compile go on afterwards? Then ignore it
    fix Add ATEN to max_autotune_gemm_backends, so that one candidate always works
    fix Compile without max_autotune; set autotune_in_subproc to survive a crash
    guide triton-and-autotuning.md#out-of-resource
    pattern Runtime error during autotuning || CUDA compilation error during autotuning
    pattern Runtime error for autotuning triton choices || Failed to benchmark choice
    pattern for benchmark choice || Unexpected exception in autotune subprocess
    pattern Timeout in autotune subprocess || Sending SIGKILL to autotune subprocess
    pattern Incorrect result from choice || All autotuning benchmarks failed
    pattern failed or timed out during collective || Collective benchmark exception for choice
    pattern Marking choice as failed due to timeout || Precompilation timeout after
    pattern Barrier timeout before benchmarking || All-reduce timeout when collecting benchmark
    pattern AutotuneProcessPool warmup failed || choice .{1,300} failed during benchmarking
    pattern Ignoring this choice || profiling events\. Found || Failed to capture device events for
    pattern ^[EC]\d{4} .{0,120}torch/_inductor/select_algorithm\.py:\d{1,20}\]
    unconfirmed ^[EC]\d{4} .{0,120}torch/_inductor/autotune_process\.py:\d{1,20}\]
    pattern \[ERROR\].{0,80}(?:select_algorithm|autotune_process)
    unconfirmed avoid those benchmarkings that would cause
    unlike example [no failure] V0411 08:00:00.558000 2500 torch/_inductor/select_algorithm.py:1905] [15/4] Max autotune selects from 18 choices.
autotune_device_assert autotune autotune_error SPECIFIC_TEXT
    summary A kernel's assertion fired on the made-up inputs used for tuning
    means Random numbers were used as indices while tuning, and the bounds check of a kernel rejected them. The model's real indices were not involved.
    check Does the model pass eagerly on the example inputs? Then it is the tuning data
    fix Upgrade, or switch tuning at compile time off; keep the producer and the consumer of indices in one graph
    guide triton-index-out-of-bounds.md#an-assert-while-compiling
    pattern Failed to run autotuning code block: .{0,80}device-side assert triggered
    quoted [pytorch/pytorch#147799] Failed to run autotuning code block: Triton Error [CUDA]: device-side assert triggered
autotune_gpu_fault autotune illegal_memory_access SPECIFIC_TEXT
    summary A GPU kernel faulted while Inductor tuned kernels at compile time
    means The cause is the kernel, or the inputs that Inductor generates for tuning (sizes from hints, None as a tensor, random indices). Restart the process first.
    check A core dump on exception names the kernel; run it alone on real inputs
    fix Correct the kernel; or compile with TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0, to see whether tuning inputs are the cause
    guide cuda-illegal-memory-access.md#a-fault-while-compiling
    pattern (?:Failed to run autotuning code block: |torch/_inductor/(?:select_algorithm|runtime/triton_heuristics)\.py:\d{1,20}\]).{0,80}(?:illegal memory access|unspecified launch failure|global/shared address space)
    pattern InductorError: (?:AcceleratorError|RuntimeError): (?:CUDA error|Triton Error \[CUDA\]): (?:an illegal memory access was encountered|operation not supported on global/shared address space|unspecified launch failure)
    quoted [pytorch/pytorch#115344] RuntimeError: Failed to run autotuning code block: Triton Error [CUDA]: an illegal memory access was encountered
    recorded [torch 2.11, H200] torch._inductor.exc.InductorError: AcceleratorError: CUDA error: operation not supported on global/shared address space
autotune_invalid_argument autotune autotune_error SPECIFIC_TEXT
    summary A kernel launch made for tuning had an invalid grid or argument
    means With the sizes assumed for tuning, one kernel's grid is zero or too large. The real sizes may be fine.
    check TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0
    fix Switch tuning at compile time off; upgrade to 2.10 or later, which logs the kernel's name
    pattern Failed to run autotuning code block: .{0,80}invalid argument
    quoted [pytorch/pytorch#145984] Failed to run autotuning code block: Triton Error [CUDA]: invalid argument
autotune_misaligned autotune misaligned_address SPECIFIC_TEXT
    summary A kernel that was being tuned made a misaligned access
    means A candidate or a user kernel assumes an alignment that the tensors made for tuning, or views of them, do not have. The CUDA context is lost afterwards.
    check Does it compile without max_autotune?
    fix Drop the backend of the candidate from max_autotune_gemm_backends
    fix Remove alignment hints of a user kernel that do not always hold
    pattern Failed to run autotuning code block: .{0,80}misaligned address
    pattern torch/_inductor/(?:select_algorithm|runtime/triton_heuristics)\.py:\d{1,20}\].{0,80}misaligned address
    example [an error in Inductor's log] E1203 09:11:44.120000 40211 torch/_inductor/select_algorithm.py:2691] [3/0] CUDA error: misaligned address
autotune_out_of_memory autotune out_of_memory EXACT_TEXT proved check_environment
    summary The GPU ran out of memory while kernels were being tuned at compile time
    means The tuning block holds copies of the graph's tensors until their last use, next to the model itself. The finished package may need far less.
    check TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0: does it compile and run?
    fix On torch 2.15 set aot_inductor.autotune_per_kernel_alloc=True; before that switch tuning at compile time off
    fix Free the eager model's weights before compiling
    guide triton-and-autotuning.md#out-of-memory-while-tuning
    pattern Failed to run autotuning code block: .{0,80}out of memory
    pattern Failed to run autotuning code block: .{0,80}OutOfMemoryError(?!: out of resource)
    quoted [pytorch/pytorch#197462] RuntimeError: Failed to run autotuning code block: CUDA out of memory. Tried to allocate 12.00 GiB
    unlike example Failed to run autotuning code block: out of resource: shared memory, Required: 262400, Hardware limit: 232448
healthy_warning lower performance NOTICE note possible
    summary A warning that torch prints of healthy models: {what}
    means An optimisation does not apply to this graph; the result is right all the same.
    pattern does not support code generation for complex operators
    pattern Online softmax is disabled on the fly
    pattern TensorFloat32 tensor cores .{0,60}available but not enabled
    recorded [torch 2.11] Online softmax is disabled on the fly since Inductor decides to
gemm_tuning_skipped autotune performance NOTICE symptom possible
    summary A notice on speed, not an error: {what}
    means An optimisation does not apply to this graph or GPU; the result is right all the same.
    pattern Not enough SMs to use max_autotune_gemm
    pattern GPU arch does not support max_autotune_gemm mode usage
    pattern Please pip install Composable Kernel package
compiled_again run performance NOTICE symptom possible
    summary Calls that compile again or run without CUDA graphs are slow, not wrong: {what}
    means torch.compile guards on sizes, values and modules; past its limit it runs the function eagerly. A package of AOTInductor is compiled once, and is not concerned.
    pattern hit config.(?:recompile|cache_size)_limit
    pattern \[__recompiles\] Recompiling function .{0,120} || skipping cudagraphs due to .{0,120}
    example [torch/_dynamo/utils.py] V0101 00:00:00.000000 1 torch/_dynamo/guards.py:2830] [0/1] [__recompiles] Recompiling function f in /w/t.py:4
kernel_config_invalid autotune autotune_error KIND_TEXT
    summary A kernel's configuration for tuning is not valid
    means Block sizes of a configuration contradict the sizes of the problem or the limits of Triton; for a user kernel, triton.autotune has an argument that is not supported.
    check Is the kernel generated (Inductor's fault) or a user kernel (yours)?
    fix For a user kernel keep `configs` and `key` only, with block sizes below the limit
    fix For a generated kernel switch max_autotune and coordinate descent tuning off
    guide triton-and-autotuning.md#out-of-resource
    pattern TritonKernel\.indexing assumes || ' too large\. Maximum: \d{1,20}
    pattern rnumels exceed size_hints || exceeds Triton maximum
    pattern Reduction config exceeds cudaDeviceProp || Precomputed grid not found for
    pattern Cooperative reductions don't support tiling || Autotuned launcher config does not match
    pattern Coordinate descent tuner relies on || triton configs with pre_hooks not supported
    pattern reset_to_zero_arg_names should only contain valid || Error while pruning configs
    pattern Conflicting meta-parameters:[ ]
    unconfirmed pre_hook is not supported in triton || Passing prune_configs_by
"""
