"""Charts: drawn as SVG, with their figures as a table for readers who cannot see images."""

from collections.abc import Sequence

from markupsafe import Markup

from hexathlon.tasks.web.world.site import Call
from hexathlon.tasks.web.world.sites.sheets.formulas import Evaluator, parse_range
from hexathlon.tasks.web.world.sites.sheets.functions import shown
from hexathlon.tasks.web.world.store import StoreRow

__all__ = ["chart_of", "drawn"]

_WIDTH, _HEIGHT, _BASE = 640, 320, 220
_MAX_POINTS = 24


def chart_of(call: Call, evaluator: Evaluator, chart: StoreRow) -> Markup:
    """Draw a chart of two ranges of a sheet."""
    labels, figures = (
        _column(evaluator, chart["sheet"], chart[name]) for name in ("labels", "figures")
    )
    pairs = []
    for label, figure in zip(labels, figures, strict=False):
        try:
            pairs.append((label, float(figure)))
        except ValueError:
            continue
    return drawn(call, chart["title"], chart["kind"], pairs)


def drawn(call: Call, title: str, kind: str, pairs: Sequence[tuple[str, float]]) -> Markup:
    """Draw figures as bars or as a line."""
    pairs = pairs[:_MAX_POINTS]
    if not pairs:
        return Markup('<p class="empty">{}</p>').format(call.words("empty_list"))
    top = max(max(figure for _, figure in pairs), 1e-9)
    step = _WIDTH / len(pairs)
    shapes = _line(pairs, top, step) if kind == "line" else _bars(pairs, top, step)
    turned = len(pairs) > 7  # long rows of labels would overlap
    marks = Markup("").join(
        _mark(label, step * (i + 0.5), turned=turned) for i, (label, _) in enumerate(pairs)
    )
    rows = [[label, shown(figure)] for label, figure in pairs]
    table = call.ui.grid([call.words("label"), call.words("figure")], rows)
    return Markup(
        '<figure class="chart"><figcaption>{}</figcaption><svg viewBox="-60 0 {} {}" role="img" '
        'aria-label="{}">{}<g>{}</g></svg>{}</figure>'
    ).format(
        title,
        _WIDTH + 60,
        _HEIGHT,
        title,
        shapes,
        marks,
        call.ui.disclosure(call.words("chart_data"), table),
    )


def _mark(label: str, x: float, *, turned: bool) -> Markup:
    place = f"rotate(-35 {x:.0f} {_BASE + 14})" if turned else "rotate(0)"
    anchor = "end" if turned else "middle"
    return Markup(
        '<text x="{:.0f}" y="{}" text-anchor="{}" font-size="11" transform="{}">{} </text>'
    ).format(x, _BASE + (14 if turned else 18), anchor, place, label)


def _bars(pairs: Sequence[tuple[str, float]], top: float, step: float) -> Markup:
    return Markup("").join(
        Markup('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" class="bar"/>').format(
            step * (i + 0.15), _BASE - _height(figure, top), step * 0.7, _height(figure, top)
        )
        for i, (_, figure) in enumerate(pairs)
    )


def _line(pairs: Sequence[tuple[str, float]], top: float, step: float) -> Markup:
    points = " ".join(
        f"{step * (i + 0.5):.1f},{_BASE - _height(figure, top):.1f}"
        for i, (_, figure) in enumerate(pairs)
    )
    return Markup('<polyline points="{}" class="curve"/>').format(points)


def _height(figure: float, top: float) -> float:
    return max(0.0, figure) / top * (_BASE - 20)


def _column(evaluator: Evaluator, sheet: int, area: str) -> list[str]:
    bounds = parse_range(area)
    if bounds is None:
        return []
    (top, left), (bottom, right) = bounds
    last = min(bottom, top + 200)
    return [
        shown(evaluator.value(sheet, (row, column)))
        for row in range(top, last + 1)
        for column in range(left, right + 1)
    ]
