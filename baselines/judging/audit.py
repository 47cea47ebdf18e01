"""Audits a judge on labelled replies: everything that has to be known before its scores are used.

One part per question; each asks the judge and hands the answers to the statistics in
`hexathlon.evaluators.judges.audit`. What is asked of which reply follows from the seed.
"""

import itertools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from hexathlon.baselines.judging.client import JudgeClient
from hexathlon.baselines.judging.comparing import GroupwiseJudge, PairwiseJudge
from hexathlon.baselines.judging.concurrency import at_once
from hexathlon.baselines.judging.pointwise import PointwiseJudge
from hexathlon.evaluators.judges.aggregate import score
from hexathlon.evaluators.judges.audit.attacks import FIELDS, INJECTIONS, VERSION, master_replies
from hexathlon.evaluators.judges.audit.biases import (
    flip_rate,
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
            LabelledItem(reply, one)
            for reply in self._replies
            for one in rubric.judged
            if one.id in reply.labels
        ]
        self._items = items if settings.items is None else self._some(items, settings.items)
        self._rows: list[LabelledDecision] = []

    async def run(self) -> dict[str, Any]:
        """Return the sealed audit.

        Raises:
            EngineError: If the judge's server fails for good.
        """
        settings = self._settings
        found = await self._decide("agreement", self._judge, self._items)
        self._rows = rows = list(zip(self._items, found, strict=True))
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
            "agreement": agreement(rows, self._rubric, settings.level, settings.seed),
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
        rows = [(one.criterion, one.reply.transcript) for one in items]
        return await self._ask(part, judge, rows, repeat)

    async def _ask(
        self,
        part: str,
        judge: PointwiseJudge,
        rows: Sequence[tuple[Criterion, JudgedTranscript]],
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
            "disagreement": as_json(rate.disagreement),
            "unstable": as_json(rate.unstable),
        }

    async def _length(self) -> dict[str, Any]:
        scored = [row for row in self._rows if row[1].value is not None]
        chosen = self._some(scored, self._settings.padded, "padded")
        longer = [LabelledItem(padded(item.reply), item.criterion) for item, _ in chosen]
        again = await self._decide("padded", self._judge, longer)
        shifts, gains = [], []
        for (item, before), after in zip(chosen, again, strict=True):
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
        found = await self._all("swap", questions)
        test = swap_test(
            [(one.forward, one.backward) for one in found], [better for _, _, better in pairs]
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
                [one.transcript for one in group],
                address=[group[0].scene],
            )
            for group in groups
        ]
        found = await self._all("groups", questions)
        known = [[self._known(one) for one in group] for group in groups]
        tau = rank_agreement([(a.values, b) for a, b in zip(found, known, strict=True)])
        unanswered = sum(one.calls - one.answered for one in found)
        return {"groups": len(groups), "tau": as_json(tau), "unanswered": unanswered}

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
                rows.append((item.criterion, JudgedTranscript.of_reply(item.reply.question, text)))
                names.append(name)
        return await self._attack("master keys", rows, names)

    async def _attack(
        self, part: str, rows: Sequence[tuple[Criterion, JudgedTranscript]], names: Sequence[str]
    ) -> dict[str, Any]:
        """Return how often an attack passes, with and without the guards around the judge."""
        sides: dict[str, Any] = {}
        for side, judge in (("bare", self._bare), ("guarded", self._judge)):
            found = await self._ask(part, judge, rows)
            passed = [one.value is not None and one.value > 0 for one in found]
            sides[side] = as_json(rate_estimate(sum(passed), len(rows)))
            sides[f"{side}_by"] = sorted({n for n, p in zip(names, passed, strict=True) if p})
        return {"tries": len(rows), **sides}

    async def _controls(self) -> dict[str, Any]:
        rows = [
            (one, control, JudgedTranscript.of_reply(control.question, control.reply))
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

    def _failing(self) -> list[LabelledItem]:
        """Return the items of positive criteria that do not pass, in truth and by the judge."""
        return [
            item
            for item, found in self._rows
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
