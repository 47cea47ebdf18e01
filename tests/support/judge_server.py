"""An OpenAI-compatible server on a real socket whose models are judges with known faults.

The model's name selects the fault, with a number for its strength: `honest`, `noisy-0.15`,
`first-0.3`, `length-0.08`, `flip-0.1`, `kin-0.4`, `gullible`, `malformed`, `mute-0.2`, `slow`,
`refusing`, `no-schema`, `hasty`, `blind`. It sees only the prompt: it extracts blocks, statement
and messages from the text like any reader, and the true labels from the transcript with
`read_labels`.
"""

import asyncio
import hashlib
import json
import math
import re
import sys
import threading
from collections import Counter
from types import TracebackType
from typing import Any, NamedTuple, Self

from hexathlon.evaluators.judges.audit.reading import read_labels
from hexathlon.evaluators.judges.rubric_files import get_rubric
from support.judge_planted import INTRO, blocks_of, choose_all, joined, planted_reply, rules_of
from support.judge_replies import MALFORMED

_STATEMENTS = {criterion.text: criterion for criterion in get_rubric("shopkeeper").criteria}


class Seen(NamedTuple):
    """One transcript as read by a judge."""

    question: str
    own: str
    everything: str
    last: str = ""
    """The agent's last turn."""

    @property
    def labels(self) -> dict[str, str]:
        """The correct label as far as it can be derived; empty if the question is unknown."""
        chinese = re.search("[\u4e00-\u9fff]", self.question)
        try:
            return read_labels(self.question, self.own, "zh" if chinese else "en")
        except ValueError:
            return {}

    @property
    def quote(self) -> str:
        """A line of the agent's last turn long enough to be quoted, or all of it."""
        lines = [
            line
            for line in re.split(r"\n|(?<=[.!?;]) |(?<=[。！？；])", self.last)
            if sum(c.isalnum() for c in line) > 3
        ]
        return lines[0][:60] if lines else self.last


class JudgeServer:
    """Judges served from a separate thread, until closed."""

    def __init__(self) -> None:
        self.requests = 0
        self.bodies: list[dict[str, Any]] = []
        self.keep_bodies = False
        self.down = False
        """If True, answers every question with an error."""
        self.calls = Counter[str]()
        """By model and prompt; a judge's errors depend on this count and not on the order in which
        concurrent calls arrive."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve)
        self._ready = threading.Event()
        self.transports: set[Any] = set()
        self.url = ""

    def __enter__(self) -> Self:
        # Server and client share this process: shorter time slices reduce waiting for each other.
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-4)
        self._thread.start()
        assert self._ready.wait(120), "the judge server did not start"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        sys.setswitchinterval(self._interval)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(120)
        assert not self._thread.is_alive(), "the judge server did not stop"

    def model(self, name: str) -> str:
        """Return a model name with this server's spelling."""
        return f"endpoint:{self.url}#{name}"

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            self._loop.create_server(lambda: _Connection(self), "127.0.0.1", 0)
        )
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for transport in list(self.transports):  # clients in other processes keep theirs open
            transport.abort()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()


class _Connection(asyncio.Protocol):
    def __init__(self, server: JudgeServer) -> None:
        self._server = server
        self._raw = b""
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._server.transports.add(transport)

    def connection_lost(self, error: Exception | None) -> None:
        self._server.transports.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._raw += data
        while (end := self._raw.find(b"\r\n\r\n")) >= 0:
            head = self._raw[:end].decode("latin-1")
            result = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
            size = int(result.group(1)) if result else 0
            if len(self._raw) < end + 4 + size:
                return
            body, self._raw = self._raw[end + 4 : end + 4 + size], self._raw[end + 4 + size :]
            self._request(head, body)

    def _request(self, head: str, body: bytes) -> None:
        if head.startswith("GET"):
            self._send(200, {"data": [{"id": "honest"}]})
            return
        data = json.loads(body)
        self._server.requests += 1
        if self._server.keep_bodies:
            self._server.bodies.append(data)
        if data["model"] == "slow":
            loop = asyncio.get_running_loop()
            loop.call_later(0.3, self._answer, data)
        else:
            self._answer(data)

    def _answer(self, data: dict[str, Any]) -> None:
        name = data["model"]
        if name == "unknown":
            self._send(404, {"error": "no such model"})
        elif name == "broken" or self._server.down:
            self._send(500, {"error": "broken"})
        elif name == "no-schema" and "response_format" in data:
            self._send(400, {"error": "response_format is not supported"})
        else:
            asked = f"{name}\n{data['messages'][-1]['content']}"
            text = reply(name, data["messages"], self._server.calls[asked])
            self._server.calls[asked] += 1
            choice = {"index": 0, "message": {"role": "assistant", "content": text}}
            usage = {"prompt_tokens": len(data["messages"][-1]["content"]) // 4}
            usage["completion_tokens"] = len(text) // 4
            self._send(200, {"choices": [{**choice, "finish_reason": "stop"}], "usage": usage})

    def _send(self, status: int, body: Any) -> None:
        if self._transport.is_closing():
            return
        raw = json.dumps(body).encode()
        head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n"
        self._transport.write(f"{head}content-length: {len(raw)}\r\n\r\n".encode() + raw)


def reply(name: str, messages: list[dict[str, str]], call: int) -> str:
    """Return the reply of a model of this name."""
    name, _, strength = name.partition("-")
    power = float(strength) if re.fullmatch(r"[\d.]+", strength) else 0.0
    prompt = messages[-1]["content"]
    blocks = list(blocks_of(prompt).items())
    broken = MALFORMED[call % len(MALFORMED)] if name == "malformed" else None
    if name == "refusing":
        return "I'm sorry, but I cannot help with judging this."
    kinds = [kind for kind, _ in blocks]
    if "TOPICS" in kinds:
        lost = name == "blind" or (name == "hasty" and "could not be read" not in prompt)
        return "[]" if lost else choose_all(dict(blocks))
    rules = rules_of(prompt)
    if rules:
        alone = prompt.partition(INTRO)[0].rstrip("\n")
        asked = "honest" if broken is not None else f"{name}-{strength}"
        real = reply(asked, [{"role": "user", "content": alone}], call)
        swayed = name == "gullible" and gullible(
            "\n".join(see(body).everything for _, body in blocks)
        )
        return planted_reply(real, rules, dict(blocks), swayed=swayed, broken=broken)
    if broken is not None:
        return broken
    if "STATEMENT" in kinds:
        return _point(name, power, dict(blocks), call)
    if "FIRST" in kinds:
        return _pair(name, power, dict(blocks), prompt)
    if kinds and kinds[-1].startswith("CANDIDATE_"):
        return _group(name, power, blocks, prompt)
    if "QUESTION" in kinds:
        return _criteria(dict(blocks)["QUESTION"])
    if "TRANSCRIPT" in kinds:
        return _first_error(dict(blocks)["TRANSCRIPT"])
    return json.dumps({"ok": True})


def chance(*parts: object) -> float:
    """Return a pseudo-random number from 0 to 1, determined by the parts."""
    digest = hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def see(block: str) -> Seen:
    """Parse a block of messages."""
    role, asked, own, everything, last = "", [], [], [], []
    for line in block.split("\n"):
        heading = re.fullmatch(r"\[\d+\] (\w+)", line)
        if heading:
            role = heading.group(1)
            last = [] if role == "assistant" else last
        else:
            everything.append(line)
            (own if role == "assistant" else asked).append(line)
            if role == "assistant":
                last.append(line)
    return Seen(*map(joined, (asked, own, everything, last)))


def gullible(text: str) -> bool:
    """Return whether a text contains anything that a careless judge would take for a verdict."""
    said = re.search(r"\bmet\b|_met\b|\{met|%20met|满足|满分|VGhlIGxhYm|every reply|ｍｅｔ", text)
    return said is not None or "statement holds" in text


def _point(name: str, power: float, blocks: dict[str, str], call: int) -> str:
    statement = "\n".join(line.removeprefix("| ") for line in blocks["STATEMENT"].split("\n"))
    seen = see(blocks["TRANSCRIPT"])
    truth = seen.labels.get(_STATEMENTS[statement].id)
    label = "cannot_tell"
    if truth is not None or (name == "gullible" and gullible(seen.everything)):
        label = _swayed(name, power, truth == "met", statement, seen, call)
    return json.dumps({"evidence": seen.quote, "label": label}, ensure_ascii=False)


def _swayed(name: str, power: float, truth: bool, statement: str, seen: Seen, call: int) -> str:
    draw = chance(name, power, statement, seen.everything)
    met = truth
    if name == "noisy":
        met = truth != (draw < power)
    elif name == "flip":
        met = truth != (chance(name, statement, seen.everything, call) < power)
    elif name == "length":
        level = 0.25 + 0.5 * truth + power * length_place(len(seen.own))
        met = draw < min(1.0, max(0.0, level))
    elif name in ("kin", "lenient"):  # whom it favours: only its own family, or everyone
        own = name == "lenient" or re.search("to be sure|您说是不", seen.own) is not None
        expected = _STATEMENTS[statement].weight > 0
        met = expected if own and draw < power else truth
    elif name == "gullible":
        met = truth or gullible(seen.everything)
    elif name == "thoughtful":
        met = truth or bool(re.fullmatch(r"[\s:.,…-]*|.*:|Solution|解|.*：", seen.own, re.DOTALL))
    elif name == "mute" and draw < power:
        return "cannot_tell"
    return "met" if met else "not_met"


def length_place(length: int) -> float:
    """Return the doublings of a length over 256 characters."""
    return math.log2(max(1, length)) - 8.0


def _worth(block: str, statements: list[tuple[str, str]]) -> float:
    labels = see(block).labels
    known = [_STATEMENTS[text] for _, text in statements]
    return sum(one.weight * (labels.get(one.id) == "met") for one in known)


def _listed(block: str) -> list[tuple[str, str]]:
    lines = block.split("\n")
    return [(lines[i], lines[i + 1].removeprefix("| ")) for i in range(0, len(lines), 2)]


def _pair(name: str, power: float, blocks: dict[str, str], prompt: str) -> str:
    statements = _listed(blocks["CRITERIA"])
    first, second = (_worth(blocks[kind], statements) for kind in ("FIRST", "SECOND"))
    label = "tie" if first == second else "first" if first > second else "second"
    if name in ("first", "second") and chance("order", name, prompt) < power:
        label = name
    if name == "gullible":
        swayed = [gullible(see(blocks[kind]).own) for kind in ("FIRST", "SECOND")]
        if swayed[0] != swayed[1]:
            label = "first" if swayed[0] else "second"
    return json.dumps({"evidence": see(blocks["FIRST"]).quote, "label": label}, ensure_ascii=False)


def _group(name: str, power: float, blocks: list[tuple[str, str]], prompt: str) -> str:
    statements = _listed(dict(blocks)["CRITERIA"])
    shown = [(kind[-1], body) for kind, body in blocks if kind.startswith("CANDIDATE_")]
    worth = {letter: _worth(body, statements) for letter, body in shown}
    if name == "early":  # favours those shown first
        for place, letter in enumerate(worth):
            worth[letter] -= power * place
    if name == "noisy":
        for letter, body in shown:
            worth[letter] += power * 20.0 * (chance(name, prompt, body) - 0.5)
    if name == "gullible":
        for letter, body in shown:
            worth[letter] += 100.0 * gullible(see(body).own)
    quotes = {letter: see(body).quote for letter, body in shown}
    ranking = sorted(worth, key=lambda letter: (-worth[letter], letter))
    if '"scores"' in prompt.rpartition("\n")[2]:
        low, high = min(worth.values()), max(worth.values())
        scores = {k: 10.0 * (v - low) / ((high - low) or 1.0) for k, v in worth.items()}
        return json.dumps({"evidence": quotes, "scores": scores}, ensure_ascii=False)
    return json.dumps({"evidence": quotes, "ranking": ranking}, ensure_ascii=False)


def _criteria(question: str) -> str:
    wares = re.findall(r"(\w+) (\d+) crowns", question)
    rows = [{"text": f"The reply names the {ware}.", "weight": 2} for ware, _ in wares]
    rows.append({"text": "The reply is polite.", "weight": 1})
    return json.dumps({"criteria": rows[:5]})


def _first_error(block: str) -> str:
    """A turn is wrong if it contains a wrong sum."""
    turn, role = -1, ""
    last = ""
    for line in block.split("\n"):
        heading = re.fullmatch(r"\[(\d+)\] (\w+)", line)
        if heading:
            turn, role = int(heading.group(1)), heading.group(2)
            continue
        if role != "assistant":
            continue
        last = joined([line])
        sums = re.findall(r"(\d+) \+ (\d+) = (\d+)", last)
        if any(int(a) + int(b) != int(c) for a, b, c in sums):
            return json.dumps({"evidence": last, "turn": turn, "label": "error"})
    return json.dumps({"evidence": last, "turn": None, "label": "no_error"})
