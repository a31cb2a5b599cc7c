"""Build the arguments of a program of the probe: the files of a call, and what they need."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from aoti_debug.run.target import Target
from aoti_debug.triage.captured_call import Captured


def call_arguments(call: Captured, target: Target, imports: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the inputs, package and exported program of a call, with all that they need."""
    found: list[str] = []
    if call.inputs is not None:
        found += ["--inputs", str(call.inputs)]
    if call.package is not None:
        found += ["--package", str(call.package)]
        found += ["--model", call.call.model] if call.call is not None else []
    if call.device_index is not None:
        found += ["--device-index", str(call.device_index)]
    if (program := call.exported or call.graph) is not None:
        found += ["--exported", str(program)]
        found += ["--weightless"] if call.exported is None else []
    return (*found, *context_arguments(call, target, imports))


def context_arguments(
    call: Captured, target: Target, imports: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the loaded weights and what defines the custom operators; the user names `imports`."""
    given: dict[str, Iterable[str | Path]] = {
        "--constants": call.constants,
        "--import": dict.fromkeys((*imports, *call.modules)),
        "--library": call.libraries,
        "--import-path": import_paths(target, call.folders),
    }
    found = [word for option, of in given.items() for one in of for word in (option, str(one))]
    if call.script is not None:
        own = own_arguments(target.argv, call.script)
        found += ["--script", str(target.cwd / call.script), "--script-args", json.dumps(own)]
    return tuple(found)


def import_paths(target: Target, folders: Sequence[Path] = ()) -> list[Path]:
    """Return the directories of the target's modules: of its script, its operators, its work."""
    scripts = (target.cwd / word for word in target.argv if word.endswith(".py"))
    beside = next((script.resolve().parent for script in scripts if script.is_file()), None)
    return list(dict.fromkeys([*([beside] if beside else []), *folders, target.cwd]))


def own_arguments(argv: Sequence[str], script: Path) -> list[str]:
    """Return the words of a command that are the script's own, without the interpreter's."""
    words = list(argv)
    at = next((n for n, word in enumerate(words) if Path(word).name == script.name), None)
    if at is None and "-m" in words[1:]:
        at = words.index("-m", 1) + 1
    return words[at + 1 :] if at is not None else []
