"""Customer of a store or service episode: the shared simulated user plus wishes.

The agenda holds words; their meaning is in the task's `wishes`: for every slot and each of its
possible values, the conditions that an offer must meet.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from hexathlon.envs.users import Agenda, SimulatedUser
from hexathlon.envs.users.user import SlotJudge
from hexathlon.tasks.catalogue.constraint import Constraint
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.shopping.world.facts import holds_on

__all__ = ["Answer", "Customer", "as_question"]


_OTHER_GOODS = {
    "en": "No, that is something else than I came for.",
    "zh": "不对，这不是我要的那种商品。",
}


def as_question(text: str) -> str:
    """Return the text with a question mark: the tool already implies a question."""
    return text if text.rstrip().endswith(("?", "？")) else f"{text.rstrip()}?"


class Answer(NamedTuple):
    """The customer's response to an offer."""

    text: str
    judged: bool
    """False if the customer had something else to say first; nothing was decided then."""

    accepted: bool


class Customer:
    """One customer.

    Args:
        script: `agenda` for the simulated user, `wishes`: slot -> value -> conditions, `head`:
            conditions named by the goal, and `consent`: changes to which the customer agrees.
        seed: Seed of the wording.
    """

    def __init__(self, script: Mapping[str, Any], seed: int) -> None:
        self._agenda = Agenda.parse(script["agenda"])
        self._wishes: Mapping[str, Mapping[str, list[dict[str, Any]]]] = script["wishes"]
        self._head = [Constraint.from_json(record) for record in script.get("head", ())]
        self._consent = frozenset(script.get("consent", ()))
        self._seed = seed
        self._user = SimulatedUser(self._agenda, derive_seed("customer", seed))

    @property
    def revealed(self) -> tuple[str, ...]:
        """Slots revealed so far."""
        return self._user.revealed

    def opening(self) -> str:
        """State the request."""
        return self._user.opening().text

    def hear(self, text: str) -> str:
        """Answer a message."""
        if self._user.left:
            return self._gone()
        return self._user.reply(text).text

    def consider(self, facts: Mapping[str, Any]) -> Answer:
        """Judge an offer by the current wishes."""
        return self._judged(lambda _, wanted: self._objection(facts, wanted))

    def agree(self, subject: str) -> Answer:
        """Accept or decline a proposed change."""
        chinese = self._agenda.language == "zh"
        no = "不，我要的不是这个。" if chinese else "No, not that."
        answer = self._judged(lambda _, __: None if subject in self._consent else no)
        if answer.accepted:
            return answer._replace(text="好的，就这样办。" if chinese else "Yes, please do that.")
        return answer

    def _judged(self, judge: SlotJudge) -> Answer:
        if self._user.left:
            return Answer(self._gone(), False, False)
        before = self._user.snapshot()["changed"]
        reply = self._user.consider({}, judge)
        judged = reply.accepted or self._user.snapshot()["changed"] == before
        return Answer(reply.text, judged, reply.accepted)

    def save(self) -> tuple[dict[str, Any], int]:
        """Return the user's state."""
        return self._user.snapshot(), self._seed

    def resumed(self, state: tuple[dict[str, Any], int]) -> "Customer":
        """Return the same customer in a saved state."""
        clone = object.__new__(Customer)
        snapshot, clone._seed = state
        clone._agenda, clone._wishes = self._agenda, self._wishes
        clone._consent, clone._head = self._consent, self._head
        clone._user = SimulatedUser(self._agenda, derive_seed("customer", clone._seed))
        clone._user.restore(snapshot)
        return clone

    def _objection(self, facts: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
        if not all(holds_on(facts, constraint) for constraint in self._head):
            return _OTHER_GOODS[self._agenda.language]
        for slot, value in wanted.items():
            records = self._wishes.get(slot, {}).get(str(value), [])
            if not all(holds_on(facts, Constraint.from_json(record)) for record in records):
                return slot
        return None

    def _gone(self) -> str:
        return "（顾客已离开。）" if self._agenda.language == "zh" else "(The customer has left.)"
