from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="device_of_data_differs",
    family="C",
    phase="load",
    category="contract_device",
    weight=84,
    confidence="proved",
    anchors=("does not match device of data ",),
    patterns=(
        (
            r"Specified device (?P<asked>[\w:]{1,20}) does not match device of data "
            r"(?P<got>[\w:]{1,20})"
        ),
    ),
    summary="The model runs as {asked}, its data lie on {got}",
    means=(
        "The constants or an input stand on another GPU than the one in use. Kernels were "
        "loaded for one device index only."
    ),
    mistaken_for=(
        "A wrong device type: types agree, the index differs, and the input check does not "
        "compare it."
    ),
    fixes=(
        fix(
            "aoti_load_package(path, device_index=1), and torch.cuda.set_device(1) before the "
            "call, inputs on cuda:1"
        ),
        fix("Or show the process one GPU only: CUDA_VISIBLE_DEVICES=1"),
    ),
    guide="guides/inputs-and-devices.md#another-gpu-index",
    next_tool="inspect_package",
    references=("pytorch/pytorch#141042", "pytorch/pytorch#136369"),
    matches=(
        quoted(
            "Exception in aoti_torch: Specified device cuda:1 does not match device of data cuda:0",
            "pytorch/pytorch#141042",
        ),
    ),
)
