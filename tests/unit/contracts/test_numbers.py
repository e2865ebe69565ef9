"""Numbers as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts.numbers import numbers_in, words_as_numbers

SPELLINGS = [
    ("de", "120.000 EUR", 120_000), ("de", "120 000 EUR", 120_000), ("de", "120\u00a0000", 120_000),
    ("de", "120\u202f000", 120_000), ("de", "120'000", 120_000), ("de", "1,2 Mio. Euro", 1_200_000),
    ("de", "2,4 Mrd.", 2.4e9), ("de", "1 Billion", 1e12), ("de", "7,5 Grad", 7.5), ("en", "120,000", 120_000),
    ("en", "$1.5 million", 1_500_000), ("en", "2 billion", 2e9), ("en", "95k", 95_000), ("en", "5M users", 5e6),
    ("en", "5 m high", 5), ("pt", "R$ 2,4 bi", 2.4e9), ("pt", "12 mil", 12_000), ("pt", "1.234,56", 1234.56),
    ("en", "1,234.56", 1234.56), ("ru", "3 млн", 3e6), ("ru", "120 тысяч", 120_000), ("zh", "12万", 120_000),
    ("zh", "共9只羊", 9), ("en", "-3 degrees", -3), ("en", "\u22123 °C", -3), ("en", "0.500", 0.5), ("de", "0,500", 0.5),
    ("fr", "1 000 000", 1e6),
]  # fmt: skip


@pytest.mark.parametrize(("lang", "text", "value"), SPELLINGS)
def test_spellings(lang, text, value):
    """Each spelling is one number of the language that it is written in."""
    assert [value] == [number.value for number in numbers_in(text, lang)]


@pytest.mark.parametrize("text", ["P1 and S12-de", "v1.2", "gpt-4", "10.03.2026", "no number", "H2O"])
def test_no_numbers(text):
    """Names with digits, versions and dotted dates are not numbers."""
    assert [] == numbers_in(text, "en")


def test_ranges_and_dates_are_not_negative():
    """A hyphen after a digit is no sign."""
    assert [7.0, 9.0] == [number.value for number in numbers_in("7-9 people", "en")]
    assert [2025.0, 2.0] == [number.value for number in numbers_in("2025-02", "en")]


def test_other_readings_and_pieces_are_kept():
    """A token that can mean two things keeps both, the language's own first."""
    assert (1.2, 1200.0) == numbers_in("1.200", "en")[0].readings
    assert (1200.0, 1.2) == numbers_in("1.200", "de")[0].readings
    assert (101.0, 102.0) == numbers_in("101 102", "en")[0].pieces


def test_words():
    """Small numbers may be written as words."""
    assert {9.0} == words_as_numbers("There are nine left.", "en")
    assert {2.0} == words_as_numbers("duas", "pt-BR")
    assert {9.0} == words_as_numbers("还剩九只", "zh")
    assert set() == words_as_numbers("weighty nineteen", "en")


@given(
    st.integers(0, 10**12), st.sampled_from([("en", ","), ("de", "."), ("ru", "\u00a0"), ("fr", "\u202f"), ("de", "'")])
)
def test_grouped_integers_are_read_back(value, spelling):
    """Whatever integer is written with a language's thousands separator is read as that integer."""
    lang, separator = spelling
    written = f"{value:,}".replace(",", separator)

    assert [float(value)] == [number.value for number in numbers_in(written, lang)]
