"""The write template of an import from several sources that repeat and contradict each other.

An idempotent upsert: lines come twice, late, in part, or are cancelled; new rows are added. The
documents give the precedence of the sources, which a later notice changes for one column.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hexathlon.tasks.sql.english import with_article
from hexathlon.tasks.sql.programs.phrases import literal
from hexathlon.tasks.sql.schema import Column, Table
from hexathlon.tasks.sql.supplement import AddedDocument, AddedTable
from hexathlon.tasks.sql.writes.inserts import given_values, stated_values, upsertable
from hexathlon.tasks.sql.writes.plan import (
    NamedRow,
    Plan,
    TableContents,
    WriteScene,
    label,
    sound,
)
from hexathlon.tasks.sql.writes.staging import added_table, day_after

__all__ = ["merge_imports"]

_SUBJECTS = 32
_SOURCES = ("register", "branch", "partner", "survey", "archive", "helpdesk", "portal")
_NAMES = ("line_no", "source", "as_of", "cancels")


@dataclass(frozen=True)
class _Rules:
    """How lines are weighed against each other."""

    by_amount: tuple[str, ...]
    """Sources for the amount, the first one with precedence."""
    by_word: tuple[str, ...]
    """Sources for the other column, on one day."""
    latest_amount: bool = False
    """Whether the day decides about the amount before the source does."""
    highest_line: bool = True
    cancelling: bool = True
    trimmed: bool = True
    newer: str = ">"
    """How the day of a line that counts compares with the day already applied; or nothing."""
    told_only: bool = True
    """Whether lines with an empty cell are left out before the best one is chosen."""
    by_name: bool = True
    """Whether new rows are numbered by name, or by line."""


@dataclass(frozen=True)
class _Import:
    """The tables of one task."""

    table: Table
    name: Column
    amount: Column
    word: Column
    lines: str
    days: str
    """The table of the days up to which each row was imported."""
    given: NamedRow
    """Values of new rows in other columns."""

    @property
    def key(self) -> str:
        """The key of the table, and of the table of days."""
        return self.table.key


def merge_imports(scene: WriteScene) -> Plan | None:
    """Apply the lines of several sources to a table."""
    spots = [
        (table, name, amount, word)
        for table in scene.plain("entity")
        if (name := label(table)) and upsertable(table)
        for amount in sound(table, "amount", "quantity") if not amount.unique
        for word in sound(table, "category", "status") if len(word.values) >= 3
    ]  # fmt: skip
    spot = scene.pick(spots)
    if spot is None:
        return None
    table, name, amount, word = spot
    example = scene.content[table.name][0]
    given = given_values(table, example, {table.key, name.name, amount.name, word.name})
    stem = table.noun.lower().replace(" ", "_").replace("-", "_")
    made = _Import(table, name, amount, word, f"{stem}_imports", f"{stem}_import_days", given)
    taken = {known.name.lower() for known in scene.schema.tables}
    named = {column.name.lower() for column in (name, amount, word)} | {table.key.lower()}
    given |= {
        column.name: min(int(row[column.references[1]] or 0) for row in parents)
        for column in table.columns
        if column.name in given and column.references
        and (parents := scene.content[column.references[0]])
    }  # fmt: skip
    if taken & {made.lines, made.days} or named & set(_NAMES):
        return None
    order = [_SOURCES[int(i)] for i in scene.rng.permutation(len(_SOURCES))[:3]]
    turned = [order[int(i)] for i in ((1, 0, 2), (1, 2, 0), (2, 0, 1))[int(scene.rng.integers(3))]]
    rules = _Rules(tuple(turned), tuple(order))
    return Plan(
        instruction=_instruction(made),
        gold=_applied(made, rules),
        alternative=_one_by_one(made, rules),
        mutants=_mutants(made, rules),
        change=lambda content: _change(content, made, rules, scene.columns[table.name]),
        stage=lambda each: _stage(each, made, rules),
        papers=_papers(scene, made, rules),
        runs=2,
    )


def _mutants(made: _Import, rules: _Rules) -> Mapping[str, tuple[str, ...]]:
    slips = {
        "precedence_before_the_notice": replace(rules, by_amount=rules.by_word),
        "notice_for_both_columns": replace(rules, by_word=rules.by_amount),
        "latest_amount": replace(rules, latest_amount=True),
        "first_of_repeated_lines": replace(rules, highest_line=False),
        "cancelled_lines_too": replace(rules, cancelling=False),
        "names_with_spaces": replace(rules, trimmed=False),
        "late_lines_too": replace(rules, newer=""),
        "same_day_again": replace(rules, newer=">="),
        "empty_cells_of_the_best_line": replace(rules, told_only=False),
        "numbered_by_line": replace(rules, by_name=False),
    }
    found = {name: _applied(made, slip) for name, slip in slips.items()}
    update, insert, days = _applied(made, rules)
    return {**found, "days_not_kept": (update, insert), "new_rows_left_out": (update, days)}


# -- statements ----------------------------------------------------------------------------------


def _ranks(sources: Sequence[str]) -> str:
    cases = " ".join(f"WHEN {literal(name)} THEN {place}" for place, name in enumerate(sources))
    return f"CASE source {cases} END"


def _counted(made: _Import, rules: _Rules) -> str:
    """Return a query for the lines that count, with the names that they mean."""
    m = made
    who = f"TRIM(i.{m.name.name})" if rules.trimmed else f"i.{m.name.name}"
    conditions = ["i.cancels IS NULL"]
    if rules.cancelling:
        conditions.append(
            f"i.line_no NOT IN (SELECT cancels FROM {m.lines} WHERE cancels IS NOT NULL)"
        )
    if rules.newer:
        conditions.append(f"(d.as_of IS NULL OR i.as_of {rules.newer} d.as_of)")
    return (
        f"SELECT i.line_no, i.source, i.as_of, {who} AS who, i.{m.amount.name} AS amount, "
        f"i.{m.word.name} AS word FROM {m.lines} i LEFT JOIN {m.table.name} t "
        f"ON t.{m.name.name} = {who} LEFT JOIN {m.days} d ON d.{m.key} = t.{m.key} "
        f"WHERE {' AND '.join(conditions)}"
    )


def _orders(rules: _Rules) -> tuple[str, str]:
    """Return the orders of lines for the amount and for the word, the best line first."""
    line = f"line_no {'DESC' if rules.highest_line else 'ASC'}"
    amount, word = _ranks(rules.by_amount), _ranks(rules.by_word)
    latest = f"as_of DESC, {amount}, {line}"
    return latest if rules.latest_amount else f"{amount}, as_of DESC, {line}", (
        f"as_of DESC, {word}, {line}"
    )


def _columns(made: _Import) -> tuple[str, str]:
    """Return the columns of a new row, and the constants of the last ones."""
    m = made
    names = [m.key, m.name.name, m.amount.name, m.word.name, *m.given]
    return ", ".join(names), "".join(f", {literal(value)}" for value in m.given.values())


def _applied(made: _Import, rules: _Rules) -> tuple[str, str, str]:
    """Return an UPDATE, an INSERT and an upsert that rank all lines with window functions."""
    m, t = made, made.table.name

    def best(column: str, order: str) -> str:
        told = f" WHERE {column} IS NOT NULL" if rules.told_only else ""
        return (
            f"SELECT who, {column}, line_no FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who "
            f"ORDER BY {order}) AS place FROM counted{told}) WHERE place = 1"
        )

    by_amount, by_word = _orders(rules)
    parts = (
        f"WITH counted AS ({_counted(m, rules)}), amounts AS ({best('amount', by_amount)}), "
        f"words AS ({best('word', by_word)}) "
    )
    update = (
        f"{parts}UPDATE {t} SET {m.amount.name} = COALESCE((SELECT amount FROM amounts WHERE who = "
        f"{t}.{m.name.name}), {m.amount.name}), {m.word.name} = COALESCE((SELECT word FROM words "
        f"WHERE who = {t}.{m.name.name}), {m.word.name})"
    )
    names, fixed = _columns(m)
    order = "a.who" if rules.by_name else "MIN(a.line_no, w.line_no)"
    insert = (
        f"{parts}INSERT INTO {t} ({names}) SELECT (SELECT MAX({m.key}) FROM {t}) + ROW_NUMBER() "
        f"OVER (ORDER BY {order}), a.who, a.amount, w.word{fixed} FROM amounts a JOIN words w "
        f"ON w.who = a.who WHERE a.amount IS NOT NULL AND w.word IS NOT NULL "
        f"AND a.who NOT IN (SELECT {m.name.name} FROM {t})"
    )
    days = (
        f"{parts}INSERT INTO {m.days} ({m.key}, as_of) SELECT t.{m.key}, MAX(c.as_of) FROM counted "
        f"c JOIN {t} t ON t.{m.name.name} = c.who WHERE TRUE GROUP BY t.{m.key} "
        f"ON CONFLICT ({m.key}) DO UPDATE SET as_of = MAX({m.days}.as_of, excluded.as_of)"
    )
    return update, insert, days


def _one_by_one(made: _Import, rules: _Rules) -> tuple[str, ...]:
    """Return statements that look up the best line of each row in a subquery of its own."""
    m, t = made, made.table.name
    counted = f"WITH counted AS ({_counted(m, rules)}) "
    by_amount, by_word = _orders(rules)

    def best(column: str, order: str, who: str) -> str:
        return (
            f"(SELECT {column} FROM counted WHERE who = {who} AND {column} IS NOT NULL "
            f"ORDER BY {order} LIMIT 1)"
        )

    own = f"{t}.{m.name.name}"
    names, fixed = _columns(m)
    return (
        f"{counted}UPDATE {t} SET {m.amount.name} = {best('amount', by_amount, own)} "
        f"WHERE {m.name.name} IN (SELECT who FROM counted WHERE amount IS NOT NULL)",
        f"{counted}UPDATE {t} SET {m.word.name} = {best('word', by_word, own)} "
        f"WHERE {m.name.name} IN (SELECT who FROM counted WHERE word IS NOT NULL)",
        f"{counted}, fresh AS (SELECT who FROM counted WHERE who NOT IN (SELECT {m.name.name} "
        f"FROM {t}) GROUP BY who HAVING COUNT(amount) > 0 AND COUNT(word) > 0) INSERT INTO {t} "
        f"({names}) SELECT (SELECT MAX({m.key}) FROM {t}) + (SELECT COUNT(*) FROM fresh g WHERE "
        f"g.who <= f.who), f.who, {best('amount', by_amount, 'f.who')}, "
        f"{best('word', by_word, 'f.who')}{fixed} FROM fresh f",
        f"{counted}INSERT OR REPLACE INTO {m.days} ({m.key}, as_of) SELECT t.{m.key}, (SELECT "
        f"MAX(c.as_of) FROM counted c WHERE c.who = t.{m.name.name}) FROM {t} t "
        f"WHERE t.{m.name.name} IN (SELECT who FROM counted)",
    )


# -- the same in Python --------------------------------------------------------------------------


def _change(content: TableContents, made: _Import, rules: _Rules, columns: Sequence[str]) -> None:
    """Apply the lines, row by row."""
    name, amount, word, key = made.name.name, made.amount.name, made.word.name, made.key
    rows = {str(row[name]): row for row in content[made.table.name]}
    days = {row[key]: row for row in content[made.days]}
    cancelled = {row["cancels"] for row in content[made.lines]}
    told_of: dict[str, list[NamedRow]] = {}
    for line in content[made.lines]:
        who = str(line[name]).strip(" ")
        day = days.get(rows[who][key]) if who in rows else None
        if line["cancels"] is None and line["line_no"] not in cancelled:
            if day is None or str(line["as_of"]) > str(day["as_of"]):
                told_of.setdefault(who, []).append(line)
    last = max(int(row[key] or 0) for row in rows.values())
    for who, lines in sorted(told_of.items()):
        lines.sort(key=lambda line: int(line["line_no"] or 0))
        lines.sort(key=lambda line: str(line["as_of"]))
        by_word = sorted(
            (line for line in lines if line[word] is not None),
            key=lambda line: (str(line["as_of"]), -rules.by_word.index(str(line["source"]))),
        )
        by_amount = sorted(
            (line for line in lines if line[amount] is not None),
            key=lambda line: -rules.by_amount.index(str(line["source"])),
        )
        if who not in rows:
            if not by_word or not by_amount:
                continue
            last += 1
            rows[who] = {**dict.fromkeys(columns), **made.given, key: last, name: who}
            content[made.table.name].append(rows[who])
        if by_word:
            rows[who][word] = by_word[-1][word]
        if by_amount:
            rows[who][amount] = by_amount[-1][amount]
        number = rows[who][key]
        if number not in days:
            days[number] = {key: number}
            content[made.days].append(days[number])
        days[number]["as_of"] = lines[-1]["as_of"]


# -- rows ----------------------------------------------------------------------------------------


def _stage(scene: WriteScene, made: _Import, rules: _Rules) -> tuple[AddedTable, ...] | None:
    """Draw lines among which every rule decides something, and the days already applied."""
    rng, m = scene.rng, made
    rows = scene.content[m.table.name]
    amounts = sorted({row[m.amount.name] for row in rows if row[m.amount.name] is not None})  # type: ignore[type-var]
    if len(rows) < 12 or len(amounts) < 8:
        return None
    subjects = [rows[int(i)] for i in rng.permutation(len(rows))[:_SUBJECTS]]
    last = day_after(scene.schema.today, -int(rng.integers(8, 20)))
    names = [(str(row[m.name.name]), bool(rng.random() < 0.7)) for row in subjects]
    start = 100 + int(rng.integers(700))
    fresh = [f"New {m.table.noun} {start + 7 * int(i)}" for i in rng.permutation(6)]
    lines: list[NamedRow] = []
    cancelled: list[int] = []
    for who, known in [*names, *((name, False) for name in fresh)]:
        for day, source, told_amount, told_word, void in _case(scene, rules, last, known):
            spaces = rng.random()
            spelt = f" {who}" if spaces < 0.08 else f"{who} " if spaces < 0.16 else who
            if void:
                cancelled.append(len(lines))
            lines.append({
                "source": source, "as_of": day, m.name.name: spelt,
                m.amount.name: amounts[int(rng.integers(len(amounts)))] if told_amount else None,
                m.word.name: m.word.values[int(rng.integers(len(m.word.values)))]
                if told_word else None, "cancels": None,
            })  # fmt: skip
    order = [int(i) for i in rng.permutation(len(lines))]
    base = 500 + int(rng.integers(4000))
    for place, at in enumerate(order):
        lines[at]["line_no"] = base + place
    for place, at in enumerate(cancelled):
        void_line = {**lines[at], m.amount.name: None, m.word.name: None}
        number = base + len(order) + place
        lines.append({**void_line, "cancels": lines[at]["line_no"], "line_no": number})
    lines.sort(key=lambda row: int(row["line_no"] or 0))
    days: list[NamedRow] = [
        {m.key: row[m.key], "as_of": last}
        for row, (_, known) in zip(subjects, names, strict=True) if known
    ]  # fmt: skip
    days.sort(key=lambda row: int(row[m.key] or 0))
    kinds = {"line_no": "INTEGER NOT NULL", "source": "TEXT NOT NULL", "as_of": "TEXT NOT NULL",
             m.name.name: "TEXT NOT NULL", m.amount.name: m.amount.type, m.word.name: m.word.type,
             "cancels": "INTEGER"}  # fmt: skip
    return (
        added_table(m.lines, lines, ("line_no",), kinds),
        added_table(m.days, days, (m.key,), {m.key: "INTEGER NOT NULL", "as_of": "TEXT NOT NULL"}),
    )


_Line = tuple[str, str, bool, bool, bool]
"""Day, source, whether amount and word are told, and whether the line is cancelled."""


def _case(scene: WriteScene, rules: _Rules, last: str, known: bool) -> list[_Line]:
    """Return one to three lines on one row, which a rule decides."""
    rng = scene.rng
    first, second, third = rules.by_amount
    new, newer = (
        day_after(last, 1 + int(rng.integers(3))),
        day_after(last, 4 + int(rng.integers(3))),
    )
    old = day_after(last, -1 - int(rng.integers(20)))
    cases: list[list[_Line]] = [
        [(new, first, True, True, False), (newer, second, True, True, False)],
        [(new, second, True, True, False), (new, first, True, True, False)],
        [(new, rules.by_word[0], True, True, False), (new, first, True, True, False)],
        [(new, third, True, True, False), (newer, third, True, False, False)],
        [(new, second, True, True, False), (new, second, True, True, False)],
        [(new, first, True, True, True), (new, third, True, True, False)],
        [(newer, first, False, True, False), (new, third, True, True, False)],
        [(newer, first, True, False, False), (new, second, False, True, False)],
        [(newer, third, True, False, False)],
    ]
    if known:
        cases += [
            [(old, first, True, True, False)],
            [(last, first, True, True, False), (new, second, True, False, False)],
            [(old, first, True, True, False), (newer, third, True, True, False)],
        ]
    return cases[int(rng.integers(len(cases)))]


# -- words ---------------------------------------------------------------------------------------


def _instruction(made: _Import) -> str:
    m = made
    return (
        f"The table {m.lines} holds reports from several sources about {m.table.plural}; {m.days} "
        f"holds, for each {m.table.noun}, the day up to which reports have been imported. Apply "
        f"the lines to {m.table.name} according to the import rules in force in the documents, "
        f"update {m.days} as they require, and change nothing else."
    )


def _papers(scene: WriteScene, made: _Import, rules: _Rules) -> tuple[AddedDocument, ...]:
    """Return the rules, a notice on the precedence for one column, and a draft against it."""
    m, today, noun = made, scene.schema.today, made.table.noun
    amount, word = m.amount.noun, m.word.noun
    stated = stated_values(m.table, m.given)
    constants = f"Every new one has {stated}; its " if stated else "Its "
    text = (
        f"Each line of {m.lines} states what one source knew about one {noun} on the day as_of. "
        f"Lines identify the {noun} by its {m.name.noun}; ignore spaces before and after it.\n\n"
        "1. A line with a number under cancels only cancels the line with that number and states "
        "nothing else. Cancelled lines do not count.\n"
        f"2. {m.days} holds the day up to which lines about {with_article(noun)} have been "
        f"imported. Lines of that day or of earlier days do not count for that {noun}, even if "
        "they arrive late. If there is no entry, all lines count.\n"
        "3. An empty cell states nothing.\n"
        f"4. {amount.capitalize()}: of the lines that count and state it, those of the source with "
        "the highest precedence win, however old they are; among these, the one with the latest "
        "day, and on the same day, the one with the highest line_no.\n"
        f"5. {word.capitalize()}: of the lines that count and state it, those with the latest day "
        "win; on the same day, the source with the highest precedence, and for the same source, "
        "the highest line_no.\n"
        f"6. Precedence of the sources, highest first: {', '.join(rules.by_word)}.\n"
        f"7. {m.table.plural.capitalize()} whose {m.name.noun} does not exist yet are added if the "
        f"lines that count state both the {amount} and the {word}; otherwise their lines have no "
        f"effect. Their keys ({m.key}) continue from the highest in use, in the order of the "
        f"{m.name.noun}. {constants}other columns are empty (NULL).\n"
        f"8. The day in {m.days} then becomes that of the latest line that counted for the {noun}. "
        f"Missing entries are added, also for new {m.table.plural}."
    )  # fmt: skip
    notice = (
        f"From today, the order in rule 6 for the {amount} is: {', '.join(rules.by_amount)}, "
        f"highest first. For the {word} it is unchanged."
    )
    third = tuple(reversed(rules.by_amount))
    draft = (
        f"Proposed for rule 6, for {amount} and {word}: {', '.join(third)}. A draft for "
        "discussion; it does not apply until the data office has approved it."
    )
    return (
        AddedDocument("imports", f"How imports about {m.table.plural} are applied",
                      day_after(today, -480), text),
        AddedDocument("imports_notice", "Notice of the data office on imports",
                      day_after(today, -75), notice),
        AddedDocument("imports_draft", "Imports: changes under discussion",
                      day_after(today, -12), draft),
    )  # fmt: skip
