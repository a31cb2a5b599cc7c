import re

from aoti_debug.signatures.signature import Signature, fix, quoted

# Words of triton/language and triton/compiler/code_generator.py, which stop a kernel's frontend.
REFUSALS = (
    "data type is not supported on CUDA arch",
    "not supported in this architecture. The supported fp8 dtypes are",
    "supported_fp8_dtypes",
    "allow_fp8e4nv",
    "IncompatibleTypeErrorImpl",
    "invalid operands of type pointer<",
    "invalid operands of type triton.language",
    "arange's range must be a power of 2",
    "arange's arguments must be",
    "must be a power of 2",
    "exceeds triton maximum tensor numel",
    "Loop-carried variable ",
    "Loop carried variable ",
    "cannot reassign constexpr",
    "constexpr cannot be reassigned",
    "Cannot access global variable ",
    "Did you forget to add @triton.jit",
    "Cannot call @triton.jit'd outside of the scope",
    "@triton.jit'd functions",
    "unsupported AST node type",
    "is not (currently) implemented",
    "Input shapes should have M >=",
    "All non-batch values in both first input shape",
    "Both operands must be same dtype. Got",
    "Both operands must be same type. First operand",
    "Both inputs must be either 2D or 3D; (lhs",
    "are not compatible for matmul",
    "Unsupported lhs dtype",
    "Unsupported rhs dtype",
    "input_precision must be one of",
    "target doesn't provide",
    "Unsupported ptr type",
    "`mask` and `other` arguments cannot be specified for loading block pointers",
    "`other` cannot be provided without `mask`",
    "Mask argument cannot be block type if pointer argument is not a block",
    "Value argument cannot be block type if pointer argument is not a block",
    "Other argument cannot be block type if pointer argument is not a block",
    "Mask must have boolean scalar type",
    "Cannot store to a constant pointer",
    "Cannot broadcast, rank mismatch",
    "Cannot broadcast, the expanded size of the tensor",
    "Cannot make_shape_compatible",
    "reshape() cannot change total number of elements in tensor",
    "Mismatched type for ",
    "Inconsistent return types: ",
    "For loop bounds and step must all be ints",
    "Only `range` and `static_range` iterators are currently supported",
    "used as tl.static_range",
    "Assertion condition could not be determined at compile-time",
    "CompileTimeAssertionFailure",
    "Descriptor block shape must have at least",
    "Tensor descriptor last dim must be 1",
    "descriptor gather must have at least",
    "nested function definition is not supported",
    "Cannot have `return` statements inside",
    "`if` conditionals can only accept values of type",
    "Cannot bitcast data-type of size",
    "Only floating point clamp is supported",
    "both operands of fdiv must have floating scalar type",
    "cannot add pointers together",
    "does not support bf16",
    "does not support fp16",
    "only supports elements with width {16, 32, 64}",
    "Unsupported floating-point type",
    "0d block_type is forbidden",
    "because they have different signedness",
    "Block pointers only support 32 bit",
    "num_ctas > 1 requires NVIDIA SM90+",
    "num_ctas > 1 not supported for AMD GPUs",
    "num_warps must be a power of 2",
    "TRITON_OVERRIDE_ARCH must have the form",
    "must be constexpr when",
    "Conflicting meta-parameters: ",
    "error encountered during parsing",
    "has changed since we compiled this kernel",
    "Kernel requires a runtime memory allocation, but no allocator was set",
    "nvTmaDesc ",
    "target must be of GPUTarget type",
    "triton.language.semantic",
    "triton.language.core",
)

SIGNATURE = Signature(
    id="triton_frontend_refused",
    family="K",
    phase="triton_compile",
    category="triton_error",
    weight=58,
    anchors=REFUSALS,
    patterns=(
        "(?P<text>"
        + "|".join(
            re.escape(words)
            for words in REFUSALS
            if not words.startswith(
                (
                    "must be a power of 2",
                    "Mismatched type for ",
                    "does not support ",
                    "are not compatible for",
                    "triton.language.",
                    "Loop carried",
                    "is not (currently)",
                )
            )
        )
        + r"|Shape element \d{1,3} must be a power of 2|Mismatched type for \S{1,80} between "
        r"|atomic_\w{2,10} does not support|\) are not compatible for matmul"
        r"|(?:Error|Exception).{0,200}triton\.language\.(?:semantic|core)|Loop carried "
        "variable "
        r"\S{1,80} (?:changed|is not)|AST .{0,60} is not \(currently\) implemented)",
    ),
    summary="Triton does not accept a kernel's source: {text}",
    means=(
        "The frontend checks types, shapes and the Python subset before any code is made. In "
        "a kernel of yours the statement is to blame, in a generated one Inductor or a Triton "
        "that does not belong to this torch; float8 needs a new enough GPU."
    ),
    mistaken_for="An error of the Python script",
    check="Whose file is it: yours, or one below torchinductor_*?",
    fixes=(
        fix("Correct the statement; cast operands and masks explicitly"),
        fix("For a generated kernel use the Triton release of this torch, or another dtype"),
    ),
    guide="guides/triton-and-autotuning.md#triton-compile-errors",
    next_tool="check_environment",
    matches=(
        quoted(
            "AssertionError: fp8e4nv data type is not supported on CUDA arch < 89",
            "words of triton/language/semantic.py",
        ),
        quoted(
            "ValueError('arange\\'s range must be a power of 2'); arange's range must be a "
            "power of 2",
            "words of triton/language/semantic.py",
        ),
        quoted(
            "AssertionError('Loop-carried variable acc has initial type fp32 but is "
            "re-assigned to fp16 in loop!",
            "words of triton/compiler/code_generator.py",
        ),
        quoted(
            "triton.language.semantic.IncompatibleTypeErrorImpl: invalid operands of type "
            "pointer<fp32> and triton.language.float64",
            "words of triton/language/semantic.py",
        ),
    ),
    neighbours=(
        quoted("ValueError: n_fft must be a power of 2", "a library's own check"),
        quoted("RuntimeError: this backend does not support bf16", "a library's own check"),
    ),
)
