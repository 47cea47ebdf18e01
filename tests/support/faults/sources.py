"""Task sources with a planted fault, and environments that play them."""

from collections.abc import Mapping

from hexathlon.envs.tools import tool
from hexathlon.tasks.registry import register_source
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import LEVELS, SPLITS, Level, Split, Task, ToolSchema
from support.faults.base import SUBMIT_VALUE, HiddenSum, Renamed, SumEnv, aiming, one
from support.toy import ADD, SUBMIT, ToyEnv, ToySource, _count


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


class RarelyLostOracle(Renamed):
    """The oracle fails on one task in a hundred."""

    name = "rarely-lost"

    def oracle(self, task: Task) -> Script:
        lost = int(task.hash[:8], 16) % 100 == 0
        return _count(task.params["target"] - lost, 9)


class RarelyLostEnv(ToyEnv):
    default_taskset = "rarely-lost"


class OneSided(Renamed):
    """Every second task has the same correct ending."""

    name = "one-sided"

    def changed(self, task: Task) -> Task:
        task = task.model_copy(update={"tools": (*task.tools, REPORT_TOOL)})
        return aiming(task, -1_000) if task.seed % 2 else task

    def oracle(self, task: Task) -> Script:
        target = task.params["target"]
        return _count(target, 9) if target > 0 else one(REPORT)

    def policies(self, task: Task) -> Mapping[str, Script]:
        return {}


class SameContent(Renamed):
    """Draws the tasks of all splits from the same numbers."""

    name = "same-content"

    def changed(self, task: Task) -> Task:
        target = 10 + task.seed % 10
        return aiming(task, target, instruction=f"Bring the counter to {target}, then submit.")


class SameContentEnv(ToyEnv):
    default_taskset = "same-content"


class SideInIndex(Renamed):
    """Counts up on even indices, down on odd ones."""

    name = "side-in-index"

    def up(self, task: Task) -> bool:
        return int(task.id[-5:]) % 2 == 0

    def changed(self, task: Task) -> Task:
        return task if self.up(task) else aiming(task, -task.params["target"])

    def oracle(self, task: Task) -> Script:
        target = task.params["target"]
        return _count(target, 9) if target > 0 else count_down(-target)


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
        return aiming(task, 0, id=task_id) if "/void/" in task_id else task

    def oracle(self, task: Task) -> Script:
        return _count(task.params["target"], 9) if task.params["target"] else one(REPORT)


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


def count_down(target: int) -> Script:
    while target > 0:
        yield ADD % -min(9, target)
        target -= 9
    yield SUBMIT


class IdleMutants(Renamed):
    name = "idle-mutants"

    def mutants(self, task: Task) -> Mapping[str, Script]:
        return {f"idle {count}": one(" " * count) for count in range(3)}


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
        return aiming(task, target, instruction=f"Bring the counter to {target}, then submit.")


class RepeatedEnv(ToyEnv):
    default_taskset = "repeated"


class OtherNames(HiddenSum):
    """The tasks of all splits are identical except for a name."""

    name = "other-names"

    def changed(self, task: Task) -> Task:
        target = 1_000 + int(task.id[-5:]) * 4 + LEVELS.index(task.level)
        told = f"Submit the sum of {target - 7} and 7 for the {task.split} department."
        return aiming(task, target, instruction=told, tools=(*task.tools, SUBMIT_VALUE))


class OtherNamesEnv(SumEnv):
    default_taskset = "other-names"


class PolicyOfSome(Renamed):
    """Every second task has a trivial policy that the first one lacks, and it scores."""

    name = "policy-of-some"

    def policies(self, task: Task) -> Mapping[str, Script]:
        odd = int(task.id[-5:]) % 2
        return {"lucky": self.oracle(task)} if odd else {"dump": _count(9, 9)}


class PolicyOfSomeEnv(ToyEnv):
    default_taskset = "policy-of-some"


for _source in (
    LostOracle, FewMutants, NoAlternative, RarelyLostOracle, SameContent, SideInIndex, SideInSeed,
    SideInName, OneSided, IdleMutants, CountingSource, OneLevel, NoSalt, Repeated, OtherNames,
    PolicyOfSome,
):  # fmt: skip
    register_source(_source.name, _source)
