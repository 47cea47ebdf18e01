"""Games with a pay-off: the other speaker is the shared simulated user with something at stake.

A buyer evaluates offers by the items' value to them; a visitor under questioning answers what they
are asked. Neither knows the character's card or the correct outcome.
"""

from collections.abc import Mapping
from typing import Any

from hexathlon.envs.roleplay.voices import Cue, Voice, worded
from hexathlon.envs.users import Agenda, Reply, SimulatedUser
from hexathlon.tasks.seeding import derive_seed

__all__ = ["Bargain", "Inquiry"]


class _Game:
    """Common part of both games: the user, the turns, silence, and the voice."""

    def __init__(self, params: Mapping[str, Any], seed: int, voice: Voice | None = None) -> None:
        self._params, self._seed, self._voice = params, seed, voice
        self._agenda = Agenda.parse(params["agenda"])
        self._user = self._visitor()
        self._turns: tuple[Mapping[str, Any], ...] = ()
        self._heard = ""
        self.closed = False

    def opening(self) -> str:
        """Return the other speaker's opening line."""
        return self._hear(self._user.opening())

    def act(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Execute one act of the character."""
        reply = str(arguments["reply"])
        typed = {key: value for key, value in arguments.items() if key != "reply"}
        turn = {"act": name, "reply": reply, "heard": self._heard, "typed": typed}
        self._turns = (*self._turns, turn)
        answer = self._answer(name, reply, typed)
        self._heard = answer
        return answer

    def state(self) -> dict[str, Any]:
        """Return the state for the verifier."""
        return {"turns": [dict(turn) for turn in self._turns], **self._outcome()}

    def save(self) -> Any:
        """Return the state as immutable data."""
        return self._turns, self._heard, self.closed, self._user.snapshot(), self._seed

    def load(self, saved: Any) -> None:
        """Restore a state."""
        self._turns, self._heard, self.closed, user, self._seed = saved
        self._user = self._visitor()
        self._user.restore(user)

    def _visitor(self) -> SimulatedUser:
        return SimulatedUser(self._agenda, derive_seed("visitor", self._seed))

    def _answer(self, name: str, reply: str, typed: Mapping[str, Any]) -> str:
        raise NotImplementedError

    def _outcome(self) -> dict[str, Any]:
        return {}

    def _end(self, key: str) -> str:
        self.closed = True
        return str(self._params["ends"][key])

    def _hear(self, reply: Reply) -> str:
        """Word the user's reply, keeping every value that it reveals."""
        slots = self._agenda.slots
        keep = [str(slots[name].value) for name in reply.revealed]
        hidden = [slot.value for name, slot in slots.items() if name not in self._user.revealed]
        spoken = [part for turn in self._turns for part in (turn["heard"], turn["reply"])]
        cue = Cue(reply.text, "", self._agenda.language, spoken)
        self._heard = worded(self._voice, cue, keep, hidden)
        if reply.left:
            return f"{self._heard}\n{self._end('gone')}"
        return self._heard


class Bargain(_Game):
    """A sale; see `hexathlon.tasks.roleplay.templates.bargain`."""

    def _answer(self, name: str, reply: str, typed: Mapping[str, Any]) -> str:
        if name == "walk_away":
            return self._end("walked")
        if name != "offer":
            return self._hear(self._user.reply(reply))
        answer = self._user.consider(typed, self._objection)
        text = self._hear(answer)
        return f"{text}\n{self._end('closed')}" if answer.accepted else text

    def _objection(self, offer: Mapping[str, Any], _: Mapping[str, Any]) -> str | None:
        worths = self._params["worths"]
        total = self._params["worth"] + sum(worths[name][offer[name]] for name in worths)
        return None if total - offer["amount"] >= self._params["keep"] else ""

    def _outcome(self) -> dict[str, Any]:
        last = self._turns[-1] if self._turns and self.closed else None
        accepted = last is not None and last["act"] == "offer" and not self._user.left
        walked = last is not None and last["act"] == "walk_away"
        return {
            "deal": dict(last["typed"]) if last is not None and accepted else None,
            "walked": last["typed"]["best"] if last is not None and walked else None,
        }


class Inquiry(_Game):
    """An interrogation; see `hexathlon.tasks.roleplay.templates.inquiry`."""

    def _answer(self, name: str, reply: str, typed: Mapping[str, Any]) -> str:
        if name == "conclude":
            return self._end("end")
        if name == "confront":
            options = self._params["hm"]
            return str(options[derive_seed("hm", self._seed, len(self._turns)) % len(options)])
        return self._hear(self._user.reply(reply))

    def _outcome(self) -> dict[str, Any]:
        told = list(self._user.revealed)
        concluded = bool(self._turns) and self._turns[-1]["act"] == "conclude"
        return {"told": told, "concluded": concluded}
