"""Days and times as screens show them, in the style of the look."""

from datetime import date
from functools import lru_cache

__all__ = ["MONTHS", "WEEKDAYS", "day_text", "full_day_text", "month_text",
           "short_day_text", "time_text", "weekday_text"]  # fmt: skip

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September",
          "October", "November", "December")  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WEEKDAYS_ZH = "一二三四五六日"


@lru_cache(maxsize=8192)
def day_text(day: str, style: str, language: str) -> str:
    """Return a day, given as `YYYY-MM-DD`, in a style: `iso`, `long`, `short` or `dotted`.

    >>> [day_text("2026-03-09", style, "en") for style in ("iso", "long", "short", "dotted")]
    ['2026-03-09', 'Mon, 9 March 2026', '9 Mar 2026', '09.03.2026']
    """
    if not day:
        return ""
    at = date.fromisoformat(day)
    if style == "iso":
        return day
    if style == "dotted":
        return f"{at.day:02d}.{at.month:02d}.{at.year}"
    if language == "zh":
        tail = f" 星期{_WEEKDAYS_ZH[at.weekday()]}" if style == "long" else ""
        return f"{at.year}年{at.month}月{at.day}日{tail}"
    month = MONTHS[at.month - 1]
    if style == "long":
        return f"{WEEKDAYS[at.weekday()][:3]}, {at.day} {month} {at.year}"
    return f"{at.day} {month[:3]} {at.year}"


@lru_cache(maxsize=8192)
def full_day_text(day: str, style: str, language: str) -> str:
    """Return a day with its weekday.

    >>> [full_day_text("2026-03-09", style, "en") for style in ("iso", "long")]
    ['Monday, 2026-03-09', 'Monday, 9 March 2026']
    """
    at = date.fromisoformat(day)
    weekday = weekday_text(day, language)
    if language == "zh":
        shown = day_text(day, "short" if style == "long" else style, language)
        return f"{shown} {weekday}"
    if style == "long":
        return f"{weekday}, {at.day} {MONTHS[at.month - 1]} {at.year}"
    return f"{weekday}, {day_text(day, style, language)}"


@lru_cache(maxsize=8192)
def short_day_text(day: str, style: str, language: str) -> str:
    """Return a day without its year.

    >>> short_day_text("2026-03-09", "long", "en")
    '9 Mar'
    """
    at = date.fromisoformat(day)
    if style == "iso":
        return day[5:]
    if style == "dotted":
        return f"{at.day:02d}.{at.month:02d}."
    return f"{at.month}月{at.day}日" if language == "zh" else f"{at.day} {MONTHS[at.month - 1][:3]}"


def weekday_text(day: str, language: str) -> str:
    """Return the weekday of a day."""
    number = date.fromisoformat(day).weekday()
    return f"星期{_WEEKDAYS_ZH[number]}" if language == "zh" else WEEKDAYS[number]


def month_text(year: int, month: int, language: str) -> str:
    """Return a month with its year."""
    return f"{year}年{month}月" if language == "zh" else f"{MONTHS[month - 1]} {year}"


@lru_cache(maxsize=4096)
def time_text(time: str, hour12: bool, language: str) -> str:
    """Return a time of day, given as `HH:MM`, on a 24- or 12-hour clock.

    >>> time_text("15:05", True, "en"), time_text("15:05", False, "en")
    ('3:05 PM', '15:05')
    """
    if not hour12 or not time:
        return time
    hour, minute = int(time[:2]), time[3:5]
    if language == "zh":
        return f"{'上午' if hour < 12 else '下午'}{(hour - 1) % 12 + 1}:{minute}"
    return f"{(hour - 1) % 12 + 1}:{minute} {'AM' if hour < 12 else 'PM'}"
