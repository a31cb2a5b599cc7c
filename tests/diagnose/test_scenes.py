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
    ],
)
def test_who_printed_a_text_and_where_it_stood_tell_it(
    text: str, category: str, phase: str
) -> None:
    found = diagnose_log(text=text).diagnoses[0]
    assert (found.category, found.phase) == (category, phase)
