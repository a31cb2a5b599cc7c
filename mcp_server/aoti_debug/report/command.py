"""Say the next step as a command line."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from aoti_debug.model import Next

_COMMANDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    # tool: command, arguments that it takes by position
    "check_environment": ("environment", ()),
    "diagnose_log": ("diagnose", ("path",)),
    "inspect_package": ("inspect", ("package",)),
    "run_stage": ("run", ("script",)),
    "triage": ("triage", ("script",)),
    "explain_kernel": ("explain", ("run", "kernel")),
    "minify": ("minify", ("run",)),
    "verify_fix": ("verify", ("script",)),
    "read_artifact": ("artifact", ("run", "name")),
}
_PLACEHOLDERS = {"triage": "SCRIPT", "run_stage": "SCRIPT", "verify_fix": "SCRIPT"}
_OPTIONS = {"timeout_s": "--timeout", "run": "--against"}
_ONLY_OVER_MCP = frozenset({"wait_s", "text"})


def command_line(step: Next) -> str:
    """Return the command that does what the tool call does; the tool's name if there is none."""
    if step.tool not in _COMMANDS:
        return step.tool
    command, positions = _COMMANDS[step.tool]
    arguments = {key: value for key, value in step.arguments.items() if key not in _ONLY_OVER_MCP}
    words = ["aoti-debug", command]
    words += [_word(arguments.pop(name)) for name in positions if name in arguments]
    if len(words) == 2 and not {"command", "module"} & arguments.keys():
        words += [_PLACEHOLDERS[step.tool]] if step.tool in _PLACEHOLDERS else []
    program = arguments.pop("command", ())
    rest = arguments.pop("args", ())
    for name, value in arguments.items():
        words += _option(name, value)
    if program:
        words += ["--command", *map(_word, program)]
    elif rest:
        words += ["--"]
    return " ".join([*words, *map(_word, rest)])


def _option(name: str, value: Any) -> list[str]:
    option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
    if isinstance(value, Mapping):
        return [part for key, item in value.items() for part in (option, _word(f"{key}={item}"))]
    return [option, _word(value)]


def _word(value: Any) -> str:
    return shlex.quote(str(value))
