"""A scene in progress: figures come, go, listen, take offence, pay, gossip and come back.

The scene follows the task's moments. A line that asks for something waits for a response, before
which the character may act of its own accord. Consequences of what was said and given show in
later lines. The scene has no access to the correct responses.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.envs.roleplay.voices import Cue, Voice, worded
from hexathlon.evaluators.roleplay.scenes import offends
from hexathlon.tasks.bilingual import BilingualText, Language
from hexathlon.tasks.roleplay.card import fill, table
from hexathlon.tasks.roleplay.choosing import other_option
from hexathlon.tasks.roleplay.text import denotes, fold, found

__all__ = ["Evening"]

_PATIENCE = 3
"""Number of turns without a response after which a figure stops waiting."""

_RESPONSES = ("answer", "agree", "correct", "refuse")
_OWN = ("tell", "give")
_INSULTED, _CROSS = -3, -2
"""Change of a mood by an insult, and the mood at or below which a returning figure shows anger."""


class Evening:
    """One scene.

    Args:
        params: The task's parameters.
        seed: Unused: a scene is deterministic.
        voice: Rewords the lines; None for the script.
    """

    def __init__(self, params: Mapping[str, Any], seed: int, voice: Voice | None = None) -> None:
        self._params, self._voice = params, voice
        self._language: Language = params["language"]
        self._moments: Sequence[Mapping[str, Any]] = params["moments"]
        self._figures: Sequence[Mapping[str, Any]] = params["figures"]
        self._place = 0
        self._waited = 0
        self._heard = ""
        self._turns: tuple[Mapping[str, Any], ...] = ()
        self._events: frozenset[str] = frozenset()
        self._mood: Mapping[int, int] = {}
        self._goods: tuple[str, ...] = tuple(params["goods"])
        self._purse = 0
        self._met: frozenset[int] = frozenset()
        self._choices: Mapping[str, str] = {}

    @property
    def closed(self) -> bool:
        """Whether the last moment is over."""
        return self._place >= len(self._moments)

    def opening(self) -> str:
        """Return the first line."""
        self._heard = self._next(())
        return self._heard

    def act(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Execute one act of the character and continue."""
        reply = str(arguments["reply"])
        if not reply.strip():
            return self._bracketed([self._told("silence")])
        moment = self._moments[self._place]
        present = tuple(moment["present"])
        notes, result = self._own(name, arguments, present)
        bought = result == "sold" and self._figure(arguments["to"]) == moment["speaker"]
        waiting = moment["asks"] and name not in _RESPONSES and not bought
        closes = not waiting and (name not in _OWN or result == "sold")
        self._waited = self._waited + 1 if waiting else 0
        closes = closes or self._waited >= _PATIENCE
        typed = {key: value for key, value in arguments.items() if key != "reply"}
        turn = {
            "act": name, "reply": reply, "heard": self._heard, "typed": typed,
            "place": self._place, "closes": closes, "result": result,
        }  # fmt: skip
        self._turns = (*self._turns, turn)
        notes += self._reactions(name, reply, typed, present, closes, moment["speaker"])
        if not closes:
            notes += [self._told("waiting", moment["speaker"])] if waiting else []
            self._heard = self._bracketed(notes)
            return self._heard
        self._waited = 0
        self._place += 1
        self._heard = self._joined(notes, self._next(present))
        return self._heard

    def state(self) -> dict[str, Any]:
        """Return the state for the verifier."""
        return {
            "turns": [dict(turn) for turn in self._turns], "place": self._place,
            "goods": list(self._goods), "purse": self._purse,
        }  # fmt: skip

    def save(self) -> Any:
        """Return the state as immutable data."""
        return (
            self._place, self._waited, self._heard, self._turns, self._events, self._mood,
            self._goods, self._purse, self._met, self._choices,
        )  # fmt: skip

    def load(self, saved: Any) -> None:
        """Restore a state."""
        (
            self._place, self._waited, self._heard, self._turns, self._events, self._mood,
            self._goods, self._purse, self._met, self._choices,
        ) = saved  # fmt: skip

    # -- what the character does -----------------------------------------------------------

    def _own(
        self, name: str, arguments: Mapping[str, Any], present: Sequence[int]
    ) -> tuple[list[str], str]:
        """Execute an act of the character's own accord; return remarks and the result."""
        if name not in _OWN:
            return [], ""
        to = self._figure(arguments["to"])
        if to is None:
            return [self._told("nobody")], "nobody"
        if to not in present:
            return [self._told("absent", to)], "absent"
        if name == "tell":
            return [self._told("listens", to)], "told"
        return self._given(to, str(arguments["what"]), int(arguments["price"]))

    def _given(self, to: int, what: str, price: int) -> tuple[list[str], str]:
        item = next((one for one in self._goods if denotes(what, one)), None)
        if item is None:
            return [self._told("nothing")], "nothing"
        limits = self._params["limits"].get(item)
        if limits is not None and price:
            refused = f"dear:{item}:{to}"
            if refused in self._events or price > limits.get(str(to), 0):
                self._events |= {refused}
                return [self._told("dear", to)], "dear"
        elif price:
            return [self._told("dear", to)], "dear"
        self._goods = tuple(one for one in self._goods if one != item)
        self._purse += price
        if limits is None or not price:
            return [self._told("taken", to, x=item)], "gave"
        self._events |= {f"sold:{item}"}
        return [self._told("sold", to, x=item, n=price)], "sold"

    def _figure(self, name: Any) -> int | None:
        wanted = fold(str(name))
        for place, figure in enumerate(self._figures):
            if wanted in map(fold, figure["names"]):
                return place
        return None

    # -- how the figures react -------------------------------------------------------------

    def _reactions(
        self,
        name: str,
        reply: str,
        typed: Mapping[str, Any],
        present: Sequence[int],
        closes: bool,
        speaker: int,
    ) -> list[str]:
        self._overhear(reply, present)
        if offends(reply, self._language):
            self._shift_mood(speaker, _INSULTED)
            return [self._told("insulted", speaker)]
        if not closes or not self._moments[self._place]["asks"]:
            return []
        if name == "refuse":
            mood = self._shift_mood(speaker, -1)
            if typed.get("reason") in ("secret", "against_my_rules"):
                feeling = "sour" if mood == -1 else "bitter" if mood == -2 else "pitied"
                return [self._told(feeling, speaker)]
        elif name == "agree":
            self._shift_mood(speaker, 1)
            left = [one for one, at in self._params["received"].items() if at == self._place]
            self._goods = (*self._goods, *left)
            return [self._told("pleased", speaker)]
        elif name == "correct":
            return [self._told("stung", speaker)]
        self._choose(name, typed)
        return []

    def _shift_mood(self, figure: int, by: int) -> int:
        mood = self._mood.get(figure, 0) + by
        self._mood = {**self._mood, figure: mood}
        return mood

    def _overhear(self, reply: str, present: Sequence[int]) -> None:
        """Note what reached the wrong ears; they talk about it later."""
        for item in self._params["gossip"]:
            if item["since"] <= self._place < item["until"]:
                strangers = set(present) - set(item["allowed"])
                if strangers and any(found(reply, value) for value in item["values"]):
                    self._events |= {f"leak:{item['thread']}"}

    def _choose(self, name: str, typed: Mapping[str, Any]) -> None:
        choice = self._moments[self._place]["choice"]
        if name == "answer" and choice.get("use") == "choose":
            self._choices = {**self._choices, choice["options"][0]: str(typed.get("value", ""))}

    # -- what the character sees and hears -------------------------------------------------

    def _next(self, before: Sequence[int]) -> str:
        """Return the next line with what happens before it, or the end."""
        remarks: list[str] = []
        while not self.closed and self._superfluous():
            remarks += self._bell()
            self._place += 1
        if self.closed:
            leaving = [self._staged("leaves", figure) for figure in before]
            return self._bracketed([*remarks, *leaving, self._told("end")])
        moment = self._moments[self._place]
        present = tuple(moment["present"])
        remarks += self._bell()
        remarks += [self._staged("leaves", i) for i in before if i not in present]
        for figure in present:
            if figure not in before:
                remarks.append(self._staged("again" if figure in self._met else "first", figure))
        self._met |= set(present)
        if self._mood.get(moment["speaker"], 0) <= _CROSS and moment["speaker"] not in before:
            remarks.append(self._told("cross", moment["speaker"]))
        if moment["narration"]:
            remarks.append(moment["narration"])
        name, text = self._figures[moment["speaker"]]["name"], self._line(moment)
        spoken = f"{name}: {text}" if self._language == "en" else f"{name}：{text}"
        return self._joined(remarks, spoken)

    def _superfluous(self) -> bool:
        moment = self._moments[self._place]
        return bool(moment["unless"]) and moment["unless"] in self._events

    def _bell(self) -> list[str]:
        bell = self._moments[self._place]["bell"]
        if not bell:
            return []
        name = BilingualText.parse(table("scenes")["ordinals"]["names"][bell - 1])[self._language]
        return [self._filled(self._stage("bell"), n=name)]

    def _line(self, moment: Mapping[str, Any]) -> str:
        text, kept = str(moment["text"]), []
        for variant in moment["variants"]:
            if set(variant["if"]) <= self._events:
                text = variant["text"]
        if "{other}" in text:
            options = moment["choice"]["options"]
            other = other_option(options, self._choices.get(options[0], ""))
            text, kept = text.replace("{other}", other), [other]
        if self._voice is None:
            return text
        said = [part for turn in self._turns for part in (turn["heard"], turn["reply"])]
        names = [figure["name"] for figure in self._figures]
        values = [value for item in self._params["gossip"] for value in item["values"]]
        kept += [word for word in (*names, *values, *self._goods) if found(text, word)]
        if moment["asks"]:
            kept.append(text)
        return worded(self._voice, Cue(text, "", self._language, said), kept, values)

    # -- words -----------------------------------------------------------------------------

    def _told(self, key: str, figure: int | None = None, **values: Any) -> str:
        return self._filled(table("scenes")["words"][key], figure, **values)

    def _stage(self, key: str) -> str:
        return str(table("scenes")["stage"][self._params["template"]][key])

    def _staged(self, key: str, figure: int) -> str:
        return self._filled(self._stage(key), figure)

    def _filled(self, text: str, figure: int | None = None, **values: Any) -> str:
        if figure is not None:
            trade = self._figures[figure]["trade"]
            values = {"A": self._figures[figure]["name"], "trade": trade, **values}
        return fill(text, self._language, {"cur": self._params["currency"], **values})

    def _bracketed(self, remarks: Sequence[str]) -> str:
        if not remarks:
            return ""
        return f"({' '.join(remarks)})" if self._language == "en" else f"（{''.join(remarks)}）"

    def _joined(self, remarks: Sequence[str], text: str) -> str:
        return "\n".join(part for part in (self._bracketed(remarks), text) if part)
