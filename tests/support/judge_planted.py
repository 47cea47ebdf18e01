"""How scripted judges choose lines and answer planted questions.

They choose every line, and apply the rule of a planted question by searching for its text.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

INTRO = "Number of answers: "
_ITEM = re.compile(
    r"^\[\d+\] (?:(As it stands)\.|With this rule before everything else: (.*)\.)$", re.M
)
_TEXT = re.compile(r'the text "([^"]*)"')
_BEST = re.compile(r'the best is "([^"]*)"')
_LABEL = re.compile(r'the label is "([^"]*)"')
_BLOCK = re.compile(r"<<<(\w+) ([0-9a-f]{16})\n(.*?)\n\2 \1>>>", re.DOTALL)
_MARGIN = re.compile(r"^([a-z2-7]{4,6})?\| ")


class Rule(NamedTuple):
    """The rule of one question; no text for the real one."""

    text: str

    @property
    def word(self) -> str:
        return _TEXT.search(self.text).group(1).casefold()

    @property
    def label(self) -> str:
        return _LABEL.search(self.text).group(1)


def blocks_of(prompt: str) -> dict[str, str]:
    """Return the contents of a prompt's blocks by their names."""
    return {kind: body for kind, _, body in _BLOCK.findall(prompt)}


def rules_of(prompt: str) -> list[Rule]:
    """Return the questions of a prompt; empty if it asks one alone."""
    asked = prompt.rpartition(INTRO)[2] if INTRO in prompt else ""
    return [Rule(rule) for _, rule in _ITEM.findall(asked)]


def choose_all(blocks: Mapping[str, str]) -> str:
    """Choose every line for every topic."""
    marks = [m.group(1) for m in map(_MARGIN.match, blocks["LINES"].split("\n")) if m]
    topics = len(re.findall(r"^\[\d+\]$", blocks["TOPICS"], re.M))
    return json.dumps({str(number): marks for number in range(1, topics + 1)})


def joined(lines: Sequence[str]) -> str:
    """Return the text of lines with margins; lines with marks are sentences of one text."""
    text = ""
    for line in lines:
        margin = _MARGIN.match(line)
        bare = line[margin.end() :] if margin else line
        if not text:
            text = bare
        elif margin and margin.group(1):
            text += bare if text[-1] in "。！？；" else f" {bare}"
        else:
            text += f"\n{bare}"
    return text


def planted_reply(
    real: str,
    rules: Sequence[Rule],
    blocks: Mapping[str, str],
    *,
    swayed: bool = False,
    broken: str | None = None,
) -> str:
    """Repeat a reply for all questions, with the answers to planted ones by their rules.

    A swayed judge gives its real answer everywhere; a broken one puts its text in place of it.
    """
    answer = json.loads(real)
    items = []
    for rule in rules:
        if broken is not None and not rule.text:
            items.append(broken)
        else:
            item = answer if swayed or not rule.text else under(rule, answer, blocks)
            items.append(json.dumps(item, ensure_ascii=False))
    return "{" + ", ".join(f'"{number}": {item}' for number, item in enumerate(items, 1)) + "}"


def under(rule: Rule, answer: dict[str, Any], blocks: Mapping[str, str]) -> dict[str, Any]:
    """Return an answer under a rule."""
    if rule.text.startswith("if "):
        return {**answer, "label": rule.label}
    shown = {
        name.removeprefix("CANDIDATE_").lower() if name in ("FIRST", "SECOND") else name[-1]: body
        for name, body in blocks.items()
        if name in ("FIRST", "SECOND") or name.startswith("CANDIDATE_")
    }
    if rule.text.startswith("the turn"):
        parts = re.split(r"^\[(\d+)\] assistant$", blocks["TRANSCRIPT"], flags=re.M)
        pairs = zip(parts[1::2], parts[2::2], strict=True)
        turn = next(int(n) for n, body in pairs if rule.word in body.split("\n[")[0].casefold())
        return {**answer, "turn": turn, "label": "error"}
    named = _BEST.search(rule.text)
    holds = "does not contain" not in rule.text
    best = named.group(1) if named else next(
        k for k, body in shown.items() if (rule.word in body.casefold()) == holds
    )  # fmt: skip
    if "ranking" in answer:
        return {**answer, "ranking": [best, *(k for k in shown if k != best)]}
    if "scores" in answer:
        return {**answer, "scores": {k: 10.0 * (k == best) for k in shown}}
    return {**answer, "label": best}
