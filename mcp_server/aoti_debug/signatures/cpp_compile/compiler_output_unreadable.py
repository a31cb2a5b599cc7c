from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="compiler_output_unreadable",
    family="G",
    phase="cpp_compile",
    category="toolchain",
    weight=66,
    anchors=(
        "UnicodeDecodeError: ",
        "SUBPROCESS_DECODE_ARGS",
        "MSVC with English language pack",
    ),
    patterns=(
        (
            "(?:InductorError|BackendCompilerFailed|InternalTorchDynamoError|LoweringException)"
            r": UnicodeDecodeError|\.decode\(\*SUBPROCESS_DECODE_ARGS\)|only support MSVC with "
            "English language pack"
        ),
    ),
    summary="The compiler answers in a language or encoding that torch cannot read",
    means=(
        "torch reads the compiler's messages as text of one encoding. A localised MSVC "
        "answers in that of the system."
    ),
    mistaken_for="A bug of the lowering",
    check="Run `cl` in the same shell: is its banner English?",
    fixes=(
        fix("Install the English language pack of Visual Studio; set VSLANG=1033"),
        fix("Or use clang-cl as CXX"),
    ),
    guide="guides/other-platforms.md#windows",
    next_tool="check_environment",
    matches=(
        quoted(
            "torch._inductor.exc.InductorError: UnicodeDecodeError: 'utf-8' codec can't decode "
            "byte 0x8e in position 0: invalid start byte",
            "form of the error",
        ),
    ),
    neighbours=(
        quoted(
            "UnicodeDecodeError: 'utf-8' codec can't decode byte 0x8e in position 0",
            "a text file of the script",
        ),
    ),
)
