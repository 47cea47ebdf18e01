"""Tables, plot and catalogue of docs/notes/methods.md, from results, claims and recipes."""

import html
import statistics
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import method_results
from method_results import METHODS, Outcome, Row

from hexathlon.evaluators.judges.audit.estimates import mean_estimate
from hexathlon.evaluators.statistics.comparison import PairedComparison

COLOURS = {
    "supported": "#1a7f37",
    "not supported": "#6e7781",
    "contradicted": "#cf222e",
}
LEFT, WIDE, RIGHT, HIGH = 500, 320, 150, 17
"""Widths of the plot's titles, axis and figures, and height of a row."""


def points(value: float) -> str:
    """Return a share in points, with its sign."""
    return f"{100 * value:+.1f}".replace("-", "−")


def interval(difference: PairedComparison) -> str:
    low, high = points(difference.low), points(difference.high)
    return f"{points(difference.difference)} [{low}, {high}]"


def probability(value: float | None) -> str:
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def titles() -> dict[str, str]:
    """Return the methods' titles by name."""
    rows = tomllib.loads(METHODS.read_text(encoding="utf-8"))["method"]
    return {row["name"]: row["title"] for row in rows}


def success(values: Sequence[float]) -> str:
    """Return the mean in per cent, with the half width of its 95 % interval."""
    estimate = mean_estimate(values)
    if estimate is None:
        return f"{100 * statistics.fmean(values):.1f}"
    return f"{100 * estimate.value:.1f} ± {100 * (estimate.high - estimate.value):.1f}"


def arm_cells(outcome: Outcome, rows: Sequence[Row], tables: dict[str, Any]) -> list[str]:
    """Return success and learning rate of both arms, and the ratio of their times."""
    cells, seconds = [], []
    for arm in outcome.claim.arms:
        runs = method_results.runs_of(arm, rows, tables[arm[1]]["tuned"])
        if outcome.difference is None or not runs:
            cells.append("")
            continue
        rate = next(iter(runs.values()))["rate"]
        cells.append(f"{success([run['final'] for run in runs.values()])} ({1000 * rate:g})")
        seconds.append(method_results.mean_of(runs, "cpu_s"))
    return [*cells, f"{seconds[0] / seconds[1]:.2f}" if len(seconds) == 2 else ""]


def claims_table(outcomes: Sequence[Outcome], rows: Sequence[Row], file: Path) -> str:
    """Return the claims by topic, with their verdicts."""
    tables = method_results.settings_of(file)
    counts = {name: sum(o.verdict == name for o in outcomes) for name in (*COLOURS, "not run")}
    lines = [
        ", ".join(f"{count} {name}" for name, count in counts.items())
        + f"; {len(outcomes)} claims in all, from {len(rows)} runs.",
        "",
        "| claim | method | other | difference | p | time | verdict |",
        "|---|---|---|---|---|---|---|",
    ]
    for topic in dict.fromkeys(outcome.claim.topic for outcome in outcomes):
        lines.append(f"| *{topic}* | | | | | | |")
        for outcome in outcomes:
            if outcome.claim.topic == topic and not is_correction(outcome):
                lines.append(claim_line(outcome, rows, tables))
    return "\n".join([*lines, "", *corrections_table(outcomes)])


def is_correction(outcome: Outcome) -> bool:
    """Return whether a claim is about a correction for a late sampler."""
    claim = outcome.claim
    return claim.setting.startswith("lag") and claim.method != "grpo"


def corrections_table(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the lines of the table of corrections by lag, each against none at the same lag."""
    method_titles = titles()
    own = [outcome for outcome in outcomes if is_correction(outcome)]
    lags = sorted({outcome.claim.setting for outcome in own})
    if not own:
        return []
    head = " | ".join(f"{lag.removeprefix('lag')} behind" for lag in lags)
    lines = [
        "Corrections for a late sampler are better than GRPO without one, by updates behind:",
        "",
        f"| correction | {head} |",
        "|---" * (len(lags) + 1) + "|",
    ]
    for method in dict.fromkeys(outcome.claim.method for outcome in own):
        cells = []
        for lag in lags:
            here = [o for o in own if (o.claim.method, o.claim.setting) == (method, lag)]
            cells += [correction_cell(outcome) for outcome in here] or [""]
        title = html.escape(method_titles[method], quote=False)
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return lines


def correction_cell(outcome: Outcome) -> str:
    if outcome.difference is None:
        return "not run"
    return f"{interval(outcome.difference)}, {verdict_text(outcome)}"


def verdict_text(outcome: Outcome) -> str:
    """Return the verdict on a claim that was run, in bold unless it is `supported`."""
    return outcome.verdict if outcome.verdict == "supported" else f"**{outcome.verdict}**"


def claim_line(outcome: Outcome, rows: Sequence[Row], tables: dict[str, Any]) -> str:
    claim = outcome.claim
    method, other, time = arm_cells(outcome, rows, tables)
    verdict = verdict_text(outcome)
    if outcome.difference is None:
        verdict = f"not run: {claim.missing}" if claim.missing else "not run"
    title = claim.title
    if claim.expect == "equal":
        title += f" (within ± {100 * claim.margin:g})"
    if claim.added:
        title += f" *(added {claim.added})*"
    return f"| {title} | {method} | {other} | {difference_cells(outcome)} | {time} | {verdict} |"


def difference_cells(outcome: Outcome) -> str:
    """Return the cells of the difference and its p-value, empty if it was not run."""
    if outcome.difference is None:
        return " | "
    return f"{interval(outcome.difference)} | {probability(outcome.adjusted)}"


def settings_table(rows: Sequence[Row], file: Path) -> str:
    """Return the settings, with GRPO's success before and after training."""
    lines = [
        "| setting | knobs | tokens | updates | GRPO before | after | CPU s |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, table in method_results.settings_of(file).items():
        runs = method_results.runs_of(("grpo", name), rows, table["tuned"])
        cells = ["not run", "", "", ""]
        if runs:
            cells = [
                f"{method_results.mean_of(runs, 'updates'):.0f}",
                f"{100 * statistics.fmean(run['curve'][0] for run in runs.values()):.1f}",
                success([run["final"] for run in runs.values()]),
                f"{method_results.mean_of(runs, 'cpu_s'):.2f}",
            ]
        head = f"| {table['title']} | {table['about']} | {table['budget']:,} |"
        lines.append(f"{head} {' | '.join(cells)} |")
    return "\n".join(lines)


def others_table(rows: Sequence[Row], file: Path) -> str:
    """Return the methods without a claim, on the plain setting."""
    method_titles, tables = titles(), method_results.settings_of(file)
    lines = [
        "| method | success | GRPO | difference | p | time | |",
        "|---|---|---|---|---|---|---|",
    ]
    for outcome in method_results.without_claim(rows, file):
        method, other, time = arm_cells(outcome, rows, tables)
        title = html.escape(method_titles[outcome.claim.method], quote=False)
        cells = [title, method, other, difference_cells(outcome), time, outcome.verdict]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def plot(outcomes: Sequence[Outcome]) -> str:
    """Draw the differences with their intervals, one row per claim that was run."""
    ran = [outcome for outcome in outcomes if outcome.difference is not None]
    topics = list(dict.fromkeys(outcome.claim.topic for outcome in ran))
    edges = [abs(v) for o in ran if o.difference for v in (o.difference.low, o.difference.high)]
    limit = min(1.0, max([0.1, *edges]))
    height = HIGH * (len(ran) + len(topics) + 3)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDE + RIGHT} {height}" '
        'font-family="system-ui,sans-serif" font-size="11" fill="#1f2328">',
        f'<rect width="{LEFT + WIDE + RIGHT}" height="{height}" fill="#fff"/>',
        *axis(limit, height),
    ]
    y = 2 * HIGH
    for topic in topics:
        y += HIGH
        parts.append(f'<text x="8" y="{y}" font-weight="600">{html.escape(topic)}</text>')
        for outcome in ran:
            if outcome.claim.topic == topic:
                y += HIGH
                parts += plot_row(outcome, limit, y)
    return "\n".join([*parts, "</svg>\n"])


def place(value: float, limit: float) -> float:
    """Return the horizontal position of a difference in the plot."""
    return LEFT + WIDE / 2 * (1 + max(-1.0, min(1.0, value / limit)))


def axis(limit: float, height: float) -> Iterator[str]:
    step = next(s for s in (0.05, 0.1, 0.2, 0.5) if limit / s <= 5)
    for number in range(-int(limit / step + 1e-9), int(limit / step + 1e-9) + 1):
        x = place(number * step, limit)
        dash = "" if number == 0 else ' stroke-dasharray="2 3"'
        yield (
            f'<line x1="{x:.1f}" y1="{1.6 * HIGH}" x2="{x:.1f}" y2="{height - 8}" '
            f'stroke="#afb8c1"{dash}/>'
        )
        label = f"{100 * number * step:+.0f}".replace("-", "−") if number else "0"
        yield f'<text x="{x:.1f}" y="{HIGH}" text-anchor="middle">{label}</text>'


def plot_row(outcome: Outcome, limit: float, y: float) -> Iterator[str]:
    claim, difference = outcome.claim, outcome.difference
    assert difference is not None
    colour, middle = COLOURS[outcome.verdict], y - 4
    low, high = place(difference.low, limit), place(difference.high, limit)
    if claim.expect == "equal":
        left, right = place(-claim.margin, limit), place(claim.margin, limit)
        yield (
            f'<rect x="{left:.1f}" y="{y - 11}" width="{right - left:.1f}" height="13" '
            'fill="#ddf4ff"/>'
        )
    yield f'<text x="20" y="{y}">{html.escape(claim.title)}</text>'
    yield (
        f'<line x1="{low:.1f}" y1="{middle}" x2="{high:.1f}" y2="{middle}" stroke="{colour}" '
        'stroke-width="2"/>'
    )
    yield (
        f'<circle cx="{place(difference.difference, limit):.1f}" cy="{middle}" r="3.5" '
        f'fill="{colour}"/>'
    )
    yield (
        f'<text x="{LEFT + WIDE + 12}" y="{y}" fill="{colour}">'
        f"{points(difference.difference)}, {outcome.verdict}</text>"
    )


def catalogue() -> str:
    """Return formula, source and recipe of each method."""
    lines = []
    for method in tomllib.loads(METHODS.read_text(encoding="utf-8"))["method"]:
        source = f" ({method['source']})" if method["source"] else ""
        recipe = method["recipe"].strip()
        lines += [f"### {method['title']}", "", f"{method['formula']}{source}.", ""]
        lines += ["```toml", recipe, "```", ""] if recipe else ["The defaults.", ""]
    return "\n".join(lines).strip()


def write(rows: Sequence[Row], file: Path, docs: Path) -> None:
    """Insert the tables and the catalogue between their markers in the page, and save the plot."""
    page = docs / "methods.md"
    text = page.read_text(encoding="utf-8")
    outcomes = method_results.outcomes(rows, file)
    parts = {
        "claims": claims_table(outcomes, rows, file),
        "settings": settings_table(rows, file),
        "others": others_table(rows, file),
        "catalogue": catalogue(),
    }
    for mark, new in parts.items():
        text = replaced(text, mark, new)
    page.write_text(text, encoding="utf-8")
    (docs / "methods.svg").write_text(plot(outcomes), encoding="utf-8")


def replaced(text: str, mark: str, new: str) -> str:
    """Return a page with a new block between two markers.

    Raises:
        ValueError: If the page has no such markers.
    """
    begin, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->"
    if begin not in text or end not in text:
        raise ValueError(f"expected the markers {begin.strip()} and {end} in the page; add them")
    before, _, rest = text.partition(begin)
    return f"{before}{begin}{new}\n{end}{rest.partition(end)[2]}"
