"""The C++ compiler, headers, linker and disk that compiling needs."""

TABLE = r"""
build_stopped cpp_compile toolchain BROAD_TEXT envelope possible check_environment
    summary A build of C++ code failed; the compiler or linker says why above
    means Only an envelope: a missing compiler, header or library is the usual reason.
    check Read the first line with error: above it.
    guide toolchain.md#linker-errors
    pattern ninja: build stopped || g?make(?:\[\d\])?: \*\*\* \[
    pattern error: command '\S{1,200}' failed with exit (?:code|status)
    unconfirmed ninja: error:[ ] || error MSB\d{4}
    recorded [ninja 1.11] ninja: build stopped: subcommand failed.
    example [setuptools] error: command '/usr/bin/gcc' failed with exit code 1
cache_directory_unusable lower toolchain SPECIFIC_TEXT check_environment
    summary A cache or temporary directory cannot be used or written: {what}
    means Inductor and Triton keep files below the user's name or home: an unknown user id in a container, paths beyond 260 characters and files held by another process on Windows, or a disk that is full, read-only or another user's stop them.
    check python -c 'import getpass; print(getpass.getuser())', the length of the path named, df -h and df -i.
    fix Free space; set TORCHINDUCTOR_CACHE_DIR, TRITON_CACHE_DIR and TMPDIR to short, local directories that you own
    fix In a container give the user a name (passwd entry or USER=app); on Windows allow long paths
    guide toolchain.md#caches-and-disk-space
    pattern No space left on device || Disk quota exceeded
    pattern (?:PermissionError|OSError): \[Errno \d{1,20}\] (?P<what>Permission denied: '[^']{0,300}(?:torchinductor_|\.triton|inductor)[^']{0,300}')
    pattern OSError: \[Errno 30\] (?P<what>Read-only file system: '[^']{1,300}')
    pattern PermissionError: \[Errno 13\] (?P<what>Permission denied: '(?:/tmp/|/root/|/nonexistent|/\.|/home/[^']{1,80}/\.cache/)[^']{0,300}')
    unconfirmed (?:PermissionError|OSError): \[Errno \d{1,20}\] (?P<what>Read-only file system: '[^']{0,300}(?:torchinductor_|\.triton|inductor)[^']{0,300}')
    pattern getpwuid\(\): uid not found: \d{1,20} || Could not create or locate cache dir
    pattern \[WinError (?:206|112)\].{0,160} || Fail to create path \S{0,200}
    pattern \[WinError (?:5|32|183|3)\] .{0,200}(?:[Tt]orch_?inductor|[Tt]riton|inductor|torch_extensions).{0,60}
    pattern OSError: \[Errno (?:36|24|26|116|5)\] (?P<what>(?:File name too long|Too many open files|Text file busy|Stale file handle|Input/output error).{0,160})
    unconfirmed No username set in the environment || There is not enough space on the disk
    recorded torch._inductor.exc.InductorError: OSError: [Errno 28] No space left on device
    example [Python] OSError: [Errno 122] Disk quota exceeded
    example [Python] PermissionError: [Errno 13] Permission denied: '/tmp/torchinductor_root/fx'
    example [Python] OSError: [Errno 30] Read-only file system: '/models/cache'
    recorded [CPython 3.11] KeyError: 'getpwuid(): uid not found: 77777'
    example [Python] PermissionError: [WinError 5] Access is denied: 'C:\Users\a\AppData\Local\Temp\torchinductor_a\x'
    example [Python] FileNotFoundError: [WinError 206] The filename or extension is too long: 'C:\x'
    example [Python] OSError: [Errno 36] File name too long: '/tmp/torchinductor_a/x'
    unlike example [another failure] PermissionError: [Errno 13] Permission denied: '/etc/shadow'
compiler_broken cpp_compile toolchain EXACT_TEXT check_environment
    summary The compiler or assembler itself failed: {what}
    means A bug of the compiler, an assembler older than the CPU flags it is given, a path that is too long for it, or a compiler (Apple's clang) without OpenMP.
    check Does another compiler, set in CXX, take the same file?
    fix Use another or newer compiler (CXX) and binutils
    fix On Windows shorten TORCHINDUCTOR_CACHE_DIR
    guide toolchain.md#compiler-too-old
    pattern internal compiler error || no such instruction: .{1,60}
    pattern fatal error C1(?:001|060|128)\b || unsupported option '-[^']{1,60}'
    unconfirmed PLEASE submit a bug report to https://github\.com/llvm
    unconfirmed PLEASE ATTACH THE FOLLOWING FILES || fatal error C1083: Cannot open compiler
    recorded [GNU as 2.40 on a file of ours] /tmp/ccl8d9z5.s:4: Error: no such instruction: `vfoo %xmm0'
    example [MSVC] c:\x.cpp(3): fatal error C1001: Internal compiler error.
compiler_killed cpp_compile out_of_memory NAMED_TEXT check_environment
    summary The C++ compiler ran out of memory
    means The generated file is large and the machine or container ended the compiler.
    check dmesg | tail, and the container's memory limit.
    fix Give more memory, or compile with AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL=O0 (2.8 and later)
    guide host-crash.md#killed-by-the-system
    pattern Killed signal terminated program \S{1,40} || virtual memory exhausted
    pattern cc1plus: out of memory || LLVM ERROR: out of memory || unable to execute command: Killed
    pattern ld terminated with signal 9
    example [g++] g++: fatal error: Killed signal terminated program cc1plus
    example [g++] virtual memory exhausted: Cannot allocate memory
    example [g++] cc1plus: out of memory allocating 65536 bytes
    example [clang] LLVM ERROR: out of memory
    example [clang] clang++: error: unable to execute command: Killed
    example [g++] collect2: fatal error: ld terminated with signal 9 [Killed]
compiler_not_found cpp_compile toolchain NAMED_TEXT check_environment
    summary A compiler or build tool is missing or cannot be started: {what}
    means Compiling a package needs a C++ compiler with its assembler and linker (cl on Windows), and Triton a C compiler for its launcher.
    check $CXX --version; command -v g++ gcc ld; on Windows, where cl, in the very shell that compiles.
    fix Install g++ (build-essential), on macOS the command line tools (xcode-select --install), on Windows the Visual Studio build tools with the English language pack
    fix Set CXX (and CC for Triton) to a compiler that runs; on Windows start from the x64 developer prompt
    pattern (?<!Cxx)Compiler: \S{1,80} is not found || MSVC is required to load C\+\+ extensions
    pattern Please use (?:clang|icx)-cl || Cannot determine the flavor of .{1,60}
    pattern only support MSVC with English language
    pattern \b(?:sh|bash|zsh|make(?:\[\d\])?): (?P<what>(?:\S{0,80}/)?(?:g\+\+|gcc|c\+\+|cc|clang\+\+|clang|cl|ld|ld\.lld|as|make|cmake|ninja)(?:-\d{1,2})?: (?:[Cc]ommand )?not found)
    pattern (?:: |line )\d{1,5}: (?P<what>(?:\S{0,80}/)?(?:g\+\+|gcc|c\+\+|cc|clang\+\+|clang|cl|ld|ld\.lld|as|make|cmake|ninja)(?:-\d{1,2})?: (?:[Cc]ommand )?not found)
    pattern FileNotFoundError: (?P<what>\[WinError 2\]) [^:']{1,80}$
    pattern No such file or directory: '(?P<what>(?:\S{0,120}/)?(?:g\+\+|gcc|c\+\+|cc|clang\+\+|clang|cl|icpx|icx|ld|cmake|make|ninja)(?:-\d{1,2})?)'
    pattern '(?P<what>(?:cl|clang-cl|icx|g\+\+|gcc|cmake|ninja|nvcc)(?:\.exe)?)' is not recognized as an internal or external command
    pattern unable to execute '(?P<what>[^']{1,80})' || cannot execute ['‘][\w.{1,300}-]{1,40}['’]
    pattern cannot find ['‘]ld\S{0,10}['’]
    unconfirmed Microsoft Visual C\+\+ 14\.0 or greater is required || Unable to find vcvarsall\.bat
    unconfirmed invalid active developer path || No CMAKE_CXX_COMPILER could be found
    unconfirmed error trying to exec 'cc1\w{0,10}' || invalid linker name in argument \S{1,60}
    example [Python] FileNotFoundError: [Errno 2] No such file or directory: 'g++'
    example [cmd] 'cl' is not recognized as an internal or external command,
    example [setuptools] error: unable to execute 'x86_64-linux-gnu-gcc': No such file or directory
    recorded [g++ 12 with an empty PATH] g++: fatal error: cannot execute ‘as’: execvp: No such file or directory
    unlike example [plain Python] FileNotFoundError: [Errno 2] No such file or directory: 'config.json'
    unlike example [plain Python] FileNotFoundError: [WinError 2] The system cannot find the file specified: 'x.txt'
    unlike example [the CUDA toolkit's] /bin/sh: 1: nvcc: not found
compiler_probe_failed cpp_compile toolchain BROAD_TEXT check_environment
    summary The search for a working compiler failed (in {what})
    means The step that failed looks for a compiler, asks for its version or builds a few lines with it, before any code of the model: the compiler is missing, prints in a code page other than UTF-8, or lacks headers.
    check Run the compiler by hand with --version (cl /help on Windows) and read the last line of the traceback.
    fix Install a working g++ or clang++; on Windows the English language pack of Visual Studio, or set PYTHONUTF8=1
    pattern cpp_builder\.py", line \d{1,20}, in (?P<what>check_compiler_exist_windows|_is_msvc_cl|check_msvc_cl_language_id|check_mingw_win32_flavor|get_compiler_version_info|get_cpp_compiler|cpp_compiler_search|_is_gcc|_is_clang|_is_apple_clang|_is_intel_compiler|is_gcc|is_clang|_get_openmp_args|homebrew_libomp|_get_python_related_args|get_name_and_dir_from_output_file_path|_ensure_mingw_cudart_import_lib)\b
    pattern cpu_vec_isa\.py", line \d{1,20}, in (?P<what>\w{1,60})
    pattern triton[/\\]runtime[/\\]build\.py", line \d{1,20}, in (?P<what>_build|_cc_cmd|get_cc|compile_module_from_src)
    pattern (?:InductorError|BackendCompilerFailed|CppCompileError|InternalTorchDynamoError): (?P<what>UnicodeDecodeError):[ ]
    pattern line \d{1,20}, in (?P<what>libcuda_dirs)
    pattern (?:RuntimeError|error): (?P<what>Error (?:building extension '\S{1,80}'|compiling objects for extension))
    example [a traceback]   File "/venv/lib/python3.10/site-packages/torch/_inductor/cpu_vec_isa.py", line 28, in _get_isa_dry_compile_fingerprint
    example [a traceback]   File "/venv/lib/python3.10/site-packages/triton/backends/nvidia/driver.py", line 27, in libcuda_dirs
compiler_too_old cpp_compile toolchain EXACT_TEXT check_environment
    summary The compiler or assembler does not know an option, an instruction or a feature: {what}
    means It is older than the C++ standard, the flags or the CPU's vector instructions that this torch uses (the assembler is of binutils), or CXX names another kind of compiler.
    check $CXX --version; torch needs g++ 9 or later, recent releases 11.
    fix Install a newer g++ with its binutils, and set CXX to it
    fix Or limit the instructions: ATEN_CPU_CAPABILITY=avx2 and (torch 2.13 and later) TORCHINDUCTOR_CPP_MARCH=x86-64-v3
    guide toolchain.md#compiler-too-old
    pattern unrecognized command[- ]line option.{0,80} || unknown argument: '-[^']{1,60}'
    pattern too old version of GCC || C\+\+\d\d or later compatible compiler is required
    pattern error: bad value .{1,40} for .-m(?:arch|cpu|tune)=
    pattern nested namespace definitions only available with
    pattern error: .{0,80}['‘]_{1,2}m(?:m\d{0,3}_)?\w{1,60}['’] || Error: no such instruction
    unconfirmed target specific option mismatch || Assembler messages: || requires target feature '
    example [as] /tmp/cc1.s:120: Error: no such instruction: `vcvtne2ps2bf16'
    example [g++] cab.cpp:9:3: error: ‘_mm512_cvtneps_pbh’ was not declared in this scope
    recorded [torch 2.13.0, CPU, a flag added by us] cc1plus: error: bad value ‘foo’ for ‘-march=’ switch
    recorded [torch 2.13.0, CPU, -std=c++11 added by us] /tmp/v/dev/lib/python3.11/site-packages/torch/include/torch/csrc/inductor/aoti_runtime/scalar_to_tensor.h:7:11: warning: nested namespace definitions only available with
    example [torch's headers] #error "You're trying to build PyTorch with a too old version of GCC. We need GCC 9 or later."
header_missing cpp_compile toolchain SPECIFIC_TEXT check_environment
    summary The header {header} is missing
    means The compile host is incomplete: C++ standard headers (libstdc++-dev), a library's development package, or torch's own include folder.
    check g++ -v -E on an empty file lists the include directories.
    fix Install the package that brings {header}, or set CPATH to its directory
    guide toolchain.md#missing-headers
    pattern fatal error C1083: Cannot open include file: '(?P<header>[^']{1,200})'
    pattern fatal error: '?(?P<header>(?!\S{0,60}(?:Python\.h|omp\.h|cuda\w{0,200}\.h))[\w./+-]{1,200})'?:? (?:No such file or directory|file not found)
    pattern fatal error: '(?P<header>[\w./+-]{1,200}\.h(?:pp)?)'\s{0,20}$
link_library_missing cpp_compile toolchain EXACT_TEXT proved check_environment
    summary The linker does not find lib{library}
    means For c10 or torch: a broken installation or LIBRARY_PATH.
    fix Install the library's development package
    guide toolchain.md#linker-errors
    pattern (?:cannot find|library not found for) -l(?P<library>(?!g?omp\b|cuda(?![\w.-]))[\w.{1,300}:-]{1,60})
    recorded [torch 2.13.0, CPU, a library added by us] /usr/bin/ld: cannot find -lnope: No such file or directory
    example [lld] ld: library not found for -lc10
driver_library_not_linked triton_compile toolchain EXACT_TEXT proved check_environment
    summary The linker does not find the driver's library: {what}
    means Triton links a launcher for each kernel against libcuda; the driver's stub or libcuda.so is not where the linker looks. A CUDA package's library links it, too.
    fix Put the toolkit's stubs directory into LIBRARY_PATH, or install the driver library
    guide toolchain.md#linker-errors
    pattern (?P<what>cannot find -lcuda)(?![\w.-])
    pattern (?P<what>library not found for -lcuda)(?![\w.-])
    example [lld] ld: library not found for -lcuda
linker_failed cpp_compile toolchain GENERAL_TEXT check_environment
    summary The linker or CMake failed: {what}
    means Object files or libraries that do not go together (architecture, run-time library, position-independent code), a definition in two of them, or an output file that cannot be written. CMake does not find libtorch, the CUDA toolkit that libtorch was built with, or a compiler.
    check Read the first line of ld, lld or LINK; file on the libraries named.
    fix Use libraries of one torch and one compiler; build everything for a shared library with -fPIC
    fix cmake -DCMAKE_PREFIX_PATH=$(python -c 'import torch; print(torch.utils.cmake_prefix_path)') ..
    fix For CUDA set CUDA_HOME and CMAKE_CUDA_COMPILER to the toolkit that torch.version.cuda names
    guide toolchain.md#linker-errors
    anchor LNK2038
    pattern CMake Error(?: at|:) .{1,160} || (?:Torch|Caffe2)Config\.cmake
    pattern Configuring incomplete, errors occurred
    pattern Your installed Caffe2 version uses \w{1,10} but I cannot find
    unconfirmed No CMAKE_CUDA_COMPILER could be found || Could NOT find CUDA\w{0,10} \(missing
    unconfirmed No rule to make target '.{1,120}'
    pattern multiple definition of [`'‘].{1,100} || LNK(?:2005|1169|2038)\b.{0,100}
    pattern duplicate symbols? for architecture.{0,80} || recompile with -fPIC
    pattern [Ff]ile (?:format )?not recognized || ld returned \d{1,3} exit status
    pattern (?:ld\.lld|lld-link|ld): error: (?P<what>(?!undefined symbol).{1,160})
    unconfirmed duplicate symbols? ['_:].{0,80} || DSO missing from command line
    unconfirmed final link failed.{0,60} || linker command failed with exit code \d{1,9}
    unconfirmed cannot open output file .{1,120} || ld terminated with signal .{1,30}
    unconfirmed error adding symbols.{0,60} || framework not found.{0,40}
    unconfirmed hidden symbol .{1,100} (?:isn't defined|is referenced by DSO)
    example [CMake] CMake Error at CMakeLists.txt:3 (find_package):
    example [CMake] CMake Error: The following variables are used in this project, but they are set to NOTFOUND.
    recorded [CMake 3.25] -- Configuring incomplete, errors occurred!
    example [Caffe2Config.cmake]   Your installed Caffe2 version uses CUDA but I cannot find the CUDA libraries.
    recorded [GNU ld 2.40] u.cpp:(.text+0x0): multiple definition of `main'; u.o:u.cpp:(.text+0x0): first defined here
    recorded [GNU ld 2.40] /usr/bin/ld: p.o: relocation R_X86_64_32 against `.bss' can not be used when making a shared object; recompile with -fPIC
    example [MSVC] libtorch.lib(x.obj) : error LNK2038: mismatch detected for 'RuntimeLibrary'
    unlike example [an ordinary line] -- Found CUDA: /usr/local/cuda (found version "13.0")
no_cxx_compiler cpp_compile toolchain NAMED_TEXT proved check_environment
    summary No C++ compiler works here; tried {tried}
    means Compiling a package needs g++ or clang++ (cl on Windows) in PATH or in CXX.
    fix Install g++ (apt-get install g++) or set CXX to one that runs
    pattern No working C\+\+ compiler found in torch\._inductor\.config\.cpp\.cxx:(?P<tried>.{0,120})
    pattern InvalidCxxCompiler: Compiler: (?P<tried>.{1,60}) is not found
    pattern CalledProcessError: Command .{0,20}(?P<tried>clang\S{0,20}|g\+\+\S{0,20}).{0,40}(?:-v|--version).{0,20} returned non-zero exit status
    example [torch/_inductor/exc.py] torch._inductor.exc.InvalidCxxCompiler: Compiler: cl is not found.
    unlike example [another failure] subprocess.CalledProcessError: Command '['git', 'describe']' returned non-zero exit status 128.
openmp_header_missing cpp_compile toolchain NAMED_TEXT proved check_environment
    summary OpenMP is missing
    means Inductor's CPU code uses OpenMP; Apple's clang and some clang installations come without it.
    fix macOS: brew install libomp and set OMP_PREFIX; Linux with clang: install libomp-dev; or set CXX to g++
    guide toolchain.md#missing-headers
    pattern fatal error: '?\S{0,60}\bomp\.h'?:? No such file
    pattern fatal error: '?\S{0,60}\bomp\.h'?:? file not found || OpenMP support not found
    pattern library 'omp' not found || cannot find -lg?omp\b
    unconfirmed library not found for -lomp
    quoted [pytorch/torchchat#509] fatal error: 'omp.h' file not found
    example [Apple's ld] ld: library 'omp' not found
    example [GNU ld] /usr/bin/ld: cannot find -lomp: No such file or directory
openmp_runtime_failed load toolchain SPECIFIC_TEXT check_environment
    summary The OpenMP runtime stopped the process: {what}
    means Error 15: two copies of OpenMP are loaded (torch's, and one of conda, MKL, Homebrew or another wheel). Thread creation fails where the container limits threads.
    check Which libomp, libiomp5 or libgomp are mapped: /proc/PID/maps, or vmmap on macOS.
    fix Keep one copy: install numpy, torch and the rest from one source, or remove the extra library
    fix KMP_DUPLICATE_LIB_OK=TRUE only hides it; for thread creation raise ulimit -u or the pids limit, or lower OMP_NUM_THREADS
    guide toolchain.md#missing-headers
    pattern OMP: (?P<what>(?:System e|E)rror #\d{1,4})
    pattern libgomp: (?P<what>(?!warning)(?:could not|Thread creation failed|Out of memory|Invalid|Affinity).{0,100})
    example [libgomp] libgomp: Thread creation failed: Resource temporarily unavailable
    unlike example [a note of OpenMP] OMP: Info #276: omp_set_nested routine deprecated
python_header_missing triton_compile toolchain NAMED_TEXT proved check_environment
    summary The Python development headers are missing
    means Triton builds a small launcher in C and Inductor's own C++ may need them too.
    fix apt-get install python3-dev (of the interpreter's version), or use a conda or uv Python, which brings them
    guide toolchain.md#missing-headers
    pattern fatal error: '?Python\.h'?:? No such file || fatal error: '?Python\.h'?:? file not found
    pattern error: include file '(?:Python\.h)' not found
"""
