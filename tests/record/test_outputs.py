"""Which calls return what the others do not."""

from __future__ import annotations

from aoti_debug.probe.call_counters import NAN, NEGATIVE, POSITIVE, UNLIKE
from aoti_debug.record.outputs import kinds, of_model, words


def test_what_every_call_holds_is_meant_and_only_the_rest_is_odd():
    second = NEGATIVE << 3
    found = of_model("p", "m", [(1, second, 8, (1, 2)), (1, second | NAN, 2, (5, 9))])
    assert (found.judged, found.count, found.odd, found.always) == (10, 2, NAN, second)
    assert found.calls == {1: (5, 9)} and not found.more


def test_the_same_kind_in_another_output_is_odd():
    found = of_model("p", "m", [(1, NEGATIVE, 8, (1,)), (2, NEGATIVE | NEGATIVE << 6, 30, (4,))])
    assert (found.count, kinds(found.odd), set(found.more)) == (30, {NEGATIVE}, {2})


def test_words_name_both_kinds_and_other_forms():
    assert words(NAN | POSITIVE << 3) == "NaN or Inf"
    assert words(NEGATIVE) == "Inf"
    assert words(UNLIKE) == "unexpected values"
