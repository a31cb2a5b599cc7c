import re

from aoti_debug.facts.categories import MEANINGS
from aoti_debug.model import CATEGORIES
from aoti_debug.signatures.signature import signatures


def test_every_category_has_a_meaning_and_no_other_has():
    assert set(MEANINGS) == set(CATEGORIES)


def test_a_meaning_is_one_plain_line():
    for name, meaning in MEANINGS.items():
        assert 10 < len(meaning.text) < 100, name
        assert "\n" not in meaning.text and not meaning.text.endswith("."), name


def test_a_guide_is_a_file_and_a_heading():
    for name, meaning in MEANINGS.items():
        assert re.fullmatch(r"guides/[a-z-]+\.md#[a-z0-9-]+", meaning.guide), name


def test_only_these_categories_are_no_faults():
    assert {name for name, meaning in MEANINGS.items() if not meaning.fault} == {
        "false_alarm",
        "no_fault",
        "performance",
    }


def test_a_category_without_fault_is_never_a_proved_cause_of_a_crash():
    for signature in signatures():
        if signature.category == "no_fault":
            assert signature.role == "symptom" and signature.confidence != "proved", signature.id
