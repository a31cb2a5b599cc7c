from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="library_assertion",
    family="I",
    phase="run",
    category="host_segfault",
    weight=48,
    anchors=(
        "Assertion '__n < this->size()' failed",
        "vector::_M_range_check",
        "basic_string::",
        "pure virtual method called",
        "std::length_error",
        "bad_function_call",
        "bad_variant_access",
        "bad_optional_access",
        "map::at",
        "Fatal Python error: ",
        "std::out_of_range",
        "unordered_map::at",
        "stl_vector.h:",
    ),
    patterns=(
        (
            r"stl_\w{1,20}\.h:\d{1,20}: .{0,400}Assertion '.{1,80}' "
            "failed|vector::_M_(?:range_check|default_append|realloc_insert)|pure virtual "
            "method called|instance of "
            "'std::(?:out_of_range|length_error|logic_error|bad_function_call"
            r"|bad_variant_access|bad_optional_access)'|what\(\):\s{1,4}(?:_Map_base::at"
            "|map::at|unordered_map::at|stoi|stol)|Fatal Python error: (?!Segmentation|Bus "
            "error|Aborted|Illegal|Floating|init_|Py_Initialize|config_|_Py|Cannot "
            r"recover|MemoryError)\w.{0,100}"
        ),
    ),
    summary=("A C++ library or the interpreter found its own state broken and stopped the process"),
    means=(
        "An index beyond a vector, a missing key, a call on an object that is gone or a "
        "reference count gone wrong: arguments of the wrong number, mixed C++ ABIs or a "
        "damaged heap lead to it."
    ),
    mistaken_for="An error of the library named",
    check="The native stack: who called with which size?",
    fixes=(
        fix("Check number, order and lifetime of inputs and constants that the C++ program passes"),
    ),
    guide="guides/host-crash.md#abort-and-terminate",
    next_tool="triage",
    matches=(
        recorded(
            "  what():  vector::_M_range_check: __n (which is 3) >= this->size() (which is 0)",
            "libstdc++ 12, a program of ours",
        ),
        recorded(
            "/usr/include/c++/12/bits/stl_vector.h:1123: std::vector<_Tp, _Alloc>::reference "
            "operator[](size_type): Assertion '__n < this->size()' failed.",
            "libstdc++ 12, a program of ours, shortened",
        ),
        recorded(
            "terminate called after throwing an instance of 'std::out_of_range'",
            "libstdc++ 12, a program of ours",
        ),
        quoted("Fatal Python error: none_dealloc: deallocating None", "words of CPython"),
    ),
    neighbours=(
        quoted(
            "Fatal Python error: init_fs_encoding: failed to get the Python codec of the "
            "filesystem encoding",
            "a broken PYTHONHOME",
        ),
    ),
    apart_from=(
        "host_abort",
        "host_segfault",
        "host_illegal_instruction",
        "cpu_out_of_memory",
    ),
)
