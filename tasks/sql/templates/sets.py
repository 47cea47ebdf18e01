"""Templates about sets of parents: in both, in one but not the other, in either."""

from hexathlon.tasks.sql.programs.expressions import Literal
from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.programs.relations import Combine, Distinct, Filter, Join
from hexathlon.tasks.sql.templates.conditions import PhrasedCondition
from hexathlon.tasks.sql.templates.dates import in_year, last_year
from hexathlon.tasks.sql.templates.draft import QueryDraft, template
from hexathlon.tasks.sql.templates.drawing import Unbindable
from hexathlon.tasks.sql.templates.partners import Pairing
from hexathlon.tasks.sql.templates.scene import Fact, QueryScene
from hexathlon.tasks.sql.templates.shapes import answer


def _named(pair: Pairing, children: Fact, key: str, bare: bool = False) -> Relation:
    """Return the labels of children's parents, each once; `bare` admits all parents.

    The second side of an intersection or difference is bare: the first determines which parents are
    in question.
    """
    parents = pair.parent.scan() if bare else pair.rows.relation
    joined = Join(parents, children.relation, ((pair.on[0][0], key),))
    return Distinct(answer(joined, [(pair.label.name, pair.label.expression)]))


class Sides:
    """A parent with two kinds of children, from one table or from two."""

    def __init__(self, scene: QueryScene, two_tables: bool) -> None:
        self.pair = pair = Pairing(scene, conditions=1)
        others = [pair.edge]
        if two_tables:
            others = [
                e for e in scene.edges(parent=pair.parent.table) if e.child != pair.edge.child
            ]
        edge = scene.pick(others)
        self.left, self.right = pair.children, pair.side(edge, 2 if scene.hard else 1)
        if not self.left.conditions or not self.right.conditions:
            raise Unbindable
        if self.left.phrase == self.right.phrase:
            raise Unbindable
        self.one = _named(pair, self.left, pair.on[0][1])
        self.other = _named(pair, self.right, pair.key(self.right, edge))
        self.bare_one = _named(pair, self.left, pair.on[0][1], bare=True)
        self.bare_other = _named(pair, self.right, pair.key(self.right, edge), bare=True)
        self.has_left = pair.have(f"at least one of the {self.left.phrase}")
        self.has_right = pair.have(f"at least one of the {self.right.phrase}", self.right, edge)
        self.has_no_right = pair.have(f"none of the {self.right.phrase}", self.right, edge)
        self.rows = pair.rows.phrase
        self.outputs = {pair.label.name: pair.label.text}


@template("easy", "medium", "hard")
def in_both(scene: QueryScene) -> QueryDraft:
    """Parents with a child of one kind and a child of another."""
    sides = Sides(scene, two_tables=scene.chance(0.5))
    rows = sides.pair.parent.table.plural
    return QueryDraft(
        Combine("intersect", sides.one, sides.bare_other),
        sides.outputs,
        (
            f"Which {sides.rows} {sides.has_left} and also {sides.has_right}?",
            f"Find the {sides.rows} that {sides.has_left} and {sides.has_right}.",
        ),
        (f"List each of the {rows} once.",),
    )


@template("easy", "medium", "hard")
def in_one_not_other(scene: QueryScene) -> QueryDraft:
    """Parents with a child of one kind and none of another."""
    sides = Sides(scene, two_tables=scene.chance(0.5))
    rows = sides.pair.parent.table.plural
    return QueryDraft(
        Combine("except", sides.one, sides.bare_other),
        sides.outputs,
        (
            f"Which {sides.rows} {sides.has_left}, but {sides.has_no_right}?",
            f"Find the {sides.rows} that {sides.has_left}, but {sides.has_no_right}.",
        ),
        (f"List each of the {rows} once.",),
    )


@template("easy", "medium", "hard")
def in_either(scene: QueryScene) -> QueryDraft:
    """Parents with a child of one kind or of another."""
    sides = Sides(scene, two_tables=scene.chance(0.7))
    rows = sides.pair.parent.table.plural
    return QueryDraft(
        Combine("union", sides.one, sides.other),
        sides.outputs,
        (
            f"Which {sides.rows} {sides.has_left} or {sides.has_right}, or both?",
            f"Find the {sides.rows} that {sides.has_left}, {sides.has_right}, or both.",
        ),
        (f"List each of the {rows} once.",),
    )


@template("medium", "hard")
def in_exactly_one(scene: QueryScene) -> QueryDraft:
    """Parents with a child of one of two kinds, but not of both."""
    sides = Sides(scene, two_tables=scene.chance(0.5))
    rows = sides.pair.parent.table.plural
    program = Combine(
        "union",
        Combine("except", sides.one, sides.bare_other),
        Combine("except", sides.other, sides.bare_one),
    )
    return QueryDraft(
        program,
        sides.outputs,
        (
            f"Which {sides.rows} either {sides.has_left} or {sides.has_right}, but not both?",
            f"Find the {sides.rows} that either {sides.has_left} or {sides.has_right}, but not "
            "both.",
        ),
        (f"List each of the {rows} once.",),
    )


@template("medium", "hard")
def lapsed(scene: QueryScene) -> QueryDraft:
    """Parents active in one year and not in the next."""
    pair = Pairing(scene, conditions=1 if scene.hard else 0, parent=1)
    children = pair.children
    used = {item.column for item in children.conditions}
    column = scene.date(children.child)
    if f"{children.child.alias}.{column.name}" in used:
        raise Unbindable
    value = children.child.value(column)
    last = last_year(scene)
    base, key = children.relation, pair.on[0][1]
    early, late = (Filter(base, in_year(value, year)) for year in (last - 1, last))
    condition = PhrasedCondition(Literal(1), "", "")
    before = Fact(early, children.sources, children.prefixes, [condition])
    after = Fact(late, children.sources, children.prefixes, [condition])
    some = pair.have(f"at least one of the {children.phrase}")
    return QueryDraft(
        Combine("except", _named(pair, before, key), _named(pair, after, key, bare=True)),
        {pair.label.name: pair.label.text},
        (
            f"In {last - 1} (by {column.noun}), which {pair.rows.phrase} {some}, but none in "
            f"{last}?",
            f"In {last - 1}, going by the {column.noun}, which {pair.rows.phrase} {some}, but not "
            f"a single one in {last}?",
        ),
        (f"List each of the {pair.parent.table.plural} once.",),
    )
