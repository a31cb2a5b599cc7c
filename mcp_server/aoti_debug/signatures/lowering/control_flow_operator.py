from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

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
        "Output aliasing is currently not supported in compiled torch.",
        "while_loop is assumed to have at least one operand",
        "NYI: while_loop_stack_output",
        "only carries can be mutated",
        "while_loop has fewer non-mutated outputs",
        "while_loop mutation outputs contain a cycle",
        "associative_scan must be captured completely",
        "Expect branches to ",
        "torch.cond currently only supports",
    ),
    patterns=(
        (
            "doesn't work unless it is captured completely|Output aliasing is currently not "
            r"supported in compiled torch\.|while_loop is assumed to have at least one operand"
            "|NYI: while_loop_stack_output|only carries can be mutated|while_loop has fewer "
            "non-mutated|while_loop mutation outputs contain|associative_scan must be captured "
            r"completely|Expect branches to |torch\.cond currently only supports"
        ),
        (
            "'int' object has no attribute 'meta'|UncapturedHigherOrderOpError|NYI cpp "
            "wrapper for while_loop_stack_output|codegen invoke_subgraph is not implemented "
            "for cpp wrapper|A subgraph argument other than striding has been modified|Higher "
            r"order ops do not support \w{1,200}|while_loop\(\): .{0,80}"
        ),
    ),
    summary=(
        "A control flow operator (cond, while_loop, scan) is used in a way the compiler does "
        "not support"
    ),
    means=(
        "Branches must return fresh tensors of equal shape and dtype, loop state must be "
        "tensors, and nested subgraphs are only partly supported by the C++ wrapper."
    ),
    check="Does the model compile with the control flow replaced by one branch?",
    fixes=(
        fix(
            "Carry integers of the loop as 0-d tensors; return clones rather than inputs or "
            "views from branches"
        ),
        fix("Keep the loop in Python and compile its body"),
    ),
    guide="guides/lowering-and-cpp.md#control-flow-operators",
    next_tool="minify",
    references=("pytorch/pytorch#166525", "pytorch/pytorch#168398", "pytorch/pytorch#190908"),
    matches=(
        quoted(
            "torch._inductor.exc.InductorError: LoweringException: AttributeError: 'int' "
            "object has no attribute 'meta'",
            "pytorch/pytorch#166525",
        ),
        quoted(
            "AssertionError: Output aliasing is currently not supported in compiled torch.cond.",
            "words of torch/_inductor/ir.py",
        ),
        recorded(
            "torch._inductor.exc.InductorError: AssertionError: A subgraph argument other "
            "than striding has been modified;",
            "torch 2.13 CPU, int in while_loop state",
        ),
        recorded(
            "torch._dynamo.exc.UncapturedHigherOrderOpError: This higher order",
            "torch 2.13, cond whose branch returns a view",
        ),
    ),
)
