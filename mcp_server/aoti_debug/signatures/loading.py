"""Unpacking a package and opening its library: what it needs from torch, C++ and the system."""

from __future__ import annotations

from aoti_debug.facts.categories import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
    Signature(
        id="codecache_attribute",
        phase="load",
        category="package_incompatible",
        tier=Tier.NAMED_TEXT,
        confidence="proved",
        patterns=(r"module 'torch\._inductor' has no attribute 'codecache'",),
        summary="torch 2.10 forgets to import a module that its loader uses",
        means="A bug of 2.10.0: loading a package as the first thing in a process fails.",
        fixes=(
            fix(
                "import torch._inductor.codecache before aoti_load_package, or use another release",
            ),
        ),
        guide="guides/package-and-load.md#attributeerror-on-load",
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
        id="create_call_failed",
        phase="load",
        category="package_incompatible",
        tier=Tier.VAGUE_TEXT,
        confidence="possible",
        patterns=(r"create_func_\(.{0,400}API call failed at \S{0,300}model_container_runner",),
        summary="The model could not be created; the reason is the `Error:` line on stderr",
        means=(
            "Only an envelope: wrong device type (`CUDA error: invalid argument` means a CPU "
            "library in the CUDA runner), out of memory, damaged weights."
        ),
        check="Read stderr above this line, and the package's device.",
        guide="guides/debugging-tools.md#api-call-failed",
        next_tool="inspect_package",
        matches=(
            quoted(
                "  what():  create_func_( &container_handle_, num_models, device_str.c_str(), cubin_dir.empty() ? nullptr : cubin_dir.c_str()) API call failed at ../torch/csrc/inductor/aoti_runner/model_container_runner.cpp, line 49",
                "pytorch/torchchat#709",
            ),
        ),
    ),
    Signature(
        id="dlopen_failed",
        phase="load",
        category="package_incompatible",
        role="symptom",
        tier=Tier.GENERAL_TEXT,
        patterns=(r"Error in dlopen(?: or dlsym| for library \S{1,200})?: (?P<why>.{1,240})",),
        summary="The compiled library could not be opened: {why}",
        means="The dynamic loader's own words follow; the part after the last colon is the reason.",
        check="LD_DEBUG=libs on the same load; ldd -r on the .so.",
        guide="guides/package-and-load.md#damaged-or-missing-library",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model/cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: invalid ELF header",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: Error in dlopen or dlsym: /lib/x86_64-linux-gnu/libm.so.6: undefined symbol: AOTInductorModelContainerCreateWithDevice",
                "torch 2.13.0, CPU",
            ),
        ),
    ),
    Signature(
        id="driver_library_missing",
        phase="environment",
        category="device_unavailable",
        tier=Tier.EXACT_TEXT,
        patterns=(
            r"(?P<library>libcuda\.so(?:\.1)?|libnvidia-ml\.so\.1): cannot open shared object",
        ),
        summary="CUDA needs the NVIDIA driver's library {library}, which is not on this machine",
        means=(
            "The driver brings it, not torch and not the toolkit: no driver is installed, or the "
            "container runs without GPU access. A package compiled for CUDA loads nowhere else."
        ),
        check="nvidia-smi in the same environment; ldconfig -p | grep libcuda.",
        fixes=(
            fix("Install the driver, or start the container with GPU access (--gpus all)"),
            fix("On a machine without an NVIDIA GPU compile for the CPU"),
        ),
        guide="guides/inputs-and-devices.md#no-gpu-visible",
        next_tool="check_environment",
        matches=(
            quoted(
                "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory",
                "words of the dynamic loader",
            ),
            recorded(
                "RuntimeError: Error in dlopen: libcuda.so.1: cannot open shared object file: No such file or directory",
                "torch 2.13.0+cu130 without a driver, a package compiled for CUDA",
            ),
        ),
    ),
    Signature(
        id="environment_library_missing",
        phase="environment",
        category="toolchain",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            (
                "^(?!.{0,400}(?:Could not load dynamic library|Failed to load image|Warning: ))"
                r".{0,1000}?(?P<library>(?<![\w.+-])(?!libcuda\.so|libnvidia-ml\.so)"
                r"[\w.+-]{1,80}\.so(?:\.\w{1,20}){0,4}): cannot open shared object file: "
            ),
            r"Error loading shared library (?P<library>[\w./+-]{1,120}): ",
            r"Could not load library (?P<library>(?:lib)?cu\w{1,60}[\w.]{0,20})",
            r"Unable to load any of \{(?P<library>(?:lib)?cu\w{1,60}[\w.]{0,20})",
        ),
        summary="A shared library of the environment is not found: {library}",
        means=(
            "The loader finds no such file: torch or a tool was built for another CUDA, Python or "
            "system, the library is not installed, or its directory is not searched. A C++ program "
            "needs libtorch's lib directory."
        ),
        check="ldd on the file that needs it; LD_DEBUG=libs shows where the loader looks.",
        fixes=(
            fix(
                (
                    "Install the library in the version asked for, or put its directory into "
                    "LD_LIBRARY_PATH before the process starts"
                ),
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
                "python: error while loading shared libraries: libstdc++.so.6: cannot open shared object file: No such file or directory",
                "words of the dynamic loader",
            ),
            quoted(
                "./app: error while loading shared libraries: libc10.so: cannot open shared object file: No such file or directory",
                "words of the dynamic loader",
            ),
            quoted(
                "Error loading shared library ld-linux-x86-64.so.2: No such file or directory (needed by /app/libtorch.so)",
                "words of musl's loader",
            ),
            quoted(
                "Could not load library libcudnn_ops_infer.so.8. Error: libnvrtc.so: cannot open shared object file",
                "words of cuDNN",
            ),
            quoted(
                "Unable to load any of {libcudnn_cnn.so.9.1.0, libcudnn_cnn.so.9.1, libcudnn_cnn.so.9, libcudnn_cnn.so}",
                "words of cuDNN 9",
            ),
        ),
        neighbours=(
            quoted(
                "W tensorflow/stream_executor/dso_loader.cc:64] Could not load dynamic library 'libnvinfer.so.7'; dlerror: libnvinfer.so.7: cannot open shared object file: No such file or directory",
                "a harmless note of TensorFlow",
            ),
        ),
        apart_from=("driver_library_missing",),
    ),
    Signature(
        id="extraction_failed",
        phase="load",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                r"(?P<why>Failed to extract zip file \S{1,300} to destination file .{0,400}mz_zip "
                "error string: .{1,60})"
            ),
            "(?P<why>Error generating temporary directory: .{1,80})",
            r"(?P<why>Failed to create directory \S{1,200})",
        ),
        summary="The package could not be unpacked: {why}",
        means=(
            "TMPDIR (default /tmp) is missing, read-only or full (`write callback failed`); only a "
            "checksum or decompression error means a damaged archive."
        ),
        check="df -h of TMPDIR (default /tmp); unzip -t of the package.",
        fixes=(
            fix(
                (
                    "Free space, or point TMPDIR to an existing, writable directory that allows "
                    "executing"
                ),
            ),
            fix("For a checksum error copy the package again"),
        ),
        guide="guides/package-and-load.md#extraction-directory",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: Failed to extract zip file u/data/aotinductor/model/ckba63nctf2gkme62hhxsqhctl2jq66lkycifm4wai25opjc7mjt.wrapper.cpp to destination file /tmp/e1/small/aotinductor_uYDaKh/u/data/aotinductor/model/ckba63nctf2gkme62hhxsqhctl2jq66lkycifm4wai25opjc7mjt.wrapper.cpp, mz_zip error string: write callback failed",
                "torch 2.13.0, CPU, full TMPDIR",
            ),
            recorded(
                "RuntimeError: Error generating temporary directory: No such file or directory",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "RuntimeError: Failed to create directory /tmp/aotinductor_XXXXXX/data: No space left on device",
                "words of the package loader",
            ),
        ),
        apart_from=("printer_failed",),
    ),
    Signature(
        id="library_damaged",
        phase="load",
        category="package_corrupt",
        tier=Tier.EXACT_TEXT,
        confidence="proved",
        patterns=(
            r"(?:dlopen|\.so(?:\.\d{1,9}){0,4}): .{0,300}?(?P<why>invalid ELF header)",
            r"(?:dlopen|\.so(?:\.\d{1,9}){0,4}): .{0,300}?(?P<why>file too short)",
            r"(?:dlopen|\.so(?:\.\d{1,9}){0,4}): .{0,300}?(?P<why>wrong ELF class)",
            (
                r"(?:dlopen|\.so(?:\.\d{1,9}){0,4}): .{0,300}?(?P<why>ELF file data encoding not "
                "(?:little|big)-endian)"
            ),
            r"(?:dlopen|\.so(?:\.\d{1,9}){0,4}): .{0,300}?(?P<why>ELF load command .{1,60})",
        ),
        summary="The compiled library is no library for this machine: {why}",
        means="The .so in the package is damaged, empty or made for another architecture.",
        check="file FILE.so; compare checksums.",
        fixes=(fix("Copy or compile the package again, on the architecture that runs it"),),
        guide="guides/package-and-load.md#damaged-or-missing-library",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model/cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: invalid ELF header",
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
                "RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model/cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: undefined symbol: aoti_torch_cpu_addmm_out",
                "torch 2.13.0, CPU",
            ),
        ),
    ),
    Signature(
        id="library_lacks_function",
        phase="load",
        category="package_incompatible",
        tier=Tier.EXACT_TEXT,
        anchors=(
            "in .so! ",
            "consider rebuild your model with the latest AOTInductor",
            "Consider rebuild your model with the latest AOTInductor",
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
                "RuntimeError: No AOTInductorModelContainerRunSingleThreaded function in .so! To use AOTInductor-compiled model in the single-threaded mode,consider rebuild your model with the latest AOTInductor.",
                "text of libtorch_cpu.so 2.13",
            ),
            quoted(
                "RuntimeError: No update_constant_buffer_from_cpu in .so! Consider rebuild your model with the latest AOTInductor.",
                "text of libtorch_cpu.so 2.13",
            ),
        ),
    ),
    Signature(
        id="loader_memory_rights",
        phase="load",
        category="toolchain",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "(?P<why>cannot allocate memory in static TLS block)",
            "(?P<why>cannot restore segment prot after reloc)",
            "(?P<why>cannot apply additional memory protection)",
            "(?P<why>cannot change memory protections)",
            "(?P<why>cannot make segment writable for relocation)",
            "(?P<why>cannot allocate memory for thread-local data)",
            "(?P<why>cannot create shared object descriptor)",
        ),
        summary="The process has no room or no right to load the library: {why}",
        means=(
            "The fixed block for thread-local data is used up by libraries loaded before (OpenMP, "
            "torch, OpenCV on aarch64), or a security policy forbids changing memory rights."
        ),
        check="For TLS: is the library loaded late, after many others?",
        fixes=(
            fix(
                (
                    "For TLS: import torch first, or LD_PRELOAD the library named, or raise "
                    "GLIBC_TUNABLES=glibc.rtld.optional_static_tls"
                ),
            ),
            fix("For rights: look at the audit log of SELinux or the container's security profile"),
        ),
        guide="guides/package-and-load.md#extraction-directory",
        next_tool="check_environment",
        matches=(
            quoted(
                "ImportError: /usr/lib/aarch64-linux-gnu/libgomp.so.1: cannot allocate memory in static TLS block",
                "words of the dynamic loader",
            ),
            quoted(
                "OSError: libfoo.so: cannot restore segment prot after reloc: Permission denied",
                "words of the dynamic loader",
            ),
            words(
                "glibc",
                "cannot apply additional memory protection",
                "cannot change memory protections",
                "cannot make segment writable for relocation",
                "cannot allocate memory for thread-local data",
                "cannot create shared object descriptor",
            ),
        ),
    ),
    Signature(
        id="loader_refused_library",
        phase="load",
        category="package_incompatible",
        tier=Tier.KIND_TEXT,
        patterns=(
            "(?P<why>cannot dynamically load (?:position-independent )?executable)",
            "(?P<why>cannot read file data: .{1,60})",
            "(?P<why>ELF file OS ABI invalid.{0,40})",
            "(?P<why>ELF file ABI version invalid.{0,40})",
            "(?P<why>ELF file version (?:ident )?does not match.{0,40})",
            "(?P<why>ELF file 's phentsize.{0,40})",
            "(?P<why>phentsize not the expected size)",
            "(?P<why>only ET_DYN and ET_EXEC can be loaded)",
            "(?P<why>object file has no dynamic section)",
            "(?P<why>object file has no loadable segments)",
            "(?P<why>cannot enable executable stack.{0,60})",
            "(?P<why>CPU ISA level is lower than required)",
            r"(?P<why>unexpected (?:PLT )?reloc type 0x\w{1,8})",
            r"(?P<why>unsupported version \S{1,20} of Ver\w{1,10} record)",
            "(?P<why>invalid mode for dlopen)",
            r"(?P<why>Inconsistency detected by ld\.so: \S{1,60})",
            "(?P<why>cannot handle TLS data)",
            "(?P<why>ELF load command alignment not page-aligned)",
        ),
        summary="The dynamic loader refuses the library: {why}",
        means=(
            "The file is there, but it is no library for this system: another kind of file, "
            "another CPU level, page size or C library, or one that asks for rights (an executable "
            "stack) that the system does not give."
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
                "OSError: libfoo.so: cannot enable executable stack as shared object requires: Invalid argument",
                "words of glibc 2.41",
            ),
            quoted(
                "/lib64/libc.so.6: CPU ISA level is lower than required",
                "words of the dynamic loader",
            ),
            quoted(
                "Inconsistency detected by ld.so: dl-version.c: 205: _dl_check_map_versions: Assertion `needed != NULL' failed!",
                "words of the dynamic loader",
            ),
            words(
                "glibc",
                "ELF file OS ABI invalidx",
                "ELF file ABI version invalidx",
                "ELF file version does not matchx",
                "phentsize not the expected size",
                "only ET_DYN and ET_EXEC can be loaded",
                "object file has no dynamic section",
                "object file has no loadable segments",
                "unexpected reloc type 0xx",
                "invalid mode for dlopen",
            ),
            words(
                "programs that were not at hand",
                "ELF file 's phentsizex",
                "cannot handle TLS data",
                "ELF load command alignment not page-aligned",
            ),
            words("Python's test_logging.py", "unsupported version x of Verx record"),
        ),
        apart_from=("library_damaged",),
    ),
    Signature(
        id="macos_library_refused",
        phase="load",
        category="package_incompatible",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            r"(?P<why>Library not loaded: \S{1,200})",
            r"(?P<why>incompatible architecture \(have .{1,60})",
            "(?P<why>mach-o, but wrong architecture)",
            "(?P<why>not a mach-o file)",
            "(?P<why>slice is not valid mach-o file)",
            "(?P<why>code signature in .{1,200}? invalid.{0,60})",
            "(?P<why>code signature in .{1,200}? not valid.{0,60})",
            "(?P<why>library load (?:disallowed|denied) by system policy)",
            "(?P<why>no suitable image found)",
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
                "ImportError: dlopen(/opt/venv/torch/_C.so, 0x0002): Library not loaded: @rpath/libomp.dylib",
                "words of dyld",
            ),
            quoted(
                "OSError: dlopen(m.so, 0x0006): tried: 'm.so' (mach-o file, but is an incompatible architecture (have 'x86_64', need 'arm64'))",
                "words of dyld",
            ),
            words(
                "programs that were not at hand",
                "mach-o, but wrong architecture",
                "not a mach-o file",
                "slice is not valid mach-o file",
                "code signature in x invalidx",
                "code signature in x not validx",
                "library load disallowed by system policy",
                "no suitable image found",
            ),
        ),
    ),
    Signature(
        id="made_on_another_machine",
        phase="load",
        category="package_incompatible",
        role="symptom",
        tier=Tier.GENERAL_TEXT,
        confidence="possible",
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
        fixes=(
            fix(
                (
                    "Compile on the machine kind that serves, or for a smaller set: "
                    "torch._inductor.config.cpp.simdlen = 256"
                ),
            ),
        ),
        guide="guides/package-and-load.md#made-on-another-machine",
        next_tool="inspect_package",
        matches=(
            recorded(
                "torch/export/pt2_archive/_package.py:1059] Device information mismatch for AOTI_CPU_ISA: AVX512 AVX512_VNNI vs AVX9000. This could",
                "torch 2.13.0, CPU",
            ),
        ),
        apart_from=("capability_mismatch",),
    ),
    Signature(
        id="model_library_missing",
        phase="load",
        category="package_corrupt",
        tier=Tier.NAMED_TEXT,
        patterns=(r"Failure loading \.so: (?P<file>\S{1,300}): cannot open shared object file",),
        summary="The model's own library {file} is not where it is looked for",
        means=(
            "A library made by aot_compile is loaded by its path: it was moved or deleted, or the "
            "name has no directory, so only the loader's own folders are searched."
        ),
        check="ls that path, from the directory in which the program runs",
        fixes=(
            fix("Give the absolute path of the .so, and keep it beside its .cubin files"),
            fix("Or ship a .pt2 package, which holds all of them"),
        ),
        guide="guides/package-and-load.md#damaged-archives",
        next_tool="inspect_package",
        matches=(
            quoted(
                "RuntimeError: Failure loading .so: cab.so: cannot open shared object file: No such file or directory",
                "words of torch/csrc/inductor/aoti_runner",
            ),
        ),
        neighbours=(
            quoted(
                "Error in dlopen: libcudart.so.12: cannot open shared object file",
                "a library of the system",
            ),
        ),
    ),
    Signature(
        id="noexec_temporary_directory",
        phase="load",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        patterns=("failed to map segment from shared object",),
        summary="The unpacked library may not be executed: the temporary directory is mounted noexec",
        means=(
            "The loader unpacks into TMPDIR (default /tmp) and maps the library from there; a "
            "noexec mount or a security policy forbids it."
        ),
        check="findmnt -T /tmp",
        fixes=(fix("Set TMPDIR to a directory on a mount that allows executing"),),
        guide="guides/package-and-load.md#extraction-directory",
        next_tool="check_environment",
        matches=(
            recorded(
                "/tmp/e1/noexec/aotinductor_Ds6pCV/u/data/aotinductor/model/ckba63nctf2gkme62hhxsqhctl2jq66lkycifm4wai25opjc7mjt.wrapper.so: failed to map segment from shared object",
                "torch 2.13.0, CPU, TMPDIR on a noexec mount",
            ),
        ),
    ),
    Signature(
        id="server_counts_call_spec",
        phase="load",
        category="package_incompatible",
        tier=Tier.SPECIFIC_TEXT,
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
        check="Load the package with aoti_load_package and call it in Python.",
        fixes=(fix("Use a server whose backend parses the call spec"),),
        guide="guides/other-platforms.md#other-runtimes",
        next_tool="inspect_package",
        matches=(
            quoted(
                'Failed to load model "my_model_0" configuration expects 1 inputs, but model expects 2 inputs.',
                "triton-inference-server/pytorch_backend#185",
            ),
        ),
    ),
    Signature(
        id="shared_library_not_found",
        phase="load",
        category="package_incompatible",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                r"Error in dlopen.{0,300}?(?P<library>[\w.{1,300}-]{1,80}\.so(?:\.\d{1,9}){0,4}): "
                "cannot open shared object file: No such file or directory"
            ),
        ),
        summary="{library} is not found on this machine",
        means=(
            "The package (or its own .so) needs a library that the loader does not find: another "
            "CUDA version, a custom-op library, or a path that does not exist."
        ),
        check="ldd on the package's .so; the CUDA version of torch on both sides.",
        fixes=(
            fix(
                (
                    "Install {library}, or put its directory into LD_LIBRARY_PATH before the "
                    "process starts"
                ),
            ),
            fix("Load custom-op libraries first: torch.ops.load_library(...)"),
        ),
        guide="guides/package-and-load.md#system-library-too-old",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: Error in dlopen: libfoo.so: cannot open shared object file: No such file or directory",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: Error in dlopen: /tmp/e1/none.so: cannot open shared object file: No such file or directory",
                "torch 2.13.0, CPU",
            ),
        ),
        neighbours=(
            recorded(
                "RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model/cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: undefined symbol: cuModuleLoad",
                "torch 2.13.0, CPU",
            ),
        ),
    ),
    Signature(
        id="two_copies_of_a_library",
        phase="environment",
        category="toolchain",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            (
                "(?P<what>Tried to register multiple backend fallbacks for the same dispatch key "
                r"\w{1,40})"
            ),
            "(?P<what>CommandLine Error: Option '[^']{1,60}' registered more than once)",
            "(?P<what>inconsistency in registered CommandLine options)",
            r"(?P<what>File already exists in database: \S{1,100})",
            r"(?P<what>GeneratedDatabase\(\)->Add)",
            r"(?P<what>version \S{1,20} of the Protocol Buffer runtime library)",
            "(?P<what>Descriptors cannot (?:not )?be created directly)",
            r"(?P<what>\[libprotobuf FATAL)",
            r"(?P<what>generic_type: type \S{1,80} is already registered!)",
            r"(?P<what>numpy\.dtype size changed)",
            r"(?P<what>A module that was compiled using NumPy 1\.x)",
            r"(?P<what>compiled against A[PB]I version 0x\w{1,8})",
            "(?P<what>INTEL MKL ERROR: .{0,80})",
            "(?P<what>Intel MKL FATAL ERROR.{0,80})",
        ),
        summary="Two libraries or two versions that do not fit met in this process: {what}",
        means=(
            "Two copies of torch, LLVM or protobuf (one of them inside another library), or "
            "extensions built against another NumPy or MKL, are loaded together."
        ),
        check="LD_DEBUG=libs, or /proc/PID/maps: which library is mapped from two places?",
        fixes=(
            fix(
                (
                    "Load one copy only: one torch per process, and extensions built against "
                    "exactly it"
                ),
            ),
            fix("Pin or rebuild what was compiled against another version"),
        ),
        guide="guides/package-and-load.md#two-runtimes-in-one-process",
        next_tool="check_environment",
        matches=(
            quoted(
                "  what():  Tried to register multiple backend fallbacks for the same dispatch key Conjugate",
                "bytedeco/javacpp-presets, a program with two libtorch",
            ),
            quoted(
                "[libprotobuf ERROR google/protobuf/descriptor_database.cc:58] File already exists in database: caffe2.proto",
                "words of protobuf",
            ),
            quoted(
                ": CommandLine Error: Option 'use-dereferenceable-at-point-semantics' registered more than once!",
                "words of LLVM",
            ),
            quoted(
                "This program was compiled against version 3.9.2 of the Protocol Buffer runtime library",
                "words of protobuf",
            ),
            words("CUDA", "inconsistency in registered CommandLine options"),
            words("libtorch", "GeneratedDatabase()->Add", "compiled against ABI version 0xx"),
            words(
                "programs that were not at hand",
                "Descriptors cannot be created directly",
                "[libprotobuf FATAL",
                "INTEL MKL ERROR: x",
                "Intel MKL FATAL ERRORx",
            ),
            words("pybind11/native_enum.h", "generic_type: type x is already registered!"),
            words(
                "programs that were not at hand",
                "numpy.dtype size changed",
                "A module that was compiled using NumPy 1.x",
            ),
        ),
    ),
    Signature(
        id="windows_dll_not_loaded",
        phase="environment",
        category="toolchain",
        tier=Tier.KIND_TEXT,
        anchors=("exit code",),
        patterns=(
            r"(?P<why>\[WinError (?:126|1114|998|193|182|1157)\].{0,200})",
            "(?P<why>DLL load failed.{0,160})",
            "(?P<why>error in LoadLibrary for .{0,200})",
            "(?P<why>0x[cC]0000135)",
            "(?P<why>-1073741515)",
            "(?P<why>3221225781)",
            r"(?P<why>\S{1,60}\.dll was not found\. Reinstalling the program may fix this)",
        ),
        summary="Windows does not load a library: {why}",
        means=(
            "A DLL that it needs is missing or of another kind: the Visual C++ runtime, CUDA or "
            "OpenMP DLLs, or a 32-bit or Linux file (193). 1114 means that its start-up code "
            "failed."
        ),
        check="dumpbin /dependents on the file, or the tool Dependencies.",
        fixes=(
            fix(
                (
                    "Install the latest Visual C++ redistributable (x64); add the directories of "
                    "CUDA and torch\\lib with os.add_dll_directory"
                ),
            ),
            fix(
                (
                    "Install a torch build that fits this Python, CUDA and driver; compile the "
                    "package on Windows itself"
                ),
            ),
        ),
        guide="guides/other-platforms.md#windows",
        next_tool="check_environment",
        matches=(
            quoted(
                'OSError: [WinError 126] The specified module could not be found. Error loading "C:\\venv\\torch\\lib\\c10.dll" or one of its dependencies.',
                "words of torch/__init__.py",
            ),
            quoted(
                "ImportError: DLL load failed while importing _C: The specified module could not be found.",
                "words of Python",
            ),
            quoted(
                "error in LoadLibrary for model.wrapper.pyd. WinError 126: The specified module could not be found.",
                "words of ATen/DynamicLibrary.cpp",
            ),
            quoted(
                "OSError: [WinError 193] %1 is not a valid Win32 application", "words of Windows"
            ),
            quoted("Process finished with exit code -1073741515 (0xC0000135)", "words of an IDE"),
            words(
                "programs that were not at hand",
                "exit code 3221225781",
                "x.dll was not found. Reinstalling the program may fix this",
            ),
        ),
    ),
    Signature(
        id="abi_mix_crash",
        phase="load",
        category="host_segfault",
        role="symptom",
        tier=Tier.KIND_TEXT,
        confidence="possible",
        patterns=(
            "(?P<what>_Sp_counted_base<.{0,120}>::_M_release)",
            r"what\(\):\s{1,4}(?P<what>basic_string::_M_create)",
            r"what\(\):\s{1,4}(?P<what>basic_string: construction from null)",
        ),
        summary="C++ libraries that do not fit meet in this process: {what}",
        means=(
            "Typical of mixed compilers or of two std::string layouts: a shared pointer or string "
            "of one library is released or read by another."
        ),
        check=(
            "Does every package crash, also that of a one-line model? Then it is the toolchain, "
            "not the model."
        ),
        fixes=(fix("Build all C++ parts with the compiler and _GLIBCXX_USE_CXX11_ABI of torch"),),
        guide="guides/host-crash.md#segfault-on-load",
        next_tool="check_environment",
        matches=(
            quoted(
                "#0 std::_Sp_counted_base<(__gnu_cxx::_Lock_policy)2>::_M_release() ()",
                "pytorch/pytorch#145441",
            ),
            quoted("  what():  basic_string::_M_create", "words of libstdc++"),
            quoted(
                "  what():  basic_string: construction from null is not valid", "words of libstdc++"
            ),
        ),
    ),
    Signature(
        id="link_undefined_reference",
        phase="cpp_compile",
        category="missing_symbol",
        tier=Tier.KIND_TEXT,
        anchors=("LNK1120",),
        patterns=(
            "undefined reference to [`'‘]?(?P<symbol>(?![`'‘]?WinMain)[^'’]{1,200})",
            "error: undefined (?:hidden )?symbol: (?P<symbol>.{1,200})",
            "mold: undefined (?:hidden )?symbol: (?P<symbol>.{1,200})",
            r"(?P<symbol>Undefined symbols for architecture \w{1,20})",
            r"(?P<symbol>symbol\(s\) not found for architecture \w{1,20})",
            "unresolved external symbol (?P<symbol>.{1,160})",
            r"(?P<symbol>LNK1120\b.{0,60})",
        ),
        summary="The linker finds no definition of {symbol}",
        means=(
            "A library is not on the link line or comes too early on it, or was built with another "
            "torch release or C++ ABI (a name with __cxx11 against one without)."
        ),
        check=(
            "nm -DC on libtorch_cpu.so, libtorch_cuda.so and libc10.so: who defines the name, and "
            "with which std::string?"
        ),
        fixes=(
            fix(
                (
                    "Link with the libraries that find_package(Torch) gives in TORCH_LIBRARIES, "
                    "after your own objects"
                ),
            ),
            fix("Build all parts against one torch and with its _GLIBCXX_USE_CXX11_ABI"),
        ),
        guide="guides/toolchain.md#linker-errors",
        next_tool="check_environment",
        matches=(
            recorded("u.cpp:(.text+0xa): undefined reference to `nope(int)'", "GNU ld 2.40"),
            recorded(
                "/tmp/ccyhDUZh.o:u.cpp:function main: error: undefined reference to 'nope(int)'",
                "gold 2.40",
            ),
            quoted(
                "ld.lld: error: undefined symbol: torch::jit::load(std::string const&)",
                "words of lld",
            ),
            quoted("Undefined symbols for architecture arm64:", "words of Apple's ld"),
            quoted(
                "error LNK2019: unresolved external symbol aoti_torch_check",
                "pytorch/pytorch#139954",
            ),
            quoted("build\\app.exe : fatal error LNK1120: 2 unresolved externals", "words of MSVC"),
            words(
                "programs that were not at hand",
                "mold: undefined symbol: x",
                "symbol(s) not found for architecture x",
            ),
        ),
    ),
    Signature(
        id="not_an_aoti_library",
        phase="load",
        category="package_incompatible",
        tier=Tier.EXACT_TEXT,
        patterns=(r"undefined symbol: (?P<symbol>AOTInductor\w{1,80})",),
        summary="The library does not export {symbol}",
        means=(
            "The file is no AOTInductor library, or one compiled by a torch whose entry points "
            "differ."
        ),
        fixes=(fix("Pass the library of a package compiled by the torch release that loads it"),),
        guide="guides/package-and-load.md#torch-versions-of-both-sides",
        next_tool="inspect_package",
        matches=(
            recorded(
                "/lib/x86_64-linux-gnu/libm.so.6: undefined symbol: AOTInductorModelContainerCreateWithDevice",
                "torch 2.13.0, CPU",
            ),
        ),
    ),
    Signature(
        id="static_libstdcxx",
        phase="load",
        category="host_segfault",
        tier=Tier.NAMED_TEXT,
        patterns=(
            (
                r"^#\d{1,20}\s.{0,600}\bstd::(?:__cxx11::|__detail::)?(?:codecvt|regex_traits|"
                r"_Compiler)<.{0,1200}from \S{1,300}/data/aotinductor/\S{1,200}\.so"
            ),
            (
                r"^0x[0-9a-f]{1,200} in std::codecvt<.{0,400}from \S{1,300}"
                r"/data/aotinductor/\S{1,200}\.so"
            ),
        ),
        summary=(
            "The package carries its own static copy of the C++ standard library and crashes on "
            "load"
        ),
        means=(
            "The compiler that built it links libstdc++ statically; its locale and regex code then "
            "clashes with the one of the process. Every package of that compiler dies on load."
        ),
        check="readelf -d on the package's .so: libstdc++.so.6 is missing among NEEDED.",
        fixes=(fix("Set CXX to a g++ that links libstdc++ dynamically and compile again"),),
        guide="guides/toolchain.md#static-libstdcxx",
        next_tool="check_environment",
        matches=(
            recorded(
                "0x00007fff19a9bdd4 in std::codecvt<char16_t, char, __mbstate_t>::do_unshift(__mbstate_t&, char*, char*, char*&) const () from /tmp/n8wTCF/p1/data/aotinductor/model/cbikr4ookibs3mgi3yklftjwn7zwgggckjm4zhcjndbrcsuu4wzg.wrapper.so",
                "torch 2.11.0, H200",
            ),
            recorded(
                "#5  0x00007fff19a89ea5 in std::__detail::_Compiler<std::__cxx11::regex_traits<char> >::_M_atom() () from /tmp/n8wTCF/p1/data/aotinductor/model/cbikr4ookibs3mgi3yklftjwn7zwgggckjm4zhcjndbrcsuu4wzg.wrapper.so",
                "torch 2.11.0, H200",
            ),
            recorded(
                "#1  0x00007fff19a7fac0 in std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > std::__cxx11::regex_traits<char>::transform_primary<char const*>(char const*, char const*) const () from /tmp/n8wTCF/p1/data/aotinductor/model/cbikr4ookibs3mgi3yklftjwn7zwgggckjm4zhcjndbrcsuu4wzg.wrapper.so",
                "torch 2.11.0, H200",
            ),
        ),
        neighbours=(
            quoted(
                "#3 0x7fff5eea1e0e in std::__detail::_Compiler<std::regex_traits<char> >::_M_atom() () from /usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                "not in the package",
            ),
        ),
    ),
    Signature(
        id="static_libstdcxx_bad_cast",
        phase="load",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        patterns=(r"^Error: std::bad_cast\s{0,20}$",),
        summary="The package carries its own static copy of the C++ standard library",
        means=(
            "The compiler that built it links libstdc++ statically; its locales then clash with "
            "those of the process: with g++ 12 the model cannot be created, with g++ 13 loading "
            "crashes. The `create_func_(...) API call failed` below it says no more."
        ),
        check="readelf -d on the package's .so: libstdc++.so.6 is missing among NEEDED.",
        fixes=(fix("Set CXX to a g++ that links libstdc++ dynamically and compile again"),),
        guide="guides/toolchain.md#static-libstdcxx",
        next_tool="inspect_package",
        matches=(recorded("Error: std::bad_cast", "torch 2.13.0, CPU, g++ 12"),),
        neighbours=(quoted("  what():  std::bad_cast", "any other C++ program"),),
    ),
    Signature(
        id="symbol_not_provided",
        phase="load",
        category="missing_symbol",
        tier=Tier.SPECIFIC_TEXT,
        anchors=("exit code", "exit status"),
        patterns=(
            r"symbol (?P<symbol>\w{1,200}),? version \S{1,60} not defined in file",
            r"symbol not found in flat namespace '?\(?(?P<symbol>[\w$]{1,200})",
            r"Symbol not found: \(?(?P<symbol>[\w$]{1,200})",
            r"Error relocating \S{1,200}: (?P<symbol>\w{1,200})\)?: symbol not found",
            r"dlsym\(\S{1,40} (?P<symbol>\w{1,200})\)?: symbol not found",
            r"(?P<symbol>\[?WinError 127\b)",
            "(?P<symbol>error in GetProcAddress)",
            r"(?P<symbol>\S{1,200} could not be located in the dynamic link library)",
            "(?P<symbol>0x[cC]0000139)",
            "(?P<symbol>-1073741511)",
        ),
        summary="A library of this process lacks a symbol: {symbol}",
        means=(
            "The library that was loaded is not the one it was linked against: another torch, "
            "another C++ runtime or CUDA library is found first."
        ),
        check=(
            "nm -D (nm -gU on macOS, dumpbin /exports on Windows) on the library that should "
            "define it."
        ),
        fixes=(
            fix(
                (
                    "Load with the torch release that compiled it; put the right library first on "
                    "the search path"
                ),
            ),
        ),
        guide="guides/package-and-load.md#undefined-symbols",
        next_tool="check_environment",
        matches=(
            quoted(
                "ImportError: libtorch_cuda.so: symbol cudaGraphInstantiateWithFlags version libcudart.so.11.0 not defined in file libcudart.so.11.0 with link time reference",
                "words of the dynamic loader",
            ),
            quoted(
                "ImportError: dlopen(m.so, 0x0002): symbol not found in flat namespace '_aoti_torch_empty_strided'",
                "words of dyld",
            ),
            quoted("dyld[123]: Symbol not found: __ZN2at4_ops5zeros4callE", "words of dyld"),
            quoted(
                "Error relocating /app/libfoo.so: __memcpy_chk: symbol not found",
                "words of musl's loader",
            ),
            quoted(
                "OSError: [WinError 127] The specified procedure could not be found.",
                "words of Windows",
            ),
            quoted(
                "DynamicLibraryError: error in GetProcAddress", "words of ATen/DynamicLibrary.cpp"
            ),
            words("ld", "dlsym(x x: symbol not found"),
            words(
                "programs that were not at hand",
                "x could not be located in the dynamic link library",
                "exit code -1073741511",
            ),
            words("programs that were not at hand", "exit status 0xC0000139"),
        ),
    ),
    Signature(
        id="system_library_too_old",
        phase="load",
        category="package_incompatible",
        tier=Tier.EXACT_TEXT,
        patterns=(r"version `(?P<version>(?:GLIBCXX|GLIBC|CXXABI|GOMP)_[\w.]{1,20})' not found",),
        summary="This machine's C or C++ library lacks {version}",
        means="The package was compiled on a newer system than the one that loads it.",
        check="ldd --version, and strings libstdc++.so.6 | grep GLIBCXX on both machines.",
        fixes=(
            fix("Compile on the oldest system that must load it, or in the same container image"),
            fix("For GLIBCXX install a newer libstdc++ and put it first in LD_LIBRARY_PATH"),
        ),
        guide="guides/package-and-load.md#system-library-too-old",
        next_tool="check_environment",
        matches=(
            recorded(
                "RuntimeError: Error in dlopen: /tmp/e1/rec/libstdfake.so.6: version `GLIBCXX_3.4.99' not found",
                "torch 2.13.0, CPU, libraries of ours",
            ),
            quoted(
                "ImportError: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found",
                "words of the dynamic loader",
            ),
            quoted(
                "libstdc++.so.6: version `CXXABI_1.3.15' not found", "words of the dynamic loader"
            ),
            quoted("libgomp.so.1: version `GOMP_5.0' not found", "words of the dynamic loader"),
        ),
    ),
    Signature(
        id="undefined_cuda_shim",
        phase="load",
        category="missing_symbol",
        tier=Tier.NAMED_TEXT,
        patterns=(r"undefined symbol: (?P<symbol>aoti_torch_(?P<device>cuda|xpu|mps)_\w{1,120})",),
        summary="This torch lacks {symbol}: it has no {device} support",
        means=(
            "A package for a GPU is loaded by a CPU-only torch, or by a libtorch built without the "
            "C shims of that device."
        ),
        check="torch.version.cuda, and nm -D libtorch_cuda.so | grep the symbol.",
        fixes=(
            fix("Load it with a torch build for that device"),
            fix("If the build is right, use at least the torch release that compiled the package"),
        ),
        guide="guides/package-and-load.md#missing-shim-symbols",
        next_tool="check_environment",
        matches=(
            recorded(
                "RuntimeError: Error in dlopen: /tmp/e1/rec/sB.so: undefined symbol: aoti_torch_cuda_addmm_out",
                "torch 2.13.0, CPU, a library of ours",
            ),
        ),
        neighbours=(
            recorded(
                "RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model/cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: undefined symbol: aoti_torch_cpu_addmm_out_v9",
                "torch 2.13.0, CPU",
            ),
        ),
        apart_from=("undefined_torch_symbol",),
    ),
    Signature(
        id="undefined_other_symbol",
        phase="load",
        category="missing_symbol",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            (
                "(?<!error: )undefined symbol: (?P<symbol>(?!aoti_|AOTInductor|_ZT?[VINKS]{0,3}"
                r"(?:3c10|2at|5torch))\w{1,200})"
            ),
        ),
        summary="The symbol {symbol} is missing",
        means=(
            "A cu... name means that no CUDA driver library is loaded; a std:: name an older "
            "libstdc++; any other name a library that must be loaded first."
        ),
        check="c++filt the name; ldd -r on the library.",
        fixes=(
            fix("Load the library that defines it, or build against the one that is installed"),
        ),
        guide="guides/package-and-load.md#undefined-symbols",
        next_tool="check_environment",
        matches=(
            recorded(
                "RuntimeError: Error in dlopen: /tmp/e1/rec/sD.so: undefined symbol: cuModuleLoad",
                "torch 2.13.0, CPU, a library of ours",
            ),
        ),
        neighbours=(
            recorded(
                "RuntimeError: Error in dlopen: /tmp/aotinductor_8uThIT/m/data/aotinductor/model/cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: undefined symbol: aoti_torch_cpu_addmm_out",
                "torch 2.13.0, CPU",
            ),
        ),
    ),
    Signature(
        id="undefined_shim",
        phase="load",
        category="missing_symbol",
        tier=Tier.NAMED_TEXT,
        patterns=(r"undefined symbol: (?P<symbol>aoti_(?!torch_(?:cuda|xpu|mps)_)\w{1,160})",),
        summary="This torch does not know {symbol}",
        means=(
            "The package was compiled by a newer torch than the one that loads it (C shims are "
            "added over time), or its operator comes from a library that is not loaded."
        ),
        check="Compare torch.__version__ of both sides.",
        fixes=(
            fix("Load with the same torch release, or compile with the one that serves"),
            fix("For an operator of your own load its library first"),
        ),
        guide="guides/package-and-load.md#missing-shim-symbols",
        next_tool="check_environment",
        matches=(
            recorded(
                "/tmp/aotinductor_Dj41KZ/m/data/aotinductor/model/cq2mp6u6rite6a5jcv6ewicvloron7d7hejgowaxhlbrbo2ycd35.wrapper.so: undefined symbol: aoti_torch_cpu_addmm_ouX",
                "torch 2.13.0, CPU, name changed by us",
            ),
        ),
        apart_from=("undefined_cuda_shim",),
    ),
    Signature(
        id="undefined_torch_symbol",
        phase="load",
        category="missing_symbol",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                "undefined symbol: (?P<symbol>_ZT?[VINKS]{0,3}(?:3c10|2at|5torch|K3c10|K2at)"
                r"\w{1,240})"
            ),
        ),
        summary="This torch lacks the C++ symbol {symbol}",
        means=(
            "The package or a library that it needs was built against another torch release or C++ "
            "ABI: a name with `Ss` holds the old std::string."
        ),
        check="c++filt the name; torch.__version__ and torch.compiled_with_cxx11_abi() of both sides.",
        fixes=(
            fix(
                (
                    "Build or compile with the torch release that loads it; do not override "
                    "_GLIBCXX_USE_CXX11_ABI"
                ),
            ),
        ),
        guide="guides/package-and-load.md#undefined-symbols",
        next_tool="check_environment",
        matches=(
            recorded(
                "RuntimeError: Error in dlopen: /tmp/e1/rec/sC.so: undefined symbol: _ZN2at4_ops6linear4callERKNS_6TensorES4_X",
                "torch 2.13.0, CPU, a library of ours",
            ),
            recorded(
                "RuntimeError: Error in dlopen: /tmp/e1/rec/sA.so: undefined symbol: _ZN3c105ErrorC1ENS_14SourceLocationESs",
                "torch 2.13.0, CPU, a library of ours",
            ),
        ),
        apart_from=("undefined_other_symbol",),
    ),
)
