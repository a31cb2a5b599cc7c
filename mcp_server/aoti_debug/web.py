"""Serve over HTTP: who may call, from where, and what a stranger learns, which is nothing."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import os
import re
import socket
import stat
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from aoti_debug.errors import WrongUse
from aoti_debug.run.files import read_regular
from aoti_debug.tools.waiting import OWNER
from aoti_debug.upload import upload

TOKEN = "AOTI_DEBUG_TOKEN"  # the variable
KEEP_ALIVE_S = 120  # longer than clients keep a connection: who closes first loses no request
LENGTH = 16  # characters of the shortest token
_LINE = re.compile(r"(?:([\w.-]{1,40})[ \t]+)?([\x21-\x7e]{1,500})")
_HELP = "Make one: openssl rand -hex 32. Put it into a file of mode 600, or into AOTI_DEBUG_TOKEN."


class Tokens:
    """The bearer tokens that are let in; runs belong to the token that started them."""

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


def tokens(file: Path | None, environment: Mapping[str, str]) -> Tokens | None:
    """Read the tokens: a line of the file is `TOKEN` or `NAME TOKEN`; else $AOTI_DEBUG_TOKEN.

    Raises:
        WrongUse: the file cannot be read, or by too many; or a token is too short.
    """
    if file is None:
        given = environment.get(TOKEN)
        return Tokens(_named([given], TOKEN)) if given is not None else None
    try:
        text = read_regular(file, 1 << 20).decode("utf-8")
        mode = file.stat().st_mode
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise WrongUse(f"cannot read the tokens in {file}: {why}", help=_HELP) from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise WrongUse(f"others than you may read {file}", help=f"chmod 600 {file}")
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
        name = match[1] or str(number)
        if name in found:
            raise WrongUse(f"{source}: two tokens have the name {name}", help="Name them apart.")
        found[name] = match[2]
    if not found:
        raise WrongUse(f"{source} holds no token", help=_HELP)
    return found


class Guard:
    """Let a request through when its token, its Host and its Origin are good."""

    def __init__(self, app: ASGIApp, tokens: Tokens | None, hosts: Sequence[str]) -> None:
        self._app = app
        self._tokens = tokens
        self._hosts = {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        refused = self._check(scope, Headers(scope=scope))
        await (refused or self._app)(scope, receive, send)

    def _check(self, scope: Scope, headers: Headers) -> Response | None:
        session = headers.get("mcp-session-id", "")
        owner = f"session {hashlib.sha256(session.encode()).hexdigest()[:32]}"
        if self._tokens is not None:
            name = self._tokens.name_of(headers.get("authorization", ""))
            if name is None:
                return Response(status_code=401, headers={"WWW-Authenticate": "Bearer"})
            owner = f"token {name}"
            # The SDK then keeps each session to the token that it was begun with.
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))
        scope[OWNER] = owner
        origins = headers.getlist("origin")
        if not self._known(headers.get("host", "")):
            return Response(status_code=421)
        if any(not self._known(origin.partition("://")[2]) for origin in origins):
            return Response(status_code=403)
        return None

    def _known(self, host: str) -> bool:
        """Say whether a name is ours. A page can make its own name mean our address, not ours
        its name."""
        return re.sub(r":\d{1,5}$", "", host).lower() in self._hosts


def serve_http(
    server: MCPServer[Any],
    address: str,
    *,
    allow_remote: bool = False,
    token_file: Path | None = None,
    names: Sequence[str] = (),
) -> None:
    """Serve at HOST:PORT until told to end.

    Raises:
        WrongUse: not HOST:PORT; or others can reach the host, and that was not asked for, or
            there is no token.
    """
    host, port = _address(address)
    known = tokens(token_file, os.environ)
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
    app.router.routes.append(Route("/upload", upload, methods=["POST"]))
    guarded = Guard(app, known, [*_names_of(host), *names])
    config = uvicorn.Config(
        guarded,
        host,
        port,
        log_level="warning",
        server_header=False,
        date_header=False,
        timeout_keep_alive=KEEP_ALIVE_S,
    )
    anyio.run(_Announced(config).serve)


class _Announced(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
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
