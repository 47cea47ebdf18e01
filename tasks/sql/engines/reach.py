"""Parts of assemblies: far more chains lead to a part than there are parts."""

from collections import defaultdict
from functools import partial

from hexathlon.tasks.sql.engines.question import (
    EngineDraw,
    EngineQuestion,
    EngineTexts,
    QuestionTable,
    StoredTables,
)
from hexathlon.tasks.sql.schema import Row

__all__ = ["draw"]

_STAGES = 11
_WIDTH = 20
_TABLES = (
    QuestionTable(
        "parts",
        (("id", "INTEGER"), ("name", "TEXT"), ("stage", "INTEGER"), ("grams", "INTEGER"),
         ("bought", "INTEGER")),
    ),
    QuestionTable(
        "uses",
        (("id", "INTEGER"), ("assembly", "INTEGER"), ("part", "INTEGER"), ("qty", "INTEGER")),
        (("assembly",), ("part",)),
    ),
)  # fmt: skip
_FINAL = (
    "SELECT r.name, {}, {} FROM walked w JOIN parts p ON p.id = w.part AND p.bought = 1 "
    "JOIN parts r ON r.id = w.root GROUP BY r.id, r.name"
)
_START = "SELECT id AS root, id AS part{} FROM parts WHERE stage = 1"
_STEP = "SELECT w.root, u.part{} FROM walked w JOIN uses u ON u.assembly = w.part"


def draw(drawn: EngineDraw) -> EngineQuestion:
    """Draw a question about the parts of the products."""
    text = (
        "Products are the parts of stage 1. An assembly of one stage uses parts of the next, up to "
        f"stage {_STAGES}. Some parts are bought ready-made (bought is 1); they use no others. "
    )
    if drawn.hard:
        text += (
            "For every product, give its name, the total number of pieces of bought parts that one "
            "piece of the product takes, and their total grams. The pieces multiply along a chain "
            "of uses (2 frames with 4 bolts each take 8 bolts), and those of all chains add up."
        )
    else:
        text += (
            "For every product, give its name, the number of different bought parts that it uses, "
            "directly and through other assemblies, and the sum of their grams, in which each part "
            "counts once."
        )
    return EngineQuestion(
        text, _TABLES, partial(_populate, drawn), partial(_by_hand, drawn.hard),
        {"sqlite": _pieces() if drawn.hard else _different_parts()},
        steps=600_000 if drawn.hard else 400_000,
    )  # fmt: skip


def _populate(drawn: EngineDraw, seed: int, visible: bool) -> StoredTables:
    values = drawn.values("rows", seed)
    names = drawn.names("product", _WIDTH)
    parts: list[Row] = []
    uses: list[tuple[int, int, int]] = []
    for stage in range(1, _STAGES + 1):
        for place in range(_WIDTH):
            own = len(parts) + 1
            bought = stage == _STAGES or (stage > 2 and values.chance(0.2))
            name = names[place] if stage == 1 else f"part {own + 100}"
            parts.append((own, name, stage, values.between(1, 90), int(bought)))
            if not bought:
                uses += [
                    (own, stage * _WIDTH + 1 + (place + step) % _WIDTH, values.pick((1, 1, 2)))
                    for step in (0, *values.sample((1, 2, 3, -1, -2), 2))
                ]
    order = values.rng.permutation(len(uses)).tolist()
    return {"parts": parts, "uses": [(k + 1, *uses[old]) for k, old in enumerate(order)]}


def _by_hand(hard: bool, rows: StoredTables) -> list[Row]:
    below: dict[object, list[tuple[int, int]]] = defaultdict(list)
    for _, assembly, part, qty in rows["uses"]:
        below[assembly].append((int(str(part)), int(str(qty))))
    grams = {own: int(str(weight)) for own, _, _, weight, _ in rows["parts"]}
    bought = {own for own, _, _, _, flag in rows["parts"] if flag}
    answer: list[Row] = []
    for product, name, stage, _, _ in rows["parts"]:
        if stage != 1:
            continue
        pieces: dict[object, int] = {product: 1}
        for _ in range(_STAGES):
            for own in list(pieces):
                if below[own]:
                    number = pieces.pop(own)
                    for part, qty in below[own]:
                        pieces[part] = pieces.get(part, 0) + number * qty if hard else 1
        found = {own: number for own, number in pieces.items() if own in bought}
        weight = sum(number * grams[own] for own, number in found.items())
        answer.append((name, sum(found.values()), weight))
    return answer


def _different_parts() -> EngineTexts:
    """Return the texts of level medium, in which each part counts once."""
    counts, once = ("COUNT(*)", "SUM(p.grams)"), ("COUNT(DISTINCT p.id)", "SUM(p.grams)")

    def walked(union: str, columns: tuple[str, str] = counts, more: str = "") -> str:
        first = _START.format(", '/' AS n" if more else "")
        further = _STEP.format(more)
        return f"WITH RECURSIVE walked AS ({first} {union} {further}) {_FINAL.format(*columns)}"

    distinct = (
        f"WITH RECURSIVE walked_all AS ({_START.format('')} UNION ALL "
        f"{_STEP.format('').replace('walked w', 'walked_all w')}), walked AS (SELECT DISTINCT "
        f"root, part FROM walked_all) {_FINAL.format(*counts)}"
    )
    upwards = (
        "WITH RECURSIVE up AS (SELECT id AS root, id AS part FROM parts WHERE bought = 1 UNION "
        "SELECT w.root, u.assembly FROM up w JOIN uses u ON u.part = w.part) SELECT t.name, "
        "COUNT(*), SUM(p.grams) FROM up JOIN parts p ON p.id = up.root JOIN parts t ON "
        "t.id = up.part AND t.stage = 1 WHERE p.stage > 1 GROUP BY t.id, t.name"
    )
    wrong = {
        "every_chain": walked("UNION ALL"),
        "distinct_at_the_end": distinct,
        "counted_distinct": walked("UNION ALL", once),
        "with_chains": walked("UNION", counts, ", n || '/' || u.id"),
        "assemblies_too": walked("UNION").replace(" AND p.bought = 1", ""),
        "direct_parts": walked("UNION").replace("= w.part)", "= w.part AND w.part = w.root)"),
    }  # fmt: skip
    return EngineTexts(walked("UNION"), {"upwards": upwards}, wrong)


def _pieces() -> EngineTexts:
    """Return the texts of level hard, in which pieces multiply along chains."""
    sums = ("SUM(w.n)", "SUM(w.n * p.grams)")

    def staged(combined: str = "SUM(w.n * u.qty)") -> str:
        parts = [f"s1 AS ({_START.format(', 1 AS n')})"]
        for stage in range(2, _STAGES + 1):
            parts.append(
                f"s{stage} AS MATERIALIZED (SELECT w.root, u.part, {combined} AS n FROM "
                f"s{stage - 1} w JOIN uses u ON u.assembly = w.part GROUP BY w.root, u.part)"
            )
        union = " UNION ALL ".join(f"SELECT * FROM s{stage}" for stage in range(1, _STAGES + 1))
        return f"WITH {', '.join(parts)}, walked AS ({union}) {_FINAL.format(*sums)}"

    def recursive(union: str, more: str, also: str = "") -> str:
        first = _START.format(f", 1 AS n{also}")
        further = _STEP.format(more)
        return f"WITH RECURSIVE walked AS ({first} {union} {further}) {_FINAL.format(*sums)}"

    bought = "SELECT id AS part, 1 AS n, grams AS g FROM parts WHERE stage = {} AND bought = 1"
    below = [f"t{_STAGES} AS ({bought.format(_STAGES)})"]
    for stage in range(_STAGES - 1, 0, -1):
        below.append(
            f"t{stage} AS MATERIALIZED ({bought.format(stage)} UNION ALL SELECT u.assembly, "
            f"SUM(u.qty * t.n), SUM(u.qty * t.g) FROM t{stage + 1} t JOIN uses u ON "
            "u.part = t.part GROUP BY u.assembly)"
        )
    other = f"WITH {', '.join(below)} SELECT p.name, t1.n, t1.g FROM t1 JOIN parts p ON p.id = part"
    wrong = {
        "every_chain": recursive("UNION ALL", ", w.n * u.qty"),
        "chains_kept": recursive("UNION", ", w.n * u.qty, w.uses || u.id", ", '' AS uses"),
        "equal_rows_once": recursive("UNION", ", w.n * u.qty"),
        "without_pieces": recursive("UNION", ", 1"),
        "added_pieces": staged("SUM(w.n + u.qty)"),
        "largest_only": staged("MAX(w.n * u.qty)"),
        "assemblies_too": staged().replace(" AND p.bought = 1", ""),
    }
    return EngineTexts(staged(), {"upwards": other}, wrong)
