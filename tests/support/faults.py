"""Environments with one planted fault each; the conformance kit must detect every one."""

import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from hexathlon.envs.status import Status
from hexathlon.envs.tools import tool
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.registry import register_source
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Task
from support.toy import ToyEnv, ToySource, _count

KEPT: list[Any] = []
"""Resources left by leaking environments, for tests to clean up."""

RELEASE = threading.Event()


class DroppedSeed(ToyEnv):
    def reset(self, *, seed=None, options=None):
        return super().reset(options=options)


class ConstantStart(ToyEnv):
    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=0, options=options)
        return observation, {**info, "seed": seed or 0}


class GlobalRandom(ToyEnv):
    @tool
    def tool_add(self, amount: int) -> str:
        self.counter += amount
        return f"The counter stands at {self.counter}. Luck: {random.randrange(100)}."


class GlobalNumpy(ToyEnv):
    def on_reset(self, task):
        return super().on_reset(task) + f" {np.random.random()}"  # noqa: NPY002


class ChangedEnviron(ToyEnv):
    count: ClassVar[int] = 0

    def on_reset(self, task):
        ChangedEnviron.count += 1
        os.environ["HEXATHLON_PLANTED"] = str(self.count)
        return super().on_reset(task)


class ClockInText(ToyEnv):
    def on_reset(self, task):
        return super().on_reset(task) + f" It is {time.perf_counter_ns()}."


class HashOrder(ToyEnv):
    def on_reset(self, task):
        return super().on_reset(task) + " ".join({"one", "two", "three", "four", "five"})


class SharedCounter(ToyEnv):
    played: ClassVar[list[str]] = []

    @tool
    def tool_submit(self) -> str:
        self.played.append(self.task.id)
        return super().tool_submit() + f" Episode {len(self.played)}."


class SharedWorld(ToyEnv):
    """Two instances at the same time share one counter."""

    world: ClassVar[dict[str, int]] = {"counter": 0}

    def on_reset(self, task):
        self.world["counter"] = 0
        return super().on_reset(task)

    @tool
    def tool_add(self, amount: int) -> str:
        self.world["counter"] += amount
        self.counter += amount
        return f"The counter stands at {self.world['counter']}."


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


class LeakedFile(ToyEnv):
    def on_reset(self, task):
        KEPT.append(open(os.devnull))  # noqa: SIM115
        return super().on_reset(task)


class LeakedThread(ToyEnv):
    def on_reset(self, task):
        thread = threading.Thread(target=RELEASE.wait, name="planted", daemon=True)
        thread.start()
        KEPT.append(thread)
        return super().on_reset(task)


class LeakedProcess(ToyEnv):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
        KEPT.append(subprocess.Popen(command, stdin=subprocess.PIPE))


class LeakedTemporary(ToyEnv):
    def on_reset(self, task):
        handle, name = tempfile.mkstemp()
        os.close(handle)
        KEPT.append(Path(name))
        return super().on_reset(task)


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


class LeakyCanary(ToyEnv):
    @tool
    def tool_submit(self) -> str:
        return super().tool_submit() + f" {self.task.canary}"


class CanaryInInfo(ToyEnv):
    def _reset_info(self, task):
        return {**super()._reset_info(task), "task": task.model_dump_json()}


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


class WrongType(ToyEnv):
    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, str(reward), terminated, truncated, info


class WithCallable(ToyEnv):
    """Cannot be described as JSON if made with a function."""

    def __init__(self, *, scorer: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)


class LostOracle(ToySource):
    name = "lost-oracle"

    def build(self, task_id: str, salt: str | None = None) -> Task:
        return super().build(task_id.replace("lost-oracle/", "toy/"), salt)

    def oracle(self, task: Task) -> Script:
        return _count(task.params["target"] - 1, 9)


class FewMutants(ToySource):
    name = "few-mutants"

    def mutants(self, task: Task) -> Mapping[str, Script]:
        return {"only one": _count(task.params["target"] + 1, 9)}


class NoAlternative(ToySource):
    name = "no-alternative"

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        return {}


class LostOracleEnv(ToyEnv):
    default_taskset = "lost-oracle"


class FewMutantsEnv(ToyEnv):
    default_taskset = "few-mutants"


class NoAlternativeEnv(ToyEnv):
    default_taskset = "no-alternative"


for _source in (LostOracle, FewMutants, NoAlternative):
    register_source(_source.name, _source)
