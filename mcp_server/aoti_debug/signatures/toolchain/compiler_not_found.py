from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="compiler_not_found",
    family="G",
    phase="cpp_compile",
    category="toolchain",
    weight=84,
    anchors=(
        "RuntimeError: Compiler: ",
        "Failed to find C compiler",
        "[WinError 2] ",
        "ommand not found",
        ": not found",
        "No such file or directory: '",
        "is not recognized as an internal or external command",
        "Microsoft Visual C++ 14.0 or greater is required",
        "vcvarsall.bat",
        "invalid active developer path",
        "unable to execute '",
        "cannot execute 'cc1plus'",
        "cannot execute ‘",
        "error trying to exec 'cc1",
        "cannot find 'ld'",
        "cannot find ‘ld’",
        "invalid linker name in argument",
        "No CMAKE_CXX_COMPILER could be found",
        "MSVC is required to load",
        "Please use clang-cl",
        "Please use icx-cl",
        "Cannot determine the flavor of ",
        "only support MSVC with English language",
    ),
    patterns=(
        (
            r"(?P<what>(?<!Cxx)Compiler: \S{1,80} is not found|Failed to find C "
            r"compiler|Microsoft Visual C\+\+ 14\.0 or greater is required|Unable to find "
            r"vcvarsall\.bat|invalid active developer path|MSVC is required to load C\+\+ "
            "extensions|Please use (?:clang|icx)-cl|Cannot determine the flavor of "
            ".{1,60}|only support MSVC with English language|No CMAKE_CXX_COMPILER could be "
            "found)"
        ),
        (
            r"(?:\bsh|bash|zsh|make(?:\[\d\])?|: \d{1,5}|line \d{1,5}): "
            r"(?P<what>(?:\S{0,80}/)?(?:g\+\+|gcc|c\+\+|cc|clang\+\+|clang|cl|ld|ld\.lld|as"
            r"|make|cmake|ninja)(?:-\d{1,2})?: (?:[Cc]ommand )?not found)"
        ),
        r"FileNotFoundError: (?P<what>\[WinError 2\]) [^:']{1,80}$",
        (
            "No such file or directory: "
            r"'(?P<what>(?:\S{0,120}/)?(?:g\+\+|gcc|c\+\+|cc|clang\+\+|clang|cl|icpx|icx|ld"
            r"|cmake|make|ninja)(?:-\d{1,2})?)'"
        ),
        (
            r"'(?P<what>(?:cl|clang-cl|icx|g\+\+|gcc|cmake|ninja|nvcc)(?:\.exe)?)' is not "
            "recognized as an internal or external command"
        ),
        "unable to execute '(?P<what>[^']{1,80})'",
        (
            r"(?P<what>cannot execute ['‘][\w.{1,300}-]{1,40}['’]|error trying to exec "
            r"'cc1\w{0,10}'|cannot find ['‘]ld\S{0,10}['’]|invalid linker name in argument "
            r"\S{1,60})"
        ),
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
            "Install g++ (build-essential), on macOS the command line tools (xcode-select "
            "--install), on Windows the Visual Studio build tools with the English language "
            "pack"
        ),
        fix(
            "Set CXX (and CC for Triton) to a compiler that runs; on Windows start from the "
            "x64 developer prompt"
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
        quoted(
            "RuntimeError: Failed to find C compiler. Please specify via CC environment "
            "variable or set triton.knobs.build.impl.",
            "words of triton/runtime/build.py",
        ),
        quoted("/bin/sh: 1: g++: not found", "words of sh"),
        quoted("bash: clang++: command not found", "words of bash"),
        quoted(
            "FileNotFoundError: [WinError 2] The system cannot find the file specified",
            "words of Python, starting a program",
        ),
        quoted(
            "FileNotFoundError: [Errno 2] No such file or directory: 'g++'",
            "words of Python",
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
            "RuntimeError: Torch.compile() is only support MSVC with English language "
            "pack,Please reinstall its language pack to English.",
            "words of torch/_inductor/cpp_builder.py",
        ),
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
)
