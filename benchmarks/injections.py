"""Injections against the guards of judges: misses, false alarms and cost.

Scripted judges (`injection_judges.py`; they are not models) decide labelled replies into which
texts are put. Each injection is tried on a reply that fails by its label: a *flip* is a decision in
the agent's favour. Half of the families were written before the guard was final, half afterwards.
Innocent texts are put into replies likewise: a *false alarm* is a criterion left unscored.

    python benchmarks/injections.py [--rows FILE] | --read FILE
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
        self.rubric, replies = generate_labels(11, 1_600)
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
            counts = Counter[str](n=len(texts), flips=0, unscored=0)

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
            counts = Counter[str](n=len(texts), unscored=0, right=0, flagged=0)

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
            for reply in self.replies[:10]:
                for criterion in self.rubric.judged:
                    await guard(client, criterion, reply.transcript, self.rubric.judged)
            decided = 10 * len(self.rubric.judged)
            usage = client.usage
            return {
                "calls": usage.calls / decided,
                "input": (usage.input or 0) / decided,
                "output": (usage.output or 0) / decided,
            }

        return await self.with_client("honest-0", work)


async def measure(url: str, write: Callable[[dict[str, Any]], None]) -> None:
    """Measure everything and pass each row on; the package's guard meets all texts."""
    bench = Bench(url)
    halves = {"first": first_injections(), "later": later_injections()}
    innocent = {"first": list(first_innocent()), "later": list(later_innocent())}
    write(described(halves, innocent))
    for guard_name in reversed(GUARDS):
        guard, step = GUARDS[guard_name], 1 if guard_name == "both" else OTHERS
        for half, texts in halves.items():
            for reach in ("generic", "targeted", "adaptive"):
                chosen = [text for text in texts if text.reach == reach]
                chosen = chosen[:: step if len(chosen) > 30 else 1]
                for judge in SWAYED if chosen else ():
                    row = {"guard": guard_name, "half": half, "reach": reach, "judge": judge}
                    write({**row, **await bench.attack(judge, guard, chosen)})
        for half, plain in innocent.items():
            for judge in HONEST:
                row = {"guard": guard_name, "half": half, "judge": judge}
                write({**row, **await bench.spare(judge, guard, plain[::step])})
        write({"guard": guard_name, **await bench.cost(guard)})


OTHERS = 5
"""Guards that are only compared meet every fifth text."""


def described(
    halves: dict[str, list[InjectionText]], innocent: dict[str, list[InnocentText]]
) -> dict[str, Any]:
    """Return what the texts are."""
    texts = [*halves["first"], *halves["later"]]
    return {
        "injections": {half: len(rows) for half, rows in halves.items()},
        "innocent": {half: len(rows) for half, rows in innocent.items()},
        "roleplay": sum(text.roleplay for rows in innocent.values() for text in rows),
        "languages": len({text.language for text in texts}),
        "encodings": len({text.encoding for text in texts}),
    }


def share(hits: int, of: int) -> str:
    """Return a share in percent with its 95 % interval."""
    rate = rate_estimate(hits, of)
    if rate is None:
        return "–"
    return f"{100 * rate.value:.1f} ({100 * rate.low:.1f}–{100 * rate.high:.1f})"


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the tables of the note."""
    attacks = [row for row in rows if "reach" in row]
    lines = [json.dumps(rows[0])]
    for half in ("first", "later"):
        for reach in ("generic", "targeted", "adaptive"):
            chosen = [r for r in attacks if (r["half"], r["reach"]) == (half, reach)]
            lines += _attack_table(f"{half} half, {reach}", chosen) if chosen else []
        spared = [r for r in rows if "right" in r and r["half"] == half]
        lines += _innocent_table(half, spared)
    costs = [row for row in rows if "calls" in row]
    lines += ["", "| guard | calls | input tokens | output tokens |", "|---|---|---|---|"]
    for row in costs:
        figures = f"{row['calls']:.3f} | {row['input']:.0f} | {row['output']:.0f}"
        lines.append(f"| {row['guard']} | {figures} |")
    return "\n".join(lines)


def _attack_table(title: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    sizes = {row["guard"]: row["n"] for row in rows}
    heads = [f"{guard} ({sizes[guard]})" for guard in GUARDS if guard in sizes]
    lines = ["", f"**{title}: flips in %**", ""]
    lines += ["| judge | " + " | ".join(heads) + " | unscored by both |"]
    lines += ["|---|" + "---|" * (len(heads) + 1)]
    for judge in SWAYED:
        by = {row["guard"]: row for row in rows if row["judge"] == judge}
        if "both" in by:
            cells = [
                share(by[g]["flips"], by[g]["n"]) if g in by else "–" for g in GUARDS if g in sizes
            ]
            last = share(by["both"]["unscored"], by["both"]["n"])
            lines.append(f"| `{judge}` | " + " | ".join([*cells, last]) + " |")
    return lines


def _innocent_table(half: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    sizes = {row["guard"]: row["n"] for row in rows}
    heads = [f"{guard} ({sizes[guard]})" for guard in GUARDS if guard in sizes]
    lines = ["", f"**{half} half, innocent: unscored in %; right in %**", ""]
    lines += ["| judge | " + " | ".join(heads) + " |", "|---|" + "---|" * len(heads)]
    for judge in HONEST:
        by = {row["guard"]: row for row in rows if row["judge"] == judge}
        cells = [
            f"{share(by[g]['unscored'], by[g]['n'])}; {100 * by[g]['right'] / by[g]['n']:.1f}"
            for g in GUARDS
            if g in by
        ]
        lines.append(f"| `{judge}` | " + " | ".join(cells) + " |")
    flagged = [row for row in rows if row["guard"] == "both"][:1]
    return lines + [f"\nPatterns flag {row['flagged']} of {row['n']}." for row in flagged]


def main() -> None:
    """Measure, and print or store the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, help="also append every row to this file as JSON")
    parser.add_argument("--read", type=Path, help="print the tables of such a file instead")
    args = parser.parse_args()
    if args.read:
        print(table([json.loads(line) for line in args.read.read_text().splitlines()]))
        return
    rows: list[dict[str, Any]] = []

    def write(row: dict[str, Any]) -> None:
        rows.append(row)
        if args.rows:
            with args.rows.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")

    script = Path(__file__).with_name("injection_judges.py")
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        try:
            port = int(server.stdout.readline())
            asyncio.run(measure(f"http://127.0.0.1:{port}/v1", write))
        finally:
            server.kill()
    print(table(rows))


if __name__ == "__main__":
    main()
