"""Inputs, indices and inner values that a check of the compiled model rejects."""

TABLE = r"""
output_resized run contract_shape VAGUE_TEXT possible
    summary An operator resized its output buffer from [{was}] to [{now}]
    means Where your code gives no out tensor, it is the package's own buffer: the call has other sizes than were compiled in, often a batch that an example of size 1 fixed. Generated kernels beside it still compute the compiled size only.
    check AOTI_RUNTIME_CHECK_INPUTS=1 in the running process names input and dimension.
    fix Export with an example of size 2 or more and a named Dim for what varies, then compile again
    pattern An output with one or more elements was resized since it had shape \[(?P<was>[0-9, ]{1,100})\], which does not match the required output shape \[(?P<now>[0-9, ]{1,100})\]
    recorded Warning: An output with one or more elements was resized since it had shape [1, 4], which does not match the required output shape [6, 4].
    unlike example RuntimeError: output with shape [1, 4] doesn't match the broadcast shape
argument_structure run contract_argument EXACT_TEXT proved
    summary The call does not have the structure of the export: {what}
    means Keywords, nesting, lengths and dict keys of the call must be those of the example inputs; a positional argument does not stand in for a keyword.
    fix Call with exactly the exported keywords and nesting
    guide inputs-and-devices.md#keyword-arguments
    pattern Ran into a kwarg keyword mismatch: .{0,200}
    pattern Trying to flatten user inputs with exported input tree spec
    pattern Please check that the inputs have the same number and type of args
    unlike example [plain Python] TypeError: forward() got an unexpected keyword argument 'k'
constant_argument_changed run contract_argument EXACT_TEXT
    summary A non-tensor argument differs from the exported one: {guard}
    means Ints, floats, bools and strings are compiled in as constants. The package ignores the value you pass and computes with the exported one.
    fix Pass the value as a tensor, or compile one package per value
    guide input-contracts.md#guards-and-constant-arguments
    pattern AssertionError: Guard failed: (?P<guard>[A-Za-z_]\w{0,200}(?:\[[^\]]{1,40}\]){0,4} (?:==|is|in) [^.]{1,80})$
    pattern Expected input at (?P<guard>\*?\*?(?:args|kwargs)(?:\[[^\]]{1,40}\]){1,4} to be equal to [^,]{1,60}), but got
    recorded AssertionError: Guard failed: k == 3
    unlike recorded AssertionError: Guard failed: x.size()[1] == 10
exported_argument_kind run contract_argument NAMED_TEXT
    summary The arguments are not of the exported number or kind: {what}
    means The call passes something else where the export had a tensor, or more or fewer arguments.
    fix Call with the exported number and kinds of arguments; torch.tensor(value) for a number
    pattern Expected input at (?P<what>\S{1,120}) to be a tensor, but got
    pattern Unexpected number of inputs \(expected \d{1,20}, got \d{1,20}\)
    unconfirmed forward\(\) Expected a value of type '(?P<what>[^']{1,120})' for argument
exported_shape_check run contract_shape NAMED_TEXT inspect_package
    summary {input}: the size or rank of an input is not the exported one
    means The check of the exported program compares every size with the example input or its range. The compiled package leaves it out by default and reads past the tensor instead.
    check Look at the dynamic_shapes given to torch.export.
    fix Pass the exported size, or export again with that dimension dynamic
    after Expected input at (?P<input>\*?\*?(?:args|kwargs)[^,]{0,120}?\.(?:shape|size)\S{0,10})
    pattern [ ]to be equal to [^,]{1,80}, but got || [ ]to be >= [^,]{1,80}, but got
    pattern [ ]to be <= [^,]{1,80}, but got
    after
    pattern Unexpected number of dimensions in input at (?P<input>\S{1,120})
    pattern (?P<input>incorrect numel for input tensor)\. expected
input_check_dtype run contract_dtype ASSERTION proved inspect_package
    summary Input {input} has dtype code {got}, the package was compiled for {expected}
    means The package reads the bytes as the dtype it was compiled for. Without the check the run ends well and returns garbage.
    check Compare the tensor's dtype with the example input of torch.export.
    fix In the caller, cast before the call: x = x.to(torch.float32)
    fix Or export again with an example input of the dtype you serve
    pattern input_handles\[(?P<input>\d{1,20})\]: unmatched dtype, expected: (?P<expected>\d{1,20}\(at::k\w{1,200}\)|\S{1,300}), but got: (?P<got>-?\d{1,20})
input_check_lower_bound_two run false_alarm GUARD possible inspect_package
    summary Input {input} has size 1 in dimension {dim}; the bound of 2 belongs to the check, not always to the kernel
    means torch.export assumes that dynamic sizes are at least 2 and the check repeats that bound. Kernels often work for size 1, so the alarm may be false.
    check Compare package and ep.module() for size 1 with the check off.
    fix Export with Dim('batch', min=1) and an example of at least 2
    fix If results agree with eager, switch the check off for this call, or compile with aot_inductor.check_lowerbound=False (2.10 and later)
    pattern input_handles\[(?P<input>\d{1,20})\]: dim value is too small at (?P<dim>\d{1,20}), expected it to be >= 2, but got: 1\b
    recorded RuntimeError: input_handles[0]: dim value is too small at 0, expected it to be >= 2, but got: 1
    unlike example [another failure] input_handles[0]: dim value is too small at 0, expected it to be >= 16, but got: 1
input_check_range run contract_shape GUARD inspect_package
    summary Dimension {dim} of input {input} is {got}, outside the exported range ({bound})
    means The size is outside the range given to torch.export; int32 indexing and buffer sizes may have been chosen for that range.
    check Run ep.module() on the same input and compare with the package without the check.
    fix Export with the sizes you serve: Dim('batch', min=1, max=8192), with an example of at least 2
    fix Or split or pad the input
    pattern input_handles\[(?P<input>\d{1,20})\]: dim value is too (?:large|small) at (?P<dim>\d{1,20}), expected (?:it )?to be (?P<bound>[<>]= -?\d{1,20}), but got: (?P<got>-?\d{1,20})
    recorded RuntimeError: input_handles[0]: dim value is too large at 0, expected to be <= 64, but got: 128
input_check_size run contract_shape ASSERTION proved inspect_package
    summary Dimension {dim} of input {input} is {got}, but {expected} is compiled into the package
    means This dimension was static at export, so the kernels index with the compiled size and read past the tensor. `got: 0` mostly means that the input has too few dimensions: the check has no test of the rank.
    check Look at the dynamic_shapes given to torch.export.
    fix Pad or crop input {input} to {expected} in dimension {dim}
    fix Or export with that dimension dynamic: dynamic_shapes={'x': {{dim}: Dim('n', min=1, max=4096)}}: only then are other sizes legal
    pattern input_handles\[(?P<input>\d{1,20})\]: unmatched dim value at (?P<dim>\d{1,20}), expected: (?P<expected>-?\d{1,20}), but got: (?P<got>-?\d{1,20})
input_check_stride run contract_stride GUARD inspect_package
    summary Input {input} has stride {got} in dimension {dim}, {expected} is compiled into the package
    means Static strides are compiled in, so a transposed, sliced or channels-last tensor is read in the wrong order and gives wrong numbers.
    check Print x.shape and x.stride(); a dimension of size 1 may be ignored.
    fix Pass x.contiguous(), or the memory format of the example: x.contiguous(memory_format=torch.channels_last)
    fix Or export with an example that has the strides you serve
    pattern input_handles\[(?P<input>\d{1,20})\]: unmatched stride value at (?P<dim>\d{1,20}), expected: (?P<expected>-?\d{1,20}), but got: (?P<got>-?\d{1,20})
    recorded RuntimeError: input_handles[0]: unmatched stride value at 0, expected: 10, but got: 1
input_count run contract_argument GUARD proved inspect_package
    summary The package takes {expected} tensors and got {got}
    means The number of tensors after flattening differs from the exported signature. Everything that is not a torch.Tensor (None, numpy arrays, ints) is dropped before counting, so 0 mostly means inputs of the wrong type.
    check Compare with the inputs that inspect_package lists.
    fix Call with exactly the positional and keyword arguments of the export
    fix Convert first: torch.from_numpy(x); leave no None where the export had a tensor
    pattern expected inputs vector size to be (?P<expected>\d{1,20}), but got (?P<got>\d{1,20})
    recorded RuntimeError: expected inputs vector size to be 1, but got 2
aten_index_assert run index_out_of_bounds NAMED_TEXT proved
    summary An ATen indexing kernel was given an index out of range ({condition})
    means A fallback or eager CUDA kernel (index_select, embedding, scatter, gather, loss) found an index beyond its dimension. It is ATen's check, not one that Inductor generated.
    check Call the op eagerly on the CPU with the same index tensor: it raises with the value
    fix Validate the index tensor against the dimension before the call
    pattern Assertion `?(?P<condition>(?:srcIndex < src|dstIndex < dst)\w{1,40})`? failed
    pattern Assertion `?(?P<condition>cur_target (?:>= 0|< n_classes)[^`]{0,60}?)`? failed
    pattern Assertion `?(?P<condition>(?:idx >= 0 && idx|index >= 0 && index|offset >= 0 && offset) < [^`]{1,60}?)`? failed
    pattern Assertion `?(?P<condition>(?:idx|index) < num_embeddings)`? failed
    pattern Assertion `?(?P<condition>-sizes\[i\] <= index[^`]{0,80}?)`? failed
    pattern Assertion `?(?P<condition>index >= -sizes\[i\][^`]{0,80}?)`? failed
    unconfirmed Assertion `?(?P<condition>(?:target_k|idx_dim) >= 0[^`]{0,80}?)`? failed
    unconfirmed Assertion `?(?P<condition>ind < num_weights)`? failed
    unconfirmed Assertion `?(?P<condition>input_idx < numRows[^`]{0,60}?)`? failed
    unconfirmed Assertion `?(?P<condition>0 <= index && index < [^`]{1,60}?)`? failed
    unconfirmed Assertion `?(?P<condition>maxind >= 0[^`]{0,60}?)`? failed
    unconfirmed Assertion `?(?P<condition>[^`]{0,80}vectorized gather kernel index out of bounds[^`]{0,4})`? failed
    unconfirmed Assertion `?(?P<condition>ind ?>= ?0 && ind < ind_dim_size[^`]{0,60})`? failed
    unconfirmed Assertion `?(?P<condition>t >= 0 && t < n_classes)`? failed
    example [common form in public threads] /pytorch/aten/src/ATen/native/cuda/IndexKernel.cu:93: operator(): block: [0,0,0], thread: [1,0,0] Assertion `-sizes[i] <= index && index < sizes[i] && "index out of bounds"` failed.
    example [condition of NLLLoss2d.cu] /pytorch/aten/src/ATen/native/cuda/NLLLoss2d.cu:104: nll_loss2d_forward_kernel: block: [1,0,0], thread: [9,0,0] Assertion `cur_target >= 0 && cur_target < n_classes` failed.
cpu_index_out_of_bounds run index_out_of_bounds ASSERTION proved explain_kernel
    summary A generated kernel checked an index and it was outside {bounds}
    means The bounds check of a CPU kernel raised instead of reading past the table. `Exception raised from` names the kernel.
    check Run ep.module() on the same inputs: eager raises for the same index
    fix Validate or clamp the index tensor before the call
    guide triton-index-out-of-bounds.md#on-a-cpu-package
    pattern ^(?:Error: |RuntimeError: |  what\(\):\s{1,20})?index out of bounds: (?P<bounds>\S{1,300} <= \S{1,300} < \S{1,300})
    recorded [torch 2.13.0, CPU, stderr] Error: index out of bounds: 0 <= tmp2 < 10L
    unlike example [eager embedding] IndexError: index out of range in self
device_assert_other run index_out_of_bounds KIND_TEXT possible explain_kernel
    summary A device-side assertion of a GPU kernel failed: {condition}
    means A tl.device_assert or CUDA assert outside Inductor's own index checks fired, usually one of a user kernel. Its condition says what was expected; most guard an index or a size.
    check The file before the line number is the user's kernel or a library, not the Inductor cache
    fix Check the argument named in the condition at the kernel's call site
    pattern : block: \[[-\d,]{1,200}\], thread: \[[-\d,]{1,200}\] Assertion `(?!index out of bounds|NaN or Inf|srcIndex <|-sizes\[i\]|index >= -sizes|ind ?>=|t >= 0 &&|idx_dim >= 0|input_val >= zero|cumdist|val >= zero|sum > accZero|0 <= p4|!|probability tensor)(?P<condition>[^`']{1,120})` failed
    example [layout of a user tl.device_assert] /home/me/kernels.py:17: _gather_rows: block: [3,0,0], thread: [64,0,0] Assertion `row index must be smaller than n_rows` failed.
    unlike example /tmp/ic/ab/cab.py:20: unknown: block: [0,0,0], thread: [0,0,0] Assertion `NaN or Inf found` failed.
eager_index_error run index_out_of_bounds BROAD_TEXT
    summary An operator on the CPU was given an index outside its dimension
    means The index tensor of an embedding, gather, scatter or loss holds a value that the table does not have; the operator, compiled or eager, checks it and says so.
    check Maximum and minimum of the index tensor against the size of the table
    fix Validate or clamp the index tensor before the call
    guide triton-index-out-of-bounds.md#on-a-cpu-package
    pattern index out of range in self
    pattern [iI]ndex -?\d{1,20} is out of bounds for dimension \d{1,20} with size \d{1,20}
    pattern IndexError: Target -?\d{1,20} is out of bounds
    unconfirmed index_select\(\): index out of range || indices element is out of DATA bounds
    recorded [torch 2.13.0, CPU, nll_loss] IndexError: Target 9 is out of bounds.
    unlike example [Python code] IndexError: list index out of range
    unlike example [NumPy] IndexError: index 5 is out of bounds for axis 0 with size 5
gpu_index_assert run index_out_of_bounds ASSERTION proved explain_kernel
    summary A generated GPU kernel checked an index and it was outside {bounds}
    means Inductor's own bounds check around an indexed load or store fired; the tensor that holds the index carries a value outside the table. The file and line are those of the kernel, the upper bound is the size of the indexed dimension.
    check The assert is printed first; everything after it in the same process is a consequence
    fix Check the index tensor against the bound before the call, or clamp it in the model: the compiled kernel cannot report which input it was
    fix Compare the size of the table (vocabulary, position table) with what the tokenizer or caller produces
    pattern block: \[[-\d,]{1,200}\], thread: \[[-\d,]{1,200}\] Assertion `index out of bounds: (?P<bounds>[^`']{1,120})` failed
gpu_tool_assert run index_out_of_bounds SPECIFIC_TEXT explain_kernel
    summary The debugging tool stopped at an assertion inside a GPU kernel
    means Core dump, cuda-gdb or compute-sanitizer caught a kernel assert. The line it names is where the kernel begins; the assert text with bound and thread is on stderr.
    check Find `Assertion ... failed` on stderr
    pattern ^={1,40} Warp assert || ^Assertion failed\.$
    unconfirmed CUDBG_EXCEPTION_WARP_ASSERT || CUDA Exception: Warp Assert
    recorded [compute-sanitizer, H200] ========= Warp assert
    recorded [cuda-gdb on a core, H200] Assertion failed.
    unlike example [a host assert on macOS] Assertion failed: (ptr != nullptr), function run, file main.cpp, line 12.
guard_failed run contract_guard EXACT_TEXT
    summary The exported program forbids these inputs: {guard}
    means The exported program's own check fails. The package does not make it and would run on, with wrong results or a fault.
    check Is the size one you want to serve? Then the export is to blame, else the caller.
    fix Make the caller keep the guard, or export with the dimension dynamic (Dim with min and max)
    pattern AssertionError: Guard failed: (?P<guard>.{0,120}\.size\(\).{0,120})
    unlike example [a loss in eager mode] Expected input batch_size (4) to match target batch_size (8).
inner_dtype_mismatch run contract_dtype GENERAL_TEXT
    summary A tensor inside the model has another dtype than compiled: {one} and {other}
    means An operator of the package met a dtype that it was not compiled for: an input of another dtype, or an operator whose fake kernel promises another one. Pointwise kernels before it have already read garbage.
    check AOTI_RUNTIME_CHECK_INPUTS=1 names the input.
    fix Cast the input to the exported dtype, or correct the operator's fake kernel
    pattern (?:mat1|m1|self) and \w{1,40} (?:must|to) have the same dtype, but got:? (?P<one>\w{1,40}) (?:and|!=) (?P<other>\w{1,40})
    pattern expected dtype (?P<one>torch\.\w{1,40}) but got dtype (?P<other>code -?\d{1,20})
    recorded [torch 2.13.0, CPU, check off] RuntimeError: mat1 and mat2 must have the same dtype, but got Double and Float
inner_shape_mismatch run contract_shape GENERAL_TEXT possible
    summary A tensor inside the model has size {got} where {expected} was compiled in
    means Either an input breaks the contract (two sizes that must be equal, another rank), or an operator's fake kernel returned another shape. In `expected size A==B` the first number is what arrived, and the text below it blames the fake kernel in both cases.
    check Run ep.module() on the same inputs: a failing guard means the input, a clean run the operator.
    fix Correct the input, or the operator's fake kernel (torch.library.opcheck)
    guide input-contracts.md#asserts-inside-the-model
    pattern expected size (?P<got>\d{1,20})==(?P<expected>(?!(?P=got),)\d{1,20}), stride \d{1,20}==\d{1,20} at dim=\d{1,20}
    pattern expected ndim (?P<expected>\d{1,20}) but got (?P<got>\d{1,20})
    pattern mat1 and mat2 shapes cannot be multiplied \((?P<got>[\dsux*]{1,40}) and (?P<expected>[\dsux*]{1,40})\)
    unlike example [another failure] AssertionError: expected size 3, got 4
inner_stride_mismatch run contract_stride GENERAL_TEXT possible
    summary A tensor inside the model has stride {got} where {expected} was compiled in
    means The sizes are right and the layout is not: an input in another memory format, or an operator whose fake kernel promised another layout than it returns.
    check Run ep.module() on the same inputs: a failing guard means the input, a clean run the operator.
    fix Pass inputs in the layout of the export (.contiguous() or channels_last)
    fix Or correct the layout that the operator's fake kernel returns
    guide input-contracts.md#asserts-inside-the-model
    pattern expected size (?P<size>\d{1,20})==(?P=size), stride (?P<got>\d{1,20})==(?P<expected>(?!(?P=got)\b)\d{1,20}) at dim=\d{1,20}
    unlike example [a size that differs] RuntimeError: expected size 3==4, stride 1==1 at dim=0
input_copied_to_align run performance BROAD_TEXT symptom proved
    summary Input {input} does not start on a {bytes}-byte boundary and is copied at each call
    means A warning: the result is right, the call is slower. It comes from views with an odd offset.
    fix Pass input {input} as x.clone(), or export with a view of the same offset
    guide inputs-and-devices.md#misaligned-inputs
    pattern Input (?P<input>\d{1,20}) was compiled as (?P<bytes>\d{1,20})-bytes aligned, but it is not aligned at run time
    recorded [torch 2.11.0, H200] c5thbkdbl4vr4i2xtdohaf7bnv6ue4eovn2zj2gnzjfcbkkbu7dt.wrapper.cpp:851] Warning: "Input 0 was compiled as 16-bytes aligned, but it is not aligned at run time.
input_not_aligned run misaligned_address SPECIFIC_TEXT proved
    summary Input {input} does not start on a 16-byte boundary and this torch refuses it
    means The wrapper that torch 2.6 generated rejects unaligned GPU inputs. Later releases copy them instead, which costs time on every call.
    fix Pass a clone of the view, or upgrade torch and recompile
    guide inputs-and-devices.md#misaligned-inputs
    pattern \b(?P<input>\w{1,80}) is not aligned to 16 bytes
    quoted [pytorch/pytorch#141891] RuntimeError: arg0_1 is not aligned to 16 bytes
    unlike example [constants, not an input] weights_offset must be aligned to 16K boundary
integer_division_by_zero run contract_shape EXACT_TEXT
    summary A size computation of the model divided by a dimension that is 0
    means The generated host code computes sizes with integer arithmetic; a dynamic dimension of 0 ends as this error (torch 2.13 and later) or as signal 8.
    check Is any dimension of the inputs 0?
    fix Reject empty inputs, or export with min=1 for that dimension
    guide host-crash.md#division-by-zero
    anchor [ ]by zero || division by zero || SIGFPE || exit code || exit status
    pattern Integer (?:floor )?\w{1,200} by zero || (?<!Compiler Error: )Floating point exception
    unconfirmed exit (?:code|status)\s{0,20}:?\s{0,20}136 || \bSIGFPE\b || Caught signal 8\b
    example [shell text] Floating point exception (core dumped)
    unlike example [Python code] ZeroDivisionError: division by zero
run_call_failed run contract_shape BROAD_TEXT envelope possible
    summary The model failed while running; the reason is the `Error:` line on stderr
    means Only an envelope. Up to torch 2.12 any failed run raises it; stderr has the reason above.
    check Read stderr: the `Error:` line and the `Exception in aoti_torch` line before it.
    guide debugging-tools.md#api-call-failed
    pattern run_func_\(.{0,400}API call failed at \S{0,300}model_container_runner
wrapper_call_failed run contract_shape BROAD_TEXT envelope possible
    summary {call} failed inside the model; the reason is above it
    means An operator in the model failed. Up to 2.12 the line `Exception in aoti_torch: ...` before it holds the reason; on a GPU it may be the aftermath of an earlier kernel's fault.
    check Read the lines above; on a GPU look for the first CUDA message.
    guide debugging-tools.md#api-call-failed
    pattern (?:^|Error: |what\(\):\s{1,4})(?P<call>aoti_torch_\w{1,100})\(.{0,2000} API call failed at \S{1,400}\.cpp, line \d{1,20}
    unlike example [another failure] RuntimeError: run_func_( container_handle_) API call failed at /pytorch/torch/csrc/inductor/aoti_runner/model_container_runner.cpp, line 144
"""
