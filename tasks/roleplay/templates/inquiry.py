"""Interrogation: question a visitor and identify exactly the claims that the papers disprove.

The papers speak of bearers of number tags. From `medium` on, other guests' records contain the
values that the visitor claims, so that the mere presence of a name proves nothing. At `hard`, tags
are exchanged once in the evening, every record says whether it is from before or after, the
visitor's tags are other guests' at the other time, and the papers leave some topics open. The lies
are derived a second time by reading the papers.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hexathlon.tasks.bilingual import BilingualText
from hexathlon.tasks.roleplay.card import NothingLeft, fill, table, valued
from hexathlon.tasks.roleplay.game import Game
from hexathlon.tasks.roleplay.lexicon import setting
from hexathlon.tasks.roleplay.stage import Stage, TaskSpec
from hexathlon.tasks.roleplay.tools import inquiry_tools
from hexathlon.tasks.roleplay.voice import compose
from hexathlon.tasks.task import Level
from hexathlon.tasks.tool_calls import tool_call

__all__ = ["inquiry", "read_papers"]


class _Plan(NamedTuple):
    topics: int
    lies: tuple[int, int]
    silent: int
    """Number of topics that the papers leave open."""

    tagged: bool
    """Whether records use tags and include other guests."""

    exchanged: bool


_PLANS: Mapping[Level, _Plan] = {
    "tiny": _Plan(3, (2, 3), 0, False, False),
    "easy": _Plan(4, (2, 3), 1, False, False),
    "medium": _Plan(5, (2, 4), 1, True, False),
    "hard": _Plan(6, (2, 5), 1, True, True),
}


class _Case(NamedTuple):
    claims: Mapping[str, str]
    """The visitor's claims, by topic."""

    truths: Mapping[str, str]
    """The facts that the papers establish, by topic; topics left open are missing."""

    @property
    def lies(self) -> dict[str, str]:
        """Topics of the lies, with the true values."""
        return {t: truth for t, truth in self.truths.items() if truth != self.claims[t]}


def inquiry(order: TaskSpec) -> Game:
    """Draw a case, its papers and the scripts."""
    plan = _PLANS[order.level]
    stage = Stage.opened(order, told=4)
    case = _drawn(stage, plan)
    papers = _papers(stage, plan, case)
    if read_papers(papers, stage.language, stage.card["words"]["currency"]) != dict(case.truths):
        raise NothingLeft("the papers do not read as they are meant")
    lines = table("inquiry")["card"]
    thing = stage.pick(setting(stage.card["setting"]).pairs("objects"))[stage.language]
    labels = [_label(stage, topic) for topic in case.claims]
    joined = (", " if stage.language == "en" else "、").join(labels)
    stage.card["papers"] = papers
    stage.card["scene"] = fill(lines["scene"], stage.language, {"object": thing})
    stage.card["goal"] = [
        fill(lines["goal"], stage.language, {}),
        fill(lines["patience"], stage.language, {"topics": joined}),
    ]
    script = _Scripts(stage, case)
    return Game(
        stage=stage, answering="inquiry", check="roleplay_inquiry", params=_params(stage, case),
        truth={
            "lies": {
                topic: {
                    "claim": list(stage.asker.spellings(case.claims[topic])),
                    "truth": list(stage.asker.spellings(truth)),
                }
                for topic, truth in case.lies.items()
            },
        },
        tools=inquiry_tools(list(case.claims)), turns=2 * len(case.claims) + 8,
        oracle=script.oracle(), alternatives=script.alternatives(), mutants=script.mutants(),
        policies=script.policies(),
    )  # fmt: skip


def read_papers(papers: Sequence[str], language: str, currency: str) -> dict[str, str]:
    """Return the facts about the visitor, by topic, derived from the text of the papers alone."""
    text = "\n".join(papers)
    own = re.search(r"was given tag (\d+)|领到的是(\d+)号", text)
    first = (own[1] or own[2]) if own else ""
    last = first
    for line in papers:
        match = re.search(r"with tag (\d+) were given tag (\d+)|(\d+)号牌一律换成(\d+)号", line)
        if match and (match[1] or match[3]) == first:
            last = match[2] or match[4]
    truths: dict[str, str] = {}
    for line in papers:
        match = re.search(
            r"(?:bearer of tag (\d+)|(?<=：)(\d+)号牌的客人|this visitor|这位来客)(.+)", line
        )
        if not match or "notes" not in line and "记录" not in line:
            continue
        tag = match[1] or match[2]
        early = "before the evening bell" in line or "晚钟之前" in line
        if tag is not None and tag != (first if early else last):
            continue
        for topic, spec in table("inquiry")["topics"].items():
            shape = BilingualText.parse(spec["record"])["en" if language == "en" else "zh"]
            value = _value_in(shape.replace("{currency}", currency), match[3])
            if value:
                truths[topic] = value
    return truths


def _value_in(shape: str, text: str) -> str:
    body = re.escape(shape).replace(re.escape(" a {v}"), " an? {v}")
    for name in ("v", "a", "b"):
        body = body.replace(re.escape("{" + name + "}"), f"(?P<{name}>.+?)")
        body = body.replace("{" + name + "}", f"(?P<{name}>.+?)")
    match = re.search(rf"{body}[.。]$", text)
    if not match:
        return ""
    parts = match.groupdict()
    return parts["v"] if "v" in parts else str(int(parts["a"]) + int(parts["b"]))


def _label(stage: Stage, topic: str) -> str:
    return BilingualText.parse(table("inquiry")["topics"][topic]["label"])[stage.language]


def _drawn(stage: Stage, plan: _Plan) -> _Case:
    topics = stage.some(list(table("inquiry")["topics"]), plan.topics)
    claims = {topic: _value(stage, topic) for topic in topics}
    known = topics[plan.silent :]
    lying = stage.some(known, int(stage.rng.integers(plan.lies[0], plan.lies[1])))
    truths = {t: _value(stage, t, claims[t]) if t in lying else claims[t] for t in known}
    order = stage.some(topics, len(topics))
    return _Case({topic: claims[topic] for topic in order}, truths)


def _value(stage: Stage, topic: str, other: str = "") -> str:
    kind = table("inquiry")["topics"][topic]["kind"]
    if kind != "count":
        return stage.pools.take(kind)[stage.language]
    while True:
        value = str(int(stage.rng.integers(14, 70)))
        if value != other:
            return value


def _papers(stage: Stage, plan: _Plan, case: _Case) -> list[str]:
    lines = table("inquiry")["card"]
    numbers = [int(n) for n in stage.rng.permutation(range(11, 99))[:8]]
    own, later, others = numbers[0], numbers[1], numbers[2:]
    if not plan.exchanged:
        later = own
    if not plan.tagged:
        records = [
            fill(lines["direct"], stage.language, {"x": _record(stage, topic, truth)})
            for topic, truth in case.truths.items()
        ]
        return stage.some(records, len(records))
    papers = [fill(lines["tags"], stage.language, {"t": own})]
    records = []
    for place, (topic, truth) in enumerate(case.truths.items()):
        early = _early(stage, topic)
        records.append(_tagged(stage, own if early else later, topic, truth, early, plan.exchanged))
        false = case.claims[topic] if topic in case.lies else _value(stage, topic, truth)
        decoys = [others[place % 4], later if early else own]
        decoy = decoys[int(stage.rng.integers(2))] if plan.exchanged else decoys[0]
        records.append(_tagged(stage, decoy, topic, false, early, plan.exchanged))
    for topic in case.claims:
        if topic not in case.truths:
            early = _early(stage, topic)
            value = _value(stage, topic)
            records.append(_tagged(stage, others[-1], topic, value, early, plan.exchanged))
    if plan.exchanged:
        pairs = [(own, later), (later, others[0]), (others[4], own)]
        papers += [
            fill(lines["passed"], stage.language, {"t": t, "u": u})
            for t, u in stage.some(pairs, len(pairs))
        ]
    return [*papers, *stage.some(records, len(records))]


def _early(stage: Stage, topic: str) -> bool:
    """Return whether a record is from before the evening bell; arrivals always are."""
    return bool(table("inquiry")["topics"][topic].get("early") or stage.rng.random() < 0.4)


def _tagged(stage: Stage, tag: int, topic: str, value: str, early: bool, exchanged: bool) -> str:
    line = table("inquiry")["card"][("before" if early else "after") if exchanged else "day"]
    return fill(line, stage.language, {"t": tag, "x": _record(stage, topic, value)})


def _record(stage: Stage, topic: str, value: str) -> str:
    text = BilingualText.parse(table("inquiry")["topics"][topic]["record"])[stage.language]
    if value.isdigit():
        first = int(stage.rng.integers(5, int(value) - 4))
        values = {"a": str(first), "b": str(int(value) - first)}
    else:
        values = {"v": value}
    for name, part in {**stage.card["words"], **values}.items():
        text = text.replace("{" + name + "}", part)
    return text


def _params(stage: Stage, case: _Case) -> dict[str, Any]:
    language, words = stage.language, stage.card["words"]
    visitor = table("inquiry")["visitor"]
    slots = {}
    for topic, claim in case.claims.items():
        spec = table("inquiry")["topics"][topic]
        slots[topic] = {
            "value": claim,
            "say": [valued(fill(spec["say"], language, {**words, "value": "{value}"}), claim)],
            "ask": [BilingualText.parse(phrase)[language] for phrase in spec["ask"]],
        }  # fmt: skip
    return {
        "mode": "inquiry",
        "agenda": {
            "goal": fill(visitor["goal"], language, {}), "slots": slots, "patience": 5,
            "language": language,
        },
        "hm": [fill(text, language, {}) for text in visitor["hm"]],
        "ends": {key: fill(visitor[key], language, {}) for key in ("gone", "end")},
    }  # fmt: skip


class _Scripts:
    """Action sequences for one case."""

    def __init__(self, stage: Stage, case: _Case) -> None:
        self.stage, self.case = stage, case
        self.lies = list(case.lies)

    def oracle(self) -> list[str]:
        """Ask about every topic, confront with every lie, conclude."""
        return [*self._questions(1), *map(self._confront, self.lies), self._conclude()]

    def alternatives(self) -> dict[str, list[str]]:
        """Ask two topics at a time, with the lies in the other order."""
        confronted = [self._confront(topic, short=True) for topic in reversed(self.lies)]
        return {"in_pairs": [*self._questions(2), *confronted, self._conclude()]}

    def mutants(self) -> dict[str, list[str]]:
        """Miss a lie, call a true statement a lie, get a true value wrong, never conclude."""
        asked, named = self._questions(1), [self._confront(topic) for topic in self.lies]
        honest = [topic for topic in self.case.claims if topic not in self.lies]
        extra = self._confront(honest[0], truth=self._elsewhere(honest[0]))
        wrong = self._confront(self.lies[0], truth=self._elsewhere(self.lies[0]))
        unsaid = self._confront(self.lies[0], said="…")
        return {
            "misses_one": [*asked, *named[1:], self._conclude()],
            "one_too_many": [*asked, *named, extra, self._conclude()],
            "wrong_truth": [*asked, wrong, *named[1:], self._conclude()],
            "truth_unsaid": [*asked, unsaid, *named[1:], self._conclude()],
            "never_concludes": [*asked, *named],
            "unheard": [*named, self._conclude()],
        }

    def policies(self) -> dict[str, list[str]]:
        """Return trivial investigators; two of them know the claims and guess."""
        asked = self._questions(2)
        everything = [self._confront(t, truth=self._elsewhere(t)) for t in self.case.claims]
        papers = [self._confront(t, truth=v) for t, v in self.case.truths.items()]
        return {
            "always_not_known": [self._conclude()],
            "always_secret": [*asked, self._conclude()],
            "always_say": [tool_call("say", reply="…")] * 8,
            "majority": [*asked, papers[0], self._conclude()],
            "dump": [*asked, *papers, self._conclude()],
            "keyword_spam": [*asked, *everything, self._conclude()],
        }

    def _elsewhere(self, topic: str) -> str:
        """Return a different value from those of the topic."""
        taken = (self.case.claims[topic], self.case.truths.get(topic))
        return next(v for v in (*self.case.claims.values(), "7") if v not in taken)

    def _questions(self, together: int) -> list[str]:
        labels = [_label(self.stage, topic) for topic in self.case.claims]
        text = {"en": "what about your {x}", "zh": "说说你的{x}，怎么样"}[self.stage.language]
        joiner = {"en": " and your ", "zh": "和"}[self.stage.language]
        groups = [labels[i : i + together] for i in range(0, len(labels), together)]
        return [
            tool_call("say", reply=self._spoken(text.replace("{x}", joiner.join(group))))
            for group in groups
        ]

    def _confront(self, topic: str, *, truth: str = "", said: str = "", short: bool = False) -> str:
        truth = truth or self.case.truths[topic]
        spell = self.stage.asker.spellings
        claim = spell(self.case.claims[topic])[-1 if short else 0]
        text = {"en": "the papers say {v}", "zh": "材料上写的是{v}"}[self.stage.language]
        core = said or text.replace("{v}", truth)
        typed = spell(truth)[-1 if short else 0]
        return tool_call(
            "confront", reply=self._spoken(core), topic=topic, claim=claim, truth=typed
        )

    def _conclude(self) -> str:
        core = {"en": "that is all for today", "zh": "今天就到这里"}[self.stage.language]
        return tool_call("conclude", reply=self._spoken(core))

    def _spoken(self, core: str) -> str:
        return compose(core, self.stage.rules, self.stage.language)
