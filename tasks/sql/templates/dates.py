"""Templates about time: years as columns, growth, durations, recency, cohorts."""

import datetime
from typing import NamedTuple

from hexathlon.tasks.sql.programs.expressions import (
    Compare,
    Expression,
    FunctionCall,
    Literal,
    Ref,
)
from hexathlon.tasks.sql.programs.relations import Aggregate, Extend, Filter, GroupBy
from hexathlon.tasks.sql.schema import Column
from hexathlon.tasks.sql.templates.conditions import year_of
from hexathlon.tasks.sql.templates.draft import QueryDraft, template
from hexathlon.tasks.sql.templates.scene import Fact, QueryScene
from hexathlon.tasks.sql.templates.shapes import (
    answer,
    at_least,
    by_category,
    by_parent,
    dimension,
    grouped,
    known,
    left_out,
)
from hexathlon.tasks.sql.templates.windows import dated, dated_fact
from hexathlon.tasks.sql.templates.wording import owned

HOPS = {"easy": 1, "medium": 1, "hard": 2}


def in_year(date: Expression, year: int) -> Compare:
    """Return the condition that a date is in a given year."""
    return Compare("=", year_of(date), Literal(str(year)))


def last_year(scene: QueryScene) -> int:
    """Return the last year that the database covers for the most part."""
    today = datetime.date.fromisoformat(scene.schema.today)
    return today.year if today.month > 6 else today.year - 1


@template("tiny", "easy", "medium")
def count_by_year(scene: QueryScene) -> QueryDraft:
    """Rows per calendar year, with a total."""
    if scene.level == "tiny":
        fact = scene.alone(scene.pick(t for t in scene.schema.asked() if t.with_role("date")))
        scene.restrict(fact, scene.number(0, 1))
        date, noun = dated(scene, fact)
    else:
        fact, date, noun = dated_fact(scene, 1, 1)
    measure = scene.summed(fact.child)
    years = Extend(fact.relation, (("year", year_of(date)),))
    number = Aggregate("number", "count")
    total = Aggregate("total", "sum", measure.expression)
    grouping = GroupBy(years, ("year",), (number, total))
    outputs = [(name, Ref(name)) for name in ("year", "number", "total")]
    return QueryDraft(
        answer(grouping, outputs, [("year", False)] if scene.chance(0.5) else ()),
        {
            "year": "the year (as four digits of text)",
            "number": f"the number of {fact.child.table.plural}",
            "total": f"their total {measure.text}",
        },
        (
            f"For each year (by {noun}), count the {fact.phrase}, and add up their {measure.text}.",
            f"How many {fact.phrase} are there in each year (by {noun}), and what is their total "
            f"{measure.text}?",
            f"Break the {fact.phrase} down by year of {noun}: how many are there, and what is "
            f"their total {measure.text}?",
        ),
        (f"Leave out years without such {fact.child.table.plural}.",),
    )


@template("medium", "hard")
def years_as_columns(scene: QueryScene) -> QueryDraft:
    """Counts of three years side by side."""
    fact, date, noun = dated_fact(scene, HOPS[scene.level], 2 if scene.hard else 1)
    dim = dimension(scene, fact)
    last = last_year(scene)
    years = (last - 2, last - 1, last)
    tallies = [Aggregate(f"in_{year}", "count", None, False, in_year(date, year)) for year in years]
    counts = grouped(fact.relation, [dim], tallies)
    outputs = [dim.output, *((f"in_{year}", Ref(f"in_{year}")) for year in years)]
    return QueryDraft(
        answer(counts, outputs),
        {dim.name: dim.text, **{f"in_{year}": f"the number in {year}" for year in years}},
        (
            f"Compare the years {years[0]}, {years[1]} and {years[2]} (by {noun}): how many "
            f"{fact.phrase} are there in each, for each {dim.each}?",
            f"For each {dim.each}, count the {fact.phrase}, separately for {years[0]}, {years[1]} "
            f"and {years[2]} (by {noun}).",
        ),
        (*left_out(dim), f"Include every {dim.each} with such {fact.child.table.plural} in any "
         "year, even if all three counts are 0."),
    )  # fmt: skip


@template("medium", "hard")
def grown(scene: QueryScene) -> QueryDraft:
    """Groups whose total grew from one year to the next."""
    fact, date, noun = dated_fact(scene, HOPS[scene.level], 2 if scene.hard else 1)
    dim = dimension(scene, fact)
    measure = scene.summed(fact.child)
    last = last_year(scene)
    sums = [
        Aggregate(name, "sum", measure.expression, False, in_year(date, year))
        for name, year in (("before", last - 1), ("after", last))
    ]
    totals = grouped(fact.relation, [dim], sums)
    up = scene.chance(0.6)
    kept = Filter(totals, Compare(">" if up else "<", Ref("after"), Ref("before")))
    word = "larger" if up else "smaller"
    return QueryDraft(
        answer(kept, [dim.output, ("before", Ref("before")), ("after", Ref("after"))]),
        {
            dim.name: dim.text,
            "before": f"the total {measure.text} of {last - 1}",
            "after": f"the total {measure.text} of {last}",
        },
        (
            f"For which {dim.each} was the total {measure.text} of the {fact.phrase} {word} in "
            f"{last} than in {last - 1}, by {noun}?",
            f"For each {dim.each}, add up the {measure.text} of the {fact.phrase} in {last - 1} "
            f"and in {last} (by {noun}), and list those whose {last} total is {word}.",
        ),
        (*left_out(dim), f"Leave out any {dim.each} that lacks a total for one of the years."),
    )


@template("medium", "hard")
def duration(scene: QueryScene) -> QueryDraft:
    """The average number of days between two dates, per group."""
    fact, early, late, words, notes = _two_dates(scene)
    scene.restrict(fact, 2 if scene.hard else 1, ("category", "status", "flag", "rating"))
    dim = by_category(scene, fact)
    days = FunctionCall("days_between", (late, early))
    averaged = grouped(
        fact.relation, [dim], [Aggregate("days", "avg", days), Aggregate("longest", "max", days)]
    )
    return QueryDraft(
        answer(averaged, [dim.output, ("days", Ref("days")), ("longest", Ref("longest"))]),
        {
            dim.name: dim.text,
            "days": "the average number of days",
            "longest": "the largest number of days",
        },
        (
            f"For each {dim.each}, what are the average and the largest number of days {words} "
            f"of the {fact.phrase}?",
            f"How many days pass {words} of the {fact.phrase}, on average and at most? Answer for "
            f"each {dim.each}.",
        ),
        (*left_out(dim), *notes),
    )


class _Span(NamedTuple):
    fact: Fact
    early: Expression
    late: Expression
    words: str
    notes: tuple[str, ...]


def _two_dates(scene: QueryScene) -> _Span:
    """Return two dates of a row, or of a row and its parent, without rows that lack either."""
    tables = [t for t in scene.schema.asked() if len(t.with_role("date")) > 1]
    edges = [
        e
        for e in scene.edges()
        if scene.schema.table(e.child).with_role("date")
        and scene.schema.table(e.parent).with_role("date")
    ]
    if tables and (not edges or scene.chance(0.4)):
        fact = scene.alone(scene.pick(tables))
        first, second = fact.child.table.with_role("date")[:2]
        words, link = f"from the {first.noun} to the {second.noun}", ""
    else:
        edge = scene.pick(edges)
        fact, link = scene.climb([edge]), edge.column
        first, second = scene.date(fact.top), scene.date(fact.child)
        words = f"from the {owned(fact.prefixes[-1], first.noun)} to the {second.noun}"
    early, late = fact.top.value(first), fact.child.value(second)
    known(fact, early, first)
    known(fact, late, second)
    return _Span(fact, early, late, words, _span_notes(fact, first, second, link))


def _span_notes(fact: Fact, first: Column, second: Column, link: str) -> tuple[str, ...]:
    """Return the notes on missing dates and on dates in the other order, if there can be any.

    `link` is the column that leads to the first date's row, or empty if it is the same row.
    """
    notes = []
    if first.nullable or second.nullable:
        notes.append(f"Leave out {fact.child.table.plural} without one of the two dates.")
    if second.law.after != ((link, first.name) if link else (first.name, "")):
        notes.append("The number is negative where the second date is the earlier one.")
    return tuple(notes)


@template("easy", "medium", "hard")
def recent(scene: QueryScene) -> QueryDraft:
    """Measures over the last days before the database's current date."""
    fact, date, noun = dated_fact(scene, HOPS[scene.level], 2 if scene.hard else 1)
    today = datetime.date.fromisoformat(scene.schema.today)
    span = scene.pick((180, 270, 365))
    first = (today - datetime.timedelta(days=span - 1)).isoformat()
    window = Compare(">=", date, Literal(first))
    dim = by_parent(scene, fact) if scene.level != "easy" else dimension(scene, fact)
    counted = grouped(Filter(fact.relation, window), [dim], [Aggregate("number", "count")])
    least = scene.number(1, 2)
    kept = Filter(counted, Compare(">=", Ref("number"), Literal(least)))
    return QueryDraft(
        answer(kept if least > 1 else counted, [dim.output, ("number", Ref("number"))]),
        {dim.name: dim.text, "number": f"the number of {fact.child.table.plural}"},
        (
            f"Take {today} as today and consider the {fact.phrase}. For each {dim.each}, count "
            f"those of the last {span} days by {noun}.{at_least(least)}",
            f"How many {fact.phrase} are there for each {dim.each} in the {span} days up to "
            f"{today} (by {noun})?{at_least(least)}",
        ),
        (
            *left_out(dim),
            f"The period of {span} days ends with {today} and includes it.",
            *(() if least > 1 else (dim.unless_empty,)),
        ),
    )


@template("medium", "hard")
def cohorts(scene: QueryScene) -> QueryDraft:
    """Parents by the year of their first child."""
    fact, date, noun = dated_fact(scene, 1, 2 if scene.hard else 1)
    dim = by_parent(scene, fact)
    valued = Extend(fact.relation, (("day", date),))
    firsts = GroupBy(valued, dim.keys[:1], (Aggregate("first_day", "min", Ref("day")),))
    years = Extend(firsts, (("year", year_of(Ref("first_day"))),))
    counted = GroupBy(years, ("year",), (Aggregate("number", "count"),))
    plural = fact.top.table.plural
    return QueryDraft(
        answer(counted, [("year", Ref("year")), ("number", Ref("number"))], [("year", False)]),
        {"year": "the year (as four digits of text)", "number": f"the number of {plural}"},
        (
            f"For each {dim.each}, find the year of the first of the {fact.phrase} (by {noun}). "
            f"How many {plural} have their first one in each year?",
            f"Group the {plural} by the year of their first one among the {fact.phrase} (by "
            f"{noun}), and count them per year.",
        ),
        (f"{plural.capitalize()} that have none do not count; leave out years with a count of 0.",),
    )  # fmt: skip
