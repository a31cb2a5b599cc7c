from __future__ import annotations

from typing import Any

import pytest
from aoti_debug.model import Next
from aoti_debug.report.diagnosis import command_line


@pytest.mark.parametrize(
    ("tool", "arguments", "line"),
    [
        ("check_environment", {}, "aoti-debug environment"),
        ("triage", {}, "aoti-debug triage SCRIPT"),
        ("triage", {"script": "/a b.py", "wait_s": 5}, "aoti-debug triage '/a b.py'"),
        (
            "run_stage",
            {"script": "/x.py", "stage": "nan", "args": ["-n", "1"]},
            "aoti-debug run /x.py --stage nan -- -n 1",
        ),
        (
            "run_stage",
            {"command": ["./a.out", "m.pt2"], "env": {"A": "$B"}, "timeout_s": 9},
            "aoti-debug run --env 'A=$B' --timeout 9 --command ./a.out m.pt2",
        ),
        ("triage", {"module": "pytest"}, "aoti-debug triage --module pytest"),
        (
            "read_artifact",
            {"run": "r-1", "name": "stderr.log", "offset": 20},
            "aoti-debug artifact r-1 stderr.log --offset 20",
        ),
        ("verify_fix", {"script": "/x.py", "run": "r-1"}, "aoti-debug verify /x.py --against r-1"),
        ("explain_kernel", {"run": "r-1", "kernel": "k"}, "aoti-debug explain r-1 k"),
        ("some_new_tool", {"x": 1}, "some_new_tool"),
    ],
)
def test_next_step_reads_as_a_command(tool: str, arguments: dict[str, Any], line: str) -> None:
    assert command_line(Next(tool=tool, arguments=arguments, why="")) == line
