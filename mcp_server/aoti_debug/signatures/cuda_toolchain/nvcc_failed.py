from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="nvcc_failed",
    family="G",
    phase="cpp_compile",
    category="toolchain",
    weight=70,
    anchors=(
        "nvcc fatal",
        "nvcc error",
        "unsupported GNU version",
        "unsupported Microsoft Visual Studio version",
        "unsupported clang version",
        "mismatches the version that was used to compile",
        "is less than the minimum required version by CUDA",
        "is greater than the maximum required version by CUDA",
        "nvcc is required to build fatbin",
        "nvcc not found at",
        "nvlink fatal",
        "nvlink error",
        "fatbinary fatal",
        "cudafe++",
        "libdevice",
        "Unknown CUDA arch (",
        "nvrtc: error: failed to open",
        "Ninja is required to load C++ extensions",
        "WINDOWS_CUDA_HOME",
        "Cannot find libdevice",
    ),
    patterns=(
        (
            r"(?P<what>nvcc (?:fatal|error)\s{0,3}:.{0,160}|unsupported (?:GNU|Microsoft "
            "Visual Studio|clang) version|detected CUDA version .{1,40} mismatches the "
            "version|is (?:less than the minimum|greater than the maximum) required version "
            "by CUDA|nvcc is required to build fatbin|nvcc not found at .{0,120}|nvlink "
            r"(?:fatal|error)\s{0,3}:.{0,120}|fatbinary "
            r"fatal\s{0,3}:.{0,120}|cudafe\+\+.{0,20} died|(?:[Cc]annot find|not found|No "
            r"such file).{0,80}libdevice|libdevice\S{0,40} not found|Unknown CUDA arch "
            r"\(.{1,30}\)|nvrtc: error: failed to open .{0,80}|Ninja is required to load "
            r"C\+\+ extensions|Need to set WINDOWS_CUDA_HOME)"
        ),
    ),
    summary="The CUDA compiler or a tool of it stopped: {what}",
    means=(
        "nvcc does not go with the host compiler, with the CUDA release of torch or with the "
        "GPU named, or a file of the toolkit is missing."
    ),
    mistaken_for="A fault of the generated code.",
    check="nvcc --version, $CXX --version and torch.version.cuda beside each other.",
    fixes=(
        fix("Install the toolkit release that torch.version.cuda names and set CUDA_HOME to it"),
        fix("Give nvcc a host compiler that it supports (NVCC_CCBIN or CXX)"),
    ),
    guide="guides/toolchain.md#cuda-toolkit",
    next_tool="check_environment",
    matches=(
        quoted("nvcc fatal   : Unknown option '-std=c++20'", "words of nvcc"),
        quoted(
            "#error -- unsupported GNU version! gcc versions later than 12 are not supported!",
            "words of crt/host_config.h",
        ),
        quoted(
            "RuntimeError: The detected CUDA version (11.8) mismatches the version that was "
            "used to compile PyTorch (12.1).",
            "words of torch/utils/cpp_extension.py",
        ),
        quoted(
            "RuntimeError: nvcc is required to build fatbin",
            "words of torch/_inductor/codecache.py",
        ),
        quoted("nvrtc: error: failed to open libnvrtc-builtins.so.11.8.", "words of nvrtc"),
    ),
)
