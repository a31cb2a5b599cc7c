"""Faults of a GPU to be minified, planted in a model of as many layers as wanted: CASE [LAYERS]."""

import sys
import tempfile
from pathlib import Path

import torch
import triton
import triton.language as tl
from to_minify import Layers, Part, given, grown, looked_up


@triton.jit
def scale_kernel(x, out, n, far, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = at < n
    tl.store(out + at + far, tl.load(x + at, mask=keep) * 2.0, mask=keep)


@torch.library.triton_op("planted_gpu::scale", mutates_args={})
def scale(x: torch.Tensor, far: int) -> torch.Tensor:
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 256),)
    torch.library.wrap_triton(scale_kernel)[grid](x, out, x.numel(), far, BLOCK=256)
    return out


@triton.autotune([triton.Config({"BLOCK": size}) for size in (128, 256)], key=[])
@triton.jit
def tuned_kernel(x, out, n, far, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = at < n
    tl.store(out + at + far, tl.load(x + at, mask=keep) * 2.0, mask=keep)


@torch.library.triton_op("planted_gpu::tuned", mutates_args={})
def tuned(x: torch.Tensor, far: int) -> torch.Tensor:
    out = torch.empty_like(x)
    n = x.numel()
    torch.library.wrap_triton(tuned_kernel)[lambda given: (triton.cdiv(n, given["BLOCK"]),)](
        x, out, n, far
    )
    return out


@triton.jit
def moved_kernel(x, ids, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = at < n
    tl.store(out + at, tl.load(x + at + tl.load(ids + 2), mask=keep), mask=keep)


@torch.library.triton_op("planted_gpu::moved", mutates_args={})
def moved(x: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 256),)
    torch.library.wrap_triton(moved_kernel)[grid](x, ids, out, x.numel(), BLOCK=256)
    return out


@torch.library.custom_op("planted_gpu::short", mutates_args=())
def short(x: torch.Tensor) -> torch.Tensor:
    return x[: x.shape[0] // 2].clone()


@short.register_fake
def _(x):
    return torch.empty_like(x)


TABLE = {"table": torch.randn(16, 32)}
FAR = 1 << 40
# name -> (part, inputs of the export, inputs of the call)
CASES = {
    "assert": (Part(looked_up, **TABLE), given(top=3), given(top=4000)),
    # a store far outside, met already where kernels are timed
    "illegal": (Part(lambda self, x: torch.ops.planted_gpu.scale(x, FAR) + 1), given(), given()),
    "autotune": (Part(lambda self, x: torch.ops.planted_gpu.tuned(x, FAR) + 1), given(), given()),
    # a read far outside, with the call's inputs alone
    "illegal_run": (
        Part(lambda self, x, ids: torch.ops.planted_gpu.moved(x, ids) + 1),
        given(top=0),
        given(top=FAR),
    ),
    "device": (Part(lambda self, x: torch.relu(x) + 1), given(), given()),
    "short": (Part(lambda self, x: torch.ops.planted_gpu.short(x) + 1), given(), given()),
    "nan": (Part(grown), given(), (given()[0] * 4,)),
}


def main():
    name, layers = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    part, example, call = CASES[name]
    model = Layers(layers, part).eval().cuda()
    example = tuple(x.cuda() for x in example)
    call = tuple(x if name == "device" else x.cuda() for x in call)
    with torch.no_grad():
        program = torch.export.export(model, example)
        path = str(Path(tempfile.mkdtemp(), "model.pt2"))
        options = {"aot_inductor.compile_wrapper_opt_level": "O0"}
        torch._inductor.aoti_compile_and_package(
            program, package_path=path, inductor_configs=options
        )
        compiled = torch._inductor.aoti_load_package(path)
        result = compiled(*call)
        torch.cuda.synchronize()
        if name in ("short", "nan"):
            expected = model(*call)
            if result.shape != expected.shape or not torch.allclose(result, expected):
                sys.exit("the result is not that of eager")
    print("mean", result.mean().item())


if __name__ == "__main__":
    main()
