from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="cache_directory_unusable",
    family="G",
    phase="lower",
    category="toolchain",
    weight=73,
    anchors=(
        "getpwuid(): uid not found",
        "No username set in the environment",
        "Could not create or locate cache dir",
        "[WinError 5] ",
        "[WinError 32] ",
        "[WinError 183] ",
        "[WinError 206] ",
        "[WinError 112] ",
        "[WinError 3] ",
        "File name too long",
        "Fail to create path ",
        "Failed to create path",
        "Too many open files",
        "Text file busy",
        "TORCHINDUCTOR_CACHE_DIR environment variable",
        "Stale file handle",
        "Input/output error",
        "There is not enough space on the disk",
    ),
    patterns=(
        (
            r"(?P<what>getpwuid\(\): uid not found: \d{1,20}|No username set in the "
            r"environment|Could not create or locate cache dir|\[WinError "
            r"(?:206|112)\].{0,160}|Fail to create path \S{0,200}|There is not enough space "
            "on the disk)"
        ),
        (
            r"(?P<what>\[WinError (?:5|32|183|3)\] "
            ".{0,200}(?:[Tt]orch_?inductor|[Tt]riton|inductor|torch_extensions).{0,60})"
        ),
        (
            r"OSError: \[Errno (?:36|24|26|116|5)\] (?P<what>(?:File name too long|Too many "
            "open files|Text file busy|Stale file handle|Input/output error).{0,160})"
        ),
    ),
    summary="A cache or temporary directory cannot be used: {what}",
    means=(
        "Inductor and Triton keep files below the user's name or home: an unknown user id in "
        "a container, paths beyond 260 characters and files held by another process on "
        "Windows, or a failing network disk stop them."
    ),
    mistaken_for="A fault of the model.",
    check=(
        "python -c 'import getpass; print(getpass.getuser())', and the length of the path named."
    ),
    fixes=(
        fix(
            "Set TORCHINDUCTOR_CACHE_DIR and TRITON_CACHE_DIR to a short, local directory "
            "that you own"
        ),
        fix(
            "In a container give the user a name (passwd entry or USER=app); on Windows "
            "allow long paths"
        ),
    ),
    guide="guides/toolchain.md#caches-and-disk-space",
    next_tool="check_environment",
    matches=(
        recorded("KeyError: 'getpwuid(): uid not found: 77777'", "CPython 3.11"),
        quoted(
            "PermissionError: [WinError 5] Access is denied: "
            r"'C:\Users\a\AppData\Local\Temp\torchinductor_a\x'",
            "words of Python",
        ),
        quoted(
            r"FileNotFoundError: [WinError 206] The filename or extension is too long: 'C:\x'",
            "words of Python",
        ),
        quoted(
            "OSError: [Errno 36] File name too long: '/tmp/torchinductor_a/x'",
            "words of Python",
        ),
        quoted(
            "RuntimeError: Could not create or locate cache dir",
            "words of triton/runtime/cache.py",
        ),
    ),
    apart_from=("disk_unusable",),
)
