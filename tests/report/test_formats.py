"""Printed forms of numbers."""

import math

import pytest
from aucrank._page import formats


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0.0%"),
        (1, "100.0%"),
        (0.1234, "12.3%"),
        (0.0001, "< 0.1%"),
        (0.9999, "> 99.9%"),
        (-0.25, "\N{MINUS SIGN}25.0%"),
        (None, formats.MISSING),
        (math.nan, formats.MISSING),
    ],
)
def test_a_share_is_printed_as_0_or_100_percent_only_if_exact(value, text):
    assert formats.share(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.00004, "0.0000"),
        (-0.00004, "0.0000"),
        (0.5, "+0.5000"),
        (-0.5, "\N{MINUS SIGN}0.5000"),
        (None, formats.MISSING),
    ],
)
def test_a_difference_has_a_sign_unless_printed_as_zero(value, text):
    assert formats.signed(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.0, "3"),
        (12345.678, "12,346"),
        (1234.56, "1,235"),
        (0.000123456, "0.0001235"),
        (-2.5, "\N{MINUS SIGN}2.5"),
        (math.inf, "∞"),
        (-math.inf, "\N{MINUS SIGN}∞"),
        (1e12, "1,000,000,000,000"),
    ],
)
def test_a_number_has_four_digits(value, text):
    assert formats.number(value) == text


def test_small_p_values_are_not_printed_as_zero():
    assert (formats.p_value(1e-9), formats.p_value(0.0312)) == ("< 0.001", "0.031")


def test_an_infinite_threshold_is_described_in_words():
    assert (formats.threshold(math.inf), formats.threshold(1.5)) == ("no row", "1.5")
