"""Figures of pages as text: shares, amounts, times, money, and the drawing of an interval.

Functions rather than template macros, which cost ten times as much: a site prints half a million
figures.
"""

from __future__ import annotations

from markupsafe import Markup

from hexathlon.evaluators.summary import Score

__all__ = ["amount", "interval", "money", "percent", "seconds"]

_NONE = "\u2013"


def percent(share: float | None) -> str:
    """Return a share in per cent, with one digit after the point."""
    if share is None:
        return _NONE
    return f"{'-' if share < 0 else ''}{abs(100 * share):.1f}".replace("-", "\u2212")


def amount(value: float | None) -> str:
    """Return a number in at most four characters, such as 940, 1.2k or 3.4M."""
    if value is None:
        return _NONE
    if value >= 1_000_000:
        return f"{value / 1_000_000:.1f}M"
    if value >= 1000:
        return f"{value / 1000:.0f}k" if value >= 10_000 else f"{value / 1000:.1f}k"
    return f"{value:.0f}" if value >= 10 or value == round(value) else f"{value:.2g}"


def seconds(value: float | None) -> str:
    """Return a duration in seconds or milliseconds."""
    if value is None:
        return _NONE
    if value >= 1:
        return f"{value:.0f} s" if value >= 100 else f"{value:.1f} s"
    return f"{1000 * value:.0f} ms" if value >= 0.001 or value == 0 else "< 1 ms"


def money(value: float | None) -> str:
    """Return an amount in dollars: cents, or two digits of what is less than ten cents."""
    if value is None:
        return _NONE
    return f"${value:.2f}" if value >= 0.1 or value == 0 else f"${value:.2g}"


_LANE = (
    '<svg class="lane" viewBox="0 0 200 20" preserveAspectRatio="none" role="img" '
    'aria-label="{mean}, 95 % interval {low} to {high}">\n'
    '<rect class="track" x="0" y="9" width="200" height="2"/>\n'
    '<rect class="grid" x="50" y="6" width="1" height="8"/>'
    '<rect class="grid" x="100" y="6" width="1" height="8"/>'
    '<rect class="grid" x="150" y="6" width="1" height="8"/>\n'
    '{marks}<rect class="bar" x="{left:.1f}" y="6" width="{width:.1f}" height="8" rx="1"/>\n'
    '<rect class="mean" x="{middle:.1f}" y="3" width="3" height="14" rx="1"/>\n</svg>'
)
_MARK = '<rect class="{name}" x="{x:.1f}" y="2" width="1.5" height="16"/>\n'


def interval(score: Score, floor: float | None = None, ceiling: float | None = None) -> Markup:
    """Return a drawing of a score's interval, with marks of floor and ceiling if they are known."""
    found = score.interval
    if found is None:
        return Markup('<span class="none">no trial scored</span>')
    marks = "" if floor is None else _MARK.format(name="floor", x=199 * floor)
    marks += "" if ceiling is None else _MARK.format(name="ceiling", x=198.5 * ceiling)
    return Markup(  # numbers only
        _LANE.format(
            mean=percent(found.mean),
            low=percent(found.low),
            high=percent(found.high),
            marks=marks,
            left=200 * found.low,
            width=max(200 * (found.high - found.low), 1.5),
            middle=min(max(200 * found.mean - 1.5, 0), 197),
        )
    )
