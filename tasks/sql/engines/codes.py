"""Codes in free text: patterns, capitals, leading zeros, and division of whole numbers."""

from collections.abc import Callable
from functools import partial
from re import findall
from typing import NamedTuple

from hexathlon.tasks.sql.draws import ValueDraw, shifted
from hexathlon.tasks.sql.engines.question import (
    EngineDraw,
    EngineQuestion,
    EngineTexts,
    QuestionTable,
    StoredTables,
    in_each_dialect,
)
from hexathlon.tasks.sql.schema import Row

__all__ = ["draw"]

_DAY = "2024-01-01"
_LONGEST = 90
"""Characters of a note at most."""
_TABLES = (
    QuestionTable("carriers", (("id", "INTEGER"), ("name", "TEXT"), ("box", "INTEGER"))),
    QuestionTable(
        "notes",
        (("id", "INTEGER"), ("carrier", "INTEGER"), ("day", "DATE"), ("pieces", "INTEGER"),
         ("note", "TEXT")),
    ),
)  # fmt: skip
_BODY = "{}-([0-9]{{4,6}})"
"""Regular expression of a code with a prefix."""
_BEFORE = ("left the yard,", "arrived late,", "was checked twice,", "went to bay 7,")
_AFTER = ("papers follow", "driver informed")


class _Spec(NamedTuple):
    prefix: str
    other: str
    hard: bool


def draw(drawn: EngineDraw) -> EngineQuestion:
    """Draw a question about the notes with a code."""
    values = drawn.values("spec")
    letters = values.sample("ACDFGHKLMPRTVX", 4)
    spec = _Spec("".join(letters[:2]), "".join(letters[2:]), drawn.hard)
    text = (
        f"Some notes have a code of the kind {spec.prefix}: the capital letters {spec.prefix}, a "
        "hyphen, and four, five or six digits. Neither a letter nor a digit stands directly before "
        "or after it; anything else may, such as a bracket or a comma, or the beginning or end of "
        "the note. Small letters, fewer or more digits, or further letters make it something else. "
        "A note has at most one such code.\n\nFor every carrier that has notes with such a code, "
        "give its name, the number of these notes, the largest of their codes by the number that "
        "its digits make, given as this number (so 0420 is 420), and the number of full boxes: the "
        "pieces of each of these notes are packed on their own, `box` of the carrier to a box, and "
        "a box that is not full does not count."
    )
    if spec.hard:
        text += (
            " In a fifth column, give the percentage, between 0 and 100 and not rounded, of the "
            "carrier's pieces in these notes that are in full boxes. In a sixth column, give the "
            "number of the carrier's notes that mention none of the words damage and damaged, in "
            "whatever capitals, as words of their own, and have no such code; undamaged is "
            "another word, and notes without text count, too."
        )
    return EngineQuestion(
        text, _TABLES, partial(_populate, drawn, spec), partial(_by_hand, spec),
        in_each_dialect((_sqlite, _duckdb, _postgresql), spec),
    )  # fmt: skip


def _populate(drawn: EngineDraw, spec: _Spec, seed: int, visible: bool) -> StoredTables:
    values = drawn.values("rows", seed)
    carriers = [
        (own + 1, name, values.between(6, 24)) for own, name in enumerate(drawn.names("company", 6))
    ]
    notes: list[Row] = []
    for own in range(1, values.between(100, 125)):
        text = None if values.chance(0.05) else _note(values, spec)
        carrier = values.between(1, len(carriers))
        day = shifted(_DAY, values.below(90))
        notes.append((own, carrier, day, values.between(3, 140), text))
    return {"carriers": carriers, "notes": notes}


def _note(values: ValueDraw, spec: _Spec) -> str:
    def digits(number: int) -> str:
        return "".join(str(values.below(10)) for _ in range(number))

    right = f"{spec.prefix}-{digits(values.pick((4, 4, 5, 6)))}"
    if values.chance(0.2):
        right = f"{spec.prefix}-0{digits(values.pick((3, 4)))}"
    decoys = (
        f"{spec.prefix}-{digits(3)}", f"{spec.prefix}-{digits(7)}",
        f"{spec.prefix.lower()}-{digits(4)}", f"X{spec.prefix}-{digits(4)}",
        f"{spec.other}-{digits(5)}", f"{spec.prefix}-{digits(4)}b", f"4{spec.prefix}-{digits(5)}",
        f"{spec.prefix} {digits(4)}",
    )  # fmt: skip
    codes = [values.pick(decoys)] if values.chance(0.6) else []
    codes += [right] if values.chance(0.55) else []
    codes = values.sample(codes, len(codes))
    marked = [values.pick(("{}", "({})", "{},", "ref {}", "[{}]", "{}.")).format(c) for c in codes]
    words = [values.pick(_BEFORE)] if values.chance(0.7) else []
    words += marked
    if values.chance(0.35):
        words.append(values.pick(("damage", "Damaged,", "undamaged", "DAMAGE?", "undamaged,")))
    if values.chance(0.5):
        words.append(values.pick(_AFTER))
    return " ".join(words)


def _by_hand(spec: _Spec, rows: StoredTables) -> list[Row]:
    answer: list[Row] = []
    for carrier, name, size in rows["carriers"]:
        box, codes, boxes, packed, pieces, clean = int(str(size)), [], 0, 0, 0, 0
        for _, own, _, count, note in rows["notes"]:
            if own != carrier:
                continue
            code = _code_in(str(note or ""), spec.prefix)
            if code is not None:
                codes.append(code)
                boxes += int(count or 0) // box
                packed += int(count or 0) // box * box
                pieces += int(count or 0)
            words = findall("[a-z]+", str(note or "").lower())
            clean += code is None and not {"damage", "damaged"} & set(words)
        if codes:
            row = (name, len(codes), max(codes), boxes)
            answer.append((*row, 100 * packed / pieces, clean) if spec.hard else row)
    return answer


def _code_in(note: str, prefix: str) -> int | None:
    """Return the number of the code in a note, found without a pattern of its own."""
    for start in range(len(note)):
        if note.startswith(f"{prefix}-", start) and not (start and note[start - 1].isalnum()):
            end = start + 3
            while end < len(note) and note[end].isdigit():
                end += 1
            after = note[end : end + 1]
            if 4 <= end - start - 3 <= 6 and not after.isalpha():
                return int(note[start + 3 : end])
    return None


def _query(
    spec: _Spec, found: str, *, boxes: str, share: str, clean: str, largest: str = "MAX(code)"
) -> str:
    """Return the query; `found` is a relation of (id, code), with one row for each code."""
    last = ""
    if spec.hard:
        last = (
            f", {share}, (SELECT COUNT(*) FROM notes x WHERE x.carrier = c.id AND {clean} AND "
            "x.id NOT IN (SELECT id FROM found))"
        )
    return (
        f"WITH RECURSIVE found AS ({found}) SELECT c.name, COUNT(*), {largest}, {boxes}{last} "
        "FROM found JOIN notes n ON n.id = found.id JOIN carriers c ON c.id = n.carrier "
        "GROUP BY c.id, c.name, c.box"
    )


def _sqlite(spec: _Spec) -> EngineTexts:
    def scanned(
        before: str = "[^A-Za-z0-9]", after: str = "[^A-Za-z0-9]",
        lengths: tuple[int, ...] = (4, 5, 6),
    ) -> str:  # fmt: skip
        digit = "[0-9]"
        shapes = " OR ".join(
            f"piece GLOB '{before}{spec.prefix}-{digit * number}{after}*'" for number in lengths
        )
        return (
            "SELECT id, CAST(substr(piece, 5, 6) AS INTEGER) AS code FROM (WITH RECURSIVE "
            f"places(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM places WHERE k < {_LONGEST}) "
            "SELECT id, substr(' ' || note || ' ', k) AS piece FROM notes JOIN places ON k <= "
            f"length(note)) AS pieces WHERE {shapes}"
        )

    words = "x.note IS NULL OR NOT ({})"
    glob = (
        "' ' || lower(x.note) || ' ' GLOB '*[^a-z]damage[^a-z]*' OR "
        "' ' || lower(x.note) || ' ' GLOB '*[^a-z]damaged[^a-z]*'"
    )
    parts = {
        "boxes": "SUM(n.pieces / c.box)",
        "share": "100.0 * SUM(n.pieces / c.box * c.box) / SUM(n.pieces)",
        "clean": f"({words.format(glob)})",
    }
    query: Callable[..., str] = partial(_query, spec)
    right = query(scanned(), **parts)
    text = scanned().replace("CAST(substr(piece, 5, 6) AS INTEGER)", "substr(piece, 5, 6)")
    anywhere = "(x.note IS NULL OR x.note NOT LIKE '%damage%')"
    wrong = {
        "like": query(
            f"SELECT id, CAST(substr(note, instr(note, '{spec.prefix}-') + 3, 6) AS INTEGER) AS "
            f"code FROM notes WHERE note LIKE '%{spec.prefix}-____%'", **parts,
        ),
        "inside_of_words": query(scanned(before="?"), **parts),
        "longer_numbers": query(scanned(after="*"), **parts),
        "four_digits_only": query(scanned(lengths=(4,)), **parts),
        "largest_text": query(text, **parts),
        "boxes_of_all": query(scanned(), **parts | {"boxes": "SUM(n.pieces) / c.box"}),
        "broken_boxes": query(scanned(), **parts | {"boxes": "SUM(n.pieces * 1.0 / c.box)"}),
    }  # fmt: skip
    if spec.hard:
        wrong["whole_percentages"] = query(
            scanned(), **parts | {"share": parts["share"].replace("100.0", "100")}
        )
        wrong["damage_in_words"] = query(scanned(), **parts | {"clean": anywhere})
        wrong["without_text"] = query(scanned(), **parts | {"clean": f"NOT ({glob})"})
    trimmed = scanned().replace("piece GLOB", "substr(piece, 1, 12) GLOB")
    return EngineTexts(right, {"cut": query(trimmed, **parts)}, wrong)  # fmt: skip


def _found(
    spec: _Spec, matched: Callable[..., str], edge: str, end: str, *, inside: str, text: str,
    any_capitals: dict[str, str],
) -> dict[str, str]:  # fmt: skip
    """Return relations of (id, code) by regular expressions: the right one, and near misses.

    Args:
        spec: The question.
        matched: Returns the relation of a pattern.
        edge: What may stand before a code.
        end: What may stand after it.
        inside: Replaces `edge` where anything may stand before it.
        text: The type of texts.
        any_capitals: Arguments of `matched` without regard to capitals.
    """
    body = _BODY.format(spec.prefix)
    return {
        "right": matched(edge + body + end),
        "any_capitals": matched(edge + body + end, **any_capitals),
        "inside_of_words": matched(inside + body + end),
        "longer_numbers": matched(edge + body),
        "largest_text": matched(edge + body + end, cast=text),
    }


def _amiss(
    spec: _Spec, found: dict[str, str], parts: dict[str, str], slips: dict[str, dict[str, str]],
    small_letters: str,
) -> dict[str, str]:  # fmt: skip
    """Return near misses; `small_letters` finds damage in small letters only."""
    if spec.hard:
        slips = slips | {
            "damage_in_words": {"clean": "COALESCE(x.note, '') NOT ILIKE '%damage%'"},
            "without_text": {"clean": parts["clean"].replace("COALESCE(x.note, '')", "x.note")},
            "small_letters_only": {"clean": small_letters},
        }
    wrong = {name: _query(spec, sql, **parts) for name, sql in found.items() if name != "right"}
    return wrong | {
        name: _query(spec, found["right"], **parts | changed) for name, changed in slips.items()
    }


def _duckdb(spec: _Spec) -> EngineTexts:
    def matched(pattern: str, group: int = 2, options: str = "", cast: str = "BIGINT") -> str:
        whole = f"regexp_extract(note, '{pattern}', {group}{options})"
        return (
            f"SELECT id, CAST({whole} AS {cast}) AS code FROM notes "
            f"WHERE regexp_matches(note, '{pattern}'{options})"
        )

    found = _found(
        spec, matched, "(^|[^A-Za-z0-9])", "([^A-Za-z0-9]|$)", inside="()", text="VARCHAR",
        any_capitals={"options": ", 'i'"},
    )  # fmt: skip
    spoken = "(^|[^a-z])damaged?([^a-z]|$)"
    parts = {
        "boxes": "SUM(n.pieces // c.box)",
        "share": "100 * SUM(n.pieces // c.box * c.box) / SUM(n.pieces)",
        "clean": f"NOT regexp_matches(COALESCE(x.note, ''), '{spoken}', 'i')",
    }
    slips = {
        "broken_boxes": {"boxes": "SUM(n.pieces / c.box)"},
        "boxes_of_all": {"boxes": "SUM(n.pieces) // c.box"},
        "rounded_boxes": {"boxes": "SUM(CAST(n.pieces / c.box AS BIGINT))"},
    }
    body = _BODY.format(spec.prefix)
    other = (
        "SELECT id, CAST(code AS BIGINT) AS code FROM (SELECT id, unnest(regexp_extract_all(' ' || "
        f"replace(note, ' ', '  ') || ' ', '[^A-Za-z0-9]{body}[^A-Za-z0-9]', 1)) AS code "
        "FROM notes) AS pieces"
    )
    small_letters = parts["clean"].replace(", 'i'", "")
    floored = parts | {"boxes": "CAST(SUM(floor(n.pieces / c.box)) AS BIGINT)"}
    return EngineTexts(
        _query(spec, found["right"], **parts), {"all_matches": _query(spec, other, **floored)},
        _amiss(spec, found, parts, slips, small_letters),
    )  # fmt: skip


def _postgresql(spec: _Spec) -> EngineTexts:
    def matched(pattern: str, operator: str = "~", cast: str = "BIGINT", flags: str = "") -> str:
        return (
            f"SELECT id, CAST((regexp_match(note, '{pattern}'{flags}))[1] AS {cast}) AS code "
            f"FROM notes WHERE note {operator} '{pattern}'"
        )

    found = _found(
        spec, matched, "(?:^|[^A-Za-z0-9])", "(?:[^A-Za-z0-9]|$)", inside="", text="TEXT",
        any_capitals={"operator": "~*", "flags": ", 'i'"},
    )  # fmt: skip
    spoken = "(?:^|[^a-z])damaged?(?:[^a-z]|$)"
    parts = {
        "boxes": "SUM(n.pieces / c.box)",
        "share": "100.0 * SUM(n.pieces / c.box * c.box) / SUM(n.pieces)",
        "clean": f"COALESCE(x.note, '') !~* '{spoken}'",
    }
    slips = {
        "broken_boxes": {"boxes": "SUM(n.pieces * 1.0 / c.box)"},
        "boxes_of_all": {"boxes": "SUM(n.pieces) / c.box"},
        "rounded_boxes": {"boxes": "SUM(CAST(n.pieces * 1.0 / c.box AS BIGINT))"},
    }
    if spec.hard:
        slips["rounded_down_boxes"] = {"boxes": "floor(SUM(n.pieces) / c.box)"}
    pattern = f"(?<![A-Za-z0-9]){_BODY.format(spec.prefix)}(?![A-Za-z0-9])"
    other = (
        f"SELECT id, CAST(substring(note from '{pattern}') AS BIGINT) AS code FROM notes "
        f"WHERE note ~ '{pattern}'"
    )
    return EngineTexts(
        _query(spec, found["right"], **parts), {"looking_around": _query(spec, other, **parts)},
        _amiss(spec, found, parts, slips, parts["clean"].replace("!~*", "!~")),
    )  # fmt: skip
