"""Templates about order within groups: ranks, running totals, changes, first and next rows."""

from hexathlon.tasks.sql.programs.expressions import (
    Binary,
    Compare,
    Expression,
    FunctionCall,
    IsNull,
    Literal,
    Ref,
)
from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.programs.relations import Aggregate, Extend, Filter, GroupBy, Window
from hexathlon.tasks.sql.templates.draft import QueryDraft, template
from hexathlon.tasks.sql.templates.drawing import Unbindable
from hexathlon.tasks.sql.templates.scene import Fact, Measure, QueryScene
from hexathlon.tasks.sql.templates.shapes import answer, by_category, by_parent, grouped, left_out

HOPS = {"easy": 1, "medium": 1, "hard": 2}


def dated(scene: QueryScene, fact: Fact) -> tuple[Expression, str]:
    """Return a date of the fact's rows that is not yet restricted; rows without it are removed."""
    used = {item.column for item in fact.conditions}
    column = scene.pick(
        column
        for column in fact.child.table.with_role("date")
        if f"{fact.child.alias}.{column.name}" not in used
    )
    value = fact.child.value(column)
    if column.nullable:
        fact.relation = Filter(fact.relation, IsNull(value, negated=True))
    return value, column.noun


def dated_fact(scene: QueryScene, hops: int, conditions: int) -> tuple[Fact, Expression, str]:
    """Return a fact whose rows have a date, climbing from a table with one."""
    paths = [
        path for path in scene.chains(hops) if scene.schema.table(path[0].child).with_role("date")
    ]
    fact = scene.climb(scene.pick(paths))
    path = {source.alias for source in fact.sources}
    if scene.hard:
        scene.widen(fact)
    scene.restrict(fact, conditions)
    scene.trim(fact, path)
    return fact, *dated(scene, fact)


def monthly(scene: QueryScene) -> tuple[Fact, Relation, Measure, str]:
    """Return monthly totals: the fact, the grouped relation, the measure and the date's noun."""
    fact, date, noun = dated_fact(scene, 1, 2 if scene.hard else 1)
    measure = scene.summed(fact.child)
    months = Extend(
        fact.relation, (("month", FunctionCall("substr", (date, Literal(1), Literal(7)))),)
    )
    known = Filter(months, IsNull(measure.expression, negated=True)) if measure.nullable else months
    total = Aggregate("total", "sum", measure.expression)
    return fact, GroupBy(known, ("month",), (total,)), measure, noun


def _month_notes(fact: Fact, measure: Measure) -> tuple[str, ...]:
    having = f" that have {measure.known}" if fact.lacks(measure) else ""
    plural = fact.child.table.plural
    return (f"Write months as 2024-03, and leave out months without such {plural}{having}.",)


@template("medium", "hard")
def running_total(scene: QueryScene) -> QueryDraft:
    """Monthly totals with a running total."""
    fact, months, measure, noun = monthly(scene)
    run = Window(months, "so_far", "sum", "total", (), (("month", False),), "running")
    outputs = [(name, Ref(name)) for name in ("month", "total", "so_far")]
    return QueryDraft(
        answer(run, outputs, [("month", False)]),
        {
            "month": "the month",
            "total": f"the month's total {measure.text}",
            "so_far": "the total of that month and all earlier ones",
        },
        (
            f"Give the monthly total {measure.text} of the {fact.phrase} (by {noun}), with a "
            "running total.",
            f"For each month (by {noun}), what is the total {measure.text} of the {fact.phrase}, "
            "and what is the total up to and including that month?",
            f"Add up the {measure.text} of the {fact.phrase} month by month (by {noun}) and "
            "cumulatively.",
        ),
        _month_notes(fact, measure),
    )


@template("hard")
def moving_average(scene: QueryScene) -> QueryDraft:
    """Monthly totals averaged over this month and the two listed months before."""
    fact, months, measure, noun = monthly(scene)
    mean = Window(months, "mean", "avg", "total", (), (("month", False),), 2)
    outputs = [(name, Ref(name)) for name in ("month", "total", "mean")]
    return QueryDraft(
        answer(mean, outputs, [("month", False)]),
        {
            "month": "the month",
            "total": f"the month's total {measure.text}",
            "mean": "the moving average",
        },
        (
            f"For each month (by {noun}), give the total {measure.text} of the {fact.phrase}, and "
            "its moving average over three months.",
            f"Smooth the monthly totals (by {noun}) of the {measure.text} of the {fact.phrase} "
            "with a three-month moving average.",
        ),
        (
            *_month_notes(fact, measure),
            "The moving average of a month is the mean of its total and those of the two months "
            "listed before it, or of fewer at the start.",
        ),
    )


@template("medium", "hard")
def monthly_change(scene: QueryScene) -> QueryDraft:
    """Monthly totals with the change from the previous month."""
    fact, months, measure, noun = monthly(scene)
    lagged = Window(months, "previous", "lag", "total", (), (("month", False),))
    change = Binary("-", Ref("total"), Ref("previous"))
    outputs = [("month", Ref("month")), ("total", Ref("total")), ("change", change)]
    return QueryDraft(
        answer(lagged, outputs, [("month", False)]),
        {
            "month": "the month",
            "total": f"the month's total {measure.text}",
            "change": "the change (this month minus the month listed before it)",
        },
        (
            f"How did the total {measure.text} of the {fact.phrase} change from month to month (by "
            f"{noun})?",
            f"Give the monthly total {measure.text} (by {noun}) of the {fact.phrase}, and its "
            "change from the previous month listed.",
            f"For each month (by {noun}), give the total {measure.text} of the {fact.phrase}, and "
            "the difference from the previous month listed.",
        ),
        (*_month_notes(fact, measure), "The change of the first month is empty."),
    )


@template("medium", "hard")
def top_per_group(scene: QueryScene) -> QueryDraft:
    """The top parents by a total within each group."""
    fact = scene.fact(HOPS[scene.level] + 1)
    member, label = fact.sources[-2], scene.label(fact.sources[-2])
    if member.alias == fact.child.alias:
        raise Unbindable
    dim = by_parent(scene, fact)
    measure = scene.summed(fact.child)
    count = scene.number(1, 3)
    known = Filter(fact.relation, IsNull(measure.expression, negated=True))
    total = Aggregate("total", "sum", measure.expression)
    keys = tuple(dict.fromkeys((*dim.keys, *label.keys)))
    totals = GroupBy(known if measure.nullable else fact.relation, keys, (total,))
    ranked = Window(totals, "place", "rank", None, dim.keys, (("total", True),))
    kept = Filter(ranked, Compare("<=", Ref("place"), Literal(count)))
    lead = "leading" if count == 1 else f"top {count}"
    noun = fact.called(-2, plural=count > 1)
    return QueryDraft(
        answer(kept, [dim.output, (label.name, label.expression), ("total", Ref("total"))]),
        {dim.name: dim.text, label.name: label.text, "total": f"the total {measure.text}"},
        (
            f"For each {dim.each}, find the {lead} {noun} by the total {measure.text} of the "
            f"{fact.phrase}.",
            f"Consider the {fact.phrase}. Within each {dim.each}, which are the {lead} {noun} by "
            f"total {measure.text}?"
            if count > 1
            else f"Consider the {fact.phrase}. Within each {dim.each}, which is the {lead} {noun} "
            f"by total {measure.text}?",
        ),
        (
            "Equal totals share a place and the places after them are skipped (1, 1, 3); give all "
            f"on places 1 to {count}."
            if count > 1
            else "If several tie, give them all.",
            *(fact.without(measure) or (
                f"Leave out any {member.table.noun} with no such {fact.child.table.plural}.",
            )),
        ),
    )  # fmt: skip


@template("easy", "medium", "hard")
def rank_groups(scene: QueryScene) -> QueryDraft:
    """Groups with their rank by number of rows."""
    fact = scene.fact(HOPS[scene.level])
    dim = by_parent(scene, fact) if scene.chance(0.7) else by_category(scene, fact)
    counted = grouped(fact.relation, [dim], [Aggregate("number", "count")])
    dense = scene.chance(0.5)
    function = "dense_rank" if dense else "rank"
    ranked = Window(counted, "place", function, None, (), (("number", True),))
    last = 2 if dim.column else scene.number(3, 5)
    kept = Filter(ranked, Compare("<=", Ref("place"), Literal(last)))
    rule = (
        "Equal numbers share a place and no place is skipped after them (1, 1, 2)."
        if dense
        else "Equal numbers share a place and the places after them are skipped (1, 1, 3)."
    )
    return QueryDraft(
        answer(kept, [("place", Ref("place")), dim.output, ("number", Ref("number"))]),
        {
            "place": "the place",
            dim.name: dim.text,
            "number": f"the number of {fact.child.table.plural}",
        },
        (
            f"For each {dim.each}, count the {fact.phrase}, and rank the results from the largest "
            f"number down. Give places 1 to {last}.",
            f"Rank each {dim.each} by the number of {fact.phrase}, largest first, and give places "
            f"1 to {last}.",
        ),
        (rule, *left_out(dim), dim.unless_empty),
    )


@template("medium", "hard")
def share_of_total(scene: QueryScene) -> QueryDraft:
    """Each group's share of the total."""
    fact = scene.fact(HOPS[scene.level])
    dim = by_parent(scene, fact) if scene.chance(0.5) else by_category(scene, fact)
    measure = scene.summed(fact.child)
    known = Filter(fact.relation, IsNull(measure.expression, negated=True))
    base = known if measure.nullable else fact.relation
    totals = grouped(base, [dim], [Aggregate("total", "sum", measure.expression)])
    whole = Window(totals, "whole", "sum", "total", ())
    share = Binary("/", Binary("*", Literal(100.0), Ref("total")), Ref("whole"))
    return QueryDraft(
        answer(whole, [dim.output, ("percentage", share)]),
        {dim.name: dim.text, "percentage": "the percentage (0 to 100)"},
        (
            f"What percentage of the total {measure.text} of the {fact.phrase} does each "
            f"{dim.each} account for?",
            f"How much of the total {measure.text} of the {fact.phrase} does each {dim.each} "
            "account for, in percent?",
        ),
        (
            *left_out(dim),
            *fact.without(measure),
            dim.unless_empty,
            "The percentages add up to 100.",
        ),
    )


@template("hard")
def share_within_group(scene: QueryScene) -> QueryDraft:
    """Large shares of categories within each parent."""
    fact = scene.fact(2)
    outer, inner = by_parent(scene, fact), by_category(scene, fact)
    counted = grouped(fact.relation, [outer, inner], [Aggregate("number", "count")])
    whole = Window(counted, "whole", "sum", "number", outer.keys)
    share = Binary("/", Binary("*", Literal(100.0), Ref("number")), Ref("whole"))
    least = scene.pick((20, 25, 40, 50))
    kept = Filter(
        Extend(whole, (("percentage", share),)), Compare(">=", Ref("percentage"), Literal(least))
    )
    return QueryDraft(
        answer(kept, [outer.output, inner.output, ("percentage", Ref("percentage"))]),
        {outer.name: outer.text, inner.name: inner.text, "percentage": "the percentage (0 to 100)"},
        (
            f"Consider the {fact.phrase}. Split those of each {outer.each} by {inner.each}, and "
            f"list the values that make up {least} percent or more of them.",
            f"For each {outer.each}, list every {inner.each} that accounts for at least {least} "
            f"percent of the {fact.phrase}.",
        ),
        left_out(inner),
    )


@template("medium", "hard")
def first_event(scene: QueryScene) -> QueryDraft:
    """The first, second or last row of each parent by date."""
    fact, date, noun = dated_fact(scene, HOPS[scene.level], 2 if scene.hard else 1)
    dim, child = by_parent(scene, fact), fact.child
    key = f"{child.alias}.{child.table.key}"
    if len(child.table.primary_key) > 1:
        raise Unbindable
    which = scene.pick(("first", "second", "last"))
    valued = Extend(fact.relation, (("day", date),))
    order = (("day", which == "last"), (key, which == "last"))
    ranked = Window(valued, "place", "row_number", None, dim.keys[:1], order)
    kept = Filter(ranked, Compare("=", Ref("place"), Literal(2 if which == "second" else 1)))
    item = child.table.noun
    return QueryDraft(
        answer(kept, [dim.output, ("row_id", Ref(key)), ("day", Ref("day"))]),
        {dim.name: dim.text, "row_id": f"the {item} id", "day": f"the {noun}"},
        (
            f"For each {dim.each}, which is the {which} of the {fact.phrase}, by {noun}?",
            f"For each {dim.each}, find the {which} by {noun} among the {fact.phrase}.",
        ),
        (
            f"{fact.child.table.plural.capitalize()} of the same day are ordered by {item} id.",
            f"Leave out any {dim.each} with fewer than two of them."
            if which == "second"
            else dim.unless_empty,
        ),
    )


@template("hard")
def longest_gap(scene: QueryScene) -> QueryDraft:
    """The longest time between consecutive rows of a parent."""
    fact, date, noun = dated_fact(scene, 1, 1)
    dim, child = by_parent(scene, fact), fact.child
    if len(child.table.primary_key) > 1:
        raise Unbindable
    key = f"{child.alias}.{child.table.key}"
    valued = Extend(fact.relation, (("day", date),))
    order = (("day", False), (key, False))
    lagged = Window(valued, "day_before", "lag", "day", dim.keys[:1], order)
    days = FunctionCall("days_between", (Ref("day"), Ref("day_before")))
    gaps = Filter(Extend(lagged, (("gap", days),)), IsNull(Ref("gap"), negated=True))
    longest = GroupBy(gaps, dim.keys, (Aggregate("longest", "max", Ref("gap")),))
    return QueryDraft(
        answer(longest, [dim.output, ("longest", Ref("longest"))]),
        {dim.name: dim.text, "longest": "the number of days"},
        (
            f"For each {dim.each}, what is the longest gap in days between one of the "
            f"{fact.phrase} and the next one by {noun}?",
            f"For each {dim.each}, order the {fact.phrase} by {noun}. How many days is the "
            "longest gap between two consecutive ones?",
        ),
        (f"Leave out any {dim.each} with fewer than two of them; two on the same day are 0 days "
         "apart.",),
    )  # fmt: skip
