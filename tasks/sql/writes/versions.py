"""The write template of a history with one row per period, kept from a table of changes.

A slowly changing dimension of type 2: lines come late, repeat each other, say nothing new or only
a part, and concern unknown rows. The documents say how lines become versions; a later notice
changes two of the rules, and a draft that was never decided contradicts it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hexathlon.tasks.sql.english import with_article
from hexathlon.tasks.sql.programs.phrases import literal
from hexathlon.tasks.sql.schema import Column, Table, Value
from hexathlon.tasks.sql.supplement import AddedDocument, AddedTable
from hexathlon.tasks.sql.writes.plan import (
    NamedRow,
    Plan,
    TableContents,
    WriteScene,
    sound,
)
from hexathlon.tasks.sql.writes.staging import added_table, day_after

__all__ = ["keep_versions"]

_SUBJECTS = 36
"""Rows of the table that have versions or lines."""
_FAR = "9999-12-31"
_NAMES = ("line_no", "valid_from", "valid_to", "changed_on")


@dataclass(frozen=True)
class _Rules:
    """How lines become versions."""

    last_line: bool
    """Whether the last of several lines of one day counts, or the first."""
    inclusive: bool
    """Whether a version ends on the day before the next one begins, or on the same day."""
    far_end: bool
    """Whether the version in force ends on a day in the far future, or its end is empty."""
    carried: bool = True
    """Whether an empty cell keeps what held before."""
    late: bool = True
    """Whether lines older than the version in force count."""
    merged: bool = True
    """Whether versions that say the same as the one before are left out."""
    checked: bool = True
    """Whether lines on rows that the table does not have are left out."""


@dataclass(frozen=True)
class _History:
    """The tables of one task: the subjects, their versions, and the lines of changes."""

    table: Table
    told: tuple[Column, Column]
    versions: str
    lines: str

    @property
    def key(self) -> str:
        """The column that identifies a subject, in all three tables."""
        return self.table.key


def keep_versions(scene: WriteScene) -> Plan | None:
    """Bring a history up to date with lines of changes."""
    spots = [
        (table, (word, number))
        for table in scene.plain("entity")
        for word in sound(table, "category", "status") if len(word.values) >= 3
        for number in sound(table, "amount", "quantity", "rating") if not number.unique
    ]  # fmt: skip
    spot = scene.pick(spots)
    if spot is None:
        return None
    table, told = spot
    stem = table.noun.lower().replace(" ", "_").replace("-", "_")
    history = _History(table, told, f"{stem}_versions", f"{stem}_changes")
    taken = {known.name.lower() for known in scene.schema.tables}
    named = {column.name.lower() for column in told} | {table.key.lower()}
    if taken & {history.versions, history.lines} or named & set(_NAMES):
        return None
    last, inclusive, far = (bool(bit) for bit in scene.rng.integers(2, size=3))
    rules = _Rules(last, inclusive, far)
    gold = _rebuilt(history, rules)
    return Plan(
        instruction=_instruction(history),
        gold=gold,
        alternative=_step_by_step(history, rules),
        mutants=_mutants(history, rules),
        change=lambda content: _changed(content, history, rules),
        stage=lambda each: _stage(each, history, rules),
        papers=_papers(scene, history, rules),
        runs=2,
    )


def _mutants(history: _History, rules: _Rules) -> Mapping[str, tuple[str, ...]]:
    slips = {
        "other_line_of_a_day": {"last_line": not rules.last_line},
        "ends_by_the_old_rule": {"inclusive": not rules.inclusive},
        "other_open_end": {"far_end": not rules.far_end},
        "empty_cells_recorded": {"carried": False},
        "late_lines_ignored": {"late": False},
        "versions_without_change": {"merged": False},
        "unknown_rows_too": {"checked": False},
    }
    found = {name: _rebuilt(history, replace(rules, **slip)) for name, slip in slips.items()}
    upsert, repeated = _rebuilt(history, rules)
    from_lines = f"{repeated} AND line_no IN (SELECT line_no FROM {history.lines})"
    found["older_repetitions_left"] = (upsert, from_lines)
    found["versions_overwritten"] = (_overwritten(history),)
    return found


# -- statements ----------------------------------------------------------------------------------


def _winners(history: _History, rules: _Rules) -> str:
    """Return a query for the lines that count."""
    h, key = history, history.key
    conditions = [
        f"NOT EXISTS (SELECT 1 FROM {h.lines} o WHERE o.{key} = l.{key} AND "
        f"o.changed_on = l.changed_on AND o.line_no {'>' if rules.last_line else '<'} l.line_no)"
    ]
    if rules.checked:
        conditions.append(f"l.{key} IN (SELECT {key} FROM {h.table.name})")
    if not rules.late:
        conditions.append(
            f"l.changed_on >= COALESCE((SELECT MAX(v.valid_from) FROM {h.versions} v "
            f"WHERE v.{key} = l.{key}), '')"
        )
    return f"SELECT l.* FROM {h.lines} l WHERE {' AND '.join(conditions)}"


def _rebuilt(history: _History, rules: _Rules) -> tuple[str, ...]:
    """Return statements that compute all versions with window functions, then drop repetitions."""
    h, key = history, history.key
    one, two = (column.name for column in h.told)
    upto = f"OVER (PARTITION BY {key} ORDER BY day)"
    filled = f"SELECT {key}, day, line_no, {one}, {two} FROM events"
    if rules.carried:
        filled = (
            f"SELECT {key}, day, line_no, MAX({one}) OVER (PARTITION BY {key}, g1) AS {one}, "
            f"MAX({two}) OVER (PARTITION BY {key}, g2) AS {two} FROM (SELECT *, "
            f"COUNT({one}) {upto} AS g1, COUNT({two}) {upto} AS g2 FROM events)"
        )
    kept = f"SELECT *, ROW_NUMBER() {upto} = 1 OR {one} IS NOT LAG({one}) {upto} OR " \
           f"{two} IS NOT LAG({two}) {upto} AS new FROM filled"  # fmt: skip
    following = f"LEAD(day) {upto}"
    if rules.merged:
        rest = "ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING"
        following = f"MIN(CASE WHEN new THEN day END) OVER (PARTITION BY {key} ORDER BY day {rest})"
    upsert = (
        f"WITH winners AS ({_winners(h, rules)}), events AS (SELECT {key}, changed_on AS day, "
        f"line_no, {one}, {two} FROM winners UNION ALL SELECT v.{key}, v.valid_from, v.line_no, "
        f"v.{one}, v.{two} FROM {h.versions} v WHERE NOT EXISTS (SELECT 1 FROM winners w WHERE "
        f"w.{key} = v.{key} AND w.changed_on = v.valid_from)), filled AS ({filled}), "
        f"kept AS ({kept}) INSERT INTO {h.versions} ({key}, {one}, {two}, valid_from, valid_to, "
        f"line_no) SELECT {key}, {one}, {two}, day, {_end(rules, following)}, line_no "
        f"FROM kept WHERE TRUE ON CONFLICT ({key}, valid_from) DO UPDATE SET "
        f"{one} = excluded.{one}, {two} = excluded.{two}, "
        "valid_to = excluded.valid_to, line_no = excluded.line_no"
    )
    over = f"OVER (PARTITION BY {key} ORDER BY valid_from)"
    repeated = (
        f"DELETE FROM {h.versions} WHERE ({key}, valid_from) IN (SELECT {key}, valid_from FROM "
        f"(SELECT {key}, valid_from, ROW_NUMBER() {over} > 1 AND {one} IS LAG({one}) {over} AND "
        f"{two} IS LAG({two}) {over} AS same FROM {h.versions}) WHERE same)"
    )
    return (upsert, repeated) if rules.merged else (upsert,)


def _step_by_step(history: _History, rules: _Rules) -> tuple[str, ...]:
    """Return statements that insert what lines say, drop repetitions, and set the ends anew."""
    h, key = history, history.key
    one, two = (column.name for column in h.told)

    def before(column: str) -> str:
        """The last value told before a line: by a version that no line replaces, or by a line."""
        return (
            f"COALESCE(w.{column}, (SELECT e.{column} FROM (SELECT {key}, valid_from AS day, "
            f"{column}, 0 AS rank FROM {h.versions} UNION ALL SELECT {key}, changed_on, {column}, "
            f"1 FROM winners) e WHERE e.{key} = w.{key} AND e.day < w.changed_on AND "
            f"e.{column} IS NOT NULL AND (e.rank = 1 OR NOT EXISTS (SELECT 1 FROM winners x WHERE "
            f"x.{key} = e.{key} AND x.changed_on = e.day)) ORDER BY e.day DESC LIMIT 1))"
        )

    put = (
        f"WITH winners AS ({_winners(h, rules)}) INSERT OR REPLACE INTO {h.versions} "
        f"({key}, {one}, {two}, valid_from, valid_to, line_no) SELECT w.{key}, {before(one)}, "
        f"{before(two)}, w.changed_on, NULL, w.line_no FROM winners w"
    )
    earlier = (
        f"SELECT * FROM {h.versions} p WHERE p.{key} = v.{key} AND p.valid_from < v.valid_from "
        "ORDER BY p.valid_from DESC LIMIT 1"
    )
    drop = (
        f"DELETE FROM {h.versions} WHERE EXISTS (SELECT 1 FROM (SELECT v.{key} AS subject, "
        f"v.valid_from AS day FROM {h.versions} v WHERE EXISTS (SELECT 1 FROM ({earlier}) b WHERE "
        f"b.{one} IS v.{one} AND b.{two} IS v.{two})) r WHERE r.subject = "
        f"{h.versions}.{key} AND r.day = {h.versions}.valid_from)"
    )
    following = (
        f"(SELECT MIN(n.valid_from) FROM {h.versions} n WHERE n.{key} = {h.versions}.{key} AND "
        f"n.valid_from > {h.versions}.valid_from)"
    )
    return put, drop, f"UPDATE {h.versions} SET valid_to = {_end(rules, following)}"


def _end(rules: _Rules, following: str) -> str:
    day = f"DATE({following}, '-1 day')" if rules.inclusive else following
    return f"COALESCE({day}, {literal(_FAR)})" if rules.far_end else day


def _overwritten(history: _History) -> str:
    """Return the statement of those who keep no history: the version in force is overwritten."""
    h, key = history, history.key
    one, two = (column.name for column in h.told)
    return (
        f"UPDATE {h.versions} SET {one} = COALESCE(l.{one}, {h.versions}.{one}), "
        f"{two} = COALESCE(l.{two}, {h.versions}.{two}), line_no = l.line_no FROM {h.lines} l "
        f"WHERE l.{key} = {h.versions}.{key} AND {h.versions}.valid_from = (SELECT "
        f"MAX(v.valid_from) FROM {h.versions} v WHERE v.{key} = l.{key}) AND l.line_no = (SELECT "
        f"MAX(o.line_no) FROM {h.lines} o WHERE o.{key} = l.{key})"
    )


# -- the same in Python --------------------------------------------------------------------------


def _changed(content: TableContents, history: _History, rules: _Rules) -> None:
    """Replace the versions by those that follow from the lines."""
    key = history.key
    known = {row[key] for row in content[history.table.name]}
    told: dict[Value, dict[str, NamedRow]] = {}
    for row in content[history.versions]:
        told.setdefault(row[key], {})[str(row["valid_from"])] = row
    lines = sorted(content[history.lines], key=lambda row: int(row["line_no"] or 0))
    for row in lines if rules.last_line else reversed(lines):
        if row[key] in known:
            told.setdefault(row[key], {})[str(row["changed_on"])] = row
    names = [column.name for column in history.told]
    content[history.versions] = [
        version
        for subject, days in told.items()
        for version in _periods(history, rules, subject, names, sorted(days.items()))
    ]


def _periods(
    history: _History, rules: _Rules, subject: Value, names: Sequence[str],
    days: Sequence[tuple[str, NamedRow]],
) -> list[NamedRow]:  # fmt: skip
    periods: list[NamedRow] = []
    state: dict[str, Value] = dict.fromkeys(names)
    for day, row in days:
        new = {n: state[n] if row[n] is None else row[n] for n in names}
        if periods and new == state:
            continue
        state = new
        if periods:
            periods[-1]["valid_to"] = day_after(day, -1) if rules.inclusive else day
        end = _FAR if rules.far_end else None
        periods.append(
            {history.key: subject, **new, "valid_from": day, "valid_to": end,
             "line_no": row["line_no"]}
        )  # fmt: skip
    return periods


# -- rows ----------------------------------------------------------------------------------------


def _stage(scene: WriteScene, history: _History, rules: _Rules) -> tuple[AddedTable, ...] | None:
    """Draw versions, and lines among which every rule decides something."""
    rng, key = scene.rng, history.key
    rows = scene.content[history.table.name]
    word, number = history.told
    numbers = sorted({row[number.name] for row in rows if row[number.name] is not None})  # type: ignore[type-var]
    if len(rows) < 12 or len(numbers) < 4:
        return None
    draw = _Draw(scene, history, ([str(value) for value in word.values], numbers))
    subjects = [rows[int(i)][key] for i in rng.permutation(len(rows))[:_SUBJECTS]]
    unknown: list[Value] = [max(int(row[key] or 0) for row in rows) + 3 + i for i in range(3)]
    past = {
        subject: draw.past(subject) for subject in [*subjects[: 3 * len(subjects) // 4], unknown[0]]
    }
    lines = [
        line for subject in [*subjects, *unknown] for line in draw.lines(subject, past.get(subject))
    ]
    lines = [lines[int(i)] for i in rng.permutation(len(lines))]
    base = 1000 + int(rng.integers(4000))
    for place, line in enumerate(lines):
        line["line_no"] = base + place
    versions = [version for periods in past.values() for version in _ended(periods, rules)]
    for place, version in enumerate(versions):
        version["line_no"] = base - 1 - len(versions) + place
    kinds = {key: "INTEGER NOT NULL", word.name: word.type, number.name: number.type}
    return (
        added_table(history.versions, versions, (key, "valid_from"), {
            **kinds, "valid_from": "TEXT NOT NULL", "valid_to": "TEXT",
            "line_no": "INTEGER NOT NULL",
        }),
        added_table(history.lines, lines, ("line_no",), {
            "line_no": "INTEGER NOT NULL", "changed_on": "TEXT NOT NULL", **kinds,
        }),
    )  # fmt: skip


@dataclass(frozen=True)
class _Draw:
    """Draws what held of a subject, and what lines say about it."""

    scene: WriteScene
    history: _History
    values: tuple[Sequence[Value], Sequence[Value]]
    """What can hold, for each of the two columns."""

    def other(self, place: int, old: Value) -> Value:
        """Return another value of one of the columns."""
        rest = [value for value in self.values[place] if value != old]
        return rest[int(self.scene.rng.integers(len(rest)))]

    def row(self, subject: Value, day: tuple[str, str], told: Sequence[Value]) -> NamedRow:
        """Return what is told about a subject; `day` is the name of its column and the day."""
        word, number = self.history.told
        named = {self.history.key: subject, word.name: told[0], number.name: told[1]}
        return {**named, day[0]: day[1]}

    def past(self, subject: Value) -> list[NamedRow]:
        """Return one to three versions, without ends."""
        rng = self.scene.rng
        day = day_after(self.scene.schema.today, int(rng.integers(60)) - 700)
        state = [self.other(0, None), self.other(1, None)]
        versions = [self.row(subject, ("valid_from", day), state)]
        for _ in range(int(rng.integers(3))):
            day = day_after(day, 60 + int(rng.integers(90)))
            place = int(rng.integers(2))
            state[place] = self.other(place, state[place])
            versions.append(self.row(subject, ("valid_from", day), state))
        return versions

    def lines(self, subject: Value, past: Sequence[NamedRow] | None) -> list[NamedRow]:
        """Return one or two lines, each pair a case that a rule decides."""
        rng = self.scene.rng
        held: list[Value] = [None, None]
        start = day_after(self.scene.schema.today, -700)
        if past:
            held = [past[-1][column.name] for column in self.history.told]
            start = str(past[-1]["valid_from"])
        new = [self.other(0, held[0]), self.other(1, held[1])]
        day = day_after(start, 20 + int(rng.integers(200)))
        back = day_after(start, -int(rng.integers(5, 50)))
        cases: list[list[tuple[str, list[Value]]]] = [
            [(day, held if past else new), (day_after(day, 9), [None, new[1]])],
            [(day, new), (day, [self.other(0, new[0]), held[1]])],
            [(day, [new[0], None]), (day_after(day, 15), [held[0], None])],
            [(day, new)],
        ]
        if past:
            cases += [
                [(back, held)],
                [(back, [held[0], None])],
                [(back, [new[0], None]), (day, [None, new[1]])],
                [(start, [new[0], None])],
                [(start, new), (start, [held[0], new[1]])],
            ]
        case = cases[int(rng.integers(len(cases)))]
        return [self.row(subject, ("changed_on", on), told) for on, told in case]


def _ended(periods: Sequence[NamedRow], rules: _Rules) -> Sequence[NamedRow]:
    """Set the ends of a subject's versions."""
    for row, following in zip(periods, [*periods[1:], None], strict=True):
        row["valid_to"] = _FAR if rules.far_end else None
        if following is not None:
            end = str(following["valid_from"])
            row["valid_to"] = day_after(end, -1) if rules.inclusive else end
    return periods


# -- words ---------------------------------------------------------------------------------------


def _instruction(history: _History) -> str:
    h = history
    return (
        f"The table {h.versions} keeps the history of each {h.table.noun}; {h.lines} holds the "
        f"changes that have arrived since. Bring {h.versions} up to date with them according to "
        "the rules for histories in force in the documents, and change nothing else."
    )


def _papers(scene: WriteScene, history: _History, rules: _Rules) -> tuple[AddedDocument, ...]:
    """Return the rules, a notice that changes two of them, and a draft against it."""
    h, today = history, scene.schema.today
    one, two = (column.noun for column in h.told)
    subject = h.table.noun
    older = replace(rules, last_line=not rules.last_line, inclusive=not rules.inclusive)
    text = (
        f"{h.versions} has one row (a version) for each period in which the {one} and the {two} of "
        f"{with_article(subject)} did not change. It has these values, the first day (valid_from), "
        f"the end (valid_to) and the line on which it is based (line_no).\n\n"
        f"1. A line of {h.lines} states what holds for the {subject} from the day changed_on until "
        f"the next day for which there is a version or a line.\n"
        f"2. {_day_rule(older, subject)}\n"
        "3. An empty cell states nothing about its column: the value of the day before continues, "
        "whether it came from a version or from a line.\n"
        "4. Lines may arrive late. A line counts from its own day, even if that day is before "
        "existing versions; these remain unchanged from their own first day.\n"
        "5. A line on the first day of a version replaces that version.\n"
        f"6. Two consecutive versions of {with_article(subject)} never have the same values. The "
        "earlier one then continues, and the later one is removed, even if it existed before.\n"
        f"7. {_end_rule(older)} {_open_rule(rules)}\n"
        f"8. Lines about {with_article(subject)} that does not exist in {h.table.name} are "
        f"ignored. Existing versions of such {h.table.plural} stay.\n"
        f"9. For {with_article(subject)} without versions, the first line starts the first "
        "version; what it leaves empty is empty (NULL) until a line states it."
    )
    notice = (
        "From today, rules 2 and 7 read as follows, whatever the day of a line; the existing "
        f"versions have been adapted.\n\n2. {_day_rule(rules, subject)}\n7. {_end_rule(rules)} "
        f"{_open_rule(rules)}\n\nThe other rules remain in force."
    )
    draft = (
        f"Proposed for rule 2: {_day_rule(older, subject)} Proposed for rule 7: {_end_rule(older)} "
        "A draft for discussion; it does not apply until the data office has approved it."
    )
    return (
        AddedDocument("histories", f"How histories of {h.table.plural} are kept",
                      day_after(today, -610), text),
        AddedDocument("histories_notice", "Notice of the data office on histories",
                      day_after(today, -95), notice),
        AddedDocument("histories_draft", "Histories: changes under discussion",
                      day_after(today, -20), draft),
    )  # fmt: skip


def _day_rule(rules: _Rules, subject: str) -> str:
    which = "highest" if rules.last_line else "lowest"
    return (
        f"Of several lines of the same day about the same {subject}, only the one with the {which} "
        "line_no counts; ignore the others."
    )


def _end_rule(rules: _Rules) -> str:
    end = "the day before the next version begins" if rules.inclusive else (
        "the day on which the next version begins"
    )  # fmt: skip
    return f"A version ends on {end}."


def _open_rule(rules: _Rules) -> str:
    end = f"ends on {_FAR}" if rules.far_end else "has no end (NULL)"
    return f"The last one {end}."
