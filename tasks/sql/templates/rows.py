"""Templates about single rows: filtering, extremes, order, distinct values, comparisons."""

from hexathlon.tasks.sql.english import be, indefinite
from hexathlon.tasks.sql.programs.expressions import (
    Compare,
    IsNull,
    Literal,
    Ref,
    Scalar,
)
from hexathlon.tasks.sql.programs.relations import (
    Aggregate,
    Distinct,
    Extend,
    Filter,
    GroupBy,
    Join,
    Limit,
    Project,
    Window,
)
from hexathlon.tasks.sql.templates.draft import QueryDraft, template
from hexathlon.tasks.sql.templates.drawing import Unbindable
from hexathlon.tasks.sql.templates.scene import Fact, QueryScene
from hexathlon.tasks.sql.templates.shapes import answer, by_category, left_out
from hexathlon.tasks.sql.templates.wording import owned, plain

HOPS = {"tiny": 0, "easy": 1, "medium": 2, "hard": 3}


@template("tiny", "easy")
def filter_rows(scene: QueryScene) -> QueryDraft:
    """Rows that meet a condition, with one more of their columns."""
    fact = scene.fact(HOPS[scene.level])
    label, measure = scene.label(fact.child), scene.measure(fact.child)
    name = plain(measure.noun)
    program = answer(fact.relation, [(label.name, label.expression), (name, measure.expression)])
    return QueryDraft(
        program,
        {label.name: label.text, name: f"the {measure.text}"},
        (
            f"List the {fact.phrase}.",
            f"Find all {fact.phrase}.",
            f"I need a list of the {fact.phrase}.",
        ),
        (f"Include those without {indefinite(measure.noun)}.",) if fact.lacks(measure) else (),
    )


@template("tiny", "easy", "medium", "hard")
def count_rows(scene: QueryScene) -> QueryDraft:
    """The number of rows that meet conditions, with their smallest and largest value."""
    fact = scene.fact(HOPS[scene.level])
    measure = scene.measure(fact.child)
    groups = GroupBy(
        fact.relation,
        (),
        (
            Aggregate("number", "count"),
            Aggregate("smallest", "min", measure.expression),
            Aggregate("largest", "max", measure.expression),
        ),
    )
    outputs = ("number", "smallest", "largest")
    low, high = (measure.extreme(most, counted=False) for most in (False, True))
    return QueryDraft(
        answer(groups, [(name, Ref(name)) for name in outputs]),
        {
            "number": f"the number of {fact.child.table.plural}",
            "smallest": f"their {low} {measure.text}",
            "largest": f"their {high} {measure.text}",
        },
        (
            f"How many {fact.phrase} are there, and what are their {low} and {high} "
            f"{measure.text}?",
            f"Count the {fact.phrase}, and give their {low} and {high} {measure.text}.",
        ),
        ("The answer is a single row.",),
    )


@template("tiny", "easy", "medium")
def distinct_values(scene: QueryScene) -> QueryDraft:
    """The distinct values of a column among the rows that meet a condition."""
    fact = scene.fact(HOPS[scene.level])
    dim, other = by_category(scene, fact), scene.label(fact.top)
    if len(fact.sources) == 1:
        column = scene.group_column(fact.child, [f"{fact.child.alias}.{dim.name}"])
        if column is dim.column:
            raise Unbindable
        pair = (plain(column.noun), fact.child.value(column))
        text = f"the {column.noun}"
        if column.nullable:
            fact.relation = Filter(fact.relation, IsNull(pair[1], negated=True))
        open_ended = column.nullable
    else:
        pair, text = (other.name, other.expression), f"the {owned(fact.prefixes[-1], other.noun)}"
        open_ended = False
    open_ended = open_ended or bool(dim.column and dim.column.nullable)
    value = dict(dim.extend)[dim.name]
    program = Distinct(Project(fact.relation, ((dim.name, value), pair)))
    return QueryDraft(
        program,
        {dim.name: dim.text, pair[0]: text},
        (
            f"Which combinations of {dim.text} and {text} occur among the {fact.phrase}?",
            f"List the different pairs of {dim.text} and {text} found among the {fact.phrase}.",
        ),
        ("Leave out pairs with a missing value.",) if open_ended else (),
    )


@template("tiny", "easy", "medium", "hard")
def top_rows(scene: QueryScene) -> QueryDraft:
    """The top few rows by a measure, ties broken by a unique column."""
    fact = scene.fact(HOPS[scene.level], None if scene.level != "tiny" else scene.number(0, 1))
    measure, label = scene.measure(fact.child), scene.label(fact.child)
    down, count = scene.chance(0.6), scene.number(3, 6)
    name = plain(measure.noun)
    if measure.nullable:
        fact.relation = Filter(fact.relation, IsNull(measure.expression, negated=True))
    program = Limit(
        answer(
            fact.relation,
            [(label.name, label.expression), (name, measure.expression)],
            [(name, down), (label.name, False)],
        ),
        count,
    )
    word = measure.extreme(down)
    return QueryDraft(
        program,
        {label.name: label.text, name: f"the {measure.text}"},
        (
            f"Which {count} {fact.phrase} have the {word} {measure.text}?",
            f"Among the {fact.phrase}, find the {count} with the {word} {measure.text}.",
        ),
        fact.without(measure),
    )


@template("tiny", "easy", "medium")
def extreme_rows(scene: QueryScene) -> QueryDraft:
    """All rows with the largest or smallest value."""
    fact = scene.fact(HOPS[scene.level])
    measure, label = scene.measure(fact.child, "quantity", "rating"), scene.label(fact.child)
    down = scene.chance(0.5)
    known = fact.relation
    if measure.nullable:
        known = Filter(known, IsNull(measure.expression, negated=True))
    valued = Extend(known, (("measured", measure.expression),))
    ranked = Window(valued, "place", "rank", None, (), (("measured", down),))
    place = scene.number(1, 2)
    if place == 2:
        ranked = Window(valued, "place", "dense_rank", None, (), (("measured", down),))
    kept = Filter(ranked, Compare("=", Ref("place"), Literal(place)))
    word = ("second " if place == 2 else "") + measure.extreme(down)
    return QueryDraft(
        answer(kept, [(label.name, label.expression), ("value", Ref("measured"))]),
        {label.name: label.text, "value": f"the {measure.text}"},
        (
            f"Which of the {fact.phrase} have the {word} {measure.text}?",
            f"Among the {fact.phrase}, find those with the {word} {measure.text}.",
        ),
        (
            "If several tie, give them all."
            + (f" Equal values count once when finding the {word}." if place == 2 else ""),
        ),
    )


@template("easy", "medium", "hard")
def above_average(scene: QueryScene) -> QueryDraft:
    """Rows above the average of all rows of the same kind."""
    fact = scene.fact({"easy": 0, "medium": 1, "hard": 2}.get(scene.level, 0))
    measure, label = scene.measure(fact.child), scene.label(fact.child)
    column = measure.column
    peer = scene.open(fact.child.table)
    mean = GroupBy(scene.rows_of(peer), (), (Aggregate("mean", "avg", peer.value(column)),))
    above = scene.chance(0.7)
    test = Compare(">" if above else "<", measure.expression, Scalar(mean))
    plural = fact.child.table.plural
    word = "above" if above else "below"
    name = plain(column.noun)
    return QueryDraft(
        answer(
            Filter(fact.relation, test),
            [(label.name, label.expression), (name, measure.expression)],
        ),
        {label.name: label.text, name: f"the {measure.text}"},
        (
            f"Among the {fact.phrase}, which have {indefinite(measure.noun)} {word} the average of "
            f"all {plural}?",
            f"Consider the {fact.phrase}. List those whose {measure.noun} {be(measure.noun)} "
            f"{word} the average {measure.noun} of all {plural}.",
        ),
        (f"The average is taken over all {plural}, not only over these.",)
        if fact.conditions
        else (),
    )


@template("medium", "hard")
def above_group_average(scene: QueryScene) -> QueryDraft:
    """Rows above the average of their own group."""
    fact = scene.fact({"medium": 1, "hard": 2}.get(scene.level, 1), 1)
    dim = by_category(scene, fact)
    measure, label = scene.measure(fact.child), scene.label(fact.child)
    valued = Extend(fact.relation, (*dim.extend, ("measured", measure.expression)))
    averaged = Window(valued, "mean", "avg", "measured", dim.keys)
    kept = Filter(averaged, Compare(">", Ref("measured"), Ref("mean")))
    return QueryDraft(
        answer(
            kept, [(label.name, label.expression), dim.output, ("value", Ref("measured"))]
        ),
        {label.name: label.text, dim.name: dim.text, "value": f"the {measure.text}"},
        (
            f"Group the {fact.phrase} by {dim.each}. Which of them have "
            f"{indefinite(measure.noun)} above the average of their group?",
            f"Among the {fact.phrase}, find those whose {measure.noun} {be(measure.noun)} above "
            f"the average of those with the same {dim.each}.",
        ),
        (f"Only these {fact.child.table.plural} enter the averages.", *left_out(dim)),
    )  # fmt: skip


@template("medium", "hard")
def self_comparison(scene: QueryScene) -> QueryDraft:
    """Rows compared with the row of the same table that they reference."""
    edge = scene.pick(e for e in scene.schema.edges() if e.child == e.parent)
    child, parent = scene.open(edge.child), scene.open(edge.child)
    measure = scene.measure(child, "amount", "quantity")
    column = measure.column
    fact = Fact(scene.rows_of(child), [child], [""])
    on = ((f"{child.alias}.{edge.column}", f"{parent.alias}.{edge.parent_column}"),)
    fact.relation = Join(fact.relation, scene.rows_of(parent), on)
    scene.restrict(fact, 1 if scene.level == "medium" else 2)
    more = scene.chance(0.5)
    test = Compare(">" if more else "<", child.value(column), parent.value(column))
    link = child.table.column(edge.column).noun
    mine, theirs = scene.label(child), scene.label(parent)
    word = "larger" if more else "smaller"
    return QueryDraft(
        answer(
            Filter(fact.relation, test),
            [(mine.name, mine.expression), (plain(link), theirs.expression)],
        ),
        {mine.name: mine.text, plain(link): f"the {owned(link, theirs.noun)}"},
        (
            f"Among the {fact.phrase}, which have {indefinite(f'{word} {measure.noun}')} than "
            f"their {link}?",
            f"Consider the {fact.phrase}. List those whose {measure.noun} {be(measure.noun)} "
            f"{word} than {'those' if be(measure.noun) == 'are' else 'that'} of their {link}.",
        ),
    )
