"""What the words of an error line say, where no signature knows it: the last clue of a log."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from aoti_debug.diagnose.scene import Form, rows_of
from aoti_debug.model import Category, Phase

READ = 1000  # characters of a text
FOLDED = re.IGNORECASE | re.DOTALL


@dataclass(frozen=True, slots=True)
class Wording:
    """Words that mean one kind of failure; case does not matter. Those that are `sure` mean it
    wherever they stand, in the message of an exception too that a script raised."""

    category: Category
    phase: Phase
    form: Form
    sure: bool = False


# What a table's <NAME> stands for.
WORDS: dict[str, str] = {
    "LACKS": r"(?:not (?:be )?found|no such file|missing|not installed|cannot find|can't find"
    r"|could not find|unable to find|not available|not in the"
    r"|not (?:been )?(?:built|loaded|registered))",
    "FAILS": r"(?:error|fail|missed|abort|crash|broken|unsupported|invalid|cannot|not supported"
    r"|issue|does ?n[o']t (?:compile|work|load))",
    "DIFFERS": r"(?:mismatch|differ|diverg|not (?:close|equal|match)|does ?n[o']t match|wrong"
    r"|incorrect|inaccura|inconsisten|corrupt)",
    "WAITS": r"\b(?:starv\w+|block(?:s|ed|ing)|contention|seriali[sz]ed)\b",
    "SLOWS": r"\b(?:regress\w*|drop\w*|worse|degrad\w*|increas\w*|not scale|overhead)\b",
    "TOOL": r"(?:compiler|linker|gcc|g\+\+|clang|cl(?:\.exe)?|nvcc|hipcc|icpx|ptxas|ninja)",
    "CPP": r"(?<![.\w])(?:gcc|g\+\+|clang|nvcc|hipcc|c\+\+|cpp|cxx)",
    "INDUCTOR": r"(?:(?<![\w/\\])(?:_?|aot_?)inductor|\baoti\b|codegen|lowering|aot_?autograd"
    r"|scheduler)",
}
# Of several lines the one that an earlier row knows decides: the narrower row comes first. A head
# names category and phase, with ! where its words are sure; `A ~80~ B` is both, in either order
# and at most so many characters apart.
TABLE = r"""
toolchain triton_compile !
    (?:python|cuda\w*|driver)\.h\b ~80~ <LACKS>
toolchain cpp_compile !
    \w\.(?:h|hpp|hxx|cuh)\b ~60~ <LACKS> || cannot find -l\w
toolchain lower
    \btriton\b.{0,60}<LACKS>
toolchain cpp_compile
    \b<TOOL>[ :'"`].{0,60}<LACKS>
missing_symbol load !
    (?:Import|OS)Error: \S{0,400}(?:\.cpython-|\.so|\.pyd|\.dylib) || undefined symbol
    unresolved external || symbol not found
missing_symbol cpp_compile !
    undefined reference
custom_op_missing load
    custom\w* (?:\S{1,20} )?op(?:erator)?s?\b ~80~ (?:<LACKS>|couldn't|not load)
    \b(?:op(?:erator)?s?|extension)\b.{0,40}\bnot (?:been )?(?:built|compiled|registered)\b
contract_argument run
    \bAOTI\w{0,40}.{0,60}(?:unexpected keyword|positional argument)
package_incompatible load
    \b(?:compiled|built|exported|made) (?:for|on|with)\b.{0,80}\b(?:but|only supports)\b
constants_missing constants
    \bweights were not initialized from || \bconstants?\b.{0,80}<LACKS>
constants_mismatch constants
    \bconstant(?:s|_buffer)?\b.{0,80}\b(?:expected|mismatch\w*|wrong|differ\w*)\b
    \bload_constants\b ~60~ <FAILS>
device_unavailable environment !
    (?:failed|unable|could not|couldn't) (?:to )?(?:infer|detect|determine) .{0,20}\b(?:device|gpu)
package_incompatible load !
    cannot open shared object || library not loaded || image not found || dll load failed
    could not load \S{1,400}\.(?:dat|co|hsaco|so|dll|dylib)\b
concurrency run !
    deadlock detected || <FAILS>.{0,200}(?:graph\s+capture|is\s+captur(?:ing|ed)|streamcapture)
    cuda ?graphs?\b.{0,60}overwritten || captur\w+ .{0,20}graph.{0,20}<FAILS>
concurrency run
    <FAILS>.{0,120}\b(?:concurrent|simultaneous)(?:ly)?\b
    \brace(?:s|d| condition)?\b || \bthread.?(?:un)?saf
    \b(?:threads?|streams?|mutex)\b ~80~ (?:<WAITS>|\b(?:crash\w*|wrong)\b)
    \b(?:infer\w*|requests?|runners?|others?)\b ~30~ <WAITS>
out_of_memory run !
    \b(?:no|not enough|insufficient) (?:available |free |gpu |host ){0,3}memory
    \bmemory\b.{0,120}\bless than\b || out.?of.?memory || \bOOM\b || alloc_?failed
    bad_alloc || cannot allocate memory
missing_kernel_binary run !
    (?:kernel|kernel image|image|code object) (?:is|was) (?:invalid|not found) || no kernel image
    invalid device function
illegal_memory_access run !
    illegal (?:memory|address) || (?:access|page) fault || execution_failed
misaligned_address run !
    misaligned
custom_op_missing run !
    \bimplementation for device \S{1,20} not found
custom_op_missing export !
    \bmissing out variants\b
custom_op_fake_kernel export !
    (?:fake|meta|abstract)\b.{0,24}\b(?:kernel|impl) || data is not allocated yet
triton_error triton_compile !
    (?:triton|mlir|llvm)\S{0,200}:\d{1,6}: .{0,600}assertion
contract_shape run !
    shape '?\[.{1,60}\]'? is invalid || size of tensor a \(\d || size mismatch for
    shapes? (?:mismatch|cannot)
package_incompatible load
    \b(?:archive|schema|serializ\w{0,10}|package|model)\b.{0,80}\b(?:version|newer|older)\b
    (?:deserializ|unpickl) ~120~ (?:<FAILS>|<LACKS>)
    \b(?:package|archive|aoti?\w{0,8}|model|\.pt2|\.so)\b.{0,60}<FAILS>.{0,20}\bload
contract_argument run !
    \bis missing value for argument\b
    expected at (?:most|least) \d+ argument || passed to at\(\) was not in the map
package_incompatible load
    torch::jit::\S{0,60}ErrorReport
host_segfault run
    segmentation fault || seg ?fault || core dumped || access violation || sigsegv
    (?:unhandled exception|exception thrown) at 0x
    ^(?!.{0,200}\wError\b).{0,400}\bcrash(?:es|ed)? (?:at|on|in|when|during|after|with no|without)\b
wrong_result output
    \beager(?:ly)?\b ~80~ <DIFFERS>
    \bmismatch\b.{0,40}(?:err|diff)|\b\w{0,10}(?:err|diff)\w{0,10}\W{1,3}(?:inf|nan)\b
    all_?close ~40~ \bfalse\b
    (?:output|result|accuracy|numeric\w*|precision)s?\b.{0,60}<DIFFERS>
    <DIFFERS>.{0,40}(?:output|result|accuracy)
    \baccuracy\b ~40~ \b(?:drop\w*|lower|worse|degrad\w*|loss)\b
nan_or_inf run !
    \bsigfpe\b
nan_or_inf output
    (?:returns?|output\w*|(?:produc|giv)\w+|got|loss\w*|is|are|becomes?|contains?) .{0,20}\bnans?\b
hang hang
    \b(?:hangs?|hung|hanging|stuck|deadlock\w*)\b
performance run
    \b(?:slow|fast)er than (?:eager|torch|compile|jit|python|onnx|tensorrt)
performance lower
    \b\w{0,20}compil\w* ~40~ \b(?:minutes?|hours?)\b
    (?<!\.)\b(?:compil|autotun|lower|export)\w*\b ~40~ \b(?:slow\w*|takes?.{0,12} long|minutes?)\b
    \b(?:compil\w+|autotun\w+|lower\w+|export\w*) time\b.{0,60}<SLOWS>
performance run
    \bslow(?:er|down|ness|ly)?\b|\bfaster than\b|\boverhead\b
    \b(?:perf\w*|latency|speed\w*|throughput|time)\b ~60~ <SLOWS> || \bleak(?:s|ing|ed|age)?\b
    \bmemory\b.{0,40}\b(?:grow\w*|increas\w*)\b || \b(?:high|excessive) .{0,12}memory\b
autotune_error autotune
    autotun ~80~ <FAILS> || no (?:valid|suitable)\b.{0,40}\bconfig
triton_error triton_compile
    \b(?:triton|ttir|ttgir|mlir|llvm|ptx\w*|tl\.\w+|libdevice)\b ~80~ <FAILS>
cpp_error cpp_compile
    <CPP>\W?[\d.]*.{0,60}<FAILS> || (?:build|<FAILS>).{0,60}<CPP>
    undeclared identifier|was not declared|no matching function|does not name a type
lowering_error lower
    <INDUCTOR> ~80~ <FAILS>
lowering_error export
    (?:torch\.export|dynamo|symbolic|data.dependent|dynamic.shapes?|graph break) ~80~ <FAILS>
    (?:onnx|constraint).{0,80}<FAILS>
contract_dtype run !
    expected .{0,40}(?:scalar type|dtype) || dtype mismatch
contract_device run
    (?:same|different|wrong) devices?\b || devices? .{1,30} (?:is|are) not (?:equal|the same)
    cpu tensor
user_code load
    (?:open|find|read|load)\w{0,4}\b.{0,80}no such file
package_corrupt load
    (?:zip|archive|\.pt2).{0,60}(?:corrupt|truncat|invalid|fail|<LACKS>)
performance run
    graph break|recompil|skipping cudagraphs
"""
# What torch's C++ refuses, by the property that it names.
REFUSES = r"""
out_of_memory run
    out of memory|alloc\w* .{0,20}fail|defaultcpuallocator
index_out_of_bounds run
    index\w* .{0,40}out of (?:range|bounds)|index out of
contract_device run
    non-cuda device|same device|(?:expected|but).{0,80}\bdevices?\b|(?<!infer )\bdevice type
    \(torch\.\w{1,20}tensor\) ~60~ \(torch\.cuda\. || (?:found|is|are) on (?:the )?(?:cpu|cuda)\b
contract_dtype run
    scalar type|\bdtypes?\b || \b(?:expected|but).{0,60}\b(?:half|float|double|long|bfloat16|int)\b
    \btensor for argument .{0,60}type
    input type .{1,60} and (?:weight|bias) type .{1,60} should be the same
contract_argument run
    expected (?:at (?:most|least) )?\d{1,4} (?:inputs?|arguments?)
contract_shape run
    \bshapes?\b|size of tensor|sizes? mismatch|mat1|channels|must match .{0,40}dimension
    \bsizes? .{0,40}\bmatch|expected \d\w{0,2}-?d|invalid for input of size|broadcast
    dimension|expected size|\brank\b
contract_stride run
    \bstrides?\b|contiguous|memory format
custom_op_missing run
    could not run '|no kernel|not registered|unknown builtin op
"""
EITHER_WAY = re.compile(r"^(.+) ~(\d+)~ (.+)$")


def wordings_of(table: str) -> Iterator[Wording]:
    """Read a table of heads, each with the patterns of its words below."""
    for name, words in WORDS.items():
        table = table.replace(f"<{name}>", words)
    for (category, phase, *sure), patterns in rows_of(table):
        forms = [form for pattern in patterns for form in either_way(pattern)]
        yield Wording(category, phase, Form(*forms, flags=FOLDED), bool(sure))


def either_way(pattern: str) -> tuple[str, ...]:
    found = EITHER_WAY.match(pattern)
    if found is None:
        return (pattern,)
    gap = f".{{0,{found[2]}}}"
    return found[1] + gap + found[3], found[3] + gap + found[1]


WORDINGS = tuple(wordings_of(TABLE))
OF_A_REFUSAL = tuple(wordings_of(REFUSES))


def refused(text: str) -> Category | None:
    """Return what a message of torch's C++ refuses."""
    begin = text[:READ]
    return next((row.category for row in OF_A_REFUSAL if row.form.search(begin)), None)


def wording_of(texts: Iterable[str], *, sure: bool = False) -> tuple[int, Wording] | None:
    """Return the number of the text that the narrowest row knows, and the row; with `sure` only
    rows that are. Of a text its first 1,000 characters count."""
    known = [text[:READ] for text in texts]
    for wording in WORDINGS:
        for number, text in enumerate(known) if wording.sure or not sure else ():
            if wording.form.search(text):
                return number, wording
    return None
