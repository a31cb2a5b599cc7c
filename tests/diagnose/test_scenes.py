"""What texts say by who printed them, in which frame, and how they go on: no phrase of a message
tells it."""

from __future__ import annotations

import pytest
from aoti_debug.api import diagnose_log

RECOMPILES = """\
V0312 10:11:12.12 2 torch/_dynamo/guards.py:28] [9] [__recompiles] Recompiling function f in t.py:8
V0312 10:11:12.12 2 torch/_dynamo/guards.py:28] [9] [__recompiles]     by the guard failure(s):
V0312 10:11:12.12 2 torch/_dynamo/guards.py:28] [9] [__recompiles]     - 9/7: L['n'] == 7
"""
RECOMPILE_LIMIT = """\
/v/torch/_dynamo/convert_frame.py:964: UserWarning: torch._dynamo hit config.recompile_limit (8)
   function: 'torch_dynamo_resume_in_forward_at_120' (/w/model.py:120)
   last reason: 3/7: len(L['kv']) == 12
"""
IGNORED_CHOICE = """\
[rank0]:E0102 03:04:05.00 7 torch/_inductor/select_algorithm.py:2] Runtime error during autotuning:
[rank0]:E0102 03:04:05.00 7 torch/_inductor/select_algorithm.py:2] CUDA error: misaligned address
[rank0]:E0102 03:04:05.00 7 torch/_inductor/select_algorithm.py:2] Ignoring this choice.
AUTOTUNE mm(128x4096, 4096x4096)
  mm 0.0512 ms 100.0%
  triton_mm_4 0.0523 ms 97.9% ACC_TYPE='tl.float32'
"""
IN_A_CALL = """\
  File "/v/torch/_functorch/_aot_autograd/runtime_wrappers.py", line 328, in runtime_wrapper
    all_outs = call_func_at_runtime_with_args(
  File "/v/torch/_inductor/utils.py", line 2404, in run
    return model(new_inputs)
torch.AcceleratorError: CUDA error: an illegal memory access was encountered
"""
GUARD_OF_A_CALL = """\
  File "/v/torch/fx/graph_module.py", line 837, in call_wrapped
    return self._wrapped_call(self, *args, **kwargs)
  File "/v/torch/export/_unlift.py", line 65, in _check_input_constraints_pre_hook
    _check_input_constraints_for_graph(
  File "<eval_with_key>.9", line 12, in forward
AssertionError: Guard failed: x.size()[0] == y.size()[0]
"""
LINKED_ELSEWHERE = """\
/usr/bin/ld: CMakeFiles/detector.dir/main.cpp.o: in function `main':
main.cpp:(.text+0x2f1): undefined reference to `cv::imread(std::string const&, int)'
"""
LINKED_BY_INDUCTOR = """\
torch._inductor.exc.CppCompileError: C++ compile error
/usr/bin/ld: /tmp/cgq/main.o: in function `inductor_entry_impl':
cx.cpp:(.text+0x10): undefined reference to `aoti_torch_cpu_mm_out'
"""
CONVERTED = """\
  File "/v/executorch/exir/backend/partitioner.py", line 40, in partition
    raise RuntimeError(why)
RuntimeError: nodes form a cycle
"""
SHORT_OF_MEMORY = """\
[TRT] [E] 1: [runner.cpp::execute::682] Error Code 1: Myelin (Memory Allocation Failed)
[TRT] [E] 2: [virtualMemoryBuffer.cpp::resizePhysical::127] Error Code 2: OutOfMemory (no more)
"""
NOT_SOLVED = """\
Problem: nothing provides __cuda needed by libtorch-2.5.1-cuda126_h1
  - package pytorch-gpu-2.5.1 requires pytorch 2.5.1 cuda126*
"""
GLUED = "  model loaded ERROR: Incorrect args for pair coefficients (/build/pair_allegro.cpp:171)\n"

CAUGHT = """\
WARNING:torch._functorch.autograd_cache:Unable to write cache, bypassing
Traceback (most recent call last):
  File "/v/torch/_functorch/_aot_autograd/autograd_cache.py", line 781, in save
    content = pickle.dumps(entry)
AttributeError: Can't pickle local object 'make.<locals>.inner'
"""
UNCAUGHT = """\
WARNING:torch._dynamo:Unable to trace f, falling back
Traceback (most recent call last):
  File "/w/train.py", line 12, in <module>
    step(batch)
  File "/v/torch/_inductor/graph.py", line 1299, in call_function
    raise LoweringException(e, target, args, kwargs)
torch._inductor.exc.LoweringException: AssertionError:
"""
AS_NEAR = """\
L2 error (eager, double reference): 0.00213
L2 error (aoti, double reference): 0.00214
"""
FURTHER = """\
rmse eager:    1.02e-06
rmse inductor: 3.87e-01
"""
TWINS = """\
backend=eager    checksum=18231.22
backend=inductor checksum=17190.87
"""
NOT_A_NUMBER = """\
eager   : loss=2.3112 grad_norm=1.2
compile : loss=nan grad_norm=nan
"""
MARKED = """\
OK   conv1 rmse 0.0000
FAIL attn rmse 1.3320
OK   fc rmse 0.0000
"""
BOXED = """\
│ site-packages/torch/_custom_op/impl.py:1052 in error_not_found               │
│                                                                              │
│   1050 def get_op(qualname):                                                 │
│ ❱ 1052 │   │   raise ValueError(                                             │
"""
CUT = """\
  File "/v/torch/_inductor/compile_fx.py", line 1641, in codegen_and_compile
    compiled_fn = AotCodeCompiler.compile(
"""
OF_TRITON = """\
PLEASE submit a bug report to https://github.com/llvm/llvm-project/issues/
Stack dump:
0.      Program arguments: /w/bin/triton-opt in.mlir -tritongpu-pipeline -o out.mlir
"""
OF_CLANG = """\
PLEASE submit a bug report to https://github.com/llvm/llvm-project/issues/
Stack dump:
0.      Program arguments: /usr/bin/clang++-17 /tmp/torchinductor_u/ab/cabc.cpp -shared
"""
LOADED_BY_A_HOST = """\
terminate called after throwing an instance of 'c10::Error'
  what():  PytorchStreamReader failed locating file constants.pkl: file not found ()
frame #5: torch::jit::load(std::string const&) + 0xac (0x7f in libtorch.so)
"""
LOADED_BY_A_SCRIPT = """\
  File "/w/a.py", line 3, in <module>
    m = torch.jit.load("model.pth")
RuntimeError: PytorchStreamReader failed locating file constants.pkl: file not found
"""
CRASHED_IN_LOAD = """\
Program received signal SIGSEGV, Segmentation fault.
#0  0x00007ffff in std::__detail::_Compiler<std::regex_traits<char> >::_M_disjunction() ()
#5  0x00007fffe in torch::jit::load(std::istream&, c10::optional<c10::Device>) ()
"""
CHECKED_IN_A_CALL = """\
Traceback (most recent call last):
  File "/w/run.py", line 9, in <module>
    ep.module()(x)
  File "/v/torch/export/_unlift.py", line 90, in _guards_fn
    torch._assert(held, message)
AssertionError: the batch is odd
"""
CHECKED_BY_EXPORT = """\
Traceback (most recent call last):
  File "/w/export.py", line 9, in <module>
    torch.export.export(ep.module(), (x,))
  File "/v/torch/_export/non_strict_utils.py", line 380, in make_fake_inputs
    m(x)
  File "/v/torch/fx/experimental/symbolic_shapes.py", line 90, in evaluate_expr
    f(x)
AssertionError: Guard failed: x.size()[0] == y.size()[0]
"""

ENDS_IN_A_CONVERTER = """\
KeyError: 'w'
Traceback (most recent call last):
  File "/v/iree/turbine/aot/builtins/globals.py", line 40, in resolve
    return self.names[name]
"""
LEGALIZED = """\
net.mlir:9:4: error: failed to legalize operation 'torch.aten.sort' that was explicitly illegal
"""
FAULT_OF_A_LAUNCH = """\
  File "/v/torch/_inductor/compile_fx.py", line 90, in run
    return model(new_inputs)
  File "/v/torch/_inductor/triton_heuristics.py", line 60, in run
    return launcher(
RuntimeError: Triton Error [CUDA]: an illegal memory access was encountered
"""
BINARY_REFUSED = """\
  File "/v/triton/runtime/jit.py", line 61, in run
    kernel.run(grid)
RuntimeError: Triton Error [CUDA]: no kernel image is available for execution on the device
"""
PASSED_OVER = """\
Runtime error during autotuning:
No valid triton configs. OutOfMemoryError: out of resource: k Required: 9 Hardware limit: 8
Ignoring this choice.
"""
IN_HTML = """\
<tr><th>net</th><th>eager_latency</th><th>inductor_latency</th></tr>
<tr>
  <td>bert</td>
  <td>0.012</td>
  <td>0.015</td>
</tr>
"""
IN_MARKDOWN = "| | eager | AOTI |\n|---|---|---|\n| mean | 0.01 | 1.88 |\n"
WITHOUT_LABELS = "tensor([0.1, 0.7])\ntensor([0.5, 0.7])\nFalse\n"
IN_COMMENTS = "out_eager = f(x)  # tensor([1., 2.])\nout_compiled = g(x)  # tensor([1., 0.])\n"
NOT_BUILT = """\
  raise("pair_sum: this extension was not compiled with its operators")
  ~~~~~ <--- HERE
"""
BLOCKED = "with two streams the other threads are blocked while one of them runs the model\n"
SLOWER = "the package is three times slower than before\n"
LONG_COMPILE = "compiling the package takes 25 minutes since the upgrade\n"
WARNS_ALONE = """\
/v/torch/_inductor/compile_fx.py:9: UserWarning: tensor cores are not enabled, consider it
  warnings.warn(
"""
SERVED = """\
E0102 10:00:00.000001 1 model_lifecycle.cc:63] PytorchStreamReader failed locating file data.pkl
"""

ENGINE_IN_JAVA = """\
ai.onnxruntime.OrtException: Error code - ORT_INVALID_ARGUMENT - message: invalid dimensions
\tat ai.onnxruntime.OrtSession.run(Native Method)
"""


@pytest.mark.parametrize(
    ("text", "category", "phase"),
    [
        (RECOMPILES, "performance", "run"),
        (RECOMPILE_LIMIT, "performance", "run"),
        (IGNORED_CHOICE, "false_alarm", "autotune"),
        (IN_A_CALL, "illegal_memory_access", "run"),
        (GUARD_OF_A_CALL, "contract_guard", "run"),
        (LINKED_ELSEWHERE, "toolchain", "cpp_compile"),
        (LINKED_BY_INDUCTOR, "missing_symbol", "cpp_compile"),
        (CONVERTED, "lowering_error", "lower"),
        (SHORT_OF_MEMORY, "out_of_memory", "run"),
        (NOT_SOLVED, "toolchain", "environment"),
        (GLUED, "user_code", "run"),
        (ENGINE_IN_JAVA, "contract_shape", "run"),
        (CAUGHT, "false_alarm", "lower"),
        (UNCAUGHT, "lowering_error", "lower"),
        (AS_NEAR, "false_alarm", "output"),
        (FURTHER, "wrong_result", "output"),
        (TWINS, "wrong_result", "output"),
        (NOT_A_NUMBER, "nan_or_inf", "output"),
        (MARKED, "wrong_result", "output"),
        (BOXED, "custom_op_missing", "load"),
        (CUT, "cpp_error", "cpp_compile"),
        (OF_TRITON, "triton_error", "triton_compile"),
        (OF_CLANG, "toolchain", "cpp_compile"),
        (LOADED_BY_A_HOST, "package_incompatible", "load"),
        (LOADED_BY_A_SCRIPT, "user_code", "load"),
        (CRASHED_IN_LOAD, "host_segfault", "load"),
        (CHECKED_IN_A_CALL, "contract_guard", "run"),
        (ENDS_IN_A_CONVERTER, "lowering_error", "lower"),
        (LEGALIZED, "lowering_error", "lower"),
        (FAULT_OF_A_LAUNCH, "illegal_memory_access", "run"),
        (BINARY_REFUSED, "missing_kernel_binary", "run"),
        (PASSED_OVER, "false_alarm", "autotune"),
        (IN_HTML, "performance", "run"),
        (IN_MARKDOWN, "wrong_result", "output"),
        (WITHOUT_LABELS, "wrong_result", "output"),
        (IN_COMMENTS, "wrong_result", "output"),
        (NOT_BUILT, "custom_op_missing", "run"),
        (BLOCKED, "concurrency", "run"),
        (SLOWER, "performance", "run"),
        (LONG_COMPILE, "performance", "lower"),
        (WARNS_ALONE, "false_alarm", "none"),
        (SERVED, "package_incompatible", "load"),
        (CHECKED_BY_EXPORT, "lowering_error", "export"),
    ],
)
def test_who_printed_a_text_and_where_it_stood_tell_it(
    text: str, category: str, phase: str
) -> None:
    found = diagnose_log(text=text).diagnoses[0]
    assert (found.category, found.phase) == (category, phase)


def test_frames_without_an_error_are_not_called_healthy() -> None:
    frames = """\
  File "/v/torch/_functorch/_aot_autograd/runtime_wrappers.py", line 328, in runtime_wrapper
    all_outs = call_func_at_runtime_with_args(
  File "/v/torch/_inductor/utils.py", line 2404, in run
    return model(new_inputs)
"""
    found = diagnose_log(text=frames).diagnoses[0]
    assert (found.category, found.phase) == ("unknown", "run")


OF_OTHERS = (
    """\
  File "/w/train.py", line 9, in <module>
    out = net(x)
  File "/v/torch/nn/modules/pooling.py", line 17, in forward
    return F.max_pool2d(input, self.kernel_size)
RuntimeError: CUDA error: misaligned address
""",
    "/usr/bin/ld: app.o: undefined reference to `main'\nmake: *** [app] Error 1\n",
    "Error in load_lib(x) :\n  /lib/libm.so.6: version `GLIBC_2.99' not found (required by x)\n",
    "ggml_cuda_init: device 0\nllama_load: CUDA error: out of memory\n",
    "ERROR: LoadError: could not load library\nx.so: undefined symbol: cuFoo\n",
    "C:\\src\\app.cpp(31): error C2039: 'forward': is not a member of 'Net'\n",
    'FATAL: a.cu:9 code=35(cudaErrorInsufficientDriver) "cudaGetDeviceCount(&n)"\n',
)


@pytest.mark.parametrize("text", OF_OTHERS)
def test_what_other_software_says_is_possible_at_most(text: str) -> None:
    assert diagnose_log(text=text).diagnoses[0].confidence == "possible"


def test_a_sign_of_a_compiled_model_makes_it_likely() -> None:
    ours = OF_OTHERS[0].replace("net(x)", "torch.compile(net)(x)")
    assert diagnose_log(text=ours).diagnoses[0].confidence == "likely"


def test_a_native_stack_is_not_called_healthy() -> None:
    stack = "all tests passed\n#0  0x00007f2b in raise () from /lib64/libc.so.6\n"
    assert diagnose_log(text=stack).diagnoses[0].category == "unknown"


def test_a_scripts_own_error_has_no_phase_of_ours() -> None:
    text = '  File "/w/prep.py", line 3, in <module>\n    row["age"]\nKeyError: \'age\'\n'
    found = diagnose_log(text=text).diagnoses[0]
    assert (found.category, found.phase) == ("user_code", "none")
