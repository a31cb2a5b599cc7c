"""A model that plays a part: an HTTP server on loopback for real clients, offline.

It speaks as much of Anthropic's Messages and OpenAI's Responses as Claude Code and Codex need. The
part: read the skill, ask the server's `diagnose_log`, hand an answer in by a shell command, end. What
clients have sent is kept in `seen`, so that a test can say what reached the model.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
LOG = "RuntimeError: Error in dlopen: model.so: undefined symbol: aoti_torch_cpu_convolution"
SKILL = "cat .*/skills/aoti-debug/SKILL.md"


PATIENCE = 60  # turns that the model waits for a server that is still starting


@dataclass
class Part:
    """What the model does: `submit` is the shell command that hands the answer in."""

    submit: str
    seen: list[Json] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)  # names of the tools that it has called
    step: int = 0

    def next(self, tools: Mapping[str, Json]) -> tuple[str, Json] | None:
        """Return the next tool to call, and its arguments; None at the end."""
        server = next((name for name in tools if name.endswith("diagnose_log")), None)
        if self.step == 0:
            call = ("Skill", {"skill": "aoti-debug"}) if "Skill" in tools else shell(tools, SKILL)
        elif self.step == 1 and server is not None:
            call = (server, {"text": LOG})
        elif self.step == 1 and len(self.calls) < PATIENCE:
            self.step -= 1
            waits = "WaitForMcpServers"
            call = (waits, {}) if waits in tools else shell(tools, "sleep 1")
        elif self.step == 2:
            call = shell(tools, self.submit)
        else:
            return None
        self.step += 1
        self.calls.append(call[0])
        return call


def shell(tools: Mapping[str, Json], command: str) -> tuple[str, Json]:
    name = next(one for one in ("Bash", "exec_command", "shell_command", "shell") if one in tools)
    wanted: dict[str, Json] = {
        "exec_command": {"cmd": command},
        "shell": {"command": ["bash", "-c", command]},
    }
    return name, wanted.get(name, {"command": command})


@contextmanager
def serving(part: Part) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self._answer(b"", "text/plain")

        def do_GET(self) -> None:
            self._answer(json.dumps({"data": [], "models": []}).encode())

        def do_POST(self) -> None:
            asked = json.loads(
                self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}"
            )
            if self.path.partition("?")[0].endswith("/messages"):
                part.seen.append(asked)
                self._events(messages(part, asked))
            elif self.path.partition("?")[0].endswith("/responses"):
                part.seen.append(asked)
                self._events(responses(part, asked))
            else:
                self._answer(b'{"input_tokens": 1}')

        def _events(self, events: Iterator[Json]) -> None:
            text = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)
            self._answer(text.encode(), "text/event-stream")

        def _answer(self, body: bytes, kind: str = "application/json") -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def messages(part: Part, asked: Json) -> Iterator[Json]:
    tools = {one["name"]: one for one in asked.get("tools") or []}
    done = len(part.calls)
    call = part.next(tools) if tools else None
    usage = {"input_tokens": 1, "output_tokens": 1}
    start: Json = {"id": f"msg_{done}", "type": "message", "role": "assistant", "content": []}
    start |= {"model": asked.get("model"), "stop_reason": None, "stop_sequence": None}
    yield {"type": "message_start", "message": {**start, "usage": usage}}
    if call is not None:
        block: Json = {"type": "tool_use", "id": f"toolu_{done}", "name": call[0], "input": {}}
        delta: Json = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": "Done."}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    stopped = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": stopped, "usage": usage}
    yield {"type": "message_stop"}


def responses(part: Part, asked: Json) -> Iterator[Json]:
    tools: dict[str, Json] = {}
    space: dict[str, str] = {}
    for one in asked.get("tools") or []:
        for tool in one.get("tools") or [one]:
            tools[tool.get("name", "")] = tool
            if "tools" in one:
                space[tool.get("name", "")] = one["name"]
    done = len(part.calls)
    call = part.next(tools) if tools else None
    yield {"type": "response.created", "response": {"id": f"resp_{done}"}}
    if call is not None:
        item: Json = {"type": "function_call", "id": f"fc_{done}", "call_id": f"call_{done}"}
        item |= {"name": call[0], "arguments": json.dumps(call[1])}
        if call[0] in space:
            item["namespace"] = space[call[0]]
    else:
        said = [{"type": "output_text", "text": "Done.", "annotations": []}]
        item = {"type": "message", "id": f"msg_{done}", "role": "assistant", "content": said}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    usage: Json = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    usage["input_tokens_details"] = {"cached_tokens": 0}
    usage["output_tokens_details"] = {"reasoning_tokens": 0}
    yield {"type": "response.completed", "response": {"id": f"resp_{done}", "usage": usage}}
