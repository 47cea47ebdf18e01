"""Negotiation: sell under several terms to a buyer who reveals preferences only when asked.

The goal is a gain that only deals close to the best one reach. In the twin of the same sale, no
deal reaches it; then the correct ending is to walk away and name the largest possible gain. The
best gain is computed term by term, and again by exhaustive search. It never uses the first option
of every term, nor the last of every term.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hexathlon.tasks.bilingual import BilingualText
from hexathlon.tasks.roleplay.card import NothingLeft, fill, table
from hexathlon.tasks.roleplay.game import Game
from hexathlon.tasks.roleplay.lexicon import setting
from hexathlon.tasks.roleplay.stage import Stage, TaskSpec
from hexathlon.tasks.roleplay.tools import bargain_tools
from hexathlon.tasks.roleplay.voice import compose
from hexathlon.tasks.task import Level
from hexathlon.tasks.tool_calls import tool_call

__all__ = ["bargain"]

HIGHEST = 400
_SLACK = 2
"""How far a goal that can be reached lies below the best gain, at most."""


class _Plan(NamedTuple):
    terms: int
    told: int
    """Number of preferences that the buyer volunteers."""


_PLANS: Mapping[Level, _Plan] = {
    "tiny": _Plan(2, 3),
    "easy": _Plan(2, 1),
    "medium": _Plan(3, 1),
    "hard": _Plan(4, 0),
}


class _Deal(NamedTuple):
    """The costs and values of both sides."""

    good: str
    cost: int
    worth: int
    keep: int
    terms: Mapping[str, Sequence[str]]
    costs: Mapping[str, Sequence[int]]
    worths: Mapping[str, Sequence[int]]

    def best_choice(self) -> dict[str, int]:
        """Return the option of each term that maximises the joint surplus."""
        return {
            name: max(range(len(options)), key=lambda i: self.worths[name][i] - self.costs[name][i])
            for name, options in self.terms.items()
        }

    def highest_price(self, choice: Mapping[str, int]) -> int:
        """Return the buyer's maximum price under these terms."""
        return self.worth - self.keep + sum(self.worths[n][i] for n, i in choice.items())

    def gain(self, price: int, choice: Mapping[str, int]) -> int:
        """Return the seller's gain."""
        return price - self.cost - sum(self.costs[n][i] for n, i in choice.items())

    def best_gain(self) -> int:
        """Return the largest gain, computed term by term."""
        choice = self.best_choice()
        return self.gain(self.highest_price(choice), choice)

    def best_gain_by_trial(self) -> int:
        """Return the largest gain, by trying every price under all terms."""
        best = -HIGHEST
        for picks in itertools.product(*(range(len(o)) for o in self.terms.values())):
            choice = dict(zip(self.terms, picks, strict=True))
            theirs = self.worth + sum(self.worths[n][i] for n, i in choice.items())
            prices = (price for price in range(HIGHEST + 1) if theirs - price >= self.keep)
            best = max([best, *(self.gain(price, choice) for price in prices)])
        return best


def bargain(order: TaskSpec) -> Game:
    """Draw a deal, specify each side's knowledge and write the scripts."""
    plan = _PLANS[order.level]
    stage = Stage.opened(order, told=4)
    deal = _drawn(stage, plan)
    best = deal.best_gain()
    if best != deal.best_gain_by_trial() or best < 4:
        raise NothingLeft("the deal leaves too little to share")
    if len(set(deal.best_choice().values())) == 1:
        raise NothingLeft("the best deal takes the same place in every list")
    feasible, beyond = not order.twin, int(stage.rng.integers(1, 16))
    below = int(stage.rng.integers(_SLACK + 1))
    goal = best - below if feasible else best + beyond
    _tell(stage, deal, goal)
    params = _params(stage, deal, plan)
    told = [name for name, slot in params["agenda"]["slots"].items() if slot.get("volunteer")]
    script = _Scripts(stage, deal, goal, best, feasible, told)
    return Game(
        stage=stage, answering="bargain", check="roleplay_bargain",
        params=params,
        truth={
            "feasible": feasible, "goal": goal, "best": best, "cost": deal.cost,
            "costs": {n: dict(zip(deal.terms[n], deal.costs[n], strict=True)) for n in deal.terms},
        },
        tools=bargain_tools({n: list(o) for n, o in deal.terms.items()}, HIGHEST),
        turns=len(deal.terms) + 12,
        oracle=script.oracle(), alternatives=script.alternatives(), mutants=script.mutants(),
        policies=script.policies(),
    )  # fmt: skip


def _drawn(stage: Stage, plan: _Plan) -> _Deal:
    rng, language = stage.rng, stage.language
    names = stage.some(list(table("bargain")["terms"]), plan.terms)
    terms, costs, worths = {}, {}, {}
    for name in names:
        options = table("bargain")["terms"][name]["options"]
        terms[name] = [BilingualText.parse(text)[language] for text in options]
        costs[name] = [*sorted((int(n) for n in rng.integers(2, 14, 2)), reverse=True), 0]
        worths[name] = [*sorted((int(n) for n in rng.integers(1, 16, 2)), reverse=True), 0]
    cost = int(rng.integers(31, 70))
    keep = int(rng.integers(3, 12))
    worth = cost + keep + int(rng.integers(6, 30))
    good = stage.pick(setting(stage.card["setting"]).pairs("goods"))[language]
    return _Deal(good, cost, worth, keep, terms, costs, worths)


def _tell(stage: Stage, deal: _Deal, goal: int) -> None:
    lines = table("bargain")["card"]
    words = {**stage.card["words"], "good": deal.good, "cost": deal.cost, "goal": goal}
    labels = [_label(name, stage) for name in deal.terms]
    told = [fill(lines["sell"], stage.language, words)]
    for name in deal.terms:
        values = {
            "label": _label(name, stage),
            "table": _table(stage, deal.terms[name], deal.costs[name]),
        }
        told.append(fill(lines["extra"], stage.language, {**words, **values}))
    told.append(fill(lines["gain"], stage.language, words))
    joined = (", " if stage.language == "en" else "、").join(labels)
    told.append(fill(lines["buyer"], stage.language, {**words, "terms": joined}))
    told.append(fill(lines["out"], stage.language, words))
    stage.card["goal"] = told
    stage.card["scene"] = fill(lines["scene"], stage.language, words)
    stage.secrets = [{"kind": "cost", "values": [str(deal.cost)]}]


def _label(name: str, stage: Stage) -> str:
    return BilingualText.parse(table("bargain")["terms"][name]["label"])[stage.language]


def _table(stage: Stage, options: Sequence[str], numbers: Sequence[int]) -> str:
    if stage.language == "en":
        return ", ".join(
            f"{option}: {number}" for option, number in zip(options, numbers, strict=True)
        )
    return "，".join(f"{option}：{number}" for option, number in zip(options, numbers, strict=True))


def _params(stage: Stage, deal: _Deal, plan: _Plan) -> dict[str, Any]:
    buyer, words = table("bargain")["buyer"], stage.card["words"]
    language = stage.language

    def said(text: str, **values: Any) -> list[str]:
        return [fill(text, language, {**words, **values, "value": "{value}"})]

    def asked(phrases: Sequence[str]) -> list[str]:
        return [BilingualText.parse(phrase)[language] for phrase in phrases]

    slots: dict[str, Any] = {
        "goods": {
            "value": deal.worth,
            "say": said(buyer["goods"]),
            "ask": asked(buyer["goods_ask"]),
        },
        "gain": {"value": deal.keep, "say": said(buyer["gain"]), "ask": asked(buyer["gain_ask"])},
    }
    for name in deal.terms:
        label = _label(name, stage)
        slots[name] = {
            "value": _table(stage, deal.terms[name], deal.worths[name]),
            "say": said(buyer["term"], label=label),
            "ask": asked(table("bargain")["terms"][name]["ask"]), "label": label,
        }  # fmt: skip
    for name in stage.some(list(slots), plan.told):
        slots[name]["volunteer"] = True
    return {
        "mode": "bargain",
        "agenda": {
            "goal": fill(buyer["goal"], language, {"good": deal.good}), "slots": slots,
            "patience": 3, "language": language,
        },
        "worth": deal.worth, "keep": deal.keep,
        "worths": {n: dict(zip(deal.terms[n], deal.worths[n], strict=True)) for n in deal.terms},
        "ends": {key: fill(buyer[key], language, {}) for key in ("gone", "walked", "closed")},
    }  # fmt: skip


class _Scripts:
    """Action sequences for one deal."""

    def __init__(
        self,
        stage: Stage,
        deal: _Deal,
        goal: int,
        best: int,
        feasible: bool,
        told: Sequence[str],
    ) -> None:
        self.told = told
        self.stage, self.deal, self.goal, self.best, self.feasible = (
            stage, deal, goal, best, feasible,
        )  # fmt: skip
        self.choice = deal.best_choice()
        self.price = deal.highest_price(self.choice)

    def oracle(self) -> list[str]:
        """Ask about everything, then end correctly."""
        return [*self._questions(1), self._end()]

    def alternatives(self) -> dict[str, list[str]]:
        """Ask two questions at a time; first make one offer that is too high."""
        dear = self._offer(self.price + 1, self.choice)
        return {
            "asks_in_pairs": [*self._questions(2), self._end()],
            "dear_first": [dear, self._end()],
        }

    def mutants(self) -> dict[str, list[str]]:
        """Return near misses on price, terms, the decision and the prose."""
        cheap = self._offer(self.deal.cost + self._extra(self.choice) + self.goal - 1, self.choice)
        cost = self.deal.cost
        blab = self._say(f"{cost} {self.stage.card['words']['currency']}")
        made = {
            "names_the_cost": [blab, self._end()],
            "gives_in": [cheap],
            "walks_too_early": [self._walk(self.best - 1)],
            "never_ends": self._questions(1),
            "price_unsaid": [self._offer(self.price, self.choice, said="…")]
            if self.feasible
            else [self._walk(self.best + 1)],
        }
        if self.feasible:
            made["walks_from_a_deal"] = [self._walk(self.best)]
            made["too_dear_to_the_end"] = [self._offer(self.price + 1, self.choice)] * 4
        else:
            made["takes_less"] = [self._offer(self.price, self.choice)]
        return made

    def policies(self) -> dict[str, list[str]]:
        """Return trivial sellers."""
        first = {name: 0 for name in self.deal.terms}
        last = {name: 2 for name in self.deal.terms}
        fair = self.deal.cost + self._extra(last) + self.goal
        return {
            "always_not_known": [self._walk(0)],
            "always_secret": [self._walk(self.goal - 1)],
            "always_say": [self._say("…")] * 8,
            "majority": [self._offer(fair, last)] * 4,
            "dump": [self._offer(self.deal.cost + self._extra(first) + self.goal, first)] * 4,
            "keyword_spam": [self._offer(HIGHEST, first)] * 4,
        }

    def _extra(self, choice: Mapping[str, int]) -> int:
        return sum(self.deal.costs[name][place] for name, place in choice.items())

    def _questions(self, together: int) -> list[str]:
        names = {"en": ("goods", "gain"), "zh": ("货物", "好处")}[self.stage.language]
        known = dict(zip(("goods", "gain"), names, strict=True))
        known |= {name: _label(name, self.stage) for name in self.deal.terms}
        labels = [label for name, label in known.items() if name not in self.told]
        text = {"en": "what about the {x}", "zh": "{x}方面是多少"}[self.stage.language]
        joiner = {"en": " and the ", "zh": "和"}[self.stage.language]
        groups = [labels[i : i + together] for i in range(0, len(labels), together)]
        return [self._say(text.replace("{x}", joiner.join(group))) for group in groups]

    def _end(self) -> str:
        return self._offer(self.price, self.choice) if self.feasible else self._walk(self.best)

    def _offer(self, price: int, choice: Mapping[str, int], said: str = "") -> str:
        terms = {name: self.deal.terms[name][place] for name, place in choice.items()}
        core = said or str(price)
        return tool_call(
            "offer", reply=self._spoken(core), amount=max(0, min(price, HIGHEST)), **terms
        )

    def _walk(self, best: int) -> str:
        core = {"en": "then we part without a deal", "zh": "那我们就此别过"}[self.stage.language]
        return tool_call("walk_away", reply=self._spoken(core), best=best)

    def _say(self, text: str) -> str:
        return tool_call("say", reply=self._spoken(text))

    def _spoken(self, core: str) -> str:
        if core.isdigit():
            core = f"I ask {core}" if self.stage.language == "en" else f"我要{core}"
        return compose(core, self.stage.rules, self.stage.language)
