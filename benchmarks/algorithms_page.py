"""Table, plot and catalogue of docs/notes/algorithms.md, from results and algorithms.toml."""

import html
import math
import statistics
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

T_95 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}
"""Two-sided quantiles of Student's t by number of seeds."""

LEAST_SEEDS = 5
"""Minimum number of seeds for a comparison."""

COLUMNS, WIDE, HIGH, GAP = 5, 176, 112, 10


class SeedEstimate(NamedTuple):
    """Mean over seeds with its 95 % interval."""

    mean: float
    half: float

    @property
    def low(self) -> float:
        return self.mean - self.half

    @property
    def high(self) -> float:
        return self.mean + self.half


def estimate(values: Sequence[float]) -> SeedEstimate:
    half = 0.0
    if len(values) > 1:
        half = T_95[len(values)] * statistics.stdev(values) / math.sqrt(len(values))
    return SeedEstimate(statistics.fmean(values), half)


def on_grid(curve: Sequence[Sequence[float]], episodes: Sequence[float]) -> list[float]:
    """Return the most recent success at each number of episodes; resampled batches leave gaps."""
    result = []
    for expected in episodes:
        seen = [success for at, success in curve if at <= expected]
        result.append(seen[-1] if seen else curve[0][1])
    return result


class Result(NamedTuple):
    """Results of one algorithm."""

    algorithm: dict[str, Any]
    final: SeedEstimate
    curve: list[SeedEstimate]
    seeds: int
    cpu_s: float


def results(file: Path, rows: Sequence[dict[str, Any]]) -> list[Result]:
    result = []
    for algorithm in tomllib.loads(file.read_text(encoding="utf-8"))["algorithm"]:
        own = [row for row in rows if row["name"] == algorithm["name"]]
        if not own:
            continue
        last = max(row["curve"][-1][0] for row in own)
        grid = [last * step / 16 for step in range(1, 17)]
        lines = [on_grid(row["curve"], grid) for row in own]
        result.append(
            Result(
                algorithm,
                estimate([row["final"] for row in own]),
                [estimate(values) for values in zip(*lines, strict=True)],
                len(own),
                statistics.fmean(row["cpu_s"] for row in own),
            )
        )
    return result


def table(found: Sequence[Result]) -> str:
    control = next(result for result in found if result.algorithm["name"] == "control")
    lines = [
        "| | seeds | after training | mean of the curve | beats the control | CPU s | |",
        "|---|---|---|---|---|---|---|",
    ]
    lagged = False
    for result in found:
        if result.algorithm.get("lag") and not lagged:
            lagged = True
            lines.append("| *sampler 6 updates behind* | | | | | | |")
        title = html.escape(result.algorithm["title"], quote=False)
        beats = "yes" if result.final.low > control.final.high else "**no**"
        beats = beats if result.seeds >= LEAST_SEEDS else "not yet known"
        area = statistics.fmean(point.mean for point in result.curve)
        lines.append(
            f"| {title} | {result.seeds} | {shown(result)} | {area:.3f} | "
            f"{'' if result is control else beats} | {result.cpu_s:.1f} | "
            f"{result.algorithm.get('note', '')} |"
        )
    return "\n".join(lines)


def shown(result: Result) -> str:
    """Return mean and interval; a single seed has no interval."""
    half = f" ± {result.final.half:.3f}" if result.seeds > 1 else ""
    return f"{result.final.mean:.3f}{half}"


def plot(found: Sequence[Result]) -> str:
    """Draw one panel per algorithm: mean over seeds, its 95 % band, the control in grey."""
    control = next(result for result in found if result.algorithm["name"] == "control")
    rows = math.ceil(len(found) / COLUMNS)
    width, height = COLUMNS * (WIDE + GAP) + GAP, rows * (HIGH + GAP) + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="system-ui,sans-serif" font-size="10">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for number, result in enumerate(found):
        x = GAP + number % COLUMNS * (WIDE + GAP)
        y = GAP + number // COLUMNS * (HIGH + GAP)
        parts.append(panel(result, control, x, y))
    return "\n".join([*parts, "</svg>\n"])


def panel(result: Result, control: Result, x: float, y: float) -> str:
    left, top, right, bottom = x + 4, y + 18, x + WIDE - 4, y + HIGH - 4

    def points(values: Sequence[float]) -> str:
        wide = (right - left) / max(len(values) - 1, 1)
        return " ".join(
            f"{left + n * wide:.1f},{bottom - min(max(v, 0.0), 1.0) * (bottom - top):.1f}"
            for n, v in enumerate(values)
        )

    lows = points([point.low for point in result.curve]).split()
    highs = points([point.high for point in result.curve]).split()
    colour = "#1a7f37" if result.final.low > control.final.high else "#d1242f"
    lag = " (lag)" if result.algorithm.get("lag") else ""
    return (
        f'<rect x="{x}" y="{y}" width="{WIDE}" height="{HIGH}" fill="none" stroke="#d0d7de"/>'
        f'<text x="{x + 4}" y="{y + 12}" fill="#1f2328">'
        f"{html.escape(result.algorithm['title'][:26] + lag)}</text>"
        f'<text x="{x + WIDE - 4}" y="{y + 12}" text-anchor="end" fill="{colour}">'
        f"{result.final.mean:.2f}</text>"
        f'<polygon points="{" ".join([*highs, *reversed(lows)])}" fill="{colour}" opacity="0.2"/>'
        f'<polyline points="{points([p.mean for p in control.curve])}" fill="none" '
        'stroke="#8c959f" stroke-dasharray="3 2"/>'
        f'<polyline points="{points([p.mean for p in result.curve])}" fill="none" '
        f'stroke="{colour}" stroke-width="1.5"/>'
    )


def catalogue(file: Path) -> str:
    """Return formula, source and recipe of each algorithm."""
    lines = []
    for algorithm in tomllib.loads(file.read_text(encoding="utf-8"))["algorithm"]:
        lag = ""
        if "lag" in algorithm:
            lag = f" The comparison samples with a policy {algorithm['lag']} updates old."
        source = f" ({algorithm['source']})" if algorithm["source"] else ""
        lines += [
            f"### {algorithm['title']}{' under lag' if lag else ''}",
            "",
            f"{algorithm['formula']}{source}.{lag}",
            "",
            "```toml",
            algorithm["recipe"].strip(),
            "```",
            "",
        ]
    return "\n".join(lines).strip()


def write(file: Path, rows: Sequence[dict[str, Any]], docs: Path) -> None:
    """Insert table and catalogue between their markers in the page, and save the plot."""
    result = results(file, rows)
    page = docs / "algorithms.md"
    text = page.read_text(encoding="utf-8")
    text = replaced(text, "results", table(result))
    text = replaced(text, "catalogue", catalogue(file))
    page.write_text(text, encoding="utf-8")
    (docs / "algorithms.svg").write_text(plot(result), encoding="utf-8")


def replaced(text: str, mark: str, new: str) -> str:
    before, _, rest = text.partition(f"<!-- {mark} -->\n")
    _, _, after = rest.partition(f"<!-- end of {mark} -->")
    return f"{before}<!-- {mark} -->\n{new}\n<!-- end of {mark} -->{after}"
