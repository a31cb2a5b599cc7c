"""Walk through programs with planted faults and their healthy twins: OUT NAME ..."""

import importlib
import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "evals" / "benchmarks"), str(ROOT / "mcp_server" / "aoti_debug")]
import explain_cases  # noqa: E402
import torch  # noqa: E402
from probe import capture  # noqa: E402

walk = importlib.import_module("probe.walk")
out = Path(sys.argv[1])
for case in explain_cases.CASES:
    if case.name not in sys.argv[2:]:
        continue
    for twin in ("fault", "healthy"):
        torch.manual_seed(0)
        faulty = twin == "fault"
        model = (case.model if faulty or not case.healthy else case.healthy[0])().eval()
        if faulty and case.spoil is not None:
            case.spoil(model)
        good = case.good()
        with torch.no_grad():
            program = torch.export.export(model, good, dynamic_shapes=case.dynamic)
        args = case.bad() if faulty and case.bad else good
        folder = out / f"{case.name}-{twin}"
        folder.mkdir(parents=True)
        torch.export.save(program, folder / "program.pt2")
        call = capture.Call(1, args, {}, list(args))
        torch.save(capture.describe_call(torch, call, False), folder / "inputs.pt")
        kept, sys.argv = (
            sys.argv,
            [
                "walk",
                "--inputs",
                str(folder / "inputs.pt"),
                "--exported",
                str(folder / "program.pt2"),
                "--report",
                str(folder / "report.json"),
            ],
        )
        walk.main()
        sys.argv = kept
        expected = {
            "op": case.op,
            "says": case.says,
            "line": case.line()[1] if faulty else "",
            "inputs": list(program.graph_signature.user_inputs),
        }
        (folder / "expected.json").write_text(json.dumps(expected))
