"""The C++ compiler, headers, linker and disk that compiling needs."""

from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURES = (
    Signature(
        id="no_cxx_compiler",
        family="G",
        phase="cpp_compile",
        category="toolchain",
        weight=86,
        confidence="proved",
        anchors=(
            "No working C++ compiler found",
            "InvalidCxxCompiler: Compiler",
            "returned non-zero exit status",
        ),
        patterns=(
            (
                r"No working C\+\+ compiler found in torch\._inductor\.config\.cpp\.cxx: "
                "(?P<tried>.{1,120})"
            ),
            "InvalidCxxCompiler: Compiler: (?P<tried>.{1,60}) is not found",
            (
                r"CalledProcessError: Command .{0,20}(?P<tried>clang\S{0,20}"
                r"|g\+\+\S{0,20}).{0,40}(?:-v|--version).{0,20} returned non-zero exit status"
            ),
        ),
        summary="No C++ compiler works here; tried {tried}",
        means="Compiling a package needs g++ or clang++ (cl on Windows) in PATH or in CXX.",
        fixes=(fix("Install g++ (apt-get install g++) or set CXX to one that runs"),),
        guide="guides/toolchain.md#no-compiler",
        next_tool="check_environment",
        references=("pytorch/pytorch#119304",),
        matches=(
            recorded(
                "torch._inductor.exc.InductorError: InvalidCxxCompiler: No working C++ compiler "
                "found in torch._inductor.config.cpp.cxx: (None, 'clang++')",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "torch._inductor.exc.InvalidCxxCompiler: Compiler: cl is not found.",
                "words of torch/_inductor/exc.py",
            ),
            quoted(
                "subprocess.CalledProcessError: Command '['clang++', '-v']' returned non-zero "
                "exit status 255.",
                "pytorch/pytorch#119304",
            ),
        ),
        neighbours=(
            quoted(
                "subprocess.CalledProcessError: Command '['git', 'describe']' returned non-zero "
                "exit status 128.",
                "another failure",
            ),
        ),
    ),
    Signature(
        id="compiler_too_old",
        family="G",
        phase="cpp_compile",
        category="toolchain",
        weight=80,
        anchors=(
            "unrecognized command line option",
            "unrecognized command-line option",
            "unknown argument: '",
            "too old version of GCC",
            "or later compatible compiler is required",
            "error: bad value",
            "nested namespace definitions only available with",
        ),
        patterns=(
            (
                "(?P<what>unrecognized command[- ]line option.{0,80}|unknown argument: "
                r"'-[^']{1,60}'|too old version of GCC|C\+\+\d\d or later compatible compiler is "
                "required|error: bad value .{1,40} for .-m(?:arch|cpu|tune)=|nested namespace "
                "definitions only available with)"
            ),
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
        references=("pytorch/pytorch#130815",),
        matches=(
            recorded(
                "g++: error: unrecognized command-line option ‘-fnope-option’; did you mean "
                "‘-fno-exceptions’?",
                "torch 2.13.0, CPU, a flag added by us",
            ),
            recorded(
                "cc1plus: error: bad value ‘foo’ for ‘-march=’ switch",
                "torch 2.13.0, CPU, a flag added by us",
            ),
            recorded(
                "/tmp/v/dev/lib/python3.11/site-packages/torch/include/torch/csrc/inductor/"
                "aoti_runtime/scalar_to_tensor.h:7:11: warning: nested namespace definitions only "
                "available with",
                "torch 2.13.0, CPU, -std=c++11 added by us",
            ),
            quoted("g++: error: unrecognized command line option '-std=c++20'", "words of g++ 7"),
            quoted("clang: error: unknown argument: '-fno-tree-loop-vectorize'", "words of clang"),
            quoted(
                "#error \"You're trying to build PyTorch with a too old version of GCC. We need "
                'GCC 9 or later."',
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
        id="compiler_killed",
        family="G",
        phase="cpp_compile",
        category="out_of_memory",
        weight=84,
        anchors=(
            "Killed signal terminated program",
            "virtual memory exhausted",
            "cc1plus: out of memory",
            "LLVM ERROR: out of memory",
        ),
        patterns=(
            (
                r"Killed signal terminated program (?P<program>\S{1,40})|virtual memory exhausted"
                "|cc1plus: out of memory|LLVM ERROR: out of memory"
            ),
        ),
        summary="The C++ compiler ran out of memory",
        means="The generated file is large and the machine or container ended the compiler.",
        check="dmesg | tail, and the container's memory limit.",
        fixes=(
            fix(
                "Give more memory, or compile with AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL=O0 (2.8 "
                "and later)"
            ),
        ),
        guide="guides/host-crash.md#killed-by-the-system",
        next_tool="check_environment",
        matches=(
            quoted("g++: fatal error: Killed signal terminated program cc1plus", "words of g++"),
            quoted("virtual memory exhausted: Cannot allocate memory", "words of g++"),
            quoted("cc1plus: out of memory allocating 65536 bytes", "words of g++"),
            quoted("LLVM ERROR: out of memory", "words of clang"),
        ),
    ),
    Signature(
        id="header_missing",
        family="G",
        phase="cpp_compile",
        category="toolchain",
        weight=70,
        anchors=("fatal error: ",),
        patterns=(
            (
                r"fatal error: '?(?P<header>(?!\S{0,60}(?:Python\.h|omp\.h"
                r"|cuda\w*\.h))[\w./+-]{1,200})'?:? (?:No such file or directory|file not found)"
            ),
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
            recorded(
                "/tmp/v/dev/lib/python3.11/site-packages/torch/include/torch/csrc/inductor/"
                "aoti_include/common.h:4:10: fatal error: array: No such file or directory",
                "torch 2.13.0, CPU",
            ),
        ),
        apart_from=("cuda_header_missing", "compiler_killed"),
    ),
    Signature(
        id="openmp_header_missing",
        family="G",
        phase="cpp_compile",
        category="toolchain",
        weight=86,
        confidence="proved",
        anchors=(
            "omp.h",
            "OpenMP support not found",
            "library 'omp'",
            "cannot find -lomp",
            "cannot find -lgomp",
        ),
        patterns=(
            (
                r"fatal error: '?\S{0,60}\bomp\.h'?:? (?:No such file|file not found)|OpenMP "
                "support not found|library 'omp' not found|library not found for -lomp|cannot "
                r"find -lg?omp\b"
            ),
        ),
        summary="OpenMP is missing",
        means=(
            "Inductor's CPU code uses OpenMP; Apple's clang and some clang installations come "
            "without it."
        ),
        fixes=(
            fix(
                "macOS: brew install libomp and set OMP_PREFIX; Linux with clang: install "
                "libomp-dev; or set CXX to g++"
            ),
        ),
        guide="guides/toolchain.md#missing-headers",
        next_tool="check_environment",
        references=("pytorch/torchchat#509",),
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
        ),
    ),
    Signature(
        id="python_header_missing",
        family="G",
        phase="triton_compile",
        category="toolchain",
        weight=86,
        confidence="proved",
        anchors=("Python.h",),
        patterns=(r"fatal error: '?Python\.h'?:? (?:No such file|file not found)",),
        summary="The Python development headers are missing",
        means="Triton builds a small launcher in C and Inductor's own C++ may need them too.",
        fixes=(
            fix(
                "apt-get install python3-dev (of the interpreter's version), or use a conda or uv "
                "Python, which brings them"
            ),
        ),
        guide="guides/toolchain.md#missing-headers",
        next_tool="check_environment",
        references=("pytorch/torchchat#1293",),
        matches=(
            recorded(
                "p.cpp:1:10: fatal error: Python.h: No such file or directory",
                "g++ 12 on a file of ours",
            ),
        ),
    ),
    Signature(
        id="link_library_missing",
        family="G",
        phase="cpp_compile",
        category="toolchain",
        weight=82,
        confidence="proved",
        anchors=("cannot find -l", "library not found for -l"),
        patterns=(
            r"(?:cannot find|library not found for) -l(?P<library>(?!g?omp\b)[\w.+:-]{1,60})",
        ),
        summary="The linker does not find lib{library}",
        means=(
            "For cuda: the driver's stub or libcuda.so is not where the linker looks; for c10 or "
            "torch: a broken installation or LIBRARY_PATH."
        ),
        fixes=(
            fix(
                "For -lcuda put the toolkit's stubs directory into LIBRARY_PATH, or install the "
                "driver library"
            ),
            fix("Otherwise install the library's development package"),
        ),
        guide="guides/toolchain.md#linker-errors",
        next_tool="check_environment",
        matches=(
            recorded(
                "/usr/bin/ld: cannot find -lnope: No such file or directory",
                "torch 2.13.0, CPU, a library added by us",
            ),
            quoted("ld: library not found for -lcuda", "words of lld"),
        ),
        apart_from=("openmp_header_missing",),
    ),
    Signature(
        id="disk_unusable",
        family="G",
        phase="lower",
        category="toolchain",
        weight=74,
        anchors=(
            "No space left on device",
            "Disk quota exceeded",
            "Permission denied: '",
            "Read-only file system",
        ),
        patterns=(
            "(?P<what>No space left on device|Disk quota exceeded)",
            (
                r"(?:PermissionError|OSError): \[Errno \d+\] (?P<what>(?:Permission denied"
                r"|Read-only file system): '[^']{0,300}(?:torchinductor_|\.triton"
                "|inductor)[^']{0,300}')"
            ),
            r"OSError: \[Errno 30\] (?P<what>Read-only file system: '[^']{1,300}')",
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
                "Free space, or set the three variables to directories that you own, on a larger "
                "disk"
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
        ),
        neighbours=(
            quoted(
                "PermissionError: [Errno 13] Permission denied: '/etc/shadow'", "another failure"
            ),
        ),
    ),
)
