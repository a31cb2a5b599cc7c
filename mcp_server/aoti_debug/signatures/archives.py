"""The package file, damaged or of another kind, and the GPU kernels that it lacks."""

from __future__ import annotations

from aoti_debug.facts.categories import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
    Signature(
        id="archive_damaged",
        phase="load",
        category="package_corrupt",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                "Failed to initialize zip archive: (?P<why>(?!file open failed|file not found)"
                ".{1,120})"
            ),
            "(?P<why>Failed to read zip filename.{0,60})",
        ),
        summary="The file is no complete .pt2 archive: {why}",
        means=(
            "A copy or download was cut short, the file is empty, or it is something else: a Git "
            "LFS pointer, an HTML page, a bare .so. `too large` means beyond the loader's zip "
            "library: keep the weights outside."
        ),
        check=(
            "head -c 4 FILE must print PK; unzip -t FILE; compare size and checksum with the "
            "original."
        ),
        fixes=(fix("Copy the package again; fetch LFS files with git lfs pull"),),
        guide="guides/package-and-load.md#damaged-archives",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: Failed to initialize zip archive: failed finding central directory",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: Failed to initialize zip archive: not a ZIP archive",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "RuntimeError: Failed to initialize zip archive: archive is too large",
                "words of the loader's zip library",
            ),
            quoted(
                "RuntimeError: Failed to read zip filename length at index 3",
                "words of the package loader",
            ),
        ),
        neighbours=(
            quoted(
                "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory",
                "torch.load of a checkpoint",
            ),
        ),
        apart_from=("archive_not_found",),
    ),
    Signature(
        id="archive_not_found",
        phase="load",
        category="package_corrupt",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "Failed to initialize zip archive: (?P<why>file open failed)",
            "Failed to initialize zip archive: (?P<why>file not found)",
            r"open file failed (?P<why>because of errno \d{1,3} on fopen)",
            "open file failed (?P<why>with strerror)",
        ),
        summary="The package file cannot be opened ({why})",
        means=(
            "The path does not exist, is a directory or may not be read. Relative paths count from "
            "the working directory of the process that loads."
        ),
        fixes=(fix("Give the absolute path of an existing .pt2 file"),),
        guide="guides/package-and-load.md#damaged-archives",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: Failed to initialize zip archive: file open failed",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "  what():  open file failed because of errno 2 on fopen: No such file or directory, file path: model.pt",
                "words of caffe2/serialize/file_adapter.cc",
            ),
            words(
                "programs that were not at hand", "Failed to initialize zip archive: file not found"
            ),
            words("libtorch", "open file failed with strerror"),
        ),
        apart_from=("archive_damaged",),
    ),
    Signature(
        id="archive_version_mismatch",
        phase="load",
        category="package_incompatible",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                r"(?P<what>Saved archive version \S{1,20} does not match our current archive "
                r"version \S{1,20})"
            ),
            "(?P<what>AssertionError: Invalid archive format)",
        ),
        summary="The archive is of another format: {what}",
        means="It was written by a torch with another package format, or by another tool.",
        fixes=(fix("Compile with the torch release that loads the package"),),
        guide="guides/package-and-load.md#torch-versions-of-both-sides",
        next_tool="inspect_package",
        matches=(
            recorded(
                "ValueError: Saved archive version 99 does not match our current archive version 0.",
                "torch 2.13.0, CPU",
            ),
            recorded("AssertionError: Invalid archive format", "torch 2.13.0, CPU"),
        ),
    ),
    Signature(
        id="checkpoint_damaged",
        phase="load",
        category="package_corrupt",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            (
                r"(?P<why>PytorchStreamReader failed (?!locating file (?:data\.pkl|constants\.pkl|"
                "archive_format|models/)|opening archive)[^:]{1,80}(?::.{0,60})?)"
            ),
            r"(?P<why>unexpected EOF, expected \d{1,20} more bytes)",
            r"(?P<why>Invalid magic number; corrupt file\?)",
            r"(?P<why>enforce fail at inline_container\.cc:\d{1,5}\] ?\. ?file not found.{0,60})",
            r"(?P<why>ASSERT FAILED at .{1,120}inline_container\.(?:h|cc):\d{1,5})",
            "(?P<why>Invalid protocol version: .{0,20})",
            "(?P<why>invalid load key, '.{1,6}')",
            "(?P<why>EOFError: Ran out of input)",
            "(?P<why>pickle data was truncated)",
            "(?P<why>BadZipFile: .{0,60})",
            "(?P<why>Bad CRC-32 for file .{0,80})",
            "(?P<why>archive does not contain any files)",
            "(?P<why>file in archive is not in a subdirectory)",
            "(?P<why>Read less bytes than requested)",
            "(?P<why>istream reader failed: .{0,60})",
            r"(?P<why>WeightsUnpickler error: Unsupported operand \d{1,3})",
            "SafetensorError: (?P<why>Error while deserializing.{0,100})",
            "SafetensorError: (?P<why>Invalid.{0,100})",
            "SafetensorError: (?P<why>Incomplete.{0,100})",
            "SafetensorError: (?P<why>Metadata.{0,100})",
            r"(?P<why>size \d{1,15} is not a multiple of element size \d{1,3})",
        ),
        summary="A file of weights or a program cannot be read: {why}",
        means=(
            "The file is cut short, empty or of another kind: an interrupted download or save, a "
            "Git LFS pointer (`invalid load key, 'v'`), an HTML page (`'<'`), or a disk that was "
            "full while saving."
        ),
        check=(
            "ls -l and head -c 100 of the file; a good one begins with PK (zip) or, for "
            "safetensors, a length and {{."
        ),
        fixes=(
            fix(
                (
                    "Copy or download the file again and compare size and checksum; git lfs pull "
                    "for a pointer"
                ),
            ),
        ),
        guide="guides/package-and-load.md#damaged-archives",
        next_tool="inspect_package",
        matches=(
            quoted(
                "  what():  tag == RecordTags::FOOTER ASSERT FAILED at /pytorch/caffe2/serialize/inline_container.h:234, please report a bug to PyTorch.",
                "words of caffe2/serialize/inline_container.h",
            ),
            quoted(
                "invalid model file: [enforce fail at inline_container.cc:222] . file not found: archive/constants.pkl",
                "words of caffe2/serialize/inline_container.cc",
            ),
            recorded(
                "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory. This is an internal miniz error.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: unexpected EOF, expected 1912 more bytes. The file might be corrupted.",
                "torch 2.13.0, CPU",
            ),
            recorded("_pickle.UnpicklingError: invalid load key, 'v'.", "torch 2.13.0, CPU"),
            recorded("EOFError: Ran out of input", "torch 2.13.0, CPU"),
            recorded("zipfile.BadZipFile: File is not a zip file", "CPython 3.11"),
            quoted(
                "safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer",
                "words of safetensors",
            ),
            quoted(
                "ValueError: Record data/weights/weight_0: size 10 is not a multiple of element size 4 for dtype torch.float32",
                "words of torch/export/pt2_archive/_package.py",
            ),
            words(
                "torch/serialization.py",
                "Invalid magic number; corrupt file?",
                "Invalid protocol version: x",
            ),
            words(
                "programs that were not at hand",
                "pickle data was truncated",
                "Read less bytes than requested",
                "WeightsUnpickler error: Unsupported operand 1",
                "SafetensorError: Invalidx",
                "SafetensorError: Incompletex",
                "SafetensorError: Metadatax",
            ),
            words("Python's zipfile.py", "Bad CRC-32 for file x"),
            words(
                "libtorch",
                "archive does not contain any files",
                "file in archive is not in a subdirectory",
                "istream reader failed: x",
            ),
        ),
        neighbours=(
            recorded(
                "RuntimeError: PytorchStreamReader failed locating file data.pkl:",
                "torch 2.13.0, CPU",
            ),
        ),
        apart_from=("opened_by_wrong_function",),
    ),
    Signature(
        id="checkpoint_refused",
        phase="load",
        category="user_code",
        tier=Tier.KIND_TEXT,
        patterns=(
            "(?P<what>Weights only load failed)",
            r"(?P<what>Unsupported global: GLOBAL \S{1,100})",
            "(?P<what>Cannot use ``weights_only=True`` with .{1,40})",
            r"(?P<what>did you mean to use torch\.jit\.load\(\))",
        ),
        summary="torch.load does not open this file the safe way: {what}",
        means=(
            "Since 2.6 torch.load reads tensors only. A whole pickled module, a TorchScript "
            "archive or a file that is no checkpoint at all (a Git LFS pointer, for one) ends "
            "here, before anything is compiled."
        ),
        check="file and head -c 100 of the file.",
        fixes=(
            fix(
                (
                    "Save and load a state_dict; weights_only=False for a file you trust; "
                    "torch.jit.load for TorchScript"
                ),
            ),
        ),
        guide="guides/package-and-load.md#not-an-aoti-package",
        next_tool="inspect_package",
        matches=(
            recorded(
                "_pickle.UnpicklingError: Weights only load failed. This file can still be loaded, to do so you have two options",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: Cannot use ``weights_only=True`` with TorchScript archives passed to ``torch.load``.",
                "torch 2.13.0, CPU",
            ),
            words("torch/_weights_only_unpickler.py", "Unsupported global: GLOBAL x"),
            words("torch/serialization.py", "did you mean to use torch.jit.load()"),
        ),
        apart_from=("checkpoint_damaged",),
    ),
    Signature(
        id="exported_program_unreadable",
        phase="load",
        category="package_incompatible",
        role="envelope",
        tier=Tier.BROAD_TEXT,
        patterns=("We ran into an error when deserializing the saved file",),
        summary="torch.export.load could not read the file; the reason stands above",
        means=(
            "A compiled package given to torch.export.load, a custom op that is not registered, or "
            "a file of another torch release."
        ),
        check="Read the warnings above; unzip -l FILE shows models/ for an exported program.",
        guide="guides/package-and-load.md#not-an-aoti-package",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: We ran into an error when deserializing the saved file.",
                "torch 2.13.0, CPU",
            ),
        ),
    ),
    Signature(
        id="model_not_in_package",
        phase="load",
        category="user_code",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                "Failed to find a generated cpp file or so file for model '(?P<model>(?!model')"
                "[^']{1,80})'"
            ),
            (
                r"found in zip archive with the prefix \S{0,120}"
                r"data/aotinductor/(?P<model>\S{1,80}?)Loaded the following"
            ),
            r"Model (?P<model>\S{1,80}) not found in package",
            r"Model (?P<model>\S{1,80}) not found in PT2 archive contents",
        ),
        summary="The package holds no model called {model}",
        means=(
            "The name given as model_name is not one of the package's; the lines below list those "
            "that it has."
        ),
        fixes=(
            fix("Use a name of `Available models`, or leave model_name out for a single model"),
        ),
        guide="guides/package-and-load.md#wrong-model-name",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: Failed to find a generated cpp file or so file for model 'nope' in the zip archive.",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "RuntimeError: No AOTInductor generate cpp file or so file found in zip archive with the prefix base/data/aotinductor/nopeLoaded the following:",
                "words of the 2.8 loader",
            ),
            quoted(
                "RuntimeError: Model decoder not found in PT2 archive contents.",
                "words of torch/export/pt2_archive/_package.py",
            ),
            words("torch/_inductor/package/package.py", "Model x not found in package"),
        ),
        apart_from=("not_an_aoti_package",),
    ),
    Signature(
        id="no_model_for_old_loader",
        phase="load",
        category="package_incompatible",
        tier=Tier.EXACT_TEXT,
        patterns=(r"No AOTInductor generate cpp file or so file found in zip archive\.",),
        summary="This torch finds no compiled model where it looks for one",
        means=(
            "Loaders up to 2.7 look at the top of the archive; torch 2.8 and later write below a "
            "folder. Or torch.export.save wrote the file (not compiled)."
        ),
        check="unzip -l FILE: models/model.json means an exported program.",
        fixes=(fix("Load it with torch 2.8 or later, or compile it with the torch that loads it"),),
        guide="guides/package-and-load.md#torch-versions-of-both-sides",
        next_tool="inspect_package",
        matches=(
            quoted(
                "RuntimeError: No AOTInductor generate cpp file or so file found in zip archive. Loaded the following:",
                "words of the 2.6 and 2.7 loader",
            ),
        ),
        apart_from=(
            "not_an_aoti_package",
            "model_not_in_package",
        ),
    ),
    Signature(
        id="not_an_aoti_package",
        phase="load",
        category="package_corrupt",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "Failed to find a generated cpp file or so file for model 'model'",
            "No files found in zip archive",
        ),
        summary="The archive holds no compiled model called `model`",
        means=(
            "torch.export.save wrote it (an exported program, not compiled), its model has another "
            "name, or it is empty."
        ),
        check=(
            "unzip -l FILE: models/model.json means an exported program, data/aotinductor/NAME/ "
            "gives the name."
        ),
        fixes=(
            fix(
                (
                    "Compile first: "
                    "torch._inductor.aoti_compile_and_package(torch.export.load(path), "
                    "package_path='m.pt2')"
                ),
            ),
            fix("Or pass the model's name as model_name"),
        ),
        guide="guides/package-and-load.md#not-an-aoti-package",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: Failed to find a generated cpp file or so file for model 'model' in the zip archive.",
                "torch 2.13.0, CPU",
            ),
            recorded("RuntimeError: No files found in zip archive.", "torch 2.13.0, CPU"),
        ),
        apart_from=("model_not_in_package",),
    ),
    Signature(
        id="outdated_pt2",
        phase="load",
        category="package_incompatible",
        role="envelope",
        tier=Tier.GENERAL_TEXT,
        confidence="possible",
        patterns=(r"Loading outdated pt2 file\. Please regenerate your package",),
        summary="The first loader failed; the file is rarely outdated",
        means=(
            "Any RuntimeError of the new loader prints this (missing compiler, wrong device, "
            "damaged archive), then the old loader runs. If that one works, there was no fault."
        ),
        check=(
            "Call torch.export.pt2_archive._package.load_pt2(path) to see the first error; read "
            "the error below."
        ),
        fixes=(
            fix("Fix the error that follows; if none follows, install a C++ compiler or ignore it"),
        ),
        guide="guides/package-and-load.md#loading-outdated-pt2-file",
        next_tool="inspect_package",
        matches=(
            recorded(
                "torch/_inductor/package/package.py:120] Loading outdated pt2 file. Please regenerate your package.",
                "torch 2.13.0, CPU",
            ),
        ),
    ),
    Signature(
        id="package_file_missing",
        phase="load",
        category="package_corrupt",
        tier=Tier.EXACT_TEXT,
        patterns=(
            r"(?P<what>File (?:not )?found: \S{1,300}_compile_flags\.json)",
            r"(?P<what>File (?:not )?found: \S{1,300}_linker_flags\.json)",
            r"(?P<what>File (?:not )?found: \S{1,300}_metadata\.json)",
            "(?P<what>Failed to find wrapper metadata for model)",
            r"(?P<what>\[json\.exception\.\w{1,200}\.\d{1,20}\])",
        ),
        summary="A file of the package is missing or unreadable: {what}",
        means=(
            "Missing `..._compile_flags.json` means that there is no compiled .so: the loader "
            "falls back to compiling the sources. Up to 2.6 the text says `File found`, which "
            "means not found."
        ),
        fixes=(
            fix(
                (
                    "Use the package as compiled; do not repack it (some tools drop files called "
                    "metadata.json)"
                ),
            ),
            fix("A cpp-only package must be built before loading"),
        ),
        guide="guides/package-and-load.md#damaged-or-missing-library",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: File not found: /tmp/aotinductor_g7H9GV/m/data/aotinductor/model/c322asgeoixejbdb7zujecwd63nhybixvyk2fmlcpabjr7nxab2z.kernel_compile_flags.json",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "RuntimeError: File found: /tmp/abcdef/data/aotinductor/model/m_linker_flags.json",
                "words of the 2.6 loader",
            ),
            recorded(
                "RuntimeError: File not found: /tmp/aotinductor_TH0Wpm/m/data/aotinductor/model/c322asgeoixejbdb7zujecwd63nhybixvyk2fmlcpabjr7nxab2z.kernel_metadata.json",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "RuntimeError: Failed to find wrapper metadata for model 'model'",
                "words of the package loader",
            ),
            recorded(
                "RuntimeError: [json.exception.parse_error.101] parse error at", "torch 2.13.0, CPU"
            ),
        ),
    ),
    Signature(
        id="package_incomplete",
        phase="load",
        category="package_corrupt",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "(?P<what>Multiple wrapper shared libraries found in AOTI package.{0,80})",
            r"(?P<what>Shared model directory is empty: \S{0,200})",
            r"(?P<what>Failed to find parent path in \S{0,200})",
            r"(?P<what>Expected json_file\.is_open\(\) to be true)",
            r"(?P<what>\S{1,200} not found in PT2 archive(?! contents))",
            r"(?P<what>Unable to find file with suffix \S{1,40})",
            "(?P<what>Unable to reconstruct complete tensor from group)",
            "(?P<what>Cannot reconstruct tensor safely)",
            "(?P<what>Failed to open custom obj file)",
            r"(?P<what>(?:Inv|S)\w{1,6} ?serialized ScalarType value)",
            "(?P<what>Serialized ScalarType value out of range)",
        ),
        summary="The package does not hold together: {what}",
        means=(
            "Files that belong together are missing, doubled or differ from what the index says: "
            "repacked by hand, merged from two packages, or written only in part."
        ),
        check="unzip -l FILE: one wrapper.so per model, with its metadata beside it.",
        fixes=(
            fix("Use the package exactly as aoti_compile_and_package wrote it, or compile again"),
        ),
        guide="guides/package-and-load.md#damaged-archives",
        next_tool="inspect_package",
        matches=(
            quoted(
                "RuntimeError: Multiple wrapper shared libraries found in AOTI package for model 'model'. Each model should have exactly one wrapper library.",
                "text of libtorch_cpu.so 2.13",
            ),
            quoted(
                "AssertionError: data/weights/model_weights_config.json not found in PT2 archive",
                "words of torch/export/pt2_archive/_package.py",
            ),
            words(
                "libtorch",
                "Shared model directory is empty: ",
                "Failed to find parent path in ",
                "Expected json_file.is_open() to be true",
                "Failed to open custom obj file",
            ),
            words("torch/_inductor/package/package.py", "Unable to find file with suffix x"),
            words(
                "torch/export/pt2_archive/_package_weights.py",
                "Unable to reconstruct complete tensor from group",
                "Cannot reconstruct tensor safely",
            ),
            words(
                "torch/csrc/inductor/aoti_torch/generated_enum_converters.h",
                "Invxserialized ScalarType value",
                "Serialized ScalarType value out of range",
            ),
        ),
    ),
    Signature(
        id="program_of_another_version",
        phase="load",
        category="package_incompatible",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "(?P<what>Serialized version .{1,40}? does not match our current schema version)",
            r"(?P<what>Attempted to read a PyTorch file with version \d{1,6})",
            "(?P<what>(?:minimum|maximum) supported version for reading is)",
            "(?P<what>unsupported archive format from the preview release)",
            "(?P<what>Version in the saved file has incorrect length)",
            r"(?P<what>Unknown builtin op: \S{1,100})",
        ),
        summary="The saved program is of another torch release: {what}",
        means=(
            "A newer or a much older torch wrote the file than the one that reads it, or the "
            "operators it names are not in this build."
        ),
        fixes=(
            fix("Read it with the release that wrote it, or export again with this one"),
            fix("For an unknown operator import the library that registers it first"),
        ),
        guide="guides/package-and-load.md#torch-versions-of-both-sides",
        next_tool="inspect_package",
        matches=(
            quoted(
                "RuntimeError: Serialized version 8.1 does not match our current schema version 5.1.",
                "words of torch/export/__init__.py",
            ),
            quoted(
                "RuntimeError: Attempted to read a PyTorch file with version 10, but the maximum supported version for reading is 9.",
                "words of caffe2/serialize/inline_container.cc",
            ),
            quoted("Unknown builtin op: torchvision::nms.", "words of torch.jit.load"),
            words("libtorch", "unsupported archive format from the preview release"),
            words("torch/export/__init__.py", "Version in the saved file has incorrect length"),
        ),
    ),
    Signature(
        id="capability_mismatch",
        phase="load",
        category="missing_kernel_binary",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            (
                r"Device information mismatch for AOTI_COMPUTE_CAPABILITY: (?P<here>\S{0,20}) vs "
                r"(?P<package>\S{1,20})\."
            ),
        ),
        summary="The package was compiled for compute capability {package}, this GPU has {here}",
        means="Its kernels are binaries for that architecture and will not load on this one.",
        fixes=(
            fix("Compile on this kind of GPU, or with aot_inductor.emit_multi_arch_kernel=True"),
        ),
        guide="guides/package-and-load.md#wrong-gpu-architecture",
        next_tool="inspect_package",
        matches=(
            quoted(
                "Device information mismatch for AOTI_COMPUTE_CAPABILITY: 90 vs 80.",
                "words of the loader",
            ),
        ),
        apart_from=("made_on_another_machine",),
    ),
    Signature(
        id="cubin_not_found",
        phase="run",
        category="missing_kernel_binary",
        tier=Tier.NAMED_TEXT,
        patterns=("CUDA driver error: file not found",),
        summary="A kernel binary (.cubin) is not where the library looks for it",
        means=(
            "A bare .so finds its cubins by the absolute path of the compile; a package by the "
            "folder it was unpacked to. The message does not name the file."
        ),
        check=(
            "strace -e openat, or unzip -l for .cubin files; a bare .so moved from its folder is "
            "the usual case."
        ),
        fixes=(
            fix("Ship a .pt2 made by aoti_compile_and_package, not the bare .so"),
            fix(
                (
                    "Or compile with inductor_configs={{'aot_inductor.embed_kernel_binary': True}} "
                    "(2.8 and later)"
                ),
            ),
            fix("With a package pass no cubin_dir of your own"),
        ),
        guide="guides/package-and-load.md#kernel-binaries-not-found",
        next_tool="inspect_package",
        matches=(quoted("Error: CUDA driver error: file not found", "pytorch/pytorch#120194"),),
        apart_from=(
            "kernel_image_invalid",
            "cuda_invalid_argument",
        ),
    ),
    Signature(
        id="kernel_image_invalid",
        phase="run",
        category="missing_kernel_binary",
        tier=Tier.EXACT_TEXT,
        patterns=(
            r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}(?P<what>device kernel image is invalid)",
            r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}(?P<what>cudaErrorInvalidKernelImage)",
            r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}(?P<what>CUDA_ERROR_INVALID_IMAGE)",
            (
                r"(?:CUDA (?:driver )?error|Triton Error \[CUDA\]|HIP error): (?P<what>named "
                "symbol not found)"
            ),
            (
                r"(?:CUDA (?:driver )?error|Triton Error \[CUDA\]|HIP error): (?P<what>shared "
                "object symbol not found)"
            ),
            (
                r"(?:CUDA (?:driver )?error|Triton Error \[CUDA\]|HIP error): (?P<what>shared "
                "object initialization failed)"
            ),
            (
                r"(?:CUDA (?:driver )?error|Triton Error \[CUDA\]|HIP error): (?P<what>invalid "
                "device symbol)"
            ),
            (
                r"(?:CUDA (?:driver )?error|Triton Error \[CUDA\]|HIP error): (?P<what>invalid "
                "kernel file)"
            ),
            (
                r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}?(?P<what>cudaErrorSymbolNotFound|"
                "CUDA_ERROR_NOT_FOUND|(?:cudaErrorI|CUDA_ERROR_I)(?:nvalidSource|NVALID_SOURCE)|"
                r"CUDA_ERROR_SHARED_OBJECT\w{1,200}|cudaErrorSharedObject\w{1,200}|"
                "CUDA_ERROR_FILE_NOT_FOUND|hipErrorInvalid(?:KernelFile|Image))"
            ),
        ),
        summary="A kernel binary cannot be used: {what}",
        means=(
            "It is damaged, built for another architecture or by a toolkit newer than the driver; "
            "`named symbol not found` means a stale or foreign cubin under the expected name."
        ),
        check="cuobjdump the .cubin; compare the GPU's capability with the package's.",
        fixes=(
            fix(
                (
                    "Compile again on the target GPU, into empty TORCHINDUCTOR_CACHE_DIR and "
                    "TRITON_CACHE_DIR"
                ),
            ),
        ),
        guide="guides/package-and-load.md#wrong-gpu-architecture",
        next_tool="inspect_package",
        matches=(
            quoted(
                "RuntimeError: CUDA driver error: device kernel image is invalid",
                "words of the CUDA driver",
            ),
            quoted(
                "RuntimeError: CUDA driver error: named symbol not found",
                "words of the CUDA driver",
            ),
            quoted(
                "Search for `cudaErrorSymbolNotFound' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html",
                "names of the CUDA runtime",
            ),
            words(
                "torch/utils/hipify/cuda_to_hip_mappings.py",
                "cudaErrorInvalidKernelImage",
                "CUDA_ERROR_INVALID_IMAGE",
            ),
            words(
                "programs that were not at hand",
                "CUDA error: shared object symbol not found",
                "CUDA error: shared object initialization failed",
                "CUDA error: invalid device symbol",
                "CUDA error: invalid kernel file",
            ),
        ),
        apart_from=("cubin_not_found",),
    ),
    Signature(
        id="no_kernel_image",
        phase="run",
        category="missing_kernel_binary",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}no kernel image is available for "
                "execution on the device"
            ),
            r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}hipErrorNoBinaryForGpu",
            r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}no binary for GPU",
            r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}cudaErrorNoKernelImageForDevice",
            r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}CUDA_ERROR_NO_BINARY_FOR_GPU",
            r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}invalid device function",
            r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}(?:cuda|hip)ErrorInvalidDeviceFunction",
            r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}Unable to find code object",
            (
                r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}CU(?:BLAS|DNN|SOLVER|SPARSE)"
                "_STATUS_ARCH_MISMATCH"
            ),
        ),
        summary="A kernel was built for another GPU architecture",
        means=(
            "A cubin runs only on the architecture it was compiled for. Either the package was "
            "compiled on another kind of GPU, or this torch lacks kernels for the GPU."
        ),
        check=(
            "AOTI_COMPUTE_CAPABILITY in the package's metadata (2.10 and later) against "
            "torch.cuda.get_device_capability()."
        ),
        fixes=(
            fix("Compile on the kind of GPU that serves"),
            fix("Or compile with aot_inductor.emit_multi_arch_kernel=True (2.8 and later)"),
        ),
        guide="guides/package-and-load.md#wrong-gpu-architecture",
        next_tool="inspect_package",
        matches=(
            quoted(
                "CUDA driver error: no kernel image is available for execution on the device",
                "words of the CUDA driver",
            ),
            quoted(
                "hipErrorNoBinaryForGpu: Unable to find code object for all current devices!",
                "words of ROCm",
            ),
            quoted("HIP error: no binary for GPU", "words of ROCm"),
            words(
                "torch/utils/hipify/cuda_to_hip_mappings.py",
                "cudaErrorNoKernelImageForDevice",
                "CUDA_ERROR_NO_BINARY_FOR_GPU",
                "cudaErrorInvalidDeviceFunction",
                "CUBLAS_STATUS_ARCH_MISMATCH",
            ),
            words("CUDA", "invalid device function"),
        ),
    ),
    Signature(
        id="triton_binary_refused",
        phase="triton_compile",
        category="toolchain",
        tier=Tier.EXACT_TEXT,
        patterns=(
            r"Triton Error \[CUDA\]: (?P<what>device kernel image is invalid)",
            r"Triton Error \[CUDA\]: (?P<what>no kernel image is available for execution)",
        ),
        summary="The driver refuses a kernel that Triton has just compiled: {what}",
        means=(
            "ptxas made code that this driver or GPU does not take: a ptxas newer than the driver, "
            "one set by TRITON_PTXAS_PATH, a Triton that does not know the GPU, or a cached binary "
            "of another GPU."
        ),
        check="The CUDA version in nvidia-smi against that of Triton's ptxas (ptxas --version)",
        fixes=(
            fix("Update the driver, or install the Triton and torch that fit it"),
            fix("Unset TRITON_PTXAS_PATH; empty TRITON_CACHE_DIR and TORCHINDUCTOR_CACHE_DIR"),
        ),
        guide="guides/toolchain.md#driver-too-old",
        next_tool="check_environment",
        matches=(
            quoted(
                "RuntimeError: Triton Error [CUDA]: device kernel image is invalid",
                "words of Triton's launcher",
            ),
            words(
                "programs that were not at hand",
                "Triton Error [CUDA]: no kernel image is available for execution",
            ),
        ),
        apart_from=(
            "no_kernel_image",
            "kernel_image_invalid",
        ),
    ),
)
