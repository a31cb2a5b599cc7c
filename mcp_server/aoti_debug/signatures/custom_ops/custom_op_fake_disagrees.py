from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="custom_op_fake_disagrees",
    family="L",
    phase="export",
    category="custom_op_fake_kernel",
    weight=80,
    anchors=(
        "Real tensor propagation found ",
        "mismatch between fake ",
        "test_faketensor failed with",
        ": test_aot_dispatch_",
    ),
    patterns=(
        (
            r"MetadataMismatchError: .{0,300}mismatch between fake .{0,200}(?:for func: (?P<op>"
            r"[\w.:]{1,200})|$)"
        ),
        (
            r"OpCheckError: opcheck\(op, \.\.\.\): test_(?:faketensor"
            r"|aot_dispatch_\w{1,200}) failed "
            "with"
        ),
    ),
    summary="A fake kernel promises something else than the operator returns",
    means=(
        "PyTorch ran both and compared: shape, strides, dtype or aliasing differ. A package "
        "compiled with this operator would give wrong results."
    ),
    check="torch.library.opcheck(op, args)",
    fixes=(fix("Make the fake kernel compute what the real one returns"),),
    guide="guides/custom-ops.md#a-wrong-fake-kernel",
    matches=(
        recorded(
            "torch._subclasses.fake_tensor.MetadataMismatchError: Real tensor propagation "
            "found an output size mismatch between fake shape 3 and real shape 4, at "
            "output.size(0), for func: q.wf.default",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "torch.testing._internal.optests.generate_tests.OpCheckError: opcheck(op, ...): "
            "test_faketensor failed with",
            "the message may begin on the next line",
        ),
        recorded(
            "torch.testing._internal.optests.generate_tests.OpCheckError: opcheck(op, ...): "
            "test_faketensor failed with When comparing the output of q.wf.default on "
            "FakeTensor and concrete Tensors, found mismatched tensor metadata: Shapes "
            "torch.Size([4]) and torch.Size([3])",
            "torch 2.13.0, CPU",
        ),
    ),
)
