from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="no_available_model",
    family="N",
    phase="run",
    category="concurrency",
    weight=78,
    confidence="proved",
    anchors=(
        "No available models in container",
        "No model available in container",
        "Model CUDA event was not initialized",
    ),
    patterns=(
        (
            "No available models? in container|No model available in container|"
            "Model (?:CUDA |XPU )?event was not initialized"
        ),
    ),
    summary=("The pool of model instances in the package's container is empty or in a bad state"),
    means=(
        "More threads than instances call the runner, or an earlier call on an instance "
        "failed and was never completed."
    ),
    check="One thread alone works?",
    fixes=(
        Fix(
            what=(
                "Create the runner with num_models of at least the number of threads; "
                "serialise calls otherwise"
            )
        ),
        Fix(what="After a failed call create a new runner"),
    ),
    guide="guides/threads-streams-hangs.md#no-available-model",
    next_tool="triage",
    matches=(
        Sample(
            "RuntimeError: No available models in container!", "quoted", "text of model_container.h"
        ),
        Sample("Error: No model available in container!", "quoted", "text of model_container.h"),
    ),
    neighbours=(
        Sample(
            (
                "Error: The model did not finish successfully. Error: an illegal memory "
                "access was encountered"
            ),
            "quoted",
            "a fault of the model itself",
        ),
    ),
)
