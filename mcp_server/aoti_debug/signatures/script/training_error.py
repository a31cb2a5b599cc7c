from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="training_error",
    family="P",
    phase="none",
    category="user_code",
    weight=58,
    confidence="possible",
    anchors=(
        "does not require grad and does not have a grad_fn",
        "a leaf Variable that requires grad",
        "variables needed for gradient computation",
        "Trying to backward through the graph a second time",
        "grad can be implicitly created only for scalar outputs",
        "optimizer got an empty parameter list",
        "can't optimize a non-leaf Tensor",
        "parameters appear in more than one parameter group",
        "loaded state dict contains a parameter group",
        "loaded state dict has a different number of",
        "Attempting to unscale FP16 gradients",
        "No inf checks were recorded for this optimizer",
        "DataLoader worker (pid",
        " in DataLoader worker process ",
        " is not an Optimizer",
        "Expected to have finished reduction in the prior iteration",
    ),
    patterns=(
        (
            "(?P<what>does not require grad and does not have a grad_fn|a leaf Variable that "
            "requires grad|variables needed for gradient computation has been modified"
            "|Trying to backward through the graph a second time|grad can be implicitly "
            "created only for scalar outputs|Attempting to unscale FP16 gradients|No inf "
            "checks were recorded for this optimizer|Expected to have finished reduction in "
            "the prior iteration)"
        ),
        (
            "(?P<what>optimizer got an empty parameter list|can't optimize a non-leaf Tensor"
            "|parameters appear in more than one parameter group|loaded state dict (?:contains "
            r"a parameter group|has a different number of)|\w{1,200} is not an Optimizer)"
        ),
        (
            r"(?P<what>DataLoader worker \(pid\(?s?\)? [\d, ]{1,80}\) (?:is killed|exited)"
            r"|Caught \w{1,200} in DataLoader worker process)"
        ),
    ),
    summary="The training code stopped, not a compiled model: {what}",
    means=(
        "Autograd, an optimizer or the loader of the data refused what the script asked for. "
        "AOTInductor compiles inference only and has no part in it."
    ),
    check="No frame of the traceback lies in torch/_inductor",
    fixes=(fix("Correct the training loop; export under torch.no_grad() and model.eval()"),),
    guide="guides/debugging-tools.md#an-unknown-failure",
    matches=(
        recorded(
            "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "RuntimeError: a leaf Variable that requires grad is being used in an in-place "
            "operation.",
            "torch 2.13.0, CPU",
        ),
        recorded("ValueError: optimizer got an empty parameter list", "torch 2.13.0, CPU"),
        quoted(
            "RuntimeError: DataLoader worker (pid 4242) is killed by signal: Killed.",
            "a string of the installed libtorch_python",
        ),
    ),
    neighbours=(quoted("RuntimeError: DataLoader worker count is 4", "harmless"),),
)
