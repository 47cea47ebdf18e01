"""Qwen-VL and GUI-Owl: one function, `mobile_use` or `computer_use`, called in `<tool_call>` tags.

The function's `action` names what to do, `coordinate` and `coordinate2` are points: pixels of the
resized screenshot in Qwen2.5-VL and GUI-Owl (Mobile-Agent-v3), shares of the screen in Qwen3-VL and
GUI-Owl 1.5. Sources: `cookbooks/utils/agent_function_call.py` and the agent notebooks in
github.com/QwenLM/Qwen3-VL; `Mobile-Agent-v3*` in github.com/X-PLUG/MobileAgent.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from hexathlon.baselines.codecs.base import DialectCall, WireMessage, format_calls, parse_calls
from hexathlon.baselines.codecs.gui.base import GuiCodec, unspoken
from hexathlon.baselines.codecs.gui.functions import COMPUTER_USE, MOBILE_USE, UseFunction
from hexathlon.baselines.codecs.gui.screen import RelativeSpace, ResizedSpace, Space
from hexathlon.baselines.codecs.hermes import HermesCodec

__all__ = [
    "GuiOwl15Codec",
    "GuiOwl15ComputerCodec",
    "GuiOwlCodec",
    "Qwen3VlComputerCodec",
    "Qwen3VlMobileCodec",
    "Qwen25VlComputerCodec",
    "Qwen25VlMobileCodec",
]

_HERMES = HermesCodec()
_THINKING = re.compile(r"<thinking>.*?</thinking>", re.DOTALL)
_PREAMBLE = """

# Tools

Use the functions within the <tools></tools> tags, one call at a time:
<tools>
{tools}
</tools>

Answer with a short description of the action and one call, in this form:
Action: …
<tool_call>
{{"name": …, "arguments": {{…}}}}
</tool_call>"""


class QwenUseCodec(GuiCodec):
    """Calls of one function with an `action`; other tools are called under their own names."""

    function: ClassVar[UseFunction] = MOBILE_USE

    @property
    def example(self) -> str:  # type: ignore[override]
        """One call of the function."""
        first = self.function.example
        return f"<tool_call>\n{format_calls([first])}\n</tool_call>"

    def read(self, text: str) -> list[DialectCall]:
        """Parse the tagged calls; several actions may become one call, and vice versa."""
        action = _HERMES.decode({"content": _THINKING.sub("", text)})
        calls = parse_calls(action)
        return self.function.read(calls) if calls else []

    def write(self, calls: Sequence[DialectCall]) -> str | None:
        """Write each call between tags."""
        return str(_HERMES.encode(format_calls(self.function.write(calls)))["content"])

    def unread(self, text: str) -> str:
        """Return the text between the tags if it is not a call, as the Hermes dialect does."""
        return _HERMES.decode({"content": _THINKING.sub("", text)})

    def preamble(self, tools: Sequence[Mapping[str, Any]]) -> str:
        """Return the function's signature, and those of tools that it does not cover."""
        names = {tool["name"] for tool in tools}
        size = None if self.screen is None else self.space.size(self.screen)
        rows = [*unspoken(tools, self.function.spoken)]
        if names & self.function.spoken.keys():
            rows.insert(0, self.function.signature(names, size))
        lines = [
            json.dumps({"type": "function", "function": dict(row)}, ensure_ascii=False)
            for row in rows
        ]
        return _PREAMBLE.format(tools="\n".join(lines))

    def answer(self, message: WireMessage, observations: Sequence[str]) -> list[WireMessage]:
        """Return the observations, as tool responses if the message has calls."""
        [answer] = super().answer(message, observations)
        if "<tool_call>" in str(message.get("content") or ""):
            answer["content"] = f"<tool_response>\n{answer['content']}\n</tool_response>"
        return [answer]


class Qwen25VlMobileCodec(QwenUseCodec):
    """Qwen2.5-VL on a phone: pixels of the resized screenshot."""

    name: ClassVar[str] = "qwen2.5-vl-mobile"
    space: ClassVar[Space] = ResizedSpace(28, 56 * 56, 16384 * 28 * 28)


class Qwen25VlComputerCodec(Qwen25VlMobileCodec):
    """Qwen2.5-VL on a desktop."""

    name: ClassVar[str] = "qwen2.5-vl-computer"
    function: ClassVar[UseFunction] = COMPUTER_USE


class Qwen3VlMobileCodec(QwenUseCodec):
    """Qwen3-VL on a phone: the screen is 999 units wide and high."""

    name: ClassVar[str] = "qwen3-vl-mobile"
    space: ClassVar[Space] = RelativeSpace(999)


class Qwen3VlComputerCodec(Qwen3VlMobileCodec):
    """Qwen3-VL on a desktop."""

    name: ClassVar[str] = "qwen3-vl-computer"
    function: ClassVar[UseFunction] = COMPUTER_USE


class GuiOwlCodec(QwenUseCodec):
    """GUI-Owl of Mobile-Agent-v3: pixels of the resized screenshot."""

    name: ClassVar[str] = "gui-owl"
    space: ClassVar[Space] = ResizedSpace(28, 28 * 28, 12800 * 28 * 28)


class GuiOwl15Codec(QwenUseCodec):
    """GUI-Owl 1.5 of Mobile-Agent-v3.5: thousandths of the screen."""

    name: ClassVar[str] = "gui-owl-1.5"
    space: ClassVar[Space] = RelativeSpace(1000)


class GuiOwl15ComputerCodec(GuiOwl15Codec):
    """GUI-Owl 1.5 on a desktop."""

    name: ClassVar[str] = "gui-owl-1.5-computer"
    function: ClassVar[UseFunction] = COMPUTER_USE
