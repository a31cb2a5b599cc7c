"""What the words of an error line say, where no signature knows it: the last clue of a log."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from aoti_debug.diagnose.scene import Form
from aoti_debug.model import Category, Phase

READ = 1000  # characters of a text
FOLDED = re.IGNORECASE | re.DOTALL
said = partial(Form, flags=FOLDED)


@dataclass(frozen=True, slots=True)
class Wording:
    """Words that mean one kind of failure; case does not matter. Those that are `sure` mean it
    wherever they stand, in the message of an exception too that a script raised."""

    category: Category
    phase: Phase
    form: Form
    sure: bool = False


LACKS = (
    r"(?:not (?:be )?found|no such file|missing|not installed|cannot find|can't find|"
    r"could not find|unable to find|not available|not (?:been )?(?:built|loaded|registered))"
)
FAILS = r"(?:error|fail|missed|abort|crash|broken|unsupported|invalid|cannot|not supported|issue)"
DIFFERS = (
    r"(?:mismatch|differ|diverg|not (?:close|equal|match)|does ?n[o']t match|wrong|incorrect|"
    r"inaccura|inconsisten|corrupt)"
)
TRITON = r"\b(?:triton|ttir|ttgir|mlir|llvm|ptx\w*|tl\.\w+|libdevice)\b"
CPP = r"(?<![.\w])(?:gcc|g\+\+|clang|nvcc|hipcc|c\+\+|cpp|cxx)"
INDUCTOR = r"(?:(?<![\w/\\])(?:_?|aot_?)inductor|\baoti\b|codegen|lowering|aot_?autograd|scheduler)"
TRACING = r"(?:torch\.export|dynamo|symbolic|data.dependent|dynamic.shapes?|graph break)"
CONTENDED = r"\b(?:crash\w*|seg\w*fault|starv\w+|block(?:s|ed|ing)|contention|seriali[sz]ed|wrong)\b"
HEADER = r"\w\.(?:h|hpp|hxx|cuh)\b"


def near(words: str, complaint: str, apart: int = 80) -> tuple[str, str]:
    """Give the patterns of words with a complaint behind or before them."""
    gap = f".{{0,{apart}}}"
    return f"{words}{gap}{complaint}", f"{complaint}{gap}{words}"


# What torch's C++ refuses, by the property that it names.
REFUSES: tuple[tuple[str, Category], ...] = (
    (r"out of memory|alloc\w* .{0,20}fail|defaultcpuallocator", "out_of_memory"),
    (r"index\w* .{0,40}out of (?:range|bounds)|index out of", "index_out_of_bounds"),
    (
        r"non-cuda device|same device|(?:expected|but).{0,80}\bdevices?\b|\bdevice type"
        r"|\(torch\.\w{1,20}tensor\).{1,60}\(torch\.cuda\.|\(torch\.cuda\..{1,60}\(torch\.\w{1,20}tensor"
        r"|(?:found|is|are) on (?:the )?(?:cpu|cuda)\b",
        "contract_device",
    ),
    (
        r"scalar type|\bdtypes?\b|\b(?:expected|but).{0,60}\b(?:half|float|double|long|bfloat16"
        r"|int)\b|\btensor for argument .{0,60}type",
        "contract_dtype",
    ),
    (r"input type .{1,60} and weight type .{1,60} should be the same", "contract_dtype"),
    (r"expected (?:at (?:most|least) )?\d{1,4} (?:inputs?|arguments?)", "contract_argument"),
    (
        r"\bshapes?\b|size of tensor|sizes? mismatch|mat1|channels|must match .{0,40}dimension"
        r"|\bsizes? .{0,40}\bmatch|expected \d\w{0,2}-?d|invalid for input of size|broadcast"
        r"|dimension|expected size|\brank\b",
        "contract_shape",
    ),
    (r"\bstrides?\b|contiguous|memory format", "contract_stride"),
    (r"could not run '|no kernel|not registered|unknown builtin op", "custom_op_missing"),
)


def refused(text: str) -> Category | None:
    """Return what a message of torch's C++ refuses."""
    begin = text[:READ]
    return next((category for words, category in REFUSES if re.search(words, begin, FOLDED)), None)


# The narrower row comes first: of several lines the one that an earlier row knows decides.
WORDINGS: tuple[Wording, ...] = (
    Wording(
        "toolchain", "triton_compile", said(*near(r"(?:python|cuda\w*|driver)\.h\b", LACKS)), True
    ),
    Wording("toolchain", "cpp_compile", said(*near(HEADER, LACKS, 60)), True),
    Wording("toolchain", "cpp_compile", said(r"cannot find -l\w"), True),
    Wording("toolchain", "lower", said(rf"\btriton\b.{{0,60}}{LACKS}")),
    Wording(
        "toolchain",
        "cpp_compile",
        said(
            rf"\b(?:compiler|linker|gcc|g\+\+|clang|cl(?:\.exe)?|nvcc|hipcc|icpx|ptxas|ninja)"
            rf"[ :'\"`].{{0,60}}{LACKS}"
        ),
    ),
    Wording(
        "missing_symbol",
        "load",
        said(
            r"(?:Import|OS)Error: \S{0,400}(?:\.cpython-|\.so|\.pyd|\.dylib)",
            "undefined symbol",
            "unresolved external",
            "symbol not found",
        ),
        True,
    ),
    Wording("missing_symbol", "cpp_compile", said("undefined reference"), True),
    Wording(
        "custom_op_missing",
        "load",
        said(
            *near(r"custom\w* (?:\S{1,20} )?(?:op|operator)s?\b", rf"(?:{LACKS}|couldn't|not load)"),
            r"\b(?:ops?|operators?|extension)\b.{0,40}\bnot (?:been )?(?:built|compiled|registered)\b",
        ),
    ),
    Wording(
        "contract_argument",
        "run",
        said(r"\bAOTI\w{0,40}.{0,60}(?:unexpected keyword|positional argument)"),
    ),
    Wording(
        "package_incompatible",
        "load",
        said(
            r"\b(?:compiled|built|exported|made) (?:for|on|with|by)\b.{0,80}\b(?:but|only supports)\b"
        ),
    ),
    Wording("constants_missing", "constants", said(rf"\bconstants?\b.{{0,80}}{LACKS}")),
    Wording(
        "constants_mismatch",
        "constants",
        said(r"\bconstant(?:s|_buffer)?\b.{0,80}\b(?:expected|mismatch\w*|wrong|differ\w*)\b"),
    ),
    Wording(
        "package_incompatible",
        "load",
        said(
            "cannot open shared object",
            "library not loaded",
            "image not found",
            "dll load failed",
            r"could not load \S{1,400}\.(?:dat|co|hsaco|so|dll|dylib)\b",
        ),
        True,
    ),
    Wording(
        "concurrency",
        "run",
        said(
            rf"{FAILS}.{{0,200}}(?:graph\s+capture|is\s+captur(?:ing|ed)|streamcapture)",
            r"cuda ?graphs?\b.{0,60}overwritten",
            rf"captur\w+ .{{0,20}}graph.{{0,20}}{FAILS}",
        ),
        True,
    ),
    Wording("concurrency", "run", said(r"\b(?:data )?race(?:s|d)?\b(?: condition)?", r"thread.?(?:un)?saf")),
    Wording(
        "concurrency",
        "run",
        said(
            *near(r"\b(?:threads?|streams?|mutex|locks?)\b", CONTENDED),
            *near(r"\b(?:infer\w*|requests?|runners?|others?)\b", CONTENDED, 30),
        ),
    ),
    Wording(
        "out_of_memory",
        "run",
        said(
            r"out.?of.?memory", r"\bOOM\b", "alloc_?failed", "bad_alloc", "cannot allocate memory"
        ),
        True,
    ),
    Wording(
        "missing_kernel_binary",
        "run",
        said(
            r"(?:kernel|kernel image|image|code object) (?:is|was) (?:invalid|not found)",
            "no kernel image",
            "invalid device function",
        ),
        True,
    ),
    Wording(
        "illegal_memory_access",
        "run",
        said("illegal (?:memory|address)", "access fault", "page fault", "execution_failed"),
        True,
    ),
    Wording("misaligned_address", "run", said("misaligned"), True),
    Wording(
        "custom_op_fake_kernel",
        "export",
        said(r"(?:fake|meta|abstract)\b.{0,24}\b(?:kernel|impl)", "data is not allocated yet"),
        True,
    ),
    Wording(
        "triton_error",
        "triton_compile",
        said(r"(?:triton|mlir|llvm)\S{0,200}:\d{1,6}: .{0,600}assertion"),
        True,
    ),
    Wording(
        "contract_shape",
        "run",
        said(
            r"shape '?\[.{1,60}\]'? is invalid",
            r"size of tensor a \(\d",
            "size mismatch for",
            "shapes? (?:mismatch|cannot)",
        ),
        True,
    ),
    Wording(
        "package_incompatible",
        "load",
        said(
            r"\b(?:archive|schema|serializ\w{0,10}|package|model)\b.{0,80}\b(?:version|newer|older)\b"
        ),
    ),
    Wording(
        "package_incompatible",
        "load",
        said(*near("(?:deserializ|unpickl)", f"(?:{FAILS}|{LACKS})", 120)),
    ),
    Wording("contract_argument", "run", said(r"expected at (?:most|least) \d+ argument"), True),
    Wording("package_incompatible", "load", said(r"torch::jit::\S{0,60}ErrorReport")),
    Wording(
        "host_segfault",
        "run",
        said(
            "segmentation fault",
            "seg ?fault",
            "core dumped",
            "access violation",
            "sigsegv",
            "(?:unhandled exception|exception thrown) at 0x",
            r"\bcrash(?:es|ed)? (?:at|on|in|when|during|after|with no|without)\b",
        ),
    ),
    Wording(
        "wrong_result",
        "output",
        said(
            *near(r"\beager(?:ly)?\b", DIFFERS),
            r"\bmismatch\b.{0,40}(?:err|diff)|\b\w{0,10}(?:err|diff)\w{0,10}\W{1,3}(?:inf|nan)\b",
            r"all_?close.{0,40}\bfalse\b",
            r"\bfalse\b.{0,20}all_?close",
            rf"(?:output|result|accuracy|numeric\w*|precision)s?\b.{{0,60}}{DIFFERS}",
            rf"{DIFFERS}.{{0,40}}(?:output|result|accuracy)",
        ),
    ),
    Wording(
        "nan_or_inf",
        "output",
        said(r"(?:returns?|output\w*|produces?|got|loss\w*|is|are|contains?) .{0,20}\bnans?\b"),
    ),
    Wording("hang", "hang", said(r"\b(?:hangs?|hung|hanging|stuck|deadlock\w*)\b")),
    Wording(
        "performance",
        "lower",
        said(
            *near(
                r"(?<!\.)\b(?:compil\w+|autotun\w+|lower\w+|export\w*)\b",
                r"\b(?:slow\w*|takes? (?:too |very |so )?long|(?:min(?:ute)?|hour)s?\b.{0,20}\bto)\b",
                40,
            ),
            r"\b(?:compil\w+|autotun\w+|lower\w+|export\w*) time\b.{0,60}\b(?:regress|increas|grew|from)",
        ),
    ),
    Wording(
        "performance",
        "run",
        said(
            r"\bslow(?:er|down|ness|ly)?\b|\bfaster than\b",
            *near(
                r"\b(?:perf\w*|latency|speed\w*|throughput|time)\b",
                r"\b(?:regress\w*|drop\w*|worse|degrad\w*|increas\w*|not scale|overhead)\b",
                60,
            ),
            r"\bleak(?:s|ing|ed|age)?\b",
            r"\bmemory\b.{0,40}\b(?:grow\w*|increas\w*)\b",
        ),
    ),
    Wording(
        "autotune_error",
        "autotune",
        said(*near("autotun", FAILS), r"no (?:valid|suitable)\b.{0,40}\bconfig"),
    ),
    Wording("triton_error", "triton_compile", said(*near(TRITON, FAILS))),
    Wording(
        "cpp_error",
        "cpp_compile",
        said(rf"{CPP}\W?[\d.]*.{{0,60}}{FAILS}", rf"(?:build|{FAILS}).{{0,60}}{CPP}"),
    ),
    Wording("lowering_error", "lower", said(*near(INDUCTOR, FAILS))),
    Wording(
        "lowering_error",
        "export",
        said(*near(TRACING, FAILS), rf"(?:onnx|constraint).{{0,80}}{FAILS}"),
    ),
    Wording(
        "contract_dtype",
        "run",
        said("expected .{0,40}(?:scalar type|dtype)", "dtype mismatch"),
        True,
    ),
    Wording(
        "contract_device",
        "run",
        said(
            r"(?:same|different|wrong) devices?\b",
            "devices? .{1,30} (?:is|are) not (?:equal|the same)",
            "cpu tensor",
        ),
    ),
    Wording("user_code", "load", said(r"(?:open|find|read|load)\w{0,4}\b.{0,80}no such file")),
    Wording(
        "package_corrupt",
        "load",
        said(rf"(?:zip|archive|\.pt2).{{0,60}}(?:corrupt|truncat|invalid|fail|{LACKS})"),
    ),
)


def wording_of(texts: Iterable[str], *, sure: bool = False) -> tuple[int, Wording] | None:
    """Return the number of the text that the narrowest row knows, and the row; with `sure` only
    rows that are. Of a text its first 1,000 characters count."""
    known = [text[:READ] for text in texts]
    for wording in WORDINGS:
        for number, text in enumerate(known) if wording.sure or not sure else ():
            if wording.form.search(text):
                return number, wording
    return None
