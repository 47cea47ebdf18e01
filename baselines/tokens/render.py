"""Renders messages to tokens with a chat template, by appending only.

Templates render whole conversations, and some drop earlier reasoning or move the tools. Rendering
everything again at each turn would change tokens that the policy has already seen. Therefore only
the first prompt is rendered as a whole; later turns append what the template writes after an
assistant's turn, which is obtained by rendering a conversation with a placeholder.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hexathlon.baselines.tokens.patches import IMAGE_TOKEN, patch_ids
from hexathlon.baselines.tokens.tree import NodeKind
from hexathlon.evaluators.content import Image

__all__ = ["ChatRenderer", "Segment", "TemplateError"]

_PLACEHOLDER = "\u2042stand-in\u2042"
"""The assistant's turn in rendered placeholder conversations; no template changes it."""


class TemplateError(Exception):
    """A chat template cannot render a conversation."""


class Segment(NamedTuple):
    """Tokens of one kind."""

    kind: NodeKind
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
        ending = self._after_placeholder([], (), prompt=False)
        ids = self.encode(ending)
        special = set(tokenizer.all_special_ids)
        known = tokenizer.get_vocab()
        self.image_id: int | None = known.get(IMAGE_TOKEN)
        """The token that stands for a picture; None for a policy that reads text only."""

        self.end_of_turn: int | None = ids[0] if ids and ids[0] in special else None
        """The special token with which the template ends an assistant's turn, if there is one."""

    @property
    def stop_ids(self) -> tuple[int, ...]:
        """Tokens that end a reply."""
        tokens = [self.end_of_turn, self.tokenizer.eos_token_id]
        return tuple(dict.fromkeys(token for token in tokens if token is not None))

    def open(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] = (),
        images: Sequence[Image] = (),
    ) -> list[Segment]:
        """Return the first prompt, up to the start of the assistant's turn.

        Args:
            messages: The messages.
            tools: Tools for the template.
            images: The pictures for which image tokens stand, in order.

        Raises:
            TemplateError: If the template cannot render the messages.
        """
        text = self._render([dict(message) for message in messages], tools, prompt=True)
        return self._pictured([Segment("prompt", tuple(self.encode(text)))], images)

    def extend(
        self,
        said: Sequence[int],
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] = (),
        images: Sequence[Image] = (),
    ) -> list[Segment]:
        """Return the tokens after an assistant's turn, up to the start of its next turn.

        Args:
            said: The tokens of the assistant's turn, with its end-of-turn token if there is one.
            messages: The messages after the turn.
            tools: As given to `open`.
            images: The pictures for which image tokens stand, in order.

        Raises:
            TemplateError: If the template cannot render the messages.
        """
        text = self._after_placeholder([dict(message) for message in messages], tools, prompt=True)
        encoded = self.tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        ids, offsets = list(encoded["input_ids"]), list(encoded["offset_mapping"])
        if ids and said and said[-1] == ids[0] == self.end_of_turn:
            ids, offsets = ids[1:], offsets[1:]
        spans = _spans_of(text, [str(message.get("content") or "") for message in messages])
        return self._pictured(_segments(ids, offsets, spans), images)

    def _pictured(self, segments: list[Segment], images: Sequence[Image]) -> list[Segment]:
        """Replace image tokens by the patches of pictures; they are never learned, so scaffold."""
        if self.image_id is None or not images:
            return segments
        found, left = list[Segment](), list(images)
        for kind, ids in segments:
            start = 0
            for place, token in enumerate(ids):
                if token != self.image_id or not left:
                    continue
                patches = tuple(patch_ids(left.pop(0)))
                shown: NodeKind = "prompt" if kind == "prompt" else "scaffold"
                found += [Segment(kind, ids[start:place]), Segment(shown, patches)]
                start = place + 1
            found.append(Segment(kind, ids[start:]))
        return [each for each in found if each.ids]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of sampled tokens, without a final stop token."""
        if ids and ids[-1] in self.stop_ids:
            ids = ids[:-1]
        text: str = self.tokenizer.decode(list(ids), skip_special_tokens=False)
        return text

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text, without special tokens around it."""
        ids: list[int] = self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return ids

    def _after_placeholder(
        self, messages: list[dict[str, Any]], tools: Sequence[Mapping[str, Any]], *, prompt: bool
    ) -> str:
        opening = {"role": "user", "content": "?"}
        turn: dict[str, Any] = {"role": "assistant", "content": _PLACEHOLDER}
        if any(message.get("role") == "tool" for message in messages):
            turn["tool_calls"] = [_placeholder_call(message) for message in messages]
        try:
            text = self._render([opening, turn, *messages], tools, prompt=prompt)
        except TemplateError:
            if "tool_calls" not in turn:
                raise
            del turn["tool_calls"]
            text = self._render([opening, turn, *messages], tools, prompt=prompt)
        _, placeholder, rest = text.rpartition(_PLACEHOLDER)
        if not placeholder and "tool_calls" in turn:
            # Some templates render either content or tool calls, not both.
            del turn["tool_calls"]
            text = self._render([opening, turn, *messages], tools, prompt=prompt)
            _, placeholder, rest = text.rpartition(_PLACEHOLDER)
        if not placeholder:
            raise TemplateError("the chat template does not render the content of assistant turns")
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
                f"the chat template cannot render a conversation of {roles}: {error}"
            ) from None
        return text


def _placeholder_call(message: Mapping[str, Any]) -> dict[str, Any]:
    name = str(message.get("tool_call_id") or "call00000")
    return {"id": name, "type": "function", "function": {"name": "tool", "arguments": {}}}


def _spans_of(text: str, contents: Sequence[str]) -> list[tuple[int, int]]:
    """Return the span of each content in the text, without those that the template changed."""
    spans, after = [], 0
    for content in contents:
        start = text.find(content, after) if content else -1
        if start >= 0:
            after = start + len(content)
            spans.append((start, after))
    return spans


def _segments(
    ids: Sequence[int], offsets: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]
) -> list[Segment]:
    """Group consecutive tokens by kind; tokens not wholly inside a span are scaffold."""
    segments: list[Segment] = []
    for token, (start, end) in zip(ids, offsets, strict=True):
        inside = end > start and any(low <= start and end <= high for low, high in spans)
        kind: NodeKind = "observation" if inside else "scaffold"
        if segments and segments[-1].kind == kind:
            segments[-1] = Segment(kind, (*segments[-1].ids, token))
        else:
            segments.append(Segment(kind, (token,)))
    return segments
