from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="server_counts_call_spec",
    family="A",
    phase="load",
    category="package_incompatible",
    weight=70,
    anchors=("inputs, but model expects ",),
    patterns=(
        (
            r"configuration expects (?P<given>\d{1,20}) inputs?, but model expects "
            r"(?P<expected>\d{1,20}) inputs?"
        ),
    ),
    summary="The server wants {expected} inputs, the configuration names {given}",
    means=(
        "The Triton server's PyTorch backend took the two strings of get_call_spec() (inputs "
        "and outputs) for a list of inputs, so it sees 2 whatever the model takes."
    ),
    mistaken_for="A wrong model configuration.",
    check="Load the package with aoti_load_package and call it in Python.",
    fixes=(fix("Use a server whose backend parses the call spec"),),
    guide="guides/other-platforms.md#other-runtimes",
    next_tool="inspect_package",
    references=("triton-inference-server/pytorch_backend#185",),
    matches=(
        quoted(
            'Failed to load model "my_model_0" configuration expects 1 inputs, but model '
            "expects 2 inputs.",
            "triton-inference-server/pytorch_backend#185",
        ),
    ),
)
