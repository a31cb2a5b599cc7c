"""Nodes of an exported program carry the lines of the functions that `forward` calls."""

from __future__ import annotations

SCRIPT = """
import re, torch

def spread(x):
    return x.square().mean().sqrt()

class Model(torch.nn.Module):
    def scaled(self, x):
        return x / spread(x)

    def forward(self, x):
        return self.scaled(x).relu()

program = torch.export.export(Model(), (torch.ones(4),))
for node in program.graph.nodes:
    if node.op == "call_function":
        stack = node.meta["stack_trace"]
        lines = re.findall(r'", line (\\d+)', stack)
        print(node.target, *lines)
"""


def test_the_functions_that_forward_calls_are_in_the_stacks_of_nodes(run_script):
    ran = run_script(SCRIPT.lstrip("\n"), load=False)
    assert not ran.of("note")
    lines = dict(line.split(" ", 1) for line in ran.stdout.splitlines())
    assert lines == {
        "aten.square.default": "11 8 4",
        "aten.mean.default": "11 8 4",
        "aten.sqrt.default": "11 8 4",
        "aten.div.Tensor": "11 8",
        "aten.relu.default": "11",
    }
