"""WebArena-Verified: the same 812 tasks with typed answers and checks of network events.

`HEXATHLON_DATA/webarena/webarena-verified.json` is read as published.
"""

from collections.abc import Mapping
from typing import Any

from hexathlon.tasks.errors import InvalidRecord
from hexathlon.tasks.task import Check
from hexathlon.tasks.web.loaders.loaded import LoadedTask, LoadedWebTasks
from hexathlon.tasks.web.loaders.tools import TYPED_ANSWER_TOOLS

__all__ = ["WebArenaVerifiedSource", "source"]

_EVALUATORS = {"AgentResponseEvaluator": "response", "NetworkEventEvaluator": "events"}


class WebArenaVerifiedSource(LoadedWebTasks):
    """WebArena-Verified's 812 tasks."""

    name = "webarena-verified"
    folder = "webarena"
    files = ("webarena-verified.json",)

    def parse(self, entry: Mapping[str, Any], index: int) -> LoadedTask:
        """Read one task."""
        rules: dict[str, list[Any]] = {"response": [], "events": []}
        for rule in entry["eval"]:
            if rule["evaluator"] not in _EVALUATORS:
                raise InvalidRecord(f"unknown evaluator {rule['evaluator']!r}")
            rules[_EVALUATORS[rule["evaluator"]]].append(
                {name: value for name, value in rule.items() if name != "evaluator"}
            )
        expected = rules["response"][0]["expected"]
        answer = {
            "task_type": expected["task_type"].upper(),
            "status": expected["status"],
            "retrieved_data": _first(expected.get("retrieved_data")),
        }
        return LoadedTask(
            template=f"t{entry['intent_template_id']}",
            level="medium",
            index=index,
            instruction=entry["intent"],
            start_urls=tuple(entry["start_urls"]),
            sites=tuple(entry["sites"]),
            tools=TYPED_ANSWER_TOOLS,
            checks=(Check(name="webarena_verified", params={**rules, "sites": entry["sites"]}),),
            answer=answer,
        )


def _first(data: Any) -> Any:
    """Return the published data with the first of each list of alternatives."""
    if not isinstance(data, list):
        return data
    return [item[0] if isinstance(item, list) and item else item for item in data]


def source() -> WebArenaVerifiedSource:
    """Create the source; the file is read when a task is requested."""
    return WebArenaVerifiedSource()
