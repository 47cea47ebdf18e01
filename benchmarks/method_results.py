"""From finished runs of `methods.py` to the verdicts on the claims of `method_claims.toml`."""

import statistics
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.evaluators.statistics.comparison import PairedComparison, holm, paired_comparison

HERE = Path(__file__).resolve().parent
FILE = HERE / "method_claims.toml"
METHODS = HERE / "methods.toml"
RATES = (1e-3, 2e-3, 4e-3)
TUNING = (1000, 1001)
"""Seeds on which learning rates are chosen."""

LEAST_SEEDS = 8
"""Minimum number of pairs for a verdict."""

LEVEL = 0.05
GAIN = 0.9
"""Share of the other arm's gain that `saved` takes as the level to reach."""

PLAIN = "plain"
Row = Mapping[str, Any]
Arm = tuple[str, str]
"""Method and setting."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim: an arm against another, by a measure, and what is expected."""

    name: str
    topic: str
    title: str
    method: str
    setting: str
    expect: str
    """`higher`, `lower`, or `equal` within `margin`."""

    against: str = "grpo"
    against_setting: str = ""
    """The same as `setting` if empty."""

    measure: str = "final"
    margin: float = 0.0
    missing: str = ""
    """Why it cannot be tested yet."""

    added: str = ""
    """When it was added, if not before the first runs."""

    @property
    def arms(self) -> tuple[Arm, Arm]:
        """The claim's arm, and the one that it is compared with."""
        other = self.against_setting or self.setting
        return (self.method, self.setting), (self.against, other)


class Outcome(NamedTuple):
    """The result of a claim."""

    claim: Claim
    difference: PairedComparison | None
    """None if it was not run."""

    adjusted: float | None
    """p-value after Holm's correction; None for equivalence."""

    verdict: str


def claims_of(file: Path = FILE) -> list[Claim]:
    """Return the claims in the order in which they are run."""
    return [Claim(**row) for row in tomllib.loads(file.read_text(encoding="utf-8"))["claim"]]


def others_of(file: Path = FILE) -> list[str]:
    """Return the methods that are compared on the plain setting without a claim."""
    names: list[str] = tomllib.loads(file.read_text(encoding="utf-8")).get("others", [])
    return names


def settings_of(file: Path = FILE) -> dict[str, dict[str, Any]]:
    """Return the tables of the settings by name."""
    rows = tomllib.loads(file.read_text(encoding="utf-8"))["setting"]
    return {row["name"]: {"tuned": row["name"], **row} for row in rows}


def best_rate(method: str, setting: str, rows: Sequence[Row]) -> float | None:
    """Return the rate with the highest mean success on the tuning seeds; None if one is missing.

    Of equal rates, the lowest.
    """
    scores: dict[float, dict[int, float]] = {rate: {} for rate in RATES}
    for row in rows:
        if (row["method"], row["setting"]) == (method, setting) and row["seed"] in TUNING:
            scores[row["rate"]][row["seed"]] = row["final"]
    if any(len(by_seed) < len(TUNING) for by_seed in scores.values()):
        return None
    return max(RATES, key=lambda rate: sum(scores[rate].values()))


def runs_of(arm: Arm, rows: Sequence[Row], tuned: str) -> dict[int, Row]:
    """Return the runs of an arm by seed, at its learning rate."""
    rate = best_rate(arm[0], tuned, rows)
    return {
        row["seed"]: row
        for row in rows
        if (row["method"], row["setting"]) == arm
        and row["rate"] == rate
        and row["seed"] not in TUNING
    }


def reached(curve: Sequence[float], level: float) -> float:
    """Return the share of the budget after which a curve reaches a level; 1 if it never does."""
    for number, (before, after) in enumerate(zip(curve, curve[1:], strict=False)):
        if max(before, after) >= level:
            part = 0.0 if before >= level else (level - before) / (after - before)
            return (number + part) / (len(curve) - 1)
    return 1.0


def measured(measure: str, run: Row, other: Row) -> tuple[float, float]:
    """Return a measure of a run and of the other arm's with the same seed.

    Raises:
        ValueError: If there is no such measure.
    """
    if measure == "saved":
        begin = other["curve"][0]
        level = begin + GAIN * (other["final"] - begin)
        base = reached(other["curve"], level)
        return 1.0 - reached(run["curve"], level) / base if base else 0.0, 0.0
    if measure == "turns_saved":
        needed = [row["turns"] / max(row["updates"], 1) for row in (run, other)]
        return 1.0 - needed[0] / needed[1], 0.0
    if measure not in ("final", "length_bias"):
        raise ValueError(
            f"expected the measure final, saved, length_bias or turns_saved, got {measure!r}"
        )
    return run[measure], other[measure]


def compared(
    claim: Claim, rows: Sequence[Row], settings: Mapping[str, dict[str, Any]]
) -> PairedComparison | None:
    """Return the paired difference between a claim's arms; None with too few seeds."""
    runs, others = (runs_of(arm, rows, settings[arm[1]]["tuned"]) for arm in claim.arms)
    seeds = sorted(set(runs) & set(others))
    if len(seeds) < LEAST_SEEDS:
        return None
    values = [measured(claim.measure, runs[seed], others[seed]) for seed in seeds]
    names = [str(seed) for seed in seeds]
    return paired_comparison(
        dict(zip(names, (value for value, _ in values), strict=True)),
        dict(zip(names, (value for _, value in values), strict=True)),
    )


def verdict(claim: Claim, difference: PairedComparison, adjusted: float | None) -> str:
    """Return the verdict: supported, not supported or contradicted.

    If Holm's p-value is below 0.05, a difference of the expected sign is supported, and one of the
    other sign contradicted. Equality is supported if the interval lies within the margin, and
    contradicted if it lies outside.
    """
    if claim.expect == "equal":
        if -claim.margin <= difference.low and difference.high <= claim.margin:
            return "supported"
        outside = difference.low > claim.margin or difference.high < -claim.margin
        return "contradicted" if outside else "not supported"
    if adjusted is None or adjusted >= LEVEL:
        return "not supported"
    higher = difference.difference > 0
    return "supported" if higher == (claim.expect == "higher") else "contradicted"


def outcomes(rows: Sequence[Row], file: Path = FILE) -> list[Outcome]:
    """Return the outcomes of all claims; Holm's correction is over all that expect a difference."""
    settings = settings_of(file)
    pairs = [(c, None if c.missing else compared(c, rows, settings)) for c in claims_of(file)]
    tested = {c.name: d.p_value for c, d in pairs if d is not None and c.expect != "equal"}
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    result = []
    for claim, difference in pairs:
        p = adjusted.get(claim.name)
        word = "not run" if difference is None else verdict(claim, difference, p)
        result.append(Outcome(claim, difference, p, word))
    return result


def without_claim(rows: Sequence[Row], file: Path = FILE) -> list[Outcome]:
    """Return the differences to GRPO of the methods without a claim, with their own correction."""
    settings = settings_of(file)
    claims = [Claim(name, "", "", name, PLAIN, "higher") for name in others_of(file)]
    pairs = [(claim, compared(claim, rows, settings)) for claim in claims]
    ran = [(claim, difference) for claim, difference in pairs if difference is not None]
    adjusted = holm([difference.p_value for _, difference in ran])
    result = [
        Outcome(claim, difference, p, _direction(difference, p))
        for (claim, difference), p in zip(ran, adjusted, strict=True)
    ]
    return result + [Outcome(claim, None, None, "not run") for claim, d in pairs if d is None]


def _direction(difference: PairedComparison, adjusted: float) -> str:
    if adjusted >= LEVEL:
        return "no difference found"
    return "better" if difference.difference > 0 else "worse"


def mean_of(runs: Mapping[int, Row], name: str) -> float:
    """Return the mean of an entry over the runs of an arm."""
    return statistics.fmean(run[name] for run in runs.values())
