"""Questions that may be unanswerable, and their answerable twins.

Twins ask in the same words. They differ in one record of the database or of the documents: an entry
of a register that concerns something the question uses, or a notice on the definition that it
names. Which of the two templates is the unanswerable one is drawn for each pair.
"""

from dataclasses import replace

from hexathlon.tasks.sql.programs.expressions import Ref
from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.programs.relations import Aggregate, Filter
from hexathlon.tasks.sql.schema import Metric
from hexathlon.tasks.sql.templates.conditions import in_plural, metric_expression
from hexathlon.tasks.sql.templates.draft import QueryDraft, registered, template
from hexathlon.tasks.sql.templates.drawing import Unbindable
from hexathlon.tasks.sql.templates.rulings import RULINGS
from hexathlon.tasks.sql.templates.scene import QueryScene
from hexathlon.tasks.sql.templates.shapes import answer, dimension, grouped, left_out


@template("tiny", "easy", "medium", "hard", twin="held_second")
def held_first(scene: QueryScene) -> QueryDraft:
    """A question of any other template, with a register that blocks it on one side of each pair."""
    return _held(scene)


@template("tiny", "easy", "medium", "hard", twin="held_first")
def held_second(scene: QueryScene) -> QueryDraft:
    """The same question, on the pair's other side."""
    return _held(scene)


def _held(scene: QueryScene) -> QueryDraft:
    bases = sorted(
        (item for item in registered() if item.twin is None and scene.level in item.levels),
        key=lambda item: item.name,
    )
    draft = scene.pick(bases).build(scene)
    if draft.slot is not None:
        raise Unbindable
    return replace(draft, blocked=scene.side == 1)


@template("medium", "hard", twin="term_second")
def term_first(scene: QueryScene) -> QueryDraft:
    """A count under a documented definition that, on one side of each pair, is not usable."""
    return _term(scene)


@template("medium", "hard", twin="term_first")
def term_second(scene: QueryScene) -> QueryDraft:
    """The same count, on the pair's other side."""
    return _term(scene)


def _term(scene: QueryScene) -> QueryDraft:
    paths = [
        path
        for path in scene.chains(1 if scene.level == "medium" else 2)
        if scene.metrics(scene.schema.table(path[0].child))
    ]
    fact = scene.climb(scene.pick(paths))
    table = fact.child.table
    metric, _ = scene.pick(scene.metrics(table))
    current = [d for d in scene.schema.documents if d.metric and d.superseded_by is None]
    base = next(document for document in current if document.metric is metric)
    other = scene.pick(document for document in current if document is not base)
    supplement, right, wrong = scene.pick(RULINGS)(scene, base, other, scene.side == 1)
    scene.restrict(fact, 1, ("category", "status", "flag", "amount", "quantity", "date"))
    dim = dimension(scene, fact)
    if not fact.conditions:
        raise Unbindable

    def counted(meaning: Metric) -> Relation:
        met = Filter(fact.relation, metric_expression(fact.child, meaning))
        groups = grouped(met, [dim], [Aggregate("number", "count")])
        return answer(groups, [dim.output, ("number", Ref("number"))])

    term = in_plural(metric, fact.child)
    return QueryDraft(
        counted(right),
        {dim.name: dim.text, "number": f"the number of {table.plural}"},
        (
            f"For each {dim.each}, count those of the {fact.phrase} that are {term} by the "
            "definition in force.",
            f"For each {dim.each}, how many of the {fact.phrase} are {term} by the definition in "
            "force?",
        ),
        (*left_out(dim), dim.unless_empty),
        wrong=tuple(("another_definition", counted(meaning)) for meaning in wrong),
        supplement=supplement,
    )
