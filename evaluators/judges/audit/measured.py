"""Evaluation of decisions on labelled criteria: agreement, unscored share, length, kinship, means.

Asking the judge is `hexathlon.baselines.judging.audit`; this module evaluates its answers.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from hexathlon.evaluators.judges.audit.agreement import (
    MeasurementLevel,
    alpha_estimate,
    kappa_estimate,
)
from hexathlon.evaluators.judges.audit.biases import length_slope, self_preference
from hexathlon.evaluators.judges.audit.corrected import corrected_rate, powered_mean
from hexathlon.evaluators.judges.audit.document import criterion_hash
from hexathlon.evaluators.judges.audit.estimates import Estimate, rate_estimate, score_estimate
from hexathlon.evaluators.judges.audit.labelled import LabelledReply
from hexathlon.evaluators.judges.labels import Decision
from hexathlon.evaluators.judges.rubric import Criterion, Rubric
from hexathlon.tasks.seeding import generator_for

__all__ = [
    "LabelledDecision",
    "LabelledItem",
    "agreement",
    "as_json",
    "corrected_means",
    "kin_gap",
    "slope_of_length",
    "unscored",
]


class LabelledItem(NamedTuple):
    """One criterion of one labelled reply."""

    reply: LabelledReply
    criterion: Criterion

    @property
    def truth(self) -> str:
        """The label."""
        return self.reply.labels[self.criterion.id]

    @property
    def value(self) -> float:
        """The label's value, 0 to 1."""
        value = self.criterion.value_of(self.truth)
        assert value is not None, "an abstention is not a label"
        return value

    def oriented(self, value: float) -> float:
        """Return a value oriented so that 1 is desirable: for a pitfall, that it was not met."""
        return value if self.criterion.weight > 0 else 1.0 - value


LabelledDecision = tuple[LabelledItem, Decision]
"""An item and the judge's decision on it."""


def as_json(estimate: Estimate | None) -> dict[str, Any] | None:
    """Return an estimate as plain JSON; None for none."""
    return None if estimate is None else estimate.as_json()


def agreement(rows: Sequence[LabelledDecision], rubric: Rubric, level: float) -> dict[str, Any]:
    """Return chance-corrected agreement over all and by criterion (rule J11).

    A criterion is established if the lower end of kappa's interval reaches the level.
    """
    criteria: dict[str, Any] = {}
    for criterion in rubric.judged:
        own = [row for row in rows if row[0].criterion is criterion]
        if own:
            result = _agreement_on(own, criterion.menu)
            sound = result["kappa"] is not None and result["kappa"]["low"] >= level
            state = "established" if sound else "experimental"
            criteria[criterion.id] = {
                **result,
                "hash": criterion_hash(criterion),
                "status": state,
            }
    return {
        "level": level,
        "overall": _agreement_on(rows, None),
        "criteria": criteria,
    }


def _agreement_on(rows: Sequence[LabelledDecision], menu: Sequence[str] | None) -> dict[str, Any]:
    scored = [
        (item.truth, str(decision.label)) for item, decision in rows if decision.value is not None
    ]
    truth, judged = [a for a, _ in scored], [b for _, b in scored]
    values = list(menu) if menu is not None else sorted(set(truth) | set(judged))
    metric: MeasurementLevel = "ordinal" if menu is not None and len(menu) > 2 else "nominal"
    units = [
        [item.truth, None if decision.value is None else decision.label] for item, decision in rows
    ]
    hits = sum(a == b for a, b in scored)
    return {
        "items": len(rows),
        "scored": len(scored),
        "accuracy": as_json(rate_estimate(hits, len(scored))),
        "kappa": as_json(kappa_estimate(truth, judged)),
        "alpha": as_json(alpha_estimate(units, values, metric)),
    }


def unscored(rows: Sequence[LabelledDecision]) -> dict[str, Any]:
    """Count the decisions without a value, and bound the mean score accordingly (rule J13)."""
    reasons: dict[str, int] = {}
    known = 0.0
    for item, decision in rows:
        if decision.value is None:
            reasons[decision.why] = reasons.get(decision.why, 0) + 1
        else:
            known += item.oriented(decision.value)
    count, n = sum(reasons.values()), len(rows)
    return {
        "rate": as_json(rate_estimate(count, n)),
        "reasons": dict(sorted(reasons.items())),
        "bounds": [known / n, (known + count) / n] if n else None,
    }


def slope_of_length(rows: Sequence[LabelledDecision]) -> Estimate | None:
    """Return the label's increase per doubling of length, within criterion and true label (J9)."""
    scored = [(item, decision.value) for item, decision in rows if decision.value is not None]
    return length_slope(
        [len(item.reply.reply) for item, _ in scored],
        [value for _, value in scored],
        [item.value for item, _ in scored],
        [(item.criterion.id, item.truth) for item, _ in scored],
        [item.reply.id for item, _ in scored],
    )


def kin_gap(rows: Sequence[LabelledDecision], own: Sequence[str]) -> Estimate | None:
    """Return (judged - true) on replies of these authors, minus that on others (rule J10)."""
    kin: list[float] = []
    others: list[float] = []
    for item, decision in rows:
        if decision.value is not None and item.reply.author:
            gap = item.oriented(decision.value) - item.oriented(item.value)
            (kin if item.reply.author in own else others).append(gap)
    return self_preference(kin, others)


def corrected_means(rows: Sequence[LabelledDecision], share: float, seed: int) -> dict[str, Any]:
    """Estimate the mean score from a part of the labels and all verdicts.

    Args:
        rows: Items and decisions; unscored ones are excluded.
        share: Fraction of the labels that may be used.
        seed: Determines which labels are used.
    """
    pairs = [
        (item.oriented(item.value), item.oriented(decision.value))
        for item, decision in rows
        if decision.value is not None
    ]
    order = generator_for("ppi", seed).permutation(len(pairs))
    count = max(2, round(share * len(pairs)))
    used = [pairs[int(i)] for i in order[:count]]
    judged = [pairs[int(i)][1] for i in order[count:]]
    return {
        "labels_used": len(used),
        "judged": as_json(score_estimate(judged)),
        "powered": as_json(powered_mean(judged, used)),
        "by_error_rates": _by_error_rates(judged, used),
        "labels_alone": as_json(score_estimate([label for label, _ in used])),
    }


def _by_error_rates(judged: Sequence[float], used: Sequence[tuple[float, float]]) -> float | None:
    """Return the rate corrected by sensitivity and specificity, if all values are 0 or 1."""
    passes = [value for label, value in used if label == 1.0]
    fails = [1.0 - value for label, value in used if label == 0.0]
    binary = {0.0, 1.0}.issuperset(value for pair in used for value in pair)
    if not (binary and passes and fails and judged):
        return None
    sensitivity, specificity = sum(passes) / len(passes), sum(fails) / len(fails)
    return corrected_rate(sum(judged) / len(judged), sensitivity, specificity)
