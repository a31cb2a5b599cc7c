"""The script's own errors, its settings, and debugging tools that fail."""

from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURES = (
    Signature(
        id="user_python_error",
        family="P",
        phase="none",
        category="user_code",
        role="symptom",
        weight=20,
        anchors=(
            "SyntaxError: ",
            "IndentationError: ",
            "NameError: name ",
            "FileNotFoundError: [Errno 2]",
            "UnboundLocalError: ",
            "ZeroDivisionError: ",
            "ModuleNotFoundError: ",
            "ImportError: cannot import name",
            "Error(s) in loading state_dict for ",
        ),
        patterns=(
            (
                "^(?:SyntaxError|IndentationError|TabError): (?!program_source)|^NameError: name "
                r"'\w+' is not defined|^FileNotFoundError: \[Errno 2\]|^UnboundLocalError: "
                "|^ZeroDivisionError: "
            ),
            (
                r"ModuleNotFoundError: No module named '(?!torch'|triton)(?P<module>[\w.]+)'"
                r"|ImportError: cannot import name '(?P<name>\w+)'"
            ),
            r"Error\(s\) in loading state_dict for (?P<model>\w+)",
        ),
        summary="The script itself raised an ordinary Python error",
        means=(
            "A missing module, a misspelt name or a missing file: Python stopped outside "
            "compiling and running the model."
        ),
        check="The last frame of the traceback lies in your file",
        fixes=(
            fix(
                "Correct the line of the last frame; for a missing module name the interpreter "
                "that has it (--python)"
            ),
        ),
        guide="guides/debugging-tools.md#an-unknown-failure",
        next_tool="check_environment",
        matches=(
            quoted("NameError: name 'modle' is not defined", "CPython text"),
            quoted(
                "FileNotFoundError: [Errno 2] No such file or directory: 'weights.pt'",
                "CPython text",
            ),
            quoted("ModuleNotFoundError: No module named 'einops'", "CPython text"),
            quoted(
                "RuntimeError: Error(s) in loading state_dict for ResNet:",
                "text of torch/nn/modules/module.py",
            ),
        ),
        neighbours=(
            quoted(
                "SyntaxError: program_source:1:1: error: C++ requires a type specifier", "Metal"
            ),
        ),
        apart_from=("triton_missing",),
    ),
    Signature(
        id="setting_unknown",
        family="G",
        phase="environment",
        category="user_code",
        weight=74,
        confidence="proved",
        anchors=(
            "torch._inductor.config.",
            "Invalid log settings: ",
            "is not a valid IntermediateValueDebuggingLevel",
        ),
        patterns=(
            r"AttributeError: (?P<what>torch\._inductor\.config\.[\w.]{1,100} does not exist)",
            "(?P<what>Invalid log settings: .{1,120}), must be a comma separated list",
            "(?P<what>'?[^' ]{1,20}'? is not a valid IntermediateValueDebuggingLevel)",
        ),
        summary="A setting is unknown to this torch: {what}",
        means=(
            "A spelling mistake, an option of another release, or a variable left set. TORCH_LOGS "
            "knows no `aoti`; the printer takes 0 to 3, as text."
        ),
        fixes=(
            fix(
                "Correct or unset it; torch._inductor.config and `Valid settings` list the known "
                "names"
            ),
        ),
        guide="guides/debugging-tools.md#unknown-settings",
        matches=(
            recorded(
                "AttributeError: torch._inductor.config.aot_inductor.nope does not exist",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "Invalid log settings: aoti, must be a comma separated list of fully",
                "torch 2.13.0, CPU",
            ),
            recorded(
                "torch._inductor.exc.InductorError: ValueError: '7' is not a valid "
                "IntermediateValueDebuggingLevel",
                "torch 2.13.0, CPU",
            ),
        ),
        apart_from=("no_cxx_compiler",),
    ),
    Signature(
        id="printer_failed",
        family="P",
        phase="run",
        category="false_alarm",
        weight=66,
        anchors=(
            "min_all_",
            "_print_debugging_tensor_value_info",
            "aoti_torch_save_tensor_handle: Error",
            "Failed to create directory",
            "max_all_",
            "debug_printer",
        ),
        patterns=(
            (
                r"\"(?:min|max)_all_\w+\" not implemented for "
                r"'(?P<dtype>\w+)'|in _print_debugging_tensor_value_info"
                "|aoti_torch_save_tensor_handle: .{0,80}Error creating directory|Error: Failed to "
                r"create directory|codegen/debug_utils\.py\", line \d+, in .*print"
            ),
        ),
        summary="The value printer stumbled, not the model",
        means=(
            "Statistics are not defined for float8 and complex, constants as kernel arguments "
            "break it in 2.6, and mode 1 cannot make its folder before 2.10."
        ),
        mistaken_for="A fault of the kernel just printed",
        check="Run without AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER",
        fixes=(
            fix(
                "Use mode 3, or filter to kernels with ordinary dtypes; make tmp/aoti_torch by "
                "hand for mode 1 before 2.10"
            ),
        ),
        guide="guides/debugging-tools.md#printer-errors",
        next_tool="run_stage",
        references=("pytorch/pytorch#149008", "pytorch/pytorch#145425"),
        matches=(
            quoted(
                "Min value: Error: \"min_all_cuda\" not implemented for 'Float8_e4m3fn'",
                "pytorch/pytorch#149008",
            ),
            quoted("Error: Failed to create directory", "torch 2.9 mode 1, run time"),
        ),
    ),
    Signature(
        id="minifier_failed",
        family="P",
        phase="lower",
        category="false_alarm",
        weight=78,
        confidence="proved",
        anchors=(
            "did not fail the tester",
            "could not reproduce the original failure",
            "MinifierSanityCheckFailed",
            "AOTIMinifierError",
            "check for accuracy is not supported yet",
            "not any(mod.named_parameters())",
        ),
        patterns=(
            (
                "Input graph did not fail the tester|Minifier could not reproduce the original "
                "failure|MinifierSanityCheckFailed"
            ),
            (
                "AOTIMinifierError|check for accuracy is not supported yet|assert not "
                r"any\(mod\.named_parameters\(\)\)"
            ),
        ),
        summary="PyTorch's own minifier gave up; this says nothing about the model",
        means=(
            "It replays only the example inputs, in a fresh process without your registrations, "
            "so failures of run-time data, of another size or of memory state do not come back; "
            "and candidates that cannot be exported stop it."
        ),
        mistaken_for="A repaired bug",
        fixes=(fix("Reproduce with the captured inputs of the failing call instead"),),
        guide="guides/debugging-tools.md#minifier-errors",
        next_tool="minify",
        references=("pytorch/pytorch#111678",),
        matches=(
            recorded(
                "RuntimeError: Input graph did not fail the tester",
                "torch 2.13 CPU: launcher without the fault",
            ),
            quoted(
                "torch._dynamo.repro.aoti.AOTIMinifierError: This error is caused",
                "text of torch/_dynamo/repro/aoti.py",
            ),
            quoted("    assert not any(mod.named_parameters())", "pytorch/pytorch#111678"),
        ),
    ),
)
