from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="input_check_device",
    family="C",
    phase="run",
    category="contract_device",
    weight=92,
    confidence="proved",
    anchors=("unmatched device type, expected: ",),
    patterns=(
        (
            r"input_handles\[(?P<input>\d{1,20})\]: unmatched device type, expected: "
            r"(?P<expected>[^,]{1,40}), but got: (?P<got>-?\d{1,20})"
        ),
    ),
    summary="Input {input} is on device type {got}, the package expects {expected}",
    means=(
        "The tensor lives on another kind of device than the package's: without the check a "
        "CPU tensor in a CUDA package ends in an illegal memory access, the reverse in a "
        "SIGSEGV without a word. The expected code is printed twice (11 means 1); the device "
        "index is not compared."
    ),
    mistaken_for=("A kernel bug: the visible error is then an illegal access or a cuBLAS failure."),
    check="Print x.device; 0 is cpu, 1 cuda, 12 xpu, 13 mps, 14 meta.",
    fixes=(fix("Move the input to the package's device before the call"),),
    guide="guides/inputs-and-devices.md#cpu-input-to-a-cuda-package",
    next_tool="inspect_package",
    since="2.8",
    matches=(
        recorded(
            "RuntimeError: input_handles[0]: unmatched device type, expected: 00(cpu), but got: 14",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "Error: input_handles[0]: unmatched device type, expected: 11(cuda), but got: 0",
            "torch 2.11.0, H200",
        ),
        recorded(
            "Error: input_handles[0]: unmatched device type, expected: 00(cpu), but got: 1",
            "torch 2.11.0, H200",
        ),
    ),
    apart_from=("device_of_data_differs",),
)
