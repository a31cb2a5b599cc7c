from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="no_available_model",
    family="N",
    phase="run",
    category="concurrency",
    weight=78,
    anchors=(
        "No available models in container",
        "No model available in container",
        "event was not initialized",
    ),
    patterns=(
        (
            "No available models? in container|No model available in container|Model (?:CUDA "
            "|XPU )?event was not initialized"
        ),
    ),
    summary=("The pool of model instances in the package's container is empty or in a bad state"),
    means=(
        "More threads than instances call the runner, or an earlier call on an instance "
        "failed and was never completed."
    ),
    check="One thread alone works?",
    fixes=(
        fix(
            "Create the runner with num_models of at least the number of threads; serialise "
            "calls otherwise"
        ),
        fix("After a failed call create a new runner"),
    ),
    guide="guides/threads-streams-hangs.md#no-available-model",
    next_tool="triage",
    matches=(
        quoted("RuntimeError: No available models in container!", "text of model_container.h"),
        quoted("Error: No model available in container!", "text of model_container.h"),
    ),
    neighbours=(
        quoted(
            "Error: The model did not finish successfully. Error: an illegal memory access "
            "was encountered",
            "a fault of the model itself",
        ),
    ),
)
