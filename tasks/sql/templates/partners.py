"""Templates about related rows: anti-joins, semi-joins, zeros, all-of, only-ever."""

from hexathlon.tasks.sql.english import be
from hexathlon.tasks.sql.programs.expressions import Compare, FunctionCall, InList, Literal, Ref
from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.programs.relations import (
    Aggregate,
    Distinct,
    Extend,
    Filter,
    GroupBy,
    Join,
    Match,
    Project,
)
from hexathlon.tasks.sql.schema import Edge
from hexathlon.tasks.sql.templates.draft import QueryDraft, template
from hexathlon.tasks.sql.templates.drawing import Unbindable
from hexathlon.tasks.sql.templates.scene import CONDITIONS, Fact, QueryScene
from hexathlon.tasks.sql.templates.shapes import answer
from hexathlon.tasks.sql.templates.wording import listed


class Pairing:
    """A parent and its children: the parent's rows, and the children that meet conditions."""

    def __init__(self, scene: QueryScene, conditions: int | None = None, parent: int = 0) -> None:
        edge = scene.pick(
            e for e in scene.edges() if scene.schema.table(e.parent).scale != "lookup"
        )
        self.scene, self.edge = scene, edge
        self.parent = scene.open(edge.parent)
        self.rows = Fact(scene.rows_of(self.parent), [self.parent], [""])
        if scene.hard:
            self._reach_out(self.rows, edge.parent, 1)
        scene.restrict(self.rows, parent)
        scene.trim(self.rows, [self.parent.alias])
        self.children = self.side(
            edge, CONDITIONS[scene.level] if conditions is None else conditions
        )
        self.label = scene.label(self.parent)
        self.on = ((f"{self.parent.alias}.{edge.parent_column}", self.key(self.children, edge)),)

    def side(self, edge: Edge, conditions: int) -> Fact:
        """Return the children of an edge, at higher levels joined with another parent."""
        child = self.scene.open(edge.child)
        fact = Fact(self.scene.rows_of(child), [child], [""])
        if self.scene.level in ("medium", "hard"):
            self._reach_out(fact, edge.parent, 2 if self.scene.hard else 1)
        self.scene.restrict(fact, conditions)
        self.scene.trim(fact, [child.alias])
        return fact

    def _reach_out(self, fact: Fact, avoided: str, count: int) -> None:
        """Join more parents, for conditions to refer to."""
        others = [e for e in self.scene.edges(fact.child.table) if e.parent != avoided]
        for other in self.scene.shuffled(others)[:count]:
            self.scene.join(fact, other)

    def key(self, fact: Fact, edge: Edge) -> str:
        """Return the child's column that refers to the parent."""
        return f"{fact.child.alias}.{edge.column}"

    def _role(self, fact: Fact, edge: Edge) -> str:
        """Return what a parent is for a child, or nothing if it is called what it is."""
        noun = fact.child.table.column(edge.column).noun
        return "" if noun == self.parent.table.noun else noun

    def have(self, what: str, fact: Fact | None = None, edge: Edge | None = None) -> str:
        """Return the predicate of parents with children: "have X", "are the agent of X"."""
        role = self._role(fact or self.children, edge or self.edge)
        return f"are the {role} of {what}" if role else f"have {what}"

    def have_no(self, children: str) -> str:
        """Return the predicate of parents without children."""
        role = self._role(self.children, self.edge)
        return f"are not the {role} of any {children}" if role else f"have no {children}"

    def counted(self, fact: Fact | None = None, edge: Edge | None = None) -> str:
        """Return the children of each parent, after a mention of the parent."""
        fact = fact or self.children
        role = self._role(fact, edge or self.edge)
        if not role:
            return fact.phrase
        it = "them" if self.parent.table.person else "it"
        pronoun = "who" if fact.child.table.person else "that"
        clauses = [item.text for item in fact.conditions] + [f"{pronoun} have {it} as the {role}"]
        return f"{fact.child.table.plural} {listed(clauses)}"


@template("tiny", "easy", "medium", "hard")
def anti_join(scene: QueryScene) -> QueryDraft:
    """Parents without a child of a kind."""
    pair = Pairing(scene, parent=1 if scene.hard else 0)
    program = answer(
        Match(pair.rows.relation, pair.children.relation, pair.on, negated=True),
        [(pair.label.name, pair.label.expression)],
    )
    return QueryDraft(
        program,
        {pair.label.name: pair.label.text},
        (
            f"Which {pair.rows.phrase} {pair.have_no(pair.children.phrase)}?",
            f"Among the {pair.rows.phrase}, find those that {pair.have_no(pair.children.phrase)}.",
        ),
    )


@template("tiny", "easy", "medium", "hard")
def semi_join(scene: QueryScene) -> QueryDraft:
    """Parents with at least one child of a kind, each once."""
    pair = Pairing(scene, parent=1 if scene.level in ("medium", "hard") else 0)
    program = answer(
        Match(pair.rows.relation, pair.children.relation, pair.on),
        [(pair.label.name, pair.label.expression)],
    )
    joined = Distinct(
        Project(
            Join(pair.rows.relation, pair.children.relation, pair.on),
            (
                (pair.label.name, pair.label.expression),
                ("row_key", Ref(pair.on[0][0])),
            ),
        )
    )
    other = Project(joined, ((pair.label.name, Ref(pair.label.name)),))
    repeated = Project(
        Join(pair.rows.relation, pair.children.relation, pair.on),
        ((pair.label.name, pair.label.expression),),
    )
    some = f"at least one of the {pair.children.phrase}"
    return QueryDraft(
        program,
        {pair.label.name: pair.label.text},
        (
            f"Which {pair.rows.phrase} {pair.have(some)}?",
            f"Among the {pair.rows.phrase}, find those that {pair.have(some)}.",
        ),
        (f"Each {pair.parent.table.noun} appears once.",),
        other=other,
        wrong=(("repeated_parents", repeated),),
    )


@template("easy", "medium", "hard")
def count_with_zero(scene: QueryScene) -> QueryDraft:
    """Every parent with its number of children, zero included."""
    pair = Pairing(scene, parent=1 if scene.level != "easy" else 0)
    key = pair.on[0][1]
    counted = GroupBy(pair.children.relation, (key,), (Aggregate("found", "count"),))
    joined = Join(pair.rows.relation, counted, pair.on, "left")
    number = FunctionCall("coalesce", (Ref("found"), Literal(0)))
    wrong = answer(
        Join(pair.rows.relation, counted, pair.on),
        [(pair.label.name, pair.label.expression), ("number", Ref("found"))],
    )
    plural = pair.children.child.table.plural
    return QueryDraft(
        answer(joined, [(pair.label.name, pair.label.expression), ("number", number)]),
        {pair.label.name: pair.label.text, "number": f"the number of these {plural}"},
        (
            f"For each of the {pair.rows.phrase}, count the {pair.counted()}, with 0 where there "
            "are none.",
            f"For each of the {pair.rows.phrase}, how many {pair.counted()} are there? Include "
            "those for which there are none, with 0.",
        ),
        wrong=(("no_zero_rows", wrong),),
    )


@template("medium", "hard")
def only_ever(scene: QueryScene) -> QueryDraft:
    """Parents that have children, all of which meet a condition."""
    pair = Pairing(scene, conditions=0)
    base = pair.children.relation
    scene.restrict(pair.children, 1, ("category", "status", "flag", "amount", "quantity", "rating"))
    if not pair.children.conditions:
        raise Unbindable
    good = pair.children.conditions[0]
    column = pair.children.child.table.column(good.column.partition(".")[2])
    key = pair.on[0][1]
    tallied = GroupBy(
        base,
        (key,),
        (
            Aggregate("every", "count"),
            Aggregate("good", "count", None, False, good.expression),
        ),
    )
    pure = Filter(tallied, Compare("=", Ref("every"), Ref("good")))
    scene.restrict(pair.rows, 2 if scene.hard else 1)
    program = answer(
        Match(pair.rows.relation, pure, pair.on), [(pair.label.name, pair.label.expression)]
    )
    some = answer(
        Match(pair.rows.relation, pair.children.relation, pair.on),
        [(pair.label.name, pair.label.expression)],
    )
    plural = pair.children.child.table.plural
    return QueryDraft(
        program,
        {pair.label.name: pair.label.text},
        (
            f"Which {pair.rows.phrase} {pair.have(plural)}, all of which are {plural} {good.text}?",
            f"Among the {pair.rows.phrase}, list those that {pair.have(plural)}, but only "
            f"{plural} {good.text}.",
        ),
        (f"{plural.capitalize()} without a known {column.noun} do not count as such.",)
        if column.nullable
        else (),
        wrong=(("some_not_all", some),),
    )  # fmt: skip


@template("medium", "hard")
def all_of(scene: QueryScene) -> QueryDraft:
    """Parents whose children cover every row or value of a small list (relational division)."""
    pair = Pairing(scene, conditions=0, parent=1)
    child = pair.children.child
    column = scene.group_column(child)
    value = child.value(column)
    scene.restrict(pair.children, 1 if scene.hard else 0)
    needed = scene.shuffled(column.values)[: 2 if scene.hard else scene.number(2, 3)]
    if len(needed) < 2:
        raise Unbindable
    wanted = Filter(pair.children.relation, InList(value, tuple(needed)))
    valued = Extend(wanted, (("covered", value),))
    key = pair.on[0][1]
    tallied = GroupBy(valued, (key,), (Aggregate("kinds", "count", Ref("covered"), True),))
    full = Filter(tallied, Compare("=", Ref("kinds"), Literal(len(needed))))
    program = answer(
        Match(pair.rows.relation, full, pair.on), [(pair.label.name, pair.label.expression)]
    )
    anyone = answer(
        Match(pair.rows.relation, wanted, pair.on), [(pair.label.name, pair.label.expression)]
    )
    other: Relation = pair.rows.relation
    for item in needed:
        one = Filter(pair.children.relation, Compare("=", value, Literal(item)))
        other = Match(other, one, pair.on)
    some = f"at least one of the {pair.children.phrase}"
    wanted_values = listed([f"'{item}'" for item in needed])
    return QueryDraft(
        program,
        {pair.label.name: pair.label.text},
        (
            f"Consider the {pair.rows.phrase}. Which of them {pair.have(some)} for each of the "
            f"{column.noun} values {wanted_values}?",
            f"Among the {pair.rows.phrase}, list those that {pair.have(some)} for every one of the "
            f"{column.noun} values {wanted_values}.",
        ),
        other=answer(other, [(pair.label.name, pair.label.expression)]),
        wrong=(("any_not_all", anyone),),
    )


@template("medium", "hard")
def fan_out(scene: QueryScene) -> QueryDraft:
    """A total over parents with children: each parent counts once."""
    pair = Pairing(scene)
    measure = scene.summed(pair.parent)
    total = (Aggregate("total", "sum", measure.expression), Aggregate("number", "count"))
    outputs = [("number", Ref("number")), ("total", Ref("total"))]
    matched = Match(pair.rows.relation, pair.children.relation, pair.on)
    doubled = Join(pair.rows.relation, pair.children.relation, pair.on)
    some = f"at least one of the {pair.children.phrase}"
    plural = pair.parent.table.plural
    do = "do" if be(measure.noun) == "are" else "does"
    return QueryDraft(
        answer(GroupBy(matched, (), total), outputs),
        {"number": f"the number of {plural}", "total": f"their total {measure.text}"},
        (
            f"Take the {plural} that {pair.have(some)}. How many are they, and what is their total "
            f"{measure.text}?",
            f"How many {plural} {pair.have(some)}, and what {do} their {measure.text} add up to?",
        ),
        (f"Each {pair.parent.table.noun} counts once. The answer is a single row.",),
        wrong=(("counted_per_child", answer(GroupBy(doubled, (), total), outputs)),),
    )


@template("hard")
def two_children(scene: QueryScene) -> QueryDraft:
    """Aggregates per parent from two child tables, without a fan-out between them."""
    pair = Pairing(scene, conditions=1, parent=1)
    second = scene.pick(
        e for e in scene.edges(parent=pair.parent.table)
        if e.child not in (pair.edge.child, pair.edge.parent)
    )  # fmt: skip
    left, right = pair.children, pair.side(second, 1)
    measure = scene.summed(left.child)
    key = pair.on[0][0]
    first = GroupBy(
        left.relation, (pair.on[0][1],), (Aggregate("first_total", "sum", measure.expression),)
    )
    other_key = pair.key(right, second)
    other = GroupBy(right.relation, (other_key,), (Aggregate("second_number", "count"),))
    joined = Join(Join(pair.rows.relation, first, pair.on), other, ((key, other_key),))
    flat = Join(
        Join(pair.rows.relation, left.relation, pair.on), right.relation, ((key, other_key),)
    )
    multiplied = GroupBy(
        flat,
        pair.label.keys,
        (Aggregate("first_total", "sum", measure.expression), Aggregate("second_number", "count")),
    )
    outputs = [
        (pair.label.name, pair.label.expression),
        ("total", Ref("first_total")),
        ("number", Ref("second_number")),
    ]
    return QueryDraft(
        answer(joined, outputs),
        {
            pair.label.name: pair.label.text,
            "total": f"the total {measure.text} of these {left.child.table.plural}",
            "number": f"the number of these {right.child.table.plural}",
        },
        (
            f"For each of the {pair.rows.phrase}, give the total {measure.text} of the "
            f"{pair.counted()}, and the number of {pair.counted(right, second)}.",
            f"For each of the {pair.rows.phrase}, what is the total {measure.text} of the "
            f"{pair.counted()}, and how many {pair.counted(right, second)} are there?",
        ),
        (f"List only {pair.parent.table.plural} that have at least one of each.",),
        wrong=(("multiplied_rows", answer(multiplied, outputs)),),
    )  # fmt: skip
