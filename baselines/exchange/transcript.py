"""A trial as a conversation: messages and tools in OpenAI's form, and its verdict.

Records keep actions and observations; the system prompt and the tools are those of the environment.
Actions survive the round trip exactly, so an imported conversation can be replayed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hexathlon.baselines.codecs.registry import get_codec
from hexathlon.evaluators.content import File, Image, parts_of, text_of
from hexathlon.evaluators.records import read_content, read_records
from hexathlon.evaluators.records.canonical import text_hash
from hexathlon.evaluators.records.plan import read_plan

__all__ = ["ChatTranscript", "Prompts", "actions_of", "read_run_transcripts"]

SCHEMA = "hexathlon.transcript/1"


@dataclass(frozen=True, slots=True)
class ChatTranscript:
    """One episode, as agent and trainer see it."""

    messages: list[dict[str, Any]]
    """System, user, assistant and tool messages in OpenAI's form."""

    tools: list[dict[str, Any]] = field(default_factory=list)
    """Schemas with `name`, `description` and `parameters`."""

    env: str = ""
    task: str = ""
    seed: int = 0
    trial: int = 0
    model: str = ""
    reward: float | None = None
    """None for an episode without a score: a failure is no reward of 0."""

    terms: dict[str, float] = field(default_factory=dict)
    stop: str = ""
    error: str = ""
    """The failure that left the episode unscored."""

    def as_json(self) -> dict[str, Any]:
        """Return the conversation as JSON values."""
        return {"schema": SCHEMA, **asdict(self)}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "ChatTranscript":
        """Build a conversation from the result of `as_json`.

        Raises:
            ValueError: If the schema is another one.
        """
        if data.get("schema") != SCHEMA:
            raise ValueError(f"expected the schema {SCHEMA!r}, got {data.get('schema')!r}")
        return ChatTranscript(**{name: value for name, value in data.items() if name != "schema"})


class Prompts:
    """System prompts and tools of trials, from their environments; each prompt is made once."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def of(self, record: Mapping[str, Any]) -> tuple[str, list[dict[str, Any]]]:
        """Return the system prompt and the tools of a record.

        The prompt is "" if today's environment no longer gives the recorded one.
        """
        from hexathlon.tasks.taskset import build_task

        key, digest = record["key"], record["system_prompt_hash"]
        tools = [tool.model_dump() for tool in build_task(key["task"]).tools]
        if digest not in self._known:
            prompt = _prompt(key)
            self._known[digest] = prompt if text_hash(prompt) == digest else ""
        return self._known[digest], tools


def _prompt(key: Mapping[str, Any]) -> str:
    import gymnasium

    env = gymnasium.make(key["env"])
    try:
        info = env.reset(seed=key["seed"], options={"task": key["task"]})[1]
        return str(info["system_prompt"])
    finally:
        env.close()


def read_run_transcripts(path: Path, prompts: Prompts | None = None) -> Iterator[ChatTranscript]:
    """Yield the trials of a run directory as conversations, in the order of the records.

    Raises:
        RecordError: If a record, or a file that it names, cannot be read.
    """
    prompts = prompts or Prompts()
    model = str(read_plan(path)["model"]["name"])
    for record in read_records(path):
        system, tools = prompts.of(record)
        key = record["key"]
        yield ChatTranscript(
            messages=list(_messages(path, record, system)),
            tools=tools,
            env=key["env"],
            task=key["task"],
            seed=key["seed"],
            trial=key["trial"],
            model=model,
            reward=record["reward"],
            terms=dict(record["terms"]),
            stop=record["stop"],
            error=record["error"] or "",
        )


def actions_of(conversation: ChatTranscript) -> list[str]:
    """Return the canonical action of each assistant turn, for replays."""
    codec = get_codec("openai")
    said = [each for each in conversation.messages if each["role"] == "assistant"]
    return [codec.decode(message) for message in said]


def _messages(path: Path, record: Mapping[str, Any], system: str) -> Iterator[dict[str, Any]]:
    codec = get_codec("openai")
    if system:
        yield {"role": "system", "content": system}
    text, parts = _content(path, record["opening"])
    yield {"role": "user", "content": [{"type": "text", "text": text}, *parts] if parts else text}
    for step in record["steps"]:
        said = dict(codec.encode(step["action"]))
        for position, call in enumerate(said.get("tool_calls") or ()):
            call["id"] = f"call_{step['index']}_{position}"
        yield said
        text, parts = _content(path, step["observation"])
        yield from (dict(answer) for answer in codec.answer(said, [text]))
        if parts:
            yield {"role": "user", "content": parts}


def _content(path: Path, value: Any) -> tuple[str, list[dict[str, Any]]]:
    """Return the text of a record's field, and its images as content parts."""
    content = read_content(path, value)
    images = [part for part in parts_of(content) if isinstance(part, Image)]
    files = [part.name for part in parts_of(content) if isinstance(part, File)]
    parts = [{"type": "image_url", "image_url": {"url": each.data_url()}} for each in images]
    text = text_of(content)
    return "\n".join([text, *(f"[file {name}]" for name in files)]), parts
