"""Unpacking a package and opening its library."""

from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURES = (
    Signature(
        id="create_call_failed",
        family="E",
        phase="load",
        category="package_incompatible",
        role="envelope",
        weight=42,
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
                r"(?P<library>[\w.+-]{1,80}\.so(?:\.\d{1,9}){0,4}): cannot open shared object "
                "file: No such file or directory"
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
                r"configuration expects (?P<given>\d+) inputs?, but model expects "
                r"(?P<expected>\d+) inputs?"
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
)
