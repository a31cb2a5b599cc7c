"""Planted faults that `explain` must find, each with a healthy twin: the models, run by explain.py.

The line of a fault ends with `# planted`. A case is exported with `good` inputs; `bad` are those of
the faulty call, or None where the weights are at fault (`spoil`).
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import eye, nn, ones, rand, randn, tensor, zeros
from torch.export import Dim

PLANT = "EXPLAIN_CASES_PLANT"


Inputs = Callable[[], tuple[Any, ...]]


@dataclass(frozen=True)
class Change:
    """What a faulty call has in one place of one of its good inputs."""

    input: int
    at: tuple[int, ...]
    value: float


@dataclass(frozen=True)
class Case:
    """`op` is that of the planted node; `says` must stand in the summary, word by word."""

    name: str
    kind: str  # index, nan, wrong
    model: Callable[[], nn.Module]
    good: Inputs
    op: str
    says: tuple[str, ...]
    faulty: Inputs | Change | None = None
    spoil: Callable[[nn.Module], None] | None = None
    dynamic: Any = None
    settings: tuple[tuple[str, Any], ...] = ()  # of Inductor, that plant the fault
    healthy: tuple[type[nn.Module], ...] = ()  # the twin of a fault that is in the model itself
    products: str = ""  # the precision of float32 products that a GPU's package is compiled with

    @property
    def bad(self) -> Inputs | None:
        change = self.faulty
        if not isinstance(change, Change):
            return change

        def changed() -> tuple[Any, ...]:
            inputs = list(self.good())
            inputs[change.input] = put(inputs[change.input], *change.at, value=change.value)
            return tuple(inputs)

        return changed

    def planted(self, device: str) -> tuple[dict[str, Any], dict[str, str]]:
        """Return Inductor's settings, and the environment, that plant the fault on a device."""
        if device == "cpu":
            return dict(self.settings), {}
        if self.settings == LOG1P:  # there is no such setting of Triton
            return {}, {PLANT: "log1p"}
        return {key.replace("cpp.", "triton."): value for key, value in self.settings}, {}

    def line(self) -> tuple[str, str]:
        """Return (file, text) of the planted line."""
        kinds = dict.fromkeys(type(part) for part in self.model().modules())
        own = [kind for kind in kinds if kind.__module__ == __name__]
        lines = [line for kind in own for line in inspect.getsource(kind).splitlines()]
        text = next(line for line in lines if line.rstrip().endswith("# planted"))
        return __file__, text.strip()


class Net(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.parts(*sizes)


class Embed(Net):
    def parts(self):
        self.table = nn.Embedding(1000, 16)
        self.fc = nn.Linear(16, 4)

    def forward(self, ids, weight):
        h = self.table(ids) * weight.unsqueeze(-1)  # planted
        return self.fc(h).relu()


class Gather(Net):
    def parts(self):
        self.fc = nn.Linear(8, 8)

    def forward(self, x, pick):
        y = self.fc(x).tanh()
        return torch.gather(y, 1, pick) * 2  # planted


class ScatterAdd(nn.Module):
    def forward(self, x, bins):
        total = torch.zeros(12, device=x.device)
        return total.scatter_add(0, bins, x.relu()) + 1  # planted


class IndexPut(nn.Module):
    def forward(self, x, rows):
        y = x * 2
        return y.index_put((rows,), torch.ones_like(y[:4]))  # planted


class Advanced(nn.Module):
    def forward(self, x, rows, columns):
        y = x.sin()
        return y[rows, columns] + 1  # planted


class Nested(Net):
    def parts(self):
        self.first = nn.Embedding(20, 4)
        self.register_buffer("route", torch.arange(50) % 20)

    def forward(self, ids):
        return self.first(self.route[ids]).sum(1)  # planted


class Argmax(Net):
    def parts(self):
        self.names = nn.Embedding(10, 4)
        self.fc = nn.Linear(8, 32)
        self.fc.bias.data[3] = 50.0

    def forward(self, x):
        best = self.fc(x).argmax(-1)
        return self.names(best)  # planted


class Cumsum(Net):
    def parts(self):
        self.place = nn.Embedding(8, 4)

    def forward(self, mask):
        positions = mask.cumsum(-1)
        return self.place(positions).sum(1)  # planted


class Bucketize(Net):
    def parts(self):
        self.register_buffer("edges", torch.linspace(0, 1, 9))
        self.age = nn.Embedding(9, 4)

    def forward(self, x):
        bucket = torch.bucketize(x, self.edges)
        return self.age(bucket)  # planted


class Empty(nn.Module):
    def forward(self, items, ids):
        return items.index_select(0, ids) * 2  # planted


class Positions(Net):
    """GPT-2 of 12 M parameters: as many learned positions as `n_positions`."""

    def parts(self):
        from transformers import GPT2Config, GPT2LMHeadModel

        sizes = {"n_embd": 384, "n_layer": 6, "n_head": 6, "n_positions": 64}
        config = GPT2Config(vocab_size=2000, bos_token_id=0, eos_token_id=0, **sizes)
        config._attn_implementation = "eager"
        self.gpt = GPT2LMHeadModel(config)

    def forward(self, tokens):
        return self.gpt(input_ids=tokens, use_cache=False).logits  # planted


class Cached(Net):
    """A decoder of 13 M parameters with a KV cache that each step writes into."""

    def parts(self, layers=4, width=512, room=32):
        self.embed = nn.Embedding(1000, width)
        self.blocks = nn.ModuleList(_Block(width, room) for _ in range(layers))
        self.head = nn.Linear(width, 1000, bias=False)

    def forward(self, token, at):
        h = self.embed(token)
        for block in self.blocks:
            h = block(h, at)
        return self.head(h)


class _Block(Net):
    def parts(self, width, room):
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.register_buffer("keys", torch.zeros(room, width))
        self.register_buffer("values", torch.zeros(room, width))

    def forward(self, h, at):
        q, k, v = self.qkv(self.norm(h)).chunk(3, -1)
        keys = self.keys.index_copy(0, at, k)  # planted
        values = self.values.index_copy(0, at, v)
        weights = (q @ keys.T / math.sqrt(q.shape[-1])).softmax(-1)
        h = h + self.out(weights @ values)
        return h + self.down(torch.nn.functional.gelu(self.up(h)))


class Bags(Net):
    """A recommender: four tables of together 10.2 M parameters, looked up with EmbeddingBag."""

    def parts(self):
        sizes = (60_000, 50_000, 30_000, 20_000)
        self.bags = nn.ModuleList(nn.EmbeddingBag(size, 64, mode="sum") for size in sizes)
        self.top = nn.Sequential(nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 1))

    def forward(self, users, items, shops, days):
        given = (users, items, shops, days)
        parts = [bag(one) for bag, one in zip(self.bags, given, strict=True)]  # planted
        return self.top(torch.cat(parts, -1)).sigmoid()


class Logs(Net):
    def parts(self):
        self.fc = nn.Linear(8, 8)
        self.fc.bias.data.fill_(9.0)

    def forward(self, x):
        y = self.fc(x).relu()
        z = torch.log(y + 0.0)  # planted
        return z.mean(-1) - z.mean()


class Normalised(nn.Module):
    def forward(self, x):
        y = x - x.amin(-1, keepdim=True)
        return y / y.amax(-1, keepdim=True)  # planted


class Root(nn.Module):
    def forward(self, x):
        return torch.sqrt(1 - x * x).cumsum(-1)  # planted


class ByHand(nn.Module):
    def forward(self, x):
        e = torch.exp(x * 30)  # planted
        return e / e.sum(-1, keepdim=True)


class Deviation(nn.Module):
    def forward(self, x):
        return (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)  # planted


class Unit(Net):
    def parts(self):
        self.fc = nn.Linear(8, 8, bias=False)

    def forward(self, x):
        h = self.fc(x)
        return h / h.norm(dim=-1, keepdim=True)  # planted


class Power(nn.Module):
    def forward(self, x):
        return (x**0.5).sum(-1)  # planted


class Entropy(nn.Module):
    def forward(self, x):
        p = x.softmax(-1)
        return -(p * p.log()).sum(-1)  # planted


class Scan(nn.Module):
    """Results are written into a tensor made before, step by step."""

    def forward(self, x):
        out = torch.zeros_like(x)
        level = torch.zeros_like(x[:, 0])
        for step in range(x.shape[1]):
            level = level * 0.5 + x[:, step].log()  # planted
            out[:, step] = level
        return out * x


class Pool(nn.Module):
    def forward(self, x, mask):
        kept = mask.to(x.dtype).unsqueeze(-1)
        return (x * kept).sum(1) / kept.sum(1)  # planted


class Angle(nn.Module):
    def forward(self, x, y):
        return torch.acos((x * y).sum(-1))  # planted


class Norm2d(Net):
    def parts(self):
        self.conv = nn.Conv2d(3, 8, 3)
        self.norm = nn.BatchNorm2d(8)

    def forward(self, x):
        y = self.conv(x)
        return self.norm(y).relu().mean((2, 3))  # planted


class Masked(Net):
    """A Llama of 11 M parameters; layer 3 of 6 attends with an own mask of -Inf."""

    def parts(self, layers=6, width=320):
        self.embed = nn.Embedding(1000, width)
        self.blocks = nn.ModuleList(_Attend(width) for _ in range(layers))
        self.head = nn.Linear(width, 1000, bias=False)

    def forward(self, ids, valid):
        h = self.embed(ids)
        for number, block in enumerate(self.blocks):
            h = block(h, valid if number == 3 else None)
        return self.head(h)


class _Attend(Net):
    def parts(self, width):
        self.norm = nn.RMSNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.gate = nn.Linear(width, 3 * width)
        self.down = nn.Linear(3 * width, width)

    def forward(self, h, valid):
        q, k, v = self.qkv(self.norm(h)).chunk(3, -1)
        scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
        if valid is not None:
            scores = scores.masked_fill(~valid[:, None, :], float("-inf"))
        weights = torch.softmax(scores, -1)  # planted
        h = h + self.out(weights @ v)
        return h + self.down(torch.nn.functional.silu(self.gate(h)))


class Bert(Net):
    """BERT of 11 M parameters."""

    def parts(self):
        from transformers import BertConfig, BertModel

        heads = {"num_hidden_layers": 8, "num_attention_heads": 8}
        config = BertConfig(vocab_size=3000, hidden_size=320, intermediate_size=1280, **heads)
        config._attn_implementation = "eager"
        self.bert = BertModel(config, add_pooling_layer=False)

    def forward(self, ids):
        return self.bert(input_ids=ids).last_hidden_state


class HalfNet(Net):
    """A CNN of 11 M parameters in fp16, with residual blocks."""

    def parts(self):
        widths = (64, 128, 256, 512)
        self.stem = nn.Conv2d(3, 64, 3, 2, 1)
        blocks = []
        before = 64
        for width in widths:
            blocks += [_Residual(before, width), _Residual(width, width)]
            before = width
        self.blocks = nn.ModuleList(blocks)
        self.fc = nn.Linear(512, 100)

    def forward(self, x):
        h = self.stem(x)
        for block in self.blocks:
            h = block(h)
        return self.fc(h.mean((2, 3)))


class _Residual(Net):
    def parts(self, before, after):
        self.first = nn.Conv2d(before, after, 3, 2 if before != after else 1, 1)
        self.second = nn.Conv2d(after, after, 3, 1, 1)
        self.skip = nn.Conv2d(before, after, 1, 2) if before != after else nn.Identity()
        self.scale = nn.Parameter(torch.ones(after, 1, 1))

    def forward(self, x):
        y = self.second(self.first(x).relu())
        y = y * self.scale  # planted
        return (y + self.skip(x)).relu()


class Relu(Net):
    def parts(self):
        self.layers = nn.ModuleList(nn.Linear(32, 32) for _ in range(10))

    def forward(self, x):
        for number, layer in enumerate(self.layers):
            x = layer(x)
            if number == 6:  # noqa: SIM108 - the fault has a line of its own
                x = torch.relu(x)  # planted
            else:
                x = torch.tanh(x)
        return x


class ReluLlama(Masked):
    """The Llama of Masked, with a relu in block 3 of 6."""

    def forward(self, ids):
        h = self.embed(ids)
        for number, block in enumerate(self.blocks):
            h = block(h, None)
            if number == 3:
                h = torch.relu(h) + h  # planted
        return self.head(h)


class ReluBags(Bags):
    def forward(self, users, items, shops, days):
        given = (users, items, shops, days)
        parts = [bag(one) for bag, one in zip(self.bags, given, strict=True)]
        h = self.top[0](torch.cat(parts, -1).sin()).tanh()
        h = torch.relu(h - 0.1)  # planted
        return self.top[2](h).sigmoid()


class Log1p(Net):
    def parts(self):
        self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(6))

    def forward(self, x):
        for number, layer in enumerate(self.layers):
            x = layer(x).sigmoid()
            if number == 3:
                x = torch.log1p(x)  # planted
        return x


class Log1pCached(Cached):
    """The decoder of Cached, with a log1p after block 2 of 4."""

    def forward(self, token, at):
        h = self.embed(token)
        for number, block in enumerate(self.blocks):
            h = block(h, at)
            if number == 2:
                h = torch.log1p(h.abs()) * h.sign()  # planted
        return self.head(h)


class Products(Net):
    """Ten layers, 10 M parameters: in tf32 the outputs are off by a thousandth of their size."""

    def parts(self):
        self.layers = nn.ModuleList(nn.Linear(1024, 1024) for _ in range(10))

    def forward(self, x):
        for layer in self.layers:
            x = (layer(x) * 1.7).tanh()
        return x


class Arange(nn.Module):
    """After pytorch/pytorch#175966."""

    def forward(self, x):
        counted = torch.arange(0, 11, device=x.device)
        steps = counted * 1_000_000_000 + x.to(torch.int64)  # planted
        return steps, x.sin()


class SumOfSoftmax(nn.Module):
    """After pytorch/pytorch#189787."""

    def forward(self, x):
        total = (x * 2).softmax(-1).sum(-1)
        return torch.floor(total) + x.mean()  # planted


class TieCount(nn.Module):
    """After pytorch/pytorch#195214."""

    def forward(self, x):
        scaled = x.sin().bfloat16() / 3
        return (scaled == scaled.amax(-1, keepdim=True)).sum(-1)  # planted


class FloorDivision(nn.Module):
    def forward(self, x):
        y = x * 1.0
        return torch.div(y - 2, 0.1, rounding_mode="floor") + y.cos()  # planted


class NegativeZero(nn.Module):
    """After pytorch/pytorch#189799."""

    def forward(self, x):
        y = torch.ceil(x)
        z = y + torch.zeros_like(y)
        return torch.reciprocal(z)  # planted


@torch.library.custom_op("explain_cases::halve", mutates_args=())
def halve(x: torch.Tensor) -> torch.Tensor:
    x.mul_(0.5)
    return x + 1


halve.register_fake(torch.empty_like)


@torch.library.custom_op("explain_cases::half_of", mutates_args=())
def half_of(x: torch.Tensor) -> torch.Tensor:
    return x * 0.5 + 1


half_of.register_fake(torch.empty_like)


class Mutates(nn.Module):
    def forward(self, x):
        y = x.sin()
        z = halve(y)  # planted
        return y + z.cos()


class Declares(nn.Module):
    def forward(self, x):
        y = x.sin()
        z = half_of(y)  # planted
        return y + z.cos()


def ints(high: int, *shape: int) -> torch.Tensor:
    return torch.randint(0, high, shape)


def put(tensor: torch.Tensor, *at: int, value: float) -> torch.Tensor:
    tensor = tensor.clone()
    tensor[at] = value
    return tensor


def spoil_bert(model: nn.Module) -> None:
    model.bert.encoder.layer[4].attention.self.query.weight.data[7, 11] = float("nan")


def spoil_half(model: nn.Module) -> None:
    model.blocks[4].second.bias.data.fill_(3.0)
    model.blocks[4].scale.data.fill_(60_000.0)


def spoil_norm(model: nn.Module) -> None:
    model.norm.running_var[5] = -0.5


RELU = (("cpp.inject_relu_bug_TESTING_ONLY", "accuracy"),)
LOG1P = (("cpp.inject_log1p_bug_TESTING_ONLY", "accuracy"),)
B = Dim("batch", min=2, max=64)
# fmt: off
CASES: tuple[Case, ...] = (
    Case("embedding", "index", Embed, lambda: (ints(1000, 4, 6), rand(4, 6)), "embedding", ("ids[2, 3]", "5000", "1000", "table.weight"), Change(0, (2, 3), 5000)),
    Case("negative", "index", Embed, lambda: (ints(1000, 4, 6), rand(4, 6)), "embedding", ("ids[1, 0]", "-1", "table.weight"), Change(0, (1, 0), -1)),
    Case("gather", "index", Gather, lambda: (randn(4, 8), ints(8, 4, 3)), "gather", ("pick[0, 2]", "8"), Change(1, (0, 2), 8)),
    Case("scatter", "index", ScatterAdd, lambda: (randn(9), ints(12, 9)), "scatter_add", ("bins[4]", "12"), Change(1, (4,), 12)),
    Case("index_put", "index", IndexPut, lambda: (randn(6), tensor([0, 1, 2, 3])), "index_put", ("rows[1]", "77", "6"), Change(1, (1,), 77)),
    Case("advanced", "index", Advanced, lambda: (randn(5, 7), ints(5, 3), ints(7, 3)), "index", ("columns[2]", "9", "7"), Change(2, (2,), 9)),
    Case("nested", "index", Nested, lambda: (ints(50, 4, 3),), "embedding", ("route", "first.weight", "20"), spoil=lambda m: m.route.fill_(25)),
    Case("argmax", "index", Argmax, lambda: (zeros(5, 8),), "embedding", ("argmax", "names.weight", "10"), spoil=lambda m: m.fc.bias.data[31].fill_(99)),
    Case("cumsum", "index", Cumsum, lambda: (zeros(2, 12, dtype=torch.long),), "embedding", ("cumsum", "mask", "place.weight", "8"), lambda: (ones(2, 12, dtype=torch.long),)),
    Case("bucketize", "index", Bucketize, lambda: (rand(6),), "embedding", ("bucketize", "age.weight", "9"), lambda: (tensor([0.1, 0.2, 3.0, 0, 0, 0]),)),
    Case(
        "empty", "index", Empty, lambda: (randn(3, 4), ints(3, 5)), "index_select", ("items", "empty"), lambda: (randn(0, 4), zeros(5, dtype=torch.long)),
        dynamic={"items": {0: Dim("items", min=0, max=100)}, "ids": None},
    ),
    Case("positions", "index", Positions, lambda: (ints(2000, 2, 32),), "embedding", ("tokens", "100", "wpe", "64"), lambda: (ints(2000, 2, 100),), dynamic={"tokens": {0: B, 1: Dim("length", min=2, max=512)}}),
    Case("kv_cache", "index", Cached, lambda: (ints(1000, 1), tensor([3])), "index_copy", ("at[0]", "32", "keys"), Change(1, (0,), 32)),
    Case("bags", "index", Bags, lambda: tuple(ints(20_000, 8, 5) for _ in range(4)), "embedding_bag", ("shops[6, 2]", "30000", "bags.2.weight"), Change(2, (6, 2), 30000)),
    Case("ignored_label", "index", Gather, lambda: (randn(4, 8), ints(8, 4, 3)), "gather", ("pick[3, 1]", "-100"), Change(1, (3, 1), -100)),
    Case("log_zero", "nan", Logs, lambda: (torch.full((4, 8), 0.5),), "log", ("log of zero",), spoil=lambda m: m.fc.bias.data.fill_(-50)),
    Case("zero_by_zero", "nan", Normalised, lambda: (randn(4, 8),), "div", ("0/0", "[2, 0]"), Change(0, (2,), 1.5)),
    Case("root", "nan", Root, lambda: (rand(4, 8),), "sqrt", ("negative", "-8"), Change(0, (1, 4), 3.0)),
    Case("exp", "nan", ByHand, lambda: (rand(4, 8),), "exp", ("exp(150)",), Change(0, (3, 0), 5.0)),
    Case("deviation", "nan", Deviation, lambda: (randn(4, 8),), "std", ("one element",), lambda: (randn(4, 1),), dynamic={"x": {1: Dim("n", min=1, max=99)}}),
    Case("unit", "nan", Unit, lambda: (randn(4, 8),), "div", ("0/0", "[1, 0]"), Change(0, (1,), 0.0)),
    Case("power", "nan", Power, lambda: (rand(4, 8),), "pow", ("fractional", "-2"), Change(0, (0, 5), -2.0)),
    Case("entropy", "nan", Entropy, lambda: (randn(4, 8),), "log", ("log of zero",), Change(0, (2, 1), 900.0)),
    Case("scan", "nan", Scan, lambda: (rand(4, 5) + 1,), "log", ("log of zero or a negative number: -2",), Change(0, (1, 2), -2.0)),
    Case("pool", "nan", Pool, lambda: (randn(3, 4, 8), ones(3, 4, dtype=torch.bool)), "div", ("0/0", "[1, 0]"), Change(1, (1,), False)),
    Case("angle", "nan", Angle, lambda: (eye(4) * 0.9, eye(4)), "acos", ("outside -1..1", "1.5"), lambda: (eye(4) * 1.5, eye(4))),
    Case("batch_norm", "nan", Norm2d, lambda: (randn(2, 3, 9, 9),), "batch_norm", ("variance", "-0.5"), spoil=spoil_norm),
    Case("masked_row", "nan", Masked, lambda: (ints(1000, 2, 12), torch.arange(12).expand(2, 12) < 8), "softmax", ("all -Inf", "[1, 0]"), lambda: (ints(1000, 2, 12), put(ones(2, 12), 1, value=0).bool())),
    Case("nan_weight", "nan", Bert, lambda: (ints(3000, 2, 16),), "", ("bert.encoder.layer.4.attention.self.query.weight", "[7, 11]", "linear.default reads it first"), spoil=spoil_bert),
    Case("half_overflow", "nan", lambda: HalfNet().half(), lambda: (rand(2, 3, 32, 32).half(),), "mul", ("overflow of float16", "60000"), spoil=spoil_half),
    Case("relu", "wrong", Relu, lambda: (randn(8, 32),), "relu", ("relu", "wrong alone"), settings=RELU),
    Case("relu_llama", "wrong", ReluLlama, lambda: (ints(1000, 2, 12),), "relu", ("relu", "wrong alone"), settings=RELU),
    Case("relu_bags", "wrong", ReluBags, lambda: tuple(ints(20_000, 8, 5) for _ in range(4)), "relu", ("relu", "wrong alone"), settings=RELU),
    Case("log1p", "wrong", Log1p, lambda: (randn(8, 16),), "log1p", ("wrong alone",), settings=LOG1P),
    Case("log1p_decoder", "wrong", Log1pCached, lambda: (ints(1000, 1), tensor([3])), "log1p", ("wrong alone",), settings=LOG1P),
    Case("arange", "wrong", Arange, lambda: (randn(11),), "mul", ("8 of",)),
    Case("sum_of_softmax", "wrong", SumOfSoftmax, lambda: (randn(64, 37) * 8,), "floor", ("floor",)),
    Case("tie_count", "wrong", TieCount, lambda: (randn(8, 33),), "eq", ("eq",)),
    Case("floor_division", "wrong", FloorDivision, lambda: (torch.arange(30.0) / 7,), "div", ("div",)),
    Case("negative_zero", "wrong", NegativeZero, lambda: (tensor([-0.5, -0.1, -0.9]),), "reciprocal", ("3 of 3",)),
    Case("tf32", "wrong", Products, lambda: (randn(256, 1024),), "", ("in tf32",), products="high"),
    Case("undeclared_write", "wrong", Mutates, lambda: (randn(4, 8),), "halve", ("writes to its argument x",), healthy=(Declares,)),
)
# fmt: on


def plant_log1p() -> None:
    """Have Triton kernels compute log1p wrong."""
    from torch._inductor.codegen import triton

    for kind in vars(triton).values():
        own = inspect.isclass(kind) and kind.__module__ == triton.__name__
        if own and "log1p" in vars(kind):
            kind.log1p = staticmethod(lambda x: f"libdevice.log1p({x}) + 1")


if os.environ.get(PLANT) == "log1p":
    plant_log1p()
