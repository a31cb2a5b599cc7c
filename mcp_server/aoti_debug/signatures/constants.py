"""Weights that are missing, unknown or damaged, and results that are wrong."""

TABLE = r"""
state_dict_refused constants constants_mismatch KIND_TEXT
    summary The checkpoint does not fit the model: {what}
    means load_state_dict met a weight that is missing, not expected or of another shape: the model was built with another configuration than the checkpoint, before any compile.
    check The lines below name each weight with both shapes
    fix Build the model with the checkpoint's configuration, or load the right file
    pattern Error\(s\) in loading state_dict for (?P<what>\w{1,200})
    pattern (?P<what>size mismatch for \S{1,200}): copying a param
constant_not_in_map constants constants_missing NAMED_TEXT proved inspect_package
    summary The update leaves out the constant {name}
    means A full update was asked for (check_full_update=True) and this constant is not in the given map. The Python exception does not say so: only stderr does.
    check loader.get_constant_fqns() lists the names that the package wants.
    fix Give all constants of get_constant_fqns(), or pass check_full_update=False
    guide constants.md#cannot-find-constants
    pattern Cannot find constants (?P<name>\S{1,200}) in constants_map!
    recorded Error: Cannot find constants fc_bias in constants_map!
constant_not_provided constants constants_missing KIND_TEXT inspect_package
    summary Constants were not given before the first use: {what}
    means A package without embedded weights computes with whatever is there, or dies by SIGSEGV. As a warning of an intended partial update it is harmless.
    check Were the weights packaged? inspect_package says so.
    fix Load every constant of get_constant_fqns() before the first call
    pattern Found constant (?:or module state buffer )?(?:or empty module state parameter )?\S{1,200} in model, but not provided by user!
    pattern Constants are not mmap'd || constant blob size is only available for mmap'd weights
    pattern constants_map_ was not ready
constant_state_unknown run constants_missing NAMED_TEXT proved
    summary The active constant buffer is empty (state {state})
    means swap_constant_buffer made a buffer active that was never filled.
    fix Fill the inactive buffer before swapping: update_constant_buffer(map, use_inactive=True, ...), then swap
    guide constants.md#swap-and-inactive-buffers
    pattern Unknown constant state: (?:ConstantState::)?(?P<state>\w{1,200})
constant_unknown_name constants constants_mismatch NAMED_TEXT inspect_package
    summary The package has no constant called {name}
    means The name is wrong, or the constant has at most 8 elements and was inlined into the kernels, so it can never be replaced.
    check loader.get_constant_fqns() lists the names; a small bias that is missing there was inlined.
    fix Leave {name} out, or compile with always_keep_tensor_constants=True to keep it replaceable
    guide constants.md#inlined-small-constants
    pattern Constant not found: (?P<name>\S{1,200})
constant_update_failed constants constants_mismatch GENERAL_TEXT envelope
    summary {call} failed; the reason is the `Error:` line on stderr
    means Reading, updating, folding, swapping or freeing constants failed. In every release only stderr gives the reason, not the exception.
    check Read stderr just above this line.
    guide debugging-tools.md#api-call-failed
    pattern (?P<call>(?:update|swap)_\w{0,60}constant_buffer_func_|run_const_func_)\(.{0,400}API call failed at[ ]
    pattern (?P<call>get_constant\w{1,40}_func_|extract_constants_map_func_|get_num_constants_func_|run_const_fold_func_|free_inactive_constant_buffer_func_|update_constants?_\w{1,30}_func_)\(.{0,400}API call failed at[ ]
    recorded RuntimeError: update_constant_buffer_func_( container_handle_, (AOTInductorConstantMapHandle)&const_map, use_inactive, check_full_update) API call failed at /__w/pytorch/pytorch/torch/csrc/inductor/aoti_runner/model_container_runner.cpp, line 289
    unlike example [another failure] RuntimeError: run_func_( container_handle_, input_handles.data()) API call failed at model_container_runner.cpp, line 144
constant_wrong_device constants constants_mismatch NAMED_TEXT proved
    summary The new constant {name} is on device type {got}, the package wants {expected}
    means Constants are taken as they are: the tensor must already be on the package's device. Shapes and dtypes are not checked at all.
    check 0 is cpu, 1 cuda, 14 meta.
    fix Move it first: tensor.to('cuda'), or pass allow_h2d_copy=True (2.13 and later)
    guide constants.md#constants-on-another-device
    pattern update_constant_buffer: constant '(?P<name>[^']{1,200})' is on device type (?P<got>-?\d{1,20}) but expected device type (?P<expected>-?\d{1,20})
    recorded Error: update_constant_buffer: constant 'fc_weight' is on device type 14 but expected device type 0
constants_embedding_refused cpp_compile lowering_error EXACT_TEXT
    summary These options for storing the weights are not possible: {what}
    means Options for embedded, mapped and external weights exclude each other, and a model that writes to its buffers cannot have mapped weights.
    fix Leave one of the options out, or keep the weights outside: package_constants_in_so=False
    guide constants.md#too-large-to-embed
    pattern Models with buffer mutation included doesn't support constants greater than 2GB
    pattern use_mmap_weights and use_mmap_weights_external should be true
    pattern use_external_weights and  use_mmap_weights cannot || use_mmap_weights should not be true
    pattern allow_h2d_copy is not supported with user_managed
state_dict_of_program load constants_mismatch SPECIFIC_TEXT
    summary The weights of the exported program do not fit its signature: {what}
    means The state dict was replaced, filtered or changed in kind (quantised, moved, a Parameter made a plain tensor) after the export, or a file of another release was read.
    check Compare ep.graph_signature.parameters with ep.state_dict.keys().
    fix Change the weights before torch.export.export, keep Parameters as Parameters, then export again
    pattern State dict entry for \w{1,200} \S{1,200} is not an instance of \S{1,60}
    pattern (?:Parameter|Buffer) \S{1,200} is not in the state dict
    pattern Non-persistent buffer \S{1,200} is in the state dict
    pattern (?:Constant tensor|Custom object) \S{1,200} is not in the constants dictionary
    recorded torch._export.verifier.SpecViolationError: Buffer b is not in the state dict.
weights_damaged load package_corrupt EXACT_TEXT inspect_package
    summary The weights of the library changed after packaging: {what}
    means The library was truncated, changed after linking (strip, patchelf, repacking) or removed while loading. On Windows a library above 2 GB gives the alignment text.
    fix Copy the package again and compare checksums; do not strip or patch the library
    fix Point TMPDIR to a directory that is kept while the model lives
    fix On Windows upgrade torch, or keep the weights in a file of their own
    guide constants.md#missing-weight-files
    pattern Wei(?:gh|g)t(?:h)?s data seems corrupt
    pattern Shared library file is smaller than embedded weights size
    pattern Failed to seek to end of shared library file
    pattern weights_offset must be aligned to 16K boundary || Shared library file cannot be opened
    pattern Can't find shared library name || Failed to open serialized weights file
weights_mmap_failed load package_incompatible SPECIFIC_TEXT check_environment
    summary The weights of the package cannot be mapped into memory
    means The weights are aligned to 16 KB: systems with 64 KB pages (some aarch64) refuse that. A truncated file or too little address space gives the same.
    check getconf PAGESIZE; compare the file with the original.
    fix Use a kernel with 4 KB pages, or compile without mmapped weights (below 2 GB, or package_constants_in_so=False)
    guide constants.md#mmap-and-alignment
    pattern (?:^|[:\]]\s)mmap\(\) failed || mmap\(.{0,200}\) = -1 EINVAL
weights_too_large_to_link cpp_compile cpp_error EXACT_TEXT
    summary The weights are too large to be linked into the library: {what}
    means More than 2 GB of constants stand between code and data, beyond the reach of 32-bit relative addresses; on macOS the limit is 4 GB.
    fix Compile with inductor_configs={'aot_inductor.force_mmap_weights': True}, or package_constants_in_so=False and load them
    fix Use GNU ld instead of lld
    guide constants.md#too-large-to-embed
    pattern relocation (?:truncated to fit: )?R_[A-Z0-9_]{4,30} against
    pattern relocation (?:truncated to fit: )?R_[A-Z0-9_]{4,30} out of range
    pattern truncated or malformed object
difference_printed output wrong_result VAGUE_TEXT symptom possible
    summary The script printed a difference between two results
    means The compiled model seems to give other numbers than the reference. Whether that is more than rounding depends on dtype and scale.
    check Compare both with a float64 run of eager; check the input contract first
    fix Run with AOTI_RUNTIME_CHECK_INPUTS=1, then compare kernel by kernel
    fix Exclude tf32 and reduced precision: compare in float32 with tf32 off
    anchor max diff || Max diff || ax_diff || ax abs diff || ax_abs_diff || aximum difference
    anchor bsolute difference || elative difference || ax error || ax_error || allclose
    after (?i)\bmax(?:imum)?[ _.-]{0,2}(?:abs(?:olute)?|rel(?:ative)?)?[ _.-]{0,2}(?:diff(?:erence)?|err(?:or)?)\b[^:=]{0,60}[:=]\s{0,4}(?:tensor\()?
    pattern [1-9]\d{0,9}(?:\.\d{1,20})?(?![\d.]{0,200}e-)
    pattern 0\.0{0,2}[1-9]\d{0,20}(?![\d.]{0,200}e-) || (?:nan|inf)
    after
    pattern (?i)\ballclose\b.{0,60}(?:[:=]|->)\s{0,4}(?:tensor\()?False
    pattern utputs match\w{0,10}\s?[:=?]\s{0,4}(?:tensor\()?(?:False|no\b)
    pattern utputs equal\w{0,10}\s?[:=?]\s{0,4}(?:tensor\()?(?:False|no\b)
    pattern utputs identical\w{0,10}\s?[:=?]\s{0,4}(?:tensor\()?(?:False|no\b)
    pattern esults match\w{0,10}\s?[:=?]\s{0,4}(?:tensor\()?(?:False|no\b)
    pattern esults equal\w{0,10}\s?[:=?]\s{0,4}(?:tensor\()?(?:False|no\b)
    pattern esults identical\w{0,10}\s?[:=?]\s{0,4}(?:tensor\()?(?:False|no\b)
    pattern utputs do not match || utputs differ || mismatch between eager and
    pattern differ(?:s|ent)? from eager || not match (?:the )?eager || don't match (?:the )?eager
    pattern AssertionError: .{0,80}(?:allclose|max_?diff)
    example [a script's print] Max abs diff (default seed): 0.0038
    example [a script's print] torch.allclose(a, b): False
    example [a script's print] Max error: nan
    example [a script's print] Outputs equal: False
    example [a script's print] Outputs identical: False
    example [a script's print] Results match: no
    example [a script's print] Results equal: False
    example [a script's print] Results identical? no
    example [a script's print] Outputs do not match
    example [a script's print] mismatch between eager and compiled
    example [a script's print] different from eager
    unlike example [rounding] Max absolute difference: 1.1920929e-07
    unlike example [rounding] max abs diff: 1.2e-07
    unlike example [equal] max diff: 0.0
    unlike example [rounding] max_err=9.5367e-07
    unlike example [equal] allclose: True
nan_assert run nan_or_inf EXACT_TEXT proved
    summary A NaN or infinity was found: {tensor}
    means TORCHINDUCTOR_NAN_ASSERTS stopped at the first checked tensor with such a value; argN_1 is input N of the graph. It checks only inputs and arguments of Triton kernels, and also rejects a valid -inf mask.
    check Is the named tensor an input? Then the caller delivers it
    fix Trace the value: print min and max of the inputs, then of earlier kernels with the value printer
    pattern At least one (?:NaN|INF) in (?P<tensor>\w{1,200})
    pattern aoti_torch_check_inf_and_nan\("(?P<tensor>[^\"]{1,80})".{0,200}API call failed
    pattern Assertion `(?P<tensor>NaN or Inf found)` failed
nan_printed output nan_or_inf VAGUE_TEXT symptom possible
    summary The output shows NaN
    means A value was not a number by the time it was printed. It may stem from the inputs, from the model itself or from a kernel.
    check Does eager give NaN on the same inputs? Then it is the model, not the compiler
    fix Compile once with TORCHINDUCTOR_NAN_ASSERTS=1 to find the first tensor with a NaN
    anchor tensor(nan || loss: nan || ]nan || norm: nan || = NaN || ': nan || ': 'nan || nan nan nan || has_nan || returned NaN || s NaN || all NaN
    unconfirmed \[\d{1,6}\]-?nan\b || \bgrad_norm: nan || \w = {1,30}NaN\b
    pattern tensor\(\[{0,9}nan || loss: ?nan || '(?:\w{0,20}loss|grad_norm)': '?nan\b
    pattern (?:returned|returns|produces|contains|has) NaN(?!s?[?:= ]{1,4}False) || returns nan
    pattern isnan\(\)\.any\(\).{0,20}True
    unconfirmed ^\s{0,20}nan(?:\s{1,20}nan){2,40} || all NaN || outputs? (?:is|are) nan
    unconfirmed is all nan || has_?(?:nan|NaN)[:=] ?True || [Ll]oss is nan || NaN outputs
    unconfirmed isfinite\(\)\.all\(\).{0,20}False
    example [common form] loss: nan
    example [a trainer's row] {'loss': 0.0, 'grad_norm': nan, 'epoch': 0.0}
    unlike example [a script's print] output contains NaN: False
    unlike recorded [value printer before a launch, where results are not written yet, torch 2.13.0, CPU] Min value: -nan
nan_refused run nan_or_inf KIND_TEXT
    summary A check found NaN, infinity or a number outside its range
    means Probabilities, losses and distributions are checked for their range; NaN fails these checks. The NaN originates upstream.
    check Does eager give the same on these inputs? Then it is the model or its data
    fix Print min and max of the inputs and of the tensors before the check
    fix Compile once with TORCHINDUCTOR_NAN_ASSERTS=1 to find the first NaN
    pattern probability tensor contains either || returned nan values in its
    pattern invalid multinomial distribution || (?:Error|Exception)\b.{0,120}contains NaN
    unconfirmed (?:Error|Exception)\b.{0,120}contains inf or nan
    pattern (?:Error|Exception)\b.{0,120}[iI]nfs or NaNs || to satisfy the constraint .{0,200}nan
    pattern to satisfy the constraint .{0,200}invalid values
    unconfirmed Assertion `(?:input_val >= zero|cumdist\[|val >= zero|sum > accZero|0 <= p4)
    unconfirmed Assertion `!\(?(?:::)?isnan
    after (?:Error|Exception)\b.{0,120}
    unconfirmed NaN or infinite || [Ff]ound inf or nan || [fF]ound NaN
    unconfirmed (?:NaN detected|nan detected|NaNs detected)
results_differ output wrong_result KIND_TEXT
    summary A comparison with the eager model failed
    means The compiled model gives different numbers from eager. Check in this order: violated contracts, lost buffer updates, a wrong fake kernel, tf32, a miscompiled kernel.
    check Compare in float64 as a third opinion; check the contract first: ep.module() on the same inputs
    fix Run with AOTI_RUNTIME_CHECK_INPUTS=1; then compare kernel by kernel, the value printer filtered to one kernel
    pattern Greatest (?:relative|absolute) difference || Mismatched elements[^:]{0,60}: [1-9]
    pattern Arrays are not almost equal || AccuracyError
    pattern (?:Tensor-likes|Scalars) are not (?:close|equal) || MaxAbsError: [\d.e+-]{1,200}
    pattern \] Accuracy failed || Bad accuracy detected || Not equal to tolerance
    pattern RMSE \(res-fp64\): (?!0\.0{1,9},)
    unconfirmed \bfail_accuracy\b || Minimum Required Tolerance: elemwise error . \[abs=(?!0\])
    recorded [numpy 2.4.6] Arrays are not almost equal to 6 decimals
    recorded [numpy 2.4.6] Not equal to tolerance rtol=1e-05, atol=0
    recorded W1121 07:34:59.781000 10306 torch/_inductor/debug.py:1457] Accuracy failed
"""
