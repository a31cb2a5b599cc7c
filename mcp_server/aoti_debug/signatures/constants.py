"""Weights that are missing, unknown or damaged, and results that are wrong."""

from __future__ import annotations

from aoti_debug.facts.categories import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

_OF = r"(?:imum)?[ _.-]{0,2}(?:abs(?:olute)?|rel(?:ative)?)?[ _.-]{0,2}"
_IS = r"[^:=]{0,60}[:=]\s{0,4}(?:tensor\()?"
_NOT_SMALL = r"(?![\d.]{0,200}e-)"

SIGNATURES = (
    Signature(
        id="state_dict_refused",
        phase="constants",
        category="constants_mismatch",
        tier=Tier.KIND_TEXT,
        patterns=(
            r"Error\(s\) in loading state_dict for (?P<what>\w{1,200})",
            r"(?P<what>size mismatch for \S{1,200}): copying a param",
        ),
        summary="The checkpoint does not fit the model: {what}",
        means=(
            "load_state_dict met a weight that is missing, not expected or of another shape: the "
            "model was built with another configuration than the checkpoint, before any compile."
        ),
        check="The lines below name each weight with both shapes",
        fixes=(fix("Build the model with the checkpoint's configuration, or load the right file"),),
        guide="guides/constants.md#wrong-shape-or-dtype",
        matches=(
            quoted(
                "RuntimeError: Error(s) in loading state_dict for ResNet:",
                "text of torch/nn/modules/module.py",
            ),
            words("torch/nn/modules/module.py", "size mismatch for x: copying a param"),
        ),
    ),
    Signature(
        id="constant_calls_failed",
        phase="constants",
        category="constants_mismatch",
        role="envelope",
        tier=Tier.BROAD_TEXT,
        patterns=(
            (
                r"(?P<call>get_constant\w{1,40}_func_|extract_constants_map_func_|"
                "get_num_constants_func_|run_const_fold_func_|free_inactive_constant_buffer_func_|"
                r"update_constants?_\w{1,30}_func_)\(.{0,400}API call failed at "
            ),
        ),
        summary="{call} failed; the reason is the `Error:` line on stderr",
        means=(
            "Asking the model for its constants, folding or freeing them failed. The exception "
            "holds no reason, only stderr does."
        ),
        check="Read stderr just above this line.",
        guide="guides/debugging-tools.md#api-call-failed",
        next_tool="triage",
        matches=(
            quoted(
                "RuntimeError: run_const_fold_func_( container_handle_, use_inactive, cuda_stream_handle, proxy_executor_handle_) API call failed at model_container_runner.cpp, line 250",
                "text of libtorch_cpu.so 2.13",
            ),
            quoted(
                "RuntimeError: get_constants_blob_size_func_(container_handle_, &weights_size) API call failed at model_container_runner.cpp, line 330",
                "text of libtorch_cpu.so 2.13",
            ),
        ),
    ),
    Signature(
        id="constant_not_in_map",
        phase="constants",
        category="constants_missing",
        tier=Tier.NAMED_TEXT,
        confidence="proved",
        patterns=(r"Cannot find constants (?P<name>\S{1,200}) in constants_map!",),
        summary="The update leaves out the constant {name}",
        means=(
            "A full update was asked for (check_full_update=True) and this constant is not in the "
            "given map. The Python exception does not say so: only stderr does."
        ),
        check="loader.get_constant_fqns() lists the names that the package wants.",
        fixes=(fix("Give all constants of get_constant_fqns(), or pass check_full_update=False"),),
        guide="guides/constants.md#cannot-find-constants",
        next_tool="inspect_package",
        matches=(
            recorded("Error: Cannot find constants fc_bias in constants_map!", "torch 2.13.0, CPU"),
        ),
    ),
    Signature(
        id="constant_not_provided",
        phase="constants",
        category="constants_missing",
        tier=Tier.KIND_TEXT,
        patterns=(
            (
                "(?P<what>Found constant (?:or module state buffer )?(?:or empty module state "
                r"parameter )?\S{1,200} in model, but not provided by user!)"
            ),
            "(?P<what>Constants are not mmap'd)",
            "(?P<what>constant blob size is only available for mmap'd weights)",
            "(?P<what>constants_map_ was not ready)",
        ),
        summary="Constants were not given before the first use: {what}",
        means=(
            "A package without embedded weights computes with whatever is there, or dies by "
            "SIGSEGV. As a warning of an intended partial update it is harmless."
        ),
        check="Were the weights packaged? inspect_package says so.",
        fixes=(fix("Load every constant of get_constant_fqns() before the first call"),),
        guide="guides/constants.md#never-loaded",
        next_tool="inspect_package",
        matches=(
            quoted(
                "[WARNING] Found constant fc_bias in model, but not provided by user!",
                "words of aoti_runtime, 2.6",
            ),
            quoted(
                "[WARNING] Found constant or module state buffer or empty module state parameter fc_bias in model, but not provided by user!",
                "words of aoti_runtime, 2.10 and later",
            ),
            quoted(
                "Error: Constants are not mmap'd. Use AOTInductorModelUpdateConstantsBlob to initialize the constants first.",
                "words of aoti_runtime/model_base.h",
            ),
            quoted(
                "constant blob size is only available for mmap'd weights",
                "words of aoti_runtime/model_base.h",
            ),
            quoted(
                "constants_map_ was not ready when constants_ is trying to be constructed from it!",
                "words of aoti_runtime/model_base.h",
            ),
        ),
    ),
    Signature(
        id="constant_state_unknown",
        phase="run",
        category="constants_missing",
        tier=Tier.NAMED_TEXT,
        confidence="proved",
        patterns=(r"Unknown constant state: (?:ConstantState::)?(?P<state>\w{1,200})",),
        summary="The active constant buffer is empty (state {state})",
        means="swap_constant_buffer made a buffer active that was never filled.",
        fixes=(
            fix(
                (
                    "Fill the inactive buffer before swapping: update_constant_buffer(map, "
                    "use_inactive=True, ...), then swap"
                ),
            ),
        ),
        guide="guides/constants.md#swap-and-inactive-buffers",
        matches=(
            recorded(
                "RuntimeError: Unknown constant state: ConstantState::NONE", "torch 2.13.0, CPU"
            ),
            quoted("Unknown constant state: NONE", "pytorch/pytorch#195089"),
        ),
    ),
    Signature(
        id="constant_unknown_name",
        phase="constants",
        category="constants_mismatch",
        tier=Tier.NAMED_TEXT,
        patterns=(r"Constant not found: (?P<name>\S{1,200})",),
        summary="The package has no constant called {name}",
        means=(
            "The name is wrong, or the constant has at most 8 elements and was inlined into the "
            "kernels, so it can never be replaced."
        ),
        check=(
            "loader.get_constant_fqns() lists the names; a small bias that is missing there was "
            "inlined."
        ),
        fixes=(
            fix(
                (
                    "Leave {name} out, or compile with always_keep_tensor_constants=True to keep "
                    "it replaceable"
                ),
            ),
        ),
        guide="guides/constants.md#inlined-small-constants",
        next_tool="inspect_package",
        matches=(recorded("RuntimeError: Constant not found: nope", "torch 2.13.0, CPU"),),
        apart_from=("constant_not_in_map",),
    ),
    Signature(
        id="constant_update_failed",
        phase="constants",
        category="constants_mismatch",
        role="envelope",
        tier=Tier.GENERAL_TEXT,
        patterns=(
            (
                r"(?P<call>(?:update|swap)_\w{0,60}constant_buffer_func_|run_const_func_)\(.{0,400}"
                "API call failed at "
            ),
        ),
        summary="{call} failed; the reason is the `Error:` line on stderr",
        means=(
            "Updating, folding or swapping constants failed. In every release the exception holds "
            "no reason, only stderr does."
        ),
        check="Read stderr just above this line.",
        guide="guides/debugging-tools.md#api-call-failed",
        next_tool="triage",
        matches=(
            recorded(
                "RuntimeError: update_constant_buffer_func_( container_handle_, (AOTInductorConstantMapHandle)&const_map, use_inactive, check_full_update) API call failed at /__w/pytorch/pytorch/torch/csrc/inductor/aoti_runner/model_container_runner.cpp, line 289",
                "torch 2.13.0, CPU",
            ),
            quoted(
                "RuntimeError: update_inactive_constant_buffer_func_( container_handle_, (AOTInductorConstantMapHandle)&const_map) API call failed at ../torch/csrc/inductor/aoti_runner/model_container_runner.cpp, line 120",
                "words of the runner",
            ),
            quoted(
                "RuntimeError: update_user_managed_constant_buffer_func_( container_handle_, (AOTInductorConstantMapHandle)&const_map, use_inactive, check_full_update) API call failed at model_container_runner.cpp, line 300",
                "words of the runner",
            ),
            quoted(
                "RuntimeError: swap_constant_buffer_func_(container_handle_) API call failed at model_container_runner.cpp, line 310",
                "words of the runner",
            ),
            quoted(
                "RuntimeError: run_const_func_( container_handle_, use_inactive, stream_handle) API call failed at model_container_runner.cpp, line 320",
                "words of the runner",
            ),
        ),
        neighbours=(
            quoted(
                "RuntimeError: run_func_( container_handle_, input_handles.data()) API call failed at model_container_runner.cpp, line 144",
                "another failure",
            ),
        ),
    ),
    Signature(
        id="constant_wrong_device",
        phase="constants",
        category="constants_mismatch",
        tier=Tier.NAMED_TEXT,
        confidence="proved",
        patterns=(
            (
                "update_constant_buffer: constant '(?P<name>[^']{1,200})' is on device type "
                r"(?P<got>-?\d{1,20}) but expected device type (?P<expected>-?\d{1,20})"
            ),
        ),
        summary="The new constant {name} is on device type {got}, the package wants {expected}",
        means=(
            "Constants are taken as they are: the tensor must already be on the package's device. "
            "Shapes and dtypes are not checked at all."
        ),
        check="0 is cpu, 1 cuda, 14 meta.",
        fixes=(
            fix("Move it first: tensor.to('cuda'), or pass allow_h2d_copy=True (2.13 and later)"),
        ),
        guide="guides/constants.md#constants-on-another-device",
        matches=(
            recorded(
                "Error: update_constant_buffer: constant 'fc_weight' is on device type 14 but expected device type 0",
                "torch 2.13.0, CPU",
            ),
        ),
    ),
    Signature(
        id="constants_embedding_refused",
        phase="cpp_compile",
        category="lowering_error",
        tier=Tier.EXACT_TEXT,
        patterns=(
            (
                "(?P<what>Models with buffer mutation included doesn't support constants greater "
                "than 2GB)"
            ),
            "(?P<what>use_mmap_weights and use_mmap_weights_external should be true)",
            "(?P<what>use_external_weights and  use_mmap_weights cannot)",
            "(?P<what>use_mmap_weights should not be true)",
            "(?P<what>allow_h2d_copy is not supported with user_managed)",
        ),
        summary="This way of keeping the weights is not possible: {what}",
        means=(
            "Options for embedded, mapped and external weights exclude each other, and a model "
            "that writes to its buffers cannot have mapped weights."
        ),
        fixes=(
            fix(
                (
                    "Leave one of the options out, or keep the weights outside: "
                    "package_constants_in_so=False"
                ),
            ),
        ),
        guide="guides/constants.md#too-large-to-embed",
        matches=(
            quoted(
                "ValueError: Models with buffer mutation included doesn't support constants greater than 2GB!",
                "words of torch/_inductor/codecache.py",
            ),
            words(
                "torch/_inductor/cpp_builder.py",
                "use_mmap_weights and use_mmap_weights_external should be true",
            ),
            words(
                "torch/_inductor/codecache.py",
                "use_external_weights and  use_mmap_weights cannot",
                "use_mmap_weights should not be true",
            ),
            words(
                "torch/csrc/inductor/aoti_runtime/model_container.h",
                "allow_h2d_copy is not supported with user_managed",
            ),
        ),
    ),
    Signature(
        id="state_dict_of_program",
        phase="load",
        category="constants_mismatch",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            (
                r"(?P<what>State dict entry for parameter \S{1,200} is not an instance of "
                r"torch\.nn\.Parameter)"
            ),
            r"(?P<what>(?:Parameter|Buffer) \S{1,200} is not in the state dict)",
            r"(?P<what>Non-persistent buffer \S{1,200} is in the state dict)",
            r"(?P<what>Constant tensor \S{1,200} is not in the constants dictionary)",
            r"(?P<what>Custom object \S{1,200} is not in the constants dictionary)",
        ),
        summary="The weights of the exported program do not fit its signature: {what}",
        means=(
            "The state dict was replaced, filtered or changed in kind (quantised, moved, a "
            "Parameter made a plain tensor) after the export, or a file of another release was "
            "read."
        ),
        check="Compare ep.graph_signature.parameters with ep.state_dict.keys().",
        fixes=(
            fix(
                (
                    "Change the weights before torch.export.export, keep Parameters as Parameters, "
                    "then export again"
                ),
            ),
        ),
        guide="guides/constants.md#wrong-shape-or-dtype",
        matches=(
            recorded(
                "torch._export.verifier.SpecViolationError: State dict entry for parameter w is not an instance of torch.nn.Parameter.",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "torch._export.verifier.SpecViolationError: Parameter w is not in the state dict.",
                "torch 2.13.0, CPU",
            ),
            words(
                "torch/_export/verifier.py",
                "Non-persistent buffer x is in the state dict",
                "Constant tensor x is not in the constants dictionary",
                "Custom object x is not in the constants dictionary",
            ),
        ),
    ),
    Signature(
        id="weights_damaged",
        phase="load",
        category="package_corrupt",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "(?P<what>Wei(?:gh|g)t(?:h)?s data seems corrupt)",
            "(?P<what>Shared library file is smaller than embedded weights size)",
            "(?P<what>Failed to seek to end of shared library file)",
            "(?P<what>weights_offset must be aligned to 16K boundary)",
            "(?P<what>Shared library file cannot be opened)",
            "(?P<what>Can't find shared library name)",
            "(?P<what>Failed to open serialized weights file)",
        ),
        summary="The weights behind the library are not as they were packaged: {what}",
        means=(
            "The library was truncated, changed after linking (strip, patchelf, repacking) or "
            "removed while loading. On Windows a library above 2 GB gives the alignment text."
        ),
        fixes=(
            fix("Copy the package again and compare checksums; do not strip or patch the library"),
            fix("Point TMPDIR to a directory that is kept while the model lives"),
            fix("On Windows upgrade torch, or keep the weights in a file of their own"),
        ),
        guide="guides/constants.md#missing-weight-files",
        next_tool="inspect_package",
        matches=(
            quoted(
                "RuntimeError: Weights data seems corrupt", "words of aoti_runtime, 2.8 and later"
            ),
            quoted(
                "RuntimeError: Weigths data seems corrupt", "words of aoti_runtime, 2.6 and 2.7"
            ),
            quoted(
                "RuntimeError: Shared library file is smaller than embedded weights size",
                "words of aoti_runtime, 2.13 and later",
            ),
            quoted(
                "RuntimeError: Failed to seek to end of shared library file",
                "words of aoti_runtime, 2.13 and later",
            ),
            quoted(
                "RuntimeError: weights_offset must be aligned to 16K boundary",
                "pytorch/pytorch#186357",
            ),
            quoted(
                "Error: Shared library file cannot be opened", "words of aoti_runtime/model_base.h"
            ),
            quoted("Error: Can't find shared library name", "words of aoti_runtime/model_base.h"),
            quoted(
                "RuntimeError: Failed to open serialized weights file",
                "words of the package loader",
            ),
        ),
    ),
    Signature(
        id="weights_mmap_failed",
        phase="load",
        category="package_incompatible",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            r"(?:^|[:\]]\s)mmap\(\) failed",
            r"mmap\(.{0,200}\) = -1 EINVAL",
        ),
        summary="The weights of the package cannot be mapped into memory",
        means=(
            "The weights are aligned to 16 KB: systems with 64 KB pages (some aarch64) refuse "
            "that. A truncated file or too little address space gives the same."
        ),
        check="getconf PAGESIZE; compare the file with the original.",
        fixes=(
            fix(
                (
                    "Use a kernel with 4 KB pages, or compile without mmapped weights (below 2 GB, "
                    "or package_constants_in_so=False)"
                ),
            ),
        ),
        guide="guides/constants.md#mmap-and-alignment",
        next_tool="check_environment",
        matches=(
            quoted("Error: mmap() failed", "words of aoti_runtime/model_base.h"),
            quoted(
                "mmap(NULL, 8388608, PROT_READ|PROT_WRITE, MAP_PRIVATE, 5, 0x214000) = -1 EINVAL (Invalid argument)",
                "strace line as in pytorch/pytorch#145610",
            ),
        ),
    ),
    Signature(
        id="weights_too_large_to_link",
        phase="cpp_compile",
        category="cpp_error",
        tier=Tier.EXACT_TEXT,
        patterns=(
            "(?P<what>relocation (?:truncated to fit: )?R_[A-Z0-9_]{4,30} against)",
            "(?P<what>relocation (?:truncated to fit: )?R_[A-Z0-9_]{4,30} out of range)",
            "(?P<what>truncated or malformed object)",
        ),
        summary="The weights are too large to be linked into the library: {what}",
        means=(
            "More than 2 GB of constants stand between code and data, beyond the reach of 32-bit "
            "relative addresses; on macOS the limit is 4 GB."
        ),
        fixes=(
            fix(
                (
                    "Compile with inductor_configs={{'aot_inductor.force_mmap_weights': True}}, or "
                    "package_constants_in_so=False and load them"
                ),
            ),
            fix("Use GNU ld instead of lld"),
        ),
        guide="guides/constants.md#too-large-to-embed",
        matches=(
            recorded(
                "(.text+0x2): relocation truncated to fit: R_X86_64_PC32 against `.bss'",
                "GNU ld on a file of ours",
            ),
            quoted(
                "relocation R_X86_64_PC32 out of range: 5459191920 is not in [-2147483648, 2147483647]",
                "pytorch/pytorch#115478",
            ),
            quoted("error: truncated or malformed object", "pytorch/pytorch#123105"),
        ),
    ),
    Signature(
        id="difference_printed",
        phase="output",
        category="wrong_result",
        role="symptom",
        tier=Tier.VAGUE_TEXT,
        confidence="possible",
        anchors=(
            "max diff",
            "Max diff",
            "ax_diff",
            "ax abs diff",
            "ax_abs_diff",
            "aximum difference",
            "bsolute difference",
            "elative difference",
            "ax error",
            "ax_error",
            "allclose",
        ),
        patterns=(
            rf"(?i)\bmax{_OF}(?:diff(?:erence)?|err(?:or)?)\b{_IS}[1-9]\d{{0,9}}(?:\.\d{{1,20}})?{_NOT_SMALL}",
            rf"(?i)\bmax{_OF}(?:diff(?:erence)?|err(?:or)?)\b{_IS}0\.0{{0,2}}[1-9]\d{{0,20}}{_NOT_SMALL}",
            rf"(?i)\bmax{_OF}(?:diff(?:erence)?|err(?:or)?)\b{_IS}(?:nan|inf)",
            r"(?i)\ballclose\b.{0,60}(?:[:=]|->)\s{0,4}(?:tensor\()?False",
            *(
                rf"{what} {equal}\w{{0,10}}\s?[:=?]\s{{0,4}}(?:tensor\()?(?:False|no\b)"
                for what in ("utputs", "esults")
                for equal in ("match", "equal", "identical")
            ),
            "utputs do not match",
            "utputs differ",
            "mismatch between eager and",
            "differs? from eager",
            "different from eager",
            "does not match (?:the )?eager",
            "don't match (?:the )?eager",
            "not match (?:the )?eager",
            "AssertionError: .{0,80}(?:allclose|max_?diff)",
        ),
        summary="The script printed a difference between two results",
        means=(
            "The compiled model seems to give other numbers than the reference. Whether that is "
            "more than rounding depends on dtype and scale."
        ),
        check="Compare both with a float64 run of eager; check the input contract first",
        fixes=(
            fix("Run with AOTI_RUNTIME_CHECK_INPUTS=1, then compare kernel by kernel"),
            fix("Exclude tf32 and reduced precision: compare in float32 with tf32 off"),
        ),
        guide="guides/wrong-results.md#compare-with-eager",
        next_tool="triage",
        matches=(
            words(
                "scripts' own prints",
                "results match: False",
                "results equal: False",
                "results identical: False",
                "outputs match: False",
                "outputs equal: False",
            ),
            quoted("Max abs diff (default seed): 0.0038", "form of a script's print"),
            quoted("torch.allclose(a, b): False", "form of a script's print"),
            words(
                "programs that were not at hand",
                "outputs do not match",
                "mismatch between eager and",
                "different from eager",
            ),
            words(
                "scripts' own prints",
                "Outputs identical: False",
                "max diff: 0.3",
                "Max diff: 0.3",
                "max_diff=1.5",
                "max_abs_diff: nan",
                "Maximum difference: 0.2",
                "Max absolute difference: 2",
                "max relative difference: 3.5",
                "max error: 0.7",
                "max_error=inf",
            ),
            words("scripts' own prints", "Outputs differ"),
            words("torch/_functorch/_aot_autograd/streams.py", "differ from eager"),
            words("torch/_meta_registrations.py", "does not match eager"),
            words("torch/nn/modules/activation.py", "don't match eager"),
            words("torch/nn/attention/flex_attention.py", "AssertionError: allclose"),
        ),
        neighbours=(
            quoted("Max absolute difference: 1.1920929e-07", "rounding"),
            quoted("max abs diff: 1.2e-07", "rounding"),
            quoted("max diff: 0.0", "equal"),
            quoted("max_err=9.5367e-07", "rounding"),
            quoted("allclose: True", "equal"),
        ),
    ),
    Signature(
        id="nan_assert",
        phase="run",
        category="nan_or_inf",
        tier=Tier.EXACT_TEXT,
        confidence="proved",
        patterns=(
            r"At least one (?P<what>NaN|INF) in (?P<tensor>\w{1,200})",
            r'aoti_torch_check_inf_and_nan\("(?P<tensor>[^\"]{1,80})".{0,200}API call failed',
            "Assertion `(?P<tensor>NaN or Inf found)` failed",
        ),
        summary="A NaN or infinity was found: {tensor}",
        means=(
            "TORCHINDUCTOR_NAN_ASSERTS stopped at the first tensor it looked at with such a value; "
            "argN_1 is input N of the graph. It looks at inputs and arguments of Triton kernels "
            "only and also rejects a legitimate -inf mask."
        ),
        check="Is the named tensor an input? Then the caller delivers it",
        fixes=(
            fix(
                (
                    "Follow the value back: print min and max of the inputs, then of the kernels "
                    "before with the value printer"
                ),
            ),
        ),
        guide="guides/wrong-results.md#nan-and-inf",
        next_tool="triage",
        matches=(
            recorded("RuntimeError: At least one NaN in arg1_1", "torch 2.13 CPU"),
            recorded("RuntimeError: At least one INF in arg1_1", "torch 2.13 CPU"),
            recorded(
                'Error: aoti_torch_check_inf_and_nan("arg1_1", arg1_1) API call failed',
                "torch 2.13 CPU, stderr",
            ),
            quoted(
                "c7x.py:21: unknown: block: [0,0,0], thread: [0,0,0] Assertion `NaN or Inf found` failed.",
                "text of inductor/codegen/common.py, in the form of Triton's asserts",
            ),
        ),
    ),
    Signature(
        id="nan_printed",
        phase="output",
        category="nan_or_inf",
        role="symptom",
        tier=Tier.VAGUE_TEXT,
        confidence="possible",
        anchors=(
            "tensor(nan",
            "loss: nan",
            "nan nan nan",
            "has_nan",
            "all NaN",
        ),
        patterns=(
            r"tensor\(\[{0,9}nan",
            "loss: ?nan",
            r"^\s{0,20}nan(?:\s{1,20}nan){2,40}",
            "returned NaN(?!s?[?:= ]{1,4}False)",
            "are all NaN(?!s?[?:= ]{1,4}False)",
            "produces NaN(?!s?[?:= ]{1,4}False)",
            "contains NaN(?!s?[?:= ]{1,4}False)",
            "returns NaN(?!s?[?:= ]{1,4}False)",
            "has NaN(?!s?[?:= ]{1,4}False)",
            "output is nan",
            "outputs are nan",
            "is all nan",
            "all NaN",
            "has_?(?:nan|NaN)[:=] ?True",
            "[Ll]oss is nan",
            "NaN outputs",
            "returns nan",
            r"isnan\(\)\.any\(\).{0,20}True",
            r"isfinite\(\)\.all\(\).{0,20}False",
        ),
        summary="The output shows NaN",
        means=(
            "A value was not a number by the time it was printed. It may stem from the inputs, "
            "from the model itself or from a kernel."
        ),
        check="Does eager give NaN on the same inputs? Then it is the model, not the compiler",
        fixes=(
            fix(
                "Compile once with TORCHINDUCTOR_NAN_ASSERTS=1 to find the first tensor with a NaN",
            ),
        ),
        guide="guides/wrong-results.md#nan-and-inf",
        next_tool="triage",
        matches=(
            words("scripts' own prints", "output is nan", "outputs are nan"),
            recorded("tensor(nan, device='cuda:0')", "torch 2.11, H200"),
            quoted("loss: nan", "common form"),
            words(
                "programs that were not at hand",
                "nan nan nan",
                "are all NaN",
                "has NaN",
                "is all nan",
                "has_nan: True",
                "isfinite().all()False",
            ),
            words("torch/_dynamo/compiled_autograd.py", "returned NaN"),
            words(
                "torch/testing/_internal/common_methods_invocations.py",
                "produces NaN",
                "returns NaN",
            ),
            words("torch/testing/_internal/common_quantization.py", "contains NaN"),
            words("programs that were not at hand", "Loss is nan", "NaN outputs"),
            words("ATen/cpu/vec/vec256/vsx/vsx_helpers.h", "returns nan"),
            words("torch/testing/_internal/distributed/distributed_test.py", "isnan().any()True"),
        ),
        neighbours=(
            quoted("output contains NaN: False", "form of a script's print"),
            recorded(
                "Min value: -nan",
                "value printer before a launch, where results are not written yet, torch 2.13 CPU",
            ),
        ),
    ),
    Signature(
        id="nan_refused",
        phase="run",
        category="nan_or_inf",
        tier=Tier.KIND_TEXT,
        patterns=(
            "probability tensor contains either",
            "returned nan values in its",
            "Assertion `input_val >= zero && input_val <= one",
            r"Assertion `cumdist\[",
            "Assertion `val >= zero",
            "Assertion `sum > accZero",
            "Assertion `0 <= p4 && p4 <= 1",
            r"Assertion `!\(?(?:::)?isnan",
            "invalid multinomial distribution",
            r"(?:Error|Exception)\b.{0,120}NaN or infinite",
            r"(?:Error|Exception)\b.{0,120}Infs or NaNs",
            r"(?:Error|Exception)\b.{0,120}contains NaN",
            r"(?:Error|Exception)\b.{0,120}contains inf or nan",
            r"(?:Error|Exception)\b.{0,120}[Ff]ound inf or nan",
            r"(?:Error|Exception)\b.{0,120}[fF]ound NaN",
            r"(?:Error|Exception)\b.{0,120}(?:NaN detected|nan detected|NaNs detected)",
            r"(?:Error|Exception)\b.{0,120}infs or NaNs",
            "to satisfy the constraint .{0,200}nan",
            "to satisfy the constraint .{0,200}invalid values",
        ),
        summary="A check found NaN, infinity or a number outside its range",
        means=(
            "Probabilities, losses and distributions are checked for their range; NaN fails these "
            "checks. Where it was born is upstream."
        ),
        check="Does eager give the same on these inputs? Then it is the model or its data",
        fixes=(
            fix("Print min and max of the inputs and of the tensors before the check"),
            fix("Compile once with TORCHINDUCTOR_NAN_ASSERTS=1 to find the first NaN"),
        ),
        guide="guides/wrong-results.md#nan-and-inf",
        next_tool="triage",
        matches=(
            recorded(
                "RuntimeError: probability tensor contains either `inf`, `nan` or element < 0",
                "torch 2.13 CPU, multinomial",
            ),
            recorded(
                "RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.",
                "torch 2.13 CPU, anomaly mode",
            ),
            quoted(
                "ValueError: Input contains NaN, infinity or a value too large for dtype",
                "words of scikit-learn",
            ),
            words(
                "programs that were not at hand",
                "Assertion `input_val >= zero && input_val <= one",
                "Assertion `cumdist[",
                "Assertion `val >= zero",
                "Assertion `sum > accZero",
                "Assertion `0 <= p4 && p4 <= 1",
                "Assertion `!isnan",
                "Error NaN or infinite",
                "Error Infs or NaNs",
                "Error contains inf or nan",
                "Error Found inf or nan",
                "Error Found NaN",
            ),
            words(
                "torch/testing/_internal/common_methods_invocations.py",
                "invalid multinomial distribution",
            ),
            words("torch/serialization.py", "Error NaN detected"),
            words("torch/testing/_internal/distributed/distributed_test.py", "Error infs or NaNs"),
            words(
                "torch/distributions/distribution.py",
                "to satisfy the constraint nan",
                "to satisfy the constraint invalid values",
            ),
        ),
    ),
    Signature(
        id="results_differ",
        phase="output",
        category="wrong_result",
        tier=Tier.KIND_TEXT,
        patterns=(
            "Greatest relative difference",
            "Mismatched elements[^:]{0,60}: [1-9]",
            r"\bfail_accuracy\b",
            "Arrays are not almost equal",
            "AccuracyError",
            "Tensor-likes are not (?:close|equal)",
            "Scalars are not (?:close|equal)",
            r"MaxAbsError: (?P<error>[\d.e+-]{1,200})",
            r"\] Accuracy failed",
            "Bad accuracy detected",
            "Greatest absolute difference",
            "Not equal to tolerance",
            r"RMSE \(res-fp64\)",
        ),
        summary="A comparison with the eager model failed",
        means=(
            "The compiled model gives other numbers than eager. Violated contracts, lost buffer "
            "updates, a wrong fake kernel, tf32 or a miscompiled kernel are the candidates, in "
            "this order."
        ),
        check=(
            "Compare in float64 as a third opinion; check the contract first: ep.module() on the "
            "same inputs"
        ),
        fixes=(
            fix(
                (
                    "Run with AOTI_RUNTIME_CHECK_INPUTS=1; then compare kernel by kernel with the "
                    "value printer filtered to the suspect"
                ),
            ),
        ),
        guide="guides/wrong-results.md#compare-with-eager",
        next_tool="triage",
        matches=(
            quoted("AssertionError: Tensor-likes are not close!", "pytorch/pytorch#150114"),
            recorded("Mismatched elements: 4 / 4 (100.0%)", "torch 2.13 CPU, torch.testing"),
            quoted(
                "AssertionError: Compilation check MaxAbsError: 1.24863 (tol: 5e-05) for field atomic_energy.",
                "mir-group/nequip#574",
            ),
            recorded(
                "torch._dynamo.debug_utils.AccuracyError: Bad accuracy detected",
                "torch 2.13 CPU, minifier level 4",
            ),
            recorded(
                "W1121 07:34:59.781000 10306 torch/_inductor/debug.py:1457] Accuracy failed",
                "torch 2.13 CPU",
            ),
            words(
                "torch/testing/_comparison.py",
                "Greatest relative difference",
                "Scalars are not close",
                "Greatest absolute difference",
            ),
            words("programs that were not at hand", "fail_accuracy"),
            words(
                "torch/_numpy/testing/utils.py",
                "Arrays are not almost equal",
                "Not equal to tolerance",
            ),
            words("torch/_dynamo/utils.py", "RMSE (res-fp64)"),
        ),
    ),
)
