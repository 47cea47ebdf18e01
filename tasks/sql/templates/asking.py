"""Templates with one ambiguity that only the user can resolve.

The program is complete; the question refers to the open slot in vague terms, and the simulated user
knows its value. Screening ensures that another value gives another answer.
"""

from hexathlon.tasks.sql.english import be
from hexathlon.tasks.sql.programs.expressions import Compare, Expression, IsNull, Literal, Ref
from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.programs.relations import Aggregate, Filter
from hexathlon.tasks.sql.templates.conditions import shown, threshold_of
from hexathlon.tasks.sql.templates.dates import in_year, last_year
from hexathlon.tasks.sql.templates.draft import AmbiguitySlot, QueryDraft, template
from hexathlon.tasks.sql.templates.drawing import Unbindable
from hexathlon.tasks.sql.templates.scene import Fact, QueryScene
from hexathlon.tasks.sql.templates.shapes import (
    Dimension,
    answer,
    by_category,
    by_parent,
    dimension,
    grouped,
    kind,
    left_out,
)
from hexathlon.tasks.sql.templates.windows import dated_fact

HOPS = {"easy": 1, "medium": 2, "hard": 3}
CONDITIONS = {"easy": 0, "medium": 1, "hard": 2}


def _counted(fact: Fact, dim: Dimension, test: Expression) -> Relation:
    groups = grouped(Filter(fact.relation, test), [dim], [Aggregate("number", "count")])
    return answer(groups, [dim.output, ("number", Ref("number"))])


def _outputs(fact: Fact, dim: Dimension) -> dict[str, str]:
    return {dim.name: dim.text, "number": f"the number of {fact.child.table.plural}"}


@template("easy", "medium", "hard")
def ask_threshold(scene: QueryScene) -> QueryDraft:
    """A threshold that the question only alludes to."""
    fact = scene.fact(HOPS[scene.level], CONDITIONS[scene.level])
    dim, measure = dimension(scene, fact), scene.measure(fact.child)
    column = measure.column
    used = {item.column for item in fact.conditions}
    if f"{fact.child.alias}.{column.name}" in used:
        raise Unbindable
    limit = threshold_of(scene, fact.child, column)
    other = threshold_of(scene, fact.child, column)
    if limit is None or limit == other:
        raise Unbindable
    wrong = _counted(fact, dim, Compare(">=", measure.expression, Literal(other)))
    reach = "reach" if be(measure.noun) == "are" else "reaches"
    return QueryDraft(
        _counted(fact, dim, Compare(">=", measure.expression, Literal(limit))),
        _outputs(fact, dim),
        (
            f"For each {dim.each}, count the {fact.phrase}, but only those whose {measure.text} "
            f"{reach} the limit that we agreed on.",
            f"How many {fact.phrase} are there for each {dim.each}, leaving out those whose "
            f"{measure.text} {be(measure.noun)} below my usual limit?",
        ),
        (*left_out(dim), "A value equal to the limit counts as reaching it.", dim.unless_empty),
        wrong=(("other_limit", wrong),),
        slot=AmbiguitySlot(
            "limit",
            shown(limit),
            (
                f"For the {column.noun}, the limit is {{value}}.",
                f"I count from {{value}} upwards for the {column.noun}.",
                "Please use {value} as the limit.",
            ),
            ("limit", "threshold", "cutoff", "cut-off", "minimum", column.noun),
            f"Which limit for the {column.noun} do you mean?",
        ),
    )  # fmt: skip


@template("easy", "medium", "hard")
def ask_period(scene: QueryScene) -> QueryDraft:
    """A year that the question only alludes to."""
    fact, date, noun = dated_fact(scene, {"hard": 2}.get(scene.level, 1), CONDITIONS[scene.level])
    dim = dimension(scene, fact)
    year = last_year(scene) - scene.number(0, 1)
    other = year - 1 if year == last_year(scene) else year + 1
    return QueryDraft(
        _counted(fact, dim, in_year(date, year)),
        _outputs(fact, dim),
        (
            f"For each {dim.each}, count the {fact.phrase}, but only those of my reporting year, "
            f"going by the {noun}.",
            f"How many {fact.phrase} are there for each {dim.each} in the year that I report on "
            f"(by {noun})?",
        ),
        (*left_out(dim), "It is a calendar year.", dim.unless_empty),
        wrong=(("other_year", _counted(fact, dim, in_year(date, other))),),
        slot=AmbiguitySlot(
            "year",
            str(year),
            ("The year is {value}.", "I report on {value}.", "Please take {value}."),
            ("year", "period", "reporting", "time range", "date range"),
            "Which year do you report on?",
        ),
    )


@template("easy", "medium", "hard")
def ask_category(scene: QueryScene) -> QueryDraft:
    """A value of a category that the question only alludes to."""
    fact = scene.fact(HOPS[scene.level], CONDITIONS[scene.level])
    used = {item.column for item in fact.conditions}
    source, column = scene.pick(
        (source, column)
        for source in fact.sources
        for column in source.table.with_role("category", "status")
        if f"{source.alias}.{column.name}" not in used and len(column.values) > 2
    )
    prefix = fact.prefixes[fact.sources.index(source)]
    noun = kind(prefix, column.noun)
    value, other = scene.shuffled(column.values)[:2]
    dim = by_parent(scene, fact)
    mine = source.value(column)
    return QueryDraft(
        _counted(fact, dim, Compare("=", mine, Literal(value))),
        _outputs(fact, dim),
        (
            f"For each {dim.each}, count the {fact.phrase}, but only for the {noun} that I am "
            "responsible for.",
            f"How many {fact.phrase} are there for each {dim.each}? I only need those with the "
            f"{noun} that I am responsible for.",
        ),
        (f"I am responsible for a single {column.noun}.", dim.unless_empty),
        wrong=(("other_value", _counted(fact, dim, Compare("=", mine, Literal(other)))),),
        slot=AmbiguitySlot(
            "value",
            str(value),
            (
                f"The {column.noun} is {{value}}.",
                f"I am responsible for {{value}} ({column.noun}).",
                f"Please take {{value}} as the {column.noun}.",
            ),
            (column.noun, "responsible", "which one", "which value", "category"),
            f"Which {column.noun} are you responsible for?",
        ),
    )


@template("easy", "medium", "hard")
def ask_measure(scene: QueryScene) -> QueryDraft:
    """A measure that the question only alludes to."""
    fact = scene.fact(HOPS[scene.level], CONDITIONS[scene.level] or 1)
    dim = by_parent(scene, fact) if scene.chance(0.5) else by_category(scene, fact)
    columns = scene.shuffled(fact.child.table.with_role("amount", "quantity"))
    if len(columns) < 2:
        raise Unbindable
    right, other = columns[:2]

    def averaged(value: Expression) -> Relation:
        known = Filter(fact.relation, IsNull(value, negated=True))
        base = known if right.nullable else fact.relation
        groups = grouped(base, [dim], [Aggregate("average", "avg", value)])
        return answer(groups, [dim.output, ("average", Ref("average"))])

    listed = " or ".join(sorted((right.noun, other.noun)))
    unit = f" in {right.unit}" if right.unit and right.unit != "USD" else ""
    return QueryDraft(
        averaged(fact.child.value(right)),
        {dim.name: dim.text, "average": f"the average of the figure that I need{unit}"},
        (
            f"Consider the {fact.phrase}. For each {dim.each}, give the average of the figure "
            f"that I report on ({listed}).",
            f"For each {dim.each}, I need the average of one figure over the {fact.phrase}: either "
            f"{listed}.",
        ),
        (*left_out(dim), f"Leave out any {dim.each} for which there is no such figure."),
        wrong=(("other_figure", averaged(fact.child.value(other))),),
        slot=AmbiguitySlot(
            "figure",
            right.noun,
            ("It is the {value}.", "I need the {value}.", "My report shows the {value}."),
            ("figure", "measure", "column", "which of", "which one", right.noun, other.noun),
            "Which figure do you need?",
        ),
    )
