"""Guards, operators and calls inside the model that reject what reaches them."""

from __future__ import annotations

from aoti_debug.facts.tiers import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
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
                "AssertionError: Guard failed: a_1.size()[0] == a_0.size()[0]",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "AssertionError: Guard failed: 10 * a_0.size()[0] % 4 == 0",
                "torch 2.13.0, CPU",
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
                (
                    "RuntimeError: expected size 3==4, stride 1==1 at dim=0; expected size 5==4, "
                    "stride 3==4 at dim=1"
                ),
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
                (
                    "c5thbkdbl4vr4i2xtdohaf7bnv6ue4eovn2zj2gnzjfcbkkbu7dt.wrapper.cpp:851] "
                    'Warning: "Input 0 was compiled as 16-bytes aligned, but it is not aligned at '
                    "run time."
                ),
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
                (
                    "RuntimeError: run_func_( container_handle_, input_handles.data(), "
                    "input_handles.size(), output_handles.data(), output_handles.size(), "
                    "reinterpret_cast<AOTInductorStreamHandle>(stream_handle), "
                    "proxy_executor_handle_) API call failed at "
                    "/pytorch/torch/csrc/inductor/aoti_runner/model_container_runner.cpp, line 144"
                ),
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
                (
                    "Error: aoti_torch_cuda_mm_out(buf1, "
                    "wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf0, 2, "
                    "int_array_4, int_array_5, 0L)), "
                    "wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(fc_weight, 2, "
                    "int_array_6, int_array_7, 0L))) API call failed at "
                    "/tmp/w/embed_oob-base/ic/cfumwv5gqr2x46npkr4r3hbg4xfqn7khhowf7easy4f6e5hf24xj/cyheuzgo5nvzniuwjjfuqf6kmy4vv7nstzmyzfhcuwvbyikm7cov.wrapper.cpp, "
                    "line 1016"
                ),
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
                (
                    "RuntimeError: run_func_( container_handle_) API call failed at "
                    "/pytorch/torch/csrc/inductor/aoti_runner/model_container_runner.cpp, line 144"
                ),
                "another failure",
            ),
        ),
    ),
)
