from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="export_not_serializable",
    family="E",
    phase="package",
    category="lowering_error",
    weight=56,
    anchors=(
        "SerializeError: ",
        "Failed serializing node ",
        "is not supported in export serialization",
        "FX.Node's args should have one arg",
        "Unimplemented graph input type",
    ),
    patterns=(
        (
            "SerializeError: (?!We failed to resolve|Serialized schema version|Failed "
            "deserializing|Unable to deserialize)(?P<what>.{1,160})"
        ),
        (
            "(?P<what>Failed serializing node .{1,120}|.{1,80} is not supported in export "
            "serialization|FX.Node's args should have one arg|Unimplemented graph input type"
            ".{0,80})"
        ),
    ),
    summary="The exported program cannot be written down: {what}",
    means=(
        "A node takes or returns something that the file format has no form for: a Python "
        "object, an operator of no library, a list of an unusual type."
    ),
    mistaken_for="A missing custom operator: then the text says that it cannot be resolved",
    check="torch.export.save(ep, buffer) alone fails the same way",
    fixes=(
        fix("Take the named node out of the model, or turn it into a custom operator"),
        fix("Compile ep directly, without torch.export.save between"),
    ),
    guide="guides/lowering-and-cpp.md#export-errors",
    matches=(
        quoted(
            "torch._export.serde.serialize.SerializeError: Failed serializing node add in graph:",
            "words of torch/_export/serde/serialize.py",
        ),
        quoted(
            "torch._export.serde.serialize.SerializeError: Unsupported argument type: <class "
            "'slice'> with schema arg_type int",
            "words of torch/_export/serde/serialize.py",
        ),
        quoted(
            "AssertionError: <built-in function len> is not supported in export serialization.",
            "words of torch/_export/serde/serialize.py",
        ),
    ),
    apart_from=("custom_op_unresolved", "exported_program_of_other_torch"),
)
