from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="windows_link_error",
    family="Q",
    phase="cpp_compile",
    category="cpp_error",
    weight=72,
    anchors=(
        "LNK2019",
        "LNK1120",
        "LNK1104",
        "LNK1181",
        "WinMain",
        "fatal error C1083",
        "error C2",
    ),
    patterns=(
        (
            r"error LNK(?P<code>\d+)|undefined reference to [`'‘]?WinMain|fatal error C1083|"
            r"\berror C2\d{3}\b"
        ),
    ),
    summary="The Windows toolchain could not compile or link the generated code",
    means=(
        "A function that this torch build does not export, a path that was quoted wrongly, "
        "or (cross compiling with MinGW) link flags in the wrong step."
    ),
    fixes=(
        Fix(
            what=("Run from an x64 developer prompt with the cl that matches torch; upgrade torch")
        ),
    ),
    guide="guides/other-platforms.md#windows",
    next_tool="check_environment",
    references=(
        "pytorch/pytorch#139954",
        "pytorch/pytorch#166093",
        "pytorch/pytorch#149310",
    ),
    matches=(
        Sample(
            "error LNK2019: unresolved external symbol aoti_torch_check",
            "quoted",
            "pytorch/pytorch#139954",
        ),
        Sample("undefined reference to `WinMain'", "quoted", "pytorch/pytorch#166093"),
    ),
)
