"""Agents that answer by word patterns, with access to all inputs but no understanding.

They read the opening and the lines as an agent does; in addition, they know the rules of speech.
"""

import itertools
import re
from collections.abc import Iterator

from hexathlon.tasks.bilingual import BilingualText
from hexathlon.tasks.roleplay.assembling import draw_game, draw_stage
from hexathlon.tasks.roleplay.card import table
from hexathlon.tasks.roleplay.voice import compose
from hexathlon.tasks.source import parse_address
from hexathlon.tasks.task import Task
from hexathlon.tasks.tool_calls import tool_call

_NAME = re.compile(r"\d+|[A-Z][\w'-]+(?: (?:(?:al|az|as|bint|ibn|abu|umm)[- ])?[A-Z][\w'-]+)*")
_COST, _GOAL = "cost you|花了你", "a gain of at least|要赚至少"
_STOPS = frozenset("the a an you your of in is are was were did do have has it that and to".split())


def words(text: str, language: str) -> set[str]:
    """Return words, without the most common ones; for Chinese, pairs of characters."""
    if language == "en":
        return set(re.findall(r"[a-z]+|\d+", text.casefold())) - _STOPS
    return {text[i : i + 2] for i in range(len(text) - 1)} | set(re.findall(r"\d+", text))


def facts_of(opening: str) -> list[str]:
    """Return the card's lines before the answering instructions."""
    card = re.split(r"# (?:How to answer|如何作答)", opening)[0]
    return [line[2:] for line in card.splitlines() if line.startswith("- ")]


def last_name(line: str, language: str) -> str:
    """Return what a line's form reveals: its last name or number, or its end."""
    if language == "en":
        named = [one for one in _NAME.findall(line) if one not in ("You", "Your", "The", "My")]
        last = re.search(r"(?:than|(?:is|was|had|served) an?) ([a-z ]+?)(?: for supper)?\.$", line)
        return last[1] if last else named[-1] if named else ""
    number = re.findall(r"\d+", line)
    last = re.search(
        r"(?:叫|一件|是|在|从|有|吃了)([^是，。]+?)(?:教的|过来的?|做伴|住下)?。$", line
    )
    return number[-1] if number else last[1] if last else ""


class Lookup:
    """Finds the card line with the most words in common and compares the names and numbers."""

    def __init__(self, task: Task) -> None:
        self.language = task.params["language"]
        self.facts = facts_of(task.instruction)
        self.later = re.split(r"# (?:After your time|你的时代之后)", task.instruction)[1:]
        secret = re.search(r"(?:You alone know|只有你知道)(.+?)[:：](.+?)[.。]\n", task.instruction)
        self.secret = secret.groups() if secret else None
        sign = re.search(r"word for word, \"(.+?)\"|一字不差地对你说“(.+?)”", task.instruction)
        self.sign = (sign[1] or sign[2]) if sign else None
        self.told: list[str] = []

    def act(self, line: str) -> tuple[str, dict[str, str], str]:
        """Return name, typed arguments, and the spoken reply."""
        if self.sign and self.secret and self.sign in line:
            value = self.secret[1].strip()
            return "answer", {"value": value}, value
        if (
            self.secret
            and len(words(self.secret[0], self.language) & words(line, self.language)) > 2
        ):
            return "refuse", {"reason": "secret"}, "no" if self.language == "en" else "不说"
        if not line.rstrip().endswith(("?", "？", "Right?", "Yes?")):
            self.told.append(line)
            return "say", {}, "very well" if self.language == "en" else "好的"
        return self._question(line)

    def _question(self, line: str) -> tuple[str, dict[str, str], str]:
        asked = words(line, self.language)
        known = [*self.facts, *self.told]
        best = max(known, key=lambda fact: len(words(fact, self.language) & asked))
        if self.later and best in self.later[0]:
            return self._refuse("not_yet")
        if len(words(best, self.language) & asked) < (1 if self.language == "en" else 2):
            return self._refuse("not_known")
        value = last_name(best, self.language)
        claim = self._claim(line, best)
        if not value:
            return self._refuse("not_known")
        if claim and claim not in best:
            return "correct", {"claim": claim, "truth": value}, value
        return "answer", {"value": claim or value}, claim or value

    def _refuse(self, reason: str) -> tuple[str, dict[str, str], str]:
        return "refuse", {"reason": reason}, "I cannot say" if self.language == "en" else "我不能说"

    def _claim(self, line: str, fact: str) -> str:
        """Return the claim that a question itself contains."""
        if self.language == "en":
            named = [one for one in _NAME.findall(line[1:])]
            return named[-1] if named else ""
        number = re.findall(r"\d+", line)
        return number[-1] if number else ""


def look_up(task: Task, *, live: bool = True) -> Iterator[str]:
    """Play `Lookup` in a dialogue, in the voice required by the card.

    With `live` it uses the observations; otherwise it is given the lines.
    """
    stage = draw_stage(parse_address(task.id), task.seed)
    agent, line = Lookup(task), stage.beats[0].line
    for place, beat in enumerate(stage.beats):
        name, typed, said = agent.act(line if live else beat.line)
        reply = compose(said, stage.rules_at(place), stage.language)
        line = yield tool_call(name, reply=reply, **typed)


def haggle(task: Task) -> Iterator[str]:
    """Ask a fair price under one set of terms after another; ignore all answers."""
    stage = draw_game(parse_address(task.id), task.seed).stage
    tables = re.findall(r"([^:：,，]+)[:：] ?(\d+)", task.instruction)
    costs = {option.strip(): int(cost) for option, cost in tables}
    cost, goal = (_number(after, task.instruction) for after in (_COST, _GOAL))
    terms = _choices(task, "offer")
    ways = itertools.product(range(3), repeat=len(terms))
    for way in sorted(ways, key=lambda way: len(set(way))):
        deal = {name: terms[name][place] for name, place in zip(terms, way, strict=True)}
        price = cost + goal + sum(costs[option] for option in deal.values())
        said = f"I ask {price}" if stage.language == "en" else f"我要{price}"
        reply = compose(said, stage.rules, stage.language)
        yield tool_call("offer", reply=reply, amount=min(price, 400), **deal)


def compare(task: Task) -> Iterator[str]:
    """Ask about every topic; report a lie if the most similar line does not state it."""
    stage = draw_game(parse_address(task.id), task.seed).stage
    language = stage.language
    tag = re.search(r"given tag (\d+)\.|领到的是(\d+)号", task.instruction)
    owner = (tag[1] or tag[2]) if tag else ("this visitor" if language == "en" else "这位来客")
    papers = [line for line in facts_of(task.instruction) if re.search("notes:|记录：", line)]
    own = [line for line in papers if owner in line]
    for topic in _choices(task, "confront")["topic"]:
        label = BilingualText.parse(table("inquiry")["topics"][topic]["label"])[language]
        asked = f"what about your {label}" if language == "en" else f"说说你的{label}"
        heard = yield tool_call("say", reply=compose(asked, stage.rules, language))
        about = words(heard, language) | words(label, language)
        best = max(own, key=lambda line: len(words(line, language) & about), default="")
        claim, truth = last_name(heard, language), last_name(best, language)
        if claim and truth and claim not in best:
            said = f"the papers say {truth}" if language == "en" else f"材料上写的是{truth}"
            reply = compose(said, stage.rules, language)
            yield tool_call("confront", reply=reply, topic=topic, claim=claim, truth=truth)
    end = "that is all" if language == "en" else "今天就到这里"
    yield tool_call("conclude", reply=compose(end, stage.rules, language))


def _number(after: str, text: str) -> int:
    return int(re.search(rf"(?:{after}) ?(\d+)", text)[1])


def _choices(task: Task, tool: str) -> dict[str, list[str]]:
    """Return the arguments of a tool that have a closed list of values."""
    (schema,) = (one for one in task.tools if one.name == tool)
    arguments = schema.parameters["properties"].items()
    return {name: spec["enum"] for name, spec in arguments if "enum" in spec}
