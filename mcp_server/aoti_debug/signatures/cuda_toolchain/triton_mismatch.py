from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="triton_mismatch",
    family="G",
    phase="environment",
    category="toolchain",
    weight=80,
    anchors=(
        "from 'triton",
        "module 'triton",
        "No module named 'triton.",
        "concrete subclasses of",
        "No module named 'pytorch_triton",
        "triton_key",
        "Failed to load newly compiled",
    ),
    patterns=(
        (
            r"ImportError: (?P<what>cannot import name '\w{1,60}' from (?:partially "
            r"initialized module )?'triton[\w.]{0,80}')"
        ),
        (
            r"AttributeError: (?P<what>(?:partially initialized )?module 'triton[\w.]{0,80}' "
            r"has no attribute '\w{1,60}')"
        ),
        (
            "ModuleNotFoundError: (?P<what>No module named "
            r"'(?:triton\.|pytorch_triton)[\w.]{0,80}')"
        ),
        "RuntimeError: (?P<what>Found (?:0|>1) concrete subclasses of .{1,80})",
    ),
    summary="The installed Triton is not the release that this torch works with: {what}",
    means=(
        "Inductor and custom kernels use Triton's inner modules, which move from release to "
        "release; a second Triton package (triton-nightly, pytorch-triton, triton-windows) "
        "may also lie over the first."
    ),
    mistaken_for="A fault of the model.",
    check="pip list | grep -i triton, against the version that pip show torch requires.",
    fixes=(fix("Remove all Triton packages and install the one that torch requires"),),
    guide="guides/toolchain.md#triton-missing-or-mismatched",
    next_tool="check_environment",
    matches=(
        quoted(
            "ImportError: cannot import name 'triton_key' from 'triton.compiler.compiler' "
            "(/opt/venv/triton/compiler/compiler.py)",
            "common form in public threads",
        ),
        quoted(
            "AttributeError: module 'triton' has no attribute 'jit'",
            "common form in public threads",
        ),
        quoted(
            "ModuleNotFoundError: No module named 'triton.ops'",
            "common form in public threads",
        ),
        quoted(
            "RuntimeError: Found 0 concrete subclasses of <class 'DriverBase'>",
            "words of triton/backends/__init__.py",
        ),
    ),
    apart_from=("triton_missing",),
)
