from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="triton_frame",
    family="K",
    phase="triton_compile",
    category="triton_error",
    role="symptom",
    weight=34,
    anchors=(
        "triton/compiler/code_generator.py",
        "triton/language/",
        "triton/backends/",
        "triton\\compiler\\code_generator.py",
        "triton\\language\\",
        "triton\\backends\\",
        "torch/_inductor/runtime/triton_heuristics.py:",
    ),
    patterns=(
        r"\bE\d{4} .{0,160}torch/_inductor/runtime/triton_heuristics\.py:\d{1,20}\] .{0,20}\S",
        (
            r"File \"[^\"]{0,300}\btriton[\\/](?:compiler[\\/]code_generator\.py|language[\\/]"
            r"(?:semantic|core|standard|math)\.py|backends[\\/]\w{1,200}[\\/]compiler\.py)\""
        ),
    ),
    summary="The failure is inside Triton's compiler",
    means=(
        "Frames of Triton's frontend or of its passes are on the stack, so a kernel was being "
        "compiled; the last line of the traceback says why that failed."
    ),
    check="The innermost exception, not the wrapper at the end",
    fixes=(fix("Look at the first exception of the chain and at the kernel it names"),),
    guide="guides/triton-and-autotuning.md#triton-compile-errors",
    next_tool="check_environment",
    matches=(
        quoted(
            'File "/x/site-packages/triton/language/semantic.py", line 759, in cast',
            "form of a frame",
        ),
        quoted(
            "E0304 10:00:00.533000 700 site-packages/torch/_inductor/runtime/"
            "triton_heuristics.py:533] Traceback (most recent call last):",
            "form of an error in Inductor's log",
        ),
    ),
    neighbours=(
        quoted(
            'File "/x/site-packages/triton/runtime/jit.py", line 347, in <lambda>',
            "a launch, not a compile",
        ),
    ),
)
