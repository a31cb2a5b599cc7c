from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="input_not_aligned",
    family="I",
    phase="run",
    category="misaligned_address",
    weight=75,
    confidence="proved",
    anchors=("is not aligned to 16 bytes",),
    patterns=(r"\b(?P<input>\w{1,80}) is not aligned to 16 bytes",),
    summary="Input {input} does not start on a 16-byte boundary and this torch refuses it",
    means=(
        "The wrapper that torch 2.6 generated rejects unaligned GPU inputs. Later releases "
        "copy them instead, which costs time on every call."
    ),
    fixes=(fix("Pass a clone of the view, or upgrade torch and recompile"),),
    guide="guides/inputs-and-devices.md#misaligned-inputs",
    until="2.6",
    references=("pytorch/pytorch#141891", "pytorch/pytorch#143236"),
    matches=(quoted("RuntimeError: arg0_1 is not aligned to 16 bytes", "pytorch/pytorch#141891"),),
    neighbours=(
        quoted("weights_offset must be aligned to 16K boundary", "constants, not an input"),
    ),
)
