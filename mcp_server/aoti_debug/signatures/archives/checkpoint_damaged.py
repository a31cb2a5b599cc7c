from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="checkpoint_damaged",
    family="E",
    phase="load",
    category="package_corrupt",
    weight=68,
    anchors=(
        "PytorchStreamReader failed ",
        "unexpected EOF, expected ",
        "Invalid magic number; corrupt file?",
        "invalid load key, '",
        "Ran out of input",
        "pickle data was truncated",
        "BadZipFile",
        "Bad CRC-32 for file",
        "SafetensorError: ",
        "not a multiple of element size",
        "archive does not contain any files",
        "file in archive is not in a subdirectory",
        "Read less bytes than requested",
        "istream reader failed: ",
        "Invalid protocol version: ",
        "WeightsUnpickler error: Unsupported operand ",
    ),
    patterns=(
        (
            "(?P<why>PytorchStreamReader failed (?!locating file "
            r"(?:data\.pkl|constants\.pkl|archive_format|models/)|opening "
            r"archive)[^:]{1,80}(?::.{0,60})?"
            r"|unexpected EOF, expected \d{1,20} more bytes|Invalid "
            r"magic number; corrupt file\?|Invalid protocol version: .{0,20}|invalid load "
            "key, '.{1,6}'|EOFError: Ran out of input|pickle data was truncated|BadZipFile: "
            ".{0,60}|Bad CRC-32 for file .{0,80}|archive does not contain any files|file in "
            "archive is not in a subdirectory|Read less bytes than requested|istream reader "
            r"failed: .{0,60}|WeightsUnpickler error: Unsupported operand \d{1,3})"
        ),
        (
            "SafetensorError: (?P<why>(?:Error while "
            "deserializing|Invalid|Incomplete|Metadata).{0,100})"
        ),
        r"(?P<why>size \d{1,15} is not a multiple of element size \d{1,3})",
    ),
    summary="A file of weights or a program cannot be read: {why}",
    means=(
        "The file is cut short, empty or of another kind: an interrupted download or save, a "
        "Git LFS pointer (`invalid load key, 'v'`), an HTML page (`'<'`), or a disk that was "
        "full while saving."
    ),
    mistaken_for="A torch that is too old.",
    check=(
        "ls -l and head -c 100 of the file; a good one begins with PK (zip) or, for "
        "safetensors, a length and {{."
    ),
    fixes=(
        fix(
            "Copy or download the file again and compare size and checksum; git lfs pull for "
            "a pointer"
        ),
    ),
    guide="guides/package-and-load.md#damaged-archives",
    next_tool="inspect_package",
    matches=(
        recorded(
            "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding "
            "central directory. This is an internal miniz error.",
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
            "safetensors_rust.SafetensorError: Error while deserializing header: "
            "MetadataIncompleteBuffer",
            "words of safetensors",
        ),
        quoted(
            "ValueError: Record data/weights/weight_0: size 10 is not a multiple of element "
            "size 4 for dtype torch.float32",
            "words of torch/export/pt2_archive/_package.py",
        ),
    ),
    neighbours=(
        recorded(
            "RuntimeError: PytorchStreamReader failed locating file data.pkl:",
            "torch 2.13.0, CPU",
        ),
    ),
    apart_from=("opened_by_wrong_function",),
)
