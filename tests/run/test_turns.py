"""Clients take turns: one that asks often does not keep another waiting."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest
from aoti_debug.run.turns import Turns


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def _settle() -> None:
    for _ in range(20):
        await anyio.lowlevel.checkpoint()


@pytest.mark.anyio
async def test_every_client_comes_once_before_any_comes_twice():
    turns, order = Turns(), []

    async def one(client: str) -> None:
        async with turns.take(client):
            order.append(client)
            await _settle()

    async with anyio.create_task_group() as tasks:
        for client in ("many", "many", "many", "many", "few", "one", "few"):
            tasks.start_soon(one, client)
            await anyio.lowlevel.checkpoint()
    assert order == ["many", "many", "few", "one", "many", "few", "many"]


@pytest.mark.anyio
async def test_who_gives_up_waiting_loses_no_turn_of_others():
    turns, order = Turns(), []

    async def one(client: str) -> None:
        async with turns.take(client):
            order.append(client)

    async with anyio.create_task_group() as tasks:
        async with turns.take("first"):
            with anyio.CancelScope() as gives_up:
                tasks.start_soon(one, "second")
                await _settle()
                gives_up.cancel()
                async with turns.take("third"):
                    order.append("third")
        await _settle()
        async with turns.take("fourth"):
            order.append("fourth")
    assert order == ["second", "fourth"]


@pytest.mark.anyio
async def test_turns_stay_apart():
    turns = Turns()
    inside = 0

    async def one(client: int) -> None:
        nonlocal inside
        async with turns.take(client % 7):
            inside += 1
            assert inside == 1
            await anyio.lowlevel.checkpoint()
            inside -= 1

    async with anyio.create_task_group() as tasks:
        for client in range(100):
            tasks.start_soon(one, client)
    assert inside == 0
