"""Inputs that are not what the package was compiled for."""

from __future__ import annotations

from aoti_debug.facts.tiers import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
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
                (
                    "ValueError: Ran into a kwarg keyword mismatch: Got the following keywords "
                    "['j'] but expected ['k']"
                ),
                "torch 2.13.0, CPU",
            ),
            recorded(
                (
                    "ValueError: Ran into a kwarg keyword mismatch: Got the following keywords [] "
                    "but expected ['k']"
                ),
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
                (
                    "RuntimeError: Unexpected number of dimensions in input at *args[0].shape "
                    "(expected (2, 3), got (2, 3, 1))"
                ),
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
                (
                    "RuntimeError: input_handles[0]: unmatched dtype, expected: 6(at::kFloat), but "
                    "got: 7"
                ),
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
                (
                    "RuntimeError: input_handles[0]: dim value is too small at 0, expected it to "
                    "be >= 2, but got: 1"
                ),
                "torch 2.13.0, CPU",
            ),
        ),
        neighbours=(
            quoted(
                (
                    "input_handles[0]: dim value is too small at 0, expected it to be >= 16, but "
                    "got: 1"
                ),
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
                (
                    "RuntimeError: input_handles[0]: dim value is too large at 0, expected to be "
                    "<= 64, but got: 128"
                ),
                "torch 2.13.0, CPU",
            ),
            recorded(
                (
                    "RuntimeError: input_handles[0]: dim value is too small at 0, expected it to "
                    "be >= 2, but got: 1"
                ),
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
                (
                    "RuntimeError: input_handles[0]: unmatched dim value at 1, expected: 10, but "
                    "got: 11"
                ),
                "torch 2.13.0, CPU",
            ),
            recorded(
                (
                    "RuntimeError: input_handles[0]: unmatched dim value at 1, expected: 10, but "
                    "got: 0"
                ),
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
                (
                    "RuntimeError: input_handles[0]: unmatched stride value at 0, expected: 10, "
                    "but got: 1"
                ),
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
                "RuntimeError: expected inputs vector size to be 1, but got 2",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "RuntimeError: expected inputs vector size to be 1, but got 0",
                "torch 2.13.0, CPU",
            ),
        ),
    ),
)
