"""Numbers and dates as people write them are read as numbers and days."""

import math

import pytest
from aucrank._data.date_text import days_in
from aucrank._data.number_text import read_number


@pytest.mark.parametrize(
    ("text", "point", "comma"),
    [
        ("1,234", 1234.0, 1.234),
        ("1.234", 1.234, 1234.0),
        ("1,234,567", 1234567.0, None),
        ("1.100,00 EUR", None, 1100.0),
        ("$1,200", 1200.0, 1.2),
        ("1'200.50", 1200.5, None),
        ("1\u2019200,50", None, 1200.5),
        ("1 234.5", 1234.5, None),
        ("12\u00a0345\u202f678,9", None, 12345678.9),
        ("\u221212.5", -12.5, None),
        ("(1,234.50)", -1234.5, None),
        ("-$5", -5.0, -5.0),
        ('="12.5"', 12.5, None),
        ("13.56%", 13.56, None),
        ("13,56 %", None, 13.56),
        ("CHF 7", 7.0, 7.0),
        ("5 kg", 5.0, 5.0),
        ("  7 ", 7.0, 7.0),
        ("1e5", 1e5, 1e5),
        ("007", 7.0, 7.0),
        ("\u2265 5", 5.0, 5.0),
        ("<= 0,5", None, 0.5),
        ("1,23,456", None, None),
        ("12:30", None, None),
        ("1-2", None, None),
        ("A12", None, None),
        ("1_000", None, None),
        ("0x1F", None, None),
        ("5 to 10", None, None),
        ("+-5", None, None),
        ("", None, None),
        ("$", None, None),
        ("2026-01-31", None, None),
    ],
)
def test_numbers_have_one_value_for_each_mark_of_decimals(text, point, comma):
    found = [read_number(text, mark) for mark in ".,"]
    assert [None if number is None else number.value for number in found] == [point, comma]


def test_a_value_beyond_a_limit_is_read_as_the_next_float():
    below, above = read_number("<8", "."), read_number("> 8.5", ".")
    assert (below.value, above.value) == (math.nextafter(8, -math.inf), math.nextafter(8.5, 9))
    assert not below.is_whole


@pytest.mark.parametrize(
    ("text", "unit"),
    [("5%", "%"), ("$ 5", "$"), ("5 EUR", "EUR"), ("5", ""), ("US$ 5 p.a", "US$ p.a")],
)
def test_units_are_recognised(text, unit):
    assert read_number(text, ".").unit == unit


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("1970-01-02", 1.0),
        ("1970-01-01 12:00", 0.5),
        ("1970-01-01T06:00:00.000000000Z", 0.25),
        ("1970-01-01 06:00:00.123456789", (6 * 3600 + 0.123456) / 86400),
        ("1970-01-02 00:00 UTC", 1.0),
        ("1970-01-01 01:00:00+01:00", 0.0),
        ("1970/01/02", 1.0),
        ("2.1.1970 12:00", 1.5),
        ("02-Jan-1970", 1.0),
        ("2 January 1970", 1.0),
        ("Jan 2, 1970 6:00 PM", 1.75),
        ("0000-00-00", None),
        ("1970-02-30", None),
        ("1970-01-01 25:00", None),
        ("31-Foo-1970", None),
        ("1970-01", 0.0),
        ("19700102", None),
        ("1/2/1970", None),
    ],
)
def test_dates_are_days(text, days):
    assert days_in(text) == (None if days is None else pytest.approx(days, abs=1e-11))


def test_the_order_of_dates_with_slashes_is_inferred():
    assert (days_in("2/1/1970", "dmy"), days_in("1/2/1970", "mdy")) == (1.0, 1.0)
    assert days_in("13/1/1970", "mdy") is None
