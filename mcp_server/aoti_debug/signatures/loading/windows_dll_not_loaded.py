from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="windows_dll_not_loaded",
    family="Q",
    phase="environment",
    category="toolchain",
    weight=66,
    anchors=(
        "exit code",
        "exit status",
        "exited with",
        "exception: code",
        "exception code",
        "[WinError 126]",
        "[WinError 1114]",
        "[WinError 998]",
        "[WinError 193]",
        "DLL load failed",
        "error in LoadLibrary for ",
        "WinError 126",
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
)
