"""Questions about a card, each with its single correct speech act.

The same wording is used whether the card has the answer or not, and whether the question's premise
is true or false, so that only the card decides. `hexathlon.tasks.roleplay.reading` derives every
act a second time from the text that the agent reads.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.roleplay.beat import Beat
from hexathlon.tasks.roleplay.card import ATTRIBUTES, NothingLeft, Pools, fill, table
from hexathlon.tasks.roleplay.lexicon import setting
from hexathlon.tasks.roleplay.phrasing import attribute_phrases, open_questions, time_phrase
from hexathlon.tasks.task import Level

__all__ = ["TIMES", "Asker"]


TIMES: Mapping[str, tuple[str, str]] = {
    "life_year": ("In which year did you {base}?", "你{past}，那是哪一年的事？"),
    "life_confirm": ("It was in {c} that you {past}, wasn't it?", "你{past}，是在{c}年吧？"),
    "life_presuppose": (
        "In {c}, when you {past}, who was the first to hear of it?",
        "{c}年你{past}的时候，第一个知道的是谁？",
    ),
    "world_year": ("In which year was the {name}?", "“{name}”是哪一年的事？"),
    "world_confirm": ("The {name} was in {c}, wasn't it?", "“{name}”是在{c}年，对吧？"),
    "world_presuppose": (
        "When the {name} came in {c}, what were you wearing?",
        "{c}年“{name}”的时候，你穿的是什么？",
    ),
    "age": ("How old are you?", "你今年多大年纪？"),
    "age_confirm": ("You are {c} years old, aren't you?", "你今年{c}岁，对吧？"),
    "age_at": ("How old were you in the year when you {past}?", "你{past}那一年是多少岁？"),
    "gap": (
        "How many years lie between the {name} and the year you {past}?",
        "“{name}”那年和你{past}那年，中间隔了几年？",
    ),
    "ruler_at": ("Who was {ruler} at the time of the {name}?", "“{name}”的时候，{ruler}是谁？"),
    "ruler_confirm": (
        "At the time of the {name}, {c} was {ruler}, right?",
        "“{name}”的时候，{ruler}是{c}，对吧？",
    ),
    "next_ruler": ("Who became {ruler} after {c}?", "{c}之后是谁出任{ruler}？"),
    "name": ("What is your name?", "你叫什么名字？"),
    "name_confirm": ("Your name is {c}, isn't it?", "你叫{c}，对吧？"),
}
"""Questions about dates, rulers and the name, in English and Chinese."""

Maker = Callable[[], Beat]


class Asker:
    """Creates beats about one card, never asking the same thing the same way twice.

    Args:
        card: The card.
        pools: Unused words, for claims and for things not on the card.
        rng: The task's random generator.
        level: From `medium` on, questions are reworded; at `hard`, false claims are values from
            elsewhere on the card.
    """

    def __init__(
        self, card: Mapping[str, Any], pools: Pools, rng: np.random.Generator, level: Level
    ) -> None:
        self.card, self.pools, self.rng, self.level = card, pools, rng, level
        self.language: Language = card["language"]
        self._used: set[tuple[str, str]] = set()

    # -- attributes ------------------------------------------------------------------------

    def known(self) -> Beat:
        """Return a plain question that the card answers."""
        name = self._attribute("known", told=True)
        return self._answering(self._question(name), self.card["attributes"][name], attribute=name)

    def confirmed(self) -> Beat:
        """Return a yes-or-no question whose claim is true."""
        name = self._attribute("confirm", told=True)
        value = self.card["attributes"][name]
        return self._answering(self._claim(name, "confirm", value), value, attribute=name)

    def contradicted(self) -> Beat:
        """Return a yes-or-no question whose claim is false."""
        name = self._attribute("confirm", told=True)
        return self._wrong(name, "confirm")

    def presupposed(self) -> Beat:
        """Return a question with a false presupposition."""
        return self._wrong(self._attribute("presuppose", told=True), "presuppose")

    def beyond(self) -> Beat:
        """Return a question with a true presupposition about something that no card states."""
        name = self._attribute("presuppose", told=True)
        line = self._claim(name, "presuppose", self.card["attributes"][name])
        return self._refusing(line, "not_known", attribute=name, mode="presuppose")

    def omitted(self) -> Beat:
        """Return a plain question about an attribute that this card, unlike others, omits."""
        name = self._attribute("known", told=False)
        return self._refusing(self._question(name), "not_known", attribute=name)

    def omitted_claim(self) -> Beat:
        """Return a yes-or-no question about an attribute that the card omits."""
        name = self._attribute("confirm", told=False)
        line = self._claim(name, "confirm", self._other(name))
        return self._refusing(line, "not_known", attribute=name)

    def untold(self) -> Beat:
        """Return a question that no card answers."""
        text = self._pick("untold", tuple(open_questions("untold", self.card["unseen"])))
        return self._refusing(fill(text, self.language, {}), "not_known", untold=True)

    def foreign(self) -> Beat:
        """Return a question about something that does not exist in the character's world."""
        text = self._pick("foreign", tuple(open_questions("foreign", self.card["unseen"])))
        things = [pair[self.language] for pair in setting(self.card["setting"]).pairs("foreign")]
        thing = self._pick("thing", tuple(things))
        line = fill(text, self.language, {"x": thing})
        return self._refusing(line, "not_of_my_world", foreign=thing)

    # -- times -----------------------------------------------------------------------------

    def life_year(self) -> Beat:
        """Ask when an event of the character's life happened."""
        event = self._life("life")
        return self._answering(self._timed("life_year", event), event["year"], life=event["past"])

    def life_confirmed(self) -> Beat:
        """Claim a correct date of the character's life."""
        event = self._life("life")
        line = self._timed("life_confirm", event, c=event["year"])
        return self._answering(line, event["year"], life=event["past"])

    def life_contradicted(self) -> Beat:
        """Claim a wrong date of the character's life."""
        return self._misdated("life_confirm", self._life("life"))

    def life_presupposed(self) -> Beat:
        """Presuppose a wrong date of the character's life."""
        return self._misdated("life_presuppose", self._life("life"))

    def world_year(self) -> Beat:
        """Ask when a world event happened."""
        event = self._world("world")
        return self._answering(self._timed("world_year", event), event["year"], world=event["name"])

    def world_contradicted(self) -> Beat:
        """Claim a wrong date of a past world event."""
        return self._misdated("world_confirm", self._world("world"))

    def world_confirmed(self) -> Beat:
        """Claim a correct date of a past world event."""
        event = self._world("world")
        line = self._timed("world_confirm", event, c=event["year"])
        return self._answering(line, event["year"], world=event["name"])

    def world_presupposed(self) -> Beat:
        """Presuppose a wrong date of a past world event."""
        return self._misdated("world_presuppose", self._world("world"))

    def world_omitted(self) -> Beat:
        """Ask for the date of an event that the card does not mention."""
        event = {"name": self.pools.take("events")[self.language]}
        return self._refusing(self._timed("world_year", event), "not_known", world=event["name"])

    def later_year(self) -> Beat:
        """Ask for the date of a future event."""
        event = self._later()
        return self._refusing(self._timed("world_year", event), "not_yet", world=event["name"])

    def later_confirmed(self) -> Beat:
        """Claim a correct date of a future event."""
        event = self._later()
        line = self._timed("world_confirm", event, c=event["year"])
        return self._refusing(line, "not_yet", world=event["name"])

    def next_ruler(self) -> Beat:
        """Ask who will succeed the present ruler."""
        self._once("ruler", "next")
        line = self._timed("next_ruler", {}, c=self.card["rulers"][-1]["name"])
        return self._refusing(line, "not_yet", next_ruler=True)

    def ruler_after(self) -> Beat:
        """Ask who succeeded an earlier ruler."""
        place = int(self.rng.integers(len(self.card["rulers"]) - 1))
        self._once("ruler", str(place))
        line = self._timed("next_ruler", {}, c=self.card["rulers"][place]["name"])
        return self._answering(line, self.card["rulers"][place + 1]["name"], ruler_after=place)

    def ruler_at(self) -> Beat:
        """Ask who ruled at the time of an event."""
        event = self._world("ruler")
        line = self._timed("ruler_at", event)
        return self._answering(line, self._ruler(event["year"]), ruler_at=event["name"])

    def ruler_contradicted(self) -> Beat:
        """Claim a wrong ruler for an event."""
        event = self._world("ruler")
        truth = self._ruler(event["year"])
        others = [r["name"] for r in self.card["rulers"] if r["name"] != truth]
        claim = others[int(self.rng.integers(len(others)))]
        line = self._timed("ruler_confirm", event, c=claim)
        return self._correcting(line, claim, truth, ruler_at=event["name"])

    def age(self) -> Beat:
        """Ask the character's age."""
        self._once("age", "now")
        return self._answering(self._timed("age", {}), self._age(self.card["now"]), age="now")

    def age_contradicted(self) -> Beat:
        """Claim a wrong age."""
        self._once("age", "now")
        truth = self._age(self.card["now"])
        claim = str(int(truth) + (-3, -2, -1, 1, 2, 3)[int(self.rng.integers(6))])
        return self._correcting(self._timed("age_confirm", {}, c=claim), claim, truth, age="now")

    def age_at(self) -> Beat:
        """Ask how old the character was at the time of an event."""
        event = self._life("age")
        line = self._timed("age_at", event)
        return self._answering(line, self._age(event["year"]), age=event["past"])

    def gap(self) -> Beat:
        """Ask how many years lie between two events."""
        event, other = self._world("gap"), self._life("gap")
        years = abs(event["year"] - other["year"])
        line = self._timed("gap", {**event, **other})
        return self._answering(line, years, gap=[event["name"], other["past"]])

    def name(self) -> Beat:
        """Ask the character's name."""
        self._once("name", "ask")
        return self._answering(self._timed("name", {}), self.card["name"], name=True)

    # -- parts -----------------------------------------------------------------------------

    def attribute_line(self, name: str, frame: str, claim: str = "") -> str:
        """Return a frame of an attribute: `ask`, `indirect`, `confirm` or `presuppose`."""
        spec = attribute_phrases(name, self.card["unseen"])[frame]
        texts = spec if isinstance(spec, list) else [spec]
        text = texts[int(self.rng.integers(len(texts)))]
        return fill(text, self.language, {**self.card["words"], "c": claim})

    def spellings(self, value: Any) -> tuple[str, ...]:
        """Return the accepted spellings of a value; for people, also their given names."""
        text = str(value)
        return (text, self.pools.short[text]) if text in self.pools.short else (text,)

    def false_claim(self, name: str) -> str:
        """Return a false value for an attribute that the card states."""
        return self._other(name, str(self.card["attributes"][name]))

    def _question(self, name: str) -> str:
        indirect = self.level in ("medium", "hard") and self.rng.random() < 0.5
        return self.attribute_line(name, "indirect" if indirect else "ask")

    def _claim(self, name: str, frame: str, claim: str) -> str:
        return self.attribute_line(name, frame, claim)

    def _wrong(self, name: str, frame: str) -> Beat:
        claim = self.false_claim(name)
        truth = self.card["attributes"][name]
        return self._correcting(self._claim(name, frame, claim), claim, truth, attribute=name)

    def _other(self, name: str, truth: str = "") -> str:
        """Return a false value of the attribute's kind; at `hard`, preferably one from the card."""
        kind = table("attributes")[name]["kind"]
        if kind in ("year", "count"):
            return self._other_number(int(truth) if truth else self._usual(name), kind)
        same = [
            str(value)
            for other, value in self.card["attributes"].items()
            if other != name and table("attributes")[other]["kind"] == kind
        ]
        if same and (self.level == "hard" or self.rng.random() < 0.3):
            return same[int(self.rng.integers(len(same)))]
        return self.pools.take(kind)[self.language]

    def _usual(self, name: str) -> int:
        """Return a number typical of other cards for an attribute that this card omits."""
        if "range" not in table("attributes")[name]:
            return int(self.card["now"]) - 30
        low, high = table("attributes")[name]["range"]
        return int(self.rng.integers(low, high + 1))

    def _other_number(self, truth: int, kind: str) -> str:
        if kind == "count" and self.level == "hard":
            numbers = {str(v) for v in self.card["attributes"].values() if str(v).isdigit()}
            near = sorted(n for n in numbers if n != str(truth) and int(n) < 100)
            if near and self.rng.random() < 0.4:
                return near[int(self.rng.integers(len(near)))]
        span = 9 if kind == "year" else 3
        shifts = [d for d in range(-span, span + 1) if d and truth + d >= 2]
        return str(truth + shifts[int(self.rng.integers(len(shifts)))])

    def _misdated(self, frame: str, event: Mapping[str, Any]) -> Beat:
        claim = self._other_number(event["year"], "year")
        line = self._timed(frame, event, c=claim)
        place = {"life": event["past"]} if "past" in event else {"world": event["name"]}
        return self._correcting(line, claim, event["year"], **place)

    def _timed(self, frame: str, event: Mapping[str, Any], **more: Any) -> str:
        values = {**self.card["words"], **event, **more}
        phrase = time_phrase(frame, TIMES[frame], self.card["unseen"])
        return fill(phrase, self.language, values)

    def _age(self, year: int) -> str:
        if "birth_year" not in self.card["attributes"]:
            raise NothingLeft("the card states no year of birth")
        return str(year - int(self.card["attributes"]["birth_year"]))

    def _ruler(self, year: int) -> str:
        return str(max((r for r in self.card["rulers"] if r["year"] <= year),
                       key=lambda r: r["year"])["name"])  # fmt: skip

    def _life(self, use: str) -> Mapping[str, Any]:
        return self._event(self.card["life"], use, "past")

    def _world(self, use: str) -> Mapping[str, Any]:
        years = {ruler["year"] for ruler in self.card["rulers"]}
        first = min(years)
        fit = [e for e in self.card["world"] if use != "ruler" or e["year"] not in years]
        return self._event([e for e in fit if use != "ruler" or e["year"] > first], use, "name")

    def _later(self) -> Mapping[str, Any]:
        return self._event(self.card["later"], "later", "name")

    def _event(self, events: list[Any], use: str, key: str) -> Mapping[str, Any]:
        free = [event for event in events if (use, event[key]) not in self._used]
        if not free:
            raise NothingLeft(use)
        event: Mapping[str, Any] = free[int(self.rng.integers(len(free)))]
        self._once(use, event[key])
        return event

    def _attribute(self, use: str, *, told: bool) -> str:
        free = [
            name
            for name in ATTRIBUTES
            if (name in self.card["attributes"]) == told and (use, name) not in self._used
        ]
        if not free:
            raise NothingLeft(use)
        name = free[int(self.rng.integers(len(free)))]
        self._once(use, name)
        return name

    def _pick(self, use: str, options: tuple[str, ...]) -> str:
        free = [option for option in options if (use, option) not in self._used]
        if not free:
            raise NothingLeft(use)
        chosen = free[int(self.rng.integers(len(free)))]
        self._once(use, chosen)
        return chosen

    def _once(self, use: str, name: str) -> None:
        if (use, name) in self._used:
            raise NothingLeft(f"{use} {name}")
        self._used.add((use, name))

    def _answering(self, line: str, value: Any, **query: Any) -> Beat:
        return Beat(line, "answer", value=self.spellings(value), query=query)

    def _correcting(self, line: str, claim: str, truth: Any, **query: Any) -> Beat:
        return Beat(
            line, "correct", value=self.spellings(truth), claim=self.spellings(claim),
            keep=(claim,), query={**query, "claim": claim},
        )  # fmt: skip

    def _refusing(self, line: str, reason: str, **query: Any) -> Beat:
        return Beat(line, "refuse", reasons=(reason,), query=query)
