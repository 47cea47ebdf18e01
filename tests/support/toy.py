"""A small, complete environment for tests: count to a target named in the instruction.

Its source has an oracle, an alternative, mutants and policies, so that the base, the conformance
kit and the harness can be tested without any real event.
"""

from collections.abc import Mapping
from typing import Any

from hexathlon.envs.base import Environment
from hexathlon.envs.errors import ToolError
from hexathlon.envs.tools import tool
from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import register_verifier
from hexathlon.tasks.errors import UnknownTask
from hexathlon.tasks.registry import register_source
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import Script, TaskAddress, TaskSource, parse_address
from hexathlon.tasks.task import LEVELS, SPLITS, Check, Level, Limits, Split, Task, ToolSchema

ADD = '{"name": "add", "arguments": {"amount": %d}}'
SUBMIT = '{"name": "submit", "arguments": {}}'

TOOLS = (
    ToolSchema(
        name="add",
        description="Add to the counter.",
        parameters={
            "type": "object",
            "properties": {"amount": {"type": "integer", "minimum": -9, "maximum": 9}},
            "required": ["amount"],
        },
    ),
    ToolSchema(name="submit", description="Finish.", parameters={"type": "object"}),
)


class ToySource(TaskSource):
    name, family, version = "toy", "toy", "1"

    def size(self, split: Split, level: Level | None = None) -> int | None:
        return None if split == "train" else 40

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        chosen = level or LEVELS[index % len(LEVELS)]
        number = index if level else index // len(LEVELS)
        return str(TaskAddress("toy", "count", chosen, split, number))

    def build(self, task_id: str, salt: str | None = None) -> Task:
        address = parse_address(task_id)
        if address.source != "toy" or address.template != "count":
            raise UnknownTask(task_id, "the toy source has only the template 'count'")
        draw = generator_for("toy", task_id, salt or "")
        target = 10 + 4 * int(draw.integers(0, 6)) + SPLITS.index(address.split)
        return Task(
            id=task_id,
            family="toy",
            generator="toy",
            version="1",
            level=address.level,
            split=address.split,
            seed=int(draw.integers(1 << 31)),
            instruction=f"Bring the counter to {target}, then submit.",
            params={"target": target},
            tools=TOOLS,
            limits=Limits(turns=12),
            checks=(Check(name="toy_count", params={"target": target}),),
            canary=f"canary-{draw.integers(1 << 40):x}",
        )

    def oracle(self, task: Task) -> Script:
        return _count(task.params["target"], 9)

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        return {"small steps": _count(task.params["target"], 5)}

    def mutants(self, task: Task) -> Mapping[str, Script]:
        return {f"off by {d}": _count(task.params["target"] + d, 9) for d in (-1, 1, 2)}

    def policies(self, task: Task) -> Mapping[str, Script]:
        return {"dump": _count(9, 9), "majority": _count(4, 9)}


def _count(target: int, step: int) -> Script:
    total = 0
    while total < target:
        amount = min(step, target - total)
        total += amount
        observation = yield ADD % amount
        assert "counter" in observation
    yield SUBMIT


def toy_count(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Any
) -> Verdict:
    hit = final_state["submitted"] and final_state["counter"] == params["target"]
    return Verdict(score=float(hit), terms={"hit": float(hit)})


class ToyEnv(Environment):
    family, version = "toy", "1"
    default_taskset = "toy"
    system_prompt = "You count."

    def on_reset(self, task: Task) -> str:
        self.counter, self.submitted = 0, False
        self.luck = [int(self.np_random.integers(100))]
        return f"{task.instruction} Your lucky number is {self.luck[0]}."

    @tool
    def tool_add(self, amount: int) -> str:
        if self.counter + amount > 99:
            raise ToolError("the counter ends at 99")
        self.counter += amount
        self.luck.append(int(self.np_random.integers(100)))
        return f"The counter stands at {self.counter}. Luck: {self.luck[-1]}."

    @tool
    def tool_submit(self) -> str:
        self.submitted = True
        self.finish()
        return "Submitted."

    def final_state(self) -> dict[str, Any]:
        return {"counter": self.counter, "submitted": self.submitted}

    def save(self) -> Any:
        return self.counter, self.submitted, tuple(self.luck)

    def load(self, payload: Any) -> None:
        self.counter, self.submitted, luck = payload
        self.luck = list(luck)


def source() -> ToySource:
    return ToySource()


register_source("toy", source)
register_verifier("toy_count", toy_count, version="1")
