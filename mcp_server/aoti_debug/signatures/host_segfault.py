from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="host_segfault",
    family="I",
    phase="run",
    category="host_segfault",
    role="symptom",
    anchors=(
        "Segmentation fault",
        "SIGSEGV",
        "segmentation fault",
        "exit code 139",
        "exit status 139",
        "Caught signal 11",
        "EXC_BAD_ACCESS",
        "Bus error",
        "signal 11",
        "exitcode: -11",
        "dereferencing Unified Memory from the host",
    ),
    patterns=(
        (
            "Fatal Python error: (?:Segmentation fault|Bus error)|"
            r"[Ss]egmentation fault(?! in tinygemm)|\bSIGSEGV\b|exit (?:code|"
            r"status)\s*:?\s*139|Caught signal 11|EXC_BAD_ACCESS|Bus error|signal 11\b|"
            "exitcode: -11|"
            "may have hit an error when dereferencing Unified Memory from the host"
        ),
    ),
    summary="The process died on an invalid memory access of the host",
    means=(
        "Generated CPU code, the loader or a native op touched memory it does not own. "
        "Usual reasons: a CUDA pointer in a CPU package, missing constants, violated sizes, "
        "a mix of C++ ABIs."
    ),
    mistaken_for="An out-of-memory kill (exit 137)",
    check=(
        "AOTI_RUNTIME_CHECK_INPUTS=1 on the same call; then the native stack (gdb batch or core)"
    ),
    fixes=(
        Fix(
            what=(
                "Check device, dtype and sizes of the inputs; get the wrapper.cpp line from "
                "a native stack"
            )
        ),
    ),
    guide="guides/host-crash.md#segfault-in-the-model",
    next_tool="triage",
    references=(
        "pytorch/pytorch#124034",
        "pytorch/torchchat#1420",
        "mir-group/nequip#563",
    ),
    matches=(
        Sample("Fatal Python error: Segmentation fault", "recorded", "CPython 3.11 faulthandler"),
        Sample(
            (
                "=========     The application may have hit an error when dereferencing "
                "Unified Memory from the host. Please rerun the application under cuda-gdb "
                "or a host debugger to catch host side errors."
            ),
            "recorded",
            "compute-sanitizer on the H200, the process ended with SIGSEGV",
        ),
        Sample(
            'Thread 1 "python3" received signal SIGSEGV, Segmentation fault.', "recorded", "gdb"
        ),
        Sample(
            (
                "bash: line 1:  8490 Segmentation fault      python -c 'import ctypes; "
                "ctypes.string_at(0)'"
            ),
            "recorded",
        ),
    ),
    neighbours=(
        Sample("Fatal Python error: Aborted", "recorded"),
        Sample("Killed", "quoted", "memory, not an access"),
    ),
)
