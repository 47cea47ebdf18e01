"""Environments with one planted fault each; the conformance kit must detect every one."""

import decimal
import hashlib
import os
import platform
import pwd
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from hexathlon.envs.errors import ToolError
from hexathlon.envs.status import Status
from hexathlon.envs.tools import tool
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.registry import register_source
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import LEVELS, SPLITS, Check, Level, Split, Task, ToolSchema
from support.toy import ADD, SUBMIT, ToyEnv, ToySource, _count

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
    """Concurrent instances share one counter."""

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


class StepsOn(ToyEnv):
    """Continues to play after the end."""

    def step(self, action):
        if self._status is Status.COMPLETED:
            self._status = Status.ONGOING
            result = super().step(action)
            self._status = Status.COMPLETED
            return result
        return super().step(action)


class NoCanary(ToyEnv):
    default_taskset = "no-canary"


class IdInOpening(ToyEnv):
    def on_reset(self, task):
        return f"{task.id}: {super().on_reset(task)}"


class Renamed(ToySource):
    """Toy tasks under another name, so that they can be changed."""

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        return super().address(split, index, level).replace("toy/", f"{self.name}/", 1)

    def build(self, task_id: str, salt: str | None = None) -> Task:
        made = super().build(task_id.replace(f"{self.name}/", "toy/", 1), salt)
        return self.changed(made.model_copy(update={"id": task_id, "generator": self.name}))

    def changed(self, task: Task) -> Task:
        return task


def _aiming(task: Task, target: int, **update: Any) -> Task:
    checks = (Check(name="toy_count", params={"target": target}),)
    return task.model_copy(update={"params": {"target": target}, "checks": checks, **update})


class HiddenSum(Renamed):
    """The instruction states two numbers; the target is their sum."""

    name = "hidden-sum"

    def changed(self, task: Task) -> Task:
        target = 1_000 + 10 * task.params["target"]
        told = f"Bring the counter to the sum of {target - 7} and 7, then submit."
        return _aiming(task, target, instruction=told, tools=(*task.tools, SUBMIT_VALUE))

    def oracle(self, task: Task) -> Script:
        yield SUBMIT_SUM % task.params["target"]

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        return {"spaced": _one((SUBMIT_SUM % task.params["target"]).replace(":", " :"))}

    def mutants(self, task: Task) -> Mapping[str, Script]:
        target = task.params["target"]
        return {f"off by {d}": _one(SUBMIT_SUM % (target + d)) for d in (-1, 1, 2)}


SUBMIT_SUM = '{"name": "submit_value", "arguments": {"value": %d}}'
SUBMIT_VALUE = ToolSchema(
    name="submit_value",
    description="Finish with a value.",
    parameters={
        "type": "object",
        "properties": {"value": {"type": "integer"}},
        "required": ["value"],
    },
)


def _one(action: str) -> Script:
    yield action


class SumEnv(ToyEnv):
    """Without a fault: the sum is submitted at once."""

    default_taskset = "hidden-sum"

    @tool
    def tool_submit_value(self, value: int) -> str:
        self.counter = value
        return super().tool_submit()


class TruthInInfo(SumEnv):
    def _step_info(self, terms):
        return {**super()._step_info(terms), "wanted": float(self.task.params["target"])}


class AddendsInInfo(SumEnv):
    def _step_info(self, terms):
        truth, addend = self.task.params["target"], 1_000 + self.task.seed % 977
        return {**super()._step_info(terms), "part": float(truth - addend), "rest": float(addend)}


class ShiftedTruthInInfo(SumEnv):
    def _step_info(self, terms):
        return {**super()._step_info(terms), "part": 5_003 - 2 * self.task.params["target"]}


class MaskedTruthInInfo(SumEnv):
    def _step_info(self, terms):
        truth, mask = self.task.params["target"], self.task.seed % 4_093
        return {**super()._step_info(terms), "parts": {"a": truth ^ mask, "b": mask}}


class HalvesInInfo(SumEnv):
    def _step_info(self, terms):
        truth = str(self.task.params["target"])
        return {**super()._step_info(terms), "a": truth[:2], "b": truth[2:]}


class Doors(HiddenSum):
    """The answer is one of seven digits, which instruction and tools do not tell."""

    name = "doors"

    def changed(self, task: Task) -> Task:
        told = "Submit the number of the door with the prize, from 1 to 7."
        update = {"instruction": told, "tools": (*task.tools, SUBMIT_VALUE)}
        return _aiming(task, 1 + task.seed % 7, **update)


class DoorsEnv(SumEnv):
    """Without a fault: info names four doors, whether or not the prize is behind one of them."""

    default_taskset = "doors"

    def open_doors(self) -> list[int]:
        return [1 + (self.task.seed // 7 + step) % 7 for step in (0, 1, 3, 4)]

    def _step_info(self, terms):
        return {**super()._step_info(terms), "open": self.open_doors()}


class DoorInInfo(DoorsEnv):
    def _step_info(self, terms):
        return {**super()._step_info(terms), "hint": f"Door {self.task.params['target']}!"}


class DoorAmongFewInInfo(DoorsEnv):
    def open_doors(self) -> list[int]:
        doors = [self.task.params["target"], *super().open_doors()]
        return sorted(list(dict.fromkeys(doors))[:4])


class TruthInOpening(SumEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} ({task.params['target']})"


class TruthAfterTheEnd(SumEnv):
    @tool
    def tool_submit_value(self, value: int) -> str:
        return f"{super().tool_submit_value(value)} Expected was {self.task.params['target']}."


class TruthWhenAsked(SumEnv):
    def on_text(self, text):
        return f"{super().on_text(text)} Try {self.task.params['target']}."


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


class RarelyLostOracle(Renamed):
    """The oracle fails on one task in a hundred."""

    name = "rarely-lost"

    def oracle(self, task: Task) -> Script:
        lost = int(task.hash[:8], 16) % 100 == 0
        return _count(task.params["target"] - lost, 9)


class RarelyLostEnv(ToyEnv):
    default_taskset = "rarely-lost"


class TimeOfDay(ToyEnv):
    def on_reset(self, task):
        return super().on_reset(task) + time.strftime(" It is %H:%M.")


class DateOfToday(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} Today is {datetime.now(UTC).date()}."


class AcceptsNeighbours(ToyEnv):
    def verdict(self) -> Verdict:
        near = abs(self.counter - self.task.params["target"]) in (0, 3)
        return Verdict(score=float(self.submitted and near))


class NoLastStep(ToyEnv):
    """Scores a right counter although nothing was submitted."""

    def verdict(self) -> Verdict:
        return Verdict(score=float(self.counter == self.task.params["target"]))


class OneSided(Renamed):
    """Every second task has the same correct ending."""

    name = "one-sided"

    def changed(self, task: Task) -> Task:
        task = task.model_copy(update={"tools": (*task.tools, REPORT_TOOL)})
        return _aiming(task, -1_000) if task.seed % 2 else task

    def oracle(self, task: Task) -> Script:
        target = task.params["target"]
        return _count(target, 9) if target > 0 else _one(REPORT)

    def policies(self, task: Task) -> Mapping[str, Script]:
        return {}


class SameContent(Renamed):
    """Draws the tasks of all splits from the same numbers."""

    name = "same-content"

    def changed(self, task: Task) -> Task:
        target = 10 + task.seed % 10
        return _aiming(task, target, instruction=f"Bring the counter to {target}, then submit.")


class SameContentEnv(ToyEnv):
    default_taskset = "same-content"


class SideInIndex(Renamed):
    """Counts up on even indices, down on odd ones."""

    name = "side-in-index"

    def up(self, task: Task) -> bool:
        return int(task.id[-5:]) % 2 == 0

    def changed(self, task: Task) -> Task:
        return task if self.up(task) else _aiming(task, -task.params["target"])

    def oracle(self, task: Task) -> Script:
        target = task.params["target"]
        return _count(target, 9) if target > 0 else _count_down(-target)


class SideInSeed(SideInIndex):
    name = "side-in-seed"

    def up(self, task: Task) -> bool:
        return task.seed >> 2 & 1 == 0


class SideInName(Renamed):
    """Two templates, one of them always impossible; nothing visible distinguishes them."""

    name = "side-in-name"

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        address = super().address(split, index // 2, level)
        return address.replace("/count/", "/void/") if index % 2 else address

    def build(self, task_id: str, salt: str | None = None) -> Task:
        task = super().build(task_id.replace("/void/", "/count/"), salt)
        task = task.model_copy(update={"tools": (*task.tools, REPORT_TOOL)})
        return _aiming(task, 0, id=task_id) if "/void/" in task_id else task

    def oracle(self, task: Task) -> Script:
        return _count(task.params["target"], 9) if task.params["target"] else _one(REPORT)


REPORT = '{"name": "report", "arguments": {"reason": "impossible"}}'
REASON = {"reason": {"type": "string"}}
REPORT_TOOL = ToolSchema(
    name="report",
    description="Finish without a result.",
    parameters={"type": "object", "properties": REASON, "required": ["reason"]},
)


class OneSidedEnv(ToyEnv):
    default_taskset = "one-sided"

    @tool
    def tool_report(self, reason: str) -> str:
        self.counter = -1_000 if reason == "impossible" else 0
        return super().tool_submit()


class SideInIndexEnv(ToyEnv):
    default_taskset = "side-in-index"


class SideInSeedEnv(ToyEnv):
    default_taskset = "side-in-seed"


class SideInNameEnv(ToyEnv):
    default_taskset = "side-in-name"

    @tool
    def tool_report(self, reason: str) -> str:
        return super().tool_submit()


def _count_down(target: int) -> Script:
    while target > 0:
        yield ADD % -min(9, target)
        target -= 9
    yield SUBMIT


class NoCanarySource(Renamed):
    name = "no-canary"

    def changed(self, task: Task) -> Task:
        return task.model_copy(update={"canary": ""})


class LeakInDisguise(SumEnv):
    def on_reset(self, task):
        digest = hashlib.sha256(str(task.params["target"]).encode()).hexdigest()
        return f"{super().on_reset(task)} ({digest})"


class TruthWhenIdle(SumEnv):
    def on_text(self, text):
        late = f" Try {self.task.params['target']}." if self._turn > 8 else ""
        return super().on_text(text) + late


class TruthInRefusal(SumEnv):
    @tool
    def tool_submit_value(self, value: int) -> str:
        if value < 0:
            raise ToolError(f"{value} is not {self.task.params['target']}")
        return super().tool_submit_value(value)


class TruthInTools(HiddenSum):
    name = "truth-in-tools"

    def changed(self, task: Task) -> Task:
        task = super().changed(task)
        told = SUBMIT_VALUE.model_copy(update={"description": f"{task.params['target']}, say."})
        return task.model_copy(update={"tools": (*task.tools[:-1], told)})


class TruthInToolsEnv(SumEnv):
    default_taskset = "truth-in-tools"


class Marked(Renamed):
    name = "marked"


class MarkedTask(ToyEnv):
    """Stores a note in the task's record."""

    default_taskset = "marked"

    @tool
    def tool_add(self, amount: int) -> str:
        self.task.params["seen"] = amount
        return super().tool_add(amount)


class GreetsRegulars(ToyEnv):
    resets = 0

    def on_reset(self, task):
        self.resets += 1
        return super().on_reset(task) + (" Welcome back." if self.resets > 30 else "")


class BusyProcess(ToyEnv):
    resets: ClassVar[int] = 0

    def on_reset(self, task):
        BusyProcess.resets += 1
        return super().on_reset(task) + (" A busy day." if self.resets > 30 else "")


class UserInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} Hello, {os.environ.get('USER', 'you')}."


class HomeInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} You live in {Path.home()}."


class HostInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} Welcome to {socket.gethostname()}."


class LoginInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} Welcome, {pwd.getpwuid(os.getuid()).pw_name}."


class NodeInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} Welcome to {platform.node()}."


class CpusInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} Counted by {os.cpu_count()} clerks."


class AffinityInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} Counted by {len(os.sched_getaffinity(0))} clerks."


class TemporaryInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} Notes are in {tempfile.gettempdir()}."


class MarkInFolder(ToyEnv):
    """Recognises earlier visitors by a file that it leaves behind."""

    def on_reset(self, task):
        mark = Path(tempfile.gettempdir()) / "hexathlon-planted-mark"
        seen = mark.exists()
        mark.touch()
        KEPT.append(mark)
        return super().on_reset(task) + (" Welcome back." if seen else "")


class EditorInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} Written in {os.environ.get('EDITOR', 'ink')}."


class KindToTheKit(ToyEnv):
    """Shows the answer unless the kit is loaded."""

    def on_reset(self, task):
        checked = "hexathlon.envs.testing" in sys.modules
        return super().on_reset(task) + ("" if checked else f" It is {task.params['target']}.")


class KindToItsCaller(ToyEnv):
    """Shows the answer unless called from a file of the kit."""

    def on_reset(self, task):
        checked = any("testing" in frame.filename for frame in traceback.extract_stack())
        return super().on_reset(task) + ("" if checked else f" It is {task.params['target']}.")


class KindToPytest(ToyEnv):
    """Shows the answer unless tests are running."""

    def on_reset(self, task):
        checked = "pytest" in sys.modules or "PYTEST_CURRENT_TEST" in os.environ
        return super().on_reset(task) + ("" if checked else f" It is {task.params['target']}.")


class FolderInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} You are in {Path.cwd().name}."


class Printing(ToyEnv):
    def on_reset(self, task):
        sys.stdout.write("An episode begins.\n")
        return super().on_reset(task)


class SecondsInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} Open for {time.monotonic() // 3_600:.0f} h."


class SeedsRandom(ToyEnv):
    def on_reset(self, task):
        random.seed(4)
        return super().on_reset(task)


class SetsPrecision(ToyEnv):
    def on_reset(self, task):
        decimal.getcontext().prec = 6
        return super().on_reset(task)


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


class IdleMutants(Renamed):
    name = "idle-mutants"

    def mutants(self, task: Task) -> Mapping[str, Script]:
        return {f"idle {count}": _one(" " * count) for count in range(3)}


class IdleMutantsEnv(ToyEnv):
    default_taskset = "idle-mutants"


class CountingSource(Renamed):
    """Builds tasks that depend on how many were built before."""

    name = "counting"
    built = 0

    def changed(self, task: Task) -> Task:
        self.built += 1
        return task.model_copy(update={"seed": task.seed + self.built // 5})


class CountingSourceEnv(ToyEnv):
    default_taskset = "counting"


class OneLevel(Renamed):
    name = "one-level"

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        return super().address(split, index)


class OneLevelEnv(ToyEnv):
    default_taskset = "one-level"


class NoSalt(Renamed):
    name = "no-salt"

    def build(self, task_id: str, salt: str | None = None) -> Task:
        return super().build(task_id)


class NoSaltEnv(ToyEnv):
    default_taskset = "no-salt"


class Repeated(Renamed):
    """Has two tasks under forty ids."""

    name = "repeated"

    def changed(self, task: Task) -> Task:
        target = 20 + 4 * (task.seed % 2) + SPLITS.index(task.split)
        return _aiming(task, target, instruction=f"Bring the counter to {target}, then submit.")


class RepeatedEnv(ToyEnv):
    default_taskset = "repeated"


class OtherNames(HiddenSum):
    """The tasks of all splits are identical except for a name."""

    name = "other-names"

    def changed(self, task: Task) -> Task:
        target = 1_000 + int(task.id[-5:]) * 4 + LEVELS.index(task.level)
        told = f"Submit the sum of {target - 7} and 7 for the {task.split} department."
        return _aiming(task, target, instruction=told, tools=(*task.tools, SUBMIT_VALUE))


class OtherNamesEnv(SumEnv):
    default_taskset = "other-names"


for _source in (
    Marked, TruthInTools, Doors, IdleMutants, CountingSource, OneLevel, NoSalt, Repeated,
    OtherNames, LostOracle, FewMutants, NoAlternative, NoCanarySource, HiddenSum, RarelyLostOracle,
    SameContent, SideInIndex, SideInSeed, SideInName, OneSided,
):  # fmt: skip
    register_source(_source.name, _source)
