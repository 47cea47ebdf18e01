"""English for a draft: the request, columns, order and everything else that decides the answer.

The wording is derived from the program's nodes: whether an order is stated, which keys it has,
whether rows appear once. Therefore the question and the program cannot disagree.
"""

import re
from collections.abc import Callable, Sequence

import numpy as np

from hexathlon.tasks.sql.programs.expressions import (
    Compare,
    Expression,
    FunctionCall,
    IsNull,
    Misreadable,
    Ref,
    meant,
)
from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.programs.relations import (
    Combine,
    Distinct,
    Extend,
    Filter,
    Join,
    Limit,
    OrderBy,
    Project,
)
from hexathlon.tasks.sql.programs.walk import names_read, nodes, scans
from hexathlon.tasks.sql.schema import Column, Schema
from hexathlon.tasks.sql.templates.draft import QueryDraft

__all__ = ["question", "rules_note"]

_FRACTIONS = re.compile(r"\b(?:average|mean|share|percentage|ratio)\b")
"""Words for values that are not whole; they are compared to nine digits."""

Pick = Callable[[Sequence[str]], str]


def question(
    draft: QueryDraft, schema: Schema, tables: Sequence[str], rng: np.random.Generator
) -> str:
    """Return the full question as the agent reads it."""

    def pick(options: Sequence[str]) -> str:
        return options[int(rng.integers(len(options)))]

    sentences = [pick(draft.asks), _columns(draft, pick)]
    sentences += _shape(draft.program, draft.outputs, pick)
    sentences += draft.notes
    sentences += _spellings(draft, schema)
    sentences += _known_partners(draft.program, schema)
    sentences += rules_note(schema, tables)
    return " ".join(sentences)


def _columns(draft: QueryDraft, pick: Pick) -> str:
    items = list(draft.outputs.values())
    if len(items) == 1:
        return pick(
            [
                f"Return a single column: {items[0]}.",
                f"The answer has one column: {items[0]}.",
                f"Give one column, {items[0]}.",
            ]
        )
    listed = "; ".join(items)
    return pick(
        [
            f"Return exactly {_number(len(items))} columns, in this order: {listed}.",
            f"The answer has {_number(len(items))} columns, in this order: {listed}.",
            f"Columns, in this order: {listed}.",
        ]
    )


def _shape(program: Relation, outputs: dict[str, str], pick: Pick) -> list[str]:
    """Return sentences about order, limit, repetition and rounding, derived from the program."""
    sentences = []
    node, limit = program, None
    if isinstance(node, Limit):
        limit, node = node, node.source
    if isinstance(node, OrderBy):
        keys = ", then by ".join(
            f"{_bare(outputs[name])} ({'descending' if down else 'ascending'})"
            for name, down in node.keys
        )
        sentences.append(pick([f"Sort the rows by {keys}.", f"Order the answer by {keys}."]))
        node = node.source
    if limit is not None:
        count = "row" if limit.count == 1 else f"{limit.count} rows"
        skipped = f" after skipping {limit.offset}" if limit.offset else ""
        sentences.append(f"Return only the first {count} in that order{skipped}.")
    if isinstance(node, Distinct):
        sentences.append(pick(["List each combination once.", "Do not repeat rows."]))
    for name, item in node.items if isinstance(node, Project) else ():
        if isinstance(item, FunctionCall) and item.function == "round":
            places = item.arguments[1]
            sentences.append(f"Round {outputs[name]} to {getattr(places, 'value', 0)} decimals.")
    rounded = any(sentence.startswith("Round ") for sentence in sentences)
    if not rounded and _FRACTIONS.search(" ".join(outputs.values())):
        sentences.append("Do not round.")
    return sentences


def rules_note(schema: Schema, tables: Sequence[str]) -> list[str]:
    """Return the sentence about excluded rows, if a table of the question has such rows."""
    used = [schema.table(name) for name in tables]
    kinds = []
    if any(table.soft_delete for table in used):
        kinds.append("deleted rows")
    if any(table.natural_key for table in used):
        kinds.append("duplicates")
    return [f"The house rules on {' and '.join(kinds)} apply."] if kinds else []


def _spellings(draft: QueryDraft, schema: Schema) -> list[str]:
    """Specify the spelling of dirty columns that appear in the answer unaggregated."""
    tables = {scan.alias: schema.table(scan.table) for scan in scans(draft.program)}
    defined = {k: v for extend in nodes(draft.program, Extend) for k, v in extend.items}
    sentences = []
    for name, item in _answer_items(draft.program):
        while isinstance(item, Ref) and item.name in defined:
            item = defined[item.name]
        if isinstance(item, Misreadable) and item.label == "skip_cleaning":
            alias, _, column = names_read(item.wrong)[0].partition(".")
            sentences.append(_spelling(draft.outputs[name], tables[alias].column(column)))
    return [sentence for sentence in sentences if sentence]


def _answer_items(program: Relation) -> tuple[tuple[str, Expression], ...]:
    """Return the columns of the answer, as computed by the program's last projection."""
    node = program
    while not isinstance(node, Project):
        if isinstance(node, Combine):
            node = node.left
        elif isinstance(node, Distinct | OrderBy | Limit):
            node = node.source
        else:
            return ()
    return node.items


def _spelling(description: str, column: Column) -> str:
    bare, kind = _bare(description), column.dirt.kind if column.dirt else ""
    if kind in ("case_padding", "codes") and column.values:
        *others, last = (f"'{value}'" for value in column.values)
        return f"Write {bare} as {', '.join(others)} or {last}."
    match kind:
        case "case_padding":
            return f"Write {bare} in lower case, without leading or trailing spaces."
        case "two_date_formats":
            return f"Write {bare} in the form 2024-03-31."
        case "currency_text":
            return f"Give {bare} as a plain number."
        case "missing_spellings":
            return f"Where {bare} is not known, leave it empty (NULL)."
        case _:
            return ""


def _known_partners(program: Relation, schema: Schema) -> list[str]:
    """Return a sentence for every inner join that drops rows, derived from the program."""
    tables = {scan.alias: schema.table(scan.table) for scan in scans(program)}
    restricted = _restricted(program)
    phrases: list[str] = []
    for join in nodes(program, Join):
        for left, _ in join.on if join.kind == "inner" else ():
            alias, _, name = left.partition(".")
            column = tables[alias].column(name) if name else None
            if column is None or column.references is None:
                continue
            parents = {scan.alias for scan in scans(join.right)}
            open_ended = column.nullable or bool(column.law.orphans)
            open_ended = open_ended and not parents & restricted
            deleted = schema.table(column.references[0]).soft_delete is not None
            if open_ended or deleted:
                phrases.append(_unmatched(tables[alias].plural, column.noun, open_ended, deleted))
    return [f"Leave out {' and '.join(dict.fromkeys(phrases))}."] if phrases else []


def _restricted(program: Relation) -> set[str]:
    """Return the tables in conditions, and those that lead to them: rows without one cannot fit."""
    compared = {
        name.partition(".")[0]
        for node in nodes(program, Filter)
        if _requires_a_value(node.predicate)
        for name in names_read(node.predicate)
    }
    joins = [
        (left.partition(".")[0], {scan.alias for scan in scans(join.right)})
        for join in nodes(program, Join)
        for left, _ in join.on
    ]
    for _ in joins:
        compared |= {child for child, parents in joins if parents & compared}
    return compared


def _requires_a_value(condition: Expression) -> bool:
    """Whether a reader would take it that rows without the property do not meet the condition."""
    if isinstance(condition, Misreadable) and condition.label == "count_deleted":
        return False
    right = meant(condition)
    absent = isinstance(right, IsNull) and not right.negated
    return not absent and not (isinstance(right, Compare) and right.operator == "<>")


def _unmatched(plural: str, noun: str, open_ended: bool, deleted: bool) -> str:
    """Name the rows whose reference leads to no row that counts."""
    if not deleted:
        return f"{plural} without a known {noun}"
    return f"{plural} whose {noun} {'is unknown or deleted' if open_ended else 'was deleted'}"


def _bare(description: str) -> str:
    """Return a column's description without the trailing parenthesis."""
    return description.partition(" (")[0]


def _number(count: int) -> str:
    words = ("no", "one", "two", "three", "four", "five", "six")
    return words[count] if count < len(words) else str(count)
