"""Inductor's trials of kernels on made-up data, and the settings that leave them out."""

from __future__ import annotations

from collections.abc import Mapping

ON_EXAMPLES: Mapping[str, object] = {"triton.autotune_at_compile_time": False}
# On where somebody asked for them, and left out by their own settings.
ASKED_FOR = ("benchmark_fusion", "benchmark_combo_kernel")


def without(flags: Mapping[str, object]) -> dict[str, object]:
    """Return the settings that keep a compile with `flags` from trials on made-up data."""
    return {**ON_EXAMPLES, **{name: False for name in ASKED_FOR if flags.get(name)}}
