"""How often a script without understanding gets impossible SQL tasks right.

    python benchmarks/sql_impossible.py --train 400 --tasks 300

The script learns from questions of the train split: which words announce an impossible task, and
which words stand before the evidence. With `--read` it also learns where evidence stands in the
documents and in small tables. It declares every task impossible.
"""

import argparse
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hexathlon.envs.sql.env import SQLEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.task import Level, Split, Task

_WORD = re.compile(r"[a-z0-9_-]+")
_SMALL, _TABLES, _DOCUMENTS = 40, 6, 12
_LEFT = 2
"""Words before the evidence that make a pattern."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A task as a script sees it: the question, and what it read."""

    question: str
    read: str = ""
    reason: str | None = None
    """None if the task can be done."""
    evidence: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        """Everything seen, in lower case."""
        return f"{self.question}\n{self.read}".lower()


@dataclass(slots=True)
class Forecaster:
    """Keyword statistics and learnt patterns.

    A pattern is a pair of words, after which the evidence begins, and its length in words. Patterns
    are ranked by how often they gave the right evidence in train.
    """

    words: dict[str, float] = field(default_factory=dict)
    patterns: dict[tuple[str, ...], tuple[float, str]] = field(default_factory=dict)
    bias: float = 0.0

    def fit(self, lessons: Sequence[Seen]) -> None:
        """Learn from tasks whose verdict is known."""
        impossible = [each for each in lessons if each.reason]
        possible = [each for each in lessons if not each.reason]
        counts = [Counter(w for e in part for w in _words(e)) for part in (impossible, possible)]
        sizes = [len(impossible), len(possible)]
        self.bias = math.log((sizes[0] + 1) / (sizes[1] + 1))
        for word in counts[0] | counts[1]:
            rates = [(c[word] + 1) / (n + 2) for c, n in zip(counts, sizes, strict=True)]
            self.words[word] = math.log(rates[0] / rates[1])
        self._learn_patterns(lessons)

    def _learn_patterns(self, lessons: Sequence[Seen]) -> None:
        found: dict[tuple[str, ...], Counter[str]] = {}
        for lesson in lessons:
            for claim in lesson.evidence if lesson.reason else ():
                for pattern in _patterns(lesson.text, claim.lower()):
                    found.setdefault(pattern, Counter())[str(lesson.reason)] += 1
        for pattern, reasons in found.items():
            if reasons.total() < 2:
                continue
            tried = right = 0
            for lesson in lessons:
                claim = _filled(pattern, lesson.text)
                tried += claim is not None
                right += claim in {item.lower() for item in lesson.evidence}
            self.patterns[pattern] = (right / max(tried, 1), reasons.most_common(1)[0][0])

    def chance(self, seen: Seen) -> float:
        """Return the log odds that a task is impossible, from the words of its question."""
        return self.bias + sum(self.words.get(word, 0.0) for word in _words(seen))

    def claim(self, seen: Seen) -> tuple[str, str]:
        """Return the most promising reason and evidence."""
        best, claim = -1.0, ("missing_data", seen.question.split(" ")[-1])
        for pattern, (precision, reason) in self.patterns.items():
            if precision > best and (text := _filled(pattern, seen.text)) is not None:
                best, claim = precision, (reason, text)
        return claim


def _words(seen: Seen) -> set[str]:
    words = _WORD.findall(seen.question.lower())
    return {*words, *map(" ".join, zip(words, words[1:], strict=False))}


def _patterns(text: str, claim: str) -> Iterator[tuple[str, ...]]:
    size = str(len(_WORD.findall(claim)))
    for match in re.finditer(rf"(?<![a-z0-9_-]){re.escape(claim)}(?![a-z0-9_-])", text):
        before = _WORD.findall(text[max(match.start() - 60, 0) : match.start()])
        if len(before) >= _LEFT:
            yield (*before[-_LEFT:], size)


def _filled(pattern: tuple[str, ...], text: str) -> str | None:
    *before, size = pattern
    lead = r"[^a-z0-9_-]+".join(map(re.escape, before))
    body = r"[^a-z0-9_-]+".join([r"[a-z0-9_-]+"] * int(size))
    match = re.search(rf"(?<![a-z0-9_-]){lead}[^a-z0-9_-]+({body})(?![a-z0-9_-])", text)
    return match[1] if match else None


def seen_of(task: Task, read: bool) -> Seen:
    """Return what the script sees of a task, with the expected claim."""
    check = next((check for check in task.checks if check.name == "sql_impossible"), None)
    known = (check.params["reason"], frozenset(check.params["evidence"])) if check else (None, ())
    return Seen(task.instruction, _read(task) if read else "", known[0], frozenset(known[1]))


def _read(task: Task) -> str:
    """Read documents and small tables through the event's tools."""
    env = SQLEnv()
    env.reset(seed=0, options={"task": task.id})

    def use(tool: str, **arguments: Any) -> str:
        return str(env.step(json.dumps({"name": tool, "arguments": arguments}))[0])

    pieces = []
    if any(tool.name == "list_documents" for tool in task.tools):
        listed = use("list_documents")
        names = re.findall(r"^(\w+): ", listed, re.MULTILINE)
        pieces += [listed, *(use("read_document", name=n) for n in names[::-1][:_DOCUMENTS])]
    counts = re.findall(r"^(\w+) \(([\d,]+) rows?\)", use("list_tables"), re.MULTILINE)
    small = [name for name, count in counts if int(count.replace(",", "")) <= _SMALL]
    pieces += [use("sample_rows", table=name, limit=20) for name in small[::-1][:_TABLES]]
    env.close()
    return "\n".join(pieces)


def drawn(
    split: Split, count: int, only: Iterable[str] = (), level: Level | None = None
) -> Iterator[Task]:
    """Yield a split's first tasks, optionally of some templates only."""
    source, index, given = get_source("sql"), 0, 0
    wanted = set(only)
    while given < count:
        address = source.address(split, index, level)
        index += 1
        if not wanted or address.split("/")[1] in wanted:
            given += 1
            yield source.build(address)


def rates(train: Sequence[Seen], tasks: Sequence[Seen]) -> dict[str, float]:
    """Return the script's shares of right claims, and how well its words tell impossible tasks."""
    forecaster = Forecaster()
    forecaster.fit(train)
    hits = []
    for task in tasks:
        reason, evidence = forecaster.claim(task)
        accepted = {item.lower() for item in task.evidence}
        hits.append(bool(task.reason) and reason == task.reason and evidence in accepted)
    impossible = [hit for hit, task in zip(hits, tasks, strict=True) if task.reason]
    odds = [(forecaster.chance(task), bool(task.reason)) for task in tasks]
    pairs = [(a > b) + (a == b) / 2 for a, x in odds if x for b, y in odds if not y]
    return {
        "tasks": len(tasks),
        "impossible": len(impossible),
        "right, of all": sum(hits) / max(len(hits), 1),
        "right, of the impossible": sum(impossible) / max(len(impossible), 1),
        "area under the curve of its words": sum(pairs) / max(len(pairs), 1),
    }


def main() -> None:
    """Print the rates."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--train", type=int, default=400, help="train tasks to learn from")
    parser.add_argument("--tasks", type=int, default=300, help="test tasks to claim")
    parser.add_argument("--only", nargs="*", default=(), help="templates of the train tasks")
    parser.add_argument("--read", action="store_true", help="read documents and small tables")
    options = parser.parse_args()
    lessons = [seen_of(t, options.read) for t in drawn("train", options.train, options.only)]
    tasks = [seen_of(task, options.read) for task in drawn("test", options.tasks)]
    for name, value in rates(lessons, tasks).items():
        print(f"{name:<36} {value:.4g}")


if __name__ == "__main__":
    main()
