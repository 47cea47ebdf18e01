"""One attempt at one trial: reset or resume, take turns, grade.

Results accumulate in a `TrialLog`. `hexathlon.baselines.rollout.drivers` drives the coroutine;
`hexathlon.baselines.rollout.rollout` handles faults and retries.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from hexathlon.baselines.agents.base import (
    Agent,
    Episode,
    GaveUp,
    Interrupted,
    Player,
    Turn,
    text_of,
)
from hexathlon.baselines.engines.errors import EngineError
from hexathlon.baselines.rollout.drivers import Ask, Do, TrialCoroutine
from hexathlon.baselines.rollout.environments import is_asynchronous, peek
from hexathlon.baselines.rollout.faults import Fault, classify
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.prefix import (
    Pause,
    Prefix,
    PrefixDiffers,
    ResumablePlayer,
    TurnJournal,
    messages_heard,
    past_turns,
    require_same,
    resume_player,
)
from hexathlon.baselines.rollout.trial_record import TrialLog
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.envs.base import Environment
from hexathlon.envs.errors import VerifierFault
from hexathlon.envs.messages import Message
from hexathlon.envs.state import State
from hexathlon.envs.status import Status
from hexathlon.evaluators.records import TrialKey
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import parse_address

__all__ = ["Attempt"]


class Attempt:
    """One attempt at one trial.

    Args:
        agent: The agent.
        limits: Budgets of the trial.
        salt: The secret of a held-out round.
        key: Environment id, task id, seed, trial.
        number: Number of the attempt, from 1.
    """

    def __init__(
        self, agent: Agent, limits: TrialLimits, salt: str | None, key: TrialKey, number: int
    ) -> None:
        self.agent, self.limits, self.salt = agent, limits, salt
        self.log = TrialLog(key, number)
        self.player: Player | None = None
        self.points: list[Prefix] = []
        self._pause: Pause | None = None
        self._interrupted = False

    def run(
        self,
        env: Environment,
        start: Prefix | None = None,
        pause: Pause | None = None,
        journal: TurnJournal | None = None,
        earlier: Sequence[Mapping[str, Any]] = (),
        points: bool = False,
    ) -> TrialCoroutine[Prefix | None]:
        """Return the coroutine of the attempt: take turns until the episode ends, then grade.

        Args:
            env: The environment.
            start: Prefix to continue from; None resets the environment.
            pause: When to pause between two turns.
            journal: Records the turns while the attempt is in progress.
            earlier: Attempts before this one, for the journal.
            points: Whether to keep the state before each turn.

        Returns:
            The prefix of an attempt that paused, None if it finished.
        """
        self._pause, log = pause, self.log
        player = yield from self._begin(env, start)
        self.points = [] if start is None else [*start.points]
        if points and (start is None or start.memory is None):
            self.points.append((yield from self._prefix()))
        seen = messages_heard(env.transcript) if log.steps else 0
        while log.stop is Status.ONGOING:
            if pause is not None and pause.due(len(log.steps)):
                return (yield from self._paused())
            messages = env.messages_since(seen)
            turn = yield from self._ask(player, messages)
            if turn is None:
                if self._interrupted:
                    return (yield from self._paused())
                break
            seen += len(messages) + 1  # the agent's own message follows them
            yield from self._step(turn)
            if log.stop is Status.ONGOING:
                self._check_budget()
            if points and log.stop is Status.ONGOING:
                self.points.append((yield from self._prefix()))
            if journal is not None and journal.turn(log.key) and log.stop is Status.ONGOING:
                journal.write(replace(self._recorded(None), earlier=tuple(earlier)))
        yield from self._grade()
        return None

    def trajectory(self, earlier: Sequence[Any], fault: Fault | None, version: str) -> Trajectory:
        """Return the trajectory; see `TrialLog.record` for the arguments."""
        log = self.log
        return Trajectory(
            log.record(earlier, fault, version),
            getattr(self.player, "tokens", None),
            log.system_prompt,
            log.tools,
            log.media,
            tuple(self.points),
            tuple(log.errors),
        )

    def close(self) -> None:
        """Release the player's resources of this episode, such as an engine session."""
        close = getattr(self.player, "close", None)
        if close is not None:
            close()

    # Start -------------------------------------------------------------------------------------

    def _begin(self, env: Environment, start: Prefix | None) -> TrialCoroutine[Player]:
        self.log.env = env
        self.log.context = "" if start is None else start.context
        if start is None or not start.begun:
            yield from self._reset()
            return self._player()
        if start.state is not None:
            yield from self._restore(start)
        else:
            yield from self._reset()
            yield from self._replay(start)
        self.log.resume_from(start)
        player = self._player()
        resume_player(player, past_turns(env.transcript, self.log.steps), start.memory)
        return player

    def _reset(self) -> TrialCoroutine[None]:
        log, env = self.log, self._env
        _, task_id, seed, _ = log.key
        options = {"task": task_id}
        if self.salt is not None:
            options["salt"] = self.salt
        started = time.perf_counter()
        opening, info = yield Do(
            lambda: env.reset(seed=seed, options=options),
            (lambda: env.areset(seed=seed, options=options)) if is_asynchronous(env) else None,
        )
        log.reset_s = time.perf_counter() - started
        log.opening = log.recorded(opening, env.messages_since(0))
        log.task = env.task
        log.system_prompt, log.tools = info["system_prompt"], info["tools"]

    def _restore(self, start: Prefix) -> TrialCoroutine[None]:
        log, env, state = self.log, self._env, start.state
        assert state is not None
        started = time.perf_counter()
        yield Do(lambda: env.restore(state))
        log.reset_s = time.perf_counter() - started
        log.task = env.task
        log.opening, log.system_prompt, log.tools = start.opening, start.system_prompt, start.tools

    def _replay(self, start: Prefix) -> TrialCoroutine[None]:
        """Replay the recorded actions and require the recorded results."""
        log = self.log
        require_same("the opening", start.opening, log.opening)
        for recorded in start.steps:
            place = f"turn {recorded['index']}:"
            if log.stop is not Status.ONGOING:
                raise PrefixDiffers(f"the episode ended before turn {recorded['index']}")
            yield from self._step(Turn(recorded["action"]))
            for name in ("observation", "status"):
                require_same(f"{place} {name}", recorded[name], log.steps[-1][name])

    def _player(self) -> Player:
        log, env = self.log, self._env
        env_id, task_id, seed, trial = log.key
        source = get_source(parse_address(task_id).source)
        context = (log.system_prompt, log.tools, partial(peek, env), getattr(env, "admit", None))
        episode = Episode(env.task, source, seed, trial, env_id, *context, context=log.context)
        self.player = self.agent.begin(episode)
        return self.player

    # Turns -------------------------------------------------------------------------------------

    @property
    def _env(self) -> Environment:
        assert self.log.env is not None
        return self.log.env

    def _ask(self, player: Player, messages: Sequence[Message]) -> TrialCoroutine[Turn | None]:
        """Return the player's turn, or None if the trial ends or pauses without one."""
        log, started = self.log, time.perf_counter()
        deadline = self.limits.seconds_left(started - log.started)
        try:
            turn = yield Ask(player, messages, deadline)
        except Interrupted as error:
            if self._pause is None or not self._pause.requested:
                raise EngineError(f"the engine aborted a reply: {error}") from error
            spent = time.perf_counter() - started
            log.agent_s += spent
            log.aborted_s += spent
            self._interrupted = True
            return None
        except GaveUp:
            log.end("gave_up", Status.ABORTED)
            return None
        except TimeoutError:
            log.end("limit:wall_seconds", Status.TRUNCATED_TIME)
            return None
        except Exception as error:
            fault = classify(error)
            if not fault.policy.grade:
                raise
            overflow = fault.cause == "context_overflow"
            log.end(fault.cause, Status.TRUNCATED_LENGTH if overflow else Status.ABORTED)
            return None
        spent = time.perf_counter() - started
        log.agent_s += spent - turn.waited
        log.waited += turn.waited
        if turn.usage.calls:
            log.latencies.append(round(spent + log.aborted_s - turn.waited, 6))
            log.usage = log.usage.plus(turn.usage)
        log.aborted_s = 0.0
        return cast("Turn", turn)

    def _step(self, turn: Turn) -> TrialCoroutine[None]:
        log, env = self.log, self._env
        before = env.message_count
        started = time.perf_counter()
        step: dict[str, Any] = {"index": len(log.steps), "action": turn.action}
        if turn.said:
            step["said"] = turn.said
        if turn.usage.calls:
            step["tokens"] = {"input": turn.usage.input, "output": turn.usage.output}
        log.pending = turn.action
        try:
            observation, reward, _, _, info = yield Do(
                lambda: env.step(turn.action),
                (lambda: env.astep(turn.action)) if is_asynchronous(env) else None,
            )
        except VerifierFault as error:
            new = env.messages_since(before + 1)
            observed = log.recorded(text_of(new), new)
            log.steps.append(
                {**step, "observation": observed, "reward": 0.0, "status": "completed"}
            )
            log.final_state = yield Do(env.final_state)
            log.fault, log.stop, log.pending = classify(error), Status.ERROR_JUDGE, None
            return
        log.pending = None
        log.env_s += time.perf_counter() - started
        observed = log.recorded(observation, env.messages_since(before + 1))
        step |= {"observation": observed, "reward": reward, "status": info["status"]}
        log.steps.append(step)
        log.errors.append(info["tool_errors"] - sum(log.errors))
        log.cut_chars = info["cut_chars"]
        log.stop = Status(info["status"])

    def _check_budget(self) -> None:
        log = self.log
        wall = time.perf_counter() - log.started
        exceeded = self.limits.exceeded(log.usage, wall, log.waited)
        if exceeded is not None:
            log.end(f"limit:{exceeded.limit}", exceeded.status)

    # End ---------------------------------------------------------------------------------------

    def _paused(self) -> TrialCoroutine[Prefix]:
        prefix = yield from self._prefix()
        return replace(prefix, points=tuple(self.points))

    def _prefix(self) -> TrialCoroutine[Prefix]:
        env, state = self._env, None
        if env.supports_fork and not is_asynchronous(env):
            state = yield Do(env.snapshot)
        return self._recorded(state)

    def _recorded(self, state: State | None) -> Prefix:
        """Return the turns so far."""
        player, log = self.player, self.log
        return Prefix(
            key=log.key,
            opening=log.opening,
            steps=tuple(log.steps),
            system_prompt=log.system_prompt,
            tools=log.tools,
            state=state,
            memory=player.save() if isinstance(player, ResumablePlayer) else None,
            spent=log.spent(),
            context=log.context,
            media=dict(log.media),
        )

    def _grade(self) -> TrialCoroutine[None]:
        log, env = self.log, self._env
        if log.fault is not None:
            return
        started = time.perf_counter()
        if is_asynchronous(env) and (not log.steps or log.steps[-1]["status"] == Status.ONGOING):
            # Stopped by the run, so the environment has not collected its final state itself.
            yield Do(lambda: env.wait(env.conclude()), env.conclude)

        def grade() -> None:  # one effect, since each may change threads
            log.final_state = env.final_state()
            log.verdict = env.verdict()

        try:
            yield Do(grade)
        except VerifierFault as error:
            log.fault, log.stop = classify(error), Status.ERROR_JUDGE
        log.grade_s = time.perf_counter() - started
