from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="cpp_vector_type",
    family="J",
    phase="cpp_compile",
    category="cpp_error",
    weight=64,
    anchors=(
        "at::vec",
        "VecMask<",
        "Vectorized<",
        "VectorizedN<",
        "vec_reduce_all",
        "masked_load",
    ),
    patterns=(
        (
            "(?:error|no match|no member|no viable|no type|cannot convert|could not convert"
            "|invalid operands|not a member|undeclared|not declared|ambiguous|deduction"
            r"|static assertion|candidate).{0,400}(?:at::vec(?:::|\b)|VecMask<|VectorizedN?<"
            "|vec_reduce_all|masked_load)"
        ),
        (
            r"^\s{0,20}(?:error: )?['‘](?:const )?(?:at::vec::|\w{0,20}VecMask<|VectorizedN?<)"
            "|(?:at::vec::|VecMask<|VectorizedN?<).{0,300}(?:no matching|has no member|is "
            "not a "
            "member|not declared|undeclared|incomplete type|cannot be)"
        ),
    ),
    summary="The generated CPU kernel uses a vector type in a way that does not exist",
    means=(
        "Inductor wrote vector code (at::vec) for a dtype or an operation that the headers do "
        "not have for this instruction set."
    ),
    mistaken_for="A broken compiler",
    check="With TORCHINDUCTOR_CPP_SIMDLEN=1, or ATEN_CPU_CAPABILITY=default, does it compile?",
    fixes=(
        fix("Switch vectorisation off (torch._inductor.config.cpp.simdlen = 1), or upgrade"),
        fix("Cast the tensor of the operator named below to a common dtype"),
    ),
    guide="guides/lowering-and-cpp.md#the-wrapper-does-not-compile",
    next_tool="minify",
    matches=(
        recorded(
            "c7spkozr3g37eiyirmrmn6rrlvx46elvtdr67p3apsuu4dy5z64c.main.cpp:19:46: error: "
            "‘nothing_here’ is not a member of ‘at::vec’",
            "torch 2.13 CPU, a vector operation of ours",
        ),
        quoted(
            "cab.main.cpp:41:30: error: no matching function for call to "
            "'at::vec::CPU_CAPABILITY::VecMask<long int, 2>::VecMask(int&)'",
            "form of the error",
        ),
        quoted(
            "'at::vec::CPU_CAPABILITY::VecMask<long int, 2>::VecMask(int&)'",
            "the same, wrapped",
        ),
    ),
    neighbours=(
        quoted(
            "#5 0x7f at::vec::DEFAULT::Vectorized<float>::loadu from libtorch_cpu.so",
            "a native stack",
        ),
    ),
)
