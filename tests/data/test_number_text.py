"""Numbers and dates as people write them are read as numbers and days."""

import datetime as dt
import math
from fractions import Fraction

import pandas as pd
import pytest
from aucrank._data.date_text import days_in
from aucrank._data.duration_text import read_quantity
from aucrank._data.number_text import read_number
from aucrank._data.units import factor_of, scale_of

YEARS = range(1950, 2050)


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
        ("12.50-", -12.5, None),
        ("1,234.50 -", -1234.5, None),
        ("5- EUR", None, None),
        ("'-12.5", -12.5, None),
        ("'7'", 7.0, 7.0),
        ("34847.84_", 34847.84, None),
        ("__-333__", -333.0, -333.0),
        ("0.05**", 0.05, None),
        ("7[a]", 7.0, 7.0),
        ("ca. 7", 7.0, 7.0),
        ("10+", 10.0, 10.0),
        ("10+ years", 10.0, 10.0),
        ("inf", math.inf, math.inf),
        ("-Infinity", -math.inf, -math.inf),
        ("\u221e", math.inf, math.inf),
        ("5'", None, None),
        ("_", None, None),
        ("+5-", None, None),
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
        ("1970/2", 31.0),
        ("02/1970", 31.0),
        ("2-1970", 31.0),
        ("1970-13", None),
        ("Feb-1970", 31.0),
        ("Feb. 1970", 31.0),
        ("febrero 1970", 31.0),
        ("1970 Feb", 31.0),
        ("Feb-70", 31.0),
        ("Feb '70", 31.0),
        ("Feb 70", None),
        ("2.1.70", 1.0),
        ("02-Jan-70 12:00", 1.5),
        ("1970Q2", 90.0),
        ("Q2 1970", 90.0),
        ("2Q1970", 90.0),
        ("1970Q5", None),
        ("1970M02", 31.0),
        ("1970-W02", 4.0),
        ("1970-W54", None),
        ("19700102", None),
        ("1/2/1970", None),
    ],
)
def test_dates_are_days(text, days):
    assert days_in(text) == (None if days is None else pytest.approx(days, abs=1e-11))


def test_years_of_two_digits_are_from_1950_to_2049():
    years = [1950 + round((days_in(f"Jan-{year % 100:02}") + 7305) / 365.25) for year in YEARS]
    assert years == list(YEARS)
    assert days_in("1/2/49", "mdy") == (dt.date(2049, 1, 2) - dt.date(1970, 1, 1)).days
    assert days_in("2/1/50", "dmy") == (dt.date(1950, 1, 2) - dt.date(1970, 1, 1)).days


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("26:30", 26.5, "h:mm"),
        ("26:30:36", 26.51, "h:mm:ss"),
        ("-0:30", -0.5, "h:mm"),
        ("9:15 PM", 21.25, "h:mm"),
        ("12:15 a.m.", 0.25, "h:mm"),
        (str(dt.timedelta(days=2, hours=3)), 51.0, "h:mm:ss"),
        (str(-dt.timedelta(hours=3)), -3.0, "h:mm:ss"),
        (str(pd.Timedelta(days=-2, minutes=-30)), -48.5, "h:mm:ss"),
        ("22 Years and 3 Months", 22.25, "Years"),
        ("3 yrs 6 mon", 3.5, "yrs"),
        ("2h 30m", 2.5, "h"),
        ("5 ft 6 in", 5.5, "ft"),
        ("P1Y6M", 1.5, "years"),
        ("P2DT12H", 2.5, "days"),
        ("26:60", None, None),
        ("3 months 2 years", None, None),
        ("3 km 20 min", None, None),
        ("PT", None, None),
        ("12:30:45:10", None, None),
    ],
)
def test_durations_are_in_their_first_unit_or_in_hours(text, value, unit):
    found = read_quantity(text, ".")
    assert found is None if value is None else (found.value, found.unit) == (value, unit)


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        ({"": 90, "k": 9}, ("", "powers of ten")),
        ({"k": 90, "": 9, "M": 1}, ("", "powers of ten")),
        ({"$ M": 90, "$ k": 9, "": 1}, ("$", "powers of ten")),
        ({"T\u20ac": 90, "Mio. \u20ac": 9}, ("\u20ac", "powers of ten")),
        ({"Lac": 9, "Cr": 9}, ("", "powers of ten")),
        ({"": 90, "B": 9}, ("", "")),
        ({"m": 90, "": 9}, ("m", "")),
        ({"": 90, "a": 9, "b": 9, "k": 1}, ("", "")),
        ({"K": 90, "M": 9, "G": 9}, ("", "bytes")),
        ({"MB": 90, "KiB": 9, "": 1}, ("", "bytes")),
        ({"kg": 90, "g": 9}, ("kg", "mass")),
        ({"h": 90, "m": 9, "days": 1}, ("h", "time")),
        ({"m": 90, "km": 9}, ("m", "length")),
        ({"%": 90, "bp": 9}, ("%", "percent")),
        ({"km": 90, "min": 9}, ("km", "")),
        ({"EUR": 90, "USD": 9}, ("EUR", "")),
    ],
)
def test_units_have_a_scale_if_they_are_multiples_of_one_another(units, expected):
    commonest = max(units, key=units.get)
    assert scale_of(units, [], commonest) == expected


def test_a_letter_is_a_power_of_ten_where_numbers_with_it_have_fractions():
    assert scale_of({"": 90, "B": 9}, ["B"], "") == ("", "powers of ten")
    assert scale_of({"": 90, "b": 9}, ["b"], "") == ("", "")


@pytest.mark.parametrize(
    ("unit", "of_column", "scale", "factor"),
    [
        ("M", "k", "powers of ten", 1000),
        ("", "k", "powers of ten", Fraction(1, 1000)),
        ("KiB", "", "bytes", 1024),
        ("MB", "B", "bytes", 10**6),
        ("month", "years", "time", Fraction(1, 12)),
        ("h:mm", "h:mm:ss", "clock", Fraction(1, 60)),
        ("", "kg", "mass", None),
        ("", "kg", "", 1),
        ("", "k", "", None),
        ("", "%", "", None),
    ],
)
def test_units_are_converted_exactly(unit, of_column, scale, factor):
    assert factor_of(unit, of_column, scale) == factor


def test_the_order_of_dates_with_slashes_is_inferred():
    assert (days_in("2/1/1970", "dmy"), days_in("1/2/1970", "mdy")) == (1.0, 1.0)
    assert days_in("13/1/1970", "mdy") is None
