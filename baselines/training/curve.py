"""Learning curves: a self-contained page without scripts, and an image."""

import html
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from hexathlon.baselines.training.metrics import read_metrics

__all__ = ["write_curve"]

_WIDTH, _HEIGHT, _PAD = 720, 220, 52
Panel = tuple[str, tuple[str, ...], bool]
"""Title, metrics, and whether their range is from 0 to 1."""

_PANELS: tuple[Panel, ...] = (
    ("Success", ("success", "dev/success"), True),
    ("Reward", ("reward",), True),
    ("Entropy (nats)", ("entropy",), False),
    ("Gradient norm", ("grad_norm",), False),
    ("Seconds per step", ("seconds/collect", "seconds/learn"), False),
)
_COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df", "#bf3989", "#57606a")

_STYLE = """body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:760px;padding:0 1rem;
color:#1f2328;background:#fff}svg{width:100%;height:auto}h2{font-size:1rem;margin:1.6rem 0 .2rem}
text{font:11px system-ui,sans-serif;fill:#59636e}pre{overflow:auto;background:#f6f8fa;padding:1rem}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}pre{background:#161b22}}"""


def write_curve(run: Path, after: Mapping[str, float] | None = None) -> Path:
    """Plot a run's metrics to `curve.html`, and to `curve.png` if matplotlib is installed.

    Mixtures have further panels with a line per event.

    Args:
        run: The run's folder.
        after: `dev/success` after training, for the last points of the curve; for a mixture also
            by event, as `dev/success/sql-tiny`.

    Returns:
        Path of the page.
    """
    rows = read_metrics(run / "metrics.jsonl")
    if rows and after is not None:
        rows[-1] = {**rows[-1], **after}
    recipe = json.loads((run / "recipe.json").read_text())
    chosen = _panels(rows)
    panels = [_panel(title, names, unit, rows) for title, names, unit in chosen]
    title = html.escape(f"Training: {recipe['name']}")
    text = html.escape(json.dumps(recipe, indent=1))
    page = (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
        "<meta name=viewport content='width=device-width,initial-scale=1'>"
        f"<style>{_STYLE}</style><h1>{title}</h1>{''.join(panels)}"
        f"<h2>Recipe</h2><pre>{text}</pre></html>"
    )
    path = run / "curve.html"
    path.write_text(page, encoding="utf-8")
    _picture(run / "curve.png", recipe["name"], rows, chosen)
    return path


def _panels(rows: Sequence[Mapping[str, float]]) -> list[Panel]:
    """Return the panels of a run, including those by event."""
    names = sorted({name for row in rows for name in row})
    of_events = [
        (title, tuple(name for name in names if name.startswith(prefix)), True)
        for title, prefix in (
            ("Success on unseen tasks by event", "dev/success/"),
            ("Reward by event", "reward/"),
        )
    ]
    return [_PANELS[0], *of_events, *_PANELS[1:]]


def _coloured(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    return zip(names, itertools.cycle(_COLOURS), strict=False)


def _picture(
    path: Path, name: str, rows: Sequence[dict[str, float]], panels: Sequence[Panel]
) -> None:
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("agg", force=False)
    from matplotlib.figure import Figure

    drawn = [panel for panel in panels if any(key in row for row in rows for key in panel[1])]
    figure = Figure(figsize=(8.0, 2.2 * len(drawn)), layout="constrained")
    for place, (title, names, unit) in enumerate(drawn):
        axes = figure.add_subplot(len(drawn), 1, place + 1)
        for key, colour in _coloured(names):
            points = [(row["step"], row[key]) for row in rows if key in row]
            if points:
                mark = "o" if key.startswith("dev/") else None
                axes.plot(*zip(*points, strict=True), color=colour, label=key, marker=mark)
        axes.set_title(title, loc="left", fontsize="medium")
        axes.legend(frameon=False, fontsize="small")
        axes.spines[["top", "right"]].set_visible(False)
        if unit:
            axes.set_ylim(0.0, 1.0)
    figure.axes[-1].set_xlabel("step")
    figure.suptitle(f"Training: {name}")
    figure.savefig(path, dpi=120, metadata={"Software": None})


def _panel(title: str, names: Sequence[str], unit: bool, rows: Sequence[dict[str, float]]) -> str:
    lines = [[(row["step"], row[name]) for row in rows if name in row] for name in names]
    values = [value for line in lines for _, value in line]
    if not values:
        return ""
    low, high = (0.0, 1.0) if unit else (min(0.0, *values), max(values) or 1.0)
    last = max(step for line in lines for step, _ in line) or 1
    drawn = []
    for (name, colour), line in zip(_coloured(names), lines, strict=False):
        points = " ".join(
            f"{_PAD + step / last * (_WIDTH - 2 * _PAD):.1f},"
            f"{_HEIGHT - _PAD - (value - low) / (high - low or 1.0) * (_HEIGHT - 2 * _PAD):.1f}"
            for step, value in line
        )
        drawn.append(
            f"<polyline fill=none stroke={colour} stroke-width=2 points='{points}'>"
            f"<title>{html.escape(name)}</title></polyline>"
        )
    legend = "  ".join(
        f"<tspan fill={colour}>{html.escape(name)}</tspan>" for name, colour in _coloured(names)
    )
    return (
        f"<h2>{html.escape(title)}</h2><svg viewBox='0 0 {_WIDTH} {_HEIGHT}' role=img>"
        f"<line x1={_PAD} y1={_HEIGHT - _PAD} x2={_WIDTH - _PAD} y2={_HEIGHT - _PAD} "
        f"stroke=#8c959f />"
        f"<text x={_PAD - 8} y={_PAD + 4} text-anchor=end>{high:.3g}</text>"
        f"<text x={_PAD - 8} y={_HEIGHT - _PAD + 4} text-anchor=end>{low:.3g}</text>"
        f"<text x={_PAD} y={_HEIGHT - _PAD + 16}>step 0</text>"
        f"<text x={_WIDTH - _PAD} y={_HEIGHT - _PAD + 16} text-anchor=end>step {last:g}</text>"
        f"<text x={_WIDTH - _PAD} y={_PAD - 12} text-anchor=end>{legend}</text>"
        f"{''.join(drawn)}</svg>"
    )
