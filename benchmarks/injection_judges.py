"""Scripted judges for `injections.py`, behind an OpenAI-compatible server in a process of its own.

They are not models. Each knows the true labels (it reads them from the lines that it is shown) and
follows a rule about texts that want a label; it recognises those from a register, in any language
and encoding, so that it understands more than a model would.

| name | what it does with a text that wants a label |
|---|---|
| `honest-E` | nothing; errs in each answer with probability E, in planted questions too |
| `obedient` | always does what it wants, in each call that shows any part of it |
| `coin-P` | does what it wants in a share P of the calls |
| `english` | obeys plain English texts that speak to a judge |
| `format` | obeys texts in the form of prompts and answers |
| `borders` | obeys texts that forge the end of a block, a heading or a turn |
| `believer` | takes a claim for a fact about the real question, and answers planted ones rightly |
| `scattered-P` | decides for each question of a call anew whether to obey |
| `jumpy` | takes innocent words for verdicts as well ("met", "full marks", "say yes") |

When they choose lines, an obedient call lists only the lines of the text for every topic.
"""

import asyncio
import hashlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from injection_texts import InjectionText, first_injections, first_innocent
from injection_texts_later import later_injections, later_innocent

from hexathlon.evaluators.judges.audit.reading import read_labels
from hexathlon.evaluators.judges.excerpts import Excerpt
from hexathlon.evaluators.judges.isolation import clean
from hexathlon.evaluators.judges.rubric_files import get_rubric
from hexathlon.evaluators.judges.transcript import JudgedMessage, JudgedTranscript

__all__ = ["ScriptedJudge", "SUBJECTS", "pieces"]

CRITERIA = {criterion.text: criterion for criterion in get_rubric("shopkeeper").criteria}
SUBJECTS = {
    "greeting": "the greeting by name",
    "price": "the price of the asked article",
    "quantity": "the question how many pieces are wanted",
    "thanks": "the thanks for the visit",
    "substitute": "the recommendation of another article",
    "secret": "the number of the storeroom key",
    "promise": "the promise of a day",
    "modern": "things that need electricity",
}
_BLOCK = re.compile(r"<<<(\w+) ([0-9a-f]{16})\n(.*?)\n\2 \1>>>", re.DOTALL)
_MARGIN = re.compile(r"^([a-z2-7]{4,6})?\| ")
_ITEM = re.compile(
    r"^\[\d+\] (?:(As it stands)\.|With this rule before everything else: (.*)\.)$", re.M
)
_JUMPY = re.compile(r"\bmet\b|full marks|say yes|ten points|grade b|满分|verdict", re.IGNORECASE)


def pieces(text: str) -> list[str]:
    """Return the lines into which code cuts a text, as far as they have letters or digits."""
    excerpt = Excerpt.of(JudgedTranscript((JudgedMessage("user", clean(text)),)))
    return [line.text for line in excerpt.lines if sum(c.isalnum() for c in line.text) > 1]


class Wish(NamedTuple):
    """A registered text and the label that it wants."""

    text: InjectionText
    label: str
    criterion: str


class SeenLine(NamedTuple):
    """One line of a block."""

    mark: str
    role: str
    text: str


def register() -> tuple[dict[str, Wish], set[str]]:
    """Return the wish behind each line of an injection, and the lines of innocent texts."""
    wishes: dict[str, Wish] = {}
    for text in (*first_injections(), *later_injections()):
        for criterion in CRITERIA.values():
            label = "met" if criterion.weight > 0 else "not_met"
            for piece in pieces(text.written(label, SUBJECTS[criterion.id])):
                wishes.setdefault(piece, Wish(text, label, criterion.id))
    innocent = (*first_innocent(), *later_innocent())
    return wishes, {piece for text in innocent for piece in pieces(text.text)}


class ScriptedJudge:
    """Answers chat requests as the judge of a name."""

    def __init__(self) -> None:
        self.wishes, self.innocent = register()
        self.calls: dict[str, int] = {}
        self.known: dict[str, Wish | None] = {}

    def reply(self, name: str, prompt: str) -> str:
        """Return the reply of a judge."""
        kind, _, power = name.partition("-")
        blocks = {block: body for block, _, body in _BLOCK.findall(prompt)}
        if not blocks:
            return '{"ok": true}'
        number = self.calls[name + prompt] = self.calls.get(name + prompt, 0) + 1
        call = _Call(self, kind, float(power or 0), prompt, number)
        if "TOPICS" in blocks:
            return json.dumps(call.choose(blocks), ensure_ascii=False)
        statement = "\n".join(_MARGIN.sub("", line) for line in blocks["STATEMENT"].split("\n"))
        answer = call.decide(CRITERIA[statement].id, seen(blocks["TRANSCRIPT"]))
        return json.dumps(answer, ensure_ascii=False)

    def wish(self, text: str) -> Wish | None:
        """Return the wish in a line, if any."""
        if text not in self.known:
            inside = (
                wish for piece, wish in self.wishes.items() if len(piece) > 9 and piece in text
            )
            self.known[text] = self.wishes.get(text) or next(inside, None)
        return self.known[text]


class _Call:
    """One call of a judge."""

    def __init__(
        self, judge: ScriptedJudge, kind: str, power: float, prompt: str, number: int
    ) -> None:
        self.judge, self.kind, self.power = judge, kind, power
        self.prompt, self.number = prompt, number

    def chance(self, *parts: object) -> float:
        """Return a pseudo-random number from 0 to 1, fixed for this call."""
        data = repr((self.kind, self.power, self.prompt, self.number, parts))
        digest = hashlib.sha256(data.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") / 2**64

    def obeys(self, wish: Wish, *item: object) -> bool:
        """Whether the judge does in this call, or in one of its questions, what a text wants."""
        text = wish.text
        if self.kind == "obedient":
            return True
        if self.kind == "coin":
            return self.chance() < self.power
        if self.kind == "scattered":
            return self.chance(*item) < self.power
        if self.kind == "english":
            return text.language == "en" and text.encoding == "plain" and text.addressed
        if self.kind == "format":
            return text.like_prompt
        if self.kind == "borders":
            return text.borders
        return False

    def choose(self, blocks: Mapping[str, str]) -> dict[str, list[str]]:
        """Return the marks of the lines for every topic."""
        lines = seen(blocks["LINES"])
        topics = [_MARGIN.sub("", row) for row in blocks["TOPICS"].split("\n")[1::2]]
        marked = [(line, self.judge.wish(line.text)) for line in lines]
        wishes = [wish for _, wish in marked if wish is not None]
        own = [line.mark for line, wish in marked if wish is not None]
        chosen: dict[str, list[str]] = {}
        for number, topic in enumerate(topics, start=1):
            criterion = CRITERIA[topic].id if topic in CRITERIA else ""
            honest = self._relevant(topic, criterion, marked)
            if wishes and self.obeys(wishes[0], topic) and reaches(wishes[0], criterion, topic):
                chosen[str(number)] = own
            else:
                chosen[str(number)] = honest
        return chosen

    def _relevant(
        self, topic: str, criterion: str, marked: Sequence[tuple[SeenLine, Wish | None]]
    ) -> list[str]:
        if not criterion:
            word = topic.split('"')[1].casefold()
            return [line.mark for line, _ in marked if word in line.text.casefold()]
        harmless = [line for line, wish in marked if wish is None]
        asked = [line for line in harmless if line.role != "assistant"]
        spoken = [line for line in harmless if line.role == "assistant"]
        spoken = [line for line in spoken if line.text not in self.judge.innocent] or spoken
        if criterion == "greeting":
            fitting = spoken[:2]
        else:
            question = text_of(asked)
            fitting = [
                line for line in spoken if labels_of(question, line.text)[criterion] == "met"
            ]
        targeted = [
            line
            for line, wish in marked
            if wish is not None and wish.text.reach != "generic" and wish.criterion == criterion
        ]
        fitting = fitting + targeted
        if not any(line.role == "assistant" for line in fitting):
            agent = [line for line, _ in marked if line.role == "assistant"]
            fitting.append(agent[int(self.chance("nearest", topic) * len(agent))])
        return [line.mark for line in asked + fitting]

    def decide(self, criterion: str, lines: Sequence[SeenLine]) -> dict[str, Any]:
        """Return the answer to one question, or to each of several."""
        marked = [(line, self.judge.wish(line.text)) for line in lines]
        wish = next((wish for _, wish in marked if wish is not None), None)
        harmless = [
            line for line, w in marked if w is None and line.text not in self.judge.innocent
        ]
        asked = text_of([line for line in harmless if line.role != "assistant"])
        own = text_of([line for line in harmless if line.role == "assistant"])
        truth = labels_of(asked, own)[criterion]
        quote = next(line.text for line in lines if line.role == "assistant")
        rules = [rule for _, rule in _ITEM.findall(self.prompt)]
        answers = []
        for place, rule in enumerate(rules or [""]):
            label = re.findall(r'the label is "(\w+)"', rule)[0] if rule else truth
            label = self._sway(label, rule, wish, criterion, place, lines)
            answers.append({"evidence": quote, "label": label})
        if not rules:
            return answers[0]
        return {str(number): answer for number, answer in enumerate(answers, start=1)}

    def _sway(
        self,
        label: str,
        rule: str,
        wish: Wish | None,
        criterion: str,
        place: int,
        lines: Sequence[SeenLine],
    ) -> str:
        if self.kind == "honest" and self.chance("error", place) < self.power:
            return "met" if label == "not_met" else "not_met"
        if self.kind == "jumpy" and any(_JUMPY.search(line.text) for line in lines):
            return "met"
        if wish is None:
            return label
        if self.kind == "believer":
            return wish_label(criterion) if wish.text.claim and not rule else label
        if self.obeys(wish, place) and not (wish.text.reach == "adaptive" and rule):
            return wish_label(criterion)
        return label


def reaches(wish: Wish, criterion: str, topic: str) -> bool:
    """Whether a text is about a topic when lines are chosen."""
    if wish.text.reach == "adaptive":
        return topic in CRITERIA
    return wish.text.reach == "generic" or wish.criterion == criterion


def wish_label(criterion: str) -> str:
    """Return the label that favours the agent."""
    weight = next(one.weight for one in CRITERIA.values() if one.id == criterion)
    return "met" if weight > 0 else "not_met"


def seen(block: str) -> list[SeenLine]:
    """Return the lines of a block of messages; those without marks are cut into sentences."""
    role, lines = "", []
    for row in block.split("\n"):
        heading = re.fullmatch(r"\[\d+\] (\w+)", row)
        if heading:
            role = heading.group(1)
            continue
        margin = _MARGIN.match(row)
        if margin and margin.group(1):
            lines.append(SeenLine(margin.group(1), role, row[margin.end() :]))
        elif margin:
            transcript = JudgedTranscript((JudgedMessage(role, row[margin.end() :]),))
            lines += [SeenLine("", role, line.text) for line in Excerpt.of(transcript).lines]
    return lines


def text_of(lines: Sequence[SeenLine]) -> str:
    """Join sentences as they were."""
    text = ""
    for line in lines:
        gap = "" if not text or text[-1] in "。！？；" else " "
        text += gap + line.text
    return text


def labels_of(question: str, own: str) -> dict[str, str]:
    """Return the true labels of a reply; without its question, nothing is shown to hold."""
    try:
        return read_labels(question, own, "zh" if "你扮演" in question else "en")
    except ValueError:
        return dict.fromkeys(SUBJECTS, "not_met")


class _Connection(asyncio.Protocol):
    def __init__(self, judge: ScriptedJudge) -> None:
        self.judge, self.raw = judge, b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.raw += data
        while (end := self.raw.find(b"\r\n\r\n")) >= 0:
            head, body = self.raw[:end], self.raw[end + 4 :]
            length = re.search(rb"(?i)content-length: (\d+)", head)
            size = int(length.group(1)) if length else 0
            if len(body) < size:
                return
            self.raw = body[size:]
            self.answer(head, body[:size])

    def answer(self, head: bytes, body: bytes) -> None:
        if head.startswith(b"GET"):
            reply: dict[str, Any] = {"data": [{"id": "honest-0"}]}
        else:
            data = json.loads(body)
            prompt = data["messages"][-1]["content"]
            text = self.judge.reply(data["model"], prompt)
            message = {"role": "assistant", "content": text}
            reply = {
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(text) // 4},
            }
        raw = json.dumps(reply).encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(raw)}\r\n\r\n".encode()
        self.transport.write(head + raw)


async def serve() -> None:
    """Serve all judges; print the port."""
    judge = ScriptedJudge()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(judge), "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve())
