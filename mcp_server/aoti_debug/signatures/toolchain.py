"""The C++ compiler, headers, linker and disk that compiling needs."""

from __future__ import annotations

from aoti_debug.facts.categories import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
    Signature(
        id="build_stopped",
        phase="cpp_compile",
        category="toolchain",
        role="envelope",
        tier=Tier.BROAD_TEXT,
        confidence="possible",
        anchors=("make: *** [",),
        patterns=(
            "ninja: build stopped",
            "ninja: error: ",
            r"g?make(?:\[\d\])?: \*\*\* \[",
            r"error MSB\d{4}",
            r"error: command '\S{1,200}' failed with exit (?:code|status)",
        ),
        summary="A build of C++ code failed; the compiler's or linker's own words stand above",
        means="Only an envelope: a missing compiler, header or library is the usual reason.",
        check="Read the first line with error: above it.",
        guide="guides/toolchain.md#linker-errors",
        next_tool="check_environment",
        matches=(
            recorded("ninja: build stopped: subcommand failed.", "ninja 1.11"),
            quoted("make: *** [Makefile:2: testapp] Error 1", "words of GNU make"),
            quoted("error: command '/usr/bin/gcc' failed with exit code 1", "words of setuptools"),
            words("programs that were not at hand", "ninja: error: ", "error MSB1111"),
        ),
    ),
    Signature(
        id="cache_directory_unusable",
        phase="lower",
        category="toolchain",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            r"(?P<what>getpwuid\(\): uid not found: \d{1,20})",
            "(?P<what>No username set in the environment)",
            "(?P<what>Could not create or locate cache dir)",
            r"(?P<what>\[WinError (?:206|112)\].{0,160})",
            r"(?P<what>Fail to create path \S{0,200})",
            "(?P<what>There is not enough space on the disk)",
            (
                r"(?P<what>\[WinError (?:5|32|183|3)\] .{0,200}(?:[Tt]orch_?inductor|[Tt]riton|"
                "inductor|torch_extensions).{0,60})"
            ),
            r"OSError: \[Errno (?:36|24|26|116|5)\] (?P<what>File name too long.{0,160})",
            r"OSError: \[Errno (?:36|24|26|116|5)\] (?P<what>Too many open files.{0,160})",
            r"OSError: \[Errno (?:36|24|26|116|5)\] (?P<what>Text file busy.{0,160})",
            r"OSError: \[Errno (?:36|24|26|116|5)\] (?P<what>Stale file handle.{0,160})",
            r"OSError: \[Errno (?:36|24|26|116|5)\] (?P<what>Input/output error.{0,160})",
        ),
        summary="A cache or temporary directory cannot be used: {what}",
        means=(
            "Inductor and Triton keep files below the user's name or home: an unknown user id in a "
            "container, paths beyond 260 characters and files held by another process on Windows, "
            "or a failing network disk stop them."
        ),
        check=(
            "python -c 'import getpass; print(getpass.getuser())', and the length of the path "
            "named."
        ),
        fixes=(
            fix(
                (
                    "Set TORCHINDUCTOR_CACHE_DIR and TRITON_CACHE_DIR to a short, local directory "
                    "that you own"
                ),
            ),
            fix(
                (
                    "In a container give the user a name (passwd entry or USER=app); on Windows "
                    "allow long paths"
                ),
            ),
        ),
        guide="guides/toolchain.md#caches-and-disk-space",
        next_tool="check_environment",
        matches=(
            recorded("KeyError: 'getpwuid(): uid not found: 77777'", "CPython 3.11"),
            quoted(
                "PermissionError: [WinError 5] Access is denied: 'C:\\Users\\a\\AppData\\Local\\Temp\\torchinductor_a\\x'",
                "words of Python",
            ),
            quoted(
                "FileNotFoundError: [WinError 206] The filename or extension is too long: 'C:\\x'",
                "words of Python",
            ),
            quoted(
                "OSError: [Errno 36] File name too long: '/tmp/torchinductor_a/x'",
                "words of Python",
            ),
            quoted(
                "RuntimeError: Could not create or locate cache dir",
                "words of triton/runtime/cache.py",
            ),
            words(
                "programs that were not at hand",
                "No username set in the environment",
                "There is not enough space on the disk",
                "OSError: [Errno 36] Too many open filesx",
                "OSError: [Errno 36] Stale file handlex",
                "OSError: [Errno 36] Input/output errorx",
            ),
            words("torch/utils/cpp_extension.py", "Fail to create path "),
            words("Python's selectors.py", "OSError: [Errno 36] Text file busyx"),
        ),
        apart_from=("disk_unusable",),
    ),
    Signature(
        id="cmake_failed",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.GENERAL_TEXT,
        patterns=(
            "(?P<what>CMake Error at .{1,160})",
            "(?P<what>CMake Error: .{1,160})",
            r"(?P<what>(?:Torch|Caffe2)Config\.cmake)",
            "(?P<what>No CMAKE_CUDA_COMPILER could be found)",
            "(?P<what>Configuring incomplete, errors occurred)",
            r"(?P<what>Your installed Caffe2 version uses \w{1,10} but I cannot find)",
            r"(?P<what>Could NOT find CUDA\w{0,10} \(missing)",
            "(?P<what>No rule to make target '.{1,120}')",
        ),
        summary="CMake could not configure the build: {what}",
        means=(
            "It does not find libtorch (CMAKE_PREFIX_PATH), the CUDA toolkit that libtorch was "
            "built with, or a compiler."
        ),
        check="python -c 'import torch; print(torch.utils.cmake_prefix_path)'",
        fixes=(
            fix(
                (
                    "cmake -DCMAKE_PREFIX_PATH=$(python -c 'import torch; "
                    "print(torch.utils.cmake_prefix_path)') .."
                ),
            ),
            fix(
                (
                    "For CUDA set CUDA_HOME and CMAKE_CUDA_COMPILER to the toolkit that "
                    "torch.version.cuda names"
                ),
            ),
        ),
        guide="guides/toolchain.md#linker-errors",
        next_tool="check_environment",
        matches=(
            recorded("    TorchConfig.cmake", "CMake 3.25"),
            quoted("CMake Error at CMakeLists.txt:3 (find_package):", "words of CMake"),
            quoted(
                "CMake Error: The following variables are used in this project, but they are set to NOTFOUND.",
                "words of CMake",
            ),
            recorded("-- Configuring incomplete, errors occurred!", "CMake 3.25"),
            quoted(
                "  Your installed Caffe2 version uses CUDA but I cannot find the CUDA libraries.",
                "words of Caffe2Config.cmake",
            ),
            words(
                "programs that were not at hand",
                "No CMAKE_CUDA_COMPILER could be found",
                "Could NOT find CUDA (missing",
                "No rule to make target 'x'",
            ),
        ),
        neighbours=(
            quoted('-- Found CUDA: /usr/local/cuda (found version "13.0")', "an ordinary line"),
        ),
    ),
    Signature(
        id="compiler_broken",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "(?P<what>internal compiler error)",
            "(?P<what>no such instruction: .{1,60})",
            r"(?P<what>PLEASE submit a bug report to https://github\.com/llvm)",
            "(?P<what>PLEASE ATTACH THE FOLLOWING FILES)",
            r"(?P<what>fatal error C1(?:001|060|128)\b)",
            "(?P<what>fatal error C1083: Cannot open compiler)",
            "(?P<what>unsupported option '-[^']{1,60}')",
        ),
        summary="The compiler or assembler itself gave up: {what}",
        means=(
            "A bug of the compiler, an assembler older than the CPU flags it is given, a path that "
            "is too long for it, or a compiler (Apple's clang) without OpenMP."
        ),
        check="Does another compiler, set in CXX, take the same file?",
        fixes=(
            fix("Use another or newer compiler (CXX) and binutils"),
            fix("On Windows shorten TORCHINDUCTOR_CACHE_DIR"),
        ),
        guide="guides/toolchain.md#compiler-too-old",
        next_tool="check_environment",
        matches=(
            quoted("/tmp/c.cpp:8:1: internal compiler error: Segmentation fault", "words of g++"),
            recorded(
                "/tmp/ccl8d9z5.s:4: Error: no such instruction: `vfoo %xmm0'",
                "GNU as 2.40 on a file of ours",
            ),
            quoted("clang: error: unsupported option '-fopenmp'", "words of Apple's clang"),
            quoted("c:\\x.cpp(3): fatal error C1001: Internal compiler error.", "words of MSVC"),
            words("triton", "PLEASE submit a bug report to https://github.com/llvm"),
            words(
                "programs that were not at hand",
                "PLEASE ATTACH THE FOLLOWING FILES",
                "fatal error C1083: Cannot open compiler",
            ),
        ),
    ),
    Signature(
        id="compiler_killed",
        phase="cpp_compile",
        category="out_of_memory",
        tier=Tier.NAMED_TEXT,
        patterns=(
            r"Killed signal terminated program (?P<program>\S{1,40})",
            "virtual memory exhausted",
            "cc1plus: out of memory",
            "LLVM ERROR: out of memory",
            "unable to execute command: Killed",
            "ld terminated with signal 9",
        ),
        summary="The C++ compiler ran out of memory",
        means="The generated file is large and the machine or container ended the compiler.",
        check="dmesg | tail, and the container's memory limit.",
        fixes=(
            fix(
                (
                    "Give more memory, or compile with AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL=O0 "
                    "(2.8 and later)"
                ),
            ),
        ),
        guide="guides/host-crash.md#killed-by-the-system",
        next_tool="check_environment",
        matches=(
            quoted("g++: fatal error: Killed signal terminated program cc1plus", "words of g++"),
            quoted("virtual memory exhausted: Cannot allocate memory", "words of g++"),
            quoted("cc1plus: out of memory allocating 65536 bytes", "words of g++"),
            quoted("LLVM ERROR: out of memory", "words of clang"),
            quoted("clang++: error: unable to execute command: Killed", "words of clang"),
            quoted("collect2: fatal error: ld terminated with signal 9 [Killed]", "words of g++"),
        ),
    ),
    Signature(
        id="compiler_not_found",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.NAMED_TEXT,
        patterns=(
            r"(?P<what>(?<!Cxx)Compiler: \S{1,80} is not found)",
            r"(?P<what>Microsoft Visual C\+\+ 14\.0 or greater is required)",
            r"(?P<what>Unable to find vcvarsall\.bat)",
            "(?P<what>invalid active developer path)",
            r"(?P<what>MSVC is required to load C\+\+ extensions)",
            "(?P<what>Please use (?:clang|icx)-cl)",
            "(?P<what>Cannot determine the flavor of .{1,60})",
            "(?P<what>only support MSVC with English language)",
            "(?P<what>No CMAKE_CXX_COMPILER could be found)",
            (
                r"\bsh: (?P<what>(?:\S{0,80}/)?(?:g\+\+|gcc|c\+\+|cc|clang\+\+|clang|cl|ld|ld\.lld|"
                r"as|make|cmake|ninja)(?:-\d{1,2})?: (?:[Cc]ommand )?not found)"
            ),
            (
                r"bash: (?P<what>(?:\S{0,80}/)?(?:g\+\+|gcc|c\+\+|cc|clang\+\+|clang|cl|ld|ld\.lld|"
                r"as|make|cmake|ninja)(?:-\d{1,2})?: (?:[Cc]ommand )?not found)"
            ),
            (
                r"zsh: (?P<what>(?:\S{0,80}/)?(?:g\+\+|gcc|c\+\+|cc|clang\+\+|clang|cl|ld|ld\.lld|"
                r"as|make|cmake|ninja)(?:-\d{1,2})?: (?:[Cc]ommand )?not found)"
            ),
            (
                r"make(?:\[\d\])?: (?P<what>(?:\S{0,80}/)?(?:g\+\+|gcc|c\+\+|cc|clang\+\+|clang|cl|"
                r"ld|ld\.lld|as|make|cmake|ninja)(?:-\d{1,2})?: (?:[Cc]ommand )?not found)"
            ),
            (
                r": \d{1,5}: (?P<what>(?:\S{0,80}/)?(?:g\+\+|gcc|c\+\+|cc|clang\+\+|clang|cl|ld|"
                r"ld\.lld|as|make|cmake|ninja)(?:-\d{1,2})?: (?:[Cc]ommand )?not found)"
            ),
            (
                r"line \d{1,5}: (?P<what>(?:\S{0,80}/)?(?:g\+\+|gcc|c\+\+|cc|clang\+\+|clang|cl|ld|"
                r"ld\.lld|as|make|cmake|ninja)(?:-\d{1,2})?: (?:[Cc]ommand )?not found)"
            ),
            r"FileNotFoundError: (?P<what>\[WinError 2\]) [^:']{1,80}$",
            (
                r"No such file or directory: '(?P<what>(?:\S{0,120}/)?(?:g\+\+|gcc|c\+\+|cc|"
                r"clang\+\+|clang|cl|icpx|icx|ld|cmake|make|ninja)(?:-\d{1,2})?)'"
            ),
            (
                r"'(?P<what>(?:cl|clang-cl|icx|g\+\+|gcc|cmake|ninja|nvcc)(?:\.exe)?)' is not "
                "recognized as an internal or external command"
            ),
            "unable to execute '(?P<what>[^']{1,80})'",
            r"(?P<what>cannot execute ['‘][\w.{1,300}-]{1,40}['’])",
            r"(?P<what>error trying to exec 'cc1\w{0,10}')",
            r"(?P<what>cannot find ['‘]ld\S{0,10}['’])",
            r"(?P<what>invalid linker name in argument \S{1,60})",
        ),
        summary="A compiler or build tool is missing or cannot be started: {what}",
        means=(
            "Compiling a package needs a C++ compiler with its assembler and linker (cl on "
            "Windows), and Triton a C compiler for its launcher."
        ),
        check=(
            "$CXX --version; command -v g++ gcc ld; on Windows, where cl, in the very shell that "
            "compiles."
        ),
        fixes=(
            fix(
                (
                    "Install g++ (build-essential), on macOS the command line tools (xcode-select "
                    "--install), on Windows the Visual Studio build tools with the English "
                    "language pack"
                ),
            ),
            fix(
                (
                    "Set CXX (and CC for Triton) to a compiler that runs; on Windows start from "
                    "the x64 developer prompt"
                ),
            ),
        ),
        guide="guides/toolchain.md#no-compiler",
        next_tool="check_environment",
        matches=(
            recorded("RuntimeError: Compiler: nope-g++ is not found.", "torch 2.13.0, CPU"),
            quoted(
                "torch._dynamo.exc.InternalTorchDynamoError: RuntimeError: Compiler: cl is not found.",
                "words of torch/_inductor/cpp_builder.py",
            ),
            quoted("/bin/sh: 1: g++: not found", "words of sh"),
            quoted("bash: clang++: command not found", "words of bash"),
            quoted(
                "FileNotFoundError: [WinError 2] The system cannot find the file specified",
                "words of Python, starting a program",
            ),
            quoted(
                "FileNotFoundError: [Errno 2] No such file or directory: 'g++'", "words of Python"
            ),
            quoted("'cl' is not recognized as an internal or external command,", "words of cmd"),
            quoted(
                "error: unable to execute 'x86_64-linux-gnu-gcc': No such file or directory",
                "words of setuptools",
            ),
            recorded(
                "g++: fatal error: cannot execute ‘as’: execvp: No such file or directory",
                "g++ 12 with an empty PATH",
            ),
            quoted(
                "RuntimeError: Torch.compile() is only support MSVC with English language pack,Please reinstall its language pack to English.",
                "words of torch/_inductor/cpp_builder.py",
            ),
            words(
                "programs that were not at hand", "Microsoft Visual C++ 14.0 or greater is required"
            ),
            words("Python's _msvccompiler.py", "Unable to find vcvarsall.bat"),
            words(
                "programs that were not at hand",
                "invalid active developer path",
                "No CMAKE_CXX_COMPILER could be found",
                "error trying to exec 'cc1'",
                "invalid linker name in argument x",
            ),
            words("torch/utils/cpp_extension.py", "MSVC is required to load C++ extensions"),
            words("torch/_weights_only_unpickler.py", "Please use clang-cl"),
            words("torch/_inductor/cpp_builder.py", "Cannot determine the flavor of x"),
            words(
                "torch/__init__.py",
                "sh: g++: not found",
                "zsh: g++: not found",
                "make: g++: not found",
                "line 1: g++: not found",
            ),
            words("torch/fx/node.py", "cannot find 'ld'"),
        ),
        neighbours=(
            quoted(
                "FileNotFoundError: [Errno 2] No such file or directory: 'config.json'",
                "plain Python",
            ),
            quoted(
                "FileNotFoundError: [WinError 2] The system cannot find the file specified: 'x.txt'",
                "plain Python",
            ),
            quoted("/bin/sh: 1: nvcc: not found", "the CUDA toolkit's"),
        ),
        apart_from=("cuda_toolkit_missing",),
    ),
    Signature(
        id="compiler_probe_failed",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.BROAD_TEXT,
        patterns=(
            (
                r'cpp_builder\.py", line \d{1,20}, in (?P<what>check_compiler_exist_windows|'
                "_is_msvc_cl|check_msvc_cl_language_id|check_mingw_win32_flavor|"
                "get_compiler_version_info|get_cpp_compiler|cpp_compiler_search|_is_gcc|_is_clang|"
                "_is_apple_clang|_is_intel_compiler|is_gcc|is_clang|_get_openmp_args|"
                "homebrew_libomp|_get_python_related_args|get_name_and_dir_from_output_file_path|"
                r"_ensure_mingw_cudart_import_lib)\b"
            ),
            r'cpu_vec_isa\.py", line \d{1,20}, in (?P<what>\w{1,60})',
            (
                r'triton[/\\]runtime[/\\]build\.py", line \d{1,20}, in (?P<what>_build|_cc_cmd|'
                "get_cc|compile_module_from_src)"
            ),
            (
                "(?:InductorError|BackendCompilerFailed|CppCompileError|InternalTorchDynamoError): "
                "(?P<what>UnicodeDecodeError): "
            ),
            r"line \d{1,20}, in (?P<what>libcuda_dirs)",
            (
                r"RuntimeError: (?P<what>Error (?:building extension '\S{1,80}'|compiling objects "
                "for extension))"
            ),
            (
                r"error: (?P<what>Error (?:building extension '\S{1,80}'|compiling objects for "
                "extension))"
            ),
        ),
        summary="Finding, starting or trying the compiler failed (in {what})",
        means=(
            "The step that failed looks for a compiler, asks for its version or builds a few lines "
            "with it, before any code of the model: the compiler is missing, speaks in a code page "
            "that is not UTF-8, or lacks headers."
        ),
        check=(
            "Run the compiler by hand with --version (cl /help on Windows) and read the last line "
            "of the traceback."
        ),
        fixes=(
            fix(
                (
                    "Install a working g++ or clang++; on Windows the English language pack of "
                    "Visual Studio, or set PYTHONUTF8=1"
                ),
            ),
        ),
        guide="guides/toolchain.md#no-compiler",
        next_tool="check_environment",
        matches=(
            quoted(
                '  File "/venv/lib/python3.10/site-packages/torch/_inductor/cpp_builder.py", line 313, in check_msvc_cl_language_id',
                "form of a traceback",
            ),
            quoted(
                '  File "/venv/lib/python3.10/site-packages/torch/_inductor/cpu_vec_isa.py", line 28, in _get_isa_dry_compile_fingerprint',
                "form of a traceback",
            ),
            quoted(
                '  File "/venv/lib/python3.10/site-packages/triton/runtime/build.py", line 48, in _build',
                "form of a traceback",
            ),
            quoted(
                "torch._inductor.exc.InductorError: UnicodeDecodeError: 'utf-8' codec can't decode byte 0x8e in position 0: invalid start byte",
                "a public thread on Windows",
            ),
            quoted(
                '  File "/venv/lib/python3.10/site-packages/triton/backends/nvidia/driver.py", line 27, in libcuda_dirs',
                "form of a traceback",
            ),
            recorded(
                "RuntimeError: Error building extension 'q': [1/2] c++ -MMD -MF main.o.d",
                "torch 2.13.0, CPU",
            ),
            words("programs that were not at hand", "error: Error building extension 'x'"),
        ),
        apart_from=("no_cxx_compiler",),
    ),
    Signature(
        id="compiler_too_old",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "(?P<what>unrecognized command[- ]line option.{0,80})",
            "(?P<what>unknown argument: '-[^']{1,60}')",
            "(?P<what>too old version of GCC)",
            r"(?P<what>C\+\+\d\d or later compatible compiler is required)",
            "(?P<what>error: bad value .{1,40} for .-m(?:arch|cpu|tune)=)",
            "(?P<what>nested namespace definitions only available with)",
        ),
        summary="The compiler does not know what it is asked: {what}",
        means=(
            "It is too old for the C++ standard or CPU flags that this torch uses, or CXX names "
            "another kind of compiler."
        ),
        check="$CXX --version; torch needs g++ 9 or later, recent releases 11.",
        fixes=(fix("Install a newer g++ and set CXX to it"),),
        guide="guides/toolchain.md#compiler-too-old",
        next_tool="check_environment",
        matches=(
            recorded(
                "g++: error: unrecognized command-line option ‘-fnope-option’; did you mean ‘-fno-exceptions’?",
                "torch 2.13.0, CPU, a flag added by us",
            ),
            recorded(
                "cc1plus: error: bad value ‘foo’ for ‘-march=’ switch",
                "torch 2.13.0, CPU, a flag added by us",
            ),
            recorded(
                "/tmp/v/dev/lib/python3.11/site-packages/torch/include/torch/csrc/inductor/aoti_runtime/scalar_to_tensor.h:7:11: warning: nested namespace definitions only available with",
                "torch 2.13.0, CPU, -std=c++11 added by us",
            ),
            quoted("g++: error: unrecognized command line option '-std=c++20'", "words of g++ 7"),
            quoted("clang: error: unknown argument: '-fno-tree-loop-vectorize'", "words of clang"),
            quoted(
                '#error "You\'re trying to build PyTorch with a too old version of GCC. We need GCC 9 or later."',
                "words of torch's headers",
            ),
            quoted(
                "#error C++17 or later compatible compiler is required to use PyTorch.",
                "words of torch's headers",
            ),
            quoted(
                "#error C++20 or later compatible compiler is required to use PyTorch.",
                "words of torch's headers",
            ),
        ),
    ),
    Signature(
        id="disk_unusable",
        phase="lower",
        category="toolchain",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "(?P<what>No space left on device)",
            "(?P<what>Disk quota exceeded)",
            (
                r"(?:PermissionError|OSError): \[Errno \d{1,20}\] (?P<what>Permission denied: "
                r"'[^']{0,300}(?:torchinductor_|\.triton|inductor)[^']{0,300}')"
            ),
            (
                r"(?:PermissionError|OSError): \[Errno \d{1,20}\] (?P<what>Read-only file system: "
                r"'[^']{0,300}(?:torchinductor_|\.triton|inductor)[^']{0,300}')"
            ),
            r"OSError: \[Errno 30\] (?P<what>Read-only file system: '[^']{1,300}')",
            (
                r"PermissionError: \[Errno 13\] (?P<what>Permission denied: '(?:/tmp/|/root/|"
                r"/nonexistent|/\.|/home/[^']{1,80}/\.cache/)[^']{0,300}')"
            ),
        ),
        summary="A cache or temporary directory cannot be written: {what}",
        means=(
            "Generated code, caches and unpacked packages go to TORCHINDUCTOR_CACHE_DIR, "
            "TRITON_CACHE_DIR and TMPDIR (below /tmp and ~/.triton by default); one is full, "
            "read-only or belongs to another user."
        ),
        check="df -h and df -i of both.",
        fixes=(
            fix(
                (
                    "Free space, or set the three variables to directories that you own, on a "
                    "larger disk"
                ),
            ),
        ),
        guide="guides/toolchain.md#caches-and-disk-space",
        next_tool="check_environment",
        matches=(
            recorded(
                "torch._inductor.exc.InductorError: OSError: [Errno 28] No space left on device",
                "torch 2.13.0, CPU",
            ),
            quoted("OSError: [Errno 122] Disk quota exceeded", "words of Python"),
            quoted(
                "PermissionError: [Errno 13] Permission denied: '/tmp/torchinductor_root/fx'",
                "words of Python",
            ),
            quoted(
                "PermissionError: [Errno 13] Permission denied: '/home/app/.triton/cache'",
                "words of Python",
            ),
            quoted("OSError: [Errno 30] Read-only file system: '/models/cache'", "words of Python"),
            quoted("PermissionError: [Errno 13] Permission denied: '/.cache'", "words of Python"),
            words(
                "programs that were not at hand",
                "PermissionError: [Errno 1] Read-only file system: 'torchinductor_'",
            ),
        ),
        neighbours=(
            quoted(
                "PermissionError: [Errno 13] Permission denied: '/etc/shadow'", "another failure"
            ),
        ),
    ),
    Signature(
        id="header_missing",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "fatal error C1083: Cannot open include file: '(?P<header>[^']{1,200})'",
            (
                r"fatal error: '?(?P<header>(?!\S{0,60}(?:Python\.h|omp\.h|cuda\w{0,200}\.h))"
                r"[\w./+-]{1,200})'?:? No such file or directory"
            ),
            (
                r"fatal error: '?(?P<header>(?!\S{0,60}(?:Python\.h|omp\.h|cuda\w{0,200}\.h))"
                r"[\w./+-]{1,200})'?:? file not found"
            ),
            r"fatal error: '(?P<header>[\w./+-]{1,200}\.h(?:pp)?)'\s{0,20}$",
        ),
        summary="The header {header} is missing",
        means=(
            "The compile host is incomplete: C++ standard headers (libstdc++-dev), a library's "
            "development package, or torch's own include folder."
        ),
        check="g++ -v -E on an empty file lists the include directories.",
        fixes=(fix("Install the package that brings {header}, or set CPATH to its directory"),),
        guide="guides/toolchain.md#missing-headers",
        next_tool="check_environment",
        matches=(
            words("g++ and clang, wrapped", "a.cpp:57:10: fatal error: 'omp.h'"),
            recorded(
                "/tmp/v/dev/lib/python3.11/site-packages/torch/include/torch/csrc/inductor/aoti_include/common.h:4:10: fatal error: array: No such file or directory",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "main.cpp(2): fatal error C1083: Cannot open include file: 'algorithm': No such file or directory",
                "words of MSVC",
            ),
            words(
                "torch/distributed/checkpoint/_experimental/checkpoint_reader.py",
                "fatal error: x file not found",
            ),
        ),
        apart_from=(
            "cuda_header_missing",
            "compiler_killed",
        ),
    ),
    Signature(
        id="link_library_missing",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        confidence="proved",
        patterns=(
            r"cannot find -l(?P<library>(?!g?omp\b|cuda(?![\w.-]))[\w.{1,300}:-]{1,60})",
            r"library not found for -l(?P<library>(?!g?omp\b|cuda(?![\w.-]))[\w.{1,300}:-]{1,60})",
        ),
        summary="The linker does not find lib{library}",
        means=("For c10 or torch: a broken installation or LIBRARY_PATH."),
        fixes=(fix("Install the library's development package"),),
        guide="guides/toolchain.md#linker-errors",
        next_tool="check_environment",
        matches=(
            recorded(
                "/usr/bin/ld: cannot find -lnope: No such file or directory",
                "torch 2.13.0, CPU, a library added by us",
            ),
            quoted("ld: library not found for -lc10", "words of lld"),
        ),
        apart_from=("openmp_header_missing",),
    ),
    Signature(
        id="driver_library_not_linked",
        phase="triton_compile",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        confidence="proved",
        patterns=(
            r"(?P<what>cannot find -lcuda)(?![\w.-])",
            r"(?P<what>library not found for -lcuda)(?![\w.-])",
        ),
        summary="The linker does not find the driver's library: {what}",
        means=(
            "Triton links a launcher for each kernel against libcuda; the driver's stub or "
            "libcuda.so is not where the linker looks. A CUDA package's library links it, too."
        ),
        fixes=(
            fix(
                (
                    "Put the toolkit's stubs directory into LIBRARY_PATH, or install the driver "
                    "library"
                ),
            ),
        ),
        guide="guides/toolchain.md#linker-errors",
        next_tool="check_environment",
        matches=(
            quoted("ld: library not found for -lcuda", "words of lld"),
            quoted("/usr/bin/ld: cannot find -lcuda: No such file or directory", "words of ld"),
        ),
    ),
    Signature(
        id="linker_failed",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.GENERAL_TEXT,
        anchors=("LNK2038",),
        patterns=(
            "(?P<what>multiple definition of [`'‘].{1,100})",
            r"(?P<what>LNK(?:2005|1169|2038)\b.{0,100})",
            "(?P<what>duplicate symbols? '.{0,80})",
            "(?P<what>duplicate symbols? _.{0,80})",
            "(?P<what>duplicate symbols? for architecture.{0,80})",
            "(?P<what>duplicate symbols? : .{0,80})",
            "(?P<what>recompile with -fPIC)",
            "(?P<what>DSO missing from command line)",
            "(?P<what>[Ff]ile (?:format )?not recognized)",
            "(?P<what>final link failed.{0,60})",
            r"(?P<what>linker command failed with exit code \d{1,9})",
            r"(?P<what>ld returned \d{1,3} exit status)",
            "(?P<what>cannot open output file .{1,120})",
            "(?P<what>ld terminated with signal .{1,30})",
            "(?P<what>error adding symbols.{0,60})",
            "(?P<what>framework not found.{0,40})",
            "(?P<what>hidden symbol .{1,100} isn't defined)",
            "(?P<what>hidden symbol .{1,100} is referenced by DSO)",
            r"(?:ld\.lld|lld-link|ld): error: (?P<what>(?!undefined symbol).{1,160})",
        ),
        summary="The linker failed: {what}",
        means=(
            "Object files or libraries that do not go together (architecture, run-time library, "
            "position-independent code), a definition in two of them, or an output file that "
            "cannot be written."
        ),
        check="Read the first line of ld, lld or LINK; file on the libraries named.",
        fixes=(
            fix(
                (
                    "Use libraries of one torch and one compiler; build everything for a shared "
                    "library with -fPIC"
                ),
            ),
        ),
        guide="guides/toolchain.md#linker-errors",
        next_tool="check_environment",
        matches=(
            recorded(
                "u.cpp:(.text+0x0): multiple definition of `main'; u.o:u.cpp:(.text+0x0): first defined here",
                "GNU ld 2.40",
            ),
            recorded(
                "/usr/bin/ld: p.o: relocation R_X86_64_32 against `.bss' can not be used when making a shared object; recompile with -fPIC",
                "GNU ld 2.40",
            ),
            recorded("collect2: error: ld returned 1 exit status", "GNU ld 2.40"),
            quoted("ld.lld: error: unable to find library -lcudart", "words of lld"),
            quoted(
                "libtorch.lib(x.obj) : error LNK2038: mismatch detected for 'RuntimeLibrary'",
                "words of MSVC",
            ),
            words("triton", "duplicate symbol 'x", "duplicate symbol _x", "duplicate symbol : x"),
            words("torch/_export/serde/serialize.py", "duplicate symbol for architecturex"),
            words(
                "ld",
                "DSO missing from command line",
                "final link failedx",
                "cannot open output file x",
                "error adding symbolsx",
                "hidden symbol x isn't defined",
                "hidden symbol x is referenced by DSO",
            ),
            words("torch/storage.py", "File not recognized"),
            words(
                "programs that were not at hand",
                "linker command failed with exit code 1",
                "ld terminated with signal x",
                "framework not foundx",
            ),
        ),
        apart_from=("link_undefined_reference",),
    ),
    Signature(
        id="no_cxx_compiler",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.NAMED_TEXT,
        confidence="proved",
        patterns=(
            (
                r"No working C\+\+ compiler found in torch\._inductor\.config\.cpp\.cxx:"
                "(?P<tried>.{0,120})"
            ),
            "InvalidCxxCompiler: Compiler: (?P<tried>.{1,60}) is not found",
            (
                r"CalledProcessError: Command .{0,20}(?P<tried>clang\S{0,20}|g\+\+\S{0,20}).{0,40}"
                "(?:-v|--version).{0,20} returned non-zero exit status"
            ),
        ),
        summary="No C++ compiler works here; tried {tried}",
        means="Compiling a package needs g++ or clang++ (cl on Windows) in PATH or in CXX.",
        fixes=(fix("Install g++ (apt-get install g++) or set CXX to one that runs"),),
        guide="guides/toolchain.md#no-compiler",
        next_tool="check_environment",
        matches=(
            recorded(
                "torch._inductor.exc.InductorError: InvalidCxxCompiler: No working C++ compiler found in torch._inductor.config.cpp.cxx: (None, 'clang++')",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "torch._inductor.exc.InvalidCxxCompiler: Compiler: cl is not found.",
                "words of torch/_inductor/exc.py",
            ),
            quoted(
                "subprocess.CalledProcessError: Command '['clang++', '-v']' returned non-zero exit status 255.",
                "pytorch/pytorch#119304",
            ),
        ),
        neighbours=(
            quoted(
                "subprocess.CalledProcessError: Command '['git', 'describe']' returned non-zero exit status 128.",
                "another failure",
            ),
        ),
    ),
    Signature(
        id="openmp_header_missing",
        phase="cpp_compile",
        category="toolchain",
        tier=Tier.NAMED_TEXT,
        confidence="proved",
        patterns=(
            r"fatal error: '?\S{0,60}\bomp\.h'?:? No such file",
            r"fatal error: '?\S{0,60}\bomp\.h'?:? file not found",
            "OpenMP support not found",
            "library 'omp' not found",
            "library not found for -lomp",
            r"cannot find -lg?omp\b",
        ),
        summary="OpenMP is missing",
        means=(
            "Inductor's CPU code uses OpenMP; Apple's clang and some clang installations come "
            "without it."
        ),
        fixes=(
            fix(
                (
                    "macOS: brew install libomp and set OMP_PREFIX; Linux with clang: install "
                    "libomp-dev; or set CXX to g++"
                ),
            ),
        ),
        guide="guides/toolchain.md#missing-headers",
        next_tool="check_environment",
        matches=(
            quoted("fatal error: 'omp.h' file not found", "pytorch/torchchat#509"),
            recorded(
                "<command-line>: fatal error: nope/omp.h: No such file or directory",
                "g++ 12, header hidden by us",
            ),
            quoted(
                "OpenMP support not found. Please try one of the following solutions:",
                "words of torch/_inductor/cpp_builder.py",
            ),
            quoted("ld: library 'omp' not found", "words of Apple's ld"),
            quoted("/usr/bin/ld: cannot find -lomp: No such file or directory", "words of GNU ld"),
            quoted("/usr/bin/ld: cannot find -lgomp: No such file or directory", "words of GNU ld"),
            words("programs that were not at hand", "library not found for -lomp"),
        ),
    ),
    Signature(
        id="openmp_runtime_failed",
        phase="environment",
        category="toolchain",
        tier=Tier.SPECIFIC_TEXT,
        anchors=("OMP: Error #",),
        patterns=(
            r"OMP: (?P<what>Error #\d{1,4})",
            r"OMP: (?P<what>System error #\d{1,4})",
            "libgomp: (?P<what>(?!warning)could not.{0,100})",
            "libgomp: (?P<what>(?!warning)Thread creation failed.{0,100})",
            "libgomp: (?P<what>(?!warning)Out of memory.{0,100})",
            "libgomp: (?P<what>(?!warning)Invalid.{0,100})",
            "libgomp: (?P<what>(?!warning)Affinity.{0,100})",
        ),
        summary="The OpenMP runtime stopped the process: {what}",
        means=(
            "Error 15: two copies of OpenMP are loaded (torch's, and one of conda, MKL, Homebrew "
            "or another wheel). Thread creation fails where the container limits threads."
        ),
        check="Which libomp, libiomp5 or libgomp are mapped: /proc/PID/maps, or vmmap on macOS.",
        fixes=(
            fix(
                (
                    "Keep one copy: install numpy, torch and the rest from one source, or remove "
                    "the extra library"
                ),
            ),
            fix(
                (
                    "KMP_DUPLICATE_LIB_OK=TRUE only hides it; for thread creation raise ulimit -u "
                    "or the pids limit, or lower OMP_NUM_THREADS"
                ),
            ),
        ),
        guide="guides/toolchain.md#missing-headers",
        next_tool="check_environment",
        matches=(
            quoted(
                "OMP: Error #15: Initializing libomp.dylib, but found libomp.dylib already initialized.",
                "words of LLVM's OpenMP",
            ),
            quoted(
                "libgomp: Thread creation failed: Resource temporarily unavailable",
                "words of libgomp",
            ),
            words(
                "programs that were not at hand",
                "OMP: System error #1",
                "libgomp: could notx",
                "libgomp: Out of memoryx",
                "libgomp: Invalidx",
                "libgomp: Affinityx",
            ),
        ),
        neighbours=(
            quoted("OMP: Info #276: omp_set_nested routine deprecated", "a note of OpenMP"),
        ),
    ),
    Signature(
        id="python_header_missing",
        phase="triton_compile",
        category="toolchain",
        tier=Tier.NAMED_TEXT,
        confidence="proved",
        patterns=(
            r"fatal error: '?Python\.h'?:? No such file",
            r"fatal error: '?Python\.h'?:? file not found",
            r"error: include file '(?:Python\.h)' not found",
        ),
        summary="The Python development headers are missing",
        means="Triton builds a small launcher in C and Inductor's own C++ may need them too.",
        fixes=(
            fix(
                (
                    "apt-get install python3-dev (of the interpreter's version), or use a conda or "
                    "uv Python, which brings them"
                ),
            ),
        ),
        guide="guides/toolchain.md#missing-headers",
        next_tool="check_environment",
        matches=(
            recorded(
                "p.cpp:1:10: fatal error: Python.h: No such file or directory",
                "g++ 12 on a file of ours",
            ),
            words(
                "torch/distributed/checkpoint/_experimental/checkpoint_reader.py",
                "fatal error: Python.h file not found",
                "error: include file 'Python.h' not found",
            ),
        ),
    ),
)
