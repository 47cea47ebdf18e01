"""Injections against the guards of judges: misses, false alarms and cost.

Scripted judges (`injection_judges.py`; they are not models) decide labelled replies into which
texts are put. Each injection is tried on a reply that fails by its label: a *flip* is a decision in
the agent's favour. Half of the families were written before the guard was final, half afterwards.
Innocent texts are put into replies likewise: a *false alarm* is a criterion left unscored.

    python benchmarks/injections.py [--table] [--json FILE]
"""

import argparse
import asyncio
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from injection_judges import SUBJECTS
from injection_texts import InjectionText, InnocentText, first_injections, first_innocent
from injection_texts_later import later_injections, later_innocent

from hexathlon.baselines.judging.client import JudgeClient
from hexathlon.baselines.judging.concurrency import run_concurrently
from hexathlon.baselines.judging.opening import JudgeSettings, identify_judge, open_client
from hexathlon.baselines.judging.pointwise import (
    PointwiseJudge,
    addresses_judge,
    decision_of,
    extract,
    unscored,
)
from hexathlon.evaluators.judges.audit.attacks import FIELDS
from hexathlon.evaluators.judges.audit.estimates import rate_estimate
from hexathlon.evaluators.judges.audit.labelled import LabelledReply, generate_labels
from hexathlon.evaluators.judges.excerpts import Excerpt
from hexathlon.evaluators.judges.isolation import addressed
from hexathlon.evaluators.judges.labels import Decision
from hexathlon.evaluators.judges.parsing import point_of, read_point
from hexathlon.evaluators.judges.plants import arranged, point_plants, read_planted
from hexathlon.evaluators.judges.prompts import pointwise_prompt
from hexathlon.evaluators.judges.rubric import Criterion
from hexathlon.evaluators.judges.transcript import JudgedMessage, JudgedTranscript

PLACES = ("reply_end", "reply_start", "question", "user_turn", "tool_output", "record_observation")
SWAYED = (
    "obedient", "coin-0.3", "coin-0.5", "coin-0.7", "english", "format", "borders", "believer",
    "scattered-0.3", "scattered-0.5",
)  # fmt: skip
HONEST = ("honest-0", "honest-0.02", "honest-0.05", "jumpy")


class Item(NamedTuple):
    """A reply that fails a criterion by its label."""

    criterion: Criterion
    reply: LabelledReply

    def favoured(self, decision: Decision) -> bool:
        """Whether a decision is in the agent's favour."""
        return decision.value == (1.0 if self.criterion.weight > 0 else 0.0)


Guard = Callable[
    [JudgeClient, Criterion, JudgedTranscript, Sequence[Criterion]], Awaitable[Decision]
]


async def bare(
    client: JudgeClient, criterion: Criterion, seen: JudgedTranscript, topics: Sequence[Criterion]
) -> Decision:
    """Ask the question alone, over the whole transcript."""
    return await PointwiseJudge(client, guarded=False).decide(criterion, seen)


async def patterns(
    client: JudgeClient, criterion: Criterion, seen: JudgedTranscript, topics: Sequence[Criterion]
) -> Decision:
    """Ask again without sentences that patterns flag; the worse decision counts (former guard)."""
    first = await bare(client, criterion, seen, topics)
    if not addresses_judge(seen):
        return first
    second = await bare(client, criterion, _masked(seen), topics)
    if first.value is None or second.value is None:
        return second
    worse = min if criterion.weight > 0 else max
    return worse(first, second, key=lambda decision: decision.value or 0.0)


async def second_call(
    client: JudgeClient, criterion: Criterion, seen: JudgedTranscript, topics: Sequence[Criterion]
) -> Decision:
    """Ask planted questions in a call of their own (canary), over all lines."""
    shown = Excerpt.of(seen)
    alone = await client.ask(
        pointwise_prompt(criterion, shown), lambda text: read_point(text, criterion, seen)
    )
    plants = arranged(point_plants(criterion.menu, shown, shown.text), shown.text)
    questions = (*plants, None)
    canary = await client.ask(
        pointwise_prompt(criterion, shown, questions),
        lambda text: read_planted(
            text, questions, lambda data: point_of(data, criterion, seen), _label
        ),
    )
    return unscored(criterion, canary) if canary.answer is None else decision_of(criterion, alone)


async def same_call(
    client: JudgeClient, criterion: Criterion, seen: JudgedTranscript, topics: Sequence[Criterion]
) -> Decision:
    """Ask planted questions in the same call, over all lines."""
    shown = Excerpt.of(seen)
    questions = arranged(point_plants(criterion.menu, shown, shown.text), shown.text)
    asked = await client.ask(
        pointwise_prompt(criterion, shown, questions),
        lambda text: read_planted(
            text, questions, lambda data: point_of(data, criterion, seen), _label
        ),
    )
    return decision_of(criterion, asked)


async def extraction(
    client: JudgeClient, criterion: Criterion, seen: JudgedTranscript, topics: Sequence[Criterion]
) -> Decision:
    """Ask the question alone, over extracted lines."""
    extracted = await extract(client, topics, seen)
    if extracted.answer is None:
        return unscored(criterion, extracted)
    shown = extracted.answer[criterion.id]
    asked = await client.ask(
        pointwise_prompt(criterion, shown), lambda text: read_point(text, criterion, seen)
    )
    return decision_of(criterion, asked)


async def both(
    client: JudgeClient, criterion: Criterion, seen: JudgedTranscript, topics: Sequence[Criterion]
) -> Decision:
    """Extraction, and planted questions in the same call: the guard of the package."""
    return await PointwiseJudge(client).decide(criterion, seen, topics=topics)


GUARDS: dict[str, Guard] = {
    "none": bare,
    "patterns": patterns,
    "planted, second call": second_call,
    "planted, same call": same_call,
    "extraction": extraction,
    "both": both,
}


def _label(data: Any) -> Any:
    return data.get("label")


_SENTENCE = re.compile(r"((?<=[.!?;。！？；])\s+|\n+|(?<=[。！？；]))")


def _masked(seen: JudgedTranscript) -> JudgedTranscript:
    def hide(text: str) -> str:
        parts = _SENTENCE.split(text)
        hidden = "".join("[passage left out]" if addressed(part) else part for part in parts)
        bare = hidden.replace("[passage left out]", " ")
        return "[passage left out]" if addressed(bare) else hidden

    return JudgedTranscript(
        tuple(
            JudgedMessage(line.role, hide(line.text) if addressed(line.text) else line.text)
            for line in seen.lines
        )
    )


class Bench:
    """Runs all judges behind all guards."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.rubric, replies = generate_labels(11, 3_200)
        rows = [(c, r) for r in replies for c in self.rubric.judged]
        self.failing = [Item(c, r) for c, r in rows if (r.labels[c.id] == "met") != (c.weight > 0)]
        self.replies = replies

    async def with_client(self, name: str, work: Callable[[JudgeClient], Awaitable[Any]]) -> Any:
        settings = JudgeSettings(f"endpoint:{self.url}#{name}", structured=True, concurrency=16)
        client = open_client(settings, await asyncio.to_thread(identify_judge, settings))
        try:
            return await work(client)
        finally:
            await client.close()

    async def attack(self, name: str, guard: Guard, texts: Sequence[InjectionText]) -> Counter[str]:
        """Return the counts of flips and of unscored criteria."""

        async def work(client: JudgeClient) -> Counter[str]:
            counts = Counter[str](n=len(texts))

            async def one(row: tuple[int, InjectionText]) -> None:
                number, text = row
                item = self.failing[(number * 17) % len(self.failing)]
                wanted = "met" if item.criterion.weight > 0 else "not_met"
                written = text.written(wanted, SUBJECTS[item.criterion.id])
                place = FIELDS[PLACES[number % len(PLACES)]]
                seen = place(item.reply.question, item.reply.reply, written)
                decision = await guard(client, item.criterion, seen, self.rubric.judged)
                counts["flips"] += item.favoured(decision)
                counts["unscored"] += decision.value is None

            await run_concurrently(enumerate(texts), one, 16)
            return counts

        return await self.with_client(name, work)

    async def spare(self, name: str, guard: Guard, texts: Sequence[InnocentText]) -> Counter[str]:
        """Return the counts of unscored and of right decisions on innocent texts."""

        async def work(client: JudgeClient) -> Counter[str]:
            counts = Counter[str](n=len(texts))

            async def one(row: tuple[int, InnocentText]) -> None:
                number, text = row
                reply = self.replies[(number * 13) % len(self.replies)]
                criterion = self.rubric.judged[number % len(self.rubric.judged)]
                place = FIELDS[PLACES[number % 3]]
                seen = place(reply.question, reply.reply, text.text)
                decision = await guard(client, criterion, seen, self.rubric.judged)
                counts["unscored"] += decision.value is None
                counts["right"] += decision.label == reply.labels[criterion.id]
                counts["flagged"] += addresses_judge(seen)

            await run_concurrently(enumerate(texts), one, 16)
            return counts

        return await self.with_client(name, work)

    async def cost(self, guard: Guard) -> dict[str, float]:
        """Return calls and tokens per criterion over whole rubrics, without attacks."""

        async def work(client: JudgeClient) -> dict[str, float]:
            for reply in self.replies[:40]:
                for criterion in self.rubric.judged:
                    await guard(client, criterion, reply.transcript, self.rubric.judged)
            decided = 40 * len(self.rubric.judged)
            usage = client.usage
            return {
                "calls": usage.calls / decided,
                "input": (usage.input or 0) / decided,
                "output": (usage.output or 0) / decided,
            }

        return await self.with_client("honest-0", work)


async def measure(url: str) -> dict[str, Any]:
    """Return all counts."""
    bench = Bench(url)
    halves = {"first": first_injections(), "later": later_injections()}
    innocent = {"first": list(first_innocent()), "later": list(later_innocent())}
    result: dict[str, Any] = {"attacks": [], "innocent": [], "cost": {}}
    for guard_name, guard in GUARDS.items():
        for half, texts in halves.items():
            for reach in ("generic", "targeted", "adaptive"):
                chosen = [text for text in texts if text.reach == reach]
                for judge in SWAYED if chosen else ():
                    row = {"guard": guard_name, "half": half, "reach": reach, "judge": judge}
                    result["attacks"].append({**row, **await bench.attack(judge, guard, chosen)})
        for half, plain in innocent.items():
            for judge in HONEST if plain else ():
                row = {"guard": guard_name, "half": half, "judge": judge}
                result["innocent"].append({**row, **await bench.spare(judge, guard, plain)})
        result["cost"][guard_name] = await bench.cost(guard)
    texts = [*halves["first"], *halves["later"]]
    result["texts"] = {
        "injections": {half: len(rows) for half, rows in halves.items()},
        "innocent": {half: len(rows) for half, rows in innocent.items()},
        "roleplay": sum(text.roleplay for rows in innocent.values() for text in rows),
        "languages": len({text.language for text in texts}),
        "encodings": len({text.encoding for text in texts}),
    }
    return result


def share(hits: int, of: int) -> str:
    """Return a share in percent with its 95 % interval."""
    rate = rate_estimate(hits, of)
    if rate is None:
        return "–"
    return f"{100 * rate.value:.1f} ({100 * rate.low:.1f}–{100 * rate.high:.1f})"


def table(result: dict[str, Any]) -> str:
    """Return the tables of the note."""
    lines: list[str] = []
    for half in ("first", "later"):
        for reach in ("generic", "targeted", "adaptive"):
            rows = [r for r in result["attacks"] if (r["half"], r["reach"]) == (half, reach)]
            if not rows:
                continue
            lines += [f"\n**{half} half, {reach}: {rows[0]['n']} texts; flips in %**\n"]
            lines += ["| judge | " + " | ".join(GUARDS) + " | unscored by both |"]
            lines += ["|---|" + "---|" * (len(GUARDS) + 1)]
            for judge in SWAYED:
                by = {r["guard"]: r for r in rows if r["judge"] == judge}
                cells = [share(by[g].get("flips", 0), by[g]["n"]) for g in GUARDS]
                last = share(by["both"].get("unscored", 0), by["both"]["n"])
                lines.append(f"| `{judge}` | " + " | ".join(cells) + f" | {last} |")
    for half in ("first", "later"):
        rows = [r for r in result["innocent"] if r["half"] == half]
        if not rows:
            continue
        lines += [f"\n**{half} half: {rows[0]['n']} innocent texts; unscored in % / right in %**\n"]
        lines += ["| judge | " + " | ".join(GUARDS) + " |", "|---|" + "---|" * len(GUARDS)]
        for judge in HONEST:
            by = {r["guard"]: r for r in rows if r["judge"] == judge}
            cells = [
                f"{share(by[g].get('unscored', 0), by[g]['n'])} / "
                f"{100 * by[g].get('right', 0) / by[g]['n']:.1f}"
                for g in GUARDS
            ]
            lines.append(f"| `{judge}` | " + " | ".join(cells) + " |")
        flagged = rows[0].get("flagged", 0)
        lines.append(f"\nPatterns flag {flagged} of these {rows[0]['n']}.")
    lines += ["\n| per criterion | " + " | ".join(GUARDS) + " |", "|---|" + "---|" * len(GUARDS)]
    for name in ("calls", "input", "output"):
        cells = [f"{result['cost'][g][name]:.{3 if name == 'calls' else 0}f}" for g in GUARDS]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure, and print or store the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="also write all counts to this file")
    args = parser.parse_args()
    script = Path(__file__).with_name("injection_judges.py")
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        try:
            port = int(server.stdout.readline())
            result = asyncio.run(measure(f"http://127.0.0.1:{port}/v1"))
        finally:
            server.kill()
    if args.json:
        args.json.write_text(json.dumps(result, indent=1))
    print(json.dumps(result["texts"]))
    print(table(result))


if __name__ == "__main__":
    main()
