"""Google's Gemini API.

https://ai.google.dev/api/generate-content
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from hexathlon.baselines.engines.apis.base import (
    ApiCall,
    JsonBody,
    ReplyStream,
    arguments_of,
    data_url,
    image_of,
    parts_of_message,
    sse,
    text_of_message,
)
from hexathlon.baselines.engines.base import ChatRequest, Sampling, Usage
from hexathlon.baselines.engines.errors import BadRequest, MalformedReply, Refused
from hexathlon.baselines.engines.replies import Completion

__all__ = ["Gemini"]

_BLOCKED = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII")
_SAMPLING = (
    ("temperature", "temperature"),
    ("top_p", "topP"),
    ("max_tokens", "maxOutputTokens"),
    ("seed", "seed"),
)

_FREE = ("args", "response", "parameters", "parametersJsonSchema", "responseJsonSchema")
"""Fields whose content has names of its own."""


class Gemini:
    """`/v1beta/models/MODEL:generateContent`."""

    name: ClassVar[str] = "gemini"

    def path(self, model: str) -> str:
        """Return the path of requests."""
        return f"/v1beta/models/{model}:generateContent"

    def headers(self, key: str) -> dict[str, str]:
        """Return the key."""
        return {"x-goog-api-key": key} if key else {}

    def body(self, request: ChatRequest, model: str) -> JsonBody:
        """Return a client's request."""
        system = [text_of_message(m["content"]) for m in request.messages if m["role"] == "system"]
        settings: JsonBody = {}
        for ours, theirs in _SAMPLING:
            value = getattr(request.sampling, ours)
            if value is not None:
                settings[theirs] = value
        if request.sampling.stop:
            settings["stopSequences"] = list(request.sampling.stop)
        if request.schema is not None:
            settings |= {
                "responseMimeType": "application/json",
                "responseJsonSchema": request.schema,
            }
        body: JsonBody = {"contents": _contents(request.messages)}
        if system:
            body["systemInstruction"] = {"parts": [{"text": "\n\n".join(system)}]}
        if request.tools:
            body["tools"] = [{"functionDeclarations": [_declaration(t) for t in request.tools]}]
        if settings:
            body["generationConfig"] = settings
        return body

    def read(self, data: JsonBody) -> Completion:
        """Parse a server's reply."""
        blocked = (data.get("promptFeedback") or {}).get("blockReason")
        if blocked:
            raise Refused(f"the prompt was blocked: {blocked}")
        try:
            candidate = data["candidates"][0]
            finish = candidate.get("finishReason") or "STOP"
            message = _messages_of(
                (candidate.get("content") or {}).get("parts") or (), "assistant", 0
            )[-1]
            usage = _usage(data.get("usageMetadata") or {})
        except (LookupError, TypeError, AttributeError) as error:
            raise MalformedReply(f"not generated content ({error!r}): {str(data)[:300]}") from None
        called = bool(message.get("tool_calls"))
        if finish in _BLOCKED and not message["content"] and not called:
            raise Refused(f"the reply was withheld: {finish}")
        if called:
            return Completion(message, "tool_calls", usage)
        return Completion(message, "length" if finish == "MAX_TOKENS" else "stop", usage)

    def parse(self, body: JsonBody) -> ApiCall:
        """Parse a request; the model and whether to stream are in its address."""
        try:
            body = _in_capitals(body)
            system = body.get("systemInstruction") or {}
            texts = [part["text"] for part in system.get("parts") or ()]
            messages: list[JsonBody] = []
            if texts:
                messages.append({"role": "system", "content": "\n\n".join(texts)})
            for number, content in enumerate(body["contents"]):
                role = "assistant" if content.get("role") == "model" else "user"
                messages += _messages_of(content.get("parts") or (), role, number)
            _match_calls(messages)
            declared = [
                _tool_of(row)
                for tool in body.get("tools") or ()
                for row in tool.get("functionDeclarations") or ()
            ]
            settings = body.get("generationConfig") or {}
            request = ChatRequest(
                messages, declared, _sampling(settings), schema=settings.get("responseJsonSchema")
            )
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise BadRequest(f"not a request for generated content: {error!r}") from None
        return ApiCall(request, "", False)

    def write(self, reply: Completion, call: ApiCall, name: str) -> JsonBody:
        """Return a server's reply."""
        parts: list[JsonBody] = []
        if reply.message.get("content"):
            parts.append({"text": reply.message["content"]})
        for number, row in enumerate(reply.message.get("tool_calls") or ()):
            parts.append(_function_call({**row, "id": f"{name}_{number}"}))
        usage = reply.usage
        return {
            "candidates": [
                {
                    "index": 0,
                    "content": {"role": "model", "parts": parts or [{"text": ""}]},
                    "finishReason": "MAX_TOKENS" if reply.finish == "length" else "STOP",
                }
            ],
            "usageMetadata": {
                "promptTokenCount": usage.input,
                "candidatesTokenCount": usage.output - usage.reasoning,
                "thoughtsTokenCount": usage.reasoning,
                "cachedContentTokenCount": usage.cached,
                "totalTokenCount": usage.input + usage.output,
            },
            "modelVersion": call.model,
            "responseId": name,
        }

    def stream(self, call: ApiCall, name: str) -> ReplyStream:
        """Return a reply as one event for each piece, and one for the rest."""
        return _PartStream({"modelVersion": call.model, "responseId": name})

    def error(self, status: int, kind: str, message: str) -> JsonBody:
        """Return the body of an error."""
        named = {401: "UNAUTHENTICATED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}
        label = named.get(status, "INVALID_ARGUMENT" if status < 500 else "INTERNAL")
        return {"error": {"code": status, "message": message, "status": label}}


def _contents(messages: Sequence[Mapping[str, Any]]) -> list[JsonBody]:
    """Return contents, consecutive messages of one role joined."""
    rows: list[JsonBody] = []
    names: dict[str, str] = {}
    for message in messages:
        if message["role"] == "system":
            continue
        for call in message.get("tool_calls") or ():
            names[call["id"]] = call["function"]["name"]
        role = "model" if message["role"] == "assistant" else "user"
        if not rows or rows[-1]["role"] != role:
            rows.append({"role": role, "parts": []})
        rows[-1]["parts"] += _parts(message, names)
    for row in rows:
        row["parts"] = row["parts"] or [{"text": ""}]
    return rows


def _parts(message: Mapping[str, Any], names: Mapping[str, str]) -> list[JsonBody]:
    parts = [_part(part) for part in parts_of_message(message.get("content"))]
    if message["role"] != "tool":
        return [*parts, *(_function_call(call) for call in message.get("tool_calls") or ())]
    call_id = message["tool_call_id"]
    response = {
        "id": call_id,
        "name": names.get(call_id, "tool"),
        "response": {"output": text_of_message(message.get("content"))},
    }
    return [{"functionResponse": response}, *(part for part in parts if "text" not in part)]


def _part(part: Mapping[str, Any]) -> JsonBody:
    if part["type"] == "text":
        return {"text": part["text"]}
    media_type, data = image_of(part)
    return {"inlineData": {"mimeType": media_type, "data": data}}


def _function_call(call: Mapping[str, Any]) -> JsonBody:
    part: JsonBody = {
        "functionCall": {
            "id": call["id"],
            "name": call["function"]["name"],
            "args": arguments_of(call),
        }
    }
    signature = ((call.get("extra_content") or {}).get("google") or {}).get("thought_signature")
    return part | {"thoughtSignature": signature} if signature else part


def _declaration(tool: Mapping[str, Any]) -> JsonBody:
    return {
        "name": tool["name"],
        "description": tool.get("description", ""),
        "parametersJsonSchema": tool["parameters"],
    }


def _tool_of(row: Mapping[str, Any]) -> JsonBody:
    schema = row.get("parametersJsonSchema") or _lower(row.get("parameters")) or {"type": "object"}
    return {
        "name": row["name"],
        "description": row.get("description") or "",
        "parameters": schema,
    }


def _in_capitals(value: Any) -> Any:
    """Return an object with `fieldNames` for `field_names`, which the API accepts as well."""
    if isinstance(value, list):
        return [_in_capitals(item) for item in value]
    if not isinstance(value, dict):
        return value
    named = {_capitals(name): item for name, item in value.items()}
    return {name: item if name in _FREE else _in_capitals(item) for name, item in named.items()}


def _capitals(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _lower(schema: Any) -> Any:
    """Return an OpenAPI schema as a JSON schema: the names of types are in capitals there."""
    if isinstance(schema, list):
        return [_lower(value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: value.lower() if name == "type" and isinstance(value, str) else _lower(value)
        for name, value in schema.items()
    }


def _messages_of(parts: Sequence[Mapping[str, Any]], role: str, number: int) -> list[JsonBody]:
    """Return a content's parts as messages: the results of tools, then everything else."""
    results: list[JsonBody] = []
    rest: list[JsonBody] = []
    message: JsonBody = {"role": role, "content": ""}
    for part in parts:
        if "functionCall" in part:
            calls = message.setdefault("tool_calls", [])
            calls.append(_call_of(part, f"call_{number}_{len(calls)}"))
        elif "functionResponse" in part:
            response = part["functionResponse"]
            said = response.get("response") or {}
            output = said.get("output", said.get("result", said.get("error")))
            text = output if isinstance(output, str) else json.dumps(said, ensure_ascii=False)
            results.append(
                {"role": "tool", "tool_call_id": response.get("id") or "", "content": text}
            )
        elif "inlineData" in part:
            rest.append(data_url(part["inlineData"]["mimeType"], part["inlineData"]["data"]))
        elif "text" in part and not part.get("thought"):
            rest.append({"type": "text", "text": part["text"]})
    if any(part["type"] != "text" for part in rest):
        message["content"] = rest
    else:
        message["content"] = "".join(part["text"] for part in rest)
    return results if results and not rest else [*results, message]


def _call_of(part: Mapping[str, Any], name: str) -> JsonBody:
    called = part["functionCall"]
    arguments = json.dumps(called.get("args") or {}, ensure_ascii=False)
    call: JsonBody = {
        "id": called.get("id") or name,
        "type": "function",
        "function": {"name": called["name"], "arguments": arguments},
    }
    if part.get("thoughtSignature"):
        call["extra_content"] = {"google": {"thought_signature": part["thoughtSignature"]}}
    return call


def _match_calls(messages: Sequence[JsonBody]) -> None:
    """Give results without an identifier those of the calls before them, in order."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "assistant":
            waiting = [call["id"] for call in message.get("tool_calls") or ()]
        elif message["role"] == "tool" and not message["tool_call_id"] and waiting:
            message["tool_call_id"] = waiting.pop(0)


def _sampling(settings: Mapping[str, Any]) -> Sampling:
    values = {ours: settings.get(theirs) for ours, theirs in _SAMPLING}
    return Sampling(**values, stop=tuple(settings.get("stopSequences") or ()))


def _usage(data: Mapping[str, Any]) -> Usage:
    thoughts = int(data.get("thoughtsTokenCount") or 0)
    return Usage(
        int(data.get("promptTokenCount") or 0),
        int(data.get("candidatesTokenCount") or 0) + thoughts,
        1,
        int(data.get("cachedContentTokenCount") or 0),
        thoughts,
    )


class _PartStream:
    def __init__(self, head: JsonBody) -> None:
        self._head = head
        self._sent = 0

    def piece(self, text: str) -> Iterator[str]:
        self._sent += len(text)
        content = {"role": "model", "parts": [{"text": text}]}
        yield sse({**self._head, "candidates": [{"index": 0, "content": content}]})

    def end(self, body: JsonBody) -> Iterator[str]:
        candidate = body["candidates"][0]
        parts = candidate["content"]["parts"]
        if self._sent:
            parts = [{"text": parts[0]["text"][self._sent :]}, *parts[1:]]
        content = {"role": "model", "parts": parts}
        yield sse({**body, "candidates": [{**candidate, "content": content}]})
