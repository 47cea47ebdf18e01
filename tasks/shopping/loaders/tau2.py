"""tau2-bench's retail tasks, read from its own files.

`HEXATHLON_DATA/tau2_retail` contains `db.json`, `tasks.json`, `policy.md` and `split_tasks.json`
from tau2-bench (or its verified edition). The splits `train` and `test` are tau2's own. In tau2, a
language model plays the customer; here the customer's instructions are part of the opening, and a
plain customer confirms. The expected final state is computed when the task is built, by running the
reference actions on a fresh state, as tau2 does at every evaluation.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from hexathlon.tasks.errors import UnknownTask
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.shopping.loaders.data import data_digest, data_file
from hexathlon.tasks.shopping.world.retail import replay
from hexathlon.tasks.shopping.world.retail_tools import RETAIL_TOOLS, RETAIL_WRITES
from hexathlon.tasks.shopping.world.tables import Base
from hexathlon.tasks.source import Script, TaskAddress, TaskSource, parse_address
from hexathlon.tasks.task import Check, Level, Limits, Split, Task, ToolSchema

__all__ = ["END_TOOL", "Tau2Source", "retail_base", "retail_policy", "source"]

_FOLDER = "tau2_retail"
_FILES = ("db.json", "policy.md", "tasks.json", "split_tasks.json")
_WORD = re.compile(r"\w+")
_LEVEL: Level = "medium"
"""tau2 does not grade the difficulty of its tasks."""

END_TOOL = ToolSchema(
    name="end_conversation",
    description="End the conversation when the customer has been served.",
    parameters={"type": "object", "properties": {}},
)


@lru_cache(maxsize=1)
def retail_base() -> Base:
    """Return tau2's retail tables, read once per process."""
    return Base(json.loads(data_file(_FOLDER, "db.json").read_text()))


@lru_cache(maxsize=1)
def retail_policy() -> str:
    """Return tau2's retail policy."""
    return data_file(_FOLDER, "policy.md").read_text()


@lru_cache(maxsize=1)
def _records() -> dict[Split, list[dict[str, Any]]]:
    tasks = {task["id"]: task for task in json.loads(data_file(_FOLDER, "tasks.json").read_text())}
    splits = json.loads(data_file(_FOLDER, "split_tasks.json").read_text())
    return {
        "train": [tasks[key] for key in splits["train"]],
        "test": [tasks[key] for key in splits["test"]],
    }


class Tau2Source(TaskSource):
    """The 114 retail tasks, with tau2's score under its own name beside a stricter one."""

    name = "tau2-retail"
    family = "shopping"
    version = "3"

    def size(self, split: Split, level: Level | None = None) -> int | None:
        """Return tau2's own numbers: 74 train and 40 test tasks."""
        if level not in (None, _LEVEL):
            return 0
        return len(_records().get(split, ()))

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """Return the id of the task at `index`, in tau2's order."""
        record = _records()[split][index]
        return str(TaskAddress(self.name, _template(record), _LEVEL, split, index))

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build one task from tau2's record."""
        address = parse_address(task_id)
        records = _records().get(address.split, [])
        if address.source != self.name or address.index >= len(records):
            raise UnknownTask(task_id, f"{self.name} has {len(records)} {address.split} tasks")
        record = records[address.index]
        if (address.template, address.level) != (_template(record), _LEVEL):
            raise UnknownTask(task_id, f"that one is {self.address(address.split, address.index)}")
        return _task(self, task_id, record)

    def fingerprint(self) -> str:
        """Return the SHA-256 of the loader's code and tau2's files."""
        data = data_digest(_FOLDER, _FILES)
        return hashlib.sha256(f"{super().fingerprint()}\n{data}".encode()).hexdigest()

    def oracle(self, task: Task) -> Script:
        """Run the reference actions, give the required information, and end."""
        return _script(_reference(task))

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        """Return the reference without calculations and, if it writes, without reads."""
        detours = ("get_", "calc") if task.checks[0].params["expected"] else ("calc",)
        actions = _reference(task)["actions"]
        kept = [action for action in actions if not action["name"].startswith(detours)]
        return {"no detours": _script({**_reference(task), "actions": kept})}

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Return variants with one write missing, one extra write, or nothing said."""
        reference = _reference(task)
        actions = reference["actions"]
        scripts: dict[str, Script] = {}
        effective = [i for i, a in enumerate(actions) if a["name"] in RETAIL_WRITES]
        if effective and task.checks[0].params["expected"]:
            shorter = [a for i, a in enumerate(actions) if i not in effective]
            scripts["nothing written"] = _script({**reference, "actions": shorter})
        stray = {
            "name": "modify_user_address",
            "arguments": {
                "user_id": task.params["bystander"], "address1": "1 Nowhere Lane",
                "address2": "", "city": "Austin", "state": "TX", "country": "USA",
                "zip": "00000",
            },
        }  # fmt: skip
        scripts["a stray write"] = _script({**reference, "actions": [*actions, stray]})
        if reference["communicate_info"]:
            scripts["nothing said"] = _script({**reference, "communicate_info": []})
        return scripts

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Return policies that say everything or refuse everything."""
        return {"dump": _dump(), "always_refuse": _refuse()}


def _task(source: Tau2Source, task_id: str, record: dict[str, Any]) -> Task:
    criteria = record["evaluation_criteria"]
    tables, refused = replay(retail_base(), criteria["actions"])
    expected = tables.difference()
    names = [action["name"] for action in criteria["actions"]]
    communicate = list(criteria.get("communicate_info") or ())
    said = Check(name="tau2_communicate", params={"strings": communicate}, headline=False)
    looked_at = _looked_at(criteria["actions"], _instruction(record))
    strict = {
        "expected": expected,
        "strings": communicate,
        "transfer": "transfer_to_human_agents" in names,
        "looked_at": looked_at,
    }
    users = retail_base().tables["users"]
    touched = {str(action["arguments"].get("user_id")) for action in criteria["actions"]}
    return Task(
        id=task_id,
        family="shopping",
        generator=source.name,
        version=source.version,
        level=_LEVEL,
        split=parse_address(task_id).split,
        seed=derive_seed(source.name, record["id"]),
        instruction=_instruction(record),
        params={
            "world": "retail",
            "tau2_id": record["id"],
            "reference": {
                "actions": criteria["actions"],
                "communicate_info": communicate,
                "looks": looked_at,
            },
            "refused": refused,
            "bystander": next(user for user in users if user not in touched),
        },
        tools=(*RETAIL_TOOLS, END_TOOL),
        limits=Limits(turns=60),
        checks=(
            Check(name="tau2_strict", params=strict),
            Check(name="tau2_db", params={"expected": expected}, headline=False),
            said,
        ),
    )


def _looked_at(actions: list[dict[str, Any]], notes: str) -> list[str]:
    """Return the orders and users that the reference reads; if none, those in the notes."""
    tables = retail_base().tables
    named = [
        str(action["arguments"][key])
        for action in actions
        for key in ("order_id", "user_id")
        if key in action["arguments"]
    ]
    named = named or [f"#{word}" if word[:1] == "W" else word for word in _WORD.findall(notes)]
    known = [key for key in named if key in tables["orders"] or key in tables["users"]]
    return list(dict.fromkeys(known))


def _template(record: dict[str, Any]) -> str:
    names = [action["name"] for action in record["evaluation_criteria"]["actions"]]
    writes = dict.fromkeys(name for name in names if name in RETAIL_WRITES)
    return next(iter(writes)) if len(writes) == 1 else "several_writes" if writes else "no_write"


def _instruction(record: dict[str, Any]) -> str:
    scenario = record["user_scenario"]["instructions"]
    fields = ("reason_for_call", "known_info", "unknown_info", "task_instructions")
    lines = [
        str(scenario[key]).strip() for key in fields if str(scenario.get(key) or "").strip(". ")
    ]
    return "\n".join(["A customer is on the line. These are the customer's own notes:", *lines])


def _reference(task: Task) -> dict[str, Any]:
    reference: dict[str, Any] = task.params["reference"]
    return reference


def _call(name: str, arguments: Mapping[str, Any]) -> str:
    return json.dumps({"name": name, "arguments": dict(arguments)}, ensure_ascii=False)


def _script(reference: dict[str, Any]) -> Script:
    actions = reference["actions"]
    if not actions and reference["looks"]:
        actions = [_look(reference["looks"][0])]
    for action in actions:
        yield _call(action["name"], action["arguments"])
    if reference["communicate_info"]:
        yield "For your information: " + "; ".join(reference["communicate_info"]) + "."
    yield _call("end_conversation", {})


def _look(key: str) -> dict[str, Any]:
    if key.startswith("#"):
        return {"name": "get_order_details", "arguments": {"order_id": key}}
    return {"name": "get_user_details", "arguments": {"user_id": key}}


def _dump() -> Script:
    listing = yield _call("list_all_product_types", {})
    yield listing
    yield "All amounts: " + " ".join(str(number) for number in range(1000))
    yield _call("end_conversation", {})


def _refuse() -> Script:
    yield "I am sorry, the policy does not allow this."
    yield _call("end_conversation", {})


def source() -> Tau2Source:
    """Create the source; the data is read when a task is requested."""
    return Tau2Source()
