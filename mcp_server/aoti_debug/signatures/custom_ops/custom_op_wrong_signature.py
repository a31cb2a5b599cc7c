from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="custom_op_wrong_signature",
    family="L",
    phase="run",
    category="package_incompatible",
    weight=80,
    anchors=("Tried to access or call an operator with a wrong signature",),
    patterns=(
        (
            r"Tried to access or call an operator with a wrong signature(?:\.\s{0,20}operator: "
            r"(?P<op>[\w:.]{1,200}))?"
        ),
    ),
    summary="An operator library was built for another schema than the one registered",
    means=(
        "A typed call was compiled against one signature, and the library loaded here "
        "registers another: two versions of the op library (fbgemm and the like) meet."
    ),
    mistaken_for="A wrong argument in the model",
    check="Versions of the op library where the package was made and where it runs",
    fixes=(fix("Install the same version of the op library on both sides and recompile"),),
    guide="guides/custom-ops.md#wrong-signature",
    next_tool="check_environment",
    references=("pytorch/pytorch#135563",),
    matches=(
        quoted(
            "Tried to access or call an operator with a wrong signature. operator: "
            "fbgemm::permute_2D_sparse_data",
            "pytorch/pytorch#135563",
        ),
    ),
)
