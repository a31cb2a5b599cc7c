"""The table of architectures: real code of torchvision, timm and transformers, a few layers each.

A row says how the model is built, what it is given, and in which of the ways people compile it:
dtype, free sizes, memory format, autotuning. Nothing is downloaded; weights are random.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch

sys.path.extend(filter(None, [os.environ.get("AOTI_DEBUG_TRANSFORMERS")]))

Inputs = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Architecture:
    name: str
    library: str
    build: Callable[[], torch.nn.Module]
    give: Callable[[], Inputs]
    bounds: Mapping[str, int] = field(default_factory=dict)  # ids of this input are below it
    dynamic: Mapping[str, Mapping[int, str]] = field(default_factory=dict)  # input -> dim -> name
    dtype: torch.dtype = torch.float32
    channels_last: bool = False
    max_autotune: bool = False
    quantised: bool = False
    positions: str = ""  # the free size that may exceed a table of positions

    @property
    def ways(self) -> str:
        """Name how it is compiled, beyond float32 and fixed sizes."""
        words = [str(self.dtype).removeprefix("torch.")]
        for name in ("dynamic", "channels_last", "max_autotune", "quantised"):
            words += [name] if getattr(self, name) else []
        return " ".join(words)


CASES: dict[str, Architecture] = {}
HIGHEST = 64  # of a free size
# They compile long: begun when the others are.
LATE = """
    densenet121 inception_v3 raft_small googlenet wide_resnet50_2 vgg11_bn efficientnet_b0
    regnet_y_400mf r2plus1d_18 fcn_resnet50 deeplabv3_mobilenet_v3_large
    lraspp_mobilenet_v3_large timm_hrnet_w18_small timm_repvit_m0_9 timm_dm_nfnet_f0
    timm_convmixer_768_32 timm_gmlp_ti16_224 timm_caformer_s18 timm_cait_xxs24_224
    timm_xcit_nano_12_p16_224 timm_davit_tiny timm_focalnet_tiny_srf timm_nest_tiny
    timm_cspresnet50 timm_darknet53 timm_mobileone_s0 timm_repvgg_a0 timm_starnet_s1
    timm_gmixer_12_224 swinv2 mamba falcon_mamba mamba2 levit swin2sr
""".split()


def add(
    name: str,
    library: str,
    build: Callable[[], torch.nn.Module],
    give: Callable[[], Inputs],
    *ways: str,
    **more: Any,
) -> None:
    """Add a row. `ways`: float16, bfloat16, batch (free), channels_last, max_autotune, int8."""
    case = Architecture(name, library, build, give, **more)
    for way in ways:
        if way in ("float16", "bfloat16"):
            case = replace(case, dtype=getattr(torch, way))
        elif way == "batch":
            case = replace(case, dynamic={key: {0: "batch"} for key in give()})
        elif way == "int8":
            case = replace(case, quantised=True)
        else:
            case = replace(case, **{way: True})
    CASES[name] = case


def inputs_of(case: Architecture, device: str) -> Inputs:
    """Return the same inputs each time, in the dtype and layout of the case."""
    torch.manual_seed(1)
    found = {}
    for name, value in case.give().items():
        if value.is_floating_point():
            value = value.to(case.dtype)
        if case.channels_last and value.dim() == 4:
            value = value.to(memory_format=torch.channels_last)
        found[name] = value.to(device)
    return found


def prepared(case: Architecture, device: str) -> tuple[torch.nn.Module, Inputs, Any]:
    """Return the model, its example inputs, and the dynamic shapes of the export (or None)."""
    torch.manual_seed(0)
    model = case.build().eval()
    if case.quantised:
        model = quantised(model)
    model = model.to(device=device, dtype=case.dtype)
    if case.channels_last:
        model = model.to(memory_format=torch.channels_last)
    shapes = None
    if case.dynamic:
        names = {n for dims in case.dynamic.values() for n in dims.values()}
        free = {n: torch.export.Dim(n, min=2, max=HIGHEST) for n in names}
        shapes = {
            name: {d: free[n] for d, n in case.dynamic.get(name, {}).items()}
            for name in case.give()
        }
    return model, inputs_of(case, device), shapes


class Int8Linear(torch.nn.Module):
    """A linear layer with weights in int8 and one scale a row."""

    def __init__(self, linear: torch.nn.Linear) -> None:
        super().__init__()
        scale = linear.weight.detach().abs().amax(1, keepdim=True).clamp(min=1e-8) / 127
        self.register_buffer("weight", (linear.weight.detach() / scale).round().to(torch.int8))
        self.register_buffer("scale", scale)
        self.bias = linear.bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight = self.weight.to(x.dtype) * self.scale
        return torch.nn.functional.linear(x, weight, self.bias)


def quantised(model: torch.nn.Module) -> torch.nn.Module:
    for name, child in model.named_children():
        linear = type(child) is torch.nn.Linear
        setattr(model, name, Int8Linear(child) if linear else quantised(child))
    return model


def image(
    channels: int = 3, size: int = 32, name: str = "x", batch: int = 2
) -> Callable[[], Inputs]:
    return lambda: {name: torch.randn(batch, channels, size, size)}


def ids(name: str = "input_ids", below: int = 96, length: int = 12) -> Callable[[], Inputs]:
    return lambda: {name: torch.randint(4, below, (2, length))}


import from_libraries  # noqa: E402, F401 - fills the table
import from_torch  # noqa: E402, F401
import from_vision  # noqa: E402, F401
