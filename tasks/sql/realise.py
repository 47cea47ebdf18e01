"""English for a draft: the request, columns, order and everything else that decides the answer.

The wording is derived from the program's nodes: whether an order is stated, which keys it has,
whether rows appear once. Therefore the question and the program cannot disagree.
"""

import re
from collections.abc import Callable, Sequence

import numpy as np

from hexathlon.tasks.sql.english import with_article
from hexathlon.tasks.sql.programs.expressions import Expression, FunctionCall, Misreadable, Ref
from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.programs.relations import (
    Combine,
    Distinct,
    Extend,
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
            f"Columns of the answer, in this order: {listed}.",
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
        sentences.append(
            pick(
                [f"Sort the rows by {keys}.", f"Order the answer by {keys}.", f"Sorted by {keys}."]
            )
        )
        node = node.source
    if limit is not None:
        count = "row" if limit.count == 1 else f"{limit.count} rows"
        skipped = f" after skipping {limit.offset}" if limit.offset else ""
        sentences.append(f"Keep only the first {count} of that order{skipped}.")
    if isinstance(node, Distinct):
        sentences.append(pick(["List each different row once.", "No row appears twice."]))
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
        kinds.append("marked as deleted")
    if any(table.natural_key for table in used):
        kinds.append("repeating an earlier one")
    if not kinds:
        return []
    return [
        f"In every table that the question involves, leave out the rows {' or '.join(kinds)}, as "
        "the documents describe."
    ]


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
        listed = ", ".join(f"'{value}'" for value in column.values)
        return f"In the answer, write {bare} as one of {listed}."
    match kind:
        case "case_padding":
            return f"In the answer, write {bare} in lower case, without blanks around it."
        case "two_date_formats":
            return f"In the answer, write {bare} like 2024-03-31."
        case "currency_text":
            return f"In the answer, give {bare} as a plain number."
        case "missing_spellings":
            return f"Where {bare} is not known, leave it empty (NULL)."
        case _:
            return ""


def _known_partners(program: Relation, schema: Schema) -> list[str]:
    """Return a sentence for every inner join that drops rows, derived from the program."""
    tables = {scan.alias: schema.table(scan.table) for scan in scans(program)}
    phrases: list[str] = []
    deleted: list[str] = []
    for join in nodes(program, Join):
        for left, _ in join.on if join.kind == "inner" else ():
            alias, _, name = left.partition(".")
            column = tables[alias].column(name) if name else None
            if column is None or column.references is None:
                continue
            parent = schema.table(column.references[0])
            if column.nullable or column.law.orphans or parent.soft_delete:
                phrases.append(f"{tables[alias].plural} without a known {column.noun}")
            if parent.soft_delete:
                deleted.append(column.noun)
    listed = " and ".join(dict.fromkeys(phrases))
    gone = " or ".join(with_article(noun) for noun in dict.fromkeys(deleted))
    sentences = [f"Leave out {listed}."] if listed else []
    return sentences + ([f"Here, {gone} whose row was deleted is not known."] if gone else [])


def _bare(description: str) -> str:
    """Return a column's description without the trailing parenthesis."""
    return description.partition(" (")[0]


def _number(count: int) -> str:
    words = ("no", "one", "two", "three", "four", "five", "six")
    return words[count] if count < len(words) else str(count)
