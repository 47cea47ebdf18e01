"""Unanswerable questions and their answerable twins.

Twins share their random draws and differ in one name: one asks about a property or term that
exists, the other about one that is absent from the database or its documents. Which of the two
templates is the unanswerable one is drawn for each pair, so that neither name reveals it.
"""

from hexathlon.tasks.sql.domains import DOMAINS
from hexathlon.tasks.sql.domains.grammar import Field
from hexathlon.tasks.sql.programs.expressions import IsNull, Ref
from hexathlon.tasks.sql.programs.relations import Aggregate, Filter
from hexathlon.tasks.sql.schema import Schema
from hexathlon.tasks.sql.templates.conditions import metric_expression
from hexathlon.tasks.sql.templates.draft import Obstacle, QueryDraft, template
from hexathlon.tasks.sql.templates.drawing import Unbindable
from hexathlon.tasks.sql.templates.scene import QueryScene
from hexathlon.tasks.sql.templates.shapes import answer, dimension, grouped, left_out

HOPS = {"tiny": 0, "easy": 1, "medium": 2, "hard": 3}


@template("tiny", "easy", "medium", "hard", twin="property_second")
def property_first(scene: QueryScene) -> QueryDraft:
    """The range of a property that the table has or, on one side of each pair, lacks."""
    return _property(scene, foreign=scene.side == 1)


@template("tiny", "easy", "medium", "hard", twin="property_first")
def property_second(scene: QueryScene) -> QueryDraft:
    """The same range, on the pair's other side."""
    return _property(scene, foreign=scene.side == 1)


def _property(scene: QueryScene, foreign: bool) -> QueryDraft:
    fact = scene.fact(HOPS[scene.level], 1)
    dim, measure = dimension(scene, fact), scene.measure(fact.child, "amount", "quantity")
    strange = scene.pick(_foreign_properties(scene.schema))
    noun = strange if foreign else measure.text
    if measure.nullable:
        fact.relation = Filter(fact.relation, IsNull(measure.expression, negated=True))
    ends = [
        Aggregate("smallest", "min", measure.expression),
        Aggregate("largest", "max", measure.expression),
    ]
    groups = grouped(fact.relation, [dim], ends)
    outputs = [dim.output, ("smallest", Ref("smallest")), ("largest", Ref("largest"))]
    table = fact.child.table
    return QueryDraft(
        answer(groups, outputs),
        {dim.name: dim.text, "smallest": f"the smallest {noun}", "largest": f"the largest {noun}"},
        (
            f"For each {dim.each}, between which values does the {noun} of the {fact.phrase} lie?",
            f"Give the smallest and the largest {noun} of the {fact.phrase}, for each {dim.each}.",
            f"What is the range of the {noun} of the {fact.phrase}, for each {dim.each}?",
        ),
        (*left_out(dim), "Groups without a row that has a value do not appear."),
        obstacle=Obstacle("missing_data", _spellings(strange, table.noun)) if foreign else None,
    )


def _foreign_properties(schema: Schema) -> list[str]:
    """Return numeric properties from other industries that this schema does not mention."""
    spoken = " ".join(c.noun for t in schema.tables for c in t.columns) + " ".join(
        f"{t.noun} {t.plural}" for t in schema.tables
    )
    words = {
        part.words
        for name in sorted(DOMAINS)
        if name != schema.domain
        for entity in DOMAINS[name].entities
        for part in entity.parts
        if isinstance(part, Field) and part.role in ("amount", "quantity")
    }
    return sorted(
        noun for noun in words
        if " " in noun and not any(part in spoken for part in noun.split())
    )  # fmt: skip


def _spellings(noun: str, owner: str) -> tuple[str, ...]:
    joined = noun.replace(" ", "_").replace("-", "_")
    return (noun, f"the {noun}", joined, f"{owner} {noun}", f"{owner}'s {noun}")


@template("medium", "hard", twin="term_second")
def term_first(scene: QueryScene) -> QueryDraft:
    """A count under a definition that a document provides or, on one side of each pair, lacks."""
    return _term(scene, foreign=scene.side == 1)


@template("medium", "hard", twin="term_first")
def term_second(scene: QueryScene) -> QueryDraft:
    """The same count, on the pair's other side."""
    return _term(scene, foreign=scene.side == 1)


def _term(scene: QueryScene, foreign: bool) -> QueryDraft:
    paths = [
        path
        for path in scene.chains(1 if scene.level == "medium" else 2)
        if scene.metrics(scene.schema.table(path[0].child))
    ]
    fact = scene.climb(scene.pick(paths))
    table = fact.child.table
    metric, _ = scene.pick(scene.metrics(table))
    defined = [d.metric for d in scene.schema.documents if d.metric]
    taken = {item.name for item in defined}
    strange = scene.pick(
        name for item in defined if (name := f"{item.name.split(' ')[0]} {table.noun}") not in taken
    )
    scene.restrict(fact, 1, ("category", "status", "flag", "amount", "quantity", "date"))
    dim = dimension(scene, fact)
    groups = grouped(
        Filter(fact.relation, metric_expression(fact.child, metric)),
        [dim],
        [Aggregate("number", "count")],
    )
    if not fact.conditions:
        raise Unbindable
    term = f"'{strange if foreign else metric.name}'"
    return QueryDraft(
        answer(groups, [dim.output, ("number", Ref("number"))]),
        {dim.name: dim.text, "number": f"the number of {table.plural}"},
        (
            f"By the documents' current definition of {term}, count the {fact.phrase} that meet "
            f"it, for each {dim.each}.",
            f"For each {dim.each}, how many of the {fact.phrase} meet the documents' current "
            f"definition of {term}?",
        ),
        (*left_out(dim), "Groups without such a row do not appear."),
        obstacle=Obstacle("missing_data", (strange, f"the {strange}")) if foreign else None,
    )
