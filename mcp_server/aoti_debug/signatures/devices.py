"""Data on a device that is another one or not there; Windows, macOS, GPUs that are not NVIDIA's."""

TABLE = r"""
constants_on_other_device load contract_device NAMED_TEXT inspect_package
    summary The package's constants lie on another device than the one it is loaded on
    means Most often a CPU artifact loaded as CUDA or the reverse, often followed by a SIGSEGV; otherwise a model with weights on two devices.
    check Read AOTI_DEVICE_KEY of the package's metadata and compare with the device asked for.
    fix Load it on the device type it was compiled for; use aoti_load_package, which reads that from the package
    guide inputs-and-devices.md#package-loaded-for-another-device
    pattern The specified pointer resides on host memory and is not registered with any CUDA device
    pattern Mixed-device constants are only supported when the secondary device is CPU
    pattern update_constant_buffer does not support mixed device constants
    example [aoti_runtime, 2.11 and 2.12] Error: update_constant_buffer does not support mixed device constants.
device_key_unusable load package_incompatible EXACT_TEXT inspect_package
    summary The loader cannot tell which runner the package needs: {what}
    means The metadata name a device that this torch has no runner for, or none at all: another build of torch, a backend not imported, or a damaged package.
    fix Use a torch build with that backend, or import its extension before loading
    fix Compile the package again if its metadata are damaged
    guide package-and-load.md#device-key-missing
    pattern Unsupported device (?:key )?found: \S{1,40} || KeyError: 'AOTI_DEVICE_KEY'
    pattern No device information found\.
    recorded KeyError: 'AOTI_DEVICE_KEY'
device_of_data_differs load contract_device NAMED_TEXT proved inspect_package
    summary The model runs as {asked}, its data lie on {got}
    means The constants or an input stand on another GPU than the one in use. Kernels were loaded for one device index only.
    fix aoti_load_package(path, device_index=1), and torch.cuda.set_device(1) before the call, inputs on cuda:1
    fix Or show the process one GPU only: CUDA_VISIBLE_DEVICES=1
    guide inputs-and-devices.md#another-gpu-index
    pattern Specified device (?P<asked>[\w:]{1,20}) does not match device of data (?P<got>[\w:]{1,20})
    quoted [pytorch/pytorch#141042] Exception in aoti_torch: Specified device cuda:1 does not match device of data cuda:0
device_refused load contract_device EXACT_TEXT inspect_package
    summary The runner refuses the device: {what}
    means A device index for a CPU package, or a device name that does not fit the package. A warning about an outdated file above it is misleading.
    fix Leave device_index at -1 for a CPU package; write devices as cpu, cuda or cuda:0
    guide inputs-and-devices.md#package-loaded-for-another-device
    pattern Incorrect device passed to aoti_runner_\w{1,200} || Invalid device: \S{0,40}
    unlike example [torch.device in eager mode] Invalid device string: 'gpu'
driver_refuses environment device_unavailable EXACT_TEXT check_environment
    summary The NVIDIA driver does not support this torch: {what}
    means The driver is older than the CUDA release of torch needs, its kernel module and libraries differ (an update without a reboot), or the compatibility libraries do not fit the GPU.
    check nvidia-smi (top right: highest CUDA version) against torch.version.cuda.
    fix Update the driver and reboot, or use a torch build for an older CUDA
    fix Remove the cuda-compat directory from LD_LIBRARY_PATH on GPUs that it does not support
    guide toolchain.md#driver-too-old
    pattern NVIDIA driver on your system is too old
    pattern CUDA driver version is insufficient for CUDA runtime version
    unconfirmed kernel version [\d.]{3,20} does not match DSO version
    pattern forward compatibility was attempted on non supported HW
    pattern cudaError(?:InsufficientDriver|CompatNotSupportedOnDevice|SystemDriverMismatch)
    pattern Driver/library version mismatch
    unconfirmed unsupported display driver / cuda driver combination
    unconfirmed couldn't communicate with the NVIDIA driver
    example [torch.cuda] CUDA initialization: The NVIDIA driver on your system is too old (found version 11040).
    example [nvidia-smi] Failed to initialize NVML: Driver/library version mismatch
    example [the CUDA runtime] Error 804: forward compatibility was attempted on non supported HW
gpu_not_usable environment device_unavailable SPECIFIC_TEXT check_environment
    summary The device asked for cannot be used here: {what}
    means The process sees no working GPU, the one it sees is taken (exclusive mode, MIG, fabric manager not running), or the script, a package or a file asks for a device that this machine or this build of torch lacks.
    check torch.cuda.is_available() and nvidia-smi in the same process environment.
    fix Install the torch build for the device, or compile and load a CPU package
    fix Make the GPU visible and free (container flags, CUDA_VISIBLE_DEVICES, fabric manager)
    fix To read a checkpoint on another machine: torch.load(path, map_location='cpu')
    pattern Torch not compiled with (?:CUDA|XPU|MPS|ROCm) enabled
    pattern has no attribute 'AOTIModelContainerRunner(?:Cuda|Xpu|Mps)'
    pattern Unexpected error from cudaGetDeviceCount\(\) || system not yet initialized
    pattern CUDA-capable device\(s\) is/are busy or unavailable
    pattern (?:CUDA_ERROR_NO_DEVICE|cudaErrorNoDevice|cudaErrorDevicesUnavailable|DeferredCudaCallError)
    pattern Attempting to deserialize object on .{1,60} || don't know how to restore data location
    pattern \w{1,20} device module is not registered || PyTorch was compiled without CUDA support
    pattern libcudart functions unavailable || device \d{1,3} is not visible \(CUDA_VISIBLE_DEVICES
    pattern Cannot access accelerator device when none is available || cuda driver can't be loaded
    unconfirmed CUDA unknown error || could not select device driver
    unconfirmed nvidia-container-cli(?:\.real)?: \S{1,60} || Failed to initialize NVML: (?!Driver)\w.{0,40}
    unconfirmed CUDA_ERROR_DEVICE_UNAVAILABLE || device < num_gpus
    recorded AttributeError: module 'torch._C._aoti' has no attribute 'AOTIModelContainerRunnerCuda'.
    example [torch.cuda] RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 802: system not yet initialized
    example [the CUDA runtime] RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable
    unlike example [a stack frame] torch::inductor::AOTIModelContainerRunnerCpu::AOTIModelContainerRunnerCpu(std::string const&)
input_check_device run contract_device ASSERTION proved inspect_package
    summary Input {input} is on device type {got}, the package expects {expected}
    means The tensor lives on another kind of device than the package's: without the check a CPU tensor in a CUDA package ends in an illegal memory access, the reverse in a SIGSEGV without a message. The expected code is printed twice (11 means 1); the device index is not compared.
    check Print x.device; 0 is cpu, 1 cuda, 12 xpu, 13 mps, 14 meta.
    fix Move the input to the package's device before the call
    pattern input_handles\[(?P<input>\d{1,20})\]: unmatched device type, expected: (?P<expected>[^,]{1,40}), but got: (?P<got>-?\d{1,20})
    recorded RuntimeError: input_handles[0]: unmatched device type, expected: 00(cpu), but got: 14
no_gpu_in_process environment device_unavailable EXACT_TEXT check_environment
    summary No usable GPU: {what}
    means A GPU package, or a compile for one, in a process that sees no GPU or asks for an index that does not exist. `0 active drivers` are Triton's words for it; 2 means two Triton backends.
    check torch.cuda.is_available() and nvidia-smi in the same process environment; CUDA_VISIBLE_DEVICES.
    fix Make the GPU visible (container flags, CUDA_VISIBLE_DEVICES) and use an existing index
    fix Or compile the package for the CPU
    pattern Found no NVIDIA driver on your system || No CUDA GPUs are available
    pattern no CUDA-capable device is detected || invalid device ordinal
    pattern Cannot load AOTInductor package for device '[^']{1,20}' because \w{1,200} is not available
    pattern \d{1,20} active drivers \(\[.{0,120}\]\)\. There should only be one
    example [torch.cuda] RuntimeError: Found no NVIDIA driver on your system. Please check
    example [the CUDA runtime] CUDA error: no CUDA-capable device is detected
    example [the CUDA runtime] RuntimeError: CUDA error: invalid device ordinal
    example [the 2.14 loader] RuntimeError: Cannot load AOTInductor package for device 'cuda' because CUDA is not available in this process.
    quoted [pytorch/pytorch#145730] RuntimeError: 0 active drivers ([]). There should only be one.
operands_on_two_devices run contract_device GENERAL_TEXT inspect_package
    summary One operator got tensors of two devices: {what}
    means An extern operator or a Triton launcher compared devices; generated kernels do not. One input, one constant or a 0-dimensional tensor stayed on the CPU.
    check AOTI_RUNTIME_CHECK_INPUTS=1 names the input, if the type differs.
    fix Move inputs and model to one device before export and before the call, 0-dimensional tensors too
    guide inputs-and-devices.md#models-on-two-devices
    pattern Expected all tensors to be on the same device
    pattern Pointer argument \(at \d{1,20}\) cannot be accessed from Triton
mps_failure run lowering_error KIND_TEXT check_environment
    summary A Metal shader of the model could not be compiled or started
    means The generated Metal code is not accepted by this macOS. Up to autumn 2026 the model ignores the failure and crashes with SIGSEGV instead.
    fix Compile for the CPU, or try the newest nightly
    guide other-platforms.md#macos-and-mps
    pattern program_source:\d{1,20}:\d{1,20}: error:[ ]
    pattern ^(?=.{0,300} API call failed).{0,300}\baoti_torch_mps_\w{1,60}\(
    pattern MPSGraph.{0,80}(?:failed|assert)
    unconfirmed Failed to create metal library
    quoted [pytorch/pytorch#196233] SyntaxError: program_source:1:1: error: C++ requires a type specifier for all declarations
mps_unavailable environment device_unavailable SPECIFIC_TEXT check_environment
    summary The GPU of this platform cannot be used: {what}
    means macOS, the driver (ROCm, Level Zero) or this torch build has no working support for the device that was asked for.
    check torch.backends.mps.is_available(), rocminfo or sycl-ls in the same environment.
    fix Install the torch build and the driver for that GPU, or compile for the CPU
    guide other-platforms.md#macos-and-mps
    pattern MPS backend is supported on MacOS \S{1,10}
    pattern PyTorch is not linked with support for \w{1,10} devices || No HIP GPUs are available
    pattern hipErrorNoDevice || Intel GPU driver is not properly installed
    pattern PyTorch was compiled without \w{1,8} support
    unconfirmed No XPU devices are available || ROCk module is NOT loaded
    unconfirmed Unable to open /dev/kfd.{0,60}
    example [ATen] RuntimeError: The MPS backend is supported on MacOS 13.0+. Current OS version can be queried using `sw_vers`
    example [torch.cuda] RuntimeError: No HIP GPUs are available
other_gpu_tools_missing cpp_compile toolchain SPECIFIC_TEXT check_environment
    summary The tools for this GPU or system are missing: {what}
    means Compiling for AMD needs ROCm, for Intel the oneAPI compiler and Level Zero, for Apple the command line tools.
    fix Install them in the version that torch was built with, and set ROCM_HOME or source setvars.sh
    guide other-platforms.md#amd-gpus
    pattern ROCM_HOME environment variable is not set || cannot locate libamdhip64\S{0,10}
    pattern (?:hipcc|icpx): (?:command )?not found || SYCL runtime is not de\w{1,6}
    pattern Intel Compiler error: less than minimal version
    pattern Multi-arch ROCm compilation requires LLVM IR file
    unconfirmed does not point to a valid libamdhip64\S{0,10} || xcrun: error: .{1,100}
    example [triton/backends/amd/driver.py] RuntimeError: cannot locate libamdhip64.so after attempted paths []
platform_unsupported environment toolchain SPECIFIC_TEXT check_environment
    summary This torch does not compile on this platform: {what}
    means The compiler part of this torch release does not know the Python version or system in use; eager mode works.
    fix Use a torch release that names this Python and system as supported, or an older Python
    guide other-platforms.md#windows
    pattern Windows not yet supported for torch\.compile
    pattern Python 3\.\d{1,2}\+? not yet supported for torch\.compile
    pattern (?:torch\.compile|Dynamo|TorchDynamo) is not supported on Python.{0,60}
    pattern Windows is not supported yet || Cannot currently precompile headers on Windows
    example [torch 2.1] RuntimeError: Windows not yet supported for torch.compile
rocm_code_object_missing run missing_kernel_binary EXACT_TEXT check_environment
    summary There is no code for this AMD GPU: {what}
    means torch, rocBLAS or the package was built for another gfx architecture than the one in use.
    check rocminfo | grep gfx against torch.cuda.get_arch_list().
    fix Use a torch build that names this gfx, or compile the package on this GPU; HSA_OVERRIDE_GFX_VERSION for a near relative
    guide other-platforms.md#amd-gpus
    pattern hipErrorNoBinaryForGpu || HIP error: invalid device function
    pattern hipErrorInvalid(?:DeviceFunction|Image) || Cannot read \S{0,200}TensileLibrary\S{0,60}
    pattern Unable to find code object for all current devices
    unconfirmed HIP error: device kernel image is invalid
    example [rocBLAS] rocBLAS error: Cannot read /opt/rocm/lib/rocblas/library/TensileLibrary.dat: No such file or directory
rocm_failure run illegal_memory_access GENERAL_TEXT
    summary A kernel faulted on an AMD GPU
    means The same family of faults as an illegal memory access on CUDA: contract first, then the kernel.
    fix AMD_LOG_LEVEL=3 or rocgdb names the kernel; check the inputs with AOTI_RUNTIME_CHECK_INPUTS=1
    guide other-platforms.md#amd-gpus
    pattern Memory access fault by GPU node-\d{1,20} || HSA_STATUS_ERROR_\w{1,200}
    pattern HIP error: an illegal memory access || hipErrorIllegalAddress
    unconfirmed HIP error: unspecified launch failure
sycl_missing cpp_compile toolchain SPECIFIC_TEXT check_environment
    summary The SYCL headers for Intel GPUs are missing
    means The intel-sycl-rt package is not installed or its folder is not where torch looks.
    fix pip install the intel-sycl-rt version that the torch XPU wheel names
    guide other-platforms.md#intel-gpus
    anchor SYCL
    unconfirmed Can(?:'t|not) find.{0,40}\bSYCL\b
    pattern not found.{0,40}\bSYCL\b || \bSYCL\b.{0,60}(?:not|cannot be) found
    pattern \bSYCL\b.{0,60}does not exist
    quoted [pytorch/pytorch#156303] AssertionError: SYCL directory not found
windows_library_missing cpp_compile toolchain EXACT_TEXT check_environment
    summary The Windows linker does not find or accept {library}
    means The Windows SDK, Python's or OpenMP's import libraries are not on LIB, or the 32-bit tools are used for a 64-bit torch.
    check echo %LIB% in the shell that compiles; where link.
    fix Compile from the x64 Native Tools prompt; install the Windows SDK and a Python that brings its libs folder
    guide other-platforms.md#windows
    anchor LNK1112
    pattern LNK1(?:104|181): cannot open (?:input )?file '(?P<library>[^']{1,200}\.lib)'
    pattern (?P<library>LNK1(?:112|107)\b.{0,120})
    example [MSVC] LINK : fatal error LNK1104: cannot open file 'kernel32.lib'
    example [MSVC] x.obj : fatal error LNK1112: module machine type 'x86' conflicts with target machine type 'x64'
windows_link_error cpp_compile cpp_error SPECIFIC_TEXT check_environment
    summary The Windows toolchain could not compile or link the generated code
    means Code that MSVC does not take, a path that was quoted wrongly, or (cross compiling with MinGW) link flags in the wrong step.
    fix Run from an x64 developer prompt with the cl that matches torch; upgrade torch; keep blanks out of the paths of Python and of the cache
    guide other-platforms.md#windows
    anchor LNK1181 || error C2
    pattern LNK1(?:104|181)\b(?!.{0,200}\.lib'?\s{0,20}$) || undefined reference to [`'‘]?WinMain
    pattern \): (?:fatal )?error C[2-7]\d{3}\b || ^\s{0,20}(?:fatal )?error C[2-7]\d{3}:[ ]
    example [MSVC] C:\t\c.main.cpp(12): error C2065: 'tmp0': undeclared identifier
    example [MSVC] error C2679: binary '=': no operator found
xpu_failure run device_unavailable GENERAL_TEXT check_environment
    summary The Intel GPU runtime failed
    means The SYCL or Level Zero layer under an XPU package reported the error; OUT_OF_RESOURCES and DEVICE_LOST also follow a fault in a kernel.
    check Does a plain torch.zeros(1, device='xpu') work?
    fix Check driver and oneAPI versions against the torch build
    guide other-platforms.md#intel-gpus
    pattern not compiled with XPU || RuntimeError: UR error
    unconfirmed sycl::_V1::exception || XPU device not found
    quoted [pytorch/pytorch#149953] RuntimeError: UR error
"""
