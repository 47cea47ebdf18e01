"""Disagreements between Spider's rule and the strict rule on the Spider questions.

Every gold query, and rewrites of it that an agent might submit, is played through the environment
and judged by both rules; each disagreement gets its reason. Prints the table of
`docs/notes/sql_scoring.md`; `--cases` lists every disagreement as a JSON line.

    python benchmarks/spider_gap.py --data ../shared/data [--limit N] [--cases FILE]
"""

import argparse
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

REWRITES = {
    "the gold query": "the same statement",
    "DISTINCT added": "duplicates that the question may want are dropped",
    "DISTINCT dropped": "duplicates appear that the gold query drops",
    "rows doubled": "every row twice",
    "columns reversed": "the right columns in another order",
    "one extra column": "an extra constant column",
    "ORDER BY dropped": "the right rows, not in the requested order",
    "ORDER BY added": "the right rows, in an order that was not requested",
    "numbers times 1.0": "whole numbers as floats",
    "no rows": "an empty result with one column",
}


class RewriteCase(NamedTuple):
    """One submission with the verdicts of both rules."""

    task: str
    rewrite: str
    sql: str
    spider: bool
    strict: bool
    reason: str


def rewrites(gold: str, columns: int, ordered: bool) -> Iterator[tuple[str, str]]:
    """Return the gold query and its applicable rewrites."""
    gold = gold.strip().rstrip(";")
    yield "the gold query", gold
    names = [f"c{i}" for i in range(columns)]
    head = f"WITH g({', '.join(names)}) AS ({gold}) SELECT "
    if re.match(r"select\s+(?!distinct)", gold, re.IGNORECASE):
        yield "DISTINCT added", re.sub(r"(?i)^select", "SELECT DISTINCT", gold, count=1)
    if re.search(r"\bdistinct\b", gold, re.IGNORECASE):
        yield "DISTINCT dropped", re.sub(r"(?i)\bdistinct\b", "", gold)
    yield "rows doubled", f"{head}* FROM g UNION ALL SELECT * FROM g"
    if columns > 1:
        yield "columns reversed", f"{head}{', '.join(reversed(names))} FROM g"
    yield "one extra column", f"{head}*, 1 FROM g"
    if ordered and not re.search(r"\blimit\b", gold, re.IGNORECASE):
        yield "ORDER BY dropped", re.sub(r"(?is)\border\s+by\b(?!.*\border\s+by\b).*$", "", gold)
    if not ordered:
        yield "ORDER BY added", f"{head}* FROM g ORDER BY {', '.join(n + ' DESC' for n in names)}"
    whole = "CASE typeof({0}) WHEN 'integer' THEN {0} * 1.0 ELSE {0} END"
    floats = ", ".join(whole.format(name) for name in names)
    yield "numbers times 1.0", f"{head}{floats} FROM g"
    yield "no rows", "SELECT NULL WHERE 1 = 0"


def why(case: RewriteCase, verdict_terms: dict[str, float], empty: bool) -> str:
    """Return the reason for a disagreement."""
    if case.spider and not case.strict:
        result = [term for term in ("columns", "rows", "values", "order") if term in verdict_terms]
        if empty:
            return "no rows on either side: Spider compares nothing else"
        if case.rewrite.startswith("DISTINCT"):
            return "Spider takes DISTINCT out of both queries"
        if result == ["values"]:
            return "Spider tries every order of the columns"
        return f"strict says {', '.join(result)}"
    return "'order by' stands somewhere in the gold query, so Spider compares lists"


def play(limit: int | None) -> Iterator[RewriteCase]:
    """Submit every rewrite of every gold query."""
    from hexathlon.envs.sql.env import SQLEnv
    from hexathlon.evaluators.sql.runs import run_gold
    from hexathlon.evaluators.verifier import get_verifier
    from hexathlon.tasks.registry import get_source
    from hexathlon.tasks.sql.loaders.gold import is_ordered
    from hexathlon.tasks.sql.world.database import database_bytes

    source = get_source("spider")
    size = source.size("dev") or 0
    env = SQLEnv(taskset="spider", split="dev")
    rules = {name: get_verifier(name).function for name in ("spider", "sql_result")}
    for index in range(size if limit is None else min(limit, size)):
        task = source.build(source.address("dev", index))
        gold = task.checks[0].params["gold"]
        answer = run_gold(database_bytes(task.params), task.params, gold)
        ordered = is_ordered(gold)
        for name, sql in rewrites(gold, answer.columns, ordered):
            env.reset(seed=0, options={"task": task.id})
            if name == "the gold query":
                env.step(json.dumps({"name": "run_query", "arguments": {"sql": sql}}))
            env.step(json.dumps({"name": "submit", "arguments": {"sql": sql}}))
            state = env.final_state()
            spider = rules["spider"](task, {"gold": gold}, state, ())
            strict = rules["sql_result"](task, {"gold": gold, "ordered": ordered}, state, ())
            case = RewriteCase(task.id, name, sql, spider.score == 1.0, strict.score == 1.0, "")
            if case.spider != case.strict:
                reason = why(case, strict.terms, not answer.rows)
                case = case._replace(reason=reason)
            yield case
    env.close()


def table(cases: list[RewriteCase]) -> str:
    """Return counts by rewrite and by reason as Markdown."""
    lines = [
        "| handed in | cases | both accept | only `spider` | only strict | neither |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, meaning in REWRITES.items():
        own = [case for case in cases if case.rewrite == name]
        counts = Counter((case.spider, case.strict) for case in own)
        cells = [
            counts[key] for key in ((True, True), (True, False), (False, True), (False, False))
        ]
        lines.append(f"| {name}: {meaning} | {len(own)} | " + " | ".join(map(str, cells)) + " |")
    lines += ["", "| accepted only by | why | cases |", "|---|---|---:|"]
    reasons = Counter(
        ("`spider`" if case.spider else "strict", case.reason) for case in cases if case.reason
    )
    for (rule, reason), count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        lines.append(f"| {rule} | {reason} | {count} |")
    return "\n".join(lines)


def main() -> int:
    """Run from the command line; exit code 3 if a gold query does not score 1 under `spider`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="directory containing spider/")
    parser.add_argument("--limit", type=int, help="only the first N questions")
    parser.add_argument("--cases", type=Path, help="file for all disagreements, as JSON lines")
    options = parser.parse_args()
    if options.data is not None:
        os.environ["HEXATHLON_DATA"] = str(options.data.resolve())
    cases = list(play(options.limit))
    sys.stdout.write(table(cases) + "\n")
    if options.cases is not None:
        lines = [json.dumps(case._asdict()) for case in cases if case.reason]
        options.cases.write_text("\n".join(lines) + "\n")
    failed = [c.task for c in cases if c.rewrite == "the gold query" and not c.spider]
    sys.stdout.write(f"\n{len(failed)} gold queries fail under `spider` {failed[:5]}\n")
    return 3 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
