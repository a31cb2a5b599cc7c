import re

from aoti_debug.signatures.signature import Signature, fix, quoted

# What g++, clang, nvcc and MSVC say of code that is not valid, without the place before it.
REJECTIONS = (
    "no matching function for call to",
    "no matching member function for call to",
    "no matching constructor for initialization of",
    "no viable conversion from",
    "no viable overloaded",
    "no viable constructor",
    "no known conversion from",
    "no suitable conversion function from",
    "no suitable constructor exists",
    "no suitable user-defined conversion",
    "no instance of function template",
    "no instance of overloaded function",
    'no operator "',
    "no match for ‘operator",
    "no match for 'operator",
    "does not name a type",
    "has no member named",
    "no member named '",
    "is not a member of ‘",
    "is not a member of 'at",
    "is not a member of 'torch",
    "is not a member of 'std",
    "no template named '",
    "no type named '",
    "unknown type name '",
    "was not declared in this scope",
    "has not been declared",
    "use of undeclared identifier",
    "use of deleted function",
    "call to deleted",
    "call of overloaded",
    "call to implicitly-deleted",
    "invalid conversion from",
    "invalid operands to binary expression",
    "invalid use of incomplete type",
    "invalid initialization of",
    "invalid static_cast from type",
    "cannot convert ‘",
    "cannot convert 'const",
    "could not convert ‘",
    "cannot bind non-const lvalue reference",
    "cannot initialize a variable of type",
    "non-type template argument is not a constant expression",
    "template argument deduction/substitution failed",
    "wrong number of template arguments",
    "static assertion failed",
    "static_assert failed",
    "expected primary-expression before",
    "expected unqualified-id before",
    "expected ‘;’ before",
    "expected ‘)’ before",
    "inlining failed in call to",
    "narrowing conversion of",
    "cannot be narrowed from type",
    "ambiguous overload for",
    "is ambiguous",
    "jump to case label",
    "incompatible types in assignment",
    "incomplete type is not allowed",
    'identifier "',
)

SIGNATURE = Signature(
    id="cpp_rejection",
    family="J",
    phase="cpp_compile",
    category="cpp_error",
    weight=26,
    anchors=REJECTIONS,
    patterns=(
        rf"\berror\b(?: C\d{{4}})?: .{{0,200}}(?P<text>{'|'.join(map(re.escape, REJECTIONS))})",
        (
            r"^\s{0,20}(?:\S{1,300}:\d{1,20}:\d{1,20}: )?(?P<text>no matching (?:member )"
            r"?(?:function for "
            "call "
            "to|constructor for initialization of)|no viable conversion from|no match for "
            "['‘]operator|use of undeclared identifier|use of deleted function|call of "
            "overloaded|invalid operands to binary expression|template argument "
            "deduction/substitution failed|cannot convert ['‘]|static assertion failed)"
        ),
    ),
    summary="The C++ compiler rejects the generated code: {text}",
    means=(
        "A bug of the code generator, a header of another torch than the one that generated "
        "the code, or a compiler that is too old for it."
    ),
    mistaken_for="A missing header or compiler option",
    check="Compile a trivial model: if that works, the toolchain is sound",
    fixes=(fix("Reduce the model to the operator whose statement is shown; try the newest torch"),),
    guide="guides/lowering-and-cpp.md#the-wrapper-does-not-compile",
    next_tool="minify",
    matches=(
        quoted("error: no viable conversion from 'int' to 'X'", "words of clang"),
        quoted("no matching function for call to", "words of g++, of which the place is lost"),
    ),
)
