"""What all tools share: the small schema, the four annotations, errors that say how to go on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_type_hints

import anyio
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field, ValidationError

from aoti_debug import api
from aoti_debug.errors import AotiDebugError, WrongUse, refused_by_system
from aoti_debug.facts.stages import STAGES
from aoti_debug.plain import clean, plain

_log = logging.getLogger(__name__)
_SHOWN = 300  # characters of an unexpected error

Call: TypeAlias = Context[Any, Any]
# In the scope of an HTTP request: who waits for the answer, and whose runs it may see.
ASKER, OWNER = "aoti_debug.asker", "aoti_debug.owner"


class Asker:
    """Who waits for the answer to an HTTP request, up to the end of the connection."""

    def __init__(self) -> None:
        self.left = False
        self._calls: set[anyio.CancelScope] = set()

    @contextmanager
    def waits(self) -> Iterator[None]:
        """Cancel the body when nobody waits any more."""
        with anyio.CancelScope() as call:
            self._calls.add(call)
            if self.left:
                call.cancel()
            try:
                yield
            finally:
                self._calls.discard(call)

    def leave(self) -> None:
        self.left = True
        for call in self._calls:
            call.cancel()


def owner_of(call: Call) -> str | None:
    """Return whose runs a call may see; None for all (over stdio there is one client)."""
    request = call.request_context.request
    return None if request is None else str(request.scope.get(OWNER, ""))


def asker_of(context: Call) -> Asker:
    """Return who asked; over stdio nobody leaves, unless the server ends."""
    request = context.request_context.request
    found = None if request is None else request.scope.get(ASKER)
    return found if isinstance(found, Asker) else Asker()


class AotiTool(Tool):
    """A tool whose every failure reaches the agent as text that says what to do instead."""

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """Return the answer's schema; made when it is asked for, as it takes long."""
        model: type[BaseModel] = self.fn_metadata.output_model
        plain: dict[str, Any] = _plain(model.model_json_schema())
        return plain

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        try:
            given = _given(arguments, self.parameters)
            with asker_of(context).waits(), api.going(owner_of(context), short=True):
                return await super().run(given, context, convert_result)
            raise ToolError("its client has left")
        except UnexpectedToolError as error:
            raise ToolError(_explain(error.__cause__ or error, self.name)) from error.__cause__
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(_wrong_arguments(error.__cause__, self.parameters)) from None
            raise


def tool(
    function: Callable[..., Any],
    title: str,
    *,
    read_only: bool = True,
    destructive: bool = False,
    idempotent: bool = True,
    open_world: bool = False,
) -> AotiTool:
    """Make a tool of a function, one that only looks unless said otherwise; its docstring is what
    an agent reads to choose it."""
    made = AotiTool.from_function(
        function,
        title=title,
        description=" ".join((function.__doc__ or "").split()),
        structured_output=False,  # what that would do is done below, without the schema
        annotations=ToolAnnotations(
            title=title,
            read_only_hint=read_only,
            destructive_hint=destructive,
            idempotent_hint=idempotent,
            open_world_hint=open_world,
        ),
    )
    assert isinstance(made, AotiTool)
    made.parameters = {**_plain(made.parameters), "additionalProperties": False}
    returned = get_type_hints(function, include_extras=True)["return"]
    made.fn_metadata.output_model = returned.__metadata__[0]  # Annotated[CallToolResult, Model]
    made.fn_metadata.output_schema = {"type": "object"}  # so that answers are validated
    return made


def _explain(error: BaseException, tool_name: str) -> str:
    if isinstance(error, OSError):
        error = refused_by_system(error) or error
    if isinstance(error, AotiDebugError):
        return clean(str(error))
    _log.error("%s failed unexpectedly", tool_name, exc_info=error)
    text = plain(" ".join(str(error).split()), _SHOWN)
    return (
        f"{type(error).__name__}: {text}. This is a fault of aoti-debug, not of your call; "
        "the traceback is in the server's log (its standard error)."
    )


ITEMS = 10_000  # of an argument
WRONG_SHOWN = 5


def _given(arguments: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments without nulls for what is optional; raise ToolError for an unknown
    argument, which the tool would ignore."""
    known, required = schema.get("properties", {}), schema.get("required", [])
    if unknown := [f"`{plain(name, 80)}`" for name in arguments if name not in known]:
        plural = "s" if len(unknown) > 1 else ""
        raise ToolError(f"unknown argument{plural} {', '.join(unknown[:5])}. {_takes(schema)}")
    for name, value in arguments.items():  # each item that is wrong costs a kilobyte
        if isinstance(value, (list, dict)) and len(value) > ITEMS:
            raise ToolError(f"`{name}` has {len(value):,} items; it may have {ITEMS:,}")
    return {n: value for n, value in arguments.items() if value is not None or n in required}


def _wrong_arguments(error: ValidationError, schema: dict[str, Any]) -> str:
    wrong = []
    for detail in error.errors(include_url=False, include_context=False)[:WRONG_SHOWN]:
        place = ".".join(map(str, detail["loc"]))
        got = "" if detail["type"] == "missing" else f" (got {plain(str(detail['input']), 80)!r})"
        said = detail["msg"].replace("valid tuple", "valid list")  # what JSON calls it
        wrong.append(f"`{place}`: {said}{got}")
    return clean(f"wrong arguments: {'; '.join(wrong)}. {_takes(schema)}")


def _takes(schema: dict[str, Any]) -> str:
    return f"This tool takes: {', '.join(schema.get('properties', {})) or 'nothing'}."


def _plain(schema: Any) -> Any:
    """Drop titles and nulls: answers hold no null, and every word of a schema is paid for."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    choices = schema.get("anyOf")
    if isinstance(choices, list) and {"type": "null"} in choices:
        some = [choice for choice in choices if choice != {"type": "null"}]
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        schema = {**rest, **(some[0] if len(some) == 1 else {"anyOf": some})}
    return {
        key: {name: _plain(item) for name, item in value.items()}
        if key in ("properties", "$defs")
        else _plain(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
        and not (key == "default" and value in (None, "", [], {}))
    }


MAX_WAIT_S = 240  # some clients end any call at 300 s, whatever progress it reports

Script = Annotated[str, Field(description="absolute path of the Python script")]
Module = Annotated[str, Field(description="instead of script: as in `python -m`; needs cwd")]
Command = Annotated[tuple[str, ...], Field(description="instead of script: any program")]
Args = Annotated[tuple[str, ...], Field(description="its arguments")]
StageName = Annotated[str, Field(json_schema_extra={"enum": list(STAGES)})]
KernelFilter = Annotated[str, Field(description="stage values: only these, comma-separated")]
Python = Annotated[str, Field(description="interpreter with torch")]
Env = Annotated[dict[str, str] | None, Field(description="variables to add")]
Cwd = Annotated[str, Field(description="directory to run in; default: the script's")]
TimeoutS = Annotated[int, Field(ge=1, le=86_400)]
WatchForS = Annotated[int, Field(ge=0, le=86_400, description="of a server: diagnose it then")]
WaitS = Annotated[int, Field(ge=0, le=MAX_WAIT_S)]
Run = Annotated[str, Field(description="run id, r-…")]


def request(
    script: str,
    module: str,
    command: tuple[str, ...],
    args: tuple[str, ...],
    env: Mapping[str, str] | None,
    cwd: str,
    owner: str | None,
    **wanted: Any,
) -> api.Request:
    """Resolve what is to be run, with absolute paths: a server has no working directory of the
    client's. Blocks. Raise WrongUse unless there is exactly one target and its path is absolute."""
    if sum(map(bool, (script, module, command))) != 1:
        raise WrongUse(
            "nothing to run" if not (script or module or command) else "several targets",
            help="Give exactly one of script, module and command.",
        )
    directory = absolute("cwd", cwd, owner) if cwd else None
    if directory is None and module:
        raise WrongUse("module without cwd", help="Give cwd, where `python -m` would be started.")
    if directory is None and script:
        directory = _parent(absolute("script", script, owner))
    elif directory is None and command and "/" in command[0]:
        directory = _parent(absolute("command", command[0], owner))
    elif directory is not None and (named := script or "".join(command[:1])):
        api.within(directory / api.expanded(named), owner)
    wanted["python"] = interpreter(wanted.get("python") or "", owner, has_cwd=bool(cwd))
    return api.request(
        script=script or None,
        module=module or None,
        command=command or None,
        args=args,
        env=dict(env or {}),
        cwd=directory,
        **wanted,
    )


def absolute(name: str, value: str, owner: str | None = None) -> Path:
    """Return the absolute path; `~` is the user's home. Raise WrongUse where it is relative,
    UnreadableInput where it leads into files of another client."""
    path = api.expanded(value)
    if not path.is_absolute():
        raise WrongUse(
            f"{name} is not an absolute path: {plain(value, 80)!r}",
            help="The server runs in another directory: give the absolute path"
            + (", or cwd." if name in ("script", "command", "python") else "."),
        )
    api.within(path, owner)
    return path


def is_run(what: str) -> bool:
    """Tell a run from a path, which is absolute."""
    return what.startswith("r-") and "/" not in what


def interpreter(python: str, owner: str | None = None, *, has_cwd: bool = False) -> str | None:
    """Return what names an interpreter, or None; raise WrongUse for a relative path without cwd."""
    if "/" in python and not has_cwd:
        return str(absolute("python", python, owner))
    return python or None


def _parent(path: Path) -> Path | None:
    """Return the directory of a target; None where a target cannot be, which is then said."""
    return path.parent if path.parent.is_dir() else None
