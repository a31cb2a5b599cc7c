from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="exported_shape_check",
    family="A",
    phase="run",
    category="contract_shape",
    weight=86,
    anchors=(
        "Expected input at ",
        "Unexpected number of dimensions in input at ",
        "incorrect numel for input tensor",
        "expected ndim ",
    ),
    patterns=(
        (
            "Expected input at "
            r"(?P<input>\*?\*?(?:args|kwargs)\S{0,120}\.(?:shape|size)\S{0,10}) to be "
            "(?:equal to|>=|<=) [^,]{1,80}, but got"
        ),
        r"Unexpected number of dimensions in input at (?P<input>\S{1,120})",
        r"(?P<input>incorrect numel for input tensor)\. expected",
    ),
    summary="{input}: the size or rank of an input is not the exported one",
    means=(
        "The check of the exported program compares every size with the example input or its "
        "range. The compiled package leaves it out by default and reads past the tensor "
        "instead."
    ),
    mistaken_for="A bug of the model.",
    check="Look at the dynamic_shapes given to torch.export.",
    fixes=(fix("Pass the exported size, or export again with that dimension dynamic"),),
    guide="guides/input-contracts.md#sizes-and-rank",
    next_tool="inspect_package",
    matches=(
        quoted(
            "RuntimeError: Expected input at *args[0].shape[0] to be equal to 2, but got 4",
            "words of torch/_export/utils.py",
        ),
        quoted(
            "RuntimeError: Expected input at *args[0].shape[1] to be <= 64, but got 128",
            "words of torch/_export/utils.py",
        ),
        quoted(
            "RuntimeError: Unexpected number of dimensions in input at *args[0].shape "
            "(expected (2, 3), got (2, 3, 1))",
            "words of torch/_export/utils.py",
        ),
        quoted(
            "RuntimeError: incorrect numel for input tensor. expected 30, got 33",
            "words of torch/csrc/inductor/array_ref_impl.h",
        ),
    ),
    apart_from=("constant_argument_changed",),
)
