"""Environments that break the interface, forks or scoring."""

import time
import uuid
from typing import Any

import numpy as np

from hexathlon.envs.status import Status
from hexathlon.envs.tools import tool
from hexathlon.evaluators.verdict import Verdict
from support.faults.base import SumEnv
from support.toy import ToyEnv


class AliasingFork(ToyEnv):
    def save(self) -> Any:
        return self.counter, self.submitted, self.luck

    def load(self, payload: Any) -> None:
        self.counter, self.submitted, self.luck = payload

    @tool
    def tool_add(self, amount: int) -> str:
        self.luck.append(amount)
        self.counter += amount
        return f"The counter has seen {len(self.luck)} numbers."


class ForgetfulRestore(ToyEnv):
    def load(self, payload: Any) -> None:
        self.counter, self.submitted, self.luck = 0, False, []


class UnpicklableState(ToyEnv):
    def save(self) -> Any:
        payload = super().save()
        return lambda: payload

    def load(self, payload: Any) -> None:
        super().load(payload())


class ClockInInfo(ToyEnv):
    def _step_info(self, terms):
        return {**super()._step_info(terms), "finished_at": time.time()}


class UuidInInfo(ToyEnv):
    def _reset_info(self, task):
        return {**super()._reset_info(task), "episode": str(uuid.UUID(int=5))}


class PathInInfo(ToyEnv):
    def _reset_info(self, task):
        return {**super()._reset_info(task), "world": "/tmp/world-3/database.db"}


class TruncatedInfo(ToyEnv):
    def _step_info(self, terms):
        info = super()._step_info(terms)
        return {"status": info["status"]} if self._status is not Status.ONGOING else info


class WrongStatus(ToyEnv):
    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated or truncated, False, info


class RewardForNothing(ToyEnv):
    def verdict(self) -> Verdict:
        return Verdict(score=1.0) if not self.submitted else super().verdict()


class EasyVerifier(ToyEnv):
    def verdict(self) -> Verdict:
        return Verdict(score=float(self.submitted and self.counter > 8))


class AnythingGoes(ToyEnv):
    def verdict(self) -> Verdict:
        return Verdict(score=float(self.submitted))


class NarrowVerifier(ToyEnv):
    def verdict(self) -> Verdict:
        hit = self.submitted and self.counter == self.task.params["target"]
        return Verdict(score=float(hit and self._turn <= 4))


class PaidPerStep(ToyEnv):
    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward + 0.25, terminated, truncated, info


class CrashOnMalformed(ToyEnv):
    def on_text(self, text: str) -> str:
        return f"You said {text.encode('ascii').decode()}."


class AcceptsAnyOption(ToyEnv):
    def reset(self, *, seed=None, options=None):
        known = {key: value for key, value in (options or {}).items() if key == "task"}
        return super().reset(seed=seed, options=known)


class LongObservation(ToyEnv):
    def _as_observation(self, new):
        return super()._as_observation(new) + " " * 70_000


class ClosesOnce(ToyEnv):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.resource: dict[str, int] = {"handle": 1}

    def close(self) -> None:
        del self.resource["handle"]


class ReusedBuffer(ToyEnv):
    image_size = (4, 4)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.buffer = np.zeros((4, 4, 3), np.uint8)

    def frame(self):
        return np.full((4, 4, 3), self.counter, np.uint8)

    def _as_observation(self, new):
        observation = super()._as_observation(new)
        self.buffer[...] = observation["image"]
        return {**observation, "image": self.buffer}


class NeverBegins(ToyEnv):
    def on_reset(self, task):
        raise RuntimeError(f"cannot begin {task.id}")


class NegativeReward(ToyEnv):
    def step(self, action):
        observation, _, *rest = super().step(action)
        return observation, -1.0, *rest


class WrongType(ToyEnv):
    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, str(reward), terminated, truncated, info


class WithCallable(ToyEnv):
    """Cannot be described as JSON if made with a function."""

    def __init__(self, *, scorer: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)


class StepsOn(ToyEnv):
    """Continues to play after the end."""

    def step(self, action):
        if self._status is Status.COMPLETED:
            self._status = Status.ONGOING
            result = super().step(action)
            self._status = Status.COMPLETED
            return result
        return super().step(action)


class LateForgetfulFork(ToyEnv):
    """Loses, on a fork, state that is only visible from the third turn; most probes have submitted
    by then.
    """

    def on_reset(self, task):
        self.first = 0
        return super().on_reset(task)

    @tool
    def tool_add(self, amount: int) -> str:
        self.first = self.first or amount
        late = f" You began with {self.first}." if self.counter >= 18 else ""
        return super().tool_add(amount) + late

    def load(self, payload):
        super().load(payload)
        self.first = 0


class LateSharedFork(ToyEnv):
    """Shares, with its forks, a list that is read from the second turn on."""

    def on_reset(self, task):
        self.log: list[int] = []
        return super().on_reset(task)

    @tool
    def tool_add(self, amount: int) -> str:
        if self.counter:
            self.log.append(amount)
        return super().tool_add(amount) + (f" Log: {self.log}." if len(self.log) > 1 else "")

    def save(self):
        return super().save(), self.log

    def load(self, payload):
        super().load(payload[0])
        self.log = payload[1]


class AcceptsNeighbours(ToyEnv):
    def verdict(self) -> Verdict:
        near = abs(self.counter - self.task.params["target"]) in (0, 3)
        return Verdict(score=float(self.submitted and near))


class NoLastStep(ToyEnv):
    """Scores a right counter although nothing was submitted."""

    def verdict(self) -> Verdict:
        return Verdict(score=float(self.counter == self.task.params["target"]))


class ChangesAction(ToyEnv):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{**kwargs, "action_format": "message"})

    def step(self, action):
        result = super().step(action)
        action["content"] = None
        return result


class HiddenVerdict(ToyEnv):
    """Rewards something that the final state does not contain."""

    def final_state(self):
        return {"counter": 0, "submitted": False}

    def verdict(self) -> Verdict:
        hit = self.submitted and self.counter == self.task.params["target"]
        return Verdict(score=float(hit))


class ForgetfulReading(ToyEnv):
    def final_state(self):
        state = super().final_state()
        self.counter += 1
        return state


class ScoresWhatWasSaid(SumEnv):
    def verdict(self) -> Verdict:
        said = any(str(self.task.params["target"]) in str(m["content"]) for m in self.transcript
                   if m["role"] == "assistant")  # fmt: skip
        return Verdict(score=float(self.submitted and (said or super().verdict().score)))


class LaxInTest(ToyEnv):
    def verdict(self) -> Verdict:
        lax = self.submitted and self.task.split == "test"
        return Verdict(score=1.0) if lax else super().verdict()
