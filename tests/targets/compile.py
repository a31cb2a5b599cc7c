"""Compile a small model and call it: compile.py PACKAGE [HOW].

HOW: `rejected` by the C++ compiler; `crashes` when compiled; `dynamic`, the smallest model of
models.py, or that `without_constants` in its library.
"""

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
example, model, settings = torch.ones(4, 8), Relu() if how else Small(), {}
if how == "rejected":  # torch's own switch to make the C++ compiler fail
    torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = "compile_error"
elif how in ("dynamic", "without_constants"):
    from models import Dynamic

    example, model = torch.randn(8, 16), Dynamic().eval()
    settings = {"aot_inductor.package_constants_in_so": how == "dynamic"}
with torch.no_grad():
    program = torch.export.export(model, (example,))
torch._inductor.aoti_compile_and_package(
    program, package_path=package, inductor_configs=settings or None
)
if how == "crashes":
    ctypes.string_at(0)
print(torch._inductor.aoti_load_package(package)(example).sum().item(), flush=True)
