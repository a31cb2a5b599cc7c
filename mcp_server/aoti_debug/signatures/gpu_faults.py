"""What CUDA and its tools say of a kernel that failed, and what fails because of that."""

TABLE = r"""
cuda_error_other run kernel_resources NOTICE symptom possible
    summary The GPU's runtime refused a call: {what}
    means A status of the CUDA or HIP runtime that says little by itself. It may belong to an earlier, asynchronous call.
    check The first GPU message of the process; CUDA_LAUNCH_BLOCKING=1 to see whose it is
    fix Look the status up in the runtime's manual; check sizes, device and driver
    after ^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}?
    pattern (?P<what>CUDA (?:driver )?error: (?!CU[A-Z]{2,6}_STATUS)(?!.{0,40}out of memory).{1,120})
    pattern (?P<what>HIP error: (?!CU[A-Z]{2,6}_STATUS)(?!.{0,40}out of memory).{1,120})
    pattern (?P<what>Triton Error \[\w{2,6}\]: (?!CU[A-Z]{2,6}_STATUS)(?!.{0,40}out of memory).{1,120})
    pattern (?P<what>cuda runtime error \(\d{1,20}\) ?:.{1,120})
    pattern (?P<what>\bCUDA_ERROR_[A-Z_]{3,60}) || (?P<what>\b(?:cudaError|hipError)[A-Z]\w{3,60})
cuda_illegal_memory_access run illegal_memory_access GENERAL_TEXT
    summary A GPU kernel read or wrote an invalid address
    means An earlier kernel of this process read or wrote outside its tensors; the call that reports the error is usually not the cause. Usual reasons: a violated input contract, a host pointer, int32 overflow, a faulty user kernel. The next run may report an "address space" error instead.
    check AOTI_RUNTIME_CHECK_INPUTS=1 on the same call; then a core dump for the kernel's name
    fix Run the failing call once with AOTI_RUNTIME_CHECK_INPUTS=1 and once with program.module(): a violated input contract is the most frequent reason, and neither check needs a recompile
    fix Take a CUDA core dump (CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1) to get the kernel and its line: the Python traceback names a later call, not the one that launched the faulty kernel
    after ^(?!Failed to (?:destroy|free|unload|run autotuning)).{0,4000}
    pattern an illegal memory access was encountered
    pattern operation not supported on global/shared address space
    pattern (?:cudaErrorIllegalAddress|cudaErrorInvalidAddressSpace|CUDA_ERROR_ILLEGAL_ADDRESS|CUDA_ERROR_INVALID_ADDRESS_SPACE)
    recorded [torch 2.11, H200, a user Triton kernel] torch.AcceleratorError: CUDA error: operation not supported on global/shared address space
cuda_invalid_argument run kernel_resources VAGUE_TEXT possible
    summary A CUDA call was given an argument it does not accept
    means In a compiled model this is nearly always a kernel launch whose grid is zero or beyond the limit, or a pointer of another device. At load time it points to a package made for another device or with missing constants.
    check CUDA_LOG_FILE=FILE (CUDA 12.9 and later) writes which argument was refused
    fix Check the sizes of the failing call for empty or very large dimensions
    pattern hipErrorInvalidValue || HIP error: invalid argument
    pattern ^(?!Failed to run autotuning).{0,4000}CUDA (?:driver )?error: invalid argument
    pattern ^(?!Failed to run autotuning).{0,4000}Triton Error \[CUDA\]: invalid argument
    pattern ^(?!Failed to run autotuning).{0,4000}(?:cudaErrorInvalidValue|CUDA_ERROR_INVALID_VALUE)
    unconfirmed \[HIP\]:  Code: 1, || error \(11?\) : invalid argument
    example [the HIP runtime] RuntimeError: HIP error: invalid argument
cuda_launch_failure run illegal_memory_access BROAD_TEXT
    summary A GPU kernel failed without a precise reason
    means The kernel faulted in a way the runtime does not classify; most often an invalid access, in shared memory too. Under compute-sanitizer this is the normal end after its report.
    check If compute-sanitizer ran, read its first report; otherwise take a core dump
    fix Take a CUDA core dump (CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1) to get the kernel and its line: the Python traceback names a later call, not the one that launched the faulty kernel
    guide cuda-illegal-memory-access.md#launch-failures-and-resources
    after ^(?!Failed to (?:destroy|free|unload)).{0,4000}
    pattern unspecified launch failure
    pattern (?:cudaErrorLaunchFailure|CUDA_ERROR_LAUNCH_FAILED|cudaErrorIllegalInstruction|CUDA_ERROR_ILLEGAL_INSTRUCTION|cudaErrorInvalidPc|CUDA_ERROR_INVALID_PC|cudaErrorHardwareStackError|CUDA_ERROR_HARDWARE_STACK|hipErrorLaunchFailure)
    pattern an illegal instruction was encountered
    unconfirmed invalid program counter || hardware stack error
    unconfirmed tensor memory not completely freed || cudaErrorTensorMemoryLeak
    example [common form in public threads] RuntimeError: CUDA error: an illegal instruction was encountered
    unlike example CUDA error: too many resources requested for launch
cuda_launch_resources run kernel_resources KIND_TEXT
    summary The GPU refused to launch a kernel: {what}
    means Grid, block, registers or shared memory exceed what the device allows, or a dimension of the grid is zero. The kernel did not run, so nothing was corrupted.
    check Sizes of the failing call: an empty dimension gives an empty grid, a huge one overflows grid y/z (65535)
    fix Compile on the GPU type that runs the model
    fix Reduce num_warps, num_stages or block sizes of user kernels
    fix Guard against empty inputs
    pattern too many resources requested for launch
    pattern (?:cudaErrorLaunchOutOfResources|CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES|cudaErrorInvalidConfiguration|hipErrorInvalidConfiguration)
    pattern invalid configuration argument
    unconfirmed too many blocks in cooperative launch
    unconfirmed (?:cudaErrorCooperativeLaunchTooLarge|CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
    unconfirmed cluster misconfiguration || Cluster target block not present
    unconfirmed limit is not supported on this architecture || exceeds maximum grid size
    example [common form in public threads] RuntimeError: CUDA error: too many resources requested for launch
    example [common form in public threads] RuntimeError: CUDA error: invalid configuration argument
    unlike example triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 131072, Hardware limit: 101376.
cuda_launch_timeout hang hang KIND_TEXT
    summary A GPU kernel ran longer than the display watchdog allows
    means The kernel never ended or is far too slow; GPUs that drive a display (and Windows) stop it after a few seconds.
    check Does the same input end on a GPU without a display?
    fix Look for a loop in a user kernel whose bound is data; shrink the problem; run on a compute-only GPU
    guide threads-streams-hangs.md#kernels-that-never-end
    pattern the launch timed out and was terminated
    pattern (?:cudaErrorLaunchTimeout|CUDA_ERROR_LAUNCH_TIMEOUT)
    example [common form in public threads] RuntimeError: CUDA error: the launch timed out and was terminated
cuda_misaligned_address run misaligned_address KIND_TEXT
    summary A GPU kernel made a vector access to an address that is not a multiple of its width
    means Kernels are compiled for 16-byte aligned inputs. A view with an odd storage offset, a custom op's output or a user kernel with a wrong tl.multiple_of hint breaks that.
    check data_ptr() % 16 of each CUDA input
    fix Pass a contiguous clone of sliced inputs: x[1:] starts 4 bytes into its storage
    fix Remove tl.multiple_of or alignment hints that do not always hold
    pattern CUDA error: misaligned address || CUDA driver error: misaligned address
    pattern \[CUDA\]: misaligned address
    pattern (?:cudaErrorMisalignedAddress|CUDA_ERROR_MISALIGNED_ADDRESS)
    pattern CUDA Exception: Warp Misaligned Address
    pattern ^={1,40}\s{1,20}Address 0x[0-9a-f]{1,200} is misaligned
    pattern ^={1,40}\s{1,20}Access to 0x[0-9a-f]{1,200} is misaligned
    unconfirmed HIP error: misaligned address || CUDBG_EXCEPTION_WARP_MISALIGNED_ADDRESS
    example [cuda-gdb manual] CUDA Exception: Warp Misaligned Address
    unlike example [the check of torch 2.6, before any kernel runs] arg0_1 is not aligned to 16 bytes
cuda_not_permitted run device_unavailable BROAD_TEXT possible check_environment
    summary The GPU or its driver refuses this process: {what}
    means The device is taken, shared through MPS, virtual, without peer access, or its driver does not fit the runtime. The model is not involved.
    check nvidia-smi, and a one-line torch.ones(1, device='cuda') in a fresh process
    fix Free or choose another device; restart the MPS server; match driver and runtime
    pattern (?i:cuda|hip|triton).{0,120}(?P<what>busy or unavailable)
    pattern (?i:cuda|hip|triton).{0,120}(?P<what>peer access is (?:not|already))
    pattern (?i:cuda|hip|triton).{0,120}(?P<what>operation not supported(?! on global))
    pattern (?i:cuda|hip|triton).{0,120}(?P<what>operation not permitted(?! (?:when|on an event)))
    pattern ^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}?(?P<what>cudaError(?:DevicesUnavailable|NotSupported|NotPermitted|System(?:NotReady|DriverMismatch)|CompatNotSupportedOnDevice|Mps\w{1,200}|PeerAccess\w{1,200}|NoDevice|InvalidDevice\b|InitializationError)|CUDA_ERROR_(?:NO_DEVICE|INVALID_DEVICE|SYSTEM_\w{1,200}|MPS_\w{1,200}|NOT_SUPPORTED|NOT_PERMITTED|COMPAT_NOT_SUPPORTED\w{0,200}|PEER_ACCESS_\w{1,200}|STUB_LIBRARY|DEVICE_UNAVAILABLE)|hipError(?:NoDevice|InvalidDevice|NotSupported))
    after (?i:cuda|hip|triton).{0,120}
    unconfirmed (?P<what>exclusive-thread device already in use)
    unconfirmed (?P<what>peer access has (?:not|already)) || (?P<what>too many peers)
    unconfirmed (?P<what>system has unsupported display driver)
    unconfirmed (?P<what>forward compatibility was attempted) || (?P<what>MPS (?:client|server))
    unconfirmed (?P<what>device doesn't have valid Grid license)
    unconfirmed (?P<what>driver is a stub library)
    example [CUDA runtime text] RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable
    unlike example [a capture] CUDA error: operation not permitted when stream is capturing
    unlike example [a fault] CUDA error: operation not supported on global/shared address space
    unlike example [another failure] mv: cannot move: Operation not permitted
cuda_wrong_context run concurrency GENERAL_TEXT possible
    summary A stream, event or context is used where it does not belong or no longer exists
    means Handles are valid in the context that made them: another device, another thread without a current context, a forked process, or the end of the process.
    check Do stream and inputs belong to the device that the model was loaded for?
    fix Set the device before the call (torch.cuda.set_device, DeviceGuard)
    fix Delete the model before the process ends; clone outputs kept across graph replays
    guide threads-streams-hangs.md#streams-inside-the-model
    pattern invalid resource handle || context is destroyed
    pattern Event device .{1,60} does not match .{1,40}stream
    pattern ^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}(?:cudaErrorInvalidResourceHandle|CUDA_ERROR_INVALID_HANDLE|CUDA_ERROR_CONTEXT_IS_DESTROYED|cudaErrorContextIsDestroyed|CUDA_ERROR_DEINITIALIZED|cudaErrorCudartUnloading|CUDA_ERROR_INVALID_CONTEXT|CUDA_ERROR_NOT_INITIALIZED)
    pattern ^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}Running CUDAGraph after shutdown
    unconfirmed depend on a capturing blocking stream || merge of separate capture sequences
    unconfirmed capturing stream has unjoined work || capture was not ended in the same stream
    unconfirmed dependency created on uncaptured work || last recorded in a capturing stream
    unconfirmed ThreadSanitizer: data race
    after (?:CUDA|HIP|cuda|Triton).{0,80}
    unconfirmed driver shutting down || invalid device context
    unconfirmed primary context for the specified device || cannot set while device is active
    unconfirmed graph update was not performed
    after
    unconfirmed ^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}(?:hipErrorInvalidHandle|cudaErrorDeviceUninitialized|cudaErrorGraphExecUpdateFailure)
    example [CUDA runtime text] RuntimeError: CUDA error: invalid resource handle
gpu_hardware_error run device_unavailable SPECIFIC_TEXT check_environment
    summary The GPU or its driver failed: {what}
    means The device itself reported the error; the model is not the reason until another GPU shows the same.
    check nvidia-smi -q -d ECC, the kernel log (Xid lines), and the same call on another GPU
    fix Move to another device; have the machine checked or rebooted
    guide cuda-illegal-memory-access.md#restart-the-process
    pattern uncorrectable (?:NVLink |ECC )?(?:ECC )?error encountered
    pattern (?:cudaErrorECCUncorrectable|CUDA_ERROR_UNKNOWN|CUDA_ERROR_NVLINK_UNCORRECTABLE|CUDA_ERROR_ECC_UNCORRECTABLE|UR_RESULT_ERROR_DEVICE_LOST)
    pattern CUDA (?:driver )?error: unknown error || cudaError(?:Nvlink|Unknown)
    unconfirmed Invalid access of peer GPU memory over nvlink || GPU has fallen off the bus
    unconfirmed (?P<what>NVRM: Xid [^:]{0,40})(?![^)]{0,30}\): (?:13|31|43)\b)
    unconfirmed Unable to determine the device handle
    unconfirmed an exception occurred on the device that was contained
    unconfirmed (?:cudaErrorContained|CUDA_ERROR_CONTAINED) || NVLink error was detected
aftermath_cleanup run illegal_memory_access VAGUE_TEXT aftermath possible
    summary Clean-up of the model failed because the CUDA context was already lost ({text})
    means Printed while the model is destroyed after a GPU fault. The text repeats the first error.
    check The first GPU message of the process
    guide cuda-illegal-memory-access.md#restart-the-process
    pattern Failed to (?:destroy|free|unload) (?:CUDA|GPU) (?:event|memory|module) in AOTInductor model[^:]{0,40}:? ?(?P<text>.{0,80})
    recorded [torch 2.11, H200] Failed to destroy CUDA event in AOTInductor model: device-side assert triggered
aftermath_cuda_library run illegal_memory_access BROAD_TEXT aftermath possible
    summary {what}: a library call failed on a CUDA context that an earlier fault had already broken
    means The library only reports the fault. Look for an assert, an illegal access or full memory before this line.
    check Does a fresh process that only runs the matrix product succeed?
    fix Find the first GPU message of the process; restart the process before trying anything else
    pattern (?:CUBLAS_STATUS_(?:INTERNAL_ERROR|NOT_INITIALIZED|EXECUTION_FAILED|MAPPING_ERROR)|CUDNN_STATUS_(?:INTERNAL_ERROR(?!_HOST|_DEVICE)|EXECUTION_FAILED\w{0,20}|MAPPING_ERROR|NOT_INITIALIZED)|CUSOLVER_STATUS_(?:INTERNAL_ERROR|EXECUTION_FAILED|NOT_INITIALIZED)|CUSPARSE_STATUS_(?:INTERNAL_ERROR|EXECUTION_FAILED|NOT_INITIALIZED)|CUFFT_(?:INTERNAL_ERROR|EXEC_FAILED)|CURAND_STATUS_(?:LAUNCH_FAILURE|INTERNAL_ERROR|PREEXISTING_FAILURE)|(?:rocblas|hipblas|HIPBLAS)_STATUS_(?:INTERNAL_ERROR|EXECUTION_FAILED)|rocblas_status_internal_error|miopenStatus(?:InternalError|UnknownError))
    unlike example [an unsupported shape or type] CUBLAS_STATUS_NOT_SUPPORTED when calling cublasLtMatmul
aftermath_rng_state autotune illegal_memory_access VAGUE_TEXT aftermath possible
    summary Restoring the random state failed because a kernel had faulted while the model was being compiled
    means Inductor saves and restores the random state around a compile, so a fault during autotuning appears here. The failing kernel was benchmarked earlier.
    check Core dump on exception names the kernel without another compile
    fix Look at user Triton kernels first: autotuning runs them on made-up data
    guide cuda-illegal-memory-access.md#a-fault-while-compiling
    pattern torch\.cuda\.set_rng_state\(cuda_rng_state\)
    pattern default_generator\.set_state\(new_state\)
device_assert_triggered run index_out_of_bounds KIND_TEXT symptom
    summary An assertion inside a GPU kernel failed; the assertion line itself is printed on stderr before this
    means This is the sticky error that every CUDA call returns after a kernel assert. In compiled models the assert is nearly always an index check.
    check Look for `Assertion ... failed` earlier on stderr; if it is missing, run again with stderr kept
    fix Find the first `Assertion` line: it names kernel, line and bound
    guide triton-index-out-of-bounds.md#errors-that-follow-an-assert
    after ^(?!Failed to (?:destroy|free|unload|run autotuning)).{0,4000}
    pattern device-side assert triggered || cudaErrorAssert\b || CUDA_ERROR_ASSERT
    unlike recorded [a hint that every CUDA error carries] Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.
gpu_library_mismatch run toolchain KIND_TEXT check_environment
    summary A CUDA library is missing or of another release than torch was built with: {what}
    means Another copy of the library comes first on LD_LIBRARY_PATH, or only a part of it is installed.
    check ldd and LD_LIBRARY_PATH; pip list | grep nvidia
    fix Take other CUDA libraries off LD_LIBRARY_PATH; reinstall torch with its wheels
    guide toolchain.md#cuda-toolkit
    pattern cuDNN version incompatibility || Failed to import CUTLASS lib
    unconfirmed CUDNN_STATUS_SUBLIBRARY_\w{1,40} || CUDNN_STATUS_VERSION_MISMATCH
    unconfirmed CUDNN_STATUS_(?:NOT_SUPPORTED_)?RUNTIME_PREREQUISITE_MISSING
    unconfirmed compiled against an incompatible cuDNN || CUDART_VERSION mismatch
library_refused_problem run contract_shape BROAD_TEXT symptom possible
    summary A GPU library does not support this problem: {what}
    means The library does not support these sizes, strides, alignment or dtype on this GPU; a library of another release on LD_LIBRARY_PATH answers in the same way.
    check Does the same call run eagerly, with contiguous tensors of the exported sizes?
    fix Check sizes and dtypes against the export; pass contiguous tensors
    fix Remove other CUDA libraries from LD_LIBRARY_PATH
    anchor cutlass error
    pattern (?:CUBLAS_STATUS_|CUSPARSE_STATUS_|CUSOLVER_STATUS_)(?:INVALID_VALUE|NOT_SUPPORTED)
    pattern CUDNN_STATUS_NOT_SUPPORTED\w{0,60}
    pattern (?:HIPBLAS_STATUS_NOT_SUPPORTED|HIPBLAS_STATUS_INVALID_VALUE|CUFFT_INVALID_SIZE|miopenStatusBadParm)
    unconfirmed CUDNN_STATUS_BAD_PARAM\w{0,60} || kErrorInvalidProblem || Error Invalid Problem
    unconfirmed cutlass cannot implement || (?i:cutlass error)[: ].{0,80}
gpu_exception_dump run illegal_memory_access EXACT_TEXT proved explain_kernel
    summary The GPU stopped on {type}; the stack beside it names the kernel
    means A core dump caught the kernel in the act: this is the kernel that faulted, not a later one. The `#0` line names it, and cuda-gdb adds block, thread, file and line.
    check cuda-gdb -batch -ex 'target cudacore FILE' -ex bt
    fix Open the file and line that the dump names; the index expression there leaves its tensor
    guide cuda-illegal-memory-access.md#debug-by-hand
    pattern coredump: Detected an exception of type CUDBG_EXCEPTION_(?!WARP_ASSERT|WARP_MISALIGNED)(?P<type>\w{1,200})
    pattern CUDA Exception: (?P<type>(?!Warp Assert|Warp Misaligned)[A-Z][\w /-]{3,60})
    recorded [H200, driver 580] [04:51:11.454696] coredump: Detected an exception of type CUDBG_EXCEPTION_WARP_INVALID_ADDRESS_SPACE (7)
    recorded [H200] CUDA Exception: Warp Invalid Address Space
    unlike example [] [04:51:11.454696] coredump: Detected an exception of type CUDBG_EXCEPTION_WARP_ASSERT (12)
    unlike recorded [] [04:51:11.449254] coredump: Starting GPU coredump generation
    unlike example CUDA Exception: Warp Assert
initcheck_uninitialized run wrong_result SPECIFIC_TEXT explain_kernel
    summary A GPU kernel read {size} bytes of uninitialized memory
    means initcheck found a read of fresh memory, so results depend on what lay there before. Padding reads that are masked later are a known false alarm.
    check Do outputs differ between two replays of the same inputs?
    fix Look at the producer of that buffer: a custom op that writes less than it promises, or torch.empty in the model
    guide wrong-results.md#uninitialized-reads
    pattern Uninitialized __global__ memory read of size (?P<size>\d{1,20})
    example [compute-sanitizer manual] ========= Uninitialized __global__ memory read of size 4 bytes
memcheck_invalid_access run illegal_memory_access NAMED_TEXT proved explain_kernel
    summary compute-sanitizer saw a {access} of {size} bytes outside {space} memory
    means The tool stopped the access itself: the next lines name kernel, file and line, thread, and how far the address lies from the nearest allocation.
    check Expandable segments give false alarms for bulk copies: unset PYTORCH_ALLOC_CONF
    fix Compare the distance to the nearest allocation with the sizes the package was compiled for
    guide debugging-tools.md#compute-sanitizer
    pattern ={1,40} Invalid __(?P<space>global|shared|local)__ (?P<access>read|write|atomic) of size (?P<size>\d{1,20}) bytes?
    unlike recorded [] ========= ERROR SUMMARY: 0 errors
memory_leak_report run performance KIND_TEXT
    summary A leak checker reports memory that was never freed
    means Some releases leak small strings when a package is opened; a leak per call is another matter.
    check Does memory grow with the number of calls or only with the number of loads?
    fix Load once and keep the runner; upgrade from 2.7
    guide memory-and-time.md#leaks
    pattern LeakSanitizer: .{1,120}
    unconfirmed detected memory leaks
    quoted [pytorch/pytorch#158614] SUMMARY: LeakSanitizer: 526 byte(s) leaked in 7 allocation(s).
race_or_barrier_report run concurrency SPECIFIC_TEXT explain_kernel
    summary compute-sanitizer: {what} inside a GPU kernel
    means Threads of one block use shared memory or a barrier without the order the kernel needs. For Triton kernels this is a compiler or pipelining bug, for CUDA custom ops a missing __syncthreads.
    fix Set num_stages=1 for the Triton kernel to see whether it goes away
    fix Add the missing barrier in a CUDA custom op
    guide threads-streams-hangs.md#shared-memory-races
    pattern ={1,40} (?:Error: |Warning: )?(?P<what>Race reported between)
    pattern ={1,40} (?:Error: |Warning: )?(?P<what>Potential (?:RAW|WAR|WAW) hazard)
    pattern ={1,40} (?:Error: |Warning: )?(?P<what>Barrier error detected)
    example [compute-sanitizer manual] ========= Error: Race reported between Write access at 0x200 in addKernel
    example [compute-sanitizer manual] ========= Barrier error detected. Divergent thread(s) in block
sanitizer_query_refused run false_alarm KIND_TEXT run_stage
    summary A library asked the driver for something that it does not have, and goes on without it
    means compute-sanitizer reports each call that returns an error. cuBLAS, cuDNN and the runtime ask for entry points, limits and attributes and expect to be refused.
    check Does the program end well without compute-sanitizer?
    fix --report-api-errors no leaves such calls out
    guide debugging-tools.md#compute-sanitizer
    pattern Program hit (?:CUDA_ERROR_|cudaError)(?:INVALID_VALUE|InvalidValue|NOT_\w{1,20}) \(error \d{1,4}\) due to .{1,80} on CUDA API call to cu(?:da)?\w{0,30}Get\w{1,60}
    example [compute-sanitizer] ========= Program hit CUDA_ERROR_INVALID_VALUE (error 1) due to "invalid argument" on CUDA API call to cuCtxGetLimit.
sanitizer_unusable environment false_alarm KIND_TEXT check_environment
    summary The GPU debugging tool could not do its work here
    means compute-sanitizer or cuda-gdb did not see the kernels: no permission, another driver version, no GPU call at all, or the host side crashed first.
    check Do they run on a ten-line CUDA script?
    fix For a host crash use gdb or a core file instead; install the tool version that fits the driver
    guide debugging-tools.md#compute-sanitizer
    pattern terminated before first instrumented API call
    unconfirmed Internal Sanitizer Error || No attachable process found
    unconfirmed Unable to find injection library || ={1,40} Error: Device not supported
    unconfirmed fatal:\s{1,20}CUDA
    example [compute-sanitizer manual] ========= Error: Target application terminated before first instrumented API call
"""
