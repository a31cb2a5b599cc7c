from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="cmake_failed",
    family="G",
    phase="cpp_compile",
    category="toolchain",
    weight=56,
    anchors=(
        "CMake Error",
        "TorchConfig.cmake",
        "Caffe2Config.cmake",
        "No CMAKE_CUDA_COMPILER could be found",
        "Configuring incomplete, errors occurred",
        "I cannot find the CUDA",
        "Failed to find all libcudart",
        "was not found by CMake",
        "Could NOT find CUDA",
        "No rule to make target '",
    ),
    patterns=(
        (
            "(?P<what>CMake Error at .{1,160}|CMake Error: "
            r".{1,160}|(?:Torch|Caffe2)Config\.cmake|No CMAKE_CUDA_COMPILER could be "
            "found|Configuring incomplete, errors occurred|Your installed Caffe2 version uses "
            r"\w{1,10} but I cannot find|Could NOT find CUDA\w{0,10} \(missing|No rule to "
            "make target '.{1,120}')"
        ),
    ),
    summary="CMake could not configure the build: {what}",
    means=(
        "It does not find libtorch (CMAKE_PREFIX_PATH), the CUDA toolkit that libtorch was "
        "built with, or a compiler."
    ),
    mistaken_for="A fault of the package.",
    check="python -c 'import torch; print(torch.utils.cmake_prefix_path)'",
    fixes=(
        fix(
            "cmake -DCMAKE_PREFIX_PATH=$(python -c 'import torch; "
            "print(torch.utils.cmake_prefix_path)') .."
        ),
        fix(
            "For CUDA set CUDA_HOME and CMAKE_CUDA_COMPILER to the toolkit that "
            "torch.version.cuda names"
        ),
    ),
    guide="guides/toolchain.md#linker-errors",
    next_tool="check_environment",
    matches=(
        recorded("    TorchConfig.cmake", "CMake 3.25"),
        quoted("CMake Error at CMakeLists.txt:3 (find_package):", "words of CMake"),
        quoted(
            "CMake Error: The following variables are used in this project, but they are set "
            "to NOTFOUND.",
            "words of CMake",
        ),
        recorded("-- Configuring incomplete, errors occurred!", "CMake 3.25"),
        quoted(
            "  Your installed Caffe2 version uses CUDA but I cannot find the CUDA libraries.",
            "words of Caffe2Config.cmake",
        ),
    ),
    neighbours=(
        quoted('-- Found CUDA: /usr/local/cuda (found version "13.0")', "an ordinary line"),
    ),
)
