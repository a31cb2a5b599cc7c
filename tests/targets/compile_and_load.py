"""Compile the smallest model into a package, load it and call it: PACKAGE [without_constants]."""

import sys

import torch
from models import Dynamic

inputs = (torch.randn(8, 16),)
with torch.no_grad():
    program = torch.export.export(Dynamic().eval(), inputs)
    package = torch._inductor.aoti_compile_and_package(
        program,
        package_path=sys.argv[1],
        inductor_configs={"aot_inductor.package_constants_in_so": len(sys.argv) == 2},
    )
    print("packaged", flush=True)
    print(torch._inductor.aoti_load_package(package)(*inputs).sum())
