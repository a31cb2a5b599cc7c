from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="dynamo_broke_graph",
    family="J",
    phase="export",
    category="lowering_error",
    role="symptom",
    weight=30,
    confidence="possible",
    anchors=(
        "compile-graph-break-site",
        "Developer debug context: ",
        "This graph break is fundamental",
        "Graph break in user code at ",
        "#dynamic-shapes-validation",
        "generated/exportdb/index.html",
    ),
    patterns=(
        (
            "compile-graph-break-site|Developer debug context: |This graph break is "
            "fundamental|Graph break in user code at |generated/exportdb/index.html"
        ),
    ),
    summary="Dynamo met Python code that it cannot put into a graph",
    means=(
        "With torch.compile this only splits the graph and is often harmless; with "
        "torch.export(strict=True) it ends the export."
    ),
    mistaken_for="The reason of a later failure of a compiled model",
    check="Is torch.export.export in the traceback?",
    fixes=(fix("torch.export.export(..., strict=False), or rewrite the named line"),),
    guide="guides/lowering-and-cpp.md#export-errors",
    matches=(
        recorded(
            " For more details about this graph break, please visit: https://meta-pytorch."
            "github.io/compile-graph-break-site/gb/gb0059.html",
            "torch 2.13.0, CPU, strict=True",
        ),
    ),
)
