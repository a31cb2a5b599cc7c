"""Serve over HTTP: who may call, from where, and what a stranger learns, which is nothing."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import ipaddress
import json
import os
import re
import resource
import socket
import stat
import struct
import sys
import time
from collections import Counter
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import INVALID_REQUEST, UNSUPPORTED_PROTOCOL_VERSION, ErrorData, JSONRPCError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from aoti_debug.errors import AotiDebugError, WrongUse
from aoti_debug.run.files import read_regular
from aoti_debug.run.kept import private
from aoti_debug.run.share import GOING
from aoti_debug.server import call_id, unanswerable
from aoti_debug.tools.tool import ASKER, OWNER, Asker
from aoti_debug.upload import upload

TOKEN = "AOTI_DEBUG_TOKEN"  # the variable
KEEP_ALIVE_S = 120  # longer than clients keep a connection: who closes first loses no request
HEADERS_S, BODY_S = 10.0, 30.0  # for those of a request to come
GRACE_S = 5  # for requests under way when the server ends
CONNECTIONS, FILES = 256, 4096
SHARES, NEW_S = 4, 3.0  # so many clients have room; a connection for so long, before it asks
AT_ONCE = 6  # connections that are accepted before the event loop turns to others again
WAITING = 1024  # in the kernel
REQUESTS = 24  # of one client at a time
UPLOADS = 2
SESSIONS, ALL_SESSIONS = 24, 96  # of one token or peer, and of all that have none
QUIET_S = 180.0  # since it was used: a session that may be another client's is not ended before
IDLE_S = 30 * 60.0  # after which the SDK ends a session
BODY = 1 << 20
# Bytes of one client's requests, at once and in a second: to parse them holds the event loop.
BURST, RATE = 2 << 20, 1 << 18
COST = 2 << 10  # of a request beside its body
SMALL = 16  # chunks of a body that come at once,
CHUNK = 1 << 13  # and one more for so many bytes
BUSY = 2
SESSION, VERSION = "mcp-session-id", "mcp-protocol-version"
UPLOAD = "/upload"
HANDSHAKES = HANDSHAKE_PROTOCOL_VERSIONS
_SMALL = re.compile(rb"\r\n0{0,20}[0-9A-Fa-f]{1,3}[ \t]{0,20}(?:;[^\r\n]*)?\r\n")
_KEY = b"name of a token of aoti-debug"
LENGTH = 16  # characters of the shortest token
_LINE = re.compile(r"(?:([\w.-]{1,40})[ \t]+)?([\x21-\x7e]{1,500})")
_HELP = "Make one: openssl rand -hex 32. Put it into a file of mode 600, or into AOTI_DEBUG_TOKEN."


class Tokens:
    """The bearer tokens that are let in, by their names; runs belong to the token that started
    them. A token without a name has one that is made of it."""

    def __init__(self, named: Mapping[str, str]) -> None:
        self._digests = {name: _digest(token) for name, token in named.items()}

    def name_of(self, authorization: str) -> str | None:
        """Return the name of the token that a header carries, in the same time for any."""
        scheme, _, given = authorization.partition(" ")
        digest = _digest(given.strip())
        found = [n for n, one in self._digests.items() if hmac.compare_digest(one, digest)]
        return found[0] if found and scheme.lower() == "bearer" else None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def tokens(file: Path | None, environment: MutableMapping[str, str]) -> Tokens | None:
    """Read the tokens: a line of the file is `TOKEN` or `NAME TOKEN`; else $AOTI_DEBUG_TOKEN, which
    no program that is run inherits. Raise WrongUse where the file cannot be read, or by too many,
    or a token is too short."""
    variable = environment.pop(TOKEN, None)
    if file is None:
        given = variable
        return Tokens(_named([given], TOKEN)) if given is not None else None
    try:
        text = read_regular(file, 1 << 20).decode("utf-8")
        mode = file.stat().st_mode
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise WrongUse(f"cannot read the tokens in {file}: {why}", help=_HELP) from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise WrongUse(f"other users can read {file}", help=f"chmod 600 {file}")
    lines = [line.strip() for line in text.splitlines()]
    return Tokens(_named([line for line in lines if line and not line.startswith("#")], str(file)))


def _named(lines: Sequence[str], source: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        match = _LINE.fullmatch(line)
        if match is None or len(match[2]) < LENGTH:
            raise WrongUse(
                f"{source}: token {number} is not {LENGTH} or more characters without spaces",
                help=_HELP,
            )
        name = match[1] or f"#{hashlib.blake2b(match[2].encode(), key=_KEY).hexdigest()[:32]}"
        if name in found:
            raise WrongUse(
                f"{source}: two tokens have the name {name}", help="Give each token its own name."
            )
        if match[2] in found.values():
            raise WrongUse(f"{source}: token {number} is there twice", help=_HELP)
        found[name] = match[2]
    if not found:
        raise WrongUse(f"{source} holds no token", help=_HELP)
    return found


@dataclass(slots=True)
class _Session:
    """A session of the SDK's, as the request that began it came."""

    scope: Scope
    client: str
    requests: int = 0
    open: int = 0
    used: float = field(default_factory=time.monotonic)


class Guard:
    """Let a request through when its token, its Host and its Origin are good, all of it is there,
    and its client has not too many others open."""

    def __init__(self, app: ASGIApp, tokens: Tokens | None, hosts: Sequence[str]) -> None:
        self._app = app
        self._tokens = tokens
        self._hosts = {host.lower() for host in hosts}
        self._open: Counter[str] = Counter()  # requests, by client
        self._sent: dict[str, tuple[float, float]] = {}  # bytes over the rate, and when
        self._sessions: dict[str, _Session] = {}
        self._calls: set[tuple[str, str]] = set()  # sessions and ids, not answered yet

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refused = self._check(scope, headers)
        if refused is not None:
            await refused(scope, receive, send)
        elif scope["method"] == "POST":
            await self._counted(scope, headers, receive, send)
        elif self._tokens is not None and self._is_over(scope[OWNER], 0):
            await _too_fast()(scope, receive, send)
        else:  # a session has one stream at a time
            await self._passed(scope, headers, receive, send)

    async def _counted(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        """Answer a POST, unless its client has too many open."""
        known = self._tokens is not None or headers.get(SESSION) in self._sessions
        client = scope[OWNER] if known else ""
        if scope["path"] == UPLOAD and not known:
            what = "without a token, an upload belongs to a session"
            await _refusal(400, what, f"Send its {SESSION}.")(scope, receive, send)
            return
        kind, most = client, REQUESTS if client else CONNECTIONS
        if scope["path"] == UPLOAD:
            kind, most = f"uploads of {client}", UPLOADS
        if self._open[kind] >= most:
            what = f"{most} requests of yours are not answered yet"
            await _refusal(429, what, "Wait for one of them.")(scope, receive, send)
            return
        self._open[kind] += 1
        try:
            if scope["path"] == UPLOAD:
                await self._app(scope, receive, send)
            else:
                await self._posted(kind, scope, headers, receive, send)
        finally:
            self._open[kind] -= 1
            if not self._open[kind]:
                del self._open[kind]

    async def _posted(
        self, client: str, scope: Scope, headers: Headers, receive: Receive, send: Send
    ) -> None:
        body: bytes | None = None
        with anyio.move_on_after(BODY_S):
            body = await _body(receive)
        if self._is_over(client, len(body or b"")):
            await _too_fast()(scope, receive, send)
            return
        await self._whole(body, scope, headers, receive, send)

    def _is_over(self, client: str, size: int) -> bool:
        """Count a request, unless its client is over its rate; forget who is not."""
        now = time.monotonic()
        left = {who: over - (now - at) * RATE for who, (over, at) in self._sent.items()}
        self._sent = {who: (over, now) for who, over in left.items() if over > 0}
        over = self._sent.get(client, (0.0, now))[0] + COST + size
        if over > BURST:
            return True
        self._sent[client] = over, now
        return False

    async def _whole(
        self, body: bytes | None, scope: Scope, headers: Headers, receive: Receive, send: Send
    ) -> None:
        """Answer a request of which all is there, or None where that took too long."""
        refused: Response | None = None
        if body is None:
            refused = _refusal(408, f"the request took over {BODY_S:g} s", "Send it again.")
        elif len(body) > BODY:
            refused = _refusal(413, f"the request is larger than {BODY >> 20} MiB", "Send less.")
        elif self._tokens is None and headers.get(VERSION, HANDSHAKES[0]) not in HANDSHAKES:
            refused = _without_sessions(headers[VERSION], body)
        elif (answer := unanswerable(body)) is not None:
            refused = _json(400, answer)
        if refused is not None:
            await refused(scope, receive, send)
            return
        left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Message:
            return left.pop() if left else await receive()

        if SESSION not in headers and not await self._make_room(scope):
            what = "there are too many sessions, and all of them are in use"
            await _refusal(429, what, "End one of yours (DELETE).")(scope, receive, send)
            return
        number = call_id(body or b"") if SESSION in headers else None
        if number is None:
            await self._passed(scope, headers, again, send)
            return
        call = headers[SESSION], str(number)  # as the SDK tells calls apart
        if call in self._calls:  # the SDK would answer the last of them alone
            what = f"call {number} of this session is not answered yet"
            await _refusal(409, what, "Use another id.")(scope, receive, send)
            return
        self._calls.add(call)
        try:
            await self._passed(scope, headers, again, send)
        finally:
            self._calls.discard(call)

    async def _passed(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        """Pass a request on, and keep account of its session."""
        session = self._sessions.get(headers.get(SESSION, ""))

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and session is None:
                begun = Headers(raw=message.get("headers", [])).get(SESSION)
                if begun is not None and message["status"] < 300:
                    self._sessions[begun] = _Session(scope, self._client(scope))
            await send(message)

        if session is not None:
            session.requests, session.open = session.requests + 1, session.open + 1
        asker = scope[ASKER] = Asker()

        async def received() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect":  # before the SDK ends the call for it
                asker.leave()
            return message

        try:
            await self._app(scope, received, sent)
        finally:
            asker.leave()
            if session is not None:
                session.open, session.used = session.open - 1, time.monotonic()
                if scope["method"] == "DELETE":
                    self._sessions.pop(headers[SESSION], None)

    def _client(self, scope: Scope) -> str:
        """Return what is known of who asks: the token, or the peer, which may be several."""
        if self._tokens is not None:
            return str(scope[OWNER])
        return f"{scope['client'][0]} {Headers(scope=scope).get('user-agent', '')[:200]}"

    async def _make_room(self, scope: Scope) -> bool:
        """End the session that a client has used least, where it has as many as it may have; tell
        whether there is room. One that may be another client's is ended only when it rests."""
        now = time.monotonic()
        for name, one in tuple(self._sessions.items()):
            if not one.open and one.used + IDLE_S < now:  # the SDK has ended it
                del self._sessions[name]
        own = [(name, s) for name, s in self._sessions.items() if s.client == self._client(scope)]
        others = self._tokens is None and len(self._sessions) >= ALL_SESSIONS
        if len(own) < SESSIONS and not others:
            return True
        idle = [
            (s.used if self._tokens is not None else s.requests, s.used, name)
            for name, s in own
            if not s.open and (self._tokens is not None or _rests(name, s, now))
        ]
        if not idle:
            return False
        name = min(idle)[2]
        ended = self._sessions.pop(name).scope
        raw = [(SESSION.encode(), name.encode()), (b"accept", b"application/json")]
        await self._app({**ended, "method": "DELETE", "headers": raw}, _nothing, _nowhere)
        return True

    def _check(self, scope: Scope, headers: Headers) -> Response | None:
        if "content-length" in headers and "transfer-encoding" in headers:
            # Who passes it on may see another end of the request than this server does.
            return _closing(400)
        owner = _owner(headers.get(SESSION, ""))
        if self._tokens is not None:
            name = self._tokens.name_of(headers.get("authorization", ""))
            if name is None:
                return _closing(401, {"WWW-Authenticate": "Bearer"})
            owner = f"token {name}"
            # The SDK then keeps each session to the token that it was begun with.
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))
        elif _of_another_user(scope):
            return _closing(403)
        scope[OWNER] = owner
        origins = headers.getlist("origin")
        if not self._known(headers.get("host", "")):
            return _closing(421)
        if any(not self._known(origin.partition("://")[2]) for origin in origins):
            return _closing(403)
        return None

    def _known(self, host: str) -> bool:
        """Say whether a name is ours. A page can make its own name mean our address, not ours
        its name."""
        return re.sub(r":\d{1,5}$", "", host).lower() in self._hosts


def _of_another_user(scope: Scope) -> bool:
    """Tell whether another user of this machine has made a connection: without a token, who calls
    runs programs as this process's user. The kernel knows each end of a connection on it."""
    (host, port), (server, own) = scope["client"], scope["server"]
    try:
        ends = _end(host, port), _end(server, own)
        table = Path("/proc/net/tcp6" if ":" in host else "/proc/net/tcp").read_text("ascii")
    except (OSError, ValueError):
        return False
    rows = (line.split() for line in table.splitlines()[1:])
    uids = [int(row[7]) for row in rows if (row[1], row[2]) == ends]
    return bool(uids) and not {os.getuid(), 0} & set(uids)


def _end(host: str, port: int) -> str:
    """Write an address as /proc/net/tcp does: 32-bit words in the machine's byte order."""
    packed = ipaddress.ip_address(host).packed
    words = struct.unpack(f"!{len(packed) // 4}I", packed)
    return "".join(f"{socket.htonl(word):08X}" for word in words) + f":{port:04X}"


def _closing(status: int, headers: Mapping[str, str] | None = None) -> Response:
    """Refuse a request, and keep no connection for whoever sent it."""
    return Response(status_code=status, headers={"Connection": "close", **(headers or {})})


def _rests(name: str, session: _Session, now: float) -> bool:
    return session.used + QUIET_S < now and not GOING[_owner(name)]


def _owner(session: str) -> str:
    return f"session {hashlib.sha256(session.encode()).hexdigest()[:32]}"


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _nowhere(_: Message) -> None:
    return None


async def _body(receive: Receive) -> bytes:
    """Return a request's body, or so much of it that it is too much."""
    parts: list[bytes] = []
    while (message := await receive())["type"] == "http.request":
        parts.append(message.get("body", b""))
        if not message.get("more_body", False) or sum(map(len, parts)) > BODY:
            break
    return b"".join(parts)


def _too_fast() -> Response:
    what = f"your requests came at over {RATE >> 10} KiB a second, {COST >> 10} for each"
    return _refusal(429, what, "Wait some seconds.")


def _refusal(status: int, what: str, instead: str) -> Response:
    error = ErrorData(code=INVALID_REQUEST, message=f"{what}. {instead}")
    return _json(status, JSONRPCError(jsonrpc="2.0", id=None, error=error))


def _json(status: int, answer: JSONRPCError) -> Response:
    return JSONResponse({"id": None, **answer.model_dump(mode="json", exclude_none=True)}, status)


def _without_sessions(version: str, body: bytes) -> Response:
    """Refuse a client that has neither a token nor a session: its runs would be anybody's."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        said = None
    number = said.get("id") if isinstance(said, dict) else None
    known = isinstance(number, int | str) and not isinstance(number, bool)
    error = ErrorData(
        code=UNSUPPORTED_PROTOCOL_VERSION,
        message="Without a token, clients are distinguished by session only. Begin one "
        "(initialize), or serve with a token.",
        data={"supported": list(HANDSHAKES), "requested": version[:40]},
    )
    return _json(400, JSONRPCError(jsonrpc="2.0", id=number if known else None, error=error))


class Connection(H11Protocol):
    """A connection that is ended when its request's headers do not come in time, or when there are
    too many: first those on which nobody was let in for NEW_S, then those of a client that has more
    than its share, then new ones, then those of the client that has most."""

    _late: asyncio.TimerHandle | None = None
    since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()
        known = [c for c in self.connections if c is not self and isinstance(c, Connection)]
        others = [c for c in known if not c.transport.is_closing()]  # which takes a moment
        if len(others) >= most_connections():
            of, new = Counter(c.owner for c in others), time.monotonic() - NEW_S
            share = most_connections() // SHARES

            def turn(c: Connection) -> tuple[int, int, int, float]:
                first = (1 if of[c.owner] > share else 3) if c.is_known else 2 * (c.since > new)
                return first, -of[c.owner], c.is_busy, c.since

            idle = min(others, key=turn)
            (self if idle.is_busy == BUSY else idle)._end("503 Service Unavailable")
        self.since = time.monotonic()

    def data_received(self, data: bytes) -> None:
        # Each takes as long as a large one.
        if len(_SMALL.findall(data)) > SMALL + len(data) // CHUNK:
            self._end("400 Bad Request")
            return
        if self._is_refused:  # to parse the rest would take as long
            self.transport.close()
            return
        super().data_received(data)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._wait(over=True)

    @property
    def is_busy(self) -> int:
        """Return 0 where no request is here, 1 where a part of one, BUSY where all of one."""
        if self.cycle is None or self.cycle.response_complete:
            return 0
        return 1 if self.cycle.more_body else BUSY

    @property
    def _is_refused(self) -> bool:
        """Tell whether there was an answer to a request in chunks of which not all is there."""
        if self.cycle is None or not (self.cycle.response_complete and self.cycle.more_body):
            return False
        return "transfer-encoding" in Headers(raw=list(self.cycle.scope["headers"]))

    @property
    def is_known(self) -> bool:
        return self.owner is not None

    @property
    def owner(self) -> str | None:
        """Return the client whose token was seen last."""
        owner = None if self.cycle is None else self.cycle.scope.get(OWNER)
        return owner if isinstance(owner, str) else None

    def _wait(self, *, over: bool = False) -> None:
        """Give a request that is awaited its time, or take the time back."""
        if over or self.is_busy:
            if self._late is not None:
                self._late.cancel()
                self._late = None
        elif self._late is None:
            self._late = self.loop.call_later(HEADERS_S, self._end, "408 Request Timeout")

    def _end(self, why: str) -> None:
        """Say why, where nothing has been said yet, and end the connection."""
        if self.transport.is_closing():
            return
        if self.is_busy == 0:
            self.transport.write(f"HTTP/1.1 {why}\r\nconnection: close\r\n\r\n".encode())
        self.transport.close()


def most_connections() -> int:
    """Return how many connections there may be, by the files that this process may open."""
    return min(CONNECTIONS, max(16, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4))


def serve_http(
    server: MCPServer[Any],
    address: str,
    *,
    allow_remote: bool = False,
    token_file: Path | None = None,
    names: Sequence[str] = (),
) -> None:
    """Serve at HOST:PORT until told to end. Raise WrongUse where it is not HOST:PORT, or others can
    reach the host and that was not asked for, or there is no token."""
    host, port = _address(address)
    known = tokens(token_file, os.environ)
    if token_file is not None:
        private.append(token_file.resolve())
    if not is_loopback(host):
        if not allow_remote:
            raise WrongUse(
                f"{host} can be reached from other machines, and who reaches it runs programs here",
                help="Serve on 127.0.0.1, or add --allow-remote if that is what you want.",
            )
        if known is None:
            raise WrongUse(
                f"{host} can be reached from other machines: a token is needed", help=_HELP
            )
    app = server.streamable_http_app(
        host=host,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    app.router.routes.append(Route(UPLOAD, upload, methods=["POST"]))
    guarded = Guard(app, known, [*_names_of(host), *names])
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    config = uvicorn.Config(
        guarded,
        host,
        port,
        http=Connection,
        backlog=AT_ONCE,
        log_config=None,
        timeout_graceful_shutdown=GRACE_S,
        log_level="warning",
        server_header=False,
        date_header=False,
        timeout_keep_alive=KEEP_ALIVE_S,
    )
    anyio.run(_Announced(config).serve, [_bound(host, port)])


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        why = str(error.strerror).partition(" (while")[0].lower()
        raise AotiDebugError(
            f"cannot serve at {host}:{port}: {why}", help="Choose another address."
        ) from error


class _Announced(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(WAITING)  # asyncio lets as many wait as it accepts at once
        host = self.config.host
        shown = f"[{host}]" if ":" in host else host
        sys.stderr.write(f"serving MCP at http://{shown}:{self.config.port}/mcp\n")
        sys.stderr.flush()


def _names_of(host: str) -> list[str]:
    """Return what a client may call this machine, as a Host header writes it."""
    names = ["localhost", "127.0.0.1", "[::1]", f"[{host}]" if ":" in host else host]
    return names if is_loopback(host) else [*names, socket.gethostname(), socket.getfqdn()]


def _address(http: str) -> tuple[str, int]:
    host, colon, port = http.rpartition(":")
    if not colon or not port.isdecimal() or not 0 < int(port) < 65536:
        raise WrongUse(f"{http!r} is not HOST:PORT", help="For example 127.0.0.1:8765.")
    return host.strip("[]") or "127.0.0.1", int(port)


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
