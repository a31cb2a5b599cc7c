from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="custom_op_unresolved",
    family="L",
    phase="load",
    category="custom_op_missing",
    weight=82,
    anchors=(
        "We failed to resolve torch.ops",
        "'_OpNamespace'",
        "missing from runtime (missing schema)",
        "Missing operator: ",
        "have corresponding operator registered",
        "Couldn't find an operator for ",
        "Following ops cannot be found",
        "Unknown builtin op: ",
        "Could not find any similar ops to ",
        "No such operator ",
        "Ensure that it is registered via torch::class_",
    ),
    patterns=(
        r"We failed to resolve (?P<op>torch\.ops[\w.]{1,200}) to an operator",
        r"'_OpNamespace' '(?P<ns>\w{1,200})' object has no attribute '(?P<name>\w{1,200})'",
        (
            r"Missing operator: \[\d{1,20}\] (?P<op>[\w:.]{1,200})"
            r"|instructions don't have corresponding "
            r"operator registered|Couldn't find an operator for (?P<op2>[\w:.]{1,200})"
            r"|Following ops "
            r"cannot be found|Unknown builtin op: (?P<op3>[\w:.]{1,200}\w)|Could not find any "
            r"similar ops to (?P<op4>[\w:.]{1,200}\w)"
            r"|\bNo such operator (?P<op5>\w{1,200}::\w{1,200})"
            r"|'[\w:.]{1,200}' missing from runtime"
        ),
        r"Tried to instantiate class '(?P<class>[\w.]{1,200})', but it does not exist! Ensure",
    ),
    summary="An operator of the graph is not registered in this process",
    means=(
        "The exported program or script refers to a custom or Triton op whose defining module "
        "was not imported. The stock minifier launcher and other fresh processes fail like "
        "this."
    ),
    mistaken_for="A damaged file",
    check="Import the module that registers the op, then load again",
    fixes=(fix("Import the defining module at the top of the script or launcher"),),
    guide="guides/custom-ops.md#ops-in-fresh-processes",
    next_tool="triage",
    matches=(
        recorded(
            "torch._export.serde.serialize.SerializeError: We failed to resolve "
            "torch.ops.lab5.oops.default to an operator.",
            "torch 2.11, minifier launcher (cut)",
        ),
        quoted(
            "AttributeError: '_OpNamespace' 'my_ops' object has no attribute 'fused'",
            "text of torch/_ops.py",
        ),
        quoted(
            "E 00:00:00.000001 executorch:method.cpp:1] Missing operator: [2] my_ops::fused.out",
            "form of executorch/runtime/executor/method.cpp",
        ),
        recorded(
            "RuntimeError: Tried to instantiate class 'q.Foo', but it does not exist! Ensure "
            "that it is registered via torch::class_",
            "torch 2.13.0, CPU",
        ),
    ),
)
