"""Turns at what there is little of: every client once before any client twice."""

from __future__ import annotations

import contextlib
from collections import Counter, deque
from collections.abc import AsyncIterator, Hashable
from dataclasses import dataclass

import anyio


class Turns:
    """Turns at some places; a client may have `own`, a second only while half are free."""

    def __init__(self, places: int = 1, own: int = 1) -> None:
        self._places, self._own = places, own
        self._held: Counter[Hashable] = Counter()
        self._waiting: dict[Hashable, deque[anyio.Event]] = {}  # who is next comes first

    @property
    def taken(self) -> bool:
        return self._held.total() >= self._places

    @property
    def wanted(self) -> bool:
        return bool(self._waiting)

    async def wait(self, client: Hashable) -> None:
        """Wait for the client's turn, which it has until it is given back."""
        if not self.take_now(client):
            await self._wait(client)

    @contextlib.asynccontextmanager
    async def take(self, client: Hashable) -> AsyncIterator[Turn]:
        """Wait for the client's turn, and have it until the body ends."""
        await self.wait(client)
        turn = Turn(self, client)
        try:
            yield turn
        finally:
            turn.place.give(client)

    def take_now(self, client: Hashable) -> bool:
        held = self._held[client]
        few = held < self._own and self._held.total() < self._places // 2
        if self.taken or (held and not few):
            return False
        self._held[client] += 1
        return True

    def give(self, client: Hashable) -> None:
        """Give a place back; its client goes behind all that wait, those with a place last."""
        self._held[client] -= 1
        self._held += Counter()  # without those that have none
        if client in self._waiting:
            self._waiting[client] = self._waiting.pop(client)
        for next_one in sorted(self._waiting, key=lambda other: self._held[other]):
            if self.take_now(next_one):
                turns = self._waiting.pop(next_one)
                turns.popleft().set()
                if turns:
                    self._waiting[next_one] = turns  # behind the others

    async def _wait(self, client: Hashable) -> None:
        turn = anyio.Event()
        self._waiting.setdefault(client, deque()).append(turn)
        try:
            await turn.wait()
        except BaseException:
            if turn.is_set():
                self.give(client)
            else:
                self._waiting[client].remove(turn)
                if not self._waiting[client]:
                    del self._waiting[client]
            raise


@dataclass(slots=True)
class Turn:
    place: Turns
    client: Hashable

    def move(self, to: Turns) -> bool:
        """Have a place there instead, if there is one now."""
        if not to.take_now(self.client):
            return False
        self.place.give(self.client)
        self.place = to
        return True
