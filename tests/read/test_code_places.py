"""Places in torch's code, however a line tells them, and logs that say nothing else."""

from __future__ import annotations

import pytest
from aoti_debug.diagnose import Observations, diagnose
from aoti_debug.read.record import CodePlace
from aoti_debug.read.scan import scan_text

TOLD = [
    ('  File "/x/site-packages/torch/_inductor/scheduler.py", line 7, in _init', "_init", "lower"),
    (
        'E0101 00:00:00.000000 1 torch/_inductor/aoti_eager.py:9]   File "/x/torch/_inductor/ir.py"'
        ", line 3, in f",
        "f",
        "lower",
    ),
    (r'(pid=7)   File "C:\x\torch\_dynamo\frame.py", line 5, in _compile', "_compile", "export"),
    ("File ~/env/lib/torch/export/_trace.py:1798, in _export(mod)", "_export", "export"),
    (r"  File C:\conda\Lib\torch\_inductor\graph.py:1773 in codegen", "codegen", "lower"),
    ("~/env/torch/_inductor/graph.py in run_node(self, n)", "run_node", "lower"),
    ("/x/site-packages/triton/compiler/compiler.py:393: in compile", "compile", "triton_compile"),
    ("E0101 00:00:00.000000 1 torch/_subclasses/fake_tensor.py:2721] [7/0] no", "", "export"),
    ("[2023-02-22 23:05:28,592] torch._inductor.graph: [ERROR] Error from lowering", "", "lower"),
    ("torch.onnx._internal.exporter.TorchExportError: no", "", "export"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "function", "phase"), TOLD, ids=range(len(TOLD)))
def test_a_line_tells_its_place_and_a_log_of_such_lines_its_phase(
    line: str, function: str, phase: str
) -> None:
    records = scan_text(line + "\n", "log").records
    (place,) = [r for r in records if isinstance(r, CodePlace)]
    assert place.function == function
    best = diagnose(Observations(records))[0]
    assert (best.phase, best.confidence) == (phase, "possible")


def test_a_warning_of_torch_is_no_place() -> None:
    line = "/x/torch/_inductor/compile_fx.py:322: UserWarning: TensorFloat32 tensor cores"
    assert not [r for r in scan_text(line, "log").records if isinstance(r, CodePlace)]
    line = (
        'V0101 00:00:00.000000 1 torch/_dynamo/x.py:9] [0/0]   File "/x/torch/_dynamo/y.py", line 1'
    )
    assert not [r for r in scan_text(line, "log").records if isinstance(r, CodePlace)]
    line = "W0101 00:00:00.000000 1 torch/_inductor/utils.py:1250] skipping"
    assert not [r for r in scan_text(line, "log").records if isinstance(r, CodePlace)]


def test_the_deepest_frames_decide_and_a_compiled_graph_that_runs_is_no_compile() -> None:
    text = (
        '  File "/x/torch/_inductor/compile_fx.py", line 257, in cudagraphify_impl\n'
        '  File "/tmp/torchinductor_me/7q/c7q.py", line 691, in call\n'
        "RuntimeError: CUDA error: an illegal memory access was encountered\n"
    )
    from aoti_debug.read.scan import log_readers
    from aoti_debug.signatures import matcher

    records = scan_text(text, "log", [*log_readers("log"), matcher("log")]).records
    best = diagnose(Observations(records))[0]
    assert (best.category, best.phase) == ("illegal_memory_access", "run")
