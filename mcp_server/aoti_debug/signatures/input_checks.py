"""Inputs, indices and inner values that a check of the compiled model rejects."""

from __future__ import annotations

from aoti_debug.facts.categories import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
    Signature(
        id="output_resized",
        phase="run",
        category="contract_shape",
        tier=Tier.VAGUE_TEXT,
        confidence="possible",
        patterns=(
            (
                r"An output with one or more elements was resized since it had shape \[(?P<was>"
                r"[0-9, ]{1,100})\], which does not match the required output shape \[(?P<now>"
                r"[0-9, ]{1,100})\]"
            ),
        ),
        summary="An operator resized its output buffer from [{was}] to [{now}]",
        means=(
            "Where your code gives no out tensor, it is the package's own buffer: the call has "
            "other sizes than were compiled in, often a batch that an example of size 1 fixed. "
            "Generated kernels beside it still serve the compiled size alone."
        ),
        fixes=(
            fix(
                "Export with an example of size 2 or more and a named Dim for what varies, then "
                "compile again"
            ),
        ),
        check="AOTI_RUNTIME_CHECK_INPUTS=1 in the running process names input and dimension.",
        guide="guides/input-contracts.md#sizes-and-rank",
        matches=(
            recorded(
                "Warning: An output with one or more elements was resized since it had shape "
                "[1, 4], which does not match the required output shape [6, 4].",
                "torch 2.13.0, CPU",
            ),
        ),
        neighbours=(
            quoted("RuntimeError: output with shape [1, 4] doesn't match the broadcast shape", ""),
        ),
    ),
    Signature(
        id="argument_structure",
        phase="run",
        category="contract_argument",
        tier=Tier.EXACT_TEXT,
        confidence="proved",
        patterns=(
            "(?P<what>Ran into a kwarg keyword mismatch: .{0,200})",
            "(?P<what>Trying to flatten user inputs with exported input tree spec)",
            "(?P<what>Please check that the inputs have the same number and type of args)",
        ),
        summary="The call does not have the structure of the export: {what}",
        means=(
            "Keywords, nesting, lengths and dict keys of the call must be those of the example "
            "inputs; a positional argument does not stand in for a keyword."
        ),
        fixes=(fix("Call with exactly the exported keywords and nesting"),),
        guide="guides/inputs-and-devices.md#keyword-arguments",
        matches=(
            recorded(
                "ValueError: Ran into a kwarg keyword mismatch: Got the following keywords ['j'] but expected ['k']",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "ValueError: Ran into a kwarg keyword mismatch: Got the following keywords [] but expected ['k']",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "ValueError: Trying to flatten user inputs with exported input tree spec:",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "Please check that the inputs have the same number and type of args",
                "torch 2.13.0, CPU",
            ),
        ),
        neighbours=(
            quoted("TypeError: forward() got an unexpected keyword argument 'k'", "plain Python"),
        ),
    ),
    Signature(
        id="constant_argument_changed",
        phase="run",
        category="contract_argument",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                r"AssertionError: Guard failed: (?P<guard>[A-Za-z_]\w{0,200}(?:\[[^\]]{1,40}\])"
                "{0,4} (?:==|is|in) [^.]{1,80})$"
            ),
            (
                r"Expected input at (?P<guard>\*?\*?(?:args|kwargs)(?:\[[^\]]{1,40}\]){1,4} to be "
                "equal to [^,]{1,60}), but got"
            ),
        ),
        summary="An argument that is no tensor differs from the exported one: {guard}",
        means=(
            "Ints, floats, bools and strings are compiled in as constants. The package ignores the "
            "value you pass and computes with the exported one."
        ),
        fixes=(fix("Pass the value as a tensor, or compile one package per value"),),
        guide="guides/input-contracts.md#guards-and-constant-arguments",
        matches=(
            recorded("AssertionError: Guard failed: k == 3", "torch 2.13.0, CPU"),
            quoted(
                "RuntimeError: Expected input at *args[1] to be equal to 3, but got 4",
                "words of torch/_export/utils.py",
            ),
        ),
        neighbours=(
            recorded("AssertionError: Guard failed: x.size()[1] == 10", "torch 2.13.0, CPU"),
        ),
        apart_from=("guard_failed",),
    ),
    Signature(
        id="container_options",
        phase="load",
        category="user_code",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                "(?P<what>num_(?:runners|models) must be (?:1|>=1) when run_single_threaded is "
                "(?:true|false))"
            ),
        ),
        summary="The loader's options do not go together: {what}",
        means="A single-threaded runner has exactly one model instance, any other at least one.",
        fixes=(fix("num_runners=1 with run_single_threaded=True"),),
        guide="guides/threads-streams-hangs.md#one-runner-many-threads",
        matches=(
            quoted(
                "RuntimeError: num_runners must be 1 when run_single_threaded is true",
                "text of libtorch_cpu.so 2.13",
            ),
        ),
    ),
    Signature(
        id="exported_argument_kind",
        phase="run",
        category="contract_argument",
        tier=Tier.NAMED_TEXT,
        patterns=(
            r"Expected input at (?P<what>\S{1,120}) to be a tensor, but got",
            r"(?P<what>Unexpected number of inputs \(expected \d{1,20}, got \d{1,20}\))",
        ),
        summary="The arguments are not of the exported number or kind: {what}",
        means=(
            "Where the export had a tensor the call has something else, or there are more or fewer "
            "arguments."
        ),
        fixes=(
            fix(
                (
                    "Call with the exported number and kinds of arguments; torch.tensor(value) for "
                    "a number"
                ),
            ),
        ),
        guide="guides/inputs-and-devices.md#number-and-kind-of-arguments",
        matches=(
            quoted(
                "RuntimeError: Expected input at *args[1] to be a tensor, but got <class 'int'>",
                "words of torch/_export/utils.py",
            ),
            quoted(
                "RuntimeError: Unexpected number of inputs (expected 2, got 1)",
                "words of torch/_export/utils.py",
            ),
        ),
    ),
    Signature(
        id="exported_shape_check",
        phase="run",
        category="contract_shape",
        tier=Tier.NAMED_TEXT,
        patterns=(
            (
                r"Expected input at (?P<input>\*?\*?(?:args|kwargs)[^,]{0,120}?\.(?:shape|size)"
                r"\S{0,10}) to be equal to [^,]{1,80}, but got"
            ),
            (
                r"Expected input at (?P<input>\*?\*?(?:args|kwargs)[^,]{0,120}?\.(?:shape|size)"
                r"\S{0,10}) to be >= [^,]{1,80}, but got"
            ),
            (
                r"Expected input at (?P<input>\*?\*?(?:args|kwargs)[^,]{0,120}?\.(?:shape|size)"
                r"\S{0,10}) to be <= [^,]{1,80}, but got"
            ),
            r"Unexpected number of dimensions in input at (?P<input>\S{1,120})",
            r"(?P<input>incorrect numel for input tensor)\. expected",
        ),
        summary="{input}: the size or rank of an input is not the exported one",
        means=(
            "The check of the exported program compares every size with the example input or its "
            "range. The compiled package leaves it out by default and reads past the tensor "
            "instead."
        ),
        check="Look at the dynamic_shapes given to torch.export.",
        fixes=(fix("Pass the exported size, or export again with that dimension dynamic"),),
        guide="guides/input-contracts.md#sizes-and-rank",
        next_tool="inspect_package",
        matches=(
            quoted(
                "RuntimeError: Expected input at *args[0].shape[0] to be equal to 2, but got 4",
                "words of torch/_export/utils.py",
            ),
            quoted(
                "RuntimeError: Expected input at *args[0].shape[1] to be <= 64, but got 128",
                "words of torch/_export/utils.py",
            ),
            quoted(
                "RuntimeError: Unexpected number of dimensions in input at *args[0].shape (expected (2, 3), got (2, 3, 1))",
                "words of torch/_export/utils.py",
            ),
            quoted(
                "RuntimeError: incorrect numel for input tensor. expected 30, got 33",
                "words of torch/csrc/inductor/array_ref_impl.h",
            ),
            words("torch/_export/utils.py", "Expected input at args.shape to be >= x, but got"),
        ),
        apart_from=("constant_argument_changed",),
    ),
    Signature(
        id="input_check_dtype",
        phase="run",
        category="contract_dtype",
        tier=Tier.ASSERTION,
        confidence="proved",
        patterns=(
            (
                r"input_handles\[(?P<input>\d{1,20})\]: unmatched dtype, expected: "
                r"(?P<expected>\d{1,20}\(at::k\w{1,200}\)|\S{1,300}), but got: (?P<got>-?\d{1,20})"
            ),
        ),
        summary="Input {input} has dtype code {got}, the package was compiled for {expected}",
        means=(
            "The package reads the bytes as the dtype it was compiled for. Without the check the "
            "run ends well and returns garbage."
        ),
        check="Compare the tensor's dtype with the example input of torch.export.",
        fixes=(
            fix("Cast before the call: x = x.to(torch.float32)", where="the caller"),
            fix("Or export again with an example input of the dtype you serve"),
        ),
        guide="guides/input-contracts.md#dtype",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: input_handles[0]: unmatched dtype, expected: 6(at::kFloat), but got: 7",
                "torch 2.13.0, CPU",
            ),
        ),
        apart_from=(
            "input_check_size",
            "inner_dtype_mismatch",
        ),
    ),
    Signature(
        id="input_check_lower_bound_two",
        phase="run",
        category="false_alarm",
        tier=Tier.GUARD,
        confidence="possible",
        patterns=(
            (
                r"input_handles\[(?P<input>\d{1,20})\]: dim value is too small at (?P<dim>\d{1,20})"
                r", expected it to be >= 2, but got: 1\b"
            ),
        ),
        summary=(
            "Input {input} has size 1 in dimension {dim}; the bound of 2 belongs to the check, not "
            "always to the kernel"
        ),
        means=(
            "torch.export assumes that dynamic sizes are at least 2 and the check repeats that "
            "bound. Kernels often work for size 1, so the alarm may be false."
        ),
        check="Compare package and ep.module() for size 1 with the check off.",
        fixes=(
            fix("Export with Dim('batch', min=1) and an example of at least 2"),
            fix(
                (
                    "If results agree with eager, switch the check off for this call, or compile "
                    "with aot_inductor.check_lowerbound=False (2.10 and later)"
                ),
            ),
        ),
        guide="guides/input-contracts.md#false-alarms",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: input_handles[0]: dim value is too small at 0, expected it to be >= 2, but got: 1",
                "torch 2.13.0, CPU",
            ),
        ),
        neighbours=(
            quoted(
                "input_handles[0]: dim value is too small at 0, expected it to be >= 16, but got: 1",
                "another failure",
            ),
        ),
        apart_from=("runtime_assert",),
    ),
    Signature(
        id="input_check_range",
        phase="run",
        category="contract_shape",
        tier=Tier.GUARD,
        patterns=(
            (
                r"input_handles\[(?P<input>\d{1,20})\]: dim value is too (?:large|small) at "
                r"(?P<dim>\d{1,20}), expected (?:it )?to be (?P<bound>[<>]= -?\d{1,20}), but got: "
                r"(?P<got>-?\d{1,20})"
            ),
        ),
        summary="Dimension {dim} of input {input} is {got}, outside the exported range ({bound})",
        means=(
            "The size is outside the range given to torch.export; int32 indexing and buffer sizes "
            "may have been chosen for that range."
        ),
        check="Run ep.module() on the same input and compare with the package without the check.",
        fixes=(
            fix(
                (
                    "Export with the sizes you serve: Dim('batch', min=1, max=8192), with an "
                    "example of at least 2"
                ),
            ),
            fix("Or split or pad the input"),
        ),
        guide="guides/input-contracts.md#sizes-and-rank",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: input_handles[0]: dim value is too large at 0, expected to be <= 64, but got: 128",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: input_handles[0]: dim value is too small at 0, expected it to be >= 2, but got: 1",
                "torch 2.13.0, CPU",
            ),
        ),
    ),
    Signature(
        id="input_check_size",
        phase="run",
        category="contract_shape",
        tier=Tier.ASSERTION,
        confidence="proved",
        patterns=(
            (
                r"input_handles\[(?P<input>\d{1,20})\]: unmatched dim value at (?P<dim>\d{1,20}), "
                r"expected: (?P<expected>-?\d{1,20}), but got: (?P<got>-?\d{1,20})"
            ),
        ),
        summary="Dimension {dim} of input {input} is {got}, but {expected} is compiled into the package",
        means=(
            "This dimension was static at export, so the kernels index with the compiled size and "
            "read past the tensor. `got: 0` mostly means that the input has too few dimensions: "
            "the check has no test of the rank."
        ),
        check="Look at the dynamic_shapes given to torch.export.",
        fixes=(
            fix("Pad or crop input {input} to {expected} in dimension {dim}"),
            fix(
                (
                    "Or export with that dimension dynamic: dynamic_shapes={{'x': {{{dim}: "
                    "Dim('n', min=1, max=4096)}}}}"
                ),
                why="only then are other sizes legal",
            ),
        ),
        guide="guides/input-contracts.md#sizes-and-rank",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: input_handles[0]: unmatched dim value at 1, expected: 10, but got: 11",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: input_handles[0]: unmatched dim value at 1, expected: 10, but got: 0",
                "torch 2.13.0, CPU",
            ),
        ),
        apart_from=("input_check_range",),
    ),
    Signature(
        id="input_check_stride",
        phase="run",
        category="contract_stride",
        tier=Tier.GUARD,
        patterns=(
            (
                r"input_handles\[(?P<input>\d{1,20})\]: unmatched stride value at (?P<dim>\d{1,20})"
                r", expected: (?P<expected>-?\d{1,20}), but got: (?P<got>-?\d{1,20})"
            ),
        ),
        summary=(
            "Input {input} has stride {got} in dimension {dim}, {expected} is compiled into the "
            "package"
        ),
        means=(
            "Static strides are compiled in, so a transposed, sliced or channels-last tensor is "
            "read in the wrong order and gives wrong numbers."
        ),
        check="Print x.shape and x.stride(); a dimension of size 1 may be ignored.",
        fixes=(
            fix(
                (
                    "Pass x.contiguous(), or the memory format of the example: "
                    "x.contiguous(memory_format=torch.channels_last)"
                ),
            ),
            fix("Or export with an example that has the strides you serve"),
        ),
        guide="guides/input-contracts.md#strides",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: input_handles[0]: unmatched stride value at 0, expected: 10, but got: 1",
                "torch 2.13.0, CPU",
            ),
        ),
        apart_from=("inner_shape_mismatch",),
    ),
    Signature(
        id="input_count",
        phase="run",
        category="contract_argument",
        tier=Tier.GUARD,
        confidence="proved",
        patterns=(
            r"expected inputs vector size to be (?P<expected>\d{1,20}), but got (?P<got>\d{1,20})",
        ),
        summary="The package takes {expected} tensors and got {got}",
        means=(
            "The number of tensors after flattening differs from the exported signature. "
            "Everything that is no torch.Tensor (None, numpy arrays, ints) is dropped before "
            "counting, so 0 mostly means inputs of the wrong type."
        ),
        check="Compare with the inputs that inspect_package lists.",
        fixes=(
            fix("Call with exactly the positional and keyword arguments of the export"),
            fix("Convert first: torch.from_numpy(x); leave no None where the export had a tensor"),
        ),
        guide="guides/inputs-and-devices.md#number-and-kind-of-arguments",
        next_tool="inspect_package",
        matches=(
            recorded(
                "RuntimeError: expected inputs vector size to be 1, but got 2", "torch 2.13.0, CPU"
            ),
            recorded(
                "RuntimeError: expected inputs vector size to be 1, but got 0", "torch 2.13.0, CPU"
            ),
        ),
    ),
    Signature(
        id="aten_index_assert",
        phase="run",
        category="index_out_of_bounds",
        tier=Tier.NAMED_TEXT,
        confidence="proved",
        patterns=(
            r"Assertion `?(?P<condition>dstIndex < dst\w{1,40})`? failed",
            r"Assertion `?(?P<condition>srcIndex < src\w{1,40})`? failed",
            "Assertion `?(?P<condition>cur_target >= 0[^`]{0,60}?)`? failed",
            "Assertion `?(?P<condition>cur_target < n_classes[^`]{0,60}?)`? failed",
            "Assertion `?(?P<condition>target_k >= 0[^`]{0,80}?)`? failed",
            "Assertion `?(?P<condition>idx >= 0 && idx < [^`]{1,60}?)`? failed",
            "Assertion `?(?P<condition>ind < num_weights)`? failed",
            "Assertion `?(?P<condition>input_idx < numRows[^`]{0,60}?)`? failed",
            "Assertion `?(?P<condition>index >= 0 && index < [^`]{1,60}?)`? failed",
            "Assertion `?(?P<condition>0 <= index && index < [^`]{1,60}?)`? failed",
            "Assertion `?(?P<condition>maxind >= 0[^`]{0,60}?)`? failed",
            (
                "Assertion `?(?P<condition>[^`]{0,80}vectorized gather kernel index out of "
                "bounds[^`]{0,4})`? failed"
            ),
            "Assertion `?(?P<condition>offset >= 0 && offset < [^`]{1,60}?)`? failed",
            "Assertion `?(?P<condition>(?:idx|index) < num_embeddings)`? failed",
            "Assertion `?(?P<condition>srcIndex < srcSelectDimSize)`? failed",
            r"Assertion `?(?P<condition>-sizes\[i\] <= index[^`]{0,80}?)`? failed",
            r"Assertion `?(?P<condition>index >= -sizes\[i\][^`]{0,80}?)`? failed",
            "Assertion `?(?P<condition>ind ?>= ?0 && ind < ind_dim_size[^`]{0,60})`? failed",
            "Assertion `?(?P<condition>t >= 0 && t < n_classes)`? failed",
            "Assertion `?(?P<condition>idx_dim >= 0[^`]{0,80}?)`? failed",
        ),
        summary="An ATen indexing kernel was given an index out of range ({condition})",
        means=(
            "A fallback or eager CUDA kernel (index_select, embedding, scatter, gather, loss) "
            "found an index beyond its dimension. It is ATen's check, not one that Inductor "
            "generated."
        ),
        check="Call the op eagerly on the CPU with the same index tensor: it raises with the value",
        fixes=(fix("Validate the index tensor against the dimension before the call"),),
        guide="guides/triton-index-out-of-bounds.md#read-the-message",
        next_tool="triage",
        matches=(
            quoted(
                "../aten/src/ATen/native/cuda/Indexing.cu:1236: indexSelectSmallIndex: block: [0,0,0], thread: [0,0,0] Assertion `srcIndex < srcSelectDimSize` failed.",
                "common form in public threads",
            ),
            quoted(
                '/pytorch/aten/src/ATen/native/cuda/IndexKernel.cu:93: operator(): block: [0,0,0], thread: [1,0,0] Assertion `-sizes[i] <= index && index < sizes[i] && "index out of bounds"` failed.',
                "common form in public threads",
            ),
            quoted(
                "/pytorch/aten/src/ATen/native/cuda/NLLLoss2d.cu:104: nll_loss2d_forward_kernel: block: [1,0,0], thread: [9,0,0] Assertion `cur_target >= 0 && cur_target < n_classes` failed.",
                "condition of NLLLoss2d.cu",
            ),
            words(
                "programs that were not at hand",
                "Assertion dstIndex < dstx failed",
                "Assertion cur_target < n_classes failed",
                "Assertion target_k >= 0 failed",
                "Assertion ind < num_weights failed",
                "Assertion input_idx < numRows failed",
                "Assertion 0 <= index && index < x failed",
                "Assertion maxind >= 0 failed",
                "Assertion vectorized gather kernel index out of bounds failed",
                "Assertion offset >= 0 && offset < x failed",
                "Assertion index >= -sizes[i] failed",
                "Assertion ind>=0 && ind < ind_dim_size failed",
                "Assertion t >= 0 && t < n_classes failed",
                "Assertion idx_dim >= 0 failed",
            ),
            words(
                "libtorch",
                "Assertion idx >= 0 && idx < x failed",
                "Assertion index >= 0 && index < x failed",
                "Assertion idx < num_embeddings failed",
            ),
        ),
        apart_from=("gpu_index_assert",),
    ),
    Signature(
        id="cpu_index_out_of_bounds",
        phase="run",
        category="index_out_of_bounds",
        tier=Tier.ASSERTION,
        confidence="proved",
        patterns=(
            (
                r"^(?:Error: |RuntimeError: |  what\(\):\s{1,20})?index out of bounds: "
                r"(?P<bounds>\S{1,300} <= \S{1,300} < \S{1,300})"
            ),
        ),
        summary="A generated CPU kernel checked an index and it was outside {bounds}",
        means=(
            "The bounds check of a CPU kernel raised instead of reading past the table. `Exception "
            "raised from` names the kernel."
        ),
        check="Run ep.module() on the same inputs: eager raises for the same index",
        fixes=(fix("Validate or clamp the index tensor before the call"),),
        guide="guides/triton-index-out-of-bounds.md#on-a-cpu-package",
        next_tool="explain_kernel",
        matches=(
            recorded("Error: index out of bounds: 0 <= tmp2 < 10L", "torch 2.13, CPU, stderr"),
            recorded(
                "RuntimeError: index out of bounds: 0 <= tmp2 < 10L", "torch 2.13, CPU, exception"
            ),
        ),
        neighbours=(quoted("IndexError: index out of range in self", "eager embedding"),),
    ),
    Signature(
        id="device_assert_other",
        phase="run",
        category="index_out_of_bounds",
        tier=Tier.KIND_TEXT,
        confidence="possible",
        patterns=(
            (
                r": block: \[[-\d,]{1,200}\], thread: \[[-\d,]{1,200}\] Assertion `(?!index out of "
                r"bounds|NaN or Inf|srcIndex <|-sizes\[i\]|index >= -sizes|ind ?>=|t >= 0 &&|"
                "idx_dim >= 0|input_val >= zero|cumdist|val >= zero|sum > accZero|0 <= p4|!|"
                "probability tensor)(?P<condition>[^`']{1,120})` failed"
            ),
        ),
        summary="A device-side assertion of a GPU kernel failed: {condition}",
        means=(
            "A tl.device_assert or CUDA assert outside Inductor's own index checks fired, usually "
            "one of a user kernel. Its condition says what was expected; most guard an index or a "
            "size."
        ),
        check=(
            "The file before the line number is the user's kernel or a library, not the Inductor "
            "cache"
        ),
        fixes=(fix("Check the argument named in the condition at the kernel's call site"),),
        guide="guides/triton-index-out-of-bounds.md#read-the-message",
        next_tool="explain_kernel",
        matches=(
            quoted(
                "/home/me/kernels.py:17: _gather_rows: block: [3,0,0], thread: [64,0,0] Assertion `row index must be smaller than n_rows` failed.",
                "layout of a user tl.device_assert",
            ),
        ),
        neighbours=(
            quoted(
                "/tmp/ic/ab/cab.py:20: unknown: block: [0,0,0], thread: [0,0,0] Assertion `NaN or Inf found` failed."
            ),
        ),
        apart_from=("gpu_index_assert",),
    ),
    Signature(
        id="eager_index_error",
        phase="run",
        category="index_out_of_bounds",
        tier=Tier.BROAD_TEXT,
        patterns=(
            "index out of range in self",
            r"[iI]ndex -?\d{1,20} is out of bounds for dimension \d{1,20} with size \d{1,20}",
            r"IndexError: Target -?\d{1,20} is out of bounds",
            r"index_select\(\): index out of range",
            "indices element is out of DATA bounds",
        ),
        summary="An operator on the CPU was given an index outside its dimension",
        means=(
            "The index tensor of an embedding, gather, scatter or loss holds a value that the "
            "table does not have; the operator, compiled or eager, checks it and says so."
        ),
        check="Maximum and minimum of the index tensor against the size of the table",
        fixes=(fix("Validate or clamp the index tensor before the call"),),
        guide="guides/triton-index-out-of-bounds.md#on-a-cpu-package",
        next_tool="triage",
        matches=(
            recorded("IndexError: index out of range in self", "torch 2.13 CPU, embedding"),
            recorded(
                "RuntimeError: index 12 is out of bounds for dimension 0 with size 10",
                "torch 2.13 CPU, gather",
            ),
            recorded("IndexError: Target 9 is out of bounds.", "torch 2.13 CPU, nll_loss"),
            words(
                "programs that were not at hand",
                "index_select(): index out of range",
                "indices element is out of DATA bounds",
            ),
        ),
        neighbours=(
            quoted("IndexError: list index out of range", "Python code"),
            quoted("IndexError: index 5 is out of bounds for axis 0 with size 5", "NumPy"),
        ),
    ),
    Signature(
        id="gpu_index_assert",
        phase="run",
        category="index_out_of_bounds",
        tier=Tier.ASSERTION,
        confidence="proved",
        patterns=(
            (
                r"block: \[(?P<block>[-\d,]{1,200})\], thread: \[(?P<thread>[-\d,]{1,200})\] "
                "Assertion `index out of bounds: (?P<bounds>[^`']{1,120})` failed"
            ),
        ),
        summary="A generated GPU kernel checked an index and it was outside {bounds}",
        means=(
            "Inductor's own bounds check around an indexed load or store fired; the tensor that "
            "holds the index carries a value outside the table. The file and line are those of the "
            "kernel, the upper bound is the size of the indexed dimension."
        ),
        check="The assert is printed first; everything after it in the same process is a consequence",
        fixes=(
            fix(
                (
                    "Check the index tensor against the bound before the call, or clamp it in the "
                    "model"
                ),
                why="the compiled kernel cannot report which input it was",
            ),
            fix(
                (
                    "Compare the size of the table (vocabulary, position table) with what the "
                    "tokenizer or caller produces"
                ),
            ),
        ),
        guide="guides/triton-index-out-of-bounds.md#read-the-message",
        next_tool="explain_kernel",
        matches=(
            recorded(
                "/tmp/w/embed_oob-base/ic/kf/ckfrkydudem26ptascmpnnrmjbgdltfqds6xqukry7hbdo6mz5y2.py:34: unknown: block: [0,3,0], thread: [5,0,0] Assertion `index out of bounds: 0 <= tmp4 < 1000` failed.",
                "torch 2.11, H200",
            ),
        ),
        apart_from=(
            "cpu_index_out_of_bounds",
            "aten_index_assert",
        ),
    ),
    Signature(
        id="gpu_tool_assert",
        phase="run",
        category="index_out_of_bounds",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "CUDBG_EXCEPTION_WARP_ASSERT",
            "^={1,40} Warp assert",
            "CUDA Exception: Warp Assert",
            r"^Assertion failed\.$",
        ),
        summary="The debugging tool stopped at an assertion inside a GPU kernel",
        means=(
            "Core dump, cuda-gdb or compute-sanitizer caught a kernel assert. The line it names is "
            "where the kernel begins; the assert text with bound and thread is on stderr."
        ),
        check="Find `Assertion ... failed` on stderr",
        guide="guides/triton-index-out-of-bounds.md#read-the-message",
        next_tool="explain_kernel",
        matches=(
            recorded("========= Warp assert", "compute-sanitizer, H200"),
            recorded("Assertion failed.", "cuda-gdb on a core, H200"),
            words(
                "programs that were not at hand",
                "CUDBG_EXCEPTION_WARP_ASSERT",
                "CUDA Exception: Warp Assert",
            ),
        ),
        neighbours=(
            quoted(
                "Assertion failed: (ptr != nullptr), function run, file main.cpp, line 12.",
                "a host assert on macOS",
            ),
        ),
    ),
    Signature(
        id="guard_failed",
        phase="run",
        category="contract_guard",
        tier=Tier.EXACT_TEXT,
        patterns=(r"AssertionError: Guard failed: (?P<guard>.{0,120}\.size\(\).{0,120})",),
        summary="The exported program forbids these inputs: {guard}",
        means=(
            "The exported program's own check fails. The package does not make it and would run "
            "on, with wrong results or a fault."
        ),
        check="Is the size one you want to serve? Then the export is to blame, else the caller.",
        fixes=(
            fix(
                (
                    "Make the caller keep the guard, or export with the dimension dynamic (Dim "
                    "with min and max)"
                ),
            ),
        ),
        guide="guides/input-contracts.md#guards-and-constant-arguments",
        matches=(
            recorded("AssertionError: Guard failed: x.size()[0] <= 64", "torch 2.13.0, CPU"),
            recorded(
                "AssertionError: Guard failed: a_1.size()[0] == a_0.size()[0]", "torch 2.13.0, CPU"
            ),
            recorded(
                "AssertionError: Guard failed: 10 * a_0.size()[0] % 4 == 0", "torch 2.13.0, CPU"
            ),
        ),
        neighbours=(
            quoted(
                "Expected input batch_size (4) to match target batch_size (8).",
                "a loss in eager mode",
            ),
        ),
        apart_from=("constant_argument_changed",),
    ),
    Signature(
        id="inner_dtype_mismatch",
        phase="run",
        category="contract_dtype",
        tier=Tier.GENERAL_TEXT,
        patterns=(
            (
                r"mat1 and mat2 (?:must|to) have the same dtype, but got:? (?P<one>\w{1,40}) "
                r"(?:and|!=) (?P<other>\w{1,40})"
            ),
            (
                r"m1 and m2 (?:must|to) have the same dtype, but got:? (?P<one>\w{1,40}) (?:and|!=)"
                r" (?P<other>\w{1,40})"
            ),
            (
                r"self and \w{1,40} (?:must|to) have the same dtype, but got:? (?P<one>\w{1,40}) "
                r"(?:and|!=) (?P<other>\w{1,40})"
            ),
            r"expected dtype (?P<one>torch\.\w{1,40}) but got dtype (?P<other>code -?\d{1,20})",
        ),
        summary="A tensor inside the model has another dtype than compiled: {one} and {other}",
        means=(
            "An operator of the package met a dtype that it was not compiled for: an input of "
            "another dtype, or an operator whose fake kernel promises another one. Pointwise "
            "kernels before it have already read garbage."
        ),
        check="AOTI_RUNTIME_CHECK_INPUTS=1 names the input.",
        fixes=(fix("Cast the input to the exported dtype, or correct the operator's fake kernel"),),
        guide="guides/input-contracts.md#dtype",
        next_tool="triage",
        matches=(
            recorded(
                "RuntimeError: mat1 and mat2 must have the same dtype, but got Double and Float",
                "torch 2.13.0, CPU, check off",
            ),
            quoted(
                "RuntimeError: expected dtype torch.float32 but got dtype code 7",
                "words of the generated checks",
            ),
            words(
                "torch/nn/attention/_utils.py",
                "m1 and m2 must have the same dtype, but got x and x",
                "self and x must have the same dtype, but got x and x",
            ),
        ),
        apart_from=("input_check_dtype",),
    ),
    Signature(
        id="inner_shape_mismatch",
        phase="run",
        category="contract_shape",
        tier=Tier.GENERAL_TEXT,
        confidence="possible",
        patterns=(
            (
                r"expected size (?P<got>\d{1,20})==(?P<expected>(?!(?P=got),)\d{1,20}), stride "
                r"\d{1,20}==\d{1,20} at dim=\d{1,20}"
            ),
            r"expected ndim (?P<expected>\d{1,20}) but got (?P<got>\d{1,20})",
            (
                r"mat1 and mat2 shapes cannot be multiplied \((?P<got>[\dsux*]{1,40}) and "
                r"(?P<expected>[\dsux*]{1,40})\)"
            ),
        ),
        summary="A tensor inside the model has size {got} where {expected} was compiled in",
        means=(
            "Either an input breaks the contract (two sizes that must be equal, another rank) or "
            "an operator's fake kernel promised another shape. In `expected size A==B` the first "
            "number is what arrived, and the text below it blames the fake kernel in both cases."
        ),
        check=(
            "Run ep.module() on the same inputs: a failing guard means the input, a clean run the "
            "operator."
        ),
        fixes=(fix("Correct the input, or the operator's fake kernel (torch.library.opcheck)"),),
        guide="guides/input-contracts.md#asserts-inside-the-model",
        next_tool="triage",
        matches=(
            quoted(
                "RuntimeError: expected size 3==4, stride 1==1 at dim=0; expected size 5==4, stride 3==4 at dim=1",
                "words of aoti_runtime/utils.h",
            ),
            quoted("RuntimeError: expected ndim 2 but got 1", "words of aoti_runtime/utils.h"),
            recorded(
                "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x11 and 10x16)",
                "torch 2.13.0, CPU",
            ),
        ),
        neighbours=(quoted("AssertionError: expected size 3, got 4", "another failure"),),
        apart_from=("input_check_stride",),
    ),
    Signature(
        id="inner_stride_mismatch",
        phase="run",
        category="contract_stride",
        tier=Tier.GENERAL_TEXT,
        confidence="possible",
        patterns=(
            (
                r"expected size (?P<size>\d{1,20})==(?P=size), stride (?P<got>\d{1,20})"
                r"==(?P<expected>(?!(?P=got)\b)\d{1,20}) at dim=\d{1,20}"
            ),
        ),
        summary="A tensor inside the model has stride {got} where {expected} was compiled in",
        means=(
            "The sizes are right and the layout is not: an input in another memory format, or an "
            "operator whose fake kernel promised another layout than it returns."
        ),
        check=(
            "Run ep.module() on the same inputs: a failing guard means the input, a clean run the "
            "operator."
        ),
        fixes=(
            fix("Pass inputs in the layout of the export (.contiguous() or channels_last)"),
            fix("Or correct the layout that the operator's fake kernel returns"),
        ),
        guide="guides/input-contracts.md#asserts-inside-the-model",
        next_tool="triage",
        matches=(
            quoted(
                "AssertionError: expected size 16==16, stride 784==1 at dim=1",
                "words of torch/_dynamo/guards.py",
            ),
        ),
        neighbours=(
            quoted("RuntimeError: expected size 3==4, stride 1==1 at dim=0", "a size that differs"),
        ),
    ),
    Signature(
        id="input_copied_to_align",
        phase="run",
        category="performance",
        role="symptom",
        tier=Tier.BROAD_TEXT,
        confidence="proved",
        patterns=(
            (
                r"Input (?P<input>\d{1,20}) was compiled as (?P<bytes>\d{1,20})-bytes aligned, but "
                "it is not aligned at run time"
            ),
        ),
        summary="Input {input} does not start on a {bytes}-byte boundary and is copied at each call",
        means=(
            "A warning: the result is right, the call is slower. It comes from views with an odd "
            "offset."
        ),
        fixes=(fix("Pass input {input} as x.clone(), or export with a view of the same offset"),),
        guide="guides/inputs-and-devices.md#misaligned-inputs",
        matches=(
            recorded(
                'c5thbkdbl4vr4i2xtdohaf7bnv6ue4eovn2zj2gnzjfcbkkbu7dt.wrapper.cpp:851] Warning: "Input 0 was compiled as 16-bytes aligned, but it is not aligned at run time.',
                "torch 2.11.0, H200",
            ),
        ),
        apart_from=("input_not_aligned",),
    ),
    Signature(
        id="input_not_aligned",
        phase="run",
        category="misaligned_address",
        tier=Tier.SPECIFIC_TEXT,
        confidence="proved",
        patterns=(r"\b(?P<input>\w{1,80}) is not aligned to 16 bytes",),
        summary="Input {input} does not start on a 16-byte boundary and this torch refuses it",
        means=(
            "The wrapper that torch 2.6 generated rejects unaligned GPU inputs. Later releases "
            "copy them instead, which costs time on every call."
        ),
        fixes=(fix("Pass a clone of the view, or upgrade torch and recompile"),),
        guide="guides/inputs-and-devices.md#misaligned-inputs",
        matches=(
            quoted("RuntimeError: arg0_1 is not aligned to 16 bytes", "pytorch/pytorch#141891"),
        ),
        neighbours=(
            quoted("weights_offset must be aligned to 16K boundary", "constants, not an input"),
        ),
    ),
    Signature(
        id="integer_division_by_zero",
        phase="run",
        category="contract_shape",
        tier=Tier.EXACT_TEXT,
        anchors=(
            " by zero",
            "division by zero",
            "SIGFPE",
        ),
        patterns=(
            "Integer (?:floor )?division by zero",
            r"Integer (?:floor )?mod\w{0,200} by zero",
            r"Integer (?:floor )?\w{1,200} by zero",
            "(?<!Compiler Error: )Floating point exception",
            r"\bSIGFPE\b",
            r"Caught signal 8\b",
            r"exit code\s{0,20}:?\s{0,20}136",
            r"exit status\s{0,20}:?\s{0,20}136",
        ),
        summary="A size computation of the model divided by a dimension that is 0",
        means=(
            "The generated host code computes sizes with integer arithmetic; a dynamic dimension "
            "of 0 ends as this error (torch 2.13 and later) or as signal 8."
        ),
        check="Is any dimension of the inputs 0?",
        fixes=(fix("Reject empty inputs, or export with min=1 for that dimension"),),
        guide="guides/host-crash.md#division-by-zero",
        next_tool="triage",
        matches=(
            recorded("Error: Integer floor division by zero", "torch 2.13 CPU"),
            recorded("RuntimeError: Integer floor division by zero", "torch 2.13 CPU"),
            quoted("Floating point exception (core dumped)", "shell text"),
            words("torch/_meta_registrations.py", "Integer mod by zero"),
            words("torch/utils/data/_utils/signal_handling.py", "SIGFPE"),
            words("programs that were not at hand", "Caught signal 8"),
            words("torch/multiprocessing/spawn.py", "exit code136", "exit status136"),
        ),
        neighbours=(quoted("ZeroDivisionError: division by zero", "Python code"),),
    ),
    Signature(
        id="run_call_failed",
        phase="run",
        category="contract_shape",
        role="envelope",
        tier=Tier.BROAD_TEXT,
        confidence="possible",
        anchors=("run_func_(",),
        patterns=(r"run_func_\(.{0,400}API call failed at \S{0,300}model_container_runner",),
        summary="The model failed while running; the reason is the `Error:` line on stderr",
        means=(
            "Only an envelope. Up to 2.12 every failed run says exactly this and the reason stands "
            "on stderr above it."
        ),
        check="Read stderr: the `Error:` line and the `Exception in aoti_torch` line before it.",
        guide="guides/debugging-tools.md#api-call-failed",
        next_tool="triage",
        matches=(
            recorded(
                "RuntimeError: run_func_( container_handle_, input_handles.data(), input_handles.size(), output_handles.data(), output_handles.size(), reinterpret_cast<AOTInductorStreamHandle>(stream_handle), proxy_executor_handle_) API call failed at /pytorch/torch/csrc/inductor/aoti_runner/model_container_runner.cpp, line 144",
                "torch 2.11.0, H200",
            ),
        ),
        apart_from=("constant_update_failed",),
    ),
    Signature(
        id="wrapper_call_failed",
        phase="run",
        category="contract_shape",
        role="envelope",
        tier=Tier.BROAD_TEXT,
        confidence="possible",
        patterns=(
            (
                r"Error: (?P<call>aoti_torch_\w{1,100})\(.{0,2000} API call failed at \S{1,400}"
                r"\.cpp, line \d{1,20}"
            ),
            (
                r"what\(\):\s{1,4}(?P<call>aoti_torch_\w{1,100})\(.{0,2000} API call failed at "
                r"\S{1,400}\.cpp, line \d{1,20}"
            ),
            (
                r"^(?P<call>aoti_torch_\w{1,100})\(.{0,2000} API call failed at \S{1,400}\.cpp, "
                r"line \d{1,20}"
            ),
        ),
        summary="{call} failed inside the model; the reason stands above it",
        means=(
            "An operator that the model calls raised. Up to 2.12 the line `Exception in "
            "aoti_torch: ...` before it holds the reason; on a GPU it may be the aftermath of an "
            "earlier kernel's fault."
        ),
        check="Read the lines above; on a GPU look for the first CUDA message.",
        guide="guides/debugging-tools.md#api-call-failed",
        next_tool="triage",
        matches=(
            recorded(
                "Error: aoti_torch_cuda_mm_out(buf1, wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf0, 2, int_array_4, int_array_5, 0L)), wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(fc_weight, 2, int_array_6, int_array_7, 0L))) API call failed at /tmp/w/embed_oob-base/ic/cfumwv5gqr2x46npkr4r3hbg4xfqn7khhowf7easy4f6e5hf24xj/cyheuzgo5nvzniuwjjfuqf6kmy4vv7nstzmyzfhcuwvbyikm7cov.wrapper.cpp, line 1016",
                "torch 2.11.0, H200",
            ),
            words(
                "torch/headeronly/util/shim_utils.h",
                "what(): aoti_torch_x( API call failed at x.cpp, line 1",
                "aoti_torch_x( API call failed at x.cpp, line 1",
            ),
        ),
        neighbours=(
            quoted(
                "RuntimeError: run_func_( container_handle_) API call failed at /pytorch/torch/csrc/inductor/aoti_runner/model_container_runner.cpp, line 144",
                "another failure",
            ),
        ),
    ),
)
