"""A simulated user: has an agenda, answers questions about it, loses patience, leaves.

The user is a state machine over counters. Each phrase it picks is a function of (seed, occasion,
count), so there is no random state to carry and a snapshot is a few numbers. It uses no language
model: what it reveals depends on the questions alone, and nothing that the agent writes is
repeated or stored. `listening` parses the agent's messages.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hexathlon.envs.users.agenda import Agenda, Slot, SlotValue
from hexathlon.envs.users.banks import BANKS
from hexathlon.envs.users.listening import Heard, listen
from hexathlon.tasks.seeding import derive_seed

__all__ = ["Reply", "SimulatedUser", "SlotJudge"]

SlotJudge = Callable[[Mapping[str, Any], Mapping[str, SlotValue]], str | None]
"""Maps an offer and the wanted values to the slot (or another reason) to reject for, or None."""

_FREE_REMARKS = 2
"""Consecutive remarks without a question that cost no patience."""


class Reply(NamedTuple):
    """One answer of the user."""

    text: str
    revealed: tuple[str, ...]
    """Slots whose value this answer reveals, changed values included."""

    patience: int
    """Remaining patience; 0 when the user has left."""

    left: bool
    """Whether the user has ended the conversation; further messages get an empty answer."""

    accepted: bool = False
    """Whether an offer was accepted; only `consider` sets it."""


class SimulatedUser:
    """One user in one episode.

    Args:
        agenda: An `Agenda`, or the same as JSON.
        seed: Determines the wording and when a slot changes, never the values.

    Example:
        >>> year = {"value": 2023, "ask": ["year"]}
        >>> user = SimulatedUser({"goal": "Report the sales.", "slots": {"year": year}}, seed=7)
        >>> user.reply("Which year do you mean?").revealed
        ('year',)
    """

    def __init__(self, agenda: Agenda | dict[str, Any], seed: int) -> None:
        self.agenda = Agenda.parse(agenda)
        self._seed = seed
        self._phrases = {name: slot.ask for name, slot in self.agenda.slots.items()}
        self._bank = BANKS[self.agenda.language]
        self._turn = 0
        self._patience = self.agenda.patience
        self._remarks = 0
        self._opened = False
        self._told: dict[str, int] = {}
        self._due: dict[str, int] = {}
        self._changed: list[str] = []

    @property
    def left(self) -> bool:
        """Whether the user has ended the conversation."""
        return self._patience <= 0

    @property
    def patience(self) -> int:
        """Number of further useless messages that the user tolerates."""
        return self._patience

    @property
    def revealed(self) -> tuple[str, ...]:
        """Slots revealed so far, in order."""
        return tuple(self._told)

    def wanted(self) -> dict[str, SlotValue]:
        """Return the values wanted now, revealed or not; for verifiers, never for the agent."""
        return {name: self._value(name) for name in self.agenda.slots}

    def opening(self) -> Reply:
        """State the goal and the volunteered slots."""
        self._turn += 1
        return self._open()

    def reply(self, message: str) -> Reply:
        """Answer a message of the agent.

        Slots are revealed only when asked for, at most `slots_per_turn` in one answer. Questions
        about anything else, repeated or overloaded ones and attempts to break the user's role cost
        patience.
        """
        if self.left:
            return self._reply("", ())
        self._turn += 1
        heard = listen(message, self._phrases)
        self._remarks = 0 if heard.question else self._remarks + 1
        if heard.probing:
            return self._annoyed("refuse")
        if heard.overloaded:
            return self._annoyed("too_much")
        if heard.asked:
            return self._answer(heard)
        if heard.opening and not self._opened:
            return self._open()
        if heard.question:
            return self._annoyed("unknown")
        if self._remarks > _FREE_REMARKS:
            return self._annoyed("idle")
        return self._with_changes([self._pick("idle")], ())

    def consider(self, offer: Mapping[str, Any], judge: SlotJudge | None = None) -> Reply:
        """Accept or reject an offer, naming one reason.

        A pending change of mind is revealed first and the offer is deferred: no offer is judged
        by a value that the agent could not have learned.

        Args:
            offer: The offered values, by slot name; missing slots count as wrong.
            judge: Decides in place of equality of every slot. Its result must not be a value:
                a slot's name is made into a sentence, any other text is said verbatim.
        """
        if self.left:
            return self._reply("", ())
        self._turn += 1
        if self._due:
            return self._with_changes([], (), hurry=True)
        reason = (judge or _first_difference)(offer, self.wanted())
        if reason is None:
            return self._reply(self._pick("accept"), (), accepted=True)
        return self._annoyed("reject", self._complaint(reason))

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain JSON; the agenda and the seed are not included."""
        return {
            "turn": self._turn,
            "patience": self._patience,
            "remarks": self._remarks,
            "opened": self._opened,
            "told": dict(self._told),
            "due": dict(self._due),
            "changed": list(self._changed),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a snapshot of a user with the same agenda and seed."""
        self._turn = state["turn"]
        self._patience = state["patience"]
        self._remarks = state["remarks"]
        self._opened = state["opened"]
        self._told = dict(state["told"])
        self._due = dict(state["due"])
        self._changed = list(state["changed"])

    def _open(self) -> Reply:
        self._opened = True
        volunteered = tuple(name for name, slot in self.agenda.slots.items() if slot.volunteer)
        parts = [self.agenda.goal, *(self._tell(name) for name in volunteered)]
        return self._reply(self._join(parts), volunteered)

    def _answer(self, heard: Heard) -> Reply:
        asked = heard.asked[: self.agenda.slots_per_turn]
        repeated = all(name in self._told for name in asked)
        excess = len(heard.asked) > len(asked)
        if repeated or excess:
            self._patience -= 1
        if self.left:
            return self._reply(self._pick("leave"), ())
        parts = [self._pick("warm")] if self.agenda.style == "warm" else []
        if repeated:
            parts.append(self._pick("again"))
        due = [name for name in self._due if name not in asked]
        parts += [self._tell(name) for name in asked]
        if excess:
            parts.append(self._pick("too_much"))
        return self._with_changes(parts, asked, among=due)

    def _tell(self, name: str) -> str:
        """State the slot's value and, if it will change, decide when."""
        slot = self.agenda.slots[name]
        count = self._told.get(name, 0)
        self._told[name] = count + 1
        if slot.change_to is not None and name not in self._changed and name not in self._due:
            self._due[name] = self._turn + 1 + self._draw("change", name) % 2
        template = self._variant(slot.say or self._bank["tell"], "tell", name, count)
        return template.replace("{value}", str(self._value(name)))

    def _with_changes(
        self,
        parts: list[str],
        revealed: tuple[str, ...],
        among: list[str] | None = None,
        hurry: bool = False,
    ) -> Reply:
        """Complete an answer with the changes of mind that are due."""
        candidates = list(self._due) if among is None else among
        changes = [name for name in candidates if hurry or self._due[name] <= self._turn]
        for name in changes:
            del self._due[name]
            self._changed.append(name)
            template = self._pick("changed", name)
            label = _label(name, self.agenda.slots[name])
            parts.append(
                template.replace("{label}", label).replace("{value}", str(self._value(name)))
            )
        return self._reply(self._join(parts), (*revealed, *changes))

    def _annoyed(self, field: str, text: str | None = None) -> Reply:
        self._patience -= 1
        if self.left:
            return self._reply(self._pick("leave"), ())
        return self._with_changes([text or self._pick(field)], ())

    def _complaint(self, reason: str) -> str:
        if reason not in self.agenda.slots:
            return reason or self._pick("reject")
        field = "reject_known" if reason in self._told else "reject_unknown"
        label = _label(reason, self.agenda.slots[reason])
        return self._pick(field).replace("{label}", label)

    def _value(self, name: str) -> SlotValue:
        slot = self.agenda.slots[name]
        return (
            slot.change_to if name in self._changed and slot.change_to is not None else slot.value
        )

    def _reply(self, text: str, revealed: tuple[str, ...], accepted: bool = False) -> Reply:
        return Reply(text, revealed, max(self._patience, 0), self.left, accepted)

    def _join(self, parts: list[str]) -> str:
        return ("" if self.agenda.language == "zh" else " ").join(parts)

    def _pick(self, field: str, *occasion: str) -> str:
        return self._variant(self._bank[field], field, *occasion, self._turn)

    def _variant(self, options: tuple[str, ...], *occasion: str | int) -> str:
        """Pick a phrase; consecutive counts never pick the same one."""
        *place, count = occasion
        return options[(self._draw(*place) + int(count)) % len(options)]

    def _draw(self, *occasion: str | int) -> int:
        return derive_seed("user", self._seed, *occasion)


def _label(name: str, slot: Slot) -> str:
    return slot.label or name.replace("_", " ")


def _first_difference(offer: Mapping[str, Any], wanted: Mapping[str, SlotValue]) -> str | None:
    return next((name for name, value in wanted.items() if offer.get(name) != value), None)
