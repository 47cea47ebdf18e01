"""WebShop's instructions as tasks: search, click, buy.

`HEXATHLON_DATA/webshop` contains WebShop's `items_shuffle.json`, `items_ins_v2.json` and, for the
human instructions, optionally `items_human_ins.json`. Splits are the published ones: of the goals
in their shuffled order, 0-499 are test, 500-1,499 dev, the rest train.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from hexathlon.tasks.errors import UnknownTask
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.shopping.loaders.data import data_digest
from hexathlon.tasks.shopping.loaders.webshop_data import FILES, FOLDER, read_webshop
from hexathlon.tasks.source import Script, TaskAddress, TaskSource, parse_address
from hexathlon.tasks.task import Check, Level, Limits, Split, Task, ToolSchema

__all__ = ["WEBSHOP_TOOLS", "WebShopSource", "source"]

_LEVEL: Level = "medium"
_RANGES: dict[Split, tuple[int, int | None]] = {
    "test": (0, 500),
    "dev": (500, 1500),
    "train": (1500, None),
}

WEBSHOP_TOOLS = (
    ToolSchema(
        name="search",
        description="Search the shop; possible on the search page.",
        parameters={
            "type": "object",
            "properties": {"keywords": {"type": "string", "maxLength": 500}},
            "required": ["keywords"],
        },
    ),
    ToolSchema(
        name="click",
        description="Click a button, a product or an option by its label. 'Buy Now' ends.",
        parameters={
            "type": "object",
            "properties": {"label": {"type": "string", "maxLength": 500}},
            "required": ["label"],
        },
    ),
)


class WebShopSource(TaskSource):
    """WebShop's goals, scored strictly and, under its own name, by WebShop's reward."""

    name = "webshop"
    family = "shopping"
    version = "3"

    def size(self, split: Split, level: Level | None = None) -> int | None:
        """Return the number of goals in one of WebShop's splits."""
        return len(self._goals(split)) if level in (None, _LEVEL) else 0

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """Return the id of the split's goal at `index`."""
        return str(
            TaskAddress(self.name, _template(self._goals(split)[index]), _LEVEL, split, index)
        )

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build one task from WebShop's goal."""
        address = parse_address(task_id)
        goals = self._goals(address.split) if address.source == self.name else []
        if address.index >= len(goals):
            raise UnknownTask(task_id, f"{self.name} has {len(goals)} {address.split} goals")
        goal = goals[address.index]
        if (address.template, address.level) != (_template(goal), _LEVEL):
            raise UnknownTask(task_id, f"that one is {self.address(address.split, address.index)}")
        return Task(
            id=task_id,
            family=self.family,
            generator=self.name,
            version=self.version,
            level=_LEVEL,
            split=address.split,
            seed=derive_seed(self.name, goal["asin"], goal["instruction_text"]),
            instruction=goal["instruction_text"],
            params={"world": "webshop"},
            tools=WEBSHOP_TOOLS,
            limits=Limits(turns=30),
            checks=(
                Check(name="webshop_strict", params={"goal": goal}),
                Check(name="webshop", params={"goal": goal}, headline=False),
            ),
        )

    def fingerprint(self) -> str:
        """Return the SHA-256 of the loader's code and WebShop's files."""
        data = data_digest(FOLDER, FILES)
        return hashlib.sha256(f"{super().fingerprint()}\n{data}".encode()).hexdigest()

    def oracle(self, task: Task) -> Script:
        """Search for the product's name, open its page, choose options, buy."""
        goal = _goal(task)
        return _purchase(goal["name"], goal["asin"], _choices(goal))

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        """Do the same after reading the description, choosing options in another order."""
        goal = _goal(task)
        return {
            "looks first": _purchase(goal["name"], goal["asin"], _choices(goal)[::-1], look=True)
        }

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Buy another product, omit an option or choose a wrong one, or buy nothing."""
        goal = _goal(task)
        data = read_webshop()
        scripts = {"no purchase": _purchase(goal["name"], goal["asin"], [], buy=False)}
        other = next(
            (
                p
                for p in data.products.values()
                if p["product_category"] != goal["product_category"]
            ),
            None,
        )
        if other is not None:
            scripts["another product"] = _purchase(other["name"], other["asin"], [])
        choices = _choices(goal)
        if choices:
            scripts["option left out"] = _purchase(goal["name"], goal["asin"], choices[1:])
            wrong = _other_value(data.products[goal["asin"]], choices)
            if wrong is not None:
                scripts["wrong option"] = _purchase(
                    goal["name"], goal["asin"], [*choices[1:], wrong]
                )
        return scripts

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Buy the first search result for the instruction."""
        return {"first_hit": _first_hit(task.instruction)}

    def _goals(self, split: Split) -> list[dict[str, Any]]:
        if split not in _RANGES:
            return []
        return read_webshop().goals[slice(*_RANGES[split])]


def _template(goal: dict[str, Any]) -> str:
    return "options" if goal["goal_options"] else "attributes"


def _goal(task: Task) -> dict[str, Any]:
    goal: dict[str, Any] = task.checks[0].params["goal"]
    return goal


def _choices(goal: dict[str, Any]) -> list[str]:
    """Return the labels of the product's values that match the goal's options."""
    offered = read_webshop().products[goal["asin"]]["options"]
    labels = []
    for wanted in goal["goal_options"]:
        folded = wanted.strip().replace("/", " | ").lower()
        values = [value for values in offered.values() for value in values]
        labels.append(folded if folded in values else wanted)
    return labels


def _other_value(product: dict[str, Any], choices: list[str]) -> str | None:
    for values in product["options"].values():
        if choices[0] in values:
            return next((value for value in values if value != choices[0]), None)
    return None


def _say(name: str, argument: str, value: str) -> str:
    return json.dumps({"name": name, "arguments": {argument: value}}, ensure_ascii=False)


def _click(label: str) -> str:
    return _say("click", "label", label)


def _purchase(
    name: str, asin: str, choices: list[str], *, look: bool = False, buy: bool = True
) -> Script:
    page = yield _say("search", "keywords", name[:500])
    while asin.lower() not in page.lower() and "next >" in page.lower():
        page = yield _click("Next >")
    yield _click(asin)
    if look:
        yield _click("Description")
        yield _click("< Prev")
    for choice in choices:
        yield _click(choice)
    if buy:
        yield _click("Buy Now")


def _first_hit(instruction: str) -> Script:
    page = yield _say("search", "keywords", instruction[:500])
    asin = next(_asins(page), "")
    yield _click(asin)
    yield _click("Buy Now")


def _asins(page: str) -> Iterator[str]:
    known = read_webshop().products
    return (part.strip() for part in page.split("[SEP]") if part.strip() in known)


def source() -> WebShopSource:
    """Create the source; the data is read when a task is requested."""
    return WebShopSource()
