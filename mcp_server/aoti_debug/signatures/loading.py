"""Unpacking a package and opening its library: what it needs from torch, C++ and the system."""

TABLE = r"""
codecache_attribute load package_incompatible NAMED_TEXT proved
    summary torch 2.10 does not import a module that its loader uses
    means A bug of 2.10.0: loading a package as the first thing in a process fails.
    fix import torch._inductor.codecache before aoti_load_package, or use another release
    guide package-and-load.md#attributeerror-on-load
    pattern module 'torch\._inductor' has no attribute 'codecache'
    example [torch 2.10.0, aoti_load_package] AttributeError: module 'torch._inductor' has no attribute 'codecache'
    unlike example [another failure] AttributeError: module 'torch._inductor' has no attribute 'package'
compiled_function_of_another_machine load package_incompatible EXACT_TEXT check_environment
    summary A compiled function was saved by another Python, PyTorch, Triton or CUDA, or for another machine
    means torch.compile's saved functions are kept for one version and one machine; the loader compares both.
    fix Compile and save it again where it is loaded
    pattern Compile package was created with (?:a )?different[ ] || codegen target this host cannot run
    recorded RuntimeError: Compile package was created with a different PyTorch version: 2.12.1
    example [torch/_dynamo/aot_compile.py] RuntimeError: Compile package was created for a CPU codegen target this host cannot run:
create_call_failed load package_incompatible VAGUE_TEXT possible inspect_package
    summary The model could not be created; the reason is the `Error:` line on stderr
    means Only an envelope: wrong device type (`CUDA error: invalid argument` means a CPU library in the CUDA runner), out of memory, damaged weights.
    check Read stderr above this line, and the package's device.
    guide debugging-tools.md#api-call-failed
    pattern create_func_\(.{0,400}API call failed at \S{0,300}model_container_runner
    quoted [pytorch/torchchat#709]   what():  create_func_( &container_handle_, num_models, device_str.c_str(), cubin_dir.empty() ? nullptr : cubin_dir.c_str()) API call failed at ../torch/csrc/inductor/aoti_runner/model_container_runner.cpp, line 49
dlopen_failed load package_incompatible GENERAL_TEXT symptom inspect_package
    summary The compiled library could not be opened: {why}
    means The dynamic loader's own words follow; the part after the last colon is the reason.
    check LD_DEBUG=libs on the same load; ldd -r on the .so.
    guide package-and-load.md#damaged-or-missing-library
    pattern Error in dlopen(?: or dlsym| for library \S{1,200})?: (?P<why>.{1,240})
driver_library_missing environment device_unavailable EXACT_TEXT check_environment
    summary CUDA needs the NVIDIA driver's library {library}, which is not on this machine
    means The driver brings it, not torch and not the toolkit: no driver is installed, or the container runs without GPU access. A package compiled for CUDA loads nowhere else.
    check nvidia-smi in the same environment; ldconfig -p | grep libcuda.
    fix Install the driver, or start the container with GPU access (--gpus all)
    fix On a machine without an NVIDIA GPU compile for the CPU
    pattern (?P<library>libcuda\.so(?:\.1)?|libnvidia-ml\.so\.1): cannot open shared object
    recorded [torch 2.13.0+cu130 without a driver, a package compiled for CUDA] RuntimeError: Error in dlopen: libcuda.so.1: cannot open shared object file: No such file or directory
environment_library_missing load toolchain SPECIFIC_TEXT check_environment
    summary A shared library of the environment is not found: {library}
    means The loader finds no such file: torch or a tool was built for another CUDA, Python or system, the library is not installed, or its directory is not searched. A C++ program needs libtorch's lib directory.
    check ldd on the file that needs it; LD_DEBUG=libs shows where the loader looks.
    fix Install the library in the version asked for, or put its directory into LD_LIBRARY_PATH before the process starts
    fix For a C++ program link with the rpath of libtorch/lib; on macOS brew install libomp for a missing libomp.dylib
    guide package-and-load.md#system-library-too-old
    pattern ^(?!.{0,400}(?:Could not load dynamic library|Failed to load image|Warning: )).{0,1000}?(?P<library>(?<![\w.+-])(?!libcuda\.so|libnvidia-ml\.so)[\w.+-]{1,80}\.so(?:\.\w{1,20}){0,4}): cannot open shared object file:[ ]
    pattern Error loading shared library (?P<library>[\w./+-]{1,120}):[ ]
    pattern Library not loaded: (?P<library>\S{1,200})(?!.{0,1000}incompatible architecture)
    pattern Could not load library (?P<library>(?:lib)?cu\w{1,60}[\w.]{0,20})
    pattern Error in dlopen for library (?P<library>libnvrtc\w{0,40}(?:\.\w{1,20}){0,4})
    pattern Unable to load any of \{(?P<library>(?:lib)?cu\w{1,60}[\w.]{0,20})
    example [musl's loader] Error loading shared library ld-linux-x86-64.so.2: No such file or directory (needed by /app/libtorch.so)
    example [cuDNN] Could not load library libcudnn_ops_infer.so.8. Error: libnvrtc.so: cannot open shared object file
    example [cuDNN 9] Unable to load any of {libcudnn_cnn.so.9.1.0, libcudnn_cnn.so.9.1, libcudnn_cnn.so.9, libcudnn_cnn.so}
    unlike example [a harmless note of TensorFlow] W tensorflow/stream_executor/dso_loader.cc:64] Could not load dynamic library 'libnvinfer.so.7'; dlerror: libnvinfer.so.7: cannot open shared object file: No such file or directory
extraction_failed load toolchain EXACT_TEXT inspect_package
    summary The package could not be unpacked: {what}
    means TMPDIR (default /tmp) is missing, read-only or full (`write callback failed`); only a checksum or decompression error means a damaged archive.
    check df -h of TMPDIR (default /tmp); unzip -t of the package.
    fix Free space, or point TMPDIR to an existing, writable directory that allows executing
    fix For a checksum error copy the package again
    guide package-and-load.md#extraction-directory
    pattern Failed to extract zip file \S{1,300} to destination file .{0,400}mz_zip error string: .{1,60}
    pattern Error generating temporary directory: .{1,80} || Failed to create directory \S{1,200}
    recorded [torch 2.13.0, CPU, full TMPDIR] RuntimeError: Failed to extract zip file u/data/aotinductor/model/ckba63nctf2gkme62hhxsqhctl2jq66lkycifm4wai25opjc7mjt.wrapper.cpp to destination file /tmp/e1/small/aotinductor_uYDaKh/u/data/aotinductor/model/ckba63nctf2gkme62hhxsqhctl2jq66lkycifm4wai25opjc7mjt.wrapper.cpp, mz_zip error string: write callback failed
    recorded RuntimeError: Error generating temporary directory: No such file or directory
library_damaged load package_corrupt EXACT_TEXT proved inspect_package
    summary The compiled library is damaged: {why}
    means The .so in the package is cut short, empty or not a library.
    check file FILE.so; compare checksums.
    fix Copy or compile the package again, on the architecture that runs it
    guide package-and-load.md#damaged-or-missing-library
    pattern (?:dlopen|\.so(?:\.\d{1,9}){0,4}): .{0,300}?(?P<why>invalid ELF header|file too short)
    pattern (?:dlopen|\.so(?:\.\d{1,9}){0,4}): .{0,300}?(?P<why>ELF load command .{1,60})
    recorded RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model/cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: invalid ELF header
    example [the dynamic loader] OSError: /app/model.so: file too short
    example [the dynamic loader] Error in dlopen: /app/model.so: ELF load command past end of file
    unlike recorded RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model/cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: undefined symbol: aoti_torch_cpu_addmm_out
library_lacks_function load package_incompatible EXACT_TEXT inspect_package
    summary The package's library has no {what}
    means It was compiled by an older torch than the one that loads it, which offers more: single-threaded runs, freeing the inactive constants, updates from the CPU.
    fix Compile the package again with the torch that loads it, or leave that option out
    guide package-and-load.md#torch-versions-of-both-sides
    pattern No (?P<what>\w{1,80})(?: function)? in \.so!
loader_memory_rights load toolchain SPECIFIC_TEXT check_environment
    summary The process has no room or no right to load the library: {what}
    means The fixed block for thread-local data is used up by libraries loaded before (OpenMP, torch, OpenCV on aarch64), or a security policy forbids changing memory rights.
    check For TLS: is the library loaded late, after many others?
    fix For TLS: import torch first, or LD_PRELOAD the library named, or raise GLIBC_TUNABLES=glibc.rtld.optional_static_tls
    fix For rights: look at the audit log of SELinux or the container's security profile
    guide package-and-load.md#extraction-directory
    pattern cannot allocate memory in static TLS block || cannot restore segment prot after reloc
    unconfirmed cannot apply additional memory protection || cannot change memory protections
    unconfirmed cannot make segment writable for relocation
    unconfirmed cannot allocate memory for thread-local data
    unconfirmed cannot create shared object descriptor
    example [the dynamic loader] ImportError: /usr/lib/aarch64-linux-gnu/libgomp.so.1: cannot allocate memory in static TLS block
    example [the dynamic loader] OSError: libfoo.so: cannot restore segment prot after reloc: Permission denied
loader_refused_library load package_incompatible KIND_TEXT inspect_package
    summary The dynamic loader refuses the library: {what}
    means The file is there, but it is not a library for this system: another kind of file, another CPU level, page size or C library, or one that asks for rights (an executable stack) that the system does not give.
    check file and readelf -h -l on the library; compile machine and this machine compared.
    fix Compile the package on the kind of system that loads it, or in the same image
    guide package-and-load.md#damaged-or-missing-library
    pattern cannot dynamically load (?:position-independent )?executable
    pattern cannot read file data: .{1,60} || cannot enable executable stack.{0,60}
    pattern CPU ISA level is lower than required || wrong ELF class
    pattern ELF file data encoding not (?:little|big)-endian
    pattern Inconsistency detected by ld\.so: \S{1,60} || [Ee]xec format error
    unconfirmed ELF file (?:OS ABI|ABI version) invalid.{0,40}
    unconfirmed ELF file version (?:ident )?does not match.{0,40} || ELF file 's phentsize.{0,40}
    unconfirmed phentsize not the expected size || only ET_DYN and ET_EXEC can be loaded
    unconfirmed object file has no dynamic section || object file has no loadable segments
    unconfirmed unexpected (?:PLT )?reloc type 0x\w{1,8}
    unconfirmed unsupported version \S{1,20} of Ver\w{1,10} record || invalid mode for dlopen
    unconfirmed cannot handle TLS data || ELF load command alignment not page-aligned
    example [the dynamic loader] Error in dlopen: /app/model.so: wrong ELF class: ELFCLASS64
    example [the dynamic loader] Error in dlopen: /app/model.so: ELF file data encoding not little-endian
    recorded [CPython 3.11 ctypes on Debian 12] OSError: /bin/true: cannot dynamically load position-independent executable
    recorded [CPython 3.11 ctypes on Debian 12] OSError: /tmp/syn: cannot read file data: Is a directory
    example [glibc 2.41] OSError: libfoo.so: cannot enable executable stack as shared object requires: Invalid argument
    example [the dynamic loader] /lib64/libc.so.6: CPU ISA level is lower than required
    example [the dynamic loader] Inconsistency detected by ld.so: dl-version.c: 205: _dl_check_map_versions: Assertion `needed != NULL' failed!
macos_library_refused load package_incompatible SPECIFIC_TEXT check_environment
    summary macOS does not load the library: {what}
    means It was built for the other architecture (arm64 or x86_64), or its signature is not accepted.
    check otool -L and lipo -archs on the library; python -c 'import platform; print(platform.machine())'.
    fix Compile with a Python of the machine's own architecture, not under Rosetta
    guide other-platforms.md#macos-and-mps
    pattern incompatible architecture \(have .{1,60}
    unconfirmed mach-o, but wrong architecture || not a mach-o file
    unconfirmed slice is not valid mach-o file
    unconfirmed code signature in .{1,200}? (?:in|not )valid.{0,60}
    unconfirmed library load (?:disallowed|denied) by system policy || no suitable image found
    example [dyld] OSError: dlopen(m.so, 0x0006): tried: 'm.so' (mach-o file, but is an incompatible architecture (have 'x86_64', need 'arm64'))
made_on_another_machine load package_incompatible GENERAL_TEXT symptom possible inspect_package
    summary {key} is `{here}` here and `{package}` in the package
    means A warning. Another platform or machine will not load; another instruction set loads and may die by SIGILL when this CPU has less.
    fix Compile on the machine kind that serves, or for a smaller set: torch._inductor.config.cpp.simdlen = 256
    pattern Device information mismatch for (?P<key>AOTI_(?:PLATFORM|MACHINE|CPU_ISA)): (?P<here>.{0,80}?) vs (?P<package>.{0,80}?)\. This could
    recorded torch/export/pt2_archive/_package.py:1059] Device information mismatch for AOTI_CPU_ISA: AVX512 AVX512_VNNI vs AVX9000. This could
model_library_missing load package_corrupt NAMED_TEXT inspect_package
    summary The model's own library {file} is not where it is looked for
    means A library made by aot_compile is loaded by its path: it was moved or deleted, or the name has no directory, so only the loader's own folders are searched.
    check ls that path, from the directory in which the program runs
    fix Give the absolute path of the .so, and keep it beside its .cubin files
    fix Or ship a .pt2 package, which holds all of them
    pattern Failure loading \.so: (?P<file>\S{1,300}): cannot open shared object file
    example [torch/csrc/inductor/aoti_runner] RuntimeError: Failure loading .so: cab.so: cannot open shared object file: No such file or directory
    unlike example [a library of the system] Error in dlopen: libcudart.so.12: cannot open shared object file
noexec_temporary_directory load toolchain EXACT_TEXT check_environment
    summary The unpacked library may not be executed: the temporary directory is mounted noexec
    means The loader unpacks into TMPDIR (default /tmp) and maps the library from there; a noexec mount or a security policy forbids it.
    check findmnt -T /tmp
    fix Set TMPDIR to a directory on a mount that allows executing
    guide package-and-load.md#extraction-directory
    pattern failed to map segment from shared object
server_counts_call_spec load contract_argument SPECIFIC_TEXT inspect_package
    summary The server wants {expected} inputs, the configuration names {given}
    means The Triton server's PyTorch backend took the two strings of get_call_spec() (inputs and outputs) for a list of inputs, so it sees 2 whatever the model takes.
    check Load the package with aoti_load_package and call it in Python.
    fix Use a server whose backend parses the call spec
    guide other-platforms.md#other-runtimes
    pattern configuration expects (?P<given>\d{1,20}) inputs?, but model expects (?P<expected>\d{1,20}) inputs?
    quoted [triton-inference-server/pytorch_backend#185] Failed to load model "my_model_0" configuration expects 1 inputs, but model expects 2 inputs.
shared_library_not_found load package_incompatible EXACT_TEXT inspect_package
    summary {library} is not found on this machine
    means The package (or its own .so) needs a library that the loader does not find: another CUDA version, a custom-op library, or a path that does not exist.
    check ldd on the package's .so; the CUDA version of torch on both sides.
    fix Install {library}, or put its directory into LD_LIBRARY_PATH before the process starts
    fix Load custom-op libraries first: torch.ops.load_library(...)
    guide package-and-load.md#system-library-too-old
    pattern Error in dlopen.{0,300}?(?P<library>[\w.{1,300}-]{1,80}\.so(?:\.\d{1,9}){0,4}): cannot open shared object file: No such file or directory
    unlike recorded RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model/cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: undefined symbol: cuModuleLoad
two_copies_of_a_library environment toolchain SPECIFIC_TEXT check_environment
    summary Two incompatible libraries or versions are loaded in one process: {what}
    means Two copies of torch, LLVM or protobuf (one of them inside another library), or extensions built against another NumPy or MKL, are loaded together.
    check LD_DEBUG=libs, or /proc/PID/maps: which library is mapped from two places?
    fix Load one copy only: one torch per process, and extensions built against exactly it
    fix Pin or rebuild what was compiled against another version
    guide package-and-load.md#two-runtimes-in-one-process
    pattern Tried to register multiple backend fallbacks for the same dispatch key \w{1,40}
    pattern CommandLine Error: Option '[^']{1,60}' registered more than once
    pattern File already exists in database: \S{1,100} || GeneratedDatabase\(\)->Add
    pattern version \S{1,20} of the Protocol Buffer runtime library
    pattern generic_type: type \S{1,80} is already registered!
    pattern compiled against A[PB]I version 0x\w{1,8}
    unconfirmed inconsistency in registered CommandLine options
    unconfirmed Descriptors cannot (?:not )?be created directly || \[libprotobuf FATAL
    unconfirmed numpy\.dtype size changed || A module that was compiled using NumPy 1\.x
    unconfirmed INTEL MKL ERROR: .{0,80} || Intel MKL FATAL ERROR.{0,80}
    example [LLVM] : CommandLine Error: Option 'use-dereferenceable-at-point-semantics' registered more than once!
windows_dll_not_loaded load toolchain KIND_TEXT check_environment
    summary Windows does not load a library: {what}
    means A DLL that it needs is missing or of another kind: the Visual C++ runtime, CUDA or OpenMP DLLs, or a 32-bit or Linux file (193). 1114 means that its start-up code failed.
    check dumpbin /dependents on the file, or the tool Dependencies.
    fix Install the latest Visual C++ redistributable (x64); add the directories of CUDA and torch\lib with os.add_dll_directory
    fix Install a torch build that fits this Python, CUDA and driver; compile the package on Windows itself
    guide other-platforms.md#windows
    anchor exit code
    pattern \[WinError (?:126|1114|998|193|182|1157)\].{0,200} || DLL load failed.{0,160}
    pattern error in LoadLibrary for .{0,200} || 0x[cC]0000135 || -1073741515
    unconfirmed 3221225781 || \S{1,60}\.dll was not found\. Reinstalling the program may fix this
    example [torch/__init__.py] OSError: [WinError 126] The specified module could not be found. Error loading "C:\venv\torch\lib\c10.dll" or one of its dependencies.
    example [Python] ImportError: DLL load failed while importing _C: The specified module could not be found.
    example [ATen/DynamicLibrary.cpp] error in LoadLibrary for model.wrapper.pyd. WinError 126: The specified module could not be found.
    example [an IDE] Process finished with exit code -1073741515 (0xC0000135)
abi_mix_crash load host_segfault KIND_TEXT symptom possible check_environment
    summary Incompatible C++ libraries are loaded in one process: {what}
    means Typical of mixed compilers or of two std::string layouts: a shared pointer or string of one library is released or read by another.
    check Does every package crash, also that of a one-line model? Then it is the toolchain, not the model.
    fix Build all C++ parts with the compiler and _GLIBCXX_USE_CXX11_ABI of torch
    guide host-crash.md#segfault-on-load
    pattern _Sp_counted_base<.{0,120}>::_M_release
    pattern what\(\):\s{1,4}(?P<what>basic_string::_M_create)
    pattern what\(\):\s{1,4}(?P<what>basic_string: construction from null)
    quoted [pytorch/pytorch#145441] #0 std::_Sp_counted_base<(__gnu_cxx::_Lock_policy)2>::_M_release() ()
link_undefined_reference cpp_compile missing_symbol KIND_TEXT check_environment
    summary The linker finds no definition of {symbol}
    means A library is not on the link line or comes too early on it, or was built with another torch release or C++ ABI (a name with __cxx11 against one without).
    check nm -DC on libtorch_cpu.so, libtorch_cuda.so and libc10.so: who defines the name, and with which std::string?
    fix Link with the libraries that find_package(Torch) gives in TORCH_LIBRARIES, after your own objects
    fix Build all parts against one torch and with its _GLIBCXX_USE_CXX11_ABI
    guide toolchain.md#linker-errors
    anchor LNK1120
    pattern undefined reference to [`'‘]?(?P<symbol>(?![`'‘]?WinMain)[^'’]{1,200})
    pattern (?:error|mold): undefined (?:hidden )?symbol: (?P<symbol>.{1,200})
    pattern (?P<symbol>Undefined symbols for architecture \w{1,20})
    pattern unresolved external symbol (?P<symbol>.{1,160}) || (?P<symbol>LNK1120\b.{0,60})
    unconfirmed (?P<symbol>symbol\(s\) not found for architecture \w{1,20})
    example [lld] ld.lld: error: undefined symbol: torch::jit::load(std::string const&)
    example [Apple's ld] Undefined symbols for architecture arm64:
    example [MSVC] build\app.exe : fatal error LNK1120: 2 unresolved externals
not_an_aoti_library load package_incompatible EXACT_TEXT inspect_package
    summary The library does not export {symbol}
    means The file is not an AOTInductor library, or a torch with other entry points compiled it.
    fix Pass the library of a package compiled by the torch release that loads it
    guide package-and-load.md#torch-versions-of-both-sides
    pattern undefined symbol: (?P<symbol>AOTInductor\w{1,80})
    recorded /lib/x86_64-linux-gnu/libm.so.6: undefined symbol: AOTInductorModelContainerCreateWithDevice
static_libstdcxx load host_segfault NAMED_TEXT check_environment
    summary The package carries its own static copy of the C++ standard library and crashes on load
    means The compiler that built it links libstdc++ statically; its locale and regex code then clashes with the one of the process. Every package of that compiler dies on load.
    check readelf -d on the package's .so: libstdc++.so.6 is missing among NEEDED.
    fix Set CXX to a g++ that links libstdc++ dynamically and compile again
    guide toolchain.md#static-libstdcxx
    pattern ^#\d{1,20}\s.{0,600}\bstd::(?:__cxx11::|__detail::)?(?:codecvt|regex_traits|_Compiler)<.{0,1200}from \S{1,300}/data/aotinductor/\S{1,200}\.so
    pattern ^0x[0-9a-f]{1,200} in std::codecvt<.{0,400}from \S{1,300}/data/aotinductor/\S{1,200}\.so
    unlike example [not in the package] #3 0x7fff5eea1e0e in std::__detail::_Compiler<std::regex_traits<char> >::_M_atom() () from /usr/lib/x86_64-linux-gnu/libstdc++.so.6
static_libstdcxx_bad_cast load toolchain EXACT_TEXT inspect_package
    summary The package carries its own static copy of the C++ standard library
    means The compiler that built it links libstdc++ statically; its locales then clash with those of the process: with g++ 12 the model cannot be created, with g++ 13 loading crashes. The `create_func_(...) API call failed` below it says no more.
    check readelf -d on the package's .so: libstdc++.so.6 is missing among NEEDED.
    fix Set CXX to a g++ that links libstdc++ dynamically and compile again
    guide toolchain.md#static-libstdcxx
    pattern ^Error: std::bad_cast\s{0,20}$
    recorded [torch 2.13.0, CPU, g++ 12] Error: std::bad_cast
    unlike example [any other C++ program]   what():  std::bad_cast
symbol_not_provided load missing_symbol SPECIFIC_TEXT check_environment
    summary A library of this process lacks a symbol: {symbol}
    means The library that was loaded is not the one it was linked against: another torch, C++ runtime (std::) or CUDA library is found first, or a library that must come first was not loaded (cu...: the driver's).
    check nm -D (nm -gU on macOS, dumpbin /exports on Windows) on the library that should define it.
    fix Load with the torch release that compiled it; put the right library first on the search path
    anchor exit code || exit status
    pattern (?<!error: )undefined symbol: (?P<symbol>(?!aoti_|AOTInductor|_ZT?[VINKS]{0,3}(?:3c10|2at|5torch))\w{1,200})
    pattern symbol (?P<symbol>\w{1,200}),? version \S{1,60} not defined in file
    pattern symbol not found in flat namespace '?\(?(?P<symbol>[\w$]{1,200})
    pattern Symbol not found: \(?(?P<symbol>[\w$]{1,200})
    pattern Error relocating \S{1,200}: (?P<symbol>\w{1,200})\)?: symbol not found
    pattern (?P<symbol>\[?WinError 127\b) || (?P<symbol>error in GetProcAddress)
    unconfirmed dlsym\(\S{1,40} (?P<symbol>\w{1,200})\)?: symbol not found
    unconfirmed (?P<symbol>\S{1,200} could not be located in the dynamic link library)
    unconfirmed (?P<symbol>0x[cC]0000139) || (?P<symbol>-1073741511)
    example [the dynamic loader] ImportError: libtorch_cuda.so: symbol cudaGraphInstantiateWithFlags version libcudart.so.11.0 not defined in file libcudart.so.11.0 with link time reference
    example [dyld] ImportError: dlopen(m.so, 0x0002): symbol not found in flat namespace '_aoti_torch_empty_strided'
    example [dyld] dyld[123]: Symbol not found: __ZN2at4_ops5zeros4callE
    example [musl's loader] Error relocating /app/libfoo.so: __memcpy_chk: symbol not found
    example [Windows] OSError: [WinError 127] The specified procedure could not be found.
    example [ATen/DynamicLibrary.cpp] DynamicLibraryError: error in GetProcAddress
    unlike recorded RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model/cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: undefined symbol: aoti_torch_cpu_addmm_out
system_library_too_old load package_incompatible EXACT_TEXT check_environment
    summary This machine's C or C++ library lacks {version}
    means The package was compiled on a newer system than the one that loads it.
    check ldd --version, and strings libstdc++.so.6 | grep GLIBCXX on both machines.
    fix Compile on the oldest system that must load it, or in the same container image
    fix For GLIBCXX install a newer libstdc++ and put it first in LD_LIBRARY_PATH
    guide package-and-load.md#system-library-too-old
    pattern version `(?P<version>(?:GLIBCXX|GLIBC|CXXABI|GOMP)_[\w.]{1,20})' not found
undefined_cuda_shim load missing_symbol NAMED_TEXT check_environment
    summary This torch lacks {symbol}: it has no {device} support
    means A package for a GPU is loaded by a CPU-only torch, or by a libtorch built without the C shims of that device.
    check torch.version.cuda, and nm -D libtorch_cuda.so | grep the symbol.
    fix Load it with a torch build for that device
    fix If the build is right, use at least the torch release that compiled the package
    guide package-and-load.md#missing-shim-symbols
    pattern undefined symbol: (?P<symbol>aoti_torch_(?P<device>cuda|xpu|mps)_\w{1,120})
    recorded [torch 2.13.0, CPU, a library of ours] RuntimeError: Error in dlopen: /tmp/e1/rec/sB.so: undefined symbol: aoti_torch_cuda_addmm_out
    unlike recorded RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model/cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: undefined symbol: aoti_torch_cpu_addmm_out_v9
undefined_shim load missing_symbol NAMED_TEXT check_environment
    summary This torch has no symbol {symbol}
    means A newer torch than this one compiled the package, and this one lacks the C shim; or the package uses an operator from a library that is not loaded.
    check Compare torch.__version__ of both sides.
    fix Load with the torch release that compiled the package, or compile with the one that loads it
    fix If the operator is your own, load its library first
    guide package-and-load.md#missing-shim-symbols
    pattern undefined symbol: (?P<symbol>aoti_(?!torch_(?:cuda|xpu|mps)_)\w{1,160})
undefined_torch_symbol load missing_symbol EXACT_TEXT check_environment
    summary This torch lacks the C++ symbol {symbol}
    means The package or a library that it needs was built against another torch release or C++ ABI: `Ss` in a name is the old std::string.
    check c++filt the name; torch.__version__ and torch.compiled_with_cxx11_abi() of both sides.
    fix Build or compile with the torch release that loads it; do not override _GLIBCXX_USE_CXX11_ABI
    pattern undefined symbol: (?P<symbol>_ZT?[VINKS]{0,3}(?:3c10|2at|5torch|K3c10|K2at)\w{1,240})
"""
