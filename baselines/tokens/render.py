"""From messages to tokens by a chat template, only ever by appending.

Templates render a whole conversation; some drop earlier reasoning or move the tools on the way.
Rendering the whole again each turn would change tokens that the policy already saw. So the first
prompt is rendered whole, and every later turn adds only what the template writes after an
assistant's turn, found by rendering a stand-in conversation.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hexathlon.baselines.tokens.tree import Kind

__all__ = ["ChatRenderer", "Segment", "TemplateError"]

_STAND_IN = "\u2042stand-in\u2042"
"""What an assistant says in stand-in conversations; no template changes it."""


class TemplateError(Exception):
    """A chat template cannot render what it is asked to."""


class Segment(NamedTuple):
    """Tokens of one kind."""

    kind: Kind
    ids: tuple[int, ...]


class ChatRenderer:
    """Renders conversations for one tokenizer.

    Args:
        tokenizer: A fast Hugging Face tokenizer with a chat template.

    Raises:
        TemplateError: If the template cannot render an assistant's turn.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        ending = self._after_stand_in([], (), prompt=False)
        ids = self.encode(ending)
        special = set(tokenizer.all_special_ids)
        self.end_of_turn: int | None = ids[0] if ids and ids[0] in special else None
        """The token with which the template ends an assistant's turn, where it is a special one."""

    @property
    def stop_ids(self) -> tuple[int, ...]:
        """Tokens that end a reply."""
        found = [self.end_of_turn, self.tokenizer.eos_token_id]
        return tuple(dict.fromkeys(token for token in found if token is not None))

    def open(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()
    ) -> list[Segment]:
        """Return the first prompt, ready for the assistant to speak.

        Raises:
            TemplateError: If the template refuses the messages.
        """
        text = self._render([dict(message) for message in messages], tools, prompt=True)
        return [Segment("prompt", tuple(self.encode(text)))]

    def extend(
        self,
        said: Sequence[int],
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> list[Segment]:
        """Return what follows the assistant's tokens, up to where it speaks again.

        Args:
            said: The tokens that it sampled, with the one that ended its turn if it got there.
            messages: What came since.
            tools: As given to `open`.

        Raises:
            TemplateError: If the template refuses the messages.
        """
        text = self._after_stand_in([dict(message) for message in messages], tools, prompt=True)
        encoded = self.tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        ids, offsets = list(encoded["input_ids"]), list(encoded["offset_mapping"])
        if ids and said and said[-1] == ids[0] == self.end_of_turn:
            ids, offsets = ids[1:], offsets[1:]
        spans = _places(text, [str(message.get("content") or "") for message in messages])
        return _segments(ids, offsets, spans)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of sampled tokens, without the one that ended the turn."""
        if ids and ids[-1] in self.stop_ids:
            ids = ids[:-1]
        text: str = self.tokenizer.decode(list(ids), skip_special_tokens=False)
        return text

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text, without any that a template would add."""
        ids: list[int] = self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return ids

    def _after_stand_in(
        self, messages: list[dict[str, Any]], tools: Sequence[Mapping[str, Any]], *, prompt: bool
    ) -> str:
        opening = {"role": "user", "content": "?"}
        said: dict[str, Any] = {"role": "assistant", "content": _STAND_IN}
        if any(message.get("role") == "tool" for message in messages):
            said["tool_calls"] = [_stand_in_call(message) for message in messages]
        try:
            text = self._render([opening, said, *messages], tools, prompt=prompt)
        except TemplateError:
            if "tool_calls" not in said:
                raise
            del said["tool_calls"]
            text = self._render([opening, said, *messages], tools, prompt=prompt)
        _, found, rest = text.rpartition(_STAND_IN)
        if not found and "tool_calls" in said:
            # Some templates show either what was said or what was called.
            del said["tool_calls"]
            text = self._render([opening, said, *messages], tools, prompt=prompt)
            _, found, rest = text.rpartition(_STAND_IN)
        if not found:
            raise TemplateError("the chat template does not show what an assistant said")
        return rest

    def _render(
        self,
        messages: list[dict[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        *,
        prompt: bool,
    ) -> str:
        described = [{"type": "function", "function": dict(tool)} for tool in tools] or None
        try:
            text: str = self.tokenizer.apply_chat_template(
                messages, tools=described, tokenize=False, add_generation_prompt=prompt
            )
        except Exception as error:
            roles = ", ".join(str(message.get("role")) for message in messages)
            raise TemplateError(
                f"the chat template refuses a conversation of {roles}: {error}"
            ) from None
        return text


def _stand_in_call(message: Mapping[str, Any]) -> dict[str, Any]:
    name = str(message.get("tool_call_id") or "call00000")
    return {"id": name, "type": "function", "function": {"name": "tool", "arguments": {}}}


def _places(text: str, contents: Sequence[str]) -> list[tuple[int, int]]:
    """Return where each content stands in the text; one that was changed on the way is left out."""
    found, after = [], 0
    for content in contents:
        start = text.find(content, after) if content else -1
        if start >= 0:
            after = start + len(content)
            found.append((start, after))
    return found


def _segments(
    ids: Sequence[int], offsets: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]
) -> list[Segment]:
    """Join neighbouring tokens of one kind; a token across a border is the template's."""
    segments: list[Segment] = []
    for token, (start, end) in zip(ids, offsets, strict=True):
        inside = end > start and any(low <= start and end <= high for low, high in spans)
        kind: Kind = "observation" if inside else "scaffold"
        if segments and segments[-1].kind == kind:
            segments[-1] = Segment(kind, (*segments[-1].ids, token))
        else:
            segments.append(Segment(kind, (token,)))
    return segments
