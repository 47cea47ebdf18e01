"""Templates about groups: counts, sums, averages, conditions on groups, shares."""

from hexathlon.tasks.sql.programs.expressions import Binary, Compare, Literal, Ref
from hexathlon.tasks.sql.programs.relations import Aggregate, Filter
from hexathlon.tasks.sql.templates.draft import QueryDraft, template
from hexathlon.tasks.sql.templates.scene import Fact, Measure, QueryScene
from hexathlon.tasks.sql.templates.shapes import answer, dimension, grouped, left_out, varies


@template("tiny", "easy", "medium", "hard")
def group_count(scene: QueryScene) -> QueryDraft:
    """Rows per group."""
    fact = scene.fact({"tiny": 0, "easy": 1, "medium": 2, "hard": 3}[scene.level])
    dim = dimension(scene, fact)
    number = Aggregate("number", "count")
    program = answer(
        grouped(fact.relation, [dim], [number]), [dim.output, ("number", Ref("number"))]
    )
    return QueryDraft(
        program,
        {dim.name: dim.text, "number": f"the number of {fact.child.table.plural}"},
        (
            f"For each {dim.each}, count the {fact.phrase}.",
            f"How many {fact.phrase} are there for each {dim.each}?",
            f"Per {dim.each}, give the number of {fact.phrase}.",
        ),
        (*left_out(dim), dim.unless_empty),
    )


@template("easy", "medium", "hard")
def group_sum(scene: QueryScene) -> QueryDraft:
    """A total per group."""
    fact = scene.fact({"easy": 1, "medium": 2, "hard": 3}.get(scene.level, 1))
    measure = scene.summed(fact.child)
    dim = dimension(scene, fact)
    total = Aggregate("total", "sum", measure.expression)
    program = answer(grouped(fact.relation, [dim], [total]), [dim.output, ("total", Ref("total"))])
    return QueryDraft(
        program,
        {dim.name: dim.text, "total": f"the total {measure.text}"},
        (
            f"For each {dim.each}, add up the {measure.text} of the {fact.phrase}.",
            f"What is the total {measure.text} of the {fact.phrase}, for each {dim.each}?",
            f"Give the total {measure.text} of the {fact.phrase} per {dim.each}.",
        ),
        (*left_out(dim), dim.unless_empty, *_empty_totals(fact, measure)),
    )


def _empty_totals(fact: Fact, measure: Measure) -> tuple[str, ...]:
    """Return the note about totals of missing values, if a value of the fact can be missing."""
    if not fact.lacks(measure):
        return ()
    return (f"If none of them has {measure.known}, the total is empty (NULL).",)


@template("easy", "medium", "hard")
def having_average(scene: QueryScene) -> QueryDraft:
    """Groups with enough rows, and their average."""
    fact = scene.fact({"easy": 1, "medium": 2, "hard": 3}.get(scene.level, 1), 1)
    measure = scene.measure(fact.child)
    dim = dimension(scene, fact)
    least = scene.number(2, 4)
    groups = grouped(
        fact.relation,
        [dim],
        [Aggregate("number", "count"), Aggregate("average", "avg", measure.expression)],
    )
    kept = Filter(groups, Compare(">=", Ref("number"), Literal(least)))
    return QueryDraft(
        answer(kept, [dim.output, ("average", Ref("average"))]),
        {dim.name: dim.text, "average": f"the average {measure.text}"},
        (
            f"For each {dim.each} with at least {least} {fact.phrase}, give the average "
            f"{measure.text} of these {fact.child.table.plural}.",
            f"Consider the {fact.phrase}. What is their average {measure.text} for each "
            f"{dim.each} that has {least} or more of them?",
            f"Average the {measure.text} of the {fact.phrase} per {dim.each}, but only where there "
            f"are {least} or more {fact.child.table.plural}.",
        ),
        (
            *left_out(dim),
            *(
                (
                    f"{fact.child.table.plural.capitalize()} without {measure.known} "
                    f"count towards the {least}, but do not enter the average.",
                )
                if fact.lacks(measure)
                else ()
            ),
        ),
    )


@template("medium", "hard")
def share_of_group(scene: QueryScene) -> QueryDraft:
    """The share of a group's rows that meet a condition."""
    fact = scene.fact({"medium": 2, "hard": 3}.get(scene.level, 1), 1)
    base = fact.phrase
    dim = dimension(scene, fact)
    whole = fact.relation
    scene.restrict(fact, 1)
    fact.relation, inner = whole, fact.conditions[-1]
    varies(scene, dim, inner)
    groups = grouped(
        fact.relation,
        [dim],
        [Aggregate("number", "count"), Aggregate("hits", "count", None, False, inner.expression)],
    )
    share = Binary("/", Binary("*", Literal(100.0), Ref("hits")), Ref("number"))
    return QueryDraft(
        answer(groups, [dim.output, ("percentage", share)]),
        {dim.name: dim.text, "percentage": "the percentage (0 to 100)"},
        (
            f"For each {dim.each}, what percentage of the {base} are {fact.child.table.plural} "
            f"{inner.text}?",
            f"Per {dim.each}, give the percentage of {fact.child.table.plural} {inner.text} among "
            f"the {base}.",
        ),
        (*left_out(dim), f"Include any {dim.each} for which it is 0."),
    )
