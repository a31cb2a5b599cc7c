from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="static_libstdcxx",
    family="F",
    phase="load",
    category="host_segfault",
    weight=84,
    anchors=("std::codecvt<", "std::__cxx11::regex_traits<", "std::__detail::_Compiler<"),
    patterns=(
        (
            r"^#\d{1,20}\s.{0,600}\bstd::(?:__cxx11::|__detail::)?(?:codecvt|regex_traits"
            r"|_Compiler)<.{0,1200}from \S{1,300}/data/aotinductor/\S{1,200}\.so"
        ),
        (
            r"^0x[0-9a-f]{1,200} in std::codecvt<.{0,400}from \S{1,300}/data/aotinductor/"
            r"\S{1,200}\.so"
        ),
    ),
    summary=(
        "The package carries its own static copy of the C++ standard library and crashes on load"
    ),
    means=(
        "The compiler that built it links libstdc++ statically; its locale and regex code "
        "then clashes with the one of the process. Every package of that compiler dies on "
        "load."
    ),
    mistaken_for="A bug of the model or of AOTInductor.",
    check="readelf -d on the package's .so: libstdc++.so.6 is missing among NEEDED.",
    fixes=(fix("Set CXX to a g++ that links libstdc++ dynamically and compile again"),),
    guide="guides/toolchain.md#static-libstdcxx",
    next_tool="check_environment",
    matches=(
        recorded(
            "0x00007fff19a9bdd4 in std::codecvt<char16_t, char, "
            "__mbstate_t>::do_unshift(__mbstate_t&, char*, char*, char*&) const () from "
            "/tmp/n8wTCF/p1/data/aotinductor/model/cbikr4ookibs3mgi3yklftjwn7zwgggckjm4zhcjndb"
            "rcsuu4wzg.wrapper.so",
            "torch 2.11.0, H200",
        ),
        recorded(
            "#5  0x00007fff19a89ea5 in std::__detail::_Compiler<std::__cxx11::"
            "regex_traits<char> >::_M_atom() () from /tmp/n8wTCF/p1/data/aotinductor/model/"
            "cbikr4ookibs3mgi3yklftjwn7zwgggckjm4zhcjndbrcsuu4wzg.wrapper.so",
            "torch 2.11.0, H200",
        ),
        recorded(
            "#1  0x00007fff19a7fac0 in std::__cxx11::basic_string<char, "
            "std::char_traits<char>, std::allocator<char> > std::__cxx11::regex_traits<char>::"
            "transform_primary<char const*>(char const*, char const*) const () from "
            "/tmp/n8wTCF/p1/data/aotinductor/model/cbikr4ookibs3mgi3yklftjwn7zwgggckjm4zhcjndb"
            "rcsuu4wzg.wrapper.so",
            "torch 2.11.0, H200",
        ),
    ),
    neighbours=(
        quoted(
            "#3 0x7fff5eea1e0e in std::__detail::_Compiler<std::regex_traits<char> "
            ">::_M_atom() () from /usr/lib/x86_64-linux-gnu/libstdc++.so.6",
            "not in the package",
        ),
    ),
)
