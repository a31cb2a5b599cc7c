from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="distributed_error",
    family="P",
    phase="none",
    category="user_code",
    weight=46,
    confidence="possible",
    anchors=(
        "ncclUnhandled",
        "ncclSystemError",
        "ncclInternalError",
        "ncclInvalid",
        "ncclRemoteError",
        "NCCL error in: ",
        "NCCL Error ",
        "NCCL communicator was aborted",
        "DistBackendError",
        "DistNetworkError",
        "DistStoreError",
        "torch.distributed.elastic.multiprocessing.errors",
        "RendezvousConnectionError",
        "The server socket has failed to listen",
        "connectFullMesh failed",
        "Default process group has not been initialized",
        "Connection closed by peer [",
        "environment variable MASTER_ADDR expected",
        "Duplicate GPU detected",
    ),
    patterns=(
        (
            r"\b(?P<what>nccl(?:Unhandled\w{1,20}|SystemError|InternalError|Invalid(?:Usage"
            r"|Argument)|RemoteError)|NCCL error in: \S{1,120}"
            r"|NCCL Error \d{1,20}: .{1,60}|NCCL "
            r"communicator was aborted|Dist(?:Backend|Network|Store)Error(?:: .{1,120})?"
            r"|Duplicate GPU detected)"
        ),
        (
            r"(?P<what>torch\.distributed\.elastic\.multiprocessing\.errors\.\w{1,200}"
            "|RendezvousConnectionError|The server socket has failed to listen"
            "|connectFullMesh failed|Default process group has not been initialized"
            r"|Connection closed by peer \[|environment variable MASTER_ADDR expected)"
        ),
    ),
    summary="Processes that work together failed at talking to each other: {what}",
    means=(
        "NCCL, Gloo or torchrun reports it. It is a failure of the network, of the set-up of "
        "ranks, or the echo of another rank that died; AOTInductor has no part in it."
    ),
    mistaken_for="A failure of the compiled model",
    check="The first rank that failed, and NCCL_DEBUG=WARN",
    fixes=(
        fix("Look at the log of the rank that failed first; one GPU per rank"),
        fix("Run the model alone in one process"),
    ),
    guide="guides/debugging-tools.md#an-unknown-failure",
    next_tool="check_environment",
    matches=(
        quoted(
            "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/"
            "ProcessGroupNCCL.cpp:1, unhandled system error",
            "common form in public threads",
        ),
        quoted(
            "ncclSystemError: System call (e.g. socket, malloc) or external library call "
            "failed or device error.",
            "common form in public threads",
        ),
        recorded(
            "ValueError: Default process group has not been initialized, please make sure to "
            "call init_process_group.",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
            "printed by torchrun",
        ),
    ),
    neighbours=(
        quoted("NCCL INFO Bootstrap : Using eth0:10.0.0.2<0>", "harmless"),
        quoted("NCCL WARN Cuda failure 1 'invalid argument' ignored during shutdown"),
    ),
)
