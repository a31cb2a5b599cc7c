"""Categories: meaning, guide, whether they are faults; and the tiers of findings, best first."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from aoti_debug.model import Category


class Tier(Enum):
    """A tier of findings, which outranks all later tiers in the same role; within a tier the first
    in the artifacts wins. The value is the reason for the place."""

    RANK = "an input of another rank: its sizes and strides are then read past their ends"
    OWN_CHECK = "the model's own check refused the call, and names input, property and values"
    DECLARED = "the call is not what the exported program declares"
    CONTRACT = "the call, a constant or an operator breaks what the package's source has baked in"
    ASSERTION = "an assertion of a kernel failed: it names index and bound"
    GUARD = "a relation that export assumed does not hold; the kernels may serve the call still"
    OVER_BOUND = "a size above the largest exported: kernels often serve it"
    MEMORY_CHECK = "compute-sanitizer saw the access itself"
    PACKAGE_FILE = "a file of the package is not as the loader needs it"
    CORE_DUMP = "the driver's dump names kernel and line, and no reason"
    NAMED_TEXT = "a text that names the thing, what is wrong with it and what would be right"
    EXACT_TEXT = "a text that names the thing and what is wrong with it"
    SPECIFIC_TEXT = "a text that names the kind of failure and where it came up"
    KIND_TEXT = "a text that names the kind of failure"
    HANG = "the process did not end: its stacks tell where it stood"
    RAISED = "an operator raised, or threads met in one model"
    DIFFERENT_VALUES = "a result differs from what the model gives, or from repeat to repeat"
    SIGNAL = "a signal of the host ended the process: how it ended, not why"
    GENERAL_TEXT = "a text that several kinds of failure print"
    BROAD_TEXT = "a text that many kinds of failure print"
    STRANGE_VALUES = "a result is not finite: the model may give the same without AOTInductor"
    STACK = "the stack that a signal left in a log"
    VAGUE_TEXT = "a text that says only that something failed"
    OUTSIDE = "something outside ended the process"
    NOTICE = "true, and rarely the reason"
    CLEAN = "nothing failed"
    EXCEPTION = "an exception that nothing else explains"
    STATUS = "the exit status, or a line that speaks of an error"

    @property
    def place(self) -> int:
        return _PLACES[self]


_PLACES = {tier: place for place, tier in enumerate(Tier)}

# What a kernel does on the GPU: reported late, and the process's context is lost.
GPU_FAULTS: frozenset[Category] = frozenset(
    {"index_out_of_bounds", "illegal_memory_access", "misaligned_address", "kernel_resources"}
)

# What a call breaks, by the property of the input; what is no tensor is an argument.
OF_A_PROPERTY: dict[str, Category] = {
    **dict.fromkeys(("size", "rank", "other"), "contract_shape"),
    **dict.fromkeys(("stride", "aliasing", "bit"), "contract_stride"),
    "dtype": "contract_dtype",
    "device": "contract_device",
    "guard": "contract_guard",
    "alignment": "misaligned_address",
    **dict.fromkeys(("nesting", "count", "type", "value"), "contract_argument"),
}


@dataclass(frozen=True, slots=True)
class About:
    """One line on a category, its default guide, and whether something is broken."""

    text: str
    guide: str  # guides/NAME.md#anchor
    fault: bool = True


# fmt: off
MEANINGS: dict[Category, About] = {
    "contract_shape": About("an input has another size or rank than the package was compiled for", "guides/input-contracts.md#sizes-and-rank"),
    "contract_dtype": About("an input has another dtype than the package was compiled for", "guides/input-contracts.md#dtype"),
    "contract_stride": About("an input has another memory layout than the package was compiled for", "guides/input-contracts.md#strides"),
    "contract_device": About("an input lies on another device than the package expects", "guides/inputs-and-devices.md#cpu-input-to-a-cuda-package"),
    "contract_guard": About("an input breaks a relation that export assumed, such as equal or divisible sizes", "guides/input-contracts.md#guards-and-constant-arguments"),
    "contract_argument": About("the number, order or kind of the arguments is not what was exported", "guides/inputs-and-devices.md#number-and-kind-of-arguments"),
    "index_out_of_bounds": About("an index tensor holds a value outside the dimension it indexes", "guides/triton-index-out-of-bounds.md#read-the-message"),
    "illegal_memory_access": About("a GPU kernel read or wrote memory it does not own", "guides/cuda-illegal-memory-access.md#the-first-gpu-message-wins"),
    "misaligned_address": About("a GPU kernel used an address that is not aligned to the width of its access", "guides/cuda-illegal-memory-access.md#misaligned-address"),
    "kernel_resources": About("a kernel asks for more threads, registers, shared memory or blocks than the GPU has", "guides/cuda-illegal-memory-access.md#launch-failures-and-resources"),
    "host_segfault": About("the process died on the host: a bad access, a damaged heap or an abort", "guides/host-crash.md#segfault-in-the-model"),
    "nan_or_inf": About("a tensor holds NaN or infinity", "guides/wrong-results.md#nan-and-inf"),
    "wrong_result": About("the compiled model runs and gives other numbers than the eager one", "guides/wrong-results.md#compare-with-eager"),
    "lowering_error": About("export or Inductor could not translate the model", "guides/lowering-and-cpp.md#lowering-exceptions"),
    "triton_error": About("Triton or ptxas could not compile a kernel", "guides/triton-and-autotuning.md#triton-compile-errors"),
    "cpp_error": About("the C++ compiler rejects the generated code", "guides/lowering-and-cpp.md#the-wrapper-does-not-compile"),
    "autotune_error": About("kernels failed while they were being tuned at compile time", "guides/triton-and-autotuning.md#the-autotuning-block-failed"),
    "toolchain": About("a compiler, header, linker, library, cache or disk that compiling needs is missing or does not fit", "guides/toolchain.md#no-compiler"),
    "package_corrupt": About("the package file is damaged, incomplete or not a package", "guides/package-and-load.md#damaged-archives"),
    "package_incompatible": About("the package was made for another torch, platform, GPU or CPU", "guides/package-and-load.md#made-on-another-machine"),
    "missing_symbol": About("the model's library needs a symbol that nothing in the process provides", "guides/package-and-load.md#undefined-symbols"),
    "missing_kernel_binary": About("a GPU kernel's binary is not found, or there is none for this GPU", "guides/package-and-load.md#kernel-binaries-not-found"),
    "custom_op_missing": About("an operator that the model calls is not registered in this process", "guides/custom-ops.md#schema-not-found"),
    "custom_op_fake_kernel": About("a custom operator's fake kernel is missing or promises something else than it returns", "guides/custom-ops.md#a-wrong-fake-kernel"),
    "constants_missing": About("weights or buffers were not in the package and not loaded", "guides/constants.md#never-loaded"),
    "constants_mismatch": About("weights given to the model have another name, shape, dtype or device", "guides/constants.md#wrong-shape-or-dtype"),
    "out_of_memory": About("memory of the GPU or of the host ran out", "guides/memory-and-time.md#out-of-memory-in-disguise"),
    "device_unavailable": About("the GPU is not visible, not usable or broken", "guides/inputs-and-devices.md#no-gpu-visible"),
    "concurrency": About("threads, streams, processes or a CUDA graph use the model in a way it does not allow", "guides/threads-streams-hangs.md#one-runner-many-threads"),
    "hang": About("compiling, loading or running did not come to an end", "guides/threads-streams-hangs.md#hangs"),
    "performance": About("it works, but is slow or grows in memory", "guides/memory-and-time.md#slow-model", fault=False),
    "false_alarm": About("a check or a debugging tool complains, the model is not at fault", "guides/input-contracts.md#false-alarms", fault=False),
    "user_code": About("the script's own code raised, before or outside the compiled model", "guides/debugging-tools.md#an-unknown-failure"),
    "unknown": About("nothing known fits; the text names the software that spoke last", "guides/debugging-tools.md#an-unknown-failure"),
    "no_fault": About("nothing went wrong", "guides/debugging-tools.md#an-unknown-failure", fault=False),
}
# fmt: on
