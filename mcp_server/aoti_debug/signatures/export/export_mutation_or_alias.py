from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="export_mutation_or_alias",
    family="J",
    phase="export",
    category="lowering_error",
    weight=72,
    anchors=(
        "inputs that are mutated in the graph",
        "in the aot_export workflow",
        "aot_export is not currently supported",
        "aot_export_joint_simple ",
        "cannot mutate tensors with frozen storage",
        "UnsupportedAliasMutationException",
        "UnsupportedMutationAliasingException",
        "is mutated in the forward method. Pls register it as buffer",
        "Mutating module attribute ",
        "assigned during export",
        "mutate the autocast state",
        "Metadata mutations are currently not allowed",
        "trying to change global autograd state while exporting",
        "whose outputs do not have alias",
        "whose output has alias annotations",
        "which is not a known type. If this type holds tensors",
        "is not supported for tensor subclasses",
        "Cannot access data pointer of Tensor (e.g. ",
        "erroneously tracing into a custom kernel",
    ),
    patterns=(
        (
            r"Encountered (?P<what>(?:duplicated?|aliased) inputs that are mutated in the "
            r"graph)"
        ),
        (
            "Error: (?P<what>.{0,160}(?:(?:banned|supported) in the aot_export workflow"
            "|aot_export is not currently supported|aot_export_joint_simple (?:does|requires)))"
        ),
        (
            "(?P<what>cannot mutate tensors with frozen storage|Unsupported(?:AliasMutation"
            "|MutationAliasing)Exception|Constant \\S{1,80} is mutated in the forward method"
            "|Mutating module attribute .{1,80} during export|ValueError: The tensor "
            "attributes? .{1,120} (?:was|were) assigned during export|mutate the autocast "
            "state|Metadata mutations are currently not allowed|trying to change global "
            "autograd state while exporting)"
        ),
        (
            "(?P<what>functionalizing operators whose outputs do not have alias|\\(non-ATen"
            "\\) operator whose output has alias annotations|Found <class .{1,100}in output, "
            "which is not a known type)"
        ),
        (
            r"(?P<what>\.\w{1,200}\(\) is not supported for tensor subclasses"
            r"|Cannot access data "
            r"pointer of Tensor \(e\.g\. |erroneously tracing into a custom kernel)"
        ),
    ),
    summary="AOTAutograd cannot make the model functional: {what}",
    means=(
        "Export turns the model into a graph without side effects, on tensors without data. "
        "Inputs that are passed twice and written to, attributes written in forward, odd "
        "output types, and C or numpy code that wants the bytes do not fit into one."
    ),
    mistaken_for="An AOTInductor bug: it was not reached",
    check="ep = torch.export.export(...) alone fails the same way",
    fixes=(
        fix("Clone what is written to, or pass two different tensors as examples"),
        fix("register_buffer what forward changes; return tensors in plain containers"),
        fix("Wrap code that wants the data (numpy, data_ptr) into a torch.library.custom_op"),
    ),
    guide="guides/lowering-and-cpp.md#export-errors",
    matches=(
        quoted(
            "RuntimeError:         Encountered aliased inputs that are mutated in the graph "
            "you are trying to export.",
            "words of torch/_functorch/_aot_autograd/runtime_wrappers.py",
        ),
        quoted(
            "RuntimeError: Found a graph input that requires gradients, and received a "
            "mutation. This is currently banned in the aot_export workflow.",
            "words of torch/_functorch/aot_autograd.py",
        ),
        quoted("RuntimeError: cannot mutate tensors with frozen storage", "words of libtorch_cpu"),
        quoted(
            "torch._higher_order_ops.utils.UnsupportedAliasMutationException: true_fn might "
            "be modifying the input!",
            "words of torch/_higher_order_ops/utils.py",
        ),
        recorded(
            "RuntimeError: Found <class 'object'> in output, which is not a known type. If "
            "this type holds tensors, you need to register a pytree for it.",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "RuntimeError: .numpy() is not supported for tensor subclasses.",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "RuntimeError: Cannot access data pointer of Tensor (e.g. FakeTensor, "
            "FunctionalTensor). If you're using torch.compile/export/fx, it is likely that we "
            "are erroneously tracing into a custom kernel.",
            "torch 2.13.0, CPU",
        ),
    ),
    neighbours=(
        quoted(
            "RuntimeError: a leaf Variable that requires grad is being used in an in-place "
            "operation.",
            "eager autograd says it too",
        ),
        recorded(
            "[E1121 05:31:40.677208367 shim_common.cpp:274] Exception in aoti_torch: Cannot "
            "access data pointer of Tensor that doesn't have storage",
            "torch 2.11, H200: at run time, after a custom operator raised",
        ),
    ),
)
