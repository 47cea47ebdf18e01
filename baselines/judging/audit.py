"""Audits a judge on labelled replies: everything that has to be known before its scores are used.

One part per question; each asks the judge and hands the answers to the statistics in
`hexathlon.evaluators.judges.audit`. What is asked of which reply follows from the seed.
"""

import itertools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from hexathlon.baselines.judging.client import JudgeClient
from hexathlon.baselines.judging.comparing import GroupwiseJudge, PairwiseJudge
from hexathlon.baselines.judging.concurrency import at_once
from hexathlon.baselines.judging.pointwise import PointwiseJudge
from hexathlon.evaluators.judges.aggregate import score
from hexathlon.evaluators.judges.audit.agreement import alpha_estimate, kappa_estimate
from hexathlon.evaluators.judges.audit.attacks import FIELDS, INJECTIONS, VERSION, master_replies
from hexathlon.evaluators.judges.audit.biases import (
    flip_rate,
    length_slope,
    rank_agreement,
    self_preference,
    swap_test,
)
from hexathlon.evaluators.judges.audit.corrected import corrected_rate, powered_mean
from hexathlon.evaluators.judges.audit.document import criterion_hash, sealed
from hexathlon.evaluators.judges.audit.estimates import Estimate, mean_estimate, rate_estimate
from hexathlon.evaluators.judges.audit.labelled import LabelledReply, labels_hash, padded
from hexathlon.evaluators.judges.labels import Decision
from hexathlon.evaluators.judges.rubric import Criterion, Rubric
from hexathlon.evaluators.judges.transcript import Transcript
from hexathlon.tasks.seeding import generator_for

__all__ = ["AuditSettings", "Auditor"]


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """How much is asked. A part of size 0 is left out."""

    seed: int = 0
    items: int | None = None
    """Labelled criteria that are judged to measure agreement; None for all."""

    repeat_items: int = 100
    repeats: int = 5
    pairs: int = 200
    padded: int = 200
    groups: int = 60
    permutations: int = 2
    attacked: int = 4
    """Replies per injection, and questions per master key."""

    level: float = 0.6
    """The lower end of kappa's interval from which a criterion counts as established."""

    labelled_share: float = 0.2
    """Part of the labels that prediction-powered inference may use."""

    own: tuple[str, ...] = ()
    """Authors of the labelled set that count as the judge's kin; its families by default."""


class _Item(NamedTuple):
    reply: LabelledReply
    criterion: Criterion

    @property
    def truth(self) -> str:
        return self.reply.labels[self.criterion.id]

    @property
    def value(self) -> float:
        value = self.criterion.value_of(self.truth)
        assert value is not None, "an abstention is no label"
        return value

    def oriented(self, value: float) -> float:
        """Return a value with 1 for what is wanted: of a pitfall, that it was not met."""
        return value if self.criterion.weight > 0 else 1.0 - value


class Auditor:
    """Measures one judge.

    Args:
        client: Asks the judge.
        rubric: What the labels are labels of.
        replies: Labelled replies.
        settings: How much is asked.
        concurrency: Questions at once.
        tick: Called after each question, with the part's name.
    """

    def __init__(
        self,
        client: JudgeClient,
        rubric: Rubric,
        replies: Sequence[LabelledReply],
        settings: AuditSettings,
        concurrency: int = 64,
        tick: Callable[[str], None] = lambda part: None,
    ) -> None:
        self._client, self._rubric, self._settings = client, rubric, settings
        self._replies, self._concurrency, self._tick = list(replies), concurrency, tick
        self._judge = PointwiseJudge(client)
        self._bare = PointwiseJudge(client, guarded=False)
        items = [
            _Item(reply, one)
            for reply in self._replies
            for one in rubric.judged
            if one.id in reply.labels
        ]
        self._items = items if settings.items is None else self._some(items, settings.items)
        self._found: list[Decision] = []

    async def run(self) -> dict[str, Any]:
        """Return the sealed audit.

        Raises:
            EngineError: The judge's server fails for good.
        """
        self._found = await self._decide("agreement", self._judge, self._items)
        parts: dict[str, Any] = {
            "judge": self._client.identity.as_json(),
            "rubric": {"id": self._rubric.id, "hash": self._rubric.hash},
            "labels": {
                "hash": labels_hash(self._replies),
                "replies": len(self._replies),
                "items": len(self._items),
            },
            "settings": {"seed": self._settings.seed, "attacks": VERSION},
            "agreement": self._agreement(),
            "unscored": self._unscored(),
            "self_preference": _json(self._self_preference()),
            "corrected": self._corrected(),
            "flips": await self._flips(),
            "length": await self._length(),
            "swap": await self._swap(),
            "groups": await self._groups(),
            "injection": await self._injection(),
            "master_keys": await self._master_keys(),
            "controls": await self._controls(),
            "usage": self._client.usage._asdict(),
        }
        return sealed({**parts, "timing": {"latencies": self._client.latencies}})

    async def _decide(
        self, part: str, judge: PointwiseJudge, items: Sequence[_Item], repeat: int = 0
    ) -> list[Decision]:
        rows = [(one.criterion, one.reply.transcript) for one in items]
        return await self._ask(part, judge, rows, repeat)

    async def _ask(
        self,
        part: str,
        judge: PointwiseJudge,
        rows: Sequence[tuple[Criterion, Transcript]],
        repeat: int = 0,
    ) -> list[Decision]:
        return await self._all(part, [partial(judge.decide, *row, repeat=repeat) for row in rows])

    async def _all(self, part: str, questions: Sequence[Callable[[], Awaitable[Any]]]) -> list[Any]:
        answers: list[Any] = [None] * len(questions)

        async def one(row: tuple[int, Callable[[], Awaitable[Any]]]) -> None:
            answers[row[0]] = await row[1]()
            self._tick(part)

        await at_once(enumerate(questions), one, self._concurrency)
        return answers

    def _agreement(self) -> dict[str, Any]:
        level = self._settings.level
        rows: dict[str, Any] = {}
        for criterion in self._rubric.judged:
            places = [i for i, one in enumerate(self._items) if one.criterion is criterion]
            if not places:
                continue
            row = self._agreement_on(places, criterion.menu, criterion.id)
            low = None if row["kappa"] is None else row["kappa"]["low"]
            sound = low is not None and low >= level
            row |= {"hash": criterion_hash(criterion)}
            rows[criterion.id] = {**row, "status": "established" if sound else "experimental"}
        return {
            "level": level,
            "overall": self._agreement_on(range(len(self._items)), None, "all"),
            "criteria": rows,
        }

    def _agreement_on(
        self, places: Sequence[int], menu: Sequence[str] | None, name: str
    ) -> dict[str, Any]:
        scored = [i for i in places if self._found[i].value is not None]
        truth = [self._items[i].truth for i in scored]
        said = [str(self._found[i].label) for i in scored]
        values = list(menu) if menu is not None else sorted(set(truth) | set(said))
        metric = "ordinal" if menu is not None and len(menu) > 2 else "nominal"
        units = [[self._items[i].truth, _scored_label(self._found[i])] for i in places]
        seed = self._settings.seed
        return {
            "items": len(places),
            "scored": len(scored),
            "accuracy": _json(
                rate_estimate(sum(a == b for a, b in zip(truth, said, strict=True)), len(scored))
            ),
            "kappa": _json(kappa_estimate(truth, said, seed, name)),
            "alpha": _json(
                alpha_estimate(units, values, metric, seed, name)  # type: ignore[arg-type]
            ),
        }

    def _unscored(self) -> dict[str, Any]:
        """Count what has no value, and bound the mean score by it (rule J13)."""
        reasons: dict[str, int] = {}
        low, high = [], []
        for item, found in zip(self._items, self._found, strict=True):
            if found.value is None:
                reasons[found.why] = reasons.get(found.why, 0) + 1
            low.append(0.0 if found.value is None else item.oriented(found.value))
            high.append(1.0 if found.value is None else item.oriented(found.value))
        count = sum(reasons.values())
        return {
            "rate": _json(rate_estimate(count, len(self._items))),
            "reasons": dict(sorted(reasons.items())),
            "bounds": [sum(low) / len(low), sum(high) / len(high)] if low else None,
        }

    def _self_preference(self) -> Estimate | None:
        own = set(self._settings.own or self._client.identity.families)
        sides: tuple[list[float], list[float]] = ([], [])
        for item, found in zip(self._items, self._found, strict=True):
            if found.value is not None and item.reply.author:
                gap = item.oriented(found.value) - item.oriented(item.value)
                sides[item.reply.author not in own].append(gap)
        return self_preference(*sides)

    def _corrected(self) -> dict[str, Any]:
        """Estimate the mean score from a part of the labels and all verdicts."""
        rows = [
            (item.oriented(item.value), item.oriented(found.value))
            for item, found in zip(self._items, self._found, strict=True)
            if found.value is not None
        ]
        order = generator_for("ppi", self._settings.seed).permutation(len(rows))
        count = max(2, round(self._settings.labelled_share * len(rows)))
        with_label = [rows[int(i)] for i in order[:count]]
        without = [rows[int(i)][1] for i in order[count:]]
        binary = [(h, f) for h, f in with_label if h in (0.0, 1.0) and f in (0.0, 1.0)]
        passes = [f for h, f in binary if h == 1.0]
        fails = [1.0 - f for h, f in binary if h == 0.0]
        rate = None
        if passes and fails and without:
            judged = sum(without) / len(without)
            rate = corrected_rate(judged, sum(passes) / len(passes), sum(fails) / len(fails))
        return {
            "labels_used": len(with_label),
            "judged": _json(mean_estimate(without)),
            "powered": _json(powered_mean(without, with_label)),
            "by_error_rates": rate,
            "labels_alone": _json(mean_estimate([h for h, _ in with_label])),
        }

    async def _flips(self) -> dict[str, Any]:
        items = self._some(self._items, self._settings.repeat_items, "flips")
        labels: list[list[str | None]] = [[] for _ in items]
        for repeat in range(1, self._settings.repeats + 1):
            found = await self._decide("flips", self._judge, items, repeat)
            for row, decision in zip(labels, found, strict=True):
                row.append(decision.label)
        rate = flip_rate(labels)
        return {
            "items": len(items),
            "repeats": self._settings.repeats,
            "disagreement": _json(rate.disagreement),
            "unstable": _json(rate.unstable),
        }

    async def _length(self) -> dict[str, Any]:
        scored = [
            (item, found)
            for item, found in zip(self._items, self._found, strict=True)
            if found.value is not None
        ]
        slope = length_slope(
            [len(item.reply.reply) for item, _ in scored],
            [found.value for _, found in scored if found.value is not None],
            [item.value for item, _ in scored],
            [(item.criterion.id, item.truth) for item, _ in scored],
            [item.reply.id for item, _ in scored],
        )
        chosen = self._some(scored, self._settings.padded, "padded")
        longer = [_Item(padded(item.reply), item.criterion) for item, _ in chosen]
        again = await self._decide("padded", self._judge, longer)
        shifts, gains = [], []
        for (item, before), after in zip(chosen, again, strict=True):
            if before.value is not None and after.value is not None:
                shifts.append(after.value - before.value)
                gains.append(item.oriented(after.value) - item.oriented(before.value))
        return {
            "slope": _json(slope),
            "padded_shift": _json(mean_estimate(shifts)),
            "padded_gain": _json(mean_estimate(gains)),
        }

    async def _swap(self) -> dict[str, Any]:
        pairs = self._some(self._pairs(), self._settings.pairs, "pairs")
        judge = PairwiseJudge(self._client)
        questions = [
            partial(judge.compare, self._rubric, a.transcript, b.transcript) for a, b, _ in pairs
        ]
        found = await self._all("swap", questions)
        test = swap_test(
            [(one.forward, one.backward) for one in found], [better for _, _, better in pairs]
        )
        return {
            "pairs": len(pairs),
            "consistency": _json(test.consistency),
            "first_rate": _json(test.first_rate),
            "accuracy": _json(test.accuracy),
            "unscored": test.unscored,
        }

    async def _groups(self) -> dict[str, Any]:
        groups = self._some(self._scenes(), self._settings.groups, "groups")
        judge = GroupwiseJudge(self._client, permutations=self._settings.permutations)
        questions = [
            partial(
                judge.judge,
                self._rubric,
                [one.transcript for one in group],
                address=[group[0].scene],
            )
            for group in groups
        ]
        found = await self._all("groups", questions)
        known = [[self._known(one) for one in group] for group in groups]
        tau = rank_agreement([(a.values, b) for a, b in zip(found, known, strict=True)])
        unanswered = sum(one.calls - one.answered for one in found)
        return {"groups": len(groups), "tau": _json(tau), "unanswered": unanswered}

    async def _injection(self) -> dict[str, Any]:
        """Try each injection on replies that do not pass, field by field in turn."""
        failing = self._failing()
        rows = []
        fields = itertools.cycle(FIELDS.items())
        for name, text in INJECTIONS.items():
            for item in self._some(failing, self._settings.attacked, "injection", name):
                field, place = next(fields)
                rows.append((name, field, item, place(item.reply.question, item.reply.reply, text)))
        asked = [(item.criterion, transcript) for _, _, item, transcript in rows]
        names = [f"{name} in {field}" for name, field, _, _ in rows]
        return await self._attack("injection", asked, names)

    async def _master_keys(self) -> dict[str, Any]:
        rows, names = [], []
        positive = [item for item in self._items if item.criterion.weight > 0]
        for item in self._some(positive, self._settings.attacked, "master keys"):
            for name, text in master_replies(item.reply.question, item.criterion.text).items():
                rows.append((item.criterion, Transcript.of_reply(item.reply.question, text)))
                names.append(name)
        return await self._attack("master keys", rows, names)

    async def _attack(
        self, part: str, rows: Sequence[tuple[Criterion, Transcript]], names: Sequence[str]
    ) -> dict[str, Any]:
        """Return how often an attack passes, with and without the guards around the judge."""
        sides: dict[str, Any] = {}
        for side, judge in (("bare", self._bare), ("guarded", self._judge)):
            found = await self._ask(part, judge, rows)
            passed = [one.value is not None and one.value > 0 for one in found]
            sides[side] = _json(rate_estimate(sum(passed), len(rows)))
            sides[f"{side}_by"] = sorted({n for n, p in zip(names, passed, strict=True) if p})
        return {"tries": len(rows), **sides}

    async def _controls(self) -> dict[str, Any]:
        rows = [
            (one, control, Transcript.of_reply(control.question, control.reply))
            for one in self._rubric.judged
            for control in one.controls
        ]
        found = await self._ask("controls", self._judge, [(one, t) for one, _, t in rows])
        missed = [
            f"{one.id}: expected {control.label}, got {decision.label}"
            for (one, control, _), decision in zip(rows, found, strict=True)
            if decision.label != control.label
        ]
        return {"planted": len(rows), "missed": missed}

    def _failing(self) -> list[_Item]:
        """Return the items of positive criteria that do not pass, in truth and by the judge."""
        return [
            item
            for item, found in zip(self._items, self._found, strict=True)
            if item.criterion.weight > 0 and item.value == 0.0 and found.value == 0.0
        ]

    def _known(self, reply: LabelledReply) -> float:
        """Return the score that the labels give a reply."""
        values = {
            one.id: one.value_of(reply.labels[one.id]) if one.id in reply.labels else None
            for one in self._rubric.decided
        }
        found = score(self._rubric, values)
        return 0.5 * (found.low + found.high)

    def _scenes(self) -> list[list[LabelledReply]]:
        scenes: dict[str, list[LabelledReply]] = {}
        for reply in self._replies:
            scenes.setdefault(reply.scene, []).append(reply)
        return [group for group in scenes.values() if 2 <= len(group) <= 26]

    def _pairs(self) -> list[tuple[LabelledReply, LabelledReply, str]]:
        """Return pairs of one scene with a known winner, by turns the first and the second."""
        made: list[tuple[LabelledReply, LabelledReply, str]] = []
        for group in self._scenes():
            for a, b in itertools.combinations(group, 2):
                if self._known(a) != self._known(b):
                    first, second = (a, b) if len(made) % 2 == 0 else (b, a)
                    better = "first" if self._known(first) > self._known(second) else "second"
                    made.append((first, second, better))
        return made

    def _some(self, rows: Sequence[Any], count: int, *address: str) -> list[Any]:
        draw = generator_for("audit", self._settings.seed, *address)
        order = draw.permutation(len(rows))[:count]
        return [rows[int(index)] for index in sorted(order)]


def _scored_label(decision: Decision) -> str | None:
    return decision.label if decision.value is not None else None


def _json(estimate: Estimate | None) -> dict[str, Any] | None:
    return None if estimate is None else estimate.as_json()
