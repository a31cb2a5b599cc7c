from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="generated_name_unknown",
    family="J",
    phase="lower",
    category="lowering_error",
    role="symptom",
    weight=28,
    anchors=("NameError: name ", "KeyError: "),
    patterns=(
        (
            r"NameError: name '(?P<name>(?:[suz]|zuf|ks|buf|tmp|arg"
            r"|primals_)\d{1,20}(?:_1)?)' is "
            "not defined"
        ),
        r"KeyError: '?(?P<name>(?:[suz]|ps|zuf|buf|op|primals_)\d{1,5})'?\s{0,20}$",
    ),
    summary="Inductor lost track of {name}, a name of its own",
    means=(
        "A size symbol, a buffer or an operation of the generated code is used where it was "
        "never defined: a slip of a pass or of the code generator."
    ),
    mistaken_for="A misspelt name in the script",
    check="The script has no such name",
    fixes=(fix("Try the newest torch; export with fewer dynamic dimensions to see which it is"),),
    guide="guides/lowering-and-cpp.md#lowering-exceptions",
    next_tool="minify",
    matches=(
        quoted("NameError: name 's0' is not defined", "form of the error"),
        quoted("KeyError: 'buf12'", "form of the error"),
    ),
    neighbours=(
        quoted("NameError: name 'modle' is not defined", "the script's own"),
        quoted("KeyError: 'input_ids'", "the script's own"),
    ),
)
