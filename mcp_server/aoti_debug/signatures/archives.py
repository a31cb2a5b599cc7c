"""The package file: damaged, missing, or of another kind or version."""

from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURES = (
    Signature(
        id="archive_damaged",
        family="E",
        phase="load",
        category="package_corrupt",
        weight=80,
        anchors=("Failed to initialize zip archive: ", "Failed to read zip filename"),
        patterns=(
            (
                "Failed to initialize zip archive: (?P<why>(?!file open failed|file not "
                "found).{1,120})"
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
                "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding "
                "central directory",
                "torch.load of a checkpoint",
            ),
        ),
        apart_from=("archive_not_found",),
    ),
    Signature(
        id="archive_not_found",
        family="E",
        phase="load",
        category="package_corrupt",
        weight=78,
        anchors=("Failed to initialize zip archive: ",),
        patterns=("Failed to initialize zip archive: (?P<why>file open failed|file not found)",),
        summary="The package file cannot be opened ({why})",
        means=(
            "The path does not exist, is a directory or may not be read. Relative paths count "
            "from the working directory of the process that loads."
        ),
        fixes=(fix("Give the absolute path of an existing .pt2 file"),),
        guide="guides/package-and-load.md#damaged-archives",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: Failed to initialize zip archive: file open failed",
                "torch 2.13.0, CPU",
            ),
        ),
        apart_from=("archive_damaged",),
    ),
    Signature(
        id="archive_version_mismatch",
        family="E",
        phase="load",
        category="package_incompatible",
        weight=82,
        confidence="proved",
        anchors=("Saved archive version ", "Invalid archive format"),
        patterns=(
            (
                r"(?P<what>Saved archive version \S{1,20} does not match our current archive "
                r"version \S{1,20}|Invalid archive format)"
            ),
        ),
        summary="The archive is of another format: {what}",
        means="It was written by a torch with another package format, or by another tool.",
        fixes=(fix("Compile with the torch release that loads the package"),),
        guide="guides/package-and-load.md#torch-versions-of-both-sides",
        next_tool="inspect_package",
        since="2.8",
        matches=(
            recorded(
                "ValueError: Saved archive version 99 does not match our current archive version "
                "0.",
                "torch 2.13.0, CPU",
            ),
            recorded("AssertionError: Invalid archive format", "torch 2.13.0, CPU"),
        ),
    ),
    Signature(
        id="package_file_missing",
        family="E",
        phase="load",
        category="package_corrupt",
        weight=80,
        confidence="proved",
        anchors=(
            "_compile_flags.json",
            "_linker_flags.json",
            "_metadata.json",
            "Failed to find wrapper metadata for model",
            "[json.exception.",
        ),
        patterns=(
            (
                r"(?P<what>File (?:not )?found: \S{1,300}_(?:(?:compile|linker)_flags"
                r"|metadata)\.json|Failed to find wrapper metadata for model"
                r"|\[json\.exception\.\w+\.\d+\])"
            ),
        ),
        summary="A file of the package is missing or unreadable: {what}",
        means=(
            "Missing `..._compile_flags.json` means that there is no compiled .so: the loader "
            "falls back to compiling the sources. Up to 2.6 the text says `File found`, which "
            "means not found."
        ),
        mistaken_for="A missing JSON file.",
        fixes=(
            fix(
                "Use the package as compiled; do not repack it (some tools drop files called "
                "metadata.json)"
            ),
            fix("A cpp-only package must be built before loading"),
        ),
        guide="guides/package-and-load.md#damaged-or-missing-library",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: File not found: /tmp/aotinductor_g7H9GV/m/data/aotinductor/model/"
                "c322asgeoixejbdb7zujecwd63nhybixvyk2fmlcpabjr7nxab2z.kernel_compile_flags.json",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "RuntimeError: File found: /tmp/abcdef/data/aotinductor/model/m_linker_flags.json",
                "words of the 2.6 loader",
            ),
            recorded(
                "RuntimeError: File not found: /tmp/aotinductor_TH0Wpm/m/data/aotinductor/model/"
                "c322asgeoixejbdb7zujecwd63nhybixvyk2fmlcpabjr7nxab2z.kernel_metadata.json",
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
        id="not_an_aoti_package",
        family="E",
        phase="load",
        category="package_corrupt",
        weight=79,
        anchors=(
            "Failed to find a generated cpp file or so file for model 'model'",
            "No files found in zip archive",
        ),
        patterns=(
            (
                "Failed to find a generated cpp file or so file for model 'model'|No files found "
                "in zip archive"
            ),
        ),
        summary="The archive holds no compiled model called `model`",
        means=(
            "torch.export.save wrote it (an exported program, not compiled), its model has "
            "another name, or it is empty."
        ),
        check=(
            "unzip -l FILE: models/model.json means an exported program, data/aotinductor/NAME/ "
            "gives the name."
        ),
        fixes=(
            fix(
                "Compile first: torch._inductor.aoti_compile_and_package(torch.export.load(path), "
                "package_path='m.pt2')"
            ),
            fix("Or pass the model's name as model_name"),
        ),
        guide="guides/package-and-load.md#not-an-aoti-package",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: Failed to find a generated cpp file or so file for model 'model' "
                "in the zip archive.",
                "torch 2.13.0, CPU",
            ),
            recorded("RuntimeError: No files found in zip archive.", "torch 2.13.0, CPU"),
        ),
        apart_from=("model_not_in_package",),
    ),
    Signature(
        id="no_model_for_old_loader",
        family="E",
        phase="load",
        category="package_incompatible",
        weight=79,
        anchors=("No AOTInductor generate cpp file or so file found in zip archive",),
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
        until="2.7",
        matches=(
            quoted(
                "RuntimeError: No AOTInductor generate cpp file or so file found in zip archive. "
                "Loaded the following:",
                "words of the 2.6 and 2.7 loader",
            ),
        ),
        apart_from=("not_an_aoti_package", "model_not_in_package"),
    ),
    Signature(
        id="outdated_pt2",
        family="E",
        phase="load",
        category="package_incompatible",
        role="envelope",
        confidence="possible",
        anchors=("Loading outdated pt2 file",),
        patterns=(r"Loading outdated pt2 file\. Please regenerate your package",),
        summary="The first loader failed; the file is rarely outdated",
        means=(
            "Any RuntimeError of the new loader prints this (missing compiler, wrong device, "
            "damaged archive), then the old loader runs. If that one works, there was no fault."
        ),
        mistaken_for="A package of an old torch.",
        check=(
            "Call torch.export.pt2_archive._package.load_pt2(path) to see the first error; read "
            "the error below."
        ),
        fixes=(
            fix("Fix the error that follows; if none follows, install a C++ compiler or ignore it"),
        ),
        guide="guides/package-and-load.md#loading-outdated-pt2-file",
        next_tool="inspect_package",
        since="2.8",
        references=("pytorch/pytorch#152495", "pytorch/pytorch#153795"),
        matches=(
            recorded(
                "torch/_inductor/package/package.py:120] Loading outdated pt2 file. Please "
                "regenerate your package.",
                "torch 2.13.0, CPU",
            ),
        ),
    ),
    Signature(
        id="exported_program_unreadable",
        family="E",
        phase="load",
        category="package_incompatible",
        role="envelope",
        weight=46,
        anchors=("We ran into an error when deserializing the saved file",),
        patterns=("We ran into an error when deserializing the saved file",),
        summary="torch.export.load could not read the file; the reason stands above",
        means=(
            "A compiled package given to torch.export.load, a custom op that is not registered, "
            "or a file of another torch release."
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
        family="E",
        phase="load",
        category="user_code",
        weight=78,
        anchors=(
            "Failed to find a generated cpp file or so file for model '",
            "found in zip archive with the prefix ",
        ),
        patterns=(
            (
                "Failed to find a generated cpp file or so file for model "
                "'(?P<model>(?!model')[^']{1,80})'"
            ),
            (
                "found in zip archive with the prefix "
                r"\S{0,120}data/aotinductor/(?P<model>\S{1,80}?)Loaded the following"
            ),
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
                "RuntimeError: Failed to find a generated cpp file or so file for model 'nope' in "
                "the zip archive.",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "RuntimeError: No AOTInductor generate cpp file or so file found in zip archive "
                "with the prefix base/data/aotinductor/nopeLoaded the following:",
                "words of the 2.8 loader",
            ),
        ),
        apart_from=("not_an_aoti_package",),
    ),
)
