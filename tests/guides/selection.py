"""Which code blocks of the guides run here."""

from __future__ import annotations

from aoti_debug.facts.versions import release
from guides.documents import Block
from interpreter import torch_version


def runnable(block: Block) -> bool:
    """Say whether a block runs on a CPU with the installed torch.

    `gpu` needs a GPU, `since=2.8` that release of torch.
    """
    if block.language != "python" or "gpu" in block.words:
        return False
    installed = release(torch_version())
    since = [w.removeprefix("since=") for w in block.words if w.startswith("since=")]
    return all(release(version) <= installed for version in since)
