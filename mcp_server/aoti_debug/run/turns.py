"""Whose turn it is: one at a time, and every client once before any client twice."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import AsyncIterator, Hashable

import anyio


class Turns:
    """Turns at one thing that cannot be shared."""

    def __init__(self) -> None:
        self._taken = False
        self._waiting: dict[Hashable, deque[anyio.Event]] = {}  # who is next comes first

    @contextlib.asynccontextmanager
    async def take(self, client: Hashable) -> AsyncIterator[None]:
        """Wait for the client's turn, and have it until the body ends."""
        if self._taken:
            await self._wait(client)
        self._taken = True
        try:
            yield
        finally:
            self._give()

    async def _wait(self, client: Hashable) -> None:
        turn = anyio.Event()
        self._waiting.setdefault(client, deque()).append(turn)
        try:
            await turn.wait()
        except BaseException:
            if turn.is_set():
                self._give()
            else:
                self._leave(client, turn)
            raise

    def _leave(self, client: Hashable, turn: anyio.Event) -> None:
        self._waiting[client].remove(turn)
        if not self._waiting[client]:
            del self._waiting[client]

    def _give(self) -> None:
        self._taken = bool(self._waiting)
        if self._waiting:
            client, turns = next(iter(self._waiting.items()))
            del self._waiting[client]
            turns.popleft().set()
            if turns:
                self._waiting[client] = turns  # behind the others


class TurnsByName:
    """Turns at each of several things, by name."""

    def __init__(self) -> None:
        self._turns: dict[Hashable, Turns] = {}

    def at(self, name: Hashable) -> Turns:
        return self._turns.setdefault(name, Turns())
