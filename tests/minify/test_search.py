"""The search keeps what is needed, tries little, and gives the same answer again."""

from __future__ import annotations

import anyio
import pytest
from aoti_debug.minify.search import first, minimise


def searched(count: int, needed: set[int], width: int = 2) -> tuple[list[int], int]:
    tried: list[frozenset[int]] = []

    async def test(part: frozenset[int]) -> bool:
        tried.append(part)
        return needed <= part

    found = anyio.run(minimise, range(count), test, width)
    return found, len(tried)


@pytest.mark.parametrize("count", [1, 2, 7, 60, 300, 1000])
def test_one_needed_item_is_found_wherever_it_is(count: int) -> None:
    for needed in {0, count // 3, count // 2, count - 1}:
        assert searched(count, {needed})[0] == [needed]


@pytest.mark.parametrize("needed", [{29, 30, 31}, {0, 59}, {10, 30, 50}])
def test_several_needed_items_are_found_together_and_apart(needed: set[int]) -> None:
    assert searched(60, needed)[0] == sorted(needed)


def test_a_thousand_nodes_with_three_needed_neighbours_take_few_candidates() -> None:
    found, tried = searched(1000, {499, 500, 501})
    assert found == [499, 500, 501]
    assert tried < 70


def test_nothing_can_be_left_out_of_what_is_found() -> None:
    async def even_and_large(part: frozenset[int]) -> bool:
        return sum(part) >= 40 and any(n % 2 == 0 for n in part)

    found = anyio.run(minimise, range(20), even_and_large, 3)
    rests = [frozenset(found) - {item} for item in found]
    assert not any(anyio.run(even_and_large, rest) for rest in rests)


def test_the_first_interesting_choice_counts_not_the_fastest() -> None:
    async def test(choice: int) -> bool:
        await anyio.sleep(0.02 * (3 - choice))
        return choice > 0

    assert anyio.run(first, [0, 1, 2], test, 3) == 1


def test_an_error_of_a_candidate_is_raised_as_it_is() -> None:
    async def test(choice: int) -> bool:
        raise ValueError(f"choice {choice}")

    with pytest.raises(ValueError, match="choice"):
        anyio.run(first, [0, 1], test, 2)
