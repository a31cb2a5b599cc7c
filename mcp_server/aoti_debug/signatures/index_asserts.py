"""Asserts on an index, on the GPU and on the CPU."""

from __future__ import annotations

from aoti_debug.facts.tiers import Tier
from aoti_debug.signatures.signature import Signature, fix, quoted, recorded, words

SIGNATURES = (
    Signature(
        id="aten_index_assert",
        phase="run",
        category="index_out_of_bounds",
        tier=Tier.NAMED_TEXT,
        confidence="proved",
        patterns=(
            r"Assertion `?(?P<condition>dstIndex < dst\w{1,40})`? failed",
            r"Assertion `?(?P<condition>srcIndex < src\w{1,40})`? failed",
            "Assertion `?(?P<condition>cur_target >= 0[^`]{0,60}?)`? failed",
            "Assertion `?(?P<condition>cur_target < n_classes[^`]{0,60}?)`? failed",
            "Assertion `?(?P<condition>target_k >= 0[^`]{0,80}?)`? failed",
            "Assertion `?(?P<condition>idx >= 0 && idx < [^`]{1,60}?)`? failed",
            "Assertion `?(?P<condition>ind < num_weights)`? failed",
            "Assertion `?(?P<condition>input_idx < numRows[^`]{0,60}?)`? failed",
            "Assertion `?(?P<condition>index >= 0 && index < [^`]{1,60}?)`? failed",
            "Assertion `?(?P<condition>0 <= index && index < [^`]{1,60}?)`? failed",
            "Assertion `?(?P<condition>maxind >= 0[^`]{0,60}?)`? failed",
            (
                "Assertion `?(?P<condition>[^`]{0,80}vectorized gather kernel index out of "
                "bounds[^`]{0,4})`? failed"
            ),
            "Assertion `?(?P<condition>offset >= 0 && offset < [^`]{1,60}?)`? failed",
            "Assertion `?(?P<condition>(?:idx|index) < num_embeddings)`? failed",
            "Assertion `?(?P<condition>srcIndex < srcSelectDimSize)`? failed",
            r"Assertion `?(?P<condition>-sizes\[i\] <= index[^`]{0,80}?)`? failed",
            r"Assertion `?(?P<condition>index >= -sizes\[i\][^`]{0,80}?)`? failed",
            "Assertion `?(?P<condition>ind ?>= ?0 && ind < ind_dim_size[^`]{0,60})`? failed",
            "Assertion `?(?P<condition>t >= 0 && t < n_classes)`? failed",
            "Assertion `?(?P<condition>idx_dim >= 0[^`]{0,80}?)`? failed",
        ),
        summary="An ATen indexing kernel was given an index out of range ({condition})",
        means=(
            "A fallback or eager CUDA kernel (index_select, embedding, scatter, gather, loss) "
            "found an index beyond its dimension. It is ATen's check, not one that Inductor "
            "generated."
        ),
        check="Call the op eagerly on the CPU with the same index tensor: it raises with the value",
        fixes=(fix("Validate the index tensor against the dimension before the call"),),
        guide="guides/triton-index-out-of-bounds.md#read-the-message",
        next_tool="triage",
        matches=(
            quoted(
                (
                    "../aten/src/ATen/native/cuda/Indexing.cu:1236: indexSelectSmallIndex: block: "
                    "[0,0,0], thread: [0,0,0] Assertion `srcIndex < srcSelectDimSize` failed."
                ),
                "common form in public threads",
            ),
            quoted(
                (
                    "/pytorch/aten/src/ATen/native/cuda/IndexKernel.cu:93: operator(): block: "
                    "[0,0,0], thread: [1,0,0] Assertion `-sizes[i] <= index && index < sizes[i] && "
                    '"index out of bounds"` failed.'
                ),
                "common form in public threads",
            ),
            quoted(
                (
                    "/pytorch/aten/src/ATen/native/cuda/NLLLoss2d.cu:104: "
                    "nll_loss2d_forward_kernel: block: [1,0,0], thread: [9,0,0] Assertion "
                    "`cur_target >= 0 && cur_target < n_classes` failed."
                ),
                "condition of NLLLoss2d.cu",
            ),
            words(
                "programs that were not at hand",
                "Assertion dstIndex < dstx failed",
                "Assertion cur_target < n_classes failed",
                "Assertion target_k >= 0 failed",
                "Assertion ind < num_weights failed",
                "Assertion input_idx < numRows failed",
                "Assertion 0 <= index && index < x failed",
                "Assertion maxind >= 0 failed",
                "Assertion vectorized gather kernel index out of bounds failed",
                "Assertion offset >= 0 && offset < x failed",
                "Assertion index >= -sizes[i] failed",
                "Assertion ind>=0 && ind < ind_dim_size failed",
                "Assertion t >= 0 && t < n_classes failed",
                "Assertion idx_dim >= 0 failed",
            ),
            words(
                "libtorch",
                "Assertion idx >= 0 && idx < x failed",
                "Assertion index >= 0 && index < x failed",
                "Assertion idx < num_embeddings failed",
            ),
        ),
        apart_from=("gpu_index_assert",),
    ),
    Signature(
        id="cpu_index_out_of_bounds",
        phase="run",
        category="index_out_of_bounds",
        tier=Tier.ASSERTION,
        confidence="proved",
        patterns=(
            (
                r"^(?:Error: |RuntimeError: |  what\(\):\s{1,20})?index out of bounds: "
                r"(?P<bounds>\S{1,300} <= \S{1,300} < \S{1,300})"
            ),
        ),
        summary="A generated CPU kernel checked an index and it was outside {bounds}",
        means=(
            "The bounds check of a CPU kernel raised instead of reading past the table. `Exception "
            "raised from` names the kernel."
        ),
        check="Run ep.module() on the same inputs: eager raises for the same index",
        fixes=(fix("Validate or clamp the index tensor before the call"),),
        guide="guides/triton-index-out-of-bounds.md#on-a-cpu-package",
        next_tool="explain_kernel",
        matches=(
            recorded("Error: index out of bounds: 0 <= tmp2 < 10L", "torch 2.13, CPU, stderr"),
            recorded(
                "RuntimeError: index out of bounds: 0 <= tmp2 < 10L",
                "torch 2.13, CPU, exception",
            ),
        ),
        neighbours=(quoted("IndexError: index out of range in self", "eager embedding"),),
    ),
    Signature(
        id="device_assert_other",
        phase="run",
        category="index_out_of_bounds",
        tier=Tier.KIND_TEXT,
        confidence="possible",
        patterns=(
            (
                r": block: \[[-\d,]{1,200}\], thread: \[[-\d,]{1,200}\] Assertion `(?!index out of "
                r"bounds|NaN or Inf|srcIndex <|-sizes\[i\]|index >= -sizes|ind ?>=|t >= 0 &&|"
                "idx_dim >= 0|input_val >= zero|cumdist|val >= zero|sum > accZero|0 <= p4|!|"
                "probability tensor)(?P<condition>[^`']{1,120})` failed"
            ),
        ),
        summary="A device-side assertion of a GPU kernel failed: {condition}",
        means=(
            "A tl.device_assert or CUDA assert outside Inductor's own index checks fired, usually "
            "one of a user kernel. Its condition says what was expected; most guard an index or a "
            "size."
        ),
        check=(
            "The file before the line number is the user's kernel or a library, not the Inductor "
            "cache"
        ),
        fixes=(fix("Check the argument named in the condition at the kernel's call site"),),
        guide="guides/triton-index-out-of-bounds.md#read-the-message",
        next_tool="explain_kernel",
        matches=(
            quoted(
                (
                    "/home/me/kernels.py:17: _gather_rows: block: [3,0,0], thread: [64,0,0] "
                    "Assertion `row index must be smaller than n_rows` failed."
                ),
                "layout of a user tl.device_assert",
            ),
        ),
        neighbours=(
            quoted(
                (
                    "/tmp/ic/ab/cab.py:20: unknown: block: [0,0,0], thread: [0,0,0] Assertion `NaN "
                    "or Inf found` failed."
                ),
            ),
        ),
        apart_from=("gpu_index_assert",),
    ),
    Signature(
        id="eager_index_error",
        phase="run",
        category="index_out_of_bounds",
        tier=Tier.BROAD_TEXT,
        patterns=(
            "index out of range in self",
            r"[iI]ndex -?\d{1,20} is out of bounds for dimension \d{1,20} with size \d{1,20}",
            r"IndexError: Target -?\d{1,20} is out of bounds",
            r"index_select\(\): index out of range",
            "indices element is out of DATA bounds",
        ),
        summary="An operator on the CPU was given an index outside its dimension",
        means=(
            "The index tensor of an embedding, gather, scatter or loss holds a value that the "
            "table does not have; the operator, compiled or eager, checks it and says so."
        ),
        check="Maximum and minimum of the index tensor against the size of the table",
        fixes=(fix("Validate or clamp the index tensor before the call"),),
        guide="guides/triton-index-out-of-bounds.md#on-a-cpu-package",
        next_tool="triage",
        matches=(
            recorded("IndexError: index out of range in self", "torch 2.13 CPU, embedding"),
            recorded(
                "RuntimeError: index 12 is out of bounds for dimension 0 with size 10",
                "torch 2.13 CPU, gather",
            ),
            recorded("IndexError: Target 9 is out of bounds.", "torch 2.13 CPU, nll_loss"),
            words(
                "programs that were not at hand",
                "index_select(): index out of range",
                "indices element is out of DATA bounds",
            ),
        ),
        neighbours=(
            quoted("IndexError: list index out of range", "Python code"),
            quoted("IndexError: index 5 is out of bounds for axis 0 with size 5", "NumPy"),
        ),
    ),
    Signature(
        id="gpu_index_assert",
        phase="run",
        category="index_out_of_bounds",
        tier=Tier.ASSERTION,
        confidence="proved",
        patterns=(
            (
                r"block: \[(?P<block>[-\d,]{1,200})\], thread: \[(?P<thread>[-\d,]{1,200})\] "
                "Assertion `index out of bounds: (?P<bounds>[^`']{1,120})` failed"
            ),
        ),
        summary="A generated GPU kernel checked an index and it was outside {bounds}",
        means=(
            "Inductor's own bounds check around an indexed load or store fired; the tensor that "
            "holds the index carries a value outside the table. The file and line are those of the "
            "kernel, the upper bound is the size of the indexed dimension."
        ),
        check="The assert is printed first; everything after it in the same process is a consequence",
        fixes=(
            fix(
                (
                    "Check the index tensor against the bound before the call, or clamp it in the "
                    "model"
                ),
                why="the compiled kernel cannot report which input it was",
            ),
            fix(
                (
                    "Compare the size of the table (vocabulary, position table) with what the "
                    "tokenizer or caller produces"
                ),
            ),
        ),
        guide="guides/triton-index-out-of-bounds.md#read-the-message",
        next_tool="explain_kernel",
        matches=(
            recorded(
                (
                    "/tmp/w/embed_oob-base/ic/kf/ckfrkydudem26ptascmpnnrmjbgdltfqds6xqukry7hbdo6mz5y2.py:34: "
                    "unknown: block: [0,3,0], thread: [5,0,0] Assertion `index out of bounds: 0 <= "
                    "tmp4 < 1000` failed."
                ),
                "torch 2.11, H200",
            ),
        ),
        apart_from=(
            "cpu_index_out_of_bounds",
            "aten_index_assert",
        ),
    ),
    Signature(
        id="gpu_tool_assert",
        phase="run",
        category="index_out_of_bounds",
        tier=Tier.SPECIFIC_TEXT,
        patterns=(
            "CUDBG_EXCEPTION_WARP_ASSERT",
            "^={1,40} Warp assert",
            "CUDA Exception: Warp Assert",
            r"^Assertion failed\.$",
        ),
        summary="The debugging tool stopped at an assertion inside a GPU kernel",
        means=(
            "Core dump, cuda-gdb or compute-sanitizer caught a kernel assert. The line it names is "
            "where the kernel begins; the assert text with bound and thread is on stderr."
        ),
        check="Find `Assertion ... failed` on stderr",
        guide="guides/triton-index-out-of-bounds.md#read-the-message",
        next_tool="explain_kernel",
        matches=(
            recorded("========= Warp assert", "compute-sanitizer, H200"),
            recorded("Assertion failed.", "cuda-gdb on a core, H200"),
            words(
                "programs that were not at hand",
                "CUDBG_EXCEPTION_WARP_ASSERT",
                "CUDA Exception: Warp Assert",
            ),
        ),
        neighbours=(
            quoted(
                "Assertion failed: (ptr != nullptr), function run, file main.cpp, line 12.",
                "a host assert on macOS",
            ),
        ),
    ),
)
