"""What a watched process did that makes it hold more and more: packages loaded anew, updates of
weights whose memory nothing gives back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from aoti_debug.record.run_seen import RunSeen

MANY = 3


def grows(run: RunSeen) -> Iterator[str]:
    """Yield what was done again and again, and what to do instead."""
    loads = Counter((one.pid, one.details.package) for one in run.of("load") if one.ok)
    for (_, package), count in loads.items():
        if count >= MANY:
            name = Path(package).name if package else "a package"
            yield (
                f"{name} was loaded {count} times in one process: each model holds its weights as "
                "long as it lives; load it once, with num_runners for several threads"
            )
    updates = [one for one in run.of("constants") if one.ok]
    managed = [one for one in updates if one.details.user_managed]
    if len(managed) >= MANY:
        yield (
            f"{len(managed)} user-managed updates: some releases (2.13) keep the tensors of each "
            "forever; update with copies (user_managed=False)"
        )
    filled = [one for one in updates if one.details.inactive]
    if filled and not run.of("free"):
        yield (
            f"{len(filled)} updates of the inactive buffer, and none was freed: weights are held "
            "twice; call free_inactive_constant_buffer() after the swap"
        )
