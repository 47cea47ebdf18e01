"""Agents that play the scripts of a task source: the oracle and the trivial policies."""

from collections.abc import Sequence

from hexathlon.baselines.agents.base import AgentMismatch, Episode, GaveUp, Turn, text_of
from hexathlon.envs.messages import Message
from hexathlon.tasks.source import Script
from hexathlon.tasks.stored.scripts import oracle_script

__all__ = ["ScriptPlayer", "ScriptedAgent"]


class ScriptPlayer:
    """Takes its turns from a script."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._started = False

    def act(self, messages: Sequence[Message]) -> Turn:
        """Return the script's next action; see `Player.act`."""
        try:
            if self._started:
                return Turn(self._script.send(text_of(messages)))
            self._started = True
            return Turn(next(self._script))
        except StopIteration:
            raise GaveUp("the script has no further action") from None

    def close(self) -> None:
        """End the script."""
        self._script.close()


class ScriptedAgent:
    """Plays a script of the task source: `oracle`, or one of its trivial policies.

    These scripts read the whole task, including the expected answer. They define ceiling and floor.

    Args:
        name: `oracle`, or the name of a policy.
    """

    version = "1"
    asynchronous = False

    def __init__(self, name: str) -> None:
        self.name = name

    def begin(self, episode: Episode) -> ScriptPlayer:
        """Return a player of the episode's script.

        Raises:
            AgentMismatch: If the task's source has no policy of this name.
        """
        if self.name == "oracle":
            return ScriptPlayer(oracle_script(episode.source, episode.task))
        policies = episode.source.policies(episode.task)
        if self.name not in policies:
            raise AgentMismatch(
                f"the task source {episode.source.name!r} has no policy {self.name!r}; "
                f"it has {', '.join(sorted(policies)) or 'none'}"
            )
        return ScriptPlayer(policies[self.name])
