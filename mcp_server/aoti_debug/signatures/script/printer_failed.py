from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
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
            r"\"(?:min|max)_all_\w{1,200}\" not implemented for "
            r"'(?P<dtype>\w{1,200})'|in _print_debugging_tensor_value_info"
            "|aoti_torch_save_tensor_handle: .{0,80}Error creating directory|Error: Failed to "
            r"create directory|codegen/debug_utils\.py\", line \d{1,20}, in .{0,300}print"
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
)
