from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="exported_size_guard",
    family="A",
    phase="run",
    category="contract_shape",
    weight=86,
    anchors=(
        "Guard failed: ",
        "] is specialized at ",
        "is outside of specified dynamic range",
    ),
    patterns=(
        (
            r"Guard failed: (?P<guard>(?:[^\s%+*/()-]{1,120}\.size\(\)\[\d{1,20}\] (?:=="
            r"|<=|>=|<|>) "
            r"\d{1,20}|\d{1,20} (?:==|<=|>=|<|>) [^\s%+*/()-]{1,120}\.size\(\)\[\d{1,20}\]))$"
        ),
        (
            r"Input (?P<guard>\S{1,80}\.shape\[\d{1,20}\] is (?:specialized at \d{1,20}"
            r"|outside of "
            r"specified dynamic range \[[^\]]{1,60}\]))"
        ),
    ),
    summary="The exported program takes another size: {guard}",
    means=(
        "The dimension is static in the export, or this size lies outside its Dim. The "
        "package does not check it and would read memory by the exported size."
    ),
    mistaken_for="A relation between sizes: then two sizes or a formula stand in the guard",
    check="Look at the dynamic_shapes given to torch.export.",
    fixes=(
        fix("Pad or crop the input to the exported size"),
        fix("Or export with that dimension dynamic, over the range that you serve"),
    ),
    guide="guides/input-contracts.md#sizes-and-rank",
    next_tool="inspect_package",
    matches=(
        recorded("AssertionError: Guard failed: x.size()[1] == 4", "torch 2.13.0, CPU"),
        recorded("AssertionError: Guard failed: x.size()[0] <= 16", "torch 2.13.0, CPU"),
        quoted(
            "RuntimeError: Input arg0_1.shape[1] is outside of specified dynamic range [4, 18]",
            "tutorial of torch 2.1",
        ),
    ),
    neighbours=(
        recorded("AssertionError: Guard failed: a_1.size()[0] == a_0.size()[0]"),
        recorded("AssertionError: Guard failed: 10 * a_0.size()[0] % 4 == 0"),
        recorded("AssertionError: Guard failed: k == 3"),
        quoted(
            "RuntimeError: Expected input *args[0].shape[0] = 9 to be of the form 2*s0, where "
            "s0 is an integer",
            "words of torch/_export/utils.py",
        ),
    ),
    apart_from=("constant_argument_changed",),
)
