from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="operator_call_mismatch",
    family="L",
    phase="run",
    category="user_code",
    weight=48,
    confidence="possible",
    anchors=(
        "argument(s) but received ",
        "() is missing value for argument ",
        "() Expected a value of type ",
        "Unknown keyword argument ",
    ),
    patterns=(
        (
            r"(?P<op>[\w.]{1,200}::\w{1,200})\(\) (?:expected at most \d{1,20} argument\("
            r"s\) but received \d{1,20}"
            r"|is missing value for argument '|Expected a value of type '.{1,120}' for "
            "argument)"
        ),
        r"Unknown keyword argument '\w{1,200}' for operator '(?P<op>[\w.:]{1,200})'",
    ),
    summary="{op} was called with other arguments than its schema says",
    means=(
        "Either the caller is wrong, or the schema registered here is that of another version "
        "of the op library than the one at export."
    ),
    check="Compare torch.ops.NS.OP.default._schema on both sides",
    fixes=(fix("Correct the call, or install the same version of the op library"),),
    guide="guides/custom-ops.md#wrong-signature",
    next_tool="check_environment",
    matches=(
        recorded(
            "RuntimeError: q::cpuonly() expected at most 1 argument(s) but received 2 "
            "argument(s). Declaration: q::cpuonly(Tensor x) -> Tensor",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "RuntimeError: q::cpuonly() Expected a value of type 'Tensor' for argument 'x' "
            "but instead found type 'int'.",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "RuntimeError: Unknown keyword argument 'y' for operator 'q::cpuonly'. Schema: "
            "q::cpuonly(Tensor x) -> Tensor",
            "a string of the installed libtorch",
        ),
    ),
)
