"""AndroidWorld's JSON actions: `Reason: …` and `Action: {"action_type": "click", "index": 3}`.

Points are pixels of the screen. The action names and keys are those of our tools on the phone.
Source: `env/json_action.py` and the prompts of the agents T3A and M3A in
github.com/google-research/android_world (Rawles et al. 2024).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from hexathlon.baselines.codecs.base import DialectCall, read_call
from hexathlon.baselines.codecs.gui.base import GuiCodec

__all__ = ["AndroidWorldCodec"]

_FORM = """

Answer with a reason and one action as JSON, in this form:
Reason: …
Action: {{"action_type": …}}

Actions; keys that are not needed are left out:
{actions}"""


class AndroidWorldCodec(GuiCodec):
    """One JSON object per turn, after the reason."""

    name: ClassVar[str] = "android-world"
    example: ClassVar[str] = 'Reason: I open the menu.\nAction: {"action_type": "wait"}'

    def read(self, text: str) -> list[DialectCall]:
        """Parse the object with an `action_type` after the last `Action:`, or the only one."""
        _, mark, tail = text.rpartition("Action:")
        tail = tail.strip().removeprefix("```json").removeprefix("```").lstrip()
        if not tail.startswith("{"):
            return []
        parsed = read_call(tail, 0)
        if parsed is None:
            return [DialectCall("action", tail)] if mark else []
        value, end = parsed
        if not isinstance(value, dict) or tail[end:].strip().strip("`"):
            return []
        action = value.get("action_type")
        if not isinstance(action, str):
            return [DialectCall("action", value)] if mark else []
        return [DialectCall(action, _arguments(action, value))]

    def write(self, calls: Sequence[DialectCall]) -> str | None:
        """Write the only call."""
        name, arguments = calls[0]
        if len(calls) != 1 or isinstance(arguments, str) or "action_type" in arguments:
            return None
        return "Action: " + json.dumps({"action_type": name, **arguments}, ensure_ascii=False)

    def preamble(self, tools: Sequence[Mapping[str, Any]]) -> str:
        """Return every tool as an action type with its keys."""
        return _FORM.format(actions="\n".join(_described(tool) for tool in tools))


def _described(tool: Mapping[str, Any]) -> str:
    properties = tool["parameters"].get("properties", {})
    action = {"action_type": tool["name"], **{key: f"<{key}>" for key in properties}}
    keys = json.dumps(properties, ensure_ascii=False)
    return f"{json.dumps(action)}: {tool['description']} Keys: {keys}"


def _arguments(action: str, value: dict[str, Any]) -> dict[str, Any]:
    """Return the other keys; null is absent, and an index may be written as text."""
    arguments = {
        key: given for key, given in value.items() if key != "action_type" and given is not None
    }
    index = arguments.get("index")
    if isinstance(index, str) and index.isascii() and index.isdigit():
        arguments["index"] = int(index[:9])
    if action in ("answer", "input_text") and type(arguments.get("text")) in (int, float):
        arguments["text"] = str(arguments["text"])
    return arguments
