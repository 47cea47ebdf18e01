"""Templates with aggregates of aggregates, and comparisons between aggregates."""

from hexathlon.tasks.sql.programs.expressions import Binary, Compare, IsNull, Literal, Ref, Scalar
from hexathlon.tasks.sql.programs.relations import Aggregate, Extend, Filter, GroupBy, Window
from hexathlon.tasks.sql.templates.draft import QueryDraft, template
from hexathlon.tasks.sql.templates.drawing import Unbindable
from hexathlon.tasks.sql.templates.scene import QueryScene
from hexathlon.tasks.sql.templates.shapes import (
    answer,
    at_least,
    by_category,
    by_parent,
    dimension,
    grouped,
    left_out,
    varies,
)

HOPS = {"easy": 1, "medium": 1, "hard": 2}


@template("medium", "hard")
def average_of_totals(scene: QueryScene) -> QueryDraft:
    """The mean of parents' totals, per group of parents."""
    fact = scene.fact(2)
    member, outer = fact.sources[-2], by_parent(scene, fact)
    if member.alias == fact.child.alias:
        raise Unbindable
    measure, key = scene.summed(fact.child), f"{member.alias}.{member.table.key}"
    if measure.nullable:
        fact.relation = Filter(fact.relation, IsNull(measure.expression, negated=True))
    total = Aggregate("total", "sum", measure.expression)
    totals = GroupBy(fact.relation, tuple(dict.fromkeys((*outer.keys, key))), (total,))
    means = GroupBy(totals, outer.keys, (Aggregate("mean", "avg", Ref("total")),))
    flat = grouped(fact.relation, [outer], [Aggregate("mean", "avg", measure.expression)])
    return QueryDraft(
        answer(means, [outer.output, ("mean", Ref("mean"))]),
        {outer.name: outer.text, "mean": f"the average total per {member.table.noun}"},
        (
            f"For each {fact.called(-2)}, add up the {measure.text} of the {fact.phrase}. What is "
            f"the average of these totals, for each {outer.each}?",
            f"For each {outer.each}, what is the average total {measure.text} of the {fact.phrase} "
            f"per {fact.called(-2)}?",
        ),
        (
            f"Only {member.table.plural} with at least one such {fact.child.table.noun}"
            + (f" that has {measure.known}" if fact.lacks(measure) else "")
            + " enter the average.",
        ),
        wrong=(("average_of_rows", answer(flat, [outer.output, ("mean", Ref("mean"))])),),
    )


@template("tiny", "easy", "medium", "hard")
def busiest(scene: QueryScene) -> QueryDraft:
    """The groups with the most rows, ties included."""
    fact = scene.fact({"tiny": 1}.get(scene.level, HOPS.get(scene.level, 1)))
    dim = dimension(scene, fact)
    counted = grouped(fact.relation, [dim], [Aggregate("number", "count")])
    most = scene.chance(0.75)
    ranked = Window(counted, "place", "rank", None, (), (("number", most),))
    kept = Filter(ranked, Compare("=", Ref("place"), Literal(1)))
    peak = GroupBy(counted, (), (Aggregate("peak", "max" if most else "min", Ref("number")),))
    other = Filter(counted, Compare("=", Ref("number"), Scalar(peak)))
    word = "most" if most else "fewest"
    outputs = [dim.output, ("number", Ref("number"))]
    return QueryDraft(
        answer(kept, outputs),
        {dim.name: dim.text, "number": f"the number of {fact.child.table.plural}"},
        (
            f"Which {dim.each} has the {word} {fact.phrase}?",
            f"For which {dim.each} are there the {word} {fact.phrase}?",
            f"Find the {dim.each} with the {word} {fact.phrase}.",
        ),
        (
            *left_out(dim),
            "If several tie, give them all.",
            *(() if most else (dim.unless_empty,)),
        ),
        other=answer(other, outputs),
    )


@template("medium", "hard")
def above_mean_total(scene: QueryScene) -> QueryDraft:
    """Groups whose total exceeds the average total of all groups."""
    fact = scene.fact(HOPS[scene.level])
    dim, measure = by_parent(scene, fact), scene.summed(fact.child)
    if measure.nullable:
        fact.relation = Filter(fact.relation, IsNull(measure.expression, negated=True))
    totals = grouped(fact.relation, [dim], [Aggregate("total", "sum", measure.expression)])
    mean = GroupBy(totals, (), (Aggregate("mean", "avg", Ref("total")),))
    kept = Filter(totals, Compare(">", Ref("total"), Scalar(mean)))
    windowed = Filter(
        Window(totals, "mean", "avg", "total", ()), Compare(">", Ref("total"), Ref("mean"))
    )
    outputs = [dim.output, ("total", Ref("total"))]
    return QueryDraft(
        answer(kept, outputs),
        {dim.name: dim.text, "total": f"the total {measure.text}"},
        (
            f"For each {dim.each}, add up the {measure.text} of the {fact.phrase}. Which totals "
            "are larger than the average of these totals?",
            f"For which {dim.each} is the total {measure.text} of the {fact.phrase} above the "
            "average of such totals?",
        ),
        (
            f"The average is taken over every {dim.each} with at least one such "
            + f"{fact.child.table.noun}"
            + (f" that has {measure.known}." if fact.lacks(measure) else "."),
        ),
        other=answer(windowed, outputs),
    )


@template("hard")
def commonest(scene: QueryScene) -> QueryDraft:
    """The most frequent category per parent."""
    fact = scene.fact(2)
    outer, inner = by_parent(scene, fact), by_category(scene, fact)
    counted = grouped(fact.relation, [outer, inner], [Aggregate("number", "count")])
    ranked = Window(counted, "place", "rank", None, outer.keys, (("number", True),))
    kept = Filter(ranked, Compare("=", Ref("place"), Literal(1)))
    return QueryDraft(
        answer(kept, [outer.output, inner.output, ("number", Ref("number"))]),
        {
            outer.name: outer.text,
            inner.name: inner.text,
            "number": f"the number of these {fact.child.table.plural}",
        },
        (
            f"For each {outer.each}, which {inner.each} is the most frequent among the "
            f"{fact.phrase}?",
            f"For each {outer.each}, find the {inner.each} that occurs most often among the "
            f"{fact.phrase}.",
        ),
        (*left_out(inner), "If several tie, give them all."),
    )


@template("easy", "medium", "hard")
def different_partners(scene: QueryScene) -> QueryDraft:
    """The number of distinct rows of another table that each parent is connected with."""
    pairs = [
        (first, second)
        for first in scene.edges()
        for second in scene.edges()
        if first.child == second.child and first.parent != second.parent
    ]
    first, second = scene.pick(pairs)
    fact = scene.climb([first])
    other = scene.join(fact, second)
    keep = {source.alias for source in fact.sources}
    fact.sources.insert(1, fact.sources.pop())
    fact.prefixes.insert(1, fact.prefixes.pop())
    if scene.hard:
        scene.widen(fact)
    scene.restrict(fact, {"easy": 1, "medium": 1, "hard": 2}.get(scene.level, 1))
    scene.trim(fact, keep)
    dim = by_parent(scene, fact)
    key = Ref(f"{other.alias}.{other.table.key}")
    number = Aggregate("number", "count", key, True)
    least = scene.number(1, 3)
    groups = grouped(fact.relation, [dim], [number])
    kept = Filter(groups, Compare(">=", Ref("number"), Literal(least)))
    partners = fact.called(fact.sources.index(other), plural=True)
    return QueryDraft(
        answer(kept if least > 1 else groups, [dim.output, ("number", Ref("number"))]),
        {dim.name: dim.text, "number": f"the number of different {partners}"},
        (
            f"Considering only the {fact.phrase}, how many different {partners} does each "
            f"{dim.each} have?{at_least(least)}",
            f"For each {dim.each}, count the different {partners} of the {fact.phrase}."
            f"{at_least(least)}",
        ),
        () if least > 1 else (dim.unless_empty,),
    )


@template("medium", "hard")
def ratio_of_sums(scene: QueryScene) -> QueryDraft:
    """The share of a group's total from rows of a kind."""
    fact = scene.fact(HOPS[scene.level], 1)
    base = fact.phrase
    dim, measure = dimension(scene, fact), scene.summed(fact.child)
    whole = fact.relation
    scene.restrict(fact, 1, ("category", "status", "flag", "date"))
    fact.relation, inner = whole, fact.conditions[-1]
    varies(scene, dim, inner)
    if inner.text in base:
        raise Unbindable
    sums = [
        Aggregate("part", "sum", measure.expression, False, inner.expression),
        Aggregate("whole", "sum", measure.expression),
    ]
    totals = grouped(fact.relation, [dim], sums)
    known = Filter(totals, IsNull(Ref("part"), negated=True))
    share = Binary("/", Binary("*", Literal(100.0), Ref("part")), Ref("whole"))
    return QueryDraft(
        answer(known, [dim.output, ("percentage", share)]),
        {dim.name: dim.text, "percentage": "the percentage (0 to 100)"},
        (
            f"Of the total {measure.text} of the {base}, what percentage comes from "
            f"{fact.child.table.plural} {inner.text}, for each {dim.each}?",
            f"For each {dim.each}, add up the {measure.text} of the {base}, and say what "
            f"percentage of it belongs to {fact.child.table.plural} {inner.text}.",
        ),
        (
            *left_out(dim),
            f"Leave out any {dim.each} that has none of the latter"
            + (f" with {measure.known}." if measure.nullable else "."),
        ),
    )


@template("hard")
def part_above_whole(scene: QueryScene) -> QueryDraft:
    """Parents whose average over some rows exceeds their overall average."""
    fact = scene.fact(1, 1)
    base = fact.phrase
    dim, measure = by_parent(scene, fact), scene.measure(fact.child)
    whole = fact.relation
    scene.restrict(fact, 1, ("category", "status", "flag", "date"))
    fact.relation, inner = whole, fact.conditions[-1]
    varies(scene, dim, inner)
    if inner.text in base:
        raise Unbindable
    means = [
        Aggregate("part", "avg", measure.expression, False, inner.expression),
        Aggregate("whole", "avg", measure.expression),
    ]
    compared = grouped(fact.relation, [dim], means)
    kept = Filter(compared, Compare(">", Ref("part"), Ref("whole")))
    outputs = [dim.output, ("part", Ref("part")), ("whole", Ref("whole"))]
    plural = fact.child.table.plural
    return QueryDraft(
        answer(kept, outputs),
        {
            dim.name: dim.text,
            "part": f"the average {measure.text} of the {plural} {inner.text}",
            "whole": f"the average {measure.text} of all {base}",
        },
        (
            f"Consider only the {base}. For which {dim.each} is the average {measure.text} of the "
            f"{plural} {inner.text} larger than that of all of them?",
        ),
        (f"{plural.capitalize()} without {measure.known} do not enter the averages.",)
        if fact.lacks(measure)
        else (),
    )


@template("medium", "hard")
def best_row(scene: QueryScene) -> QueryDraft:
    """The row of each parent with the largest measure, ties included."""
    fact = scene.fact(HOPS[scene.level])
    dim, measure, label = by_parent(scene, fact), scene.measure(fact.child), scene.label(fact.child)
    if measure.nullable:
        fact.relation = Filter(fact.relation, IsNull(measure.expression, negated=True))
    valued = Extend(fact.relation, (("measured", measure.expression),))
    down = scene.chance(0.6)
    ranked = Window(valued, "place", "rank", None, dim.keys[:1], (("measured", down),))
    kept = Filter(ranked, Compare("=", Ref("place"), Literal(1)))
    word = measure.extreme(down)
    row = "row" if label.name == dim.name else label.name
    return QueryDraft(
        answer(kept, [dim.output, (row, label.expression), ("value", Ref("measured"))]),
        {dim.name: dim.text, row: label.text, "value": f"the {measure.text}"},
        (
            f"For each {dim.each}, which of the {fact.phrase} have the {word} {measure.text}?",
            f"Consider the {fact.phrase}. For each {dim.each}, find those of them with the {word} "
            f"{measure.text}.",
        ),
        ("If several tie, give them all.", *fact.without(measure)),
    )  # fmt: skip
