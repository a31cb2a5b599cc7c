from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="custom_op_schema_missing",
    family="L",
    phase="load",
    category="custom_op_missing",
    weight=86,
    confidence="proved",
    anchors=("Could not find schema for ",),
    patterns=(r"Could not find schema for (?P<op>[\w:.]{1,200}\w)",),
    summary="The custom operator {op} is not registered in this process",
    means=(
        "The package calls the operator by name and does not contain it. The module or "
        "library that registers it was not imported before the package was loaded."
    ),
    mistaken_for="An outdated package",
    check="import the module that defines the op, then load again",
    fixes=(
        fix("Import the defining module (or torch.ops.load_library) before aoti_load_package"),
        fix(
            "For C++ programs write the op with TORCH_LIBRARY: ops from "
            "torch.library.custom_op need Python"
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
        recorded(
            "RuntimeError: Could not find schema for lab7::oops. Custom operators", "torch 2.13"
        ),
        quoted("Error: Could not find schema for mylib::custom_add.", "pytorch/pytorch#143786"),
    ),
)
