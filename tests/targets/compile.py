"""Compile a small model and call it: compile.py PACKAGE [rejected | crashes]."""

import ctypes
import sys

import torch


class Small(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x.sum(-1, keepdim=True)).cumsum(0)


class Relu(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)


package, how = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
if how == "rejected":  # torch's own switch to make the C++ compiler fail
    torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = "compile_error"
example = torch.ones(4, 8)
model = Relu() if how else Small()
program = torch.export.export(model, (example,))
torch._inductor.aoti_compile_and_package(program, package_path=package)
if how == "crashes":
    ctypes.string_at(0)
print(torch._inductor.aoti_load_package(package)(example).sum().item(), flush=True)
