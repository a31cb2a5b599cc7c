"""Unpacking a package and opening its library."""

from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURES = (
    Signature(
        id="create_call_failed",
        family="E",
        phase="load",
        category="package_incompatible",
        weight=38,
        confidence="possible",
        anchors=("create_func_(",),
        patterns=(r"create_func_\(.{0,400}API call failed at \S{0,300}model_container_runner",),
        summary="The model could not be created; the reason is the `Error:` line on stderr",
        means=(
            "Only an envelope: wrong device type (`CUDA error: invalid argument` means a CPU "
            "library in the CUDA runner), out of memory, damaged weights."
        ),
        check="Read stderr above this line, and the package's device.",
        guide="guides/debugging-tools.md#api-call-failed",
        next_tool="inspect_package",
        references=("pytorch/torchchat#709",),
        matches=(
            quoted(
                "  what():  create_func_( &container_handle_, num_models, device_str.c_str(), "
                "cubin_dir.empty() ? nullptr : cubin_dir.c_str()) API call failed at "
                "../torch/csrc/inductor/aoti_runner/model_container_runner.cpp, line 49",
                "pytorch/torchchat#709",
            ),
        ),
    ),
    Signature(
        id="dlopen_failed",
        family="E",
        phase="load",
        category="package_incompatible",
        role="symptom",
        anchors=("Error in dlopen",),
        patterns=(r"Error in dlopen(?: or dlsym| for library \S{1,200})?: (?P<why>.{1,240})",),
        summary="The compiled library could not be opened: {why}",
        means=(
            "The dynamic loader's own words follow; the part after the last colon is the reason."
        ),
        check="LD_DEBUG=libs on the same load; ldd -r on the .so.",
        guide="guides/package-and-load.md#damaged-or-missing-library",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model/"
                "cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: invalid ELF "
                "header",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: Error in dlopen or dlsym: /lib/x86_64-linux-gnu/libm.so.6: "
                "undefined symbol: AOTInductorModelContainerCreateWithDevice",
                "torch 2.13.0, CPU",
            ),
        ),
    ),
    Signature(
        id="library_damaged",
        family="E",
        phase="load",
        category="package_corrupt",
        weight=82,
        confidence="proved",
        anchors=(
            "invalid ELF header",
            "file too short",
            "wrong ELF class",
            "ELF file data encoding",
            "ELF load command",
        ),
        patterns=(
            (
                r"(?:dlopen|\.so(?:\.\d{1,9}){0,4}): .{0,300}?(?P<why>invalid ELF header|file too "
                "short|wrong ELF class|ELF file data encoding not (?:little|big)-endian|ELF load "
                "command .{1,60})"
            ),
        ),
        summary="The compiled library is no library for this machine: {why}",
        means="The .so in the package is damaged, empty or made for another architecture.",
        check="file FILE.so; compare checksums.",
        fixes=(fix("Copy or compile the package again, on the architecture that runs it"),),
        guide="guides/package-and-load.md#damaged-or-missing-library",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model/"
                "cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: invalid ELF "
                "header",
                "torch 2.13.0, CPU",
            ),
            quoted("OSError: /app/model.so: file too short", "words of the dynamic loader"),
            quoted(
                "Error in dlopen: /app/model.so: wrong ELF class: ELFCLASS64",
                "words of the dynamic loader",
            ),
            quoted(
                "Error in dlopen: /app/model.so: ELF file data encoding not little-endian",
                "words of the dynamic loader",
            ),
            quoted(
                "Error in dlopen: /app/model.so: ELF load command past end of file",
                "words of the dynamic loader",
            ),
        ),
        neighbours=(
            recorded(
                "RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model/"
                "cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: undefined "
                "symbol: aoti_torch_cpu_addmm_out",
                "torch 2.13.0, CPU",
            ),
        ),
    ),
    Signature(
        id="shared_library_not_found",
        family="E",
        phase="load",
        category="package_incompatible",
        weight=76,
        anchors=("cannot open shared object file",),
        patterns=(
            (
                r"Error in dlopen.{0,300}?(?P<library>[\w.{1,300}-]{1,80}\.so(?:\.\d{1,9}){0,"
                r"4}): cannot "
                "open shared object file: No such file or directory"
            ),
        ),
        summary="{library} is not found on this machine",
        means=(
            "The package (or its own .so) needs a library that the loader does not find: another "
            "CUDA version, a custom-op library, or a path that does not exist."
        ),
        mistaken_for="A damaged package.",
        check="ldd on the package's .so; the CUDA version of torch on both sides.",
        fixes=(
            fix(
                "Install {library}, or put its directory into LD_LIBRARY_PATH before the process "
                "starts"
            ),
            fix("Load custom-op libraries first: torch.ops.load_library(...)"),
        ),
        guide="guides/package-and-load.md#system-library-too-old",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: Error in dlopen: libfoo.so: cannot open shared object file: No "
                "such file or directory",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: Error in dlopen: /tmp/e1/none.so: cannot open shared object file: "
                "No such file or directory",
                "torch 2.13.0, CPU",
            ),
        ),
        neighbours=(
            recorded(
                "RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model/"
                "cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: undefined "
                "symbol: cuModuleLoad",
                "torch 2.13.0, CPU",
            ),
        ),
    ),
    Signature(
        id="extraction_failed",
        family="E",
        phase="load",
        category="toolchain",
        weight=76,
        anchors=(
            "Failed to extract zip file ",
            "Error generating temporary directory",
            "Failed to create directory ",
        ),
        patterns=(
            (
                r"(?P<why>Failed to extract zip file \S{1,300} to destination file .{0,400}mz_zip "
                "error string: .{1,60})"
            ),
            (
                "(?P<why>Error generating temporary directory: .{1,80}|Failed to create directory "
                r"\S{1,200})"
            ),
        ),
        summary="The package could not be unpacked: {why}",
        means=(
            "TMPDIR (default /tmp) is missing, read-only or full (`write callback failed`); only "
            "a checksum or decompression error means a damaged archive."
        ),
        check="df -h of TMPDIR (default /tmp); unzip -t of the package.",
        fixes=(
            fix(
                "Free space, or point TMPDIR to an existing, writable directory that allows "
                "executing"
            ),
            fix("For a checksum error copy the package again"),
        ),
        guide="guides/package-and-load.md#extraction-directory",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: Failed to extract zip file u/data/aotinductor/model/"
                "ckba63nctf2gkme62hhxsqhctl2jq66lkycifm4wai25opjc7mjt.wrapper.cpp to destination "
                "file /tmp/e1/small/aotinductor_uYDaKh/u/data/aotinductor/model/"
                "ckba63nctf2gkme62hhxsqhctl2jq66lkycifm4wai25opjc7mjt.wrapper.cpp, mz_zip error "
                "string: write callback failed",
                "torch 2.13.0, CPU, full TMPDIR",
            ),
            recorded(
                "RuntimeError: Error generating temporary directory: No such file or directory",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "RuntimeError: Failed to create directory /tmp/aotinductor_XXXXXX/data: No space "
                "left on device",
                "words of the package loader",
            ),
        ),
        apart_from=("printer_failed",),
    ),
    Signature(
        id="noexec_temporary_directory",
        family="E",
        phase="load",
        category="toolchain",
        weight=82,
        anchors=("failed to map segment from shared object",),
        patterns=("failed to map segment from shared object",),
        summary=(
            "The unpacked library may not be executed: the temporary directory is mounted noexec"
        ),
        means=(
            "The loader unpacks into TMPDIR (default /tmp) and maps the library from there; a "
            "noexec mount or a security policy forbids it."
        ),
        mistaken_for="A damaged package.",
        check="findmnt -T /tmp",
        fixes=(fix("Set TMPDIR to a directory on a mount that allows executing"),),
        guide="guides/package-and-load.md#extraction-directory",
        next_tool="check_environment",
        matches=(
            recorded(
                "/tmp/e1/noexec/aotinductor_Ds6pCV/u/data/aotinductor/model/"
                "ckba63nctf2gkme62hhxsqhctl2jq66lkycifm4wai25opjc7mjt.wrapper.so: failed to map "
                "segment from shared object",
                "torch 2.13.0, CPU, TMPDIR on a noexec mount",
            ),
        ),
    ),
    Signature(
        id="codecache_attribute",
        family="E",
        phase="load",
        category="package_incompatible",
        weight=84,
        confidence="proved",
        anchors=("has no attribute 'codecache'",),
        patterns=(r"module 'torch\._inductor' has no attribute 'codecache'",),
        summary="torch 2.10 forgets to import a module that its loader uses",
        means="A bug of 2.10.0: loading a package as the first thing in a process fails.",
        fixes=(
            fix(
                "import torch._inductor.codecache before aoti_load_package, or use another release"
            ),
        ),
        guide="guides/package-and-load.md#attributeerror-on-load",
        since="2.10",
        until="2.10",
        matches=(
            quoted(
                "AttributeError: module 'torch._inductor' has no attribute 'codecache'",
                "torch 2.10.0, aoti_load_package",
            ),
        ),
        neighbours=(
            quoted(
                "AttributeError: module 'torch._inductor' has no attribute 'package'",
                "another failure",
            ),
        ),
    ),
    Signature(
        id="made_on_another_machine",
        family="H",
        phase="load",
        category="package_incompatible",
        role="symptom",
        weight=58,
        confidence="possible",
        anchors=("Device information mismatch for ",),
        patterns=(
            (
                "Device information mismatch for (?P<key>AOTI_(?:PLATFORM|MACHINE|CPU_ISA)): "
                r"(?P<here>.{0,80}?) vs (?P<package>.{0,80}?)\. This could"
            ),
        ),
        summary="{key} is `{here}` here and `{package}` in the package",
        means=(
            "A warning. Another platform or machine will not load; another instruction set loads "
            "and may die by SIGILL when this CPU has less."
        ),
        mistaken_for=(
            "The reason of a failure that follows: a CPU with more instructions runs it well."
        ),
        fixes=(
            fix(
                "Compile on the machine kind that serves, or for a smaller set: "
                "torch._inductor.config.cpp.simdlen = 256"
            ),
        ),
        guide="guides/package-and-load.md#made-on-another-machine",
        next_tool="inspect_package",
        since="2.10",
        matches=(
            recorded(
                "torch/export/pt2_archive/_package.py:1059] Device information mismatch for "
                "AOTI_CPU_ISA: AVX512 AVX512_VNNI vs AVX9000. This could",
                "torch 2.13.0, CPU",
            ),
        ),
        apart_from=("capability_mismatch",),
    ),
    Signature(
        id="server_counts_call_spec",
        family="A",
        phase="load",
        category="package_incompatible",
        weight=70,
        anchors=("inputs, but model expects ",),
        patterns=(
            (
                r"configuration expects (?P<given>\d{1,20}) inputs?, but model expects "
                r"(?P<expected>\d{1,20}) inputs?"
            ),
        ),
        summary="The server wants {expected} inputs, the configuration names {given}",
        means=(
            "The Triton server's PyTorch backend took the two strings of get_call_spec() (inputs "
            "and outputs) for a list of inputs, so it sees 2 whatever the model takes."
        ),
        mistaken_for="A wrong model configuration.",
        check="Load the package with aoti_load_package and call it in Python.",
        fixes=(fix("Use a server whose backend parses the call spec"),),
        guide="guides/other-platforms.md#other-runtimes",
        next_tool="inspect_package",
        references=("triton-inference-server/pytorch_backend#185",),
        matches=(
            quoted(
                'Failed to load model "my_model_0" configuration expects 1 inputs, but model '
                "expects 2 inputs.",
                "triton-inference-server/pytorch_backend#185",
            ),
        ),
    ),
    Signature(
        id="environment_library_missing",
        family="E",
        phase="environment",
        category="toolchain",
        weight=72,
        anchors=(
            "cannot open shared object file",
            "Error loading shared library ",
            "Could not load library lib",
            "Could not load library cu",
            "Unable to load any of {lib",
            "cannot load nvrtc",
        ),
        patterns=(
            (
                "^(?!.{0,400}(?:Could not load dynamic library|Failed to load image|Warning: "
                r")).{0,1000}?(?P<library>(?<![\w.{1,300}-])(?!libcuda\.so"
                r"|libnvidia-ml\.so)[\w.{1,300}-]{1,80}\.so(?:\.\w{1,20}){0,4}): cannot open "
                r"shared "
                "object file: "
            ),
            r"Error loading shared library (?P<library>[\w./+-]{1,120}): ",
            (
                "(?:Could not load library |Unable to load any of "
                r"\{)(?P<library>(?:lib)?cu\w{1,60}[\w.]{0,20})"
            ),
        ),
        summary="A shared library of the environment is not found: {library}",
        means=(
            "The loader finds no such file: torch or a tool was built for another CUDA, Python or "
            "system, the library is not installed, or its directory is not searched. A C++ "
            "program needs libtorch's lib directory."
        ),
        mistaken_for="A damaged package or model.",
        check="ldd on the file that needs it; LD_DEBUG=libs shows where the loader looks.",
        fixes=(
            fix(
                "Install the library in the version asked for, or put its directory into "
                "LD_LIBRARY_PATH before the process starts"
            ),
            fix("For a C++ program link with the rpath of libtorch/lib"),
        ),
        guide="guides/package-and-load.md#system-library-too-old",
        next_tool="check_environment",
        matches=(
            recorded(
                "OSError: libnone.so.1: cannot open shared object file: No such file or directory",
                "CPython 3.11 ctypes on Debian 12",
            ),
            quoted(
                "./app: error while loading shared libraries: libc10.so: cannot open shared "
                "object file: No such file or directory",
                "words of the dynamic loader",
            ),
            quoted(
                "Error loading shared library ld-linux-x86-64.so.2: No such file or directory "
                "(needed by /app/libtorch.so)",
                "words of musl's loader",
            ),
            quoted(
                "Could not load library libcudnn_ops_infer.so.8. Error: libnvrtc.so: cannot open "
                "shared object file",
                "words of cuDNN",
            ),
            quoted(
                "Unable to load any of {libcudnn_cnn.so.9.1.0, libcudnn_cnn.so.9.1, "
                "libcudnn_cnn.so.9, libcudnn_cnn.so}",
                "words of cuDNN 9",
            ),
        ),
        neighbours=(
            quoted(
                "W tensorflow/stream_executor/dso_loader.cc:64] Could not load dynamic library "
                "'libnvinfer.so.7'; dlerror: libnvinfer.so.7: cannot open shared object file: No "
                "such file or directory",
                "a harmless note of TensorFlow",
            ),
        ),
        apart_from=("driver_library_missing",),
    ),
    Signature(
        id="loader_refused_library",
        family="E",
        phase="load",
        category="package_incompatible",
        weight=62,
        anchors=(
            "cannot dynamically load ",
            "cannot read file data",
            "ELF file OS ABI invalid",
            "ELF file ABI version invalid",
            "ELF file version",
            "phentsize not the expected size",
            "ET_DYN and ET_EXEC",
            "object file has no dynamic section",
            "cannot enable executable stack",
            "CPU ISA level is lower than required",
            "unexpected reloc type",
            "unexpected PLT reloc type",
            "unsupported version ",
            "invalid mode for dlopen",
            "Inconsistency detected by ld.so",
            "object file has no loadable segments",
            "cannot handle TLS data",
            "ELF load command alignment not page-aligned",
        ),
        patterns=(
            (
                "(?P<why>cannot dynamically load (?:position-independent )?executable|cannot read "
                "file data: .{1,60}|ELF file (?:OS ABI invalid|ABI version invalid|version "
                "(?:ident )?does not match|'s phentsize).{0,40}|phentsize not the expected "
                "size|only ET_DYN and ET_EXEC can be loaded|object file has no (?:dynamic "
                "section|loadable segments)|cannot enable executable stack.{0,60}|CPU ISA level "
                r"is lower than required|unexpected (?:PLT )?reloc type 0x\w{1,8}|unsupported "
                r"version \S{1,20} of Ver\w{1,10} record|invalid mode for dlopen|Inconsistency "
                r"detected by ld\.so: \S{1,60}|cannot handle TLS data|ELF load command alignment "
                "not page-aligned)"
            ),
        ),
        summary="The dynamic loader refuses the library: {why}",
        means=(
            "The file is there, but it is no library for this system: another kind of file, "
            "another CPU level, page size or C library, or one that asks for rights (an "
            "executable stack) that the system does not give."
        ),
        check="file and readelf -h -l on the library; compile machine and this machine compared.",
        fixes=(
            fix("Compile the package on the kind of system that loads it, or in the same image"),
        ),
        guide="guides/package-and-load.md#damaged-or-missing-library",
        next_tool="inspect_package",
        matches=(
            recorded(
                "OSError: /bin/true: cannot dynamically load position-independent executable",
                "CPython 3.11 ctypes on Debian 12",
            ),
            recorded(
                "OSError: /tmp/syn: cannot read file data: Is a directory",
                "CPython 3.11 ctypes on Debian 12",
            ),
            quoted(
                "OSError: libfoo.so: cannot enable executable stack as shared object requires: "
                "Invalid argument",
                "words of glibc 2.41",
            ),
            quoted(
                "/lib64/libc.so.6: CPU ISA level is lower than required",
                "words of the dynamic loader",
            ),
            quoted(
                "Inconsistency detected by ld.so: dl-version.c: 205: _dl_check_map_versions: "
                "Assertion `needed != NULL' failed!",
                "words of the dynamic loader",
            ),
        ),
        apart_from=("library_damaged",),
    ),
    Signature(
        id="loader_memory_rights",
        family="E",
        phase="load",
        category="toolchain",
        weight=72,
        anchors=(
            "in static TLS block",
            "cannot restore segment prot after reloc",
            "cannot apply additional memory protection",
            "cannot change memory protections",
            "cannot make segment writable for relocation",
            "cannot allocate memory for thread-local data",
            "cannot create shared object descriptor",
        ),
        patterns=(
            (
                "(?P<why>cannot allocate memory in static TLS block|cannot restore segment prot "
                "after reloc|cannot apply additional memory protection|cannot change memory "
                "protections|cannot make segment writable for relocation|cannot allocate memory "
                "for thread-local data|cannot create shared object descriptor)"
            ),
        ),
        summary="The process has no room or no right to load the library: {why}",
        means=(
            "The fixed block for thread-local data is used up by libraries loaded before (OpenMP, "
            "torch, OpenCV on aarch64), or a security policy forbids changing memory rights."
        ),
        mistaken_for="A damaged library.",
        check="For TLS: is the library loaded late, after many others?",
        fixes=(
            fix(
                "For TLS: import torch first, or LD_PRELOAD the library named, or raise "
                "GLIBC_TUNABLES=glibc.rtld.optional_static_tls"
            ),
            fix("For rights: look at the audit log of SELinux or the container's security profile"),
        ),
        guide="guides/package-and-load.md#extraction-directory",
        next_tool="check_environment",
        matches=(
            quoted(
                "ImportError: /usr/lib/aarch64-linux-gnu/libgomp.so.1: cannot allocate memory in "
                "static TLS block",
                "words of the dynamic loader",
            ),
            quoted(
                "OSError: libfoo.so: cannot restore segment prot after reloc: Permission denied",
                "words of the dynamic loader",
            ),
        ),
    ),
    Signature(
        id="macos_library_refused",
        family="Q",
        phase="load",
        category="package_incompatible",
        weight=68,
        anchors=(
            "Library not loaded: ",
            "incompatible architecture (have ",
            "mach-o",
            "code signature in",
            "library load disallowed by system policy",
            "no suitable image found",
            "library load denied by system policy",
        ),
        patterns=(
            (
                r"(?P<why>Library not loaded: \S{1,200}|incompatible architecture \(have "
                ".{1,60}|mach-o, but wrong architecture|not a mach-o file|slice is not valid "
                "mach-o file|code signature in .{1,200}? (?:invalid|not valid).{0,60}|library "
                "load (?:disallowed|denied) by system policy|no suitable image found)"
            ),
        ),
        summary="macOS does not load the library: {why}",
        means=(
            "A library it needs is not where its install name says (often libomp or libc10), it "
            "was built for the other architecture (arm64 or x86_64), or its signature is not "
            "accepted."
        ),
        check=(
            "otool -L and lipo -archs on the library; python -c 'import platform; "
            "print(platform.machine())'."
        ),
        fixes=(
            fix("brew install libomp for a missing libomp.dylib"),
            fix("Compile with a Python of the machine's own architecture, not under Rosetta"),
        ),
        guide="guides/other-platforms.md#macos-and-mps",
        next_tool="check_environment",
        matches=(
            quoted(
                "ImportError: dlopen(/opt/venv/torch/_C.so, 0x0002): Library not loaded: "
                "@rpath/libomp.dylib",
                "words of dyld",
            ),
            quoted(
                "OSError: dlopen(m.so, 0x0006): tried: 'm.so' (mach-o file, but is an "
                "incompatible architecture (have 'x86_64', need 'arm64'))",
                "words of dyld",
            ),
        ),
    ),
    Signature(
        id="windows_dll_not_loaded",
        family="Q",
        phase="environment",
        category="toolchain",
        weight=66,
        anchors=(
            "[WinError 126]",
            "[WinError 1114]",
            "[WinError 998]",
            "[WinError 193]",
            "DLL load failed",
            "error in LoadLibrary for ",
            "WinError 126",
            "-1073741515",
            "0xC0000135",
            "0xc0000135",
            "3221225781",
            "was not found. Reinstalling the program may fix this",
            "[WinError 182]",
            "[WinError 1157]",
        ),
        patterns=(
            (
                r"(?P<why>\[WinError (?:126|1114|998|193|182|1157)\].{0,200}|DLL load "
                "failed.{0,160}|error in LoadLibrary for .{0,200})"
            ),
            (
                r"(?P<why>0x[cC]0000135|-1073741515|3221225781|\S{1,60}\.dll was not found\. "
                "Reinstalling the program may fix this)"
            ),
        ),
        summary="Windows does not load a library: {why}",
        means=(
            "A DLL that it needs is missing or of another kind: the Visual C++ runtime, CUDA or "
            "OpenMP DLLs, or a 32-bit or Linux file (193). 1114 means that its start-up code "
            "failed."
        ),
        mistaken_for="The named file itself being missing: it is mostly one of those it needs.",
        check="dumpbin /dependents on the file, or the tool Dependencies.",
        fixes=(
            fix(
                "Install the latest Visual C++ redistributable (x64); add the directories of "
                r"CUDA and torch\lib with os.add_dll_directory"
            ),
            fix(
                "Install a torch build that fits this Python, CUDA and driver; compile the "
                "package on Windows itself"
            ),
        ),
        guide="guides/other-platforms.md#windows",
        next_tool="check_environment",
        matches=(
            quoted(
                "OSError: [WinError 126] The specified module could not be found. Error loading "
                r'"C:\venv\torch\lib\c10.dll" or one of its dependencies.',
                "words of torch/__init__.py",
            ),
            quoted(
                "ImportError: DLL load failed while importing _C: The specified module could not "
                "be found.",
                "words of Python",
            ),
            quoted(
                "error in LoadLibrary for model.wrapper.pyd. WinError 126: The specified module "
                "could not be found.",
                "words of ATen/DynamicLibrary.cpp",
            ),
            quoted(
                "OSError: [WinError 193] %1 is not a valid Win32 application",
                "words of Windows",
            ),
            quoted("Process finished with exit code -1073741515 (0xC0000135)", "words of an IDE"),
        ),
    ),
    Signature(
        id="driver_library_missing",
        family="G",
        phase="environment",
        category="device_unavailable",
        weight=78,
        anchors=(
            "libcuda.so.1: cannot open shared object",
            "libcuda.so: cannot open shared object",
            "libnvidia-ml.so.1: cannot open shared object",
            "libcuda.so.1: file not recognized",
        ),
        patterns=(
            r"(?P<library>libcuda\.so(?:\.1)?|libnvidia-ml\.so\.1): cannot open shared object",
        ),
        summary="The NVIDIA driver's library {library} is not on this machine",
        means=(
            "The driver brings it, not torch and not the toolkit: no driver is installed, or the "
            "container runs without GPU access."
        ),
        check="nvidia-smi in the same environment; ldconfig -p | grep libcuda.",
        fixes=(fix("Install the driver, or start the container with GPU access (--gpus all)"),),
        guide="guides/inputs-and-devices.md#no-gpu-visible",
        next_tool="check_environment",
        matches=(
            quoted(
                "ImportError: libcuda.so.1: cannot open shared object file: No such file or "
                "directory",
                "words of the dynamic loader",
            ),
        ),
    ),
    Signature(
        id="library_lacks_function",
        family="E",
        phase="load",
        category="package_incompatible",
        weight=76,
        anchors=(
            "in .so! ",
            "consider rebuild your model with the latest AOTInductor",
            "Consider rebuild your model with the latest AOTInductor",
            "consider rebuilding your model with the latest AOTInductor",
        ),
        patterns=(r"No (?P<what>\w{1,80})(?: function)? in \.so!",),
        summary="The package's library has no {what}",
        means=(
            "It was compiled by an older torch than the one that loads it, which offers more: "
            "single-threaded runs, freeing the inactive constants, updates from the CPU."
        ),
        fixes=(
            fix("Compile the package again with the torch that loads it, or leave that option out"),
        ),
        guide="guides/package-and-load.md#torch-versions-of-both-sides",
        next_tool="inspect_package",
        matches=(
            quoted(
                "RuntimeError: No AOTInductorModelContainerRunSingleThreaded function in .so! To "
                "use AOTInductor-compiled model in the single-threaded mode,consider rebuild "
                "your model with the latest AOTInductor.",
                "text of libtorch_cpu.so 2.13",
            ),
            quoted(
                "RuntimeError: No update_constant_buffer_from_cpu in .so! Consider rebuild your "
                "model with the latest AOTInductor.",
                "text of libtorch_cpu.so 2.13",
            ),
        ),
    ),
    Signature(
        id="two_copies_of_a_library",
        family="F",
        phase="environment",
        category="toolchain",
        weight=72,
        anchors=(
            "Tried to register multiple backend fallbacks",
            "CommandLine Error: Option '",
            "inconsistency in registered CommandLine options",
            "File already exists in database: ",
            "GeneratedDatabase()->Add",
            "Protocol Buffer runtime library",
            "Descriptors cannot be created directly",
            "Descriptors cannot not be created directly",
            "[libprotobuf FATAL",
            "is already registered!",
            "numpy.dtype size changed",
            "A module that was compiled using NumPy",
            "compiled against API version",
            "compiled against ABI version",
            "INTEL MKL ERROR: ",
            "Intel MKL FATAL ERROR",
        ),
        patterns=(
            (
                "(?P<what>Tried to register multiple backend fallbacks for the same dispatch key "
                r"\w{1,40}|CommandLine Error: Option '[^']{1,60}' registered more than "
                "once|inconsistency in registered CommandLine options|File already exists in "
                r"database: \S{1,100}|GeneratedDatabase\(\)->Add|version \S{1,20} of the Protocol "
                "Buffer runtime library|Descriptors cannot (?:not )?be created "
                r"directly|\[libprotobuf FATAL|generic_type: type \S{1,80} is already "
                r"registered!|numpy\.dtype size changed|A module that was compiled using NumPy "
                r"1\.x|compiled against A[PB]I version 0x\w{1,8}|INTEL MKL ERROR: .{0,80}|Intel "
                "MKL FATAL ERROR.{0,80})"
            ),
        ),
        summary="Two libraries or two versions that do not fit met in this process: {what}",
        means=(
            "Two copies of torch, LLVM or protobuf (one of them inside another library), or "
            "extensions built against another NumPy or MKL, are loaded together."
        ),
        mistaken_for="A fault of the model.",
        check="LD_DEBUG=libs, or /proc/PID/maps: which library is mapped from two places?",
        fixes=(
            fix(
                "Load one copy only: one torch per process, and extensions built against exactly it"
            ),
            fix("Pin or rebuild what was compiled against another version"),
        ),
        guide="guides/package-and-load.md#two-runtimes-in-one-process",
        next_tool="check_environment",
        matches=(
            quoted(
                "  what():  Tried to register multiple backend fallbacks for the same dispatch "
                "key Conjugate",
                "bytedeco/javacpp-presets, a program with two libtorch",
            ),
            quoted(
                "[libprotobuf ERROR google/protobuf/descriptor_database.cc:58] File already "
                "exists in database: caffe2.proto",
                "words of protobuf",
            ),
            quoted(
                ": CommandLine Error: Option 'use-dereferenceable-at-point-semantics' registered "
                "more than once!",
                "words of LLVM",
            ),
            quoted(
                "This program was compiled against version 3.9.2 of the Protocol Buffer runtime "
                "library",
                "words of protobuf",
            ),
        ),
    ),
)
