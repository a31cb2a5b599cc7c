"""The generated C++ does not compile, or the CUDA toolkit that it needs is not right."""

TABLE = r"""
compile_host_trouble lower toolchain BROAD_TEXT symptom possible check_environment
    summary The compile failed for a reason of this machine: {error}
    means The wrapper names Inductor or Dynamo, the type after the colon is the real one: a program, a file or a library that compiling needs is missing or refused.
    check Does a trivial model compile on this machine?
    fix Fix what the inner error names: compiler, folder, library or package
    after (?:InductorError|InternalTorchDynamoError|BackendCompilerFailed|LoweringException):[ ]
    pattern (?P<error>(?:FileNotFoundError|OSError|ImportError|ModuleNotFoundError|CalledProcessError|TimeoutExpired|InvalidCxxCompiler|TritonMissing|GPUTooOldForTriton).{0,160})
    pattern (?P<error>RuntimeError: Compiler: .{0,160})
    unconfirmed (?P<error>PermissionError.{0,160})
compiler_output_unreadable cpp_compile toolchain KIND_TEXT check_environment
    summary The compiler answers in a language or encoding that torch cannot read
    means torch reads the compiler's messages as text of one encoding. A localised MSVC answers in that of the system.
    check Run `cl` in the same shell: is its banner English?
    fix Install the English language pack of Visual Studio; set VSLANG=1033
    fix Or use clang-cl as CXX
    guide other-platforms.md#windows
    pattern (?:InductorError|BackendCompilerFailed|InternalTorchDynamoError|LoweringException): UnicodeDecodeError
    pattern \.decode\(\*SUBPROCESS_DECODE_ARGS\)
    example [the error] torch._inductor.exc.InductorError: UnicodeDecodeError: 'utf-8' codec can't decode byte 0x8e in position 0: invalid start byte
    unlike example [a text file of the script] UnicodeDecodeError: 'utf-8' codec can't decode byte 0x8e in position 0
cpp_compile_failed cpp_compile cpp_error BROAD_TEXT envelope check_environment
    summary The C++ compiler failed on generated code; its message follows the command line
    means Only the envelope. The first `error:` line of the compiler output tells a missing header from a bug in the generated code.
    check First line with `error:` after `Output:`
    fix Find the first compiler error below `Output:`
    pattern ^(?:\S{0,200}/)?(?:g\+\+|clang\+\+|c\+\+|icpx|cl)\S{0,10} .{0,400}TORCH_INDUCTOR_CPP_WRAPPER
    pattern (?:CppCompileError|CUDACompileError):[ ]
    unconfirmed CalledProcessError: Command '?\[?'?(?:\S{0,300}/)?(?:g\+\+|clang\+\+|nvcc|c\+\+|cl)\b
cpp_rejection cpp_compile cpp_error VAGUE_TEXT minify
    summary The C++ compiler rejects the generated code: {text}
    means A code generation bug, a header of a torch other than the one that generated the code, or a compiler that is too old.
    check Compile a trivial model: if that works, the toolchain is sound
    fix Reduce the model to the operator whose statement is shown; try the newest torch
    anchor : error:[ ] || : error C || ): error
    pattern \.(?:cpp|cc|cxx|c|cu|cuh|h|hpp|inl|mm):\d{1,20}(?::\d{1,20})?: (?:fatal )?error: (?!.{0,400}(?:No such file|file not found))(?P<text>.{1,160})
    pattern \.(?:cpp|cc|cxx|c|cu|cuh|h|hpp|inl)\(\d{1,20}(?:,\d{1,20})?\): (?:fatal )?error(?: C(?!1083|1060)\d{4})?\s?: (?P<text>.{1,160})
    after \berror\b(?: C\d{4})?: .{0,200}
    pattern (?P<text>no matching (?:function for call to|constructor for initialization of))
    pattern (?P<text>no (?:viable conversion|suitable conversion function) from)
    pattern (?P<text>is not a member of 'std) || (?P<text>no (?:template|type) named ')
    pattern (?P<text>unknown type name ') || (?P<text>was not declared in this scope)
    pattern (?P<text>use of undeclared identifier) || (?P<text>cannot convert 'const)
    pattern (?P<text>expected unqualified-id before) || (?P<text>is ambiguous)
    pattern (?P<text>incompatible types in assignment) || (?P<text>identifier ")
    after ^\s{0,20}(?:\S{1,300}:\d{1,20}:\d{1,20}: )?
    pattern (?P<text>no matching (?:member )?function for call to)
    pattern (?P<text>no match for ['‘]operator) || (?P<text>cannot convert ['‘])
    after \berror\b(?: C\d{4})?: .{0,200}
    unconfirmed (?P<text>has no member named) || (?P<text>has not been declared)
    unconfirmed (?P<text>call of overloaded) || (?P<text>static assertion failed)
    example [clang] error: no viable conversion from 'int' to 'X'
    unlike example [the toolchain is incomplete] /tmp/x/cab.wrapper.cpp:4:10: fatal error: cuda.h: No such file or directory
cpp_shim_mismatch cpp_compile cpp_error KIND_TEXT minify
    summary The generated C++ calls an operator's C shim with arguments that do not fit
    means The wrapper and the C interface of a fallback operator disagree: optional arguments, output handles or a missing shim.
    fix Decompose or replace the operator named in the source line below the error
    fix Try the newest torch
    guide lowering-and-cpp.md#ops-without-a-shim
    pattern error: no matching function for call to ['‘][^'’]{1,80}['’]
    pattern error: cannot convert .{0,200}(?:AtenTensorOpaque|RAIIAtenTensorHandle)
    unconfirmed error: too (?:few|many) arguments to function
    quoted [pytorch/pytorch#194700] error: no matching function for call to 'from'
cpp_vector_type cpp_compile cpp_error KIND_TEXT minify
    summary The generated CPU kernel uses a vector type in a way that does not exist
    means Inductor wrote vector code (at::vec) for a dtype or an operation that the headers do not have for this instruction set.
    check With TORCHINDUCTOR_CPP_SIMDLEN=1, or ATEN_CPU_CAPABILITY=default, does it compile?
    fix Switch vectorisation off (torch._inductor.config.cpp.simdlen = 1), or upgrade
    fix Cast the tensor of the operator named below to a common dtype
    anchor at::vec || VecMask<
    pattern (?:error|ambiguous|deduction|candidate).{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<|vec_reduce_all|masked_load)
    pattern no (?:match|member).{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<|vec_reduce_all|masked_load)
    pattern (?:could not|cannot) convert.{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<|vec_reduce_all|masked_load)
    pattern not (?:a member|declared).{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<|vec_reduce_all|masked_load)
    pattern static assertion.{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<|vec_reduce_all|masked_load)
    pattern ^\s{0,20}(?:error: )?['‘](?:const )?(?:at::vec::|\w{0,20}VecMask<|VectorizedN?<)
    pattern (?:at::vec::|VecMask<|VectorizedN?<).{0,300}(?:no matching|has no member|incomplete type|cannot be)
    pattern (?:at::vec::|VecMask<|VectorizedN?<).{0,300}(?:is not a member|not declared)
    unconfirmed (?:no viable|no type|invalid operands|undeclared).{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<|vec_reduce_all|masked_load)
    unconfirmed (?:at::vec::|VecMask<|VectorizedN?<).{0,300}undeclared
    unlike example [a native stack] #5 0x7f at::vec::DEFAULT::Vectorized<float>::loadu from libtorch_cpu.so
cpp_wrong_name cpp_compile cpp_error SPECIFIC_TEXT minify
    summary The generated C++ does not declare '{name}', or declares it twice
    means A code generation bug: Inductor emitted a shape array (int_array_N), a size symbol, a stream or a type name out of scope, or twice. Frequent reasons: subgraphs of cond and while_loop, debug options.
    check The file is a *.wrapper.cpp or *.kernel.cpp of Inductor, and the name is not yours
    fix Try the newest torch; unset Inductor debug options such as triton.debug_sync_kernel
    fix Move control flow and item() out of the model to see whether they cause it
    guide lowering-and-cpp.md#undeclared-identifiers
    pattern error: (?:use of undeclared identifier )?['‘`](?P<name>(?!_mm|__m)\w{1,200})['’]
    pattern error: redeclaration of ['‘](?P<name>[^'’]{1,80})['’]
    pattern error: redefinition of ['‘](?P<name>[^'’]{1,80})['’]
    pattern error: conflicting declaration ['‘](?P<name>[^'’]{1,80})['’]
    unlike example /tmp/x.cpp:1:10: fatal error: 'omp.h' file not found
item_as_tensor_handle cpp_compile cpp_error KIND_TEXT minify
    summary A scalar taken from a tensor is passed on as a tensor handle
    means item() of a tensor is used as a size or argument and the generator printed the tensor instead of the number.
    fix Upgrade torch, or compute that number outside the model
    pattern (?:cannot convert|invalid user-defined conversion from|no viable conversion from) .{0,120}RAIIAtenTensorHandle.{0,60}\bto\b.{0,30}(?:int64_t|long|double|bool)
    recorded [g++ 12 on a file of ours] u.cpp:3:78: error: invalid user-defined conversion from ‘RAIIAtenTensorHandle’ to ‘int64_t’ {aka ‘long
too_big_to_optimize cpp_compile performance KIND_TEXT
    summary The generated function is too large for the compiler's optimiser
    means Huge graphs become one C++ function; compilers give up optimising it and may take an hour.
    fix AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL=O0 or O1; compile the model in parts
    guide memory-and-time.md#too-big-to-optimize
    pattern Function \S{1,300} is too big to optimize || ignored-optimization-argument
    unconfirmed variable tracking size limit exceeded
    quoted [pytorch/pytorch#112008] Function foo is too big to optimize [-Wignored-optimization-argument]
cuda_header_missing cpp_compile toolchain NAMED_TEXT proved check_environment
    summary The CUDA header {header} is missing
    means Compiling for CUDA needs the toolkit's headers; runtime container images and pip wheels of torch do not have them all.
    fix Use a devel image or install the toolkit and set CUDA_HOME; with conda: conda install cuda-cudart-dev cuda-driver-dev
    guide toolchain.md#missing-headers
    pattern fatal error: '?(?P<header>cuda(?:_runtime\w{0,200}|_fp16|_bf16)?\.h|cublas\w{0,200}\.h|cudnn\w{0,200}\.h|cusparse\w{0,200}\.h|cusolver\w{0,200}\.h|nvrtc\.h|nvtx3?/\S{1,60}|crt/host_defines\.h)'?:? No such file
    pattern fatal error: '?(?P<header>cuda(?:_runtime\w{0,200}|_fp16|_bf16)?\.h|cublas\w{0,200}\.h|cudnn\w{0,200}\.h|cusparse\w{0,200}\.h|cusolver\w{0,200}\.h|nvrtc\.h|nvtx3?/\S{1,60}|crt/host_defines\.h)'?:? file not found
    recorded [g++ 12 on a file of ours] c.cpp:1:10: fatal error: cuda.h: No such file or directory
cuda_toolkit_missing cpp_compile toolchain EXACT_TEXT check_environment
    summary The CUDA toolkit (or a tool of it) is missing: {what}
    means Compiling a CUDA package needs the toolkit, for multi-arch kernels its tools too; runtime images have only the libraries.
    fix Use a devel image, or install the toolkit, export CUDA_HOME=/usr/local/cuda and put its bin into PATH
    guide toolchain.md#cuda-toolkit
    pattern CUDA_HOME environment variable is not set || CUDA_HOME is not set || Cannot find ptxas
    pattern \b(?P<what>(?:nvcc|ptxas|fatbinary|objcopy): (?:command )?not found)
    pattern FileNotFoundError: .{0,60}'(?:\S{0,120}/)?(?P<what>nvcc|ptxas|fatbinary|objcopy)'
    unconfirmed CUDA_HOME is missing || CUDA_HOME not found || CUDA_HOME does not exist
    example [Triton] RuntimeError: Cannot find ptxas
    unlike example [a shell log] export CUDA_HOME=/usr/local/cuda-12.8
cuda_tools_too_old cpp_compile toolchain NAMED_TEXT check_environment
    summary ptxas or nvcc is too old: {what}
    means Triton writes newer PTX, or the GPU is newer, than the CUDA tools in use know; mostly with multi-arch kernels.
    fix Use a toolkit as new as Triton's: set TRITON_PTXAS_PATH and CUDA_HOME to it
    fix Or limit TORCH_CUDA_ARCH_LIST to what the tools know
    guide toolchain.md#cuda-toolkit
    pattern Unsupported \.version \d{1,20}\.\d{1,20}; current version is '\d{1,20}\.\d{1,20}'
    pattern Value 'sm_\d{1,20}[af]?' is not defined for option 'gpu-name'
    pattern Unsupported gpu architecture '(?:compute|sm)_\d{1,20}[af]?'
    example [ptxas] ptxas /tmp/tmpabc.ptx, line 5; fatal   : Unsupported .version 8.7; current version is '8.4'
driver_too_old environment toolchain EXACT_TEXT check_environment
    summary The NVIDIA driver is older than what this torch or package was built with: {what}
    means The CUDA runtime refuses to start, or the driver cannot compile PTX of a newer toolkit.
    check nvidia-smi (top right: highest CUDA version) against torch.version.cuda.
    fix Update the driver, or use a torch build and a compile machine with an older CUDA
    guide toolchain.md#driver-too-old
    pattern the provided PTX was compiled with an unsupported toolchain
    pattern a PTX JIT compilation failed
    example [the CUDA driver] CUDA driver error: the provided PTX was compiled with an unsupported toolchain.
    example [the CUDA driver] CUDA error: a PTX JIT compilation failed
gpu_unsupported environment toolchain EXACT_TEXT check_environment
    summary This torch or Triton does not support the GPU ({gpu})
    means Kernels of ATen and libraries are missing for the architecture (`no kernel image` follows), or the GPU is older than capability 7.0, which Triton needs.
    fix Install a torch build whose torch.cuda.get_arch_list() names the GPU
    fix For a GPU below 7.0 compile for the CPU
    guide toolchain.md#gpu-not-supported-by-this-torch
    pattern with CUDA capability (?P<gpu>sm_\d{1,20}a?) is not compatible with the current PyTorch installation
    pattern (?P<gpu>No published PyTorch CUDA builds for release \S{1,30} support this GPU)
    pattern Found (?P<gpu>.{1,60}) which is too old to be supported by the triton GPU compiler
libcuda_not_found triton_compile toolchain EXACT_TEXT check_environment
    summary Triton does not find libcuda.so to link its launcher with
    means It asks ldconfig for the driver's library: the cache of the loader is old, the container hides the driver, or only libcuda.so.1 exists.
    check ldconfig -p | grep libcuda; nvidia-smi.
    fix Run ldconfig, or set TRITON_LIBCUDA_PATH to the directory with libcuda.so.1
    guide toolchain.md#triton-missing-or-mismatched
    pattern libcuda\.so (?:cannot|not|cannot be) found
    pattern (?:CalledProcess|FileNotFound)Error: .{0,60}\bldconfig'
    pattern create a symlink of libcuda\.so
    unconfirmed [Cc]annot find libcuda
    example [triton/backends/nvidia/driver.py] AssertionError: libcuda.so cannot found!
    example [triton/backends/nvidia/driver.py] FileNotFoundError: [Errno 2] No such file or directory: '/sbin/ldconfig'
    example [triton/backends/nvidia/driver.py] Possible files are located at ['/usr/lib64/libcuda.so.1'].Please create a symlink of libcuda.so to any of the files.
nvcc_failed cpp_compile toolchain SPECIFIC_TEXT check_environment
    summary The CUDA compiler or a tool of it stopped: {what}
    means nvcc does not go with the host compiler, with the CUDA release of torch or with the GPU named, or a file of the toolkit is missing.
    check nvcc --version, $CXX --version and torch.version.cuda beside each other.
    fix Install the toolkit release that torch.version.cuda names and set CUDA_HOME to it
    fix Give nvcc a host compiler that it supports (NVCC_CCBIN or CXX)
    guide toolchain.md#cuda-toolkit
    anchor nvcc fatal || nvlink fatal
    pattern `nvcc` command returns non-zero exit status || nvcc (?:fatal|error)\s{0,3}:.{0,160}
    pattern unsupported GNU version || unsupported Microsoft Visual Studio version
    pattern detected CUDA version .{1,40} mismatches the version
    pattern is less than the minimum required version by CUDA
    pattern is greater than the maximum required version by CUDA || nvcc is required to build fatbin
    pattern nvcc not found at .{0,120} || [Cc]annot find.{0,80}libdevice
    pattern not found.{0,80}libdevice || No such file.{0,80}libdevice || libdevice\S{0,40} not found
    pattern Unknown CUDA arch \(.{1,30}\) || nvrtc: error: failed to open .{0,80}
    pattern Ninja is required to load C\+\+ extensions || Need to set WINDOWS_CUDA_HOME
    unconfirmed unsupported clang version || nvlink (?:fatal|error)\s{0,3}:.{0,120}
    unconfirmed fatbinary fatal\s{0,3}:.{0,120} || cudafe\+\+.{0,20} died
    example [crt/host_config.h] #error -- unsupported GNU version! gcc versions later than 12 are not supported!
    example [nvrtc] nvrtc: error: failed to open libnvrtc-builtins.so.11.8.
triton_launcher_not_built triton_compile toolchain BROAD_TEXT check_environment
    summary The C compiler could not build Triton's launcher
    means Triton builds a small C file per kernel kind for the host: Python's headers, libcuda or a working gcc are missing.
    check Run the printed command by hand.
    fix Install gcc and python3-dev, and make libcuda.so visible to the linker
    guide toolchain.md#triton-missing-or-mismatched
    pattern CalledProcessError: Command '\[.{0,200}(?:main|cuda_utils|__triton_launcher|launcher_stub)\.c'
    after (?:cuda_utils|__triton_launcher)\S{0,80}\.(?:so|pyd)\b.{0,40}
    pattern undefined symbol || cannot open || DLL load
triton_mismatch environment toolchain EXACT_TEXT check_environment
    summary Triton is missing, or not the release that this torch works with: {what}
    means Compiling for a GPU needs Triton; Inductor and custom kernels use its inner modules, which move from release to release; a second Triton package (triton-nightly, pytorch-triton, triton-windows) may also lie over the first.
    check pip list | grep -i triton, against the version that pip show torch requires.
    fix Remove all Triton packages and install the one that torch requires (on Linux pip install torch brings it)
    guide toolchain.md#triton-missing-or-mismatched
    pattern Cannot find a working triton installation
    pattern ModuleNotFoundError: No module named 'triton'
    pattern ImportError: (?P<what>cannot import name '\w{1,60}' from (?:partially initialized module )?'triton[\w.]{0,80}')
    pattern AttributeError: (?P<what>(?:partially initialized )?module 'triton[\w.]{0,80}' has no attribute '\w{1,60}')
    pattern ModuleNotFoundError: (?P<what>No module named '(?:triton\.|pytorch_triton)[\w.]{0,80}')
    pattern RuntimeError: (?P<what>Found (?:0|>1) concrete subclasses of .{1,80})
    example [Python] ModuleNotFoundError: No module named 'triton'
    example [common form in public threads] ModuleNotFoundError: No module named 'triton.ops'
    example [triton/backends/__init__.py] RuntimeError: Found 0 concrete subclasses of <class 'DriverBase'>
"""
