from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="compiler_probe_failed",
    family="G",
    phase="cpp_compile",
    category="toolchain",
    weight=47,
    anchors=(
        'cpp_builder.py", line ',
        'cpu_vec_isa.py", line ',
        'triton/runtime/build.py", line ',
        r'triton\runtime\build.py", line ',
        "UnicodeDecodeError: 'utf-8' codec",
        "UnicodeDecodeError: 'gbk' codec",
        "UnicodeDecodeError: 'cp932' codec",
        "libcuda_dirs",
        "Error building extension '",
        "Error compiling objects for extension",
    ),
    patterns=(
        (
            r"cpp_builder\.py\", line \d{1,20}, in "
            "(?P<what>check_compiler_exist_windows|_is_msvc_cl|check_msvc_cl_language_id"
            "|check_mingw_win32_flavor|get_compiler_version_info|get_cpp_compiler"
            "|cpp_compiler_search|_is_gcc|_is_clang|_is_apple_clang|_is_intel_compiler"
            "|is_gcc|is_clang|_get_openmp_args|homebrew_libomp|_get_python_related_args"
            r"|get_name_and_dir_from_output_file_path|_ensure_mingw_cudart_import_lib)\b"
        ),
        r"cpu_vec_isa\.py\", line \d{1,20}, in (?P<what>\w{1,60})",
        (
            r"triton[/\\]runtime[/\\]build\.py\", line \d{1,20}, in "
            "(?P<what>_build|_cc_cmd|get_cc|compile_module_from_src)"
        ),
        (
            "(?:InductorError|BackendCompilerFailed|CppCompileError"
            "|InternalTorchDynamoError): (?P<what>UnicodeDecodeError): "
        ),
        r"line \d{1,20}, in (?P<what>libcuda_dirs)",
        (
            "(?:RuntimeError: |error: )(?P<what>Error (?:building extension "
            r"'\S{1,80}'|compiling objects for extension))"
        ),
    ),
    summary="Finding, starting or trying the compiler failed (in {what})",
    means=(
        "The step that failed looks for a compiler, asks for its version or builds a few "
        "lines with it, before any code of the model: the compiler is missing, speaks in a "
        "code page that is not UTF-8, or lacks headers."
    ),
    mistaken_for="A fault of the model or of Inductor.",
    check=(
        "Run the compiler by hand with --version (cl /help on Windows) and read the last line "
        "of the traceback."
    ),
    fixes=(
        fix(
            "Install a working g++ or clang++; on Windows the English language pack of "
            "Visual Studio, or set PYTHONUTF8=1"
        ),
    ),
    guide="guides/toolchain.md#no-compiler",
    next_tool="check_environment",
    matches=(
        quoted(
            '  File "/venv/lib/python3.10/site-packages/torch/_inductor/cpp_builder.py", '
            "line 313, in check_msvc_cl_language_id",
            "form of a traceback",
        ),
        quoted(
            '  File "/venv/lib/python3.10/site-packages/torch/_inductor/cpu_vec_isa.py", '
            "line 28, in _get_isa_dry_compile_fingerprint",
            "form of a traceback",
        ),
        quoted(
            '  File "/venv/lib/python3.10/site-packages/triton/runtime/build.py", line 48, '
            "in _build",
            "form of a traceback",
        ),
        quoted(
            "torch._inductor.exc.InductorError: UnicodeDecodeError: 'utf-8' codec can't "
            "decode byte 0x8e in position 0: invalid start byte",
            "a public thread on Windows",
        ),
        quoted(
            '  File "/venv/lib/python3.10/site-packages/triton/backends/nvidia/driver.py", '
            "line 27, in libcuda_dirs",
            "form of a traceback",
        ),
        recorded(
            "RuntimeError: Error building extension 'q': [1/2] c++ -MMD -MF main.o.d",
            "torch 2.13.0, CPU",
        ),
    ),
    apart_from=("no_cxx_compiler",),
)
