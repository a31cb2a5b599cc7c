"""The intermediate value printer: formats of all versions, and what gets between its lines."""

from __future__ import annotations

import math

import pytest
from aoti_debug.read.printer import PrinterReader
from aoti_debug.read.record import Launches, Record, SavedTensor, TensorStatistics
from aoti_debug.read.scan import scan_text

BLOCK = """\
Number of elements: 128
Dtype: float32
Mean value: -0.0178562
Min value: -1.37077
Max value: 1.47361
Device: cpu
Size: [8, 16]
Stride: [16, 1]
Layout: Strided
Is contiguous: 1
Requires grad: 0

"""


def read(text: str) -> tuple[Record, ...]:
    return scan_text(text, "stdout.log", [PrinterReader("stdout.log")]).records


def launches(text: str) -> Launches:
    (found,) = (r for r in read(text) if isinstance(r, Launches))
    return found


def blocks(text: str) -> list[TensorStatistics]:
    return [r for r in read(text) if isinstance(r, TensorStatistics)]


def block(text: str) -> TensorStatistics:
    (found,) = blocks(text)
    return found


def order(*steps: str) -> str:
    names = {"+": "before", "-": "after"}
    return "".join(f"[ {names[s[0]]}_launch: {s[1:]} ]\n" for s in steps)


@pytest.mark.parametrize(
    ("text", "total", "unfinished", "launch", "last"),
    [
        (order("+a", "-a", "+b"), 2, "b", 2, "a"),
        (order("+a", "-a", "+a", "-a"), 2, None, None, "a"),
        (order("+a", "+b", "-b", "-a"), 2, None, None, "a"),
        (order("+a", "+b", "-a"), 2, "b", 2, "a"),
        (order("+a", "-a", "+b", "-b", "+a"), 3, "a", 3, "b"),
        (order("+at::_ops::cumsum::call"), 1, "at::_ops::cumsum::call", 1, None),
        ("step 3 [ before_launch: k ] [ after_launch: k ]\n", 1, None, None, "k"),
        (order("+a", "-a")[:-1], 1, None, None, "a"),
    ],
)
def test_launches_are_numbered_and_the_unfinished_one_named(
    text: str, total: int, unfinished: str | None, launch: int | None, last: str | None
) -> None:
    found = launches(text)
    assert (found.mode, found.total) == (3, total)
    assert (found.unfinished, found.unfinished_launch) == (unfinished, launch)
    assert found.last_finished == last


def test_a_block_is_read_field_by_field() -> None:
    found = block("[  before_launch - aoti_torch_cpu_addmm_out - buf0  ]:\n" + BLOCK)
    assert (found.when, found.kernel, found.argument) == (
        "before",
        "aoti_torch_cpu_addmm_out",
        "buf0",
    )
    assert (found.launch, found.numel, found.dtype, found.device) == (1, 128, "float32", "cpu")
    assert (found.mean, found.minimum, found.maximum) == (-0.0178562, -1.37077, 1.47361)
    assert (found.size, found.stride, found.values) == ((8, 16), (16, 1), None)
    assert (found.span.first, found.span.last) == (1, 12)


def test_the_next_block_may_start_on_a_scalars_line() -> None:
    text = (
        "[  before_launch - k - buf0  ]:\n" + BLOCK + "[  before_launch - k - 65536L: 65536  ]\\n"
        "[  before_launch - k - 128L: 128  ]\\n[  after_launch - k - buf0  ]:\n" + BLOCK
    )
    before, after = blocks(text)
    assert (before.when, after.when, after.launch) == ("before", "after", 1)
    found = launches(text)
    assert (found.mode, found.total, found.unfinished) == (2, 1, None)


def test_a_scalars_line_of_torch_2_6_ends_in_a_newline() -> None:
    text = "[  before_launch - k - s0: 8  ]\n[  before_launch - k - buf0  ]:\n" + BLOCK
    assert launches(text).total == 1
    assert block(text).argument == "buf0"


def test_a_label_of_torch_2_6_is_kept_as_it_is() -> None:
    found = block(
        "[  before_launch - cpp_fused_0 - copy_arrayref_tensor_to_tensor(buf2)  ]:\n" + BLOCK
    )
    assert found.argument == "copy_arrayref_tensor_to_tensor(buf2)"


def test_inputs_belong_to_no_launch() -> None:
    text = "[  aoti_model_inputs - arg0_1  ]:\n" + BLOCK
    found = block(text)
    assert (found.when, found.kernel, found.argument, found.launch) == ("input", "", "arg0_1", 0)
    assert not [r for r in read(text) if isinstance(r, Launches)]


VALUES = " 1  nan\n 3   4\n[ CPUFloatType{2,2} ]\n"


def test_small_tensors_are_printed_whole() -> None:
    found = block("[  after_launch - k - buf0  ]:\n" + VALUES + BLOCK)
    assert found.values == "1  nan\n 3   4\n[ CPUFloatType{2,2} ]"


@pytest.mark.parametrize(
    ("lines", "field", "value"),
    [
        ("Number of elements: 0\nDtype: float\nDevice: cuda:0\nSize: [0, 4]\n", "size", (0, 4)),
        ("Number of elements: 0\nDtype: float\nDevice: cuda:0\nSize: [0, 4]\n", "mean", None),
        ("Number of elements: 1\nSize: []\nStride: []\n", "size", ()),
        ("Number of elements: 9\nDtype: c10::Float8_e4m3fn\n", "dtype", "c10::Float8_e4m3fn"),
        ("Number of elements: 9\nDtype: long int\nMax value: 1.15292e+18\n", "maximum", 1.15292e18),
        ("Number of elements: 9\nMin value: -inf\n", "minimum", -math.inf),
        ("Number of elements: 9\nSize: [8, s0]\n", "size", None),
        ("Number of elements: 99999999999999999999999\n", "numel", None),
        (
            "[INFO] Aten built-in function `min_all_cuda/max_all_cuda` not implemented for "
            "complex\n"
            "Number of elements: 4\nDtype: c10::complex<float>\n",
            "dtype",
            "c10::complex<float>",
        ),
    ],
)
def test_odd_tensors_are_read_as_far_as_they_go(lines: str, field: str, value: object) -> None:
    assert getattr(block("[  after_launch - k - buf0  ]:\n" + lines), field) == value


@pytest.mark.parametrize("text", ["nan", "-nan"])
def test_nan_is_read_with_either_sign(text: str) -> None:
    found = block(f"[  after_launch - k - buf0  ]:\nNumber of elements: 4\nMean value: {text}\n")
    assert found.mean is not None
    assert math.isnan(found.mean)


def test_the_programs_own_output_may_stand_anywhere_in_a_block() -> None:
    lines = ("[  after_launch - k - buf0  ]:\n" + BLOCK).splitlines()
    noisy = [line for pair in zip(lines, ["step 3", "", "loss: 0.5"] * 9) for line in pair]  # noqa: B905
    noisy[6] = "epoch 2 " + noisy[6]
    found = block("\n".join(noisy))
    assert found.values is None
    assert (found.numel, found.mean, found.stride) == (128, -0.0178562, (16, 1))


def test_output_before_a_header_on_its_line_does_no_harm() -> None:
    found = block("user says [  after_launch - k - buf0  ]:\n" + BLOCK)
    assert (found.kernel, found.numel) == ("k", 128)


def test_a_block_cut_by_a_crash_gives_what_was_printed() -> None:
    found = block("[  after_launch - k - buf0  ]:\nNumber of elements: 128\nDtype: float32\n")
    assert (found.numel, found.dtype, found.mean, found.size) == (128, "float32", None, None)


def test_of_what_repeats_the_first_the_last_and_the_first_nan_are_kept() -> None:
    one = "[  before_launch - k - buf0  ]:\n{}[  after_launch - k - buf0  ]:\n{}"
    means = [0.0, 1.0, math.nan, math.nan, 4.0]
    text = "".join(
        one.format(BLOCK.replace("-0.0178562", str(-m)), BLOCK.replace("-0.0178562", str(m)))
        for m in means
    )
    after = [b for b in blocks(text) if b.when == "after"]
    assert [b.launch for b in after] == [1, 3, 5]
    assert launches(text).kernels == (("k", 5),)


SAVED = "aoti_torch_save_tensor_handle: Saved tensor to "


@pytest.mark.parametrize(
    ("path", "when", "kernel", "argument"),
    [
        (
            "/w/tmp/aoti_torchbefore_launch_triton_poi_fused_add_0_arg0_1_cuda:0.pt",
            "before",
            "triton_poi_fused_add_0",
            "arg0_1",
        ),
        (
            "/w/tmp/aoti_torch/after_launch_triton_poi_fused_add_0_e_weight_cuda:0.pt",
            "after",
            "triton_poi_fused_add_0",
            "e_weight",
        ),
        (
            '"/w/tmp/aoti_torch/after_launch_at::_ops::cumsum::call_buf3_cpu.pt"',
            "after",
            "at::_ops::cumsum::call",
            "buf3",
        ),
        (
            "/w/my before_launch_dir/aoti_torch/before_launch_cpp_fused_mul_2_buf1_cpu.pt",
            "before",
            "cpp_fused_mul_2",
            "buf1",
        ),
        ("/w/x/aoti_model_inputs_arg0_1_cpu.pt", "input", None, "arg0_1"),
        ("/w/something.pt", None, None, None),
    ],
)
def test_the_name_of_a_saved_tensor_is_taken_apart(
    path: str, when: str | None, kernel: str | None, argument: str | None
) -> None:
    saved = [r for r in read(SAVED + path + "\n") if isinstance(r, SavedTensor)]
    (found,) = saved
    assert found.path == path.strip('"')
    assert (found.when, found.kernel) == (when, kernel)
    if when is not None:
        assert found.argument == argument


def test_a_weight_of_an_extern_kernel_is_told_by_its_neighbours() -> None:
    names = ["aoti_torch_cuda_mm_out_buf0", "aoti_torch_cuda_mm_out_fc_weight"]
    text = "".join(f"{SAVED}/w/aoti_torchbefore_launch_{n}_cuda:0.pt\n" for n in names)
    saved = [r for r in read(text) if isinstance(r, SavedTensor)]
    assert [(s.kernel, s.argument) for s in saved] == [
        ("aoti_torch_cuda_mm_out", "buf0"),
        ("aoti_torch_cuda_mm_out", "fc_weight"),
    ]
    found = launches(text)
    assert (found.mode, found.total, found.unfinished) == (1, 1, "aoti_torch_cuda_mm_out")
