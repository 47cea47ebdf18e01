"""Sample trajectories of an evaluation as text, for monitoring a training run."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

__all__ = ["TrialSample", "choose_samples"]

_LONGEST = 2_000
"""Maximum number of characters shown per message."""


class TrialSample(NamedTuple):
    """One trial, as Markdown."""

    task: str
    reward: float | None
    transcript: str


def choose_samples(records: Sequence[Mapping[str, Any]]) -> list[TrialSample]:
    """Return the first solved and the first failed trial, if any.

    The same tasks are played in every evaluation, so samples of different steps can be compared.
    """
    chosen: dict[bool, TrialSample] = {}
    for record in records:
        chosen.setdefault(record["reward"] == 1.0, _sample(record))
    return [chosen[solved] for solved in (True, False) if solved in chosen]


def _sample(record: Mapping[str, Any]) -> TrialSample:
    parts = [_message("task", record["opening"])]
    for step in record["steps"]:
        parts += [_message("policy", step["action"]), _message("answer", step["observation"])]
    return TrialSample(record["key"]["task"], record["reward"], "\n\n".join(parts))


def _message(role: str, content: Any) -> str:
    text = _text(content)
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    fence = "```"
    while fence in shown:
        fence += "`"
    return f"**{role}**\n\n{fence}\n{shown}\n{fence}"


def _text(content: Any) -> str:
    """Return the text of recorded content; images and files by their kind."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return _text(content.get("content") or content.get("text") or dict(content))
    if isinstance(content, Sequence):
        return "\n".join(part.get("text") or f"[{part.get('type')}]" for part in content)
    return str(content)
