"""Conversations from and to the `.eval` logs of inspect_ai, with its own reader and writer.

Package: `inspect_ai` 0.3, imported when used.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hexathlon.baselines.exchange.transcript import ChatTranscript

__all__ = ["read_eval", "write_eval"]

_KEPT = ("env", "task", "seed", "trial", "terms", "stop")


def read_eval(path: Path) -> Iterator[ChatTranscript]:
    """Yield the samples of a log; a sample with an error, or without a score, has no reward."""
    from inspect_ai.log import read_eval_log, resolve_sample_attachments

    log = read_eval_log(str(path))
    for stored in log.samples or ():
        sample = resolve_sample_attachments(stored)
        offered: list[Any] = next((e.tools for e in sample.events if e.event == "model"), [])
        tools = [tool.model_dump(exclude_none=True) for tool in offered]
        scores = list((sample.scores or {}).values())
        scored = scores and sample.error is None
        kept = {key: sample.metadata[key] for key in _KEPT if key in sample.metadata}
        yield ChatTranscript(
            [_openai(message) for message in sample.messages],
            [{key: tool.get(key) for key in ("name", "description", "parameters")}
             for tool in (tools or sample.metadata.get("tools", ()))],
            model=log.eval.model,
            reward=scores[0].as_float() if scored else None,
            error=sample.error.message if sample.error else "",
            **{"task": str(sample.id), **kept},
        )  # fmt: skip


def write_eval(conversations: Sequence[ChatTranscript], path: Path) -> None:
    """Write conversations as one log; unscored ones are samples with an error."""
    from inspect_ai.log import (
        EvalConfig,
        EvalDataset,
        EvalLog,
        EvalSample,
        EvalSpec,
        write_eval_log,
    )
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Score

    samples = []
    for number, each in enumerate(conversations):
        kept = {key: getattr(each, key) for key in _KEPT}
        score = {"verdict": Score(value=each.reward)} if each.reward is not None else None
        samples.append(EvalSample(
            id=each.task or str(number), epoch=each.trial + 1, input=_first(each), target="",
            messages=[_inspect(message) for message in each.messages], output=ModelOutput(),
            scores=score, metadata={**kept, "tools": each.tools}, error=_error(each),
        ))  # fmt: skip
    first = conversations[0]
    spec = EvalSpec(
        created="1970-01-01T00:00:00+00:00", task=first.env.rpartition("/")[2] or "imported",
        dataset=EvalDataset(samples=len(samples)), model=first.model or "none", config=EvalConfig(),
    )  # fmt: skip
    status = "success" if all(sample.error is None for sample in samples) else "error"
    write_eval_log(EvalLog(status=status, eval=spec, samples=samples), str(path))


def _first(conversation: ChatTranscript) -> str:
    users = [each for each in conversation.messages if each["role"] == "user"]
    content = users[0]["content"] if users else ""
    return content if isinstance(content, str) else content[0].get("text", "")


def _error(conversation: ChatTranscript) -> Any:
    from inspect_ai.log import EvalError

    if conversation.reward is not None:
        return None
    said = conversation.error or "the episode has no score"
    return EvalError(message=said, traceback="", traceback_ansi="")


def _openai(message: Any) -> dict[str, Any]:
    content = message.content
    if not isinstance(content, str):
        content = [
            {"type": "image_url", "image_url": {"url": part.image}} if part.type == "image"
            else {"type": "text", "text": getattr(part, "text", "")}
            for part in content
        ]  # fmt: skip
    plain: dict[str, Any] = {"role": message.role, "content": content}
    if message.role == "tool":
        plain["tool_call_id"] = message.tool_call_id
    if message.role == "assistant" and message.tool_calls:
        plain["content"] = content or None
        plain["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {
                "name": call.function,
                "arguments": json.dumps(call.arguments, ensure_ascii=False)}}
            for call in message.tool_calls
        ]  # fmt: skip
    return plain


def _inspect(message: dict[str, Any]) -> Any:
    from inspect_ai.model import (
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageTool,
        ChatMessageUser,
        ContentImage,
        ContentText,
    )
    from inspect_ai.tool import ToolCall

    content = message.get("content") or ""
    if not isinstance(content, str):
        content = [
            ContentText(text=part["text"])
            if part["type"] == "text"
            else ContentImage(image=part["image_url"]["url"])
            for part in content
        ]
    if message["role"] == "tool":
        return ChatMessageTool(content=content, tool_call_id=message["tool_call_id"])
    if message["role"] == "assistant":
        calls = [ToolCall(id=call["id"], function=call["function"]["name"],
                          arguments=json.loads(call["function"]["arguments"]))
                 for call in message.get("tool_calls") or ()]  # fmt: skip
        return ChatMessageAssistant(content=content, tool_calls=calls or None)
    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser}
    return kinds[message["role"]](content=content)
