from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="export_graph_invalid",
    family="J",
    phase="export",
    category="lowering_error",
    weight=62,
    anchors=(
        "SpecViolationError: ",
        "torch._export.error.",
        "torch._export.pass_base.",
        "ExportPassBaseError",
        "TS2EPConverter failed for node",
        "No registered serialization name for ",
        "Node referenced nonexistent target",
        "torch.fx.proxy.TraceError",
        "symbolically trace a dynamo-optimized function",
    ),
    patterns=(
        (
            r"SpecViolationError: (?!(?:State dict entry"
            r"|\w{1,200} \S{1,120} is not in the state "
            r"dict))(?P<what>.{1,160})"
        ),
        (
            r"torch\._export\.(?:error|pass_base)\.(?P<what>\w{1,200}: .{1,160})|(?P<what2>"
            "ExportPassBaseError|TS2EPConverter failed for node|No registered serialization "
            "name for |Node referenced nonexistent target|symbolically trace a "
            "dynamo-optimized function)"
        ),
        r"torch\.fx\.proxy\.TraceError: (?P<what>.{1,160})",
    ),
    summary="The exported graph breaks the rules of torch.export",
    means=(
        "Export, or a pass over its graph (decompositions, quantisation, your own), made "
        "nodes that its verifier refuses, or objects that it cannot write down."
    ),
    mistaken_for="A fault of AOTInductor, which gets the graph only after this check",
    check="Does torch.export.export pass without your passes over the graph?",
    fixes=(
        fix("Look at the node that is named, and at the pass that made it; upgrade torch"),
        fix("Give pytree classes a serialized_type_name"),
    ),
    guide="guides/lowering-and-cpp.md#export-errors",
    matches=(
        recorded(
            "torch._export.verifier.SpecViolationError: Node.meta add_1 is missing val field.",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "NotImplementedError: No registered serialization name for <class '__main__.O'> "
            "found. Please update your _register_pytree_node call with a "
            "`serialized_type_name` kwarg.",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "torch.fx.proxy.TraceError: symbolically traced variables cannot be used as "
            "inputs to control flow",
            "words of torch/fx/proxy.py",
        ),
    ),
    apart_from=("exported_weights_wrong",),
)
