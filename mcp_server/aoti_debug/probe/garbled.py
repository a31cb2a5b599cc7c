"""Return other results than a package's, for a run that tells whether its script notices them."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable
from typing import Any

from .lazy import torch

_WANTED = os.environ.get(
    "AOTI_DEBUG_GARBLED", ""
)  # finite, negated, nan or inf; with ":2" the second call's


def garbled(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a call whose results depend on the right ones alone, and are far from them."""
    if not _WANTED:
        return original
    kind, _, number = _WANTED.partition(":")
    calls = itertools.count(1)

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        if number not in ("", str(next(calls))):
            return result
        with torch.no_grad():
            return torch.utils._pytree.tree_map(lambda leaf: _other(leaf, kind), result)

    return call


def _other(leaf: Any, kind: str) -> Any:
    if not isinstance(leaf, torch.Tensor) or not leaf.numel():
        return leaf
    if leaf.dtype == torch.bool:
        return ~leaf
    if not leaf.is_floating_point():
        return leaf + 1
    if kind in ("nan", "inf"):
        return torch.full_like(leaf, float(kind))
    known = leaf.nan_to_num(0.0, 0.0, 0.0)
    signs = 1 - 2 * (torch.arange(leaf.numel(), device=leaf.device) % 2).to(leaf.dtype)
    signs = -signs if kind == "negated" else signs
    return known + signs.reshape(leaf.shape) * (2 * known.abs().max() + 3)
