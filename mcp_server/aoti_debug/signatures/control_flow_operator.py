from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="control_flow_operator",
    family="J",
    phase="lower",
    category="lowering_error",
    weight=64,
    anchors=(
        "'int' object has no attribute 'meta'",
        "UncapturedHigherOrderOpError",
        "doesn't work unless it is captured completely",
        "NYI cpp wrapper for while_loop",
        "invoke_subgraph is not",
        "while_loop()",
        "A subgraph argument other than striding",
        "Higher order ops do not support",
    ),
    patterns=(
        (
            "'int' object has no attribute 'meta'|UncapturedHigherOrderOpError|"
            "NYI cpp wrapper for while_loop_stack_output|"
            "codegen invoke_subgraph is not implemented for cpp wrapper|"
            "A subgraph argument other than striding has been modified|"
            r"Higher order ops do not support \w+|while_loop\(\): .{0,80}"
        ),
    ),
    summary=(
        "A control flow operator (cond, while_loop, scan) is used in a way the compiler "
        "does not support"
    ),
    means=(
        "Branches must return fresh tensors of equal shape and dtype, loop state must be "
        "tensors, and nested subgraphs are only partly supported by the C++ wrapper."
    ),
    check="Does the model compile with the control flow replaced by one branch?",
    fixes=(
        Fix(
            what=(
                "Carry integers of the loop as 0-d tensors; return clones rather than "
                "inputs or views from branches"
            )
        ),
        Fix(what="Keep the loop in Python and compile its body"),
    ),
    guide="guides/lowering-and-cpp.md#control-flow-operators",
    next_tool="minify",
    references=(
        "pytorch/pytorch#166525",
        "pytorch/pytorch#168398",
        "pytorch/pytorch#190908",
    ),
    matches=(
        Sample(
            (
                "torch._inductor.exc.InductorError: LoweringException: AttributeError: "
                "'int' object has no attribute 'meta'"
            ),
            "quoted",
            "pytorch/pytorch#166525",
        ),
        Sample(
            (
                "torch._inductor.exc.InductorError: AssertionError: A subgraph argument "
                "other than striding has been modified; FakeTensorUpdater cannot update "
                "this argument!"
            ),
            "recorded",
            "torch 2.13 CPU, int in while_loop state",
        ),
        Sample(
            (
                "torch._dynamo.exc.UncapturedHigherOrderOpError: This higher order operator "
                "doesn't work unless it is captured completely with torch.compile. Got "
                "graph break/error:"
            ),
            "recorded",
            "torch 2.13, cond whose branch returns a view",
        ),
    ),
)
