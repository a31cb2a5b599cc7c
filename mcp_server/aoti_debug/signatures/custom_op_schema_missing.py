from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="custom_op_schema_missing",
    family="L",
    phase="load",
    category="custom_op_missing",
    weight=86,
    confidence="proved",
    anchors=("Could not find schema for ",),
    patterns=(r"Could not find schema for (?P<op>[\w:.]+\w)",),
    summary="The custom operator {op} is not registered in this process",
    means=(
        "The package calls the operator by name and does not contain it. The module or "
        "library that registers it was not imported before the package was loaded."
    ),
    mistaken_for="An outdated package",
    check="import the module that defines the op, then load again",
    fixes=(
        Fix(
            what=("Import the defining module (or torch.ops.load_library) before aoti_load_package")
        ),
        Fix(
            what=(
                "For C++ programs write the op with TORCH_LIBRARY: ops from "
                "torch.library.custom_op need Python"
            )
        ),
    ),
    guide="guides/custom-ops.md#schema-not-found",
    next_tool="inspect_package",
    references=(
        "pytorch/pytorch#143786",
        "pytorch/pytorch#145394",
        "pytorch/pytorch#134581",
        "pytorch/pytorch#148811",
    ),
    matches=(
        Sample(
            (
                "RuntimeError: Could not find schema for lab7::oops. Custom operators "
                "created via torch.library.custom_op cannot be run via AOTI without Python "
                "environment. Consider using C++ TORCH_LIBRARY APIs. See the Custom "
                "Operators Landing Page "
                "https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html for "
                "more details."
            ),
            "recorded",
            "torch 2.13",
        ),
        Sample(
            "Error: Could not find schema for mylib::custom_add.",
            "quoted",
            "pytorch/pytorch#143786",
        ),
    ),
)
