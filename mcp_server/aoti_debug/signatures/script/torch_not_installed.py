from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="torch_not_installed",
    family="G",
    phase="environment",
    category="toolchain",
    weight=90,
    confidence="proved",
    anchors=("No module named 'torch'",),
    patterns=("ModuleNotFoundError: No module named 'torch'",),
    summary="The interpreter that ran this has no torch",
    means=(
        "Python itself is fine: the script was started with an interpreter, or in an "
        "environment, in which torch is not installed."
    ),
    check="`python -c 'import torch'` with the interpreter that the run names",
    fixes=(
        fix(
            "Name the interpreter that has torch: `python` of the tools, --python on a command "
            "line, or AOTI_DEBUG_PYTHON in the environment"
        ),
        fix("If none has it, install torch into the one that runs the script"),
    ),
    guide="guides/toolchain.md#toolchain",
    next_tool="check_environment",
    matches=(recorded("ModuleNotFoundError: No module named 'torch'", "Python 3.11, a bare venv"),),
    neighbours=(
        quoted("ModuleNotFoundError: No module named 'torch._six'", "another release of torch"),
        quoted("ModuleNotFoundError: No module named 'torchvision'", "another package"),
    ),
    apart_from=("user_python_error", "triton_missing", "triton_mismatch"),
)
