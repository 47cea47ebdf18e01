"""Replays of recorded trials, and their comparison with the records.

A replay rebuilds the task and takes the recorded actions in a fresh environment. In a run of a
built-in agent, the agent's own actions are compared with the recorded ones: the task determines
them, so floors and ceilings cannot be forged.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from hexathlon.baselines.agents.base import Agent, AgentMismatch, Episode, GaveUp, Player, Turn
from hexathlon.baselines.agents.spec import SpecError, parse_model, scripted_agent
from hexathlon.baselines.harness.config import EvalConfig
from hexathlon.baselines.harness.environments import find_environment, make_environment
from hexathlon.baselines.harness.errors import EnvironmentUnavailable
from hexathlon.baselines.harness.finding import abridged
from hexathlon.baselines.rollout.drivers import play
from hexathlon.baselines.rollout.faults import POLICIES
from hexathlon.baselines.rollout.rollout import EnvironmentSlot, FatalError, Rollout
from hexathlon.envs.messages import Message
from hexathlon.envs.status import Status
from hexathlon.evaluators.records import TrialRecord, record_key
from hexathlon.evaluators.records.consistency import OUTSIDE

__all__ = ["ProgramReplay", "Replayer", "replay_differences"]

_SETUP = ("task_hash", "system_prompt_hash", "opening", "template", "level", "split")
_OUTCOME = ("stop", "status", "reward", "partial", "terms", "evidence", "checks", "judges")
_COUNTS = ("turns", "tool_errors", "cut_chars", "sandbox", "env_version", "final_state")
_STEP = ("observation", "reward", "status")
_RUN_LIMITS = (Status.TRUNCATED_LENGTH, Status.TRUNCATED_TIME, Status.ABORTED)
_VERDICT_CAUSES = ("verifier", "judge")
_TIME_LIMITS = ("limit:wall_seconds", "limit:working_seconds")


class ProgramReplay(Protocol):
    """Answers the calls of a program that is run again in a terminal trial."""

    def open(self, episode: Episode) -> Callable[[], None]:
        """Begin to answer; the returned function ends it."""
        ...


class Replayer:
    """Replays the records of one run.

    Args:
        config: The run's configuration.
        salt: The secret of a held-out round.
        programs: Answers programs that worked in the terminal event.
    """

    def __init__(
        self, config: EvalConfig, salt: str | None, programs: ProgramReplay | None = None
    ) -> None:
        self._limits, self._salt, self._programs = config.limits, salt, programs
        self._agent = _built_in(config.model)
        self._slots: dict[str, EnvironmentSlot] = {}

    def differences(
        self, record: Mapping[str, Any], *, retried: bool = False
    ) -> list[tuple[str, str]]:
        """Return (field, difference) for every field in which a replay contradicts a record.

        Args:
            record: The trial.
            retried: Whether a later record has another attempt at the same trial.

        Raises:
            EnvironmentUnavailable: If the environment is not available on this machine.
        """
        agent = _RecordedAgent(record, self._agent, self._programs)
        replayed = self._replay(agent, record)
        differences = replay_differences(record, replayed)
        if agent.ran_program:  # what it prints may name times and processes
            differences = [row for row in differences if not _printed(row[0])]
        if record["status"] == "infra" and not retried:
            differences += self._failure_differences(record, replayed)
        if record["status"] != "infra":
            differences += _flag_differences(record)
        return differences + agent.differences

    def __call__(self, item: tuple[Mapping[str, Any], bool]) -> list[tuple[str, str]]:
        """Return the differences of a record, given with whether it was retried."""
        record, retried = item
        return self.differences(record, retried=retried)

    def close(self) -> None:
        """Close the environments."""
        for slot in self._slots.values():
            slot.close()

    def _replay(self, agent: Agent, record: Mapping[str, Any]) -> TrialRecord:
        key = record_key(record)
        if key[0] not in self._slots:
            find_environment(key[0])
            self._slots[key[0]] = EnvironmentSlot(make_environment(key[0], self._limits))
        rollout = Rollout(agent, retries=0, salt=self._salt)
        try:
            return play(rollout.trial(self._slots[key[0]], key)).record
        except FatalError as error:
            raise EnvironmentUnavailable(str(error)) from error

    def _failure_differences(
        self, record: Mapping[str, Any], replayed: Mapping[str, Any]
    ) -> Iterator[tuple[str, str]]:
        """Yield a difference if a reproducible failure did not occur in the replay.

        A replay reproduces failures of the environment, and all failures in runs of built-in
        agents, but not failures of a model's server or of the code around a model.
        """
        cause = record["cause"]
        if cause not in POLICIES or POLICIES[cause].counts:
            yield "cause", f"expected a cause of infrastructure failures, found {cause!r}"
        elif replayed["status"] == "infra":
            return
        elif self._agent is not None or _in_environment(record):
            yield (
                "status",
                f"recorded infra ({cause}), but the replay meets no failure; play the trial again "
                "with `hexathlon resume RUN --retry-infra`",
            )


def _in_environment(record: Mapping[str, Any]) -> bool:
    in_step = "failed_action" in record
    return POLICIES[record["cause"]].blame == "environment" or in_step or not record["task_hash"]


def replay_differences(
    record: Mapping[str, Any], replayed: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """Return (field, difference) for every field in which a replay contradicts a record.

    A trial that ended in an infrastructure failure is compared up to the failure. Verdicts are not
    compared if a check is not deterministic.
    """
    began = record["status"] != "infra" or record["task_hash"]
    names = [*_SETUP] if began else []
    if record["status"] != "infra":
        names += [name for name in _COUNTS if name != "turns"]
        names += [*_OUTCOME] if _reproducible_verdict(record, replayed) else ["checks"]
    differences = [
        (name, _difference(record[name], replayed[name]))
        for name in names
        if record[name] != replayed[name] and not (name == "stop" and _stopped_by_run(record))
    ]
    return differences + list(_step_differences(record, replayed))


def _reproducible_verdict(record: Mapping[str, Any], replayed: Mapping[str, Any]) -> bool:
    """Whether the replay must give the recorded verdict.

    The replay determines which checks are deterministic. A verifier that failed in the run but not
    in the replay is a difference: the trial must be rescored.
    """
    if replayed["status"] == "unscored" and record["cause"] in _VERDICT_CAUSES:
        return False
    return all(check["deterministic"] for check in replayed["checks"])


def _stopped_by_run(record: Mapping[str, Any]) -> bool:
    """Whether the record says that a limit of the run, not the environment, ended the trial."""
    steps = record["steps"]
    return (not steps or steps[-1]["status"] == Status.ONGOING) and record["stop"] in _RUN_LIMITS


def _step_differences(
    record: Mapping[str, Any], replayed: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    if record["turns"] != len(record["steps"]):
        yield "turns", f"recorded {record['turns']}, but there are {len(record['steps'])} steps"
    count = len(replayed["steps"]) - ("failed_action" in record and record["status"] == "infra")
    if len(replayed["steps"]) < len(record["steps"]) or count > len(record["steps"]):
        ended = f"the replay ended after {len(replayed['steps'])} of {len(record['steps'])} steps"
        yield "steps", f"{ended} ({replayed['error'] or replayed['stop']})"
    for step, other in zip(record["steps"], replayed["steps"], strict=False):
        for name in _STEP:
            if step[name] != other[name]:
                yield f"steps[{step['index']}].{name}", _difference(step[name], other[name])


def _flag_differences(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield flags that no rollout sets; a page shows them beside the score."""
    unknown = [flag for flag in record["flags"] if flag not in OUTSIDE]
    if unknown:
        yield "flags", f"{abridged(unknown[0])} does not end a trial"


def _printed(field: str) -> bool:
    return field == "cut_chars" or field.endswith("].observation")


def _difference(recorded: Any, replayed: Any) -> str:
    return f"recorded {abridged(recorded)}, replayed {abridged(replayed)}"


def _built_in(model: str) -> Agent | None:
    """Return the built-in agent of a configuration, if its actions are reproducible."""
    if not model.startswith("agent:"):
        return None
    try:
        spec = parse_model(model)
        return None if spec.name == "replay" else scripted_agent(spec)
    except (SpecError, AgentMismatch):
        return None  # the plan's own check reports it


class _RecordedAgent:
    """Replays the actions of one record, and compares them with those of a built-in agent.

    Args:
        record: The trial.
        agent: The built-in agent of the run; None if its actions are not reproducible.
        programs: Answers a program whose command is an action.
    """

    name = "replay"
    version = "1"
    asynchronous = False

    def __init__(
        self, record: Mapping[str, Any], agent: Agent | None, programs: ProgramReplay | None
    ) -> None:
        self._programs = programs
        self.ran_program = False
        self._actions = [step["action"] for step in record["steps"]]
        if record["status"] == "infra" and "failed_action" in record:
            self._actions.append(record["failed_action"])
        self._agent = agent
        self._stopped = record["status"] == "infra" or any(
            flag in _TIME_LIMITS for flag in record["flags"]
        )
        self.differences: list[tuple[str, str]] = []

    def begin(self, episode: Episode) -> Player:
        """Return a player of the recorded actions."""
        if self._programs is not None and episode.admit is not None:
            self.ran_program = True
            return _RecordedPlayer(self, self._actions, None, self._programs.open(episode))
        player = None
        if self._agent is not None:
            try:
                player = self._agent.begin(episode)
            except AgentMismatch as error:
                self.differences.append(("steps", str(error)))
        return _RecordedPlayer(self, self._actions, player)

    def compare(self, index: int, expected: str | None, recorded: str | None) -> bool:
        """Compare one action with the built-in agent's; None stands for the end of its actions."""
        assert self._agent is not None
        if recorded is None and self._stopped:  # nothing else stops an agent that asks no model
            return True
        if expected != recorded:
            action = (
                "takes no further action" if expected is None else f"takes {abridged(expected)}"
            )
            place = f"steps[{index}].action" if recorded is not None else "flags"
            self.differences.append((place, f"agent:{self._agent.name} {action} here"))
        return expected == recorded


class _RecordedPlayer:
    """Takes recorded actions in order and compares them with those of a built-in agent."""

    def __init__(
        self,
        agent: _RecordedAgent,
        actions: Sequence[str],
        player: Player | None,
        end: Callable[[], None] = lambda: None,
    ) -> None:
        self._agent, self._actions, self._player = agent, actions, player
        self.close = end
        self._index = 0

    def act(self, messages: Sequence[Message]) -> Turn:
        """Return the next recorded action."""
        index, self._index = self._index, self._index + 1
        recorded = self._actions[index] if index < len(self._actions) else None
        if self._player is not None:
            alike = self._agent.compare(index, self._expected(messages), recorded)
            self._player = self._player if alike else None
        if recorded is None:
            raise GaveUp("the recorded trial has no further action")
        return Turn(recorded)

    def _expected(self, messages: Sequence[Message]) -> str | None:
        assert self._player is not None
        try:
            turn = self._player.act(messages)
        except GaveUp:
            return None
        assert isinstance(turn, Turn), "built-in agents do not wait"
        return turn.action
