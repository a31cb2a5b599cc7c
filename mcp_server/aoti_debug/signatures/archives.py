"""The package file, damaged or of another kind, and the GPU kernels that it lacks."""

TABLE = r"""
archive_damaged load package_corrupt EXACT_TEXT inspect_package
    summary The file is not a complete .pt2 archive: {why}
    means A copy or download was cut short, the file is empty, or it is something else: a Git LFS pointer, an HTML page, a bare .so. `too large` means beyond the loader's zip library: keep the weights outside.
    check head -c 4 FILE must print PK; unzip -t FILE; compare size and checksum with the original.
    fix Copy the package again; fetch LFS files with git lfs pull
    pattern Failed to initialize zip archive: (?P<why>(?!file open failed|file not found).{1,120})
    pattern (?P<why>Failed to read zip filename.{0,60})
    recorded RuntimeError: Failed to initialize zip archive: failed finding central directory
    unlike example [torch.load of a checkpoint] RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory
archive_not_found load package_corrupt EXACT_TEXT inspect_package
    summary The package file cannot be opened ({why})
    means The path does not exist, is a directory or may not be read. Relative paths count from the working directory of the process that loads.
    fix Give the absolute path of an existing .pt2 file
    pattern Failed to initialize zip archive: (?P<why>file open failed)
    pattern Failed to initialize zip archive: (?P<why>file not found)
    pattern open file failed (?P<why>because of errno \d{1,3} on fopen)
    pattern open file failed (?P<why>with strerror)
    recorded RuntimeError: Failed to initialize zip archive: file open failed
checkpoint_damaged load package_corrupt SPECIFIC_TEXT inspect_package
    summary A file of weights or a program cannot be read: {what}
    means The file is cut short, empty or of another kind: an interrupted download or save, a Git LFS pointer (`invalid load key, 'v'`), an HTML page (`'<'`), or a disk that was full while saving.
    check ls -l and head -c 100 of the file; a good one begins with PK (zip) or, for safetensors, a length and {{.
    fix Copy or download the file again and compare size and checksum; git lfs pull for a pointer
    pattern PytorchStreamReader failed (?!locating file (?:data\.pkl|constants\.pkl|archive_format|models/)|opening archive)[^:]{1,80}(?::.{0,60})?
    pattern unexpected EOF, expected \d{1,20} more bytes || Invalid magic number; corrupt file\?
    pattern enforce fail at inline_container\.cc:\d{1,5}\] ?\. ?file not found.{0,60}
    pattern ASSERT FAILED at .{1,120}inline_container\.(?:h|cc):\d{1,5}
    pattern Invalid protocol version: .{0,20} || invalid load key, '.{1,6}'
    pattern EOFError: Ran out of input || BadZipFile: .{0,60} || archive does not contain any files
    pattern file in archive is not in a subdirectory || istream reader failed: .{0,60}
    pattern SafetensorError: (?P<what>Error while deserializing.{0,100})
    pattern size \d{1,15} is not a multiple of element size \d{1,3}
    unconfirmed pickle data was truncated || Bad CRC-32 for file .{0,80}
    unconfirmed Read less bytes than requested
    unconfirmed WeightsUnpickler error: Unsupported operand \d{1,3}
    unconfirmed SafetensorError: (?P<what>(?:Invalid|Incomplete|Metadata).{0,100})
    recorded RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory. This is an internal miniz error.
    recorded RuntimeError: unexpected EOF, expected 1912 more bytes. The file might be corrupted.
    recorded _pickle.UnpicklingError: invalid load key, 'v'.
    recorded EOFError: Ran out of input
    recorded [CPython 3.11] zipfile.BadZipFile: File is not a zip file
    example [safetensors] safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer
    unlike recorded RuntimeError: PytorchStreamReader failed locating file data.pkl:
checkpoint_refused load user_code KIND_TEXT inspect_package
    summary torch.load refuses this file under weights_only=True: {what}
    means Since 2.6 torch.load reads tensors only. A whole pickled module, a TorchScript archive or a file that is not a checkpoint (a Git LFS pointer) fails here, before anything is compiled.
    check file and head -c 100 of the file.
    fix Save and load a state_dict; weights_only=False for a file you trust; torch.jit.load for TorchScript
    guide package-and-load.md#not-an-aoti-package
    pattern Weights only load failed || Unsupported global: GLOBAL \S{1,100}
    pattern Cannot use ``weights_only=True`` with .{1,40}
    pattern did you mean to use torch\.jit\.load\(\)
exported_program_unreadable load package_incompatible BROAD_TEXT envelope inspect_package
    summary torch.export.load could not read the file; the reason is above
    means A compiled package given to torch.export.load, a custom op that is not registered, or a file of another torch release.
    check Read the warnings above; unzip -l FILE shows models/ for an exported program.
    guide package-and-load.md#not-an-aoti-package
    pattern We ran into an error when deserializing the saved file
model_not_in_package load user_code EXACT_TEXT inspect_package
    summary The package holds no model called {model}
    means The name given as model_name is not one of the package's; the lines below list those that it has.
    fix Use a name of `Available models`, or leave model_name out for a single model
    guide package-and-load.md#wrong-model-name
    pattern Failed to find a generated cpp file or so file for model '(?P<model>(?!model')[^']{1,80})'
    pattern found in zip archive with the prefix \S{0,120}data/aotinductor/(?P<model>\S{1,80}?)Loaded the following
    pattern Model (?P<model>\S{1,80}) not found in (?:package|PT2 archive contents)
    example [the 2.8 loader] RuntimeError: No AOTInductor generate cpp file or so file found in zip archive with the prefix base/data/aotinductor/nopeLoaded the following:
no_model_for_old_loader load package_incompatible EXACT_TEXT inspect_package
    summary This torch finds no compiled model where it looks for one
    means Loaders up to 2.7 look at the top of the archive; torch 2.8 and later write below a folder. Or torch.export.save wrote the file (not compiled).
    check unzip -l FILE: models/model.json means an exported program.
    fix Load it with torch 2.8 or later, or compile it with the torch that loads it
    guide package-and-load.md#torch-versions-of-both-sides
    pattern No AOTInductor generate cpp file or so file found in zip archive\.
    example [the 2.6 and 2.7 loader] RuntimeError: No AOTInductor generate cpp file or so file found in zip archive. Loaded the following:
not_an_aoti_package load package_corrupt EXACT_TEXT inspect_package
    summary The archive holds no compiled model called `model`
    means torch.export.save wrote it (an exported program, not compiled), its model has another name, or it is empty.
    check unzip -l FILE: models/model.json means an exported program, data/aotinductor/NAME/ gives the name.
    fix Compile first: torch._inductor.aoti_compile_and_package(torch.export.load(path), package_path='m.pt2')
    fix Or pass the model's name as model_name
    guide package-and-load.md#not-an-aoti-package
    pattern Failed to find a generated cpp file or so file for model 'model'
    pattern No files found in zip archive
outdated_pt2 load package_incompatible GENERAL_TEXT envelope possible inspect_package
    summary The first loader failed; the file itself is rarely outdated
    means Any RuntimeError of the new loader prints this (missing compiler, wrong device, damaged archive), then the old loader runs. If that one works, there was no fault.
    check Call torch.export.pt2_archive._package.load_pt2(path) to see the first error; read the error below.
    fix Fix the error that follows; if none follows, install a C++ compiler or ignore it
    guide package-and-load.md#loading-outdated-pt2-file
    pattern Loading outdated pt2 file\. Please regenerate your package
package_file_missing load package_corrupt EXACT_TEXT inspect_package
    summary A file of the package is missing or unreadable: {what}
    means Missing `..._compile_flags.json` means that there is no compiled .so: the loader falls back to compiling the sources. Up to 2.6 the text says `File found`, which means not found.
    fix Use the package as compiled; do not repack it (some tools drop files called metadata.json)
    fix A cpp-only package must be built before loading
    guide package-and-load.md#damaged-or-missing-library
    pattern File (?:not )?found: \S{1,300}(?:_compile_flags|_linker_flags|_metadata)\.json
    pattern Failed to find wrapper metadata for model || \[json\.exception\.\w{1,200}\.\d{1,20}\]
package_incomplete load package_corrupt SPECIFIC_TEXT inspect_package
    summary The package is inconsistent: {what}
    means Files that belong together are missing, doubled or differ from what the index says: repacked by hand, merged from two packages, or written only in part.
    check unzip -l FILE: one wrapper.so per model, with its metadata beside it.
    fix Use the package exactly as aoti_compile_and_package wrote it, or compile again
    pattern Multiple wrapper shared libraries found in AOTI package.{0,80}
    pattern Shared model directory is empty: \S{0,200} || Failed to find parent path in \S{0,200}
    pattern Expected json_file\.is_open\(\) to be true
    pattern \S{1,200} not found in PT2 archive(?! contents)
    pattern Unable to find file with suffix \S{1,40}
    pattern Unable to reconstruct complete tensor from group || Cannot reconstruct tensor safely
    pattern Failed to open custom obj file || (?:Inv|S)\w{1,6} ?serialized ScalarType value
    pattern Serialized ScalarType value out of range
program_of_another_version load package_incompatible EXACT_TEXT inspect_package
    summary The saved program is of another torch release: {what}
    means A newer or a much older torch wrote the file than the one that reads it, or the operators it names are not in this build.
    fix Read it with the release that wrote it, or export again with this one
    fix For an unknown operator import the library that registers it first
    guide package-and-load.md#torch-versions-of-both-sides
    pattern Saved archive version \S{1,20} does not match our current archive version \S{1,20}
    pattern AssertionError: Invalid archive format
    pattern Serialized version .{1,40}? does not match our current schema version
    pattern Attempted to read a PyTorch file with version \d{1,6}
    pattern (?:minimum|maximum) supported version for reading is
    pattern unsupported archive format from the preview release
    pattern Version in the saved file has incorrect length || Unknown builtin op: \S{1,100}
    pattern Serialized schema version .{1,80} does not match our current schema version
    pattern Failed deserializing node .{1,120} || Unable to deserialize output node
    pattern \w{1,200} is not a valid tag for \w{1,200}\. Available tags
    pattern Unable to load outdated profile
    recorded AssertionError: Invalid archive format
capability_mismatch load missing_kernel_binary SPECIFIC_TEXT inspect_package
    summary The package was compiled for compute capability {package}, this GPU has {here}
    means Its kernels are binaries for that architecture and will not load on this one.
    fix Compile on this kind of GPU, or with aot_inductor.emit_multi_arch_kernel=True
    guide package-and-load.md#wrong-gpu-architecture
    pattern Device information mismatch for AOTI_COMPUTE_CAPABILITY: (?P<here>\S{0,20}) vs (?P<package>\S{1,20})\.
    example [loader] Device information mismatch for AOTI_COMPUTE_CAPABILITY: 90 vs 80.
cubin_not_found run missing_kernel_binary NAMED_TEXT inspect_package
    summary A kernel binary (.cubin) is not where the library looks for it
    means A bare .so loads cubins from the absolute path of the compile; a package from its unpack folder. The message does not name the file.
    check strace -e openat, or unzip -l for .cubin files; a bare .so moved from its folder is the usual case.
    fix Ship a .pt2 made by aoti_compile_and_package, not the bare .so
    fix Or compile with inductor_configs={'aot_inductor.embed_kernel_binary': True} (2.8 and later)
    fix With a package pass no cubin_dir of your own
    pattern CUDA driver error: file not found
    quoted [pytorch/pytorch#120194] Error: CUDA driver error: file not found
kernel_image_invalid run missing_kernel_binary EXACT_TEXT inspect_package
    summary A kernel binary cannot be used: {what}
    means It is damaged, built for another architecture or by a toolkit newer than the driver; `named symbol not found` means a stale or foreign cubin under the expected name.
    check cuobjdump the .cubin; compare the GPU's capability with the package's.
    fix Compile again on the target GPU, into empty TORCHINDUCTOR_CACHE_DIR and TRITON_CACHE_DIR
    guide package-and-load.md#wrong-gpu-architecture
    pattern ^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}(?P<what>device kernel image is invalid)
    pattern ^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}(?P<what>(?:cudaErrorInvalidKernelImage|CUDA_ERROR_INVALID_IMAGE))
    pattern (?:CUDA (?:driver )?error|Triton Error \[CUDA\]|HIP error): (?P<what>(?:named|shared object) symbol not found)
    pattern ^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}?(?P<what>cudaErrorSymbolNotFound|CUDA_ERROR_NOT_FOUND|(?:cudaErrorI|CUDA_ERROR_I)(?:nvalidSource|NVALID_SOURCE)|CUDA_ERROR_SHARED_OBJECT\w{1,200}|cudaErrorSharedObject\w{1,200}|CUDA_ERROR_FILE_NOT_FOUND|hipErrorInvalid(?:KernelFile|Image))
    unconfirmed (?:CUDA (?:driver )?error|Triton Error \[CUDA\]|HIP error): (?P<what>shared object initialization failed)
    unconfirmed (?:CUDA (?:driver )?error|Triton Error \[CUDA\]|HIP error): (?P<what>invalid (?:device symbol|kernel file))
    example [the CUDA driver] RuntimeError: CUDA driver error: named symbol not found
no_kernel_image run missing_kernel_binary EXACT_TEXT inspect_package
    summary A kernel was built for another GPU architecture
    means A cubin runs only on the architecture it was compiled for. Either the package was compiled on another kind of GPU, or this torch lacks kernels for the GPU.
    check AOTI_COMPUTE_CAPABILITY in the package's metadata (2.10 and later) against torch.cuda.get_device_capability().
    fix Compile on the kind of GPU that serves
    fix Or compile with aot_inductor.emit_multi_arch_kernel=True (2.8 and later)
    guide package-and-load.md#wrong-gpu-architecture
    after ^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}
    pattern (?:no kernel image is available for execution on the device|no binary for GPU|invalid device function)
    pattern (?:hipErrorNoBinaryForGpu|cudaErrorNoKernelImageForDevice|CUDA_ERROR_NO_BINARY_FOR_GPU)
    pattern (?:cuda|hip)ErrorInvalidDeviceFunction || Unable to find code object
    pattern CU(?:BLAS|DNN|SOLVER|SPARSE)_STATUS_ARCH_MISMATCH
    example [ROCm] HIP error: no binary for GPU
triton_binary_refused triton_compile missing_kernel_binary EXACT_TEXT check_environment
    summary The driver refuses a kernel that Triton has just compiled: {what}
    means ptxas made code that this driver or GPU does not take: a ptxas newer than the driver, one set by TRITON_PTXAS_PATH, a Triton that does not know the GPU, or a cached binary of another GPU.
    check The CUDA version in nvidia-smi against that of Triton's ptxas (ptxas --version)
    fix Update the driver, or install the Triton and torch that fit it
    fix Unset TRITON_PTXAS_PATH; empty TRITON_CACHE_DIR and TORCHINDUCTOR_CACHE_DIR
    guide toolchain.md#driver-too-old
    pattern Triton Error \[CUDA\]: (?P<what>device kernel image is invalid)
    unconfirmed Triton Error \[CUDA\]: (?P<what>no kernel image is available for execution)
"""
