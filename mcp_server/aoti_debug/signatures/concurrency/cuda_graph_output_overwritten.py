from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="cuda_graph_output_overwritten",
    family="N",
    phase="run",
    category="concurrency",
    weight=76,
    anchors=(
        "output of CUDAGraphs that has been overwritten",
        "graph capture",
        "while capturing",
        "during capturing",
        "The CUDA Graph is empty",
    ),
    patterns=(
        (
            "accessing tensor output of CUDAGraphs that has been overwritten|Offset increment "
            "outside graph capture|Cannot prepare for replay during capturing|(?:Cannot|not "
            "(?:allowed|supported|permitted)) .{0,80}(?:during (?:CUDA )?graph capture|while "
            "capturing)|The CUDA [Gg]raph is empty|graph capture .{0,40}(?:failed|invalid)"
        ),
    ),
    summary="A CUDA graph and code around it use the same memory or stream in a forbidden way",
    means=(
        "Graph replays reuse their output memory, and random numbers, copies or allocations "
        "outside the graph's own rules are refused while one is captured."
    ),
    mistaken_for="A fault of the kernels",
    check="Does it go away without mode='reduce-overhead' or without the capture?",
    fixes=(
        fix(
            "Clone outputs before the next call, or mark steps with "
            "torch.compiler.cudagraph_mark_step_begin()"
        ),
    ),
    guide="guides/threads-streams-hangs.md#cuda-graph-capture",
    matches=(
        quoted(
            "RuntimeError: Error: accessing tensor output of CUDAGraphs that has been "
            "overwritten by a subsequent run.",
            "words of torch/_inductor/cudagraph_trees.py",
        ),
        quoted(
            "RuntimeError: Offset increment outside graph capture encountered unexpectedly.",
            "words of ATen",
        ),
    ),
    apart_from=("cuda_graph_capture",),
)
