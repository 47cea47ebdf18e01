"""One attempt at one trial: its course, and the record that is left of it.

The course is a generator that yields whatever may wait (`Ask` a player, `Do` something with the
environment) and is sent the outcome, so that the same code runs in a thread and on an event loop.
How it is driven, and what follows of a fault, is left to `hexathlon.baselines.rollout`.
"""

import time
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, TypeVar, cast

from hexathlon.baselines.agents.base import (
    Agent,
    Episode,
    GaveUp,
    Interrupted,
    Player,
    Turn,
    text_of,
)
from hexathlon.baselines.engines.base import Usage
from hexathlon.baselines.engines.errors import EngineError
from hexathlon.baselines.faults import Fault, classify
from hexathlon.baselines.limits import TrialLimits
from hexathlon.baselines.prefix import (
    Pause,
    Prefix,
    PrefixDiffers,
    Remembers,
    Spent,
    past_turns,
    take_up,
)
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.envs.base import Environment
from hexathlon.envs.errors import VerifierFault
from hexathlon.envs.messages import Message
from hexathlon.envs.status import Status
from hexathlon.evaluators.content import content_to_json, joined, media_of
from hexathlon.evaluators.records import RECORD_SCHEMA, TrialKey, TrialRecord
from hexathlon.evaluators.records.canonical import content_hash, text_hash
from hexathlon.evaluators.records.trial import JsonContent
from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import get_verifier
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import parse_address
from hexathlon.tasks.task import Task

if TYPE_CHECKING:
    from hexathlon.envs.aio import AsyncEnvironment

__all__ = ["Ask", "Attempt", "Course", "Do", "checks_of", "waits"]

Result = TypeVar("Result")


class Ask(NamedTuple):
    """Effect: have the player take its turn."""

    player: Player
    messages: Sequence[Message]
    deadline: float | None
    """Seconds that it may take; only a player that waits can be held to it."""


class Do(NamedTuple):
    """Effect: call something that belongs to the environment."""

    function: Callable[[], Any]
    coroutine: Callable[[], Awaitable[Any]] | None = None
    """The same for a caller on an event loop, where the environment offers it."""


Course = Generator[Ask | Do, Any, Result]


class Attempt:
    """One attempt at one trial, and what is known of it so far."""

    def __init__(
        self, agent: Agent, limits: TrialLimits, salt: str | None, key: TrialKey, number: int
    ) -> None:
        self.agent, self.limits, self.salt = agent, limits, salt
        self.key, self.number = key, number
        self.task: Task | None = None
        self.env: Environment | None = None
        self.verdict: Verdict | None = None
        self.fault: Fault | None = None
        self.stop = Status.ONGOING
        self.usage = Usage()
        self.opening: JsonContent = ""
        self.system_prompt = ""
        self.tools: Sequence[Mapping[str, Any]] = ()
        self.media: dict[str, bytes] = {}
        self.player: Player | None = None
        self._pause: Pause | None = None
        self._interrupted = False
        self.steps: list[dict[str, Any]] = []
        self.flags: list[str] = []
        self.final_state: dict[str, Any] = {}
        self.tool_errors = self.cut_chars = 0
        self.latencies: list[float] = []
        self.reset_s = self.agent_s = self.env_s = self.grade_s = self.waited = 0.0
        self.started_at = datetime.now(UTC)
        self.started = time.perf_counter()

    def course(
        self, env: Environment, start: Prefix | None = None, pause: Pause | None = None
    ) -> Course[Prefix | None]:
        """Begin, take turns until something ends the episode, grade.

        Args:
            env: Where it is played.
            start: Turns to go on from; None resets the environment.
            pause: When to stop between two turns.

        Returns:
            What was reached where the attempt paused, None where it came to its end.
        """
        self._pause = pause
        player = yield from self._begin(env, start)
        seen = self._heard()
        while self.stop is Status.ONGOING:
            if pause is not None and pause.due(len(self.steps)):
                return (yield from self._prefix())
            messages = self._env.messages_since(seen)
            turn = yield from self._ask(player, messages)
            if turn is None:
                if self._interrupted:
                    return (yield from self._prefix())
                break
            seen += len(messages) + 1  # the agent's own message is the last
            yield from self._step(turn)
        yield from self._grade()
        return None

    def _begin(self, env: Environment, start: Prefix | None) -> Course[Player]:
        if start is None or start.state is None:
            player = yield from self._reset(env)
        else:
            player = yield from self._restore(env, start)
        if start is not None and start.turns:
            if start.state is None:
                yield from self._repeat(start)
            self._go_on(start)
            take_up(player, past_turns(self._env.transcript, self.steps), start.memory)
        return player

    def _restore(self, env: Environment, start: Prefix) -> Course[Player]:
        begun = time.perf_counter()
        self.env = env
        state = start.state
        assert state is not None
        yield Do(lambda: env.restore(state))
        self.reset_s = time.perf_counter() - begun
        self.opening, self.system_prompt, self.tools = (
            start.opening,
            start.system_prompt,
            start.tools,
        )
        return self._player()

    def _repeat(self, start: Prefix) -> Course[None]:
        """Take recorded actions again; what follows has to be what was recorded."""
        for recorded in start.steps:
            if self.stop is not Status.ONGOING:
                raise PrefixDiffers(f"the episode ended before turn {recorded['index']}")
            yield from self._step(Turn(recorded["action"]))
            for name in ("observation", "status"):
                if self.steps[-1][name] != recorded[name]:
                    raise PrefixDiffers(
                        f"turn {recorded['index']}: {name} was {recorded[name]!r:.200}, taken "
                        f"again it is {self.steps[-1][name]!r:.200}"
                    )

    def _go_on(self, start: Prefix) -> None:
        """Take over what the turns of a prefix left behind."""
        spent = start.spent
        self.steps = [dict(step) for step in start.steps]
        self.media |= start.media
        self.usage, self.waited, self.latencies = spent.usage, spent.waited, [*spent.latencies]
        self.tool_errors, self.cut_chars = spent.tool_errors, spent.cut_chars
        self.started -= spent.seconds
        self.stop = Status(self.steps[-1]["status"])

    def _prefix(self) -> Course[Prefix]:
        env, player = self._env, self.player
        state = None
        if env.supports_fork and not waits(env):
            state = yield Do(env.snapshot)
        return Prefix(
            key=self.key,
            opening=self.opening,
            steps=tuple(self.steps),
            system_prompt=self.system_prompt,
            tools=self.tools,
            state=state,
            memory=player.save() if isinstance(player, Remembers) else None,
            spent=Spent(
                self.usage,
                self.waited,
                time.perf_counter() - self.started,
                tuple(self.latencies),
                self.tool_errors,
                self.cut_chars,
            ),
            media=dict(self.media),
        )

    def _heard(self) -> int:
        """Return how many messages of the transcript the player knows."""
        roles = [message["role"] for message in self._env.transcript] if self.steps else []
        return len(roles) - roles[::-1].index("assistant") if self.steps else 0

    def _peek(self, action: str) -> str | None:
        """Return what an action would bring, or None where it would change anything."""
        (aside,) = self._env.fork(1)
        try:
            before = aside.final_state()
            observed, _, terminated, truncated, _ = aside.step(action)
            changed = terminated or truncated or aside.final_state() != before
            return None if changed else str(observed)
        finally:
            aside.close()

    def close(self) -> None:
        """Let the player drop what only this episode needs, such as a session of its engine."""
        close = getattr(self.player, "close", None)
        if close is not None:
            close()

    @property
    def _env(self) -> Environment:
        assert self.env is not None
        return self.env

    def _reset(self, env: Environment) -> Course[Player]:
        _, task_id, seed, _ = self.key
        options = {"task": task_id}
        if self.salt is not None:
            options["salt"] = self.salt
        begun = time.perf_counter()
        self.env = env
        opening, info = yield Do(
            lambda: env.reset(seed=seed, options=options),
            (lambda: env.areset(seed=seed, options=options)) if waits(env) else None,
        )
        self.reset_s = time.perf_counter() - begun
        self.opening = self._recorded(opening, env.messages_since(0))
        self.system_prompt, self.tools = info["system_prompt"], info["tools"]
        return self._player()

    def _player(self) -> Player:
        env_id, task_id, seed, trial = self.key
        self.task = self._env.task
        source = get_source(parse_address(task_id).source)
        told = (self.system_prompt, self.tools, self._peek)
        self.player = self.agent.begin(Episode(self.task, source, seed, trial, env_id, *told))
        return self.player

    def _recorded(self, observation: Any, messages: Sequence[Message]) -> JsonContent:
        """Return what a record says of new messages; keep the bytes of images and files."""
        contents = [message["content"] for message in messages]
        if all(isinstance(content, str) for content in contents):
            return cast("str", observation)
        self.media = media_of(contents, self.media)
        return content_to_json(joined(contents))

    def _ask(self, player: Player, messages: Sequence[Message]) -> Course[Turn | None]:
        """Return the player's turn, or None when the trial ends without one."""
        begun = time.perf_counter()
        deadline = self.limits.seconds_left(begun - self.started)
        try:
            turn = yield Ask(player, messages, deadline)
        except Interrupted as error:
            if self._pause is None or not self._pause.requested:
                raise EngineError(f"the engine broke off a reply: {error}") from error
            self._interrupted = True
            return None
        except GaveUp:
            self._end("gave_up", Status.ABORTED)
            return None
        except TimeoutError:
            self._end("limit:wall_seconds", Status.TRUNCATED_TIME)
            return None
        except Exception as error:
            fault = classify(error)
            if not fault.policy.grade:
                raise
            overflow = fault.cause == "context_overflow"
            self._end(fault.cause, Status.TRUNCATED_LENGTH if overflow else Status.ABORTED)
            return None
        spent = time.perf_counter() - begun
        self.agent_s += spent - turn.waited
        self.waited += turn.waited
        if turn.usage.calls:
            self.latencies.append(round(spent - turn.waited, 6))
            self.usage = self.usage.plus(turn.usage)
        return cast("Turn", turn)

    def _end(self, flag: str, status: Status) -> None:
        self.flags.append(flag)
        self.stop = status

    def _step(self, turn: Turn) -> Course[None]:
        env, before = self._env, len(self._env.transcript)
        begun = time.perf_counter()
        step: dict[str, Any] = {"index": len(self.steps), "action": turn.action}
        if turn.said:
            step["said"] = turn.said
        if turn.usage.calls:
            step["tokens"] = {"input": turn.usage.input, "output": turn.usage.output}
        try:
            observation, reward, _, _, info = yield Do(
                lambda: env.step(turn.action),
                (lambda: env.astep(turn.action)) if waits(env) else None,
            )
        except VerifierFault as error:
            new = env.messages_since(before + 1)
            observation = self._recorded(text_of(new), new)
            self.steps.append(
                {**step, "observation": observation, "reward": 0.0, "status": "completed"}
            )
            self.final_state = yield Do(env.final_state)
            self.fault, self.stop = classify(error), Status.ERROR_JUDGE
            return
        self.env_s += time.perf_counter() - begun
        observed = self._recorded(observation, env.messages_since(before + 1))
        step |= {"observation": observed, "reward": reward, "status": info["status"]}
        self.steps.append(step)
        self.tool_errors, self.cut_chars = info["tool_errors"], info["cut_chars"]
        self.stop = Status(info["status"])
        if self.stop is Status.ONGOING:
            self._check_budget()

    def _check_budget(self) -> None:
        wall = time.perf_counter() - self.started
        exceeded = self.limits.exceeded(self.usage, wall, self.waited)
        if exceeded is not None:
            self._end(f"limit:{exceeded.limit}", exceeded.status)

    def _grade(self) -> Course[None]:
        if self.fault is not None:
            return
        env, begun = self._env, time.perf_counter()
        if waits(env) and (not self.steps or self.steps[-1]["status"] == Status.ONGOING):
            # Stopped from outside, so the environment has not gathered its final state itself.
            yield Do(lambda: env.wait(env.conclude()), env.conclude)
        self.final_state = yield Do(env.final_state)
        try:
            self.verdict = yield Do(env.verdict)
        except VerifierFault as error:
            self.fault, self.stop = classify(error), Status.ERROR_JUDGE
        self.grade_s = time.perf_counter() - begun

    def trajectory(self, spoilt: Sequence[Any], fault: Fault | None, version: str) -> Trajectory:
        """Return what the trial leaves behind; see `record` for the arguments."""
        return Trajectory(
            self.record(spoilt, fault, version),
            getattr(self.player, "tokens", None),
            self.system_prompt,
            self.tools,
            self.media,
        )

    def record(self, spoilt: Sequence[Any], fault: Fault | None, version: str) -> TrialRecord:
        """Return the trial's record, without its place in the chain.

        Args:
            spoilt: Earlier attempts, as records list them.
            fault: What ended this attempt, if infrastructure did.
            version: The environment's version, for a trial in which none could be made.
        """
        env_id, task_id, seed, trial = self.key
        address = parse_address(task_id)
        infra, fault = fault is not None, fault or self.fault
        verdict = self.verdict
        scored = not infra and verdict is not None and verdict.status == "scored"
        return cast(
            "TrialRecord",
            {
                "schema": RECORD_SCHEMA,
                "key": {"env": env_id, "task": task_id, "seed": seed, "trial": trial},
                "attempt": self.number,
                "earlier": list(spoilt),
                "task_hash": self.task.hash if self.task else "",
                "template": address.template,
                "level": address.level,
                "split": address.split,
                "stop": (Status.ERROR_ENV if infra else self.stop).value,
                "status": "infra" if infra else "scored" if scored else "unscored",
                "cause": fault.cause if fault else None if scored else "judge",
                "error": fault.message if fault else None,
                "reward": verdict.score if scored and verdict else None,
                "partial": verdict.partial if scored and verdict else None,
                "terms": dict(verdict.terms) if verdict else {},
                "evidence": dict(verdict.evidence) if verdict else {},
                "checks": checks_of(self.task) if self.task else [],
                "judges": self._judges(),
                "usage": {"agent": _usage(self.usage)} if self.usage.calls else {},
                "turns": len(self.steps),
                "tool_errors": self.tool_errors,
                "cut_chars": self.cut_chars,
                "sandbox": self.env.sandbox if self.env else "simulated",
                "flags": self.flags,
                "system_prompt_hash": text_hash(self.system_prompt),
                "opening": self.opening,
                "steps": self.steps,
                "final_state": self.final_state,
                "final_state_hash": content_hash(self.final_state),
                "env_version": self.env.version if self.env else version,
                "timing": self._timing(),
            },
        )

    def _judges(self) -> list[dict[str, Any]]:
        if self.task is None or self.task.rubric is None:
            return []
        from hexathlon.evaluators.judges.recorded import decided_by_code

        return decided_by_code(self.task.rubric, self.opening, self.steps)

    def _timing(self) -> dict[str, Any]:
        return {
            "started": self.started_at.isoformat(timespec="milliseconds"),
            "ended": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "reset": round(self.reset_s, 6),
            "agent": round(self.agent_s, 6),
            "env": round(self.env_s, 6),
            "grade": round(self.grade_s, 6),
            "waited": round(self.waited, 6),
            "latencies": self.latencies,
        }


def waits(env: Environment) -> "TypeGuard[AsyncEnvironment]":
    """Whether an environment's steps are coroutines; says so without importing asyncio."""
    return hasattr(env, "astep")


def checks_of(task: Task) -> list[dict[str, Any]]:
    """Return what a record says of the verifiers of a task."""
    verifiers = [get_verifier(check.name) for check in task.checks]
    return [
        {"name": one.name, "version": one.version, "deterministic": one.deterministic}
        for one in verifiers
    ]


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input": usage.input,
        "output": usage.output,
        "calls": usage.calls,
        "cached": usage.cached,
        "reasoning": usage.reasoning,
        "cost": usage.cost,
    }
