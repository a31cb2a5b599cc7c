"""Planted GPU faults, each with its healthy twin: gpu_faults.py CASE [fault|healthy].

Every case compiles a small model, saves the package in the current directory and calls it.
EXPECTED says what a triage must find; the twin differs in one thing and has no fault.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading

import torch
import triton
import triton.language as tl
from torch.export import Dim

FAULTY = sys.argv[2:] != ["healthy"]


def compiled(name, module, inputs, dynamic_shapes=None, device="cuda", **configs):
    """Export and compile `module`, or take the package of an earlier run; return it loaded."""
    path = os.path.abspath(f"{name}.pt2")
    if not os.path.exists(path):
        with torch.no_grad():
            program = torch.export.export(
                module.to(device).eval(), inputs, dynamic_shapes=dynamic_shapes
            )
        torch._inductor.aoti_compile_and_package(
            program, package_path=path, inductor_configs=configs or None
        )
        print("compiled", flush=True)
    return torch._inductor.aoti_load_package(path)


def call(model, *inputs):
    out = model(*inputs)
    torch.cuda.synchronize()
    print("output", [tuple(o.shape) for o in (out if isinstance(out, (list, tuple)) else [out])])
    return out


# --- indices ---------------------------------------------------------------------------------


class Embed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(1000, 64)
        self.fc = torch.nn.Linear(64, 64)

    def forward(self, ids, weight):
        h = self.table(ids) * weight.unsqueeze(-1)
        return torch.relu(self.fc(h)).sum(1)


def embedding(value=5000):
    batch = Dim("batch", min=2, max=512)
    ids = torch.randint(0, 1000, (8, 32), device="cuda")
    weight = torch.rand(8, 32, device="cuda")
    model = compiled("embedding", Embed(), (ids, weight), ({0: batch}, {0: batch}))
    if FAULTY:
        ids[3, 5] = value
    call(model, ids, weight)


def negative_wrap():
    embedding(-1001)


class Gather(torch.nn.Module):
    def forward(self, x, index):
        return torch.tanh(x.gather(1, index)) * 2


def gather():
    x = torch.randn(64, 100, device="cuda")
    index = torch.randint(0, 100, (64, 16), device="cuda")
    model = compiled("gather", Gather(), (x, index))
    if FAULTY:
        index[10, 3] = 100
    call(model, x, index)


class Scatter(torch.nn.Module):
    def forward(self, x, index, values):
        return torch.relu(x).clone().index_put((index,), values) + 1


def scatter():
    x = torch.randn(64, 32, device="cuda")
    index = torch.randperm(64, device="cuda")[:16]  # no index twice: their order is not defined
    values = torch.randn(16, 32, device="cuda")
    model = compiled("scatter", Scatter(), (x, index, values))
    if FAULTY:
        index[7] = 64
    call(model, x, index, values)


# --- user Triton kernels -----------------------------------------------------------------------


@triton.jit
def scale_rows(x_ptr, o_ptr, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x_ptr + row * n + c, mask=c < n, other=0.0)
    tl.store(o_ptr + row * stride * 4096 + c, v * 2.0, mask=c < n)  # stride is in elements


@triton.jit
def scale_rows_right(x_ptr, o_ptr, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x_ptr + row * n + c, mask=c < n, other=0.0)
    tl.store(o_ptr + row * stride + c, v * 2.0, mask=c < n)


@torch.library.triton_op("planted::scale", mutates_args={})
def scale(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    kernel = scale_rows if FAULTY else scale_rows_right
    torch.library.wrap_triton(kernel)[(x.shape[0],)](x, out, x.shape[1], x.stride(0), BLOCK=1024)
    return out


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(1024, 1024)

    def forward(self, x):
        h = scale(torch.relu(self.a(x)))
        return h.sum(-1) + h.amax(-1)


def write_while_tuning():
    x = torch.randn(512, 1024, device="cuda")
    call(compiled("write_while_tuning", Scale(), (x,)), x)


@triton.jit
def late_rows(x_ptr, o_ptr, n, limit, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x_ptr + row * n + c, mask=c < n, other=0.0)
    jump = tl.where(row >= limit, row.to(tl.int64) * 4000000, row.to(tl.int64) * n)
    tl.store(o_ptr + jump + c, v * 2.0, mask=c < n)  # right for the first `limit` rows only


@torch.library.triton_op("planted::late", mutates_args={})
def late(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    limit = 1000 if FAULTY else 1 << 30
    torch.library.wrap_triton(late_rows)[(x.shape[0],)](x, out, x.shape[1], limit, BLOCK=1024)
    return out


class Late(torch.nn.Module):
    def forward(self, x):
        return torch.relu(late(torch.sin(x))).sum(-1)


def write_at_run_time():
    batch = Dim("batch", min=2, max=8192)
    x = torch.randn(64, 1024, device="cuda")
    model = compiled("write_at_run_time", Late(), (x,), ({0: batch},))
    call(model, torch.randn(4096, 1024, device="cuda"))


@triton.jit
def sum_rows(x_ptr, o_ptr, n, BLOCK: tl.constexpr, RIGHT: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    width = n if RIGHT else BLOCK  # the mask must be the row's width, not the block's
    v = tl.load(x_ptr + row * n + c, mask=c < width, other=0.0)
    tl.store(o_ptr + row, tl.sum(v, axis=0))


@torch.library.triton_op("planted::sum_rows", mutates_args={})
def sum_of_rows(x: torch.Tensor) -> torch.Tensor:
    out = x.new_empty(x.shape[0])
    torch.library.wrap_triton(sum_rows)[(x.shape[0],)](
        x, out, x.shape[1], BLOCK=1024, RIGHT=not FAULTY
    )
    return out


class SumRows(torch.nn.Module):
    def forward(self, x):
        return sum_of_rows(torch.sin(x)) * 2


def read_in_slab():
    x = torch.randn(16, 1000, device="cuda")
    call(compiled("read_in_slab", SumRows(), (x,)), x)


@triton.jit
def as_pairs(x_ptr, o_ptr, n, SHIFT: tl.constexpr, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    pairs = (x_ptr + SHIFT).to(tl.pointer_type(tl.int64))  # 8 bytes at an address of 4
    v = tl.load(pairs + c, mask=c < n, other=0)
    tl.store(o_ptr + c, v, mask=c < n)


@torch.library.triton_op("planted::pairs", mutates_args={})
def pairs(x: torch.Tensor) -> torch.Tensor:
    n = x.numel() // 2 - 1
    out = torch.zeros(n, dtype=torch.int64, device=x.device)
    shift = 1 if FAULTY else 2
    torch.library.wrap_triton(as_pairs)[(triton.cdiv(n, 256),)](x, out, n, SHIFT=shift, BLOCK=256)
    return out


class Pairs(torch.nn.Module):
    def forward(self, x, go):
        return pairs(torch.sin(x)) + go


def misaligned():
    x = torch.randn(4096, device="cuda")
    go = torch.zeros(1, dtype=torch.int64, device="cuda")
    call(compiled("misaligned", Pairs(), (x, go)), x, go)


@triton.jit
def add_one(x_ptr, o_ptr, n, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    if WIDE:
        pid = pid.to(tl.int64)
    c = pid * BLOCK + tl.arange(0, BLOCK)  # past 2**31 an int32 index turns negative
    v = tl.load(x_ptr + c, mask=c < n, other=0)
    tl.store(o_ptr + c, v + 1, mask=c < n)


@torch.library.triton_op("planted::add_one", mutates_args={})
def plus_one(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    n = x.shape[0]
    torch.library.wrap_triton(add_one)[(triton.cdiv(n, 4096),)](
        x, out, n, WIDE=not FAULTY, BLOCK=4096
    )
    return out


class PlusOne(torch.nn.Module):
    def forward(self, x):
        return plus_one(x)


def int32_overflow():
    size = Dim("size", min=4096, max=1 << 33)
    example = torch.zeros(1 << 20, dtype=torch.int8, device="cuda")
    model = compiled("int32_overflow", PlusOne(), (example,), ({0: size},))
    call(model, torch.zeros((1 << 31) + (1 << 20), dtype=torch.int8, device="cuda"))


@triton.jit
def accumulate(x_ptr, o_ptr, n, CLEAR: tl.constexpr, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x_ptr + c, mask=c < n, other=0.0)
    if not CLEAR:
        v += tl.load(o_ptr + c, mask=c < n, other=0.0)  # nothing has written to the output yet
    tl.store(o_ptr + c, v, mask=c < n)


@torch.library.triton_op("planted::accumulate", mutates_args={})
def accumulated(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    n = x.numel()
    torch.library.wrap_triton(accumulate)[(triton.cdiv(n, 256),)](
        x, out, n, CLEAR=not FAULTY, BLOCK=256
    )
    return out


class Accumulate(torch.nn.Module):
    def forward(self, x):
        return accumulated(torch.sin(x)) * 2


def uninitialised():
    x = torch.randn(4096, device="cuda")
    call(compiled("uninitialised", Accumulate(), (x,)), x)


@triton.jit
def wait_for_flag(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    busy = tl.load(x_ptr, volatile=True)
    while busy != 0:  # waits for a flag that nobody clears
        busy = tl.load(x_ptr, volatile=True)
    tl.store(o_ptr + c, c + busy, mask=c < n)


@torch.library.triton_op("planted::wait_for_flag", mutates_args={})
def waited(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    n = x.numel()
    torch.library.wrap_triton(wait_for_flag)[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
    return out


class Wait(torch.nn.Module):
    def forward(self, x):
        return waited(x.clamp(max=100)) + 1


def infinite_loop():
    x = torch.zeros(1024, dtype=torch.int32, device="cuda")
    model = compiled("infinite_loop", Wait(), (x,))
    if FAULTY:
        x[0] = 1
    call(model, x)


# --- custom operators --------------------------------------------------------------------------


@torch.library.custom_op("planted::quarter", mutates_args={})
def quarter(x: torch.Tensor) -> torch.Tensor:
    rows = x.shape[0] // 4 if FAULTY else x.shape[0] * 2
    return torch.nn.functional.pad(x, (0, 0, 0, x.shape[0]))[:rows].contiguous()


@quarter.register_fake
def _(x):
    return x.new_empty(x.shape[0] * 2, x.shape[1])


class Quarter(torch.nn.Module):
    def forward(self, x):
        h = quarter(torch.sin(x))
        return (h * 3).sum(0) + h.amax()


def fake_too_large():
    x = torch.randn(2048, 2048, device="cuda")
    call(compiled("fake_too_large", Quarter(), (x,)), x)


RACE = """
#include <cuda_runtime.h>
__global__ void reverse_block(const float* x, float* out, int wait) {
    __shared__ float tile[256];
    int i = threadIdx.x;
    tile[i] = x[blockIdx.x * 256 + i];
    if (wait) __syncthreads();
    out[blockIdx.x * 256 + i] = tile[255 - i];  // written by another warp
}
extern "C" int reverse_blocks(const float* x, float* out, int blocks, int wait, void* stream) {
    reverse_block<<<blocks, 256, 0, (cudaStream_t)stream>>>(x, out, wait);
    return cudaGetLastError();
}
"""


def race_library():
    path = os.path.abspath("race.so")
    if not os.path.exists(path):
        with open("race.cu", "w") as file:
            file.write(RACE)
        subprocess.run(
            [
                "nvcc",
                "-lineinfo",
                "-arch=native",
                "-shared",
                "-Xcompiler",
                "-fPIC",
                "-o",
                path,
                "race.cu",
            ],
            check=True,
        )
    return ctypes.CDLL(path)


@torch.library.custom_op("planted::reverse", mutates_args={})
def reverse(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    stream = torch.cuda.current_stream().cuda_stream
    address = ctypes.c_void_p
    race_library().reverse_blocks(
        address(x.data_ptr()),
        address(out.data_ptr()),
        x.numel() // 256,
        int(not FAULTY),
        address(stream),
    )
    return out


@reverse.register_fake
def _(x):
    return torch.empty_like(x)


class Reverse(torch.nn.Module):
    def forward(self, x):
        return reverse(torch.sin(x)) * 2


def shared_memory_race():
    race_library()
    x = torch.randn(1 << 16, device="cuda")
    call(compiled("shared_memory_race", Reverse(), (x,)), x)


# --- contracts ---------------------------------------------------------------------------------


class Wide(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(4096)
        self.fc = torch.nn.Linear(4096, 256)

    def forward(self, x):
        return self.fc(self.norm(torch.sin(x) * 2 + 1)).softmax(-1)


def smaller_input():
    model = compiled("smaller_input", Wide(), (torch.randn(4096, 4096, device="cuda"),))
    call(model, torch.randn(*((16, 16) if FAULTY else (4096, 4096)), device="cuda"))


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(64, 64)

    def forward(self, x):
        return torch.relu(self.fc(x + 1))


def cpu_input():
    x = torch.randn(8, 64, device="cuda")
    model = compiled("cpu_input", Small(), (x,))
    call(model, x.cpu() if FAULTY else x)


def cuda_input():
    x = torch.randn(8, 64)
    model = compiled("cuda_input", Small(), (x,), device="cpu")
    call(model, x.cuda() if FAULTY else x)


# --- values ------------------------------------------------------------------------------------


class Log(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(64, 64)
        self.b = torch.nn.Linear(64, 8)

    def forward(self, x):
        h = self.a(x)
        h = torch.log(h if FAULTY else h.abs() + 1)
        return self.b(h).softmax(-1)


def nan():
    x = torch.randn(8, 64, device="cuda")
    out = call(compiled("nan", Log(), (x,)), x)
    print("NaN", int(out.isnan().sum()))


# --- threads and memory ------------------------------------------------------------------------


class Deep(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(6)])

    def forward(self, x):
        return self.layers(torch.sin(x)).softmax(-1)


def threads():
    x = torch.randn(256, 512, device="cuda")
    compiled("threads", Deep(), (x,))
    model = torch._inductor.aoti_load_package(
        os.path.abspath("threads.pt2"), run_single_threaded=FAULTY
    )
    inputs = [torch.randn(256, 512, device="cuda") for _ in range(4)]
    right = [model(i).clone() for i in inputs]
    wrong = [0] * 4

    def work(k):
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(200):
                out = model(inputs[k])
                torch.cuda.current_stream().synchronize()
                wrong[k] += int(not torch.allclose(out, right[k], atol=1e-3))

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print("wrong results", sum(wrong), flush=True)


def out_of_memory():
    batch = Dim("batch", min=2, max=1 << 24)
    model = compiled(
        "out_of_memory", Wide(), (torch.randn(64, 4096, device="cuda"),), ({0: batch},)
    )
    x = torch.randn(1 << 17, 4096, device="cuda")  # 2 GB, and as much for what is computed
    if FAULTY:
        torch.cuda.set_per_process_memory_fraction(0.02)
    call(model, x)


class Residual(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(2048, 2048) for _ in range(24))

    def forward(self, x):
        h = x
        for layer in self.layers:
            h = torch.tanh(layer(h))
        return x + h


def expect(results, module, inputs):
    for number, (one, x) in enumerate(zip(results, inputs, strict=True)):
        with torch.no_grad():
            off = (one - module(x)).abs().max().item()
        if off > 0.05:
            sys.exit(f"batch {number}: {off:.3f} apart from the module")
    print("all batches agree")


def other_stream_writes():
    module = Residual().cuda().eval()
    batches = [torch.randn(4096, 2048, device="cuda") for _ in range(8)]
    model = compiled("residual", module, (batches[0],))
    staging, side, results = torch.empty_like(batches[0]), torch.cuda.Stream(), []
    for batch in batches:
        with torch.cuda.stream(side):
            staging.copy_(batch)
        torch.cuda.current_stream().wait_stream(side)
        results.append(model(staging))
        if not FAULTY:
            side.wait_stream(torch.cuda.current_stream())
    expect(results, module, batches)


def weights_changed():
    module = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.Linear(64, 8))
    module = module.cuda().eval()
    inputs = [torch.randn(16, 32, device="cuda") for _ in range(6)]
    model = compiled("weights_changed", module, (inputs[0],))
    if FAULTY:
        with torch.no_grad():
            module[2].bias.add_(0.5)
    expect([model(x) for x in inputs], module, inputs)


CASES = {
    case.__name__: case
    for case in (
        embedding,
        negative_wrap,
        gather,
        scatter,
        write_while_tuning,
        write_at_run_time,
        read_in_slab,
        misaligned,
        int32_overflow,
        uninitialised,
        infinite_loop,
        fake_too_large,
        shared_memory_race,
        smaller_input,
        cpu_input,
        cuda_input,
        nan,
        threads,
        out_of_memory,
        other_stream_writes,
        weights_changed,
    )
}

if __name__ == "__main__":
    torch.manual_seed(0)
    CASES[sys.argv[1]]()
