"""Types of values in WebArena-Verified: how each is read, and when two are the same.

Readers raise `ValueError` for any other value. Tolerances are the published ones: 0.1 for
money, 3 minutes or 10 % for durations, 10 m or 2 % for distances, 1e-5 degrees for coordinates,
80 % similarity for place names.
"""

import base64
import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

__all__ = ["KINDS", "ValueType", "is_pattern", "plain_text"]

_MONTHS = (
    "january february march april may june july august september october november december"
).split()
_NUMBERS = {word: i for i, word in enumerate(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen".split())} | {word: 10 * i for i, word in enumerate(
    "twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}  # fmt: skip
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_METRES = {"m": 1, "km": 1000, "k": 1000, "cm": 0.01, "mi": 1609.344, "ft": 0.3048, "yd": 0.9144,
           "in": 0.0254}  # fmt: skip
_UNITS = {
    "meter": "m", "metre": "m", "kilometer": "km", "kilometre": "km", "centimeter": "cm",
    "centimetre": "cm", "mile": "mi", "foot": "ft", "feet": "ft", "yard": "yd", "inch": "in",
    "inche": "in",
}  # fmt: skip
_HYPHEN = re.compile("(?<=[a-zA-Z])[-‐-―−\u00ad]|[-‐-―−\u00ad](?=[a-zA-Z])")
_AROUND = "'\"`.,;:!?"
_DATE_FORMATS = (
    "%Y-%m-%d", "%Y/%m/%d", "%m/%d/%Y", "%m/%d/%y", "%m-%d-%Y", "%d %B %Y", "%d %b %Y",
    "%B %d %Y", "%b %d %Y", "%Y %B %d", "%Y %b %d",
)  # fmt: skip


class ValueType(NamedTuple):
    """A type of values."""

    read: Callable[[Any], Any]
    same: Callable[[Any, Any], bool]


def is_pattern(value: Any) -> bool:
    """Whether a value is a regular expression: a text from `^` to `$`."""
    return isinstance(value, str) and len(value) > 1 and value[0] == "^" and value[-1] == "$"


def plain_text(value: Any) -> str:
    """Return a text folded for comparison: compatible forms, ASCII letters, case, white space."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    text = unicodedata.normalize("NFKC", re.sub("[™®℠©]", "", text))
    text = _HYPHEN.sub(" ", text)
    text = "".join(
        " " if c in "\t\n\r" else c
        for c in text
        if c in "\t\n\r" or not unicodedata.category(c).startswith("C")
    )
    letters = unicodedata.normalize("NFKD", text)
    text = "".join(c for c in letters if not unicodedata.combining(c))
    return " ".join(text.translate(_QUOTES).split()).casefold()


_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "ß": "ss",
                         "ø": "o", "ł": "l", "đ": "d"})  # fmt: skip


def _text(value: Any) -> str:
    if isinstance(value, Mapping | list | tuple) or value is None:
        raise ValueError(f"expected text, got {value!r}")
    return str(value) if is_pattern(value) else plain_text(value)


def _same_text(wanted: str, given: str) -> bool:
    if is_pattern(wanted):
        return re.fullmatch(wanted, given, re.IGNORECASE) is not None
    return wanted == given or wanted.strip(_AROUND) == given.strip(_AROUND)


def _number(value: Any) -> float:
    if isinstance(value, int | float):
        return float(value)
    text = _text(value).replace(",", "").replace(" ", "")
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", text):
        return float(text)
    words = re.findall(r"[a-z]+", _text(value))
    total = 0
    for word in words:
        if word == "hundred":
            total = max(total, 1) * 100
        elif word in _NUMBERS:
            total += _NUMBERS[word]
        elif word != "and":
            raise ValueError(f"expected a number, got {value!r}")
    if not words:
        raise ValueError(f"expected a number, got {value!r}")
    return float(total)


def _money(value: Any) -> float:
    if isinstance(value, int | float):
        return float(value)
    found = re.search(r"\d[\d., ]*", _text(value))
    if found is None:
        raise ValueError(f"expected an amount of money, got {value!r}")
    digits = found[0].strip(" .,").replace(" ", "")
    point = max(digits.rfind("."), digits.rfind(","))
    if point >= 0 and len(digits) - point - 1 != 3:
        digits = re.sub("[.,]", "", digits[:point]) + "." + digits[point + 1 :]
    else:
        digits = re.sub("[.,]", "", digits)
    before = _text(value)[: found.start()]
    return -float(digits) if "-" in before else float(digits)


def _truth(value: Any) -> bool:
    if isinstance(value, bool | int | float):
        return bool(value)
    text = _text(value)
    if text in ("true", "yes", "y", "1", "t", "on"):
        return True
    if text in ("false", "no", "n", "0", "f", "off"):
        return False
    raise ValueError(f"expected true or false, got {value!r}")


def _date(value: Any) -> str:
    text = re.sub(r"(?<=\d)(st|nd|rd|th)\b", "", str(value).strip(), flags=re.IGNORECASE)
    text = " ".join(
        re.sub(
            r"\d{1,2}:\d\d(:\d\d)?(\.\d+)?\s*([ap]m)?|[,.]", " ", text, flags=re.IGNORECASE
        ).split()
    )
    text = re.sub(r"^[A-Za-z]+day |T$", "", text)
    for form in _DATE_FORMATS:
        try:
            return datetime.strptime(text, form).date().isoformat()
        except ValueError:
            continue
    raise ValueError(f"expected a date, got {value!r}")


def _month(value: Any) -> str:
    text = _text(value).strip(".")
    found = re.search(r"[a-z]{3,}", text)
    if found:
        for name in _MONTHS:
            if name.startswith(found[0]) or found[0].startswith(name):
                return name
    number = re.fullmatch(r"(?:\d{4}[-/])?0?(\d{1,2})(?:\.0)?", text)
    if number is None or not 1 <= int(number[1]) <= 12:
        raise ValueError(f"expected a month, got {value!r}")
    return _MONTHS[int(number[1]) - 1]


def _duration(value: Any) -> float:
    """Read seconds; `4:13` is minutes and seconds, `1:35 hours` hours and minutes."""
    text = re.sub(r"(\d+):(\d+)\s*hours?", r"\1h\2m", _text(value))
    clock = re.fullmatch(r"(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)", text)
    if clock:
        return 3600 * int(clock[1] or 0) + 60 * int(clock[2]) + float(clock[3])
    rest = re.sub(r"[\s,]|and", "", text)
    parts = re.findall(r"(\d+(?:\.\d+)?)([a-z]+)", rest)
    if not parts or "".join(number + unit for number, unit in parts) != rest:
        raise ValueError(f"expected a duration with a unit, got {value!r}")
    return sum(float(number) * _SECONDS[_time_unit(unit)] for number, unit in parts)


def _time_unit(name: str) -> str:
    if name in ("ms", "msec", "msecs", "millisecond", "milliseconds"):
        return "ms"
    for short, names in (
        ("s", "s sec secs second seconds"),
        ("m", "m min mins minute minutes"),
        ("h", "h hr hrs hour hours"),
        ("d", "d day days"),
        ("w", "w wk wks week weeks"),
    ):
        if name in names.split():
            return short
    raise ValueError(f"unknown unit of time {name!r}")


def _distance(value: Any) -> float:
    found = re.fullmatch(r"([\d,]+(?:\.\d+)?|\.\d+)\s*([a-z]+)\.?", _text(value))
    if found is None:
        raise ValueError(f"expected a distance with a unit, got {value!r}")
    unit = found[2]
    if unit not in _METRES:
        unit = _UNITS.get(unit.rstrip("s"), _UNITS.get(unit, unit))
    if unit not in _METRES:
        raise ValueError(f"unknown unit of length {found[2]!r}")
    return float(found[1].replace(",", "")) * _METRES[unit]


def _coordinates(value: Any) -> tuple[float, float]:
    if isinstance(value, Mapping):
        named = {str(key).lower()[:2]: item for key, item in value.items()}
        value = (named.get("la"), named.get("lo", named.get("ln")))
    elif isinstance(value, str):
        value = re.findall(r"[+-]?\d+(?:\.\d+)?", value)
    if not isinstance(value, list | tuple) or len(value) != 2 or None in value:
        raise ValueError(f"expected coordinates, got {value!r}")
    latitude, longitude = (float(str(each)) for each in value)
    if not -90 <= latitude <= 90:
        raise ValueError(f"expected a latitude, got {latitude}")
    return latitude, (longitude + 180) % 360 - 180


def _address(value: Any) -> str:
    """Read a URL: host in lower case, no trailing slash; Git addresses by user and path."""
    text = str(value).strip().rstrip("/")
    git = re.fullmatch(r"(?:ssh://)?(\w+)@([\w.-]+)(?::\d+)?[:/](.+)", text)
    if git:
        return f"{git[1]}@{git[3]}".lower()
    found = re.match(r"(https?)://([^/?#]+)(.*)", text, re.IGNORECASE)
    if found is None:
        raise ValueError(f"expected a URL, got {value!r}")
    return f"{found[1].lower()}://{found[2].lower()}{found[3]}"


def _place(value: Any) -> str:
    return " ".join(sorted(re.findall(r"[^\W_]+", _text(value))))


def _similar(wanted: str, given: str) -> bool:
    """Whether the sorted words of two names agree by 80 % of their letters."""
    if not wanted or not given:
        return wanted == given
    row = [0] * (len(given) + 1)
    for letter in wanted:
        corner = 0
        for place, other in enumerate(given, 1):
            above = row[place]
            row[place] = corner + 1 if letter == other else max(above, row[place - 1])
            corner = above
    return round(200 * row[-1] / (len(wanted) + len(given))) >= 80


def _json(value: Any) -> str:
    try:
        return json.dumps(json.loads(_string(value)), sort_keys=True)
    except json.JSONDecodeError as error:
        raise ValueError(f"not valid JSON: {error}") from None


def _markdown(value: Any) -> str:
    text = _string(value).replace("\r\n", "\n").replace("\r", "\n")
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\n{3,}", "\n\n", text)
    text = re.sub(r"^(\s*)(#{1,6})[ \t]+", r"\1\2 ", text, flags=re.MULTILINE)
    text = re.sub(r"^(\s*)[*+][ \t]+", r"\1- ", text, flags=re.MULTILINE)
    text = re.sub(r"^[ \t]+(-)", r"  \1", text, flags=re.MULTILINE)
    text = re.sub(r"\[([^\]]+)\]", lambda found: f"[{' '.join(found[1].split())}]", text)
    return re.sub(r"\(\s*([^)]+?)\s*\)", r"(\1)", text).strip()


def _base64(value: Any) -> str:
    text = _string(value).strip()
    if is_pattern(text):
        return text
    decoded = base64.b64decode(text, validate=True).decode("utf-8")
    return decoded.replace("\r\n", "\n").strip()


def _same_content(wanted: str, given: str) -> bool:
    if is_pattern(wanted):
        return re.fullmatch(wanted, given, re.DOTALL) is not None
    return wanted == given


def _list_of_texts(value: Any) -> tuple[str, ...]:
    items = tuple(sorted(item.strip() for item in str(value).split(",") if item.strip()))
    if not items:
        raise ValueError("an empty list")
    return items


def _nothing(value: Any) -> None:
    if value is None or value == "" or value == [] or value == {}:
        return
    if plain_text(value) not in ("n/a", "na", "nan", "null", "none", ""):
        raise ValueError(f"expected nothing, got {value!r}")


def _string(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"expected text, got {value!r}")
    return value


def _equal(wanted: Any, given: Any) -> bool:
    return bool(wanted == given)


def _near(absolute: float, relative: float) -> Callable[[float, float], bool]:
    return lambda wanted, given: abs(wanted - given) <= max(absolute, relative * max(wanted, given))


KINDS: Mapping[str, ValueType] = {
    "string": ValueType(_text, _same_text),
    "number": ValueType(_number, _equal),
    "integer": ValueType(_number, _equal),
    "currency": ValueType(_money, lambda wanted, given: abs(wanted - given) <= 0.1 + 1e-9),
    "boolean": ValueType(_truth, _equal),
    "date": ValueType(_date, _equal),
    "month": ValueType(_month, _equal),
    "duration": ValueType(_duration, _near(180, 0.1)),
    "distance": ValueType(_distance, _near(10, 0.02)),
    "coordinates": ValueType(
        _coordinates,
        lambda wanted, given: all(
            abs(a - b) <= 1e-5 + 1e-12 for a, b in zip(wanted, given, strict=True)
        ),
    ),
    "url": ValueType(_address, _equal),
    "location-name": ValueType(_place, _similar),
    "json": ValueType(_json, _equal),
    "markdown": ValueType(_markdown, _equal),
    "base64": ValueType(_base64, _same_content),
    "string_list": ValueType(_list_of_texts, _equal),
    "null": ValueType(_nothing, _equal),
}
"""Types by the name that a schema gives them, as `format` or `type`."""
