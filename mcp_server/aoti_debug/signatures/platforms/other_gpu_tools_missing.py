from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="other_gpu_tools_missing",
    family="Q",
    phase="cpp_compile",
    category="toolchain",
    weight=74,
    anchors=(
        "ROCM_HOME",
        "cannot locate libamdhip64",
        "TRITON_LIBHIP_PATH",
        "does not point to a valid libamdhip64",
        "hipcc",
        "icpx",
        "SYCL runtime is not",
        "Intel Compiler error: less than minimal",
        "cannot find -lze_loader",
        "xcrun: error",
        "Multi-arch ROCm compilation requires",
    ),
    patterns=(
        (
            "(?P<what>ROCM_HOME environment variable is not set|cannot locate "
            r"libamdhip64\S{0,10}|does not point to a valid "
            r"libamdhip64\S{0,10}|(?:hipcc|icpx): (?:command )?not found|SYCL runtime is not "
            r"de\w{1,6}|Intel Compiler error: less than minimal version|xcrun: error: "
            ".{1,100}|Multi-arch ROCm compilation requires LLVM IR file)"
        ),
    ),
    summary="The tools for this GPU or system are missing: {what}",
    means=(
        "Compiling for AMD needs ROCm, for Intel the oneAPI compiler and Level Zero, for "
        "Apple the command line tools."
    ),
    fixes=(
        fix(
            "Install them in the version that torch was built with, and set ROCM_HOME or "
            "source setvars.sh"
        ),
    ),
    guide="guides/other-platforms.md#amd-gpus",
    next_tool="check_environment",
    matches=(
        quoted(
            "OSError: ROCM_HOME environment variable is not set. Please set it to your ROCm "
            "install root.",
            "words of torch/utils/cpp_extension.py",
        ),
        quoted(
            "RuntimeError: cannot locate libamdhip64.so after attempted paths []",
            "words of triton/backends/amd/driver.py",
        ),
        quoted(
            "OSError: SYCL runtime is not dected. Please setup the pytorch prerequisites",
            "words of torch/utils/cpp_extension.py",
        ),
    ),
)
