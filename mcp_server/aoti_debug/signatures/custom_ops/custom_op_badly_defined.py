from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="custom_op_badly_defined",
    family="L",
    phase="environment",
    category="user_code",
    weight=62,
    anchors=(
        "infer_schema(func): ",
        "Tried to register an operator (",
        "Tried to register multiple operators with the same name",
        "Only a single TORCH_LIBRARY can be used",
        "register_fake(...): the operator",
        "mutates_args must either be",
        "Attempted to create a custom op with `mutates_args=",
        "but no autograd formula was registered",
        "test_schema failed with",
        "there's already a kernel registered from python overriding",
        "tagged with torch.Tag.",
        'to be of the form "namespace::name"',
        "Functions without tensor inputs are required to have a `device:",
        "is a reserved namespace. Please try",
        "register autograd formula for",
        "we require there to also be a companion C++",
        "this seems to be empirically wrong",
    ),
    patterns=(
        (
            r"(?P<what>infer_schema\(func\): .{1,120}|mutates_args must either be|Attempted to "
            r"create a custom op with `mutates_args=|register_fake\(\.\.\.\): the operator "
            r"\S{1,80}|to be of the form \"namespace::name\"|Functions without tensor inputs "
            "are required to have a `device:|is a reserved namespace|Cannot register autograd "
            "formula for|we require there to also be a companion)"
        ),
        (
            r"(?P<what>Tried to register an operator \([^)]{1,120}\)|Tried to register "
            "multiple operators with the same name|Only a single TORCH_LIBRARY can be used to "
            "register the namespace [^; ]{1,60}|already a kernel registered from python "
            "overriding)"
        ),
        (
            r"(?P<what>Trying to backward through \S{1,100} but no autograd formula was "
            r"registered|test_schema failed with .{1,120}|tagged with torch\.Tag\.\w{1,200} "
            "(?:must|requires|only)|seems to be empirically wrong)"
        ),
    ),
    summary="The definition of a custom operator is not accepted: {what}",
    means=(
        "torch.library needs annotated arguments, a true list of what is written to, and one "
        "definition per name in a process."
    ),
    mistaken_for="A missing operator",
    check="Is the library loaded twice, say as two versions?",
    fixes=(
        fix("Correct the decorated function, or load the library once"),
        fix("torch.library.opcheck(op, args) checks the rest of the definition"),
    ),
    guide="guides/custom-ops.md#an-op-that-raises",
    matches=(
        recorded(
            "ValueError: infer_schema(func): Parameter x must have a type annotation. Got "
            "func with signature (x))",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "RuntimeError: Tried to register an operator (q::cpuonly(Tensor x) -> Tensor) "
            "with the same name and overload name multiple times.",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "RuntimeError: Only a single TORCH_LIBRARY can be used to register the namespace "
            "qq; please put all of your definitions in a single TORCH_LIBRARY block.",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "RuntimeError: Trying to backward through q.good.default but no autograd formula "
            "was registered.",
            "torch 2.13.0, CPU",
        ),
    ),
)
