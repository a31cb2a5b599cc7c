"""What can go wrong by wrong use or on this machine, each with what to do instead."""

from __future__ import annotations

from collections.abc import Mapping


class AotiDebugError(Exception):
    """What was wrong (the message) and what to do instead: `help`, and `command_help` for the
    command line, whose `exit_status` is 2 for wrong use, 3 for what could not be done."""

    help = ""
    command_help = ""
    exit_status = 3

    def __init__(self, message: str, *, help: str | None = None) -> None:
        super().__init__(message.replace("\0", "\\0"))
        if help is not None:
            self.help = self.command_help = help

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message}. {self.help}" if self.help else message


class WrongUse(AotiDebugError):
    """An argument cannot be used as it is."""

    exit_status = 2


class TargetNotFound(WrongUse):
    help = "Give the path of an existing Python script, a module, or a command."


class UnknownStage(WrongUse):
    pass


class UnknownRun(WrongUse):
    help = "Use the id that triage or run_stage answered."
    command_help = "`aoti-debug runs` lists the runs that are kept."


class UnknownArtifact(WrongUse):
    help = "Use a name from the run's list of artifacts."


class TooLarge(WrongUse):
    """What was sent is more than is taken."""


class UnreadableInput(WrongUse):
    help = "Give a readable file, or pass the text itself."
    command_help = "Give a readable file, or - and the text on standard input."


def refused_by_system(error: OSError) -> UnreadableInput | None:
    """Return what the system's refusal to open a path means to who named it; None for others."""
    if error.filename is None:
        return None
    named = str(error.filename)
    shown = named if len(named) <= 200 else f"{named[:150]}…"
    return UnreadableInput(
        f"cannot use {shown}: {error.strerror}",
        help="Give a path that exists and that you may enter.",
    )


class NoInterpreter(AotiDebugError):
    help = "Name the interpreter that has your torch with --python (MCP: `python`)."


class RunDirectoryError(AotiDebugError):
    help = "Point AOTI_DEBUG_HOME to a writable directory with free space."


class DeviceBusy(AotiDebugError):
    help = "Wait for that run, cancel it, or choose another device with CUDA_VISIBLE_DEVICES."


class CannotStart(AotiDebugError):
    help = "Check that the program exists, is executable and was built for this machine."


class UnknownKernel(WrongUse):
    pass


def in_words(error: Exception) -> str:
    """Say what an error is: ours in its own words, others with their type."""
    return str(error) if isinstance(error, AotiDebugError) else f"{type(error).__name__}: {error}"


def document(error: Exception) -> dict[str, str]:
    """Return an error as another process tells it."""
    message, help = in_words(error), ""
    if isinstance(error, AotiDebugError):
        message, help = str(error.args[0]), error.help
    return {"error": type(error).__name__, "message": message, "help": help}


def told(said: Mapping[str, object]) -> AotiDebugError:
    """Return the error of another process's document."""
    kind = globals().get(str(said["error"]))
    if not isinstance(kind, type) or not issubclass(kind, AotiDebugError):
        kind = AotiDebugError
    return kind(str(said["message"]), help=str(said["help"]))
