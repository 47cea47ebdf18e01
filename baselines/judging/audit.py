"""Audit of a judge on labelled replies, which is required before its scores are used.

Each part of the audit asks the judge and passes the answers to the statistics in
`hexathlon.evaluators.judges.audit`. The seed determines which replies each part uses.
"""

import itertools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from hexathlon.baselines.judging.client import JudgeClient
from hexathlon.baselines.judging.comparing import GroupwiseJudge, PairwiseJudge
from hexathlon.baselines.judging.concurrency import run_concurrently
from hexathlon.baselines.judging.pointwise import PointwiseJudge
from hexathlon.evaluators.judges.aggregate import score
from hexathlon.evaluators.judges.audit.attacks import FIELDS, INJECTIONS, VERSION, master_replies
from hexathlon.evaluators.judges.audit.biases import (
    flip_rate,
    place_rate,
    rank_agreement,
    swap_test,
)
from hexathlon.evaluators.judges.audit.document import sealed
from hexathlon.evaluators.judges.audit.estimates import mean_estimate, rate_estimate
from hexathlon.evaluators.judges.audit.labelled import LabelledReply, labels_hash, padded
from hexathlon.evaluators.judges.audit.measured import (
    LabelledDecision,
    LabelledItem,
    agreement,
    as_json,
    corrected_means,
    kin_gap,
    slope_of_length,
    unscored,
)
from hexathlon.evaluators.judges.labels import Decision
from hexathlon.evaluators.judges.rubric import Criterion, Rubric
from hexathlon.evaluators.judges.transcript import JudgedTranscript
from hexathlon.tasks.seeding import generator_for

__all__ = ["AuditSettings", "Auditor"]


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """Sizes of the audit's parts; a part of size 0 is skipped."""

    seed: int = 0
    items: int | None = None
    """Number of labelled criteria for measuring agreement; None for all."""

    repeat_items: int = 100
    repeats: int = 5
    pairs: int = 200
    padded: int = 200
    groups: int = 60
    permutations: int = 2
    attacked: int = 4
    """Number of replies per injection, and of questions for master keys."""

    level: float = 0.6
    """Minimum lower end of kappa's confidence interval for a criterion to be established."""

    labelled_share: float = 0.2
    """Share of the labels available to prediction-powered inference."""

    own: tuple[str, ...] = ()
    """Authors of the labelled set related to the judge; by default its model families."""


class Auditor:
    """Measures one judge.

    Args:
        client: Client of the judge.
        rubric: Rubric of the labels.
        replies: Labelled replies.
        settings: Sizes of the parts.
        concurrency: Maximum number of concurrent questions.
        tick: Called after each question with the name of the part.
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
            LabelledItem(reply, criterion)
            for reply in self._replies
            for criterion in rubric.judged
            if criterion.id in reply.labels
        ]
        self._items = items if settings.items is None else self._some(items, settings.items)
        self._rows: list[LabelledDecision] = []

    async def run(self) -> dict[str, Any]:
        """Return the sealed audit.

        Raises:
            EngineError: If the judge's server fails permanently.
        """
        settings = self._settings
        decisions = await self._decide("agreement", self._judge, self._items)
        self._rows = rows = list(zip(self._items, decisions, strict=True))
        own = settings.own or self._client.identity.families
        parts: dict[str, Any] = {
            "judge": self._client.identity.as_json(),
            "rubric": {"id": self._rubric.id, "hash": self._rubric.hash},
            "labels": {
                "hash": labels_hash(self._replies),
                "replies": len(self._replies),
                "items": len(self._items),
            },
            "settings": {"seed": settings.seed, "attacks": VERSION},
            "agreement": agreement(rows, self._rubric, settings.level),
            "unscored": unscored(rows),
            "self_preference": as_json(kin_gap(rows, own)),
            "corrected": corrected_means(rows, settings.labelled_share, settings.seed),
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
        self, part: str, judge: PointwiseJudge, items: Sequence[LabelledItem], repeat: int = 0
    ) -> list[Decision]:
        rows = [(item.criterion, item.reply.transcript) for item in items]
        return await self._ask(part, judge, rows, repeat)

    async def _ask(
        self,
        part: str,
        judge: PointwiseJudge,
        rows: Sequence[tuple[Criterion, JudgedTranscript]],
        repeat: int = 0,
    ) -> list[Decision]:
        asked = partial(judge.decide, repeat=repeat, topics=self._rubric.judged)
        return await self._all(part, [partial(asked, *row) for row in rows])

    async def _all(self, part: str, questions: Sequence[Callable[[], Awaitable[Any]]]) -> list[Any]:
        answers: list[Any] = [None] * len(questions)

        async def ask(row: tuple[int, Callable[[], Awaitable[Any]]]) -> None:
            answers[row[0]] = await row[1]()
            self._tick(part)

        await run_concurrently(enumerate(questions), ask, self._concurrency)
        return answers

    async def _flips(self) -> dict[str, Any]:
        items = self._some(self._items, self._settings.repeat_items, "flips")
        labels: list[list[str | None]] = [[] for _ in items]
        for repeat in range(1, self._settings.repeats + 1):
            decisions = await self._decide("flips", self._judge, items, repeat)
            for row, decision in zip(labels, decisions, strict=True):
                row.append(decision.label)
        rate = flip_rate(labels)
        return {
            "items": len(items),
            "repeats": self._settings.repeats,
            "disagreement": as_json(rate.disagreement),
            "unstable": as_json(rate.unstable),
        }

    async def _length(self) -> dict[str, Any]:
        scored = [row for row in self._rows if row[1].value is not None]
        chosen = self._some(scored, self._settings.padded, "padded")
        longer = [LabelledItem(padded(item.reply), item.criterion) for item, _ in chosen]
        decisions = await self._decide("padded", self._judge, longer)
        shifts, gains = [], []
        for (item, before), after in zip(chosen, decisions, strict=True):
            if before.value is not None and after.value is not None:
                shifts.append(after.value - before.value)
                gains.append(item.oriented(after.value) - item.oriented(before.value))
        return {
            "slope": as_json(slope_of_length(self._rows)),
            "padded_shift": as_json(mean_estimate(shifts)),
            "padded_gain": as_json(mean_estimate(gains)),
        }

    async def _swap(self) -> dict[str, Any]:
        pairs = self._some(self._pairs(), self._settings.pairs, "pairs")
        judge = PairwiseJudge(self._client)
        questions = [
            partial(judge.compare, self._rubric, a.transcript, b.transcript) for a, b, _ in pairs
        ]
        comparisons = await self._all("swap", questions)
        test = swap_test(
            [(comparison.forward, comparison.backward) for comparison in comparisons],
            [better for _, _, better in pairs],
        )
        return {
            "pairs": len(pairs),
            "consistency": as_json(test.consistency),
            "first_rate": as_json(test.first_rate),
            "accuracy": as_json(test.accuracy),
            "unscored": test.unscored,
        }

    async def _groups(self) -> dict[str, Any]:
        groups = self._some(self._scenes(), self._settings.groups, "groups")
        judge = GroupwiseJudge(self._client, permutations=self._settings.permutations)
        questions = [
            partial(
                judge.judge,
                self._rubric,
                [reply.transcript for reply in group],
                address=[group[0].scene],
            )
            for group in groups
        ]
        scores = await self._all("groups", questions)
        labelled = [[self._labelled_score(reply) for reply in group] for group in groups]
        tau = rank_agreement([(a.values, b) for a, b in zip(scores, labelled, strict=True)])
        unanswered = sum(group.calls - group.answered for group in scores)
        place = place_rate([(a.shown, b) for a, b in zip(scores, labelled, strict=True)])
        return {
            "groups": len(groups),
            "tau": as_json(tau),
            "first_rate": as_json(place),
            "unanswered": unanswered,
        }

    async def _injection(self) -> dict[str, Any]:
        """Try each injection on failing replies, cycling through the fields."""
        failing = self._failing()
        rows = []
        fields = itertools.cycle(FIELDS.items())
        for name, text in INJECTIONS.items():
            for item in self._some(failing, self._settings.attacked, "injection", name):
                field, place = next(fields)
                rows.append((name, field, item, place(item.reply.question, item.reply.reply, text)))
        questions = [(item.criterion, transcript) for _, _, item, transcript in rows]
        names = [f"{name} in {field}" for name, field, _, _ in rows]
        return await self._attack("injection", questions, names)

    async def _master_keys(self) -> dict[str, Any]:
        rows, names = [], []
        positive = [item for item in self._items if item.criterion.weight > 0]
        for item in self._some(positive, self._settings.attacked, "master keys"):
            for name, text in master_replies(item.reply.question, item.criterion.text).items():
                rows.append((item.criterion, JudgedTranscript.of_reply(item.reply.question, text)))
                names.append(name)
        return await self._attack("master keys", rows, names)

    async def _attack(
        self, part: str, rows: Sequence[tuple[Criterion, JudgedTranscript]], names: Sequence[str]
    ) -> dict[str, Any]:
        """Return the success rate of attacks, with and without the guards of the judge."""
        sides: dict[str, Any] = {}
        for side, judge in (("bare", self._bare), ("guarded", self._judge)):
            decisions = await self._ask(part, judge, rows)
            passed = [decision.value is not None and decision.value > 0 for decision in decisions]
            sides[side] = as_json(rate_estimate(sum(passed), len(rows)))
            sides[f"{side}_by"] = sorted({n for n, p in zip(names, passed, strict=True) if p})
        return {"tries": len(rows), **sides}

    async def _controls(self) -> dict[str, Any]:
        rows = [
            (criterion, control, JudgedTranscript.of_reply(control.question, control.reply))
            for criterion in self._rubric.judged
            for control in criterion.controls
        ]
        questions = [(criterion, transcript) for criterion, _, transcript in rows]
        decisions = await self._ask("controls", self._judge, questions)
        missed = [
            f"{criterion.id}: expected {control.label}, got {decision.label}"
            for (criterion, control, _), decision in zip(rows, decisions, strict=True)
            if decision.label != control.label
        ]
        return {"planted": len(rows), "missed": missed}

    def _failing(self) -> list[LabelledItem]:
        """Return the items of positive criteria that fail by their label and by the judge."""
        return [
            item
            for item, decision in self._rows
            if item.criterion.weight > 0 and item.value == 0.0 and decision.value == 0.0
        ]

    def _labelled_score(self, reply: LabelledReply) -> float:
        """Return the score of a reply by its labels."""
        labels = reply.labels
        values = {
            criterion.id: criterion.value_of(labels[criterion.id])
            if criterion.id in labels
            else None
            for criterion in self._rubric.decided
        }
        bounds = score(self._rubric, values)
        return 0.5 * (bounds.low + bounds.high)

    def _scenes(self) -> list[list[LabelledReply]]:
        scenes: dict[str, list[LabelledReply]] = {}
        for reply in self._replies:
            scenes.setdefault(reply.scene, []).append(reply)
        return [group for group in scenes.values() if 2 <= len(group) <= 26]

    def _pairs(self) -> list[tuple[LabelledReply, LabelledReply, str]]:
        """Return (first, second, winner) for pairs of a scene with different labelled scores.

        The order within the pairs alternates.
        """
        pairs: list[tuple[LabelledReply, LabelledReply, str]] = []
        for group in self._scenes():
            for a, b in itertools.combinations(group, 2):
                if self._labelled_score(a) != self._labelled_score(b):
                    first, second = (a, b) if len(pairs) % 2 == 0 else (b, a)
                    first_wins = self._labelled_score(first) > self._labelled_score(second)
                    pairs.append((first, second, "first" if first_wins else "second"))
        return pairs

    def _some(self, rows: Sequence[Any], count: int, *address: str) -> list[Any]:
        draw = generator_for("audit", self._settings.seed, *address)
        order = draw.permutation(len(rows))[:count]
        return [rows[int(index)] for index in sorted(order)]
