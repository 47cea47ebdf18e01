"""A scripted conversation: the visitor leads, beat by beat, and answers questions.

The lines come from the task; visitors' facts about themselves are the agenda of the shared
simulated user. It has no access to the correct answers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.envs.roleplay.voices import Cue, Voice, worded
from hexathlon.envs.users import Agenda, SimulatedUser
from hexathlon.tasks.roleplay.choosing import other_option
from hexathlon.tasks.seeding import derive_seed

__all__ = ["Conversation"]

_SILENCE = {"en": "(You said nothing. Say something.)", "zh": "（你什么也没说。请说点什么。）"}
_END = {"en": "(The visitor takes leave.)", "zh": "（来客告辞。）"}


class Conversation:
    """One conversation.

    Args:
        params: The task's parameters.
        seed: Seed of the visitor's wording.
        voice: Rewords the lines; None for the script.
    """

    def __init__(self, params: Mapping[str, Any], seed: int, voice: Voice | None = None) -> None:
        self._params, self._seed, self._voice = params, seed, voice
        self._lines: Sequence[Mapping[str, Any]] = params["lines"]
        agenda = params.get("agenda")
        self._agenda = Agenda.parse(agenda) if agenda else None
        self._user = self._visitor()
        self._turns: tuple[Mapping[str, Any], ...] = ()
        self._heard = ""
        self._choices: Mapping[str, str] = {}

    @property
    def closed(self) -> bool:
        """Whether the last line has been answered."""
        return len(self._turns) >= len(self._lines)

    def opening(self) -> str:
        """Return the first line."""
        self._heard = self._next()
        return self._heard

    def act(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Execute one act of the character and continue."""
        reply = str(arguments["reply"])
        if not reply.strip():
            return _SILENCE[self._params["language"]]
        turn = {
            "act": name, "reply": reply, "heard": self._heard,
            **{key: str(arguments.get(key, "")) for key in ("value", "claim", "truth", "reason")},
        }  # fmt: skip
        self._choose(turn)
        self._turns = (*self._turns, turn)
        if self.closed:
            return _END[self._params["language"]]
        self._heard = self._answer(reply) + self._next()
        return self._heard

    def state(self) -> dict[str, Any]:
        """Return the state for the verifier."""
        return {"turns": [dict(turn) for turn in self._turns]}

    def save(self) -> Any:
        """Return the state as immutable data."""
        user = self._user.snapshot() if self._user is not None else None
        return self._turns, self._heard, self._choices, user, self._seed

    def load(self, saved: Any) -> None:
        """Restore a state."""
        self._turns, self._heard, self._choices, user, self._seed = saved
        self._user = self._visitor()
        if self._user is not None:
            self._user.restore(user)

    def _visitor(self) -> SimulatedUser | None:
        if self._agenda is None:
            return None
        return SimulatedUser(self._agenda, derive_seed("visitor", self._seed))

    def _answer(self, reply: str) -> str:
        """Return the visitor's answer to a question of the character; empty if there is none."""
        if self._user is None or not any(mark in reply for mark in "?？"):
            return ""
        answer = self._user.reply(reply)
        if not answer.revealed:
            return ""
        return answer.text + (" " if self._params["language"] == "en" else "")

    def _choose(self, turn: Mapping[str, Any]) -> None:
        line = self._lines[len(self._turns)]
        if line.get("choice") == "choose":
            self._choices = {**self._choices, line["options"][0]: turn["value"]}

    def _next(self) -> str:
        line = self._lines[len(self._turns)]
        text, keep = str(line["text"]), list(line.get("keep", ()))
        if "{other}" in text:
            options = line["options"]
            other = other_option(options, self._choices.get(options[0], ""))
            text, keep = text.replace("{other}", other), [*keep, other]
        said = [part for turn in self._turns for part in (turn["heard"], turn["reply"])]
        cue = Cue(text, self._params["manner"], self._params["language"], said)
        return worded(self._voice, cue, keep, self._params.get("hidden", ()))
