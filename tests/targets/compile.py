"""Compile a small model and call it: compile.py PACKAGE [HOW].

HOW: `rejected` by Inductor; `crashes` it; `dynamic`, the smallest model of models.py, or that
`without_constants` in its library.
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
if how == "rejected":  # where it generates code, before anything is given to the C++ compiler
    torch._inductor.config.cpp.threads = "all"
elif how == "crashes":
    torch._inductor.config.post_grad_custom_pre_pass = lambda graph: ctypes.string_at(0)
elif how in ("dynamic", "without_constants"):
    from models import Dynamic

    example, model = torch.randn(8, 16), Dynamic().eval()
    settings = {"aot_inductor.package_constants_in_so": how == "dynamic"}
with torch.no_grad():
    program = torch.export.export(model, (example,))
torch._inductor.aoti_compile_and_package(
    program, package_path=package, inductor_configs=settings or None
)
print(torch._inductor.aoti_load_package(package)(example).sum().item(), flush=True)
