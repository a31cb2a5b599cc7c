from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="abi_mix_crash",
    family="F",
    phase="load",
    category="host_segfault",
    role="symptom",
    weight=60,
    confidence="possible",
    anchors=(
        "_Sp_counted_base<",
        "basic_string::_M_create",
        "basic_string: construction from null",
    ),
    patterns=(
        "(?P<what>_Sp_counted_base<.{0,120}>::_M_release)",
        (
            r"what\(\):\s{1,4}(?P<what>basic_string::_M_create|basic_string: construction "
            "from null)"
        ),
    ),
    summary="C++ libraries that do not fit meet in this process: {what}",
    means=(
        "Typical of mixed compilers or of two std::string layouts: a shared pointer or string "
        "of one library is released or read by another."
    ),
    check=(
        "Does every package crash, also that of a one-line model? Then it is the toolchain, "
        "not the model."
    ),
    fixes=(fix("Build all C++ parts with the compiler and _GLIBCXX_USE_CXX11_ABI of torch"),),
    guide="guides/host-crash.md#segfault-on-load",
    next_tool="check_environment",
    references=("pytorch/pytorch#145441",),
    matches=(
        quoted(
            "#0 std::_Sp_counted_base<(__gnu_cxx::_Lock_policy)2>::_M_release() ()",
            "pytorch/pytorch#145441",
        ),
        quoted("  what():  basic_string::_M_create", "words of libstdc++"),
        quoted(
            "  what():  basic_string: construction from null is not valid", "words of libstdc++"
        ),
    ),
)
