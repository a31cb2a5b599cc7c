from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="operator_not_defined",
    family="L",
    phase="environment",
    category="custom_op_missing",
    weight=78,
    anchors=(
        " does not exist",
        " doesn't exist",
        "could not find kernel for ",
        "has no overload name '",
    ),
    patterns=(
        (
            r"\b[Oo]perator '?(?P<op>[A-Za-z]\w{0,200}::\w{1,200}(?:\.\w{1,200})?)'? (?:d"
            r"oes not|doesn't) exist"
        ),
        (
            r"could not find kernel for (?:HigherOrderOperator )?(?P<op>[\w:.]{1,200}) at"
            r" dispatch "
            r"key|The underlying op of '(?P<op2>[\w:.]{1,200})' has no overload name '"
        ),
    ),
    summary="An operator that Python code refers to is not defined in this process",
    means=(
        "The compiled half of an operator library did not load, and its Python half "
        "describes kernels for it: a build for another torch, for CPU only, or none at all."
    ),
    mistaken_for="A fault of the model",
    check="Import the package alone, and compare its version with that of torch",
    fixes=(
        fix("Install the build of the package (torchvision and the like) made for this torch"),
        fix("Or load the library that defines the operator before register_fake"),
    ),
    guide="guides/custom-ops.md#schema-not-found",
    next_tool="check_environment",
    matches=(
        recorded("RuntimeError: operator q::absent does not exist", "torch 2.13.0, CPU"),
        recorded(
            "AttributeError: The underlying op of 'q.cpuonly' has no overload name 'foo'",
            "torch 2.13.0, CPU",
        ),
    ),
    neighbours=(
        quoted("psycopg2.errors.UndefinedFunction: operator does not exist: uuid = integer"),
        quoted("the operator doesn't exist for this backend", "part of another message"),
    ),
)
