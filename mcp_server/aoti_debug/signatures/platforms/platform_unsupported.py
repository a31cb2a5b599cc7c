from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="platform_unsupported",
    family="Q",
    phase="environment",
    category="toolchain",
    weight=74,
    anchors=(
        "not yet supported for torch.compile",
        "torch.compile is not supported on Python",
        "Dynamo is not supported on Python",
        "not supported on Python 3",
        "Windows is not supported yet",
        "Cannot currently precompile headers on Windows",
        "currently support precompiling on Windows",
        "torch.compile is not supported",
    ),
    patterns=(
        (
            r"(?P<what>(?:Windows|Python 3\.\d{1,2}\+?) not yet supported for "
            r"torch\.compile|(?:torch\.compile|Dynamo|TorchDynamo) is not supported on "
            "Python.{0,60}|Windows is not supported yet|Cannot currently precompile headers "
            "on Windows)"
        ),
    ),
    summary="This torch does not compile on this platform: {what}",
    means=(
        "The compiler part of this torch release does not know the Python version or system "
        "in use; eager mode works."
    ),
    mistaken_for="A fault of the model.",
    fixes=(
        fix(
            "Use a torch release that names this Python and system as supported, or an older Python"
        ),
    ),
    guide="guides/other-platforms.md#windows",
    next_tool="check_environment",
    matches=(
        quoted(
            "RuntimeError: Windows not yet supported for torch.compile",
            "words of torch 2.1",
        ),
        quoted("RuntimeError: Dynamo is not supported on Python 3.12+", "words of torch 2.3"),
        quoted(
            "RuntimeError: torch.compile is not supported on Python 3.15+",
            "words of torch/__init__.py",
        ),
    ),
)
