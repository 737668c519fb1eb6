"""Units of numbers that are multiples of one another: 950 and 1.2k, 500 g and 1.2 kg."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from aucrank._data.number_text import is_currency

# Words for powers of ten, in lower case and without a point at their end.
_POWERS = {
    3: "k tsd thsd thousand mille",
    5: "lakh lakhs lac",
    6: "m mio mn mln mill million millions millionen",
    7: "crore crores",
    9: "b bn bln mrd md billion billions milliarde milliarden milliards",
    12: "t tn trn trillion trillions",
}
_POWER_OF = {word: power for power, words in _POWERS.items() for word in words.split()}
# In this case alone: CR is a credit, l a litre.
_POWER_OF |= {"Cr": 7, "L": 5}

_PREFIXES = {"n": -9, "µ": -6, "μ": -6, "u": -6, "m": -3, "c": -2, "d": -1, "": 0, "k": 3}
_LARGE = {"M": 6, "G": 9, "T": 12}

_BYTES = {"": 1, "B": 1, "byte": 1, "bytes": 1, "Byte": 1, "Bytes": 1} | {
    unit: size**power
    for power, letter in enumerate("KMGTP", 1)
    for size, units in (
        (1000, (letter, letter + "B", letter.lower() + "B", letter.lower())),
        (1024, (letter + "iB",)),
    )
    for unit in units
}
# In seconds; in lower case. A year of 365.25 days, and a month of a twelfth of it.
_DAY, _YEAR = 86_400, 31_557_600
_TIMES: dict[str, Fraction] = {
    word: Fraction(seconds)
    for words, seconds in (
        ("ms msec millisecond milliseconds", Fraction(1, 1000)),
        ("s sec secs second seconds sek sekunden", 1),
        ("m min mins minute minutes minuten", 60),
        ("h hr hrs hour hours std stunde stunden h:mm:ss", 3600),
        ("d day days tag tage", _DAY),  # codespell:ignore tage
        ("w wk wks week weeks woche wochen", 7 * _DAY),
        ("mo mos mon mons mth mths month months monat monate", Fraction(_YEAR, 12)),
        ("y yr yrs year years jahr jahre", _YEAR),
    )
    for word in words.split()
}


def _multiples_of(base: str) -> dict[str, Fraction]:
    """Return a unit of the metric system and its multiples."""
    return {prefix + base: Fraction(10) ** power for prefix, power in (_PREFIXES | _LARGE).items()}


#: Scales of units, each with its units in multiples of one of them.
_SCALES: dict[str, Mapping[str, Any]] = {
    "bytes": _BYTES,
    "percent": {"%": 1, "\u2030": Fraction(1, 10), "bp": Fraction(1, 100), "bps": Fraction(1, 100)},
    "mass": _multiples_of("g")
    | {"t": Fraction(10**6), "oz": Fraction("28.349523125")}
    | dict.fromkeys(("lb", "lbs"), Fraction("453.59237")),
    "length": _multiples_of("m")
    | dict.fromkeys(("in", "inch", "inches"), Fraction("0.0254"))
    | dict.fromkeys(("ft", "foot", "feet"), Fraction("0.3048"))
    | dict.fromkeys(("mi", "mile", "miles"), Fraction("1609.344"))
    | {"yd": Fraction("0.9144")},
    "volume": _multiples_of("l") | _multiples_of("L"),
    **{unit: _multiples_of(unit) for unit in ("W", "Wh", "Hz", "V", "A", "J", "Pa", "mol", "bit")},
    # Of minutes and seconds where others have hours, too.
    "clock": {"h:mm:ss": 3600, "h:mm": 60},
    "time": _TIMES,
}

# Maximal share of units besides a scale, among the rows that it adds.
_ODD_SHARE = 0.05

#: The scale of powers of ten in words and letters.
POWERS_OF_TEN = "powers of ten"

#: Names of all scales; "" for one unit alone.
SCALES = frozenset(["", POWERS_OF_TEN, *_SCALES])


def is_same_unit(unit: str, of_column: str) -> bool:
    """Return whether a number with a unit belongs to a column with another unit.

    An amount may lack its currency, but a percentage without its sign may be off by a factor of a
    hundred, and a number without ``k`` by one of a thousand.
    """
    if unit == of_column:
        return True
    power, _ = _power_in(of_column)
    is_factor = power > 0 and (len(of_column) > 1 or of_column in "kKMBT")
    return unit == "" and of_column not in ("%", "\u2030") and not is_factor


def factor_of(unit: str, of_column: str, scale: str = "") -> Fraction | None:
    """Return what a number with a unit is multiplied by in a column of another, None if odd.

    Parameters
    ----------
    unit : str
        Unit of the number.
    of_column : str
        Unit that the column is counted in.
    scale : str, default=""
        Scale of both, one of `SCALES`.
    """
    if not scale:
        are_clocks = unit in _SCALES["clock"] and of_column in _SCALES["clock"]
        return Fraction(1) if are_clocks or is_same_unit(unit, of_column) else None
    if scale == POWERS_OF_TEN:
        (power, rest), (of, base) = _power_in(unit), _power_in(of_column)
        return (
            Fraction(10) ** (power - of)
            if rest == base or (not rest and is_currency(base))
            else None
        )
    own, of_base = _in_scale(unit, scale), _in_scale(of_column, scale)
    return None if own is None or of_base is None else own / of_base


def sum_in_first(parts: Sequence[tuple[Fraction, str]]) -> Fraction | None:
    """Return a sum of quantities in the unit of the first; None unless units fall on one scale."""
    for scale in _SCALES:
        factors = [_in_scale(unit, scale) for _, unit in parts]
        known = [factor for factor in factors if factor is not None]
        if len(known) == len(parts) and all(a > b for a, b in pairwise(known)):
            total = sum(
                (value * factor for (value, _), factor in zip(parts, known, strict=True)),
                Fraction(0),
            )
            return total / known[0]
    return None


def scale_of(
    rows: Mapping[str, int], fractions: Collection[str], commonest: str
) -> tuple[str, str]:
    """Return the unit in which a column is counted, and the scale of its units.

    Parameters
    ----------
    rows : mapping of str to int
        Rows of each unit.
    fractions : collection of str
        Units of numbers that are not whole.
    commonest : str
        The unit of most rows.

    Returns
    -------
    unit, scale : str
        The commonest unit and no scale unless units are multiples of one another.
    """
    best, most = (
        (commonest, ""),
        sum(count for unit, count in rows.items() if is_same_unit(unit, commonest)),
    )
    n_all = sum(rows.values())
    for unit, scale in _candidates(rows, fractions, commonest):
        n_rows = sum(count for other, count in rows.items() if factor_of(other, unit, scale))
        # Of house numbers such as 12a, 12b and 12k, only some letters have another meaning.
        if n_rows > most and n_all - n_rows <= _ODD_SHARE * (n_rows - most):
            best, most = (unit, scale), n_rows
    return best


def _candidates(
    rows: Mapping[str, int], fractions: Collection[str], commonest: str
) -> Iterator[tuple[str, str]]:
    powers = {unit: _power_in(unit) for unit in rows}
    if _are_powers([unit for unit, (power, _) in powers.items() if power], fractions):
        rests: dict[str, int] = {}
        for unit, count in rows.items():
            rest = powers[unit][1]
            rests[rest] = rests.get(rest, 0) + count * (1 if rest else 0)
        yield max(rests, key=lambda rest: (rests[rest], rest)), POWERS_OF_TEN
    for scale in _SCALES:
        if scale == "bytes" and not _are_bytes(rows):
            continue
        if _in_scale(commonest, scale) is not None:
            yield "" if scale == "bytes" else commonest, scale


def _are_bytes(units: Collection[str]) -> bool:
    known = [unit for unit in units if unit in _BYTES]
    return (
        any(len(unit) > 1 for unit in known) or sum(unit in "kKMGTP" for unit in known if unit) > 1
    )


def _are_powers(units: Collection[str], fractions: Collection[str]) -> bool:
    """Return whether units are powers of ten beyond doubt.

    ``12B`` may be the number of a house, and ``1.8m`` a height; ``1.2B`` and ``3k`` are neither.
    """
    if any(len(unit) > 1 or unit in "kK" for unit in units):
        return True
    capitals = [unit for unit in units if unit in "MBT"]
    return len(capitals) > 1 or any(unit in fractions for unit in capitals)


def _power_in(unit: str) -> tuple[int, str]:
    """Return the power of ten that a unit holds, and the rest of it, such as a currency."""
    words = unit.split()
    for place, word in enumerate(words):
        others = [*words[:place], *words[place + 1 :]]
        if (power := _power_of(word)) is not None:
            return power, " ".join(others)
        for length in (1, 3):
            head, currency = word[:-length], word[-length:]
            if head and is_currency(currency):
                # The German T is a thousand.
                power = 3 if head == "T" else _power_of(head)
                if power is not None:
                    return power, " ".join([*others, currency])
    return 0, unit


def _power_of(word: str) -> int | None:
    word = word.rstrip(".")
    return _POWER_OF.get(word, _POWER_OF.get(word.lower()))


def _in_scale(unit: str, scale: str) -> Fraction | None:
    units = _SCALES[scale]
    found = units.get(unit)
    if found is None and scale == "time":
        found = units.get(unit.lower().rstrip("."))
    return None if found is None else Fraction(found)
